/* SPDX-License-Identifier: MIT
 *
 * test_matmul_key.c: the keys of matmul against the reference's printed table and its worked examples, and the
 * priorities of the groups by key.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <quernstone/matmul.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Level balanced: the next power of two. */
static int64_t pow2_anchor(uint32_t level, int64_t size)
{
    int64_t power = 1;
    (void)level;
    while (power < size)
        power *= 2;
    return size == 0 ? 0 : power;
}

static int64_t plus_one(uint32_t level, int64_t size)
{
    (void)level;
    return size + 1;
}

static const qst_anchor balanced = {1, 0, pow2_anchor};

static void key_of(const qst_matmul *p, int64_t *values)
{
    memset(values, 0xff, QST_KEY_MAX * sizeof *values);
    qst_matmul_op.key(qst_matmul_op.user, p, &balanced, values);
}

static void square(qst_matmul *p, int64_t n, int transposed_rhs)
{
    qst_matmul_init(p, n, n, n, QST_F32);
    if (transposed_rhs) {
        p->b.row = 1;
        p->b.col = n;
    }
}

static const char *token(uint32_t field, const int64_t *values)
{
    const qst_key_field *f = &qst_matmul_op.key_fields[field];
    assert_int_equal(f->kind, QST_KEY_ENUM);
    assert_in_range(values[field], 0, f->n_tokens - 1);
    return f->tokens[values[field]];
}

static void test_printed_table(void **state)
{
    static const struct {
        int64_t     n;
        int         transposed;
        int64_t     anchored, pow2, stride;
        const char *layout, *scale;
    } rows[] = {
        {512, 0, 512, 4, 10, "Contiguous", "Medium"},
        {768, 0, 1024, 4, 10, "Contiguous", "Medium"},
        {1000, 0, 1024, 4, 5, "Contiguous", "Medium"},
        {1024, 0, 1024, 4, 10, "Contiguous", "Medium"},
        {1025, 0, 2048, 4, 2, "Contiguous", "Large"},
        {2048, 0, 2048, 4, 10, "Contiguous", "Large"},
        {1024, 1, 1024, 4, 10, "MildlyPermuted { transposed: true, batch_swap: false }", "Medium"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        qst_matmul p;
        int64_t    v[QST_KEY_MAX];
        uint32_t   perm[] = {0, 1, 2};
        square(&p, rows[i].n, rows[i].transposed);
        assert_int_equal(qst_matmul_op.normalise(NULL, &p, perm), QST_OK);
        key_of(&p, v);
        assert_int_equal(v[QST_MATMUL_KEY_M], rows[i].anchored);
        assert_int_equal(v[QST_MATMUL_KEY_N], rows[i].anchored);
        assert_int_equal(v[QST_MATMUL_KEY_K], rows[i].anchored);
        assert_int_equal(v[QST_MATMUL_KEY_LHS_POW2], rows[i].pow2);
        assert_int_equal(v[QST_MATMUL_KEY_RHS_POW2], rows[i].pow2);
        assert_int_equal(v[QST_MATMUL_KEY_LHS_STRIDE], rows[i].stride);
        assert_int_equal(v[QST_MATMUL_KEY_RHS_STRIDE], rows[i].stride);
        assert_string_equal(token(QST_MATMUL_KEY_LAYOUT_LHS, v), "Contiguous");
        assert_string_equal(token(QST_MATMUL_KEY_LAYOUT_RHS, v), rows[i].layout);
        assert_string_equal(token(QST_MATMUL_KEY_SCALE, v), rows[i].scale);
        assert_string_equal(token(QST_MATMUL_KEY_KIND, v), "General");
        assert_string_equal(token(QST_MATMUL_KEY_ELEM_LHS, v), "f32");
    }
}

static void test_equalities(void **state)
{
    static const struct {
        int64_t n, other;
        int     transposed, other_transposed, equal;
    } pairs[] = {{768, 1024, 0, 0, 1}, {1000, 1024, 0, 0, 0}, {1024, 1024, 0, 1, 0}, {208, 240, 0, 0, 1},
                 {240, 250, 0, 0, 0},  {240, 512, 0, 0, 0},   {1025, 2048, 0, 0, 0}};
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        qst_matmul p, q;
        int64_t    v[QST_KEY_MAX], w[QST_KEY_MAX];
        square(&p, pairs[i].n, pairs[i].transposed);
        square(&q, pairs[i].other, pairs[i].other_transposed);
        key_of(&p, v);
        key_of(&q, w);
        assert_int_equal(memcmp(v, w, sizeof v) == 0, pairs[i].equal);
    }
}

