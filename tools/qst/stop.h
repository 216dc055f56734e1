/* SPDX-License-Identifier: MIT
 *
 * stop.h: being told to end, by SIGINT, SIGTERM or SIGHUP.
 *
 * A candidate that is being tried when its process ends counts as one that may have killed it, and the next process holds
 * that against it. So where keys are tuned the first signal lets it come to its end, and then ends the process; the second
 * one ends it at once. Where nothing is tuned, or for a store that goes with the process, the first one does, and where
 * another process is waited for, within a second. What was found so far is told. It dies by that signal, which a shell tells
 * as 128 + its number.
 */
#ifndef QST_TOOL_STOP_H
#define QST_TOOL_STOP_H

/* From now on signals are heeded so. To be called before anything makes threads: they must not get them, nor must what
 * drivers start. Those that are ignored remain so. */
void stop_heed(const char *verb);

/* tell(user) prints what was found so far, says that the process ends (stop_name), and takes away what must not stay; NULL,
 * as it begins: a line is said where keys were tuned. Any thread may run it, between stop_hold and stop_go none: these stand
 * around what changes what it reads. */
typedef void stop_teller(void *user);
void         stop_tell(stop_teller *tell, void *user);
void         stop_hold(void);
void         stop_go(void);

/* stop_tell, and stop_hold until stop_go: where all is found, what stands between tells it whole and once, whenever a signal
 * comes. */
void stop_hold_tell(stop_teller *tell, void *user);

/* What stands between the two is tuned, for a store that stays; one may begin after another, without an end. `key`: its
 * text, NULL: whatever is. The end ends the process where it was told to meanwhile. */
void stop_begin(const char *key);
void stop_end(void);

/* The key's first candidate is about to be tried, or one has been to its end and the next, if any, is about to be: ends the process here where it
 * was told to. */
void stop_here(const char *key);

/* 128 + the number of the signal that came, 0: none; and its name. */
int         stop_code(void);
const char *stop_name(void);

#endif
