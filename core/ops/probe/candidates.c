/* SPDX-License-Identifier: MIT
 *
 * candidates.c: the built-in candidates of the probes. On a CPU device explicit vectors with eight or twelve chains
 * of them (a compiler that vectorises over work-items reaches a small part of the peak), and a block for each of a few
 * work-groups; elsewhere scalars and strides. The scalar ones compute every problem and are the fallbacks.
 */
#include "ops/probe/internal.h"

#include "probe.cl.h"

#define CPU_GROUPS  4u   /* blocks a compute unit: a worker that wakes up late finds less to do */
#define GROUP       128u /* work-items */
#define GROUPS_UNIT 16u  /* groups of GROUP on a compute unit: 2048 work-items, what one holds at most */
#define CHAINS      8u   /* of chains_scalar */

static int is_cpu(const qst_device *device)
{
    return device->type == QST_DEVICE_CPU;
}

/* Program 0: f32, 1: f64; by device, without vectors or with them. */
static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    static const char *const options[2][2] = {
        {"-cl-std=CL1.2 -DTYPE=1 -DVECTORS=0", "-cl-std=CL1.2 -DTYPE=1 -DVECTORS=1"},
        {"-cl-std=CL1.2 -DTYPE=2 -DVECTORS=0", "-cl-std=CL1.2 -DTYPE=2 -DVECTORS=1"},
    };
    (void)user;
    (void)key;
    if (index >= QSTK_COUNT(options))
        return QST_E_INVALID;
    out->data = probe_cl;
    out->length = sizeof probe_cl - 1;
    out->options = options[index][is_cpu(device)];
    return QST_OK;
}

static uint32_t program_of(const qst_probe *p)
{
    return p->storage == QST_F64 ? 1 : 0;
}

static uint64_t group_of(const qst_device *device)
{
    return GROUP <= device->max_group ? GROUP : 1;
}

static int32_t for_cpu(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    (void)user;
    (void)key;
    return is_cpu(device) ? QST_OK : qstk_no(why, "made for CPU devices");
}

static int32_t not_for_cpu(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    (void)user;
    (void)key;
    return is_cpu(device) ? qstk_poor(why, "no vectors") : QST_OK;
}

/* ---- probe.compute ------------------------------------------------------------------------------------------------ */

/* A vector candidate: how many chains of vectors, and its kernel. */
typedef struct vectors {
    uint32_t    chains;
    const char *entry;
} vectors;
static const vectors eight = {8, "chains_vector8"}, twelve = {12, "chains_vector12"};

static int32_t has_type(void *user, const qst_device *device, const void *problem, const char **why)
{
    (void)user;
    if (((const qst_probe *)problem)->storage == QST_F64 && !(device->flags & QST_DEVICE_F64))
        return qstk_no(why, "the device has no f64 arithmetic");
    return QST_OK;
}

/* Elements of `out` that one work-item makes: vectors of 64 bytes. */
static int64_t per_item(const vectors *v, const qst_probe *p)
{
    return (int64_t)v->chains * (p->storage == QST_F64 ? 8 : 16);
}

static int32_t whole_vectors(void *user, const qst_device *device, const void *problem, const char **why)
{
    const qst_probe *p = problem;
    if (qst__probe_elements(p) % per_item(user, p))
        return qstk_no(why, "not a whole number of work-items");
    return has_type(user, device, problem, why);
}

static qst_arg half(const qst_probe *p)
{
    return p->storage == QST_F64 ? qstk_f64(0.5) : qstk_f32(0.5);
}

static int32_t vector_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_probe *p = problem;
    const qst_arg    args[] = {qstk_operand(0), qstk_offset(0), qstk_i32(p->repeats), half(p)};
    qst_launch       launch = qstk_launch(program_of(p), ((vectors *)user)->entry, 1, args, QSTK_COUNT(args));
    (void)device;
    launch.global[0] = (uint64_t)(qst__probe_elements(p) / per_item(user, p));
    launch.local[0] = 1;
    return out->launch(out, &launch);
}

static int32_t scalar_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_probe *p = problem;
    const qst_arg    args[] = {qstk_operand(0), qstk_offset(0), qstk_i64(qst__probe_elements(p)), qstk_i32(p->repeats),
                               half(p)};
    qst_launch       launch = qstk_launch(program_of(p), "chains_scalar", 1, args, QSTK_COUNT(args));
    (void)user;
    launch.local[0] = group_of(device);
    launch.global[0] = qstk_round_up(qstk_ceil_div((uint64_t)qst__probe_elements(p), CHAINS), launch.local[0]);
    return out->launch(out, &launch);
}

