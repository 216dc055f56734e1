/* SPDX-License-Identifier: MIT
 *
 * lone.c: a saboteur, alone in group `accelerated` with the highest priority. It says that it supports everything and
 * its program builds; what no check before the launch can see is that the kernel demands a work-group of 32 while the
 * launch asks for 64, so that each clEnqueueNDRangeKernel fails with CL_INVALID_WORK_GROUP_SIZE. Round 1 of a General
 * problem of Medium scale then stays empty (other candidates of that round denied), and round 2 names the winner.
 */
#include "saboteur.h"

static const char source[] = "__attribute__((reqd_work_group_size(32, 1, 1)))\n"
                             "kernel void lone(global const float *a, global const float *b, global float *c)\n"
                             "{\n"
                             "    c[get_global_id(0)] = a[get_global_id(0)] + b[get_global_id(0)];\n"
                             "}\n";

static const qst_membership memberships[] = {{"accelerated", NULL, 3, 0}};

static int32_t supports(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    (void)user;
    (void)device;
    (void)key;
    (void)why;
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_arg args[] = {qstk_operand(0), qstk_operand(1), qstk_operand(2)};
    qst_launch    launch = qstk_launch(0, "lone", 1, args, QSTK_COUNT(args));
    (void)user;
    (void)device;
    (void)problem;
    launch.global[0] = 1024;
    launch.local[0] = 64;
    return out->launch(out, &launch);
}

static const saboteur how = {source, NULL, "-cl-std=CL1.2", QST_F32, 0};

static const qst_candidate candidate = {
    .size = sizeof candidate,
    .op = "matmul",
    .variant = "fails",
    .revision = 1,
    .classes = QST_CLASS_PLAIN | QST_CLASS_FAST,
    .problem_size = sizeof(qst_matmul),
    .n_memberships = QSTK_COUNT(memberships),
    .memberships = memberships,
    .supports = supports,
    .user = (void *)&how,
    .program = saboteur_program,
    .steps = steps,
};

static int32_t start(const qst_host *host, void **instance)
{
    *instance = NULL;
    return host->add_candidate(host->self, &candidate);
}

SABOTEUR_PLUGIN("lone", start);
