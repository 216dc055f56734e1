/* SPDX-License-Identifier: MIT
 *
 * finisher.c: see finisher.h.
 */
#include "run/finisher.h"

#include "cl/builder.h"
#include "run/prebuild.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WORDS_MAX 256u /* of a check's answer */

static const char options[] = "-cl-std=CL1.2";

static void refuse(qst__finisher *f, const char *name, const char *why)
{
    (void)snprintf(f->why, sizeof f->why, "%s: %.150s", name, why);
}

/* What is kept of a builder in the store: `what` is its library's object or its check's answer. */
static void digest_of(const qst_builder *b, const char *what, uint8_t digest[32])
{
    qst__sha256 sha;

    qst__sha256_init(&sha);
    qst__sha256_update(&sha, what, strlen(what) + 1);
    if (b->library)
        qst__sha256_update(&sha, b->library, strlen(b->library) + 1);
    qst__sha256_update(&sha, b->check, strlen(b->check) + 1);
    qst__sha256_finish(&sha, digest);
}

static bool recall(const qst__site *site, const uint8_t digest[32], uint8_t **bytes, size_t *length)
{
    const qst__binaries *kept = &site->programs.binaries;

    *bytes = NULL;
    *length = 0;
    return kept->load && kept->load(kept->user, digest, bytes, length) == QST_OK;
}

static void keep(const qst__site *site, const uint8_t digest[32], const void *bytes, size_t length)
{
    const qst__binaries *kept = &site->programs.binaries;

    if (kept->save)
        kept->save(kept->user, digest, false, bytes, length);
}

/* The object of the builder's library, from the store or the driver's front end. */
static bool take_library(qst__site *site, const char *name)
{
    qst__finisher     *f = &site->finisher;
    const qst_builder *b = f->by.builder;
    uint8_t            digest[32], *bytes;
    size_t             length = 0;
    uint64_t           start;
    cl_int             code;

    if (!b->library)
        return true;
    digest_of(b, "library", digest);
    if (recall(site, digest, &bytes, &length)) {
        f->object = (char *)bytes;
    } else {
        qst__free(&site->ctx->alloc, bytes);
        start = qst__now(&site->ctx->clock);
        f->object = qst__builder_object(&site->programs, b->library, strlen(b->library), options, &length, &code);
        if (!f->object) {
            refuse(f, name, qst__cl_name(code));
            return false;
        }
        QST__LOG(&site->ctx->log, CL, DEBUG, "front end %.1f ms for the functions of %s: %zu bytes",
                 (double)(qst__now(&site->ctx->clock) - start) * 1e-6, name, length);
        keep(site, digest, f->object, length);
    }
    f->by.library.data = f->object;
    f->by.library.length = length;
    return true;
}

/* Runs the check's kernel once. */
static cl_int run(const qst__site *site, cl_program cl, const qst_builder *b, uint32_t *words)
{
    size_t           items = b->check_items, bytes = b->check_words * sizeof *words;
    cl_int           code;
    cl_mem           buffer = NULL;
    cl_kernel        kernel = NULL;
    cl_command_queue queue = clCreateCommandQueue(site->context, site->device, 0, &code);

    memset(words, 0, bytes);
    if (code == CL_SUCCESS)
        buffer = clCreateBuffer(site->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, words, &code);
    if (code == CL_SUCCESS)
        kernel = clCreateKernel(cl, "check", &code);
    if (code == CL_SUCCESS)
        code = clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
    if (code == CL_SUCCESS)
        code = clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, &items, 0, NULL, NULL);
    if (code == CL_SUCCESS)
        code = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, words, 0, NULL, NULL);
    if (kernel)
        (void)clReleaseKernel(kernel);
    if (buffer)
        (void)clReleaseMemObject(buffer);
    if (queue)
        (void)clReleaseCommandQueue(queue);
    return code;
}

static bool check_now(qst__site *site, const char *name)
{
    qst__finisher     *f = &site->finisher;
    qst__builder       by = f->by;
    const qst_builder *b = by.builder;
    uint32_t           words[WORDS_MAX], i;
    qst_program        desc = {.size = sizeof desc, .form = QST_PROGRAM_SOURCE};
    qst_error          err = {0};
    cl_program         cl;
    cl_int             code;
    char               why[100];

    desc.data = b->check;
    desc.length = strlen(b->check);
    by.trusted = NULL; /* that is what is to be found out */
    cl = qst__builder_build(&site->programs, &by, &desc, options, &err);
    if (!cl) {
        refuse(f, name, err.text);
        return false;
    }
    code = run(site, cl, b, words);
    (void)clReleaseProgram(cl);
    for (i = 0; code == CL_SUCCESS && i < b->check_words && words[i] == b->check_answer; i++)
        ;
    if (code == CL_SUCCESS && i == b->check_words)
        return true;
    (void)snprintf(why, sizeof why, "its check gives %s, word %u is 0x%x", qst__cl_name(code), i,
                   i < b->check_words ? words[i] : 0);
    refuse(f, name, why);
    return false;
}