/* ---- probe.memory ------------------------------------------------------------------------------------------------- */

static int32_t few_words(void *user, const qst_device *device, const void *problem, const char **why)
{
    (void)user;
    (void)device;
    if (((const qst_probe *)problem)->storage != QST_F32)
        return qstk_no(why, "f32 storage only");
    if (((const qst_probe *)problem)->bytes > INT64_C(1) << 34)
        return qstk_no(why, "over 16 GiB");
    return QST_OK;
}

static int32_t read_steps(const qst_probe *p, const char *entry, uint32_t vector_bytes, uint64_t items, uint64_t local,
                          qst_steps *out)
{
    const qst_arg args[] = {qstk_operand(QST_PROBE_FROM),      qstk_offset(QST_PROBE_FROM),
                            qstk_operand(QST_PROBE_OUT),       qstk_offset(QST_PROBE_OUT),
                            qstk_i32(p->bytes / vector_bytes), qstk_i32(p->repeats),
                            qstk_i32((int64_t)QST__PROBE_WORD)};
    qst_launch    launch = qstk_launch(0, entry, 1, args, QSTK_COUNT(args));
    launch.local[0] = local;
    launch.global[0] = items;
    return out->launch(out, &launch);
}

static int32_t blocks_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    uint64_t units = device->units ? device->units : 1;
    (void)user;
    return read_steps(problem, "read_blocks", 64, units * CPU_GROUPS, 1, out);
}

static int32_t strides_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    uint64_t units = device->units ? device->units : 1, local = group_of(device);
    (void)user;
    return read_steps(problem, "read_strides", 16, units * GROUPS_UNIT * local, local, out);
}

/* ---- probe.launch ------------------------------------------------------------------------------------------------- */

static int32_t launch_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_arg args[] = {qstk_operand(0), qstk_offset(0)};
    qst_launch    launch = qstk_launch(0, "launch", 1, args, QSTK_COUNT(args));
    (void)user;
    (void)device;
    (void)problem;
    launch.global[0] = launch.local[0] = 1;
    return out->launch(out, &launch);
}

static int32_t one_word(void *user, const qst_device *device, const void *problem, const char **why)
{
    (void)user;
    (void)device;
    return ((const qst_probe *)problem)->storage == QST_F32 ? QST_OK : qstk_no(why, "f32 storage only");
}

/* ---- The plugin --------------------------------------------------------------------------------------------------- */

#define COMMON(number)                                                                                                 \
    .size = sizeof(qst_candidate), .revision = (number),                                                               \
    .classes = QST_CLASS_PLAIN | QST_CLASS_STRICT | QST_CLASS_FAST, .problem_size = sizeof(qst_probe),                 \
    .program = program

static const qst_candidate candidates[] = {
    {COMMON(1), .flags = QST_CANDIDATE_FALLBACK, .op = "probe.compute", .variant = "scalar", .supports = not_for_cpu,
     .can_run = has_type, .steps = scalar_steps},
    {COMMON(1), .op = "probe.compute", .variant = "vector8", .user = (void *)&eight, .supports = for_cpu,
     .can_run = whole_vectors, .steps = vector_steps},
    {COMMON(1), .op = "probe.compute", .variant = "vector12", .user = (void *)&twelve, .supports = for_cpu,
     .can_run = whole_vectors, .steps = vector_steps},
    {COMMON(1), .flags = QST_CANDIDATE_FALLBACK, .op = "probe.memory", .variant = "strides", .supports = not_for_cpu,
     .can_run = few_words, .steps = strides_steps},
    {COMMON(2), .op = "probe.memory", .variant = "blocks", .supports = for_cpu, .can_run = few_words,
     .steps = blocks_steps},
    {COMMON(1), .flags = QST_CANDIDATE_FALLBACK, .op = "probe.launch", .variant = "one", .can_run = one_word,
     .steps = launch_steps},
};

static int32_t start(const qst_host *host, void **instance)
{
    int32_t status = QST_OK;
    size_t  i;
    *instance = NULL;
    for (i = 0; i < QSTK_COUNT(candidates) && status == QST_OK; i++)
        status = host->add_candidate(host->self, &candidates[i]);
    return status;
}

extern const qst_plugin qst__builtin_probe;
const qst_plugin        qst__builtin_probe = {
           QST_PLUGIN_HEAD, .name = "probe", .version = "1.0", .licence = "MIT", .start = start,
};
