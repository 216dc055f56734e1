/* SPDX-License-Identifier: MIT
 *
 * ahead-wire.h: what the library and its forerunner say to each other, over one stream socket, in the host's own byte
 * order: both are of one build. A job is this head and `bytes` of body; the answer is an answer.
 *
 * The body is a row of fields. A text is a u64 with its length and so many characters, without an end mark. In order:
 * the names of platform and device and u64 place among the devices of both (place.h); options; source; u64 number of
 * launches; for each the kernel's name, u64 dimensions, u64 global[3], u64 local[3] (0: the driver's choice), u64 number
 * of arguments; for each of these an qst__wire_arg. A body that ends behind the device is a greeting: nothing is built, and
 * the answer's code says nothing.
 *
 * Its argument says how far it stands back for the processors: one of the words below, none: as the
 * process that started it, as far as it may.
 */
#ifndef QST_CL_AHEAD_WIRE_H
#define QST_CL_AHEAD_WIRE_H

#include <stdint.h>

#define QST__AHEAD_IDLE   "idle"   /* SCHED_IDLE; where that is refused nice 19 */
#define QST__AHEAD_BEHIND "behind" /* nice 10 */

#define QST__WIRE_MAGIC 0x32425351u /* "QSB2"; with every change of what is said another one */
#define QST__WIRE_MAX   (64u << 20) /* bytes of a body */

typedef struct qst__wire_head {
    uint32_t magic;
    uint32_t bytes;
} qst__wire_head;

enum { QST__WIRE_BUFFER, QST__WIRE_LOCAL, QST__WIRE_VALUE };

typedef struct qst__wire_arg {
    uint64_t kind;    /* QST__WIRE_… */
    uint64_t bytes;   /* of the buffer, of local memory, of the value */
    uint64_t bits[2]; /* the value */
} qst__wire_arg;

/* `code`: what OpenCL said to the first call that failed, 0 where all went well. */
typedef struct qst__wire_answer {
    uint32_t magic;
    int32_t  code;
} qst__wire_answer;

#endif
