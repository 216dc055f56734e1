/* SPDX-License-Identifier: MIT
 *
 * drivers.h: the drivers under which a verdict was found to hold, as one text: the newest first, joined by "; ". Where two
 * of them take turns on one store (two machines that share a home, a driver that is set back), each checks the answer once
 * and then uses it, instead of taking it from the other again and again.
 */
#ifndef QST_MODEL_DRIVERS_H
#define QST_MODEL_DRIVERS_H

#include "base/base.h"

#define QST__DRIVERS_MAX 4u

/* Is it one of them? An unknown driver, "", is never the one that it was before. NULL: none. */
bool qst__drivers_have(const char *drivers, const char *driver);

/* The driver, and up to QST__DRIVERS_MAX − 1 of the others behind it. Memory of the caller (qst__free); NULL: none left. */
char *qst__drivers_with(const qst__alloc *alloc, const char *drivers, const char *driver);

#endif
