/* SPDX-License-Identifier: MIT
 *
 * stop.h: being told to end, by SIGINT, SIGTERM or SIGHUP, while keys are tuned.
 *
 * A candidate that is being tried when its process ends counts as one that may have killed it, and the next process holds
 * that against it. So the first signal lets it come to its end, and then ends the process; the second one ends it at once.
 * Where nothing is tuned the first one does, and where another process is waited for, within a second. It dies by that
 * signal, which a shell tells as 128 + its number.
 */
#ifndef QST_TOOL_STOP_H
#define QST_TOOL_STOP_H

#include <stdbool.h>

/* From now on signals are heeded so. To be called before anything makes threads: they must not get them, nor must what
 * drivers start. Those that are ignored remain so. */
void stop_heed(const char *verb);

/* What stands between the two is tuned; one may begin after another, without an end. `key`: its text, NULL: whatever is.
 * tell(user), NULL: a line is said, prints what was found so far where the process ends in between. */
typedef void stop_teller(void *user);
void         stop_begin(const char *key, stop_teller *tell, void *user);
void         stop_end(void);
void         stop_leave(void); /* the same, and ends the process where it was told to meanwhile */

/* A candidate of the key has been tried to its end, if one was, and the next is about to be: ends the process here where it
 * was told to. */
void stop_here(const char *key);

/* 128 + the number of the signal that came, 0: none; and its name. */
int         stop_code(void);
const char *stop_name(void);

#endif
