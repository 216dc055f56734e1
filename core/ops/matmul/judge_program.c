/* SPDX-License-Identifier: MIT
 *
 * judge_program.c: the programs that the judge's launches are in. What every tuning needs is apart from what only a wrong
 * result needs, for a key's first call waits until all of the former is built.
 */
#include "ops/matmul/internal.h"

#include "judge.cl.h"
#include "judge_bound.cl.h"
#include "judge_equal.cl.h"
#include "judge_locate.cl.h"

#define O1(a, b, c, real, lanes, usual)                                                                                \
    "-cl-std=CL1.2 -DTA=" #a " -DTB=" #b " -DTC=" #c " -DR64=" #real " -DLANES=" #lanes " -DUSUAL=" #usual
#define O2(a, b, c, real, lanes)                                                                                       \
    {                                                                                                                  \
        O1(a, b, c, real, lanes, 0), O1(a, b, c, real, lanes, 1)                                                       \
    }
#define O3(a, b, c, real)                                                                                              \
    {                                                                                                                  \
        O2(a, b, c, real, 64), O2(a, b, c, real, 1)                                                                    \
    }
#define O4(a, b, c)                                                                                                    \
    {                                                                                                                  \
        O3(a, b, c, 0), O3(a, b, c, 1)                                                                                 \
    }
#define O5(a, b)                                                                                                       \
    {                                                                                                                  \
        O4(a, b, 1), O4(a, b, 2), O4(a, b, 3), O4(a, b, 4)                                                             \
    }
#define O6(a)                                                                                                          \
    {                                                                                                                  \
        O5(a, 1), O5(a, 2), O5(a, 3), O5(a, 4)                                                                         \
    }
/* By the types of A, B, C; is double there; is it a CPU; is the problem a usual one. */
static const char *const options[4][4][4][2][2][2] = {O6(1), O6(2), O6(3), O6(4)};

/* The kernels for integers, those for reals, both, and what names a wrong element. */
enum { TEXT_EQUAL, TEXT_BOUND, TEXT_ALL, TEXT_LOCATE };
static const struct {
    const char *data;
    uint64_t    length;
} texts[] = {{judge_equal_cl, sizeof judge_equal_cl - 1},
             {judge_bound_cl, sizeof judge_bound_cl - 1},
             {judge_cl, sizeof judge_cl - 1},
             {judge_locate_cl, sizeof judge_locate_cl - 1}};

static uint32_t text_of(uint32_t index, bool cpu)
{
    return index & QST__JUDGE_PLACE ? TEXT_LOCATE : cpu ? TEXT_ALL : index & QST__JUDGE_REALS ? TEXT_BOUND : TEXT_EQUAL;
}

/* What USUAL promises. A problem's further shapes are as it is, so that all that a key needs is of one kind. */
static bool is_usual(const qst_matmul *p)
{
    return qst__matmul_batches(p) == 1 && p->beta == 0.0 && p->a.col == 1 && p->b.col == 1 && p->c.col == 1;
}

int32_t qst__matmul_judge_program(void *user, const qst_device *device, const void *problem, uint32_t index,
                                  qst_program *out)
{
    const qst_matmul *p = problem;
    bool              cpu = device->type == QST_DEVICE_CPU, swapped = (index & QST__JUDGE_SWAPPED) != 0;
    uint32_t          a = swapped ? p->b.type : p->a.type, b = swapped ? p->a.type : p->b.type;
    uint32_t          text = text_of(index, cpu);
    (void)user;

    if (index >= QST__JUDGE_PROGRAMS)
        return QST_E_INVALID;
    out->form = QST_PROGRAM_SOURCE;
    out->data = texts[text].data;
    out->length = texts[text].length;
    out->options = options[a - 1][b - 1][p->c.type - 1][(device->flags & QST_DEVICE_F64) != 0][cpu][is_usual(p)];
    return QST_OK;
}
