/* SPDX-License-Identifier: MIT
 *
 * chaos.h: memory of which the n-th piece is refused, and what is expected of a call that something failed under: a
 * status of a few, and one line that says why.
 */
#ifndef QST_TESTS_CHAOS_H
#define QST_TESTS_CHAOS_H

#include <quernstone/quernstone.h>
#include <stdbool.h>
#include <stddef.h>

/* Counts while it is armed. Nothing is refused that only shrinks or frees. */
typedef struct chaos_memory {
    bool   armed;
    bool   for_good; /* all from the n-th on are refused, not one alone */
    long   count;    /* asked for since it was armed */
    long   refuse;   /* the number of the one to refuse, from 0 */
    long   refused;  /* how many were, since it was armed */
    size_t pieces;   /* that are there now */
    size_t bytes;
} chaos_memory;

/* [any thread] The memory must outlive the context. */
qst_allocator chaos_allocator(chaos_memory *memory);

/* From now on, until chaos_disarm. */
void chaos_arm(chaos_memory *memory, long refuse, bool for_good);
/* How many were refused since. */
long chaos_disarm(chaos_memory *memory);

/* Fails the test unless `status` is in `allowed` (ended by 0, which is QST_OK and always allowed) and `err` says the same
 * in one line, which must not be empty; after success it must be. */
void chaos_expect(const char *what, long n, qst_status status, const qst_error *err, const qst_status *allowed);

#endif
