/* SPDX-License-Identifier: MIT
 *
 * history.h: what happened, for people and tools: sessions and their records in QST_DB_HISTORY. Look-ups never read it.
 *
 *     key    session u64 big-endian, number u64 big-endian: a session's row has number 0 and comes before its records
 *     value  an envelope of kind 'H' (envelope.h) around JSON text:
 *            {"session": "<id>", "started_unix_ms": …, "pid": …, "version": "…", "label": "…"}
 *            {"kind": "autotune", "offset_ns": …, "record": {…}}
 *
 * A session is one process with one store; its id is the time at which it began, in ns since 1970, moved on while it is
 * taken. Rows are only added. Nothing is written until something changed (a verdict stored, a program compiled): what
 * was merely observed before waits in memory, 1 MiB at most, oldest dropped first. With the first change old sessions go,
 * until `keep` are left, this one among them.
 *
 *     level off    nothing          basic  all but what is marked heavy          full  all
 *
 * Failures of the store lose rows and nothing else.
 */
#ifndef QST_CACHE_HISTORY_H
#define QST_CACHE_HISTORY_H

#include "base/base.h"
#include "base/settings.h" /* QST__HISTORY_OFF, … */

#include <quernstone/store.h>

enum {
    QST__NOTE_CHANGED = 1u << 0, /* not merely observed */
    QST__NOTE_HEAVY = 1u << 1    /* only at level full */
};

#define QST__HISTORY_HELD   ((size_t)1 << 20) /* bytes of rows before the first change */
#define QST__HISTORY_SCHEMA 1u

typedef struct qst__history qst__history;

typedef struct qst__history_options {
    int32_t     level;   /* QST__HISTORY_… */
    uint32_t    keep;    /* sessions; 0: all */
    const char *label;   /* NULL: none */
    uint64_t    unix_ns; /* now, since 1970; 0: ask the system */
    uint64_t    now_ns;  /* on the clock of the notes */
} qst__history_options;

/* Begins a session; nothing is written yet. At level off *history is NULL, which all functions accept. `store` and
 * `alloc` must outlive it. E_NOMEM. */
qst_status qst__history_begin(qst__history **history, qst_store *store, const qst__alloc *alloc,
                              const qst__history_options *options, qst_error *err);

/* [any thread] Adds a record: kind a name ([a-z0-9_.]), json one JSON value as text, now_ns as above, flags
 * QST__NOTE_…. Costs nothing but a look at a flag where the level leaves it out. */
void qst__history_note(qst__history *history, const char *kind, const char *json, uint64_t now_ns, uint32_t flags);

/* Ends the session and frees it; what was only observed is gone. */
void qst__history_end(qst__history *history);

#endif
