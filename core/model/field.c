/* SPDX-License-Identifier: MIT
 *
 * field.c: a problem from words, and the fewest words from a problem. */
#include "model/field.h"

#include "model/number.h"
#include "model/op.h"

#include <inttypes.h>
#include <string.h>

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static uint32_t field_bytes(const qst_field *field)
{
    return field->kind == QST_FIELD_I64 || field->kind == QST_FIELD_F64 ? 8 : 4;
}

/* Bytes of a name before its dot, all of them where it has none. */
static size_t stem_length(const char *name)
{
    return strcspn(name, ".");
}

/* Is there a member after field i in the comma list that i is in? */
static bool has_next(const qst_op *op, uint32_t i)
{
    if (i + 1 >= op->n_fields)
        return false;
    const char *name = op->fields[i].name, *next = op->fields[i + 1].name;
    size_t      stem = stem_length(name);
    return name[stem] == '.' && stem_length(next) == stem && memcmp(name, next, stem) == 0;
}

static void zero(const qst_op *op, void *problem)
{
    memset(problem, 0, op->problem_size);
    memcpy(problem, &op->problem_size, sizeof op->problem_size);
}

static void complete(const qst_op *op, void *problem, uint64_t given)
{
    if (op->complete)
        op->complete(op->user, problem, given);
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* A part of the text, not terminated. */
typedef struct span {
    const char *text;
    size_t      length;
} span;

typedef struct parser {
    const qst_op *op;
    char         *problem;
    uint64_t      given;
    span          word; /* the one being read */
    qst_error    *err;
} parser;

/* As much of a span as a line can bear, for %.*s. */
static int shown(span s)
{
    return s.length < 80 ? (int)s.length : 80;
}

/* Cuts the part up to `separator` off the front of rest; false where rest is used up. */
static bool next_part(span *rest, char separator, span *part)
{
    if (!rest->text)
        return false;
    const char *cut = memchr(rest->text, separator, rest->length);
    *part = (span){rest->text, cut ? (size_t)(cut - rest->text) : rest->length};
    *rest = cut ? (span){cut + 1, rest->length - part->length - 1} : (span){NULL, 0};
    return true;
}

static const char *read_enum(const qst_field *field, const char *text, uint32_t *out)
{
    for (uint32_t i = 0; i < field->n_tokens; i++) {
        if (field->tokens[i] && strcmp(field->tokens[i], text) == 0) {
            *out = i;
            return NULL;
        }
    }
    return qst__number_u32(text, out) ? "no such value" : NULL;
}

/* Reads one number or token to `to`; NULL or what is wrong. */
static const char *read_value(const qst_field *field, const char *text, char *to)
{
    int64_t     i64 = 0;
    uint32_t    u32 = 0;
    double      f64 = 0.0;
    const char *fault = NULL;
    switch (field->kind) {
    case QST_FIELD_I64:
        fault = qst__number_i64(text, &i64);
        memcpy(to, &i64, sizeof i64);
        break;
    case QST_FIELD_F64:
        fault = qst__number_f64(text, &f64);
        memcpy(to, &f64, sizeof f64);
        break;
    default:
        fault = field->kind == QST_FIELD_ENUM ? read_enum(field, text, &u32) : qst__number_u32(text, &u32);
        memcpy(to, &u32, sizeof u32);
    }
    return fault;
}

static qst_status value_fault(const parser *in, const qst_field *field, span value, const char *fault)
{
    char   tokens[240] = "";
    size_t length = 0;
    for (uint32_t i = 0; field->kind == QST_FIELD_ENUM && i < field->n_tokens; i++) {
        const char *token = field->tokens[i];
        if (!token || length + strlen(token) + 3 > sizeof tokens)
            continue;
        memcpy(tokens + length, length ? ", " : ": ", 2);
        memcpy(tokens + length + 2, token, strlen(token) + 1);
        length += 2 + strlen(token);
    }
    return qst__fail(in->err, QST_E_INVALID, in->op->name, "%.*s: %s: '%.*s' is %s%s", shown(in->word), in->word.text,
                     field->name, shown(value), value.text, fault, tokens);
}

static qst_status read_field(parser *in, uint32_t index, span value)
{
    const qst_field *field = &in->op->fields[index];
    span             rest = value, part;
    uint32_t         n = 0;
    if (in->given >> index & 1)
        return qst__fail(in->err, QST_E_INVALID, in->op->name, "%.*s: %s is given twice", shown(in->word),
                         in->word.text, field->name);
    while (next_part(&rest, field->count > 1 ? 'x' : '\0', &part)) {
        char        text[QST__NUMBER_CHARS];
        const char *fault = "too long";
        if (n < field->count && part.length < sizeof text) {
            memcpy(text, part.text, part.length);
            text[part.length] = '\0';
            fault = read_value(field, text, in->problem + field->offset + n * field_bytes(field));
        }
        if (n < field->count && fault)
            return value_fault(in, field, part, fault);
        n++;
    }
    if (n != field->count)
        return qst__fail(in->err, QST_E_INVALID, in->op->name, "%.*s: %s has %u parts joined by x, not %u",
                         shown(in->word), in->word.text, field->name, field->count, n);
    in->given |= (uint64_t)1 << index;
    return QST_OK;
}

/* The field of this full name, or the first of the comma list of this name; n_fields: neither. */
static uint32_t find_field(const qst_op *op, span name, bool *list)
{
    for (uint32_t i = 0; i < op->n_fields; i++) {
        const char *full = op->fields[i].name;
        size_t      stem = stem_length(full);
        bool        whole = strlen(full) == name.length && memcmp(full, name.text, name.length) == 0;
        *list = !whole && full[stem] == '.' && stem == name.length && memcmp(full, name.text, stem) == 0;
        if (whole || *list)
            return i;
    }
    return op->n_fields;
}

static qst_status read_list(parser *in, uint32_t first, span values)
{
    span     rest = values, part;
    uint32_t index = first, most = 1, n = 0;
    while (has_next(in->op, first + most - 1))
        most++;
    while (next_part(&rest, ',', &part)) {
        if (n++ < most) {
            qst_status status = read_field(in, index++, part);
            if (status != QST_OK)
                return status;
        }
    }
    if (n > most)
        return qst__fail(in->err, QST_E_INVALID, in->op->name, "%.*s: %u values, at most %u", shown(in->word),
                         in->word.text, n, most);
    return QST_OK;
}

static qst_status read_word(parser *in)
{
    const char *equals = memchr(in->word.text, '=', in->word.length);
    if (!equals)
        return qst__fail(in->err, QST_E_INVALID, in->op->name, "%.*s: not of the form name=value", shown(in->word),
                         in->word.text);
    span     name = {in->word.text, (size_t)(equals - in->word.text)};
    span     value = {equals + 1, in->word.length - name.length - 1};
    bool     list = false;
    uint32_t index = find_field(in->op, name, &list);
    if (index == in->op->n_fields)
        return qst__fail(in->err, QST_E_INVALID, in->op->name, "%.*s: there is no field %.*s", shown(in->word),
                         in->word.text, shown(name), name.text);
    return list ? read_list(in, index, value) : read_field(in, index, value);
}

qst_status qst__problem_parse(const qst_op *op, const char *text, void *problem, qst_error *err)
{
    static const char blanks[] = " \t\r\n";
    parser            in = {.op = op, .problem = problem, .err = err};
    zero(op, problem);
    for (text += strspn(text, blanks); *text; text += strspn(text, blanks)) {
        in.word = (span){text, strcspn(text, blanks)};
        qst_status status = read_word(&in);
        if (status != QST_OK)
            return status;
        text += in.word.length;
    }
    complete(op, problem, in.given);
    return QST_OK;
}

/* ---- Printing ---------------------------------------------------------------------------------------------------- */

static void print_value(const qst_field *field, const char *from, qst__str *out)
{
    int64_t  i64;
    uint32_t u32;
    double   f64;
    char     text[QST__NUMBER_CHARS];
    switch (field->kind) {
    case QST_FIELD_I64:
        memcpy(&i64, from, sizeof i64);
        qst__str_printf(out, "%" PRId64, i64);
        return;
    case QST_FIELD_F64:
        memcpy(&f64, from, sizeof f64);
        qst__number_print_f64(f64, text);
        qst__str_append(out, text);
        return;
    default:
        memcpy(&u32, from, sizeof u32);
        if (field->kind == QST_FIELD_ENUM && u32 < field->n_tokens && field->tokens[u32])
            qst__str_append(out, field->tokens[u32]);
        else
            qst__str_printf(out, "%" PRIu32, u32);
    }
}

static void print_field(const qst_field *field, const char *problem, qst__str *out)
{
    for (uint32_t i = 0; i < field->count; i++) {
        if (i)
            qst__str_append(out, "x");
        print_value(field, problem + field->offset + i * field_bytes(field), out);
    }
}

/* The problem that a text with just the given fields would read back as. */
static void rebuild(const qst_op *op, const char *problem, uint64_t given, char *out)
{
    zero(op, out);
    for (uint32_t i = 0; i < op->n_fields; i++) {
        const qst_field *field = &op->fields[i];
        if (given >> i & 1)
            memcpy(out + field->offset, problem + field->offset, field->count * field_bytes(field));
    }
    complete(op, out, given);
}

/* Which fields a text needs: one after the other, from the last, a field goes whose absence changes nothing. Inside a
 * comma list only the last member can go. */
static uint64_t needed(const qst_op *op, const char *problem, char *whole, char *trial)
{
    uint64_t given = op->n_fields < 64 ? ((uint64_t)1 << op->n_fields) - 1 : UINT64_MAX;
    rebuild(op, problem, given, whole);
    for (uint32_t i = op->n_fields; i-- > 0;) {
        uint64_t without = given & ~((uint64_t)1 << i);
        if (has_next(op, i) && (given >> (i + 1) & 1))
            continue;
        rebuild(op, problem, without, trial);
        if (memcmp(whole, trial, op->problem_size) == 0)
            given = without;
    }
    return given;
}

void qst__problem_print(const qst_op *op, const void *problem, qst__str *out)
{
    const char *blank = "";
    bool        inner = false; /* does field i go on with the list of the one before? */
    char       *room = qst__zalloc_array(out->alloc, 2, op->problem_size);
    if (!room) {
        out->failed = true;
        return;
    }
    uint64_t given = needed(op, problem, room, room + op->problem_size);
    qst__free(out->alloc, room);
    for (uint32_t i = 0; i < op->n_fields; i++) {
        const qst_field *field = &op->fields[i];
        if (given >> i & 1) {
            if (inner)
                qst__str_append(out, ",");
            else
                qst__str_printf(out, "%s%.*s=", blank, (int)stem_length(field->name), field->name);
            print_field(field, problem, out);
            blank = " ";
        }
        inner = has_next(op, i);
    }
}

/* ---- Copying ----------------------------------------------------------------------------------------------------- */

qst_status qst__problem_copy(const qst_op *op, const void *problem, void *out, qst_error *err)
{
    const char *bytes = problem;
    uint32_t    size = 0;
    if (!problem)
        return qst__fail(err, QST_E_INVALID, op->name, "the problem is NULL");
    memcpy(&size, problem, sizeof size);
    if (size < sizeof size || size > QST__PROBLEM_MAX)
        return qst__fail(err, QST_E_INVALID, op->name, "problem of %u bytes, not %u..%u: its size is not set", size,
                         (unsigned)sizeof size, QST__PROBLEM_MAX);
    for (uint32_t i = op->problem_size; i < size; i++)
        if (bytes[i])
            return qst__fail(err, QST_E_INVALID, op->name,
                             "byte %u of the problem is not zero, but only %u bytes are known here", i,
                             op->problem_size);
    zero(op, out);
    memcpy((char *)out + sizeof size, bytes + sizeof size,
           (size < op->problem_size ? size : op->problem_size) - sizeof size);
    return QST_OK;
}
