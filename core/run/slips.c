/* SPDX-License-Identifier: MIT
 *
 * slips.c: see slips.h.
 */
#include "run/slips.h"

#include <stdio.h>
#include <string.h>

/* What follows `name.` in the text, or NULL. */
static const char *after(const char *text, const char *name)
{
    size_t length = strlen(name);

    return !strncmp(text, name, length) && text[length] == '.' ? text + length + 1 : NULL;
}

/* ---- Variables ----------------------------------------------------------------------------------------------------- */

static void tell_unread(void *user, const char *name, const char *why)
{
    const qst_context *ctx = user;

    QST__LOG(&ctx->log, CONF, WARN, "%s: %s", name, why);
}

void qst__slips_variables(qst_context *ctx)
{
    qst__conf_variables_unread(ctx->conf, tell_unread, ctx);
}

/* ---- Plugins ------------------------------------------------------------------------------------------------------- */

static bool any_plugin(const qst_context *ctx, const char *pattern)
{
    for (uint32_t i = 0; i < ctx->plugins.list.count; i++)
        if (qst__glob(pattern, ctx->plugins.list.data[i].name))
            return true;
    return false;
}

static void check_named(void *user, const char *name, const char *path, const char *origin)
{
    const qst_context *ctx = user;

    if (!any_plugin(ctx, name))
        QST__LOG(&ctx->log, CONF, WARN, "%s, %s: no plugin is called '%s'", origin, path, name);
}

/* A key of a plugin that asked for others when it started, but not for this one. One that asked for none may do so
 * later. */
static void check_key(const qst_context *ctx, const char *path, const char *name, size_t length, const char *key)
{
    const qst__plugin *plugin = NULL;
    char               known[160] = "";
    size_t             used = 0;

    for (uint32_t i = 0; i < ctx->plugins.list.count && !plugin; i++)
        if (strlen(ctx->plugins.list.data[i].name) == length && !memcmp(ctx->plugins.list.data[i].name, name, length) &&
            ctx->plugins.list.data[i].state == QST__PLUGIN_STARTED)
            plugin = &ctx->plugins.list.data[i];
    for (uint32_t i = 0; plugin && qst__host_asked(plugin, i); i++) {
        int n = snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", qst__host_asked(plugin, i));
        used += n > 0 && (size_t)n < sizeof known - used ? (size_t)n : 0;
        if (!strcmp(qst__host_asked(plugin, i), key))
            return;
    }
    if (used)
        QST__LOG(&ctx->log, CONF, WARN, "%s: %s knows no such setting; it knows %s", path, plugin->name, known);
}

static void check_keys(const qst_context *ctx)
{
    const qst__settings *s = ctx->settings;

    for (uint32_t i = 0; i < s->n_pairs; i++) {
        const char *name = after(s->pairs[i].path, "plugin");
        size_t      length = name ? strcspn(name, ".") : 0;
        if (name && name[length])
            check_key(ctx, s->pairs[i].path, name, length, name + length + 1);
    }
}

void qst__slips_plugins(qst_context *ctx)
{
    const qst__strings *load = &ctx->settings->plugin_load;

    for (uint32_t i = 0; i < load->count; i++)
        if (!any_plugin(ctx, load->data[i]))
            QST__LOG(&ctx->log, CONF, WARN, "plugins.load: '%s' is none of %u plugins", load->data[i],
                     (unsigned)ctx->plugins.list.count);
    (void)qst__conf_plugins_named(ctx->conf, check_named, ctx); /* without memory nothing is told */
    check_keys(ctx);
}

/* ---- Operations: what follows a name and a dot belongs to it -------------------------------------------------------- */

/* What follows `groups.` in the path of such a setting, or NULL. */
static const char *of_groups(const char *path)
{
    return after(path, "groups");
}

static bool any_candidate(const qst__set *model, const char *pattern)
{
    for (uint32_t i = 0; i < model->n_candidates; i++)
        if (qst__glob(pattern, model->candidates[i].name))
            return true;
    return false;
}

static bool any_group(const qst__set *model, const char *name, size_t length)
{
    for (uint32_t i = 0; i < model->n_groups; i++)
        if (strlen(model->groups[i].name) == length && !memcmp(model->groups[i].name, name, length))
            return true;
    return false;
}

static void check_patterns(const qst_set *set, const char *key, const qst__strings *patterns)
{
    const qst__set *model = &set->model;

    for (uint32_t i = 0; i < patterns->count; i++)
        if (after(patterns->data[i], model->op.name) && !any_candidate(model, patterns->data[i]))
            QST__LOG(&set->ctx->log, CONF, WARN, "%s: '%s' is none of %s's %u candidates", key, patterns->data[i],
                     model->op.name, model->n_candidates);
}

void qst__slips_set(const qst_set *set)
{
    const qst__settings *s = set->ctx->settings;
    const qst__set      *model = &set->model;

    check_patterns(set, "candidates.pin", &s->pin);
    check_patterns(set, "candidates.deny", &s->deny);
    for (uint32_t i = 0; i < s->n_pairs; i++) {
        const char *rest = of_groups(s->pairs[i].path), *group = rest ? after(rest, model->op.name) : NULL;
        if (group && !any_group(model, group, strcspn(group, ".")))
            QST__LOG(&set->ctx->log, CONF, WARN, "%s: %s has no group '%.*s'", s->pairs[i].path, model->op.name,
                     (int)strcspn(group, "."), group);
    }
}

/* ---- What belongs to none ------------------------------------------------------------------------------------------ */

/* Does the text speak of an operation that there is? Its own set checks it then. */
static bool of_some_op(const qst_context *ctx, const char *text)
{
    uint32_t n = atomic_load(&ctx->n_sets);

    for (uint32_t i = 0; i < n; i++)
        if (after(text, ctx->sets[i]->model.op.name))
            return true;
    return false;
}

static bool any_candidate_at_all(qst_context *ctx, const char *pattern)
{
    uint32_t n = atomic_load(&ctx->n_sets);
    bool     found = false;

    for (uint32_t i = 0; i < n && !found; i++) {
        qst__lock_take(&ctx->sets[i]->lock);
        found = any_candidate(&ctx->sets[i]->model, pattern);
        qst__lock_give(&ctx->sets[i]->lock);
    }
    return found;
}

static void check_rest(qst_context *ctx, const char *key, const qst__strings *patterns)
{
    for (uint32_t i = 0; i < patterns->count; i++)
        if (!of_some_op(ctx, patterns->data[i]) && !any_candidate_at_all(ctx, patterns->data[i]))
            QST__LOG(&ctx->log, CONF, WARN, "%s: '%s' is no candidate of any operation so far", key, patterns->data[i]);
}

void qst__slips_rest(qst_context *ctx)
{
    const qst__settings *s = ctx->settings;

    if (atomic_exchange(&ctx->slips_told, true))
        return;
    check_rest(ctx, "candidates.pin", &s->pin);
    check_rest(ctx, "candidates.deny", &s->deny);
    for (uint32_t i = 0; i < s->n_pairs; i++) {
        const char *rest = of_groups(s->pairs[i].path);
        if (rest && !of_some_op(ctx, rest))
            QST__LOG(&ctx->log, CONF, WARN, "%s: there is no such operation so far", s->pairs[i].path);
    }
}
