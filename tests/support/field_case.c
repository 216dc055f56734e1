/* SPDX-License-Identifier: MIT
 *
 * field_case.c: see field_case.h. */
#include "support/field_case.h"

#include "support/field_cl.h"
#include "support/store_case.h"

#include <quernstone/cache.h>
#include <quernstone/kit.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { ITEMS = 32, LOCAL = 16, MEMBERS_MAX = 24 };

static const char source[] =
    "#ifdef BROKEN\n"
    "#error not to be built anywhere\n"
    "#endif\n"
    "kernel void NAME(global const float *x, ulong x0, global float *y, ulong y0, ulong n, float a, float b)\n"
    "{\n"
    "  x += x0; y += y0;\n"
    "  for (ulong i = get_global_id(0); i < n; i += get_global_size(0))\n"
    "    y[i] = b == 0 ? a * x[i] : b == 1 ? a * x[i] + y[i] : fmax(a * x[i], y[i]);\n"
    "}\n";

/* ---- Candidates ---------------------------------------------------------------------------------------------------- */

typedef struct member {
    char              letter;
    uint32_t          revision;
    char              variant[2], kernel[16], options[64];
    cl_program        program; /* of the vendor's */
    const qst_device *device;
    const field_job  *job;
    qst_candidate     desc;
} member;

static const qst_membership memberships[] = {{.group = "all", .constant = 1}};

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    const member *m = user;

    (void)device, (void)key, (void)index;
    out->data = source;
    out->length = sizeof source - 1;
    out->options = m->options;
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const member        *m = user;
    const blend_problem *p = problem;
    const qst_arg        args[] = {qstk_operand(0), qstk_offset(0), qstk_operand(1),       qstk_offset(1),
                                   qstk_i64(p->n),  qstk_f32(p->a), qstk_f32((double)p->b)};
    qst_launch           one = qstk_launch(0, m->kernel, 1, args, QSTK_COUNT(args));

    (void)device;
    one.global[0] = ITEMS;
    one.local[0] = LOCAL;
    if (m->letter == 'w' && out->workspace(out, 0, 2u << 20) != QST_OK)
        return QST_E_UNSUPPORTED;
    return out->launch(out, &one);
}

static double estimate(void *user, const qst_device *device, const void *problem)
{
    (void)device, (void)problem;
    return ((const member *)user)->letter == 'p' ? 1e9 : 0;
}

static int32_t library_open(void *user, const qst_device *device, void **instance, const char **why)
{
    member *m = user;

    *why = "libfield.so cannot be opened";
    if (!m->job->vendor)
        return QST_E_NOTFOUND;
    m->device = device;
    *instance = m;
    return QST_OK;
}

/* At the first call, as such libraries do. */
static bool library_build(member *m)
{
    const char *text = source;
    cl_int      code;
    cl_program  made = m->program;

    if (made)
        return true;
    made = clCreateProgramWithSource(m->device->context, 1, &text, NULL, &code);
    if (code != CL_SUCCESS)
        return false;
    code = clBuildProgram(made, 1, &m->device->id, m->options, NULL, NULL);
    if (code == CL_SUCCESS)
        m->program = made;
    else
        clReleaseProgram(made);
    return code == CL_SUCCESS;
}

static int32_t library_enqueue(void *instance, const void *problem, const qst_call *call, const char **why)
{
    member              *m = instance;
    const blend_problem *p = problem;
    cl_int               code = CL_BUILD_PROGRAM_FAILURE;
    cl_kernel            kernel = library_build(m) ? clCreateKernel(m->program, m->kernel, &code) : NULL;
    cl_ulong             x0 = call->operands[0].offset / 4, y0 = call->operands[1].offset / 4, n = (cl_ulong)p->n;
    float                a = (float)p->a, b = (float)p->b;
    const size_t         global = ITEMS, local = LOCAL;

    *why = "an OpenCL call failed";
    if (code != CL_SUCCESS)
        return QST_E_CL;
    code |= clSetKernelArg(kernel, 0, sizeof(cl_mem), &call->operands[0].handle);
    code |= clSetKernelArg(kernel, 1, sizeof x0, &x0);
    code |= clSetKernelArg(kernel, 2, sizeof(cl_mem), &call->operands[1].handle);
    code |= clSetKernelArg(kernel, 3, sizeof y0, &y0);
    code |= clSetKernelArg(kernel, 4, sizeof n, &n);
    code |= clSetKernelArg(kernel, 5, sizeof a, &a);
    code |= clSetKernelArg(kernel, 6, sizeof b, &b);
    code |=
        clEnqueueNDRangeKernel(call->queue, kernel, 1, NULL, &global, &local, call->n_waits, call->waits, call->done);
    clReleaseKernel(kernel);
    return code == CL_SUCCESS ? QST_OK : QST_E_CL;
}

