/* SPDX-License-Identifier: MIT
 *
 * status.c: the tables of types.h: statuses with their names and texts, element types with their bytes and names. */
#include <quernstone/types.h>

typedef struct status_row {
    qst_status  value;
    const char *name;
    const char *text;
} status_row;

#define ROW(name, value, text) {(value), #name, (text)},
static const status_row STATUSES[] = {QST_STATUS_LIST(ROW)};
#undef ROW

typedef struct type_row {
    uint32_t    bytes;
    const char *name;
} type_row;

static const type_row TYPES[QST_TYPE_END] = {
    [0] = {0, "?"}, [QST_F32] = {4, "f32"}, [QST_F64] = {8, "f64"}, [QST_F16] = {2, "f16"}, [QST_BF16] = {2, "bf16"},
};

static const status_row *find_status(qst_status status)
{
    static const status_row unknown = {0, "unknown status", "unknown status"};
    for (size_t i = 0; i < sizeof STATUSES / sizeof *STATUSES; i++)
        if (STATUSES[i].value == status)
            return &STATUSES[i];
    return &unknown;
}

const char *qst_status_name(qst_status status)
{
    return find_status(status)->name;
}

const char *qst_status_text(qst_status status)
{
    return find_status(status)->text;
}

uint32_t qst_type_bytes(uint32_t type)
{
    return type < QST_TYPE_END ? TYPES[type].bytes : 0;
}

const char *qst_type_name(uint32_t type)
{
    return TYPES[type < QST_TYPE_END ? type : 0].name;
}
