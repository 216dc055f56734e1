/* SPDX-License-Identifier: MIT
 *
 * near.c: which key, or which variable, an unknown name was perhaps meant to be. */
#include "conf/schema.h"

#include <stdio.h>
#include <string.h>

enum { NEAR_MAX = 48 }; /* a longer path is no misspelling of ours */

/* Insertions, removals and changes of a character that make b of a; neither is longer than NEAR_MAX. */
static size_t distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    size_t row[NEAR_MAX + 1];
    for (size_t j = 0; j <= b_length; j++)
        row[j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[b_length];
}

static const char *last_part(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* First the name that takes the fewest changes, if these are few for its length; else a key whose last part is the
 * path's, which is then in the wrong section. */
bool qst__schema_near(const char *path, char *out, size_t out_size)
{
    size_t      length = strlen(path), limit = 1 + length / 6, best = limit + 1, best_length = 0;
    const char *found = NULL;
    if (length > NEAR_MAX)
        return false;
    for (uint32_t i = 0; i < qst__schema_rows; i++) {
        const char *name = qst__schema[i].path;
        size_t      end = strcspn(name, ".<");
        for (; name[end] != '<'; end += 1 + strcspn(name + end + 1, ".<")) {
            size_t changes = end <= NEAR_MAX ? distance(path, length, name, end) : best;
            if (changes < best && end > limit) {
                best = changes;
                best_length = end;
                found = name;
            }
            if (!name[end])
                break;
        }
    }
    for (uint32_t i = 0; i < qst__schema_rows && !found; i++)
        if (qst__schema[i].offset != QST__OPEN && strcmp(last_part(qst__schema[i].path), last_part(path)) == 0) {
            found = qst__schema[i].path;
            best_length = strlen(found);
        }
    if (found)
        (void)snprintf(out, out_size, "%.*s", (int)best_length, found);
    return found != NULL;
}

/* ---- Variables -------------------------------------------------------------------------------------------------- */

#define PREFIX     "QST_"
#define PREFIX_LEN (sizeof PREFIX - 1)

/* What a variable would be called after this path or a part of it: QST_STORE_PATH. */
static void name_of(const char *path, char *name, size_t size)
{
    (void)snprintf(name, size, PREFIX "%s", path);
    for (char *at = name; *at; at++)
        *at = *at == '.' ? '_' : *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
}

/* What the i-th known variable is called: a row's own or, which == 1, as its key would have it; NULL: there is none. */
static const char *known(uint32_t i, int which, char *room, size_t size)
{
    if (i == qst__schema_rows)
        return which == 0 ? "QST_CONFIG" : NULL;
    if (which == 0 || qst__schema[i].offset == QST__OPEN)
        return which == 0 ? qst__schema[i].variable : NULL;
    name_of(qst__schema[i].path, room, size);
    return room;
}

/* The row, qst__schema_rows for QST_CONFIG, whose variable or key takes the fewest changes to be this name, if these are
 * few for its length; qst__schema_rows + 1: none. */
static uint32_t fewest_changes(const char *name)
{
    size_t   length = strlen(name) - PREFIX_LEN, best = 2 + length / 6; /* exclusive */
    uint32_t found = qst__schema_rows + 1;
    for (int which = 0; which < 2; which++)
        for (uint32_t i = 0; i <= qst__schema_rows; i++) {
            char        room[NEAR_MAX + 1];
            const char *one = known(i, which, room, sizeof room);
            size_t      changes =
                one ? distance(name + PREFIX_LEN, length, one + PREFIX_LEN, strlen(one) - PREFIX_LEN) : best;
            if (changes < best) {
                best = changes;
                found = i;
            }
        }
    return found;
}

/* The one whose name this one begins with: QST_CONFIG_PATH. */
static uint32_t begun(const char *name)
{
    for (uint32_t i = 0; i <= qst__schema_rows; i++) {
        const char *one = known(i, 0, NULL, 0);
        size_t      length = one ? strlen(one) : 0;
        if (one && strncmp(name, one, length) == 0 && name[length] == '_')
            return i;
    }
    return qst__schema_rows + 1;
}

static const char *last_word(const char *name)
{
    const char *bar = strrchr(name, '_');
    return bar ? bar + 1 : name;
}

/* The only one that ends in the same word or, of keys, in these words: QST_BUDGET_MS. */
static uint32_t ends_alike(const char *name, bool keys)
{
    uint32_t found = qst__schema_rows + 1, count = 0;
    for (uint32_t i = 0; i < qst__schema_rows; i++) {
        const qst__key_row *row = &qst__schema[i];
        char                room[NEAR_MAX + 1] = "";
        if (keys && row->offset != QST__OPEN)
            name_of(last_part(row->path), room, sizeof room);
        if (keys ? strcmp(room, name) == 0 : row->variable && strcmp(last_word(row->variable), last_word(name)) == 0) {
            found = i;
            count++;
        }
    }
    return count == 1 ? found : qst__schema_rows + 1;
}

bool qst__schema_near_variable(const char *name, char *out, size_t out_size)
{
    uint32_t none = qst__schema_rows + 1;
    if (strlen(name) > NEAR_MAX)
        return false;
    uint32_t found = fewest_changes(name);
    found = found == none ? begun(name) : found;
    found = found == none ? ends_alike(name, false) : found;
    found = found == none ? ends_alike(name, true) : found;
    if (found == none)
        return false;
    const char *variable = known(found, 0, NULL, 0);
    if (variable)
        (void)snprintf(out, out_size, "did you mean %s?", variable);
    else
        (void)snprintf(out, out_size, "%s is set in a file, QST_CONFIG names one", qst__schema[found].path);
    return true;
}
