/* SPDX-License-Identifier: MIT
 *
 * chaos_cl.c: see chaos_cl.h. __wrap_x is what the linker puts in the place of x, __real_x is x itself.
 */
#include "support/chaos_cl.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define NAME(name, code) [CHAOS_##name] = #name,
const char *const chaos_cl_names[CHAOS_CL_COUNT] = {CHAOS_CL_CALLS(NAME)};
#undef NAME

#define CODE(name, code) [CHAOS_##name] = code,
static const cl_int codes[CHAOS_CL_COUNT] = {CHAOS_CL_CALLS(CODE)};
#undef CODE

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all that follows */
static struct {
    bool armed, for_good;
    int  kind;
    long fail, failed, any;
    long calls[CHAOS_CL_COUNT];
} chaos;
static chaos_cl_objects alive;

static void take(void)
{
    (void)pthread_mutex_lock(&lock);
}

static void give(void)
{
    (void)pthread_mutex_unlock(&lock);
}

void chaos_cl_arm(int kind, long fail, bool for_good)
{
    take();
    memset(&chaos, 0, sizeof chaos);
    chaos.armed = true;
    chaos.for_good = for_good;
    chaos.kind = kind;
    chaos.fail = fail;
    give();
}

long chaos_cl_disarm(void)
{
    long failed;

    take();
    chaos.armed = false;
    failed = chaos.failed;
    give();
    return failed;
}

long chaos_cl_calls(int kind)
{
    long calls;

    take();
    calls = kind == CHAOS_ANY ? chaos.any : chaos.calls[kind];
    give();
    return calls;
}

chaos_cl_objects chaos_cl_alive(void)
{
    chaos_cl_objects now;

    take();
    now = alive;
    give();
    return now;
}

static void count(long *kind, long change)
{
    take();
    *kind += change;
    give();
}

static bool fails_locked(int kind)
{
    long n = chaos.kind == CHAOS_ANY ? chaos.any : chaos.calls[kind];

    if (!chaos.armed)
        return false;
    chaos.any++;
    chaos.calls[kind]++;
    if ((chaos.kind != CHAOS_ANY && chaos.kind != kind) || (chaos.for_good ? n < chaos.fail : n != chaos.fail))
        return false;
    chaos.failed++;
    return true;
}

static bool fails(int kind)
{
    bool failing;

    take();
    failing = fails_locked(kind);
    give();
    return failing;
}

/* ---- Programs --------------------------------------------------------------------------------------------------- */

/* What the library holds, and the program that was built for it; what was built, for good. */
typedef struct built {
    struct built *next;
    char         *text, *options;
    cl_program    program;
} built;
typedef struct held {
    struct held *next;
    cl_program   handle;
    char        *text; /* NULL: no source, it is built itself */
    built       *by;   /* NULL: not yet */
} held;
static built *all_built;
static held  *all_held;

static held *held_of(cl_program handle)
{
    held *h = all_held;

    while (h && h->handle != handle)
        h = h->next;
    return h;
}

static void hold(cl_program handle, char *text)
{
    held *h = handle ? calloc(1, sizeof *h) : NULL;

    if (!h) {
        free(text);
        return;
    }
    take();
    h->handle = handle;
    h->text = text;
    h->next = all_held;
    all_held = h;
    give();
}

static void let_go(cl_program handle)
{
    held **at, *h;

    take();
    for (at = &all_held; *at && (*at)->handle != handle; at = &(*at)->next)
        ;
    h = *at;
    if (h)
        *at = h->next;
    give();
    free(h ? h->text : NULL);
    free(h);
}

/* The program that answers for a handle. */
static cl_program real_program(cl_program handle)
{
    cl_program program = handle;
    held      *h;

    take();
    h = held_of(handle);
    if (h && h->by)
        program = h->by->program;
    give();
    return program;
}

static bool find_built(cl_program handle, const char *options)
{
    built *b;
    held  *h;
    bool   found;

    take();
    h = held_of(handle);
    for (b = all_built; h && h->text && b && (strcmp(b->text, h->text) || strcmp(b->options, options)); b = b->next)
        ;
    if (h && h->text && b)
        h->by = b;
    found = h && h->text && b;
    give();
    return found;
}

/* The handle, freshly built, answers for all to come. */
static void keep_built(cl_program handle, const char *options)
{
    built *b = calloc(1, sizeof *b);
    held  *h;

    take();
    h = held_of(handle);
    if (b && h && h->text && clRetainProgram(handle) == CL_SUCCESS) {
        b->text = strdup(h->text);
        b->options = strdup(options);
        b->program = handle;
        b->next = all_built;
        all_built = b;
        b = NULL;
    }
    give();
    free(b);
}

cl_int __real_clReleaseProgram(cl_program program);
void   chaos_cl_finish(void)
{
    built *b, *next;

    for (b = all_built; b; b = next) {
        next = b->next;
        (void)__real_clReleaseProgram(b->program);
        free(b->text);
        free(b->options);
        free(b);
    }
    all_built = NULL;
}

