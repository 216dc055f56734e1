/* SPDX-License-Identifier: MIT
 *
 * bad_symbol.c: a descriptor under another name. */
#include "descriptor.h"

DESCRIPTOR(qst_plugin_v9, QST_PLUGIN_MAGIC, QST_ABI_MAJOR, 0, 0, "bad_symbol", adds_nothing);
