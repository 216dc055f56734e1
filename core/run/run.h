/* SPDX-License-Identifier: MIT
 *
 * run.h: the structures of run/, where the layers meet. Who owns whom:
 *
 *   context ─┬─ conf, log, plugins, store
 *            ├─ sets            one per operation; immutable once frozen
 *            └─ sites           one per (cl_context, device): facts, programs, arena, timing lease
 *                 └─ shelves    one per set: what is known here
 *                      ├─ entries   by key: claim, verdict
 *                      └─ routes    by exact problem: normal form, spans, entry, and the way to run it
 *                           └─ ways  a candidate bound to the problem: kernels with constants set, or a vendor call
 *
 * Entries, routes and ways are added while the context lives and freed with their site, so that a pointer read
 * without a lock stays good; what changes in them changes by one atomic.
 */
#ifndef QST_RUN_RUN_H
#define QST_RUN_RUN_H

#include "base/base.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/settings.h"
#include "cl/buffers.h"
#include "cl/launch.h"
#include "conf/conf.h"
#include "model/key.h"
#include "model/peak.h"
#include "model/set.h"
#include "model/verdict.h"
#include "plug/registry.h"
#include "tune/claim.h"
#include "tune/retry.h"
#include "tune/table.h"

#include <quernstone/op.h>
#include <quernstone/store.h>
#include <stdatomic.h>

#define QST__SETS_MAX      64u    /* operations in a context */
#define QST__DEPTH_MAX     8u     /* calls from steps inside calls from steps: what calls itself must come to an end */
#define QST__ROUTES_MAX    65536u /* exact problems remembered on a shelf; more are prepared anew at each call */
#define QST__PROBLEM_BYTES 1024u  /* bytes of a problem struct, at most: copies of one stand on the stack */
#define QST__ALIGN_MAX     7u     /* log2 of the largest alignment that is told apart, in bytes */
#define QST__QUEUES        4u     /* queues of a site whose facts are remembered */
#define QST__WHY_BYTES     96u    /* of a line that says of what a candidate died */
#define QST__JUDGE_SEED    0x9e3779b9u
#define QST__RULER_RULES   1u /* revision of how run/ verifies and times; stored with verdicts */

enum { QST__PROBE_COMPUTE, QST__PROBE_MEMORY, QST__PROBE_LAUNCH, QST__PROBES }; /* bits of qst_op.flags */

typedef struct qst__site   qst__site;
typedef struct qst__shelf  qst__shelf;
typedef struct qst__entry  qst__entry;
typedef struct qst__route  qst__route;
typedef struct qst__way    qst__way;
typedef struct qst__lane   qst__lane;
typedef struct qst__worker qst__worker;

/* Where decisions are written; the file is opened by the first. */
typedef struct qst__decisions {
    qst__lock lock;
    int       file;      /* −1: not open */
    bool      failed[3]; /* standard output, standard error, the file: gets no more */
} qst__decisions;

struct qst_set {
    qst_context *ctx;
    qst__set     model;
    uint32_t     index; /* in ctx->sets */
    qst__lock    lock;  /* adding against freezing */
    _Atomic bool frozen;
};

struct qst_context {
    qst__alloc             alloc;
    qst__log               log;
    qst__clock             clock;
    qst__conf             *conf;
    const qst__settings   *settings;
    qst__plugins           plugins;
    qst_store              store;
    uint64_t               serial; /* stamps thread-local slots; differs from that of every other context ever made */
    _Atomic uint64_t       epoch;  /* raised by forget: stamps older than it are void */
    qst__lock              lock;   /* adding sets and sites */
    qst_set               *sets[QST__SETS_MAX];
    _Atomic uint32_t       n_sets;
    const qst_op          *set_op[QST__SETS_MAX]; /* their descriptors, side by side: each call looks for one */
    _Atomic(qst__site *)   sites;                 /* a list; a site is linked in at its head, unlinked by forget only */
    qst__site             *husks; /* what forget leaves of sites, for look-ups that stand on them; under the lock */
    qst__cl_counters       cl_counters;
    _Atomic uint64_t       n_candidate; /* executions inside tunings, and of ways already freed */
    _Atomic uint64_t       n_hits;      /* of routes already freed */
    _Atomic uint64_t       n_verify;
    _Atomic uint64_t       n_tuned;
    _Atomic uint64_t       verify_ns, judge_ns, sample_ns;
    _Atomic uint64_t       n_probe[QST__PROBES], probe_ns; /* executions inside measurements of peaks, by role */
    _Atomic(qst__worker *) worker;                         /* background.c */
    _Atomic bool           slips_told;                     /* slips.h */
    _Atomic uint32_t       mute;                           /* answers in a row that isolate.c did not get */
    qst__decisions         decisions;
    qst_progress           progress; /* NULL: nobody is told */
    void                  *progress_user;
    struct qst__history   *history; /* cache/history.h; NULL: none is written */
};

