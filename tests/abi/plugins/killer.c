/* SPDX-License-Identifier: MIT
 *
 * killer.c: a saboteur for the tests: a candidate of matmul that kills the process that tries it.
 */
#include "saboteur.h"
#include <stdlib.h>

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)key, (void)index, (void)out;
    return QST_E_INTERNAL;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    (void)user, (void)device, (void)problem, (void)out;
    abort();
}

static const qst_candidate dies = {.size = sizeof dies,
                                   .op = "matmul",
                                   .variant = "dies",
                                   .revision = 1,
                                   .classes = QST_CLASS_STRICT,
                                   .problem_size = sizeof(qst_matmul),
                                   .program = program,
                                   .steps = steps};

static int32_t start(const qst_host *host, void **instance)
{
    *instance = NULL;
    return host->add_candidate(host->self, &dies);
}

SABOTEUR_PLUGIN("killer", start);
