/* SPDX-License-Identifier: MIT
 *
 * slips.c: see slips.h.
 */
#include "run/slips.h"

#include <string.h>

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

void qst__slips_plugins(qst_context *ctx)
{
    const qst__strings *load = &ctx->settings->plugin_load;

    for (uint32_t i = 0; i < load->count; i++)
        if (!any_plugin(ctx, load->data[i]))
            QST__LOG(&ctx->log, CONF, WARN, "plugins.load: '%s' is none of %u plugins", load->data[i],
                     (unsigned)ctx->plugins.list.count);
    (void)qst__conf_plugins_named(ctx->conf, check_named, ctx); /* without memory nothing is told */
}

/* ---- Operations: what follows a name and a dot belongs to it -------------------------------------------------------- */

/* What follows `op.` in the text, or NULL. */
static const char *after_op(const char *text, const char *op)
{
    size_t length = strlen(op);

    return !strncmp(text, op, length) && text[length] == '.' ? text + length + 1 : NULL;
}

/* What follows `groups.` in the path of such a setting, or NULL. */
static const char *of_groups(const char *path)
{
    return after_op(path, "groups");
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
        if (after_op(patterns->data[i], model->op.name) && !any_candidate(model, patterns->data[i]))
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
        const char *rest = of_groups(s->pairs[i].path), *group = rest ? after_op(rest, model->op.name) : NULL;
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
        if (after_op(text, ctx->sets[i]->model.op.name))
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
