/* SPDX-License-Identifier: MIT
 *
 * bad_minor.c: needs a newer host of the same major version. */
#include "descriptor.h"

DESCRIPTOR(qst_plugin_v1, QST_PLUGIN_MAGIC, QST_ABI_MAJOR, QST_ABI_MINOR + 9u, 0, "bad_minor", adds_nothing);
