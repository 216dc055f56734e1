/* SPDX-License-Identifier: MIT
 *
 * memory_case.h: a context, two problems and an operation, and what is done with them while the n-th allocation fails, for
 * each n.
 */
#ifndef QST_TESTS_MEMORY_CASE_H
#define QST_TESTS_MEMORY_CASE_H

#include "support/blend.h"
#include "support/chaos.h"
#include "support/matmul_case.h"

/* Two small problems with keys of their own; the second is deep enough to be split along k. */
enum { FLAT, DEEP, PROBLEMS };

typedef struct memory_world {
    cl_fixture  *cl;
    chaos_memory memory;
    const char  *config;
    uint32_t     flags;
    qst_context *ctx;
    matmul_case  c[PROBLEMS];
    blend_case   blend;
    size_t       added; /* candidates of blend */
    const char  *what;  /* to describe */
    char        *text;  /* what it said, and what it has to say */
    char        *expected;
    size_t       length;
    qst_matmul   p;
} memory_world;

/* One thing that is done while memory fails.
 *   before  what stands before it; NULL: a context
 *   act     may be called again after it failed
 *   check   after success; NULL: nothing */
typedef struct memory_scene {
    const char *name;
    const char *config;
    uint32_t    flags;
    void (*before)(memory_world *w);
    qst_status (*act)(memory_world *w, qst_error *err);
    void (*check)(memory_world *w);
    const char *what;
} memory_scene;

/* Makes the world's context, if it has none; fails the test unless a status is good; forgets the text. */
qst_status memory_create(memory_world *w, qst_error *err);
void       memory_must(const char *what, qst_status status, const qst_error *err);
void       memory_clear(memory_world *w);

/* Fails each `step`-th allocation of the scene, from the first on; with QST_CHAOS_ALL set each one. fresh: in a world made
 * anew for each; for_good: with all that come after it. */
void memory_sweep(cl_fixture *cl, const memory_scene *s, bool fresh, bool for_good, long step);

#endif
