/* SPDX-License-Identifier: MIT
 *
 * clock.c: the host's clock. */
#define _GNU_SOURCE
#include "base/clock.h"

#include <stddef.h>
#include <time.h>

#if defined(CLOCK_MONOTONIC_RAW)
#define HOST_CLOCK CLOCK_MONOTONIC_RAW
#else
#define HOST_CLOCK CLOCK_MONOTONIC
#endif

static uint64_t host_now(void *user)
{
    struct timespec t = {0, 0};
    (void)user;
    (void)clock_gettime(HOST_CLOCK, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

qst__clock qst__clock_host(void)
{
    return (qst__clock){.now = host_now, .user = NULL};
}
