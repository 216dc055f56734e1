/* SPDX-License-Identifier: MIT
 *
 * build.c: finishes objects of NVIDIA's front end with the libraries that the driver itself does it with: libNVVM makes
 * PTX of an object, the PTX compiler makes machine code of that. Both interfaces are NVIDIA's published ones (libNVVM API,
 * PTX Compiler APIs); that a driver's libraries have them, and that the front end's objects are theirs to read, is not.
 * Unlike the driver they serve many threads, and need no GPU.
 */
#include "nv_builtins.cl.h"
#include "nv_check.cl.h"
#include "nv_mma.h"

#include <dlfcn.h>
#include <pthread.h>
#include <quernstone/ext/draft/builder.h>
#include <stdio.h>
#include <stdlib.h>

#define NVVM    "libnvidia-nvvm.so.4"
#define PTXAS   "libnvidia-ptxjitcompiler.so.1"
#define THREADS 12u

/* The part of both interfaces that is used. All functions give 0 for success. */
typedef void *handle;
static struct {
    int (*create)(handle *program);
    int (*destroy)(handle *program);
    int (*add)(handle program, const char *module, size_t length, const char *name);
    int (*add_lazy)(handle program, const char *module, size_t length, const char *name);
    int (*compile)(handle program, int count, const char **options);
    int (*result_size)(handle program, size_t *size);
    int (*result)(handle program, char *text);
    int (*log_size)(handle program, size_t *size);
    int (*log)(handle program, char *text);
} nvvm;
static struct {
    int (*create)(handle *compiler, size_t length, const char *text);
    int (*destroy)(handle *compiler);
    int (*compile)(handle compiler, int count, const char *const *options);
    int (*result_size)(handle compiler, size_t *size);
    int (*result)(handle compiler, void *code);
    int (*log_size)(handle compiler, size_t *size);
    int (*log)(handle compiler, char *text);
} ptxas;

typedef struct entry {
    const char *library, *name;
    void       *place; /* a function pointer of one of the tables above */
} entry;
static const entry entries[] = {
    {NVVM, "nvvmCreateProgram", &nvvm.create},
    {NVVM, "nvvmDestroyProgram", &nvvm.destroy},
    {NVVM, "nvvmAddModuleToProgram", &nvvm.add},
    {NVVM, "nvvmLazyAddModuleToProgram", &nvvm.add_lazy},
    {NVVM, "nvvmCompileProgram", &nvvm.compile},
    {NVVM, "nvvmGetCompiledResultSize", &nvvm.result_size},
    {NVVM, "nvvmGetCompiledResult", &nvvm.result},
    {NVVM, "nvvmGetProgramLogSize", &nvvm.log_size},
    {NVVM, "nvvmGetProgramLog", &nvvm.log},
    {PTXAS, "nvPTXCompilerCreate", &ptxas.create},
    {PTXAS, "nvPTXCompilerDestroy", &ptxas.destroy},
    {PTXAS, "nvPTXCompilerCompile", &ptxas.compile},
    {PTXAS, "nvPTXCompilerGetCompiledProgramSize", &ptxas.result_size},
    {PTXAS, "nvPTXCompilerGetCompiledProgram", &ptxas.result},
    {PTXAS, "nvPTXCompilerGetErrorLogSize", &ptxas.log_size},
    {PTXAS, "nvPTXCompilerGetErrorLog", &ptxas.log},
};

/* Once a process: the driver keeps both open anyway. */
static pthread_once_t opened = PTHREAD_ONCE_INIT;
static char           missing[NV_WHY];

static void open_libraries(void)
{
    for (size_t i = 0; i < QSTK_COUNT(entries); i++) {
        void *library = dlopen(entries[i].library, RTLD_NOW | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, entries[i].name) : NULL;
        if (!symbol) {
            (void)snprintf(missing, sizeof missing, "the driver has no %s%s%s", library ? entries[i].name : "",
                           library ? " in " : "", entries[i].library);
            return;
        }
        memcpy(entries[i].place, &symbol, sizeof symbol);
    }
}

static int32_t supports(void *instance, const qst_device *device, const char **why)
{
    const char *wanted = nv_mma_config((nv_mma *)instance, "builder");
    int32_t     status = nv_mma_is_ours(device, why);
    if (status != QST_OK)
        return status;
    if (wanted && strcmp(wanted, "driver") == 0)
        return qstk_no(why, "plugin.nv_mma.builder is driver");
    (void)pthread_once(&opened, open_libraries);
    return missing[0] ? qstk_no(why, missing) : QST_OK;
}

static int32_t fail(qst_error *err, const char *step, int code, const char *log)
{
    if (err && err->status == QST_OK) {
        err->status = QST_E_BUILD;
        (void)snprintf(err->source, sizeof err->source, "nv_mma");
        (void)snprintf(err->text, sizeof err->text, "%s gives %d: %.300s", step, code, log ? log : "");
    }
    return QST_E_BUILD;
}

