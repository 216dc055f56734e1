/* SPDX-License-Identifier: MIT
 *
 * plugin.h: the binary interface between Quernstone and those who bring candidates, version 1.0. Read from top to
 * bottom; quernstone/kit.h has helpers to write less, docs/plugin-abi.md says how it all works together.
 *
 * A plugin is a shared object that exports one symbol, the const data `qst_plugin_v1`, and links nothing of ours.
 * The host reads that data before it calls anything of the plugin, then calls start() once for each context that
 * loads it, with a table of host functions; inside start the plugin adds operations, groups and candidates. What is
 * added takes effect as a whole when start returns QST_OK and not at all otherwise. The library stays resident once
 * loaded; start may be called again, also while an earlier instance lives, and stop gets the instance that start
 * gave.
 *
 * Versions. A plugin built with this header loads in every host of the same major number whose minor number is at
 * least the plugin's min_host_minor. Within a major number members, constants and host functions are added, behind
 * what is there; none is changed, moved or taken away. So a plugin of 1.0 is never built anew for a later 1.x, and one
 * that uses what a later 1.x added either requires that (min_host_minor) or asks for it (QST_HAS) and does without.
 *
 * Rules that hold for all of it
 *   - fixed-width integers, no bool, no enum types, no C++ types, no exceptions across the border;
 *   - a struct with `size` first grows at its end. Who makes it sets `size` to the sizeof that he was compiled with;
 *     who gets it reads no member, and writes none, that does not lie within `size` (QST_HAS); what is missing counts
 *     as zero, and zero is always the default. Such structs are passed by pointer, one at a time. Of a descriptor the
 *     host makes a copy in its own size;
 *   - a struct without `size`, a value struct, never grows and may stand in arrays; `reserved` members are zero;
 *   - flag bits 0..15 of any `flags` may be ignored by a host that does not know them, bits 16..31 must be
 *     understood: a host that does not know a set one refuses the thing with a reason. Unless said otherwise no bit is
 *     defined yet;
 *   - values of later minor numbers may reach an older plugin: an element type, a class, a VARY or JUDGE number that it
 *     does not know it answers with QST_E_UNSUPPORTED;
 *   - strings and arrays given in descriptors are static or live as long as the instance;
 *   - functions return a status of types.h: 0 is success, a positive value a successful answer of another kind, a
 *     negative value a failure. A positive answer where none is foreseen counts as QST_E_PLUGIN;
 *   - `why`: a refusal sets *why (when why is not NULL) to one line that names the limit and the numbers. The text
 *     is static, or the candidate's own until the next call on the same thread;
 *   - priorities are preference only: they never make an unsupported candidate run.
 *
 * Threads: [any thread] at any time, from any thread, also several at once; [plugin start] inside start only. Where a
 * struct's comment says so once, it holds for all its functions.
 */
#ifndef QUERNSTONE_PLUGIN_H
#define QUERNSTONE_PLUGIN_H

#include <quernstone/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of this header. A host's major number must be the plugin's, its minor number at least the plugin's min_host_minor. */
#define QST_ABI_MAJOR 1u
#define QST_ABI_MINOR 0u

/* Bytes of a struct up to the end of a member, and whether a given object of it, whose size may be another release's,
 * reaches that far: QST_HAS(qst_device, device, compute_capability). */
#define QST_SIZE_TO(type, member)     (offsetof(type, member) + sizeof(((type *)0)->member))
#define QST_HAS(type, object, member) ((object)->size >= QST_SIZE_TO(type, member))

/* ---- The device, as everybody sees it ------------------------------------------------------------------------ */

enum { QST_DEVICE_CPU = 1, QST_DEVICE_GPU = 2, QST_DEVICE_ACCELERATOR = 4 };

enum {
    QST_DEVICE_F64 = 1u << 0,             /* double arithmetic */
    QST_DEVICE_F16 = 1u << 1,             /* half arithmetic */
    QST_DEVICE_LOCAL_DEDICATED = 1u << 2, /* local memory is a memory of its own, not plain global memory */
    QST_DEVICE_UNIFIED = 1u << 3,         /* device and host share memory */
    QST_DEVICE_OUT_OF_ORDER = 1u << 4     /* offers out-of-order queues */
};

