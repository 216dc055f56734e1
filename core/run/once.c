/* SPDX-License-Identifier: MIT
 *
 * once.c: see once.h. A queue and a buffer of its own for one launch; no lease, which whoever asks may hold.
 */
#include "run/once.h"

#include "cl/retarget.h"

#include <string.h>

#define LEAST_PROGRAM QST_SIZE_TO(qst_program, options)

static const char who[] = "run once";

static qst__site *site_with(qst_context *ctx, const qst_device *device)
{
    qst__site *site;

    for (site = atomic_load(&ctx->sites); site; site = atomic_load(&site->next))
        if (&site->facts.device == device || &site->presumed == device)
            return site;
    return NULL;
}

/* The plugin's descriptor in our own size. */
static qst_status take_program(const qst_program *given, qst_program *program, qst_error *err)
{
    memset(program, 0, sizeof *program);
    if (!given || given->size < LEAST_PROGRAM)
        return qst__fail(err, QST_E_INVALID, who, "program of %u bytes, at least %zu", given ? given->size : 0u,
                         LEAST_PROGRAM);
    memcpy(program, given, given->size < sizeof *program ? given->size : sizeof *program);
    return QST_OK;
}

qst_status qst__once_binary(qst_context *ctx, const qst_device *device, const qst_program *given, void *user,
                            void (*take)(void *user, const void *bytes, uint64_t length), qst_error *err)
{
    qst__site    *site = site_with(ctx, device);
    qst__program *built = NULL;
    qst_program   program;
    size_t        length = 0;
    uint64_t      ns;
    cl_int        code;
    char         *bytes;
    qst_status    status = take_program(given, &program, err);

    if (status != QST_OK)
        return status;
    if (!site || !take)
        return qst__fail(err, QST_E_INVALID, who, "%s", site ? "take is NULL" : "not a device of this context");
    status = qst__programs_get(&site->programs, &program, &built, &ns, err);
    if (status != QST_OK)
        return status;
    bytes = qst__binary_of(&ctx->alloc, qst__program_cl(built), &length, &code);
    if (!bytes)
        return qst__fail_cl(err, code, who, "a program's binary gives %s (%d)", qst__cl_name(code), (int)code);
    take(user, bytes, length);
    qst__free(&ctx->alloc, bytes);
    return QST_OK;
}

/* ---- Running -------------------------------------------------------------------------------------------------- */

/* What the answer is kept under. */
static void digest_of(const uint8_t program[32], const qst__step *step, uint32_t bytes, uint8_t digest[32])
{
    const uint64_t numbers[] = {bytes, step->dims, step->n_args, step->driver_local};
    qst__sha256    sha;

    qst__sha256_init(&sha);
    qst__sha256_update(&sha, who, sizeof who);
    qst__sha256_update(&sha, program, 32);
    qst__sha256_update(&sha, numbers, sizeof numbers);
    qst__sha256_update(&sha, step->global, sizeof step->global);
    qst__sha256_update(&sha, step->local, sizeof step->local);
    qst__sha256_update(&sha, step->entry, strlen(step->entry) + 1);
    qst__sha256_update(&sha, step->args, step->n_args * sizeof *step->args);
    qst__sha256_finish(&sha, digest);
}

static bool recall(const qst__site *site, const uint8_t digest[32], void *answer, uint32_t bytes)
{
    const qst__binaries *kept = &site->programs.binaries;
    uint8_t             *value = NULL;
    size_t               length = 0;
    bool                 good;

    if (!kept->load || kept->load(kept->user, digest, &value, &length) != QST_OK)
        return false;
    good = length == bytes;
    if (good)
        memcpy(answer, value, bytes);
    qst__free(&site->ctx->alloc, value);
    return good;
}

