/* SPDX-License-Identifier: MIT
 *
 * peer.c: opens CLBlast and a host's BLAS, and calls the function of theirs that suits the problem best: gemv where C is
 * a vector, the batched call where there is one, else gemm, once a product. */
#include "peer.h"

#include "out.h"
#include "plugins/common/blas.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Rows: gemm, gemv of f32, then of f64; then CLBlast's batches. All take what the typedefs below say. */
enum { SGEMM, DGEMM, SGEMV, DGEMV, SBATCH, DBATCH, SYMBOLS };

typedef void (*symbol)(void);

struct peer {
    const char *name, *setting, *library;
    bool        host;
    const char *symbols[SYMBOLS];
    symbol      at[SYMBOLS];
    const char *detail;
};

static const peer known[] = {
    {"clblast",
     "plugin.clblast.library",
     "libclblast.so.1",
     false,
     {"CLBlastSgemm", "CLBlastDgemm", "CLBlastSgemv", "CLBlastDgemv", "CLBlastSgemmStridedBatched",
      "CLBlastDgemmStridedBatched"},
     {NULL},
     NULL},
    {"openblas",
     "plugin.cblas.library",
     "libopenblas.so.0",
     true,
     {"cblas_sgemm", "cblas_dgemm", "cblas_sgemv", "cblas_dgemv", NULL, NULL},
     {NULL},
     NULL},
};

#define CL_GEMM(real)                                                                                                  \
    int (*)(int, int, int, size_t, size_t, size_t, real, cl_mem, size_t, size_t, cl_mem, size_t, size_t, real, cl_mem, \
            size_t, size_t, cl_command_queue *, cl_event *)
#define CL_GEMV(real)                                                                                                  \
    int (*)(int, int, size_t, size_t, real, cl_mem, size_t, size_t, cl_mem, size_t, size_t, real, cl_mem, size_t,      \
            size_t, cl_command_queue *, cl_event *)
#define CL_BATCH(real)                                                                                                 \
    int (*)(int, int, int, size_t, size_t, size_t, real, cl_mem, size_t, size_t, size_t, cl_mem, size_t, size_t,       \
            size_t, real, cl_mem, size_t, size_t, size_t, size_t, cl_command_queue *, cl_event *)
#define HOST_GEMM(real)                                                                                                \
    void (*)(int, int, int, int, int, int, real, const real *, int, const real *, int, real, real *, int)
#define HOST_GEMV(real) void (*)(int, int, int, int, real, const real *, int, const real *, int, real, real *, int)

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

/* The path that the configuration names; the caller frees. */
static char *library_of(const peer *kind, qst_context *context)
{
    json_t *rows = out_describe(context, "config");
    char   *path = NULL;
    for (size_t i = 0; i < json_array_size(rows) && !path; i++) {
        const json_t *row = json_array_get(rows, i);
        if (strcmp(out_member(row, "path"), kind->setting) == 0)
            path = out_text("%s", out_member(row, "value"));
    }
    json_decref(rows);
    return path ? path : out_text("%s", kind->library);
}

static bool resolve(peer *p, void *library, char **why)
{
    void *core = dlsym(library, "openblas_get_corename");
    if (core) {
        char *(*name)(void);
        memcpy(&name, &core, sizeof core);
        p->detail = name();
    }
    for (int i = 0; i < SYMBOLS; i++) {
        if (!p->symbols[i])
            continue;
        void *found = dlsym(library, p->symbols[i]);
        memcpy(&p->at[i], &found, sizeof found);
        if (!found) {
            *why = out_text("the library has no %s", p->symbols[i]);
            return false;
        }
    }
    return true;
}

static const peer *find(const char *name)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, name) == 0)
            return &known[i];
    return NULL;
}

bool peer_known(const char *name)
{
    return find(name) != NULL;
}

