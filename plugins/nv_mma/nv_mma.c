/* SPDX-License-Identifier: MIT
 *
 * nv_mma.c: the plugin: its instance, what it remembers of devices, and the list of its families.
 */
#include "rows.h"

#include "plugins/common/plugin.h"

#include <pthread.h>
#include <quernstone/ext/abilities.h>
#include <quernstone/ext/draft/builder.h>
#include <stdio.h>

#define DEVICES 16u
#define HOPPER  90u /* of which both abilities are presumed before they are proven */

static const nv_family families[] = {nv_peak_add, nv_rows_add};

/* Memory that goes with the instance. */
struct block {
    struct block *next;
    max_align_t   memory[];
};

/* A device as far as it was asked about. Identified by its cl_device_id, which lives as long as the process. */
struct known {
    struct _cl_device_id *id;
    nv_ability            ability;
    uint32_t              asked; /* bits: BIG_LOCAL, SM90A, TENSOR */
};
enum { BIG_LOCAL = 1, SM90A = 2, TENSOR = 4 };

struct nv_mma {
    const qst_host *host;
    struct block   *blocks;
    pthread_mutex_t lock; /* of what follows; held while a probe runs, so that it runs once */
    struct known    devices[DEVICES];
};

const char *nv_mma_config(const nv_mma *plugin, const char *key)
{
    return plugin->host->config(plugin->host->self, key);
}

void *nv_mma_memory(nv_mma *plugin, size_t bytes)
{
    struct block *block = (struct block *)plugin->host->alloc(plugin->host->self, sizeof *block + bytes);
    if (!block)
        return NULL;
    block->next = plugin->blocks;
    plugin->blocks = block;
    return block->memory;
}

/* ---- Devices ---------------------------------------------------------------------------------------------------- */

/* With the lock held. The last place serves all devices that found no other, one after the other. */
static struct known *find(nv_mma *plugin, const qst_device *device)
{
    uint32_t i = 0;
    while (i < DEVICES - 1 && plugin->devices[i].id && plugin->devices[i].id != device->id)
        i++;
    struct known *known = &plugin->devices[i];
    if (known->id != device->id) {
        memset(known, 0, sizeof *known);
        known->id = device->id;
        known->ability.cc = device->compute_capability;
        known->ability.units = device->units;
        known->ability.can_big_local = NV_PLAIN_LOCAL;
    }
    return known;
}

static void ask(nv_mma *plugin, const qst_device *device, struct known *known, uint32_t what)
{
    int32_t status;
    if (known->asked & what)
        return;
    status = what == BIG_LOCAL ? nv_probe_big_local(plugin->host, device, &known->ability)
             : what == SM90A   ? nv_probe_sm90a(plugin->host, device, &known->ability)
                               : nv_probe_tensor(plugin->host, device, &known->ability);
    if (status == QST_OK)
        known->asked |= what;
}

/* The reasons that carry numbers stand in memory of the thread, until its next question. */
static _Thread_local char reason[NV_WHY];

static int32_t refuse(const char **why, const char *format, uint32_t has, uint32_t needs)
{
    (void)snprintf(reason, sizeof reason, format, (unsigned)has, (unsigned)needs);
    return qstk_no(why, reason);
}

static int32_t copied(const char **why, const char *text)
{
    (void)snprintf(reason, sizeof reason, "%s", text);
    return qstk_no(why, reason);
}

int32_t nv_mma_supports(nv_mma *plugin, const qst_device *device, const nv_needs *needs, const char **why)
{
    int32_t status = nv_mma_is_ours(device, why);
    if (status != QST_OK)
        return status;
    if (device->compute_capability < needs->least_cc)
        return refuse(why, "compute capability %u, it needs %u", device->compute_capability, needs->least_cc);
    if (needs->local_bytes <= NV_PLAIN_LOCAL && !needs->sm90a)
        return QST_OK;
    if ((device->flags & QST_DEVICE_PRESUMED) && device->compute_capability == HOPPER)
        return QST_OK;
    (void)pthread_mutex_lock(&plugin->lock);
    struct known     *known = find(plugin, device);
    const nv_ability *ability = &known->ability;
    if (needs->local_bytes > NV_PLAIN_LOCAL)
        ask(plugin, device, known, BIG_LOCAL);
    if (needs->sm90a)
        ask(plugin, device, known, SM90A);
    if (needs->tensor && ability->can_sm90a)
        ask(plugin, device, known, TENSOR);
    if (needs->local_bytes > ability->can_big_local)
        status = ability->can_big_local > NV_PLAIN_LOCAL ? refuse(why, "%u bytes of static local memory, it needs %u",
                                                                  ability->can_big_local, needs->local_bytes)
                                                         : copied(why, ability->why_big_local);
    else if (needs->sm90a && !ability->can_sm90a)
        status = copied(why, ability->why_sm90a);
    else if (needs->tensor && !ability->can_tensor)
        status = copied(why, ability->why_tensor);
    (void)pthread_mutex_unlock(&plugin->lock);
    return status;
}

/* ---- Life ------------------------------------------------------------------------------------------------------- */

static void stop(void *instance)
{
    nv_mma         *plugin = (nv_mma *)instance;
    const qst_host *host = plugin->host;
    struct block   *next;
    for (struct block *block = plugin->blocks; block; block = next) {
        next = block->next;
        host->free(host->self, block);
    }
    (void)pthread_mutex_destroy(&plugin->lock);
    host->free(host->self, plugin);
}

static int32_t start(const qst_host *host, void **instance)
{
    nv_mma *plugin = (nv_mma *)host->alloc(host->self, sizeof *plugin);
    int32_t status = QST_OK;
    if (!plugin)
        return QST_E_NOMEM;
    plugin->host = host;
    if (pthread_mutex_init(&plugin->lock, NULL) != 0) {
        host->free(host->self, plugin);
        return QST_E_NOMEM;
    }
    (void)nv_mma_config(plugin, "builder"); /* is read later; what start asks for is known to be a setting */
    for (size_t i = 0; i < QSTK_COUNT(families) && status == QST_OK; i++)
        status = families[i](plugin, host);
    if (status == QST_OK)
        *instance = plugin;
    else
        stop(plugin);
    return status;
}

/* What candidates ask for, by itself. */
static int32_t tell(void *instance, const qst_device *device, uint32_t index, const char **name, const char **why)
{
    static const struct {
        const char *name;
        nv_needs    needs;
    } all[] = {{"mma.sync", {80, 0, 0, 0}},
               {"over 48 KB of local memory", {70, NV_PLAIN_LOCAL + 1, 0, 0}},
               {"wgmma, by programs retargeted to sm_90a", {90, 0, 1, 0}},
               {"tensor copies, by maps made on the device", {90, 0, 1, 1}}};
    if (index >= QSTK_COUNT(all))
        return QST_E_NOTFOUND;
    *name = all[index].name;
    return nv_mma_supports((nv_mma *)instance, device, &all[index].needs, why);
}

static const qst_abilities abilities = {.size = sizeof abilities, .count = 4, .tell = tell};

extern const qst_builder nv_builder; /* build.c */

static const void *get_extension(const char *id)
{
    static const struct {
        const char *id;
        const void *extension;
    } all[] = {{QST_EXT_BUILDER, &nv_builder}, {QST_EXT_ABILITIES, &abilities}};
    for (size_t i = 0; i < QSTK_COUNT(all); i++)
        if (strcmp(id, all[i].id) == 0)
            return all[i].extension;
    return NULL;
}

PLUGIN(nv_mma, .start = start, .stop = stop, .get_extension = get_extension);
