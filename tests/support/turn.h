/* SPDX-License-Identifier: MIT
 *
 * turn.h: an operation for tests of sets, `toy.turn`: an index is turned into another. Most of its functions do
 * nothing; tests change descriptors of it and look whether they are refused.
 */
#ifndef QST_TESTS_TURN_H
#define QST_TESTS_TURN_H

#include "model/set.h"

typedef struct turn {
    uint32_t size;
    uint32_t numerics;
    int64_t  n;
    uint32_t type, align;
    uint32_t late; /* came with a later release */
    uint32_t later;
} turn;

int32_t turn_program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out);
int32_t turn_steps(void *user, const qst_device *device, const void *problem, qst_steps *out);
int32_t turn_judge_program(void *user, const qst_device *device, const void *problem, uint32_t index, qst_program *out);
int32_t turn_judge_steps(void *user, const qst_device *device, const void *problem, uint32_t phase, uint64_t seed,
                         qst_steps *out);
void    turn_tell(void *user, const void *problem, uint32_t phase, const uint32_t *finding, char *text,
                  uint32_t text_size);
int32_t turn_open(void *user, const qst_device *device, void **instance, const char **why);
int32_t turn_enqueue(void *instance, const void *problem, const qst_call *call, const char **why);
void    turn_close(void *instance);

/* Groups high and low, as turn_op() has them. */
extern const qst_group turn_groups[2];

/* A whole operation without judge and trivial candidate; a whole candidate of it, of kernels. */
qst_op        turn_op(void);
qst_candidate turn_candidate(const char *variant);

#endif