/* What finishes programs on a device in the driver's stead: finisher.c. */
typedef struct qst__finisher {
    qst__lock    lock;
    _Atomic int  state; /* 0 not looked for, 1 there is one, −1 none */
    qst__lock    proof; /* held while its check runs */
    _Atomic int  trust; /* 0 not known, 1 its check is right, −1 wrong */
    qst__builder by;
    const char  *name;     /* of its plugin */
    char        *object;   /* of its library */
    char         why[200]; /* where there is none */
} qst__finisher;

/* Programs that are built before they are needed: prebuild.c. */
typedef struct qst__prebuild_job qst__prebuild_job;
typedef struct qst__prebuild {
    qst__lock lock;
    qst__cond idle, free;
    QST__VEC(qst__prebuild_job) jobs;
    uint32_t  running, threads;
    bool      fronting; /* a thread of ours is in the front end: which one */
    pthread_t front;
} qst__prebuild;

struct qst__site {
    _Atomic(qst__site *) next; /* kept when the site is forgotten: look-ups take no lock */
    qst__site           *husk; /* the next among those forgotten */
    qst_context         *ctx;
    cl_context           context; /* retained */
    cl_device_id         device;
    bool                 sole;                /* the only device of its cl_context */
    bool                 in_place;            /* may compute on the caller's memory where it lies */
    _Atomic uintptr_t    queues[QST__QUEUES]; /* known ones: see qst__queue_ask */
    qst__facts           facts;
    qst_device           presumed; /* the device with QST_DEVICE_PRESUMED */
    bool                 clocked;  /* both know their clock; under the lock */
    qst__programs        programs;
    qst__finisher        finisher;
    qst__prebuild        prebuild;
    qst__arena           arena;
    qst__lock            lease;       /* held while a candidate is timed here */
    void                *lease_token; /* the machine-wide part of it; under the lease */
    bool                 lease_alone; /* nobody waits for the machine-wide part any more, until it is free; likewise */
    uint64_t             run_ns;      /* the longest run of a candidate since it was taken; under the lease */
    qst__lock            lock;        /* shelves, queues, vendor instances, lists of ways */
    cl_command_queue     bench; /* in order, profiling where there is; made by the first tuning, under the lease */
    bool                 bench_profiling;
    QST__VEC(qst__program *) winners; /* whose binaries are to be kept; under the lock */
    _Atomic bool closing;             /* tunings here end at their next step */
    qst__lane   *lanes;               /* private queues of vendor.c; under the lock */
    QST__VEC(qst__peak) peaks;        /* known here, in this process; under the lock */
    _Atomic(qst__shelf *) shelves[QST__SETS_MAX];
};

/* A vendor candidate's library on a device. */
typedef struct qst__vendor {
    int   state; /* 0 not tried, 1 open, −1 refused */
    void *instance;
    char  why[160];
} qst__vendor;

/* Of a candidate that may kill the process: quarantine.h. */
typedef struct qst__watch {
    bool     asked;               /* the store: the next members are known */
    bool     suspect;             /* a process died when it tried it */
    bool     barred;              /* in quarantine */
    uint8_t  key[32];             /* of its line */
    bool     tried;               /* elsewhere, by isolate.h, since it was asked */
    uint32_t deaths;              /* in all */
    char     why[QST__WHY_BYTES]; /* it is barred: what isolation found out; "": nothing */
    uint32_t inside;              /* trials of this process that are under way */
    void    *token;               /* of the claim while there is one */
} qst__watch;