/* A's strides, outermost first, all extents 2, rank 2 to 4. */
static void with_strides(qst_matmul *p, const int64_t *strides, int rank)
{
    qst_matmul_init(p, 2, 2, 2, QST_F32);
    for (int d = 0; d < rank - 2; d++) {
        p->batch[4 - (rank - 2) + d] = 2;
        p->a.batch[4 - (rank - 2) + d] = strides[d];
    }
    p->a.row = strides[rank - 2];
    p->a.col = strides[rank - 1];
}

static void test_layouts(void **state)
{
    static const struct {
        int     rank;
        int64_t strides[4];
        int64_t layout;
    } rows[] = {
        {4, {8, 4, 2, 1}, QST_LAYOUT_CONTIGUOUS},
        {4, {8, 4, 1, 2}, QST_LAYOUT_TRANSPOSED},
        {4, {4, 8, 2, 1}, QST_LAYOUT_SWAPPED},
        {4, {4, 8, 1, 2}, QST_LAYOUT_TRANSPOSED_SWAPPED},
        {4, {8, 2, 4, 1}, QST_LAYOUT_HIGHLY_PERMUTED},
        {4, {1, 4, 2, 8}, QST_LAYOUT_HIGHLY_PERMUTED},
        {3, {0, 0, 1}, QST_LAYOUT_HIGHLY_PERMUTED},
        {2, {0, 1}, QST_LAYOUT_HIGHLY_PERMUTED},
        {2, {1, 0}, QST_LAYOUT_HIGHLY_PERMUTED},
        {3, {0, 4, 1}, QST_LAYOUT_SWAPPED},
        {4, {0, 0, 4, 1}, QST_LAYOUT_SWAPPED},
        {2, {130, 1}, QST_LAYOUT_CONTIGUOUS},
        {2, {1, 1}, QST_LAYOUT_CONTIGUOUS},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        qst_matmul p;
        int64_t    v[QST_KEY_MAX];
        with_strides(&p, rows[i].strides, rows[i].rank);
        key_of(&p, v);
        assert_int_equal(v[QST_MATMUL_KEY_LAYOUT_LHS], rows[i].layout);
    }
}

static void test_stride_factors(void **state)
{
    static const struct {
        int      rank;
        int64_t  strides[4];
        uint32_t type;
        int64_t  factor;
    } rows[] = {
        {2, {1024, 1}, QST_F32, 10}, /* 4096 bytes, capped */
        {2, {1000, 1}, QST_F32, 5},  /* 4000 = 2^5 * 125 */
        {2, {1000, 1}, QST_F64, 6},          {2, {1000, 1}, QST_F16, 4},
        {2, {1025, 1}, QST_F32, 2},          {2, {1, 1024}, QST_F32, 10}, /* transposed: the column counts */
        {2, {1, 130}, QST_F32, 3},           {2, {2, 1026}, QST_F32, 3},  /* neither is 1: the row stands aside */
        {3, {1026 * 64, 64, 1}, QST_F32, 8},                              /* batches count: the least of 2^9 and 2^8 */
        {3, {131, 64, 1}, QST_F32, 2},       {4, {4, 8, 2, 1}, QST_F32, 0}, /* swapped batches: none */
        {3, {0, 64, 1}, QST_F32, 0},         {2, {0, 1}, QST_F32, 0},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        qst_matmul p;
        int64_t    v[QST_KEY_MAX];
        with_strides(&p, rows[i].strides, rows[i].rank);
        p.a.type = rows[i].type;
        key_of(&p, v);
        assert_int_equal(v[QST_MATMUL_KEY_LHS_STRIDE], rows[i].factor);
    }
}

