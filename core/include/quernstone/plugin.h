/* SPDX-License-Identifier: MIT
 *
 * plugin.h: the binary interface between Quernstone and those who bring candidates. DRAFT: it becomes 1.0 and is
 * frozen when the GPU plugin has used it. Read from top to bottom; quernstone/kit.h has helpers to write less.
 *
 * A plugin is a shared object that exports one symbol, the const data `qst_plugin_v1`, and links nothing of ours.
 * The host reads that data before it runs any code of the plugin, then calls start() once for each context that
 * loads it, with a table of host functions; inside start the plugin adds operations, groups and candidates. What is
 * added takes effect as a whole when start returns QST_OK and not at all otherwise. The library stays resident once
 * loaded; start may be called again, also while an earlier instance lives, and stop gets the instance that start
 * gave.
 *
 * Rules that hold for all of it
 *   - fixed-width integers, no bool, no enum types, no C++ types, no exceptions across the border;
 *   - a struct with `size` first is copied up to the smaller size; what is missing is zero, zero is the default;
 *   - flag bits 0..15 of any `flags` may be ignored by a host that does not know them, bits 16..31 must be
 *     understood: a host that does not know a set one refuses the thing with a reason;
 *   - strings and arrays given in descriptors are static or live as long as the instance;
 *   - `why`: a refusal sets *why (when why is not NULL) to one line that names the limit and the numbers. The text
 *     is static, or the candidate's own until the next call on the same thread;
 *   - priorities are preference only: they never make an unsupported candidate run.
 */
#ifndef QUERNSTONE_PLUGIN_H
#define QUERNSTONE_PLUGIN_H

#include <quernstone/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QST_ABI_MAJOR 1u
#define QST_ABI_MINOR 0u

/* ---- The device, as everybody sees it ------------------------------------------------------------------------ */

enum { QST_DEVICE_CPU = 1, QST_DEVICE_GPU = 2, QST_DEVICE_ACCELERATOR = 4 };

enum {
    QST_DEVICE_F64 = 1u << 0,         /* double arithmetic */
    QST_DEVICE_F16 = 1u << 1,         /* half arithmetic */
    QST_DEVICE_LOCAL_FAST = 1u << 2,  /* local memory is a memory of its own, not plain global memory */
    QST_DEVICE_UNIFIED = 1u << 3,     /* device and host share memory */
    QST_DEVICE_OUT_OF_ORDER = 1u << 4 /* offers out-of-order queues */
};

/* Facts of one device in one cl_context. Grows. Owned by the host, lives as long as what it was given for. */
typedef struct qst_device {
    uint32_t              size;
    uint32_t              type;      /* QST_DEVICE_CPU, … */
    uint32_t              flags;     /* QST_DEVICE_F64, … */
    uint32_t              units;     /* compute units */
    uint32_t              max_group; /* work-items in a work-group */
    uint32_t              max_group_dim[3];
    uint32_t              group_multiple;  /* preferred multiple of the work-group; 1 where unknown */
    uint32_t              vector_f32;      /* preferred vector width for f32 in elements */
    uint32_t              base_align_log2; /* every buffer starts at a multiple of 2^this bytes */
    uint32_t              clock_mhz;
    uint32_t              pointer_bits;
    uint32_t              cl_version;  /* 120 for OpenCL 1.2, 300 for 3.0: the lower of platform and device */
    uint64_t              local_bytes; /* local memory of a work-group; keep some KB under it */
    uint64_t              max_alloc;   /* bytes of the largest buffer */
    uint64_t              global_bytes;
    uint64_t              cache_bytes; /* last-level cache of global memory, 0 where unknown */
    struct _cl_context   *context;
    struct _cl_device_id *id;
    const char           *name;
    const char           *vendor;
    const char           *platform;
    const char           *driver;
    const char           *extensions;         /* separated by blanks */
    const char           *target;             /* the device model: platform, vendor, name, units, memory class */
    uint32_t              vendor_id;          /* CL_DEVICE_VENDOR_ID: 0x10de for NVIDIA */
    uint32_t              compute_capability; /* NVIDIA's, 90 for 9.0; 0 where there is none */
} qst_device;

/* ---- Fields: problems and keys as text ------------------------------------------------------------------------ */

