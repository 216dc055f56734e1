/* SPDX-License-Identifier: MIT
 *
 * frozen.c: a plugin of version 1.0, compiled with the headers of that release that lie beside it and with no others. It
 * brings what a plugin can: candidates for matmul, an operation with a judge, a group, both forms of candidates, a call of
 * another operation, and it asks the host for whatever the host offers.
 */
#include <CL/cl.h>
#include <quernstone/ext/abilities.h>
#include <quernstone/kit.h>
#include <quernstone/matmul.h>

/* ---- The operation frozen.fill: y[i] := value for n floats --------------------------------------------------------- */

typedef struct fill_problem {
    uint32_t size, type, align, numerics;
    int64_t  n;
    double   value;
} fill_problem;

typedef struct frozen {
    const qst_host *host;
    uint32_t        answer; /* of run_once: 7 where it is right */
    uint32_t        length; /* of program_binary's, 0: none yet */
} frozen;

static const char source[] =
    "kernel void answer(global uint *out) { out[0] = 7; }\n"
    "kernel void fill(global float *y, ulong y0, long n, float value)\n"
    "{ for (long i = get_global_id(0); i < n; i += get_global_size(0)) y[y0 + i] = value; }\n"
    "kernel void look(global const float *y, ulong y0, long n, float value, global uint *finding)\n"
    "{ for (long i = 0; i < n; i++) if (y[y0 + i] != value) { finding[0] = 1; finding[1] = i; return; } }\n"
    "kernel void erase(global uint *y, ulong y0, long n)\n"
    "{ for (long i = get_global_id(0); i < n; i += get_global_size(0)) y[y0 + i] = 0xffffffffu; }\n"
    "kernel void times(global const float *a, ulong a0, global const float *b, ulong b0, global float *c, ulong c0,\n"
    "                  int m, int n, int k, long2 as, long2 bs, long2 cs, local float *row, global const float *seed)\n"
    "{ for (int i = get_group_id(0); i < m; i += get_num_groups(0)) {\n"
    "      for (int p = get_local_id(0); p < k; p += get_local_size(0)) row[p] = a[a0 + i * as.x + p * as.y];\n"
    "      barrier(CLK_LOCAL_MEM_FENCE);\n"
    "      for (int j = get_local_id(0); j < n; j += get_local_size(0)) {\n"
    "          float s = seed[j];\n"
    "          for (int p = 0; p < k; p++) s = fma(row[p], b[b0 + p * bs.x + j * bs.y], s);\n"
    "          c[c0 + i * cs.x + j * cs.y] = s; }\n"
    "      barrier(CLK_LOCAL_MEM_FENCE); } }\n";

static void give(qst_program *out)
{
    out->form = QST_PROGRAM_SOURCE;
    out->data = source;
    out->length = sizeof source - 1;
    out->options = "-cl-std=CL1.2";
}

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)key;
    give(out);
    return index ? QST_E_INVALID : QST_OK;
}

static int32_t one_launch(qst_steps *out, const char *entry, const qst_arg *args, size_t n_args, uint64_t groups)
{
    qst_launch launch = qstk_launch(0, entry, 1, args, n_args);
    launch.global[0] = 16 * groups;
    launch.local[0] = 16;
    return out->launch(out, &launch);
}

static int32_t fill_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const fill_problem *p = (const fill_problem *)problem;
    const qst_arg       args[] = {qstk_operand(0), qstk_offset(0), qstk_i64(p->n), qstk_f32(p->value)};
    (void)device;
    return one_launch(out, "fill", args, QSTK_COUNT(args), user ? 8 : 1);
}

static int32_t fill_open(void *user, const qst_device *device, void **instance, const char **why)
{
    (void)user, (void)why;
    *instance = device->id;
    return QST_OK;
}

static int32_t fill_enqueue(void *instance, const void *problem, const qst_call *call, const char **why)
{
    const fill_problem *p = (const fill_problem *)problem;
    const float         value = (float)p->value;
    if (!instance || !QST_HAS(qst_call, call, done) || call->operands[0].kind != QST_MEM_BUFFER)
        return qstk_no(why, "not as it was opened");
    if (clEnqueueFillBuffer(call->queue, (cl_mem)call->operands[0].handle, &value, sizeof value,
                            call->operands[0].offset, (size_t)p->n * sizeof value, call->n_waits, call->waits,
                            call->done) == CL_SUCCESS)
        return QST_OK;
    *why = "clEnqueueFillBuffer fails";
    return QST_E_CL;
}

