/* SPDX-License-Identifier: MIT
 *
 * bad_flags.c: sets a flag that the host must understand and does not, beside one that it may ignore. */
#include "descriptor.h"

DESCRIPTOR(qst_plugin_v1, QST_PLUGIN_MAGIC, QST_ABI_MAJOR, 0, 0x00010001u, "bad_flags", adds_nothing);
