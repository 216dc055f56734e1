/* SPDX-License-Identifier: MIT
 *
 * pick.c: devices in the loader's order, and which of them a search means. */
#include "cl/absent.h"
#include "cl/facts.h"

#include <string.h>

/* No platform at all is an empty list, however the loader says so. */
static qst_status list_platforms(const qst__alloc *alloc, cl_platform_id **list, cl_uint *count, qst_error *err)
{
    *list = NULL;
    *count = 0;
    cl_int code = clGetPlatformIDs(0, NULL, count);
    if (qst__cl_passing(code))
        return qst__fail_cl(err, code, "device", "clGetPlatformIDs gives %s (%d)", qst__cl_name(code), (int)code);
    if (code != CL_SUCCESS || *count == 0) {
        *count = 0;
        return QST_OK;
    }
    *list = qst__zalloc_array(alloc, *count, sizeof **list);
    if (!*list)
        return qst__fail(err, QST_E_NOMEM, "device", "no memory for %u platforms", (unsigned)*count);
    code = clGetPlatformIDs(*count, *list, NULL);
    return code == CL_SUCCESS
               ? QST_OK
               : qst__fail_cl(err, code, "device", "clGetPlatformIDs gives %s (%d)", qst__cl_name(code), (int)code);
}

static qst_status no_devices(cl_int code, qst_error *err)
{
    return qst__fail_cl(err, code, "device", "clGetDeviceIDs gives %s (%d)", qst__cl_name(code), (int)code);
}

static qst_status visit_platform(const qst__alloc *alloc, cl_platform_id platform,
                                 void (*visit)(void *user, cl_platform_id platform, cl_device_id device), void *user,
                                 qst_error *err)
{
    cl_uint count = 0;
    cl_int  code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &count);
    if (code != CL_SUCCESS || count == 0)
        return qst__cl_passing(code) ? no_devices(code, err) : QST_OK;
    cl_device_id *list = qst__zalloc_array(alloc, count, sizeof *list);
    if (!list)
        return qst__fail(err, QST_E_NOMEM, "device", "no memory for %u devices", (unsigned)count);
    code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, list, NULL);
    for (cl_uint i = 0; i < count && code == CL_SUCCESS; i++)
        visit(user, platform, list[i]);
    qst__free(alloc, list);
    return qst__cl_passing(code) ? no_devices(code, err) : QST_OK;
}

qst_status qst__device_each(const qst__alloc *alloc,
                            void (*visit)(void *user, cl_platform_id platform, cl_device_id device), void *user,
                            qst_error *err)
{
    cl_platform_id *list;
    cl_uint         count;
    qst_status      status = list_platforms(alloc, &list, &count, err);
    for (cl_uint i = 0; i < count && status == QST_OK; i++)
        status = visit_platform(alloc, list[i], visit, user, err);
    qst__free(alloc, list);
    return status;
}

/* ---- Picking -------------------------------------------------------------------------------------------------- */

typedef struct search {
    const qst__alloc *alloc;
    const qst__pick  *pick;
    qst__str          seen; /* for the error: all there is */
    int32_t           matches;
    cl_platform_id    platform;
    cl_device_id      device;
    bool              gpu; /* found one is */
} search;

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool contains(const char *text, const char *part)
{
    if (!part || !*part)
        return true;
    for (; text && *text; text++) {
        size_t i = 0;
        while (part[i] && lower(text[i]) == lower(part[i]))
            i++;
        if (!part[i])
            return true;
    }
    return false;
}

static void consider(void *user, cl_platform_id platform, cl_device_id device)
{
    search *s = user;
    char   *of_platform = qst__platform_text(s->alloc, platform, CL_PLATFORM_NAME);
    char   *name = qst__device_text(s->alloc, device, CL_DEVICE_NAME);
    qst__str_printf(&s->seen, "%s'%s' of '%s'", s->seen.length ? ", " : "", name ? name : "?",
                    of_platform ? of_platform : "?");
    if (contains(of_platform, s->pick->platform) && contains(name, s->pick->name)) {
        cl_device_type type = 0;
        (void)clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
        bool gpu = (type & CL_DEVICE_TYPE_GPU) != 0;
        bool take = s->pick->index < 0 ? !s->device || (gpu && !s->gpu) : s->matches == s->pick->index;
        if (take) {
            s->platform = platform;
            s->device = device;
            s->gpu = gpu;
        }
        s->matches++;
    }
    qst__free(s->alloc, of_platform);
    qst__free(s->alloc, name);
}

qst_status qst__device_pick(const qst__pick *pick, cl_platform_id *platform, cl_device_id *device, qst_error *err)
{
    qst__alloc alloc = qst__alloc_default();
    search     s = {.alloc = &alloc, .pick = pick};
    qst__str_init(&s.seen, &alloc);
    qst_status status = qst__device_each(&alloc, consider, &s, err);
    if (status == QST_OK && !s.seen.length)
        status = qst__device_absent(err);
    else if (status == QST_OK && !s.device)
        status = qst__fail(err, QST_E_NOTFOUND, "device",
                           "no device for platform '%s', name '%s', index %d (-1: any): %d match; there is %s",
                           pick->platform ? pick->platform : "", pick->name ? pick->name : "", (int)pick->index,
                           (int)s.matches, s.seen.text);
    *platform = s.platform;
    *device = s.device;
    qst__str_finish(&s.seen);
    return status;
}

typedef struct rank {
    const qst__alloc *alloc;
    const char       *platform, *name;
    cl_device_id      device;
    int32_t           matches, index; /* −1: not met yet */
} rank;

static void look(void *user, cl_platform_id platform, cl_device_id device)
{
    rank *r = user;
    char *of_platform = qst__platform_text(r->alloc, platform, CL_PLATFORM_NAME);
    char *name = qst__device_text(r->alloc, device, CL_DEVICE_NAME);
    if (contains(of_platform, r->platform) && contains(name, r->name)) {
        if (device == r->device)
            r->index = r->matches;
        r->matches++;
    }
    qst__free(r->alloc, of_platform);
    qst__free(r->alloc, name);
}

int32_t qst__device_index(const char *platform, const char *name, cl_device_id device)
{
    qst__alloc alloc = qst__alloc_default();
    rank       r = {.alloc = &alloc, .platform = platform, .name = name, .device = device, .index = -1};
    return qst__device_each(&alloc, look, &r, NULL) == QST_OK ? r.index : -1;
}