struct qst__shelf {
    qst__site       *site;
    qst_set         *set;
    qst__table       entries;
    qst__table       routes;
    qst__vendor     *vendors;  /* per candidate; under site->lock */
    qst__watch      *watches;  /* per candidate; under site->lock */
    _Atomic uint8_t *verified; /* per candidate: gave a right result on this device */
};

/* What is known of a key here. */
struct qst__entry {
    qst__shelf             *shelf;
    qst__key                key;
    char                   *text; /* whole key text */
    qst__claim              claim;
    qst__retry              retry;            /* after tunings that came to nothing */
    _Atomic bool            queued;           /* for the background worker */
    _Atomic(qst__verdict *) verdict;          /* published when READY or PARTIAL; old ones stay in `old` */
    QST__VEC(qst__verdict *) old;             /* under site->lock */
    _Atomic uint8_t              *failed;     /* per candidate: failed on a hit, demoted */
    const char                   *source;     /* where the verdict came from: "tuned here", the store's name */
    _Atomic(const qst__verdict *) decided;    /* the last one that was tuned here; among `old` */
    _Atomic int64_t               decided_ms; /* when, ms since 1970 */
};

enum { QST__ROUTE_TUNED, QST__ROUTE_NOTHING, QST__ROUTE_TRIVIAL };

struct qst__route {
    qst__shelf         *shelf;
    qst__entry         *entry; /* NULL unless TUNED */
    uint32_t            kind;
    uint32_t            n_operands;
    uint64_t            span[QST_OPERANDS_MAX];  /* of the caller's operands */
    uint32_t            shift[QST_OPERANDS_MAX]; /* log2 of the element's bytes */
    uint32_t            align[QST_OPERANDS_MAX]; /* log2 bytes; what the problem promises */
    uint32_t            unfit[QST_OPERANDS_MAX]; /* QST__BUFFER_… that an operand's buffer must not be */
    uint32_t            perm[QST_OPERANDS_MAX];  /* normal operand i is the caller's perm[i] */
    void               *given;                   /* the problem as checked, with alignments */
    void               *normal;                  /* its normal form */
    _Atomic(qst__way *) way;                     /* what a hit runs; NULL: ask the entry */
    qst__way           *ways;                    /* all ever made for it, newest first; under site->lock */
    bool                loose;                   /* not in the table: freed by who made it */
    qst__route         *next_loose;              /* in the list of the way that owns it */
};

/* A candidate bound to an exact problem. */
struct qst__way {
    qst__way            *next;
    const qst_candidate *desc;
    const char          *name;
    uint32_t             candidate; /* index in the set; ~0: the trivial candidate */
    qst__runner         *runner;    /* launches as data; NULL: a vendor's */
    void                *instance;
    const void          *problem;                    /* the normal form; the route's */
    _Atomic uint64_t     calls;                      /* vendor calls */
    qst__program        *programs[QST_LAUNCHES_MAX]; /* that its launches use */
    uint32_t             n_programs;
    qst__route          *called; /* routes outside their table that its steps call; owned */
    uint64_t             build_ns;
};

/* ---- sets.c --------------------------------------------------------------------------------------------------- */

qst_status qst__set_create(qst_context *ctx, const qst_op *op, qst_set **set, qst_error *err);
void       qst__set_destroy(qst_set *set);
/* NULL where there is none. */
qst_set *qst__set_named(qst_context *ctx, const char *name);
/* Freezes at first use. */
void qst__set_use(qst_set *set);

/* ---- site.c --------------------------------------------------------------------------------------------------- */

/* The site of a cl_context and device, made at first use. */
qst_status qst__site_of(qst_context *ctx, cl_context context, cl_device_id device, qst__site **site, qst_error *err);
/* The device tells its clock, once: before anything is estimated. */
void qst__site_clock(qst__site *site);
void qst__site_destroy(qst__site *site);
/* Releases all that the site holds; its memory and its place in the list stay. */
void qst__site_empty(qst__site *site);
/* Freezes the set at first use. */
qst_status qst__shelf_of(qst__site *site, qst_set *set, qst__shelf **shelf, qst_error *err);
/* The entry of a key, made (and filled from the store) at first use. */
qst_status qst__entry_of(qst__shelf *shelf, const qst__key *key, qst__entry **entry, qst_error *err);

