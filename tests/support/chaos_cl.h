/* SPDX-License-Identifier: MIT
 *
 * chaos_cl.h: OpenCL calls of which the n-th fails, and a count of the objects made and not released. Only for
 * executables that are linked with --wrap for each of the calls (test_chaos_cl.link): then all calls of the library and
 * of the test go through here, those of shared objects do not.
 *
 * A call that is made to fail does nothing, except that what releases an object releases it all the same.
 *
 * A program of one text and options is built once for all that are made of it, in one cl_context: what takes a driver
 * tens of milliseconds would otherwise be nearly all that such a test does.
 */
#ifndef QST_TESTS_CHAOS_CL_H
#define QST_TESTS_CHAOS_CL_H

#include "cl/status.h"

#include <stdbool.h>

/* The calls, each with a code that it may well fail with. */
#define CHAOS_CL_CALLS(X)                                                                                              \
    X(clGetPlatformIDs, CL_OUT_OF_HOST_MEMORY)                                                                         \
    X(clGetPlatformInfo, CL_OUT_OF_HOST_MEMORY)                                                                        \
    X(clGetDeviceIDs, CL_OUT_OF_RESOURCES)                                                                             \
    X(clGetDeviceInfo, CL_OUT_OF_RESOURCES)                                                                            \
    X(clRetainContext, CL_OUT_OF_RESOURCES)                                                                            \
    X(clReleaseContext, CL_OUT_OF_RESOURCES)                                                                           \
    X(clCreateCommandQueue, CL_OUT_OF_HOST_MEMORY)                                                                     \
    X(clReleaseCommandQueue, CL_OUT_OF_RESOURCES)                                                                      \
    X(clRetainCommandQueue, CL_OUT_OF_RESOURCES)                                                                       \
    X(clGetCommandQueueInfo, CL_OUT_OF_RESOURCES)                                                                      \
    X(clCreateBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE)                                                                \
    X(clReleaseMemObject, CL_OUT_OF_RESOURCES)                                                                         \
    X(clGetMemObjectInfo, CL_OUT_OF_RESOURCES)                                                                         \
    X(clCreateProgramWithSource, CL_OUT_OF_HOST_MEMORY)                                                                \
    X(clCreateProgramWithBinary, CL_INVALID_BINARY)                                                                    \
    X(clBuildProgram, CL_BUILD_PROGRAM_FAILURE)                                                                        \
    X(clReleaseProgram, CL_OUT_OF_RESOURCES)                                                                           \
    X(clGetProgramInfo, CL_OUT_OF_HOST_MEMORY)                                                                         \
    X(clGetProgramBuildInfo, CL_OUT_OF_RESOURCES)                                                                      \
    X(clCreateKernel, CL_OUT_OF_HOST_MEMORY)                                                                           \
    X(clReleaseKernel, CL_OUT_OF_RESOURCES)                                                                            \
    X(clGetKernelInfo, CL_OUT_OF_RESOURCES)                                                                            \
    X(clGetKernelWorkGroupInfo, CL_OUT_OF_RESOURCES)                                                                   \
    X(clSetKernelArg, CL_OUT_OF_RESOURCES)                                                                             \
    X(clRetainEvent, CL_OUT_OF_RESOURCES)                                                                              \
    X(clReleaseEvent, CL_OUT_OF_RESOURCES)                                                                             \
    X(clGetEventInfo, CL_OUT_OF_RESOURCES)                                                                             \
    X(clGetEventProfilingInfo, CL_PROFILING_INFO_NOT_AVAILABLE)                                                        \
    X(clEnqueueNDRangeKernel, CL_OUT_OF_RESOURCES)                                                                     \
    X(clEnqueueCopyBuffer, CL_OUT_OF_RESOURCES)                                                                        \
    X(clEnqueueFillBuffer, CL_MEM_OBJECT_ALLOCATION_FAILURE)                                                           \
    X(clEnqueueReadBuffer, CL_OUT_OF_HOST_MEMORY)                                                                      \
    X(clEnqueueMarkerWithWaitList, CL_OUT_OF_RESOURCES)                                                                \
    X(clEnqueueBarrierWithWaitList, CL_OUT_OF_HOST_MEMORY)                                                             \
    X(clFlush, CL_OUT_OF_RESOURCES)                                                                                    \
    X(clFinish, CL_OUT_OF_RESOURCES)

#define CHAOS_CL_ENUM(name, code) CHAOS_##name,
enum { CHAOS_CL_CALLS(CHAOS_CL_ENUM) CHAOS_CL_COUNT };
#undef CHAOS_CL_ENUM

extern const char *const chaos_cl_names[CHAOS_CL_COUNT];

enum { CHAOS_ANY = -1 }; /* every call counts, whichever it is */

/* Releases what was built, at the end. */
void chaos_cl_finish(void);

/* [any thread] From now on the `fail`-th call of this kind fails, from 0; for_good: and all later ones of the kind. */
void chaos_cl_arm(int kind, long fail, bool for_good);
/* How many failed since. */
long chaos_cl_disarm(void);
/* How many calls of the kind, or of any, there were since it was armed. */
long chaos_cl_calls(int kind);

/* Objects of all kinds: references made by the program and not given back. */
typedef struct chaos_cl_objects {
    long contexts, queues, buffers, programs, kernels, events;
} chaos_cl_objects;
chaos_cl_objects chaos_cl_alive(void);

#endif
