/* SPDX-License-Identifier: MIT
 *
 * facts.c: what is asked of a device, once, and the name of its model. A fact that a driver does not tell is 0, "" or
 * the value that promises least; only what nothing works without is an error. */
#include "cl/facts.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_NAME, TEXT_VENDOR, TEXT_PLATFORM, TEXT_DRIVER, TEXT_EXTENSIONS, TEXT_TARGET, TEXT_STACK };

/* ---- Single facts --------------------------------------------------------------------------------------------- */

/* A device that is being asked, and why it could not answer for the moment, if so: it must not go by another name, or
 * other limits, until it can. */
typedef struct source {
    cl_device_id id;
    cl_int       passing; /* CL_SUCCESS: it answered, or never will */
} source;

static bool tells(source *device, cl_device_info what, size_t bytes, void *to)
{
    cl_int code = clGetDeviceInfo(device->id, what, bytes, to, NULL);
    if (qst__cl_passing(code))
        device->passing = code;
    return code == CL_SUCCESS;
}

static uint64_t number(source *device, cl_device_info what, size_t bytes)
{
    uint32_t narrow = 0;
    uint64_t wide = 0;
    void    *to = bytes == sizeof narrow ? (void *)&narrow : (void *)&wide;
    if (!tells(device, what, bytes, to))
        return 0;
    return bytes == sizeof narrow ? narrow : wide;
}

static uint32_t u32(source *device, cl_device_info what)
{
    return (uint32_t)number(device, what, sizeof(cl_uint));
}

static uint64_t u64(source *device, cl_device_info what)
{
    return number(device, what, sizeof(cl_ulong));
}

static uint32_t clamped(size_t size)
{
    return size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
}

static uint32_t size_fact(source *device, cl_device_info what)
{
    size_t size = 0;
    if (!tells(device, what, sizeof size, &size))
        return 0;
    return clamped(size);
}

/* Takes `text` over; without the blanks around it. */
static char *trimmed(char *text)
{
    size_t from = strspn(text, " \t\n"), length = strlen(text + from);
    while (length && strchr(" \t\n", text[from + length - 1]))
        length--;
    memmove(text, text + from, length);
    text[length] = '\0';
    return text;
}

/* Of the platform, where there is one, else of the device. */
static cl_int ask(cl_platform_id platform, cl_device_id device, uint32_t what, size_t bytes, char *text, size_t *needed)
{
    return platform ? clGetPlatformInfo(platform, what, bytes, text, needed)
                    : clGetDeviceInfo(device, what, bytes, text, needed);
}

/* NULL: *code says why; memory of ours that is lacking counts as the driver's. */
static char *read_text(const qst__alloc *alloc, cl_platform_id platform, cl_device_id device, uint32_t what,
                       cl_int *code)
{
    size_t bytes = 0;
    *code = ask(platform, device, what, 0, NULL, &bytes);
    if (*code != CL_SUCCESS)
        return NULL;
    char *text = qst__zalloc(alloc, bytes + 1);
    *code = text ? ask(platform, device, what, bytes, text, NULL) : CL_OUT_OF_HOST_MEMORY;
    if (*code == CL_SUCCESS)
        return trimmed(text);
    qst__free(alloc, text);
    return NULL;
}

char *qst__device_text(const qst__alloc *alloc, cl_device_id device, cl_device_info what)
{
    cl_int code;
    return read_text(alloc, NULL, device, what, &code);
}

char *qst__platform_text(const qst__alloc *alloc, cl_platform_id platform, cl_platform_info what)
{
    cl_int code;
    return read_text(alloc, platform, NULL, what, &code);
}

uint32_t qst__cl_version(const char *text)
{
    static const char head[] = "OpenCL ";
    char             *end;
    if (!text || strncmp(text, head, sizeof head - 1) != 0)
        return 0;
    unsigned long major = strtoul(text + sizeof head - 1, &end, 10);
    if (*end != '.' || major == 0 || major > 99)
        return 0;
    unsigned long minor = strtoul(end + 1, &end, 10);
    return minor > 9 ? 0 : (uint32_t)(major * 100 + minor * 10);
}

