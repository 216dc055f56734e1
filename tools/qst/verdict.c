/* SPDX-License-Identifier: MIT
 *
 * verdict.c: finds a key's verdict among all, and says in a line what became of a candidate, or why none may run. */
#include "verdict.h"

#include "out.h"

#include <stdlib.h>
#include <string.h>

bool verdict_find(json_t **verdict, qst_context *context, const problem_key *key)
{
    json_t *all = out_describe(context, "verdicts");
    char   *text = problem_key_text(key);
    bool    told = all != NULL;
    *verdict = NULL;
    for (size_t i = 0; i < json_array_size(all); i++) {
        json_t *one = json_array_get(all, i);
        if (strcmp(out_member(one, "op"), key->op->name) == 0 && strcmp(out_member(one, "key"), text) == 0)
            *verdict = one;
    }
    json_incref(*verdict);
    json_decref(all);
    free(text);
    return told;
}

bool verdict_matches(const char *glob, const char *name)
{
    for (; *glob != '*'; glob++, name++)
        if (*glob != *name || !*glob)
            return *glob == *name;
    for (glob++;; name++) {
        if (verdict_matches(glob, name))
            return true;
        if (!*name)
            return false;
    }
}

/* ---- Who may run ------------------------------------------------------------------------------------------------ */

/* The globs of a setting that is a list; borrowed. */
static const json_t *globs_of(const json_t *config, const char *path)
{
    for (size_t i = 0; i < json_array_size(config); i++) {
        const json_t *row = json_array_get(config, i);
        if (strcmp(out_member(row, "path"), path) == 0)
            return json_object_get(row, "value");
    }
    return NULL;
}

static bool any_matches(const json_t *globs, const char *name)
{
    for (size_t i = 0; i < json_array_size(globs); i++)
        if (verdict_matches(json_string_value(json_array_get(globs, i)), name))
            return true;
    return false;
}

bool verdict_allows(const json_t *config, const char *name)
{
    const json_t *deny = globs_of(config, "candidates.deny"), *pin = globs_of(config, "candidates.pin");
    return !any_matches(deny, name) && (!json_array_size(pin) || any_matches(pin, name));
}

/* Is it one of those before it, too? */
static bool said_before(const json_t *globs, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (json_equal(json_array_get(globs, i), json_array_get(globs, at)))
            return true;
    return false;
}

/* " KEY (GLOB, …) leaves out N of M", empty where it leaves out none; to be freed. */
static char *leaves_out(const char *key, const json_t *globs, size_t n, size_t of)
{
    char *list = out_text("%s", "");
    for (size_t i = 0; i < json_array_size(globs) && n; i++) {
        if (said_before(globs, i))
            continue;
        char *more = out_text("%s%s%s", list, i ? ", " : "", json_string_value(json_array_get(globs, i)));
        free(list);
        list = more;
    }
    char *text = n ? out_text(" %s (%s) leaves out %zu of %zu", key, out_shown(list).text, n, of) : out_text("%s", "");
    free(list);
    return text;
}

static char *tell_barred(const json_t *deny, size_t denied, const json_t *pin, size_t unpinned, size_t of)
{
    char *by_deny = leaves_out("candidates.deny", deny, denied, of);
    char *by_pin = leaves_out("candidates.pin", pin, unpinned, of);
    char *text = out_text("%s:%s%s%s",
                          denied + unpinned < of ? "no candidate that may run was found right and takes this problem"
                          : !unpinned            ? "every candidate is denied"
                          : !denied              ? "no candidate is pinned"
                                                 : "every candidate is denied or not pinned",
                          by_deny, denied && unpinned ? "," : "", by_pin);
    free(by_deny);
    free(by_pin);
    return text;
}

static const json_t *candidates_of(const json_t *sets, const char *op)
{
    for (size_t i = 0; i < json_array_size(sets); i++)
        if (strcmp(out_member(json_array_get(sets, i), "op"), op) == 0)
            return json_object_get(json_array_get(sets, i), "candidates");
    return NULL;
}

char *verdict_barred(qst_context *context, const char *op, const char *runs, bool *all)
{
    json_t       *config = out_describe(context, "config"), *sets = out_describe(context, "sets");
    const json_t *deny = globs_of(config, "candidates.deny"), *pin = globs_of(config, "candidates.pin");
    const json_t *candidates = candidates_of(sets, op);
    size_t        of = json_array_size(candidates), denied = 0, unpinned = 0;
    bool          barred = false;
    for (size_t i = 0; i < of; i++) {
        const char *name = out_member(json_array_get(candidates, i), "name");
        bool        no = any_matches(deny, name), out = !no && json_array_size(pin) && !any_matches(pin, name);
        denied += no;
        unpinned += out;
        barred = barred || ((no || out) && strcmp(name, runs) == 0);
    }
    if (all)
        *all = of && denied + unpinned == of;
    char *text = barred ? tell_barred(deny, denied, pin, unpinned, of) : NULL;
    json_decref(config);
    json_decref(sets);
    return text;
}

/* ---- Findings --------------------------------------------------------------------------------------------------- */

bool verdict_right(const json_t *finding)
{
    const char *outcome = out_member(finding, "outcome");
    return strcmp(outcome, "TIMED") == 0 || strcmp(outcome, "ELIMINATED") == 0 || strcmp(outcome, "VERIFIED") == 0;
}

char *verdict_account(const json_t *finding)
{
    const char *why = out_member(finding, "why");
    double      median = out_number(finding, "median_ms");
    char       *time = median > 0 ? out_text(", median %s", out_ms(median).text) : out_text("%s", "");
    char       *line = out_text("%s%s%s%s", out_member(finding, "text"), time, why[0] ? ": " : "", why);
    free(time);
    return line;
}