enum { QST_FIELD_I64 = 1, QST_FIELD_U32 = 2, QST_FIELD_F64 = 3, QST_FIELD_ENUM = 4 /* u32 printed as a token */ };

/* One member of a problem struct. Value struct. Consecutive fields whose names share what stands before a dot
 * print as one comma list, `a=f32,240,1` for a.type, a.row, a.col; members at the end of a list that equal what
 * complete() would fill in are left out.
 *   count     1, or the length of an array member, printed with `x` between its parts: batch=3x1x1x1
 *   tokens    for QST_FIELD_ENUM: names of the values 0 … n_tokens − 1, NULL where a value has none */
typedef struct qst_field {
    const char        *name;
    uint32_t           kind;
    uint32_t           flags;
    uint32_t           offset;
    uint32_t           count;
    uint32_t           n_tokens;
    uint32_t           reserved;
    const char *const *tokens;
} qst_field;

enum { QST_KEY_SIZE = 1, QST_KEY_ENUM = 2, QST_KEY_FLAG = 3 };
enum {
    QST_KEY_ANCHORED = 1u << 0, /* the operation passed the value through qst_anchor.anchor; information only */
    QST_KEY_OURS = 1u << 1      /* not among the reference's fields: printed by `qst keys --all` only */
};

/* One number of a key. Value struct. */
typedef struct qst_key_field {
    const char        *name;
    uint32_t           kind;
    uint32_t           flags;
    uint32_t           n_tokens;
    uint32_t           reserved;
    const char *const *tokens;
} qst_key_field;

#define QST_KEY_MAX 32u /* numbers in a key, at most */

/* A bucketed problem: one number a key field, in their order. Value struct. */
typedef struct qst_key {
    uint32_t       count;
    uint32_t       reserved;
    const int64_t *value;
} qst_key;

/* What an operation's key() gets: the bucketing at the level in force. anchor(x) rounds a size up to its bucket's
 * ceiling; it is not idempotent: never apply it twice. Value struct. */
typedef struct qst_anchor {
    uint32_t level; /* 0 minimal, 1 balanced, 2 extensive, 3 full */
    uint32_t reserved;
    int64_t (*anchor)(uint32_t level, int64_t size);
} qst_anchor;

/* ---- Candidates ----------------------------------------------------------------------------------------------- */

/* Membership of a candidate in a group. Value struct. The priority inside the group is priority(user of the
 * candidate, device, key) or, where that is NULL, the constant; negative: not through this group for this key. */
typedef struct qst_membership {
    const char *group;
    int32_t (*priority)(void *user, const qst_device *device, const qst_key *key);
    int32_t constant;
    int32_t reserved;
} qst_membership;

/* Candidates with a common priority rule. Negative: its members do not come in through it for this key. Grows. */
typedef struct qst_group {
    uint32_t    size;
    uint32_t    flags;
    const char *name;
    void       *user;
    int32_t (*priority)(void *user, const qst_device *device, const qst_key *key); /* NULL: the constant */
    int32_t constant;
    int32_t reserved;
} qst_group;

enum { QST_PROGRAM_SOURCE = 1, QST_PROGRAM_BINARY = 2, QST_PROGRAM_RETARGETED = 3 };

/* A program a candidate needs. Grows. The host owns the struct and zeroes it (form SOURCE); the candidate fills it
 * with memory that lives until the candidate's next program() on the same thread, or longer. Programs with equal
 * text and options are built once for a device, whoever asks.
 *
 * RETARGETED is source whose binary is assembly text (NVIDIA's PTX), and is made in three steps: the source is built;
 * in the text that comes out each `marker` is taken away and the name behind `.target` becomes `target`; the driver
 * builds that. So a source reaches instructions that the driver's compiler refuses for the processor it names, as
 * comments of the assembly with operands: asm volatile("//@ wgmma… {%0, …}, %2;" : "+f"(x) : "l"(d)). What comes out is
 * kept like any binary. Where a step fails so does the build, with the reason in its log. */
typedef struct qst_program {
    uint32_t    size;
    uint32_t    form;
    const void *data;
    uint64_t    length;  /* bytes, without a terminator */
    const char *options; /* NULL: "-cl-std=CL1.2" */
    const char *target;  /* RETARGETED: the processor, [a-z0-9_]+, "sm_90a" */
    const char *marker;  /* RETARGETED: not empty; NULL: "//@ " */
} qst_program;

