/* SPDX-License-Identifier: MIT
 *
 * dl.c: the dynamic linker's functions, with its error text as one line. */
#define _GNU_SOURCE
#include "plug/dl.h"
#include "plug/elf.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first line of the linker's last error. It begins with the path as a rule, which the reader has already. */
static void linker_error(const char *path, char *why, size_t why_size)
{
    const char *text = dlerror();
    size_t      length = strlen(path);
    if (!text)
        text = "unknown error of the dynamic linker";
    else if (strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        text += length + 2;
    (void)snprintf(why, why_size, "%.*s", (int)strcspn(text, "\r\n"), text);
}

void *qst__dl_open(const char *path, char *why, size_t why_size)
{
    if (!qst__elf_whole(path, why, why_size))
        return NULL;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        linker_error(path, why, why_size);
    return handle;
}

const void *qst__dl_symbol(void *handle, const char *name, size_t *bytes)
{
    const void *symbol = dlsym(handle, name);
    *bytes = 0;
    Dl_info info;
    void   *entry = NULL;
    if (symbol && dladdr1(symbol, &info, &entry, RTLD_DL_SYMENT) && entry && info.dli_saddr == symbol)
        *bytes = (size_t)((const ElfW(Sym) *)entry)->st_size;
    return symbol;
}

qst_status qst__dl_self(const qst__alloc *alloc, char **path)
{
    static const char here = 0; /* a thing of this library's own, whose address the linker knows to place */
    Dl_info           info;
    void             *map = NULL;
    *path = NULL;
    if (!dladdr1(&here, &info, &map, RTLD_DL_LINKMAP) || !map)
        return QST_E_NOTFOUND;
    /* The linker knows the program itself by no name, or by one that need not be a path. */
    const char *name = ((const struct link_map *)map)->l_name;
    char       *real = realpath(name && strchr(name, '/') ? name : "/proc/self/exe", NULL);
    if (!real)
        return QST_E_NOTFOUND;
    *path = qst__strdup(alloc, real);
    free(real);
    return *path ? QST_OK : QST_E_NOMEM;
}
