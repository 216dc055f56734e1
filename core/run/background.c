/* SPDX-License-Identifier: MIT
 *
 * background.c: with tune.mode background one worker thread of the context tunes the keys that calls have missed, while
 * they run the safe candidate. Until a key is done its calls look again each time, so the first one after it takes the
 * winner over.
 *
 * The worker is started by its first job and ended by the context's end. Forgetting a cl_context, or ending the
 * context, makes a tuning in progress stop at its next step (the rig refuses) and drops what waits.
 */
#include "run/background.h"

#include <string.h>

#define QUEUE_MAX 4096u /* keys waiting; a miss beyond it is looked at again by its next call */

struct qst__worker {
    qst_context *ctx;
    pthread_t    thread;
    qst__lock    lock;
    qst__cond    cond; /* something waits, something is done, or the end */
    QST__VEC(qst__route *) queue;
    qst__site *busy; /* where a key is being tuned */
    bool       end;
};

static void tune(qst__worker *w, qst__route *route)
{
    qst__entry *entry = route->entry;
    qst_error   err;
    qst_status  status;

    memset(&err, 0, sizeof err);
    status = qst__tune_route(route, false, 0, &err);
    if (status != QST_OK && err.status != QST_OK)
        QST__LOG(&w->ctx->log, TUNE, WARN, "%s is not tuned: %s", entry->text, err.text);
    /* Another process is at it, or it failed and is tried again: the next miss looks. */
    if (status == QST_E_BUSY || qst__retry_waits(&entry->retry))
        atomic_store(&entry->queued, false);
    /* A partial answer waits for the next round of the queue. */
    else if (qst__claim_state(&entry->claim) == QST__KEY_PARTIAL && !atomic_load(&entry->shelf->site->closing)) {
        atomic_store(&entry->queued, false);
        qst__background_tune(route);
    }
}

static void *run(void *user)
{
    qst__worker *w = user;

    qst__lock_take(&w->lock);
    while (!w->end) {
        qst__route *route;
        if (!w->queue.count) {
            qst__cond_wait(&w->cond, &w->lock);
            continue;
        }
        route = w->queue.data[0];
        memmove(w->queue.data, w->queue.data + 1, --w->queue.count * sizeof *w->queue.data);
        w->busy = route->shelf->site;
        qst__lock_give(&w->lock);
        tune(w, route);
        qst__lock_take(&w->lock);
        w->busy = NULL;
        qst__cond_wake(&w->cond);
    }
    qst__lock_give(&w->lock);
    return NULL;
}

static qst__worker *start(qst_context *ctx)
{
    qst__worker *w = atomic_load(&ctx->worker);

    if (w)
        return w;
    qst__lock_take(&ctx->lock);
    w = atomic_load(&ctx->worker);
    if (!w) {
        w = qst__zalloc(&ctx->alloc, sizeof *w);
        if (w) {
            w->ctx = ctx;
            qst__lock_init(&w->lock);
            qst__cond_init(&w->cond);
            if (pthread_create(&w->thread, NULL, run, w)) {
                QST__LOG(&ctx->log, TUNE, WARN, "no thread for work in the background");
                qst__cond_finish(&w->cond);
                qst__lock_finish(&w->lock);
                qst__free(&ctx->alloc, w);
                w = NULL;
            }
        }
        atomic_store(&ctx->worker, w);
    }
    qst__lock_give(&ctx->lock);
    return w;
}

void qst__background_tune(qst__route *route)
{
    qst_context *ctx = route->shelf->site->ctx;
    qst__worker *w;
    bool         posted = false;

    if (route->loose || atomic_exchange(&route->entry->queued, true))
        return;
    w = start(ctx);
    if (w) {
        qst__lock_take(&w->lock);
        posted = !w->end && w->queue.count < QUEUE_MAX && qst__vec_push(&ctx->alloc, &w->queue, route);
        qst__cond_wake(&w->cond);
        qst__lock_give(&w->lock);
    }
    if (!posted)
        atomic_store(&route->entry->queued, false);
}

void qst__background_leave(qst__site *site)
{
    qst__worker *w = atomic_load(&site->ctx->worker);
    size_t       i, n;

    atomic_store(&site->closing, true);
    if (!w)
        return;
    qst__lock_take(&w->lock);
    for (;;) { /* once more after the wait: the worker may have put back what it was at */
        for (i = n = 0; i < w->queue.count; i++)
            if (w->queue.data[i]->shelf->site != site)
                w->queue.data[n++] = w->queue.data[i];
        w->queue.count = n;
        if (w->busy != site)
            break;
        qst__cond_wait(&w->cond, &w->lock);
    }
    qst__lock_give(&w->lock);
}

void qst__background_settle(qst_context *ctx)
{
    qst__worker *w = atomic_load(&ctx->worker);

    if (!w)
        return;
    qst__lock_take(&w->lock);
    while (w->busy || w->queue.count)
        qst__cond_wait(&w->cond, &w->lock);
    qst__lock_give(&w->lock);
}

void qst__background_end(qst_context *ctx)
{
    qst__worker *w = atomic_load(&ctx->worker);
    qst__site   *site;

    if (!w)
        return;
    for (site = atomic_load(&ctx->sites); site; site = atomic_load(&site->next))
        atomic_store(&site->closing, true);
    qst__lock_take(&w->lock);
    w->end = true;
    qst__cond_wake(&w->cond);
    qst__lock_give(&w->lock);
    pthread_join(w->thread, NULL);
    qst__vec_finish(&ctx->alloc, &w->queue);
    qst__cond_finish(&w->cond);
    qst__lock_finish(&w->lock);
    qst__free(&ctx->alloc, w);
    atomic_store(&ctx->worker, NULL);
}