enum {
    QST_ARG_OPERAND = 1,   /* the cl_mem of operand `index` */
    QST_ARG_OFFSET = 2,    /* ulong: where operand `index` starts, in elements of its type */
    QST_ARG_WORKSPACE = 3, /* the cl_mem of workspace `index` */
    QST_ARG_LOCAL = 4,     /* `bytes` of local memory */
    QST_ARG_VALUE = 5      /* `bytes` (at most 16) taken from bits */
};

/* One kernel argument. Value struct. */
typedef struct qst_arg {
    uint32_t kind;
    uint32_t index;
    uint64_t bytes;
    uint64_t bits[2];
} qst_arg;

#define QST_ARGS_MAX     48u /* arguments of a launch, at most */
#define QST_LAUNCHES_MAX 8u  /* launches of a candidate, at most */

/* One kernel launch as data. Grows. `entry` and `args` live until launch() returns. The host checks it against the
 * device (group size, divisibility, local memory with slack) before anything is built or launched.
 *   program   index given to the candidate's program()
 *   dims      1 to 3; global[i] a multiple of local[i]; local all 0: the driver's choice */
typedef struct qst_launch {
    uint32_t       size;
    uint32_t       program;
    const char    *entry;
    uint32_t       dims;
    uint32_t       n_args;
    uint64_t       global[3];
    uint64_t       local[3];
    const qst_arg *args;
} qst_launch;

/* Where a candidate's steps() puts its launches, in order; each begins when the one before has ended. Grows. The
 * functions copy what they get and return QST_OK, or a failure that steps() passes on.
 *   workspace   asks for scratch memory `index` (0, 1, …) of `bytes`; contents are undefined at the first launch
 *   call        runs another operation of the context between the launches: its problem struct (size first, copied) and
 *               one argument an operand of it, QST_ARG_OPERAND or QST_ARG_WORKSPACE, that begins bits[0] bytes after
 *               where that operand or workspace begins. It is tuned for itself, when this candidate is prepared; its
 *               operands' alignments are those that the problem states. E_NOTFOUND: no such operation here. */
typedef struct qst_steps {
    uint32_t size;
    uint32_t reserved;
    void    *self;
    int32_t (*launch)(struct qst_steps *steps, const qst_launch *launch);
    int32_t (*workspace)(struct qst_steps *steps, uint32_t index, uint64_t bytes);
    int32_t (*call)(struct qst_steps *steps, const char *op, const void *problem, uint32_t n_operands,
                    const qst_arg *operands);
} qst_steps;

/* A vendor library's call. Grows. Run on `queue`, which is in order and, for a candidate with
 * QST_CANDIDATE_NO_WAITS, has already been made to wait for what must come first (n_waits is 0 then).
 * A call that fails must have enqueued nothing.
 *   done    where the candidate may put the event of its last command; it may leave NULL, the host then takes a
 *           marker's. The host owns the event afterwards. */
typedef struct qst_call {
    uint32_t                  size;
    uint32_t                  n_waits;
    struct _cl_command_queue *queue;
    const qst_mem            *operands;
    struct _cl_event *const  *waits;
    struct _cl_event        **done;
} qst_call;

enum {
    QST_CANDIDATE_FALLBACK = 1u << 0,         /* runs where all else fails; one a set; must support everything */
    QST_CANDIDATE_NONDETERMINISTIC = 1u << 1, /* equal inputs may give differently rounded results */
    QST_CANDIDATE_HIDES_EVENTS = 1u << 2,     /* its event does not cover all its commands: timed by brackets */
    QST_CANDIDATE_NO_WAITS = 1u << 3          /* its call takes no wait list */
};

/* A named way to compute an operation. Grows. The host composes its full name, op.plugin.variant/revision; raise
 * the revision whenever what it computes, or how fast, may have changed.
 *
 * Two forms. Launches as data: program and steps. A vendor library's: open, enqueue, close. One of the two.
 *
 * All functions: [any thread], no side effects seen from outside, no OpenCL calls except in open/enqueue/close;
 * supports may ask the host's run_once.
 *   supports   cheap: may it ever run for this key here? QST_OK; QST_POOR: it may, as a last resort;
 *              QST_E_UNSUPPORTED with a reason. NULL: QST_OK.
 *   can_run    cheap and pure: can it compute just this problem, with these strides and alignments? The rule of
 *              legality, asked before every first use of a problem. NULL: QST_OK.
 *   estimate   expected time in ns, a rough number that orders and prunes; 0 or NULL: unknown
 *   program    source and options of program `index`, for this key
 *   steps      the launches for just this problem
 *   open       opens the vendor library for a device, when it is about to run for the first time */
