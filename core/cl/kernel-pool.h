/* SPDX-License-Identifier: MIT
 *
 * kernel-pool.h: kernel objects of one step, lent one at a time.
 *
 * One cl_kernel in two threads between clSetKernelArg and the enqueue gives wrong products, and a lock a call costs
 * more than the arguments. So a step has a few slots; a slot is taken by one exchange and given back by one store. The
 * kernel in a slot is made when it is first needed (the first one at once, to find out what the kernel can do) and
 * its constant arguments are set then. When all slots are taken a spare is made and released after use.
 *
 * A taker starts at the slot that his hint names, if that has its kernel already, else at the first; so one thread
 * needs one kernel, and threads that met go different ways from then on.
 */
#ifndef QST_CL_KERNEL_POOL_H
#define QST_CL_KERNEL_POOL_H

#include "cl/recipe.h"
#include "cl/status.h"

#define QST__POOL_SLOTS   8u /* a power of two */
#define QST__SLOT_OFFSETS 4u /* of a launch, that are remembered */

typedef struct qst__slot {
    _Atomic(cl_kernel) kernel; /* NULL: not made yet; changed by the holder alone */
    _Atomic uint64_t   runs;   /* enqueued; written by the holder alone */
    _Atomic bool       taken;
    bool               spare;
    uint64_t           offset[QST__SLOT_OFFSETS]; /* 1 + what the kernel's offsets were set to last; the holder's */
    char               apart[8];                  /* one cache line each, nearly: the memory may not start at a line */
} qst__slot;

typedef struct qst__pool {
    const qst__alloc *alloc;
    cl_program        program; /* borrowed, as the step is */
    const qst__step  *step;
    const char       *who;
    _Atomic uint64_t  spare_runs;
    qst__slot         slots[QST__POOL_SLOTS];
} qst__pool;

/* Makes the first kernel and checks the step against it: the number of arguments, the work-group, local memory.
 * The pool's memory is zero before. E_INVALID, E_UNSUPPORTED with the numbers, E_CL. */
qst_status qst__pool_init(qst__pool *pool, const qst__alloc *alloc, cl_program program, const qst__step *step,
                          cl_device_id device, const char *who, qst_error *err);
void       qst__pool_finish(qst__pool *pool); /* nothing is lent; a pool of zeros is fine */

/* All that qst__pool_borrow does not do in line. NULL: err says why. */
qst__slot *qst__pool_search(qst__pool *pool, size_t hint, qst_status *status, qst_error *err);
void       qst__pool_discard(qst__pool *pool, qst__slot *spare, bool ran);

uint64_t qst__pool_runs(const qst__pool *pool);

static inline qst__slot *qst__pool_borrow(qst__pool *pool, size_t hint, qst_status *status, qst_error *err)
{
    qst__slot *slot = &pool->slots[hint & (QST__POOL_SLOTS - 1)];
    if (!atomic_load_explicit(&slot->kernel, memory_order_relaxed))
        slot = pool->slots;
    if (!atomic_exchange_explicit(&slot->taken, true, memory_order_acquire))
        return slot;
    return qst__pool_search(pool, hint, status, err);
}

static inline cl_kernel qst__slot_kernel(const qst__slot *slot)
{
    return atomic_load_explicit(&slot->kernel, memory_order_relaxed);
}

static inline void qst__pool_give(qst__pool *pool, qst__slot *slot, bool ran)
{
    if (slot->spare) {
        qst__pool_discard(pool, slot, ran);
        return;
    }
    if (ran)
        atomic_store_explicit(&slot->runs, atomic_load_explicit(&slot->runs, memory_order_relaxed) + 1,
                              memory_order_relaxed);
    atomic_store_explicit(&slot->taken, false, memory_order_release);
}

#endif
