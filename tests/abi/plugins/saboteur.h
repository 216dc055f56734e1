/* SPDX-License-Identifier: MIT
 *
 * saboteur.h: what the saboteurs among the plugins have in common: a matmul that is row-major, unbatched and small, one
 * launch of a kernel whose arguments are those of saboteur_steps, and the descriptors around it.
 */
#ifndef TEST_SABOTEUR_H
#define TEST_SABOTEUR_H

#include "descriptor.h"

#include <quernstone/matmul.h>

/* A candidate's user: its kernel and options, of one source. */
typedef struct saboteur {
    const char *source, *entry, *options;
    uint32_t    type; /* of A, B and C */
    uint32_t    workspace;
} saboteur;

static inline int32_t saboteur_can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const saboteur   *s = (const saboteur *)user;
    const qst_matmul *p = (const qst_matmul *)problem;
    (void)device;
    if (p->a.type != s->type || p->b.type != s->type || p->c.type != s->type)
        return qstk_no(why, "another element type");
    if (p->a.col != 1 || p->b.col != 1 || p->c.col != 1)
        return qstk_no(why, "adjacent columns only");
    if (p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3] != 1)
        return qstk_no(why, "no batches");
    if (p->m > 32768 || p->n > 32768 || p->k > INT32_MAX)
        return qstk_no(why, "m and n up to 32768, k up to 2^31 - 1");
    return QST_OK;
}

/* A boast, so that it is tried early. */
static inline double saboteur_estimate(void *user, const qst_device *device, const void *problem)
{
    (void)user;
    (void)device;
    (void)problem;
    return 1.0;
}

static inline int32_t saboteur_program(void *user, const qst_device *device, const qst_key *key, uint32_t index,
                                       qst_program *out)
{
    const saboteur *s = (const saboteur *)user;
    (void)device;
    (void)key;
    (void)index;
    out->data = s->source;
    out->length = strlen(s->source);
    out->options = s->options;
    return QST_OK;
}

/* kernel void entry(global const T *a, ulong a0, global const T *b, ulong b0, global T *c, ulong c0, int m, int n, int k,
 *                   long lda, long ldb, long ldc, float alpha, float beta [, global uint *workspace])
 * on 1024 work-items in groups of 16. */
static inline int32_t saboteur_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const saboteur   *s = (const saboteur *)user;
    const qst_matmul *p = (const qst_matmul *)problem;
    const qst_arg     args[] = {
            qstk_operand(0),    qstk_offset(0),     qstk_operand(1),    qstk_offset(1),    qstk_operand(2),
            qstk_offset(2),     qstk_i32(p->m),     qstk_i32(p->n),     qstk_i32(p->k),    qstk_i64(p->a.row),
            qstk_i64(p->b.row), qstk_i64(p->c.row), qstk_f32(p->alpha), qstk_f32(p->beta), qstk_workspace(0),
    };
    qst_launch launch = qstk_launch(0, s->entry, 1, args, QSTK_COUNT(args) - (s->workspace ? 0 : 1));
    int32_t    status = s->workspace ? out->workspace(out, 0, s->workspace) : QST_OK;
    (void)device;
    launch.global[0] = 1024;
    launch.local[0] = 16;
    return status == QST_OK ? out->launch(out, &launch) : status;
}

/* One that takes the three buffers alone, whatever the problem: 1024 work-items in groups of 64. */
static inline int32_t saboteur_plain_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_arg args[] = {qstk_operand(0), qstk_operand(1), qstk_operand(2)};
    qst_launch    launch = qstk_launch(0, ((const saboteur *)user)->entry, 1, args, QSTK_COUNT(args));
    (void)device;
    (void)problem;
    launch.global[0] = 1024;
    launch.local[0] = 64;
    return out->launch(out, &launch);
}

static const qst_membership saboteur_unit[] = {{"unit", NULL, 3, 0}};

#define SABOTEUR_CANDIDATE(name, saboteur_)                                                                            \
    {                                                                                                                  \
        .size = sizeof(qst_candidate), .op = "matmul", .variant = name, .revision = 1,                                 \
        .classes = QST_CLASS_PLAIN | QST_CLASS_FAST, .problem_size = sizeof(qst_matmul),                               \
        .n_memberships = QSTK_COUNT(saboteur_unit), .memberships = saboteur_unit, .user = (void *)(saboteur_),         \
        .can_run = saboteur_can_run, .estimate = saboteur_estimate, .program = saboteur_program,                       \
        .steps = saboteur_steps                                                                                        \
    }

#endif