peer *peer_open(const char *name, const device_handle *device, char **why)
{
    cl_device_type type = 0;
    const peer    *kind = find(name);
    if (!kind) {
        *why = out_text("no such peer; there are clblast and openblas");
        return NULL;
    }
    clGetDeviceInfo(device->id, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (kind->host && !(type & CL_DEVICE_TYPE_CPU)) {
        *why = out_text("computes on the host, and the device is no CPU");
        return NULL;
    }
    char *path = library_of(kind, device->context);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    peer *p = NULL;
    if (!library) {
        const char *said = dlerror();
        *why = out_text("%s", said ? said : path);
    } else {
        p = out_resize(NULL, sizeof *p);
        *p = *kind;
        if (!resolve(p, library, why)) {
            free(p);
            p = NULL;
        }
    }
    free(path);
    return p;
}

void peer_close(peer *p)
{
    free(p); /* the library stays: its threads may be about to leave its code */
}

const char *peer_name(const peer *p)
{
    return p->name;
}

const char *peer_detail(const peer *p)
{
    return p->detail;
}

bool peer_on_host(const peer *p)
{
    return p->host;
}

bool peer_suits(const peer *p, const qst_matmul *problem, const char **why)
{
    struct blas_matrix a = blas_express(&problem->a, problem->m, problem->k);
    struct blas_matrix b = blas_express(&problem->b, problem->k, problem->n);
    struct blas_matrix c = blas_express(&problem->c, problem->m, problem->n);
    int                dims;
    (void)blas_batch(problem, &dims);
    *why = NULL;
    if (!blas_one_type(problem))
        *why = "A, B and C all f32 or all f64 only";
    else if (!a.ld || !b.ld || !c.ld || c.transpose != BLAS_PLAIN)
        *why = "a layout that BLAS cannot say";
    else if (dims > 1)
        *why = "one batch dimension only";
    else if (problem->k == 0 && !p->host)
        *why = "k = 0 is refused";
    return !*why;
}

/* ---- Calling ---------------------------------------------------------------------------------------------------- */

typedef struct places {
    const data_matrix *const *matrices;
    unsigned char *const     *host;
    size_t                    element; /* bytes */
} places;

static size_t start(const places *at, int i)
{
    return (size_t)at->matrices[i]->start / at->element;
}

static cl_mem mem(const places *at, int i)
{
    return at->matrices[i]->mem;
}

static void *host(const places *at, int i, int64_t product, const qst_matrix *view, int dimension)
{
    int64_t stride = dimension < 0 ? 0 : view->batch[dimension];
    return at->host[i] + at->matrices[i]->start + (size_t)(product * stride) * at->element;
}

#define SIZES       (size_t) p->m, (size_t)p->n, (size_t)p->k
#define PLACE(x, i) mem(at, i), start(at, i), (x).ld

static int call_cl_gemv(const peer *lib, const qst_matmul *p, const struct blas_vector *v, const places *at,
                        cl_command_queue *queue)
{
    if (at->element == sizeof(double))
        return ((CL_GEMV(double))lib->at[DGEMV])(BLAS_ROW_MAJOR, v->transpose, v->rows, v->cols, p->alpha,
                                                 mem(at, v->matrix), start(at, v->matrix), v->ld, mem(at, v->vector),
                                                 start(at, v->vector), v->x_step, p->beta, mem(at, 2), start(at, 2),
                                                 v->y_step, queue, NULL);
    return ((CL_GEMV(float))lib->at[SGEMV])(BLAS_ROW_MAJOR, v->transpose, v->rows, v->cols, (float)p->alpha,
                                            mem(at, v->matrix), start(at, v->matrix), v->ld, mem(at, v->vector),
                                            start(at, v->vector), v->x_step, (float)p->beta, mem(at, 2), start(at, 2),
                                            v->y_step, queue, NULL);
}

static int call_cl(const peer *lib, const qst_matmul *p, const places *at, cl_command_queue *queue)
{
    struct blas_matrix a = blas_express(&p->a, p->m, p->k), b = blas_express(&p->b, p->k, p->n);
    struct blas_matrix c = blas_express(&p->c, p->m, p->n);
    struct blas_vector v;
    int                dims, d = blas_batch(p, &dims);
    bool               wide = at->element == sizeof(double);
    if (blas_as_vector(p, &v))
        return call_cl_gemv(lib, p, &v, at, queue);
    if (d < 0 && wide)
        return ((CL_GEMM(double))lib->at[DGEMM])(BLAS_ROW_MAJOR, a.transpose, b.transpose, SIZES, p->alpha, PLACE(a, 0),
                                                 PLACE(b, 1), p->beta, PLACE(c, 2), queue, NULL);
    if (d < 0)
        return ((CL_GEMM(float))lib->at[SGEMM])(BLAS_ROW_MAJOR, a.transpose, b.transpose, SIZES, (float)p->alpha,
                                                PLACE(a, 0), PLACE(b, 1), (float)p->beta, PLACE(c, 2), queue, NULL);
    size_t as = (size_t)p->a.batch[d], bs = (size_t)p->b.batch[d], cs = (size_t)p->c.batch[d];
    size_t count = (size_t)p->batch[d];
    if (wide)
        return ((CL_BATCH(double))lib->at[DBATCH])(BLAS_ROW_MAJOR, a.transpose, b.transpose, SIZES, p->alpha,
                                                   PLACE(a, 0), as, PLACE(b, 1), bs, p->beta, PLACE(c, 2), cs, count,
                                                   queue, NULL);
    return ((CL_BATCH(float))lib->at[SBATCH])(BLAS_ROW_MAJOR, a.transpose, b.transpose, SIZES, (float)p->alpha,
                                              PLACE(a, 0), as, PLACE(b, 1), bs, (float)p->beta, PLACE(c, 2), cs, count,
                                              queue, NULL);
}

static void call_host_gemv(const peer *lib, const qst_matmul *p, const struct blas_vector *v, const places *at)
{
    const qst_matrix *x = v->matrix ? &p->b : &p->a, *y = v->matrix ? &p->a : &p->b;
    void             *m = host(at, v->matrix, 0, x, -1), *in = host(at, v->vector, 0, y, -1);
    void             *out = host(at, 2, 0, &p->c, -1);
    if (at->element == sizeof(double))
        ((HOST_GEMV(double))lib->at[DGEMV])(BLAS_ROW_MAJOR, v->transpose, (int)v->rows, (int)v->cols, p->alpha, m,
                                            (int)v->ld, in, (int)v->x_step, p->beta, out, (int)v->y_step);
    else
        ((HOST_GEMV(float))lib->at[SGEMV])(BLAS_ROW_MAJOR, v->transpose, (int)v->rows, (int)v->cols, (float)p->alpha, m,
                                           (int)v->ld, in, (int)v->x_step, (float)p->beta, out, (int)v->y_step);
}

static int call_host(const peer *lib, const qst_matmul *p, const places *at)
{
    struct blas_matrix a = blas_express(&p->a, p->m, p->k), b = blas_express(&p->b, p->k, p->n);
    struct blas_matrix c = blas_express(&p->c, p->m, p->n);
    struct blas_vector v;
    int                dims, d = blas_batch(p, &dims);
    if (blas_as_vector(p, &v)) {
        call_host_gemv(lib, p, &v, at);
        return 0;
    }
    for (int64_t z = 0; z < (d < 0 ? 1 : p->batch[d]); z++) {
        void *x = host(at, 0, z, &p->a, d), *y = host(at, 1, z, &p->b, d), *out = host(at, 2, z, &p->c, d);
        if (at->element == sizeof(double))
            ((HOST_GEMM(double))lib->at[DGEMM])(BLAS_ROW_MAJOR, a.transpose, b.transpose, (int)p->m, (int)p->n,
                                                (int)p->k, p->alpha, x, (int)a.ld, y, (int)b.ld, p->beta, out,
                                                (int)c.ld);
        else
            ((HOST_GEMM(float))lib->at[SGEMM])(BLAS_ROW_MAJOR, a.transpose, b.transpose, (int)p->m, (int)p->n,
                                               (int)p->k, (float)p->alpha, x, (int)a.ld, y, (int)b.ld, (float)p->beta,
                                               out, (int)c.ld);
    }
    return 0;
}

int peer_call(const peer *p, const qst_matmul *problem, const data_matrix *const matrices[3],
              unsigned char *const *host, cl_command_queue queue)
{
    places at = {matrices, host, qst_type_bytes(problem->c.type)};
    return p->host ? call_host(p, problem, &at) : call_cl(p, problem, &at, &queue);
}
