/* SPDX-License-Identifier: MIT
 *
 * The scripted rig: what each call logs, answers and costs. */
#include "support/scripted_rig.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void note(char *out, size_t room, const char *format, ...) QST__PRINTF(3, 4);

static void note(char *out, size_t room, const char *format, ...)
{
    size_t  used = strlen(out);
    va_list args;

    if (used && used + 1 < room) {
        out[used++] = ' ';
        out[used] = '\0';
    }
    va_start(args, format);
    vsnprintf(out + used, room - used, format, args);
    va_end(args);
}

static const char *variant(const scripted_rig *self, uint32_t candidate)
{
    return self->set->candidates[candidate].desc.variant;
}

static qst_status answer(qst_status status, const char *text, qst_error *err)
{
    return status < 0 ? qst__fail(err, status, "rig", "%s", text ? text : qst_status_text(status)) : status;
}

static uint64_t now(void *user)
{
    return ((const scripted_rig *)user)->now;
}

static qst_status rig_open(void *user, uint32_t *ruler, qst_error *err)
{
    scripted_rig *self = user;

    self->misused = self->misused || self->opened;
    note(self->log, sizeof self->log, "open");
    if (self->open < 0)
        return answer(self->open, NULL, err);
    self->opened = true;
    *ruler = QST__RULER_MARKERS;
    return QST_OK;
}

static void rig_close(void *user)
{
    scripted_rig *self = user;

    self->misused = self->misused || !self->opened || self->leased;
    self->opened = false;
    note(self->log, sizeof self->log, "close");
}

static qst_status rig_prepare(void *user, uint32_t candidate, qst__prepared *out, qst_error *err)
{
    scripted_rig     *self = user;
    const rig_script *script = &self->scripts[candidate];

    self->misused = self->misused || !self->opened || self->leased;
    self->n_prepares++;
    self->now += script->build_ns;
    out->build_ns = script->build_ns;
    out->launches = script->launches ? script->launches : 1;
    out->workspace = script->workspace;
    out->unable = script->unable && script->prepare < 0;
    note(self->log, sizeof self->log, "p:%s%s", variant(self, candidate), script->prepare < 0 ? "!" : "");
    return answer(script->prepare, script->prepare_text, err);
}

static qst_status rig_check(void *user, uint32_t candidate, uint64_t best_ns, double slow_factor, qst__checked *out,
                            qst_error *err)
{
    scripted_rig     *self = user;
    const rig_script *script = &self->scripts[candidate];
    qst_status        status = script->check;

    self->misused = self->misused || !self->opened || self->leased != 1;
    self->n_checks++;
    out->build_ns = script->late_build_ns;
    self->now += script->late_build_ns;
    if (status != QST_E_CL) {
        out->first_ns = script->first_ns ? script->first_ns : script->samples[0];
        self->now += out->first_ns;
        if (best_ns && (double)out->first_ns > slow_factor * (double)best_ns)
            status = QST_E_REFUSED;
        if (status != QST_E_REFUSED) {
            out->verify_ns = script->verify_ns;
            self->now += script->verify_ns;
        }
    }
    out->unable = script->unable && status < 0;
    note(self->log, sizeof self->log, "c:%s%s", variant(self, candidate), status < 0 ? "!" : "");
    return answer(status, script->check_text, err);
}

/* The k-th sample of a script; its last one repeats. */
static uint64_t scripted(const rig_script *script, uint32_t k)
{
    uint32_t n = script->n_samples;

    while (!script->n_samples && n < 24 && script->samples[n])
        n++;
    return script->samples[k < n ? k : n - 1];
}

static qst_status rig_sample(void *user, uint32_t candidate, uint64_t *ns, qst_error *err)
{
    scripted_rig *self = user;
    uint32_t      k = self->taken[candidate]++;
    uint64_t      drawn = self->draw ? self->draw(self, candidate, k) : scripted(&self->scripts[candidate], k);
    qst_status    status = QST_OK;

    self->misused = self->misused || !self->opened || self->leased != 1;
    self->n_samples++;
    self->now += self->overhead_ns;
    if (drawn == RIG_TIMEOUT)
        status = QST_E_TIMEOUT;
    else if (drawn == RIG_WRONG)
        status = QST_E_VERIFY;
    else if (drawn == RIG_BROKEN)
        status = QST_E_CL;
    else
        self->now += drawn;
    *ns = status < 0 ? 0 : drawn;
    note(self->log, sizeof self->log, "%s%s", variant(self, candidate), status < 0 ? "!" : "");
    return answer(status, NULL, err);
}

static bool rig_ready(void *user, uint32_t candidate)
{
    scripted_rig *self = user;

    self->misused = self->misused || !self->opened || self->leased != 0;
    return self->scripts[candidate].ready;
}

static void rig_commit(void *user, const qst__verdict *verdict, uint32_t candidate)
{
    scripted_rig *self = user;

    (void)verdict;
    self->n_commits++;
    note(self->commits, sizeof self->commits, "%s", candidate == ~0u ? "*" : variant(self, candidate));
}

static void rig_lease(void *user, bool take)
{
    scripted_rig *self = user;

    self->leased += take ? 1 : -1;
}

void scripted_rig_init(scripted_rig *self, const qst__set *set, const rig_script *scripts)
{
    memset(self, 0, sizeof *self);
    self->rig = (qst__rig){.self = self,
                           .open = rig_open,
                           .prepare = rig_prepare,
                           .check = rig_check,
                           .sample = rig_sample,
                           .close = rig_close};
    self->clock = (qst__clock){.now = now, .user = self};
    self->set = set;
    self->scripts = scripts;
    for (uint32_t i = 0; i < set->n_candidates; i++)
        if (scripts[i].ready)
            self->rig.ready = rig_ready;
    self->now = 1000;
}

qst__settings scripted_settings(void)
{
    return (qst__settings){
        .level = QST__LEVEL_BALANCED,
        .min_samples = 3,
        .max_samples = 10,
        .speed_factor = 1.5,
        .prune_factor = 8,
        .short_circuit = true,
        .short_circuit_samples = 2,
        .verify = true,
    };
}

void scripted_task_init(scripted_task *self, scripted_rig *rig)
{
    memset(self, 0, sizeof *self);
    self->alloc = qst__alloc_default();
    self->settings = scripted_settings();
    self->device.size = sizeof self->device;
    self->problem = toy_problem_of(1000);
    self->key = toy_key(&self->problem);
    self->task = (qst__task){
        .alloc = &self->alloc,
        .clock = &rig->clock,
        .set = rig->set,
        .device = &self->device,
        .key = &self->key,
        .problem = &self->problem,
        .class_bit = QST_CLASS_PLAIN,
        .settings = &self->settings,
        .rig = &rig->rig,
        .commit = rig_commit,
        .lease = rig_lease,
        .user = rig,
    };
}

double scripted_draw(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) / 9007199254740992.0;
}