typedef struct qst_candidate {
    uint32_t              size;
    uint32_t              flags;
    const char           *op;
    const char           *variant;      /* [a-z0-9_x.-]+ */
    uint32_t              revision;     /* from 1 */
    uint32_t              classes;      /* QST_CLASS_… */
    uint32_t              problem_size; /* sizeof of the problem struct it was compiled with */
    uint32_t              n_memberships;
    const qst_membership *memberships; /* none: it joins the first round of every key */
    void                 *user;
    int32_t (*supports)(void *user, const qst_device *device, const qst_key *key, const char **why);
    int32_t (*can_run)(void *user, const qst_device *device, const void *problem, const char **why);
    double (*estimate)(void *user, const qst_device *device, const void *problem);
    int32_t (*program)(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out);
    int32_t (*steps)(void *user, const qst_device *device, const void *problem, qst_steps *out);
    int32_t (*open)(void *user, const qst_device *device, void **instance, const char **why);
    int32_t (*enqueue)(void *instance, const void *problem, const qst_call *call, const char **why);
    void (*close)(void *instance);
} qst_candidate;

/* ---- Operations ----------------------------------------------------------------------------------------------- */

enum { QST_ACCESS_READ = 1, QST_ACCESS_WRITE = 2, QST_ACCESS_READ_WRITE = 3 };

/* A buffer of the operation. Value struct.
 *   type_offset    where in the problem the element type stands (a u32)
 *   align_offset   where the log2 alignment of its start stands (a u32, bytes = 2^it; 0: the element's own).
 *                  A call fills it from the operand's offset, a plan states it. */
typedef struct qst_operand {
    const char *name;
    uint32_t    access; /* READ_WRITE where the result may depend on the old content */
    uint32_t    type_offset;
    uint32_t    align_offset;
    uint32_t    reserved;
} qst_operand;

#define QST_OPERANDS_MAX 8u

/* A problem's work, never over-counted. Value struct; zero when the operation gets it to fill. */
typedef struct qst_work {
    double   ops;      /* arithmetic operations */
    double   bytes;    /* inputs read once, outputs written once */
    uint32_t type;     /* which arithmetic the operations are: QST_F32, …; 0: they bound nothing */
    uint32_t numerics; /* and in which class: QST_NUMERICS_… */
} qst_work;

/* Problems derived from a problem, for judging and timing. */
enum {
    QST_VARY_EXACT = 1,      /* same work, scalars made small integers so that integer inputs give exact results */
    QST_VARY_TIMED = 2,      /* same work, safe to repeat: see qst_op.repeat */
    QST_VARY_SECOND = 3,     /* EXACT with other sizes, at most an eighth of the work, at best of the kind that the
                                problem's are not (odd where they are even); same types and kind of layout */
    QST_VARY_SECOND_REAL = 4 /* such a shape, the same or another, with the problem's own scalars */
};

/* What repeated runs of the TIMED problem on the same operands do to the result. */
enum {
    QST_REPEAT_SAME = 0,      /* nothing: each run gives the same */
    QST_REPEAT_ADDS = 1,      /* each adds the same amount to each element */
    QST_REPEAT_ALTERNATES = 2 /* two runs restore the old content */
};

/* How one operand is filled for judging. Value struct. Element i gets a value from a counter hash of (seed, i):
 * integers of −range … range, one in 2^sparse of them non-zero; or, with real set, reals of (−1, 1). */
typedef struct qst_fill {
    uint32_t range;
    uint32_t sparse;
    uint32_t real;
    uint32_t reserved;
} qst_fill;

/* What a judge's steps are asked for. */
enum {
    QST_JUDGE_EQUAL = 1,  /* integer inputs: is every element of the result the exact one? */
    QST_JUDGE_LOCATE = 2, /* recompute what EQUAL's finding points at and name the first wrong element */
    QST_JUDGE_ERASE = 3,  /* set every element of the results to NaN (all bits one), and nothing else */
    QST_JUDGE_SCALE = 4,  /* turn real inputs into a badly scaled set, in place */
    QST_JUDGE_BOUND = 5   /* real inputs: are sampled elements within the class's bound? */
};

