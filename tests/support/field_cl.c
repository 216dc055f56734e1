/* SPDX-License-Identifier: MIT
 *
 * field_cl.c: see field_cl.h. One thread calls at a time. */
#include "support/field_cl.h"

#include "run/run.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BINARIES_MAX = 64, EVENTS_MAX = 64, MARKER_NS = 10, POLL_NS = 5000000, LEASE_NS = 1000000 };
#define MS UINT64_C(1000000)

static struct {
    const field_job *job;
    field_report    *report;
    uint32_t        *ran;
    char             letter;
    uint32_t         revision;
    long             executions;
    cl_program       binary[BINARIES_MAX]; /* handles that were made from binaries */
    uint32_t         n_binaries;
    uint64_t         device_ns; /* its clock */
    struct {
        cl_event event;
        uint64_t from, to;
    } timed[EVENTS_MAX]; /* a ring */
    uint32_t n_timed;
} script;

void field_cl_script(const field_job *job, field_report *report)
{
    memset(&script, 0, sizeof script);
    script.job = job;
    script.report = report;
    script.device_ns = MS;
}

void field_cl_begin(uint32_t ran[FIELD_LETTERS])
{
    script.ran = ran;
    script.letter = 0;
}

char field_cl_last(uint32_t *revision)
{
    *revision = script.revision;
    return script.letter;
}

const char *field_store_name(const qst_context *ctx)
{
    return ctx->store.name;
}

/* ---- Executions ---------------------------------------------------------------------------------------------------- */

static uint64_t ns_of(char letter)
{
    if (!letter && script.job && script.job->stranger_ns)
        return script.job->stranger_ns;
    return (letter == 'd' ? 1 : letter == 'a' ? 4 : 3) * MS;
}

/* Any execution takes longer on the host than on the device, and not five times as long as the fastest. */
static _Atomic uint64_t look_ns = 9 * MS / 2;

void field_cl_look_takes(uint64_t ns)
{
    atomic_store(&look_ns, ns);
}

static uint64_t host_now(void *user)
{
    static _Atomic uint64_t ns; /* never twice the same: contexts are told apart by when they were made */

    (void)user;
    return atomic_fetch_add(&ns, atomic_load(&look_ns));
}

qst__clock __wrap_qst__clock_host(void);
qst__clock __wrap_qst__clock_host(void)
{
    return (qst__clock){.now = host_now, .user = NULL};
}

/* The device is busy for so long; *event, where there is one, tells it. */
static void spend(const cl_event *event, uint64_t ns)
{
    uint64_t from = script.device_ns;

    script.device_ns += ns;
    if (event) {
        uint32_t at = script.n_timed++ % EVENTS_MAX;
        script.timed[at].event = *event;
        script.timed[at].from = from;
        script.timed[at].to = script.device_ns;
    }
}

cl_int __real_clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n, const cl_event *waits, cl_event *event);
cl_int __wrap_clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n, const cl_event *waits, cl_event *event);
cl_int __wrap_clEnqueueMarkerWithWaitList(cl_command_queue q, cl_uint n, const cl_event *waits, cl_event *event)
{
    cl_int code = __real_clEnqueueMarkerWithWaitList(q, n, waits, event);

    if (code == CL_SUCCESS)
        spend(event, MARKER_NS);
    return code;
}

cl_int __real_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *from,
                                     const size_t *global, const size_t *local, cl_uint n, const cl_event *waits,
                                     cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *from,
                                     const size_t *global, const size_t *local, cl_uint n, const cl_event *waits,
                                     cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *from,
                                     const size_t *global, const size_t *local, cl_uint n, const cl_event *waits,
                                     cl_event *event)
{
    char     name[64] = "", letter = 0;
    unsigned revision;
    cl_int   code;

    if (script.ran && clGetKernelInfo(k, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) == CL_SUCCESS &&
        sscanf(name, "k_%c%u", &letter, &revision) == 2) {
        script.ran[letter - 'a']++;
        script.letter = letter;
        script.revision = revision;
        if (script.job->die_at && ++script.executions == script.job->die_at)
            (void)raise(SIGKILL);
    }
    code = __real_clEnqueueNDRangeKernel(q, k, dims, from, global, local, n, waits, event);
    if (code == CL_SUCCESS)
        spend(event, ns_of(letter));
    return code;
}

/* ---- What the device says ------------------------------------------------------------------------------------------ */

static cl_int say(const void *what, size_t bytes, size_t size, void *value, size_t *needed)
{
    if (needed)
        *needed = bytes;
    if (value && size < bytes)
        return CL_INVALID_VALUE;
    if (value)
        memcpy(value, what, bytes);
    return CL_SUCCESS;
}

cl_int __real_clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t size, void *value, size_t *needed);
cl_int __wrap_clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t size, void *value, size_t *needed);
cl_int __wrap_clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t size, void *value, size_t *needed)
{
    const field_job *job = script.job;

    if (job && job->driver && what == CL_DRIVER_VERSION)
        return say(job->driver, strlen(job->driver) + 1, size, value, needed);
    if (job && job->version && what == CL_DEVICE_VERSION)
        return say(job->version, strlen(job->version) + 1, size, value, needed);
    if (job && job->name && what == CL_DEVICE_NAME)
        return say(job->name, strlen(job->name) + 1, size, value, needed);
    if (job && job->bits && what == CL_DEVICE_ADDRESS_BITS)
        return say(&job->bits, sizeof(cl_uint), size, value, needed);
    return __real_clGetDeviceInfo(d, what, size, value, needed);
}

