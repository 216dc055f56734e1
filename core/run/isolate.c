/* SPDX-License-Identifier: MIT
 *
 * isolate.c: see isolate.h. The process is waited for by reading what it writes until it ends.
 */
#include "run/isolate.h"

#include "base/child.h"
#include "cl/canary.h"
#include "conf/json.h"
#include "model/field.h"
#include "run/quarantine.h"

#include <stdio.h>
#include <string.h>

#define PROGRAM   "qst-try"
#define MARGIN_MS 5000 /* over its own deadline, after which it is ended from here */
#define MUTE_MAX  3    /* answers in a row that it does not give, after which it is not asked */

/* What came of a trial elsewhere. */
enum { CAME_BACK, KILLS, NOTHING_LEARNT };

/* ---- What it is told ----------------------------------------------------------------------------------------------- */

static qst__json *list_of(const qst__strings *strings)
{
    qst__json *list = qst__json_array();

    for (uint32_t i = 0; i < strings->count; i++)
        qst__json_add_text(list, strings->data[i]);
    return list;
}

/* plugin.<name>.<key> of the candidate's own plugin, for the others' do not matter to it. */
static qst__json *own_settings(const qst_context *ctx, const char *plugin)
{
    qst__json  *own = qst__json_object(), *named = qst__json_object();
    char        prefix[128];
    int         length = snprintf(prefix, sizeof prefix, "plugin.%s.", plugin);
    const char *path;

    for (uint32_t i = 0; i < ctx->settings->n_pairs; i++) {
        path = ctx->settings->pairs[i].path;
        if (length > 0 && (size_t)length < sizeof prefix && !strncmp(path, prefix, (size_t)length))
            qst__json_set_text(own, path + length, ctx->settings->pairs[i].value);
    }
    qst__json_set(named, plugin, own);
    return named;
}

static void append(void *user, const char *text, size_t length)
{
    qst__str_append_n(user, text, length);
}

/* The configuration under which it is tried: the same device and plugins, this candidate alone, and no probes. */
static bool make_config(const qst__shelf *shelf, uint32_t candidate, qst__str *out)
{
    const qst_context    *ctx = shelf->site->ctx;
    const qst__candidate *c = &shelf->set->model.candidates[candidate];
    const qst_device     *facts = &shelf->site->facts.device;
    qst__json            *all = qst__json_object(), *plugins = qst__json_object(), *tune = qst__json_object();
    qst__json            *device = qst__json_object(), *candidates = qst__json_object(), *pin = qst__json_array();
    bool                  made;

    qst__json_set_text(device, "platform", facts->platform);
    qst__json_set_text(device, "name", facts->name);
    qst__json_set_int(device, "index", qst__device_index(facts->platform, facts->name, shelf->site->device));
    qst__json_set(plugins, "dirs", list_of(&ctx->settings->plugin_dirs));
    qst__json_set(plugins, "load", list_of(&ctx->settings->plugin_load));
    qst__json_set_bool(tune, "short_circuit", false);
    qst__json_set_text(tune, "isolate", "none");
    qst__json_set_int(tune, "memory_mb", ctx->settings->memory_mb);
    qst__json_add_text(pin, c->name);
    qst__json_set(candidates, "pin", pin);
    qst__json_set(all, "device", device);
    qst__json_set(all, "plugins", plugins);
    qst__json_set(all, "plugin", own_settings(ctx, ctx->plugins.list.data[c->origin].name));
    qst__json_set(all, "tune", tune);
    qst__json_set(all, "candidates", candidates);
    made = qst__json_write(all, false, append, out) == QST_OK && !out->failed;
    qst__json_destroy(all);
    return made;
}

/* ---- The process --------------------------------------------------------------------------------------------------- */

/* What it says until it ends, or until it is too late or the site goes. False: it cannot be started. */
static bool listen(const qst__site *site, char *const *arguments, char *said, size_t room)
{
    const qst_context *ctx = site->ctx;
    const uint64_t     ms = (uint64_t)(ctx->settings->isolate_ms + MARGIN_MS);
    qst__patience      patience = {&ctx->clock, qst__now(&ctx->clock) + ms * 1000000u, &site->closing};
    qst__child         child;
    size_t             used;

    if (qst__child_start(&child, arguments))
        return false;
    qst__child_write_end(&child);
    (void)qst__child_read(&child, said, room - 1, &used, &patience);
    said[used] = '\0';
    (void)qst__child_end(&child, &patience);
    return true;
}

/* ---- What it says -------------------------------------------------------------------------------------------------- */