static void test_pow2_follows_the_contiguous_axis(void **state)
{
    qst_matmul p;
    int64_t    v[QST_KEY_MAX];
    (void)state;
    qst_matmul_init(&p, 3, 5, 100, QST_F32); /* buckets 4, 8, 128 */
    key_of(&p, v);
    assert_int_equal(v[QST_MATMUL_KEY_LHS_POW2], 4); /* k */
    assert_int_equal(v[QST_MATMUL_KEY_RHS_POW2], 3); /* n */
    p.a.row = 1;
    p.a.col = 3;
    p.b.row = 1;
    p.b.col = 100;
    key_of(&p, v);
    assert_int_equal(v[QST_MATMUL_KEY_LHS_POW2], 2); /* m */
    assert_int_equal(v[QST_MATMUL_KEY_RHS_POW2], 4); /* k */
    p.a.col = 0;
    key_of(&p, v);
    assert_int_equal(v[QST_MATMUL_KEY_LHS_POW2], 0);
}

static void test_kinds_from_raw_sizes(void **state)
{
    static const struct {
        int64_t     m, n, k;
        const char *kind;
    } rows[] = {{1, 1, 1, "ScalarProduct"}, {1, 1, 9, "InnerProduct"}, {1, 9, 1, "ScalarVec"},
                {1, 9, 9, "VecMat"},        {9, 1, 1, "VecScalar"},    {9, 1, 9, "MatVec"},
                {9, 9, 1, "OuterProduct"},  {9, 9, 9, "General"},      {2, 2, 2, "General"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        qst_matmul p;
        int64_t    v[QST_KEY_MAX];
        qst_matmul_init(&p, rows[i].m, rows[i].n, rows[i].k, QST_F32);
        key_of(&p, v);
        assert_string_equal(token(QST_MATMUL_KEY_KIND, v), rows[i].kind);
    }
}

static void test_scales_from_buckets(void **state)
{
    static const struct {
        int64_t     m, n, k;
        const char *scale;
    } rows[] = {{256, 256, 256, "Small"},
                {256, 257, 256, "Medium"},
                {8, 8, 1024, "Medium"},
                {8, 1025, 8, "Large"},
                {1, 1, 511, "Medium"}};
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        qst_matmul p;
        int64_t    v[QST_KEY_MAX];
        qst_matmul_init(&p, rows[i].m, rows[i].n, rows[i].k, QST_F32);
        key_of(&p, v);
        assert_string_equal(token(QST_MATMUL_KEY_SCALE, v), rows[i].scale);
    }
}

static void test_our_fields(void **state)
{
    qst_matmul p;
    int64_t    v[QST_KEY_MAX];
    (void)state;
    qst_matmul_init(&p, 64, 64, 64, QST_F32);
    qst_matmul_batch(&p, 5);
    key_of(&p, v);
    assert_int_equal(v[QST_MATMUL_KEY_BATCH], 8);
    assert_int_equal(v[QST_MATMUL_KEY_BETA], QST_BETA_ZERO);
    assert_int_equal(v[QST_MATMUL_KEY_ALIGN], 2); /* the element's own */
    assert_int_equal(v[QST_MATMUL_KEY_LAYOUT_OUT], QST_LAYOUT_CONTIGUOUS);
    assert_int_equal(v[QST_MATMUL_KEY_OUT_STRIDE], 8);
    p.a.align = p.b.align = p.c.align = 7;
    p.beta = 1.0;
    key_of(&p, v);
    assert_int_equal(v[QST_MATMUL_KEY_ALIGN], 4);
    assert_int_equal(v[QST_MATMUL_KEY_BETA], QST_BETA_ONE);
    p.b.align = 3;
    p.beta = 0.5;
    p.numerics = QST_NUMERICS_FAST;
    key_of(&p, v);
    assert_int_equal(v[QST_MATMUL_KEY_ALIGN], 3);
    assert_int_equal(v[QST_MATMUL_KEY_BETA], QST_BETA_OTHER);
    assert_int_equal(v[QST_MATMUL_KEY_NUMERICS], QST_NUMERICS_FAST);
}

