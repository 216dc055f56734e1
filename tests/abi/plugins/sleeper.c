/* SPDX-License-Identifier: MIT
 *
 * sleeper.c: a saboteur for the tests: a candidate of matmul whose preparation never ends.
 */
#define _POSIX_C_SOURCE 200809L
#include <quernstone/kit.h>
#include <quernstone/matmul.h>
#include <unistd.h>

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)key, (void)index, (void)out;
    return QST_E_INTERNAL;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    (void)user, (void)device, (void)problem, (void)out;
    while (pause())
        ;
    return QST_E_INTERNAL;
}

static const qst_candidate sleeps = {.size = sizeof sleeps,
                                     .op = "matmul",
                                     .variant = "sleeps",
                                     .revision = 1,
                                     .classes = QST_CLASS_STRICT,
                                     .problem_size = sizeof(qst_matmul),
                                     .program = program,
                                     .steps = steps};

static int32_t start(const qst_host *host, void **instance)
{
    *instance = NULL;
    return host->add_candidate(host->self, &sleeps);
}

QSTK_EXPORT extern const qst_plugin qst_plugin_v1;
const qst_plugin                    qst_plugin_v1 = {.magic = QST_PLUGIN_MAGIC,
                                                     .size = sizeof qst_plugin_v1,
                                                     .abi_major = QST_ABI_MAJOR,
                                                     .abi_minor = QST_ABI_MINOR,
                                                     .name = "sleeper",
                                                     .version = "1.0",
                                                     .licence = "MIT",
                                                     .start = start};
