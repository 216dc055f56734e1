/* SPDX-License-Identifier: MIT
 *
 * small.c [GLOB…]: every candidate that the device could run, at one small odd shape, against a reference in
 * double: of matmul, whichever kind of device it is meant for, of the probes, and the kernel for alpha = 0. So small
 * that oclgrind, which interprets each work-item, is through in minutes: oclgrind.sh runs this program under it. With
 * GLOBs only candidates of such a name, `plugin.variant`.
 */
#include "kernel/matmul_case.h"
#include <fnmatch.h>
#include <quernstone/probe.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

extern const qst_plugin qst__builtin_naive, qst__builtin_tiled, qst__builtin_cpu_gemm, qst__builtin_gemv,
    qst__builtin_unit, qst__builtin_double_unit, qst__builtin_probe;

static const qst_plugin *const plugins[] = {&qst__builtin_naive, &qst__builtin_tiled,       &qst__builtin_cpu_gemm,
                                            &qst__builtin_unit,  &qst__builtin_double_unit, &qst__builtin_probe};

static struct runner bench;
static char        **globs;
static int           n_globs;

static int wanted(const struct runner_candidate *c, const char *op)
{
    int i;
    if (strcmp(c->candidate.op, op) != 0)
        return 0;
    for (i = 0; i < n_globs; i++)
        if (fnmatch(globs[i], c->name, 0) == 0)
            return 1;
    return n_globs == 0;
}

/* Makes the device of the kind that the candidate is meant for, a GPU if it can be one. 0: no kind will do. */
static int fits(const struct runner_candidate *c, uint32_t type, int64_t kind)
{
    static const uint32_t kinds[] = {QST_DEVICE_GPU, QST_DEVICE_CPU};
    int64_t               values[QST_KEY_MAX] = {0};
    const qst_key         key = {QST_MATMUL_KEY_COUNT, 0, values};
    uint32_t              i;
    values[QST_MATMUL_KEY_KIND] = kind;
    values[QST_MATMUL_KEY_ELEM_LHS] = values[QST_MATMUL_KEY_ELEM_RHS] = values[QST_MATMUL_KEY_ELEM_OUT] = type;
    for (i = 0; i < QSTK_COUNT(kinds); i++) {
        bench.device.type = kinds[i];
        if (!c->candidate.supports ||
            c->candidate.supports(c->candidate.user, &bench.device, &key, NULL) != QST_E_UNSUPPORTED)
            return 1;
    }
    return 0;
}

/* ---- matmul ----------------------------------------------------------------------------------------------------- */

/* Runs c, which can, and compares. */
static void compute(struct runner_candidate *c, const qst_matmul *problem, size_t lead)
{
    struct matmul_case t;
    cl_mem             buffers[3];
    qst_mem            operands[3];
    void              *raw[3], *got;
    int                i;
    matmul_case_init(&t, problem, lead, 0);
    for (i = 0; i < 3; i++) {
        matmul_case_upload(bench.context, &t, i, &buffers[i], &raw[i]);
        operands[i] = qst_mem_at(buffers[i], t.x[i].start * t.item[i]);
    }
    got = malloc(t.x[2].count * t.item[2]);
    assert_non_null(got);
    if (runner_run(&bench, c, &t.problem, operands, t.item) != QST_OK)
        fail_msg("%s does not run", c->name);
    assert_int_equal(
        clEnqueueReadBuffer(bench.queue, buffers[2], CL_TRUE, 0, t.x[2].count * t.item[2], got, 0, NULL, NULL),
        CL_SUCCESS);
    matmul_case_compare(&t, c->name, got, raw[2]);
    for (i = 0; i < 3; i++) {
        clReleaseMemObject(buffers[i]);
        free(raw[i]);
    }
    free(got);
    matmul_case_finish(&t);
}

/* Those of such a name. transposition: bit 0 B's, bit 1 A's; three elements after each line, or four and all
 * aligned where k is a multiple of four. */
