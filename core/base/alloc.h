/* alloc.h: the memory of a context. Every allocation of the library goes through one of these, so that a test can
 * make the n-th fail and an embedder can count. */
#ifndef QST_BASE_ALLOC_H
#define QST_BASE_ALLOC_H

#include <stddef.h>

typedef struct qst__alloc {
    void *(*resize)(void *user, void *memory, size_t bytes); /* as qst_allocator in context.h */
    void *user;
} qst__alloc;

/* malloc, realloc, free. */
qst__alloc qst__alloc_default(void);

/* NULL where there is no memory (or count · bytes overflows). zalloc's memory is zero. free: NULL is fine. */
void *qst__zalloc(const qst__alloc *alloc, size_t bytes);
void *qst__zalloc_array(const qst__alloc *alloc, size_t count, size_t bytes);
void *qst__resize(const qst__alloc *alloc, void *memory, size_t bytes);
void  qst__free(const qst__alloc *alloc, void *memory);
char *qst__strdup(const qst__alloc *alloc, const char *text);
void *qst__memdup(const qst__alloc *alloc, const void *data, size_t bytes);

#endif
