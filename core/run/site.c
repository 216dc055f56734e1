/* SPDX-License-Identifier: MIT
 *
 * site.c: what is kept for each device in each cl_context, and for each set and key there.
 */
#include "model/rounds.h"
#include "run/binaries.h"
#include "run/finisher.h"
#include "run/history.h"
#include "run/prebuild.h"
#include "run/run.h"

#include <string.h>

#define MEGABYTE (1024u * 1024u)

/* Among those that the site remembers? */
static bool recall_queue(const qst__site *site, cl_command_queue queue, qst__queue *out)
{
    uint32_t i;

    for (i = 0; i < QST__QUEUES; i++) {
        uintptr_t word = atomic_load_explicit(&site->queues[i], memory_order_acquire);
        if ((word & ~(uintptr_t)1) != (uintptr_t)queue)
            continue;
        out->context = site->context;
        out->device = site->device;
        out->in_order = (word & 1) != 0;
        return true;
    }
    return false;
}

/* Remembers a queue of the site, in a free place or that of one which nobody else holds any more. */
static void remember_queue(qst__site *site, cl_command_queue queue, const qst__queue *facts)
{
    cl_uint  holders;
    uint32_t i;

    if (facts->context != site->context || facts->device != site->device || ((uintptr_t)queue & 1))
        return;
    qst__lock_take(&site->lock);
    for (i = 0; i < QST__QUEUES; i++) {
        cl_command_queue old = (cl_command_queue)(atomic_load(&site->queues[i]) & ~(uintptr_t)1);
        if (old == queue)
            break;
        if (old &&
            (clGetCommandQueueInfo(old, CL_QUEUE_REFERENCE_COUNT, sizeof holders, &holders, NULL) != CL_SUCCESS ||
             holders > 1))
            continue;
        if (clRetainCommandQueue(queue) != CL_SUCCESS)
            break;
        atomic_store_explicit(&site->queues[i], (uintptr_t)queue | facts->in_order, memory_order_release);
        if (old)
            (void)clReleaseCommandQueue(old);
        break;
    }
    qst__lock_give(&site->lock);
}

static void release_queues(qst__site *site)
{
    uint32_t i;

    for (i = 0; i < QST__QUEUES; i++) {
        cl_command_queue queue = (cl_command_queue)(atomic_exchange(&site->queues[i], 0) & ~(uintptr_t)1);
        if (queue)
            (void)clReleaseCommandQueue(queue);
    }
}

qst_status qst__queue_ask(cl_command_queue queue, qst__site *expected, qst__queue *out, qst_error *err)
{
    cl_command_queue_properties properties = 0;
    cl_int                      code;

    if (!queue)
        return qst__fail(err, QST_E_INVALID, "run", "queue is NULL");
    if (expected && recall_queue(expected, queue, out))
        return QST_OK;
    code = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof out->context, &out->context, NULL);
    if (code == CL_SUCCESS)
        code = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof out->device, &out->device, NULL);
    if (code == CL_SUCCESS)
        code = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    if (code == CL_INVALID_COMMAND_QUEUE)
        return qst__fail(err, QST_E_INVALID, "run", "queue: %s", qst__cl_name(code));
    if (code != CL_SUCCESS)
        return qst__fail_cl(err, code, "run", "queue: clGetCommandQueueInfo gives %s (%d)", qst__cl_name(code), code);
    out->in_order = !(properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    if (expected)
        remember_queue(expected, queue, out);
    return QST_OK;
}

static qst__site *find(qst_context *ctx, cl_context context, cl_device_id device)
{
    qst__site *site;

    for (site = atomic_load_explicit(&ctx->sites, memory_order_acquire); site;
         site = atomic_load_explicit(&site->next, memory_order_acquire))
        if (site->context == context && site->device == device)
            return site;
    return NULL;
}

