/* str.h: growing text. A failed append marks the string as failed; the owner looks once, at the end. */
#ifndef QST_BASE_STR_H
#define QST_BASE_STR_H

#include "base/alloc.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct qst__str {
    const qst__alloc *alloc;
    char             *text; /* terminated; never NULL after init: an empty static text at first */
    size_t            length;
    size_t            capacity;
    bool              failed;
} qst__str;

void qst__str_init(qst__str *str, const qst__alloc *alloc);
void qst__str_finish(qst__str *str);
void qst__str_clear(qst__str *str);
void qst__str_append(qst__str *str, const char *text);
void qst__str_append_n(qst__str *str, const char *text, size_t length);
void qst__str_printf(qst__str *str, const char *format, ...) QST__PRINTF(2, 3);
/* Hands the text to the caller (qst__free), NULL where an append had failed. The string is empty afterwards. */
char *qst__str_take(qst__str *str);

/* Is `text` one or more characters of [a-z0-9_] and of `also`? */
bool qst__is_name(const char *text, const char *also);
/* Does `text` match `pattern`, in which `*` stands for any run of characters? For pins and denials. */
bool qst__glob(const char *pattern, const char *text);

/* Bytes of the byte order mark that some editors put before UTF-8: 3, or 0 where there is none. */
static inline size_t qst__text_mark(const char *text, size_t length)
{
    static const char mark[3] = {'\xef', '\xbb', '\xbf'};
    return length >= sizeof mark && memcmp(text, mark, sizeof mark) == 0 ? sizeof mark : 0;
}

#endif
