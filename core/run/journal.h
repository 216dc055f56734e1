/* SPDX-License-Identifier: MIT
 *
 * journal.h: what the store keeps about a candidate that is being tried, or at which processes have died.
 *
 * Key: SHA-256 of candidate name, digest of its plugin's file, target, driver and what is below it, so that a new build
 * or driver starts anew. Value: cache/envelope.h, kind 'Q', key text the candidate's full name; open u32 (0, 1), harm
 * u32, deaths u32, then three terminated texts: the problem being tried, the problem at which a process last died, and
 * what is known of that.
 */
#ifndef QST_RUN_JOURNAL_H
#define QST_RUN_JOURNAL_H

#include "run/run.h"

/* Of deaths that nothing has explained: so many make a candidate suspect, and put it into quarantine; the last is for all
 * deaths together, explained or not. */
#define QST__HARM_SUSPECT    1u
#define QST__HARM_QUARANTINE 2u
#define QST__DEATHS_MAX      5u

typedef struct qst__journal {
    bool        open;    /* it is being tried; where nobody claims the key, whoever did is dead */
    uint32_t    harm;    /* deaths, less those that it has made good */
    uint32_t    deaths;  /* ever */
    const char *trying;  /* a problem's text; "" none */
    const char *died_at; /* "" none */
    const char *why;     /* "" nothing is known */
    const char *name;    /* the candidate's; not terminated when read */
    size_t      name_length;
} qst__journal;

/* E_CORRUPT: damaged; E_STALE: of another schema. The texts stay inside the bytes. */
qst_status qst__journal_open(qst__journal *journal, const void *bytes, size_t length);
/* Memory of the caller (qst__free); NULL where there is none. */
uint8_t *qst__journal_seal(const qst__journal *journal, const qst__alloc *alloc, size_t *length);

void qst__journal_key(const qst__shelf *shelf, uint32_t candidate, uint8_t key[32]);

bool qst__journal_suspects(const qst__journal *journal);
bool qst__journal_bars(const qst__journal *journal);
/* "watched", "suspect", "quarantined". */
const char *qst__journal_standing(const qst__journal *journal);

#endif
