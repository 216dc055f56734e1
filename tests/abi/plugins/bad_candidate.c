/* SPDX-License-Identifier: MIT
 *
 * bad_candidate.c: a plugin whose candidate's size was never set: 4 bytes hold nothing but the size. */
#include <quernstone/plugin.h>

static const qst_candidate nothing = {.size = 4, .op = "matmul", .variant = "nothing", .revision = 1};

static int32_t start(const qst_host *host, void **instance)
{
    *instance = NULL;
    return host->add_candidate(host->self, &nothing);
}

QST_API const qst_plugin qst_plugin_v1 = {.magic = QST_PLUGIN_MAGIC,
                                          .size = sizeof qst_plugin_v1,
                                          .abi_major = QST_ABI_MAJOR,
                                          .abi_minor = QST_ABI_MINOR,
                                          .name = "bad_candidate",
                                          .version = "1.0",
                                          .licence = "MIT",
                                          .start = start};
