/* SPDX-License-Identifier: MIT
 *
 * getenv.c: an elevated process takes nothing from its environment. */
#define _GNU_SOURCE
#include "base/getenv.h"

#include <stdlib.h>

const char *qst__getenv(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}
