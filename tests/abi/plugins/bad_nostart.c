/* SPDX-License-Identifier: MIT
 *
 * bad_nostart.c: a descriptor without start. */
#include "descriptor.h"

DESCRIPTOR(qst_plugin_v1, QST_PLUGIN_MAGIC, QST_ABI_MAJOR, 0, 0, "bad_nostart", NULL);
