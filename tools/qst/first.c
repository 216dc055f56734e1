/* SPDX-License-Identifier: MIT
 *
 * first.c: `qst bench first`: a process that starts, makes one call whose answer is stored, and ends, against one that
 * does the same by hand: loads the same binary and launches it. Both bring the same matrices up. Timed are their whole
 * lives, and in them what the call takes, from nothing to the end of its kernel: a driver may take 200 ms to start, and now
 * ten more, now ten less. */
#include "bench.h"
#include "core/cl/place.h"
#include "device.h"
#include "file.h"
#include "lookup.h"
#include "out.h"
#include "stop.h"
#include "verb.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What pairs of children took: their lives, the ratio of these, and their calls, the library's and its over by hand. */
enum { WITH, HAND, RATIO, CALL, OVER, COLUMNS };

typedef struct first {
    const bench_options *options;
    bool                 json;
    char                *folder, *settings, *binary, *cache; /* cache: the driver's, a new one each time */
    qst__place           place;                              /* of the device, for every child */
    char                 size[24], nth[24];
    json_t              *report; /* of the last child with the library */
    double              *columns[COLUMNS];
    int64_t              pairs; /* done */
} first;

/* The driver's own cache is empty at each start, as on a machine that has only our store. */
static bool fresh_cache(first *f, int64_t i)
{
    file_folder_remove(f->cache);
    free(f->cache);
    f->cache = out_text("%s/driver-%" PRId64, f->folder, i);
    if (mkdir(f->cache, 0700) != 0)
        return out_fail("%s: cannot be made", f->cache), false;
    return setenv("POCL_CACHE_DIR", f->cache, 1) == 0;
}

/* One child, by hand or not; its whole time in ms, negative after one line. *call: of it the call's. */
static double play(first *f, bool by_hand, int64_t i, double *call)
{
    const char *words[] = {"first",
                           "--size",
                           f->size,
                           "--at-platform",
                           f->place.platform,
                           "--at-device",
                           f->place.device,
                           "--at",
                           f->nth,
                           "--child",
                           by_hand ? "hand" : "with",
                           by_hand ? "--file" : "--config",
                           by_hand ? f->binary : f->settings,
                           NULL};
    char       *output;
    double      ms;
    if (!fresh_cache(f, i))
        return -1;
    int code = bench_child(words, &output, &ms);
    if (code == 0) {
        out_buffer text = {output, strlen(output), 0};
        json_t    *report = out_parse("bench first", &text);
        code = report ? 0 : EXIT_FAILED;
        *call = out_number(report, "call_ns") * 1e-6;
        if (!by_hand) {
            stop_hold();
            json_decref(f->report);
            f->report = json_incref(report);
            stop_go();
        }
        json_decref(report);
    }
    free(output);
    return code == 0 ? ms : -1;
}

/* Where the children find the device. 0, or the exit code after one line. */
static int place_device(first *f, const args_common *common)
{
    device_handle device;
    qst_error     err = {0};
    int           status = device_context(&device, common, QST_NO_PLUGINS | QST_NO_STORE);
    if (status == 0 && qst_context_pick_device(device.context, &device.platform, &device.id, &err) < 0)
        status = out_error("bench first", err.status, &err);
    cl_int code = status == 0 ? qst__place_of(&f->place, device.id) : CL_SUCCESS;
    if (code != CL_SUCCESS)
        status = out_fail("bench first: the device cannot be named to another process: OpenCL code %d", (int)code);
    snprintf(f->nth, sizeof f->nth, "%" PRIu64, f->place.nth);
    device_close(&device);
    return status;
}

/* The winner's binary, into a file. */
static bool take_binary(const first *f)
{
    const char *words[] = {"first", "--child", "binary", "--file", f->binary, "--config", f->settings, NULL};
    char       *output;
    double      ms;
    int         code = bench_child(words, &output, &ms);
    free(output);
    return code == 0;
}

/* Tunes in a process of its own, then has another take what that left: this one writes nothing into the folder, so that a
 * teller takes it away for good once it has ended the one that runs. 0, or the exit code after one line. */
static int prepare(first *f, const args_common *common)
{
    double ignored;
    int    status = place_device(f, common);
    if (status == 0 && (play(f, false, -2, &ignored) < 0 || !take_binary(f)))
        status = EXIT_FAILED;
    return status;
}

