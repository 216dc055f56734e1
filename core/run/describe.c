/* SPDX-License-Identifier: MIT
 *
 * describe.c: a context told as JSON: devices, plugins, configuration, sets, counters. Verdicts are
 * describe-verdict.c's.
 */
#include "run/describe.h"

#include "cl/facts.h"
#include "run/decisions.h"

#include <quernstone/ext/abilities.h>
#include <string.h>

typedef struct device_list {
    qst_context *ctx;
    qst__json   *list;
    cl_device_id picked;
    int64_t      index;
    qst_error    failed;
} device_list;

static const char *type_name(uint32_t type)
{
    return type == QST_DEVICE_CPU ? "cpu" : type == QST_DEVICE_GPU ? "gpu" : "accelerator";
}

static qst__json *flag_list(uint32_t flags)
{
    static const char *const names[] = {"f64", "f16", "local_fast", "unified", "out_of_order"};
    qst__json               *list = qst__json_array();
    uint32_t                 i;

    for (i = 0; i < sizeof names / sizeof *names; i++)
        if (flags & (1u << i))
            qst__json_add_text(list, names[i]);
    return list;
}

static void add_device(void *user, cl_platform_id platform, cl_device_id device)
{
    device_list      *d = user;
    const qst__alloc *alloc = &d->ctx->alloc;
    qst__facts        facts;
    qst__json        *one;
    const qst_device *f = &facts.device;

    (void)platform;
    if (d->failed.status == QST_E_NOMEM)
        return;
    qst__error_clear(&d->failed);
    if (qst__facts_init(&facts, alloc, NULL, device, &d->failed) != QST_OK)
        return; /* a device that tells nothing is left out; without memory all would be */
    one = qst__json_object();
    qst__json_set_int(one, "index", d->index++);
    qst__json_set_text(one, "platform", f->platform);
    qst__json_set_text(one, "name", f->name);
    qst__json_set_text(one, "vendor", f->vendor);
    qst__json_set_text(one, "driver", f->driver);
    qst__json_set_text(one, "type", type_name(f->type));
    qst__json_set_int(one, "units", f->units);
    qst__json_set_text(one, "target", f->target);
    qst__json_set_int(one, "cl_version", f->cl_version);
    qst__json_set_int(one, "global_mb", (int64_t)(f->global_bytes >> 20));
    qst__json_set_int(one, "local_kb", (int64_t)(f->local_bytes >> 10));
    qst__json_set_int(one, "max_group", f->max_group);
    qst__json_set(one, "flags", flag_list(f->flags));
    qst__json_set_bool(one, "picked", device == d->picked);
    qst__json_add(d->list, one);
    qst__facts_finish(&facts, alloc);
}

static qst_status tell_devices(qst_context *ctx, qst__json **out, qst_error *err)
{
    device_list    d;
    cl_platform_id platform;
    qst_error      none;
    qst_status     status;

    memset(&none, 0, sizeof none);
    memset(&d, 0, sizeof d);
    d.ctx = ctx;
    d.list = qst__json_array();
    if (qst_context_pick_device(ctx, &platform, &d.picked, &none) != QST_OK)
        d.picked = NULL;
    status = qst__device_each(&ctx->alloc, add_device, &d, err);
    if (status == QST_OK && d.failed.status == QST_E_NOMEM)
        status = qst__pass(err, &d.failed);
    *out = d.list;
    return status;
}

static qst__json *candidates_of(qst_context *ctx, uint32_t origin)
{
    qst__json *list = qst__json_array();
    uint32_t   i, j, n = atomic_load(&ctx->n_sets);

    for (i = 0; i < n; i++) {
        qst_set *set = ctx->sets[i];
        qst__lock_take(&set->lock); /* it may not be frozen yet */
        for (j = 0; j < set->model.n_candidates; j++)
            if (set->model.candidates[j].origin == origin)
                qst__json_add_text(list, set->model.candidates[j].name);
        qst__lock_give(&set->lock);
    }
    return list;
}

/* What a plugin says it can do on the devices that were used so far. */
static qst__json *abilities_of(qst_context *ctx, const qst__plugin *p)
{
    const qst_abilities *a =
        p->state == QST__PLUGIN_STARTED && p->desc.get_extension ? p->desc.get_extension(QST_EXT_ABILITIES) : NULL;
    qst__json *list = qst__json_array();
    qst__site *site;
    uint32_t   i;

    for (site = atomic_load(&ctx->sites); a && QST_HAS(qst_abilities, a, tell) && site; site = atomic_load(&site->next))
        for (i = 0; i < a->count; i++) {
            const char *name = NULL, *why = NULL;
            int32_t     answer = a->tell(p->instance, &site->facts.device, i, &name, &why);
            qst__json  *one = qst__json_object();
            qst__json_set_text(one, "device", site->facts.device.name);
            qst__json_set_text(one, "name", name);
            qst__json_set_bool(one, "can", answer == QST_OK);
            qst__json_set_text(one, "why", answer == QST_OK ? NULL : why);
            qst__json_add(list, one);
        }
    return list;
}

