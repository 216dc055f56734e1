/* SPDX-License-Identifier: MIT
 *
 * retry.h: a tuning that came to nothing may have failed for a passing reason, memory that others had for a moment: when
 * is it worth another try? After a second, then after twice as long each time, QST__RETRIES times. Where it is known that it
 * fails for a passing reason it is tried for as long as that lasts, after 16 s at most.
 */
#ifndef QST_TUNE_RETRY_H
#define QST_TUNE_RETRY_H

#include "base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>

#define QST__RETRIES         8u          /* the last one about four minutes after the first failure */
#define QST__RETRIES_PASSING 5u          /* failures that count of those known to be passing */
#define QST__RETRY_FIRST_NS  1000000000u /* after the first failure */

/* All zero: it has not failed. [any thread] */
typedef struct qst__retry {
    _Atomic uint32_t failures; /* in a row */
    _Atomic uint64_t at_ns;    /* when it is due again */
} qst__retry;

/* May it be tried now? The clock is looked at after a failure only. */
bool qst__retry_due(const qst__retry *retry, const qst__clock *clock);
/* Did it fail, and will it be due again? */
bool qst__retry_waits(const qst__retry *retry);

/* What came of a try. passing: nobody could have done it now, as where nothing builds. */
void qst__retry_failed(qst__retry *retry, bool passing, const qst__clock *clock);
void qst__retry_done(qst__retry *retry);

#endif