static void fill_close(void *instance)
{
    (void)instance;
}

static int32_t own_priority(void *user, const qst_device *device, const qst_key *key)
{
    (void)user;
    return device->units > 0 && key->count == 1 && key->value[0] > 0 ? 5 : -1;
}

static const qst_membership own[] = {{"own", own_priority, 0, 0}};

static const qst_candidate fill_candidates[] = {
    {.size = sizeof(qst_candidate),
     .flags = QST_CANDIDATE_FALLBACK,
     .op = "frozen.fill",
     .variant = "group",
     .revision = 1,
     .classes = QST_CLASS_STRICT,
     .problem_size = sizeof(fill_problem),
     .program = program,
     .steps = fill_steps},
    {.size = sizeof(qst_candidate),
     .op = "frozen.fill",
     .variant = "groups",
     .revision = 2,
     .classes = QST_CLASS_PLAIN,
     .problem_size = sizeof(fill_problem),
     .n_memberships = QSTK_COUNT(own),
     .memberships = own,
     .user = (void *)(uintptr_t)8,
     .program = program,
     .steps = fill_steps},
    {.size = sizeof(qst_candidate),
     .op = "frozen.fill",
     .variant = "library",
     .revision = 1,
     .classes = QST_CLASS_PLAIN,
     .problem_size = sizeof(fill_problem),
     .open = fill_open,
     .enqueue = fill_enqueue,
     .close = fill_close},
};

#define AT(member) (uint32_t) offsetof(fill_problem, member)
static const char *const   types[] = {NULL, "f32"};
static const qst_field     fields[] = {{"n", QST_FIELD_I64, 0, AT(n), 1, 0, 0, NULL},
                                       {"value", QST_FIELD_F64, 0, AT(value), 1, 0, 0, NULL},
                                       {"type", QST_FIELD_ENUM, 0, AT(type), 1, 2, 0, types}};
static const qst_key_field key_fields[] = {{"n", QST_KEY_SIZE, QST_KEY_ANCHORED, 0, 0, NULL, "definition.count"}};
static const qst_operand   operands[] = {{"y", QST_ACCESS_WRITE, AT(type), AT(align), 0}};

static int32_t fill_check(void *user, const void *problem, qst_error *err)
{
    const fill_problem *p = (const fill_problem *)problem;
    static const char   text[] = "n is negative";
    (void)user;
    if (p->n >= 0)
        return QST_OK;
    if (err)
        memcpy(err->text, text, sizeof text);
    return QST_E_INVALID;
}

static void fill_complete(void *user, void *problem, uint64_t given)
{
    (void)user, (void)given;
    ((fill_problem *)problem)->type = QST_F32;
}

static int32_t fill_normalise(void *user, void *problem, uint32_t *perm)
{
    (void)user, (void)perm;
    return ((fill_problem *)problem)->n ? QST_OK : QST_NOTHING;
}

static void fill_key(void *user, const void *problem, const qst_anchor *anchor, int64_t *values)
{
    (void)user;
    values[0] = anchor->anchor(anchor->level, ((const fill_problem *)problem)->n);
}

static uint64_t fill_span(void *user, const void *problem, uint32_t operand)
{
    (void)user, (void)operand;
    return sizeof(float) * (uint64_t)((const fill_problem *)problem)->n;
}

static void fill_work(void *user, const void *problem, qst_work *out)
{
    (void)user;
    out->bytes = (double)fill_span(NULL, problem, 0);
}

static int32_t fill_vary(void *user, const void *problem, uint32_t which, void *out)
{
    fill_problem *to = (fill_problem *)out;
    (void)user;
    memcpy(to, problem, sizeof *to);
    if (which == QST_VARY_EXACT || which == QST_VARY_TIMED)
        return QST_OK;
    to->n = to->n / 8 | 1;
    return (which == QST_VARY_SECOND || which == QST_VARY_SECOND_REAL) && to->n > 1 ? QST_OK : QST_E_UNSUPPORTED;
}

static uint32_t fill_repeat(void *user, const void *problem)
{
    (void)user, (void)problem;
    return QST_REPEAT_SAME;
}

static void fill_fill(void *user, const void *problem, uint32_t operand, uint32_t real, qst_fill *out)
{
    (void)user, (void)problem, (void)operand;
    out->range = 1;
    out->real = real;
}

/* ---- Its judge ----------------------------------------------------------------------------------------------------- */

