/* SPDX-License-Identifier: MIT
 *
 * op.c: the operation's descriptor: how a matmul reads as text, the names of its key's numbers, its operands, and
 * what text that says less stands for.
 */
#include "ops/matmul/internal.h"

static const char *const types[] = {NULL, "f32", "f64", "f16", "bf16"};
static const char *const classes[] = {"plain", "strict", "fast"};
static const char *const layouts[] = {"Contiguous", "MildlyPermuted { transposed: true, batch_swap: false }",
                                      "MildlyPermuted { transposed: false, batch_swap: true }",
                                      "MildlyPermuted { transposed: true, batch_swap: true }", "HighlyPermuted"};
static const char *const storages[] = {"Plain"};
static const char *const scales[] = {"Small", "Medium", "Large"};
static const char *const kinds[] = {"General",   "MatVec",       "VecMat",       "ScalarVec",
                                    "VecScalar", "InnerProduct", "OuterProduct", "ScalarProduct"};
static const char *const betas[] = {"zero", "one", "other"};

/* ---- Fields of the problem --------------------------------------------------------------------------------------- */

enum { F_M, F_N, F_K, F_BATCH, F_NUMERICS, F_ALPHA, F_BETA, F_MATRIX, F_PER_MATRIX = 5 };
enum { F_TYPE, F_ROW, F_COL, F_STRIDES, F_ALIGN };

