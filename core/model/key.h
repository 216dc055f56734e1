/* SPDX-License-Identifier: MIT
 *
 * key.h: a key's numbers held by value, and its text.
 */
#ifndef QST_MODEL_KEY_H
#define QST_MODEL_KEY_H

#include "base/str.h"

#include <quernstone/plugin.h>
#include <stdbool.h>

typedef struct qst__key {
    uint32_t count;
    uint32_t reserved;
    int64_t  value[QST_KEY_MAX];
} qst__key;

/* The key as candidates see it; borrows from `key`. */
static inline qst_key qst__key_view(const qst__key *key)
{
    qst_key view;
    view.count = key->count;
    view.reserved = 0;
    view.value = key->value;
    return view;
}

/* Appends `m=512 n=512 …`: sizes as numbers, enums as tokens, flags as true or false, in the order of the fields.
 * ours: also fields flagged QST_KEY_EXTRA. The whole text (ours = true) identifies a key in stores. */
void qst__key_print(const qst__key *key, const qst_op *op, bool ours, qst__str *out);

#endif
