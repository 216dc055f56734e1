/* SPDX-License-Identifier: MIT
 *
 * bad_size.c: a descriptor that ends before start, and says so. */
#include <quernstone/plugin.h>

typedef struct short_plugin {
    uint32_t magic;
    uint32_t size;
    uint32_t abi_major;
    uint32_t abi_minor;
} short_plugin;

QST_API const short_plugin qst_plugin_v1 = {QST_PLUGIN_MAGIC, sizeof(short_plugin), QST_ABI_MAJOR, QST_ABI_MINOR};
