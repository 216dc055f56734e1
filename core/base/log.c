/* SPDX-License-Identifier: MIT
 *
 * log.c: the list of levels and areas, and how a line looks. */
#include "base/log.h"

#include <stdio.h>
#include <string.h>

static const char *const AREAS[QST__AREA_COUNT] = {
    [QST__AREA_CONTEXT] = "context", [QST__AREA_CONF] = "conf",   [QST__AREA_PLUG] = "plug", [QST__AREA_TUNE] = "tune",
    [QST__AREA_CL] = "cl",           [QST__AREA_STORE] = "store", [QST__AREA_RUN] = "run",
};

static const char *const LEVELS[] = {
    [0] = "off", [QST_LOG_ERROR] = "error", [QST_LOG_WARN] = "warn", [QST_LOG_INFO] = "info", [QST_LOG_DEBUG] = "debug",
};

enum { LEVEL_COUNT = sizeof LEVELS / sizeof *LEVELS };

/* Index of the word in the list, or count. */
static uint32_t find_word(const char *const *list, uint32_t count, const char *word, size_t length)
{
    uint32_t i = 0;
    while (i < count && (strlen(list[i]) != length || memcmp(list[i], word, length) != 0))
        i++;
    return i;
}

/* The next word of a comma list, blanks around it left out; false at the end. */
static bool next_word(const char **rest, const char **word, size_t *length)
{
    const char *start = *rest + strspn(*rest, ", \t");
    if (!*start)
        return false;
    size_t span = strcspn(start, ",");
    *rest = start + span;
    while (span && (start[span - 1] == ' ' || start[span - 1] == '\t'))
        span--;
    *word = start;
    *length = span;
    return true;
}

qst_status qst__log_configure(qst__log *log, const char *list, qst_error *err)
{
    uint32_t    level = 0;
    bool        named[QST__AREA_COUNT] = {false};
    const char *rest = list ? list : "", *word = NULL;
    size_t      length = 0;

    while (next_word(&rest, &word, &length)) {
        uint32_t as_level = find_word(LEVELS, LEVEL_COUNT, word, length);
        uint32_t as_area = find_word(AREAS, QST__AREA_COUNT, word, length);
        if (as_level < LEVEL_COUNT)
            level = as_level;
        else if (as_area < QST__AREA_COUNT)
            named[as_area] = true;
        else
            return qst__fail(err, QST_E_CONFIG, "log",
                             "'%.*s' is no level (off, error, warn, info, debug) and no area (context, conf, plug, "
                             "tune, cl, store, run)",
                             (int)(length < 60 ? length : 60), word);
    }
    for (uint32_t area = 0; area < QST__AREA_COUNT; area++)
        log->level[area] = named[area] ? QST_LOG_DEBUG : level;
    return QST_OK;
}

void qst__log_write(const qst__log *log, uint32_t area, uint32_t level, const char *format, ...)
{
    char line[1024];
    if (!log || area >= QST__AREA_COUNT || level == 0 || level >= LEVEL_COUNT)
        return;
    int head = snprintf(line, sizeof line, "quernstone: %s: %s: ", LEVELS[level], AREAS[area]);
    if (head < 0)
        return;
    size_t  start = (size_t)head;
    va_list args;
    va_start(args, format);
    int body = vsnprintf(line + start, sizeof line - start, format, args);
    va_end(args);
    if (body < 0)
        return;

    /* One line, one piece: what is too long is cut and marked, inner line ends become blanks; names and messages of others
     * tell no terminal what to do. */
    size_t length = start + (size_t)body;
    if (length > sizeof line - 2) {
        length = sizeof line - 2;
        memcpy(line + length - 3, "...", 3);
    }
    for (size_t i = start; i < length; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == '\x7f')
            line[i] = line[i] == '\n' || line[i] == '\r' || line[i] == '\t' ? ' ' : '?';
        else if (line[i] == '\xc2' && i + 1 < length && (unsigned char)line[i + 1] - 0x80u < 0x20u)
            line[i] = line[i + 1] = '?'; /* UTF-8 of a control character */
    line[length++] = '\n';
    if (log->sink)
        log->sink(log->user, line, length);
    else
        (void)fwrite(line, 1, length, stderr);
}
