/* SPDX-License-Identifier: MIT
 *
 * canary.h: does a program not build, or does nothing?
 *
 * A driver says CL_BUILD_PROGRAM_FAILURE of a text that is wrong as of a disk that is full, of one that it may not write to and
 * of a compiler that is gone. So a text is built that is known to be right. It is new each time, so that no cache answers
 * for the driver, and at least as long as the text that failed, so that it needs no less room where texts are written to files.
 */
#ifndef QST_CL_CANARY_H
#define QST_CL_CANARY_H

#include "cl/program.h"

/* True: programs do build now, so it is the other's own fault. False: none does, or that cannot be told. */
bool qst__canary_builds(qst__programs *programs, size_t least);

#endif
