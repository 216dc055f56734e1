/* SPDX-License-Identifier: MIT
 *
 * host.c: the table of functions that plugins get, and their start as a transaction: what a plugin adds takes effect
 * as a whole, or not at all.
 */
#include "model/candidate.h"
#include "run/once.h"

#include <string.h>

/* One start in progress: `self` of the host table. */
typedef struct host_self {
    qst_context *ctx;
    uint32_t     plugin;    /* index in the list */
    bool         open;      /* additions are allowed: inside start */
    bool         starved;   /* it was refused memory */
    QST__VEC(char *) asked; /* settings that start asked for */
    uint32_t   n_sets_before;
    uint32_t   n_groups_before[QST__SETS_MAX];
    uint32_t   n_candidates_before[QST__SETS_MAX];
    qst_status failure; /* of the first addition that failed */
    qst_error  why;
} host_self;

/* What lives as long as the instance: the table that start got. */
struct qst__hosted {
    qst_host  table;
    host_self self;
};

static const char *name_of(const host_self *self)
{
    return self->ctx->plugins.list.data[self->plugin].name;
}

static void *host_alloc(void *self, uint64_t bytes)
{
    host_self *host = self;
    void      *memory = bytes > SIZE_MAX ? NULL : qst__zalloc(&host->ctx->alloc, (size_t)bytes);

    if (!memory && host->open) /* afterwards any thread may ask */
        host->starved = true;
    return memory;
}

static void host_free(void *self, void *memory)
{
    qst__free(&((host_self *)self)->ctx->alloc, memory);
}

static void host_log(void *self, uint32_t level, const char *text)
{
    const host_self *host = self;

    if (text && level >= QST_LOG_ERROR && level <= QST_LOG_DEBUG && qst__log_on(&host->ctx->log, QST__AREA_PLUG, level))
        qst__log_write(&host->ctx->log, QST__AREA_PLUG, level, "%s: %s", name_of(host), text);
}

/* Inside start, where no other thread is: what it asks for is what it knows. Without memory nothing is told of it. */
static void note_asked(host_self *host, const char *key)
{
    char    *copy;
    uint32_t i;

    for (i = 0; i < host->asked.count; i++)
        if (!strcmp(host->asked.data[i], key))
            return;
    copy = qst__strdup(&host->ctx->alloc, key);
    if (copy && !qst__vec_push(&host->ctx->alloc, &host->asked, copy))
        qst__free(&host->ctx->alloc, copy);
}

const char *qst__host_asked(const qst__plugin *plugin, uint32_t i)
{
    const struct qst__hosted *hosted = plugin->hosted;

    return hosted && i < hosted->self.asked.count ? hosted->self.asked.data[i] : NULL;
}

static const char *host_config(void *self, const char *key)
{
    host_self *host = self;
    char       path[200];

    if (!key || strlen(name_of(host)) + strlen(key) + 9 > sizeof path)
        return NULL;
    if (host->open)
        note_asked(host, key);
    strcpy(path, "plugin.");
    strcat(path, name_of(host));
    strcat(path, ".");
    strcat(path, key);
    return qst__settings_pair(host->ctx->settings, path);
}

static int32_t refuse(host_self *host, qst_status status, const qst_error *err)
{
    if (host->failure == QST_OK) {
        host->failure = status;
        host->why = *err;
    }
    return status;
}

static bool may_add(host_self *host, qst_error *err)
{
    if (host->open)
        return true;
    qst__fail(err, QST_E_STATE, "plugin", "%s adds something outside its start", name_of(host));
    return false;
}

static int32_t host_add_operation(void *self, const qst_op *op)
{
    host_self *host = self;
    qst_error  err = {0};
    qst_set   *set;
    qst_status status;

    if (!may_add(host, &err))
        return QST_E_STATE;
    status = qst__set_create(host->ctx, op, &set, &err);
    return status == QST_OK ? QST_OK : refuse(host, status, &err);
}

static int32_t host_add_group(void *self, const char *op, const qst_group *group)
{
    host_self *host = self;
    qst_error  err = {0};
    qst_set   *set = op ? qst__set_named(host->ctx, op) : NULL;
    qst_status status;

    if (!may_add(host, &err))
        return QST_E_STATE;
    if (!set || !group)
        status = qst__fail(&err, QST_E_INVALID, "plugin", "a group for %s: %s", op ? op : "no operation",
                           group ? "no such operation" : "group is NULL");
    else
        status = qst__set_group(&set->model, group, &err);
    return status == QST_OK ? QST_OK : refuse(host, status, &err);
}

static int32_t host_add_candidate(void *self, const qst_candidate *candidate)
{
    host_self *host = self;
    qst_error  err = {0};
    qst_set   *set = NULL;
    qst_status status;

    if (!may_add(host, &err))
        return QST_E_STATE;
    if (candidate && candidate->size >= QST__LEAST_CANDIDATE && candidate->op)
        set = qst__set_named(host->ctx, candidate->op);
    if (!candidate)
        status = qst__fail(&err, QST_E_INVALID, "plugin", "candidate is NULL");
    else if (candidate->size < QST__LEAST_CANDIDATE)
        status = qst__fail(&err, QST_E_INVALID, "plugin", "a candidate of %u bytes, at least %u: is its size set?",
                           candidate->size, (unsigned)QST__LEAST_CANDIDATE);
    else if (!set)
        status = qst__fail(&err, QST_E_INVALID, "plugin", "candidate %s is for %s: no such operation",
                           candidate->variant ? candidate->variant : "(null)",
                           candidate->op ? candidate->op : "no operation");
    else
        status = qst__set_add(&set->model, candidate, name_of(host), host->plugin, &err);
    return status == QST_OK ? QST_OK : refuse(host, status, &err);
}

