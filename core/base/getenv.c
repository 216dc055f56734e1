/* SPDX-License-Identifier: MIT
 *
 * getenv.c: an elevated process takes nothing from its environment. */
#define _GNU_SOURCE
#include "base/getenv.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

const char *qst__getenv(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

const char *const *qst__getenv_all(void)
{
    static const char *const none[] = {NULL};
    return getauxval(AT_SECURE) || !environ ? none : (const char *const *)environ;
}