/* Enqueues the runner on a queue and a buffer of its own, and reads what it leaves there. */
static qst_status run(const qst__site *site, qst__runner *runner, void *answer, uint32_t bytes, qst_error *err)
{
    cl_int           code;
    cl_command_queue queue;
    cl_mem           buffer = NULL;
    qst_mem          operand = {0};
    qst__go          go = {0};
    qst_status       status = QST_OK;

    memset(answer, 0, bytes);
    queue = clCreateCommandQueue(site->context, site->device, 0, &code);
    if (code == CL_SUCCESS)
        buffer = clCreateBuffer(site->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, answer, &code);
    if (code != CL_SUCCESS) {
        status = qst__fail_cl(err, code, who, "a queue and a buffer of %u bytes: %s (%d)", bytes, qst__cl_name(code),
                              (int)code);
        goto out;
    }
    operand.kind = QST_MEM_BUFFER;
    operand.handle = buffer;
    go.queue = queue;
    go.in_order = true;
    go.operands = &operand;
    status = qst__runner_enqueue(runner, &go, err);
    if (status != QST_OK)
        goto out;
    code = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, answer, 0, NULL, NULL);
    if (code != CL_SUCCESS)
        status = qst__fail_cl(err, code, who, "the kernel does not end: %s (%d)", qst__cl_name(code), (int)code);
out:
    if (buffer)
        (void)clReleaseMemObject(buffer);
    if (queue)
        (void)clReleaseCommandQueue(queue);
    return status;
}

static qst_status build_and_run(qst__site *site, const qst_program *program, qst__recipe *recipe, void *answer,
                                uint32_t bytes, qst_error *err)
{
    const uint32_t size = 4;
    qst__program  *built = NULL;
    qst__runner   *runner = NULL;
    uint64_t       ns;
    qst_status     status = qst__programs_get(&site->programs, program, &built, &ns, err);

    if (status == QST_OK)
        status = qst__runner_create(&runner, &site->ctx->alloc, recipe, &built, 1, &size, site->device, &site->arena,
                                    &site->ctx->cl_counters, who, err);
    if (status == QST_OK)
        status = run(site, runner, answer, bytes, err);
    qst__runner_destroy(runner);
    return status;
}

qst_status qst__once_run(qst_context *ctx, const qst_device *device, const qst_program *given, const qst_launch *launch,
                         void *answer, uint32_t bytes, qst_error *err)
{
    qst__site  *site = site_with(ctx, device);
    qst_program program;
    qst__recipe recipe;
    qst_steps   steps;
    uint8_t     of_program[32], digest[32];
    qst_status  status = take_program(given, &program, err);

    if (status != QST_OK)
        return status;
    if (!site || !launch || !answer || bytes == 0 || bytes > QST_ANSWER_MAX)
        return qst__fail(err, QST_E_INVALID, who, "%s, an answer of %u bytes, at most %u",
                         !site    ? "not a device of this context"
                         : launch ? "a launch"
                                  : "no launch",
                         bytes, (unsigned)QST_ANSWER_MAX);
    qst__recipe_init(&recipe, &ctx->alloc, 1, false);
    qst__recipe_steps(&recipe, &steps);
    (void)steps.launch(&steps, launch);
    status = qst__recipe_check(&recipe, device, who, err);
    if (status == QST_OK && recipe.steps[0].program != 0)
        status = qst__fail(err, QST_E_INVALID, who, "program index %u of one program", recipe.steps[0].program);
    if (status == QST_OK)
        status = qst__programs_digest(&site->programs, &program, of_program, err);
    if (status != QST_OK)
        goto out;
    digest_of(of_program, &recipe.steps[0], bytes, digest);
    if (recall(site, digest, answer, bytes))
        goto out;
    status = build_and_run(site, &program, &recipe, answer, bytes, err);
    if (status == QST_OK && site->programs.binaries.save)
        site->programs.binaries.save(site->programs.binaries.user, digest, false, answer, bytes);
out:
    qst__recipe_finish(&recipe);
    return status;
}
