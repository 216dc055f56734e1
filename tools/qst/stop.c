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
#include <time.h>
#include <unistd.h>

static struct {
    const char     *verb;
    sigset_t        signals;
    atomic_int      came; /* the first one's number */
    atomic_bool     tunes;
    pthread_mutex_t lock;  /* of these four, and of what the teller reads */
    bool            tries; /* a candidate, and not for another process to be done */
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

void stop_hold(void)
{
    pthread_mutex_lock(&stop.lock);
}

void stop_go(void)
{
    pthread_mutex_unlock(&stop.lock);
}

/* ---- The end ---------------------------------------------------------------------------------------------------- */

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

/* Under the lock, which stays taken: whoever else wants to end, or goes on, waits. */
static void tell_and_die(bool tuned)
{
    if (stop.tell)
        stop.tell(stop.user);
    else if (tuned)
        out_fail("%s: ended by %s; what was found is kept", stop.verb, stop_name());
    fflush(stdout);
    die(atomic_load(&stop.came));
}

/* A lock that is held for a second stands for output that nobody reads. */
static bool hold_for_a_second(void)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    return pthread_mutex_timedlock(&stop.lock, &until) == 0;
}

/* ---- The thread that waits -------------------------------------------------------------------------------------- */

static void end_now(int number)
{
    if (hold_for_a_second())
        tell_and_die(false);
    die(number);
}

/* Is a candidate tried, which is to come to its end? That is said. Where none is, and `now`, it ends. */
static bool goes_on(int number, bool now)
{
    if (!hold_for_a_second())
        die(number);
    bool tries = stop.tries;
    if (tries)
        out_fail("%s: %s: ends when the candidate that is tried now is done; once more ends it at once", stop.verb,
                 stop_name());
    else if (now)
        tell_and_die(true);
    stop_go();
    return tries;
}

/* A moment's patience. timeout(1) sends its signal twice, to the process and to its group: that is no second one. */
static void wait_a_moment(const siginfo_t *first)
{
    static const struct timespec moment = {1, 0};
    siginfo_t                    other;
    int                          number = sigtimedwait(&stop.signals, &other, &moment);
    if (number > 0 && !(first->si_code == SI_USER && other.si_code == SI_USER && first->si_pid == other.si_pid))
        die(number);
}

/* Where none is tried, another process may be waited for: only a moment is left to whoever goes through many problems. */
static void end_soon(const siginfo_t *came)
{
    bool tries = goes_on(came->si_signo, false);
    wait_a_moment(came);
    if (!tries)
        (void)goes_on(came->si_signo, true);
}

static void *wait_for_it(void *user)
{
    siginfo_t came;
    (void)user;
    for (;;) {
        int none = 0;
        if (sigwaitinfo(&stop.signals, &came) < 0)
            continue; /* interrupted */
        if (!atomic_compare_exchange_strong(&stop.came, &none, came.si_signo))
            die(came.si_signo);
        /* Whoever ends a tuning first says that it is over, and then looks at what came: one of both sees the other. */
        if (!atomic_load(&stop.tunes))
            end_now(came.si_signo);
        end_soon(&came);
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

/* ---- What is told of --------------------------------------------------------------------------------------------- */

void stop_hold_tell(stop_teller *tell, void *user)
{
    stop_hold();
    stop.tell = tell;
    stop.user = user;
}

void stop_tell(stop_teller *tell, void *user)
{
    stop_hold_tell(tell, user);
    stop_go();
}

void stop_begin(const char *key)
{
    char *text = key ? out_text("%s", key) : NULL;
    stop_hold();
    free(stop.key);
    stop.key = text;
    stop.tries = false;
    stop_go();
    atomic_store(&stop.tunes, true);
}

void stop_end(void)
{
    atomic_store(&stop.tunes, false);
    if (!stop_code())
        return;
    stop_hold();
    tell_and_die(true);
}

void stop_here(const char *key)
{
    stop_hold();
    stop.tries = true;
    /* Another key's is tried within a candidate of ours, which is not done. */
    if (atomic_load(&stop.tunes) && stop_code() && (!stop.key || strcmp(stop.key, key) == 0))
        tell_and_die(true);
    stop_go();
}
