/* SPDX-License-Identifier: MIT
 *
 * context.c: makes and ends the object on which all state hangs.
 */
#include "run/run.h"

#include "cache/open.h"
#include "cl/facts.h"
#include "run/background.h"
#include "run/binaries.h"
#include "run/decisions.h"
#include "run/history.h"
#include "run/slips.h"

#include <string.h>

static void *resize_by_malloc(void *user, void *memory, size_t bytes)
{
    qst__alloc standard = qst__alloc_default();
    (void)user;
    return standard.resize(standard.user, memory, bytes);
}

/* Copies the options bounded; what an older caller lacks is default. */
static qst_status take_options(qst_options *out, const qst_options *given, qst_error *err)
{
    memset(out, 0, sizeof *out);
    if (given) {
        if (given->size < sizeof(uint32_t) * 2)
            return qst__fail(err, QST_E_INVALID, "context", "options: size is %u, not set by qst_options_init",
                             given->size);
        memcpy(out, given, given->size < sizeof *out ? given->size : sizeof *out);
    }
    if (out->flags & ~(uint32_t)(QST_NO_FILES | QST_NO_ENV | QST_NO_PLUGINS | QST_NO_STORE))
        return qst__fail(err, QST_E_INVALID, "context", "options: unknown flags 0x%x", out->flags);
    if (!out->allocator.resize)
        out->allocator.resize = resize_by_malloc;
    return QST_OK;
}

/* Differs from the serial of every other context of the process without any shared counter: two contexts at one
 * address are made at different times. */
static uint64_t make_serial(const qst_context *ctx)
{
    uint64_t stamp[2] = {qst__now(&ctx->clock), (uint64_t)(uintptr_t)ctx};
    uint64_t serial = qst__hash(stamp, sizeof stamp, 0);
    return serial ? serial : 1;
}

static qst_status load_plugins(qst_context *ctx, qst_error *err)
{
    const qst__settings *s = ctx->settings;
    qst_status           status = QST_OK;
    uint32_t             i, j;
    char                *home;

    if (qst__plugins_home(&ctx->alloc, &home) == QST_E_NOMEM)
        return qst__fail(err, QST_E_NOMEM, "context", "no memory for the name of a folder");
    for (i = 0; i < s->plugin_dirs.count && status == QST_OK; i++)
        status = qst__plugins_scan(&ctx->plugins, s->plugin_dirs.data[i], (const char *const *)s->plugin_load.data,
                                   s->plugin_load.count, err);
    if (home && status == QST_OK)
        status =
            qst__plugins_scan(&ctx->plugins, home, (const char *const *)s->plugin_load.data, s->plugin_load.count, err);
    qst__free(&ctx->alloc, home);
    if (status == QST_OK)
        status = qst__host_start(ctx, err);
    for (i = 0; i < s->plugin_required.count && status == QST_OK; i++) {
        const char        *name = s->plugin_required.data[i];
        const qst__plugin *found = NULL;
        for (j = 0; j < ctx->plugins.list.count; j++)
            if (!strcmp(ctx->plugins.list.data[j].name, name))
                found = &ctx->plugins.list.data[j];
        if (!found || found->state != QST__PLUGIN_STARTED)
            status = qst__fail(err, QST_E_PLUGIN, "context", "plugins.required: %s %s", name,
                               found && found->why ? found->why : "is not there");
    }
    if (status == QST_OK)
        qst__slips_plugins(ctx);
    return status;
}

static qst_status open_store(qst_context *ctx, bool off, qst_error *err)
{
    const qst__settings *s = ctx->settings;
    qst__store_options   options;

    memset(&options, 0, sizeof options);
    options.backend = s->backend;
    options.off = off || s->backend == QST__BACKEND_OFF;
    options.readonly = s->readonly;
    options.place = s->store_path ? QST__PLACE_PATH : s->place;
    options.path = s->store_path;
    options.environment = s->environment;
    options.map_mb = (uint64_t)s->map_mb;
    return qst__store_open(&ctx->store, &ctx->alloc, &ctx->log, &options, err);
}

