/* SPDX-License-Identifier: MIT
 *
 * nv_case.c: candidates of nv_mma by variant, on the facts of an H200. */
#include "nv_case.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

extern const qst_plugin qst__builtin_nv_mma;

int nv_case_open(struct runner *r)
{
    return runner_open(r) || runner_start(r, &qst__builtin_nv_mma) ? -1 : 0;
}

void nv_case_h200(struct runner *r)
{
    r->device.type = QST_DEVICE_GPU;
    r->device.vendor_id = 0x10de;
    r->device.compute_capability = 90;
    r->device.units = 132;
    r->device.clock_mhz = 1980;
    r->device.max_group = r->device.max_group_dim[0] = 1024;
    r->device.max_alloc = 35ull << 30;
}

int nv_case_is_matmul(const struct runner_candidate *c)
{
    return strcmp(c->candidate.op, "matmul") == 0;
}

struct runner_candidate *nv_case_candidate(struct runner *r, const char *variant)
{
    for (uint32_t i = 0; i < r->n; i++)
        if (nv_case_is_matmul(&r->candidates[i]) && strcmp(r->candidates[i].candidate.variant, variant) == 0)
            return &r->candidates[i];
    fail_msg("no candidate %s", variant);
    return NULL;
}

double nv_case_cost(struct runner *r, const char *variant, const qst_matmul *p)
{
    const qst_candidate *c = &nv_case_candidate(r, variant)->candidate;
    return c->estimate(c->user, &r->device, p);
}

int32_t nv_case_priority(struct runner *r, const char *variant, const qst_key *key)
{
    const qst_candidate *c = &nv_case_candidate(r, variant)->candidate;
    return c->memberships[0].priority(c->user, &r->device, key);
}

void nv_case_refuses(struct runner *r, const char *variant, const qst_matmul *p, const char *reason)
{
    const qst_candidate *c = &nv_case_candidate(r, variant)->candidate;
    const char          *why = NULL;
    assert_int_equal(c->can_run(c->user, &r->device, p, &why), QST_E_UNSUPPORTED);
    assert_string_equal(why, reason);
}