/* The settings that it knows, with what they are: those that it asked for in its start. */
static qst__json *settings_of(const qst_context *ctx, const qst__plugin *p)
{
    qst__json  *list = qst__json_array();
    const char *key;
    uint32_t    i;

    for (i = 0; (key = qst__host_asked(p, i)) != NULL; i++) {
        qst__json *one = qst__json_object();
        qst__str   path;
        qst__str_init(&path, &ctx->alloc);
        qst__str_printf(&path, "plugin.%s.%s", p->name, key);
        qst__json_set_text(one, "path", path.failed ? NULL : path.text);
        qst__json_set_text(one, "value", path.failed ? NULL : qst__settings_pair(ctx->settings, path.text));
        qst__str_finish(&path);
        qst__json_add(list, one);
    }
    return list;
}

static qst_status tell_plugins(qst_context *ctx, qst__json **out, qst_error *err)
{
    qst__json *list = qst__json_array();
    uint32_t   i;

    (void)err;
    for (i = 0; i < ctx->plugins.list.count; i++) {
        const qst__plugin *p = &ctx->plugins.list.data[i];
        qst__json         *one = qst__json_object();
        qst__json_set_text(one, "name", p->name);
        qst__json_set_text(one, "version", p->desc.version);
        qst__json_set_text(one, "licence", p->desc.licence);
        qst__json_set_text(one, "path", p->path);
        qst__json_set_text(one, "state", p->state == QST__PLUGIN_REFUSED ? "refused" : p->path ? "started" : "builtin");
        qst__json_set_text(one, "why", p->why);
        qst__json_set(one, "settings", settings_of(ctx, p));
        qst__json_set(one, "candidates", candidates_of(ctx, i));
        qst__json_set(one, "abilities", abilities_of(ctx, p));
        qst__json_add(list, one);
    }
    *out = list;
    return QST_OK;
}

static qst_status tell_config(qst_context *ctx, qst__json **out, qst_error *err)
{
    qst_status status = qst__conf_describe(ctx->conf, out);

    return status == QST_OK ? QST_OK : qst__fail(err, status, "describe", "no memory for the configuration");
}

static qst__json *class_list(uint32_t classes)
{
    static const char *const names[] = {"plain", "strict", "fast"};
    qst__json               *list = qst__json_array();
    uint32_t                 i;

    for (i = 0; i < QST_NUMERICS_END; i++)
        if (classes & (1u << i))
            qst__json_add_text(list, names[i]);
    return list;
}

static qst__json *tell_candidate(const qst_context *ctx, const qst__set *set, const qst__candidate *c)
{
    qst__json *one = qst__json_object(), *groups = qst__json_array();
    uint32_t   i;

    qst__json_set_text(one, "name", c->name);
    qst__json_set_text(one, "plugin",
                       c->origin < ctx->plugins.list.count ? ctx->plugins.list.data[c->origin].name : "app");
    for (i = 0; i < c->desc.n_memberships; i++)
        qst__json_add_text(groups, set->groups[c->groups[i]].name);
    qst__json_set(one, "groups", groups);
    qst__json_set(one, "classes", class_list(c->desc.classes));
    qst__json_set_bool(one, "fallback", c->index == set->fallback);
    return one;
}

static qst_status tell_sets(qst_context *ctx, qst__json **out, qst_error *err)
{
    qst__json *list = qst__json_array();
    uint32_t   i, j, n = atomic_load(&ctx->n_sets);
    char       hex[65];

    (void)err;
    for (i = 0; i < n; i++) {
        qst_set   *set = ctx->sets[i];
        qst__json *one = qst__json_object(), *groups = qst__json_array(), *candidates = qst__json_array();
        qst__set_use(set); /* a description freezes it: what was told holds */
        qst__json_set_text(one, "op", set->model.op.name);
        qst__json_set_bool(one, "frozen", atomic_load(&set->frozen));
        qst__hex(hex, set->model.checksum, sizeof set->model.checksum);
        qst__json_set_text(one, "checksum", hex);
        for (j = 0; j < set->model.n_groups; j++)
            qst__json_add_text(groups, set->model.groups[j].name);
        for (j = 0; j < set->model.n_candidates; j++)
            qst__json_add(candidates, tell_candidate(ctx, &set->model, &set->model.candidates[j]));
        qst__json_set(one, "groups", groups);
        qst__json_set(one, "candidates", candidates);
        qst__json_add(list, one);
    }
    *out = list;
    return QST_OK;
}

static void add_runs(void *user, void *value)
{
    qst_counters     *c = user;
    const qst__route *route = value;
    const qst__way   *way;

    for (way = route->ways; way; way = way->next) {
        c->candidate += qst__way_runs(way);
        c->kernels += way->runner ? qst__runner_kernels(way->runner) : qst__way_runs(way);
        c->hits += qst__way_runs(way);
    }
}

