/* SPDX-License-Identifier: MIT
 *
 * device_pair.c: two devices, a case on each, and what a context tells of them. */
#include "device_pair.h"
#include "cl/place.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

const char *const pair_names[DEVICES] = {"pthread", "basic"};
cl_platform_id    pair_platform;
cl_device_id      pair_devices[DEVICES];

/* ---- Candidates that one of the devices alone can run ------------------------------------------------------------ */

static int32_t only(const qst_device *device, uint32_t which, const char **why)
{
    if (strncmp(device->name, pair_names[which], strlen(pair_names[which])) == 0)
        return QST_OK;
    if (why)
        *why = which == PTHREAD ? "for pthread only" : "for basic only";
    return QST_E_UNSUPPORTED;
}

static int32_t only_pthread(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    (void)user, (void)key;
    return only(device, PTHREAD, why);
}

static int32_t only_basic(void *user, const qst_device *device, const qst_key *key, const char **why)
{
    (void)user, (void)key;
    return only(device, BASIC, why);
}

qst_context *pair_make_context(qst_set **set)
{
    qst_context                      *ctx = blend_context("{\"tune\": {\"budget_ms\": 0, \"short_circuit\": false}}");
    static const qst_candidate *const both[] = {&blend_loop, NULL};
    qst_candidate                     one = blend_wide, other = blend_wide;

    *set = blend_set(ctx, both);
    one.variant = "for_pthread";
    one.supports = only_pthread;
    other.variant = "for_basic";
    other.supports = only_basic;
    assert_int_equal(qst_set_add_candidate(*set, &one, NULL), QST_OK);
    assert_int_equal(qst_set_add_candidate(*set, &other, NULL), QST_OK);
    return ctx;
}

/* ---- The devices in use ------------------------------------------------------------------------------------------ */

cl_context pair_cl_context(cl_uint n, const cl_device_id *of)
{
    cl_int     code;
    cl_context made = clCreateContext(NULL, n, of, NULL, NULL, &code);

    assert_int_equal(code, CL_SUCCESS);
    return made;
}

cl_command_queue pair_queue(cl_context context, cl_device_id device)
{
    cl_int           code;
    cl_command_queue made = clCreateCommandQueue(context, device, 0, &code);

    assert_int_equal(code, CL_SUCCESS);
    return made;
}

void pair_open(pair *p, bool shared, int64_t n)
{
    blend_problem problem = blend_of(n, 3, 1);

    memset(p, 0, sizeof *p);
    p->context[PTHREAD] = shared ? pair_cl_context(DEVICES, pair_devices) : pair_cl_context(1, &pair_devices[PTHREAD]);
    p->context[BASIC] = shared ? p->context[PTHREAD] : pair_cl_context(1, &pair_devices[BASIC]);
    for (int i = 0; i < DEVICES; i++) {
        p->queue[i] = pair_queue(p->context[i], pair_devices[i]);
        blend_open(&p->c[i], p->context[i], p->queue[i], &problem);
    }
}

void pair_close(pair *p)
{
    for (int i = 0; i < DEVICES; i++) {
        blend_close(&p->c[i]);
        clReleaseCommandQueue(p->queue[i]);
    }
    clReleaseContext(p->context[PTHREAD]);
    if (p->context[BASIC] != p->context[PTHREAD])
        clReleaseContext(p->context[BASIC]);
}

void pair_call(pair *p, qst_set *set, int i)
{
    qst_error err = {0};

    if (qst_enqueue(set, p->queue[i], &p->c[i].problem, p->c[i].operand, 0, NULL, NULL, &err) != QST_OK)
        fail_msg("%s: %s", pair_names[i], err.text);
    blend_check(&p->c[i], p->queue[i], ++p->calls[i]);
}

qst_counters pair_counters(qst_context *ctx)
{
    qst_counters c = {.size = sizeof c};

    assert_int_equal(qst_context_counters(ctx, &c), QST_OK);
    return c;
}

/* ---- What the context says ---------------------------------------------------------------------------------------- */

static json_t *verdicts(qst_context *ctx)
{
    char   *text = blend_describe(ctx, "verdicts");
    json_t *list = json_loads(text, 0, NULL);

    free(text);
    assert_true(json_is_array(list));
    return list;
}

static const char *member(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "";
}

static const char *outcome_of(const json_t *verdict, const char *name)
{
    size_t  i;
    json_t *finding;

    json_array_foreach(json_object_get(verdict, "findings"), i,
                       finding) if (strcmp(member(finding, "name"), name) == 0) return member(finding, "outcome");
    return "";
}

void pair_told_apart(qst_context *ctx, int each)
{
    json_t *list = verdicts(ctx), *v;
    int     seen[DEVICES] = {0};
    char    target[DEVICES][256] = {"", ""};
    size_t  i;

    json_array_foreach(list, i, v)
    {
        int which = strncmp(member(v, "device"), pair_names[BASIC], strlen(pair_names[BASIC])) == 0 ? BASIC : PTHREAD;
        const char *own = which == BASIC ? "blend.app.for_basic/1" : "blend.app.for_pthread/1";
        const char *others = which == BASIC ? "blend.app.for_pthread/1" : "blend.app.for_basic/1";
        seen[which]++;
        snprintf(target[which], sizeof target[which], "%s", member(v, "target"));
        assert_string_equal(member(v, "state"), "ready");
        assert_string_equal(outcome_of(v, others), "UNSUPPORTED");
        assert_string_not_equal(outcome_of(v, own), "UNSUPPORTED");
        assert_string_not_equal(outcome_of(v, own), "UNTRIED");
        assert_string_not_equal(member(v, "winner"), others);
    }
    json_decref(list);
    assert_int_equal(seen[PTHREAD], each);
    assert_int_equal(seen[BASIC], each);
    assert_non_null(strstr(target[BASIC], "basic"));
    assert_non_null(strstr(target[PTHREAD], "pthread"));
}

/* ---- Finding them ------------------------------------------------------------------------------------------------- */

static bool find(int which)
{
    qst__pick wanted = {.platform = "Portable Computing Language", .name = pair_names[which], .index = 0};

    return qst__device_pick(&wanted, &pair_platform, &pair_devices[which], NULL) == QST_OK &&
           pair_devices[which] != NULL;
}

bool pair_find_devices(void)
{
    if (find(PTHREAD) && find(BASIC))
        return true;
    printf("skipped: needs two devices: PoCL with POCL_DEVICES=\"pthread basic\"\n");
    return false;
}