static bool is_right(qst__site *site, const char *name)
{
    uint8_t digest[32], *bytes = NULL, answer;
    size_t  length = 0;

    digest_of(site->finisher.by.builder, "check", digest);
    if (recall(site, digest, &bytes, &length) && length == 1) {
        answer = bytes[0];
        qst__free(&site->ctx->alloc, bytes);
        if (!answer)
            refuse(&site->finisher, name, "its check was wrong on this driver before");
        return answer != 0;
    }
    qst__free(&site->ctx->alloc, bytes);
    answer = check_now(site, name);
    keep(site, digest, &answer, 1);
    return answer != 0;
}

static bool try_plugin(qst__site *site, const qst__plugin *plugin)
{
    qst__finisher     *f = &site->finisher;
    const char        *why = NULL;
    const qst_builder *b;

    if (plugin->state != QST__PLUGIN_STARTED || !plugin->desc.get_extension)
        return false;
    b = plugin->desc.get_extension(QST_EXT_BUILDER);
    if (!b || b->size < sizeof *b || !b->check || !b->check_items || !b->check_words || b->check_words > WORDS_MAX)
        return false;
    if (b->supports(plugin->instance, &site->facts.device, &why) != QST_OK) {
        refuse(f, plugin->name, why ? why : "gives no reason");
        return false;
    }
    memset(&f->by, 0, sizeof f->by);
    f->by.builder = b;
    f->by.instance = plugin->instance;
    f->by.device = &site->facts.device;
    f->by.trusted = qst__finisher_trusts;
    f->by.trusted_user = site;
    f->name = plugin->name;
    if (take_library(site, plugin->name))
        return true;
    QST__LOG(&site->ctx->log, CL, WARN, "programs are built by the driver: %s", f->why);
    return false;
}

static const qst__builder *ask(void *user)
{
    qst__site     *site = user;
    qst__finisher *f = &site->finisher;
    int            state = atomic_load_explicit(&f->state, memory_order_acquire);
    size_t         i;

    if (state == 0) {
        qst__lock_take(&f->lock);
        state = atomic_load(&f->state);
        for (i = 0; state == 0 && i < site->ctx->plugins.list.count; i++)
            if (try_plugin(site, &site->ctx->plugins.list.data[i]))
                state = 1;
        state = state ? state : -1;
        atomic_store_explicit(&f->state, state, memory_order_release);
        qst__lock_give(&f->lock);
    }
    return state > 0 ? &f->by : NULL;
}

bool qst__finisher_trusts(void *user)
{
    qst__site     *site = user;
    qst__finisher *f = &site->finisher;
    int            trust = atomic_load_explicit(&f->trust, memory_order_acquire);

    if (trust != 0)
        return trust > 0;
    qst__lock_take(&f->proof);
    trust = atomic_load(&f->trust);
    if (trust == 0) {
        trust = is_right(site, f->name) ? 1 : -1;
        if (trust > 0) {
            QST__LOG(&site->ctx->log, CL, INFO, "programs are built by %s", f->name);
        } else {
            QST__LOG(&site->ctx->log, CL, WARN, "programs are built by the driver: %s", f->why);
            atomic_store(&f->state, -1); /* nobody begins with it any more */
        }
        atomic_store_explicit(&f->trust, trust, memory_order_release);
    }
    qst__lock_give(&f->proof);
    return trust > 0;
}

void qst__finisher_attach(qst__site *site)
{
    site->programs.builder = ask;
    site->programs.fronted = qst__prebuild_fronted;
    site->programs.builder_user = site;
}

uint32_t qst__finisher_threads(qst__site *site)
{
    qst_context        *ctx = site->ctx;
    bool                known = atomic_load(&site->finisher.state) != 0;
    uint64_t            start = qst__now(&ctx->clock), took;
    const qst__builder *by = ask(site);

    took = qst__now(&ctx->clock) - start;
    if (!known) /* its library was built meanwhile */
        qst__waits_add(&ctx->cl_counters.waits, took, took);
    return by && by->builder->threads > 1 ? by->builder->threads : 1;
}
