/* SPDX-License-Identifier: MIT
 *
 * op.h: operations from the application's side: register one, give it groups and candidates, call it, plan it.
 * matmul.h is a client of exactly this; so can an operation of your own be.
 *
 * Life of a set: create → add groups and candidates → the first call, plan or description freezes it → later
 * additions are E_STATE. A set belongs to its context and is destroyed with it.
 *
 * Life of a call (qst_enqueue)
 *   1. arguments are checked: the problem's contract, the queue, each operand the problem touches: a buffer that kernels
 *      may read and write as the operation does, its context, size and start;
 *   2. a problem seen before on this device is launched at once: that is the hit, it takes no lock, allocates
 *      nothing and makes no system call;
 *   3. else its key is looked up; where nothing is known the miss policy (tune.mode) decides: tune now, or run what
 *      is safe.
 * Tuning never reads the caller's buffers and never waits for his queue or events.
 *
 * The queue may be in order or out of order, with or without profiling. The wait list is honoured, the event covers
 * all commands of the call. Nothing is flushed or finished, except that a vendor library may flush.
 */
#ifndef QUERNSTONE_OP_H
#define QUERNSTONE_OP_H

#include <quernstone/context.h>
#include <quernstone/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* [any thread] Registers an operation from its descriptor, copied bounded; what it points at must outlive the
 * context. E_INVALID for a descriptor out of contract, E_STATE where the name is taken. */
QST_API qst_status qst_op_create(qst_set **set, qst_context *context, const qst_op *op, qst_error *err);

/* [any thread] The set of an operation by its name; E_NOTFOUND. */
QST_API qst_status qst_set_find(qst_set **set, qst_context *context, const char *name, qst_error *err);

/* [any thread] The set that was made from just this descriptor (compared by address), or NULL: a look-up of a few
 * nanoseconds for typed calls. */
QST_API qst_set *qst_set_of(qst_context *context, const qst_op *op);

/* [any thread] Add to a set not yet frozen. Names of candidates become op.app.variant/revision. E_STATE when
 * frozen; E_INVALID for a descriptor out of contract; E_STATE for a name already there. */
QST_API qst_status qst_set_add_group(qst_set *set, const qst_group *group, qst_error *err);
QST_API qst_status qst_set_add_candidate(qst_set *set, const qst_candidate *candidate, qst_error *err);

/* [any thread] Enqueues one problem. `operands` has one entry for each of the operation's operands; those the
 * problem does not touch are not looked at. `event` NULL: none wanted; else the caller releases it.
 *   E_INVALID      an argument, named with its numbers; nothing launched
 *   E_UNSUPPORTED  no candidate, the fallback included, computes this problem here
 *   E_CL, E_BUILD  the fallback itself failed; with the code CL_COMPILER_NOT_AVAILABLE because no program builds now, not
 *                  even one that is known to be right (a full disk): a later call tries again */
QST_API qst_status qst_enqueue(qst_set *set, cl_command_queue queue, const void *problem, const qst_mem *operands,
                               cl_uint n_wait, const cl_event *wait_list, cl_event *event, qst_error *err);

enum { QST_PLAN_UNCHECKED = 1u << 0 /* the caller vouches for queue, context and buffer sizes at each enqueue */ };

/* [any thread] Prepares one problem for the device and cl_context of `queue` (used for that only). On a key not yet
 * tuned the miss policy applies here. The plan retains the cl_context; destroy it before the context. Alignments
 * stated in the problem are promises that each enqueue checks. */
QST_API qst_status qst_plan_create(qst_plan **plan, qst_set *set, cl_command_queue queue, const void *problem,
                                   uint32_t flags, qst_error *err);

/* [any thread] Enqueues the plan's problem: no key, no look-up. Statuses as qst_enqueue. */
QST_API qst_status qst_plan_enqueue(qst_plan *plan, cl_command_queue queue, const qst_mem *operands, cl_uint n_wait,
                                    const cl_event *wait_list, cl_event *event, qst_error *err);

/* [one thread] NULL is fine. What was enqueued goes on. */
QST_API void qst_plan_destroy(qst_plan *plan);

/* [any thread] The full name of the candidate that the next enqueue of the plan runs; lives as long as the context.
 * "none" where nothing is to compute, "trivial" for the operation's trivial candidate. */
QST_API const char *qst_plan_winner(const qst_plan *plan);

/* [any thread] Problem from and to text, `m=240 n=240 k=240 a=f32,…`, the form that logs, `explain` and captures
 * use. Parsing fills what the text leaves out; E_INVALID names the word that does not fit. */
QST_API qst_status qst_problem_parse(qst_set *set, const char *text, void *problem, qst_error *err);
QST_API qst_status qst_problem_print(qst_set *set, const void *problem, qst_sink sink, void *user, qst_error *err);

/* [any thread] The key of a problem at the configured level, without any device: one number a key field, written to
 * `values` (QST_KEY_MAX of them), their count to `count`. */
QST_API qst_status qst_problem_key(qst_set *set, const void *problem, int64_t *values, uint32_t *count, qst_error *err);

/* [any thread] The operation's description as registered: fields, key fields, operands. Lives as long as the
 * context. */
QST_API const qst_op *qst_set_op(const qst_set *set);

#ifdef __cplusplus
}
#endif
#endif
