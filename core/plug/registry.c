/* SPDX-License-Identifier: MIT
 *
 * registry.c: from directories to a list of plugins that are ready to start or refused with a reason. */
#include "plug/registry.h"

#include "plug/dl.h"
#include "plug/search.h"

#include <stdio.h>
#include <string.h>

enum { WHY_SIZE = 512 };

void qst__plugins_init(qst__plugins *plugins, const qst__alloc *alloc, const qst__log *log)
{
    *plugins = (qst__plugins){.alloc = alloc, .log = log};
}

static void finish_plugin(const qst__alloc *alloc, qst__plugin *plugin)
{
    qst__free(alloc, plugin->path);
    qst__free(alloc, plugin->name);
    qst__free(alloc, plugin->why);
}

void qst__plugins_finish(qst__plugins *plugins)
{
    for (size_t i = 0; i < plugins->list.count; i++)
        finish_plugin(plugins->alloc, &plugins->list.data[i]);
    qst__vec_finish(plugins->alloc, &plugins->list);
}

static qst_status no_memory(qst_error *err)
{
    return qst__fail(err, QST_E_NOMEM, "plugin", "no memory for the list of plugins");
}

void qst__plugin_refuse(qst__plugins *plugins, qst__plugin *plugin, const char *format, ...)
{
    char    why[WHY_SIZE];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    qst__free(plugins->alloc, plugin->why);
    plugin->why = qst__strdup(plugins->alloc, why);
    plugin->state = QST__PLUGIN_REFUSED;
    QST__LOG(plugins->log, PLUG, WARN, "%s refused: %s", plugin->path ? plugin->path : plugin->name, why);
}

/* ---- Entries ---------------------------------------------------------------------------------------------------- */

/* Moves the entry, whose name is still to be given, into the list. The pointer holds until the next addition. */
static qst__plugin *append(qst__plugins *plugins, qst__plugin *entry, const char *name, size_t name_length)
{
    char *copy = qst__zalloc(plugins->alloc, name_length + 1);
    if (copy)
        memcpy(copy, name, name_length);
    entry->name = copy;
    if (!copy || !qst__vec_push(plugins->alloc, &plugins->list, *entry)) {
        finish_plugin(plugins->alloc, entry);
        return NULL;
    }
    return &plugins->list.data[plugins->list.count - 1];
}

/* An entry for what never came to be read: its name is the file's, without what all have in common. */
static qst_status append_refused(qst__plugins *plugins, const char *path, const char *why, qst_error *err)
{
    const char  *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t       length = strlen(name);
    qst__plugin  entry = {.path = qst__strdup(plugins->alloc, path)};
    qst__plugin *plugin = NULL;
    if (length > 3 && strcmp(name + length - 3, ".so") == 0)
        length -= 3;
    if (entry.path)
        plugin = append(plugins, &entry, name, length);
    if (!plugin)
        return no_memory(err);
    qst__plugin_refuse(plugins, plugin, "%s", why);
    return QST_OK;
}

/* The plugin that has this name already, refused ones aside. */
static const qst__plugin *find_name(const qst__plugins *plugins, const char *name)
{
    for (size_t i = 0; i < plugins->list.count; i++) {
        const qst__plugin *plugin = &plugins->list.data[i];
        if (plugin->state != QST__PLUGIN_REFUSED && strcmp(plugin->name, name) == 0)
            return plugin;
    }
    return NULL;
}

static bool same_version(const qst__plugin *a, const qst_plugin *b)
{
    return strcmp(a->desc.version ? a->desc.version : "", b->version ? b->version : "") == 0;
}

qst_status qst__plugins_add_builtin(qst__plugins *plugins, const qst_plugin *given, qst_error *err)
{
    qst__plugin entry = {.state = QST__PLUGIN_READY};
    qst_status  status = qst__plugin_read(given, &entry.desc, err);
    if (status != QST_OK)
        return status;
    if (find_name(plugins, entry.desc.name))
        return qst__fail(err, QST_E_PLUGIN, "plugin", "%s is built in twice", entry.desc.name);
    return append(plugins, &entry, entry.desc.name, strlen(entry.desc.name)) ? QST_OK : no_memory(err);
}

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

/* Is the name, or the name without a leading lib, among what is to be loaded? */
static bool wanted(const char *name, const char *const *load, uint32_t n_load)
{
    const char *bare = strncmp(name, "lib", 3) == 0 ? name + 3 : name;
    for (uint32_t i = 0; i < n_load; i++)
        if (qst__glob(load[i], name) || qst__glob(load[i], bare))
            return true;
    return n_load == 0;
}

/* Opens the file and reads its descriptor; false: `why` says what is wrong. The symbol's own size, where the file
 * states it, keeps a descriptor that claims to be longer than it is from being read beyond its end. */
static bool open_and_read(const char *path, qst__plugin *entry, char *why, size_t why_size)
{
    qst_error err = {0};
    size_t    bytes = 0;
    entry->handle = qst__dl_open(path, why, why_size);
    if (!entry->handle)
        return false;
    const qst_plugin *given = qst__dl_symbol(entry->handle, QST_PLUGIN_SYMBOL, &bytes);
    if (!given) {
        (void)snprintf(why, why_size, "no symbol %s", QST_PLUGIN_SYMBOL);
        return false;
    }
    uint32_t head[2] = {0, 0}; /* magic and size */
    if (!bytes || bytes >= sizeof head)
        memcpy(head, (const void *)given, sizeof head);
    if (bytes && (bytes < sizeof head || (head[0] == QST_PLUGIN_MAGIC && head[1] > bytes))) {
        (void)snprintf(why, why_size, "descriptor of %u bytes in a symbol of %zu", head[1], bytes);
        return false;
    }
    if (qst__plugin_read(given, &entry->desc, &err) != QST_OK) {
        (void)snprintf(why, why_size, "%s", err.text);
        entry->desc = (qst_plugin){0};
        return false;
    }
    return true;
}

