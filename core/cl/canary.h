/* SPDX-License-Identifier: MIT
 *
 * canary.h: does a program not build, or does nothing?
 *
 * A driver says CL_BUILD_PROGRAM_FAILURE of a text that is wrong as of a disk that is full, of one that it may not write to and
 * of a compiler that is gone. So a text is built that is known to be right. It is new each time, so that no cache answers
 * for the driver, and at least as long as the text that failed, so that it needs no less room where texts are written to files.
 *
 * Where it did not build either, that is said once and remembered for a while (decision 53): until then nothing is built
 * that another can stand in for, so that calls which the fallback serves cost no builds. What nothing works without is
 * built all the same; the first text that builds ends the silence.
 */
#ifndef QST_CL_CANARY_H
#define QST_CL_CANARY_H

#include "cl/program.h"

#define QST__CANARY_NS   1000000000u /* that it is remembered */
#define QST__CANARY_ROOM (1u << 20)  /* bytes that are more than what drivers write of any program and its kernels */

/* What there is to say. */
#define QST__CANARY_TEXT                                                                                               \
    "no program builds now, not even one that is known to be right: the driver's cache or TMPDIR may be full or "      \
    "closed to it, or memory short"

/* True: programs do build now, so it is the other's own fault. False: none does, or that cannot be told. A driver that is
 * known to be silent is not asked. */
bool qst__canary_builds(qst__programs *programs, size_t least);

/* A process of ours died of a program, and why is the cause. OK: that is the program's own fault. Else nothing builds now, and
 * err is as where a build failed for that (qst__programs_unable): a driver without room may end the process. */
qst_status qst__canary_blames(qst__programs *programs, const char *why, qst_error *err);

/* Did it not build a moment ago? */
bool qst__canary_silent(const qst__programs *programs);
/* Something has been built. */
void qst__canary_heard(qst__programs *programs);

#endif