qst_status qst_context_counters(qst_context *ctx, qst_counters *counters)
{
    qst_counters c;
    qst__site   *site;
    uint32_t     i;

    if (!ctx || !counters || counters->size < 2 * sizeof(uint32_t))
        return QST_E_INVALID;
    memset(&c, 0, sizeof c);
    c.candidate = atomic_load(&ctx->n_candidate);
    c.verify = atomic_load(&ctx->n_verify);
    c.probe_compute = atomic_load(&ctx->n_probe[QST__PROBE_COMPUTE]);
    c.probe_memory = atomic_load(&ctx->n_probe[QST__PROBE_MEMORY]);
    c.probe_launch = atomic_load(&ctx->n_probe[QST__PROBE_LAUNCH]);
    c.probe_ns = atomic_load(&ctx->probe_ns);
    c.kernels = atomic_load(&ctx->cl_counters.kernels);
    c.compiles = atomic_load(&ctx->cl_counters.compiles);
    c.binary_loads = atomic_load(&ctx->cl_counters.binary_loads);
    c.build_ns = atomic_load(&ctx->cl_counters.waits.built_ns);
    c.wait_ns = atomic_load(&ctx->cl_counters.waits.waited_ns);
    c.verify_ns = atomic_load(&ctx->verify_ns);
    c.sample_ns = atomic_load(&ctx->sample_ns);
    c.judge_ns = atomic_load(&ctx->judge_ns);
    c.tuned = atomic_load(&ctx->n_tuned);
    c.hits = atomic_load(&ctx->n_hits);
    qst__lock_take(&ctx->lock);
    for (site = atomic_load(&ctx->sites); site; site = atomic_load(&site->next)) {
        qst__lock_take(&site->lock);
        for (i = 0; i < QST__SETS_MAX; i++) {
            qst__shelf *shelf = atomic_load(&site->shelves[i]);
            if (shelf)
                qst__table_each(&shelf->routes, add_runs, &c);
        }
        qst__lock_give(&site->lock);
    }
    qst__lock_give(&ctx->lock);
    c.launches = c.candidate + c.verify + c.probe_compute + c.probe_memory + c.probe_launch + c.other;
    c.size = counters->size;
    memcpy(counters, &c, counters->size < sizeof c ? counters->size : sizeof c);
    return QST_OK;
}

static qst_status tell_counters(qst_context *ctx, qst__json **out, qst_error *err)
{
    qst_counters c;
    uint32_t     i;
    const struct {
        const char     *name;
        const uint64_t *value;
    } rows[] = {{"launches", &c.launches},
                {"candidate", &c.candidate},
                {"verify", &c.verify},
                {"probe.compute", &c.probe_compute},
                {"probe.memory", &c.probe_memory},
                {"probe.launch", &c.probe_launch},
                {"other", &c.other},
                {"kernels", &c.kernels},
                {"compiles", &c.compiles},
                {"binary_loads", &c.binary_loads},
                {"build_ns", &c.build_ns},
                {"verify_ns", &c.verify_ns},
                {"sample_ns", &c.sample_ns},
                {"probe_ns", &c.probe_ns},
                {"tuned", &c.tuned},
                {"hits", &c.hits},
                {"judge_ns", &c.judge_ns},
                {"wait_ns", &c.wait_ns}};

    (void)err;
    c.size = (uint32_t)sizeof c;
    qst_context_counters(ctx, &c);
    *out = qst__json_object();
    for (i = 0; i < sizeof rows / sizeof *rows; i++)
        qst__json_set_int(*out, rows[i].name, (int64_t)*rows[i].value);
    return QST_OK;
}

qst_status qst_describe(qst_context *ctx, const char *what, qst_sink sink, void *user, qst_error *err)
{
    static const struct {
        const char *what;
        qst_status (*tell)(qst_context *ctx, qst__json **out, qst_error *err);
    } rows[] = {{"devices", tell_devices},         {"plugins", tell_plugins},
                {"config", tell_config},           {"sets", tell_sets},
                {"verdicts", qst__tell_verdicts},  {"counters", tell_counters},
                {"decisions", qst__tell_decisions}};
    qst__json *json = NULL;
    qst_status status;
    uint32_t   i;

    if (!ctx || !what || !sink)
        return qst__fail(err, QST_E_INVALID, "describe", "%s is NULL", !ctx ? "context" : !what ? "what" : "sink");
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].what, what))
            continue;
        status = rows[i].tell(ctx, &json, err);
        if (status == QST_OK && qst__json_write(json, false, sink, user) != QST_OK)
            status = qst__fail(err, QST_E_NOMEM, "describe", "no memory for %s", what);
        qst__json_destroy(json);
        return status;
    }
    return qst__fail(err, QST_E_NOTFOUND, "describe",
                     "%s is none of devices, plugins, config, sets, verdicts, counters, decisions", what);
}
