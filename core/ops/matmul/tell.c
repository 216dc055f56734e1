/* SPDX-License-Identifier: MIT
 *
 * tell.c: a judge's finding as one line of text. Words of a finding: in judge_equal.cl at check, in judge_locate.cl at
 * locate, in judge_bound.cl at bound and worst.
 */
#include "ops/matmul/internal.h"

#include <inttypes.h>
#include <math.h>

static float as_float(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* What stands in an element: f64 bits where C is f64, else the bits of its value as f32. */
static double value_of(const qst_matmul *p, uint32_t low, uint32_t high)
{
    uint64_t bits = (uint64_t)high << 32 | low;
    double   x;
    if (p->c.type != QST_F64)
        return (double)as_float(low);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* "C[17,3]" or, in a batch, "C[17,3] of batch 5". A column below 0 is left open. */
static void place(const qst_matmul *p, uint32_t line, int64_t col, char *text, size_t size)
{
    int64_t row = p->m > 0 ? (int64_t)line % p->m : 0, batch = p->m > 0 ? (int64_t)line / p->m : 0;
    int     used = col < 0 ? snprintf(text, size, "row %" PRId64 " of C", row)
                           : snprintf(text, size, "C[%" PRId64 ",%" PRId64 "]", row, col);
    if (qst__matmul_batches(p) > 1 && used > 0 && (size_t)used < size)
        (void)snprintf(text + used, size - (size_t)used, " of batch %" PRId64, batch);
}

static void tell_line(const qst_matmul *p, const uint32_t *finding, char *text, uint32_t size)
{
    char where[80];
    place(p, ~finding[1], -1, where, sizeof where);
    (void)snprintf(text, size, "%u of %" PRId64 " rows are wrong, the first is %s", (unsigned)finding[0],
                   qst__matmul_batches(p) * p->m, where);
}

static void tell_element(const qst_matmul *p, const uint32_t *finding, char *text, uint32_t size)
{
    char   where[80];
    double got = value_of(p, finding[4], finding[5]);
    place(p, ~finding[1], (int64_t)~finding[2], where, sizeof where);
    if (isnan(got))
        (void)snprintf(text, size, "%s is not a number, should be %d", where, (int)(int32_t)finding[6]);
    else
        (void)snprintf(text, size, "%s is %.9g, should be %d", where, got, (int)(int32_t)finding[6]);
}

static void tell_bound(const qst_matmul *p, const uint32_t *finding, char *text, uint32_t size)
{
    char   where[80];
    double got = (double)as_float(finding[4]), want = (double)as_float(finding[5]);
    double limit = (double)as_float(finding[6]);
    place(p, finding[2], (int64_t)finding[3], where, sizeof where);
    if (isnan(got))
        (void)snprintf(text, size, "%s is not a number, should be %.9g", where, want);
    else
        (void)snprintf(text, size, "%s is %.9g, differs from %.9g by more than %.3g (%.3g times it)", where, got, want,
                       limit, (double)as_float(finding[1]));
}

void qst__matmul_tell(void *user, const void *problem, uint32_t phase, const uint32_t *finding, char *text,
                      uint32_t text_size)
{
    const qst_matmul *p = problem;
    (void)user;

    if (text_size == 0)
        return;
    if (finding[0] == 0)
        (void)snprintf(text, text_size, "nothing wrong");
    else if (phase == QST_JUDGE_BOUND)
        tell_bound(p, finding, text, text_size);
    else if (phase == QST_JUDGE_LOCATE && finding[3] == 1)
        tell_element(p, finding, text, text_size);
    else
        tell_line(p, finding, text, text_size);
}
