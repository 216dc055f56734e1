/* SPDX-License-Identifier: MIT
 *
 * bad_magic.c: data of another kind under our symbol. */
#include <quernstone/plugin.h>

static int32_t start(const qst_host *host, void **instance)
{
    (void)host;
    *instance = NULL;
    return QST_OK;
}

QST_API const qst_plugin qst_plugin_v1 = {
    .magic = 0xdeadbeefu,
    .size = sizeof(qst_plugin),
    .abi_major = QST_ABI_MAJOR,
    .abi_minor = QST_ABI_MINOR,
    .name = "bad_magic",
    .version = "1.0",
    .licence = "MIT",
    .start = start,
};
