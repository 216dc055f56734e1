/* SPDX-License-Identifier: MIT
 *
 * bench.c: see bench.h. Operands stand on the device as matmul_case.h lays them: NaN wherever no element is, C whole where
 * beta is 0.
 */
#include "bench.h"

#include "kernel/matmul_case.h"
#include "model/rounds.h"
#include "tools/qst/element.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool fail(const char *what, const qst_error *err)
{
    fprintf(stderr, "kernel_matrix: %s: %s\n", what, err->text);
    return false;
}

static bool open_device(matrix_bench *b)
{
    cl_platform_id platform;
    qst_error      err;
    cl_int         code;

    memset(&err, 0, sizeof err);
    if (qst_context_pick_device(b->ctx, &platform, &b->device, &err) != QST_OK)
        return fail("device", &err);
    b->cl = clCreateContext(NULL, 1, &b->device, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        b->queue = clCreateCommandQueue(b->cl, b->device, 0, &code);
    if (code != CL_SUCCESS) {
        fprintf(stderr, "kernel_matrix: OpenCL code %d for the device's context or queue\n", (int)code);
        return false;
    }
    if (qst__site_of(b->ctx, b->cl, b->device, &b->site, &err) != QST_OK ||
        qst__shelf_of(b->site, b->set, &b->shelf, &err) != QST_OK)
        return fail("device", &err);
    return true;
}

bool bench_open(matrix_bench *b, const char *config)
{
    qst_options options;
    qst_error   err;

    memset(b, 0, sizeof *b);
    memset(&err, 0, sizeof err);
    qst_options_init(&options);
    options.flags = QST_NO_STORE;
    options.config = config;
    if (qst_context_create(&b->ctx, &options, &err) != QST_OK)
        return fail("configuration", &err);
    if (qst_set_find(&b->set, b->ctx, "matmul", &err) != QST_OK)
        return fail("matmul", &err);
    if (!open_device(b))
        return false;
    b->n = b->set->model.n_candidates;
    b->accounts = calloc(b->n + 1, sizeof *b->accounts);
    return b->accounts != NULL;
}

void bench_close(matrix_bench *b)
{
    free(b->accounts);
    if (b->queue)
        clReleaseCommandQueue(b->queue);
    qst_context_destroy(b->ctx);
    if (b->cl)
        clReleaseContext(b->cl);
    memset(b, 0, sizeof *b);
}

const char *bench_name(const matrix_bench *b, uint32_t candidate)
{
    return candidate == b->n ? "matmul.scale" : b->set->model.candidates[candidate].name;
}

static void count_reason(account *a, const char *why)
{
    uint32_t i = 0;
    while (i < REASONS - 1 && a->reasons[i].count && strcmp(a->reasons[i].text, why) != 0)
        i++;
    if (!a->reasons[i].count)
        (void)snprintf(a->reasons[i].text, sizeof a->reasons[i].text, "%s", why);
    a->reasons[i].count++;
}

void bench_refused(matrix_bench *b, uint32_t candidate, const char *why)
{
    b->accounts[candidate].refused++;
    count_reason(&b->accounts[candidate], why);
}

/* The normal form, its key, and which of the caller's operands each of its own is. */
typedef struct normal {
    char     problem[QST__PROBLEM_BYTES];
    qst__key key;
    uint32_t perm[QST_OPERANDS_MAX];
    int32_t  kind; /* QST_OK, QST_NOTHING, QST_TRIVIAL */
} normal;

static void normalise(const matrix_bench *b, const qst_matmul *p, normal *out)
{
    const qst_op *op = &b->set->model.op;
    uint32_t      i;

    memset(out, 0, sizeof *out);
    memcpy(out->problem, p, sizeof *p);
    for (i = 0; i < QST_OPERANDS_MAX; i++)
        out->perm[i] = i;
    out->kind = op->normalise(op->user, out->problem, out->perm);
    if (out->kind == QST_OK)
        qst__key_of(b->shelf, out->problem, &out->key);
}

static const char *refusal(const matrix_bench *b, uint32_t candidate, const normal *x)
{
    const qst_device    *device = &b->site->facts.device;
    const qst_candidate *c = &b->set->model.candidates[candidate].desc;
    const qst_key        key = qst__key_view(&x->key);
    const char          *why = NULL;

    if (!(c->classes & qst__set_class_of(&b->set->model, x->problem)))
        return "another class of numerics";
    if (c->supports && c->supports(c->user, device, &key, &why) < 0)
        return why ? why : "not supported, without a reason";
    why = NULL;
    if (c->can_run && c->can_run(c->user, device, x->problem, &why) != QST_OK)
        return why ? why : "cannot run, without a reason";
    return NULL;
}

static void stated(const point *at, qst_matmul *p, struct matmul_case *t)
{
    size_t lead;
    int    nan;
    point_problem(at, p, &lead, &nan);
    if (t) {
        matmul_case_init(t, p, lead, nan);
        *p = t->problem;
    } else {
        p->a.align = p->b.align = p->c.align = lead == MATMUL_CASE_LEAD ? 4 : 0;
    }
}

bool bench_applies(const matrix_bench *b, uint32_t candidate, const point *at, const char **why)
{
    qst_matmul p;
    normal     x;

    stated(at, &p, NULL);
    normalise(b, &p, &x);
    *why = x.kind == QST_OK ? refusal(b, candidate, &x) : "the trivial candidate's";
    return !*why;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

typedef struct run {
    matrix_bench      *b;
    const point       *at;
    struct matmul_case t;
    normal             x;
    cl_mem             mem[3];
    void              *raw[3];
    char              *got, *strict; /* strict: the fallback's result */
} run;

static void tell_wrong(run *r, uint32_t candidate, const char *text)
{
    char at[200];
    point_text(r->at, at, sizeof at);
    fprintf(stderr, "WRONG %s: %s (%s)\n", bench_name(r->b, candidate), text, at);
    r->b->accounts[candidate].wrong++;
}

/* Binds and runs; operands in the caller's order. */
static qst_status launch(matrix_bench *b, uint32_t candidate, const normal *x, const qst_mem *operands, qst_error *err)
{
    qst__way  *way = NULL;
    qst_mem    mine[3];
    qst__go    go;
    cl_int     code;
    uint32_t   i;
    qst_status status = candidate == b->n ? qst__way_trivial(&way, b->shelf, x->problem, err)
                                          : qst__way_create(&way, b->shelf, candidate, &x->key, x->problem, 0, err);

    for (i = 0; i < 3; i++)
        mine[i] = operands[x->perm[i]];
    memset(&go, 0, sizeof go);
    go.queue = b->queue;
    go.in_order = true;
    go.operands = mine;
    if (status == QST_OK)
        status = qst__way_enqueue(way, b->site, &go, err);
    code = clFinish(b->queue);
    if (status == QST_OK && code != CL_SUCCESS)
        status = qst__fail_cl(err, code, "matrix", "a run");
    qst__way_destroy(way, &b->ctx->alloc);
    return status;
}

qst_status bench_launch(matrix_bench *b, uint32_t candidate, const qst_matmul *p, const qst_mem *operands,
                        qst_error *err)
{
    normal      x;
    const char *why;

    normalise(b, p, &x);
    why = x.kind == QST_OK ? refusal(b, candidate, &x) : "the trivial candidate's";
    return why ? qst__fail(err, QST_E_UNSUPPORTED, "matrix", "%s", why) : launch(b, candidate, &x, operands, err);
}

/* Computes into `out`; counted as refused where the candidate says so. */
static bool compute(run *r, uint32_t candidate, void *out)
{
    matrix_bench *b = r->b;
    const size_t  bytes = r->t.x[2].count * r->t.item[2];
    qst_mem       operands[3];
    qst_error     err;
    cl_int        code;
    uint32_t      i;
    qst_status    status;

    memset(&err, 0, sizeof err);
    for (i = 0; i < 3; i++)
        operands[i] = qst_mem_at(r->mem[i], r->t.x[i].start * r->t.item[i]);
    code = clEnqueueWriteBuffer(b->queue, r->mem[2], CL_TRUE, 0, bytes, r->raw[2], 0, NULL, NULL);
    status = launch(b, candidate, &r->x, operands, &err);
    if (status == QST_E_UNSUPPORTED || status == QST_E_NOTFOUND) {
        bench_refused(b, candidate, err.text);
        return false;
    }
    if (status == QST_OK && code == CL_SUCCESS)
        code = clEnqueueReadBuffer(b->queue, r->mem[2], CL_TRUE, 0, bytes, out, 0, NULL, NULL);
    if (status == QST_OK && code == CL_SUCCESS)
        return true;
    tell_wrong(r, candidate, status == QST_OK ? "C could not be written or read" : err.text);
    return false;
}

/* Is an element another than the fallback's? Names the first. Which NaN a NaN is, is nobody's promise. */
static bool differs(const run *r, char *text, size_t size)
{
    const size_t   item = r->t.item[2];
    const uint32_t type = r->t.problem.c.type;
    size_t         i;

    for (i = 0; i < r->t.x[2].count; i++) {
        double got = element_load(type, r->got, (int64_t)i), strict = element_load(type, r->strict, (int64_t)i);
        if (memcmp(r->got + i * item, r->strict + i * item, item) == 0 || (isnan(got) && isnan(strict)))
            continue;
        (void)snprintf(
            text, size,
            "right, but not what the fallback gives, in class strict: element %zu of the buffer is %.17g, not "
            "%.17g",
            i, got, strict);
        return true;
    }
    return false;
}

static void try_one(run *r, uint32_t candidate)
{
    const char *why = candidate == r->b->n ? NULL : refusal(r->b, candidate, &r->x);
    char        text[600];

    if (why) {
        bench_refused(r->b, candidate, why);
        return;
    }
    if (!compute(r, candidate, r->got))
        return;
    if (!matmul_case_right(&r->t, bench_name(r->b, candidate), r->got, r->raw[2], text, sizeof text) ||
        (r->strict && differs(r, text, sizeof text)))
        tell_wrong(r, candidate, text);
    else
        r->b->accounts[candidate].right++;
}

void bench_run(matrix_bench *b, const point *at, const uint32_t *candidates, uint32_t n)
{
    const uint32_t trivial = b->n, fallback = b->set->model.fallback;
    run            r;
    qst_matmul     p;
    uint32_t       i;

    memset(&r, 0, sizeof r);
    r.b = b;
    r.at = at;
    stated(at, &p, &r.t);
    normalise(b, &p, &r.x);
    r.got = calloc(r.t.x[2].count, r.t.item[2]);
    r.strict = calloc(r.t.x[2].count, r.t.item[2]);
    for (i = 0; i < 3; i++)
        matmul_case_upload(b->cl, &r.t, (int)i, &r.mem[i], &r.raw[i]);
    if (p.numerics != QST_NUMERICS_STRICT || r.x.kind != QST_OK || !compute(&r, fallback, r.strict)) {
        free(r.strict);
        r.strict = NULL;
    }
    if (r.x.kind == QST_TRIVIAL && !b->others)
        try_one(&r, trivial);
    for (i = 0; i < n && r.x.kind == QST_OK; i++)
        try_one(&r, candidates[i]);
    for (i = 0; i < 3; i++) {
        clReleaseMemObject(r.mem[i]);
        free(r.raw[i]);
    }
    free(r.got);
    free(r.strict);
    matmul_case_finish(&r.t);
}
