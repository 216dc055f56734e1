/* SPDX-License-Identifier: MIT
 *
 * schema.h: the keys of the configuration, one row each: everything that is said about a key is said there, and the
 * readers, the error texts and `qst config` come from it.
 *
 * A path's parts are separated by dots. A part in angle brackets stands for any name of [a-z0-9_], `<op>` also for
 * several parts, since names of operations have dots. A row with such a part is open: its values are kept as text in
 * the settings' pairs. A path that could still become a row's is a section.
 */
#ifndef QST_CONF_SCHEMA_H
#define QST_CONF_SCHEMA_H

#include "base/base.h"

typedef enum qst__key_type {
    QST__TYPE_TEXT,   /* char *, NULL where empty */
    QST__TYPE_NAME,   /* char *, a file name of [A-Za-z0-9._-] and at most QST__NAME_MAX bytes, not of dots alone */
    QST__TYPE_PATH,   /* char *, absolute, NULL where empty */
    QST__TYPE_LOG,    /* the same, a list that qst__log_configure understands */
    QST__TYPE_ANY,    /* open rows only: a text, a number or a truth value, kept as text */
    QST__TYPE_LIST,   /* qst__strings; a text counts as a list of one; of a variable: separated by commas */
    QST__TYPE_GATHER, /* the same, beside what lower sources say; an empty list, or first item, takes that back */
    QST__TYPE_PATHS,  /* qst__strings of absolute directories; of a variable: separated by colons, and in front */
    QST__TYPE_INT,    /* int32_t */
    QST__TYPE_LONG,   /* int64_t */
    QST__TYPE_REAL,   /* double */
    QST__TYPE_BOOL,   /* bool; of a variable: true, 1, on, false, 0, off */
    QST__TYPE_WORD,   /* int32_t: index of the token */
    QST__TYPE_GRADE   /* int32_t: index of the token; the index itself will do as well */
} qst__key_type;

#define QST__NAME_MAX 64u

#define QST__SOURCE(from) (1u << (from)) /* of QST__FROM_… */

typedef struct qst__key_row {
    const char        *path;
    qst__key_type      type;
    uint32_t           sources;  /* which may set it */
    size_t             offset;   /* in qst__settings; QST__OPEN: an open row */
    const char        *standard; /* the default as text, as a variable would say it; "": not set */
    double             min, max; /* of numbers, both included */
    const char *const *tokens;   /* of words; NULL at the end */
    const char        *variable; /* NULL: no variable sets it */
    const char        *help;
} qst__key_row;

#define QST__OPEN ((size_t)-1)

extern const qst__key_row qst__schema[];
extern const uint32_t     qst__schema_rows;

/* The row of a path, or NULL. */
const qst__key_row *qst__schema_find(const char *path);

/* Could a dot and more make a key of this path? */
bool qst__schema_section(const char *path);

/* The key or section that an unknown path was perhaps meant to be, written into `out`; false: none is near. */
bool qst__schema_near(const char *path, char *out, size_t out_size);

/* The same for the name of a variable, QST_…: a hint at one that takes few changes, that it begins with, or that ends in
 * the same word; or at a key which, as a variable, would be called so. */
bool qst__schema_near_variable(const char *name, char *out, size_t out_size);

/* The open row whose first part is the path's, or NULL: to tell the form of its names. */
const qst__key_row *qst__schema_form(const char *path);

#endif