/* ---- Object to assembly ----------------------------------------------------------------------------------------- */

static bool has_word(const char *options, const char *word)
{
    const char *at = strstr(options, word);
    return at && (at == options || at[-1] == ' ') && (at[strlen(word)] == ' ' || !at[strlen(word)]);
}

static int32_t nvvm_failed(handle program, const char *step, int code, qst_error *err)
{
    size_t  size = 0;
    char   *log = nvvm.log_size(program, &size) == 0 && size ? (char *)calloc(1, size + 1) : NULL;
    int32_t status;
    if (log)
        (void)nvvm.log(program, log);
    status = fail(err, step, code, log);
    free(log);
    return status;
}

/* As the driver has it made: approximate division and root are OpenCL's. */
static int32_t compile(void *instance, const qst_device *device, const qst_object *object, const qst_object *library,
                       const char *options, void *user, qst_builder_take take, qst_error *err)
{
    char        arch[32];
    const char *words[] = {
        arch,          "-opt=3",       has_word(options, "-cl-denorms-are-zero") ? "-ftz=1" : "-ftz=0",
        "-prec-div=0", "-prec-sqrt=0", "-fma=1"};
    handle  program = NULL;
    size_t  size = 0;
    char   *text = NULL;
    int32_t status = QST_OK;
    int     code;
    (void)instance;
    if (has_word(options, "-cl-opt-disable") || has_word(options, "-g") ||
        has_word(options, "-cl-fp32-correctly-rounded-divide-sqrt"))
        return QST_E_UNSUPPORTED;
    (void)snprintf(arch, sizeof arch, "-arch=compute_%u", (unsigned)device->compute_capability);
    code = nvvm.create(&program);
    if (code)
        return fail(err, "nvvmCreateProgram", code, NULL);
    code = nvvm.add(program, (const char *)object->data, (size_t)object->length, "kernels");
    if (!code && library->data)
        code = nvvm.add_lazy(program, (const char *)library->data, (size_t)library->length, "functions");
    if (!code)
        code = nvvm.compile(program, (int)QSTK_COUNT(words), words);
    if (!code)
        code = nvvm.result_size(program, &size);
    if (code) {
        status = nvvm_failed(program, "libNVVM", code, err);
        goto out;
    }
    text = (char *)calloc(1, size + 1);
    code = text ? nvvm.result(program, text) : -1;
    if (code)
        status = fail(err, "nvvmGetCompiledResult", code, NULL);
    else
        take(user, text, strlen(text));
out:
    free(text);
    (void)nvvm.destroy(&program);
    return status;
}

/* ---- Assembly to machine code ------------------------------------------------------------------------------------- */

static int32_t ptxas_failed(handle compiler, int code, qst_error *err)
{
    size_t  size = 0;
    char   *log = ptxas.log_size(compiler, &size) == 0 && size ? (char *)calloc(1, size + 1) : NULL;
    int32_t status;
    if (log)
        (void)ptxas.log(compiler, log);
    status = fail(err, "the PTX compiler", code, log);
    free(log);
    return status;
}

static int32_t assemble(void *instance, const qst_device *device, const char *text, uint64_t length, const char *target,
                        void *user, qst_builder_take take, qst_error *err)
{
    char        processor[64];
    const char *words[] = {processor};
    handle      compiler = NULL;
    size_t      size = 0;
    void       *code = NULL;
    int32_t     status = QST_OK;
    int         failed;
    (void)instance;
    if (target)
        (void)snprintf(processor, sizeof processor, "--gpu-name=%.40s", target);
    else /* for sm_90 the assembler stops at 48 KB of static local memory; for sm_90a, which runs the same, at all there is */
        (void)snprintf(processor, sizeof processor, "--gpu-name=sm_%u%s", (unsigned)device->compute_capability,
                       device->compute_capability == 90 ? "a" : "");
    failed = ptxas.create(&compiler, (size_t)length, text);
    if (failed)
        return fail(err, "nvPTXCompilerCreate", failed, NULL);
    failed = ptxas.compile(compiler, 1, words);
    if (!failed)
        failed = ptxas.result_size(compiler, &size);
    if (failed) {
        status = ptxas_failed(compiler, failed, err);
        goto out;
    }
    code = malloc(size + 1);
    failed = code ? ptxas.result(compiler, code) : -1;
    if (failed)
        status = fail(err, "nvPTXCompilerGetCompiledProgram", failed, NULL);
    else
        take(user, code, size);
out:
    free(code);
    (void)ptxas.destroy(&compiler);
    return status;
}

const qst_builder nv_builder = {
    .size = sizeof nv_builder,
    .threads = THREADS,
    .library = nv_builtins_cl,
    .check = nv_check_cl,
    .check_items = 64,
    .check_words = 64,
    .check_answer = 0x600d,
    .supports = supports,
    .compile = compile,
    .assemble = assemble,
};