static int32_t judge_program(void *user, const qst_device *device, const void *problem, uint32_t index,
                             qst_program *out)
{
    (void)user, (void)device, (void)problem;
    give(out);
    return index ? QST_E_INVALID : QST_OK;
}

static int32_t judge_steps(void *user, const qst_device *device, const void *problem, uint32_t phase, uint64_t seed,
                           qst_steps *out)
{
    const fill_problem *p = (const fill_problem *)problem;
    const qst_arg       args[] = {qstk_operand(0), qstk_offset(0), qstk_i64(p->n), qstk_f32(p->value),
                                  qstk_operand(QST_JUDGE_FINDING)};
    qst_launch          look = qstk_launch(0, "look", 1, args, QSTK_COUNT(args));
    (void)user, (void)device, (void)seed;
    look.global[0] = look.local[0] = 1;
    switch (phase) {
    case QST_JUDGE_EQUAL:
    case QST_JUDGE_LOCATE:
    case QST_JUDGE_BOUND:
        return out->launch(out, &look);
    case QST_JUDGE_ERASE:
        return one_launch(out, "erase", args, 3, 1);
    default: /* SCALE: there are no inputs */
        return QST_E_UNSUPPORTED;
    }
}

static void judge_tell(void *user, const void *problem, uint32_t phase, const uint32_t *finding, char *text,
                       uint32_t text_size)
{
    static const char line[] = "y differs";
    (void)user, (void)problem, (void)phase, (void)finding;
    if (text_size >= sizeof line)
        memcpy(text, line, sizeof line);
}

static const qst_judge judge = {sizeof judge, 1, NULL, judge_program, judge_steps, judge_tell};

static const qst_op fill_op = {
    .size = sizeof fill_op,
    .name = "frozen.fill",
    .problem_size = sizeof(fill_problem),
    .numerics_offset = AT(numerics),
    .n_fields = QSTK_COUNT(fields),
    .n_key_fields = QSTK_COUNT(key_fields),
    .n_operands = QSTK_COUNT(operands),
    .fields = fields,
    .key_fields = key_fields,
    .operands = operands,
    .check = fill_check,
    .complete = fill_complete,
    .normalise = fill_normalise,
    .key = fill_key,
    .span = fill_span,
    .work = fill_work,
    .vary = fill_vary,
    .repeat = fill_repeat,
    .fill = fill_fill,
    .judge = &judge,
};

/* ---- matmul: a row of A in local memory, sums that begin at a workspace which frozen.fill has zeroed ----------------- */

static void take_length(void *user, const void *bytes, uint64_t length)
{
    *(uint32_t *)user = bytes ? (uint32_t)length : 0;
}

/* What the host offers, asked once a key. */
static int32_t times_supports(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    frozen       *self = (frozen *)user;
    const qst_arg args[] = {qstk_operand(0)};
    qst_launch    launch = qstk_launch(0, "answer", 1, args, QSTK_COUNT(args));
    qst_program   built = {.size = sizeof built};
    uint32_t      answer = 0, length = 0;
    if (!QST_HAS(qst_device, device, target) || !device->name || !device->target || device->size < sizeof *device)
        return qstk_no(why, "a device without a name");
    if (key->count < QST_MATMUL_KEY_COUNT || key->value[QST_MATMUL_KEY_BETA] != QST_BETA_ZERO)
        return qstk_no(why, "beta is not 0");
    give(&built);
    launch.global[0] = launch.local[0] = 1;
    if (!QST_HOST_HAS(self->host, run_once) ||
        self->host->run_once(self->host->self, device, &built, &launch, &answer, sizeof answer, NULL) != QST_OK)
        return qstk_no(why, "run_once fails");
    if (!QST_HOST_HAS(self->host, program_binary) ||
        self->host->program_binary(self->host->self, device, &built, &length, take_length, NULL) != QST_OK)
        return qstk_no(why, "program_binary fails");
    self->answer = answer;
    self->length = length;
    return answer == 7 && length > 0 ? QST_OK : qstk_no(why, "run_once or program_binary gives something else");
}

static int32_t times_can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const qst_matmul *p = (const qst_matmul *)problem;
    (void)user;
    if (p->a.type != QST_F32 || p->b.type != QST_F32 || p->c.type != QST_F32)
        return qstk_no(why, "f32 only");
    if (p->alpha != 1.0 || p->beta != 0.0)
        return qstk_no(why, "alpha 1 and beta 0 only");
    if (p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3] != 1)
        return qstk_no(why, "no batches");
    if ((uint64_t)p->k * sizeof(float) + 8192 > device->local_bytes || p->m > 4096 || p->n > 4096)
        return qstk_no(why, "m or n over 4096, or a row of A that does not fit");
    return QST_OK;
}

