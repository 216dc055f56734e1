/* SPDX-License-Identifier: MIT
 *
 * elf.c: where an ELF file must end, from its header and program headers. Section headers are not looked at: what is
 * loaded needs none. */
#include "plug/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { OWN_CLASS = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32 };

static uint64_t end_of(uint64_t start, uint64_t bytes)
{
    return bytes > UINT64_MAX - start ? UINT64_MAX : start + bytes;
}

static bool ends_before(uint64_t size, const char *what, uint64_t needed, char *why, size_t why_size)
{
    if (size >= needed)
        return false;
    (void)snprintf(why, why_size, "file ends at byte %" PRIu64 ", its %s %" PRIu64, size, what, needed);
    return true;
}

static bool read_at(int file, void *to, size_t bytes, uint64_t at, char *why, size_t why_size)
{
    ssize_t got = pread(file, to, bytes, (off_t)at);
    if (got == (ssize_t)bytes)
        return true;
    (void)snprintf(why, why_size, "cannot be read: %s", got < 0 ? strerror(errno) : "it became shorter");
    return false;
}

static bool whole(int file, uint64_t size, char *why, size_t why_size)
{
    ElfW(Ehdr) header = {0};
    ElfW(Phdr) segment;
    uint64_t needed = 0;
    size_t   held = size < sizeof header ? (size_t)size : sizeof header;
    if (!read_at(file, &header, held, 0, why, why_size))
        return false;
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
        (void)snprintf(why, why_size, "not a shared object");
        return false;
    }
    if (ends_before(size, "header needs", sizeof header, why, why_size))
        return false;
    if (header.e_ident[EI_CLASS] != OWN_CLASS || header.e_phentsize != sizeof segment)
        return true; /* the linker refuses these by the header alone */
    if (ends_before(size, "program headers need", end_of(header.e_phoff, header.e_phnum * (uint64_t)sizeof segment),
                    why, why_size))
        return false;
    for (uint64_t i = 0; i < header.e_phnum; i++) {
        if (!read_at(file, &segment, sizeof segment, header.e_phoff + i * sizeof segment, why, why_size))
            return false;
        uint64_t end = segment.p_type == PT_LOAD && segment.p_filesz ? end_of(segment.p_offset, segment.p_filesz) : 0;
        needed = end > needed ? end : needed;
    }
    return !ends_before(size, "segments need", needed, why, why_size);
}

bool qst__elf_whole(const char *path, char *why, size_t why_size)
{
    struct stat info;
    int         file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
        (void)snprintf(why, why_size, "cannot be opened: %s", strerror(errno));
        return false;
    }
    bool good = fstat(file, &info) == 0;
    if (good)
        good = whole(file, (uint64_t)info.st_size, why, why_size);
    else
        (void)snprintf(why, why_size, "cannot be read: %s", strerror(errno));
    (void)close(file);
    return good;
}
