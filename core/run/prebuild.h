/* SPDX-License-Identifier: MIT
 *
 * prebuild.h: programs that a tuning is about to need, built by a few threads at the same time, where a builder makes that
 * pay (finisher.h). Without one nothing happens here, and programs are built when they are needed.
 *
 * A driver's front end takes one program at a time, so jobs are begun one after the other, in the order in which they are
 * listed, and go on at the same time.
 *
 * What is built ahead and not needed in the end is time of processors that had nothing else to do, so there is a bound:
 * the judge's and the core's programs, and those of the next few candidates in the order of contact. Who needs a program
 * that is being built waits for it in cl/program.c.
 */
#ifndef QST_RUN_PREBUILD_H
#define QST_RUN_PREBUILD_H

#include "run/run.h"
#include "tune/tuner.h"

/* Before a tuning of the route: begins. */
void qst__prebuild_begin(const qst__task *task, qst__route *route);
/* The next candidate in the order of contact is about to be prepared: one more may be built ahead. */
void qst__prebuild_next(qst__site *site);
/* Nothing more is needed; what is being built is finished in the background. */
void qst__prebuild_leave(qst__site *site);

/* user: the site. The calling thread has left the driver's front end: the next may begin. */
void qst__prebuild_fronted(void *user);

/* With the site. */
void qst__prebuild_init(qst__site *site);
/* Waits for the threads. */
void qst__prebuild_finish(qst__site *site);

#endif
