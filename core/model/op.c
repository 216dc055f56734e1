/* SPDX-License-Identifier: MIT
 *
 * op.c: taking over an operation's descriptor: bounded, and checked once so that nobody after has to. */
#include "model/op.h"

#include "model/candidate.h"

#include <string.h>

/* The least an operation's descriptor can be: up to its last mandatory member. */
#define LEAST_OP    QST_SIZE_TO(qst_op, work)
#define LEAST_JUDGE QST_SIZE_TO(qst_judge, tell)

bool qst__take_struct(void *out, uint32_t out_size, uint32_t least_size, const void *given)
{
    uint32_t size;
    memcpy(&size, given, sizeof size);
    if (size < least_size)
        return false;
    memset(out, 0, out_size);
    memcpy(out, given, size < out_size ? size : out_size);
    memcpy(out, &out_size, sizeof out_size);
    return true;
}

static bool inside(const qst_op *op, uint64_t offset, uint64_t bytes)
{
    return offset >= sizeof op->size && offset + bytes <= op->problem_size;
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

static const uint32_t FIELD_BYTES[] = {
    [QST_FIELD_I64] = 8,
    [QST_FIELD_U32] = 4,
    [QST_FIELD_F64] = 8,
    [QST_FIELD_ENUM] = 4,
};

static bool good_field_name(const char *name)
{
    const char *dot = name ? strchr(name, '.') : NULL;
    if (!dot)
        return qst__is_name(name, "");
    return dot != name && dot[1] && qst__is_name(name, ".") && !strchr(dot + 1, '.');
}

static qst_status check_tokens(const qst_op *op, const qst_field *field, qst_error *err)
{
    if (!field->n_tokens || !field->tokens)
        return qst__fail(err, QST_E_INVALID, op->name, "field %s: no tokens", field->name);
    for (uint32_t i = 0; i < field->n_tokens; i++) {
        const char *token = field->tokens[i];
        if (token && (!*token || strpbrk(token, " \t\n,=") || (field->count > 1 && strchr(token, 'x'))))
            return qst__fail(err, QST_E_INVALID, op->name, "field %s: token '%s' cannot be told in a text", field->name,
                             token);
    }
    return QST_OK;
}

static size_t stem_length(const char *name)
{
    return strcspn(name, ".");
}

static bool same_stem(const char *a, const char *b)
{
    size_t length = stem_length(a);
    return length == stem_length(b) && memcmp(a, b, length) == 0;
}

/* Could field i's name be read as that of an earlier one? */
static qst_status check_clash(const qst_op *op, uint32_t i, qst_error *err)
{
    const char *name = op->fields[i].name;
    for (uint32_t k = 0; k < i; k++) {
        const char *other = op->fields[k].name;
        if (!same_stem(name, other))
            continue;
        bool apart = !same_stem(name, op->fields[i - 1].name);
        if (apart || !strchr(name, '.') || !strchr(other, '.') || strcmp(name, other) == 0)
            return qst__fail(err, QST_E_INVALID, op->name, "fields %s and %s cannot be told apart in a text", other,
                             name);
    }
    return QST_OK;
}

static qst_status check_field(const qst_op *op, uint32_t i, qst_error *err)
{
    const qst_field *field = &op->fields[i];
    if (!good_field_name(field->name))
        return qst__fail(err, QST_E_INVALID, op->name, "field %u: bad name '%s'", i,
                         field->name ? field->name : "(null)");
    if (field->kind < QST_FIELD_I64 || field->kind > QST_FIELD_ENUM)
        return qst__fail(err, QST_E_INVALID, op->name, "field %s: kind %u is unknown", field->name, field->kind);
    if (field->flags & QST__MUST_FLAGS)
        return qst__fail(err, QST_E_INVALID, op->name, "field %s: flags %#x are unknown", field->name, field->flags);
    if (!field->count || !inside(op, field->offset, (uint64_t)field->count * FIELD_BYTES[field->kind]))
        return qst__fail(err, QST_E_INVALID, op->name, "field %s: offset %u, count %u do not fit a problem of %u bytes",
                         field->name, field->offset, field->count, op->problem_size);
    if (field->kind == QST_FIELD_ENUM) {
        qst_status status = check_tokens(op, field, err);
        if (status)
            return status;
    }
    return check_clash(op, i, err);
}

/* ---- Key fields and operands ------------------------------------------------------------------------------------- */

static qst_status check_key_field(const qst_op *op, uint32_t i, qst_error *err)
{
    const qst_key_field *field = &op->key_fields[i];
    if (!field->name || !*field->name)
        return qst__fail(err, QST_E_INVALID, op->name, "key field %u: no name", i);
    if (field->kind < QST_KEY_SIZE || field->kind > QST_KEY_FLAG || (field->flags & QST__MUST_FLAGS))
        return qst__fail(err, QST_E_INVALID, op->name, "key field %s: kind %u or flags %#x are unknown", field->name,
                         field->kind, field->flags);
    if (field->n_tokens && !field->tokens)
        return qst__fail(err, QST_E_INVALID, op->name, "key field %s: no tokens", field->name);
    return QST_OK;
}

static qst_status check_operand(const qst_op *op, uint32_t i, qst_error *err)
{
    const qst_operand *operand = &op->operands[i];
    if (!operand->name || !*operand->name)
        return qst__fail(err, QST_E_INVALID, op->name, "operand %u: no name", i);
    if (operand->access < QST_ACCESS_READ || operand->access > QST_ACCESS_READ_WRITE)
        return qst__fail(err, QST_E_INVALID, op->name, "operand %s: access %u is unknown", operand->name,
                         operand->access);
    if (!inside(op, operand->type_offset, 4) || !inside(op, operand->align_offset, 4))
        return qst__fail(err, QST_E_INVALID, op->name,
                         "operand %s: type at %u or alignment at %u lies outside of a problem of %u bytes",
                         operand->name, operand->type_offset, operand->align_offset, op->problem_size);
    return QST_OK;
}

/* One of the descriptor's arrays: how long it may be, and how one of its elements is checked. */
typedef struct array {
    const char *what;
    uint32_t    count;
    uint32_t    most;
    const void *data;
    qst_status (*check)(const qst_op *op, uint32_t i, qst_error *err);
} array;

static qst_status check_arrays(const qst_op *op, qst_error *err)
{
    const array arrays[] = {
        {"fields", op->n_fields, QST_FIELDS_MAX, op->fields, check_field},
        {"key fields", op->n_key_fields, QST_KEY_MAX, op->key_fields, check_key_field},
        {"operands", op->n_operands, QST_OPERANDS_MAX, op->operands, check_operand},
        {"groups", op->n_groups, UINT32_MAX, op->groups, NULL},
    };
    for (size_t a = 0; a < sizeof arrays / sizeof *arrays; a++) {
        if (arrays[a].count > arrays[a].most)
            return qst__fail(err, QST_E_INVALID, op->name, "%u %s, at most %u", arrays[a].count, arrays[a].what,
                             arrays[a].most);
        if (arrays[a].count && !arrays[a].data)
            return qst__fail(err, QST_E_INVALID, op->name, "%u %s at NULL", arrays[a].count, arrays[a].what);
        for (uint32_t i = 0; arrays[a].check && i < arrays[a].count; i++) {
            qst_status status = arrays[a].check(op, i, err);
            if (status)
                return status;
        }
    }
    return QST_OK;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static const char *missing_function(const qst_op *op)
{
    if (!op->check)
        return "check";
    if (!op->key)
        return "key";
    if (!op->span)
        return "span";
    return op->work ? NULL : "work";
}

qst_status qst__op_take(qst_op *out, const qst_op *op, qst_error *err)
{
    if (!op || !qst__take_struct(out, sizeof *out, LEAST_OP, op))
        return qst__fail(err, QST_E_INVALID, "operation", "descriptor of %u bytes, at least %u", op ? op->size : 0,
                         (unsigned)LEAST_OP);
    if (!qst__is_name(out->name, "."))
        return qst__fail(err, QST_E_INVALID, "operation", "bad name '%s': not of [a-z0-9_.]",
                         out->name ? out->name : "(null)");
    if (out->flags & QST__MUST_FLAGS)
        return qst__fail(err, QST_E_INVALID, out->name, "flags %#x are unknown", out->flags);
    const char *missing = missing_function(out);
    if (missing)
        return qst__fail(err, QST_E_INVALID, out->name, "function %s is missing", missing);
    if (out->problem_size < sizeof out->size || out->problem_size > QST__PROBLEM_MAX)
        return qst__fail(err, QST_E_INVALID, out->name, "problem_size %u is not in %u..%u", out->problem_size,
                         (unsigned)sizeof out->size, QST__PROBLEM_MAX);
    if (out->numerics_offset && !inside(out, out->numerics_offset, 4))
        return qst__fail(err, QST_E_INVALID, out->name, "numerics_offset %u lies outside of a problem of %u bytes",
                         out->numerics_offset, out->problem_size);
    return check_arrays(out, err);
}

qst_status qst__op_take_judge(qst_judge *out, const qst_judge *judge, const char *op, qst_error *err)
{
    if (!qst__take_struct(out, sizeof *out, LEAST_JUDGE, judge))
        return qst__fail(err, QST_E_INVALID, op, "judge of %u bytes, at least %u", judge->size, (unsigned)LEAST_JUDGE);
    if (!out->program || !out->steps || !out->tell)
        return qst__fail(err, QST_E_INVALID, op, "judge: program, steps or tell is missing");
    if (out->revision == 0)
        return qst__fail(err, QST_E_INVALID, op, "judge: revision 0, they count from 1");
    return QST_OK;
}

qst_status qst__op_take_trivial(qst_candidate *out, const qst_candidate *trivial, const char *op, qst_error *err)
{
    if (!qst__take_struct(out, sizeof *out, QST__LEAST_CANDIDATE, trivial))
        return qst__fail(err, QST_E_INVALID, op, "trivial candidate of %u bytes, at least %u", trivial->size,
                         (unsigned)QST__LEAST_CANDIDATE);
    if (out->flags & QST__MUST_FLAGS)
        return qst__fail(err, QST_E_INVALID, op, "trivial candidate: flags %#x are unknown", out->flags);
    if (!out->program || !out->steps)
        return qst__fail(err, QST_E_INVALID, op, "trivial candidate: program or steps is missing");
    return QST_OK;
}
