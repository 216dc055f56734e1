/* SPDX-License-Identifier: MIT
 *
 * retry.c: see retry.h. */
#include "tune/retry.h"

bool qst__retry_due(const qst__retry *retry, const qst__clock *clock)
{
    uint32_t failures = atomic_load(&retry->failures);

    if (!failures)
        return true;
    return failures <= QST__RETRIES && qst__now(clock) >= atomic_load(&retry->at_ns);
}

bool qst__retry_waits(const qst__retry *retry)
{
    uint32_t failures = atomic_load(&retry->failures);

    return failures && failures <= QST__RETRIES;
}

void qst__retry_failed(qst__retry *retry, bool passing, const qst__clock *clock)
{
    uint32_t failures = atomic_load(&retry->failures);

    if (passing && failures >= QST__RETRIES_PASSING)
        failures = QST__RETRIES_PASSING - 1;
    atomic_store(&retry->at_ns, qst__now(clock) + ((uint64_t)QST__RETRY_FIRST_NS
                                                   << (failures < QST__RETRIES ? failures : QST__RETRIES)));
    atomic_store(&retry->failures, failures <= QST__RETRIES ? failures + 1 : failures);
}

void qst__retry_done(qst__retry *retry)
{
    atomic_store(&retry->failures, 0);
}