/* Puts what was opened and read into the list, or refuses it for its name. `path` is taken. */
static qst_status place(qst__plugins *plugins, qst__plugin *entry, const char *const *load, uint32_t n_load,
                        qst_error *err)
{
    const char        *name = entry->desc.name;
    const qst__plugin *first = find_name(plugins, name);
    char               why[WHY_SIZE] = "";
    if (first && !first->path && same_version(first, &entry->desc)) {
        QST__LOG(plugins->log, PLUG, DEBUG, "%s passed over: %s is built in", entry->path, name);
        finish_plugin(plugins->alloc, entry);
        return QST_OK;
    }
    if (!wanted(name, load, n_load))
        (void)snprintf(why, sizeof why, "its name %s is not among plugins.load", name);
    else if (first && first->path)
        (void)snprintf(why, sizeof why, "%s is there already, from %s", name, first->path);
    else if (first)
        (void)snprintf(why, sizeof why, "%s is there already, built in", name);
    qst__plugin *plugin = append(plugins, entry, name, strlen(name));
    if (!plugin)
        return no_memory(err);
    if (why[0])
        qst__plugin_refuse(plugins, plugin, "%s", why);
    else
        QST__LOG(plugins->log, PLUG, DEBUG, "%s: %s %s", plugin->path, name,
                 plugin->desc.version ? plugin->desc.version : "");
    return QST_OK;
}

/* One file of a directory that may be trusted. */
static qst_status take_file(qst__plugins *plugins, const char *directory, const char *file, const char *const *load,
                            uint32_t n_load, qst_error *err)
{
    const qst__alloc *alloc = plugins->alloc;
    qst__plugin       entry = {.state = QST__PLUGIN_READY};
    char              why[WHY_SIZE] = "", shown[WHY_SIZE];
    qst_status        status = qst__search_file(alloc, directory, file, &entry.path, why, sizeof why);
    (void)snprintf(shown, sizeof shown, "%s/%s", directory, file);
    if (status == QST_E_NOMEM)
        return no_memory(err);
    if (status != QST_OK)
        return append_refused(plugins, shown, why, err);
    for (size_t i = 0; i < plugins->list.count; i++) {
        const char *other = plugins->list.data[i].path;
        if (other && strcmp(other, entry.path) == 0) { /* a directory that is named twice */
            finish_plugin(alloc, &entry);
            return QST_OK;
        }
    }
    if (open_and_read(entry.path, &entry, why, sizeof why))
        return place(plugins, &entry, load, n_load, err);
    status = append_refused(plugins, entry.path, why, err);
    finish_plugin(alloc, &entry);
    return status;
}

qst_status qst__plugins_scan(qst__plugins *plugins, const char *directory, const char *const *load, uint32_t n_load,
                             qst_error *err)
{
    const qst__alloc *alloc = plugins->alloc;
    char             *real = NULL, why[WHY_SIZE] = "", stem[256];
    qst__files        files = {0};
    qst_status        status = qst__search_directory(alloc, directory, &real, why, sizeof why);
    if (status == QST_OK)
        status = qst__search_list(alloc, real, &files, why, sizeof why);
    if (status == QST_E_NOTFOUND) {
        QST__LOG(plugins->log, PLUG, WARN, "plugins are looked for in %s, which is not there", directory);
        status = QST_OK;
    } else if (status == QST_E_REFUSED) {
        status = append_refused(plugins, directory, why, err);
    } else if (status == QST_E_NOMEM) {
        status = no_memory(err);
    }
    for (size_t i = 0; i < files.list.count && status == QST_OK; i++) {
        const char *file = files.list.data[i];
        (void)snprintf(stem, sizeof stem, "%.*s", (int)(strlen(file) - 3), file);
        if (wanted(stem, load, n_load)) /* by the file's name first: opening it runs its constructors */
            status = take_file(plugins, real, file, load, n_load, err);
        else
            QST__LOG(plugins->log, PLUG, DEBUG, "%s/%s passed over: not among plugins.load", real, file);
    }
    qst__search_finish(alloc, &files);
    qst__free(alloc, real);
    return status;
}

/* ---- Ours ------------------------------------------------------------------------------------------------------- */

qst_status qst__plugins_home(const qst__alloc *alloc, char **home)
{
    char      *self;
    qst_status status = qst__dl_self(alloc, &self);
    char      *slash = status == QST_OK ? strrchr(self, '/') : NULL;
    qst__str   path;
    *home = NULL;
    qst__str_init(&path, alloc);
    if (slash) {
        qst__str_printf(&path, "%.*s/quernstone/plugins-%u", (int)(slash - self), self, QST_ABI_MAJOR);
        *home = qst__str_take(&path);
    }
    qst__free(alloc, self);
    if (status != QST_OK)
        return status;
    return *home ? QST_OK : slash ? QST_E_NOMEM : QST_E_NOTFOUND;
}

qst_status qst__plugins_helper(const qst__alloc *alloc, const char *file, char **path, char *why, size_t why_size)
{
    char      *home = NULL;
    qst_status status = qst__plugins_home(alloc, &home);

    *path = NULL;
    if (status == QST_OK) {
        *strrchr(home, '/') = '\0';
        status = qst__search_file(alloc, home, file, path, why, why_size);
    } else {
        (void)snprintf(why, why_size, "where the library is installed cannot be told");
    }
    qst__free(alloc, home);
    return status;
}