static void try_shape(const char *glob, const int64_t *mnk, uint32_t transposition, uint32_t type, double alpha,
                      double beta)
{
    const int64_t m = mnk[0], n = mnk[1], k = mnk[2], pad = k % 4 ? 3 : 4;
    const int64_t kind = m == 1   ? QST_KIND_VECMAT
                         : n == 1 ? QST_KIND_MATVEC
                         : k == 1 ? QST_KIND_OUTER
                                  : QST_KIND_GENERAL;
    qst_matmul    p;
    uint32_t      i;
    qst_matmul_init(&p, m, n, k, type);
    p.a.row = transposition & 2 ? 1 : k + pad;
    p.a.col = transposition & 2 ? m + pad : 1;
    p.b.row = transposition & 1 ? 1 : n == 1 ? 1 : n + pad;
    p.b.col = transposition & 1 ? k + pad : 1;
    p.c.row = n + pad;
    p.a.align = p.b.align = p.c.align = pad == 4 ? 5 : 0;
    p.alpha = alpha;
    p.beta = beta;
    for (i = 0; i < bench.n; i++) {
        struct runner_candidate *c = &bench.candidates[i];
        const char              *why = "";
        if (!wanted(c, "matmul") || fnmatch(glob, c->name, 0) != 0)
            continue;
        if (!fits(c, type, kind) || c->candidate.can_run(c->candidate.user, &bench.device, &p, &why) != QST_OK) {
            c->refused++;
            continue;
        }
        printf("%s k=%d %s\n", c->name, (int)k, (const char *[]){"NN", "NT", "TN", "TT"}[transposition]);
        fflush(stdout);
        compute(c, &p, pad == 4 ? MATMUL_CASE_LEAD : transposition ? 0 : 1);
        c->ran++;
    }
}

static void try_some(const char *glob, int64_t k, uint32_t transposition, uint32_t type, double alpha, double beta)
{
    const int64_t mnk[3] = {19, 37, k};
    try_shape(glob, mnk, transposition, type, alpha, beta);
}

/* Products with a vector, each way, and of two vectors; long enough for those that split the sum. */
static void vectors(void **state)
{
    static const int64_t all[][3] = {{21, 1, 133}, {1, 37, 133}, {19, 37, 1}};
    uint32_t             s;
    (void)state;
    for (s = 0; s < QSTK_COUNT(all); s++) {
        try_shape("gemv.*", all[s], 0, QST_F32, 1, 0);
        try_shape("gemv.*", all[s], 3, QST_F32, -0.5, 0.5);
    }
    try_shape("gemv.*x4", (const int64_t[]){1, 37, 136}, 1, QST_F32, 1, 1);
}

static void rows_by_rows(void **state)
{
    (void)state;
    try_some("*", 21, 0, QST_F32, 1, 0);
}

static void transposed_and_added(void **state)
{
    (void)state;
    try_some("*", 21, 3, QST_F32, -0.5, 0.5);
}

/* Long enough for those that split k. */
static void split(void **state)
{
    (void)state;
    try_some("tiled.splitk*", 131, 0, QST_F32, 1, 1);
    try_some("cpu_gemm.*split*", 131, 0, QST_F32, 1, 1);
}

static void doubles(void **state)
{
    (void)state;
    if (!(bench.device.flags & QST_DEVICE_F64))
        skip();
    try_some("*.min", 21, 1, QST_F64, 1, 0);
    try_some("cpu_gemm.*", 21, 3, QST_F64, 1, 0);
    try_some("naive.*", 21, 2, QST_F64, 1, 0);
}

static void halves(void **state)
{
    (void)state;
    try_some("*.min", 21, 2, QST_F16, 1, 0);
    try_some("naive.*", 21, 1, QST_BF16, 1, 0.5);
}

static void without_a_product(void **state)
{
    static struct runner_candidate scale;
    qst_matmul                     p;
    (void)state;
    memset(&scale, 0, sizeof scale);
    scale.candidate = *qst_matmul_op.trivial;
    snprintf(scale.name, sizeof scale.name, "matmul.%s", scale.candidate.variant);
    qst_matmul_init(&p, 19, 37, 21, QST_F32);
    p.c.row = 40;
    p.alpha = 0;
    p.beta = 0.5;
    compute(&scale, &p, 0);
    p.beta = 0;
    compute(&scale, &p, 1);
    clReleaseProgram(scale.programs[0]);
}

/* Who never ran is told; without GLOBs that is nobody. */
static void told(void **state)
{
    uint32_t i, never = 0;
    (void)state;
    for (i = 0; i < bench.n; i++)
        if (wanted(&bench.candidates[i], "matmul") && !bench.candidates[i].ran) {
            never++;
            printf("%s: cannot run here\n", bench.candidates[i].name);
        }
    if (!n_globs)
        assert_int_equal(never, 0);
}