static void library_close(void *instance)
{
    member *m = instance;

    if (m->program)
        clReleaseProgram(m->program);
    m->program = NULL;
}

/* Reads one member of a set and returns what follows it. */
static const char *read_member(const char *at, const field_job *job, member *m)
{
    char *end = (char *)(uintptr_t)(at + 1);

    memset(m, 0, sizeof *m);
    m->job = job;
    m->letter = *at;
    m->variant[0] = *at;
    m->revision = (uint32_t)strtoul(at + 1, &end, 10);
    m->revision = m->revision ? m->revision : 1;
    (void)snprintf(m->kernel, sizeof m->kernel, "k_%c%u", m->letter, (unsigned)m->revision);
    (void)snprintf(m->options, sizeof m->options, "-DNAME=%s%s", m->kernel, *at == 'x' ? " -DBROKEN" : "");
    m->desc = (qst_candidate){
        .size = sizeof(qst_candidate),
        .flags = *at == 'a' ? QST_CANDIDATE_FALLBACK : 0,
        .op = "blend",
        .variant = m->variant,
        .revision = m->revision,
        .classes = QST_CLASS_PLAIN,
        .problem_size = sizeof(blend_problem),
        .n_memberships = 1,
        .memberships = memberships,
        .user = m,
        .estimate = estimate,
        .program = *at == 'v' ? NULL : program,
        .steps = *at == 'v' ? NULL : steps,
        .open = *at == 'v' ? library_open : NULL,
        .enqueue = *at == 'v' ? library_enqueue : NULL,
        .close = *at == 'v' ? library_close : NULL,
    };
    return end;
}

static qst_set *make_set(qst_context *ctx, const field_job *job, member members[MEMBERS_MAX])
{
    const qst_candidate *all[MEMBERS_MAX + 1] = {NULL};
    const char          *at = job->set;

    for (uint32_t i = 0; *at && i < MEMBERS_MAX; i++) {
        at = read_member(at, job, &members[i]);
        all[i] = &members[i].desc;
    }
    return blend_set(ctx, all);
}

/* ---- A job --------------------------------------------------------------------------------------------------------- */

typedef struct watcher {
    const field_job *job;
    field_report    *report;
    uint32_t         key;
} watcher;

static void note_warning(void *user, const char *text, size_t length)
{
    field_report *r = user;

    if (r->warnings++ == 0)
        (void)snprintf(r->warning, sizeof r->warning, "%.*s", (int)length, text);
}

/* blend.app.d/1 → d */
static void tell(void *user, const char *key, uint32_t done, uint32_t total, const char *candidate)
{
    const watcher *w = user;
    char           pair[2] = {(char)w->key, 0};

    (void)key, (void)done, (void)total;
    if (!w->job->tell || !candidate)
        return;
    pair[1] = strrchr(candidate, '/')[-1];
    if (write(1, pair, sizeof pair) != sizeof pair)
        _exit(9);
}

/* Neither budget nor roof. */
#define USUAL "\"log\": \"warn\", \"tune.budget_ms\": 0, \"tune.short_circuit\": false, \"store.map_mb\": 64"

static void add_member(char *config, size_t size, const char *before, const char *text, const char *after)
{
    size_t length = strlen(config);

    if (config[length - 1] != '{')
        length += (size_t)snprintf(config + length, size - length, ", ");
    (void)snprintf(config + length, size - length, "%s%s%s", before, text, after);
}

