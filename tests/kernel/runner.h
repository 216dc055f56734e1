/* SPDX-License-Identifier: MIT
 *
 * runner.h: runs candidates on the first CPU device without the library: a host table that collects what plugins
 * add, and the shortest way from program() and steps() to the queue. For tests of candidates by themselves.
 */
#ifndef TEST_KERNEL_RUNNER_H
#define TEST_KERNEL_RUNNER_H

#include <CL/cl.h>
#include <quernstone/kit.h>

enum { RUNNER_CANDIDATES = 64, RUNNER_PROGRAMS = 32, RUNNER_PLUGINS = 8 };

struct runner_candidate {
    qst_candidate candidate;
    char          name[96];                  /* plugin.variant */
    cl_program    programs[RUNNER_PROGRAMS]; /* built when first needed */
    void         *library;                   /* what open() gave */
    uint32_t      ran, refused;
};

struct runner {
    cl_device_id            id;
    cl_context              context;
    cl_command_queue        queue;
    qst_device              device;
    char                    name[128];
    qst_host                host;
    const qst_plugin       *plugins[RUNNER_PLUGINS];
    void                   *instances[RUNNER_PLUGINS];
    uint32_t                n_plugins, n;
    struct runner_candidate candidates[RUNNER_CANDIDATES];
};

/* What steps() asked for, copied. */
struct runner_steps {
    qst_launch launches[QST_LAUNCHES_MAX];
    char       entries[QST_LAUNCHES_MAX][64];
    qst_arg    args[QST_LAUNCHES_MAX][QST_ARGS_MAX];
    uint32_t   n;
    uint64_t   workspace[4];
};

int  runner_open(struct runner *r); /* 0, or -1 with a line on stderr */
void runner_close(struct runner *r);
int  runner_start(struct runner *r, const qst_plugin *plugin);

int32_t runner_record(struct runner *r, struct runner_candidate *c, const void *problem, struct runner_steps *out);

/* Puts launch `i` of those on the queue, as an OpenCL code. */
cl_int runner_launch(struct runner *r, struct runner_candidate *c, const struct runner_steps *steps, uint32_t i,
                     const qst_mem *operands, cl_mem *workspace, const uint32_t *item);

/* Computes one problem and waits for it. `item`: bytes of an element, by operand; offsets in bytes. QST_E_CL with a line
 * on stderr where OpenCL says no; what the candidate returned otherwise. */
int32_t runner_run(struct runner *r, struct runner_candidate *c, const void *problem, const qst_mem *operands,
                   const uint32_t *item);

#endif