/* Facts of one device in one cl_context. Grows. Owned by the host, with all its texts; lives until the context that
 * started the plugin ends or forgets the cl_context. No text is NULL. */
typedef struct qst_device {
    uint32_t              size;
    uint32_t              type;               /* QST_DEVICE_CPU, … */
    uint32_t              flags;              /* QST_DEVICE_F64, … */
    uint32_t              units;              /* compute units */
    uint32_t              max_group;          /* work-items in a work-group */
    uint32_t              max_group_dim[3];   /* and in each dimension of it */
    uint32_t              group_multiple;     /* preferred multiple of the work-group; 1 where unknown */
    uint32_t              vector_f32;         /* preferred vector width for f32 in elements */
    uint32_t              base_align_log2;    /* every buffer starts at a multiple of 2^this bytes */
    uint32_t              clock_mhz;          /* MHz, as the driver says; 0 where it does not */
    uint32_t              pointer_bits;       /* 32 or 64 */
    uint32_t              cl_version;         /* 120 for OpenCL 1.2, 300 for 3.0: the lower of platform and device */
    uint32_t              vendor_id;          /* CL_DEVICE_VENDOR_ID: 0x10de for NVIDIA */
    uint32_t              compute_capability; /* NVIDIA's, 90 for 9.0; 0 where there is none */
    uint64_t              local_bytes;        /* local memory of a work-group; launches leave some KB of it free */
    uint64_t              max_alloc;          /* bytes of the largest buffer */
    uint64_t              global_bytes;       /* global memory */
    uint64_t              cache_bytes;        /* last-level cache of global memory, 0 where unknown */
    struct _cl_context   *context;            /* the host's: not to be released */
    struct _cl_device_id *id;
    const char           *name; /* the texts of CL_DEVICE_NAME, CL_DEVICE_VENDOR, … */
    const char           *vendor;
    const char           *platform;
    const char           *driver;
    const char           *extensions; /* separated by blanks */
    const char           *target;     /* the device model: platform, vendor, name, units, memory class */
} qst_device;

/* ---- Fields: problems and keys as text ------------------------------------------------------------------------ */

enum { QST_FIELD_I64 = 1, QST_FIELD_U32 = 2, QST_FIELD_F64 = 3, QST_FIELD_ENUM = 4 /* u32 printed as a token */ };

#define QST_FIELDS_MAX 64u /* fields of an operation, at most */

/* One member of a problem struct. Value struct. Consecutive fields whose names share what stands before a dot
 * print as one comma list, `a=f32,240,1` for a.type, a.row, a.col; members at the end of a list that equal what
 * complete() would fill in are left out.
 *   name      [a-z0-9_]+, with one dot at most
 *   offset    where in the problem struct the member stands, in bytes
 *   count     1, or the length of an array member, printed with `x` between its parts: batch=3x1x1x1
 *   tokens    for QST_FIELD_ENUM: names of the values 0 … n_tokens − 1, NULL where a value has none */
typedef struct qst_field {
    const char        *name;
    uint32_t           kind; /* QST_FIELD_… */
    uint32_t           flags;
    uint32_t           offset;
    uint32_t           count;
    uint32_t           n_tokens;
    uint32_t           reserved;
    const char *const *tokens;
} qst_field;

enum {
    QST_KEY_SIZE = 1, /* a number */
    QST_KEY_ENUM = 2, /* a number printed as a token */
    QST_KEY_FLAG = 3  /* 0 or 1, printed as false or true */
};
enum {
    QST_KEY_ANCHORED = 1u << 0, /* the operation passed the value through qst_anchor.anchor; information only */
    QST_KEY_EXTRA = 1u << 1     /* no part of the key's short form, which is what is printed unless all is asked for */
};

/* One number of a key. Value struct.
 *   tokens    for QST_KEY_ENUM: names of the values 0 … n_tokens − 1, NULL where a value has none
 *   record    path under which decisions tell it, `object.member`; NULL: definition.<name>, or more.<name> where it is
 *             EXTRA */