/* Queue facts that every call needs. */
typedef struct qst__queue {
    cl_context   context;
    cl_device_id device;
    bool         in_order;
} qst__queue;
/* expected: the site that the queue should be of; NULL: any. A site remembers a few of its queues, each with whether it is
 * in order (in the lowest bit of the handle), and retains them, so that no other queue can have their handle, until it
 * goes or until the place of one that nobody else holds is wanted: about those nothing is asked. */
qst_status qst__queue_ask(cl_command_queue queue, qst__site *expected, qst__queue *out, qst_error *err);

/* ---- operands.c ----------------------------------------------------------------------------------------------- */

/* Asks about the operands that a problem touches: those with a span. plain: of whoever calls, one an operand. */
void qst__operands_ask(const qst__site *site, uint32_t n, const qst_mem *operands, const uint64_t *span,
                       qst__plain *plain, qst__buffer *out);
/* log2 of each operand's alignment, 8 bits each. */
uint64_t qst__operands_aligns(uint32_t n, const qst_mem *operands, const uint64_t *span, const qst__buffer *buffers);
/* Are the operands good for the route? Names operand and numbers. */
qst_status qst__operands_check(const qst__route *route, const qst_mem *operands, const qst__buffer *buffers,
                               cl_context context, qst_error *err);

/* ---- route.c -------------------------------------------------------------------------------------------------- */

/* The problem with alignments set (a copy of problem_size bytes), checked, to its route. */
qst_status qst__route_of(qst__shelf *shelf, const void *problem, qst__route **route, qst_error *err);
void       qst__route_destroy(qst__route *route);
/* Runs the route: the way at hand, or resolves one. operands: the caller's. */
qst_status qst__route_run(qst__route *route, cl_command_queue queue, bool in_order, const qst_mem *operands,
                          cl_uint n_wait, const cl_event *wait_list, cl_event *event, qst_error *err);

/* The key of a problem in normal form at the configured level. */
void qst__key_of(const qst__shelf *shelf, const void *normal, qst__key *key);

/* Finds the way that a first run would need. depth: of the calls from steps that lead here; unless it is 0 nobody is
 * waited for, for the one who has the key may be our own caller. */
qst_status qst__route_settle(qst__route *route, uint32_t depth, qst_error *err);
/* For steps that call another operation (cl/recipe.h): runs the route as it is known, and never tunes, for its caller
 * may be timed. */
qst_status qst__route_call(void *route, const qst__go *go, qst_error *err);

/* ---- miss.c --------------------------------------------------------------------------------------------------- */

/* Finds a way: verdict, store, tuning or the safe candidate, as the policy says. *keep: the route may keep it. */
qst_status qst__resolve(qst__route *route, uint32_t depth, qst__way **way, bool *keep, qst_error *err);
/* The same from what is known, without tuning. */
qst_status qst__resolve_known(qst__route *route, uint32_t depth, qst__way **way, qst_error *err);
/* The way of the best right candidate that can run just this problem; false: there is none. */
bool qst__way_of_verdict(qst__route *route, const qst__verdict *verdict, uint32_t depth, qst__way **way);
/* After a way failed on a hit: logs, demotes its candidate. */
void qst__demote(qst__route *route, const qst__way *way, const qst_error *err);

/* ---- way.c ---------------------------------------------------------------------------------------------------- */

/* Binds a candidate to a problem in normal form: can_run, steps, limits, programs, kernels; or opens the vendor's
 * library. The problem's memory must outlive the way. `key` is what program() gets. */
qst_status qst__way_create(qst__way **way, qst__shelf *shelf, uint32_t candidate, const qst__key *key,
                           const void *problem, uint32_t depth, qst_error *err);
/* The operation's trivial candidate. */
qst_status qst__way_trivial(qst__way **way, qst__shelf *shelf, const void *problem, qst_error *err);
/* Binds a judge's phase. */
qst_status qst__way_judge(qst__runner **runner, qst__shelf *shelf, const void *problem, uint32_t phase, uint64_t seed,
                          qst_error *err);
void       qst__way_destroy(qst__way *way, const qst__alloc *alloc);
/* Has the programs built that a candidate, or a judge's phase, launches for a problem in normal form, and binds nothing;
 * a failure shows when they are bound. */
