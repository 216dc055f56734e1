/* SPDX-License-Identifier: MIT
 *
 * shapes.c: `qst shapes`: what a program's first and later calls cost, shape by shape, launches counted by reason. */
#include "check.h"
#include "device.h"
#include "out.h"
#include "problem.h"
#include "subject.h"
#include "verb.h"
#include "verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS        20
#define WHOLE_SIDE  512 /* up to this size every element is checked */
#define SAMPLE_ROWS 64  /* above it, this many rows */

typedef struct options {
    uint32_t type;
} options;

static const options     defaults = {QST_F32};
static const args_option table[] = {
    {"dtype", ARGS_WORD, offsetof(options, type), "TYPE", "element type", 0, 0, args_types, 0},
    {NULL, 0, 0, NULL, NULL, 0, 0, NULL, 0},
};

/* The counters that are printed, with the names of the JSON. */
typedef struct kind {
    const char *name;
    size_t      offset;
} kind;
static const kind kinds[] = {
    {"candidate", offsetof(qst_counters, candidate)},         {"verify", offsetof(qst_counters, verify)},
    {"probe.compute", offsetof(qst_counters, probe_compute)}, {"probe.memory", offsetof(qst_counters, probe_memory)},
    {"probe.launch", offsetof(qst_counters, probe_launch)},   {"other", offsetof(qst_counters, other)},
};
#define KINDS (sizeof kinds / sizeof *kinds)

typedef struct shape_run {
    const device_handle *device;
    problem_shape        shape;
    qst_matmul           problem;
    data_matrix          a, b, c;
    qst_counters         first, next; /* what the first call and the later ones added */
    double               first_ms, next_ms[RUNS];
    check_result         check;
    char                *winner, *barred; /* barred: verdict_barred of the winner */
} shape_run;

static uint64_t counted(const qst_counters *counters, size_t offset)
{
    uint64_t value;
    memcpy(&value, (const char *)counters + offset, sizeof value);
    return value;
}

static qst_counters count(const device_handle *device)
{
    qst_counters counters;
    memset(&counters, 0, sizeof counters);
    counters.size = (uint32_t)sizeof counters;
    qst_context_counters(device->context, &counters);
    return counters;
}

/* after − before, member by member: all after the two leading u32 are u64. */
static qst_counters difference(const qst_counters *before, const qst_counters *after)
{
    qst_counters result = *after;
    for (size_t at = offsetof(qst_counters, launches); at < sizeof result; at += sizeof(uint64_t)) {
        uint64_t value = counted(after, at) - counted(before, at);
        memcpy((char *)&result + at, &value, sizeof value);
    }
    return result;
}

/* One call from enqueue to finish, in ms; negative after one line on stderr. */
static double call(const shape_run *run)
{
    qst_error  err = {0};
    uint64_t   start = device_now();
    qst_status status = qst_matmul_enqueue(run->device->context, run->device->queue, &run->problem, run->a.mem,
                                           run->b.mem, run->c.mem, 0, NULL, NULL, &err);
    if (status < 0) {
        out_error(problem_shape_label(&run->shape).text, status, &err);
        return -1;
    }
    if (!device_ok(clFinish(run->device->queue), "clFinish"))
        return -1;
    return (double)(device_now() - start) / 1e6;
}

static bool prepare(shape_run *run)
{
    const qst_matmul *p = &run->problem;
    if (!data_fits(run->device, p, problem_shape_label(&run->shape).text))
        return false;
    data_init(&run->a, &p->a, p->m, p->k, p->batch, 0, 0);
    data_init(&run->b, &p->b, p->k, p->n, p->batch, 0, 0);
    data_init(&run->c, &p->c, p->m, p->n, p->batch, 0, 0);
    data_random(&run->a, 1);
    data_random(&run->b, 2);
    return data_upload(&run->a, run->device) && data_upload(&run->b, run->device) &&
           data_upload(&run->c, run->device) && device_ok(clFinish(run->device->queue), "clFinish");
}

static bool check(shape_run *run)
{
    const qst_matmul *p = &run->problem;
    unsigned char    *result = out_resize(NULL, (size_t)run->c.bytes);
    check_task        task = {&run->problem, &run->a, &run->b, &run->c, result, NULL, 0};
    int64_t          *rows = NULL;
    bool              read = data_download(&run->c, run->device, result);
    if (p->m > WHOLE_SIDE || p->n > WHOLE_SIDE || p->k > WHOLE_SIDE)
        task.rows = rows = check_sample(p->m, SAMPLE_ROWS, &task.n_rows);
    if (read)
        run->check = check_product(&task);
    free(rows);
    free(result);
    return read;
}

