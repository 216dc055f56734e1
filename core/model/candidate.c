/* SPDX-License-Identifier: MIT
 *
 * candidate.c: taking over the descriptors of candidates and groups. */
#include "model/candidate.h"

#include "model/op.h"

#include <string.h>

#define LEAST_GROUP QST_SIZE_TO(qst_group, constant)

static uint32_t closed_classes(uint32_t classes)
{
    classes &= QST_CLASS_STRICT | QST_CLASS_PLAIN | QST_CLASS_FAST;
    if (classes & QST_CLASS_STRICT)
        classes |= QST_CLASS_PLAIN;
    return classes | QST_CLASS_FAST;
}

static const char *form_fault(const qst_candidate *c)
{
    bool launches = c->program || c->steps;
    bool vendor = c->open || c->enqueue || c->close;
    if (launches && vendor)
        return "both forms, launches as data and a vendor's call";
    if (!launches && !vendor)
        return "neither program and steps nor open, enqueue and close";
    if (launches && !(c->program && c->steps))
        return "only one of program and steps";
    if (vendor && !(c->open && c->enqueue && c->close))
        return "not all of open, enqueue and close";
    return NULL;
}

qst_status qst__candidate_take(qst_candidate *out, const qst_candidate *candidate, const qst_op *op, qst_error *err)
{
    if (!candidate || !qst__take_struct(out, sizeof *out, QST__LEAST_CANDIDATE, candidate))
        return qst__fail(err, QST_E_INVALID, op->name, "candidate of %u bytes, at least %u: is its size set?",
                         candidate ? candidate->size : 0, (unsigned)QST__LEAST_CANDIDATE);
    if (!qst__is_name(out->variant, ".-"))
        return qst__fail(err, QST_E_INVALID, op->name, "candidate: bad variant name '%s': not of [a-z0-9_x.-]",
                         out->variant ? out->variant : "(null)");
    if (out->op && strcmp(out->op, op->name) != 0)
        return qst__fail(err, QST_E_INVALID, op->name, "candidate %s is one of operation %s", out->variant, out->op);
    if (out->flags & QST__MUST_FLAGS)
        return qst__fail(err, QST_E_INVALID, op->name, "candidate %s: flags %#x are unknown", out->variant, out->flags);
    if (out->revision == 0)
        return qst__fail(err, QST_E_INVALID, op->name, "candidate %s: revision 0, they count from 1", out->variant);
    if (out->problem_size < sizeof out->size || out->problem_size > op->problem_size)
        return qst__fail(err, QST_E_INVALID, op->name, "candidate %s: problem_size %u is not in %u..%u", out->variant,
                         out->problem_size, (unsigned)sizeof out->size, op->problem_size);
    const char *fault = form_fault(out);
    if (fault)
        return qst__fail(err, QST_E_INVALID, op->name, "candidate %s: %s", out->variant, fault);
    if (out->n_memberships > QST__MEMBERSHIPS_MAX || (out->n_memberships && !out->memberships))
        return qst__fail(err, QST_E_INVALID, op->name, "candidate %s: %u memberships, at most %u%s", out->variant,
                         out->n_memberships, QST__MEMBERSHIPS_MAX, out->memberships ? "" : ", at NULL");
    out->classes = closed_classes(out->classes);
    return QST_OK;
}

qst_status qst__group_take(qst_group *out, const qst_group *group, const char *op, qst_error *err)
{
    if (!group || !qst__take_struct(out, sizeof *out, LEAST_GROUP, group))
        return qst__fail(err, QST_E_INVALID, op, "group of %u bytes, at least %u: is its size set?",
                         group ? group->size : 0, (unsigned)LEAST_GROUP);
    if (!qst__is_name(out->name, "-"))
        return qst__fail(err, QST_E_INVALID, op, "group: bad name '%s': not of [a-z0-9_-]",
                         out->name ? out->name : "(null)");
    if (out->flags & QST__MUST_FLAGS)
        return qst__fail(err, QST_E_INVALID, op, "group %s: flags %#x are unknown", out->name, out->flags);
    return QST_OK;
}