#define QST_FINDING_WORDS 16u

/* Checks an operation's results on the device, with launches as data. Grows. The finding is a buffer of
 * QST_FINDING_WORDS u32, zero before each phase: word 0 stays 0 where nothing is wrong; the rest is the judge's own.
 * Operand indices in arguments: 0 … n − 1 are the problem's; QST_JUDGE_BEFORE + i is operand i as it was before the
 * run; QST_JUDGE_FINDING is the finding. LOCATE runs on the finding that EQUAL left.
 *   tell   writes one line about a finding: the element, what stands there, what should */
#define QST_JUDGE_BEFORE  64u
#define QST_JUDGE_FINDING 128u
typedef struct qst_judge {
    uint32_t size;
    uint32_t revision;
    void    *user;
    int32_t (*program)(void *user, const qst_device *device, const void *problem, uint32_t index, qst_program *out);
    int32_t (*steps)(void *user, const qst_device *device, const void *problem, uint32_t phase, uint64_t seed,
                     qst_steps *out);
    void (*tell)(void *user, const void *problem, uint32_t phase, const uint32_t *finding, char *text,
                 uint32_t text_size);
} qst_judge;

/* qst_op.flags: the operation measures a peak of the device; its problem struct is qst_probe (probe.h). Of each role a
 * context uses the first operation that has it. */
enum {
    QST_OP_PROBE_COMPUTE = 1u << 0, /* operations a second, by type and class */
    QST_OP_PROBE_MEMORY = 1u << 1,  /* bytes a second, by footprint */
    QST_OP_PROBE_LAUNCH = 1u << 2   /* time of a launch */
};

/* An operation. Grows. The problem struct is the operation's own; it starts with u32 size. All functions: [any
 * thread], pure; problems they get have been copied bounded into `problem_size` bytes.
 *   check       is the problem in contract? Names the member and the numbers in err. Mandatory.
 *   complete    fills what text left out; `given` has bit i set where fields[i] was in the text. NULL: zeros.
 *   normalise   brings the problem to normal form, in place; operand i of the normal form is operand perm[i] of the
 *               caller's (perm comes in as 0, 1, …). QST_OK: tune and run it; QST_NOTHING: nothing to compute;
 *               QST_TRIVIAL: run `trivial` on it. NULL: it is its own normal form.
 *   key         one number a key field, of a problem in normal form
 *   span        bytes an operand touches, from its start to the end of its last element; 0: not touched. The host
 *               compares buffer sizes with it.
 *   work        for the roof, the estimates' order and GFLOP/s
 *   vary        writes the derived problem; QST_E_UNSUPPORTED: there is none. NULL: EXACT and TIMED are the problem
 *               itself, there is no SECOND.
 *   repeat      QST_REPEAT_… of a TIMED problem. NULL: SAME.
 *   fill        how operand i is filled; real != 0 asks for the set of reals. NULL: integers of −1 … 1.
 *   trivial     launches for what normalise calls TRIVIAL; its program() gets an empty key
 *   judge       NULL: results are compared with the fallback's
 *   record_names  one path a key field, object.member, under which decisions tell its number; NULL: definition.<name>,
 *               or more.<name> where it is flagged QST_KEY_OURS. NULL: all are told so. */
typedef struct qst_op {
    uint32_t             size;
    uint32_t             flags;
    const char          *name; /* [a-z0-9_.]+ */
    uint32_t             problem_size;
    uint32_t             numerics_offset; /* where in the problem its numerics class stands (a u32); 0: none */
    uint32_t             n_fields;
    uint32_t             n_key_fields;
    uint32_t             n_operands;
    uint32_t             n_groups;
    const qst_field     *fields;
    const qst_key_field *key_fields;
    const qst_operand   *operands;
    const qst_group     *groups;
    void                *user;
    int32_t (*check)(void *user, const void *problem, qst_error *err);
    void (*complete)(void *user, void *problem, uint64_t given);
    int32_t (*normalise)(void *user, void *problem, uint32_t *perm);
    void (*key)(void *user, const void *problem, const qst_anchor *anchor, int64_t *values);
    uint64_t (*span)(void *user, const void *problem, uint32_t operand);
    void (*work)(void *user, const void *problem, qst_work *out);
    int32_t (*vary)(void *user, const void *problem, uint32_t which, void *out);
    uint32_t (*repeat)(void *user, const void *problem);
    void (*fill)(void *user, const void *problem, uint32_t operand, uint32_t real, qst_fill *out);
    const qst_candidate *trivial;
    const qst_judge     *judge;
    const char *const   *record_names;
} qst_op;

