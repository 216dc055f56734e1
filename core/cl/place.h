/* SPDX-License-Identifier: MIT
 *
 * place.h: a device as another process finds it. Drivers that load in one process may not in the next, so that a
 * platform's place in the loader's list says nothing there: names do, and of devices of one name their order. Header
 * only, for the library and for the executables beside it.
 */
#ifndef QST_CL_PLACE_H
#define QST_CL_PLACE_H

#include <CL/cl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define QST__PLACE_NAME      256u /* bytes of a name, its end included */
#define QST__PLACE_PLATFORMS 32u  /* that are looked through, and devices of each */
#define QST__PLACE_DEVICES   64u

typedef struct qst__place {
    char     platform[QST__PLACE_NAME];
    char     device[QST__PLACE_NAME];
    uint64_t nth; /* among the devices of both names, in the loader's order */
} qst__place;

/* Goes through the devices of the place's names, up to `known` or, where that is NULL, to the nth. *nth: how many came
 * before. No platform of another name is asked for its devices: that may start a driver. CL_DEVICE_NOT_FOUND: none was
 * it. */
static inline cl_int qst__place_walk(const qst__place *place, cl_device_id known, cl_platform_id *platform,
                                     cl_device_id *device, uint64_t *nth)
{
    cl_platform_id platforms[QST__PLACE_PLATFORMS];
    cl_device_id   devices[QST__PLACE_DEVICES];
    char           name[QST__PLACE_NAME];
    cl_uint        n = 0, count, p, d;
    cl_int         code = clGetPlatformIDs(QST__PLACE_PLATFORMS, platforms, &n);

    *nth = 0;
    for (p = 0; code == CL_SUCCESS && p < n && p < QST__PLACE_PLATFORMS; p++) {
        if (clGetPlatformInfo(platforms[p], CL_PLATFORM_NAME, sizeof name, name, NULL) != CL_SUCCESS ||
            strcmp(name, place->platform) ||
            clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, QST__PLACE_DEVICES, devices, &count) != CL_SUCCESS)
            continue;
        for (d = 0; d < count && d < QST__PLACE_DEVICES; d++) {
            if (clGetDeviceInfo(devices[d], CL_DEVICE_NAME, sizeof name, name, NULL) != CL_SUCCESS ||
                strcmp(name, place->device))
                continue;
            *platform = platforms[p];
            *device = devices[d];
            if (known ? devices[d] == known : *nth == place->nth)
                return CL_SUCCESS;
            ++*nth;
        }
    }
    return code == CL_SUCCESS ? CL_DEVICE_NOT_FOUND : code;
}

/* Where another process finds the device. CL_DEVICE_NOT_FOUND: it is not listed, as a part of a device is not. */
static inline cl_int qst__place_of(qst__place *place, cl_device_id device)
{
    cl_platform_id platform;
    cl_device_id   same;
    cl_int         code = clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);

    if (code == CL_SUCCESS)
        code = clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof place->platform, place->platform, NULL);
    if (code == CL_SUCCESS)
        code = clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof place->device, place->device, NULL);
    return code == CL_SUCCESS ? qst__place_walk(place, device, &platform, &same, &place->nth) : code;
}

/* The device of that place here. *count, where there is none: how many there are of both names. */
static inline cl_int qst__place_find(const qst__place *place, cl_platform_id *platform, cl_device_id *device,
                                     uint64_t *count)
{
    return qst__place_walk(place, NULL, platform, device, count);
}

/* Some loaders read OCL_ICD_FILENAMES where it stands and cut it at each colon: a process started later finds the first
 * driver alone. An executable that starts others calls this before anything asks for platforms. It keeps a copy under
 * another name, or puts back the copy that its parent kept. */
#define QST__PLACE_DRIVERS "OCL_ICD_FILENAMES"
#define QST__PLACE_KEPT    "QST_KEPT_ICD_FILENAMES"
static inline void qst__place_keep_drivers(void)
{
    const char *kept = getenv(QST__PLACE_KEPT), *given = getenv(QST__PLACE_DRIVERS);

    if (kept)
        (void)setenv(QST__PLACE_DRIVERS, kept, 1);
    else if (given)
        (void)setenv(QST__PLACE_KEPT, given, 1);
}

#endif