/* ---- The probes ------------------------------------------------------------------------------------------------- */

enum { FROM = 640, OUT = 384 }; /* words; 384 elements: whole vectors of either width of chain */

/* How many elements of the result there are, all of which are 1. */
static size_t result_of(const char *op)
{
    return strcmp(op, "probe.compute") == 0 ? OUT : 1;
}

static void probe(struct runner_candidate *c, uint32_t type)
{
    const char    *op = c->candidate.op;
    const int      one = strcmp(op, "probe.memory") == 0, f64 = type == QST_F64;
    const uint32_t item = f64 ? 8 : 4, items[2] = {item, item};
    static char    got[8 * OUT], from[4 * FROM];
    const float    word = 1;
    qst_mem        operands[2];
    cl_mem         in, out;
    qst_probe      p;
    cl_int         code;
    size_t         i;
    for (i = 0; i < FROM; i++)
        memcpy(from + 4 * i, &word, 4);
    memset(got, 0xff, sizeof got);
    in = clCreateBuffer(bench.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof from, from, &code);
    assert_int_equal(code, CL_SUCCESS);
    out = clCreateBuffer(bench.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof got, got, &code);
    assert_int_equal(code, CL_SUCCESS);
    qst_probe_init(&p, type, QST_NUMERICS_PLAIN, one ? (int64_t)sizeof from : (int64_t)(result_of(op) * item),
                   one                                ? 3
                   : strcmp(op, "probe.compute") == 0 ? QST_PROBE_REPEATS_MIN
                                                      : 1);
    operands[0] = qst_mem_of(one ? in : out);
    operands[1] = qst_mem_of(out);
    if (c->candidate.can_run && c->candidate.can_run(c->candidate.user, &bench.device, &p, NULL) != QST_OK) {
        c->refused++;
    } else {
        if (runner_run(&bench, c, &p, operands, items) != QST_OK)
            fail_msg("%s does not run", c->name);
        assert_int_equal(clEnqueueReadBuffer(bench.queue, out, CL_TRUE, 0, sizeof got, got, 0, NULL, NULL), CL_SUCCESS);
        for (i = 0; i < result_of(op); i++) {
            double value;
            float  single;
            memcpy(&value, got + 8 * (f64 ? i : 0), 8);
            memcpy(&single, got + 4 * i, 4);
            if ((f64 ? value : (double)single) != 1)
                fail_msg("%s: element %u is %g, not 1", c->name, (unsigned)i, f64 ? value : (double)single);
        }
        for (i = result_of(op) * item; i < sizeof got; i++)
            if (got[i] != (char)0xff)
                fail_msg("%s writes after its result", c->name);
        c->ran++;
    }
    clReleaseMemObject(in);
    clReleaseMemObject(out);
}

static void probes(void **state)
{
    static const char *const ops[] = {"probe.compute", "probe.memory", "probe.launch"};
    uint32_t                 i, o;
    (void)state;
    for (o = 0; o < QSTK_COUNT(ops); o++)
        for (i = 0; i < bench.n; i++) {
            struct runner_candidate *c = &bench.candidates[i];
            if (!wanted(c, ops[o]))
                continue;
            assert_true(fits(c, QST_F32, QST_KIND_GENERAL));
            printf("%s.%s\n", c->candidate.op, c->candidate.variant);
            fflush(stdout);
            probe(c, QST_F32);
            if (bench.device.flags & QST_DEVICE_F64)
                probe(c, QST_F64);
            assert_true(c->ran > 0);
        }
}

/* ----------------------------------------------------------------------------------------------------------------- */

static int open_bench(void **state)
{
    uint32_t i;
    (void)state;
    if (runner_open(&bench))
        return -1;
    for (i = 0; i < QSTK_COUNT(plugins); i++)
        if (runner_start(&bench, plugins[i]))
            return -1;
    return 0;
}

static int close_bench(void **state)
{
    (void)state;
    runner_close(&bench);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_by_rows), cmocka_unit_test(transposed_and_added),
        cmocka_unit_test(split),        cmocka_unit_test(vectors),
        cmocka_unit_test(doubles),      cmocka_unit_test(halves),
        cmocka_unit_test(probes),       cmocka_unit_test(without_a_product),
        cmocka_unit_test(told),
    };
    globs = argv + 1;
    n_globs = argc - 1;
    return cmocka_run_group_tests(tests, open_bench, close_bench);
}
