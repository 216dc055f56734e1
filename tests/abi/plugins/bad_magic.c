/* SPDX-License-Identifier: MIT
 *
 * bad_magic.c: data of another kind under our symbol. */
#include "descriptor.h"

DESCRIPTOR(qst_plugin_v1, 0xdeadbeefu, QST_ABI_MAJOR, 0, 0, "bad_magic", adds_nothing);
