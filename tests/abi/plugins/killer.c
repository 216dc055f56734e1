/* SPDX-License-Identifier: MIT
 *
 * killer.c: a saboteur for the tests: a candidate of matmul that kills the process that tries it, in a way that depends
 * on k, or never comes back. It prints a word first, as drivers do, which nobody may take for an answer.
 */
#define _POSIX_C_SOURCE 200809L
#include "saboteur.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user, (void)device, (void)key, (void)index, (void)out;
    return QST_E_INTERNAL;
}

static volatile char *volatile nowhere; /* volatile itself, so that a compiler does not see that nothing is there */

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_matmul *p = problem;

    (void)user, (void)device, (void)out;
    puts("ok");
    fflush(stdout);
    switch (p->k) {
    case 33:
        nowhere = (volatile char *)(uintptr_t)p->k;
        *nowhere = 0;
        break;
    case 34:
        exit(3);
    case 35:
        while (pause())
            ;
        break;
    default:
        abort();
    }
    return QST_E_INTERNAL;
}

static const qst_candidate dies = {.size = sizeof dies,
                                   .op = "matmul",
                                   .variant = "dies",
                                   .revision = 1,
                                   .classes = QST_CLASS_STRICT,
                                   .problem_size = sizeof(qst_matmul),
                                   .program = program,
                                   .steps = steps};

DESCRIPTOR_WITH("killer", dies);
