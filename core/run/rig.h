/* SPDX-License-Identifier: MIT
 *
 * rig.h: the rig on a real device: tune/rig.h over the candidates of one route.
 */
#ifndef QST_RUN_RIG_H
#define QST_RUN_RIG_H

#include "model/field.h"
#include "run/run.h"
#include "tune/rig.h"

qst_status qst__rig_create(qst__rig *rig, qst__route *route, uint32_t depth, qst_error *err);
/* The route's problem turned into another (QST_VARY_…), in normal form. E_UNSUPPORTED: there is none. */
qst_status qst__rig_derive(const qst__route *route, uint32_t which, void *out);
/* Was anything measured with it? */
bool qst__rig_opened(const qst__rig *rig);
/* A zeroed rig is fine. */
void qst__rig_destroy(qst__rig *rig);

#endif
