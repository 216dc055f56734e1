/* SPDX-License-Identifier: MIT
 *
 * run_matmul.c: operands, the call, the judgement about it, its times, and what became of pinned candidates. */
#include "out.h"
#include "run.h"
#include "subject.h"
#include "verb.h"
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

#define GUARD 4096u /* bytes before and after C; keeps any alignment that C asks for */

typedef struct operands {
    data_matrix a, b, c;
} operands;

/* Column `p` of A times 2^40, row `p` of B times 2^-40: exact, and no term of a sum changes. */
static void badly_scale(operands *all, int64_t p)
{
    data_scale(&all->a, -1, p, 40);
    data_scale(&all->b, p, -1, -40);
}

/* Random where an operand is read, else left as NaN. */
static bool make(operands *all, const device_handle *device, const qst_matmul *p, const run_options *o)
{
    data_init(&all->a, &p->a, p->m, p->k, p->batch, (uint64_t)o->offset_a, 0);
    data_init(&all->b, &p->b, p->k, p->n, p->batch, (uint64_t)o->offset_b, 0);
    data_init(&all->c, &p->c, p->m, p->n, p->batch, (uint64_t)o->offset_c, GUARD);
    if (p->alpha != 0) {
        data_random(&all->a, 3 * (uint64_t)o->seed);
        data_random(&all->b, 3 * (uint64_t)o->seed + 1);
        if (o->scaled && p->k > 0)
            badly_scale(all, p->k / 2);
    }
    if (p->beta != 0)
        data_random(&all->c, 3 * (uint64_t)o->seed + 2);
    return data_upload(&all->a, device) && data_upload(&all->b, device) && data_upload(&all->c, device);
}

/* One call from enqueue to finish, in ms; negative after one line on stderr. */
static double call(const operands *all, const device_handle *device, const qst_matmul *p)
{
    qst_error  err = {0};
    uint64_t   start = device_now();
    qst_status status = qst_matmul_enqueue_at(device->context, device->queue, p, data_operand(&all->a),
                                              data_operand(&all->b), data_operand(&all->c), 0, NULL, NULL, &err);
    if (status < 0) {
        out_error("matmul", status, &err);
        return -1;
    }
    if (!device_ok(clFinish(device->queue), "clFinish"))
        return -1;
    return (double)(device_now() - start) / 1e6;
}

