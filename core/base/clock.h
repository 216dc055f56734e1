/* clock.h: the host's time, as an interface so that tests script it. */
#ifndef QST_BASE_CLOCK_H
#define QST_BASE_CLOCK_H

#include <stdint.h>

typedef struct qst__clock {
    uint64_t (*now)(void *user); /* ns since any fixed moment */
    void *user;
} qst__clock;

/* CLOCK_MONOTONIC_RAW where there is one (the clock of PoCL's events), else CLOCK_MONOTONIC. */
qst__clock qst__clock_host(void);

static inline uint64_t qst__now(const qst__clock *clock)
{
    return clock->now(clock->user);
}

#endif
