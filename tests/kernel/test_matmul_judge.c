/* SPDX-License-Identifier: MIT
 *
 * test_matmul_judge.c: the judge of matmul and its trivial candidate on a real OpenCL device: right results pass,
 * each kind of wrong one is caught and named, and nothing but what should be is written. Each case runs in the form
 * for a CPU and in the form for a GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <quernstone/kit.h>
#include <quernstone/matmul.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define START        5 /* elements before an operand */
#define TAIL         9 /* and behind it */
#define SEED         UINT64_C(0x123456789abcdef)

/* ---- A runner of launches --------------------------------------------------------------------------------------- */

enum { A, B, C, OLD, FINDING, WORK, BUFFERS = WORK + 4 };

typedef struct runner {
    qst_steps         steps; /* first: the callbacks get its address */
    cl_context        context;
    cl_command_queue  queue;
    cl_device_id      id;
    qst_device        device;
    const qst_matmul *problem;
    cl_mem            buffer[BUFFERS];
    cl_program        programs[64];
    const char       *options[64];
    const void       *texts[64];
    int               n_programs;
    int               judging; /* else the trivial candidate */
} runner;

static void make_queue(runner *r)
{
    cl_platform_id      platforms[8];
    cl_uint             n = 0;
    cl_int              rc;
    cl_device_fp_config f64 = 0;
    assert_int_equal(clGetPlatformIDs(COUNT(platforms), platforms, &n), CL_SUCCESS);
    for (cl_uint i = 0; i < n && i < COUNT(platforms) && !r->id; i++)
        if (clGetDeviceIDs(platforms[i], CL_DEVICE_TYPE_ALL, 1, &r->id, NULL) != CL_SUCCESS)
            r->id = NULL;
    assert_non_null(r->id);
    r->context = clCreateContext(NULL, 1, &r->id, NULL, NULL, &rc);
    assert_int_equal(rc, CL_SUCCESS);
    r->queue = clCreateCommandQueue(r->context, r->id, 0, &rc);
    assert_int_equal(rc, CL_SUCCESS);
    (void)clGetDeviceInfo(r->id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof f64, &f64, NULL);
    r->device.size = (uint32_t)sizeof r->device;
    r->device.units = 2;
    r->device.flags = f64 ? QST_DEVICE_F64 : 0;
}