/* ---- The host's side of the border ---------------------------------------------------------------------------- */

enum { QST_LOG_ERROR = 1, QST_LOG_WARN = 2, QST_LOG_INFO = 3, QST_LOG_DEBUG = 4 };

#define QST_ANSWER_MAX 256u /* bytes of run_once's answer */

/* What the host offers. Grows at its end only; test a member with QST_HOST_HAS before use where it is newer than
 * the minor number you require. `self` goes back as first argument and is valid from start to stop.
 *   alloc, free     [any thread] the context's memory; alloc gives NULL when there is none
 *   log             [any thread] one line, without a newline
 *   config          [any thread] the text of plugin.<name>.<key> of the configuration; NULL where not set. Lives
 *                   as long as the context.
 *   add_operation, add_group, add_candidate   [plugin start] copies the descriptor bounded; what it points at stays
 *                   the plugin's. QST_E_INVALID with a line in the log where it is refused; the whole start is
 *                   undone when any addition failed or start fails.
 *   program_binary  [any thread] builds a program on a device that a candidate was asked about, unless it is built
 *                   already, and hands its binary to take() as the driver gives it, before it returns. E_BUILD: it does
 *                   not build. err: NULL, or zeroed; gets the reason.
 *   run_once        [any thread] what a kernel finds out about a device: builds a program and runs one launch of it,
 *                   whose operand 0 is a buffer of `bytes` (at most QST_ANSWER_MAX), zero before; gives what is in it
 *                   afterwards. The answer is kept, with the store's programs, for the device model and the driver, so
 *                   that a process that finds it there builds and runs nothing; a failure of the build is kept as well.
 *                   E_BUILD: it does not build; E_CL: it does not run. err as above. */
typedef struct qst_host {
    uint32_t size;
    uint32_t minor;
    void    *self;
    void *(*alloc)(void *self, uint64_t bytes);
    void (*free)(void *self, void *memory);
    void (*log)(void *self, uint32_t level, const char *text);
    const char *(*config)(void *self, const char *key);
    int32_t (*add_operation)(void *self, const qst_op *op);
    int32_t (*add_group)(void *self, const char *op, const qst_group *group);
    int32_t (*add_candidate)(void *self, const qst_candidate *candidate);
    int32_t (*program_binary)(void *self, const qst_device *device, const qst_program *program, void *user,
                              void (*take)(void *user, const void *bytes, uint64_t length), qst_error *err);
    int32_t (*run_once)(void *self, const qst_device *device, const qst_program *program, const qst_launch *launch,
                        void *answer, uint32_t bytes, qst_error *err);
} qst_host;

#define QST_HOST_HAS(host, member)                                                                                     \
    ((host)->size >= offsetof(qst_host, member) + sizeof((host)->member) && (host)->member != NULL)

#define QST_PLUGIN_MAGIC 0x31545351u /* "QST1" */

/* The descriptor. Grows. magic and size come first so that a stranger's data is told from ours.
 *   min_host_minor   least QST_ABI_MINOR of the host that the plugin needs
 *   name             [a-z0-9_]+, unique in a context
 *   start            [plugin start] one line about a failure may go to host->log
 *   stop             NULL: nothing to undo
 *   get_extension    optional capabilities by id; NULL: none */
typedef struct qst_plugin {
    uint32_t    magic;
    uint32_t    size;
    uint32_t    abi_major;
    uint32_t    abi_minor;
    uint32_t    min_host_minor;
    uint32_t    flags;
    const char *name;
    const char *version;
    const char *licence; /* SPDX */
    int32_t (*start)(const qst_host *host, void **instance);
    void (*stop)(void *instance);
    const void *(*get_extension)(const char *id);
} qst_plugin;

#define QST_PLUGIN_SYMBOL "qst_plugin_v1"

#ifdef __cplusplus
}
#endif
#endif