typedef struct qst_key_field {
    const char        *name;
    uint32_t           kind;  /* QST_KEY_SIZE, … */
    uint32_t           flags; /* QST_KEY_ANCHORED, … */
    uint32_t           n_tokens;
    uint32_t           reserved;
    const char *const *tokens;
    const char        *record;
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
 * candidate, device, key) [any thread] or, where that is NULL, the constant; negative: not through this group for this
 * key. */
typedef struct qst_membership {
    const char *group;
    int32_t (*priority)(void *user, const qst_device *device, const qst_key *key);
    int32_t constant;
    int32_t reserved;
} qst_membership;

/* Candidates with a common priority rule: groups of higher priority race first, and others only where nothing of those
 * gave a right and timed result. Negative: its members do not come in through it for this key. Grows. */
typedef struct qst_group {
    uint32_t    size;
    uint32_t    flags;
    const char *name; /* [a-z0-9_-]+ */
    void       *user;
    /* [any thread] NULL: the constant */
    int32_t (*priority)(void *user, const qst_device *device, const qst_key *key);
    int32_t constant;
    int32_t reserved;
} qst_group;

enum {
    QST_PROGRAM_SOURCE = 1,    /* OpenCL C */
    QST_PROGRAM_BINARY = 2,    /* what the driver of just this device takes as one */
    QST_PROGRAM_RETARGETED = 3 /* OpenCL C whose assembly is changed before it is assembled */
};

#define QST_PROGRAMS_MAX 32u /* programs of a candidate, at most */

/* A program a candidate needs. Grows. Where a candidate or a judge gives it the host owns the struct, with all members
 * zero but size and form (SOURCE); program() fills it with memory that lives until the candidate's next program() on
 * the same thread, or longer. Programs with equal form, data and options are built once for a device, whoever asks.
 *
 * RETARGETED is source whose binary is assembly text (NVIDIA's PTX), and is made in three steps: the source is built;
 * in the text that comes out each `marker` is taken away and the name behind `.target` becomes `target`; the driver
 * builds that. So a source reaches instructions that the driver's compiler refuses for the processor it names, as
 * comments of the assembly with operands: asm volatile("//@ wgmma… {%0, …}, %2;" : "+f"(x) : "l"(d)). What comes out is
 * kept like any binary. Where a step fails so does the build, with the reason in its log. */
typedef struct qst_program {
    uint32_t    size;
    uint32_t    form; /* QST_PROGRAM_SOURCE, … */
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
    QST_ARG_VALUE = 5      /* `bytes` (1 to 16) taken from bits */
};

/* One kernel argument. Value struct. What its kind does not speak of is zero, except that `bytes` of an operand, an
 * offset or a workspace may be anything. */
typedef struct qst_arg {
    uint32_t kind;
    uint32_t index;
    uint64_t bytes;
    uint64_t bits[2];
} qst_arg;

#define QST_ARGS_MAX       48u /* arguments of a launch, at most */
#define QST_LAUNCHES_MAX   8u  /* launches and calls of a candidate together, at most */
#define QST_WORKSPACES_MAX 4u  /* workspaces of a candidate, at most */

/* One kernel launch as data. Grows. `entry` and `args` live until launch() returns. The host checks it against the
 * device (group size, divisibility, local memory with slack) before anything is built or launched.
 *   program   index given to program(), under QST_PROGRAMS_MAX
 *   entry     the kernel's name, 1 to 255 characters
 *   dims      1 to 3; sizes beyond count as 1
 *   global    work-items in each dimension, a multiple of local
 *   local     work-items of a group in each dimension; all 0: the driver's choice
 *   args      n_args of them, in the kernel's order */
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