static qst_status make(qst_context *ctx, cl_context context, cl_device_id device, qst__site **out, qst_error *err)
{
    qst__site *site = qst__zalloc(&ctx->alloc, sizeof *site);
    qst_status status;
    cl_uint    devices = 0;
    cl_int     code;

    if (!site)
        return qst__fail(err, QST_E_NOMEM, "run", "no memory for a device");
    site->ctx = ctx;
    site->device = device;
    qst__lock_init(&site->lease);
    qst__lock_init(&site->lock);
    qst__lock_init(&site->finisher.lock);
    qst__lock_init(&site->finisher.proof);
    qst__prebuild_init(site);
    qst__programs_init(&site->programs, &ctx->alloc, &ctx->log, context, device, &ctx->cl_counters);
    site->programs.clock = ctx->clock;
    qst__arena_init(&site->arena, &ctx->alloc, context, (uint64_t)ctx->settings->memory_mb * MEGABYTE);
    code = clRetainContext(context);
    if (code != CL_SUCCESS) {
        status = qst__fail_cl(err, code, "run", "clRetainContext");
        goto out;
    }
    site->context = context;
    site->sole =
        clGetContextInfo(context, CL_CONTEXT_NUM_DEVICES, sizeof devices, &devices, NULL) == CL_SUCCESS && devices == 1;
    status = qst__facts_init(&site->facts, &ctx->alloc, context, device, err);
    if (status != QST_OK)
        goto out;
    site->presumed = site->facts.device;
    site->presumed.flags |= QST_DEVICE_PRESUMED;
    site->in_place = site->facts.device.type != QST_DEVICE_GPU || (site->facts.device.flags & QST_DEVICE_UNIFIED) != 0;
    qst__binaries_attach(site);
    qst__finisher_attach(site);
    qst__history_attach(site);
    *out = site;
    site = NULL;
out:
    if (site)
        qst__site_destroy(site);
    return status;
}

qst_status qst__site_of(qst_context *ctx, cl_context context, cl_device_id device, qst__site **out, qst_error *err)
{
    qst_status status = QST_OK;

    *out = find(ctx, context, device);
    if (*out)
        return QST_OK;
    qst__lock_take(&ctx->lock);
    *out = find(ctx, context, device);
    if (!*out) {
        status = make(ctx, context, device, out, err);
        if (status == QST_OK) {
            atomic_store(&(*out)->next, atomic_load(&ctx->sites));
            atomic_store(&ctx->sites, *out);
            QST__LOG(&ctx->log, CONTEXT, INFO, "device %s", (*out)->facts.device.target);
        }
    }
    qst__lock_give(&ctx->lock);
    return status;
}

void qst__site_clock(qst__site *site)
{
    qst__lock_take(&site->lock);
    if (!site->clocked)
        site->facts.device.clock_mhz = site->presumed.clock_mhz = qst__facts_clock(site->device);
    site->clocked = true;
    qst__lock_give(&site->lock);
}

static void destroy_entry(void *user, void *value)
{
    const qst__alloc *alloc = user;
    qst__entry       *entry = value;
    size_t            i;

    for (i = 0; i < entry->old.count; i++) {
        qst__verdict_finish(entry->old.data[i]);
        qst__free(alloc, entry->old.data[i]);
    }
    qst__vec_finish(alloc, &entry->old);
    qst__claim_finish(&entry->claim);
    qst__free(alloc, (void *)entry->failed);
    qst__free(alloc, entry->text);
    qst__free(alloc, entry);
}

static void destroy_route(void *user, void *value)
{
    (void)user;
    qst__route_destroy(value);
}

static void shelf_destroy(qst__shelf *shelf)
{
    qst_context *ctx;
    uint32_t     i;

    if (!shelf)
        return;
    ctx = shelf->site->ctx;
    qst__table_each(&shelf->routes, destroy_route, NULL);
    qst__table_finish(&shelf->routes);
    qst__table_each(&shelf->entries, destroy_entry, &ctx->alloc);
    qst__table_finish(&shelf->entries);
    for (i = 0; shelf->vendors && i < shelf->set->model.n_candidates; i++)
        if (shelf->vendors[i].state == 1 && shelf->set->model.candidates[i].desc.close)
            shelf->set->model.candidates[i].desc.close(shelf->vendors[i].instance);
    qst__free(&ctx->alloc, shelf->vendors);
    qst__free(&ctx->alloc, shelf->watches);
    qst__free(&ctx->alloc, (void *)shelf->verified);
    qst__free(&ctx->alloc, shelf);
}

