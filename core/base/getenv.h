/* getenv.h: the environment as it was, read once when a context is made; NULL for an elevated process. */
#ifndef QST_BASE_GETENV_H
#define QST_BASE_GETENV_H

const char *qst__getenv(const char *name); /* secure_getenv; an empty value counts as not set */

/* All of it as NAME=VALUE, NULL at the end. */
const char *const *qst__getenv_all(void);

#endif
