/* SPDX-License-Identifier: MIT
 *
 * field_cl.h: the OpenCL calls of field_case.h's candidates, counted and scripted. __wrap_x stands in the place of x. */
#ifndef QST_TESTS_FIELD_CL_H
#define QST_TESTS_FIELD_CL_H

#include "support/field_case.h"

/* From now on calls are as the job says and counted into the report. Both must live on; NULL: as they are. */
void field_cl_script(const field_job *job, field_report *report);
/* Each look at the host's clock moves it by so much instead of 4.5 ms: longer than what has several launches takes on the
 * device, or it is not believed. */
void field_cl_look_takes(uint64_t ns);
/* Executions are counted here, by letter. */
void field_cl_begin(uint32_t ran[FIELD_LETTERS]);
/* Letter and revision of the execution that was last; 0: none since the beginning. */
char field_cl_last(uint32_t *revision);

/* From now on: how many programs with this text in them are built from source. `refuse`: none of them builds. NULL: none are
 * looked for. */
void     field_cl_watch(const char *text, bool refuse);
uint32_t field_cl_watched(void);

const char *field_store_name(const qst_context *ctx);

#endif
