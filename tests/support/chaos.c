/* SPDX-License-Identifier: MIT
 *
 * chaos.c: see chaos.h. Each piece stands behind a head with its size, so that what is there can be counted.
 */
#include "support/chaos.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef union head {
    size_t      bytes;
    max_align_t align;
} head;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of all counts: a context has threads of its own */

static bool refuses(chaos_memory *m)
{
    long n = m->count;

    if (!m->armed)
        return false;
    m->count++;
    if (m->for_good ? n < m->refuse : n != m->refuse)
        return false;
    m->refused++;
    return true;
}

static void release(chaos_memory *m, head *piece)
{
    m->pieces--;
    m->bytes -= piece->bytes;
    free(piece);
}

/* Always moves, so that a pointer kept from before shows. */
static void *resize_locked(chaos_memory *m, void *memory, size_t bytes)
{
    head *old = memory ? (head *)memory - 1 : NULL, *piece;

    if (!bytes) {
        if (old)
            release(m, old);
        return NULL;
    }
    if ((!old || bytes > old->bytes) && refuses(m))
        return NULL;
    piece = malloc(sizeof *piece + bytes);
    if (!piece)
        return NULL;
    piece->bytes = bytes;
    m->pieces++;
    m->bytes += bytes;
    if (old) {
        memcpy(piece + 1, old + 1, bytes < old->bytes ? bytes : old->bytes);
        release(m, old);
    }
    return piece + 1;
}

static void *resize(void *user, void *memory, size_t bytes)
{
    void *result;

    (void)pthread_mutex_lock(&lock);
    result = resize_locked(user, memory, bytes);
    (void)pthread_mutex_unlock(&lock);
    return result;
}

qst_allocator chaos_allocator(chaos_memory *memory)
{
    return (qst_allocator){.resize = resize, .user = memory};
}

void chaos_arm(chaos_memory *memory, long refuse, bool for_good)
{
    (void)pthread_mutex_lock(&lock);
    memory->armed = true;
    memory->for_good = for_good;
    memory->count = memory->refused = 0;
    memory->refuse = refuse;
    (void)pthread_mutex_unlock(&lock);
}

long chaos_disarm(chaos_memory *memory)
{
    long refused;

    (void)pthread_mutex_lock(&lock);
    memory->armed = false;
    refused = memory->refused;
    (void)pthread_mutex_unlock(&lock);
    return refused;
}

void chaos_expect(const char *what, long n, qst_status status, const qst_error *err, const qst_status *allowed)
{
    if (status == QST_OK) {
        if (err->status != QST_OK || err->text[0])
            fail_msg("%s, failure %ld: success, and yet an error: %s", what, n, err->text);
        return;
    }
    while (*allowed != status && *allowed != QST_OK)
        allowed++;
    if (*allowed != status)
        fail_msg("%s, failure %ld: status %d (%s): %s", what, n, (int)status, qst_status_text(status), err->text);
    if (err->status != status)
        fail_msg("%s, failure %ld: status %d, the error says %d: %s", what, n, (int)status, (int)err->status,
                 err->text);
    if (!err->text[0] || strchr(err->text, '\n'))
        fail_msg("%s, failure %ld: not one line: \"%s\"", what, n, err->text);
}