/* ---- The calls -------------------------------------------------------------------------------------------------- */

/* A call that gives a code. */
#define WRAP(name, parameters, arguments)                                                                              \
    cl_int __real_##name parameters;                                                                                   \
    cl_int __wrap_##name parameters;                                                                                   \
    cl_int __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        return fails(CHAOS_##name) ? codes[CHAOS_##name] : __real_##name arguments;                                    \
    }

/* One that also makes an event where `event` is not NULL. */
#define WRAP_ENQUEUE(name, parameters, arguments)                                                                      \
    cl_int __real_##name parameters;                                                                                   \
    cl_int __wrap_##name parameters;                                                                                   \
    cl_int __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        cl_int code;                                                                                                   \
        if (fails(CHAOS_##name))                                                                                       \
            return codes[CHAOS_##name];                                                                                \
        code = __real_##name arguments;                                                                                \
        count(&alive.events, code == CL_SUCCESS && event);                                                             \
        return code;                                                                                                   \
    }

/* One that makes an object. */
#define WRAP_CREATE(type, kind, name, parameters, arguments)                                                           \
    type __real_##name parameters;                                                                                     \
    type __wrap_##name parameters;                                                                                     \
    type __wrap_##name parameters                                                                                      \
    {                                                                                                                  \
        type made;                                                                                                     \
        if (fails(CHAOS_##name)) {                                                                                     \
            if (code)                                                                                                  \
                *code = codes[CHAOS_##name];                                                                           \
            return NULL;                                                                                               \
        }                                                                                                              \
        made = __real_##name arguments;                                                                                \
        count(&alive.kind, made != NULL);                                                                              \
        return made;                                                                                                   \
    }

#define WRAP_RETAIN(type, kind, name)                                                                                  \
    cl_int __real_##name(type object);                                                                                 \
    cl_int __wrap_##name(type object);                                                                                 \
    cl_int __wrap_##name(type object)                                                                                  \
    {                                                                                                                  \
        cl_int code = fails(CHAOS_##name) ? codes[CHAOS_##name] : __real_##name(object);                               \
        count(&alive.kind, code == CL_SUCCESS);                                                                        \
        return code;                                                                                                   \
    }

#define WRAP_RELEASE(type, kind, name)                                                                                 \
    cl_int __real_##name(type object);                                                                                 \
    cl_int __wrap_##name(type object);                                                                                 \
    cl_int __wrap_##name(type object)                                                                                  \
    {                                                                                                                  \
        cl_int code = __real_##name(object);                                                                           \
        count(&alive.kind, -(code == CL_SUCCESS));                                                                     \
        return fails(CHAOS_##name) ? codes[CHAOS_##name] : code;                                                       \
    }

WRAP(clGetPlatformIDs, (cl_uint n, cl_platform_id *list, cl_uint *count), (n, list, count))
WRAP(clGetPlatformInfo, (cl_platform_id p, cl_platform_info what, size_t size, void *value, size_t *needed),
     (p, what, size, value, needed))
WRAP(clGetDeviceIDs, (cl_platform_id p, cl_device_type type, cl_uint n, cl_device_id *list, cl_uint *count),
     (p, type, n, list, count))
WRAP(clGetDeviceInfo, (cl_device_id d, cl_device_info what, size_t size, void *value, size_t *needed),
     (d, what, size, value, needed))
WRAP(clGetCommandQueueInfo, (cl_command_queue q, cl_command_queue_info what, size_t size, void *value, size_t *needed),
     (q, what, size, value, needed))
WRAP(clGetMemObjectInfo, (cl_mem mem, cl_mem_info what, size_t size, void *value, size_t *needed),
     (mem, what, size, value, needed))
WRAP(clGetEventInfo, (cl_event e, cl_event_info what, size_t size, void *value, size_t *needed),
     (e, what, size, value, needed))
WRAP(clGetEventProfilingInfo, (cl_event e, cl_profiling_info what, size_t size, void *value, size_t *needed),
     (e, what, size, value, needed))
WRAP(clGetKernelInfo, (cl_kernel k, cl_kernel_info what, size_t size, void *value, size_t *needed),
     (k, what, size, value, needed))
WRAP(clGetKernelWorkGroupInfo,
     (cl_kernel k, cl_device_id d, cl_kernel_work_group_info what, size_t size, void *value, size_t *needed),
     (k, d, what, size, value, needed))
WRAP(clGetProgramBuildInfo,
     (cl_program p, cl_device_id d, cl_program_build_info what, size_t size, void *value, size_t *needed),
     (real_program(p), d, what, size, value, needed))
WRAP(clGetProgramInfo, (cl_program p, cl_program_info what, size_t size, void *value, size_t *needed),
     (real_program(p), what, size, value, needed))
WRAP(clSetKernelArg, (cl_kernel k, cl_uint index, size_t size, const void *value), (k, index, size, value))
WRAP(clFlush, (cl_command_queue q), (q))
WRAP(clFinish, (cl_command_queue q), (q))

WRAP_ENQUEUE(clEnqueueNDRangeKernel,
             (cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *from, const size_t *global,
              const size_t *local, cl_uint n, const cl_event *waits, cl_event *event),
             (q, k, dims, from, global, local, n, waits, event))
WRAP_ENQUEUE(clEnqueueCopyBuffer,
             (cl_command_queue q, cl_mem source, cl_mem target, size_t from, size_t to, size_t size, cl_uint n,
              const cl_event *waits, cl_event *event),
             (q, source, target, from, to, size, n, waits, event))
WRAP_ENQUEUE(clEnqueueFillBuffer,
             (cl_command_queue q, cl_mem mem, const void *pattern, size_t pattern_size, size_t from, size_t size,
              cl_uint n, const cl_event *waits, cl_event *event),
             (q, mem, pattern, pattern_size, from, size, n, waits, event))
WRAP_ENQUEUE(clEnqueueReadBuffer,
             (cl_command_queue q, cl_mem mem, cl_bool blocking, size_t from, size_t size, void *to, cl_uint n,
              const cl_event *waits, cl_event *event),
             (q, mem, blocking, from, size, to, n, waits, event))
WRAP_ENQUEUE(clEnqueueMarkerWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *waits, cl_event *event),
             (q, n, waits, event))
WRAP_ENQUEUE(clEnqueueBarrierWithWaitList, (cl_command_queue q, cl_uint n, const cl_event *waits, cl_event *event),
             (q, n, waits, event))

WRAP_CREATE(cl_command_queue, queues, clCreateCommandQueue,
            (cl_context c, cl_device_id d, cl_command_queue_properties what, cl_int *code), (c, d, what, code))
WRAP_CREATE(cl_mem, buffers, clCreateBuffer, (cl_context c, cl_mem_flags flags, size_t size, void *host, cl_int *code),
            (c, flags, size, host, code))
WRAP_CREATE(cl_program, programs, clCreateProgramWithBinary,
            (cl_context c, cl_uint n, const cl_device_id *list, const size_t *lengths, const unsigned char **data,
             cl_int *each, cl_int *code),
            (c, n, list, lengths, data, each, code))
WRAP_CREATE(cl_kernel, kernels, clCreateKernel, (cl_program p, const char *name, cl_int *code),
            (real_program(p), name, code))

WRAP_RETAIN(cl_context, contexts, clRetainContext)
WRAP_RETAIN(cl_command_queue, queues, clRetainCommandQueue)
WRAP_RETAIN(cl_event, events, clRetainEvent)
WRAP_RELEASE(cl_context, contexts, clReleaseContext)
WRAP_RELEASE(cl_command_queue, queues, clReleaseCommandQueue)
WRAP_RELEASE(cl_mem, buffers, clReleaseMemObject)
WRAP_RELEASE(cl_kernel, kernels, clReleaseKernel)
WRAP_RELEASE(cl_event, events, clReleaseEvent)

typedef void(CL_CALLBACK *notify)(cl_program program, void *user);

cl_int __real_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *list, const char *options, notify done,
                             void *user);
cl_int __wrap_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *list, const char *options, notify done,
                             void *user);
cl_int __wrap_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *list, const char *options, notify done,
                             void *user)
{
    const char *words = options ? options : "";
    cl_int      code;

    if (fails(CHAOS_clBuildProgram))
        return codes[CHAOS_clBuildProgram];
    if (find_built(p, words))
        return CL_SUCCESS;
    code = __real_clBuildProgram(p, n, list, options, done, user);
    if (code == CL_SUCCESS)
        keep_built(p, words);
    return code;
}

/* One text; its length may be given. */
cl_program __real_clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *lengths,
                                            cl_int *code);
cl_program __wrap_clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *lengths,
                                            cl_int *code);
cl_program __wrap_clCreateProgramWithSource(cl_context c, cl_uint n, const char **texts, const size_t *lengths,
                                            cl_int *code)
{
    size_t     length = lengths ? *lengths : strlen(*texts);
    cl_program made;
    char      *text;

    if (fails(CHAOS_clCreateProgramWithSource)) {
        if (code)
            *code = codes[CHAOS_clCreateProgramWithSource];
        return NULL;
    }
    made = __real_clCreateProgramWithSource(c, n, texts, lengths, code);
    count(&alive.programs, made != NULL);
    text = n == 1 ? calloc(1, length + 1) : NULL;
    if (text)
        memcpy(text, *texts, length);
    hold(made, text);
    return made;
}

cl_int __wrap_clReleaseProgram(cl_program program);
cl_int __wrap_clReleaseProgram(cl_program program)
{
    cl_int code;

    let_go(program);
    code = __real_clReleaseProgram(program);
    count(&alive.programs, -(code == CL_SUCCESS));
    return fails(CHAOS_clReleaseProgram) ? codes[CHAOS_clReleaseProgram] : code;
}
