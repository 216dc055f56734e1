/* SPDX-License-Identifier: MIT
 *
 * layout.h: what a release's headers said of the structs and constants at the border, as tables to compare: one of the
 * frozen headers, one of today's, both of the same rows. layout.awk takes the rows from the frozen headers, so that each of
 * their members is there; layout.c is compiled once with the frozen headers and once with today's. A member that is gone or
 * has another type does not compile.
 */
#ifndef TEST_ABI_LAYOUT_H
#define TEST_ABI_LAYOUT_H

#include <stddef.h>

typedef enum layout_kind {
    LAYOUT_VALUE,  /* a struct that never grows: a = its size */
    LAYOUT_GROWS,  /* a struct that grows at its end: a = its size */
    LAYOUT_MEMBER, /* of the struct before: a = where it stands, b = its size */
    LAYOUT_NUMBER, /* a constant: a = its value */
    LAYOUT_TEXT    /* a constant */
} layout_kind;

typedef struct layout_row {
    layout_kind kind;
    const char *name;
    long long   a, b;
    const char *text;
} layout_row;

typedef struct layout {
    const layout_row *rows;
    size_t            count;
    unsigned          minor;
} layout;

layout layout_then(void);
layout layout_now(void);

#endif
