/* SPDX-License-Identifier: MIT
 *
 * The forerunner: builds programs and runs one work-group of their kernels on zeros, so that the driver's cache has what
 * the library's own process will ask for. It reads jobs from its standard input, a socket, until that ends; see
 * core/cl/ahead.h. Nobody waits for it but a thread that has nothing else to do, so it stands behind the others for the
 * processors, as far as it is told to.
 */
#define _GNU_SOURCE
#include "cl/ahead-wire.h"
#include "cl/place.h"

#include <CL/cl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

enum { NAME_MAX_ = QST__PLACE_NAME, ARGS = 64, LAUNCHES = 8, ZEROS = 1 << 20, BEHIND = 10, LAST = 19 };

/* What is read of a body; `end` is never passed. */
typedef struct reader {
    const char *at, *end;
    bool        broken;
} reader;

/* The device of the last job, and what was made for it. */
typedef struct station {
    qst__place       place;
    cl_device_id     device;
    cl_context       context;
    cl_command_queue queue;
} station;

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static bool read_all(void *into, size_t n)
{
    char *at = into;

    while (n) {
        ssize_t got = read(STDIN_FILENO, at, n);
        if (got <= 0)
            return false;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

static bool write_all(const void *from, size_t n)
{
    const char *at = from;

    while (n) {
        ssize_t sent = write(STDIN_FILENO, at, n);
        if (sent <= 0)
            return false;
        at += sent;
        n -= (size_t)sent;
    }
    return true;
}

static void take(reader *r, void *into, size_t n)
{
    if (r->broken || (size_t)(r->end - r->at) < n) {
        r->broken = true;
        memset(into, 0, n);
        return;
    }
    memcpy(into, r->at, n);
    r->at += n;
}

static uint64_t take_number(reader *r)
{
    uint64_t number;

    take(r, &number, sizeof number);
    return number;
}

/* In place, not terminated. */
static const char *take_text(reader *r, size_t *length)
{
    uint64_t    n = take_number(r);
    const char *text = r->at;

    if (r->broken || (uint64_t)(r->end - r->at) < n) {
        r->broken = true;
        n = 0;
    }
    r->at += n;
    *length = (size_t)n;
    return text;
}

/* Terminated, cut where it does not fit. */
static void take_name(reader *r, char out[NAME_MAX_])
{
    size_t      length;
    const char *text = take_text(r, &length);

    length = length < NAME_MAX_ - 1 ? length : NAME_MAX_ - 1;
    memcpy(out, text, length);
    out[length] = '\0';
}

/* ---- The device --------------------------------------------------------------------------------------------------- */

static void leave(station *s)
{
    if (s->queue)
        clReleaseCommandQueue(s->queue);
    if (s->context)
        clReleaseContext(s->context);
    memset(s, 0, sizeof *s);
}

/* Where the job is for, made once for a row of jobs. */
static cl_int enter(station *s, reader *r)
{
    station        wanted;
    cl_platform_id platform;
    uint64_t       count;
    cl_int         code;

    memset(&wanted, 0, sizeof wanted);
    take_name(r, wanted.place.platform);
    take_name(r, wanted.place.device);
    wanted.place.nth = take_number(r);
    if (s->queue && s->place.nth == wanted.place.nth && !strcmp(s->place.platform, wanted.place.platform) &&
        !strcmp(s->place.device, wanted.place.device))
        return CL_SUCCESS;
    leave(s);
    code = qst__place_find(&wanted.place, &platform, &wanted.device, &count);
    if (code == CL_SUCCESS)
        wanted.context = clCreateContext(NULL, 1, &wanted.device, NULL, NULL, &code);
    if (code == CL_SUCCESS)
        wanted.queue = clCreateCommandQueue(wanted.context, wanted.device, 0, &code);
    *s = wanted;
    if (code != CL_SUCCESS)
        leave(s);
    return code;
}

/* ---- A job ---------------------------------------------------------------------------------------------------------- */

/* A buffer as argument i; zeros as far as a work-group may have to go by what it finds there. */
static cl_int set_buffer(const station *s, cl_kernel kernel, cl_uint i, uint64_t bytes, cl_mem *mem)
{
    static const cl_uint zero;
    cl_int               code;

    bytes = (bytes + sizeof zero - 1) / sizeof zero * sizeof zero;
    bytes = bytes ? bytes : sizeof zero;
    *mem = clCreateBuffer(s->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &code);
    bytes = bytes < ZEROS ? bytes : ZEROS;
    if (code == CL_SUCCESS)
        code = clEnqueueFillBuffer(s->queue, *mem, &zero, sizeof zero, 0, (size_t)bytes, 0, NULL, NULL);
    return code == CL_SUCCESS ? clSetKernelArg(kernel, i, sizeof *mem, mem) : code;
}

static cl_int launch(const station *s, cl_program program, reader *r)
{
    char      name[NAME_MAX_];
    uint64_t  dims, n, i;
    size_t    global[3], local[3];
    cl_mem    mem[ARGS] = {NULL};
    cl_int    code = CL_SUCCESS;
    cl_kernel kernel = NULL;

    take_name(r, name);
    dims = take_number(r);
    for (i = 0; i < 3; i++)
        global[i] = (size_t)take_number(r);
    for (i = 0; i < 3; i++)
        local[i] = (size_t)take_number(r);
    n = take_number(r);
    if (r->broken || n > ARGS)
        return CL_INVALID_VALUE;
    kernel = clCreateKernel(program, name, &code);
    for (i = 0; i < n; i++) {
        qst__wire_arg arg;
        take(r, &arg, sizeof arg);
        if (code != CL_SUCCESS)
            continue; /* the next launch begins after all of these */
        if (arg.kind == QST__WIRE_BUFFER)
            code = set_buffer(s, kernel, (cl_uint)i, arg.bytes, &mem[i]);
        else
            code = clSetKernelArg(kernel, (cl_uint)i, (size_t)arg.bytes, arg.kind == QST__WIRE_VALUE ? arg.bits : NULL);
    }
    if (code == CL_SUCCESS && !r->broken)
        code = clEnqueueNDRangeKernel(s->queue, kernel, (cl_uint)dims, NULL, global, local[0] ? local : NULL, 0, NULL,
                                      NULL);
    if (code == CL_SUCCESS)
        code = clFinish(s->queue);
    for (i = 0; i < n; i++)
        if (mem[i])
            clReleaseMemObject(mem[i]);
    if (kernel)
        clReleaseKernel(kernel);
    return code;
}

static cl_int do_job(station *s, reader *r)
{
    size_t      option_bytes, source_bytes;
    const char *text, *source;
    char       *options;
    cl_program  program = NULL;
    cl_int      code = enter(s, r), first = CL_SUCCESS;
    uint64_t    n;

    text = take_text(r, &option_bytes);
    options = strndup(text, option_bytes);
    source = take_text(r, &source_bytes);
    n = take_number(r);
    if (code == CL_SUCCESS && (r->broken || !options || n > LAUNCHES))
        code = CL_INVALID_VALUE;
    if (code == CL_SUCCESS)
        program = clCreateProgramWithSource(s->context, 1, &source, &source_bytes, &code);
    if (code == CL_SUCCESS)
        code = clBuildProgram(program, 1, &s->device, options, NULL, NULL);
    for (; n && code == CL_SUCCESS && !r->broken; n--) {
        cl_int one = launch(s, program, r); /* one that fails leaves the others */
        first = first == CL_SUCCESS ? one : first;
    }
    if (program)
        clReleaseProgram(program);
    free(options);
    return code == CL_SUCCESS ? first : code;
}

/* ---- All of them ---------------------------------------------------------------------------------------------------- */

/* Behind others on the processors. With SCHED_IDLE whoever wakes up goes first at once; with a nice value it may wait for
 * a turn of the scheduler's, some milliseconds. */
static void stand_back(const char *how)
{
    struct sched_param none = {0};
    bool               idle = how && !strcmp(how, QST__AHEAD_IDLE), behind = how && !strcmp(how, QST__AHEAD_BEHIND);

    if (!idle && !behind) { /* the thread that started it stands back; its process may not, nor need this one */
        (void)sched_setscheduler(0, sched_getscheduler(getppid()), &none);
        (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, (id_t)getppid()));
        return;
    }
    (void)setpriority(PRIO_PROCESS, 0, idle ? LAST : BEHIND);
    if (!idle || sched_setscheduler(0, SCHED_IDLE, &none))
        (void)sched_setscheduler(0, SCHED_BATCH, &none);
}

/* What it dies of is told by its end, and leaves nothing behind; and it is gone with who started it. */
static void prepare(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS};
    struct rlimit    no_core = {0, 0};
    size_t           i;

    for (i = 0; i < sizeof faults / sizeof *faults; i++)
        (void)signal(faults[i], SIG_DFL);
    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int main(int argc, char **argv)
{
    station        here;
    qst__wire_head head;

    qst__place_keep_drivers();
    prepare();
    stand_back(argc > 1 ? argv[1] : NULL);
    memset(&here, 0, sizeof here);
    while (read_all(&head, sizeof head) && head.magic == QST__WIRE_MAGIC && head.bytes <= QST__WIRE_MAX) {
        qst__wire_answer answer = {QST__WIRE_MAGIC, CL_OUT_OF_HOST_MEMORY};
        char            *body = malloc(head.bytes + 1u);
        reader           r = {body, body + head.bytes, false};
        if (!body || !read_all(body, head.bytes))
            break;
        answer.code = do_job(&here, &r);
        free(body);
        if (!write_all(&answer, sizeof answer))
            break;
    }
    _exit(0); /* drivers may hang or fail in what they do at exit */
}
