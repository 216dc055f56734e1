/* SPDX-License-Identifier: MIT
 *
 * adopt.c: a stored verdict for the set of today: what is known of candidates still there counts on, by name. */
#include "model/verdict.h"

#include <string.h>

/* Everything but the name, which `to` has already. */
static qst_status take_over(qst__finding *to, const qst__finding *from, const qst__alloc *alloc)
{
    char *name = to->name;

    *to = *from;
    to->name = name;
    to->why = from->why ? qst__strdup(alloc, from->why) : NULL;
    return from->why && !to->why ? QST_E_NOMEM : QST_OK;
}

qst_status qst__verdict_adopt(qst__verdict *out, const qst__alloc *alloc, const qst__set *set,
                              const qst__verdict *stored)
{
    qst_status status = qst__verdict_init(out, alloc, set);
    bool       fresh = false;

    if (status != QST_OK)
        return status;
    out->flags = stored->flags;
    out->level = stored->level;
    out->judge_revision = stored->judge_revision;
    out->ruler_revision = stored->ruler_revision;
    out->ruler = stored->ruler;
    out->limit_ns = stored->limit_ns;
    out->total_ns = stored->total_ns;
    out->problem = stored->problem ? qst__strdup(alloc, stored->problem) : NULL;
    out->driver = stored->driver ? qst__strdup(alloc, stored->driver) : NULL;
    if ((stored->problem && !out->problem) || (stored->driver && !out->driver))
        status = QST_E_NOMEM;
    for (uint32_t i = 0; i < out->n && status == QST_OK; i++) {
        uint32_t k = qst__verdict_find(stored, out->findings[i].name);
        if (k == UINT32_MAX)
            fresh = true;
        else
            status = take_over(&out->findings[i], &stored->findings[k], alloc);
    }
    if (fresh)
        out->flags |= QST__VERDICT_PARTIAL;
    if (status == QST_OK)
        memcpy(out->checksum, set->checksum, sizeof out->checksum);
    else
        qst__verdict_finish(out);
    return status;
}