static bool has_extension(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

/* ---- Groups of facts ------------------------------------------------------------------------------------------ */

static cl_int read_texts(qst__facts *facts, const qst__alloc *alloc, cl_device_id device, cl_platform_id platform)
{
    static const cl_device_info of_device[] = {[TEXT_NAME] = CL_DEVICE_NAME,
                                               [TEXT_VENDOR] = CL_DEVICE_VENDOR,
                                               [TEXT_DRIVER] = CL_DRIVER_VERSION,
                                               [TEXT_EXTENSIONS] = CL_DEVICE_EXTENSIONS};
    cl_int                      code;
    for (int i = TEXT_NAME; i < TEXT_TARGET; i++) {
        char *text = i == TEXT_PLATFORM ? read_text(alloc, platform, NULL, CL_PLATFORM_NAME, &code)
                                        : read_text(alloc, NULL, device, of_device[i], &code);
        if (qst__cl_passing(code))
            return code;
        facts->texts[i] = text ? text : qst__strdup(alloc, "");
        if (!facts->texts[i])
            return CL_OUT_OF_HOST_MEMORY;
    }
    return CL_SUCCESS;
}

/* A driver's version need not change where what it is made of does: PoCL's stays with another LLVM. */
static char *make_stack(const qst__alloc *alloc, const char *driver, const char *of_platform, const char *of_device)
{
    qst__str text;
    uint32_t digest = of_platform ? qst__crc32(0, of_platform, strlen(of_platform) + 1) : 0;

    digest = of_device ? qst__crc32(digest, of_device, strlen(of_device) + 1) : digest;
    qst__str_init(&text, alloc);
    for (const char *c = driver; *c; c++)
        qst__str_append_n(&text, *c == ';' || *c == '#' ? "," : c, 1);
    if (*driver)
        qst__str_printf(&text, "#%08x", (unsigned)digest);
    else
        qst__str_append(&text, "");
    return qst__str_take(&text);
}

static cl_int read_version(qst__facts *facts, const qst__alloc *alloc, cl_device_id device, cl_platform_id platform)
{
    cl_int   codes[2];
    char    *of_device = read_text(alloc, NULL, device, CL_DEVICE_VERSION, &codes[0]);
    char    *of_platform = read_text(alloc, platform, NULL, CL_PLATFORM_VERSION, &codes[1]);
    uint32_t a = qst__cl_version(of_device), b = qst__cl_version(of_platform);
    facts->texts[TEXT_STACK] = make_stack(alloc, facts->texts[TEXT_DRIVER], of_platform, of_device);
    qst__free(alloc, of_device);
    qst__free(alloc, of_platform);
    facts->device.cl_version = a < b ? a : b;
    if (qst__cl_passing(codes[0]) || qst__cl_passing(codes[1]))
        return qst__cl_passing(codes[0]) ? codes[0] : codes[1];
    return facts->texts[TEXT_STACK] ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static uint32_t read_type(source *device)
{
    cl_device_type type = u64(device, CL_DEVICE_TYPE);
    if (type & CL_DEVICE_TYPE_GPU)
        return QST_DEVICE_GPU;
    return type & CL_DEVICE_TYPE_CPU ? QST_DEVICE_CPU : QST_DEVICE_ACCELERATOR;
}

static void read_flags(qst__facts *facts, source *device)
{
    const char *extensions = facts->texts[TEXT_EXTENSIONS];
    bool        f64 = has_extension(extensions, "cl_khr_fp64") || u64(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
    facts->queue_out_of_order = (u64(device, CL_DEVICE_QUEUE_PROPERTIES) & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0;
    facts->device.flags = (f64 ? QST_DEVICE_F64 : 0u) |
                          (has_extension(extensions, "cl_khr_fp16") ? QST_DEVICE_F16 : 0u) |
                          (u32(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL ? QST_DEVICE_LOCAL_DEDICATED : 0u) |
                          (u32(device, CL_DEVICE_HOST_UNIFIED_MEMORY) ? QST_DEVICE_UNIFIED : 0u) |
                          (facts->queue_out_of_order ? QST_DEVICE_OUT_OF_ORDER : 0u);
}

static bool read_groups(qst_device *d, source *device)
{
    size_t  sizes[16] = {0};
    cl_uint dims = u32(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
    d->max_group = size_fact(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
    if (dims < 3 || dims > sizeof sizes / sizeof *sizes ||
        !tells(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, dims * sizeof *sizes, sizes))
        return false;
    for (int i = 0; i < 3; i++)
        d->max_group_dim[i] = clamped(sizes[i]);
    return d->max_group != 0;
}

/* OpenCL 1.2 tells the preferred multiple of a kernel only, and there is no kernel yet. These are the widths in which
 * the hardware steps: 1 where work-items are a loop, NVIDIA's warp, AMD's wavefront (64; 32 divides it), and 16, which
 * divides the widths of the other GPUs. */
static uint32_t read_multiple(uint32_t type, const char *vendor)
{
    static const struct {
        const char *vendor;
        uint32_t    multiple;
    } known[] = {{"NVIDIA", 32}, {"Advanced Micro Devices", 64}, {"AMD", 64}};
    if (type == QST_DEVICE_CPU)
        return 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strstr(vendor, known[i].vendor))
            return known[i].multiple;
    return 16;
}

static uint32_t read_align_log2(source *device)
{
    uint32_t bytes = u32(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8, log2 = 0;
    while (bytes > 1) {
        bytes >>= 1;
        log2++;
    }
    return log2;
}

static void read_numbers(qst_device *d, source *device)
{
    d->units = u32(device, CL_DEVICE_MAX_COMPUTE_UNITS);
    d->vector_f32 = u32(device, CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT);
    d->base_align_log2 = read_align_log2(device);
    d->pointer_bits = u32(device, CL_DEVICE_ADDRESS_BITS);
    d->local_bytes = u64(device, CL_DEVICE_LOCAL_MEM_SIZE);
    d->max_alloc = u64(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    d->global_bytes = u64(device, CL_DEVICE_GLOBAL_MEM_SIZE);
    if (u32(device, CL_DEVICE_GLOBAL_MEM_CACHE_TYPE) != CL_NONE)
        d->cache_bytes = u64(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
}

/* NVIDIA's extension cl_nv_device_attribute_query. */
#define COMPUTE_CAPABILITY_MAJOR_NV 0x4000
#define COMPUTE_CAPABILITY_MINOR_NV 0x4001

static void read_maker(qst__facts *facts, source *device)
{
    facts->device.vendor_id = u32(device, CL_DEVICE_VENDOR_ID);
    if (has_extension(facts->texts[TEXT_EXTENSIONS], "cl_nv_device_attribute_query"))
        facts->device.compute_capability =
            u32(device, COMPUTE_CAPABILITY_MAJOR_NV) * 10 + u32(device, COMPUTE_CAPABILITY_MINOR_NV);
}

/* The power of two GiB that is nearest by ratio, at least 1: what a driver keeps for itself does not change it. */
static unsigned memory_class(uint64_t bytes)
{
    unsigned gib = 1;
    while (gib < 1u << 20 && bytes >> 29 >= 3ull * gib)
        gib *= 2;
    return gib;
}

static char *make_target(const qst__alloc *alloc, const qst__facts *facts)
{
    static const int parts[] = {TEXT_PLATFORM, TEXT_VENDOR, TEXT_NAME};
    qst__str         text;
    qst__str_init(&text, alloc);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        for (const char *c = facts->texts[parts[i]]; *c; c++)
            qst__str_append_n(&text, *c == '|' ? "/" : c, 1);
        qst__str_append(&text, "|");
    }
    qst__str_printf(&text, "%u|%uGiB", (unsigned)facts->device.units, memory_class(facts->device.global_bytes));
    return qst__str_take(&text);
}

/* ---- All of it ------------------------------------------------------------------------------------------------ */

static void point_at_texts(qst__facts *facts)
{
    facts->device.name = facts->texts[TEXT_NAME];
    facts->device.vendor = facts->texts[TEXT_VENDOR];
    facts->device.platform = facts->texts[TEXT_PLATFORM];
    facts->device.driver = facts->texts[TEXT_DRIVER];
    facts->device.extensions = facts->texts[TEXT_EXTENSIONS];
    facts->device.target = facts->texts[TEXT_TARGET];
    facts->stack = facts->texts[TEXT_STACK];
}

uint32_t qst__facts_clock(cl_device_id device)
{
    source from = {device, CL_SUCCESS};
    return u32(&from, CL_DEVICE_MAX_CLOCK_FREQUENCY);
}

qst_status qst__facts_init(qst__facts *facts, const qst__alloc *alloc, cl_context context, cl_device_id device,
                           qst_error *err)
{
    cl_platform_id platform = NULL;
    source         from = {device, CL_SUCCESS};
    qst_device    *d = &facts->device;
    qst_status     status;
    memset(facts, 0, sizeof *facts);
    cl_int code = clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, (void *)&platform, NULL);
    if (code != CL_SUCCESS)
        return qst__fail_cl(err, code, "device", "clGetDeviceInfo gives %s (%d)", qst__cl_name(code), (int)code);
    d->size = (uint32_t)sizeof *d;
    d->context = context;
    d->id = device;
    d->type = read_type(&from);
    read_numbers(d, &from);
    code = read_texts(facts, alloc, device, platform);
    if (code == CL_SUCCESS)
        code = read_version(facts, alloc, device, platform);
    if (code != CL_SUCCESS)
        goto failed;
    if (!read_groups(d, &from) && from.passing == CL_SUCCESS) {
        status = qst__fail(err, QST_E_UNSUPPORTED, "device", "%s: does not tell its limits of work-groups",
                           facts->texts[TEXT_NAME]);
        goto out;
    }
    d->group_multiple = read_multiple(d->type, facts->texts[TEXT_VENDOR]);
    read_flags(facts, &from);
    read_maker(facts, &from);
    code = from.passing;
    if (code != CL_SUCCESS)
        goto failed;
    facts->texts[TEXT_TARGET] = make_target(alloc, facts);
    code = facts->texts[TEXT_TARGET] ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (code != CL_SUCCESS)
        goto failed;
    point_at_texts(facts);
    return QST_OK;
failed:
    status = qst__fail_cl(err, code, "device", "a device's facts: %s (%d)", qst__cl_name(code), (int)code);
out:
    qst__facts_finish(facts, alloc);
    return status;
}

void qst__facts_finish(qst__facts *facts, const qst__alloc *alloc)
{
    for (int i = TEXT_NAME; i <= TEXT_STACK; i++)
        qst__free(alloc, facts->texts[i]);
    memset(facts, 0, sizeof *facts);
}
