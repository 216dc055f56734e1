/* SPDX-License-Identifier: MIT
 *
 * first_child.c: the processes that `qst bench first` starts: one call by the library, the same launch by
 * hand, and before these, what takes the binary for it out of the store. */
#include "bench.h"
#include "cache.h"
#include "core/cl/place.h"
#include "data.h"
#include "file.h"
#include "lookup.h"
#include "lookup_candidate.h"
#include "out.h"
#include "problem.h"
#include "verb.h"

#include <inttypes.h>
#include <quernstone/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- What these do ------------------------------------------------------------------------------------------------ */

typedef struct job {
    device_handle device;
    qst_matmul    problem;
    data_matrix   a, b, c;
    uint64_t      call_ns;
} job;

/* The device that the parent runs on. A driver may be missing in this process. */
static bool find_device(job *j, const bench_options *o)
{
    qst__place place = {.nth = (uint64_t)o->at};
    uint64_t   count = 0;
    snprintf(place.platform, sizeof place.platform, "%s", o->at_platform ? o->at_platform : "");
    snprintf(place.device, sizeof place.device, "%s", o->at_device ? o->at_device : "");
    cl_int code = qst__place_find(&place, &j->device.platform, &j->device.id, &count);
    if (code == CL_SUCCESS)
        return true;
    if (count > 0)
        out_fail("bench first: this process finds %" PRIu64 " of device '%s', platform '%s': none is number %" PRIu64
                 ", counted from 0, on which the command runs",
                 count, place.device, place.platform, place.nth);
    else
        out_fail("bench first: this process finds no device '%s' of platform '%s', on which the command runs",
                 place.device, place.platform);
    return false;
}

static bool open_queue(job *j)
{
    cl_context_properties of[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)j->device.platform, 0};
    cl_int                code;
    j->device.cl = clCreateContext(of, 1, &j->device.id, NULL, NULL, &code);
    if (!device_ok(code, "clCreateContext"))
        return false;
    j->device.queue = clCreateCommandQueue(j->device.cl, j->device.id, 0, &code);
    return device_ok(code, "clCreateCommandQueue");
}

static bool bring_up(job *j, int64_t size)
{
    const problem_shape shape = {size, size, size, false};
    problem_from_shape(&j->problem, &shape, QST_F32);
    data_init(&j->a, &j->problem.a, size, size, j->problem.batch, 0, 0);
    data_init(&j->b, &j->problem.b, size, size, j->problem.batch, 0, 0);
    data_init(&j->c, &j->problem.c, size, size, j->problem.batch, 0, 0);
    data_random(&j->a, 1);
    data_random(&j->b, 2);
    return data_upload(&j->a, &j->device) && data_upload(&j->b, &j->device) && data_upload(&j->c, &j->device);
}

static void finish(job *j)
{
    if (j->device.queue)
        clFinish(j->device.queue);
    data_finish(&j->a);
    data_finish(&j->b);
    data_finish(&j->c);
    device_close(&j->device);
}

/* ---- The child with the library ----------------------------------------------------------------------------------- */

static bool call(job *j)
{
    uint64_t   start = device_now();
    qst_error  err = {0};
    qst_set   *set;
    qst_status status = qst_set_find(&set, j->device.context, "matmul", &err);
    if (status >= 0)
        status = qst_set_add_candidate(set, &lookup_candidate, &err);
    if (status >= 0)
        status = qst_matmul_enqueue(j->device.context, j->device.queue, &j->problem, j->a.mem, j->b.mem, j->c.mem, 0,
                                    NULL, NULL, &err);
    if (status < 0)
        return out_error("bench first", status, &err), false;
    if (!device_ok(clFinish(j->device.queue), "clFinish"))
        return false;
    j->call_ns = device_now() - start;
    return true;
}

static void report(const job *j)
{
    qst_counters c = {.size = sizeof c};
    qst_context_counters(j->device.context, &c);
    out_json(
        out_need(json_pack("{s:I,s:I,s:I,s:I,s:I,s:I}", "call_ns", (json_int_t)j->call_ns, "tuned", (json_int_t)c.tuned,
                           "compiles", (json_int_t)c.compiles, "binary_loads", (json_int_t)c.binary_loads, "candidate",
                           (json_int_t)c.candidate, "launches", (json_int_t)c.launches)));
}

