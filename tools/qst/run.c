/* SPDX-License-Identifier: MIT
 *
 * run.c: `qst run matmul`: the options, and what is printed about one problem that run_matmul.c computes. */
#include "run.h"

#include "out.h"
#include "stop.h"
#include "verb.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const numerics_words[] = {"plain", "strict", "fast", NULL};
static const char *const broadcast_words[] = {"", "a", "b", "both", NULL};

#define SIZE_MAX_ARG 1048576

static const run_options defaults = {
    .m = -1, .n = -1, .k = -1, .batch = 1, .alpha = 1, .type = QST_F32, .runs = 10, .seed = 1};

#define ROW_FLAG(name, member, help)                                                                                   \
    {                                                                                                                  \
        name, ARGS_FLAG, offsetof(run_options, member), NULL, help, 0, 0, NULL, 0                                      \
    }
#define ROW_SIZE(name, member, help)                                                                                   \
    {                                                                                                                  \
        name, ARGS_INT, offsetof(run_options, member), "N", help, 0, SIZE_MAX_ARG, NULL, 0                             \
    }
#define ROW_REAL(name, member, help)                                                                                   \
    {                                                                                                                  \
        name, ARGS_REAL, offsetof(run_options, member), "X", help, 0, 0, NULL, 0                                       \
    }
#define ROW_WORD(name, member, words, help)                                                                            \
    {                                                                                                                  \
        name, ARGS_WORD, offsetof(run_options, member), "WORD", help, 0, 0, words, 0                                   \
    }
static const args_option table[] = {
    ROW_SIZE("m", m, "rows of A and C"),
    ROW_SIZE("n", n, "columns of B and C"),
    ROW_SIZE("k", k, "columns of A, rows of B"),
    ROW_FLAG("transa", transa, "A lies transposed: k rows of m; also --ta"),
    ROW_FLAG("transb", transb, "B lies transposed: n rows of k; also --tb"),
    ROW_FLAG("ta", transa, NULL),
    ROW_FLAG("tb", transb, NULL),
    ROW_SIZE("lda", lda, "elements from row to row of A as it lies; 0: dense"),
    ROW_SIZE("ldb", ldb, "the same of B"),
    ROW_SIZE("ldc", ldc, "the same of C"),
    ROW_FLAG("colmajor-c", colmajor_c, "C lies column by column"),
    ROW_SIZE("offset-a", offset_a, "elements before A's first"),
    ROW_SIZE("offset-b", offset_b, "the same of B"),
    ROW_SIZE("offset-c", offset_c, "the same of C"),
    ROW_SIZE("batch", batch, "products, one after the other"),
    ROW_WORD("broadcast", broadcast, broadcast_words, "all products share it"),
    ROW_REAL("alpha", alpha, "factor of the product"),
    ROW_REAL("beta", beta, "factor of the old C; 0: C is not read"),
    ROW_WORD("dtype", type, args_types, "element type"),
    ROW_WORD("dtype-c", type_c, args_types, "of C alone, f32 where A and B are f16 or bf16"),
    ROW_WORD("numerics", numerics, numerics_words, "class of rounding"),
    ROW_FLAG("scaled", scaled, "a column of A times 2^40, that row of B times 2^-40"),
    ROW_FLAG("same", same, "each of --runs must give the bits of the first call; beta 0"),
    {"runs", ARGS_INT, offsetof(run_options, runs), "N", "timed calls after the first", 0, RUN_RUNS_MAX, NULL, 0},
    ROW_SIZE("seed", seed, "of the random data"),
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};

/* One matrix as the options say it lies; `rows` and `cols` of the matrix, not of the memory. */
static int place(qst_matrix *view, const char *name, int64_t rows, int64_t cols, bool transposed, int64_t given,
                 int64_t batch, bool shared)
{
    int64_t across = transposed ? rows : cols, down = transposed ? cols : rows;
    int64_t lead = given ? given : across ? across : 1;
    if (lead < across)
        return args_usage("run", "--ld%s %lld: less than the %lld elements of a row", name, (long long)lead,
                          (long long)across);
    view->row = transposed ? 1 : lead;
    view->col = transposed ? lead : 1;
    if (batch > 1)
        view->batch[3] = shared ? 0 : lead * (down ? down : 1);
    return 0;
}

static int describe_problem(qst_matmul *p, const run_options *o)
{
    int status;
    if (o->m < 0 || o->n < 0 || o->k < 0)
        return args_usage("run", "--%s is missing", o->m < 0 ? "m" : o->n < 0 ? "n" : "k");
    qst_matmul_init(p, o->m, o->n, o->k, o->type);
    p->numerics = o->numerics; /* the words stand in the order of QST_NUMERICS_… */
    if (o->type_c)
        p->c.type = o->type_c;
    p->alpha = o->alpha;
    p->beta = o->beta;
    p->batch[3] = o->batch;
    if ((status = place(&p->a, "a", o->m, o->k, o->transa, o->lda, o->batch, o->broadcast & 1)) != 0 ||
        (status = place(&p->b, "b", o->k, o->n, o->transb, o->ldb, o->batch, o->broadcast & 2)) != 0)
        return status;
    return place(&p->c, "c", o->m, o->n, o->colmajor_c, o->ldc, o->batch, false);
}

