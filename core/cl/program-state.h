/* SPDX-License-Identifier: MIT
 *
 * program-state.h: an entry of the list of programs: program.c finds it, program-build.c fills it. */
#ifndef QST_CL_PROGRAM_STATE_H
#define QST_CL_PROGRAM_STATE_H

#include "cl/program.h"

enum {
    QST__PROGRAM_EMPTY, /* nobody builds it: new, or the build failed by a lack of room and may be tried again */
    QST__PROGRAM_BUILDING,
    QST__PROGRAM_BUILT,
    QST__PROGRAM_FAILED /* for good */
};

struct qst__program {
    qst__program *next;
    uint8_t       digest[32];
    int           state;
    qst__cond     changed;
    cl_program    cl;
    atomic_bool   kept;   /* its binary is in the store, or came from there */
    char         *log;    /* NULL: none */
    cl_int        code;   /* of the failed build */
    bool          unable; /* it failed because nothing builds */
    bool          vital;  /* its failures are not kept, nor believed where they were */
};

/* Fills an entry that is this thread's, without the lock: from a kept binary, by the builder, or by the driver. Gives its
 * next state; *ns: what that took. */
int qst__program_build(qst__programs *programs, const qst_program *desc, const char *options, qst__program *program,
                       uint64_t *ns);

/* What another attempt may well survive. */
bool qst__program_transient(cl_int code);

#endif
