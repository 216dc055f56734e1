/* SPDX-License-Identifier: MIT
 *
 * suits.c: which rows a key's sizes and types are compared for at all; the others are a last resort. The bounds come from
 * measured times of all rows (docs/decisions/0025, 0043).
 */
#include "cpu_gemm.h"

#define TALL_LEAST  64  /* rows and columns under which tall rows are a last resort */
#define TALL_FEWER  32  /* the same of columns, where m and k are at least these: */
#define TALL_ROWS   256 /* and of rows and columns, where tall rows copy A alone */
#define TALL_DEPTH  64  /* and k up to which all are one: little is computed for each element that is copied */
#define TALL_SURELY 512 /* m, n and twice k from which on other tiles that copy both are one, too */
#define LEADS       256 /* m, n and k from which on tall rows may lead those that read A in place, and twice of m or of k */
#define LARGE       1024  /* m and n of CPU_GEMM_LARGE */
#define SHORT_BLOCK 128   /* of k, of tall rows; of the longer one both together fit a first-level cache in f32 */
#define LONG_PANEL  81920 /* bytes of a panel of B over which it should hold all of k */
#define LONG_SUM    2048  /* k under which a tall row is one whose tile of A is beyond a first-level cache */
#define SPLIT_LEAST 1024  /* k of a key under which splitting it is a last resort */
#define NEAR_BYTES  12288 /* of a panel that is read in place as fast as a copy: a quarter of a first-level cache */
#define LINE_LOG2   6     /* of the bytes of a cache line */
#define MANY_TILES  16    /* tiles of rows that pay for a copy of B that spares crossed lines */
#define COPY_B_ROWS 128   /* rows up to which several panels of B are not worth a copy where A is not copied */

static int64_t of(const qst_key *key, uint32_t field)
{
    return key->value[field];
}

static int64_t item(const qst_key *key)
{
    return of(key, QST_MATMUL_KEY_ELEM_LHS) == QST_F64 ? 8 : 4;
}

/* Bytes of B. */
static double b_bytes(const qst_key *key)
{
    return (double)of(key, QST_MATMUL_KEY_N) * (double)of(key, QST_MATMUL_KEY_K) * (double)item(key);
}

static int pays_to_be_tall(const qst_key *key, int64_t columns)
{
    const int64_t m = of(key, QST_MATMUL_KEY_M), n = of(key, QST_MATMUL_KEY_N), k = of(key, QST_MATMUL_KEY_K);
    return m >= TALL_LEAST && n >= columns && (n >= TALL_LEAST || (m >= TALL_ROWS && k >= TALL_DEPTH));
}

/* Tall rows that copy A alone are for a B that stays in a second-level cache. */
static int suits_tall(const struct cpu_gemm_row *row, const qst_key *key)
{
    if (of(key, QST_MATMUL_KEY_K) <= TALL_DEPTH)
        return 0;
    return row->pack & CPU_GEMM_PACK_B ? pays_to_be_tall(key, TALL_FEWER)
                                       : of(key, QST_MATMUL_KEY_M) >= TALL_ROWS &&
                                             of(key, QST_MATMUL_KEY_N) >= TALL_ROWS && b_bytes(key) < CPU_GEMM_SMALL_B;
}

/* Is it worth while to copy what may be read in place? A copy costs about as much as one reading of it. B is read once
 * for each tile of rows, A once for each panel of columns. A small panel stays near wherever it lies; of a larger one
 * rows in place cross lines, fall into the same sets of a cache, and lie in pages of their own. Of one or two vectors a row
 * of B there is too little arithmetic to hide lines that are crossed, and many tiles pay for a copy of any size. */
static int pays_to_copy(const struct cpu_gemm_row *row, const qst_key *key)
{
    const int64_t m = of(key, QST_MATMUL_KEY_M), n = of(key, QST_MATMUL_KEY_N), k = of(key, QST_MATMUL_KEY_K);
    const int64_t bytes = item(key), width = row->nv * (int64_t)CPU_GEMM_VECTOR / bytes;
    const int64_t cols = n < width ? n : width, depth = k < (int64_t)row->kc ? k : (int64_t)row->kc;
    const int narrow = n * bytes <= 2 * (int64_t)CPU_GEMM_VECTOR && of(key, QST_MATMUL_KEY_RHS_STRIDE) < LINE_LOG2 &&
                       m >= MANY_TILES * (int64_t)row->mr;
    if (row->pack == CPU_GEMM_PACK_B && n > (m <= COPY_B_ROWS ? width : 2 * width))
        return 0;
    return m >= 2 * (int64_t)row->mr && (narrow || depth * cols * bytes > NEAR_BYTES) &&
           (!(row->pack & CPU_GEMM_PACK_A) || n > width);
}

static int is_strict(const qst_key *key)
{
    return key->count > QST_MATMUL_KEY_NUMERICS && of(key, QST_MATMUL_KEY_NUMERICS) == QST_NUMERICS_STRICT;
}

/* Are tall rows to be reckoned with by whatever reads A in place? Not where the order of summation is fixed over a k longer
 * than their block, which they cannot do. */
