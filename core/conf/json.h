/* SPDX-License-Identifier: MIT
 *
 * json.h: the one JSON writer: values built in memory, written to a sink. A failed step (no memory) leaves NULL or
 * is ignored; qst__json_write reports it at the end. The container owns what is put into it, which may go on being
 * filled while the container lives; what is put into NULL is destroyed.
 */
#ifndef QST_CONF_JSON_H
#define QST_CONF_JSON_H

#include "base/base.h"

typedef struct qst__json qst__json;

qst__json *qst__json_object(void);
qst__json *qst__json_array(void);
void       qst__json_destroy(qst__json *json);

/* Members in the order in which they are set; NULL text becomes null; text that is not UTF-8 is mended (? for bad
 * bytes); a double that is not finite becomes null, others are written with up to 15 digits. */
void qst__json_set(qst__json *object, const char *name, qst__json *value); /* takes value */
void qst__json_set_text(qst__json *object, const char *name, const char *text);
void qst__json_set_int(qst__json *object, const char *name, int64_t value);
void qst__json_set_real(qst__json *object, const char *name, double value);
void qst__json_set_bool(qst__json *object, const char *name, bool value);
void qst__json_add(qst__json *array, qst__json *value); /* takes value */
void qst__json_add_text(qst__json *array, const char *text);
void qst__json_add_int(qst__json *array, int64_t value);

/* One line of JSON, or indented by 2, with a newline at the end, in one call of the sink. Consumes nothing. E_NOMEM
 * where any step had failed or json is NULL; nothing is written then. */
qst_status qst__json_write(const qst__json *json, bool indented, qst_sink sink, void *user);

#endif
