/* SPDX-License-Identifier: MIT
 *
 * bad_undefined.c: needs a function that nobody has. */
#include "descriptor.h"

int32_t qst_test_nobody_has_this(const qst_host *host, void **instance);

DESCRIPTOR_OF("bad_undefined", qst_test_nobody_has_this);