void qst__way_expect(qst__shelf *shelf, uint32_t candidate, const qst__key *key, const void *problem);
/* Are a candidate's all built, or binaries of them kept? false for a vendor, which builds its own, and where a step calls
 * another operation, which may have to be tuned. */
bool qst__way_ready(qst__shelf *shelf, uint32_t candidate, const qst__key *key, const void *problem);
void qst__way_expect_judge(qst__shelf *shelf, const void *problem, uint32_t phase);
/* Enqueues one execution; operands of the normal form. */
qst_status qst__way_enqueue(qst__way *way, qst__site *site, const qst__go *go, qst_error *err);
uint32_t   qst__way_launches(const qst__way *way);
uint64_t   qst__way_workspace(const qst__way *way);
uint64_t   qst__way_runs(const qst__way *way);
/* Before it is destroyed: its executions go to the context's counters. */
void qst__way_account(const qst__way *way, qst_context *ctx);

/* The element sizes of a problem's operands. */
void qst__type_sizes(const qst_op *op, const void *problem, uint32_t bytes[QST_OPERANDS_MAX]);

/* ---- vendor.c ------------------------------------------------------------------------------------------------- */

qst_status qst__vendor_enqueue(qst__way *way, qst__site *site, const qst__go *go, qst_error *err);
void       qst__lanes_destroy(qst__site *site);
/* Opens a vendor candidate's library, once for a device; false: a refusal, which is remembered with its reason. *ns grows
 * by the time it took. */
bool qst__vendor_open(qst__shelf *shelf, uint32_t candidate, uint64_t *ns);
/* Can it be opened here? */
bool qst__vendor_opens(qst__shelf *shelf, uint32_t candidate);

/* ---- answers.c ------------------------------------------------------------------------------------------------ */

/* Looks whether the store knows the key on this target; returns the state of the claim that comes of it: READY, or
 * PARTIAL where something is left to do (candidates it does not know, a verdict that must be re-checked), or `state`
 * where the store knows no more than we do. */
int qst__recall(qst__entry *entry, int state);
/* Under what the store keeps a verdict: SHA-256 of target, operation and key text; and that of an entry. */
void qst__answer_digest(const char *target, const char *op, const char *key_text, uint8_t digest[32]);
void qst__answer_key(const qst__entry *entry, uint8_t digest[32]);
/* Keeps a verdict in the store; a failure is one log line. */
void qst__remember(qst__entry *entry, const qst__verdict *verdict);
/* Makes a verdict the entry's; takes over the memory. false: no memory, nothing changed. */
bool qst__publish(qst__entry *entry, qst__verdict *verdict, const char *source);

/* ---- core.c --------------------------------------------------------------------------------------------------- */

/* Kernels that belong to no operation. */
enum { QST__CORE_FILL, QST__CORE_DIGEST, QST__CORE_GUARD, QST__CORE_DIFFER, QST__CORE_COUNT };

/* Binds a core kernel to operand 0 of a single buffer: `type` of its elements, `count` of them from its offset (GUARD and
 * DIFFER: words of the whole buffer), and more numbers:
 *   FILL    seed, range, sparse, real, as fill.cl says
 *   DIGEST  seed, word of the finding
 *   GUARD   word of the finding, first half-word of the hole, first half-word behind it
 *   DIFFER  word of the finding; compared with `before` of operand 0 */
qst_status qst__core_bind(qst__runner **runner, qst__shelf *shelf, uint32_t which, uint32_t type, uint64_t count,
                          const uint64_t numbers[4], qst_error *err);
/* Has their program built. */
void qst__core_expect(qst__shelf *shelf, uint32_t type);

/* ---- host.c --------------------------------------------------------------------------------------------------- */

/* Starts every READY plugin of the list, each as a transaction. */
qst_status qst__host_start(qst_context *ctx, qst_error *err);
void       qst__host_stop(qst_context *ctx);
/* The i-th setting that the plugin asked for in its start; NULL from the last one on. */
const char *qst__host_asked(const qst__plugin *plugin, uint32_t i);

/* ---- builtin.c ------------------------------------------------------------------------------------------------ */

/* Registers built-in operations and plugins: the composition root. */
qst_status qst__builtin(qst_context *ctx, qst_error *err);

#endif
