/* SPDX-License-Identifier: MIT
 *
 * test_threads_scripted.c: what threads share on the way from a call to its answer, without a device, for the thread
 * sanitizer: eight threads meet at keys in the table, one tunes each with a scripted rig, the others wait, go on with
 * what is safe, or take a part up; and the pool of kernels, whose OpenCL calls are replaced (test_threads_scripted.link).
 */
#include "base/hash.h"
#include "cl/kernel-pool.h"
#include "support/scripted_rig.h"
#include "tune/claim.h"
#include "tune/table.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS 1000000u

enum { THREADS = 8, CANDIDATES = 4, KEYS_MAX = 16 };

/* What is known of a key, as run/ keeps it: plain data behind a claim and one atomic. */
typedef struct answer {
    qst__key                key;
    qst__claim              claim;
    _Atomic(qst__verdict *) verdict;
    qst__verdict           *old[8]; /* all published, and how many: the claim's owner alone */
    uint32_t                n_old;
} answer;

/* A device: set, table, lease, who is verified there. */
typedef struct place {
    qst__alloc     alloc;
    qst__set       set;
    qst__table     table;
    qst__lock      lease;
    uint32_t       timed_at_once; /* under the lease: a second one would be seen */
    _Atomic bool   verified[CANDIDATES];
    _Atomic int    n_tunings, n_served;
    bool           wait;
    int64_t        budget_ms;
    const uint32_t sizes[KEYS_MAX];
    int            n_keys;
} place;

typedef struct worker {
    place      *place;
    uint32_t    number;
    int         calls;
    bool        own_key;
    const char *wrong;
    pthread_t   thread;
} worker;

static toy_spec specs[CANDIDATES] = {
    {.variant = "a", .fallback = true}, {.variant = "b"}, {.variant = "c"}, {.variant = "d"}};
/* b wins; d is wrong. */
static const rig_script scripts[CANDIDATES] = {
    {.samples = {4 * MS}}, {.samples = {1 * MS}}, {.samples = {2 * MS}}, {.check = QST_E_VERIFY, .samples = {1 * MS}}};

/* ---- Tuning ----------------------------------------------------------------------------------------------------- */

typedef struct tuning {
    scripted_rig  rig;
    scripted_task task;
    place        *place;
} tuning;

static void on_commit(void *user, const qst__verdict *verdict, uint32_t candidate)
{
    tuning *t = user;

    (void)candidate;
    for (uint32_t i = 0; i < verdict->n; i++)
        if (qst__outcome_right(verdict->findings[i].outcome))
            atomic_store(&t->place->verified[i], true);
}

static void on_lease(void *user, bool take)
{
    tuning *t = user;

    if (take)
        qst__lock_take(&t->place->lease);
    t->place->timed_at_once += take ? 1 : -1u;
    t->rig.misused = t->rig.misused || t->place->timed_at_once > 1;
    t->rig.leased += take ? 1 : -1;
    if (!take)
        qst__lock_give(&t->place->lease);
}

/* The claim is ours. Returns the state in which it is given back. */
static int tune(worker *w, answer *a)
{
    place        *p = w->place;
    qst__verdict *before = atomic_load(&a->verdict);
    qst__verdict *verdict = calloc(1, sizeof *verdict);
    tuning       *t = calloc(1, sizeof *t);
    qst_error     err = {0};
    int           state = QST__KEY_ABSENT;

    atomic_fetch_add(&p->n_tunings, 1);
    if (!verdict || !t || a->n_old == sizeof a->old / sizeof *a->old) {
        w->wrong = "no room for a verdict";
        goto out;
    }
    t->place = p;
    scripted_rig_init(&t->rig, &p->set, scripts);
    scripted_task_init(&t->task, &t->rig);
    t->task.key = a->key;
    t->task.settings.budget_ms = p->budget_ms;
    t->task.task.commit = on_commit;
    t->task.task.lease = on_lease;
    t->task.task.user = t;
    if ((before ? qst__verdict_copy(verdict, &p->alloc, before) : qst__verdict_init(verdict, &p->alloc, &p->set)) !=
            QST_OK ||
        qst__tune(&t->task.task, verdict, &err) != QST_OK || t->rig.misused) {
        w->wrong = t->rig.misused ? "a rig misused" : "a tuning";
        qst__verdict_finish(verdict);
        goto out;
    }
    state = verdict->flags & QST__VERDICT_PARTIAL ? QST__KEY_PARTIAL : QST__KEY_READY;
    a->old[a->n_old++] = verdict;
    atomic_store(&a->verdict, verdict);
    verdict = NULL;
out:
    free(verdict);
    free(t);
    return state;
}

