/* SPDX-License-Identifier: MIT
 *
 * cache_change.c: `qst cache verify`, `prune`, `export`, `import`. */
#include "cache.h"
#include "file.h"
#include "out.h"
#include "verb.h"

#include <inttypes.h>
#include <quernstone/cache.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MB_MAX 1048576 /* 1 TiB */

/* `PLACE: what is wrong` and a newline, on stderr and, where `user` is one, into an array. */
static void tell_problem(void *user, const char *text, size_t length)
{
    char *line = out_text("%.*s", (int)length, text), *escaped = out_escaped(line, true);
    out_progress(NULL);
    fputs(escaped, stderr);
    escaped[strcspn(escaped, "\n")] = '\0';
    char *colon = NULL;
    for (char *at = escaped; (at = strstr(at, ": ")) != NULL; at++)
        colon = at; /* the last: a folder's name may hold one */
    if (colon)
        *colon = '\0';
    if (user)
        json_array_append_new(user, out_need(json_pack("{s:s,s:s}", "what", escaped, "why", colon ? colon + 2 : "")));
    free(escaped);
    free(line);
}

int cache_verify(const cache_job *job)
{
    qst_cache_check check = {.size = sizeof check};
    qst_error       err = {0};
    json_t         *problems = job->json ? out_need(json_array()) : NULL;
    qst_status      status = qst_cache_verify(job->context, job->options->remove ? QST_CACHE_REMOVE_DAMAGED : 0, &check,
                                              tell_problem, problems, &err);
    if (status < 0) {
        json_decref(problems);
        return out_error("cache", status, &err);
    }
    if (job->json)
        out_json(out_need(json_pack("{s:I,s:I,s:I,s:I,s:I,s:I,s:o}", "current", (json_int_t)check.current, "stale",
                                    (json_int_t)check.stale, "damaged", (json_int_t)check.damaged, "set_aside",
                                    (json_int_t)check.set_aside, "kept", (json_int_t)check.kept, "removed",
                                    (json_int_t)check.removed, "problems", problems)));
    else
        printf("%" PRIu64 " current, %" PRIu64 " of another schema, %" PRIu64 " damaged, %" PRIu64
               " set aside whole, %" PRIu64 " not looked into; %" PRIu64 " removed\n",
               check.current, check.stale, check.damaged, check.set_aside, check.kept, check.removed);
    return check.damaged + check.set_aside > check.removed ? EXIT_FAILED : 0;
}

/* −1: no limit was given; −2: it is none. */
static int64_t programs_mb(const cache_options *o)
{
    int64_t mb;
    if (!o->programs_mb)
        return -1;
    return args_int(o->programs_mb, 0, MB_MAX, &mb) ? mb : -2;
}

int cache_options_check(const cache_job *job, bool prunes)
{
    const cache_options *o = job->options;
    if (programs_mb(o) == -2)
        return args_usage("cache", "--programs-mb %s: not a whole number from 0 to %d", out_shown(o->programs_mb).text,
                          MB_MAX);
    if (o->op && !o->op[0])
        return args_usage("cache", "--op '': no operation has an empty name");
    if (o->quarantine && !o->quarantine[0])
        return args_usage("cache", "--quarantine '': no candidate has an empty name");
    if (prunes && !o->unusable && !o->op && !o->programs_mb && !o->quarantine && !o->all)
        return args_usage("cache", "prune: one of --unusable, --op, --programs-mb, --quarantine, --all is needed");
    return 0;
}

int cache_prune(const cache_job *job)
{
    const cache_options    *o = job->options;
    qst_cache_prune_options options;
    qst_error               err = {0};
    uint64_t                removed = 0;
    int64_t                 mb = programs_mb(o);
    qst_cache_prune_options_init(&options);
    options.flags = (o->unusable ? QST_CACHE_UNUSABLE : 0u) | (o->all ? QST_CACHE_ALL : 0u);
    options.op = o->op;
    options.quarantine = o->quarantine;
    if (mb >= 0)
        options.programs_bytes = (uint64_t)mb << 20;
    qst_status status = qst_cache_prune(job->context, &options, &removed, &err);
    if (status < 0)
        return out_error("cache", status, &err);
    if (job->json)
        out_json(out_need(json_pack("{s:I}", "removed", (json_int_t)removed)));
    else
        printf("%" PRIu64 " removed\n", removed);
    return 0;
}

int cache_export(const cache_job *job)
{
    out_buffer text = {NULL, 0, 0};
    qst_error  err = {0};
    qst_status status = qst_cache_export(job->context, job->options->op, out_gather, &text, &err);
    int        code = 0;
    if (status < 0) {
        code = out_error("cache", status, &err);
    } else if (job->word && strcmp(job->word, "-") != 0) {
        code = file_write(job->word, text.text, text.length);
        if (code == 0 && job->json)
            out_json(out_need(json_pack("{s:s,s:I}", "file", job->word, "bytes", (json_int_t)text.length)));
    } else {
        fwrite(text.text, 1, text.length, stdout);
    }
    free(text.text);
    return code;
}

int cache_import(const cache_job *job)
{
    qst_cache_imported done = {.size = sizeof done};
    qst_error          err = {0};
    size_t             length;
    char              *text = file_read(job->word, &length);
    if (!text)
        return EXIT_FAILED;
    qst_status status = qst_cache_import(job->context, text, length, &done, &err);
    free(text);
    if (status < 0)
        return out_error(job->word, status, &err);
    if (cache_keeps(job->context, "cache", "what is imported") != 0)
        return EXIT_FAILED;
    if (job->json)
        out_json(out_need(json_pack("{s:I,s:I,s:I}", "added", (json_int_t)done.added, "present",
                                    (json_int_t)done.present, "refused", (json_int_t)done.refused)));
    else
        printf("%" PRIu64 " added, %" PRIu64 " there already, %" PRIu64 " refused\n", done.added, done.present,
               done.refused);
    return 0;
}
