/* SPDX-License-Identifier: MIT
 *
 * good_long.c: a plugin of a newer release, whose descriptor has members that this host does not know; they are zero,
 * so that it can do without them. It sets a flag that may be ignored. */
#include <quernstone/plugin.h>

typedef struct later_plugin {
    qst_plugin known;
    uint64_t   unknown[8];
} later_plugin;

static int32_t start(const qst_host *host, void **instance)
{
    (void)host;
    *instance = NULL;
    return QST_OK;
}

static void stop(void *instance)
{
    (void)instance;
}

QST_API const later_plugin qst_plugin_v1 = {
    .known =
        {
            .magic = QST_PLUGIN_MAGIC,
            .size = sizeof(later_plugin),
            .abi_major = QST_ABI_MAJOR,
            .abi_minor = QST_ABI_MINOR + 3u,
            .flags = 0x8000u,
            .name = "good_long",
            .version = "2.5",
            .licence = "MIT",
            .start = start,
            .stop = stop,
        },
};
