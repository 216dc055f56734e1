/* SPDX-License-Identifier: MIT
 *
 * ahead.h: programs built ahead by a process of its own, for the sake of the driver's cache of them.
 *
 * Drivers compile under locks that an enqueue takes too: PoCL 3.1 holds up every kernel of the process while it
 * compiles one. The forerunner is a small executable that comes with the library. It builds a program from source, runs
 * one work-group of each of its kernels on buffers of zeros, and forgets it all; what stays is in the driver's cache
 * on disk, and the same build here is a matter of milliseconds. It has the processors when nobody else wants them
 * (SCHED_IDLE); where that is too seldom for a job it stands back less (nice 10), and where somebody waits for what is
 * built, not at all.
 *
 * All of it is advice: where there is no forerunner, or it fails, the program is simply not built yet.
 */
#ifndef QST_CL_AHEAD_H
#define QST_CL_AHEAD_H

#include "base/clock.h"
#include "base/log.h"
#include "cl/facts.h"
#include "cl/recipe.h"

#include <stdatomic.h>

typedef struct qst__ahead qst__ahead;

/* path: of the executable, trusted; copied. NULL where there is no memory. The process is started by the first job. */
qst__ahead *qst__ahead_create(const qst__alloc *alloc, const qst__log *log, const qst__clock *clock, const char *path);
/* Ends the process. */
void qst__ahead_destroy(qst__ahead *ahead);

/* One job: a program and the launches of a recipe that are of it. */
typedef struct qst__ahead_job {
    cl_device_id        device;
    const qst_program  *desc; /* a source; other forms are nothing to build ahead */
    const qst__recipe  *recipe;
    uint32_t            program;       /* its index in the recipe */
    const uint64_t     *operand_bytes; /* by operand; what a judge sees has as many */
    const char         *who;
    const _Atomic bool *stop;   /* given up when this becomes true */
    const _Atomic bool *urgent; /* somebody waits for it */
} qst__ahead_job;

/* [one thread] Has the job done, once: the same program with the same kernels and local sizes is not sent again.
 * *ns: how long it took. E_REFUSED: the process, which had answered before, died of it by a fault of its own or was ended by
 * the driver, and so would this one; the same is sent again. Everything else is QST_OK, built or not: a job that hangs is
 * given up after 75 s, with one line in the log, and is the last one. */
qst_status qst__ahead_build(qst__ahead *ahead, const qst__ahead_job *job, uint64_t *ns, qst_error *err);

#endif
