/* SPDX-License-Identifier: MIT
 *
 * trial.h: one problem with operands of our own, on which candidates are run and judged.
 *
 * Every operand has guard bands before and after it, and starts at just the alignment that the problem promises and no
 * better. Before its span is filled a buffer is NaN all over, of one bit pattern for results (all ones) and another for
 * inputs, so that
 * reading outside shows in the result and writing outside shows afterwards. Inputs come from a counter hash on the
 * device: small integers for which every class is exact, or reals. An operand that the operation writes and may read
 * keeps its first content in `before`.
 */
#ifndef QST_RUN_TRIAL_H
#define QST_RUN_TRIAL_H

#include "run/run.h"

#define QST__GUARD 4096u /* bytes of a guard band */

typedef struct qst__trial {
    qst__shelf      *shelf;
    cl_command_queue queue;                       /* in order */
    char             problem[QST__PROBLEM_BYTES]; /* normal form */
    qst__key         key;
    bool             real;
    bool             ready;
    uint32_t         repeat; /* QST_REPEAT_… */
    uint32_t         n;
    bool             written[QST_OPERANDS_MAX];
    uint64_t         span[QST_OPERANDS_MAX];
    uint64_t         bytes[QST_OPERANDS_MAX]; /* of the whole buffer, a multiple of 16 */
    cl_mem           mem[QST_OPERANDS_MAX];
    cl_mem           before[QST_OPERANDS_MAX];   /* NULL where the problem does not read what it writes */
    cl_mem           expected[QST_OPERANDS_MAX]; /* with a judge: `before` with its elements erased, where there are
                                                    gaps between them; without: the fallback's result */
    bool             learned;                    /* what follows is known */
    bool             dense[QST_OPERANDS_MAX];    /* every byte of the span is of an element */
    qst_mem          operand[QST_OPERANDS_MAX];
    cl_mem           finding;                                                /* QST__FOUND words */
    qst__runner     *phase[QST_JUDGE_BOUND + 1];                             /* by QST_JUDGE_…, bound at first use */
    qst__runner     *digesters[QST_OPERANDS_MAX], *guards[QST_OPERANDS_MAX]; /* of written operands */
    bool             known; /* digest below is that of a verified result */
    uint32_t         digest, digest_before;
} qst__trial;

/* Words of a trial's finding: first the judge's QST_FINDING_WORDS; the results' digest; for each operand how many words
 * outside of its elements were overwritten, and the complement of the first one's index. */
enum {
    QST__FOUND_DIGEST = QST_FINDING_WORDS,
    QST__FOUND_OUTSIDE,
    QST__FOUND = QST__FOUND_OUTSIDE + 2 * QST_OPERANDS_MAX
};

/* Makes and fills the operands. `real`: reals, badly scaled where the judge can. */
qst_status qst__trial_init(qst__trial *trial, qst__shelf *shelf, const void *problem, bool real, cl_command_queue queue,
                           qst_error *err);
void       qst__trial_finish(qst__trial *trial);

/* Written operands as they were at first: ones, or `before`. Enqueued, not finished. */
qst_status qst__trial_reset(qst__trial *trial, qst_error *err);

/* Runs a way once on the operands and finishes; the times are ns by the host and, where the kernels' events say it, by
 * the device (else 0). */
qst_status qst__trial_run(qst__trial *trial, qst__way *way, uint64_t *host_ns, uint64_t *device_ns, qst_error *err);

/* The same, enqueued only. Where the queue takes times and the way's kernels have events, `stretch` says how long it took,
 * in ns, once the queue was waited for; else 0. qst__trial_took ends it, also after a failure. */
typedef struct qst__stretch {
    cl_event first, last;
} qst__stretch;
qst_status qst__trial_enqueue(qst__trial *trial, qst__way *way, qst__stretch *stretch, qst_error *err);
uint64_t   qst__trial_took(qst__stretch *stretch);

/* One execution of a core or judge kernel on these operands; counted as verification. */
qst_status qst__trial_launch(qst__trial *trial, qst__runner *runner, const qst_mem *operands, const cl_mem *before,
                             qst_error *err);

/* After a run on integers: is the whole result the exact one, and nothing else touched? E_VERIFY names the first wrong
 * place. `fallback`: for operations without a judge, the way that gives the expected result. */
qst_status qst__trial_judge(qst__trial *trial, qst__way *fallback, qst_error *err);

/* After a run on reals: is it within the class's bound? OK where the operation has no judge. */
qst_status qst__trial_bound(qst__trial *trial, qst_error *err);

/* For operations without a judge: the digest of what stands in the result; what stands there becomes what others are
 * compared with. */
qst_status qst__trial_sum(qst__trial *trial, uint32_t *digest, qst_error *err);
qst_status qst__trial_adopt(qst__trial *trial, qst_error *err);

/* Runs the phases that judge this kind of trial once, whatever stands in the result, and finishes. */
qst_status qst__trial_rehearse(qst__trial *trial, qst_error *err);

/* After `repeats` runs since a reset: has the result the digest that it must have? */
qst_status qst__trial_digest(qst__trial *trial, uint32_t repeats, qst_error *err);

/* ---- verify.c's, for outside.c ---- */

/* Enqueues: all of the finding zero; a phase of the judge. */
qst_status qst__trial_clear(qst__trial *trial, qst_error *err);
qst_status qst__trial_phase(qst__trial *trial, uint32_t phase, qst_error *err);
/* Reads all of the finding, when what was enqueued is done. */
qst_status qst__trial_found(qst__trial *trial, uint32_t found[QST__FOUND], qst_error *err);

/* ---- outside.c: with a judge, is everything around the results' elements as it was? ---- */

/* Overwrites the results: which of them lie without gaps? */
qst_status qst__outside_learn(qst__trial *trial, qst_error *err);
/* After a run: counts what was overwritten around results without gaps. Enqueues, and leaves the results alone. */
qst_status qst__outside_look(qst__trial *trial, qst_error *err);
/* Where there are others: around and between their elements too, which it erases; what was found is read anew. */
qst_status qst__outside_look_between(qst__trial *trial, uint32_t found[QST__FOUND], qst_error *err);
/* E_VERIFY where anything was found, with the first place of it. */
qst_status qst__outside_tell(const qst__trial *trial, const uint32_t found[QST__FOUND], qst_error *err);

#endif