static qst_context *make_context(const field_job *job, watcher *w)
{
    qst_options  options;
    qst_context *ctx = NULL;
    qst_error    err = {0};
    char         config[2048];

    (void)snprintf(config, sizeof config, "{%s", job->plain ? "" : USUAL);
    if (job->folder)
        add_member(config, sizeof config, "\"store.path\": \"", job->folder, "\"");
    if (job->config)
        add_member(config, sizeof config, "", job->config, "");
    (void)strncat(config, "}", sizeof config - strlen(config) - 1);
    qst_options_init(&options);
    options.flags =
        QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS | (job->folder || job->home ? 0 : (uint32_t)QST_NO_STORE);
    options.config = config;
    options.sink = note_warning;
    options.sink_user = w->report;
    options.progress = tell;
    options.progress_user = w;
    if (qst_context_create(&ctx, &options, &err) != QST_OK)
        fail_msg("context: %s", err.text);
    return ctx;
}

static blend_problem problem_of(uint32_t key)
{
    return blend_of((int64_t)1 << key / 3, 2, key % 3);
}

/* One call of one key, its result checked. */
static bool call(watcher *w, qst_set *set, cl_fixture *cl, uint32_t key, uint32_t ran[FIELD_LETTERS])
{
    field_report *r = w->report;
    blend_problem p = problem_of(key);
    blend_case    c;
    qst_error     err = {0};

    w->key = key;
    field_cl_begin(ran);
    blend_open(&c, cl->context, cl->in_order, &p);
    r->status = qst_enqueue(set, cl->in_order, &c.problem, c.operand, 0, NULL, NULL, &err);
    if (r->status == QST_OK)
        blend_check(&c, cl->in_order, 1);
    else
        (void)snprintf(r->error, sizeof r->error, "%.40s: %.150s", err.source, err.text);
    blend_close(&c);
    r->winner[key] = field_cl_last(&r->revision[key]);
    return r->status == QST_OK;
}

void field_run(const field_job *job, field_report *report)
{
    field_run_and_look(job, report, NULL, NULL);
}

void field_run_and_look(const field_job *job, field_report *report, void (*look)(qst_context *ctx, void *user),
                        void *user)
{
    watcher      w = {.job = job, .report = report};
    member       members[MEMBERS_MAX];
    void        *state = NULL;
    qst_context *ctx;
    qst_set     *set;
    uint32_t     second[FIELD_LETTERS] = {0};

    memset(report, 0, sizeof *report);
    field_cl_script(job, report);
    if (cl_fixture_open(&state) != 0)
        fail_msg("no device");
    ctx = make_context(job, &w);
    set = make_set(ctx, job, members);
    for (uint32_t key = job->first; key < job->first + job->keys; key++) {
        if (!call(&w, set, state, key, report->ran[key]))
            break;
        if (job->shut && key == job->first)
            assert_int_equal(chmod(job->shut, 0), 0);
    }
    for (uint32_t key = job->first; job->twice && key < job->first + job->keys; key++)
        if (!call(&w, set, state, key, second))
            break;
    for (int i = 0; i < FIELD_LETTERS; i++)
        report->again += second[i];
    if (job->settle)
        assert_int_equal(qst_context_settle(ctx), QST_OK);
    if (look)
        look(ctx, user);
    report->counters.size = sizeof report->counters;
    assert_int_equal(qst_context_counters(ctx, &report->counters), QST_OK);
    (void)snprintf(report->store, sizeof report->store, "%s", field_store_name(ctx));
    qst_context_destroy(ctx);
    assert_int_equal(cl_fixture_close(&state), 0);
    field_cl_script(NULL, NULL);
}

/* ---- In a process of its own --------------------------------------------------------------------------------------- */

static const char *or_dash(const char *text)
{
    return text ? text : "-";
}

static const char *or_null(const char *text)
{
    return strcmp(text, "-") == 0 ? NULL : text;
}

