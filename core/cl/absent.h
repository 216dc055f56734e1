/* SPDX-License-Identifier: MIT
 *
 * absent.h: why there is no OpenCL device, as far as files and variables tell: a loader passes over a driver that does not
 * start, and says the same as where there is none.
 */
#ifndef QST_CL_ABSENT_H
#define QST_CL_ABSENT_H

#include <quernstone/types.h>

/* Fails with E_NOTFOUND and one line: no driver is registered, and where they were looked for; or which are and offer none,
 * and what keeps PoCL, where it is one of them, from starting. */
qst_status qst__device_absent(qst_error *err);

#endif