static answer *make_answer(const qst__key *key)
{
    answer *a = calloc(1, sizeof *a);

    if (a) {
        a->key = *key;
        qst__claim_init(&a->claim);
    }
    return a;
}

static void destroy_answer(void *user, void *value)
{
    answer *a = value;

    (void)user;
    for (uint32_t i = 0; i < a->n_old; i++) {
        qst__verdict_finish(a->old[i]);
        free(a->old[i]);
    }
    qst__claim_finish(&a->claim);
    free(a);
}

static answer *answer_of(place *p, uint32_t n)
{
    toy_problem problem = toy_problem_of(n);
    qst__key    key = toy_key(&problem);
    size_t      bytes = key.count * sizeof *key.value;
    uint64_t    hash = qst__hash(key.value, bytes, 0);
    answer     *a = qst__table_get(&p->table, key.value, bytes, hash), *there;

    if (a)
        return a;
    a = make_answer(&key);
    there = a ? qst__table_add(&p->table, key.value, bytes, hash, a) : NULL;
    if (a && there != a)
        destroy_answer(NULL, a);
    return there;
}

/* What a call runs: the winner, else somebody who is known to be right on this device, else the fallback. */
static void serve(worker *w, const answer *a)
{
    const qst__verdict *verdict = atomic_load(&a->verdict);

    if (verdict && (verdict->n_order < 1 || !qst__outcome_right(verdict->findings[verdict->order[0]].outcome)))
        w->wrong = "a verdict without a winner";
    else if (!verdict && atomic_load(&w->place->verified[3]))
        w->wrong = "a wrong candidate taken for a right one";
    atomic_fetch_add(&w->place->n_served, 1);
}

static void *work(void *user)
{
    worker *w = user;
    place  *p = w->place;

    for (int call = 0; call < w->calls && !w->wrong; call++) {
        uint32_t   k = w->own_key ? w->number : (w->number + (uint32_t)call) % (uint32_t)p->n_keys;
        answer    *a = answer_of(p, p->sizes[k]);
        qst_status status;
        if (!a) {
            w->wrong = "no answer";
            break;
        }
        status =
            qst__claim_state(&a->claim) == QST__KEY_READY ? QST_NOTHING : qst__claim_take(&a->claim, p->wait, true);
        if (status == QST_OK)
            qst__claim_give(&a->claim, tune(w, a));
        serve(w, a);
        if (status == QST_NOTHING && strcmp(specs[atomic_load(&a->verdict)->order[0]].variant, "b") != 0)
            w->wrong = "another winner";
    }
    return NULL;
}

/* ---- Eight of them ---------------------------------------------------------------------------------------------- */

#define PLACE(...)                                                                                                     \
    {                                                                                                                  \
        .sizes = {16, 64, 256, 1024, 4096, 16384, 65536, 262144}, __VA_ARGS__                                          \
    }

static void open_place(place *p)
{
    p->alloc = qst__alloc_default();
    assert_true(toy_set(&p->set, &p->alloc, specs, CANDIDATES));
    qst__table_init(&p->table, &p->alloc, 0);
    qst__lock_init(&p->lease);
}

static void close_place(place *p)
{
    qst__table_each(&p->table, destroy_answer, NULL);
    qst__table_finish(&p->table);
    qst__lock_finish(&p->lease);
    qst__set_finish(&p->set);
}

