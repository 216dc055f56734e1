/* SPDX-License-Identifier: MIT
 *
 * verdict.c: finds a key's verdict among all, and says in a line what became of a candidate. */
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
