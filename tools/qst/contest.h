/* SPDX-License-Identifier: MIT
 *
 * contest.h: ways to compute one matmul, timed side by side: on the same buffers, in one process, round by round in
 * turning order, so that a slow moment is slow for all.
 *
 * A sample is a batch of calls, queued and then finished once (or finished call by call: `sync`), that lasts at least
 * CONTEST_BATCH_MS; its time over its calls. Each batch follows one call that is not counted, on results as they were at
 * first. After a player whose threads go on spinning there is a pause.
 */
#ifndef QST_TOOL_CONTEST_H
#define QST_TOOL_CONTEST_H

#include "check.h"
#include "peer.h"

#define CONTEST_BATCH_MS 5.0
#define CONTEST_CALLS    20000 /* in a batch, at most */
#define CONTEST_PAUSE_MS 120   /* OpenBLAS's threads were seen to spin for 60 ms and more */
#define CONTEST_ROWS     8     /* of each product, that are checked on the host, beside the most dubious one */

/* A problem and its operands. */
typedef struct contest {
    const device_handle *device;
    const qst_matmul    *problem;
    data_matrix          a, b, c;
    unsigned char       *now;   /* room for C */
    unsigned char       *first; /* C as the first who was right left it; NULL: nobody was yet */
    bool                 sync;
    double               limit_ms; /* of a call: who takes longer is ruled out; 0: nobody is */
} contest;

/* One who plays: the library by way of a context, or a peer. Begins as zero but for name and one of the two.
 *   times   ms of a call, one a round; owned
 *   ruled_out  owned text: why it does not play */
typedef struct contest_player {
    char        *name;
    qst_context *context;
    const peer  *peer;
    int64_t      calls; /* in a batch; 0: not tried yet */
    double      *times;
    size_t       n_times;
    double       error; /* the largest relative one */
    bool         right;
    char        *ruled_out;
} contest_player;

/* The operands, filled and uploaded. False after one line. */
bool contest_init(contest *c, const device_handle *device, const qst_matmul *problem, bool sync, uint64_t seed);
void contest_finish(contest *c);

/* First calls: whatever is built or tuned, the check on the host (of some rows, and of the one that differs most from what
 * the first who was right computed), and how many calls make a batch. Whoever cannot play is
 * ruled out with a reason. False after one line: nothing goes on. */
bool contest_try(contest *c, contest_player *player);

/* One batch: ms of a call, negative after one line. */
double contest_batch(contest *c, contest_player *player);

/* `rounds` more samples for each of the n players that are not ruled out. False after one line. */
bool contest_play(contest *c, contest_player *const *players, size_t n, int64_t rounds);

void contest_player_finish(contest_player *player); /* not its context, not its peer */

/* Quantile 0 … 1 of the first n times, nearest rank; the median of a's times over b's, round by round. */
double contest_quantile(const double *times, size_t n, double q);
double contest_paired(const double *a, const double *b, size_t n);

/* Half the width of the interval in which that median lies with 95 %, from the ratios' order alone; infinite under 6. */
double contest_doubt(const double *a, const double *b, size_t n);

#endif