static void run_all(place *const *places, uint32_t n_places, int calls, bool own_key)
{
    worker w[THREADS];

    memset(w, 0, sizeof w);
    for (uint32_t i = 0; i < THREADS; i++) {
        w[i] = (worker){.place = places[i % n_places], .number = i, .calls = calls, .own_key = own_key};
        assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(w[i].thread, NULL), 0);
    for (uint32_t i = 0; i < THREADS; i++)
        if (w[i].wrong)
            fail_msg("thread %u: %s", (unsigned)i, w[i].wrong);
}

static void count_ready(void *user, void *value)
{
    *(int *)user += qst__claim_state(&((answer *)value)->claim) == QST__KEY_READY;
}

static int ready(const place *p)
{
    int n = 0;

    qst__table_each(&p->table, count_ready, &n);
    return n;
}

static void same_keys(void **state)
{
    (void)state;
    for (int k = 0; k < 10; k++) {
        place  p = PLACE(.wait = true, .n_keys = 3);
        place *one = &p;
        open_place(&p);
        run_all(&one, 1, 12, false);
        assert_int_equal(p.n_tunings, 3);
        assert_int_equal(ready(&p), 3);
        assert_int_equal(p.n_served, 12 * THREADS);
        close_place(&p);
    }
}

static void different_keys(void **state)
{
    place  p = PLACE(.wait = true, .n_keys = THREADS);
    place *one = &p;
    (void)state;

    open_place(&p);
    run_all(&one, 1, 6, true);
    assert_int_equal(p.n_tunings, THREADS);
    run_all(&one, 1, THREADS, false); /* everyone hits everyone's */
    assert_int_equal(p.n_tunings, THREADS);
    assert_int_equal(ready(&p), THREADS);
    close_place(&p);
}

/* Who does not get the claim goes on with what is safe; still each key is tuned once. */
static void nobody_waits(void **state)
{
    (void)state;
    for (int k = 0; k < 10; k++) {
        place  p = PLACE(.wait = false, .n_keys = 2);
        place *one = &p;
        open_place(&p);
        run_all(&one, 1, 20, false);
        assert_int_equal(p.n_tunings, 2);
        assert_int_equal(ready(&p), 2);
        assert_false(p.verified[3]);
        close_place(&p);
    }
}

/* A budget that ends each tuning before all are contacted: as many tunings as one thread alone needs, whoever of them
 * goes on. */
static void parts(void **state)
{
    place  alone = PLACE(.wait = true, .n_keys = 1, .budget_ms = 2);
    place *one = &alone;
    worker w = {.place = one, .calls = 8};
    int    needed;
    (void)state;

    open_place(&alone);
    work(&w);
    assert_null(w.wrong);
    needed = alone.n_tunings;
    assert_in_range(needed, 2, 7);
    assert_int_equal(ready(&alone), 1);
    close_place(&alone);
    for (int k = 0; k < 10; k++) {
        place p = PLACE(.wait = true, .n_keys = 1, .budget_ms = 2);
        one = &p;
        open_place(&p);
        run_all(&one, 1, 8, false);
        assert_int_equal(p.n_tunings, needed);
        assert_int_equal(ready(&p), 1);
        close_place(&p);
    }
}

/* Two devices have two tables and two leases: the same keys are tuned once on each. */
static void two_places(void **state)
{
    place        p[2] = {PLACE(.wait = true, .n_keys = 4), PLACE(.wait = true, .n_keys = 4)};
    place *const both[] = {&p[0], &p[1]};
    (void)state;

    open_place(&p[0]);
    open_place(&p[1]);
    run_all(both, 2, 12, false);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(p[i].n_tunings, 4);
        assert_int_equal(ready(&p[i]), 4);
        assert_int_equal(p[i].n_served, 12 * THREADS / 2);
    }
    close_place(&p[0]);
    close_place(&p[1]);
}

/* ---- The pool of kernels ---------------------------------------------------------------------------------------- */

/* A kernel that two threads hold at once is a race on these members. */
struct _cl_kernel {
    uint32_t argument;
    uint32_t runs;
};

static _Atomic int n_kernels;

cl_kernel __wrap_clCreateKernel(cl_program program, const char *name, cl_int *code);
cl_int    __wrap_clReleaseKernel(cl_kernel kernel);
cl_int    __wrap_clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t bytes, void *value, size_t *needed);
cl_int    __wrap_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                          size_t bytes, void *value, size_t *needed);
cl_int    __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *value, size_t *needed);

