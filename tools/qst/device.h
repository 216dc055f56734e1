/* SPDX-License-Identifier: MIT
 *
 * device.h: what a verb works on: a context of the library, and, where it computes, a device with a cl_context and an
 * in-order queue.
 */
#ifndef QST_TOOL_DEVICE_H
#define QST_TOOL_DEVICE_H

#include "args.h"

#include <jansson.h>
#include <quernstone/context.h>

typedef struct device_handle {
    qst_context     *context;
    cl_platform_id   platform;
    cl_device_id     id;
    cl_context       cl;
    cl_command_queue queue;
    char            *no_store; /* the folder of one that is not there, and is not made; NULL: it is there, or is made */
    bool             named;    /* the store: somebody said which one; device_still */
} device_handle;

/* Only the context, with QST_NO_… flags. 0, or the exit code after one line; where common->keeps, and the store that was
 * asked for cannot be opened, or is not there and common->reads, that line. */
int device_context(device_handle *device, const args_common *common, uint32_t flags);

/* Only the context, and one that measures nothing: it serves the fallback, whatever the mode is. What is wrong with the
 * options, the mode's too, is told as device_context tells it. A store that is not there is not made: no_store. */
int device_still(device_handle *device, const args_common *common);

/* All of it. `pin`: a name to pin besides the options, and answers in memory only; or NULL. Where nobody set
 * tune.budget_ms there is none: the command, unlike a program, has time. Where common->reads, a store that is not there is
 * not made if somebody named it, or nothing is to be tuned: what is found is in memory then. device_close releases either way, and puts
 * what was learnt into the store. */
int  device_open(device_handle *device, const args_common *common, const char *pin);
void device_close(device_handle *device);

/* A further context that keeps nothing and finds nothing stored, without a budget where nobody set one. `pin`: it tries
 * that candidate alone, unjudged; `fallback`, the operation's, then runs where that one cannot, untried. NULL: all. 0,
 * or the exit code after one line. qst_context_destroy releases it. */
int device_apart(qst_context **context, const args_common *common, const char *pin, const char *fallback);

/* A verb that prints one of qst_describe's arrays: takes no words, makes a context with QST_NO_… flags. `amend`: puts to it
 * what the command knows better; NULL: nothing. */
int device_described(const char *what, const args_common *common, uint32_t flags, int argc, char **argv,
                     void (*amend)(json_t *rows), void (*print)(const json_t *rows));

/* Has a setting this text for its value, or its origin (`member`)? */
bool device_setting_is(qst_context *context, const char *path, const char *member, const char *text);

/* Has the command itself had warnings logged, since nobody says what is? */
bool device_warns(void);

/* {"name", "platform", "driver", "target"} of the device in use; a new reference, or NULL after one line. */
json_t *device_facts(const device_handle *device);

/* An OpenCL answer: true where it is CL_SUCCESS, else one line that names the call. */
bool device_ok(cl_int code, const char *call);

/* ns of a clock that only goes forward. */
uint64_t device_now(void);

#endif
