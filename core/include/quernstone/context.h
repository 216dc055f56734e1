/* SPDX-License-Identifier: MIT
 *
 * context.h: the object on which all state hangs: configuration, plugins, sets, stored answers, programs.
 *
 * A program usually makes one context and keeps it. A context serves any number of cl_contexts, devices and queues;
 * each device in each cl_context has its own answers. A context retains a cl_context from its first use on until
 * qst_context_forget or qst_context_destroy.
 */
#ifndef QUERNSTONE_CONTEXT_H
#define QUERNSTONE_CONTEXT_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <quernstone/types.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    QST_NO_FILES = 1u << 0,   /* read no configuration file */
    QST_NO_ENV = 1u << 1,     /* read no environment variable */
    QST_NO_PLUGINS = 1u << 2, /* load no shared object; built-in candidates remain */
    QST_NO_STORE = 1u << 3    /* keep answers in memory only */
};

/* Memory of a context. Both functions: [any thread]. resize(NULL, n) allocates, resize(p, 0) frees and gives NULL;
 * memory is aligned as malloc's. */
typedef struct qst_allocator {
    void *(*resize)(void *user, void *memory, size_t bytes);
    void *user;
} qst_allocator;

/* How far the tuning of a key has come. `key`: its text. `candidate`: the full name of the one whose finding is new;
 * NULL as it begins, and at the end, whatever came of it. `done` of the `total` candidates that take part so far are through; `total` grows
 * when a round of candidates gave nothing. Texts live until the call returns. [the thread that tunes: that of a call or
 * the context's own; may be several at once for different keys] It must not call the context. */
typedef void (*qst_progress)(void *user, const char *key, uint32_t done, uint32_t total, const char *candidate);

/* Grows.
 *   config     JSON text that overrides files and environment; NULL: none. Copied.
 *   sink       where log lines go; NULL: standard error. Nothing is logged unless the configuration's `log` asks.
 *   progress   NULL: nobody is told */
typedef struct qst_options {
    uint32_t      size;
    uint32_t      flags; /* QST_NO_… */
    const char   *config;
    qst_sink      sink;
    void         *sink_user;
    qst_allocator allocator;
    qst_progress  progress;
    void         *progress_user;
} qst_options;

static inline void qst_options_init(qst_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
}

/* [any thread] Makes a context: reads configuration, loads plugins. No OpenCL call, no measurement. options NULL:
 * all defaults. A plugin that does not load is a refusal to be read with qst_describe, not an error; a
 * configuration error is E_CONFIG with its place. */
QST_API qst_status qst_context_create(qst_context **context, const qst_options *options, qst_error *err);

/* [one thread] Waits for what the context itself has running, releases everything. No call on the context may be
 * in progress; plans must have been destroyed. NULL is fine. Work enqueued on the caller's queues goes on. */
QST_API void qst_context_destroy(qst_context *context);

/* [one thread] Finishes what calls leave for a quiet moment: keys that are being tuned with tune.mode background, and,
 * on PoCL, putting the binaries of winners' programs into the store (PoCL compiles for seconds to give them; elsewhere
 * they are put there as soon as they are complete). Nothing else in the process may use OpenCL meanwhile.
 * qst_context_destroy does neither. */
QST_API qst_status qst_context_settle(qst_context *context);

/* [any thread] Drops all that retains the cl_context: its devices' programs, kernels, workspaces, answers in memory
 * (stored ones stay). Plans on it must have been destroyed and calls on it ended. E_NOTFOUND where it is unknown. */
QST_API qst_status qst_context_forget(qst_context *context, cl_context cl, qst_error *err);

/* [any thread] Picks the platform and device that device.platform, device.name and device.index of the
 * configuration name; without any, the first GPU, else the first device. Makes OpenCL calls, retains nothing.
 * E_NOTFOUND names what was asked for and what there is. */
QST_API qst_status qst_context_pick_device(qst_context *context, cl_platform_id *platform, cl_device_id *device,
                                           qst_error *err);

/* [any thread] Writes JSON about `what` to the sink: "devices", "plugins", "config", "sets", "verdicts",
 * "counters", "decisions". E_NOTFOUND for another word. */
QST_API qst_status qst_describe(qst_context *context, const char *what, qst_sink sink, void *user, qst_error *err);

/* What the context has done since it was made. Grows. Launch numbers count kernel executions by their reason; a
 * vendor call counts as one. */
typedef struct qst_counters {
    uint32_t size;
    uint32_t reserved;
    uint64_t launches;  /* sum of the following kinds */
    uint64_t candidate; /* executions of candidates: timed, first-contact and the callers' own */
    uint64_t verify;    /* launches that make inputs or check results */
    uint64_t probe_compute;
    uint64_t probe_memory;
    uint64_t probe_launch;
    uint64_t other;
    uint64_t kernels;      /* kernels launched, whatever for: a candidate of two launches adds two */
    uint64_t compiles;     /* programs built from source */
    uint64_t binary_loads; /* programs made from a stored binary */
    uint64_t build_ns;     /* all builds, and what first launches cost over the later minimum */
    uint64_t verify_ns;
    uint64_t sample_ns;
    uint64_t probe_ns;
    uint64_t tuned;    /* keys tuned */
    uint64_t hits;     /* calls answered without tuning */
    uint64_t judge_ns; /* of verify_ns, what judging took once a candidate had run: without its runs on other shapes */
    uint64_t wait_ns;  /* that calls and tunings waited for builds, their own included: a first call's time less this is
                        * what it would have taken with every program there */
} qst_counters;

/* [any thread] counters->size must be set. */
QST_API qst_status qst_context_counters(qst_context *context, qst_counters *counters);

#ifdef __cplusplus
}
#endif
#endif