static cl_program build(runner *r, uint32_t index)
{
    qst_program p = {.size = sizeof p, .form = QST_PROGRAM_SOURCE};
    qst_key     none = {0, 0, NULL};
    const char *text;
    size_t      length;
    cl_int      rc;
    if (r->judging)
        rc = qst_matmul_op.judge->program(NULL, &r->device, r->problem, index, &p);
    else
        rc = qst_matmul_op.trivial->program(NULL, &r->device, &none, index, &p);
    assert_int_equal(rc, QST_OK);
    for (int i = 0; i < r->n_programs; i++)
        if (r->texts[i] == p.data && strcmp(r->options[i], p.options) == 0)
            return r->programs[i];
    assert_in_range(r->n_programs, 0, COUNT(r->programs) - 1);
    text = p.data;
    length = (size_t)p.length;
    cl_program program = clCreateProgramWithSource(r->context, 1, &text, &length, &rc);
    assert_int_equal(rc, CL_SUCCESS);
    if (clBuildProgram(program, 1, &r->id, p.options, NULL, NULL) != CL_SUCCESS) {
        static char log[8000];
        (void)clGetProgramBuildInfo(program, r->id, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fail_msg("%s: %s", p.options, log);
    }
    r->programs[r->n_programs] = program;
    r->options[r->n_programs] = p.options;
    r->texts[r->n_programs++] = p.data;
    return program;
}

static int slot_of(const qst_arg *arg)
{
    if (arg->kind == QST_ARG_WORKSPACE)
        return WORK + (int)arg->index;
    return arg->index == QST_JUDGE_FINDING               ? FINDING
           : arg->index == QST_JUDGE_BEFORE + (cl_uint)C ? OLD
                                                         : (int)arg->index;
}

static int32_t on_launch(qst_steps *steps, const qst_launch *launch)
{
    runner   *r = (runner *)steps;
    cl_int    rc;
    cl_ulong  start = START;
    size_t    global[3], local[3];
    cl_kernel kernel = clCreateKernel(build(r, launch->program), launch->entry, &rc);
    assert_int_equal(rc, CL_SUCCESS);
    for (cl_uint i = 0; i < launch->n_args; i++) {
        const qst_arg *arg = &launch->args[i];
        switch (arg->kind) {
        case QST_ARG_OPERAND:
        case QST_ARG_WORKSPACE:
            assert_non_null(r->buffer[slot_of(arg)]);
            rc = clSetKernelArg(kernel, i, sizeof(cl_mem), &r->buffer[slot_of(arg)]);
            break;
        case QST_ARG_OFFSET:
            rc = clSetKernelArg(kernel, i, sizeof start, &start);
            break;
        case QST_ARG_LOCAL:
            rc = clSetKernelArg(kernel, i, (size_t)arg->bytes, NULL);
            break;
        default:
            rc = clSetKernelArg(kernel, i, (size_t)arg->bytes, arg->bits);
        }
        assert_int_equal(rc, CL_SUCCESS);
    }
    for (cl_uint d = 0; d < launch->dims; d++) {
        global[d] = (size_t)launch->global[d];
        local[d] = (size_t)launch->local[d];
        assert_int_equal(global[d] % local[d], 0);
    }
    assert_int_equal(clEnqueueNDRangeKernel(r->queue, kernel, launch->dims, NULL, global, local, 0, NULL, NULL),
                     CL_SUCCESS);
    assert_int_equal(clFinish(r->queue), CL_SUCCESS);
    clReleaseKernel(kernel);
    return QST_OK;
}

static void set_buffer(runner *r, int slot, const void *data, size_t bytes)
{
    cl_int rc;
    if (r->buffer[slot])
        clReleaseMemObject(r->buffer[slot]);
    r->buffer[slot] = clCreateBuffer(r->context, CL_MEM_READ_WRITE, bytes, NULL, &rc);
    assert_int_equal(rc, CL_SUCCESS);
    if (data)
        assert_int_equal(clEnqueueWriteBuffer(r->queue, r->buffer[slot], CL_TRUE, 0, bytes, data, 0, NULL, NULL),
                         CL_SUCCESS);
}

static int32_t on_workspace(qst_steps *steps, uint32_t index, uint64_t bytes)
{
    assert_in_range(index, 0, BUFFERS - WORK - 1);
    assert_true(bytes > 0);
    set_buffer((runner *)steps, WORK + (int)index, NULL, (size_t)bytes);
    return QST_OK;
}

/* ---- Problems with their data on the host ------------------------------------------------------------------------- */

typedef struct data {
    qst_matmul p;
    size_t     elements[OLD + 1]; /* of the buffer */
    size_t     bytes[OLD + 1];
    uint8_t   *memory[OLD + 1];
} data;

static uint32_t type_of(const qst_matmul *p, int operand)
{
    return operand == A ? p->a.type : operand == B ? p->b.type : p->c.type;
}

static uint32_t bytes_of(uint32_t type)
{
    return type == QST_F64 ? 8 : type == QST_F32 ? 4 : 2;
}

/* Halves: exact for what the tests put there (normal numbers of 11 bits, zero, NaN). */
static void put(uint32_t type, uint8_t *memory, int64_t at, double value)
{
    float    f = (float)value;
    uint32_t bits;
    uint16_t narrow;
    memcpy(&bits, &f, sizeof bits);
    if (type == QST_F64) {
        memcpy(memory + 8 * at, &value, 8);
    } else if (type == QST_F32) {
        memcpy(memory + 4 * at, &f, 4);
    } else {
        if (type == QST_BF16)
            narrow = (uint16_t)(bits >> 16);
        else if (isnan(value))
            narrow = 0x7e00;
        else if (value == 0.0)
            narrow = 0;
        else
            narrow = (uint16_t)((bits >> 16 & 0x8000) | ((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 0x3ff));
        memcpy(memory + 2 * at, &narrow, 2);
    }
}

static double get(uint32_t type, const uint8_t *memory, int64_t at)
{
    double   value;
    float    f;
    uint16_t narrow;
    uint32_t bits;
    if (type == QST_F64) {
        memcpy(&value, memory + 8 * at, 8);
        return value;
    }
    if (type == QST_F32) {
        memcpy(&f, memory + 4 * at, 4);
        return (double)f;
    }
    memcpy(&narrow, memory + 2 * at, 2);
    if (type == QST_BF16)
        bits = (uint32_t)narrow << 16;
    else if ((narrow & 0x7fff) == 0)
        bits = 0;
    else
        bits = (narrow & 0x8000u) << 16 | ((narrow >> 10 & 31u) + 112u) << 23 | (narrow & 0x3ffu) << 13;
    memcpy(&f, &bits, sizeof f);
    return (double)f;
}

static int64_t index_of(const qst_matrix *x, const int64_t *batch, int64_t b, int64_t i, int64_t j)
{
    int64_t at = START + i * x->row + j * x->col;
    for (int d = 3; d >= 0; d--) {
        at += b % batch[d] * x->batch[d];
        b /= batch[d];
    }
    return at;
}

static int64_t a_at(const qst_matmul *p, int64_t b, int64_t i, int64_t l)
{
    return index_of(&p->a, p->batch, b, i, l);
}
static int64_t b_at(const qst_matmul *p, int64_t b, int64_t l, int64_t j)
{
    return index_of(&p->b, p->batch, b, l, j);
}
static int64_t c_at(const qst_matmul *p, int64_t b, int64_t i, int64_t j)
{
    return index_of(&p->c, p->batch, b, i, j);
}

static int64_t batches_of(const qst_matmul *p)
{
    return p->batch[0] * p->batch[1] * p->batch[2] * p->batch[3];
}

static double random_real(uint32_t *x)
{
    *x = *x * 1664525u + 1013904223u;
    return (double)(int32_t)(*x & 0xffffff00u) / 2147483648.0;
}

/* Operands with NaN in all gaps; integers of −3 … 3, or reals of (−1, 1). */
static void make(data *d, int real)
{
    uint32_t x = 12345;
    for (int i = A; i <= OLD; i++) {
        uint32_t type = type_of(&d->p, i);
        uint64_t span = qst_matmul_op.span(NULL, &d->p, (uint32_t)(i == OLD ? C : i));
        d->elements[i] = START + (size_t)span / bytes_of(type) + TAIL;
        d->bytes[i] = d->elements[i] * bytes_of(type);
        d->memory[i] = malloc(d->bytes[i]);
        assert_non_null(d->memory[i]);
        for (size_t e = 0; e < d->elements[i]; e++)
            put(type, d->memory[i], (int64_t)e, NAN);
    }
    for (int64_t b = 0; b < batches_of(&d->p); b++) {
        for (int64_t l = 0; l < d->p.k; l++) {
            for (int64_t i = 0; i < d->p.m; i++)
                put(d->p.a.type, d->memory[A], a_at(&d->p, b, i, l),
                    real ? random_real(&x) : floor(3.5 * random_real(&x) + 0.5));
            for (int64_t j = 0; j < d->p.n; j++)
                put(d->p.b.type, d->memory[B], b_at(&d->p, b, l, j),
                    real ? random_real(&x) : floor(3.5 * random_real(&x) + 0.5));
        }
        for (int64_t i = 0; i < d->p.m; i++)
            for (int64_t j = 0; j < d->p.n && d->p.beta != 0.0; j++)
                put(d->p.c.type, d->memory[OLD], c_at(&d->p, b, i, j),
                    real ? random_real(&x) : floor(3.5 * random_real(&x) + 0.5));
    }
}

static double cut(double x, int bits)
{
    int    e;
    double f = frexp(x, &e);
    return bits == 0 ? x : ldexp(rint(ldexp(f, bits)), e - bits);
}

/* C by fma loops of the accumulation type, from inputs of `bits` bits (0: as they are). */
static void multiply(data *d, int in_double, int bits)
{
    for (int64_t b = 0; b < batches_of(&d->p); b++)
        for (int64_t i = 0; i < d->p.m; i++)
            for (int64_t j = 0; j < d->p.n; j++) {
                double s = 0.0, old = 0.0;
                for (int64_t l = 0; l < d->p.k; l++) {
                    double x = cut(get(d->p.a.type, d->memory[A], a_at(&d->p, b, i, l)), bits);
                    double y = cut(get(d->p.b.type, d->memory[B], b_at(&d->p, b, l, j)), bits);
                    s = in_double ? fma(x, y, s) : (double)fmaf((float)x, (float)y, (float)s);
                }
                if (d->p.beta != 0.0)
                    old = d->p.beta * get(d->p.c.type, d->memory[OLD], c_at(&d->p, b, i, j));
                put(d->p.c.type, d->memory[C], c_at(&d->p, b, i, j), d->p.alpha * s + old);
            }
}

static void drop(data *d)
{
    for (int i = A; i <= OLD; i++)
        free(d->memory[i]);
}

static void upload(runner *r, const data *d)
{
    r->problem = &d->p;
    for (int i = A; i <= OLD; i++)
        set_buffer(r, i, d->memory[i], d->bytes[i]);
}

static void phase(runner *r, uint32_t which, uint32_t *finding, int fresh)
{
    if (fresh)
        memset(finding, 0, QST_FINDING_WORDS * sizeof *finding);
    set_buffer(r, FINDING, finding, QST_FINDING_WORDS * sizeof *finding);
    r->judging = 1;
    assert_int_equal(qst_matmul_op.judge->steps(NULL, &r->device, r->problem, which, SEED, &r->steps), QST_OK);
    assert_int_equal(clEnqueueReadBuffer(r->queue, r->buffer[FINDING], CL_TRUE, 0, QST_FINDING_WORDS * sizeof *finding,
                                         finding, 0, NULL, NULL),
                     CL_SUCCESS);
}

static void read_back(runner *r, int slot, uint8_t *to, size_t bytes)
{
    assert_int_equal(clEnqueueReadBuffer(r->queue, r->buffer[slot], CL_TRUE, 0, bytes, to, 0, NULL, NULL), CL_SUCCESS);
}

/* ---- Shapes -------------------------------------------------------------------------------------------------------- */

enum { DENSE, PADDED, A_TURNED, B_TURNED, BOTH_TURNED, STRIDED, BATCHED, A_BROADCAST, ROW, COLUMN, OUTER, LAYOUTS };

static void shape(qst_matmul *p, int which, uint32_t type)
{
    static const int64_t sizes[LAYOUTS][3] = {{37, 29, 41}, {33, 65, 34}, {35, 19, 40}, {18, 37, 50},
                                              {34, 35, 33}, {21, 23, 22}, {19, 18, 17}, {20, 21, 35},
                                              {1, 70, 33},  {70, 1, 33},  {20, 40, 1}};
    qst_matmul_init(p, sizes[which][0], sizes[which][1], sizes[which][2], type);
    if (which == PADDED) {
        p->a.row += 3;
        p->b.row += 7;
        p->c.row += 5;
    }
    if (which == A_TURNED || which == BOTH_TURNED) {
        p->a.row = 1;
        p->a.col = p->m + 2;
    }
    if (which == B_TURNED || which == BOTH_TURNED) {
        p->b.row = 1;
        p->b.col = p->k;
    }
    if (which == STRIDED) {
        p->a.col = p->b.col = p->c.col = 2;
        p->a.row = 2 * p->k + 1;
        p->b.row = 2 * p->n;
        p->c.row = 2 * p->n + 3;
    }
    if (which == BATCHED) { /* 2 x 3; B shared in the inner dimension, C's batches the other way round */
        p->batch[2] = 2;
        p->batch[3] = 3;
        p->a.batch[3] = p->m * p->k;
        p->a.batch[2] = 3 * p->m * p->k + 1;
        p->b.batch[2] = p->k * p->n;
        p->c.batch[2] = p->m * p->n;
        p->c.batch[3] = 2 * p->m * p->n + 4;
    }
    if (which == A_BROADCAST) {
        p->a.row = 0;
        p->batch[3] = 2;
        p->c.batch[3] = p->m * p->n;
    }
}

static void expect_pass(runner *r, const data *d)
{
    uint32_t finding[QST_FINDING_WORDS];
    upload(r, d);
    phase(r, QST_JUDGE_EQUAL, finding, 1);
    assert_int_equal(finding[0], 0);
}

/* One wrong element: caught as one wrong line, and named as what is to be read. */
static void expect_named(runner *r, data *d, int64_t b, int64_t i, int64_t j, double wrong)
{
    uint32_t finding[QST_FINDING_WORDS];
    char     text[200], want[200], where[60];
    int64_t  at = c_at(&d->p, b, i, j);
    double   right = get(d->p.c.type, d->memory[C], at);

    put(d->p.c.type, d->memory[C], at, wrong);
    upload(r, d);
    phase(r, QST_JUDGE_EQUAL, finding, 1);
    assert_int_equal(finding[0], 1);
    phase(r, QST_JUDGE_LOCATE, finding, 0);
    qst_matmul_op.judge->tell(NULL, &d->p, QST_JUDGE_LOCATE, finding, text, sizeof text);
    (void)snprintf(where, sizeof where, batches_of(&d->p) > 1 ? " of batch %d" : "", (int)b);
    if (isnan(wrong))
        (void)snprintf(want, sizeof want, "C[%d,%d]%s is not a number, should be %g", (int)i, (int)j, where, right);
    else
        (void)snprintf(want, sizeof want, "C[%d,%d]%s is %.9g, should be %g", (int)i, (int)j, where, wrong, right);
    assert_string_equal(text, want);
    put(d->p.c.type, d->memory[C], at, right);
}

static void both_forms(void **state, void (*test)(runner *))
{
    runner *r = *state;
    r->device.type = QST_DEVICE_CPU;
    test(r);
    r->device.type = QST_DEVICE_GPU;
    test(r);
}

static void equal_f32(runner *r)
{
    static const double scalars[][2] = {{1, 0}, {-2, 1}, {2, -1}};
    for (int which = 0; which < LAYOUTS; which++)
        for (size_t s = 0; s < COUNT(scalars); s++) {
            data    d;
            int64_t m, n, last;
            shape(&d.p, which, QST_F32);
            d.p.alpha = scalars[s][0];
            d.p.beta = scalars[s][1];
            make(&d, 0);
            multiply(&d, 0, 0);
            m = d.p.m;
            n = d.p.n;
            last = batches_of(&d.p) - 1;
            expect_pass(r, &d);
            expect_named(r, &d, 0, 0, 0, NAN);
            expect_named(r, &d, last, m - 1, n - 1, get(QST_F32, d.memory[C], c_at(&d.p, last, m - 1, n - 1)) + 1);
            expect_named(r, &d, last, m / 2, n / 3, 0.5);
            expect_named(r, &d, 0, m / 3, n / 2, (double)INFINITY);
            expect_named(r, &d, 0, m - 1, 0, 4294967296.0);
            drop(&d);
        }
}

static void test_equal_f32(void **state)
{
    both_forms(state, equal_f32);
}

static void equal_types(runner *r)
{
    static const uint32_t types[][3] = {{QST_F64, QST_F64, QST_F64},
                                        {QST_F16, QST_F16, QST_F16},
                                        {QST_BF16, QST_BF16, QST_F32},
                                        {QST_F16, QST_F32, QST_BF16}};
    for (size_t t = 0; t < COUNT(types); t++) {
        data d;
        if (types[t][0] == QST_F64 && !(r->device.flags & QST_DEVICE_F64))
            continue;
        shape(&d.p, t % 2 ? PADDED : BOTH_TURNED, QST_F32);
        d.p.k = 9; /* sums up to 84 are exact in all of them */
        d.p.a.type = types[t][0];
        d.p.b.type = types[t][1];
        d.p.c.type = types[t][2];
        d.p.beta = 1.0;
        make(&d, 0);
        multiply(&d, 1, 0);
        expect_pass(r, &d);
        expect_named(r, &d, 0, 7, 11, get(types[t][2], d.memory[C], c_at(&d.p, 0, 7, 11)) - 1);
        expect_named(r, &d, 0, 12, 2, NAN);
        drop(&d);
    }
}

static void test_equal_types(void **state)
{
    both_forms(state, equal_types);
}

static void two_errors(runner *r)
{
    uint32_t finding[QST_FINDING_WORDS];
    char     text[200], want[200];
    data     d;
    float   *c;
    shape(&d.p, DENSE, QST_F32);
    make(&d, 0);
    multiply(&d, 0, 0);
    c = (float *)(void *)d.memory[C];
    c[c_at(&d.p, 0, 17, 20)] -= 1.0f;
    c[c_at(&d.p, 0, 17, 3)] += 1.0f; /* the plain sum of the row stays */
    c[c_at(&d.p, 0, 30, 0)] += 1.0f;
    upload(r, &d);
    phase(r, QST_JUDGE_EQUAL, finding, 1);
    assert_int_equal(finding[0], 2);
    qst_matmul_op.judge->tell(NULL, &d.p, QST_JUDGE_EQUAL, finding, text, sizeof text);
    assert_string_equal(text, "2 of 37 rows are wrong, the first is row 17 of C");
    phase(r, QST_JUDGE_LOCATE, finding, 0);
    qst_matmul_op.judge->tell(NULL, &d.p, QST_JUDGE_LOCATE, finding, text, sizeof text);
    (void)snprintf(want, sizeof want, "C[17,3] is %g, should be %g", (double)c[c_at(&d.p, 0, 17, 3)],
                   (double)c[c_at(&d.p, 0, 17, 3)] - 1.0);
    assert_string_equal(text, want);
    drop(&d);
}

static void test_two_errors_in_a_row(void **state)
{
    both_forms(state, two_errors);
}

/* ---- ERASE, SCALE and the trivial candidate ------------------------------------------------------------------------ */

/* Marks C's elements in a map of the buffer. */
static uint8_t *map_of(const data *d)
{
    uint8_t *map = calloc(d->elements[C], 1);
    assert_non_null(map);
    for (int64_t b = 0; b < batches_of(&d->p); b++)
        for (int64_t i = 0; i < d->p.m; i++)
            for (int64_t j = 0; j < d->p.n; j++)
                map[c_at(&d->p, b, i, j)] = 1;
    return map;
}

static void erase(runner *r)
{
    static const uint32_t types[] = {QST_F32, QST_F64, QST_F16};
    for (size_t t = 0; t < COUNT(types); t++)
        for (int which = 0; which <= BATCHED; which++) {
            uint32_t finding[QST_FINDING_WORDS], width = bytes_of(types[t]);
            data     d;
            uint8_t *map;
            if (types[t] == QST_F64 && !(r->device.flags & QST_DEVICE_F64))
                continue;
            shape(&d.p, which, types[t]);
            if (which == DENSE) { /* column-major */
                d.p.c.row = 1;
                d.p.c.col = d.p.m + 1;
            }
            make(&d, 0);
            memset(d.memory[C], 0x41, d.bytes[C]);
            upload(r, &d);
            phase(r, QST_JUDGE_ERASE, finding, 1);
            read_back(r, C, d.memory[C], d.bytes[C]);
            map = map_of(&d);
            for (size_t byte = 0; byte < d.bytes[C]; byte++)
                assert_int_equal(d.memory[C][byte], map[byte / width] ? 0xff : 0x41);
            free(map);
            drop(&d);
        }
}

static void test_erase_touches_c_alone(void **state)
{
    both_forms(state, erase);
}

/* Column 0 of A and row 0 of B once each, all else as it was. */
static void scaled(runner *r)
{
    for (int which = 0; which < LAYOUTS; which++) {
        uint32_t finding[QST_FINDING_WORDS];
        data     d;
        float   *was[2], *is[2];
        shape(&d.p, which, QST_F32);
        make(&d, 1);
        upload(r, &d);
        phase(r, QST_JUDGE_SCALE, finding, 1);
        for (int i = A; i <= B; i++) {
            was[i] = (float *)(void *)d.memory[i];
            is[i] = malloc(d.bytes[i]);
            read_back(r, i, (uint8_t *)is[i], d.bytes[i]);
        }
        for (int64_t b = 0; b < batches_of(&d.p); b++) {
            for (int64_t i = 0; i < d.p.m; i++)
                assert_true(is[A][a_at(&d.p, b, i, 0)] == was[A][a_at(&d.p, b, i, 0)] * 0x1p40f);
            for (int64_t j = 0; j < d.p.n; j++)
                assert_true(is[B][b_at(&d.p, b, 0, j)] == was[B][b_at(&d.p, b, 0, j)] * 0x1p-40f);
        }
        for (int64_t b = 0; b < batches_of(&d.p); b++) { /* put back what was to change: the rest must be equal */
            for (int64_t i = 0; i < d.p.m; i++)
                is[A][a_at(&d.p, b, i, 0)] = was[A][a_at(&d.p, b, i, 0)];
            for (int64_t j = 0; j < d.p.n; j++)
                is[B][b_at(&d.p, b, 0, j)] = was[B][b_at(&d.p, b, 0, j)];
        }
        assert_memory_equal(is[A], was[A], d.bytes[A]);
        assert_memory_equal(is[B], was[B], d.bytes[B]);
        free(is[A]);
        free(is[B]);
        drop(&d);
    }
}

static void test_scale_once(void **state)
{
    both_forms(state, scaled);
}

static void trivial(runner *r)
{
    static const double   betas[] = {0.0, -2.0};
    static const uint32_t types[] = {QST_F32, QST_F64, QST_F16, QST_BF16};
    for (size_t t = 0; t < COUNT(types); t++)
        for (int which = 0; which <= BATCHED; which++)
            for (size_t s = 0; s < COUNT(betas); s++) {
                data     d;
                uint8_t *map, *after;
                uint32_t x = 77;
                if (types[t] == QST_F64 && !(r->device.flags & QST_DEVICE_F64))
                    continue;
                shape(&d.p, which, types[t]);
                d.p.beta = betas[s];
                make(&d, 0);
                map = map_of(&d);
                for (size_t e = 0; e < d.elements[C] && d.p.beta != 0.0; e++) /* with beta 0 NaN stays in C */
                    put(types[t], d.memory[C], (int64_t)e, floor(50.0 * random_real(&x)));
                upload(r, &d);
                r->judging = 0;
                assert_int_equal(qst_matmul_op.trivial->steps(NULL, &r->device, &d.p, &r->steps), QST_OK);
                after = malloc(d.bytes[C]);
                read_back(r, C, after, d.bytes[C]);
                for (size_t e = 0; e < d.elements[C]; e++) {
                    size_t width = bytes_of(types[t]);
                    double was = get(types[t], d.memory[C], (int64_t)e);
                    if (map[e])
                        assert_true(get(types[t], after, (int64_t)e) == (betas[s] == 0.0 ? 0.0 : betas[s] * was));
                    else
                        assert_memory_equal(after + e * width, d.memory[C] + e * width, width);
                }
                free(after);
                free(map);
                drop(&d);
            }
}

static void test_trivial_candidate(void **state)
{
    both_forms(state, trivial);
}

/* ---- BOUND ----------------------------------------------------------------------------------------------------------- */

static uint32_t bound_of(runner *r, data *d, char *text, size_t size)
{
    uint32_t finding[QST_FINDING_WORDS];
    upload(r, d);
    phase(r, QST_JUDGE_BOUND, finding, 1);
    qst_matmul_op.judge->tell(NULL, &d->p, QST_JUDGE_BOUND, finding, text, (uint32_t)size);
    return finding[0];
}

static void bound_f32(runner *r)
{
    static const int layouts[] = {DENSE,   PADDED,      A_TURNED, B_TURNED, BOTH_TURNED, STRIDED,
                                  BATCHED, A_BROADCAST, ROW,      COLUMN,   OUTER};
    for (size_t which = 0; which < COUNT(layouts); which++) {
        char text[300];
        data d;
        shape(&d.p, layouts[which], QST_F32);
        d.p.alpha = 0.75;
        d.p.beta = -1.25;
        make(&d, 1);
        multiply(&d, 0, 0);
        assert_int_equal(bound_of(r, &d, text, sizeof text), 0);
        multiply(&d, 0, 11); /* as tensor cores would read them */
        assert_true(bound_of(r, &d, text, sizeof text) > 0);
        assert_non_null(strstr(text, "differs from"));
        d.p.numerics = QST_NUMERICS_FAST;
        assert_int_equal(bound_of(r, &d, text, sizeof text), 0);
        d.p.numerics = QST_NUMERICS_PLAIN;
        multiply(&d, 0, 0);
        put(QST_F32, d.memory[C], c_at(&d.p, 0, 0, d.p.n - 1), NAN); /* the first line is always sampled */
        assert_true(bound_of(r, &d, text, sizeof text) > 0);
        assert_non_null(strstr(text, "is not a number"));
        drop(&d);
    }
}

/* In double, and in compensated float where the device is said to have no double. */
static void test_bound_f32(void **state)
{
    runner  *r = *state;
    uint32_t flags = r->device.flags;
    both_forms(state, bound_f32);
    r->device.flags &= ~(uint32_t)QST_DEVICE_F64;
    both_forms(state, bound_f32);
    r->device.flags = flags;
}

static void bound_f64(runner *r)
{
    char text[300];
    data d;
    if (!(r->device.flags & QST_DEVICE_F64))
        return;
    shape(&d.p, PADDED, QST_F64);
    d.p.beta = 1.0;
    make(&d, 1);
    multiply(&d, 1, 0);
    assert_int_equal(bound_of(r, &d, text, sizeof text), 0);
    multiply(&d, 0, 0);
    assert_true(bound_of(r, &d, text, sizeof text) > 0);
    drop(&d);
}

static void test_bound_f64(void **state)
{
    both_forms(state, bound_f64);
}

/* More lines than are sampled, each wrong in the last column: one for each sample, the worst of them named. */
static void bound_samples(runner *r)
{
    char     text[300];
    data     d;
    uint32_t found;
    qst_matmul_init(&d.p, 300, 20, 64, QST_F32);
    make(&d, 1);
    multiply(&d, 0, 0);
    for (int64_t i = 0; i < d.p.m; i++)
        put(QST_F32, d.memory[C], c_at(&d.p, 0, i, 19), i == d.p.m - 1 ? 5000.0 : 70.0);
    found = bound_of(r, &d, text, sizeof text);
    assert_int_equal(found, r->device.type == QST_DEVICE_CPU ? 16 : 32);
    assert_int_equal(strncmp(text, "C[299,19] is 5000, differs from", 31), 0);
    drop(&d);
}

static void test_bound_samples(void **state)
{
    both_forms(state, bound_samples);
}

static int setup(void **state)
{
    runner *r = calloc(1, sizeof *r);
    if (!r)
        return -1;
    r->steps.size = (uint32_t)sizeof r->steps;
    r->steps.launch = on_launch;
    r->steps.workspace = on_workspace;
    make_queue(r);
    *state = r;
    return 0;
}

static int teardown(void **state)
{
    runner *r = *state;
    for (int i = 0; i < BUFFERS; i++)
        if (r->buffer[i])
            clReleaseMemObject(r->buffer[i]);
    for (int i = 0; i < r->n_programs; i++)
        clReleaseProgram(r->programs[i]);
    clReleaseCommandQueue(r->queue);
    clReleaseContext(r->context);
    free(r);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_f32),           cmocka_unit_test(test_equal_types),
        cmocka_unit_test(test_two_errors_in_a_row), cmocka_unit_test(test_erase_touches_c_alone),
        cmocka_unit_test(test_scale_once),          cmocka_unit_test(test_trivial_candidate),
        cmocka_unit_test(test_bound_f32),           cmocka_unit_test(test_bound_f64),
        cmocka_unit_test(test_bound_samples),
    };
    return cmocka_run_group_tests_name("matmul judge", tests, setup, teardown);
}
