/* SPDX-License-Identifier: MIT
 *
 * bad_major.c: made for the next major version of the interface. */
#include "descriptor.h"

DESCRIPTOR(qst_plugin_v1, QST_PLUGIN_MAGIC, QST_ABI_MAJOR + 1u, 0, 0, "bad_major", adds_nothing);