void qst__site_empty(qst__site *site)
{
    qst_context *ctx = site->ctx;
    uint32_t     i;

    qst__prebuild_finish(site);
    release_queues(site);
    qst__lanes_destroy(site);
    if (site->bench) {
        clFinish(site->bench);
        clReleaseCommandQueue(site->bench);
    }
    for (i = 0; i < QST__SETS_MAX; i++)
        shelf_destroy(atomic_load(&site->shelves[i]));
    qst__vec_finish(&ctx->alloc, &site->peaks);
    qst__vec_finish(&ctx->alloc, &site->winners);
    qst__programs_finish(&site->programs);
    qst__free(&ctx->alloc, site->finisher.object);
    qst__arena_finish(&site->arena);
    qst__facts_finish(&site->facts, &ctx->alloc);
    if (site->context)
        clReleaseContext(site->context);
    qst__lock_finish(&site->finisher.proof);
    qst__lock_finish(&site->finisher.lock);
    qst__lock_finish(&site->lock);
    qst__lock_finish(&site->lease);
}

void qst__site_destroy(qst__site *site)
{
    if (!site)
        return;
    qst__site_empty(site);
    qst__free(&site->ctx->alloc, site);
}

qst_status qst__shelf_of(qst__site *site, qst_set *set, qst__shelf **out, qst_error *err)
{
    const qst__alloc *alloc = &site->ctx->alloc;
    qst__shelf       *shelf;
    qst_status        status = QST_OK;
    uint32_t          n;

    *out = atomic_load_explicit(&site->shelves[set->index], memory_order_acquire);
    if (*out)
        return QST_OK;
    qst__set_use(set);
    qst__lock_take(&site->lock);
    shelf = atomic_load(&site->shelves[set->index]);
    if (!shelf) {
        n = set->model.n_candidates;
        shelf = qst__zalloc(alloc, sizeof *shelf);
        if (shelf) {
            shelf->site = site;
            shelf->set = set;
            qst__table_init(&shelf->entries, alloc, 0);
            qst__table_init(&shelf->routes, alloc, QST__ROUTES_MAX);
            shelf->vendors = qst__zalloc_array(alloc, n + 1, sizeof *shelf->vendors);
            shelf->watches = qst__zalloc_array(alloc, n + 1, sizeof *shelf->watches);
            shelf->verified = qst__zalloc_array(alloc, n + 1, sizeof *shelf->verified);
        }
        if (!shelf || !shelf->vendors || !shelf->watches || !shelf->verified) {
            shelf_destroy(shelf);
            shelf = NULL;
            status = qst__fail(err, QST_E_NOMEM, set->model.op.name, "no memory for a device's answers");
        } else {
            atomic_store(&site->shelves[set->index], shelf);
        }
    }
    qst__lock_give(&site->lock);
    *out = shelf;
    return status;
}

/* Everything of the entry but its verdict. */
static qst__entry *make_entry(qst__shelf *shelf, const qst__key *key)
{
    const qst__alloc *alloc = &shelf->site->ctx->alloc;
    qst__entry       *entry = qst__zalloc(alloc, sizeof *entry);
    qst__str          text;

    if (!entry)
        return NULL;
    entry->shelf = shelf;
    entry->key = *key;
    qst__claim_init(&entry->claim);
    qst__str_init(&text, alloc);
    qst__key_print(key, &shelf->set->model.op, true, &text);
    entry->text = qst__str_take(&text);
    qst__str_finish(&text);
    entry->failed = qst__zalloc_array(alloc, shelf->set->model.n_candidates + 1, sizeof *entry->failed);
    if (!entry->text || !entry->failed) {
        destroy_entry((void *)alloc, entry);
        return NULL;
    }
    return entry;
}

qst_status qst__entry_of(qst__shelf *shelf, const qst__key *key, qst__entry **out, qst_error *err)
{
    const qst__alloc *alloc = &shelf->site->ctx->alloc;
    size_t            bytes = key->count * sizeof *key->value;
    uint64_t          hash = qst__hash(key->value, bytes, 0);
    qst__entry       *entry = qst__table_get(&shelf->entries, key->value, bytes, hash);
    qst__entry       *there;

    if (!entry) {
        entry = make_entry(shelf, key);
        if (entry)
            qst__claim_give(&entry->claim, qst__recall(entry, QST__KEY_ABSENT));
        there = entry ? qst__table_add(&shelf->entries, key->value, bytes, hash, entry) : NULL;
        if (entry && there != entry)
            destroy_entry((void *)alloc, entry);
        entry = there;
    }
    if (!entry)
        return qst__fail(err, QST_E_NOMEM, shelf->set->model.op.name, "no memory for a key");
    *out = entry;
    return QST_OK;
}
