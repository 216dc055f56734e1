/* SPDX-License-Identifier: MIT
 *
 * bad_undefined.c: needs a function that nobody has. */
#include <quernstone/plugin.h>

int32_t qst_test_nobody_has_this(const qst_host *host, void **instance);

QST_API const qst_plugin qst_plugin_v1 = {
    .magic = QST_PLUGIN_MAGIC,
    .size = sizeof(qst_plugin),
    .abi_major = QST_ABI_MAJOR,
    .abi_minor = QST_ABI_MINOR,
    .name = "bad_undefined",
    .version = "1.0",
    .licence = "MIT",
    .start = qst_test_nobody_has_this,
};
