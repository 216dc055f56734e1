/* SPDX-License-Identifier: MIT
 *
 * finisher.h: which plugin's builder (quernstone/ext/draft/builder.h) builds programs on a site, if any.
 */
#ifndef QST_RUN_FINISHER_H
#define QST_RUN_FINISHER_H

#include "run/run.h"

/* Lets the site's programs ask for the builder. It is looked for when the first program is to be built: the first plugin
 * that has one which supports the device, and whose library the driver's front end takes. */
void qst__finisher_attach(qst__site *site);

/* Is it right? user: the site, which has a builder. Its check runs when this is first asked, while programs are being built
 * already: the driver gets none of them before. The answer is kept in the store. */
bool qst__finisher_trusts(void *user);

/* Builds at the same time that pay, at most; 1 where the driver builds. Looks for the builder as a build does. */
uint32_t qst__finisher_threads(qst__site *site);

#endif
