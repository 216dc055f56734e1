/* SPDX-License-Identifier: MIT
 *
 * bad_nostart.c: a descriptor without start. */
#include <quernstone/plugin.h>

QST_API const qst_plugin qst_plugin_v1 = {
    .magic = QST_PLUGIN_MAGIC,
    .size = sizeof(qst_plugin),
    .abi_major = QST_ABI_MAJOR,
    .abi_minor = QST_ABI_MINOR,
    .name = "bad_nostart",
    .version = "1.0",
    .licence = "MIT",
};
