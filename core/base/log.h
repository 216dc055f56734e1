/* log.h: log lines of a context. Nothing is logged unless the configuration asks: `log` (or QST_LOG) is a comma list
 * of a level and areas, `warn,tune`: that level for all, and with areas named, `debug` for these. A line is
 *     quernstone: warn: tune: text
 * and goes to the context's sink in one piece. Logging allocates nothing and never changes what is measured: the
 * level is looked at before any argument is formatted. */
#ifndef QST_BASE_LOG_H
#define QST_BASE_LOG_H

#include "base/error.h"

#include <quernstone/plugin.h> /* QST_LOG_… */
#include <stdbool.h>
#include <stdint.h>

enum {
    QST__AREA_CONTEXT,
    QST__AREA_CONF,
    QST__AREA_PLUG,
    QST__AREA_TUNE,
    QST__AREA_CL,
    QST__AREA_STORE,
    QST__AREA_RUN,
    QST__AREA_COUNT
};

typedef struct qst__log {
    qst_sink sink; /* NULL: standard error */
    void    *user;
    uint32_t level[QST__AREA_COUNT]; /* QST_LOG_…, 0: nothing */
} qst__log;

/* Reads the comma list; E_CONFIG names the word. "" or "off": nothing. Levels: error, warn, info, debug; areas:
 * context, conf, plug, tune, cl, store, run. */
qst_status qst__log_configure(qst__log *log, const char *list, qst_error *err);

static inline bool qst__log_on(const qst__log *log, uint32_t area, uint32_t level)
{
    return log && level <= log->level[area];
}
void qst__log_write(const qst__log *log, uint32_t area, uint32_t level, const char *format, ...) QST__PRINTF(4, 5);

#define QST__LOG(log, area, level, ...)                                                                                \
    (qst__log_on((log), QST__AREA_##area, QST_LOG_##level)                                                             \
         ? qst__log_write((log), QST__AREA_##area, QST_LOG_##level, __VA_ARGS__)                                       \
         : (void)0)

#endif
