/* SPDX-License-Identifier: MIT
 *
 * once.h: what plugins may have built and run outside of tunings, to find out what a device can do: run_once and
 * program_binary of the host table.
 *
 * An answer of run_once is kept among the store's programs, under a digest of the program and the launch, for the device
 * model, the driver and the pointer width (binaries.h). It is worth what a binary is worth, and goes when that goes.
 */
#ifndef QST_RUN_ONCE_H
#define QST_RUN_ONCE_H

#include "run/run.h"

/* [any thread] As plugin.h says. `device` is one that this context's sites have; else E_INVALID. */
qst_status qst__once_binary(qst_context *ctx, const qst_device *device, const qst_program *program, void *user,
                            void (*take)(void *user, const void *bytes, uint64_t length), qst_error *err);
qst_status qst__once_run(qst_context *ctx, const qst_device *device, const qst_program *program,
                         const qst_launch *launch, void *answer, uint32_t bytes, qst_error *err);

#endif
