/* SPDX-License-Identifier: MIT
 *
 * field_case.h: a process that tunes, seen from outside: cheap candidates of known speed, a store on disk, and counts of
 * what was executed and built, by candidate. What a driver says and does can be scripted.
 *
 * A set is written as letters, in the order of registration: "abcd" are the candidates blend.app.a/1, … of the operation
 * of blend.h; "b2" is blend.app.b/2. They really run, but how long is scripted, on the device's clock and the host's:
 *     a   the fallback, 4 ms             d   1 ms: the winner where it takes part
 *     p   says that it will take a second       w   wants a workspace of 2 MiB
 *     x   does not build                 v   a vendor's library: it opens only where `vendor` is true
 *     others: 3 ms, so that they are dropped after the least number of samples
 * A probe's kernels and whoever else's take 3 ms too, or `stranger_ns`.
 *
 * Key i of FIELD_KEYS is n = 2^(i / 3) with b = i mod 3. No roof ends a tuning and no budget does, so that the numbers of
 * executions are the same each time.
 *
 * Only for executables that are linked with --wrap for each of the calls (as test_field_kill.link has them).
 */
#ifndef QST_TESTS_FIELD_CASE_H
#define QST_TESTS_FIELD_CASE_H

#include "support/blend.h"

#include <stdbool.h>

enum { FIELD_KEYS = 54, FIELD_LETTERS = 26 };

/* What is to be done. Texts may be NULL. */
typedef struct field_job {
    const char *folder;  /* of environments; NULL: no store */
    bool        plain;   /* no settings but the folder's and `config` */
    bool        home;    /* the user's cache, wherever that is */
    const char *shut;    /* a folder whose permissions are taken after the first call */
    const char *set;     /* letters */
    const char *config;  /* members of the JSON object, to be merged: "\"tune.wait\": true" */
    const char *driver;  /* what CL_DRIVER_VERSION says */
    const char *version; /* what CL_DEVICE_VERSION says */
    const char *name;    /* what CL_DEVICE_NAME says */
    uint32_t    bits;    /* what CL_DEVICE_ADDRESS_BITS says; 0: the truth */
    uint32_t    first;   /* key */
    uint32_t    keys;    /* how many from it on */
    bool        twice;   /* each is called again, after all */
    bool        vendor;  /* the library of candidate v is there */
    bool        settle;  /* at the end: binaries into the store */
    long        die_at;  /* the execution that is the process's last; 0: none */
    bool        tell;    /* standard output gets two bytes a finding, key and letter, once it is kept; then no report */
    char        fails;   /* programs of this letter do not build; 0: none */
    uint32_t    full_from;   /* this build of a source and all after it fail, as on a full disk; 0: none */
    bool        no_binary;   /* clCreateProgramWithBinary fails */
    bool        bad_binary;  /* what it made does not build */
    uint64_t    stranger_ns; /* of kernels that are no candidate's; 0: 3 ms. In this process alone */
} field_job;

/* What was done. Plain data: it goes through a pipe. */
typedef struct field_report {
    int32_t      status; /* of the first call that failed, or QST_OK */
    char         error[200];
    char         winner[FIELD_KEYS];             /* its letter */
    uint32_t     revision[FIELD_KEYS];           /* the winner's */
    uint32_t     ran[FIELD_KEYS][FIELD_LETTERS]; /* executions while the key's call was made */
    uint32_t     builds[FIELD_LETTERS];          /* clBuildProgram, of a source */
    uint32_t     builds_all;                     /* of anybody's source */
    uint32_t     binaries;                       /* clCreateProgramWithBinary */
    uint32_t     pauses;                         /* waits for another process's answer */
    uint32_t     again;                          /* executions of the second calls */
    qst_counters counters;
    uint32_t     warnings;
    char         warning[200]; /* the first */
    char         store[16];    /* its name */
} field_report;

/* Does the job in this process; every call's result is checked. `look` (NULL: not) is shown the context at the end. */
void field_run_and_look(const field_job *job, field_report *report, void (*look)(qst_context *ctx, void *user),
                        void *user);
void field_run(const field_job *job, field_report *report);

/* Called at each of the waits that a report counts; NULL: nothing is. */
extern void (*field_on_pause)(void);
/* Waits for the device's lease, which are counted here instead of slept through; NULL: they are slept. */
extern uint32_t *field_lease_waits;
/* What main does where the program has arguments. */
int field_child(int argc, char **argv);
/* In a process of its own: its number. `from`: what it prints. */
int field_start(const field_job *job, int *from);
/* Its exit status, or -signal; the report where there is one. */
int field_end(int pid, int from, field_report *report);
/* Both, and it must end well. */
void field_process(const field_job *job, field_report *report);

/* Executions of a letter, over all keys. */
uint32_t field_ran(const field_report *report, char letter);
/* Of all letters. */
uint32_t field_ran_all(const field_report *report);

/* A context on the folder's store, to look into it. */
qst_context *field_look(const char *folder);
/* The store's records are in order, and every stored verdict decides again as stored; how many verdicts there are. */
uint64_t field_verify(const char *folder);

#endif
