/* SPDX-License-Identifier: MIT
 *
 * bad_dependency.c: needs a library that is not there. */
#include "descriptor.h"

extern int qst_test_gone(void);

static int32_t start(const qst_host *host, void **instance)
{
    (void)host;
    *instance = NULL;
    return qst_test_gone() ? QST_OK : QST_E_INTERNAL;
}

DESCRIPTOR_OF("bad_dependency", start);