/* Where steps() puts its launches, in order; each begins when the one before has ended. Grows. The host's, valid until
 * steps() returns. The functions copy what they get and return QST_OK, or a failure that steps() passes on.
 *   self        the host's own
 *   launch      one kernel
 *   workspace   asks for scratch memory `index` of `bytes`; contents are undefined at the first launch. Asked for twice
 *               it has the larger size
 *   call        runs another operation of the context between the launches: its problem struct (size first, copied) and
 *               one argument an operand of it, QST_ARG_OPERAND or QST_ARG_WORKSPACE, that begins bits[0] bytes after
 *               where that operand or workspace begins. It is tuned for itself, when this candidate is prepared; its
 *               operands' alignments are those that the problem states. Not for a judge. Where there is no such
 *               operation the candidate does not launch */
typedef struct qst_steps {
    uint32_t size;
    uint32_t reserved;
    void    *self;
    int32_t (*launch)(struct qst_steps *steps, const qst_launch *launch);
    int32_t (*workspace)(struct qst_steps *steps, uint32_t index, uint64_t bytes);
    int32_t (*call)(struct qst_steps *steps, const char *op, const void *problem, uint32_t n_operands,
                    const qst_arg *operands);
} qst_steps;

/* A vendor library's call. Grows. It is put on `queue`, which is in order and, for a candidate with
 * QST_CANDIDATE_NO_WAITS, has already been made to wait for what must come first. Nothing is waited for or finished. A
 * call that fails must have enqueued nothing.
 *   operands   one for each operand of the operation, in the order of the normal form. Those that the problem does not
 *              touch are as the caller left them and not to be used; the others are of kind QST_MEM_BUFFER, and what
 *              kinds there may be later are not given to a candidate that does not ask for them
 *   waits      n_waits events that it must wait for; none with NO_WAITS
 *   done       NULL where no event is wanted; else where the candidate may put the event of its last command, which the
 *              host then owns. Left NULL, the host takes a marker's */
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
 * Two forms. Launches as data: program and steps. A vendor library's: open, enqueue, close. One of the two, whole.
 *
 * All functions: [any thread], no side effects seen from outside, no OpenCL calls except in open/enqueue/close;
 * supports may ask the host's run_once and program_binary. Problems are in the operation's normal form, in a struct of
 * at least problem_size bytes.
 *   supports   cheap: may it ever run for this key here? QST_OK; QST_POOR: it may, as a last resort;
 *              QST_E_UNSUPPORTED with a reason. NULL: QST_OK.
 *   can_run    cheap and pure: can it compute just this problem, with these strides and alignments? QST_OK, or
 *              QST_E_UNSUPPORTED with a reason. The rule of legality, asked before every first use of a problem. NULL:
 *              QST_OK.
 *   estimate   expected time in ns, a rough number that orders and prunes; 0 or NULL: unknown
 *   program    form, data and options of program `index`, for this key
 *   steps      the launches for just this problem
 *   open       opens the vendor library for a device, when it is about to run there for the first time, once for each
 *              device and cl_context; what it gives in *instance goes to the others. A refusal is remembered
 *   enqueue    puts just this problem on call->queue
 *   close      what open gave; once for each open that returned QST_OK, when the device's state is dropped */
