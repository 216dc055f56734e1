/* SPDX-License-Identifier: MIT
 *
 * plugin.h: what every plugin of ours begins and ends with: its descriptor, and the memory of an instance. Header-only.
 */
#ifndef QST_PLUGIN_COMMON_PLUGIN_H
#define QST_PLUGIN_COMMON_PLUGIN_H

#include <quernstone/kit.h>

/* The descriptor of plugin `name_`, with what else it has: PLUGIN(tiled, .start = start, .stop = plugin_close);
 * A plugin of its own has the one symbol that hosts look for; with QST_BUILTIN it is part of a program, under its name. */
#ifdef QST_BUILTIN
#define PLUGIN_SYMBOL(name_) qst__builtin_##name_
#else
#define PLUGIN_SYMBOL(name_) qst_plugin_v1
#endif
#define PLUGIN(name_, ...)                                                                                             \
    extern QSTK_EXPORT const qst_plugin PLUGIN_SYMBOL(name_);                                                          \
    const qst_plugin PLUGIN_SYMBOL(name_) = {QST_PLUGIN_HEAD, .name = #name_, .version = "1.0", .licence = "MIT",      \
                                             __VA_ARGS__}

/* What an instance begins with: how it is given back when the table of the host is no longer at hand. */
struct plugin_memory {
    void *(*alloc)(void *host, uint64_t bytes);
    void (*release)(void *host, void *memory);
    void *host;
};

/* An instance of so many bytes, the others zero; NULL where there is no memory. */
static inline void *plugin_open(const qst_host *host, uint64_t bytes)
{
    struct plugin_memory *self = (struct plugin_memory *)host->alloc(host->self, bytes);
    if (self) {
        self->alloc = host->alloc;
        self->release = host->free;
        self->host = host->self;
    }
    return self;
}

/* qst_plugin.stop. */
static inline void plugin_close(void *instance)
{
    struct plugin_memory *self = (struct plugin_memory *)instance;
    self->release(self->host, self);
}

/* The candidates of a plugin as rows of a table: `like`, and what `fill` makes of a row: the candidate's own memory, which
 * is its user, and whatever else differs. */
struct plugin_table {
    const void          *rows;
    uint32_t             n_rows, row_bytes, own_bytes;
    const qst_candidate *like;
    void (*fill)(const void *row, void *own, qst_candidate *candidate);
};

/* What start returns: the instance where its additions came to QST_OK, else none. */
static inline int32_t plugin_started(void *self, int32_t status, void **instance)
{
    if (!self)
        return QST_E_NOMEM;
    if (status == QST_OK)
        *instance = self;
    else
        plugin_close(self);
    return status;
}

/* qst_plugin.start of such a plugin. */
static inline int32_t plugin_start(const qst_host *host, const struct plugin_table *table, void **instance)
{
    const uint32_t head = (sizeof(struct plugin_memory) + 15) / 16 * 16, own_bytes = (table->own_bytes + 15) / 16 * 16;
    char          *self = (char *)plugin_open(host, head + (uint64_t)table->n_rows * own_bytes);
    int32_t        status = self ? QST_OK : QST_E_NOMEM;
    uint32_t       i;
    for (i = 0; i < table->n_rows && status == QST_OK; i++) {
        qst_candidate candidate = *table->like;
        candidate.user = self + head + (uint64_t)i * own_bytes;
        table->fill((const char *)table->rows + (uint64_t)i * table->row_bytes, candidate.user, &candidate);
        status = host->add_candidate(host->self, &candidate);
    }
    return plugin_started(self, status, instance);
}

#endif
