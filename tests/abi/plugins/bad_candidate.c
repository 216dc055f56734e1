/* SPDX-License-Identifier: MIT
 *
 * bad_candidate.c: a plugin whose candidate's size was never set: 4 bytes hold nothing but the size. */
#include "descriptor.h"

static const qst_candidate nothing = {.size = 4, .op = "matmul", .variant = "nothing", .revision = 1};

DESCRIPTOR_WITH("bad_candidate", nothing);
