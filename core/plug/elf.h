/* SPDX-License-Identifier: MIT
 *
 * elf.h: is a file all there? The dynamic linker maps what the program headers state without a look at the file's end,
 * and a page past it kills the process that touches it.
 */
#ifndef QST_PLUG_ELF_H
#define QST_PLUG_ELF_H

#include "base/base.h"

/* An ELF file with its program headers and all the bytes of its loaded segments. False: `why` has one line without the
 * path. Whether it suits this process otherwise (class, byte order, machine) is left to the linker, which looks. */
bool qst__elf_whole(const char *path, char *why, size_t why_size);

#endif
