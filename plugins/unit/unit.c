/* SPDX-License-Identifier: MIT
 *
 * unit.c: the plugin of register tiles staged in one buffer: its table. A variant is a line here.
 */
#include "plugins/common/unit_family.h"
#include "unit.cl.h"

static const unit_row rows[] = {
    /* variant: tile of a group and of a unit, where it is fixed; kind, {tm, tk, pm, pn, pk, sm, sn} */
    {"max", UNIT_MAX, {0, 0, 0, 0, 0, 0, 0}},
    {"min", UNIT_MIN, {0, 0, 0, 0, 0, 0, 0}},
    {"128x128x8_8x8", UNIT_FIXED, {4, 4, 2, 2, 2, 16, 16}},
    {"128x64x16_8x4", UNIT_FIXED, {4, 4, 2, 1, 4, 16, 16}},
    {"32x64x32_4x4", UNIT_FIXED, {4, 4, 1, 1, 8, 8, 16}},
};

static const qst_membership membership = {"unit", NULL, 3, 0};

static const unit_family family = {
    .buffers = 1,
    .revision = 3,
    .n_rows = QSTK_COUNT(rows),
    .rows = rows,
    .membership = &membership,
    .source = unit_cl,
    .length = sizeof unit_cl - 1,
};

static int32_t start(const qst_host *host, void **instance)
{
    return unit_start(host, &family, instance);
}

PLUGIN(unit, .start = start, .stop = plugin_close);
