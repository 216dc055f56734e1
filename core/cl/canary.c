/* SPDX-License-Identifier: MIT
 *
 * canary.c: see canary.h. */
#include "cl/canary.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define HEAD_MAX 160u

/* The name that makes it new: of process, moment and how many there were. */
static char *text_of(qst__programs *programs, size_t length)
{
    uint32_t        nth = atomic_fetch_add(&programs->n_canaries, 1);
    struct timespec now = {0, 0};
    char           *text = length < SIZE_MAX ? qst__zalloc(programs->alloc, length + 1) : NULL;
    int             head;

    if (!text)
        return NULL;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    head = snprintf(text, length,
                    "kernel void canary_%lx_%llx_%lx_%lx(global uint *to) { to[get_global_id(0)] = %luu; }\n",
                    (unsigned long)getpid(), (unsigned long long)now.tv_sec, (unsigned long)now.tv_nsec,
                    (unsigned long)nth, (unsigned long)nth);
    memset(text + head, ' ', length - (size_t)head);
    text[length - 1] = '\n';
    return text;
}

bool qst__canary_silent(const qst__programs *programs)
{
    uint64_t until = atomic_load(&programs->silent_until);

    return until && qst__now(&programs->clock) < until;
}

void qst__canary_heard(qst__programs *programs)
{
    atomic_store(&programs->silent_until, 0);
}

static void fell_silent(qst__programs *programs, cl_int code)
{
    atomic_store(&programs->silent_until, qst__now(&programs->clock) + QST__CANARY_NS);
    if (!atomic_exchange(&programs->silence_told, true))
        QST__LOG(programs->log, CL, WARN, QST__CANARY_TEXT "; %s (%d); said once, and tried again after %u s at most",
                 qst__cl_name(code), (int)code, QST__CANARY_NS / 1000000000u);
}

bool qst__canary_builds(qst__programs *programs, size_t least)
{
    size_t      length = least > HEAD_MAX ? least : HEAD_MAX;
    char       *text;
    const char *source;
    cl_int      code = CL_OUT_OF_HOST_MEMORY;
    cl_program  cl = NULL;

    if (qst__canary_silent(programs))
        return false;
    source = text = text_of(programs, length);
    if (text)
        cl = clCreateProgramWithSource(programs->context, 1, &source, &length, &code);
    if (code == CL_SUCCESS)
        code = clBuildProgram(cl, 1, &programs->device, "-cl-std=CL1.2", NULL, NULL);
    if (cl)
        (void)clReleaseProgram(cl);
    qst__free(programs->alloc, text);
    if (code != CL_SUCCESS)
        fell_silent(programs, code);
    return code == CL_SUCCESS;
}

qst_status qst__canary_blames(qst__programs *programs, const char *why, qst_error *err)
{
    bool first = err && err->status == QST_OK;

    if (qst__canary_builds(programs, QST__CANARY_ROOM))
        return QST_OK;
    (void)qst__fail(err, QST_E_BUILD, "program", QST__CANARY_TEXT "; %s", why);
    if (first)
        err->cl_code = CL_COMPILER_NOT_AVAILABLE;
    return QST_E_BUILD;
}
