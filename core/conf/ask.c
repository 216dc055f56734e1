/* SPDX-License-Identifier: MIT
 *
 * ask.c: what may be asked of a configuration besides its settings: the plugins that it speaks of, and
 * variables that nobody reads. */
#include "conf/state.h"

#include <string.h>

/* The name in plugin.<name>.<key>, which is not terminated; NULL for a path of another form. */
static const char *plugin_of(const char *path, size_t *length)
{
    static const char section[] = "plugin.";
    if (strncmp(path, section, sizeof section - 1) != 0)
        return NULL;
    path += sizeof section - 1;
    *length = strcspn(path, ".");
    return path;
}

/* Does one of the pairs before this one speak of the same plugin? */
static bool named_before(const qst__settings *settings, uint32_t index, const char *name, size_t length)
{
    for (uint32_t i = 0; i < index; i++) {
        size_t      other_length = 0;
        const char *other = plugin_of(settings->pairs[i].path, &other_length);
        if (other && other_length == length && memcmp(other, name, length) == 0)
            return true;
    }
    return false;
}

qst_status qst__conf_plugins_named(const qst__conf *conf, qst__conf_named *each, void *user)
{
    const qst__settings *settings = &conf->settings;
    qst_status           status = QST_OK;
    qst__str             name;
    qst__str_init(&name, &conf->alloc);
    for (uint32_t i = 0; i < settings->n_pairs && status == QST_OK; i++) {
        const qst__pair *pair = &settings->pairs[i];
        size_t           length = 0;
        const char      *plugin = plugin_of(pair->path, &length);
        if (!plugin || named_before(settings, i, plugin, length))
            continue;
        qst__str_clear(&name);
        qst__str_append_n(&name, plugin, length);
        if (name.failed)
            status = qst__conf_nomem(NULL);
        else
            each(user, name.text, pair->path, conf->places.data[conf->pair_place.data[i]].name);
    }
    qst__str_finish(&name);
    return status;
}

void qst__conf_variables_unread(const qst__conf *conf, qst__conf_unread *each, void *user)
{
    for (size_t i = 0; i < conf->ignored.count; i++)
        if (conf->ignored.data[i].variable)
            each(user, conf->ignored.data[i].name, conf->ignored.data[i].why);
}
