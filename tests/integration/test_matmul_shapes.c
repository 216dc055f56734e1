/* SPDX-License-Identifier: MIT
 *
 * test_matmul_shapes.c: right products through the typed calls: odd shapes, every transpose, padding, column-major C,
 * offsets, batches with broadcast, scalars; all tuned, on both kinds of queue.
 */
#include "support/matmul_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    void        *cl;
    qst_context *ctx;
} fixture;

/* Tuning every odd shape to the end is other tests' matter: a small budget still goes through all of it. */
static int open_all(void **state)
{
    static fixture f;

    if (cl_fixture_open(&f.cl))
        return -1;
    f.ctx = matmul_context(", \"tune\": {\"max_samples\": 3}");
    *state = &f;
    return f.ctx ? 0 : -1;
}

static int close_all(void **state)
{
    fixture *f = *state;

    qst_context_destroy(f->ctx);
    return cl_fixture_close(&f->cl);
}

static void run_on(fixture *f, const qst_matmul *p, const int64_t offset[3], cl_command_queue queue)
{
    matmul_case c;
    qst_error   err;

    memset(&err, 0, sizeof err);
    matmul_case_open(&c, f->cl, p, offset);
    if (qst_matmul_enqueue_at(f->ctx, queue, p, matmul_case_operand(&c, 0), matmul_case_operand(&c, 1),
                              matmul_case_operand(&c, 2), 0, NULL, NULL, &err) != QST_OK)
        fail_msg("%lldx%lldx%lld: %s: %s", (long long)p->m, (long long)p->n, (long long)p->k, err.source, err.text);
    matmul_case_check(&c, queue);
    matmul_case_close(&c);
}

static void run(fixture *f, const qst_matmul *p, const int64_t offset[3])
{
    cl_fixture *cl = f->cl;

    run_on(f, p, offset, cl->in_order);
    if (cl->out_of_order)
        run_on(f, p, offset, cl->out_of_order);
}

static void odd_shapes(void **state)
{
    static const int64_t shapes[][3] = {
        {333, 65, 129}, {1, 1, 1},      {1, 1, 77},   {1, 33, 1},   {19, 1, 1},   {1, 67, 129}, {131, 1, 63},
        {7, 9, 1},      {2, 3, 5},      {17, 31, 64}, {16, 16, 16}, {65, 64, 63}, {100, 3, 7},  {3, 100, 7},
        {5, 7, 300},    {127, 129, 31}, {48, 250, 2}, {250, 48, 3}, {33, 33, 33}, {64, 1, 64},  {257, 15, 17}};
    qst_matmul p;
    size_t     i;

    for (i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        qst_matmul_init(&p, shapes[i][0], shapes[i][1], shapes[i][2], QST_F32);
        run(*state, &p, NULL);
    }
}

static void transposes_padding_offsets(void **state)
{
    static const int64_t offsets[3] = {1, 3, 5};
    int                  kind;

    for (kind = 0; kind < 16; kind++) {
        qst_matmul p;
        int64_t    pad = kind & 4 ? 5 : 0;
        qst_matmul_init(&p, 66, 35, 47, QST_F32);
        p.a.row = kind & 1 ? 1 : 47 + pad;
        p.a.col = kind & 1 ? 66 + pad : 1;
        p.b.row = kind & 2 ? 1 : 35 + pad;
        p.b.col = kind & 2 ? 47 + pad : 1;
        p.c.row = kind & 8 ? 1 : 35 + pad; /* column-major C */
        p.c.col = kind & 8 ? 66 + pad : 1;
        run(*state, &p, NULL);
        run(*state, &p, offsets);
    }
}

static void scalars(void **state)
{
    static const double values[] = {0, 1, -1, 0.5};
    size_t              i, j;

    for (i = 0; i < 4; i++)
        for (j = 0; j < 4; j++) {
            qst_matmul p;
            qst_matmul_init(&p, 37, 21, 19, QST_F32);
            p.alpha = values[i];
            p.beta = values[j];
            p.c.row = 24;
            run(*state, &p, NULL);
        }
}

static void batches(void **state)
{
    qst_matmul p;

    qst_matmul_init(&p, 13, 17, 11, QST_F32);
    qst_matmul_batch(&p, 5);
    run(*state, &p, NULL);
    p.b.batch[3] = 0; /* one B for all */
    run(*state, &p, NULL);
    p.batch[1] = 3; /* outer batch, A the same for all of it, C apart */
    p.a.batch[1] = 0;
    p.b.batch[1] = 11 * 17;
    p.c.batch[1] = 5 * 13 * 17;
    run(*state, &p, NULL);
    p.batch[0] = 2; /* batches out of order in memory */
    p.a.batch[0] = 13 * 11 * 5;
    p.c.batch[0] = 3 * 5 * 13 * 17;
    run(*state, &p, NULL);
}

static void broadcast_rows(void **state)
{
    qst_matmul p;

    qst_matmul_init(&p, 9, 14, 10, QST_F32);
    p.a.row = 0;
    run(*state, &p, NULL);
    p.b.col = 0;
    run(*state, &p, NULL);
}

static void empty_k_scales(void **state)
{
    qst_matmul p;

    qst_matmul_init(&p, 20, 30, 0, QST_F32);
    run(*state, &p, NULL);
    p.beta = 0.5;
    run(*state, &p, NULL);
    p.c.row = 1;
    p.c.col = 21;
    run(*state, &p, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(odd_shapes),     cmocka_unit_test(transposes_padding_offsets),
                                       cmocka_unit_test(scalars),        cmocka_unit_test(batches),
                                       cmocka_unit_test(broadcast_rows), cmocka_unit_test(empty_k_scales)};

    return cmocka_run_group_tests(tests, open_all, close_all);
}
