/* SPDX-License-Identifier: MIT
 *
 * broken.c: a saboteur. Its candidate's program does not build. It must be listed with the compiler's log, and the
 * tuning must go on without it.
 */
#include "saboteur.h"

static const char source[] = "kernel void broken(global const float *a, global const float *b, global float *c)\n"
                             "{\n"
                             "    c[get_global_id(0)] = a[get_global_id(0)] * this_is_not_declared;\n"
                             "}\n";

static const saboteur how = {source, "broken", "-cl-std=CL1.2", QST_F32, 0};

static const qst_candidate candidate = {
    .size = sizeof candidate,
    .op = "matmul",
    .variant = "syntax",
    .revision = 1,
    .classes = QST_CLASS_PLAIN | QST_CLASS_FAST,
    .problem_size = sizeof(qst_matmul),
    .n_memberships = QSTK_COUNT(saboteur_unit),
    .memberships = saboteur_unit,
    .user = (void *)&how,
    .program = saboteur_program,
    .steps = saboteur_plain_steps,
};

DESCRIPTOR_WITH("broken", candidate);