static int32_t host_program_binary(void *self, const qst_device *device, const qst_program *program, void *user,
                                   void (*take)(void *user, const void *bytes, uint64_t length), qst_error *err)
{
    return qst__once_binary(((host_self *)self)->ctx, device, program, user, take, err);
}

static int32_t host_run_once(void *self, const qst_device *device, const qst_program *program, const qst_launch *launch,
                             void *answer, uint32_t bytes, qst_error *err)
{
    return qst__once_run(((host_self *)self)->ctx, device, program, launch, answer, bytes, err);
}

static void remember(host_self *host)
{
    uint32_t i;

    host->n_sets_before = atomic_load(&host->ctx->n_sets);
    for (i = 0; i < host->n_sets_before; i++) {
        host->n_groups_before[i] = host->ctx->sets[i]->model.n_groups;
        host->n_candidates_before[i] = host->ctx->sets[i]->model.n_candidates;
    }
}

static void undo(host_self *host)
{
    uint32_t i, n = atomic_load(&host->ctx->n_sets);

    while (n > host->n_sets_before) {
        atomic_store(&host->ctx->n_sets, --n);
        qst__set_destroy(host->ctx->sets[n]);
        host->ctx->sets[n] = NULL;
    }
    for (i = 0; i < n; i++)
        qst__set_truncate(&host->ctx->sets[i]->model, host->n_groups_before[i], host->n_candidates_before[i]);
}

static void fill_table(struct qst__hosted *hosted)
{
    qst_host *t = &hosted->table;

    t->size = (uint32_t)sizeof *t;
    t->minor = QST_ABI_MINOR;
    t->self = &hosted->self;
    t->alloc = host_alloc;
    t->free = host_free;
    t->log = host_log;
    t->config = host_config;
    t->add_operation = host_add_operation;
    t->add_group = host_add_group;
    t->add_candidate = host_add_candidate;
    t->program_binary = host_program_binary;
    t->run_once = host_run_once;
}

static qst_status start_one(qst_context *ctx, uint32_t index, qst_error *err)
{
    qst__plugin        *plugin = &ctx->plugins.list.data[index];
    struct qst__hosted *hosted = qst__zalloc(&ctx->alloc, sizeof *hosted);
    host_self          *self;
    int32_t             answer;

    if (!hosted)
        return qst__fail(err, QST_E_NOMEM, "plugin", "no memory to start %s", plugin->name);
    self = &hosted->self;
    fill_table(hosted);
    self->ctx = ctx;
    self->plugin = index;
    remember(self);
    self->open = true;
    answer = plugin->desc.start(&hosted->table, &plugin->instance);
    self->open = false;
    plugin->hosted = hosted;
    if (answer == QST_OK && self->failure == QST_OK) {
        plugin->state = QST__PLUGIN_STARTED;
        return QST_OK;
    }
    undo(self);
    if (answer == QST_OK && plugin->desc.stop) /* it does not know that an addition failed */
        plugin->desc.stop(plugin->instance);
    if (self->failure == QST_E_NOMEM || (answer == QST_E_NOMEM && self->starved))
        return qst__fail(err, QST_E_NOMEM, "plugin", "%s: %s", plugin->name,
                         self->failure == QST_E_NOMEM ? self->why.text : "no memory to start it");
    if (self->failure != QST_OK)
        qst__plugin_refuse(&ctx->plugins, plugin, "start: %s", self->why.text);
    else
        qst__plugin_refuse(&ctx->plugins, plugin, "start returned %d, %s", answer, qst_status_text(answer));
    return QST_OK;
}

qst_status qst__host_start(qst_context *ctx, qst_error *err)
{
    qst_status status = QST_OK;
    uint32_t   i;

    for (i = 0; i < ctx->plugins.list.count && status == QST_OK; i++)
        if (ctx->plugins.list.data[i].state == QST__PLUGIN_READY)
            status = start_one(ctx, i, err);
    return status;
}

void qst__host_stop(qst_context *ctx)
{
    struct qst__hosted *hosted;
    size_t              i, k;

    for (i = ctx->plugins.list.count; i-- > 0;) {
        qst__plugin *plugin = &ctx->plugins.list.data[i];
        if (plugin->state == QST__PLUGIN_STARTED && plugin->desc.stop)
            plugin->desc.stop(plugin->instance);
        hosted = plugin->hosted;
        for (k = 0; hosted && k < hosted->self.asked.count; k++)
            qst__free(&ctx->alloc, hosted->self.asked.data[k]);
        if (hosted)
            qst__vec_finish(&ctx->alloc, &hosted->self.asked);
        qst__free(&ctx->alloc, hosted);
        plugin->hosted = NULL;
    }
}
