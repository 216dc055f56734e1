/* SPDX-License-Identifier: MIT
 *
 * beyond.c: a saboteur. Its sums are right, but it computes one row more than there is, from what lies beyond A into what
 * lies beyond C. It must never win.
 */
#include <quernstone/kit.h>
#include <quernstone/matmul.h>

static const char source[] =
    "kernel void beyond_rows(global const float *a, ulong a0, global const float *b, ulong b0, global float *c,\n"
    "                       ulong c0, int m, int n, int k, long lda, long ldb, long ldc, float alpha, float beta)\n"
    "{\n"
    "    const int panels = (n + 15) / 16;\n"
    "    for (int t = get_global_id(0); t < (m + 1) * panels; t += get_global_size(0)) {\n"
    "        const int i = t % (m + 1), j = 16 * (t / (m + 1)), cols = min(16, n - j);\n"
    "        float s[16];\n"
    "        for (int x = 0; x < 16; x++)\n"
    "            s[x] = 0;\n"
    "        for (int p = 0; p < k; p++)\n"
    "            for (int x = 0; x < cols; x++)\n"
    "                s[x] = fma(a[a0 + i * lda + p], b[b0 + p * ldb + j + x], s[x]);\n"
    "        for (int x = 0; x < cols; x++) {\n"
    "            global float *to = c + c0 + i * ldc + j + x;\n"
    "            *to = beta == 0 ? alpha * s[x] : fma(alpha, s[x], beta * *to);\n"
    "        }\n"
    "    }\n"
    "}\n";

static const qst_membership memberships[] = {{"unit", NULL, 3, 0}};

static int32_t can_run(void *user, const qst_device *device, const void *problem, const char **why)
{
    const qst_matmul *p = (const qst_matmul *)problem;
    (void)user;
    (void)device;
    if (p->a.type != QST_F32 || p->b.type != QST_F32 || p->c.type != QST_F32)
        return qstk_no(why, "f32 only");
    if (p->a.col != 1 || p->b.col != 1 || p->c.col != 1)
        return qstk_no(why, "adjacent columns only");
    if (p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3] != 1)
        return qstk_no(why, "no batches");
    if (p->m > 32768 || p->n > 32768 || p->k > INT32_MAX)
        return qstk_no(why, "m and n up to 32768, k up to 2^31 - 1");
    return QST_OK;
}

/* A boast, so that it is tried early. */
static double estimate(void *user, const qst_device *device, const void *problem)
{
    (void)user;
    (void)device;
    (void)problem;
    return 1.0;
}

static int32_t program(void *user, const qst_device *device, const qst_key *key, uint32_t index, qst_program *out)
{
    (void)user;
    (void)device;
    (void)key;
    (void)index;
    out->data = source;
    out->length = sizeof source - 1;
    return QST_OK;
}

static int32_t steps(void *user, const qst_device *device, const void *problem, qst_steps *out)
{
    const qst_matmul *p = (const qst_matmul *)problem;
    const qst_arg     args[] = {
            qstk_operand(0),    qstk_offset(0),     qstk_operand(1),    qstk_offset(1),    qstk_operand(2),
            qstk_offset(2),     qstk_i32(p->m),     qstk_i32(p->n),     qstk_i32(p->k),    qstk_i64(p->a.row),
            qstk_i64(p->b.row), qstk_i64(p->c.row), qstk_f32(p->alpha), qstk_f32(p->beta),
    };
    qst_launch launch = qstk_launch(0, "beyond_rows", 1, args, QSTK_COUNT(args));
    (void)user;
    (void)device;
    launch.global[0] = 1024;
    launch.local[0] = 16;
    return out->launch(out, &launch);
}

static const qst_candidate candidate = {
    .size = sizeof candidate,
    .op = "matmul",
    .variant = "row",
    .revision = 1,
    .classes = QST_CLASS_PLAIN | QST_CLASS_FAST,
    .problem_size = sizeof(qst_matmul),
    .n_memberships = QSTK_COUNT(memberships),
    .memberships = memberships,
    .can_run = can_run,
    .estimate = estimate,
    .program = program,
    .steps = steps,
};

static int32_t start(const qst_host *host, void **instance)
{
    *instance = NULL;
    return host->add_candidate(host->self, &candidate);
}

extern QSTK_EXPORT const qst_plugin qst_plugin_v1;
const qst_plugin                    qst_plugin_v1 = {
                       .magic = QST_PLUGIN_MAGIC,
                       .size = sizeof qst_plugin_v1,
                       .abi_major = QST_ABI_MAJOR,
                       .abi_minor = QST_ABI_MINOR,
                       .name = "beyond",
                       .version = "1.0",
                       .licence = "MIT",
                       .start = start,
};
