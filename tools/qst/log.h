/* SPDX-License-Identifier: MIT
 *
 * log.h: the library's log lines as the command shows them. Those about the store can be held back while a context is
 * made, which may then fail for just what one of them says: that is told once.
 */
#ifndef QST_TOOL_LOG_H
#define QST_TOOL_LOG_H

#include <stdbool.h>
#include <stddef.h>

/* A context's sink: shows the lines. [any thread] */
void log_take(void *user, const char *text, size_t length);

/* Holds lines about the store from now on; or shows those held, but for lines with the text `but` (NULL: all), and holds
 * no more. */
void log_hold(bool holds, const char *but);

/* Has a line about the store said so? */
bool log_told(const char *text);

/* Lines that have one of these in them, ended by NULL, are not shown: the verb tells of it itself. To be called first. */
void log_leave(const char *const *parts);

/* From now on what is said of keys that are not tuned waits until log_settle: whoever has told the cause himself lets it be.
 * True: it was shown. */
void log_wait(void);
bool log_settle(bool shows);

#endif
