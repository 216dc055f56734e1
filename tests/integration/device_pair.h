/* SPDX-License-Identifier: MIT
 *
 * device_pair.h: two devices of one platform, in one cl_context or in two. PoCL shows its drivers `pthread` and `basic` as two
 * devices where POCL_DEVICES says so, as it does for the tests of it; they are told apart by name. Kernels that wait for a
 * user event do not end on `basic`. For tests with cmocka: what goes wrong fails the test.
 */
#ifndef TEST_INTEGRATION_DEVICE_PAIR_H
#define TEST_INTEGRATION_DEVICE_PAIR_H

#include "support/blend.h"

enum { PTHREAD, BASIC, DEVICES };

extern const char *const pair_names[DEVICES];
extern cl_platform_id    pair_platform;
extern cl_device_id      pair_devices[DEVICES];

/* False after a line: they are not both there, and the test is skipped. */
bool pair_find_devices(void);

/* Beside blend's fallback the set has a candidate for each device alone. */
qst_context *pair_make_context(qst_set **set);
qst_counters pair_counters(qst_context *ctx);

/* Each device with a queue and a case, in a cl_context that they share or have each. */
typedef struct pair {
    cl_context       context[DEVICES];
    cl_command_queue queue[DEVICES];
    blend_case       c[DEVICES];
    int              calls[DEVICES];
} pair;

cl_context       pair_cl_context(cl_uint n, const cl_device_id *of);
cl_command_queue pair_queue(cl_context context, cl_device_id device);
void             pair_open(pair *p, bool shared, int64_t n);
void             pair_close(pair *p);

/* One more call on device i, whose result is right. */
void pair_call(pair *p, qst_set *set, int i);

/* `each` verdicts of each device; what is for the one alone is not supported on the other and right on its own. */
void pair_told_apart(qst_context *ctx, int each);

#endif
