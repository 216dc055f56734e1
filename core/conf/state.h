/* SPDX-License-Identifier: MIT
 *
 * state.h: what the files of conf/ share: the configuration while it is put together.
 *
 * A place is one source that was read, with the name that error texts and `qst config` use for it. Each key that is
 * set remembers the index of its place; what is set later replaces what was set before.
 */
#ifndef QST_CONF_STATE_H
#define QST_CONF_STATE_H

#include "base/base.h"
#include "base/settings.h"
#include "conf/conf.h"
#include "conf/schema.h"

typedef struct qst__place {
    uint32_t from;      /* QST__FROM_… */
    char    *name;      /* a file's path, a variable's name, "API", "default" */
    char    *directory; /* what relative directories are relative to; NULL: unknown */
} qst__place;

typedef struct qst__ignored { /* what was found and not read */
    bool  variable;           /* else a file */
    char *name;
    char *why;
} qst__ignored;

struct qst__conf {
    qst__alloc    alloc;
    qst__settings settings;
    uint32_t     *row_place;       /* of each row of the schema */
    uint32_t     *row_behind;      /* of each row that gathers: bits of the places whose items stay behind that one's */
    char         *working;         /* the working directory; NULL: unknown */
    QST__VEC(qst__place) places;   /* 0: the defaults */
    QST__VEC(uint32_t) pair_place; /* of each of the settings' pairs */
    QST__VEC(qst__ignored) ignored;
};

/* A value as it was given, before its row has looked at it. Borrowed. */
typedef struct qst__input {
    enum {
        QST__INPUT_NULL,
        QST__INPUT_BOOL,
        QST__INPUT_INT,
        QST__INPUT_REAL,
        QST__INPUT_TEXT,
        QST__INPUT_LIST,  /* of texts */
        QST__INPUT_MIXED, /* a list of anything else */
        QST__INPUT_OBJECT
    } kind;
    const char        *text;
    int64_t            integer;
    double             real; /* also of INT */
    bool               truth;
    const char *const *items;
    size_t             n_items;
} qst__input;

/* value.c: has the place set the path? Checks a value against its row and stores it, over what is there. */
bool       qst__conf_holds(const qst__conf *conf, uint32_t place, const qst__key_row *row, const char *path);
qst_status qst__conf_put(qst__conf *conf, uint32_t place, const qst__key_row *row, const char *path,
                         const qst__input *input, qst_error *err);

/* text.c: the same for a value as a variable or a default says it; and a value that is text, a number or a truth value
 * as text, allocated, NULL where there is no memory. */
qst_status qst__conf_put_text(qst__conf *conf, uint32_t place, const qst__key_row *row, const char *text,
                              qst_error *err);
char      *qst__conf_as_text(const qst__alloc *alloc, const qst__input *input);

/* fail.c: E_CONFIG with "<place>: <path>: <text>"; a long name of a file loses its beginning, never the cause. path
 * NULL: none. And E_NOMEM. */
qst_status qst__conf_fail(const qst__conf *conf, uint32_t place, const char *path, qst_error *err, const char *format,
                          ...) QST__PRINTF(5, 6);
/* The same for a place in a text: "<place>:<line>:<column>: <text>". */
qst_status qst__conf_fail_at(const qst__conf *conf, uint32_t place, int line, int column, qst_error *err,
                             const char *text);
qst_status qst__conf_nomem(qst_error *err);

/* parse.c: a new place, copied; UINT32_MAX where there is no memory. */
uint32_t qst__conf_add_place(qst__conf *conf, uint32_t from, const char *name, const char *directory);

/* parse.c: reads the JSON text of a place. */
qst_status qst__conf_read_json(qst__conf *conf, uint32_t place, const char *text, size_t length, qst_error *err);

/* variables.c: reads the variables, and notes those that are nobody's. */
qst_status qst__conf_read_variables(qst__conf *conf, qst_error *err);

/* files.c: a file, or a variable, that is passed over; copied. */
qst_status qst__conf_note_ignored(qst__conf *conf, bool variable, const char *name, const char *why, qst_error *err);

/* files.c: finds and reads the files, lowest first. */
qst_status qst__conf_read_files(qst__conf *conf, const qst__conf_sources *sources, qst_error *err);

#endif
