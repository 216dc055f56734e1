/* SPDX-License-Identifier: MIT
 *
 * kit.h: small helpers for those who write candidates; header-only, nothing to link. Prefix qstk_.
 */
#ifndef QUERNSTONE_KIT_H
#define QUERNSTONE_KIT_H

#include <quernstone/plugin.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define QSTK_COUNT(array) (sizeof(array) / sizeof *(array))

#if defined(__GNUC__)
#define QSTK_EXPORT __attribute__((visibility("default")))
#else
#define QSTK_EXPORT
#endif

static inline qst_arg qstk_arg(uint32_t kind, uint32_t index, uint64_t bytes)
{
    qst_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.kind = kind;
    arg.index = index;
    arg.bytes = bytes;
    return arg;
}

/* The buffer of operand i; where it starts, in elements (a ulong); workspace i; local memory. */
static inline qst_arg qstk_operand(uint32_t i)
{
    return qstk_arg(QST_ARG_OPERAND, i, sizeof(void *));
}
static inline qst_arg qstk_offset(uint32_t i)
{
    return qstk_arg(QST_ARG_OFFSET, i, 8);
}
static inline qst_arg qstk_workspace(uint32_t i)
{
    return qstk_arg(QST_ARG_WORKSPACE, i, sizeof(void *));
}
static inline qst_arg qstk_local(uint64_t bytes)
{
    return qstk_arg(QST_ARG_LOCAL, 0, bytes);
}

/* A value of at most 16 bytes. */
static inline qst_arg qstk_value(const void *value, uint64_t bytes)
{
    qst_arg arg = qstk_arg(QST_ARG_VALUE, 0, bytes);
    memcpy(arg.bits, value, bytes <= sizeof arg.bits ? (size_t)bytes : sizeof arg.bits);
    return arg;
}
static inline qst_arg qstk_i32(int64_t value)
{
    int32_t narrow = (int32_t)value;
    return qstk_value(&narrow, sizeof narrow);
}
static inline qst_arg qstk_i64(int64_t value)
{
    return qstk_value(&value, sizeof value);
}
static inline qst_arg qstk_f32(double value)
{
    float narrow = (float)value;
    return qstk_value(&narrow, sizeof narrow);
}
static inline qst_arg qstk_f64(double value)
{
    return qstk_value(&value, sizeof value);
}

/* Says no with a reason; `return qstk_no(why, "…");` */
static inline int32_t qstk_no(const char **why, const char *reason)
{
    if (why)
        *why = reason;
    return QST_E_UNSUPPORTED;
}
static inline int32_t qstk_poor(const char **why, const char *reason)
{
    if (why)
        *why = reason;
    return QST_POOR;
}

/* ceil(x / y) for positive x and y; x rounded up to a multiple of y. */
static inline uint64_t qstk_ceil_div(uint64_t x, uint64_t y)
{
    return (x + y - 1) / y;
}
static inline uint64_t qstk_round_up(uint64_t x, uint64_t y)
{
    return qstk_ceil_div(x, y) * y;
}

/* A launch of `dims` dimensions with sizes left zero. */
static inline qst_launch qstk_launch(uint32_t program, const char *entry, uint32_t dims, const qst_arg *args,
                                     size_t n_args)
{
    qst_launch launch;
    memset(&launch, 0, sizeof launch);
    launch.size = (uint32_t)sizeof launch;
    launch.program = program;
    launch.entry = entry;
    launch.dims = dims;
    launch.n_args = (uint32_t)n_args;
    launch.args = args;
    return launch;
}

#ifdef __cplusplus
}
#endif
#endif
