/* SPDX-License-Identifier: MIT
 *
 * bad_name.c: a name with characters that no configuration key could hold. */
#include "descriptor.h"

DESCRIPTOR(qst_plugin_v1, QST_PLUGIN_MAGIC, QST_ABI_MAJOR, 0, 0, "Bad-Name", adds_nothing);