/* The anchor is not idempotent: it must be applied once, and derived fields must see its result. */
static void test_anchors_once(void **state)
{
    const qst_anchor anchor = {0, 0, plus_one};
    qst_matmul       p;
    int64_t          v[QST_KEY_MAX];
    (void)state;
    qst_matmul_init(&p, 511, 15, 7, QST_F32);
    qst_matmul_op.key(NULL, &p, &anchor, v);
    assert_int_equal(v[QST_MATMUL_KEY_M], 512);
    assert_int_equal(v[QST_MATMUL_KEY_N], 16);
    assert_int_equal(v[QST_MATMUL_KEY_K], 8);
    assert_int_equal(v[QST_MATMUL_KEY_BATCH], 2);
    assert_int_equal(v[QST_MATMUL_KEY_LHS_POW2], 3);
    assert_int_equal(v[QST_MATMUL_KEY_RHS_POW2], 4);
    assert_int_equal(v[QST_MATMUL_KEY_SCALE], QST_SCALE_MEDIUM);
}

static void test_fields_have_names(void **state)
{
    static const char *const first[] = {"m", "n", "k", "lhs_pow2", "lhs_stride", "rhs_pow2", "rhs_stride"};
    (void)state;
    assert_int_equal(qst_matmul_op.n_key_fields, QST_MATMUL_KEY_COUNT);
    for (uint32_t i = 0; i < qst_matmul_op.n_key_fields; i++) {
        const qst_key_field *f = &qst_matmul_op.key_fields[i];
        assert_non_null(f->name);
        assert_int_not_equal(f->kind, 0);
        assert_int_equal(!!(f->flags & QST_KEY_EXTRA), i >= QST_MATMUL_KEY_LAYOUT_OUT);
        if (i < COUNT(first))
            assert_string_equal(f->name, first[i]);
    }
}

/* ---- Groups ------------------------------------------------------------------------------------------------------ */

static int32_t group_priority(const char *name, uint32_t device_type, const int64_t *values)
{
    qst_device device;
    qst_key    key = {QST_MATMUL_KEY_COUNT, 0, values};
    memset(&device, 0, sizeof device);
    device.size = (uint32_t)sizeof device;
    device.type = device_type;
    for (uint32_t i = 0; i < qst_matmul_op.n_groups; i++)
        if (strcmp(qst_matmul_op.groups[i].name, name) == 0)
            return qst_matmul_op.groups[i].priority(qst_matmul_op.groups[i].user, &device, &key);
    fail_msg("no group %s", name);
    return 0;
}

static void test_group_table(void **state)
{
    static const struct {
        int64_t  m, n, k;
        uint32_t device;
        int32_t  accelerated, unit, tma, gemv, cpu;
    } rows[] = {
        {4096, 4096, 4096, QST_DEVICE_GPU, 3, 1, 3, -1, -1},
        {1024, 1024, 1024, QST_DEVICE_GPU, 2, 1, 2, -1, -1},
        {128, 128, 128, QST_DEVICE_GPU, 2, 2, 2, -1, -1},
        {4096, 512, 4096, QST_DEVICE_GPU, 3, 1, 2, -1, -1},   /* 8 times as long as wide */
        {2048, 8191, 2048, QST_DEVICE_GPU, 3, 1, -1, -1, -1}, /* rows of an odd length */
        {4096, 1, 4096, QST_DEVICE_GPU, 3, 2, -1, 3, -1},     /* MatVec; B's rows are 4 bytes */
        {1, 4096, 4096, QST_DEVICE_GPU, 3, 2, 2, 2, -1},      /* VecMat, B contiguous */
        {64, 64, 1, QST_DEVICE_GPU, 1, 2, -1, -1, -1},        /* OuterProduct */
        {1, 1, 4096, QST_DEVICE_GPU, 1, 2, -1, -1, -1},       /* InnerProduct */
        {1024, 1024, 1024, QST_DEVICE_CPU, 2, 1, 2, 3, 3},
        {1, 4096, 4096, QST_DEVICE_CPU, 3, 2, 2, 3, 3},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        qst_matmul p;
        int64_t    v[QST_KEY_MAX];
        qst_matmul_init(&p, rows[i].m, rows[i].n, rows[i].k, QST_F32);
        key_of(&p, v);
        assert_int_equal(group_priority("accelerated", rows[i].device, v), rows[i].accelerated);
        assert_int_equal(group_priority("unit", rows[i].device, v), rows[i].unit);
        assert_int_equal(group_priority("tma", rows[i].device, v), rows[i].tma);
        assert_int_equal(group_priority("gemv", rows[i].device, v), rows[i].gemv);
        assert_int_equal(group_priority("cpu", rows[i].device, v), rows[i].cpu);
    }
}

