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

static const saboteur how = {source, "lone", "-cl-std=CL1.2", QST_F32, 0};

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
    .steps = saboteur_plain_steps,
};

DESCRIPTOR_WITH("lone", candidate);