static double times_estimate(void *user, const qst_device *device, const void *problem)
{
    (void)user, (void)device, (void)problem;
    return 0.0;
}

static qst_arg pair(int64_t x, int64_t y)
{
    int64_t both[2];
    both[0] = x;
    both[1] = y;
    return qstk_value(both, sizeof both);
}

static int32_t times_steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_matmul  *p = (const qst_matmul *)problem;
    const qst_arg      args[] = {qstk_operand(0),
                                 qstk_offset(0),
                                 qstk_operand(1),
                                 qstk_offset(1),
                                 qstk_operand(2),
                                 qstk_offset(2),
                                 qstk_i32(p->m),
                                 qstk_i32(p->n),
                                 qstk_i32(p->k),
                                 pair(p->a.row, p->a.col),
                                 pair(p->b.row, p->b.col),
                                 pair(p->c.row, p->c.col),
                                 qstk_local((uint64_t)p->k * sizeof(float)),
                                 qstk_workspace(1)};
    const fill_problem zeros = {sizeof zeros, QST_F32, 0, QST_NUMERICS_PLAIN, p->n, 0.0};
    const qst_arg      of_call[] = {qstk_workspace(1)};
    int32_t            status = out->workspace(out, 1, (uint64_t)p->n * sizeof(float));
    (void)user, (void)device;
    if (status == QST_OK && !QST_HAS(qst_steps, out, call))
        status = QST_E_UNSUPPORTED;
    if (status == QST_OK)
        status = out->call(out, "frozen.fill", &zeros, 1, of_call);
    return status == QST_OK ? one_launch(out, "times", args, QSTK_COUNT(args), 8) : status;
}

/* ---- The plugin ---------------------------------------------------------------------------------------------------- */

static int32_t start(const qst_host *host, void **instance)
{
    static const qst_group group = {.size = sizeof group, .name = "own", .constant = 1};
    qst_candidate          times = {
                 .size = sizeof times,
                 .op = "matmul",
                 .variant = "times",
                 .revision = 1,
                 .classes = QST_CLASS_PLAIN | QST_CLASS_FAST,
                 .problem_size = sizeof(qst_matmul),
                 .supports = times_supports,
                 .can_run = times_can_run,
                 .estimate = times_estimate,
                 .program = program,
                 .steps = times_steps,
    };
    frozen     *self = (frozen *)host->alloc(host->self, sizeof *self);
    const char *said = host->config(host->self, "word");
    int32_t     status = self ? host->add_operation(host->self, &fill_op) : QST_E_NOMEM;
    size_t      i;
    if (status == QST_OK)
        status = host->add_group(host->self, "frozen.fill", &group);
    for (i = 0; i < QSTK_COUNT(fill_candidates) && status == QST_OK; i++)
        status = host->add_candidate(host->self, &fill_candidates[i]);
    times.user = self;
    if (status == QST_OK)
        status = host->add_candidate(host->self, &times);
    if (status != QST_OK) {
        if (self)
            host->free(host->self, self);
        return status;
    }
    host->log(host->self, QST_LOG_WARN, said ? said : "no word");
    self->host = host;
    *instance = self;
    return QST_OK;
}

static void stop(void *instance)
{
    frozen *self = (frozen *)instance;
    self->host->free(self->host->self, self);
}

static int32_t tell(void *instance, const qst_device *device, uint32_t index, const char **name, const char **why)
{
    (void)device, (void)index, (void)why;
    *name = "answer";
    return ((frozen *)instance)->answer == 7 ? QST_OK : qstk_no(why, "not asked yet");
}

static const void *get_extension(const char *id)
{
    static const qst_abilities abilities = {sizeof abilities, 1, tell};
    return strcmp(id, QST_EXT_ABILITIES) == 0 ? &abilities : NULL;
}

extern QSTK_EXPORT const qst_plugin qst_plugin_v1;
const qst_plugin                    qst_plugin_v1 = {
                       QST_PLUGIN_HEAD,
                       .name = "frozen",
                       .version = "1.0",
                       .licence = "MIT",
                       .start = start,
                       .stop = stop,
                       .get_extension = get_extension,
};
