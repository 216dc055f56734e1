/* SPDX-License-Identifier: MIT
 *
 * lmdb-format.h: the bytes of a data file of LMDB 0.9, format 1, as mdb.c lays them out; for lmdb-check.c. */
#ifndef QST_CACHE_LMDB_FORMAT_H
#define QST_CACHE_LMDB_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* The format, in bytes. A page: number u64, pad u16, flags u16, lower u16, upper u16 (overflow: pages u32), then u16
 * offsets of nodes up to `lower`, nodes from `upper` to the end. A node: u16 low, u16 high, u16 flags, u16 key bytes, key,
 * data. A table: pad u32, flags u16, depth u16, branch, leaf, overflow pages, entries, root: u64. A meta, after its
 * page's head: magic u32, version u32, address u64, map u64, two tables (free pages, main), last page u64, txn u64. */
enum { PAGE_HEAD = 16, NODE_HEAD = 8, TABLE_BYTES = 48, META_BYTES = 136, KEY_MAX = 511, DEPTH_MAX = 32 };
enum { PAGE_BRANCH = 1, PAGE_LEAF = 2, PAGE_OVERFLOW = 4, PAGE_META = 8 };
enum { NODE_BIG = 1, NODE_TABLE = 2, TABLE_INTEGER = 8, ENV_PLAIN_FILE = 0x4000 };
enum { PSIZE_MIN = 512, PSIZE_MAX = 32768 };
#define MAGIC   0xbeefc0deu
#define VERSION 1u
#define NONE    UINT64_MAX
#define MAP_MAX ((uint64_t)1 << 44)

static inline uint32_t get16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t get32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t get64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

typedef struct table {
    uint32_t psize; /* of the free table: the page size */
    uint32_t flags;
    uint32_t depth;
    uint64_t branches, leaves, overflows, entries, root;
} table;

static inline table get_table(const uint8_t *at)
{
    return (table){.psize = get32(at),
                   .flags = get16(at + 4),
                   .depth = get16(at + 6),
                   .branches = get64(at + 8),
                   .leaves = get64(at + 16),
                   .overflows = get64(at + 24),
                   .entries = get64(at + 32),
                   .root = get64(at + 40)};
}

static inline uint32_t node_count(const uint8_t *page)
{
    return (get16(page + 12) - PAGE_HEAD) / 2;
}

static inline const uint8_t *node_at(const uint8_t *page, uint32_t index)
{
    return page + get16(page + PAGE_HEAD + 2 * index);
}

/* Bytes of a node, whose head is in bounds. */
static inline uint64_t node_bytes(const uint8_t *node, bool leaf)
{
    uint64_t data = get16(node) | (uint64_t)get16(node + 2) << 16;

    if (!leaf)
        data = 0;
    else if (get16(node + 4) & NODE_BIG)
        data = 8;
    return NODE_HEAD + get16(node + 6) + data;
}

#endif
