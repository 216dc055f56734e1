/* SPDX-License-Identifier: MIT
 *
 * builtin.c: the composition root: which operations and plugins are linked in.
 */
#include "plug/registry.h"
#include "run/run.h"

#include <quernstone/matmul.h>
#include <quernstone/probe.h>

extern const qst_plugin qst__builtin_naive; /* plugins/naive: matmul's fallback, so that no plugin is needed */
extern const qst_plugin qst__builtin_probe; /* ops/probe: candidates of the probes */

static const qst_op *const     operations[] = {&qst_matmul_op, &qst_probe_compute_op, &qst_probe_memory_op,
                                               &qst_probe_launch_op};
static const qst_plugin *const plugins[] = {&qst__builtin_naive, &qst__builtin_probe};

qst_status qst__builtin(qst_context *ctx, qst_error *err)
{
    qst_status status = QST_OK;
    qst_set   *set;
    size_t     i;

    for (i = 0; i < sizeof operations / sizeof *operations && status == QST_OK; i++)
        status = qst__set_create(ctx, operations[i], &set, err);
    for (i = 0; i < sizeof plugins / sizeof *plugins && status == QST_OK; i++)
        status = qst__plugins_add_builtin(&ctx->plugins, plugins[i], err);
    return status;
}
