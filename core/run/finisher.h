/* SPDX-License-Identifier: MIT
 *
 * finisher.h: which plugin's builder (quernstone/ext/draft/builder.h) builds programs on a site, if any.
 */
#ifndef QST_RUN_FINISHER_H
#define QST_RUN_FINISHER_H

#include "run/run.h"

/* Lets the site's programs ask for the builder. It is looked for, and checked, when the first program is to be built:
 * the first plugin that has one which supports the device and gives the right answer. The answer is kept in the store. */
void qst__finisher_attach(qst__site *site);

/* Builds at the same time that pay, at most; 1 where the driver builds. Looks for the builder as a build does. */
uint32_t qst__finisher_threads(qst__site *site);

#endif
