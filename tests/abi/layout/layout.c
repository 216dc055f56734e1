/* SPDX-License-Identifier: MIT
 *
 * layout.c: the rows of a release (LAYOUT_ROWS, by layout.awk) by the headers that this is compiled with; LAYOUT is
 * layout_then or layout_now. */
#include "abi/layout/layout.h"

#include <quernstone/ext/abilities.h>
#include <quernstone/matmul.h>
#include <quernstone/probe.h>

#define ROW_STRUCT(type, grows) {(grows) ? LAYOUT_GROWS : LAYOUT_VALUE, #type, (long long)sizeof(type), 0, NULL},
#define ROW_MEMBER(type, member)                                                                                       \
    {LAYOUT_MEMBER, #type "." #member, (long long)offsetof(type, member), (long long)sizeof(((type *)0)->member), NULL},
#define ROW_NUMBER(name) {LAYOUT_NUMBER, #name, (long long)(name), 0, NULL},
#define ROW_TEXT(name)   {LAYOUT_TEXT, #name, 0, 0, name},
#define ROW_TYPE(type, member, ...)
static const layout_row rows[] = {
#include LAYOUT_ROWS
};
#undef ROW_STRUCT
#undef ROW_MEMBER
#undef ROW_NUMBER
#undef ROW_TEXT
#undef ROW_TYPE

#define ROW_STRUCT(type, grows)
#define ROW_MEMBER(type, member)
#define ROW_NUMBER(name)
#define ROW_TEXT(name)
#define ROW_TYPE(type, member, ...)                                                                                    \
    _Static_assert(_Generic(&((type *)0)->member, __VA_ARGS__ : 1, default : 0),                                       \
                   #type "." #member " is no longer what the pointer to it says: " #__VA_ARGS__);
#include LAYOUT_ROWS

layout LAYOUT(void)
{
    return (layout){rows, sizeof rows / sizeof *rows, QST_ABI_MINOR};
}
