/* SPDX-License-Identifier: MIT
 *
 * scale.c: the trivial candidate, C := beta · C, for products of length 0 and alpha 0.
 */
#include "ops/matmul/internal.h"

#include "scale.cl.h"

#define LINES_A_GROUP 64 /* work-items on a line of C; a CPU's group is one work-item */

/* By type and by whether the device is a CPU. An empty key tells no type: the program's index is the type. */
#define OPTIONS(type)                                                                                                  \
    {                                                                                                                  \
        "-cl-std=CL1.2 -DTC=" #type " -DLANES=64", "-cl-std=CL1.2 -DTC=" #type " -DLANES=1"                            \
    }
static const char *const options[QST_TYPE_END][2] = {{NULL, NULL}, OPTIONS(1), OPTIONS(2), OPTIONS(3), OPTIONS(4)};

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user;
    (void)key;
    if (index < QST_F32 || index >= QST_TYPE_END)
        return QST_E_INVALID;
    out->form = QST_PROGRAM_SOURCE;
    out->data = scale_cl;
    out->length = sizeof scale_cl - 1;
    out->options = options[index][device->type == QST_DEVICE_CPU];
    return QST_OK;
}

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const qst_matmul *p = problem;
    (void)user;
    if (p->c.type == QST_F64 && !(device->flags & QST_DEVICE_F64))
        return qstk_no(why, "the device has no double arithmetic");
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_matmul *p = problem;
    uint64_t          lines = (uint64_t)qst__matmul_batches(p) * (uint64_t)p->m;
    uint64_t          local = device->type == QST_DEVICE_CPU ? 1 : LINES_A_GROUP;
    uint64_t          groups = (uint64_t)(device->units ? device->units : 1) * (local == 1 ? 8 : 32);
    qst_launch        launch;
    (void)user;

    const qst_arg args[] = {
        qstk_operand(QST__C),
        qstk_offset(QST__C),
        qstk_i64((int64_t)lines),
        qstk_i64(p->m),
        qstk_i64(p->n),
        qstk_i64(p->c.row),
        qstk_i64(p->c.col),
        qstk_value(p->batch, 16),
        qstk_value(p->batch + 2, 16),
        qstk_value(p->c.batch, 16),
        qstk_value(p->c.batch + 2, 16),
        p->c.type == QST_F64 ? qstk_f64(p->beta) : qstk_f32(p->beta),
    };
    launch = qstk_launch(p->c.type, "scale", 1, args, QSTK_COUNT(args));
    launch.local[0] = local;
    launch.global[0] = (lines < groups ? lines : groups) * local;
    return out->launch(out, &launch);
}

const qst_candidate qst__matmul_scale = {
    .size = sizeof(qst_candidate),
    .op = "matmul",
    .variant = "scale",
    .revision = 1,
    .classes = QST_CLASS_PLAIN | QST_CLASS_STRICT | QST_CLASS_FAST,
    .problem_size = sizeof(qst_matmul),
    .can_run = can_run,
    .program = program,
    .steps = steps,
};
