/* SPDX-License-Identifier: MIT
 *
 * stop.c: one thread waits for the signals, which all others have blocked, ignored ones too, since LLVM in a driver handles
 * those as well: so nothing is ever interrupted by them, neither a driver nor the linker that it has started. */
#include "stop.h"

#include "out.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    const char     *verb;
    sigset_t        signals;
    atomic_int      came; /* the first one's number */
    atomic_bool     tunes;
    atomic_bool     tries; /* a candidate, and not for another process to be done */
    pthread_mutex_t lock;  /* of these three */
    char           *key;
    stop_teller    *tell;
    void           *user;
} stop = {.lock = PTHREAD_MUTEX_INITIALIZER};

int stop_code(void)
{
    int came = atomic_load(&stop.came);
    return came ? 128 + came : 0;
}

const char *stop_name(void)
{
    int came = atomic_load(&stop.came);
    return came == SIGINT ? "SIGINT" : came == SIGHUP ? "SIGHUP" : "SIGTERM";
}

/* By the signal itself: a shell that runs a loop then leaves it. */
static void die(int number)
{
    sigset_t one;
    sigemptyset(&one);
    sigaddset(&one, number);
    (void)signal(number, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &one, NULL);
    (void)raise(number);
    _exit(128 + number);
}

/* Where none is tried, another process may be waited for: only a moment is left to whoever goes through many problems. */
static void wait_for_another(int number)
{
    static const struct timespec moment = {1, 0};
    int                          second = sigtimedwait(&stop.signals, NULL, &moment);
    if (second > 0)
        die(second);
    if (atomic_load(&stop.tries))
        return;
    out_fail("%s: ended by %s, no candidate being tried; what was found is kept", stop.verb, stop_name());
    die(number);
}

static void *wait_for_it(void *user)
{
    int number;
    (void)user;
    while (sigwait(&stop.signals, &number) == 0) {
        int none = 0;
        if (!atomic_load(&stop.tunes) || !atomic_compare_exchange_strong(&stop.came, &none, number))
            die(number);
        if (atomic_load(&stop.tries))
            out_fail("%s: %s: ends when the candidate that is tried now is done; once more ends it at once", stop.verb,
                     stop_name());
        else
            wait_for_another(number);
    }
    return NULL;
}

void stop_heed(const char *verb)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    pthread_t        thread;
    sigset_t         all;
    stop.verb = verb;
    sigemptyset(&stop.signals);
    sigemptyset(&all);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        sigaddset(&all, numbers[i]);
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&stop.signals, numbers[i]);
    }
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    if (pthread_create(&thread, NULL, wait_for_it, NULL) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &all, NULL);
}

static void tune_that(char *key, stop_teller *tell, void *user)
{
    pthread_mutex_lock(&stop.lock);
    free(stop.key);
    stop.key = key;
    stop.tell = tell;
    stop.user = user;
    pthread_mutex_unlock(&stop.lock);
}

void stop_begin(const char *key, stop_teller *tell, void *user)
{
    tune_that(key ? out_text("%s", key) : NULL, tell, user);
    atomic_store(&stop.tries, false);
    atomic_store(&stop.tunes, true);
}

void stop_end(void)
{
    atomic_store(&stop.tunes, false);
    tune_that(NULL, NULL, NULL);
}

static void end(void)
{
    if (stop.tell)
        stop.tell(stop.user);
    else
        out_fail("%s: ended by %s; what was found is kept", stop.verb, stop_name());
    fflush(stdout);
    die(atomic_load(&stop.came));
}

void stop_leave(void)
{
    stop_end();
    if (stop_code())
        end();
}

void stop_here(const char *key)
{
    atomic_store(&stop.tries, true);
    if (!atomic_load(&stop.tunes) || !stop_code())
        return;
    pthread_mutex_lock(&stop.lock);
    /* Another key's is tried within a candidate of ours, which is not done. */
    if (!stop.key || strcmp(stop.key, key) == 0)
        end();
    pthread_mutex_unlock(&stop.lock);
}
