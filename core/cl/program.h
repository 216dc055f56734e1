/* SPDX-License-Identifier: MIT
 *
 * program.h: programs of one device in one cl_context, each built once.
 *
 * The key is a SHA-256 of form, data, canonical options (words sorted, single blanks; -D and -I words keep their own
 * text) and, for a retargeted program, target and marker. A build that failed is remembered with its log and not
 * repeated, unless nothing builds at that moment (canary.h). Thread-safe: two threads that ask for the same program build
 * it once.
 */
#ifndef QST_CL_PROGRAM_H
#define QST_CL_PROGRAM_H

#include "base/clock.h"
#include "base/lock.h"
#include "cl/facts.h"

#include <quernstone/ext/draft/builder.h>

typedef struct qst__program qst__program;

/* Where binaries are kept between processes. The digest names form, text and options; the keeper adds device, driver
 * and pointer width.
 *   load   QST_OK with a binary, E_BUILD with the log of a build that is known to fail here; else E_NOTFOUND. Memory of
 *          the programs' allocator.
 *   save   failed: bytes are the log of a failed build */
typedef struct qst__binaries {
    void *user;
    qst_status (*load)(void *user, const uint8_t digest[32], uint8_t **bytes, size_t *length);
    void (*save)(void *user, const uint8_t digest[32], bool failed, const void *bytes, size_t length);
} qst__binaries;

/* A plugin's builder on the device, and the object of its library.
 *   trusted   asked when machine code is there and before the driver gets it: is the builder right? NULL: it is */
typedef struct qst__builder {
    const qst_builder *builder;
    void              *instance;
    const qst_device  *device;
    qst_object         library;
    bool (*trusted)(void *user);
    void *trusted_user;
} qst__builder;

/* A program that was made or failed to be. */
enum { QST__BUILT_SOURCE, QST__BUILT_BINARY, QST__BUILT_STORE };
typedef struct qst__built {
    const uint8_t *digest;  /* as above, 32 bytes */
    const char    *options; /* canonical */
    uint32_t from; /* QST__BUILT_…: source (retargeted or not), the candidate's binary, a kept binary or failure */
    bool     failed;
    uint64_t ns;
} qst__built;

typedef struct qst__programs {
    const qst__alloc *alloc;
    const qst__log   *log;
    cl_context        context;
    cl_device_id      device;
    qst__clock        clock;
    qst__cl_counters *counters;
    qst__lock         lock;
    qst__program     *first;
    qst__binaries     binaries; /* zero: programs live as long as the process; set before the first get */
    void (*built)(void *user, const qst__built *built); /* told of each; NULL: nobody. Set before the first get */
    void *built_user;
    void (*fronted)(void *user);                /* a thread has left the front end; NULL: nobody is told */
    const qst__builder *(*builder)(void *user); /* asked before each build; NULL, or NULL given: the driver builds */
    void            *builder_user;              /* of both */
    _Atomic uint32_t n_canaries;                /* so far; canary.h's, as are */
    _Atomic uint64_t silent_until;              /* by the clock; 0: the driver builds, as far as is known */
    _Atomic bool     silence_told;
} qst__programs;

void qst__programs_init(qst__programs *programs, const qst__alloc *alloc, const qst__log *log, cl_context context,
                        cl_device_id device, qst__cl_counters *counters);
void qst__programs_finish(qst__programs *programs);

/* Gives the built program, borrowed until finish. build_ns: time that this call took for a build, its own or one that it
 * waited for; the counters get both; NULL: it counts for no one. E_BUILD: the error's text has the first lines of
 * the log that fit, and *out is the failed program, whose log is whole; it has no cl_program. Where nothing builds now, it
 * is E_BUILD too, as qst__programs_unable tells, and a later call tries again. Otherwise *out is NULL on failure. */
qst_status qst__programs_get(qst__programs *programs, const qst_program *desc, qst__program **out, uint64_t *build_ns,
                             qst_error *err);

/* Did a build fail because nothing builds now? Its error's code is as where there is no compiler. */
static inline bool qst__programs_unable(const qst_error *err)
{
    return err && err->status == QST_E_BUILD && err->cl_code == CL_COMPILER_NOT_AVAILABLE;
}

/* Builds the program if nobody has begun to: for whoever builds ahead, and so waits for no other. A failure shows when it
 * is got. */
void qst__programs_expect(qst__programs *programs, const qst_program *desc);

/* Is it built in this process, or is there a binary of it? */
bool qst__programs_ready(qst__programs *programs, const qst_program *desc);

/* From now on no kept failure of the program is believed, and none of it is kept: for what nothing works without, and which is
 * known to be right. It is tried once a process then, whatever became of it in others. */
void qst__programs_vital(qst__programs *programs, const qst_program *desc);

/* Has the program's binary kept. To be called once its kernels have run with the local sizes they will be used with,
 * and have finished: some drivers compile at the first launch, and what was not compiled by then is not in the binary.
 * Nothing where it came from a binary, or was kept before. Gives the time it took. */
uint64_t qst__programs_keep(qst__programs *programs, qst__program *program);

/* What programs are looked up by, and binaries kept under. E_INVALID: no legal program. */
qst_status qst__programs_digest(const qst__programs *programs, const qst_program *desc, uint8_t digest[32],
                                qst_error *err);

cl_program  qst__program_cl(const qst__program *program);
const char *qst__program_log(const qst__program *program); /* whole build log, "" where there is none */

/* The options as they are built with and looked up by: words sorted, single blanks. -D and -U words of one macro and
 * all -I words keep their order, because it has a meaning; a blank inside double quotes is no border; "-D X" stays
 * two words. NULL: "-cl-std=CL1.2". NULL where there is no memory. */
char *qst__program_options(const qst__alloc *alloc, const char *options);

#endif
