/* SPDX-License-Identifier: MIT
 *
 * drivers.c: see drivers.h. */
#include "model/drivers.h"

#include <string.h>

static const char between[] = "; ";

/* The length of the first of them; *next: the one after it, NULL: none. */
static size_t first_of(const char *drivers, const char **next)
{
    const char *end = strstr(drivers, between);

    *next = end ? end + sizeof between - 1 : NULL;
    return end ? (size_t)(end - drivers) : strlen(drivers);
}

static bool is(const char *one, size_t length, const char *driver)
{
    return strlen(driver) == length && memcmp(one, driver, length) == 0;
}

bool qst__drivers_have(const char *drivers, const char *driver)
{
    const char *next;

    for (; drivers && *driver; drivers = next) {
        size_t length = first_of(drivers, &next);
        if (is(drivers, length, driver))
            return true;
    }
    return false;
}

char *qst__drivers_with(const qst__alloc *alloc, const char *drivers, const char *driver)
{
    qst__str    text;
    const char *next;
    uint32_t    n = 1;
    char       *made;

    qst__str_init(&text, alloc);
    qst__str_append(&text, driver);
    for (; drivers && *driver && n < QST__DRIVERS_MAX; drivers = next) {
        size_t length = first_of(drivers, &next);
        if (!length || is(drivers, length, driver))
            continue;
        qst__str_append(&text, between);
        qst__str_append_n(&text, drivers, length);
        n++;
    }
    made = text.failed ? NULL : qst__str_take(&text);
    qst__str_finish(&text);
    return made;
}
