/* SPDX-License-Identifier: MIT
 *
 * status.h: OpenCL's codes as names, and the counters that this layer keeps.
 */
#ifndef QST_CL_STATUS_H
#define QST_CL_STATUS_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include "base/base.h"
#include "cl/waits.h"

#include <CL/cl.h>
#include <stdatomic.h>

/* "CL_OUT_OF_RESOURCES"; "unknown OpenCL code" */
const char *qst__cl_name(cl_int code);

/* A lack of memory or resources: not now, but perhaps the next time. */
static inline bool qst__cl_passing(cl_int code)
{
    return code == CL_OUT_OF_HOST_MEMORY || code == CL_OUT_OF_RESOURCES;
}

/* Relaxed counters of one context; see qst_counters in context.h. */
typedef struct qst__cl_counters {
    _Atomic uint64_t kernels;
    _Atomic uint64_t compiles;
    _Atomic uint64_t binary_loads;
    qst__waits       waits;
} qst__cl_counters;

#endif
