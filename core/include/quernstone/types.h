/* SPDX-License-Identifier: MIT
 *
 * types.h: what every other header of Quernstone speaks of: statuses, errors, element types, numerics classes,
 * operands. It needs no OpenCL header: CL handles are named by their struct tags.
 *
 * Conventions of all public headers
 *   - A function returns a qst_status: 0 is success, a positive value a successful answer of another kind, a
 *     negative value a failure. Results come first in the argument list, the optional qst_error last.
 *   - A struct whose first member is `size` grows at its end from release to release. The caller sets `size` to
 *     the sizeof that it was compiled with (the initialisers do), it is passed by pointer, one at a time, and what
 *     an older caller lacks counts as zero, which is always the default.
 *   - A struct without `size` is a value struct: it never grows and may stand in arrays.
 *   - Thread tags in square brackets: [any thread] may be called at any time from any thread; [one thread] must
 *     not run at the same time as another call on the same object; [plugin start] only inside a plugin's start.
 *   - Sizes of matrices and strides count elements; offsets and lengths of memory count bytes, unless said
 *     otherwise. Times are nanoseconds unless the name ends in another unit.
 */
#ifndef QUERNSTONE_TYPES_H
#define QUERNSTONE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(QST_STATIC)
#define QST_API
#elif defined(__GNUC__)
#define QST_API __attribute__((visibility("default")))
#else
#define QST_API
#endif

/* The tags behind cl_context, cl_device_id, …: pointers to these are the CL handles themselves. */
struct _cl_platform_id;
struct _cl_device_id;
struct _cl_context;
struct _cl_command_queue;
struct _cl_mem;
struct _cl_event;

/* ---- Status ------------------------------------------------------------------------------------------------- */

typedef int32_t qst_status;

/* One list: the enumeration, the names, the texts and the test of completeness come from it.
 * X(name, value, text) */
#define QST_STATUS_LIST(X)                                                                                             \
    X(OK, 0, "success")                                                                                                \
    X(POOR, 1, "possible, but no good choice here")                                                                    \
    X(NOTHING, 2, "nothing to compute")                                                                                \
    X(TRIVIAL, 3, "needs no tuning: the operation's trivial candidate computes it")                                    \
    X(E_NOTFOUND, -1, "not found")                                                                                     \
    X(E_UNSUPPORTED, -2, "not supported here")                                                                         \
    X(E_STALE, -3, "stored answer no longer holds")                                                                    \
    X(E_BUSY, -4, "claimed by another thread or process")                                                              \
    X(E_TIMEOUT, -5, "out of time")                                                                                    \
    X(E_REFUSED, -6, "refused by configuration or policy")                                                             \
    X(E_INVALID, -20, "argument out of contract")                                                                      \
    X(E_STATE, -21, "not allowed in this state")                                                                       \
    X(E_NOMEM, -22, "out of memory")                                                                                   \
    X(E_IO, -23, "input or output failed")                                                                             \
    X(E_CORRUPT, -24, "damaged data")                                                                                  \
    X(E_CONFIG, -25, "configuration error")                                                                            \
    X(E_CL, -26, "OpenCL call failed")                                                                                 \
    X(E_BUILD, -27, "program does not build")                                                                          \
    X(E_PLUGIN, -28, "plugin failed")                                                                                  \
    X(E_ABI, -29, "binary interface does not fit")                                                                     \
    X(E_VERIFY, -30, "wrong result")                                                                                   \
    X(E_INTERNAL, -31, "internal error")

#define QST__STATUS_ENUM(name, value, text) QST_##name = (value),
enum { QST_STATUS_LIST(QST__STATUS_ENUM) QST__STATUS_END = 1000 };
#undef QST__STATUS_ENUM

/* [any thread] The status's name ("E_NOMEM") and its text; "unknown status" for a number not in the list.
 * Static strings. */
QST_API const char *qst_status_name(qst_status status);
QST_API const char *qst_status_text(qst_status status);

/* Where and why a call failed. The caller owns it and zeroes it before the first call that gets it; the library
 * fills it once, the first cause wins, and never allocates for it. Never grows: 512 bytes.
 *   status   what the failing place returned
 *   cl_code  the OpenCL code where status is E_CL or E_BUILD, else 0
 *   source   the layer that speaks: "matmul", "plugin clblast", "tune", …
 *   text     one line that names the thing and the numbers */
typedef struct qst_error {
    qst_status status;
    int32_t    cl_code;
    char       source[40];
    char       text[464];
} qst_error;

/* ---- Element types and numerics ------------------------------------------------------------------------------ */

/* Storage types. f16 and bf16 are sums in f32. */
enum { QST_F32 = 1, QST_F64 = 2, QST_F16 = 3, QST_BF16 = 4, QST_TYPE_END = 5 };

/* [any thread] Bytes of an element; 0 for an unknown type. The name ("f32"); "?" for an unknown type. */
QST_API uint32_t    qst_type_bytes(uint32_t type);
QST_API const char *qst_type_name(uint32_t type);

/* What a problem asks of the rounding of its results. Part of the key and a hard filter; tuning never changes it.
 *   PLAIN   as accurate as a plain fma loop of the accumulation type, within the operation's stated bound
 *   STRICT  bitwise equal to the fallback's fixed order of summation; where that gives a NaN, a NaN
 *   FAST    reduced-precision products and unpromoted sums allowed */
enum { QST_NUMERICS_PLAIN = 0, QST_NUMERICS_STRICT = 1, QST_NUMERICS_FAST = 2, QST_NUMERICS_END = 3 };

/* What a candidate satisfies, a set of bits. STRICT implies PLAIN, PLAIN implies FAST; 0 means FAST alone. */
#define QST_CLASS_PLAIN  (1u << QST_NUMERICS_PLAIN)
#define QST_CLASS_STRICT (1u << QST_NUMERICS_STRICT)
#define QST_CLASS_FAST   (1u << QST_NUMERICS_FAST)

/* ---- Operands ------------------------------------------------------------------------------------------------ */

enum { QST_MEM_NONE = 0, QST_MEM_BUFFER = 1 };

/* An operand of a call: where it starts. Value struct.
 *   kind    QST_MEM_BUFFER: handle is a cl_mem
 *   offset  bytes from the buffer's start, a multiple of the element
 * The library borrows the handle for the call; OpenCL keeps the memory alive for what was enqueued. */
typedef struct qst_mem {
    uint32_t kind;
    uint32_t reserved;
    void    *handle;
    uint64_t offset;
} qst_mem;

static inline qst_mem qst_mem_at(struct _cl_mem *buffer, uint64_t offset_bytes)
{
    qst_mem mem;
    mem.kind = QST_MEM_BUFFER;
    mem.reserved = 0;
    mem.handle = (void *)buffer;
    mem.offset = offset_bytes;
    return mem;
}

static inline qst_mem qst_mem_of(struct _cl_mem *buffer)
{
    return qst_mem_at(buffer, 0);
}

/* ---- Handles ------------------------------------------------------------------------------------------------- */

typedef struct qst_context qst_context; /* all state of the library hangs on one: context.h */
typedef struct qst_set     qst_set;     /* an operation with its groups and candidates: op.h */
typedef struct qst_plan    qst_plan;    /* one problem prepared once, run many times: op.h */

/* Receives text piece by piece; `text` is not terminated and lives until the sink returns. */
typedef void (*qst_sink)(void *user, const char *text, size_t length);

#ifdef __cplusplus
}
#endif
#endif