static int is_for_tall(const qst_key *key)
{
    const int64_t m = of(key, QST_MATMUL_KEY_M), k = of(key, QST_MATMUL_KEY_K);
    return m >= LEADS && of(key, QST_MATMUL_KEY_N) >= LEADS && k >= LEADS && (m >= 2 * LEADS || k >= 2 * LEADS) &&
           !is_strict(key);
}

/* Where both of a tall row's blocks fit, they are alike within 2 %, and one is enough: the shorter for large C, unless the
 * order of summation is fixed, for which k is in one block, or none. */
static int is_other_block(const struct cpu_gemm_row *row, int64_t tall, const qst_key *key)
{
    const int large =
        of(key, QST_MATMUL_KEY_M) >= TALL_SURELY && of(key, QST_MATMUL_KEY_N) >= TALL_SURELY && !is_strict(key);
    return tall > SHORT_BLOCK && item(key) == 4 && of(key, QST_MATMUL_KEY_K) > SHORT_BLOCK &&
           (row->kc <= SHORT_BLOCK) != large;
}

/* A panel of B in place that is larger than a first-level cache, and yet does not hold all of k? */
static int has_long_panel(const struct cpu_gemm_row *row, const qst_key *key)
{
    return row->pack == CPU_GEMM_IN_PLACE && row->slices == 1 && row->kc * row->nv * CPU_GEMM_VECTOR > LONG_PANEL &&
           of(key, QST_MATMUL_KEY_K) >= 2 * (int64_t)row->kc;
}

/* Processors differ in what they want: a core that two threads share, few operations, which tall tiles have; one whose
 * loads are what is short, few loads, which tiles of several vectors have. So for each key one of both is compared, and of the
 * latter one that copies and ones that do not. The rest of them is outdone: of those that copy both, all that are not made
 * to stand beside tall rows; of those that do not, short blocks, and all for a B whose rows are pages apart. */
static int is_outdone_beside(const struct cpu_gemm_row *row, const qst_key *key)
{
    const int64_t  m = of(key, QST_MATMUL_KEY_M), n = of(key, QST_MATMUL_KEY_N);
    const uint32_t size = !is_for_tall(key)          ? CPU_GEMM_NEVER
                          : m >= LARGE && n >= LARGE ? CPU_GEMM_LARGE
                                                     : CPU_GEMM_MEDIUM;
    if (row->pack == CPU_GEMM_PACK_BOTH)
        return row->beside == CPU_GEMM_NEVER || row->beside != size;
    return size != CPU_GEMM_NEVER &&
           (row->pack != CPU_GEMM_IN_PLACE || row->kc <= SHORT_BLOCK || b_bytes(key) > CPU_GEMM_LARGE_B);
}

/* Does another row do better? A tall one than a tall row whose tile of A is larger than a first-level cache, unless k is so
 * long that fewer sums between its blocks make up for it; than most others, where there are rows and columns enough, more of
 * them where C is cut both ways. */
static int is_outdone(const struct cpu_gemm_row *row, int64_t tall, const qst_key *key)
{
    if (cpu_gemm_is_tall(row))
        return row->kc * row->mr * item(key) > CPU_GEMM_PANEL ? of(key, QST_MATMUL_KEY_K) < LONG_SUM
                                                              : is_other_block(row, tall, key);
    if (row->pack != CPU_GEMM_PACK_BOTH)
        return is_outdone_beside(row, key) || has_long_panel(row, key);
    return row->cut == CPU_GEMM_ROWS
               ? pays_to_be_tall(key, TALL_LEAST) && is_outdone_beside(row, key)
               : of(key, QST_MATMUL_KEY_M) >= TALL_SURELY && of(key, QST_MATMUL_KEY_N) >= TALL_SURELY &&
                     of(key, QST_MATMUL_KEY_K) >= TALL_SURELY / 2;
}

int32_t cpu_gemm_suits(const struct cpu_gemm_row *row, int64_t tall, const qst_key *key, const char **why)
{
    int plain;
    if (key->count <= QST_MATMUL_KEY_ELEM_OUT)
        return QST_OK;
    plain = of(key, QST_MATMUL_KEY_ELEM_LHS) <= QST_F64 &&
            of(key, QST_MATMUL_KEY_ELEM_OUT) == of(key, QST_MATMUL_KEY_ELEM_LHS);
    if (plain && row->pack == CPU_GEMM_PACK_A)
        return qstk_poor(why, "copies A, which these types need not");
    if (plain && tall && is_outdone(row, tall, key))
        return qstk_poor(why, "another row does the same faster");
    if (plain && row->pack && !(cpu_gemm_is_tall(row) ? suits_tall(row, key) : pays_to_copy(row, key)))
        return qstk_poor(why, "what it copies costs more than it saves for matrices of this size");
    if (row->slices > 1 && (of(key, QST_MATMUL_KEY_N) > row->most_m || of(key, QST_MATMUL_KEY_K) < SPLIT_LEAST))
        return qstk_poor(why, "split along k for few columns and long sums");
    if (row->most_m && of(key, QST_MATMUL_KEY_M) > row->most_m)
        return qstk_poor(why, "made for fewer rows");
    if (row->cut == CPU_GEMM_COLUMNS && plain && b_bytes(key) > 0.0 && b_bytes(key) < CPU_GEMM_SMALL_B)
        return qstk_poor(why, "made for a B that comes from memory");
    return QST_OK;
}