cl_int __real_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed);
cl_int __wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed);
cl_int __wrap_clGetEventProfilingInfo(cl_event event, cl_profiling_info what, size_t size, void *value, size_t *needed)
{
    for (uint32_t i = script.n_timed; i > 0 && i + EVENTS_MAX > script.n_timed; i--)
        if (script.timed[(i - 1) % EVENTS_MAX].event == event)
            return say(what == CL_PROFILING_COMMAND_END ? &script.timed[(i - 1) % EVENTS_MAX].to
                                                        : &script.timed[(i - 1) % EVENTS_MAX].from,
                       sizeof(cl_ulong), size, value, needed);
    return __real_clGetEventProfilingInfo(event, what, size, value, needed);
}

/* ---- Programs ------------------------------------------------------------------------------------------------------ */

static bool is_binary(cl_program program)
{
    for (uint32_t i = 0; i < script.n_binaries; i++)
        if (script.binary[i] && script.binary[i] == program)
            return true;
    return false;
}

/* Programs made from a text that is looked for. */
static struct {
    const char *text;
    bool        refuse;
    uint32_t    count;
    cl_program  made;
} watch;

void field_cl_watch(const char *text, bool refuse)
{
    memset(&watch, 0, sizeof watch);
    watch.text = text;
    watch.refuse = refuse;
}

uint32_t field_cl_watched(void)
{
    return watch.count;
}

static void look_for(cl_program made, cl_uint n, const char **texts, const size_t *lengths)
{
    size_t wanted = watch.text ? strlen(watch.text) : 0;

    watch.made = watch.made == made ? NULL : watch.made; /* a handle that was given anew */
    for (cl_uint i = 0; wanted && made && i < n; i++)
        for (size_t length = lengths && lengths[i] ? lengths[i] : strlen(texts[i]), at = 0; at + wanted <= length; at++)
            if (!memcmp(texts[i] + at, watch.text, wanted))
                watch.made = made;
    watch.count += made && watch.made == made;
}

typedef void(CL_CALLBACK *notify)(cl_program program, void *user);

cl_int __real_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *list, const char *options, notify done,
                             void *user);
cl_int __wrap_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *list, const char *options, notify done,
                             void *user);
cl_int __wrap_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *list, const char *options, notify done,
                             void *user)
{
    const char *name = options ? strstr(options, "-DNAME=k_") : NULL;
    char        letter = name ? name[strlen("-DNAME=k_")] : 0;

    if (watch.refuse && watch.made == p)
        return CL_BUILD_PROGRAM_FAILURE;
    if (script.job && is_binary(p)) {
        if (script.job->bad_binary)
            return CL_BUILD_PROGRAM_FAILURE;
    } else if (script.job) {
        script.report->builds_all++;
        script.report->builds[letter ? letter - 'a' : 0] += letter != 0;
        if ((letter && script.job->fails == letter) ||
            (script.job->full_from && script.report->builds_all >= script.job->full_from))
            return CL_BUILD_PROGRAM_FAILURE;
    }
    return __real_clBuildProgram(p, n, list, options, done, user);
}

/* A handle may be one that stood for a binary before. */
cl_program __real_clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *lengths,
                                            cl_int *code);
cl_program __wrap_clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *lengths,
                                            cl_int *code);
cl_program __wrap_clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *lengths,
                                            cl_int *code)
{
    cl_program made = __real_clCreateProgramWithSource(c, n, texts, lengths, code);

    for (uint32_t i = 0; i < script.n_binaries; i++)
        if (script.binary[i] == made)
            script.binary[i] = NULL;
    look_for(made, n, texts, lengths);
    return made;
}

cl_program __real_clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *list, const size_t *lengths,
                                            const unsigned char **data, cl_int *each, cl_int *code);
cl_program __wrap_clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *list, const size_t *lengths,
                                            const unsigned char **data, cl_int *each, cl_int *code);
cl_program __wrap_clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *list, const size_t *lengths,
                                            const unsigned char **data, cl_int *each, cl_int *code)
{
    cl_program made;

    if (script.job)
        script.report->binaries++;
    if (script.job && script.job->no_binary) {
        *code = CL_INVALID_BINARY;
        return NULL;
    }
    made = __real_clCreateProgramWithBinary(c, n, list, lengths, data, each, code);
    if (made && script.n_binaries < BINARIES_MAX)
        script.binary[script.n_binaries++] = made;
    return made;
}

/* ---- Waits --------------------------------------------------------------------------------------------------------- */

void (*field_on_pause)(void);
uint32_t *field_lease_waits;

int __real_nanosleep(const struct timespec *wanted, struct timespec *left);
int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left);
int __wrap_nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (script.report && wanted->tv_sec == 0 && wanted->tv_nsec == POLL_NS) {
        script.report->pauses++;
        if (field_on_pause)
            field_on_pause();
    }
    if (field_lease_waits && wanted->tv_sec == 0 && wanted->tv_nsec == LEASE_NS) {
        ++*field_lease_waits;
        return 0;
    }
    return __real_nanosleep(wanted, left);
}
