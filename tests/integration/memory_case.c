/* SPDX-License-Identifier: MIT
 *
 * memory_case.c: see memory_case.h. */
#include "memory_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST 20000 /* allocations of a scene; one that never ends is a failure */

static const qst_status nomem[] = {QST_E_NOMEM, QST_OK};

qst_status memory_create(memory_world *w, qst_error *err)
{
    qst_options options;

    if (w->ctx)
        return QST_OK;
    qst_options_init(&options);
    options.flags = QST_NO_FILES | QST_NO_ENV | QST_NO_STORE | w->flags;
    options.config = w->config;
    options.allocator = chaos_allocator(&w->memory);
    return qst_context_create(&w->ctx, &options, err);
}

void memory_must(const char *what, qst_status status, const qst_error *err)
{
    if (status != QST_OK)
        fail_msg("%s: %s", what, err->text);
}

void memory_clear(memory_world *w)
{
    free(w->text);
    w->text = NULL;
    w->length = 0;
}

static void world_open(memory_world *w, cl_fixture *cl, const memory_scene *s)
{
    blend_problem p = blend_of(2000, 3, 1);
    qst_error     err = {0};
    int           i;

    (void)alarm(60); /* anew: the fixture's is for the whole */
    memset(w, 0, sizeof *w);
    w->cl = cl;
    w->config = s->config;
    w->flags = s->flags;
    w->what = s->what;
    for (i = 0; i < PROBLEMS; i++) {
        qst_matmul m;
        qst_matmul_init(&m, 24, 20, i == DEEP ? 160 : 28, QST_F32);
        m.beta = 1;
        matmul_case_open(&w->c[i], w->cl, &m, NULL);
    }
    blend_open(&w->blend, w->cl->context, w->cl->in_order, &p);
    if (s->act != memory_create)
        memory_must("create", memory_create(w, &err), &err);
    if (s->before)
        s->before(w);
}

static void world_close(memory_world *w, const memory_scene *s, long n)
{
    int i;

    chaos_arm(&w->memory, 0, true); /* nor does this */
    qst_context_destroy(w->ctx);
    (void)chaos_disarm(&w->memory);
    if (w->memory.pieces)
        fail_msg("%s, failure %ld: %zu pieces of memory, %zu bytes, are left", s->name, n, w->memory.pieces,
                 w->memory.bytes);
    for (i = 0; i < PROBLEMS; i++)
        matmul_case_close(&w->c[i]);
    blend_close(&w->blend);
    memory_clear(w);
    free(w->expected);
}

/* False: the scene was over before its n-th allocation. */
static bool fail_at(const memory_scene *s, memory_world *w, long n, bool for_good)
{
    qst_error  err = {0}, again = {0};
    qst_status status;
    long       refused;

    chaos_arm(&w->memory, n, for_good);
    status = s->act(w, &err);
    refused = chaos_disarm(&w->memory);
    chaos_expect(s->name, n, status, &err, nomem);
    if (!refused && status != QST_OK)
        fail_msg("%s: %s, and yet nothing failed", s->name, err.text);
    if (status == QST_OK && s->check)
        s->check(w);
    status = s->act(w, &again);
    if (status != QST_OK)
        fail_msg("%s, after failure %ld: %s", s->name, n, again.text);
    if (s->check)
        s->check(w);
    return refused != 0;
}

void memory_sweep(cl_fixture *cl, const memory_scene *s, bool fresh, bool for_good, long step)
{
    memory_world w;
    bool         more = true;
    long         n;

    if (getenv("QST_CHAOS_ALL"))
        step = 1;
    if (!fresh)
        world_open(&w, cl, s);
    for (n = 0; more; n += step) {
        if (n > MOST)
            fail_msg("%s: no end after %ld failures", s->name, n);
        if (fresh)
            world_open(&w, cl, s);
        more = fail_at(s, &w, n, for_good);
        if (fresh)
            world_close(&w, s, n);
    }
    if (!fresh)
        world_close(&w, s, n);
}
