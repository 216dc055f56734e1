/* SPDX-License-Identifier: MIT
 *
 * ext/draft/builder.h: an optional capability of a plugin: it finishes what a driver's front end began. DRAFT: another
 * release may ask for it by another name, and then a plugin that has this one is not asked.
 *
 * A driver builds a program in three steps: the front end makes an object of the source (clCompileProgram, some
 * milliseconds), a compiler makes assembly of the object, an assembler makes machine code of that, and the last two take
 * nearly all of the time. Some drivers do all of it for one program at a time in a process, while the libraries that they
 * do it with could serve many threads. A builder calls those libraries: the host takes the object out of
 * CL_PROGRAM_BINARIES, has it compiled and assembled, and gives the driver the machine code, which it loads in no time.
 *
 * What fails anywhere on this way is built by the driver in its own way. Nobody promises that it works, so the driver gets
 * nothing of a builder's before its `check` has given the right answer on the device; that answer is kept like one of
 * run_once.
 */
#ifndef QUERNSTONE_EXT_DRAFT_BUILDER_H
#define QUERNSTONE_EXT_DRAFT_BUILDER_H

#include <quernstone/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What qst_plugin.get_extension is asked for. */
#define QST_EXT_BUILDER "quernstone.draft.builder/1"

/* What the driver's front end made of a source. Value struct. */
typedef struct qst_object {
    const void *data;
    uint64_t    length;
} qst_object;

/* A bit of qst_device.flags that the host sets when it asks a candidate for support or priority in order to build ahead,
 * and for nothing else: what would have to be tried on the device first is presumed, and nothing is tried. A plugin that
 * does not know it answers as ever. */
#define QST_DEVICE_PRESUMED (UINT32_C(1) << 31)

/* Where a step's result goes, before the function returns. */
typedef void (*qst_builder_take)(void *user, const void *bytes, uint64_t length);

/* Grows. Static, or living as long as the instance.
 *   threads    builds at the same time that pay, at most
 *   library    source, terminated, of functions that objects leave open; the host has the front end make an object of it.
 *              NULL: none
 *   check      source, terminated, of a kernel `check` with one operand, that exercises what objects may contain;
 *              `check_items` work-items in one group leave `check_words` words there, all equal to check_answer
 *   supports   [any thread] QST_OK: it builds for this device; else a reason. Cheap from the second time on.
 *   compile    [any thread] object and library (data NULL where there is none) to assembly text, for the program's
 *              canonical build options. E_UNSUPPORTED: not with such options.
 *   assemble   [any thread] assembly text, terminated behind its length, to machine code of the device, or of `target`
 *              where that is not NULL
 * A failure's reason goes to err, which is zeroed before. */
typedef struct qst_builder {
    uint32_t    size;
    uint32_t    threads;
    const char *library;
    const char *check;
    uint32_t    check_items;
    uint32_t    check_words;
    uint32_t    check_answer;
    uint32_t    reserved;
    int32_t (*supports)(void *instance, const qst_device *device, const char **why);
    int32_t (*compile)(void *instance, const qst_device *device, const qst_object *object, const qst_object *library,
                       const char *options, void *user, qst_builder_take take, qst_error *err);
    int32_t (*assemble)(void *instance, const qst_device *device, const char *text, uint64_t length, const char *target,
                        void *user, qst_builder_take take, qst_error *err);
} qst_builder;

#ifdef __cplusplus
}
#endif
#endif
