/* SPDX-License-Identifier: MIT
 *
 * verdict.h: what tuning found about one key, candidate by candidate, by name; and its bytes (record-codec.c).
 *
 * A finding that ends in a time stands for a verified candidate. The winner is the first entry of `order`; the
 * others follow in the order in which they step in when it cannot run.
 */
#ifndef QST_MODEL_VERDICT_H
#define QST_MODEL_VERDICT_H

#include "model/set.h"
#include "model/stats.h"

/* What became of a candidate. X(name, text) */
#define QST__OUTCOME_LIST(X)                                                                                           \
    X(UNTRIED, "not tried")              /* no round reached it */                                                     \
    X(TIMED, "timed")                    /* right, with samples */                                                     \
    X(ELIMINATED, "eliminated")          /* right, dropped for being slow */                                           \
    X(VERIFIED, "verified")              /* right, not timed: sole candidate, or safe one */                           \
    X(SLOW, "too slow at first contact") /* dropped before it was verified */                                          \
    X(PRUNED, "pruned by estimate")      /* not built */                                                               \
    X(WRONG, "wrong result")             /* quarantined */                                                             \
    X(BUILD, "does not build")                                                                                         \
    X(LAUNCH, "does not launch")                                                                                       \
    X(UNMEASURED, "no valid time")                                                                                     \
    X(CANNOT, "cannot run this problem")                                                                               \
    X(UNSUPPORTED, "not supported")                                                                                    \
    X(CLASS, "numerics class not satisfied")                                                                           \
    X(REFUSED, "refused")                                                                                              \
    X(SKIPPED, "skipped by priority")                                                                                  \
    X(BUDGET, "budget spent before it")    /* the next miss goes on here */                                            \
    X(LIBRARY, "its library is not there") /* tried again when it opens */

#define QST__OUTCOME_ENUM(name, text) QST__OUTCOME_##name,
enum { QST__OUTCOME_LIST(QST__OUTCOME_ENUM) QST__OUTCOME_COUNT };
#undef QST__OUTCOME_ENUM

const char *qst__outcome_name(uint32_t outcome); /* "TIMED" */
const char *qst__outcome_text(uint32_t outcome);

/* Is it known to give right results here? TIMED, ELIMINATED, VERIFIED. */
bool qst__outcome_right(uint32_t outcome);

typedef struct qst__finding {
    char        *name;    /* full name, owned */
    uint32_t     outcome; /* QST__OUTCOME_… */
    uint32_t     round;   /* its round from 1, 0: in none */
    uint32_t     launches;
    uint32_t     poor;      /* last resort here */
    uint64_t     workspace; /* bytes */
    uint64_t     build_ns, verify_ns, sample_ns;
    double       estimate_ns; /* 0: unknown */
    qst__samples samples;
    char        *why; /* reason, build log or first wrong element; owned, NULL: none */
} qst__finding;

enum {
    QST__VERDICT_PARTIAL = 1u << 0,  /* the budget, or our death, ended it: the next miss goes on */
    QST__VERDICT_ROOF = 1u << 1,     /* the roof ended it: who has most samples under limit_ns wins */
    QST__VERDICT_MEDIANS = 1u << 3,  /* decided by medians alone */
    QST__VERDICT_COLD = 1u << 4,     /* operands were out of the caches before each sample */
    QST__VERDICT_COMPARED = 1u << 6, /* beside ROOF: who was tried was compared to the end all the same */
    QST__VERDICT_PROVEN = 1u << 5,   /* who does not build did not while others did; without it they are tried again */
    QST__VERDICT_PRIOR = 1u << 2     /* from elsewhere (another driver, an older judge, an import): to be re-checked */
};

typedef struct qst__verdict {
    const qst__alloc *alloc;
    qst__finding     *findings; /* one per candidate of the set at that time, in its order */
    uint32_t          n;
    uint32_t         *order; /* indices into findings: right ones, best first; has room for n */
    uint32_t          n_order;
    uint32_t          flags; /* QST__VERDICT_… */
    uint8_t           checksum[32];
    uint32_t          level;
    uint32_t          judge_revision;
    uint32_t          ruler_revision;
    uint32_t          ruler;    /* how times were taken: QST__RULER_… of tune/rig.h */
    uint64_t          limit_ns; /* roof; 0: none */
    uint64_t          total_ns; /* from miss to commit */
    uint64_t          wait_ns;  /* of these, what was waited for builds; not stored */
    bool              wait_known;
    char             *problem; /* text of the problem it was tuned on, owned */
    char             *driver;  /* owned */
    char             *op;      /* of whose key this is, owned; in memory it may be NULL: the entry knows */
    char             *target;  /* and of which kind of device, owned; the same */
    uint64_t          at_s;    /* when it was stored, s since 1970; 0: it was not */
} qst__verdict;

/* One finding per candidate of the set, all UNTRIED, with names. */
qst_status qst__verdict_init(qst__verdict *verdict, const qst__alloc *alloc, const qst__set *set);
void       qst__verdict_finish(qst__verdict *verdict);
qst_status qst__verdict_copy(qst__verdict *out, const qst__alloc *alloc, const qst__verdict *verdict);

/* Takes a stored verdict over for a set that may have changed: findings go by name, those of candidates that are gone
 * fall out, candidates it does not know are UNTRIED and make it PARTIAL, so that the next tuning contacts them alone.
 * `order` is left empty: whoever decides fills it. `stored` is unchanged. */
qst_status qst__verdict_adopt(qst__verdict *out, const qst__alloc *alloc, const qst__set *set,
                              const qst__verdict *stored);

/* Replaces the reason, printf-like; loses it silently where there is no memory. */
void qst__finding_why(qst__finding *finding, const qst__alloc *alloc, const char *format, ...) QST__PRINTF(3, 4);

/* The index into findings of a full name, ~0. */
uint32_t qst__verdict_find(const qst__verdict *verdict, const char *name);

/* Bytes and back. Little-endian; header: magic "QSTV", schema u32, length u32, CRC-32 of what follows; then the key's
 * text; then the verdict, whose order is written without findings that are not right. Decoding trusts nothing:
 * E_CORRUPT for any damage, E_STALE for another schema, E_NOTFOUND where the key text differs (a collision; key_text
 * NULL: any key will do). On failure the verdict is zeroed. The memory taken is bounded by the input's length. Encoded
 * memory belongs to the caller (qst__free). */
#define QST__RECORD_SCHEMA 2u
qst_status qst__verdict_encode(const qst__verdict *verdict, const char *key_text, const qst__alloc *alloc,
                               uint8_t **bytes, size_t *length);
qst_status qst__verdict_decode(qst__verdict *verdict, const char *key_text, const qst__alloc *alloc,
                               const uint8_t *bytes, size_t length);

/* The key text of an undamaged record, not terminated, inside bytes; NULL where it is damaged or of another schema. */
const char *qst__record_key(const uint8_t *bytes, size_t length, size_t *key_length);

#endif
