/* SPDX-License-Identifier: MIT
 *
 * set.h: an operation with its groups and candidates, as the tuner sees it. Descriptors are copied bounded into
 * structs of this release's size; what they point at stays their owner's.
 *
 * Adding is open until freeze; then the set is immutable and may be read from any thread.
 */
#ifndef QST_MODEL_SET_H
#define QST_MODEL_SET_H

#include "base/base.h"
#include "base/settings.h"

#include <quernstone/plugin.h>

typedef struct qst__group {
    qst_group desc;
    char     *name; /* owned */
    bool      overridden;
    int32_t   override; /* groups.<op>.<group>.priority of the configuration */
} qst__group;

typedef struct qst__candidate {
    qst_candidate desc;   /* memberships and classes as given; classes closed: STRICT → PLAIN → FAST */
    char         *name;   /* op.plugin.variant/revision, owned */
    uint32_t      index;  /* in the set; never stored */
    uint32_t      origin; /* which plugin added it: an index the adder chose; ~0: the application */
    uint32_t     *groups; /* n_memberships indices into set->groups, owned */
} qst__candidate;

typedef struct qst__set {
    const qst__alloc *alloc;
    qst_op            op; /* bounded copy */
    const qst_op     *op_given;
    qst__group       *groups;
    uint32_t          n_groups;
    qst__candidate   *candidates;
    uint32_t          n_candidates;
    uint32_t          fallback; /* index, ~0 where there is none */
    bool              frozen;
    uint8_t           checksum[32]; /* valid when frozen: checksum.h */
    qst_candidate    *trivial;      /* bounded copies, owned; op.trivial and op.judge point at them */
    qst_judge        *judge;
    const char      **names; /* room for n_candidates, owned: freezing needs no memory */
} qst__set;

/* Copies and checks the descriptor (op.h); adds the operation's own groups, which stand in memory one after the
 * other, each as long as its own size says. On failure nothing is left to finish. */
qst_status qst__set_init(qst__set *set, const qst__alloc *alloc, const qst_op *op, qst_error *err);
void       qst__set_finish(qst__set *set);

/* E_STATE: frozen, or the name is there already. */
qst_status qst__set_group(qst__set *set, const qst_group *group, qst_error *err);

/* Adds one; `plugin` is the name's second part. E_INVALID: descriptor out of contract (candidate.h), an unknown
 * group, another operation's candidate (op NULL: this one's), a second fallback; E_STATE: frozen, or the name is there
 * already. On failure the set is as before. Candidates and groups move in memory while the set is open. */
qst_status qst__set_add(qst__set *set, const qst_candidate *candidate, const char *plugin, uint32_t origin,
                        qst_error *err);

/* Takes back the newest candidates and groups until the counts are as given: undo of a transaction. */
void qst__set_truncate(qst__set *set, uint32_t n_groups, uint32_t n_candidates);

/* Applies priority overrides (settings NULL: none), computes the checksum; from here on nothing changes. */
void qst__set_freeze(qst__set *set, const qst__settings *settings);

/* The index of a full name, ~0 where it is not there. */
uint32_t qst__set_find(const qst__set *set, const char *name);

/* The class bit that a problem asks for (op.numerics_offset). FAST, which every candidate satisfies, where the
 * operation has no classes; a bit that none satisfies for a number that is no class. */
uint32_t qst__set_class_of(const qst__set *set, const void *problem);

/* May the candidate be offered this problem: is every byte beyond the problem struct it was compiled with zero?
 * problem_size: bytes of the problem, the operation's. */
bool qst__candidate_takes(const qst__candidate *candidate, const void *problem, uint32_t problem_size);

/* A group's priority, and that of a candidate's i-th membership. */
int32_t qst__group_priority(const qst__group *group, const qst_device *device, const qst_key *key);
int32_t qst__member_priority(const qst__candidate *candidate, uint32_t i, const qst_device *device, const qst_key *key);

#endif
