/* A plugin that adds nothing but carries an embedded kernel. */
#include "twice.cl.h"

#include <quernstone/kit.h>

static int32_t start(const qst_host *host, void **instance)
{
    *instance = NULL;
    host->log(host->self, QST_LOG_DEBUG, twice_cl);
    return QST_OK;
}

QSTK_EXPORT const qst_plugin qst_plugin_v1 = {QST_PLUGIN_MAGIC,
                                              (uint32_t)sizeof(qst_plugin),
                                              QST_ABI_MAJOR,
                                              QST_ABI_MINOR,
                                              0,
                                              0,
                                              "twice",
                                              "1",
                                              "MIT",
                                              start,
                                              NULL,
                                              NULL};
