/* SPDX-License-Identifier: MIT
 *
 * bad_flags.c: sets a flag that the host must understand and does not, beside one that it may ignore. */
#include <quernstone/plugin.h>

static int32_t start(const qst_host *host, void **instance)
{
    (void)host;
    *instance = NULL;
    return QST_OK;
}

QST_API const qst_plugin qst_plugin_v1 = {
    .magic = QST_PLUGIN_MAGIC,
    .size = sizeof(qst_plugin),
    .abi_major = QST_ABI_MAJOR,
    .abi_minor = QST_ABI_MINOR,
    .flags = 0x00010001u,
    .name = "bad_flags",
    .version = "1.0",
    .licence = "MIT",
    .start = start,
};
