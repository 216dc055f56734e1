/* SPDX-License-Identifier: MIT
 *
 * peer.h: other libraries' matmuls, called as a program of theirs would call them: beside ours in `qst bench`, never
 * through our candidates. Opened at run time, from plugin.clblast.library and plugin.cblas.library of the configuration
 * or by their usual names.
 */
#ifndef QST_TOOL_PEER_H
#define QST_TOOL_PEER_H

#include "data.h"

typedef struct peer peer;

/* "clblast" or "openblas" (any BLAS with a C interface). NULL with a reason in *why (the caller frees): another name, a
 * library that does not open, or a device that it cannot serve. Libraries stay open. */
peer *peer_open(const char *name, const device_handle *device, char **why);
bool  peer_known(const char *name);
void  peer_close(peer *p);

const char *peer_name(const peer *p);

/* What it says of itself: OpenBLAS the processor type whose kernels it uses, which it may not have got right
 * (OPENBLAS_CORETYPE). NULL: nothing. */
const char *peer_detail(const peer *p);

/* Does it compute on the host, on mapped buffers, with threads of its own that go on spinning when it has ended? */
bool peer_on_host(const peer *p);

/* Can it compute the problem? Else a reason. */
bool peer_suits(const peer *p, const qst_matmul *problem, const char **why);

/* One call. `host`: the three buffers' mapped beginnings, for one that computes there. 0, or the library's code. */
int peer_call(const peer *p, const qst_matmul *problem, const data_matrix *const matrices[3],
              unsigned char *const *host, cl_command_queue queue);

#endif
