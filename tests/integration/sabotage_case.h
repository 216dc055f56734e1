/* SPDX-License-Identifier: MIT
 *
 * sabotage_case.h: a plugin of the tests that is wrong or broken, one key that is tuned with it, and what the verdict then
 * says. Only for executables that are linked with --wrap for each of field_cl.c's calls (as test_saboteurs.link has them).
 */
#ifndef QST_TESTS_SABOTAGE_CASE_H
#define QST_TESTS_SABOTAGE_CASE_H

#include "support/blend.h"
#include "support/matmul_case.h"

#include <jansson.h>

extern void *sabotage_fixture; /* a cl_fixture */

typedef struct sabotage {
    qst_context *ctx;
    matmul_case  c;
    json_t      *verdict; /* of the only key */
} sabotage;

/* cmocka group functions. */
int sabotage_open(void **state);
int sabotage_close(void **state);

/* With this plugin; `candidates`: the object of that name in the configuration. Nobody is left out for want of time. */
qst_context *sabotage_context(const char *plugin, const char *candidates);

/* Runs a problem three times, the product checked each time, and reads the verdict. The other: n by n by n in f32. */
void sabotage_run_problem(sabotage *s, const qst_matmul *p);
void sabotage_run(sabotage *s, int64_t n, double beta);
void sabotage_read(sabotage *s); /* the verdict alone */
void sabotage_finish(sabotage *s);

/* The finding of a candidate; that it has no rank and no samples, this outcome, and `why` in its reason. */
const json_t *sabotage_finding(const sabotage *s, const char *name);
void          sabotage_expect(const sabotage *s, const char *name, const char *outcome, const char *why);
const char   *sabotage_text(const json_t *object, const char *member); /* "": none */

#endif