#define AT(member) (uint32_t) offsetof(qst_matmul, member)
#define MATRIX_FIELDS(x)                                                                                               \
    {.name = #x ".type",                                                                                               \
     .kind = QST_FIELD_ENUM,                                                                                           \
     .offset = AT(x.type),                                                                                             \
     .count = 1,                                                                                                       \
     .n_tokens = QSTK_COUNT(types),                                                                                    \
     .tokens = types},                                                                                                 \
        {.name = #x ".row", .kind = QST_FIELD_I64, .offset = AT(x.row), .count = 1},                                   \
        {.name = #x ".col", .kind = QST_FIELD_I64, .offset = AT(x.col), .count = 1},                                   \
        {.name = #x ".batch", .kind = QST_FIELD_I64, .offset = AT(x.batch), .count = QST_MATMUL_BATCHES},              \
    {                                                                                                                  \
        .name = #x ".align", .kind = QST_FIELD_U32, .offset = AT(x.align), .count = 1                                  \
    }

static const qst_field fields[] = {
    {.name = "m", .kind = QST_FIELD_I64, .offset = AT(m), .count = 1},
    {.name = "n", .kind = QST_FIELD_I64, .offset = AT(n), .count = 1},
    {.name = "k", .kind = QST_FIELD_I64, .offset = AT(k), .count = 1},
    {.name = "batch", .kind = QST_FIELD_I64, .offset = AT(batch), .count = QST_MATMUL_BATCHES},
    {.name = "numerics",
     .kind = QST_FIELD_ENUM,
     .offset = AT(numerics),
     .count = 1,
     .n_tokens = QSTK_COUNT(classes),
     .tokens = classes},
    {.name = "alpha", .kind = QST_FIELD_F64, .offset = AT(alpha), .count = 1},
    {.name = "beta", .kind = QST_FIELD_F64, .offset = AT(beta), .count = 1},
    MATRIX_FIELDS(a),
    MATRIX_FIELDS(b),
    MATRIX_FIELDS(c),
};

/* For sizes from text, which nobody has checked yet: sticks to the end of the range. */
static int64_t times(int64_t x, int64_t y)
{
    int64_t result;
    return __builtin_mul_overflow(x, y, &result) ? INT64_MAX : result;
}

/* Row-major and dense, one product after the other. `given` begins at this matrix's first field. */
static void complete_matrix(const qst_matmul *p, qst_matrix *x, uint32_t type, int64_t rows, int64_t cols,
                            uint64_t given)
{
    int64_t by_row, by_col, size;
    if (!(given >> F_TYPE & 1))
        x->type = type;
    if (!(given >> F_ROW & 1))
        x->row = cols;
    if (!(given >> F_COL & 1))
        x->col = 1;
    if (!(given >> F_ALIGN & 1))
        x->align = 0;
    if (given >> F_STRIDES & 1)
        return;
    by_row = times(rows, x->row);
    by_col = times(cols, x->col);
    size = by_row > by_col ? by_row : by_col;
    for (int d = QST_MATMUL_BATCHES - 1; d >= 0; d--) {
        x->batch[d] = p->batch[d] == 1 ? 0 : size;
        size = times(size, p->batch[d]);
    }
}

static void complete(void *user, void *problem, uint64_t given)
{
    qst_matmul *p = problem;
    (void)user;

    p->size = (uint32_t)sizeof *p;
    for (int d = 0; d < QST_MATMUL_BATCHES && !(given >> F_BATCH & 1); d++)
        p->batch[d] = 1;
    if (!(given >> F_NUMERICS & 1))
        p->numerics = QST_NUMERICS_PLAIN;
    if (!(given >> F_ALPHA & 1))
        p->alpha = 1.0;
    if (!(given >> F_BETA & 1))
        p->beta = 0.0;
    given >>= F_MATRIX;
    complete_matrix(p, &p->a, QST_F32, p->m, p->k, given);
    complete_matrix(p, &p->b, p->a.type, p->k, p->n, given >> F_PER_MATRIX);
    complete_matrix(p, &p->c, p->a.type, p->m, p->n, given >> 2 * F_PER_MATRIX);
}

/* ---- Key ---------------------------------------------------------------------------------------------------------- */

#define TOKENS(list) .kind = QST_KEY_ENUM, .n_tokens = QSTK_COUNT(list), .tokens = (list)
#define KEY(id)      [QST_MATMUL_KEY_##id]
#define SIZE_KEY(text, path)                                                                                           \
    {                                                                                                                  \
        .name = text, .kind = QST_KEY_SIZE, .record = path                                                             \
    }

/* `record` where decisions name it as the reference's records do. */
static const qst_key_field key_fields[QST_MATMUL_KEY_COUNT] = {
    KEY(M) = {.name = "m", .kind = QST_KEY_SIZE, .flags = QST_KEY_ANCHORED},
    KEY(N) = {.name = "n", .kind = QST_KEY_SIZE, .flags = QST_KEY_ANCHORED},
    KEY(K) = {.name = "k", .kind = QST_KEY_SIZE, .flags = QST_KEY_ANCHORED},
    KEY(LHS_POW2) = SIZE_KEY("lhs_pow2", "definition.lhs_pow2_factor"),
    KEY(LHS_STRIDE) = SIZE_KEY("lhs_stride", "definition.lhs_stride_factor"),
    KEY(RHS_POW2) = SIZE_KEY("rhs_pow2", "definition.rhs_pow2_factor"),
    KEY(RHS_STRIDE) = SIZE_KEY("rhs_stride", "definition.rhs_stride_factor"),
    KEY(ELEM_LHS) = {.name = "elem_lhs", TOKENS(types)},
    KEY(ELEM_RHS) = {.name = "elem_rhs", TOKENS(types)},
    KEY(ELEM_OUT) = {.name = "elem_out", TOKENS(types)},
    KEY(LAYOUT_LHS) = {.name = "layout_lhs", TOKENS(layouts), .record = "definition.matrix_layout_lhs"},
    KEY(LAYOUT_RHS) = {.name = "layout_rhs", TOKENS(layouts), .record = "definition.matrix_layout_rhs"},
    KEY(STORAGE_LHS) = {.name = "storage_lhs", TOKENS(storages), .record = "definition.lhs_storage"},
    KEY(STORAGE_RHS) = {.name = "storage_rhs", TOKENS(storages), .record = "definition.rhs_storage"},
    KEY(SCALE) = {.name = "scale", TOKENS(scales), .record = "analysis.scale_global"},
    KEY(KIND) = {.name = "kind", TOKENS(kinds), .record = "analysis.kind"},
    KEY(LAYOUT_OUT) = {.name = "layout_out", .flags = QST_KEY_EXTRA, TOKENS(layouts)},
    KEY(OUT_STRIDE) = {.name = "out_stride", .kind = QST_KEY_SIZE, .flags = QST_KEY_EXTRA},
    KEY(ALIGN) = {.name = "align", .kind = QST_KEY_SIZE, .flags = QST_KEY_EXTRA},
    KEY(BATCH) = {.name = "batch", .kind = QST_KEY_SIZE, .flags = QST_KEY_EXTRA | QST_KEY_ANCHORED},
    KEY(BETA) = {.name = "beta", .flags = QST_KEY_EXTRA, TOKENS(betas)},
    KEY(NUMERICS) = {.name = "numerics", .flags = QST_KEY_EXTRA, TOKENS(classes)},
};

/* ---- The descriptor ------------------------------------------------------------------------------------------------ */

static const qst_operand operands[QST__OPERANDS] = {
    {.name = "a", .access = QST_ACCESS_READ, .type_offset = AT(a.type), .align_offset = AT(a.align)},
    {.name = "b", .access = QST_ACCESS_READ, .type_offset = AT(b.type), .align_offset = AT(b.align)},
    {.name = "c", .access = QST_ACCESS_READ_WRITE, .type_offset = AT(c.type), .align_offset = AT(c.align)},
};

const qst_op qst_matmul_op = {
    .size = sizeof(qst_op),
    .name = "matmul",
    .problem_size = sizeof(qst_matmul),
    .numerics_offset = AT(numerics),
    .n_fields = QSTK_COUNT(fields),
    .n_key_fields = QST_MATMUL_KEY_COUNT,
    .n_operands = QST__OPERANDS,
    .n_groups = QST__MATMUL_GROUPS,
    .fields = fields,
    .key_fields = key_fields,
    .operands = operands,
    .groups = qst__matmul_groups,
    .check = qst__matmul_check,
    .complete = complete,
    .normalise = qst__matmul_normalise,
    .key = qst__matmul_key,
    .span = qst__matmul_span,
    .work = qst__matmul_work,
    .vary = qst__matmul_vary,
    .repeat = qst__matmul_repeat,
    .fill = qst__matmul_fill,
    .trivial = &qst__matmul_scale,
    .judge = &qst__matmul_judge,
};
