/* SPDX-License-Identifier: MIT
 *
 * settings.c: reading the effective configuration, and giving its memory back. */
#include "base/settings.h"

#include "base/str.h"

#include <string.h>

static void finish_strings(qst__strings *strings, const qst__alloc *alloc)
{
    for (uint32_t i = 0; i < strings->count; i++)
        qst__free(alloc, strings->data[i]);
    qst__free(alloc, strings->data);
}

void qst__settings_finish(qst__settings *settings, const qst__alloc *alloc)
{
    if (!settings)
        return;
    qst__free(alloc, settings->device_platform);
    qst__free(alloc, settings->device_name);
    qst__free(alloc, settings->log);
    qst__free(alloc, settings->store_path);
    qst__free(alloc, settings->environment);
    qst__free(alloc, settings->decisions_file);
    finish_strings(&settings->plugin_dirs, alloc);
    finish_strings(&settings->plugin_load, alloc);
    finish_strings(&settings->plugin_required, alloc);
    finish_strings(&settings->pin, alloc);
    finish_strings(&settings->deny, alloc);
    for (uint32_t i = 0; i < settings->n_pairs; i++) {
        qst__free(alloc, settings->pairs[i].path);
        qst__free(alloc, settings->pairs[i].value);
    }
    qst__free(alloc, settings->pairs);
    memset(settings, 0, sizeof *settings);
}

const char *qst__settings_pair(const qst__settings *settings, const char *path)
{
    for (uint32_t i = 0; i < settings->n_pairs; i++)
        if (strcmp(settings->pairs[i].path, path) == 0)
            return settings->pairs[i].value;
    return NULL;
}

static bool any_match(const qst__strings *patterns, const char *name)
{
    for (uint32_t i = 0; i < patterns->count; i++)
        if (qst__glob(patterns->data[i], name))
            return true;
    return false;
}

bool qst__settings_allow(const qst__settings *settings, const char *name, const char **why)
{
    const char *reason = NULL;
    if (any_match(&settings->deny, name))
        reason = "denied by candidates.deny";
    else if (settings->pin.count && !any_match(&settings->pin, name))
        reason = "not among candidates.pin";
    if (why)
        *why = reason;
    return !reason;
}