static int child_with(const args_common *common, const bench_options *o)
{
    job j;
    memset(&j, 0, sizeof j);
    int status = device_context(&j.device, common, 0);
    if (status == 0 && (!find_device(&j, o) || !open_queue(&j) || !bring_up(&j, o->size) || !call(&j)))
        status = EXIT_FAILED;
    if (status == 0)
        report(&j);
    finish(&j);
    return status;
}

/* ---- The child by hand -------------------------------------------------------------------------------------------- */

static bool launch(job *j, const char *path)
{
    const cl_mem mem[] = {j->a.mem, j->b.mem, j->c.mem};
    uint64_t     start = device_now();
    size_t       length;
    char        *bytes = file_read(path, &length);
    cl_int       code, loaded;
    if (!bytes)
        return false;
    const unsigned char *binary = (const unsigned char *)bytes;
    cl_program program = clCreateProgramWithBinary(j->device.cl, 1, &j->device.id, &length, &binary, &loaded, &code);
    bool       good = device_ok(code, "clCreateProgramWithBinary") &&
                device_ok(clBuildProgram(program, 1, &j->device.id, NULL, NULL, NULL), "clBuildProgram");
    cl_kernel kernel = good ? clCreateKernel(program, LOOKUP_ENTRY, &code) : NULL;
    good = good && device_ok(code, "clCreateKernel") &&
           device_ok(lookup_by_hand(kernel, j->device.queue, &j->problem, mem), "clEnqueueNDRangeKernel") &&
           device_ok(clFinish(j->device.queue), "clFinish");
    j->call_ns = device_now() - start;
    if (kernel)
        clReleaseKernel(kernel);
    if (program)
        clReleaseProgram(program);
    free(bytes);
    return good;
}

static int child_by_hand(const bench_options *o)
{
    job j;
    memset(&j, 0, sizeof j);
    bool good = find_device(&j, o) && open_queue(&j) && bring_up(&j, o->size) && launch(&j, o->file);
    if (good)
        out_json(out_need(json_pack("{s:I}", "call_ns", (json_int_t)j.call_ns)));
    finish(&j);
    return good ? 0 : EXIT_FAILED;
}

/* ---- The child that gives it a binary ------------------------------------------------------------------------------ */

static bool holds(const out_buffer *bytes, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n <= bytes->length; i++)
        if (memcmp(bytes->text + i, word, n) == 0)
            return true;
    return false;
}

/* The winner's binary, out of the store into a file: the program that has the kernel's name in it. */
static bool take_binary(qst_context *context, const char *path)
{
    json_t *all = cache_ask(context, "bench first", qst_cache_list);
    bool    found = false;
    for (size_t i = 0; i < json_array_size(all) && !found; i++) {
        out_buffer  bytes = {NULL, 0, 0};
        const char *id = out_member(json_array_get(all, i), "id");
        if (strcmp(out_member(json_array_get(all, i), "table"), "programs") == 0 &&
            qst_cache_extract(context, id, out_gather, &bytes, NULL) >= 0 && holds(&bytes, LOOKUP_ENTRY))
            found = file_write(path, bytes.text, bytes.length) == 0;
        free(bytes.text);
    }
    json_decref(all);
    if (!found)
        out_fail("bench first: the store has no binary of the winner; is store.backend lmdb, and programs.cache on?");
    return found;
}

static int child_binary(const args_common *common, const bench_options *o)
{
    device_handle device;
    int           status = device_context(&device, common, QST_NO_PLUGINS);
    if (status == 0 && !take_binary(device.context, o->file))
        status = EXIT_FAILED;
    device_close(&device);
    return status;
}

int first_child(const args_common *common, const bench_options *o)
{
    if (strcmp(o->child, "binary") == 0)
        return child_binary(common, o);
    return strcmp(o->child, "hand") == 0 ? child_by_hand(o) : child_with(common, o);
}