int field_start(const field_job *job, int *from)
{
    char numbers[200];

    (void)snprintf(numbers, sizeof numbers, "%u %u %u %d %d %d %ld %d %d %d %d %u", job->bits, job->first, job->keys,
                   job->twice, job->vendor, job->settle, job->die_at, job->tell, job->fails, job->no_binary,
                   job->bad_binary, job->full_from);
    return program_start(from, or_dash(job->folder), job->set, or_dash(job->config), or_dash(job->driver),
                         or_dash(job->version), or_dash(job->name), numbers, NULL);
}

int field_child(int argc, char **argv)
{
    static field_report report;
    field_job           job;
    int                 n[7];

    if (argc != 8)
        return 2;
    memset(&job, 0, sizeof job);
    job.folder = or_null(argv[1]);
    job.set = argv[2];
    job.config = or_null(argv[3]);
    job.driver = or_null(argv[4]);
    job.version = or_null(argv[5]);
    job.name = or_null(argv[6]);
    if (sscanf(argv[7], "%u %u %u %d %d %d %ld %d %d %d %d %u", &job.bits, &job.first, &job.keys, &n[6], &n[0], &n[1],
               &job.die_at, &n[2], &n[3], &n[4], &n[5], &job.full_from) != 12)
        return 2;
    job.twice = n[6];
    job.vendor = n[0];
    job.settle = n[1];
    job.tell = n[2];
    job.fails = (char)n[3];
    job.no_binary = n[4];
    job.bad_binary = n[5];
    field_run(&job, &report);
    return job.tell || write(1, &report, sizeof report) == sizeof report ? 0 : 3;
}

int field_end(int pid, int from, field_report *report)
{
    char   *to = (char *)report;
    size_t  had = 0;
    ssize_t got;

    memset(report, 0, sizeof *report);
    while (had < sizeof *report && (got = read(from, to + had, sizeof *report - had)) > 0)
        had += (size_t)got;
    (void)close(from);
    return program_end(pid);
}

void field_process(const field_job *job, field_report *report)
{
    int from, pid = field_start(job, &from), status = field_end(pid, from, report);

    if (status != 0 || report->status != QST_OK)
        fail_msg("the process ended with %d; %s", status, report->error);
}

/* ---- Looking ------------------------------------------------------------------------------------------------------- */

uint32_t field_ran(const field_report *report, char letter)
{
    uint32_t sum = 0;

    for (uint32_t key = 0; key < FIELD_KEYS; key++)
        sum += report->ran[key][letter - 'a'];
    return sum;
}

uint32_t field_ran_all(const field_report *report)
{
    uint32_t sum = 0;

    for (char letter = 'a'; letter <= 'z'; letter++)
        sum += field_ran(report, letter);
    return sum;
}

qst_context *field_look(const char *folder)
{
    static field_report nobody;
    field_job           job = {.folder = folder};
    static watcher      w;

    w = (watcher){.job = &job, .report = &nobody};
    memset(&nobody, 0, sizeof nobody);
    return make_context(&job, &w);
}

static void to_stderr(void *user, const char *text, size_t length)
{
    (void)user;
    (void)fwrite(text, 1, length, stderr);
}

typedef struct replayed {
    uint64_t different;
} replayed;

static void look_for_difference(void *user, const char *text, size_t length)
{
    replayed   *r = user;
    static char line[8192];

    (void)snprintf(line, sizeof line, "%.*s", (int)length, text);
    r->different += strstr(line, "\"same\": false") != NULL || strstr(line, "\"same\":false") != NULL;
}

uint64_t field_verify(const char *folder)
{
    qst_context    *ctx = field_look(folder);
    qst_cache_check check = {.size = sizeof check};
    replayed        r = {0};

    assert_int_equal(qst_cache_verify(ctx, 0, &check, to_stderr, NULL, NULL), QST_OK);
    assert_int_equal(check.damaged, 0);
    assert_int_equal(check.stale, 0);
    assert_int_equal(qst_cache_replay(ctx, look_for_difference, &r, NULL), QST_OK);
    assert_int_equal(r.different, 0);
    qst_context_destroy(ctx);
    return check.current;
}
