/* SPDX-License-Identifier: MIT
 *
 * double_unit.c: the plugin of register tiles staged in two buffers, one filled while the other is used: its table
 * and its priority. A variant is a line here.
 */
#include "plugins/common/unit_family.h"
#include "unit.cl.h"

static const unit_row rows[] = {
    /* variant: tile of a group and of a unit, where it is fixed; kind, {tm, tk, pm, pn, pk, sm, sn} */
    {"max", UNIT_MAX, {0, 0, 0, 0, 0, 0, 0}},
    {"min", UNIT_MIN, {0, 0, 0, 0, 0, 0, 0}},
    {"128x128x16_8x8", UNIT_FIXED, {4, 4, 2, 2, 4, 16, 16}},
    {"64x64x16_8x4", UNIT_FIXED, {4, 4, 2, 1, 4, 8, 16}},
    {"32x32x32_4x4", UNIT_FIXED, {4, 4, 1, 1, 8, 8, 8}},
};

/* A second buffer pays where there is much to stage. */
static int32_t priority(void *user, const qst_device *device, const qst_key *key)
{
    (void)user;
    (void)device;
    return key->value[QST_MATMUL_KEY_KIND] == QST_KIND_GENERAL && key->value[QST_MATMUL_KEY_SCALE] != QST_SCALE_SMALL
               ? 3
               : 2;
}

static const qst_membership membership = {"unit", priority, 0, 0};

static const unit_family family = {
    .buffers = 2,
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

PLUGIN(double_unit, .start = start, .stop = plugin_close);