static bool judge(run_result *r, const operands *all, const device_handle *device, const qst_matmul *p)
{
    unsigned char *a = out_resize(NULL, (size_t)all->a.bytes), *b = out_resize(NULL, (size_t)all->b.bytes);
    unsigned char *c = out_resize(NULL, (size_t)all->c.bytes);
    bool           read =
        data_download(&all->a, device, a) && data_download(&all->b, device, b) && data_download(&all->c, device, c);
    if (read) {
        check_task task = {p, &all->a, &all->b, &all->c, c, NULL, 0};
        r->check = check_product(&task);
        r->outside_c = data_unchanged(&all->c, c, false);
        r->inputs = data_unchanged(&all->a, a, true) && data_unchanged(&all->b, b, true);
        r->digest = data_digest(&all->c, c);
    }
    free(a);
    free(b);
    free(c);
    return read;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Did run number n give what the first call gave? False where C cannot be read. */
static bool compare(run_result *r, const operands *all, const device_handle *device, int n)
{
    unsigned char *c = out_resize(NULL, (size_t)all->c.bytes);
    bool           read = data_download(&all->c, device, c);
    if (read && !r->differs && data_digest(&all->c, c) != r->digest)
        r->differs = n;
    free(c);
    return read;
}

static bool time_runs(run_result *r, const operands *all, const device_handle *device, const qst_matmul *p, int runs,
                      bool same)
{
    double *ms = out_resize(NULL, (size_t)runs * sizeof *ms);
    int     n = 0;
    while (n < runs && (ms[n] = call(all, device, p)) >= 0 && (!same || compare(r, all, device, n + 1)))
        n++;
    bool done = n == runs;
    if (done && n) {
        qsort(ms, (size_t)n, sizeof *ms, ascending);
        r->min_ms = ms[0];
        r->median_ms = (ms[(n - 1) / 2] + ms[n / 2]) / 2;
        r->n_times = n;
        if (ms[0] > 0)
            r->gflops =
                2.0 * (double)p->m * (double)p->n * (double)p->k * (double)data_products(p->batch) / ms[0] / 1e6;
    }
    free(ms);
    return done;
}

static bool name_winner(run_result *r, const device_handle *device, const qst_matmul *p)
{
    qst_error  err = {0};
    qst_plan  *plan;
    qst_status status = qst_matmul_plan(&plan, device->context, device->queue, p, &err);
    if (status < 0)
        return out_error("plan", status, &err), false;
    r->winner = out_text("%s", qst_plan_winner(plan));
    r->barred = verdict_barred(device->context, "matmul", r->winner, NULL);
    qst_plan_destroy(plan);
    return true;
}

static void add_pinned(json_t *rows, const char *name, const char *outcome, const char *account)
{
    json_array_append_new(rows,
                          out_need(json_pack("{s:s,s:s,s:s}", "name", name, "outcome", outcome, "account", account)));
}

/* Who is pinned is to be tried: what it did wrong is a failure of the command. */
static bool is_fault(const char *outcome)
{
    static const char *const faults[] = {"WRONG", "BUILD", "LAUNCH"};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (strcmp(outcome, faults[i]) == 0)
            return true;
    return false;
}

/* Accounts of the candidates that a glob names, from the key's verdict. */
static void tell_pinned(run_result *r, const device_handle *device, qst_set *set, const qst_matmul *p, const char *glob)
{
    problem_key key;
    json_t     *verdict = NULL;
    bool        keyed = problem_key_of(set, p, &key, NULL);
    if (keyed)
        qst_context_settle(device->context); /* in the background it is still being found */
    if (keyed && !verdict_find(&verdict, device->context, &key))
        return;
    json_t *findings = json_object_get(verdict, "findings");
    size_t  before = json_array_size(r->pinned);
    for (size_t i = 0; i < json_array_size(findings); i++) {
        const json_t *finding = json_array_get(findings, i);
        if (!verdict_matches(glob, out_member(finding, "name")))
            continue;
        char *account = verdict_account(finding);
        r->pin_missed = r->pin_missed || is_fault(out_member(finding, "outcome"));
        add_pinned(r->pinned, out_member(finding, "name"), out_member(finding, "outcome"), account);
        free(account);
    }
    r->pin_missed = r->pin_missed || (verdict && json_array_size(r->pinned) == before);
    if (json_array_size(r->pinned) == before)
        add_pinned(r->pinned, glob, "",
                   verdict ? "no candidate of such a name"
                   : keyed ? "nothing is known: it could not be tuned, or tune.mode lets nothing be tuned"
                           : "nothing was tuned: the problem needs no tuning");
    json_decref(verdict);
}

int run_matmul(run_result *r, const device_handle *device, const qst_matmul *problem, const run_options *options,
               const args_list *pin)
{
    qst_matmul p = *problem;
    operands   all;
    qst_set   *set;
    qst_error  err = {0};
    bool       done = false;
    memset(&all, 0, sizeof all);
    r->pinned = out_need(json_array());
    if (qst_set_find(&set, device->context, "matmul", &err) < 0)
        return out_error("run", err.status, &err);
    if (!data_fits(device, &p, "run matmul") || !make(&all, device, &p, options))
        goto out;
    p.a.align = data_align(all.a.start);
    p.b.align = data_align(all.b.start);
    p.c.align = data_align(all.c.start);
    r->problem = problem_text(set, &p);
    subject_heed(set, &p);
    r->first_ms = call(&all, device, &p);
    stop_end();
    r->called = r->first_ms >= 0 && judge(r, &all, device, &p) && name_winner(r, device, &p);
    done = r->called && time_runs(r, &all, device, &p, (int)options->runs, options->same);
    for (size_t i = 0; i < pin->n; i++)
        tell_pinned(r, device, set, &p, pin->data[i]);
out:
    data_finish(&all.a);
    data_finish(&all.b);
    data_finish(&all.c);
    return done && run_right(r) && !r->pin_missed ? 0 : EXIT_FAILED;
}

bool run_right(const run_result *r)
{
    return r->called && r->check.right && r->outside_c && r->inputs && !r->differs;
}

void run_finish(run_result *r)
{
    free(r->problem);
    free(r->winner);
    free(r->barred);
    json_decref(r->pinned);
    memset(r, 0, sizeof *r);
}
