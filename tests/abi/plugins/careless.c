/* SPDX-License-Identifier: MIT
 *
 * careless.c: a plugin that does not look at what its additions give: it says that it has started although one was
 * refused. */
#include <quernstone/plugin.h>

typedef struct careless {
    const qst_host *host;
} careless;

static int32_t start(const qst_host *host, void **instance)
{
    static const qst_candidate nothing = {.size = sizeof nothing, .op = "matmul", .variant = "nothing", .revision = 0};
    careless                  *self = host->alloc(host->self, sizeof *self);
    if (!self)
        return QST_E_NOMEM;
    self->host = host;
    *instance = self;
    (void)host->add_candidate(host->self, &nothing);
    return QST_OK;
}

static void stop(void *instance)
{
    careless       *self = instance;
    const qst_host *host = self->host;
    host->log(host->self, QST_LOG_WARN, "stopped");
    host->free(host->self, self);
}

QST_API const qst_plugin qst_plugin_v1 = {QST_PLUGIN_HEAD,  .name = "careless", .version = "1.0",
                                          .licence = "MIT", .start = start,     .stop = stop};
