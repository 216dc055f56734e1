/* SPDX-License-Identifier: MIT
 *
 * subject.h: a problem of any operation, from a word: a square, a shape, or `OPERATION NAME=VALUE …`.
 */
#ifndef QST_TOOL_SUBJECT_H
#define QST_TOOL_SUBJECT_H

#include "device.h"
#include "problem.h"
#include "stop.h"

typedef struct subject {
    const char *word; /* borrowed */
    qst_set    *set;
    void       *problem;
} subject;

/* Is the word of a form that may be a problem? Looks at no context. What to tell about one that is not: */
#define SUBJECT_WANTED "neither N nor MxNxK, nor an operation's name and its problem"
bool subject_looks(const char *word);

/* 0, or EXIT_USAGE after one line that begins with `where`. `type`: of squares and shapes. Starts that the text does not
 * align count as whole buffers'. */
int  subject_open(subject *s, qst_context *context, const char *word, uint32_t type, const char *where);
void subject_close(subject *s);

/* stop_begin for the key of a problem; where it has none, for whatever is tuned. */
void subject_heed(qst_set *set, const void *problem);

/* Makes a plan, which tunes where nothing is known: its status, and the name of what runs (the caller frees), ""
 * where it failed; then `err` says why. */
qst_status subject_plan(const subject *s, const device_handle *device, char **runs, qst_error *err);

#endif
