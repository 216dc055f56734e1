/* vec.h: a growing array of any element type: struct { T *data; size_t count, capacity; }.
 *
 *     QST__VEC(int) numbers = {0};
 *     if (!qst__vec_push(alloc, &numbers, 7)) return NOMEM;
 *     qst__vec_finish(alloc, &numbers);
 */
#ifndef QST_BASE_VEC_H
#define QST_BASE_VEC_H

#include "base/alloc.h"

#include <stdbool.h>

#define QST__VEC(T)                                                                                                    \
    struct {                                                                                                           \
        T     *data;                                                                                                   \
        size_t count, capacity;                                                                                        \
    }

/* Makes room for one more of `bytes`; false where there is no memory. */
bool qst__vec_room(const qst__alloc *alloc, void **data, size_t count, size_t *capacity, size_t bytes);

#define qst__vec_push(alloc, vec, value)                                                                               \
    (qst__vec_room((alloc), (void **)&(vec)->data, (vec)->count, &(vec)->capacity, sizeof *(vec)->data) &&             \
     ((vec)->data[(vec)->count++] = (value), true))

#define qst__vec_finish(alloc, vec)                                                                                    \
    (qst__free((alloc), (vec)->data), (vec)->data = NULL, (vec)->count = (vec)->capacity = 0)

#endif
