/* SPDX-License-Identifier: MIT
 *
 * The roof: which time is so near to what the device can attain that looking further is not worth it. */
#include "tune/tuner.h"

#include <math.h>

/* The part of a peak that counts as good enough, by level. None at full: every candidate is tried. */
static const double thresholds[] = {
    [QST__LEVEL_MINIMAL] = 0.6,
    [QST__LEVEL_BALANCED] = 0.8,
    [QST__LEVEL_EXTENSIVE] = 0.95,
};

/* ns for `amount` at `peak` a second; 0 where that says nothing. isnormal also refuses subnormal peaks. */
static double bound_ns(double amount, double peak)
{
    double ns;

    if (!isnormal(peak) || peak < 0 || !isfinite(amount) || amount <= 0)
        return 0;
    ns = amount / peak * 1e9;
    return isfinite(ns) ? ns : 0;
}

uint64_t qst__roof_at(const qst_work *work, double ops_per_s, double bytes_per_s, double overhead_ns, double part)
{
    double compute = bound_ns(work->ops, ops_per_s), memory = bound_ns(work->bytes, bytes_per_s);
    double limit = (compute > memory ? compute : memory) / part;

    if (!(limit > 0))
        return 0; /* an overhead alone is no limit */
    if (isfinite(overhead_ns) && overhead_ns > 0)
        limit += overhead_ns;
    return limit < 9.2e18 ? (uint64_t)limit : 0;
}

double qst__roof_part(uint32_t level)
{
    return level < sizeof thresholds / sizeof *thresholds ? thresholds[level] : 0;
}

/* A launch costs one candidate more and another less: where it is more than this part of the limit, who is under that
 * is not near to the best yet. */
#define LAUNCH_PART 0.25

uint64_t qst__roof(const qst_work *work, double ops_per_s, double bytes_per_s, double overhead_ns, uint32_t level)
{
    uint64_t limit;

    if (level >= sizeof thresholds / sizeof *thresholds)
        return 0;
    limit = qst__roof_at(work, ops_per_s, bytes_per_s, overhead_ns, thresholds[level]);
    return overhead_ns > LAUNCH_PART * (double)limit ? 0 : limit;
}
