/* SPDX-License-Identifier: MIT
 *
 * groups.c: the groups of matmul's candidates and their priorities by key, in one table (the reference's rules).
 */
#include "ops/matmul/internal.h"

enum { ACCELERATED, UNIT, TMA, GEMV, CPU };

/* Conditions, sets of bits; 0 stands for any. */
#define GENERAL (1u << QST_KIND_GENERAL)
#define MATVEC  (1u << QST_KIND_MATVEC)
#define VECMAT  (1u << QST_KIND_VECMAT)
#define SMALL   (1u << QST_SCALE_SMALL)
#define LARGE   (1u << QST_SCALE_LARGE)
#define PLAIN   (1u << QST_LAYOUT_CONTIGUOUS)
#define TURNED  (1u << QST_LAYOUT_TRANSPOSED | 1u << QST_LAYOUT_TRANSPOSED_SWAPPED)

enum {
    ON_CPU = 1,  /* the device is a CPU */
    ALIGNED = 2, /* strides of both inputs are multiples of 16 bytes */
    COMPACT = 4, /* longest of m, n, k is less than 4 times the shortest (by whole division) */
    IN_USE = 8   /* none of m, n, k is 0 */
};

typedef struct rule {
    uint32_t group, kinds, scales, lhs, rhs, needs;
    int32_t  priority;
} rule;

/* The first row that fits gives the priority; where none fits the group is skipped. */
/* clang-format off */
static const rule rules[] = {
    /* group      kinds            scales  lhs     rhs     needs                       priority */
    {ACCELERATED, GENERAL,         LARGE,  0,      0,      0,                          3},
    {ACCELERATED, GENERAL,         0,      0,      0,      0,                          2},
    {ACCELERATED, MATVEC | VECMAT, 0,      0,      0,      0,                          3},
    {ACCELERATED, 0,               0,      0,      0,      0,                          1},

    {UNIT,        0,               SMALL,  0,      0,      0,                          2},
    {UNIT,        GENERAL,         0,      0,      0,      0,                          1},
    {UNIT,        0,               0,      0,      0,      0,                          2},

    {TMA,         GENERAL,         LARGE,  0,      0,      IN_USE | ALIGNED | COMPACT, 3},
    {TMA,         0,               0,      0,      0,      IN_USE | ALIGNED,           2},

    {GEMV,        0,               0,      0,      0,      ON_CPU,                     3},
    {GEMV,        MATVEC,          0,      TURNED, 0,      0,                          2},
    {GEMV,        MATVEC,          0,      0,      0,      0,                          3},
    {GEMV,        VECMAT,          0,      0,      TURNED, 0,                          3},
    {GEMV,        VECMAT,          0,      0,      0,      0,                          2},

    {CPU,         0,               0,      0,      0,      ON_CPU,                     3},
};
/* clang-format on */

/* What of a rule's `needs` holds for this device and key. */
static uint32_t state_of(const qst_device *device, const int64_t *v)
{
    int64_t  m = v[QST_MATMUL_KEY_M], n = v[QST_MATMUL_KEY_N], k = v[QST_MATMUL_KEY_K];
    int64_t  longest = m > n ? m : n, shortest = m < n ? m : n;
    uint32_t state = device->type == QST_DEVICE_CPU ? ON_CPU : 0;

    longest = longest > k ? longest : k;
    shortest = shortest < k ? shortest : k;
    if (shortest > 0)
        state |= IN_USE;
    if (shortest > 0 && longest / shortest < 4)
        state |= COMPACT;
    if (v[QST_MATMUL_KEY_LHS_STRIDE] >= 4 && v[QST_MATMUL_KEY_RHS_STRIDE] >= 4)
        state |= ALIGNED;
    return state;
}

static bool fits(uint32_t set, int64_t value)
{
    return set == 0 || (set >> value & 1) != 0;
}

static int32_t priority(void *user, const qst_device *device, const qst_key *key)
{
    const int64_t *v = key->value;
    uint32_t       group = (uint32_t)(uintptr_t)user;
    uint32_t       state = state_of(device, v);

    for (size_t i = 0; i < QSTK_COUNT(rules); i++) {
        const rule *r = &rules[i];
        if (r->group == group && fits(r->kinds, v[QST_MATMUL_KEY_KIND]) && fits(r->scales, v[QST_MATMUL_KEY_SCALE]) &&
            fits(r->lhs, v[QST_MATMUL_KEY_LAYOUT_LHS]) && fits(r->rhs, v[QST_MATMUL_KEY_LAYOUT_RHS]) &&
            (r->needs & ~state) == 0)
            return r->priority;
    }
    return -1;
}

#define GROUP(group_name, id)                                                                                          \
    {                                                                                                                  \
        .size = sizeof(qst_group), .name = group_name, .user = (void *)(uintptr_t)(id), .priority = priority           \
    }
const qst_group qst__matmul_groups[QST__MATMUL_GROUPS] = {
    GROUP("accelerated", ACCELERATED), GROUP("unit", UNIT), GROUP("tma", TMA), GROUP("gemv", GEMV), GROUP("cpu", CPU),
};