static bool name_winner(shape_run *run)
{
    qst_error  err = {0};
    qst_plan  *plan;
    qst_status status = qst_matmul_plan(&plan, run->device->context, run->device->queue, &run->problem, &err);
    if (status < 0)
        return out_error("plan", status, &err), false;
    run->winner = out_text("%s", qst_plan_winner(plan));
    run->barred = verdict_barred(run->device->context, "matmul", run->winner, NULL);
    qst_plan_destroy(plan);
    return true;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The whole experiment with one shape. */
static bool measure(shape_run *run)
{
    if (!prepare(run))
        return false;
    qst_counters before = count(run->device);
    qst_set     *set;
    if (qst_set_find(&set, run->device->context, "matmul", NULL) == QST_OK)
        subject_heed(set, &run->problem);
    run->first_ms = call(run);
    stop_end();
    qst_counters after = count(run->device);
    run->first = difference(&before, &after);
    if (run->first_ms < 0 || !check(run) || !name_winner(run))
        return false;
    before = count(run->device);
    for (int i = 0; i < RUNS; i++)
        if ((run->next_ms[i] = call(run)) < 0)
            return false;
    after = count(run->device);
    run->next = difference(&before, &after);
    qsort(run->next_ms, RUNS, sizeof *run->next_ms, ascending);
    return true;
}

static void finish(shape_run *run)
{
    data_finish(&run->a);
    data_finish(&run->b);
    data_finish(&run->c);
    free(run->winner);
    free(run->barred);
}

static double median(const shape_run *run)
{
    return (run->next_ms[RUNS / 2 - 1] + run->next_ms[RUNS / 2]) / 2;
}

static double wait_ms(const shape_run *run)
{
    return (double)run->first.wait_ns / 1e6;
}

/* What the first call would have taken with every program there. */
static double outside_ms(const shape_run *run)
{
    return run->first_ms - wait_ms(run);
}

/* launches=33 [candidate=33, …] */
static void print_launches(const qst_counters *counters)
{
    const char *comma = "";
    printf("launches=%" PRIu64 " [", counters->launches);
    for (size_t i = 0; i < KINDS; i++)
        if (counted(counters, kinds[i].offset)) {
            printf("%s%s=%" PRIu64, comma, kinds[i].name, counted(counters, kinds[i].offset));
            comma = ", ";
        }
    if (counters->compiles) {
        printf("%scompile=%" PRIu64, comma, counters->compiles);
        comma = ", ";
    }
    if (counters->binary_loads)
        printf("%sbinary=%" PRIu64, comma, counters->binary_loads);
    printf("]");
}

static void print(const shape_run *run, int width)
{
    problem_label label = problem_shape_label(&run->shape);
    printf("%*s first:   %12s  ", width, label.text, out_ms(run->first_ms).text);
    if (run->first.tuned)
        printf("outside builds %s  ", out_ms(outside_ms(run)).text);
    print_launches(&run->first);
    if (run->barred)
        printf(" no winner, %s runs: %s\n", run->winner, run->barred);
    else
        printf(" %s winner %s\n", run->first.tuned ? "tuned" : "known", run->winner);
    printf("%*s next %d: min %s median %s  ", width, label.text, RUNS, out_ms(run->next_ms[0]).text,
           out_ms(median(run)).text);
    print_launches(&run->next);
    printf("\n");
    if (!run->check.right) {
        char *text = check_text(&run->check);
        printf("%*s wrong: %s\n", width, label.text, text);
        free(text);
    }
    fflush(stdout);
}

static json_t *as_json(const shape_run *run)
{
    const qst_counters *f = &run->first;
    json_t             *launches =
        out_need(json_pack("{s:I,s:I}", "total", (json_int_t)f->launches, "kernels", (json_int_t)f->kernels));
    for (size_t i = 0; i < KINDS; i++)
        json_object_set_new(launches, kinds[i].name, json_integer((json_int_t)counted(f, kinds[i].offset)));
    json_t *next = json_pack("{s:i,s:I,s:f,s:f}", "runs", RUNS, "launches", (json_int_t)run->next.launches, "min_ms",
                             run->next_ms[0], "median_ms", median(run));
    return out_need(json_pack(
        "{s:I,s:I,s:I,s:b,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:o,s:I,s:I,s:b,s:s,s:o,s:b,s:f,s:o}", "m",
        (json_int_t)run->shape.m, "n", (json_int_t)run->shape.n, "k", (json_int_t)run->shape.k, "transposed",
        run->shape.transposed, "first_ms", run->first_ms, "build_ms", (double)f->build_ns / 1e6, "wait_ms",
        wait_ms(run), "outside_ms", outside_ms(run), "probe_ms", (double)f->probe_ns / 1e6, "verify_ms",
        (double)f->verify_ns / 1e6, "sample_ms", (double)f->sample_ns / 1e6, "launches", launches, "compiles",
        (json_int_t)f->compiles, "binary_loads", (json_int_t)f->binary_loads, "tuned", f->tuned != 0, "winner",
        run->winner, "barred", run->barred ? json_string(run->barred) : json_null(), "right", run->check.right,
        "error_of_bound", run->check.worst > 1e300 ? 1e300 : run->check.worst, "next", next));
}

/* All words are read before anything is opened. */
static int parse(char **words, int n, problem_shape *shapes, int *width)
{
    for (int i = 0; i < n; i++) {
        if (!problem_shape_parse(words[i], &shapes[i]))
            return problem_shape_refuse("shapes", words[i], PROBLEM_SHAPE_WANTED);
        int length = (int)strlen(problem_shape_label(&shapes[i]).text);
        *width = length > *width ? length : *width;
    }
    return 0;
}

/* A run over all shapes. */
typedef struct course {
    const device_handle *device;
    const problem_shape *shapes;
    int                  n, done, width;
    bool                 tuned;
    json_t              *rows; /* NULL: text, shape by shape */
    json_t *facts; /* of the device, asked for after the first shape, which finds the library as it starts */
} course;

static void tell(const course *c)
{
    if (c->facts)
        out_json(out_need(
            json_pack("{s:O,s:s,s:O}", "device", c->facts, "cache", c->tuned ? "cold" : "warm", "shapes", c->rows)));
}

static void tell_end(void *user)
{
    const course *c = user;
    tell(c);
    out_fail("shapes: ended by %s after %d of %d shapes; what was found is kept", stop_name(), c->done, c->n);
}

static void keep(course *c, const shape_run *one)
{
    stop_hold();
    if (c->rows)
        json_array_append_new(c->rows, as_json(one));
    else
        print(one, c->width);
    if (c->rows && !c->facts)
        c->facts = device_facts(c->device);
    c->tuned = c->tuned || one->first.tuned;
    c->done++;
    stop_go();
}

static int experiment(course *c, uint32_t type)
{
    int status = 0;
    stop_tell(tell_end, c);
    for (int i = 0; i < c->n && status != EXIT_FAILED; i++) {
        shape_run one;
        memset(&one, 0, sizeof one);
        one.device = c->device;
        one.shape = c->shapes[i];
        problem_from_shape(&one.problem, &one.shape, type);
        out_progress("%s: %d of %d", problem_shape_label(&one.shape).text, i + 1, c->n);
        bool done = measure(&one);
        out_progress(NULL);
        if (done)
            keep(c, &one);
        if (!done || !one.check.right)
            status = EXIT_FAILED;
        finish(&one);
    }
    stop_hold_tell(NULL, NULL);
    tell(c);
    stop_go();
    return status;
}

static int run(const args_common *common, const void *given, int argc, char **argv)
{
    device_handle  device;
    const options *o = given;
    course         c = {.device = &device, .n = argc, .width = 9};
    if (argc == 0)
        return args_usage("shapes", "no sizes; see qst shapes --help");
    stop_heed("shapes");
    memset(&device, 0, sizeof device);
    problem_shape *shapes = out_resize(NULL, (size_t)argc * sizeof *shapes);
    int            status = parse(argv, argc, shapes, &c.width);
    c.shapes = shapes;
    if (status == 0)
        status = device_open(&device, common, NULL);
    if (common->json)
        c.rows = out_need(json_array());
    if (status == 0)
        status = experiment(&c, o->type);
    if (status == 0 && !c.rows)
        printf("cache: %s\n", c.tuned ? "cold" : "warm");
    json_decref(c.rows);
    json_decref(c.facts);
    device_close(&device);
    free(shapes);
    return status;
}

const verb_info verb_shapes = {
    .name = "shapes",
    .arguments = "N|MxNxK[T]...",
    .summary = "first call and next 20 of matmul shapes, with launches counted by reason",
    .help =
        "For each shape in turn, in one process: random matrices on the device; the first call, timed from enqueue\n"
        "to finish, with all launches, compiles and loads of binaries it made, and what of it was not waiting for\n"
        "builds, which is what it would take with every program there; the product checked on the host\n"
        "(every element up to 512, else 64 rows); then 20 calls, each finished: least and median time. `tuned`:\n"
        "the call measured candidates; `known`: the answer was there. The last line, `cache`, is `warm` where all\n"
        "were known, else `cold`. Exit code 1 when a product is wrong.\n"
        "There is no budget unless --budget or the configuration gives one.\n",
    .groups = ARGS_LEVEL | ARGS_TUNE,
    .options = table,
    .defaults = &defaults,
    .options_size = sizeof(options),
    .run = run,
};