qst_status qst_context_create(qst_context **context, const qst_options *options, qst_error *err)
{
    qst_options       o;
    qst__alloc        alloc;
    qst_context      *ctx = NULL;
    qst__conf_sources sources;
    qst_status        status;

    if (!context)
        return qst__fail(err, QST_E_INVALID, "context", "context is NULL");
    *context = NULL;
    status = take_options(&o, options, err);
    if (status != QST_OK)
        return status;
    alloc.resize = o.allocator.resize;
    alloc.user = o.allocator.user;
    ctx = qst__zalloc(&alloc, sizeof *ctx);
    if (!ctx)
        return qst__fail(err, QST_E_NOMEM, "context", "no memory for a context");
    ctx->alloc = alloc;
    ctx->clock = qst__clock_host();
    ctx->log.sink = o.sink;
    ctx->log.user = o.sink_user;
    ctx->progress = o.progress;
    ctx->progress_user = o.progress_user;
    ctx->serial = make_serial(ctx);
    qst__lock_init(&ctx->lock);
    qst__decisions_init(&ctx->decisions);
    qst__plugins_init(&ctx->plugins, &ctx->alloc, &ctx->log);

    memset(&sources, 0, sizeof sources);
    sources.files = !(o.flags & QST_NO_FILES);
    sources.env = !(o.flags & QST_NO_ENV);
    sources.api = o.config;
    status = qst__conf_create(&ctx->conf, &ctx->alloc, &sources, err);
    if (status != QST_OK)
        goto out;
    ctx->settings = qst__conf_settings(ctx->conf);
    status = qst__log_configure(&ctx->log, ctx->settings->log ? ctx->settings->log : "", err);
    if (status == QST_OK)
        qst__slips_variables(ctx);
    if (status == QST_OK)
        status = open_store(ctx, (o.flags & QST_NO_STORE) != 0, err);
    if (status == QST_OK)
        status = qst__history_start(ctx, err);
    if (status == QST_OK)
        status = qst__builtin(ctx, err);
    if (status == QST_OK)
        status = o.flags & QST_NO_PLUGINS ? qst__host_start(ctx, err) : load_plugins(ctx, err);
out:
    if (status == QST_OK)
        *context = ctx;
    else
        qst_context_destroy(ctx);
    return status;
}

void qst_context_destroy(qst_context *ctx)
{
    qst__alloc alloc;
    qst__site *site, *next;
    uint32_t   i;

    if (!ctx)
        return;
    alloc = ctx->alloc;
    qst__background_end(ctx);
    for (site = atomic_load(&ctx->sites); site; site = next) {
        next = atomic_load(&site->next);
        qst__site_destroy(site);
    }
    for (site = ctx->husks; site; site = next) {
        next = site->husk;
        qst__free(&alloc, site);
    }
    qst__host_stop(ctx);
    for (i = atomic_load(&ctx->n_sets); i-- > 0;)
        qst__set_destroy(ctx->sets[i]);
    qst__plugins_finish(&ctx->plugins);
    qst__history_stop(ctx);
    if (ctx->store.close)
        ctx->store.close(ctx->store.self);
    qst__conf_destroy(ctx->conf);
    qst__decisions_finish(&ctx->decisions);
    qst__lock_finish(&ctx->lock);
    qst__free(&alloc, ctx);
}

qst_status qst_context_settle(qst_context *ctx)
{
    qst__site *site;

    if (!ctx)
        return QST_E_INVALID;
    qst__background_settle(ctx);
    for (site = atomic_load(&ctx->sites); site; site = atomic_load(&site->next))
        qst__binaries_flush(site);
    return QST_OK;
}

qst_status qst_context_forget(qst_context *ctx, cl_context cl, qst_error *err)
{
    qst__site            *site, *gone = NULL, *last = NULL;
    _Atomic(qst__site *) *link;

    if (!ctx || !cl)
        return qst__fail(err, QST_E_INVALID, "context", "%s is NULL", ctx ? "cl_context" : "context");
    qst__lock_take(&ctx->lock);
    for (link = &ctx->sites; (site = atomic_load(link)) != NULL;) {
        if (site->context == cl) {
            atomic_store(link, atomic_load(&site->next));
            site->husk = gone;
            gone = site;
            last = last ? last : site;
        } else {
            link = &site->next;
        }
    }
    if (gone)
        atomic_fetch_add(&ctx->epoch, 1);
    qst__lock_give(&ctx->lock);
    if (!gone)
        return qst__fail(err, QST_E_NOTFOUND, "context", "the cl_context has not been used here");
    for (site = gone; site; site = site->husk) {
        qst__background_leave(site);
        qst__site_empty(site);
    }
    qst__lock_take(&ctx->lock);
    last->husk = ctx->husks;
    ctx->husks = gone;
    qst__lock_give(&ctx->lock);
    return QST_OK;
}

qst_status qst_context_pick_device(qst_context *ctx, cl_platform_id *platform, cl_device_id *device, qst_error *err)
{
    qst__pick pick;

    if (!ctx || !platform || !device)
        return qst__fail(err, QST_E_INVALID, "context", "%s is NULL",
                         !ctx        ? "context"
                         : !platform ? "platform"
                                     : "device");
    pick.platform = ctx->settings->device_platform;
    pick.name = ctx->settings->device_name;
    pick.index = ctx->settings->device_index;
    return qst__device_pick(&pick, platform, device, err);
}
