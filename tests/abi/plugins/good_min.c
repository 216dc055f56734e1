/* SPDX-License-Identifier: MIT
 *
 * good_min.c: a plugin of an older release, whose descriptor ended with start. It adds nothing. */
#include <quernstone/plugin.h>

typedef struct first_plugin {
    uint32_t    magic;
    uint32_t    size;
    uint32_t    abi_major;
    uint32_t    abi_minor;
    uint32_t    min_host_minor;
    uint32_t    flags;
    const char *name;
    const char *version;
    const char *licence;
    int32_t (*start)(const qst_host *host, void **instance);
} first_plugin;

static int32_t start(const qst_host *host, void **instance)
{
    (void)host;
    *instance = NULL;
    return QST_OK;
}

QST_API const first_plugin qst_plugin_v1 = {
    .magic = QST_PLUGIN_MAGIC,
    .size = sizeof(first_plugin),
    .abi_major = QST_ABI_MAJOR,
    .abi_minor = 0,
    .name = "good_min",
    .version = "1.0",
    .licence = "MIT",
    .start = start,
};
