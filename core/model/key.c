/* SPDX-License-Identifier: MIT
 *
 * key.c: the text of a key. */
#include "model/key.h"

#include <inttypes.h>

static uint32_t count_of(const qst__key *key)
{
    return key->count < QST_KEY_MAX ? key->count : QST_KEY_MAX;
}

/* NULL where the value has no word of its own. */
static const char *word_of(const qst_key_field *field, int64_t value)
{
    if (field->kind == QST_KEY_FLAG && (value == 0 || value == 1))
        return value ? "true" : "false";
    if (field->kind == QST_KEY_ENUM && value >= 0 && value < (int64_t)field->n_tokens)
        return field->tokens[value];
    return NULL;
}

void qst__key_print(const qst__key *key, const qst_op *op, bool ours, qst__str *out)
{
    const char *blank = "";
    for (uint32_t i = 0; i < count_of(key) && i < op->n_key_fields; i++) {
        const qst_key_field *field = &op->key_fields[i];
        if (!ours && (field->flags & QST_KEY_EXTRA))
            continue;
        const char *word = word_of(field, key->value[i]);
        if (word)
            qst__str_printf(out, "%s%s=%s", blank, field->name, word);
        else
            qst__str_printf(out, "%s%s=%" PRId64, blank, field->name, key->value[i]);
        blank = " ";
    }
}
