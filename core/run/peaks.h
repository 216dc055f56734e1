/* SPDX-License-Identifier: MIT
 *
 * peaks.h: what a device can do at most, and the roof that follows for a problem.
 *
 * A peak is measured by the operation that has its role (qst_op.flags), once for a device and process, when a tuning
 * first needs it; it is kept in the store by target, operation and what it is a peak of. peaks-measure.c measures,
 * peaks-store.c keeps, peaks.c decides.
 */
#ifndef QST_RUN_PEAKS_H
#define QST_RUN_PEAKS_H

#include "run/run.h"
#include "tune/tuner.h"

#define QST__PEAK_RULES 1u /* revision of how peaks are measured: part of a store's key */

/* Footprints in bytes: told apart by powers of two between these. Peaks beyond the largest are no higher, so that its
 * own is on the safe side, and a CPU device would spend its time on page faults. */
#define QST__FOOTPRINT_MIN (INT64_C(1) << 12)
#define QST__FOOTPRINT_CPU (INT64_C(1) << 26)
#define QST__FOOTPRINT_MAX (INT64_C(1) << 29)

/* What bounds a problem here. Peaks that are not known are 0. */
typedef struct qst__ceiling {
    qst_work  work;
    qst__peak compute, memory, launch;
} qst__ceiling;

/* ns that a problem takes at least: `part` of the peaks, plus a launch; 0: not known. */
uint64_t qst__ceiling_ns(const qst__ceiling *ceiling, double part);

/* Asks for the peaks that bound the problem in normal form. With a task those that nobody knows are measured, under its
 * lease; without one only what is known in this process or the store counts. */
void qst__ceiling_of(const qst__shelf *shelf, const void *normal, const qst__task *task, qst__ceiling *out);

/* qst__tune with a roof. Where a verified time beats the peaks, those that contradict it are raised to what was seen, and
 * the key is tuned on without a roof: who was not contacted because of it is. Before anyone is left out at all, the
 * peak that made the roof is measured a second time, once a process. `task` has no limit yet. */
qst_status qst__peaks_tune(const qst__task *task, const qst__route *route, qst__verdict *verdict, qst_error *err);

/* The set that measures a role (an index of QST__PROBE_…); NULL: none. */
qst_set *qst__peaks_set(const qst_context *ctx, uint32_t role);

/* peaks-measure.c: measures peak->value with the set's candidates and names the fastest. `peak` says of what. The
 * lease is held. */
qst_status qst__peak_measure(qst__site *site, qst_set *set, qst__peak *peak, qst_error *err);

/* The peaks that the task would have measured for the route, to be measured by these sets; their number, at most
 * QST__PROBES. Measures none. */
uint32_t qst__peaks_missing(const qst__task *task, const qst__route *route, qst__peak peaks[QST__PROBES],
                            qst_set *sets[QST__PROBES]);
/* peaks-measure.c: has the programs built that qst__peak_measure would launch, as presumed of the device. */
void qst__peak_expect(qst__site *site, qst_set *set, const qst__peak *peak);

/* peaks-store.c: reads into `peak`, which says of what; E_NOTFOUND, or E_STALE where it was measured with other
 * candidates. Writes; a failure is one log line. Both do nothing where throughput.cache is off (E_NOTFOUND). */
qst_status qst__peak_recall(qst__site *site, const qst_set *set, qst__peak *peak);
void       qst__peak_remember(qst__site *site, const qst_set *set, const qst__peak *peak);

#endif
