/* SPDX-License-Identifier: MIT
 *
 * vendor.h: a plugin whose one candidate is a library of somebody else's, opened when it is about to run for the first
 * time. Header-only.
 */
#ifndef QST_PLUGIN_COMMON_VENDOR_H
#define QST_PLUGIN_COMMON_VENDOR_H

#include "plugins/common/plugin.h"

#include <quernstone/matmul.h>

/* One a context; the candidate's user. */
struct vendor_plugin {
    struct plugin_memory memory;
    const char          *path; /* of plugin.<name>.library; NULL: not set */
};

/* Memory that lives until vendor_release; NULL where there is none. */
static inline void *vendor_alloc(const struct vendor_plugin *plugin, uint64_t bytes)
{
    return plugin->memory.alloc(plugin->memory.host, bytes);
}
static inline void vendor_release(const struct vendor_plugin *plugin, void *memory)
{
    plugin->memory.release(plugin->memory.host, memory);
}

/* qst_plugin.start; `like` is the candidate but for its user. */
static inline int32_t vendor_start(const qst_host *host, const qst_candidate *like, void **instance)
{
    struct vendor_plugin *self = (struct vendor_plugin *)plugin_open(host, sizeof *self);
    qst_candidate         candidate = *like;
    if (!self)
        return QST_E_NOMEM;
    self->path = host->config(host->self, "library");
    candidate.user = self;
    return plugin_started(self, host->add_candidate(host->self, &candidate), instance);
}

/* Multiplications and additions of a matmul. */
static inline double vendor_flops(const qst_matmul *p)
{
    double flops = 2.0 * (double)p->m * (double)p->n * (double)p->k;
    int    d;
    for (d = 0; d < QST_MATMUL_BATCHES; d++)
        flops *= (double)p->batch[d];
    return flops;
}

#endif
