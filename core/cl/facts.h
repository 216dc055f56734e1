/* SPDX-License-Identifier: MIT
 *
 * facts.h: a device's facts and identity, asked once; and how platforms and devices are found by name.
 */
#ifndef QST_CL_FACTS_H
#define QST_CL_FACTS_H

#include "cl/status.h"

#include <quernstone/plugin.h>

typedef struct qst__facts {
    qst_device  device; /* strings point at the owned texts below */
    char       *texts[7];
    const char *stack; /* what compiles and runs: the driver's version, '#', a digest of the platform's and the device's
                        * versions; "" where the driver does not tell its own */
    bool        queue_out_of_order; /* device offers out-of-order queues */
} qst__facts;

/* target = "platform|vendor|name|units|memory class" where the memory class is the global memory rounded to a power of
 * two (GiB): the device model, without driver version or host. Retains nothing. */
qst_status qst__facts_init(qst__facts *facts, const qst__alloc *alloc, cl_context context, cl_device_id device,
                           qst_error *err);
/* clock_mhz, which init leaves 0: NVIDIA's driver takes 0.7 ms to tell it, and only estimates want it. */
uint32_t qst__facts_clock(cl_device_id device);
void     qst__facts_finish(qst__facts *facts, const qst__alloc *alloc);

/* "OpenCL 1.2 …" as 120; 0 where it is no such text. */
uint32_t qst__cl_version(const char *text);
/* Texts of a device and a platform without blanks at the ends; NULL where there is none or no memory. */
char *qst__device_text(const qst__alloc *alloc, cl_device_id device, cl_device_info what);
char *qst__platform_text(const qst__alloc *alloc, cl_platform_id platform, cl_platform_info what);

/* What a search asks for; NULL or −1: any. Names match a part, ignoring case. index counts among the matches. */
typedef struct qst__pick {
    const char *platform;
    const char *name;
    int32_t     index;
} qst__pick;

/* Finds a device: among the matches the index-th, by default the first GPU, else the first. E_NOTFOUND lists what
 * there is. */
qst_status qst__device_pick(const qst__pick *pick, cl_platform_id *platform, cl_device_id *device, qst_error *err);

/* By which index a search for these names means the device; −1: it is not among the matches, or there is no memory. */
int32_t qst__device_index(const char *platform, const char *name, cl_device_id device);

/* Calls visit for every device of every platform, in the loader's order. A platform without devices is passed over. */
qst_status qst__device_each(const qst__alloc *alloc,
                            void (*visit)(void *user, cl_platform_id platform, cl_device_id device), void *user,
                            qst_error *err);

#endif
