/* SPDX-License-Identifier: MIT
 *
 * decision_case.h: contexts that write decisions to a file of the test's own, something to tune, and a look into JSON.
 */
#ifndef QST_TESTS_DECISION_CASE_H
#define QST_TESTS_DECISION_CASE_H

#include "support/blend.h"

#include <jansson.h>

extern void *decision_fixture; /* a cl_fixture */
extern char  decision_folder[256], decision_path[300];

/* Of blend: a loop, a wide one, and one that is wrong. */
extern const qst_candidate *const decision_candidates[4];

/* cmocka group functions, and the setup of a test that begins without the file. */
int decision_open(void **state);
int decision_close(void **state);
int decision_fresh(void **state);

/* `what`: members of the configuration besides log and tune; NULL: none. Counts warnings. */
qst_context *decision_context(const char *what, int *warnings);
qst_context *decision_context_to_file(const char *more, int *warnings);

/* Each tunes one problem and runs it once more; blend's result is looked at. */
void decision_run_blend(qst_set *set, int64_t n);
void decision_run_matmul(qst_context *ctx);

/* The lines of the file, each of which must be an object, as a list. */
json_t *decision_lines(void);
json_t *decision_describe(qst_context *ctx, const char *what);

/* a.b.c of an object; the test fails where there is none, or of another type. */
json_t     *json_at(json_t *json, const char *dotted);
const char *json_text_at(json_t *json, const char *dotted);
json_int_t  json_int_at(json_t *json, const char *dotted);
json_int_t  json_ns_at(json_t *json, const char *dotted); /* of a duration */

#endif
