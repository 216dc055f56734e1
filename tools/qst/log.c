/* SPDX-License-Identifier: MIT
 *
 * log.c: what the library logs, on stderr, with no line of progress in its way. */
#include "log.h"

#include "out.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OF_STORE ": store: " /* what a line about the store has in it */
#define OF_CONF  ": conf: "
#define OF_KEY   " is not tuned: "

static struct {
    pthread_mutex_t lock;
    bool            holds;
    size_t          shown; /* bytes of them */
    out_buffer      lines; /* all about the store: few */
    out_buffer      conf;  /* all about the configuration, which each context tells anew */
    bool            waits; /* what is said of keys that are not tuned */
    out_buffer      keys;  /* what was, and is not shown yet */
} kept = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *const *left; /* set before there is a context */

static void show(const char *line, size_t length)
{
    char *text = out_text("%.*s", (int)length, line), *escaped = out_escaped(text, true);
    bool  leave = false;
    for (const char *const *part = left; part && *part; part++)
        leave = leave || strstr(text, *part);
    out_progress(NULL);
    if (!leave)
        fputs(escaped, stderr);
    free(escaped);
    free(text);
}

static void show_kept(const char *but)
{
    while (kept.shown < kept.lines.length) {
        const char *at = kept.lines.text + kept.shown;
        char       *line = out_text("%.*s\n", (int)strcspn(at, "\n"), at);
        kept.shown += strlen(line);
        if (!but || !strstr(line, but))
            show(line, strlen(line));
        free(line);
    }
}

/* What another context has said of the configuration is not said twice. */
static bool is_new(const char *line)
{
    bool known = kept.conf.text && strstr(kept.conf.text, line);
    if (!known)
        out_gather(&kept.conf, line, strlen(line));
    return !known;
}

void log_take(void *user, const char *text, size_t length)
{
    char *line = out_text("%.*s", (int)length, text);
    (void)user;
    pthread_mutex_lock(&kept.lock);
    if (strstr(line, OF_STORE))
        out_gather(&kept.lines, text, length);
    else if (kept.waits && strstr(line, OF_KEY))
        out_gather(&kept.keys, text, length);
    else if (!strstr(line, OF_CONF) || is_new(line))
        show(text, length);
    if (!kept.holds)
        show_kept(NULL);
    pthread_mutex_unlock(&kept.lock);
    free(line);
}

void log_leave(const char *const *parts)
{
    left = parts;
}

void log_hold(bool holds, const char *but)
{
    pthread_mutex_lock(&kept.lock);
    kept.holds = holds;
    if (!holds)
        show_kept(but);
    pthread_mutex_unlock(&kept.lock);
}

void log_wait(void)
{
    pthread_mutex_lock(&kept.lock);
    kept.waits = true;
    pthread_mutex_unlock(&kept.lock);
}

bool log_settle(bool shows)
{
    pthread_mutex_lock(&kept.lock);
    bool shown = shows && kept.keys.length;
    if (shown)
        show(kept.keys.text, kept.keys.length);
    kept.keys.length = 0;
    pthread_mutex_unlock(&kept.lock);
    return shown;
}

bool log_told(const char *text)
{
    pthread_mutex_lock(&kept.lock);
    bool told = kept.lines.text && strstr(kept.lines.text, text);
    pthread_mutex_unlock(&kept.lock);
    return told;
}
