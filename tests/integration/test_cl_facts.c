/* SPDX-License-Identifier: MIT
 *
 * test_cl_facts.c: a real device's facts, and how devices are found by name. */
#include "cl/place.h"
#include "support/cl_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_versions(void **state)
{
    (void)state;
    assert_int_equal(qst__cl_version("OpenCL 1.2 CUDA"), 120);
    assert_int_equal(qst__cl_version("OpenCL 3.0"), 300);
    assert_int_equal(qst__cl_version("OpenCL x"), 0);
    assert_int_equal(qst__cl_version("Vulkan 1.2"), 0);
    assert_int_equal(qst__cl_version(NULL), 0);
}

static void test_names_of_codes(void **state)
{
    (void)state;
    assert_string_equal(qst__cl_name(CL_SUCCESS), "CL_SUCCESS");
    assert_string_equal(qst__cl_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES");
    assert_string_equal(qst__cl_name(CL_INVALID_WORK_GROUP_SIZE), "CL_INVALID_WORK_GROUP_SIZE");
    assert_string_equal(qst__cl_name(12345), "unknown OpenCL code");
}

static void test_facts(void **state)
{
    const cl_fixture *fixture = *state;
    const qst_device *d = &fixture->facts.device;
    cl_ulong          local;
    cl_uint           align;
    char              name[256];
    assert_int_equal(clGetDeviceInfo(fixture->device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL), 0);
    assert_int_equal(clGetDeviceInfo(fixture->device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, sizeof align, &align, NULL), 0);
    assert_int_equal(clGetDeviceInfo(fixture->device, CL_DEVICE_NAME, sizeof name, name, NULL), 0);
    assert_int_equal(d->size, sizeof *d);
    assert_ptr_equal(d->id, fixture->device);
    assert_ptr_equal(d->context, fixture->context);
    assert_int_equal(d->local_bytes, local);
    assert_int_equal(1u << d->base_align_log2, align / 8);
    assert_non_null(strstr(name, d->name));
    assert_true(d->units >= 1 && d->max_group >= 1 && d->max_group_dim[2] >= 1 && d->group_multiple >= 1);
    assert_true(d->cl_version >= 120);
    assert_true(d->max_alloc > 0 && d->global_bytes >= d->max_alloc);
    assert_true(d->pointer_bits == 32 || d->pointer_bits == 64);
    assert_int_equal((d->flags & QST_DEVICE_OUT_OF_ORDER) != 0, fixture->facts.queue_out_of_order);
    assert_int_equal((d->flags & QST_DEVICE_F64) != 0, strstr(d->extensions, "cl_khr_fp64") != NULL);
}

static void test_cpu(void **state)
{
    const cl_fixture *fixture = *state;
    const qst_device *d = &fixture->facts.device;
    if (d->type != QST_DEVICE_CPU)
        skip();
    assert_int_equal(d->group_multiple, 1);
    assert_int_equal(d->flags & QST_DEVICE_LOCAL_DEDICATED, 0);
}

static void test_target(void **state)
{
    const cl_fixture *fixture = *state;
    const qst_device *d = &fixture->facts.device;
    char              start[512], *number;
    unsigned          units, gib;
    int               bars = 0;
    (void)snprintf(start, sizeof start, "%s|%s|%s|", d->platform, d->vendor, d->name);
    assert_int_equal(strncmp(d->target, start, strlen(start)), 0);
    for (const char *c = d->target; *c; c++)
        bars += *c == '|';
    assert_int_equal(bars, 4);
    number = strstr(d->target, start) + strlen(start);
    assert_int_equal(sscanf(number, "%u|%uGiB", &units, &gib), 2);
    assert_int_equal(units, d->units);
    assert_int_equal(gib & (gib - 1), 0);
    assert_true((d->global_bytes >> 30) < 2ull * gib);
    assert_null(strstr(d->target, d->driver));
}

static void test_pick(void **state)
{
    const cl_fixture *fixture = *state;
    cl_platform_id    platform;
    cl_device_id      device;
    qst_error         err = {0};
    char              part[8] = {0};
    qst__pick         any = {.index = -1};
    qst__pick         by_name = {.name = part, .index = -1};
    qst__pick         absent = {.platform = "no such platform", .index = -1};
    qst__pick         beyond = {.index = 9999};
    assert_int_equal(qst__device_pick(&any, &platform, &device, &err), QST_OK);
    assert_non_null(device);
    for (size_t i = 0; i < sizeof part - 1 && fixture->facts.device.name[i]; i++) {
        char c = fixture->facts.device.name[i];
        part[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    assert_int_equal(qst__device_pick(&by_name, &platform, &device, &err), QST_OK);
    assert_int_equal(qst__device_pick(&absent, &platform, &device, &err), QST_E_NOTFOUND);
    assert_null(device);
    assert_non_null(strstr(err.text, "no such platform"));
    assert_non_null(strstr(err.text, "there is '"));
    qst__error_clear(&err);
    assert_int_equal(qst__device_pick(&beyond, &platform, &device, &err), QST_E_NOTFOUND);
    assert_non_null(strstr(err.text, "9999"));
}

typedef struct count {
    cl_device_id wanted;
    int          all, found;
} count;

static void visit(void *user, cl_platform_id platform, cl_device_id device)
{
    count *c = user;
    assert_non_null(platform);
    c->all++;
    c->found += device == c->wanted;
}

static void test_each(void **state)
{
    const cl_fixture *fixture = *state;
    count             c = {.wanted = fixture->device};
    assert_int_equal(qst__device_each(&fixture->alloc, visit, &c, NULL), QST_OK);
    assert_true(c.all >= 1);
    assert_int_equal(c.found, 1);
}

/* As another process finds it; the same names and a further number are nobody's, nor is another name. */
static void test_place(void **state)
{
    const cl_fixture *fixture = *state;
    qst__place        place;
    cl_platform_id    platform = NULL;
    cl_device_id      device = NULL;
    uint64_t          before = 0;
    assert_int_equal(qst__place_of(&place, fixture->device), CL_SUCCESS);
    assert_int_equal(qst__place_find(&place, &platform, &device, &before), CL_SUCCESS);
    assert_ptr_equal(device, fixture->device);
    assert_ptr_equal(platform, fixture->platform);
    assert_int_equal(before, place.nth);
    place.nth = UINT64_MAX;
    assert_int_equal(qst__place_find(&place, &platform, &device, &before), CL_DEVICE_NOT_FOUND);
    assert_true(before >= 1);
    place.nth = 0;
    place.device[0] ^= 1;
    assert_int_equal(qst__place_find(&place, &platform, &device, &before), CL_DEVICE_NOT_FOUND);
    assert_int_equal(before, 0);
}

/* A loader cuts the list in the environment; what is started afterwards gets all of it again. */
static void test_kept_drivers(void **state)
{
    (void)state;
    assert_int_equal(unsetenv(QST__PLACE_KEPT), 0);
    assert_int_equal(unsetenv(QST__PLACE_DRIVERS), 0);
    qst__place_keep_drivers();
    assert_null(getenv(QST__PLACE_KEPT));
    assert_int_equal(setenv(QST__PLACE_DRIVERS, "one.so:two.so", 1), 0);
    qst__place_keep_drivers();
    *strchr(getenv(QST__PLACE_DRIVERS), ':') = '\0';
    assert_string_equal(getenv(QST__PLACE_DRIVERS), "one.so");
    qst__place_keep_drivers();
    assert_string_equal(getenv(QST__PLACE_DRIVERS), "one.so:two.so");
    assert_int_equal(unsetenv(QST__PLACE_KEPT), 0);
    assert_int_equal(unsetenv(QST__PLACE_DRIVERS), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_versions), cmocka_unit_test(test_names_of_codes), cmocka_unit_test(test_facts),
        cmocka_unit_test(test_cpu),      cmocka_unit_test(test_target),         cmocka_unit_test(test_pick),
        cmocka_unit_test(test_each),     cmocka_unit_test(test_place),          cmocka_unit_test(test_kept_drivers),
    };
    return cmocka_run_group_tests(tests, cl_fixture_open, cl_fixture_close);
}
