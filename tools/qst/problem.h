/* SPDX-License-Identifier: MIT
 *
 * problem.h: problems as words of the command line, and their keys.
 */
#ifndef QST_TOOL_PROBLEM_H
#define QST_TOOL_PROBLEM_H

#include <quernstone/matmul.h>
#include <stdbool.h>

/* `512`: a square; `64x32x128`: rows × columns × depth; a T after it: B is a transposed view. Sizes from 1 to
 * PROBLEM_SIDE_MAX. False where the word is neither. */
#define PROBLEM_SIDE_MAX 65536
typedef struct problem_shape {
    int64_t m, n, k;
    bool    transposed;
} problem_shape;
bool problem_shape_parse(const char *word, problem_shape *shape);

/* EXIT_USAGE after one line about a word that is none: sizes that are out of bounds, or "WORD: WANTED". */
#define PROBLEM_SHAPE_WANTED "neither N nor MxNxK, with or without a T"
int problem_shape_refuse(const char *where, const char *word, const char *wanted);

/* log2 of the alignment, in bytes, of a whole buffer's start, as calls find it: what is tuned ahead is timed where it will
 * run. */
#define PROBLEM_ALIGN 7u

/* Dense and row-major but for T, on whole buffers. */
void problem_from_shape(qst_matmul *problem, const problem_shape *shape, uint32_t type);

/* "1024x1024" or, where it is no square, "64x32x128", with its T. */
typedef struct problem_label {
    char text[64];
} problem_label;
problem_label problem_shape_label(const problem_shape *shape);

/* A problem's key. */
typedef struct problem_key {
    const qst_op *op;
    uint32_t      count;
    int64_t       value[QST_KEY_MAX];
} problem_key;
bool problem_key_of(qst_set *set, const void *problem, problem_key *key, qst_error *err);
bool problem_key_equal(const problem_key *a, const problem_key *b);

/* `name=value …` of all fields, as in records; or of the i-th alone, as text that the caller frees. */
char *problem_key_text(const problem_key *key);
char *problem_key_field(const problem_key *key, uint32_t i);

/* The problem as text; the caller frees. */
char *problem_text(qst_set *set, const void *problem);

#endif