static void print_check(const run_result *r)
{
    if (r->check.right) {
        printf("check:   right, largest error %.3f of the bound\n", r->check.worst);
    } else {
        char *text = check_text(&r->check);
        printf("check:   wrong, %s\n", text);
        free(text);
    }
    if (r->differs)
        printf("same:    wrong, run %d gave other bits\n", r->differs);
    if (!r->outside_c)
        puts("outside: wrong, bytes around C's elements were written");
    if (!r->inputs)
        puts("inputs:  wrong, A or B were written");
}

static void print(const run_result *r)
{
    printf("problem: %s\n", r->problem);
    if (r->called) {
        printf("winner:  %s%s%s\n", r->winner, r->barred ? ", all the same: " : "", r->barred ? r->barred : "");
        printf("first:   %s\n", out_ms(r->first_ms).text);
        if (r->n_times)
            printf("next %d: min %s median %s, %.2f GFLOP/s\n", r->n_times, out_ms(r->min_ms).text,
                   out_ms(r->median_ms).text, r->gflops);
        print_check(r);
    }
    out_harmless(r->pinned);
    for (size_t i = 0; i < json_array_size(r->pinned); i++) {
        const json_t *row = json_array_get(r->pinned, i);
        printf("pinned:  %s: %s\n", out_member(row, "name"), out_member(row, "account"));
    }
}

static void print_json(const run_result *r)
{
    json_t *all =
        out_need(json_pack("{s:s,s:b,s:O}", "problem", r->problem, "right", run_right(r), "pinned", r->pinned));
    if (r->called) {
        json_t *more = json_pack("{s:s,s:f,s:i,s:f,s:f,s:f,s:f,s:b,s:b}", "winner", r->winner, "first_ms", r->first_ms,
                                 "runs", r->n_times, "min_ms", r->min_ms, "median_ms", r->median_ms, "gflops",
                                 r->gflops, "error_of_bound", r->check.worst > 1e300 ? 1e300 : r->check.worst,
                                 "outside_untouched", r->outside_c, "inputs_untouched", r->inputs);
        json_object_update(all, out_need(more));
        json_decref(more);
        char *digest = out_text("%016llx", (unsigned long long)r->digest);
        json_object_set_new(all, "digest", out_need(json_string(digest)));
        json_object_set_new(all, "barred", r->barred ? json_string(r->barred) : json_null());
        json_object_set_new(all, "same", out_need(json_boolean(!r->differs)));
        free(digest);
        if (!r->check.right) {
            char *text = check_text(&r->check);
            json_object_set_new(all, "wrong", json_string(text));
            free(text);
        }
    }
    out_json(all);
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    const run_options *o = given;
    qst_matmul         problem;
    device_handle      device;
    run_result         result;
    if (argc == 0 || strcmp(argv[0], "matmul") != 0)
        return args_usage("run", "%s: what to run is `matmul`", argc ? out_shown(argv[0]).text : "nothing named");
    if (argc > 1)
        return args_usage("run", "%s: sizes are given by --m, --n and --k", out_shown(argv[1]).text);
    if (o->same && o->beta != 0)
        return args_usage("run", "--same: with beta %g each run gives something else", o->beta);
    if (o->scaled && o->type == QST_F16)
        return args_usage("run", "--scaled: 2^40 is no f16");
    int status = describe_problem(&problem, o);
    if (status != 0)
        return status;
    stop_heed("run");
    memset(&result, 0, sizeof result);
    status = device_open(&device, common, NULL);
    if (status == 0) {
        out_progress("running");
        status = run_matmul(&result, &device, &problem, o, &common->pin);
        out_progress(NULL);
        if (result.problem && common->json)
            print_json(&result);
        else if (result.problem)
            print(&result);
    }
    run_finish(&result);
    device_close(&device);
    return status;
}

const verb_info verb_run = {
    .name = "run",
    .arguments = "matmul --m N --n N --k N",
    .summary = "one problem on random data, checked on the host",
    .help =
        "C := alpha A B + beta C on random matrices, every element of C compared with the product computed on the\n"
        "host, within the accuracy that quernstone/matmul.h promises; everything around the matrices' elements is\n"
        "NaN, and so is what alpha = 0 or beta = 0 leaves unread. Bytes around C, and A and B, must stay as they\n"
        "were. --scaled makes data that few formats hold, while no term of a sum changes. `digest` of --json is of\n"
        "all bytes of C, to compare two candidates by. Exit code 1 when something is wrong. With --pin, tells of each\n"
        "candidate of that name what became of it, also where it was refused: its build log, its first wrong element,\n"
        "its limit; exit code 1 also where one is wrong, does not build or launch, or none has the name.\n",
    .groups = ARGS_LEVEL | ARGS_TUNE,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(run_options),
    .run = run,
};
