/* SPDX-License-Identifier: MIT
 *
 * nv_mma.h: what the files of this plugin share: NVIDIA's matrix units and asynchronous copies from OpenCL C.
 *
 * A family of kernels is a file with a table of rows and one function that adds its candidates (nv_mma.c lists them).
 * What a row needs of a device beyond what OpenCL and the PTX manual promise is an ability, proven by running a tiny
 * kernel (probe.c) when the first candidate asks for it, and kept; each row that needs one has a sibling that does not.
 */
#ifndef NV_MMA_NV_MMA_H
#define NV_MMA_NV_MMA_H

#include <quernstone/kit.h>
#include <quernstone/matmul.h>
#include <stdbool.h>

#define NV_PLAIN_LOCAL 49152u /* bytes of static local memory that every device of ours has, promised */
#define NV_WHY         200u
#define NV_OPTIONS     400u /* characters of a program's options */

/* What a device can do. Facts come from the host, abilities from running something. */
typedef struct nv_ability {
    uint32_t cc;            /* compute capability, 90 for 9.0 */
    uint32_t units;         /* multiprocessors */
    uint32_t can_big_local; /* bytes of static local memory that were seen to work; NV_PLAIN_LOCAL where no more did */
    uint32_t can_sm90a;     /* programs retargeted to sm_90a run, wgmma gives the right sum */
    uint32_t can_tensor;    /* tensor copies by maps made on the device bring what they should */
    char     why_big_local[NV_WHY]; /* where it cannot */
    char     why_sm90a[NV_WHY];
    char     why_tensor[NV_WHY];
} nv_ability;

/* The plugin in one context: the host, memory that lives as long, what is known of devices. */
typedef struct nv_mma nv_mma;

/* The text of plugin.nv_mma.<key>; NULL: not set. */
const char *nv_mma_config(const nv_mma *plugin, const char *key);

/* Memory of the instance, zeroed; NULL: none. Inside start only. */
void *nv_mma_memory(nv_mma *plugin, size_t bytes);

/* What a row asks of a device. */
typedef struct nv_needs {
    uint32_t least_cc;    /* 80: mma.sync, asynchronous copies; 90: wgmma */
    uint32_t local_bytes; /* static local memory of its kernel; over NV_PLAIN_LOCAL only where that is proven */
    uint32_t sm90a;       /* 1: its program is retargeted */
    uint32_t tensor;      /* 1: it is fed by tensor copies; with sm90a */
} nv_needs;

/* [any thread] For supports(): QST_OK, or E_UNSUPPORTED with a reason that lives as long as the instance. May build and
 * run the probes, the first time. */
int32_t nv_mma_supports(nv_mma *plugin, const qst_device *device, const nv_needs *needs, const char **why);

/* [any thread] For can_run() and estimate(), which must not probe: is the device one of ours, from facts alone? */
static inline int32_t nv_mma_is_ours(const qst_device *device, const char **why)
{
    return device->vendor_id == 0x10de && device->compute_capability ? QST_OK : qstk_no(why, "not an NVIDIA GPU");
}

/* A program's descriptor: `sm90a` picks the form. */
static inline void nv_mma_program(qst_program *out, const char *source, size_t length, const char *options,
                                  uint32_t sm90a)
{
    out->form = sm90a ? QST_PROGRAM_RETARGETED : QST_PROGRAM_SOURCE;
    out->data = source;
    out->length = length;
    out->options = options;
    out->target = sm90a ? "sm_90a" : NULL;
}

/* ---- Families: each adds its candidates, inside start ----------------------------------------------------------- */

typedef int32_t (*nv_family)(nv_mma *plugin, const qst_host *host);

int32_t nv_peak_add(nv_mma *plugin, const qst_host *host); /* peak.c: the roof's probes */

/* ---- probe.c ------------------------------------------------------------------------------------------------------ */

/* Each proves an ability and fills its two members; a device that cannot have it is not asked. QST_OK: that is how it is,
 * whether it can or not. E_NOMEM: it could not be asked now, the members say that it cannot. */
int32_t nv_probe_big_local(const qst_host *host, const qst_device *device, nv_ability *ability);
int32_t nv_probe_sm90a(const qst_host *host, const qst_device *device, nv_ability *ability);
int32_t nv_probe_tensor(const qst_host *host, const qst_device *device, nv_ability *ability); /* needs can_sm90a */
/* The probes' program: one wgmma, one tensor copy with sm90a, else whatever its options say. */
void nv_probe_program(qst_program *out, uint32_t sm90a);

#endif
