/* SPDX-License-Identifier: MIT
 *
 * waits.h: what programs cost: the time of all builds, and how much of its own time who needs them waits. Several are
 * built side by side, so the first says what a processor would take one after the other and the second what a caller saw;
 * his time less the second is what he would have taken had every program been there.
 *
 * A thread that tunes is entered here, so that its waits are told from those of others. One that builds ahead of need is
 * entered as such: nobody waits for it, but through who needs the program.
 */
#ifndef QST_CL_WAITS_H
#define QST_CL_WAITS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { QST__WAITS_MAX = 64 }; /* threads at the same time; of a further one's waits only the sum is known */

typedef struct qst__wait {
    _Atomic uintptr_t thread; /* 0: free */
    _Atomic uint64_t  ns;     /* since it was entered */
    _Atomic bool      ahead;
} qst__wait;

/* Zero: empty. */
typedef struct qst__waits {
    _Atomic uint64_t built_ns;  /* all builds, whichever thread built */
    _Atomic uint64_t waited_ns; /* of all threads but those that build ahead */
    qst__wait        of[QST__WAITS_MAX];
} qst__waits;

/* Enters the calling thread. NULL: it is entered, by a caller further out, or there is no room. */
qst__wait *qst__waits_enter(qst__waits *waits, bool ahead);
void       qst__waits_leave(qst__wait *entered); /* NULL is fine */

/* This thread has built for so long, and has waited for so long, its own build included. */
void qst__waits_add(qst__waits *waits, uint64_t built_ns, uint64_t waited_ns);

/* How long the calling thread has waited since it was entered; 0 where it is not. */
uint64_t qst__waits_mine(qst__waits *waits);

#endif