typedef struct qst_candidate {
    uint32_t              size;
    uint32_t              flags;         /* QST_CANDIDATE_… */
    const char           *op;            /* the operation's name */
    const char           *variant;       /* [a-z0-9_x.-]+ */
    uint32_t              revision;      /* from 1 */
    uint32_t              classes;       /* QST_CLASS_…; ignored where the operation has no numerics */
    uint32_t              problem_size;  /* sizeof of the problem struct it was compiled with: a problem with anything
                                           but zero beyond is not offered to it */
    uint32_t              n_memberships; /* at most 64 */
    const qst_membership *memberships;   /* none: it joins the first round of every key */
    void                 *user;          /* goes back as first argument */
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

/* A buffer of the operation. Value struct. Offsets are in bytes.
 *   type_offset    where in the problem the element type stands (a u32)
 *   align_offset   where the log2 alignment of its start stands (a u32, bytes = 2^it; 0: the element's own).
 *                  A call fills it from the operand's offset, a plan states it. */
typedef struct qst_operand {
    const char *name;
    uint32_t    access; /* QST_ACCESS_…; READ_WRITE where the result may depend on the old content */
    uint32_t    type_offset;
    uint32_t    align_offset;
    uint32_t    reserved;
} qst_operand;

#define QST_OPERANDS_MAX 8u /* operands of an operation, at most */

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

/* How one operand is filled for judging. Value struct, zero when the operation gets it to fill. Element i gets a value
 * from a counter hash of (seed, i): integers of −range … range, one in 2^sparse of them non-zero; or, with real set,
 * reals of (−1, 1). */
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
#define QST_JUDGE_BEFORE  64u
#define QST_JUDGE_FINDING 128u

/* Checks an operation's results on the device, with launches as data. Grows. The finding is a buffer of
 * QST_FINDING_WORDS u32, zero before each phase but LOCATE, which runs on the finding that EQUAL left: word 0 stays 0
 * where nothing is wrong; the rest is the judge's own. Operand indices in arguments: 0 … n − 1 are the problem's;
 * QST_JUDGE_BEFORE + i is operand i as it was before the run; QST_JUDGE_FINDING is the finding.
 *
 * All functions: [any thread], no side effects seen from outside, no OpenCL calls.
 *   program   form, data and options of program `index`
 *   steps     the launches of a phase, QST_JUDGE_…, for just this problem. E_UNSUPPORTED to a phase that it does not know,
 *             or to SCALE: inputs then stay as they are
 *   tell      writes one line about a finding, terminated, into text_size bytes: the element, what stands there, what
 *             should */
typedef struct qst_judge {
    uint32_t size;
    uint32_t revision; /* from 1; raise it whenever another answer is possible: verdicts of older ones are re-checked */
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

/* An operation. Grows. The problem struct is the operation's own; it starts with u32 size and has at most 1024 bytes.
 * All functions: [any thread], pure; problems they get have been copied bounded into `problem_size` bytes.
 *   groups      n_groups of them, each as long as its own `size` says: the one array of a struct that grows
 *   check       is the problem in contract? QST_OK, or E_INVALID with the member and the numbers in err (NULL, or to be
 *               filled where its status is 0). Mandatory, as key, span and work are.
 *   complete    fills what text left out; `given` has bit i set where fields[i] was in the text. NULL: zeros.
 *   normalise   brings the problem to normal form, in place; operand i of the normal form is operand perm[i] of the
 *               caller's (perm comes in as 0, 1, …). QST_OK: tune and run it; QST_NOTHING: nothing to compute;
 *               QST_TRIVIAL: run `trivial` on it. NULL: it is its own normal form.
 *   key         one number a key field, of a problem in normal form
 *   span        bytes an operand touches, from its start to the end of its last element; 0: not touched. The host
 *               compares buffer sizes with it.
 *   work        for the roof, the estimates' order and GFLOP/s
 *   vary        writes the derived problem, QST_VARY_…, into a struct that begins as a copy; QST_E_UNSUPPORTED: there is
 *               none. NULL: EXACT and TIMED are the problem itself, there is no SECOND.
 *   repeat      QST_REPEAT_… of a TIMED problem. NULL: SAME.
 *   fill        how operand i is filled; real != 0 asks for the set of reals. NULL: integers of −1 … 1.
 *   trivial     launches for what normalise calls TRIVIAL; its program() gets an empty key. NULL: nothing is TRIVIAL.
 *   judge       NULL: results are compared with the fallback's */
typedef struct qst_op {
    uint32_t             size;
    uint32_t             flags;           /* QST_OP_… */
    const char          *name;            /* [a-z0-9_.]+ */
    uint32_t             problem_size;    /* sizeof of the problem struct */
    uint32_t             numerics_offset; /* where in the problem its numerics class stands (a u32); 0: none */
    uint32_t             n_fields;        /* at most QST_FIELDS_MAX */
    uint32_t             n_key_fields;    /* at most QST_KEY_MAX */
    uint32_t             n_operands;      /* at most QST_OPERANDS_MAX */
    uint32_t             n_groups;
    const qst_field     *fields;
    const qst_key_field *key_fields;
    const qst_operand   *operands;
    const qst_group     *groups;
    void                *user; /* goes back as first argument */
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
} qst_op;

/* ---- The host's side of the border ---------------------------------------------------------------------------- */

enum { QST_LOG_ERROR = 1, QST_LOG_WARN = 2, QST_LOG_INFO = 3, QST_LOG_DEBUG = 4 };

#define QST_ANSWER_MAX 256u /* bytes of run_once's answer, at most */

/* What the host offers. Grows; valid from start to stop. A plugin tests with QST_HOST_HAS before it uses a function that
 * is newer than the minor number it requires.
 *   minor           QST_ABI_MINOR of the host
 *   self            goes back as first argument of each function
 *   alloc, free     [any thread] memory of the context, zeroed; alloc gives NULL when there is none. free(NULL) is fine
 *   log             [any thread] one line, without a newline, at a level of QST_LOG_…
 *   config          [any thread] the text of plugin.<name>.<key> of the configuration; NULL where not set. Lives
 *                   as long as the context.
 *   add_operation, add_group, add_candidate   [plugin start] copy the descriptor bounded; what it points at stays
 *                   the plugin's. A failure is in the log with its reason, and undoes the whole start, also where start
 *                   goes on and returns QST_OK. E_STATE outside of start.
 *   program_binary  [any thread] builds a program on a device that a function of the plugin was asked about, unless it
 *                   is built already, and hands its binary to take() as the driver gives it, before it returns. E_BUILD:
 *                   it does not build. err: NULL, or zeroed; gets the reason.
 *   run_once        [any thread] what a kernel finds out about such a device: builds a program and runs one launch of
 *                   it, whose operand 0 is a buffer of `bytes` (at most QST_ANSWER_MAX), zero before; gives what is in it
 *                   afterwards. The launch's program index is 0. The answer is kept, with the store's programs, for the
 *                   device model and the driver, so that a process that finds it there builds and runs nothing; a
 *                   failure of the build is kept as well. E_BUILD: it does not build; E_CL: it does not run. err as
 *                   above. */
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

/* Does this host have a function of the table? */
#define QST_HOST_HAS(host, member) (QST_HAS(qst_host, host, member) && (host)->member != NULL)

#define QST_PLUGIN_MAGIC 0x31545351u /* "QST1" */

/* The descriptor. Grows. magic and size come first so that a stranger's data is told from ours.
 *   abi_major, abi_minor   of the header that the plugin was compiled with
 *   min_host_minor   least QST_ABI_MINOR of the host that the plugin needs; 0: any host of this major number
 *   name             [a-z0-9_]+, at most 63 characters, unique in a context
 *   version, licence for who looks at the plugin; the licence by its SPDX name
 *   start            [plugin start] adds what the plugin brings; *instance, NULL before, goes to stop and to extensions.
 *                    Where it fails it frees what it took; a line about why may go to host->log
 *   stop             once for each start that returned QST_OK, when nothing of the instance is called any more: as a rule
 *                    when the context ends, or at once where an addition had failed. NULL: nothing to undo
 *   get_extension    [any thread] an optional capability by its id (quernstone/ext/): a struct, size first, static or
 *                    living as long as the instance, whose functions get the instance; NULL: not this one. Asked only
 *                    after start. NULL: none at all */
typedef struct qst_plugin {
    uint32_t    magic; /* QST_PLUGIN_MAGIC */
    uint32_t    size;
    uint32_t    abi_major;
    uint32_t    abi_minor;
    uint32_t    min_host_minor;
    uint32_t    flags;
    const char *name;
    const char *version;
    const char *licence;
    int32_t (*start)(const qst_host *host, void **instance);
    void (*stop)(void *instance);
    const void *(*get_extension)(const char *id);
} qst_plugin;

/* The first four members, with the size of the descriptor: const qst_plugin qst_plugin_v1 = {QST_PLUGIN_HEAD, …}; */
#define QST_PLUGIN_HEAD QST_PLUGIN_MAGIC, (uint32_t)sizeof(qst_plugin), QST_ABI_MAJOR, QST_ABI_MINOR

#define QST_PLUGIN_SYMBOL "qst_plugin_v1" /* ends with the major number */

#ifdef __cplusplus
}
#endif
#endif
