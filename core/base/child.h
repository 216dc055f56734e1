/* SPDX-License-Identifier: MIT
 *
 * child.h: a program of ours as a process of its own: started, spoken with, ended. Whose path is taken is the caller's
 * affair, and what is said too.
 *
 * The process has its end of one stream socket as standard input, and reads and writes there; its standard output and
 * error output are /dev/null, so that what a driver or a kernel prints does not get between. Nothing else that the host
 * has open reaches it. Signals are as by default, none is blocked; the environment and the folder are the host's. No
 * code of the host runs in a copy of it (posix_spawn), whatever its other threads hold.
 *
 * The host is left as it is: no handler is set, no SIGPIPE is raised, only this process is waited for. A host that
 * ignores SIGCHLD or reaps all children may take its end away from us: then how it ended is not known, and what is no
 * more is not killed.
 */
#ifndef QST_BASE_CHILD_H
#define QST_BASE_CHILD_H

#include "base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct qst__child {
    pid_t pid;
    int   socket; /* −1: none is running */
} qst__child;

#define QST__CHILD_NONE ((qst__child){0, -1})

/* How long something is waited for: until the moment, or until `stop` is true (NULL: nobody stops it). */
typedef struct qst__patience {
    const qst__clock   *clock;
    uint64_t            until; /* ns of the clock */
    const _Atomic bool *stop;
} qst__patience;

typedef enum qst__talk {
    QST__TALK_DONE,
    QST__TALK_ENDED, /* it has closed its end, or is no more */
    QST__TALK_LATE   /* patience is at an end; it still runs */
} qst__talk;

/* Starts argv[0], a path, with these arguments; the last one is NULL. 0, or the errno that tells why not. */
int qst__child_start(qst__child *child, char *const *argv);

/* All n bytes. */
qst__talk qst__child_write(const qst__child *child, const void *bytes, size_t n, const qst__patience *patience);

/* Nothing more will be written: its input is at an end behind what was. */
void qst__child_write_end(const qst__child *child);

/* Until `n` bytes are there: DONE; *got: how many were, in any case. */
qst__talk qst__child_read(const qst__child *child, void *into, size_t n, size_t *got, const qst__patience *patience);

/* Hangs up, and waits that it ends by itself as long as patience lasts (NULL: not at all); then kills it. Gives its exit
 * status, or the signal that ended it as a negative number, or UNKNOWN. No zombie is left, unless a driver holds up even
 * what is killed: that is not waited for beyond ten seconds. Nothing happens where none is running. */
int qst__child_end(qst__child *child, const qst__patience *patience);

#define QST__CHILD_UNKNOWN 0x10000

/* "SIGSEGV" and its like where it ended by a signal that programs bring on themselves, else NULL. */
const char *qst__child_fault(int end);

#endif
