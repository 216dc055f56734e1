/* SPDX-License-Identifier: MIT
 *
 * cache.h: what a context's store holds, for tools and for programs that ship answers tuned elsewhere.
 *
 * A record is a value of one of the store's tables; its id is its key in lower-case hex, and every call takes any
 * unambiguous beginning of four digits or more for it. Four tables are understood here: "verdicts", what tuning found
 * about one key of one operation on one target; "programs", binaries (or the log of a build known to fail);
 * "throughput", what a device can do at most; "quarantine", candidates at which processes have died, or that are
 * being tried. Others are listed and left alone. States of a record:
 *   current   of this release's schema, undamaged, and under the key that its content says
 *   stale     of another release's schema: not used, written anew when its key is tuned
 *   damaged   not used, repaired when its key is tuned
 *   kept      of a table that is not looked into here
 *
 * Nothing here needs a device or makes an OpenCL call. Answers that a context has already taken from its store stay in
 * force in it whatever is removed here. With a store in memory, all of this is about one process.
 */
#ifndef QUERNSTONE_CACHE_H
#define QUERNSTONE_CACHE_H

#include <quernstone/types.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* [any thread] Writes where the store stands as a JSON object: name, place (null: memory), environment, lasts, readonly,
 * degraded (null: it is as asked for), file_bytes, map_bytes, entries by table. */
QST_API qst_status qst_cache_stat(qst_context *context, qst_sink sink, void *user, qst_error *err);

/* [any thread] Writes a JSON array of all records, tables in turn, keys ascending: table, id, state, bytes; of verdicts
 * also op, key, target, driver, problem, winner, partial, prior; of programs also failed; of both at_s, the time it was
 * stored or, of programs, last used within a day: s since 1970; of throughput also key, candidate, value; of quarantine
 * also candidate, standing ("watched": being tried, or its deaths are made good; "suspect": tried after all others;
 * "quarantined": not tried), deaths (of processes), unexplained (less those that it has made good by coming back), trying
 * and died_at (problems; null: none), why (null: nothing is known). Damaged and stale ones have the first four only. */
QST_API qst_status qst_cache_list(qst_context *context, qst_sink sink, void *user, qst_error *err);

/* [any thread] Writes one record as a JSON object: what the list says; of a verdict also all that qst_describe's
 * "verdicts" say; of a failed build its log. E_NOTFOUND: no such id; E_INVALID: no hex, too short, or several. */
QST_API qst_status qst_cache_show(qst_context *context, const char *id, qst_sink sink, void *user, qst_error *err);

/* [any thread] Writes the bytes of a program as its driver gave them. E_NOTFOUND, E_INVALID as above; E_UNSUPPORTED: no
 * program, or a failed one; E_STALE, E_CORRUPT: it is. */
QST_API qst_status qst_cache_extract(qst_context *context, const char *id, qst_sink sink, void *user, qst_error *err);

/* What qst_cache_verify counts. Grows. */
typedef struct qst_cache_check {
    uint32_t size;
    uint32_t reserved;
    uint64_t current, stale, damaged, kept; /* as found */
    uint64_t removed;                       /* of the damaged, and of those set aside */
    uint64_t
        set_aside; /* files of stores that were damaged as a whole: each was put aside in the store's folder when it
                         * was opened, its records lost, and a new store begun */
} qst_cache_check;

enum { QST_CACHE_REMOVE_DAMAGED = 1u << 0 };

/* [any thread] Reads every record whole: header, checksum, content, and whether it stands under its own key. The sink
 * (NULL: none) gets one line for each that is stale or damaged, and for each file that was set aside. QST_OK whatever
 * is found: the counts tell. E_REFUSED, E_IO: what is damaged cannot be removed. */
QST_API qst_status qst_cache_verify(qst_context *context, uint32_t flags, qst_cache_check *check, qst_sink sink,
                                    void *user, qst_error *err);

enum {
    QST_CACHE_UNUSABLE = 1u << 0, /* what is stale or damaged */
    QST_CACHE_ALL = 1u << 1       /* everything, of all tables but the store's own notes */
};

/* What to remove; several may be asked for at once. Grows.
 *   op              verdicts of operations whose name matches, `*` for any run of characters; NULL: none
 *   programs_bytes  programs, least recently used first, until no more than these bytes are left; UINT64_MAX: no limit
 *   quarantine      what is held against candidates whose full name matches: contexts made from now on try them again */
typedef struct qst_cache_prune_options {
    uint32_t    size;
    uint32_t    flags; /* QST_CACHE_UNUSABLE, QST_CACHE_ALL */
    const char *op;
    uint64_t    programs_bytes;
    const char *quarantine;
} qst_cache_prune_options;

static inline void qst_cache_prune_options_init(qst_cache_prune_options *options)
{
    memset(options, 0, sizeof *options);
    options->size = (uint32_t)sizeof *options;
    options->programs_bytes = UINT64_MAX;
}

/* [any thread] Removes records; *removed (NULL: not wanted) says how many. */
QST_API qst_status qst_cache_prune(qst_context *context, const qst_cache_prune_options *options, uint64_t *removed,
                                   qst_error *err);

/* [any thread] Writes the current verdicts of operations whose name matches `op` (NULL: all) as JSON text that
 * qst_cache_import reads, on any machine. */
QST_API qst_status qst_cache_export(qst_context *context, const char *op, qst_sink sink, void *user, qst_error *err);

/* What qst_cache_import did. Grows. */
typedef struct qst_cache_imported {
    uint32_t size;
    uint32_t reserved;
    uint64_t added;   /* are used from now on, each after one re-check at its first call */
    uint64_t present; /* left out: the store has an answer of its own, measured or imported */
    uint64_t refused; /* left out: damaged, or of another schema */
} qst_cache_imported;

/* [any thread] Takes verdicts of an export in, as priors: a measurement made here always goes before them. What the
 * store has already is never replaced. imported NULL: not wanted. E_CORRUPT: the text is no export, with the place. */
QST_API qst_status qst_cache_import(qst_context *context, const char *text, size_t length, qst_cache_imported *imported,
                                    qst_error *err);

/* A candidate's full name, and the time of a run in ns, at least 1. Value struct. */
typedef struct qst_cache_time {
    const char *candidate;
    uint64_t    ns;
} qst_cache_time;

#define QST_CACHE_ID_BYTES 65u /* digits of the id of a verdict, and a terminator */

/* [any thread] Puts in an answer that was found by other means, as a prior: for a target (as qst_describe's "devices"
 * name it), an operation and a whole key (as "verdicts" print it), what candidates take there. It is used after one
 * re-check; then candidates that it does not name are tried as those of a new plugin are. `id` (NULL: not wanted) has
 * QST_CACHE_ID_BYTES. E_STATE: the store has an answer, which stays; E_INVALID: no name, no time. */
QST_API qst_status qst_cache_seed(qst_context *context, const char *target, const char *op, const char *key,
                                  const qst_cache_time *times, uint32_t count, char *id, qst_error *err);

/* [any thread] Decides every current verdict again, from its stored samples, and writes a JSON array: id, op, key,
 * winner as stored, replayed as decided now, same. */
QST_API qst_status qst_cache_replay(qst_context *context, qst_sink sink, void *user, qst_error *err);

#ifdef __cplusplus
}
#endif
#endif
