/* SPDX-License-Identifier: MIT
 *
 * library.c: opens a BLAS once in a process, in a name space of its own, with threads that sleep when there is nothing
 * to do. */
#define _GNU_SOURCE /* dlmopen */
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const usual[] = {"libopenblas.so.0", "libblas.so.3"};

/* What the copy finds in its environment: how long its threads wait for more work before they sleep. OpenBLAS counts in
 * powers of two of the processor's clock (its default is 26): 2^17 is 40 to 60 µs, so that calls which follow one another
 * closely need no waking. */
static const struct {
    const char *name, *value;
} environment[] = {{"OPENBLAS_THREAD_TIMEOUT", "17"}, {"OMP_WAIT_POLICY", "PASSIVE"}, {"KMP_BLOCKTIME", "0"}};

typedef void (*symbol)(void);

struct opened {
    struct opened       *next;
    struct cblas_library library;
    char                 path[]; /* as it was asked for */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opened  *all;
static Lmid_t space; /* where `spare`: one that is made and empty, since what a failure leaves is not given back */
static int    spare;

static symbol find(void *handle, const char *name)
{
    void  *found = dlsym(handle, name);
    symbol out;
    memcpy(&out, &found, sizeof out);
    return out;
}

static int resolve(void *handle, struct cblas_library *out)
{
    out->sgemm = (cblas_sgemm_fn)find(handle, "cblas_sgemm");
    out->dgemm = (cblas_dgemm_fn)find(handle, "cblas_dgemm");
    out->sgemv = (cblas_sgemv_fn)find(handle, "cblas_sgemv");
    out->dgemv = (cblas_dgemv_fn)find(handle, "cblas_dgemv");
    return out->sgemm && out->dgemm && out->sgemv && out->dgemv;
}

/* A new name space, with a C library in it whose environment is set. */
static int make_space(void)
{
    void  *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW | RTLD_LOCAL);
    symbol set = libc ? find(libc, "setenv") : NULL;
    if (!set || dlinfo(libc, RTLD_DI_LMID, &space) != 0)
        return 0;
    for (size_t i = 0; i < sizeof environment / sizeof *environment; i++)
        ((int (*)(const char *, const char *, int))set)(environment[i].name, environment[i].value, 1);
    return 1;
}

/* It starts its threads at once: signals are the program's, and so are to be its threads'. */
static void *load_alone(const char *path)
{
    sigset_t every, before;
    void    *handle = NULL;
    sigfillset(&every);
    pthread_sigmask(SIG_SETMASK, &every, &before);
    spare = spare || make_space();
    if (spare)
        handle = dlmopen(space, path, RTLD_NOW | RTLD_LOCAL);
    spare = spare && !handle;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return handle;
}

static struct opened *load(const char *path, char *why, size_t why_size)
{
    struct opened *one = malloc(sizeof *one + strlen(path) + 1);
    void          *handle = one ? load_alone(path) : NULL;
    if (!one) {
        snprintf(why, why_size, "no memory to open %s", path);
    } else if (!handle) {
        const char *said = dlerror();
        snprintf(why, why_size, "%s", said ? said : path);
    } else if (!resolve(handle, &one->library)) {
        snprintf(why, why_size, "%s: no BLAS with a C interface", path);
    } else {
        memcpy(one->path, path, strlen(path) + 1);
        return one;
    }
    free(one);
    return NULL;
}

static const struct cblas_library *open_one(const char *path, char *why, size_t why_size)
{
    struct opened *one;
    for (one = all; one; one = one->next)
        if (strcmp(one->path, path) == 0)
            return &one->library;
    one = load(path, why, why_size);
    if (!one)
        return NULL;
    one->next = all;
    all = one;
    return &one->library;
}

const struct cblas_library *cblas_library_open(const char *path, char *why, size_t why_size)
{
    const struct cblas_library *found = NULL;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; !found && i < (path ? 1 : sizeof usual / sizeof *usual); i++)
        found = open_one(path ? path : usual[i], why, why_size);
    pthread_mutex_unlock(&lock);
    return found;
}
