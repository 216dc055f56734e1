/* SPDX-License-Identifier: MIT
 *
 * core.c: the core's own kernels, bound like a candidate's: one program per element type holds them all.
 */
#include "run/background.h"

#include "core.cl.h"
#include "differ.cl.h"
#include "digest.cl.h"
#include "fill.cl.h"
#include "guard.cl.h"

#include <quernstone/kit.h>
#include <string.h>

#define CPU_ITEMS 64u /* blocks; more than units, so that a late worker finds less to do */
#define GPU_ITEMS 65536u
#define GPU_GROUP 256u

/* recipe: NULL, or the launch that it is for, over `count` elements. program: NULL, nobody waits for it. */
static qst_status build(qst__shelf *shelf, uint32_t type, const qst__recipe *recipe, uint64_t count,
                        qst__program **program, uint64_t *ns, qst_error *err)
{
    const uint64_t bytes[QST_OPERANDS_MAX] = {count * qst_type_bytes(QST_F64)}; /* no element is larger */
    qst__site     *site = shelf->site;
    qst__str       source, options;
    qst_program    desc;
    uint64_t       ahead = 0;
    qst_status     status = QST_OK;

    qst__str_init(&source, &site->ctx->alloc);
    qst__str_init(&options, &site->ctx->alloc);
    qst__str_append(&source, core_cl);
    qst__str_append(&source, fill_cl);
    qst__str_append(&source, digest_cl);
    qst__str_append(&source, guard_cl);
    qst__str_append(&source, differ_cl);
    qst__str_printf(&options, "-cl-std=CL1.2 -DTYPE=%u -DBLOCKED=%d", type,
                    site->facts.device.type == QST_DEVICE_CPU ? 1 : 0);
    if (source.failed || options.failed) {
        status = qst__fail(err, QST_E_NOMEM, "run", "no memory for the core's kernels");
    } else {
        memset(&desc, 0, sizeof desc);
        desc.size = (uint32_t)sizeof desc;
        desc.form = QST_PROGRAM_SOURCE;
        desc.data = source.text;
        desc.length = source.length;
        desc.options = options.text;
        qst__programs_vital(&site->programs, &desc);
        if (recipe)
            status = qst__background_build(site, &desc, recipe, 0, bytes, "core", &ahead, err);
        if (!program)
            qst__programs_expect(&site->programs, &desc);
        else if (status == QST_OK)
            status = qst__programs_get(&site->programs, &desc, program, ns, err);
    }
    qst__str_finish(&options);
    qst__str_finish(&source);
    return status;
}

void qst__core_expect(qst__shelf *shelf, uint32_t type)
{
    (void)build(shelf, type, NULL, 0, NULL, NULL, NULL);
}

static qst_arg word(uint64_t number)
{
    const uint32_t value = (uint32_t)number;

    return qstk_value(&value, sizeof value);
}

static uint32_t arguments(uint32_t which, uint64_t count, const uint64_t numbers[4], qst_arg *args)
{
    uint32_t n = 0, i, words = which == QST__CORE_FILL ? 4 : which == QST__CORE_DIGEST ? 2 : 1;

    args[n++] = qstk_operand(0);
    if (which == QST__CORE_FILL || which == QST__CORE_DIGEST)
        args[n++] = qstk_offset(0);
    args[n++] = qstk_i64((int64_t)count);
    if (which == QST__CORE_GUARD) {
        args[n++] = qstk_i64((int64_t)numbers[1]);
        args[n++] = qstk_i64((int64_t)numbers[2]);
    }
    if (which == QST__CORE_DIFFER)
        args[n++] = qstk_operand(QST_JUDGE_BEFORE);
    for (i = 0; i < words; i++)
        args[n++] = word(numbers[i]);
    if (which != QST__CORE_FILL)
        args[n++] = qstk_operand(QST_JUDGE_FINDING);
    return n;
}

qst_status qst__core_bind(qst__runner **runner, qst__shelf *shelf, uint32_t which, uint32_t type, uint64_t count,
                          const uint64_t numbers[4], qst_error *err)
{
    static const char *const entries[QST__CORE_COUNT] = {"fill", "digest", "guard", "differ"};
    qst__site               *site = shelf->site;
    bool                     cpu = site->facts.device.type == QST_DEVICE_CPU;
    qst__program            *program = NULL;
    qst__recipe              recipe;
    qst_steps                steps;
    qst_arg                  args[8];
    qst_launch               launch;
    uint32_t                 sizes[QST_OPERANDS_MAX] = {0};
    uint64_t                 ns;
    qst_status               status;

    qst__recipe_init(&recipe, &site->ctx->alloc, 1, true);
    qst__recipe_steps(&recipe, &steps);
    launch = qstk_launch(0, entries[which], 1, args, arguments(which, count, numbers, args));
    launch.local[0] = cpu ? 1 : GPU_GROUP <= site->facts.device.max_group ? GPU_GROUP : 1;
    launch.global[0] = cpu ? CPU_ITEMS : GPU_ITEMS;
    steps.launch(&steps, &launch);
    sizes[0] = qst_type_bytes(type);
    status = recipe.failure != QST_OK ? qst__fail(err, recipe.failure, "run", "%s", recipe.why.text)
                                      : qst__recipe_check(&recipe, &site->facts.device, "run", err);
    if (status == QST_OK)
        status = build(shelf, type, &recipe, count, &program, &ns, err);
    if (status == QST_OK)
        status = qst__runner_create(runner, &site->ctx->alloc, &recipe, &program, 1, sizes, site->device, &site->arena,
                                    &site->ctx->cl_counters, "run", err);
    qst__recipe_finish(&recipe);
    return status;
}