static void test_gemv_by_layout(void **state)
{
    static const struct {
        int64_t kind, layout;
        int32_t priority;
    } rows[] = {
        {QST_KIND_MATVEC, QST_LAYOUT_CONTIGUOUS, 3},
        {QST_KIND_MATVEC, QST_LAYOUT_TRANSPOSED, 2},
        {QST_KIND_MATVEC, QST_LAYOUT_SWAPPED, 3},
        {QST_KIND_MATVEC, QST_LAYOUT_TRANSPOSED_SWAPPED, 2},
        {QST_KIND_MATVEC, QST_LAYOUT_HIGHLY_PERMUTED, 3},
        {QST_KIND_VECMAT, QST_LAYOUT_CONTIGUOUS, 2},
        {QST_KIND_VECMAT, QST_LAYOUT_TRANSPOSED, 3},
        {QST_KIND_VECMAT, QST_LAYOUT_SWAPPED, 2},
        {QST_KIND_VECMAT, QST_LAYOUT_TRANSPOSED_SWAPPED, 3},
        {QST_KIND_VECMAT, QST_LAYOUT_HIGHLY_PERMUTED, 2},
        {QST_KIND_GENERAL, QST_LAYOUT_CONTIGUOUS, -1},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        qst_matmul p;
        int64_t    v[QST_KEY_MAX];
        uint32_t   other = rows[i].kind == QST_KIND_MATVEC ? QST_MATMUL_KEY_LAYOUT_RHS : QST_MATMUL_KEY_LAYOUT_LHS;
        uint32_t   own = rows[i].kind == QST_KIND_MATVEC ? QST_MATMUL_KEY_LAYOUT_LHS : QST_MATMUL_KEY_LAYOUT_RHS;
        qst_matmul_init(&p, 64, 64, 64, QST_F32);
        key_of(&p, v);
        v[QST_MATMUL_KEY_KIND] = rows[i].kind;
        v[own] = rows[i].layout;
        for (int64_t layout = QST_LAYOUT_CONTIGUOUS; layout <= QST_LAYOUT_HIGHLY_PERMUTED; layout++) {
            v[other] = layout; /* the vector's layout does not matter */
            assert_int_equal(group_priority("gemv", QST_DEVICE_GPU, v), rows[i].priority);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_printed_table),
        cmocka_unit_test(test_equalities),
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_stride_factors),
        cmocka_unit_test(test_pow2_follows_the_contiguous_axis),
        cmocka_unit_test(test_kinds_from_raw_sizes),
        cmocka_unit_test(test_scales_from_buckets),
        cmocka_unit_test(test_our_fields),
        cmocka_unit_test(test_anchors_once),
        cmocka_unit_test(test_fields_have_names),
        cmocka_unit_test(test_group_table),
        cmocka_unit_test(test_gemv_by_layout),
    };
    return cmocka_run_group_tests_name("matmul key", tests, NULL, NULL);
}
