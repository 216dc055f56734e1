/* SPDX-License-Identifier: MIT
 *
 * probe.c: abilities that no query tells, proven by running a tiny kernel: static local memory over 48 KB, programs
 * retargeted to sm_90a, and tensor copies by maps that no library encoded.
 */
#include "nv_mma.h"
#include "nv_probe.cl.h"

#include <stdio.h>

#define GROUP      128u
#define BOX        256u  /* elements that the tensor copy brings */
#define LOCAL_KEPT 1024u /* of the largest size, for what a compiler adds */

/* The most local memory of a work-group by compute capability, CUDA C++ Programming Guide, "Technical Specifications". */
static const struct {
    uint32_t cc, bytes;
} local_most[] = {{70, 98304},  {72, 98304},  {75, 65536},   {80, 166912},  {86, 101376},  {87, 166912},
                  {89, 101376}, {90, 232448}, {100, 232448}, {103, 232448}, {120, 101376}, {121, 101376}};

static uint32_t local_to_prove(const qst_device *device)
{
    for (size_t i = 0; i < QSTK_COUNT(local_most); i++)
        if (local_most[i].cc == device->compute_capability)
            return local_most[i].bytes - LOCAL_KEPT;
    return 0;
}

void nv_probe_program(qst_program *out, uint32_t sm90a)
{
    nv_mma_program(out, nv_probe_cl, sizeof nv_probe_cl - 1, sm90a ? "-cl-std=CL1.2 -DSM90A=1" : NULL, sm90a);
}

/* Runs one kernel of one group on a buffer of the largest answer; QST_OK and what it counted in the first word, or why
 * it does not run. */
static int32_t count(const qst_host *host, const qst_device *device, const qst_program *program, const char *entry,
                     uint32_t *counted, qst_error *err)
{
    const qst_arg args[] = {qstk_operand(0)};
    qst_launch    launch = qstk_launch(0, entry, 1, args, QSTK_COUNT(args));
    uint32_t      answer[QST_ANSWER_MAX / 4];
    int32_t       status;
    launch.global[0] = launch.local[0] = GROUP;
    memset(err, 0, sizeof *err);
    status = host->run_once(host->self, device, program, &launch, answer, sizeof answer, err);
    *counted = status == QST_OK ? answer[0] : 0;
    return status;
}

/* Writes the reason down; a lack of memory is none that lasts. */
static int32_t conclude(int32_t status, uint32_t counted, uint32_t right, const char *what, const qst_error *err,
                        char why[NV_WHY])
{
    if (status != QST_OK)
        (void)snprintf(why, NV_WHY, "%s: the probe does not run: %.120s", what, err->text);
    else if (counted != right)
        (void)snprintf(why, NV_WHY, "%s: the probe gives %u right results of %u", what, (unsigned)counted,
                       (unsigned)right);
    return status == QST_E_NOMEM ? status : QST_OK;
}

int32_t nv_probe_big_local(const qst_host *host, const qst_device *device, nv_ability *ability)
{
    uint32_t    bytes = local_to_prove(device), counted = 0;
    char        options[NV_OPTIONS];
    qst_program program = {.size = sizeof program};
    qst_error   err;
    int32_t     status;
    if (bytes == 0) {
        (void)snprintf(ability->why_big_local, NV_WHY,
                       "over 48 KB of local memory: nothing is known of compute capability %u",
                       (unsigned)device->compute_capability);
        return QST_OK;
    }
    (void)snprintf(options, sizeof options, "-cl-std=CL1.2 -DBIG_LOCAL=%u", (unsigned)bytes);
    nv_probe_program(&program, 0);
    program.options = options;
    status = count(host, device, &program, "big_local", &counted, &err);
    if (status == QST_OK && counted == bytes / 4)
        ability->can_big_local = bytes;
    return conclude(status, counted, bytes / 4, "over 48 KB of local memory", &err, ability->why_big_local);
}

int32_t nv_probe_sm90a(const qst_host *host, const qst_device *device, nv_ability *ability)
{
    uint32_t    counted = 0;
    qst_program program = {.size = sizeof program};
    qst_error   err;
    int32_t     status;
    if (device->compute_capability != 90) {
        (void)snprintf(ability->why_sm90a, NV_WHY, "sm_90a is compute capability 90 alone, not %u",
                       (unsigned)device->compute_capability);
        return QST_OK;
    }
    nv_probe_program(&program, 1);
    status = count(host, device, &program, "one_wgmma", &counted, &err);
    ability->can_sm90a = status == QST_OK && counted == GROUP;
    return conclude(status, counted, GROUP, "programs retargeted to sm_90a", &err, ability->why_sm90a);
}

int32_t nv_probe_tensor(const qst_host *host, const qst_device *device, nv_ability *ability)
{
    uint32_t    counted = 0;
    qst_program program = {.size = sizeof program};
    qst_error   err;
    int32_t     status;
    nv_probe_program(&program, 1);
    status = count(host, device, &program, "one_tensor_copy", &counted, &err);
    ability->can_tensor = status == QST_OK && counted == BOX;
    return conclude(status, counted, BOX, "tensor copies by maps made on the device", &err, ability->why_tensor);
}
