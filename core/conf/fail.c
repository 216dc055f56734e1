/* SPDX-License-Identifier: MIT
 *
 * fail.c: what is wrong with a configuration, as one line that names the place and the key. */
#include "conf/state.h"

#include <stdio.h>
#include <string.h>

#define NAME_SHOWN 200 /* bytes of a place's name that an error text shows */

/* The part of a place's name that is shown: the end of a long one, from the beginning of a character on. */
static const char *shown(const qst__conf *conf, uint32_t place, const char **dots)
{
    const char *name = conf->places.data[place].name;
    bool        cut = strlen(name) > NAME_SHOWN;
    if (cut)
        name += strlen(name) - NAME_SHOWN;
    while (cut && ((unsigned char)*name & 0xc0u) == 0x80u)
        name++;
    *dots = cut ? "…" : "";
    return name;
}

qst_status qst__conf_fail(const qst__conf *conf, uint32_t place, const char *path, qst_error *err, const char *format,
                          ...)
{
    char        text[256];
    const char *dots, *name = shown(conf, place, &dots);
    va_list     args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qst__fail(err, QST_E_CONFIG, "conf", "%s%s: %.80s%s%s", dots, name, path ? path : "", path ? ": " : "",
                     text);
}

qst_status qst__conf_fail_at(const qst__conf *conf, uint32_t place, int line, int column, qst_error *err,
                             const char *text)
{
    const char *dots, *name = shown(conf, place, &dots);
    return qst__fail(err, QST_E_CONFIG, "conf", "%s%s:%d:%d: %.160s", dots, name, line, column, text);
}

qst_status qst__conf_nomem(qst_error *err)
{
    return qst__fail(err, QST_E_NOMEM, "conf", "no memory for the configuration");
}
