/* SPDX-License-Identifier: MIT
 *
 * bad_minor.c: needs a newer host of the same major version. */
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
    .min_host_minor = QST_ABI_MINOR + 9u,
    .name = "bad_minor",
    .version = "1.0",
    .licence = "MIT",
    .start = start,
};
