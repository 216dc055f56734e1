/* SPDX-License-Identifier: MIT
 *
 * stop.c: one thread waits for the signals, which all others have blocked: so nothing is ever interrupted by them, neither
 * a driver nor the linker that it has started. */
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
    pthread_mutex_t lock; /* of these three */
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
    return atomic_load(&stop.came) == SIGINT ? "SIGINT" : "SIGTERM";
}

static void *wait_for_it(void *user)
{
    int number;
    (void)user;
    while (sigwait(&stop.signals, &number) == 0) {
        int none = 0;
        if (!atomic_load(&stop.tunes) || !atomic_compare_exchange_strong(&stop.came, &none, number))
            _exit(128 + number);
        out_fail("%s: %s: ends when the candidate that is tried now is done; once more ends it at once", stop.verb,
                 stop_name());
    }
    return NULL;
}

void stop_heed(const char *verb)
{
    static const int numbers[] = {SIGINT, SIGTERM};
    pthread_t        thread;
    stop.verb = verb;
    sigemptyset(&stop.signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction now;
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&stop.signals, numbers[i]);
    }
    pthread_sigmask(SIG_BLOCK, &stop.signals, NULL);
    if (pthread_create(&thread, NULL, wait_for_it, NULL) == 0)
        pthread_detach(thread);
    else
        pthread_sigmask(SIG_UNBLOCK, &stop.signals, NULL);
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
    _exit(stop_code());
}

void stop_leave(void)
{
    stop_end();
    if (stop_code())
        end();
}

void stop_here(const char *key)
{
    if (!atomic_load(&stop.tunes) || !stop_code())
        return;
    pthread_mutex_lock(&stop.lock);
    /* Another key's is tried within a candidate of ours, which is not done. */
    if (!stop.key || strcmp(stop.key, key) == 0)
        end();
    pthread_mutex_unlock(&stop.lock);
}
