/* SPDX-License-Identifier: MIT
 *
 * lmdb-check.h: is a data file one that LMDB can be trusted with?
 *
 * LMDB's pages carry no checksums: it follows whatever numbers stand in them, and a damaged one ends in an abort or
 * in a fault of memory inside the host. So the file is read here first, by plain reads, every number is compared with
 * what it may be, and LMDB never sees a file that fails. (A forked child that walks the tree through LMDB was the other
 * choice. A library does not fork inside a host that has threads and a driver; and LMDB checks less than this does.)
 *
 * Checked, for format 1 of 0.9, this machine's byte order, tables without duplicates, as all of ours are:
 *   both metas   flags, magic, version, page size, numbers of transactions (a difference of one, parity = page)
 *   every page   of the newest snapshot's trees, named tables included: number, flags, bounds, each node in bounds,
 *                nodes fill the page, keys ascend within and across pages and between their separators, depth, counts of
 *                pages and entries, no page in two places, every page within the file
 *   free pages   lists descend, lie within the file's pages, in no tree and in no other list
 * Not checked: the bytes of values. They carry a CRC of their own, looked at whenever they are read.
 */
#ifndef QST_CACHE_LMDB_CHECK_H
#define QST_CACHE_LMDB_CHECK_H

#include "base/base.h"

/* QST_OK also for an empty file, which LMDB fills. E_CORRUPT with what is wrong; E_STALE: another version of the format;
 * E_IO; E_NOMEM. Reads the file's tree pages once; memory: a bit a page. Nothing of it may be written meanwhile. */
qst_status qst__lmdb_check(int fd, const qst__alloc *alloc, qst_error *err);

/* Does the file have all the pages that its newest snapshot counts? Some may be missing in one that is in order, too. */
bool qst__lmdb_full(int fd);

/* The number of the newest transaction; false where the metas are not in order. */
bool qst__lmdb_txn(int fd, uint64_t *txn);

#endif