cl_kernel __wrap_clCreateKernel(cl_program program, const char *name, cl_int *code)
{
    cl_kernel kernel = calloc(1, sizeof *kernel);

    (void)program, (void)name;
    *code = kernel ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    atomic_fetch_add(&n_kernels, kernel != NULL);
    return kernel;
}

cl_int __wrap_clReleaseKernel(cl_kernel kernel)
{
    atomic_fetch_sub(&n_kernels, 1);
    free(kernel);
    return CL_SUCCESS;
}

cl_int __wrap_clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t bytes, void *value, size_t *needed)
{
    const cl_uint none = 0;

    (void)kernel, (void)needed;
    if (what != CL_KERNEL_NUM_ARGS || bytes != sizeof none)
        return CL_INVALID_VALUE;
    memcpy(value, &none, sizeof none);
    return CL_SUCCESS;
}

cl_int __wrap_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                       size_t bytes, void *value, size_t *needed)
{
    const size_t most = 256;

    (void)kernel, (void)device, (void)needed;
    if (what != CL_KERNEL_WORK_GROUP_SIZE || bytes != sizeof most)
        return CL_INVALID_VALUE;
    memcpy(value, &most, sizeof most);
    return CL_SUCCESS;
}

cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void *value, size_t *needed)
{
    (void)device, (void)what, (void)bytes, (void)value, (void)needed;
    return CL_INVALID_DEVICE;
}

enum { BORROWINGS = 500, EXTRA = 4 };

typedef struct borrower {
    qst__pool  *pool;
    uint32_t    number;
    const char *wrong;
    pthread_t   thread;
} borrower;

static void *borrow(void *user)
{
    borrower *b = user;

    for (uint32_t i = 0; i < BORROWINGS && !b->wrong; i++) {
        qst_status status;
        qst_error  err = {0};
        qst__slot *slot = qst__pool_borrow(b->pool, i % 3 ? b->number : 0, &status, &err);
        cl_kernel  kernel;
        if (!slot) {
            b->wrong = "nothing lent";
            break;
        }
        kernel = qst__slot_kernel(slot);
        kernel->argument = b->number; /* set the arguments … */
        kernel->runs++;
        if (kernel->argument != b->number) /* … and enqueue */
            b->wrong = "another's arguments";
        qst__pool_give(b->pool, slot, true);
    }
    return NULL;
}

/* More threads than slots, so that spares are made as well. */
static void kernels_are_lent_to_one(void **state)
{
    static qst__step step = {.dims = 1, .local = {16, 1, 1}, .global = {16, 1, 1}};
    static borrower  b[QST__POOL_SLOTS + EXTRA];
    qst__alloc       alloc = qst__alloc_default();
    qst__pool       *pool = calloc(1, sizeof *pool);
    qst_error        err = {0};
    uint32_t         n = sizeof b / sizeof *b, i;
    (void)state;

    assert_non_null(pool);
    if (qst__pool_init(pool, &alloc, NULL, &step, NULL, "toy", &err) != QST_OK)
        fail_msg("%s", err.text);
    for (i = 0; i < n; i++) {
        b[i] = (borrower){.pool = pool, .number = i};
        assert_int_equal(pthread_create(&b[i].thread, NULL, borrow, &b[i]), 0);
    }
    for (i = 0; i < n; i++)
        assert_int_equal(pthread_join(b[i].thread, NULL), 0);
    for (i = 0; i < n; i++)
        if (b[i].wrong)
            fail_msg("thread %u: %s", (unsigned)i, b[i].wrong);
    assert_int_equal(qst__pool_runs(pool), n * BORROWINGS);
    assert_in_range(n_kernels, 1, QST__POOL_SLOTS); /* the spares are gone */
    qst__pool_finish(pool);
    assert_int_equal(n_kernels, 0);
    free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_keys), cmocka_unit_test(different_keys), cmocka_unit_test(nobody_waits),
        cmocka_unit_test(parts),     cmocka_unit_test(two_places),     cmocka_unit_test(kernels_are_lent_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