/* What can be read of its first line: whatever stands in for the program may say anything. */
static void copy_line(const char *said, char why[QST__WHY_BYTES])
{
    int length = 0;

    while (said[length] >= ' ' && said[length] <= '~')
        length++;
    if (length)
        snprintf(why, QST__WHY_BYTES, "%.*s", length, said);
    else
        snprintf(why, QST__WHY_BYTES, "it gave no answer, or none in time");
}

static int read_answer(const qst_context *ctx, const char *said, char why[QST__WHY_BYTES])
{
    const char *crash;
    int         number;

    if (!strncmp(said, "ok", 2))
        return CAME_BACK;
    if (!strncmp(said, "late", 4)) {
        snprintf(why, QST__WHY_BYTES, "it had not ended after %lld ms in a process of its own",
                 (long long)ctx->settings->isolate_ms);
        return KILLS;
    }
    if (sscanf(said, "exit %d", &number) == 1) {
        snprintf(why, QST__WHY_BYTES, "it ended a process of its own, with status %d", number);
        return KILLS;
    }
    crash = sscanf(said, "signal %d", &number) == 1 ? qst__child_fault(-number) : NULL;
    if (crash)
        snprintf(why, QST__WHY_BYTES, "it died of %s in a process of its own", crash);
    else
        copy_line(said, why);
    return crash ? KILLS : NOTHING_LEARNT;
}

static int try_elsewhere(const qst__shelf *shelf, uint32_t candidate, char *problem, char why[QST__WHY_BYTES])
{
    qst_context          *ctx = shelf->site->ctx;
    const qst__candidate *c = &shelf->set->model.candidates[candidate];
    qst__str              config;
    char                  ms[32], said[256], *program = NULL;
    int                   answer = NOTHING_LEARNT;

    snprintf(why, QST__WHY_BYTES, "%s cannot be started", PROGRAM);
    if (c->origin >= ctx->plugins.list.count) {
        snprintf(why, QST__WHY_BYTES, "it is the program's own, and in no plugin");
        return NOTHING_LEARNT;
    }
    if (atomic_load(&ctx->mute) >= MUTE_MAX) {
        snprintf(why, QST__WHY_BYTES, "%s gave no answer %d times, and is not asked again", PROGRAM, MUTE_MAX);
        return NOTHING_LEARNT;
    }
    qst__str_init(&config, &ctx->alloc);
    snprintf(ms, sizeof ms, "%lld", (long long)ctx->settings->isolate_ms);
    if (qst__plugins_helper(&ctx->alloc, PROGRAM, &program, why, QST__WHY_BYTES) == QST_OK &&
        make_config(shelf, candidate, &config)) {
        char *const arguments[] = {program, config.text, (char *)shelf->set->model.op.name, problem, c->name, ms, NULL};
        if (listen(shelf->site, arguments, said, sizeof said)) {
            if (!atomic_load(&shelf->site->closing))
                atomic_store(&ctx->mute, *said ? 0 : atomic_load(&ctx->mute) + 1);
            answer = read_answer(ctx, said, why);
        }
    }
    qst__str_finish(&config);
    qst__free(&ctx->alloc, program);
    return answer;
}

qst_status qst__isolate(qst__shelf *shelf, uint32_t candidate, const void *problem, qst_error *err)
{
    const qst_context *ctx = shelf->site->ctx;
    int32_t            whom = ctx->settings->isolate;
    const char        *name = shelf->set->model.candidates[candidate].name;
    char               why[QST__WHY_BYTES];
    qst__str           text;
    qst_status         status = QST_OK;
    int                answer;

    if (whom == QST__ISOLATE_NONE || candidate == shelf->set->model.fallback || qst__quarantine_bars(shelf, candidate))
        return QST_OK;
    qst__str_init(&text, &ctx->alloc);
    if (whom == QST__ISOLATE_ALL)
        qst__problem_print(&shelf->set->model.op, problem, &text);
    else
        qst__quarantine_place(shelf, candidate, &text);
    if (!text.failed && text.length) {
        answer = try_elsewhere(shelf, candidate, text.text, why);
        if (answer == NOTHING_LEARNT && whom == QST__ISOLATE_ALL)
            status =
                qst__fail(err, QST_E_REFUSED, name, "tune.isolate is all, and it cannot be tried elsewhere: %s", why);
        else if (answer == NOTHING_LEARNT)
            QST__LOG(&ctx->log, TUNE, INFO, "%s is suspect, and not tried elsewhere first: %s", name, why);
        else if (answer == KILLS)
            status = qst__canary_blames(&shelf->site->programs, why, err);
        if (answer != NOTHING_LEARNT && status == QST_OK)
            qst__quarantine_learn(shelf, candidate, text.text, answer == KILLS ? why : NULL);
    }
    qst__str_finish(&text);
    return status;
}
