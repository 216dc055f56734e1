/* SPDX-License-Identifier: MIT
 *
 * bad_claim.c: a descriptor that says it is longer than what there is: reading so much would run off the end. */
#include <quernstone/plugin.h>

typedef struct short_plugin {
    uint32_t magic;
    uint32_t size;
} short_plugin;

QST_API const short_plugin qst_plugin_v1 = {QST_PLUGIN_MAGIC, sizeof(qst_plugin)};
