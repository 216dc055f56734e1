/* SPDX-License-Identifier: MIT
 *
 * lmdb-table.c: the process's table of environments that are open, each shared by whoever opens its folder. */
#include "cache/lmdb-state.h"

#include <string.h>
#include <sys/stat.h>

static struct {
    pthread_mutex_t opening; /* one open or close at a time; may be held for long */
    pthread_mutex_t list;    /* first, next, holders; held for moments, and across fork */
    qst__env       *first;
    bool            hooked;
} opens = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, NULL, false};

static void before_fork(void)
{
    (void)pthread_mutex_lock(&opens.list);
}

static void after_fork(void)
{
    (void)pthread_mutex_unlock(&opens.list);
}

/* The parent's environments are not the child's: their locks must die with the parent. */
static void in_child(void)
{
    for (qst__env *env = opens.first; env; env = env->next)
        if (env->claims)
            qst__claims_forget(env->claims);
    opens.first = NULL;
    (void)pthread_mutex_unlock(&opens.list);
    (void)pthread_mutex_init(&opens.opening, NULL); /* who held it is not here */
}

static qst__env *find_open(const char *folder, uint64_t limit)
{
    struct stat found;
    qst__env   *env;

    if (stat(folder, &found) != 0)
        return NULL;
    (void)pthread_mutex_lock(&opens.list);
    for (env = opens.first; env; env = env->next)
        if (env->device == found.st_dev && env->inode == found.st_ino && (env->readonly || qst__env_is_there(env)))
            break;
    if (env) {
        env->holders++;
        if (atomic_load(&env->limit) < limit)
            atomic_store(&env->limit, limit);
    }
    (void)pthread_mutex_unlock(&opens.list);
    return env;
}

qst_status qst__env_open(qst__env **out, const char *folder, uint64_t limit, bool readonly, const qst__log *log,
                         qst_error *err)
{
    qst_status status = QST_OK;
    bool       made;

    *out = NULL;
    if (strlen(folder) > QST__PLACE_MAX)
        return qst__fail(err, QST_E_CONFIG, "store", "the folder's path has %zu bytes, not at most %u", strlen(folder),
                         QST__PLACE_MAX);
    (void)pthread_mutex_lock(&opens.opening);
    if (!opens.hooked)
        opens.hooked = pthread_atfork(before_fork, after_fork, in_child) == 0;
    *out = find_open(folder, limit);
    if (!*out)
        status = qst__env_make(out, folder, limit, readonly, log, err);
    made = *out && (*out)->holders == 0;
    if (made) {
        (void)pthread_mutex_lock(&opens.list);
        (*out)->holders = 1;
        (*out)->next = opens.first;
        opens.first = *out;
        (void)pthread_mutex_unlock(&opens.list);
    }
    (void)pthread_mutex_unlock(&opens.opening);
    return status;
}

void qst__env_close(qst__env *env)
{
    bool last;

    if (!env || !qst__env_ours(env))
        return; /* in a child it is the parent's: left as it is */
    (void)pthread_mutex_lock(&opens.opening);
    (void)pthread_mutex_lock(&opens.list);
    last = --env->holders == 0;
    if (last) {
        qst__env **at = &opens.first;
        while (*at && *at != env)
            at = &(*at)->next;
        if (*at)
            *at = env->next;
    }
    (void)pthread_mutex_unlock(&opens.list);
    if (last) {
        qst__env_mark(env);
        qst__env_destroy(env);
    }
    (void)pthread_mutex_unlock(&opens.opening);
}
