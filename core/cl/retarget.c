/* SPDX-License-Identifier: MIT
 *
 * retarget.c: what is changed in an assembly's text, and the way from a program to the one made of its changed text. */
#include "cl/retarget.h"

#include <string.h>

static const char directive[] = ".target";

/* ---- Text ----------------------------------------------------------------------------------------------------- */

static bool ends_word(char c)
{
    return strchr(" \t\r\n,;", c) != NULL; /* and the terminator */
}

/* Where the name of the only .target begins; NULL: there is none, or a second one. Comments do not count. */
static const char *find_target(const char *text, qst_error *err)
{
    const char *found = NULL, *line, *next;

    for (line = text; *line; line = next) {
        const char *word = line + strspn(line, " \t\r");

        next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (strncmp(word, directive, sizeof directive - 1) != 0 || !strchr(" \t", word[sizeof directive - 1]))
            continue;
        if (found) {
            (void)qst__fail(err, QST_E_UNSUPPORTED, "retarget", "the assembly has a second %s", directive);
            return NULL;
        }
        word += sizeof directive - 1;
        found = word + strspn(word, " \t");
    }
    if (!found)
        (void)qst__fail(err, QST_E_UNSUPPORTED, "retarget",
                        "the driver's binary of %zu bytes has no %s: it is no text "
                        "that can be retargeted",
                        strlen(text), directive);
    return found;
}

/* Copies up to `end` without the marks. */
static char *copy_unmarked(char *to, const char *from, const char *end, const char *marker)
{
    size_t mark = strlen(marker);

    while (from < end) {
        const char *at = strstr(from, marker);
        size_t      keep = (size_t)((at && at < end ? at : end) - from);

        memcpy(to, from, keep);
        to += keep;
        from += keep + (at && at < end ? mark : 0);
    }
    return to;
}

qst_status qst__retarget_text(const qst__alloc *alloc, const char *text, size_t length, const char *target,
                              const char *marker, char **out, size_t *out_length, qst_error *err)
{
    const char *name, *after;
    char       *copy, *to;

    *out = NULL;
    *out_length = 0;
    while (length && text[length - 1] == '\0') /* drivers count the terminator */
        length--;
    if (memchr(text, 0, length))
        return qst__fail(err, QST_E_UNSUPPORTED, "retarget",
                         "the driver's binary of %zu bytes is no text: it cannot be retargeted", length);
    name = find_target(text, err);
    if (!name)
        return QST_E_UNSUPPORTED;
    copy = qst__zalloc(alloc, length + strlen(target) + 1);
    if (!copy)
        return qst__fail(err, QST_E_NOMEM, "retarget", "no memory for an assembly of %zu bytes", length);
    for (after = name; !ends_word(*after); after++)
        ;
    to = copy_unmarked(copy, text, name, marker);
    memcpy(to, target, strlen(target));
    to = copy_unmarked(to + strlen(target), after, text + length, marker);
    *to = '\0';
    *out = copy;
    *out_length = (size_t)(to - copy);
    return QST_OK;
}

/* ---- Programs ------------------------------------------------------------------------------------------------- */

char *qst__binary_of(const qst__alloc *alloc, cl_program cl, size_t *length, cl_int *code)
{
    unsigned char *bytes = NULL;

    *length = 0;
    *code = clGetProgramInfo(cl, CL_PROGRAM_BINARY_SIZES, sizeof *length, length, NULL);
    if (*code != CL_SUCCESS)
        return NULL;
    bytes = qst__zalloc(alloc, *length + 1);
    *code = bytes ? clGetProgramInfo(cl, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL) : CL_OUT_OF_HOST_MEMORY;
    if (*code == CL_SUCCESS)
        return (char *)bytes;
    qst__free(alloc, bytes);
    return NULL;
}

cl_int qst__retarget_build(const qst__alloc *alloc, cl_context context, cl_device_id device, const qst_program *desc,
                           const char *options, cl_program *cl, qst_error *err)
{
    const char          *marker = desc->marker ? desc->marker : QST__RETARGET_MARKER;
    const char          *step = "the source's binary";
    const unsigned char *bytes;
    char                *binary, *text = NULL;
    size_t               length = 0, text_length = 0;
    cl_program           made = NULL;
    cl_int               code = CL_SUCCESS;
    qst_status           status;

    binary = qst__binary_of(alloc, *cl, &length, &code);
    if (!binary)
        goto out;
    status = qst__retarget_text(alloc, binary, length, desc->target, marker, &text, &text_length, err);
    if (status != QST_OK) {
        code = status == QST_E_NOMEM ? CL_OUT_OF_HOST_MEMORY : CL_BUILD_PROGRAM_FAILURE;
        goto out;
    }
    bytes = (const unsigned char *)text;
    step = "the retargeted program";
    made = clCreateProgramWithBinary(context, 1, &device, &text_length, &bytes, NULL, &code);
    if (code != CL_SUCCESS)
        goto out;
    (void)clReleaseProgram(*cl);
    *cl = made;
    step = "the retargeted program's build";
    code = clBuildProgram(made, 1, &device, options, NULL, NULL);
out:
    if (code != CL_SUCCESS && (!err || err->status == QST_OK))
        (void)qst__fail_cl(err, code, "retarget", "%s for %s gives %s (%d)", step, desc->target, qst__cl_name(code),
                           (int)code);
    qst__free(alloc, text);
    qst__free(alloc, binary);
    return code;
}
