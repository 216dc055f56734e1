/* SPDX-License-Identifier: MIT
 *
 * order.c: who stands before whom. */
#include "order.h"

#include "out.h"

#include <stdlib.h>
#include <string.h>

enum { WINNER, TIMED, ELIMINATED, VERIFIED, OUT, NOT_TRIED };

typedef struct place {
    const json_t *finding;
    int           kind;
    double        last; /* of ELIMINATED: the round of samples after which it went */
    double        ms;   /* median; 0: none */
} place;

static int kind_of(const char *outcome)
{
    static const struct {
        const char *outcome;
        int         kind;
    } rows[] = {{"TIMED", TIMED},
                {"ELIMINATED", ELIMINATED},
                {"VERIFIED", VERIFIED},
                {"UNTRIED", NOT_TRIED},
                {"BUDGET", NOT_TRIED}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].outcome, outcome) == 0)
            return rows[i].kind;
    return OUT;
}

static double last_round(const json_t *finding)
{
    const json_t *samples = json_object_get(finding, "samples");
    double        last = 0;
    for (size_t i = 0; i < json_array_size(samples); i++) {
        double round = out_number(json_array_get(samples, i), "round");
        last = round > last ? round : last;
    }
    return last;
}

static int compare(double a, double b)
{
    return (a > b) - (a < b);
}

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    int          order = x->kind - y->kind;
    if (order == 0)
        order = compare(y->last, x->last);
    if (order == 0)
        order = compare(x->ms, y->ms);
    if (order == 0 && x->kind == OUT)
        order = strcmp(out_member(x->finding, "text"), out_member(y->finding, "text"));
    return order ? order : strcmp(out_member(x->finding, "name"), out_member(y->finding, "name"));
}

const json_t **order_findings(const json_t *verdict, size_t *n)
{
    const json_t  *findings = json_object_get(verdict, "findings");
    const char    *winner = out_member(verdict, "winner");
    const json_t **order;
    place         *places;
    *n = json_array_size(findings);
    order = out_resize(NULL, *n * sizeof *order);
    places = out_resize(NULL, *n * sizeof *places);
    for (size_t i = 0; i < *n; i++) {
        const json_t *f = json_array_get(findings, i);
        int           kind = strcmp(out_member(f, "name"), winner) == 0 ? WINNER : kind_of(out_member(f, "outcome"));
        bool          timed = kind == TIMED || kind == ELIMINATED;
        places[i] = (place){f, kind, kind == ELIMINATED ? last_round(f) : 0, timed ? out_number(f, "median_ms") : 0};
    }
    qsort(places, *n, sizeof *places, by_place);
    for (size_t i = 0; i < *n; i++)
        order[i] = places[i].finding;
    free(places);
    return order;
}