static bool measure(first *f)
{
    for (int64_t i = -1; i < f->options->pairs; i++) { /* the first pair is not counted */
        double ms[2], call[2];
        out_progress("pair %" PRId64 " of %" PRId64, i + 1, f->options->pairs);
        for (int k = 0; k < 2; k++) {
            bool by_hand = (k + i) % 2 != 0;
            if ((ms[by_hand] = play(f, by_hand, 2 * i + k, &call[by_hand])) < 0)
                return false;
        }
        if (i < 0)
            continue;
        stop_hold();
        f->columns[WITH][i] = ms[0];
        f->columns[HAND][i] = ms[1];
        f->columns[RATIO][i] = ms[0] / ms[1];
        f->columns[CALL][i] = call[0];
        f->columns[OVER][i] = call[0] - call[1];
        f->pairs = i + 1;
        stop_go();
    }
    out_progress(NULL);
    return true;
}

static void print(const first *f, const bench_spread *s)
{
    printf("with the library  median %9.2f ms  quartiles %9.2f %9.2f\n", s[WITH].median, s[WITH].p25, s[WITH].p75);
    printf("by hand           median %9.2f ms  quartiles %9.2f %9.2f\n", s[HAND].median, s[HAND].p25, s[HAND].p75);
    printf("ratio of a pair   median %9.4f     quartiles %9.4f %9.4f\n", s[RATIO].median, s[RATIO].p25, s[RATIO].p75);
    printf("its call          median %9.3f ms  quartiles %9.3f %9.3f\n", s[CALL].median, s[CALL].p25, s[CALL].p75);
    printf("call over by hand median %9.3f ms  quartiles %9.3f %9.3f\n", s[OVER].median, s[OVER].p25, s[OVER].p75);
    printf(
        "with the library: %.0f tuned, %.0f compiles, %.0f binaries loaded, %.0f executions of candidates, %.0f launches\n",
        out_number(f->report, "tuned"), out_number(f->report, "compiles"), out_number(f->report, "binary_loads"),
        out_number(f->report, "candidate"), out_number(f->report, "launches"));
}

/* Of the pairs that were done. */
static void tell(const first *f)
{
    bench_spread s[COLUMNS];
    for (size_t i = 0; i < COLUMNS; i++)
        s[i] = bench_spread_of(f->columns[i], f->pairs);
    if (f->json)
        out_json(out_need(json_pack(
            "{s:I,s:I,s:f,s:f,s:f,s:[f,f],s:f,s:f,s:[f,f],s:O}", "size", (json_int_t)f->options->size, "pairs",
            (json_int_t)f->pairs, "first_ms", s[WITH].median, "hand_ms", s[HAND].median, "ratio", s[RATIO].median,
            "ratio_quartiles", s[RATIO].p25, s[RATIO].p75, "call_ms", s[CALL].median, "call_over_ms", s[OVER].median,
            "call_over_quartiles_ms", s[OVER].p25, s[OVER].p75, "first", f->report)));
    else
        print(f, s);
}

static void tell_end(void *user)
{
    first *f = user;
    bench_child_end();
    if (f->pairs)
        tell(f);
    out_fail("bench first: ended by %s after %" PRId64 " of %" PRId64 " pairs", stop_name(), f->pairs,
             f->options->pairs);
    file_folder_remove(f->folder);
}

static void leave_nothing(void *user)
{
    file_folder_remove(((const first *)user)->folder);
}

static int compare(first *f)
{
    if (!measure(f))
        return EXIT_FAILED;
    stop_hold_tell(leave_nothing, f);
    tell(f);
    stop_go();
    if (out_number(f->report, "tuned") > 0 || out_number(f->report, "compiles") > 0)
        return out_fail("bench first: a call with a stored answer tuned or compiled; the times say nothing");
    return 0;
}

int first_bench(const args_common *common, const bench_options *o)
{
    first f;
    int   status = EXIT_FAILED;
    if (o->child)
        return first_child(common, o);
    memset(&f, 0, sizeof f);
    f.options = o;
    f.json = common->json;
    for (size_t i = 0; i < COLUMNS; i++)
        f.columns[i] = out_resize(NULL, (size_t)o->pairs * sizeof *f.columns[i]);
    snprintf(f.size, sizeof f.size, "%" PRId64, o->size);
    stop_tell(tell_end, &f);
    stop_hold();
    f.folder = file_folder();
    stop_go();
    if (f.folder) {
        f.binary = out_text("%s/binary", f.folder);
        f.settings = bench_settings(common, f.folder, LOOKUP_NAME);
    }
    if (f.settings && (status = prepare(&f, common)) == 0)
        status = compare(&f);
    else if (f.folder && !f.settings)
        status = EXIT_USAGE;
    stop_tell(leave_nothing, &f);
    leave_nothing(&f);
    stop_tell(NULL, NULL);
    for (size_t i = 0; i < COLUMNS; i++)
        free(f.columns[i]);
    json_decref(f.report);
    free(f.cache);
    free(f.binary);
    free(f.settings);
    free(f.folder);
    return status;
}
