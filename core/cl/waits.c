/* SPDX-License-Identifier: MIT
 *
 * waits.c: whose waits are whose. Only a thread itself writes to its entry. */
#include "cl/waits.h"

#include <pthread.h>
#include <stddef.h>

static qst__wait *find(qst__waits *waits)
{
    uintptr_t self = (uintptr_t)pthread_self();

    for (uint32_t i = 0; i < QST__WAITS_MAX; i++)
        if (atomic_load_explicit(&waits->of[i].thread, memory_order_relaxed) == self)
            return &waits->of[i];
    return NULL;
}

qst__wait *qst__waits_enter(qst__waits *waits, bool ahead)
{
    if (find(waits))
        return NULL;
    for (uint32_t i = 0; i < QST__WAITS_MAX; i++) {
        uintptr_t none = 0;
        if (!atomic_compare_exchange_strong(&waits->of[i].thread, &none, (uintptr_t)pthread_self()))
            continue;
        atomic_store(&waits->of[i].ns, 0);
        atomic_store(&waits->of[i].ahead, ahead);
        return &waits->of[i];
    }
    return NULL;
}

void qst__waits_leave(qst__wait *entered)
{
    if (entered)
        atomic_store(&entered->thread, 0);
}

void qst__waits_add(qst__waits *waits, uint64_t built_ns, uint64_t waited_ns)
{
    qst__wait *mine = find(waits);

    atomic_fetch_add_explicit(&waits->built_ns, built_ns, memory_order_relaxed);
    if (mine && atomic_load(&mine->ahead))
        return;
    atomic_fetch_add_explicit(&waits->waited_ns, waited_ns, memory_order_relaxed);
    if (mine)
        atomic_fetch_add(&mine->ns, waited_ns);
}

uint64_t qst__waits_mine(qst__waits *waits)
{
    qst__wait *mine = find(waits);

    return mine ? atomic_load(&mine->ns) : 0;
}
