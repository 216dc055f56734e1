/* SPDX-License-Identifier: MIT
 *
 * lmdb-check.c: reads a data file as LMDB would, but believes nothing. */
#include "cache/lmdb-check.h"

#include "cache/lmdb-format.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct meta {
    table    free, main;
    uint64_t map, last, txn;
} meta;

typedef struct check {
    int               fd;
    const qst__alloc *alloc;
    qst_error        *err;
    uint64_t          pages; /* in the file */
    uint64_t          next;  /* pages below it may be used */
    uint32_t          psize;
    meta              now;
    uint8_t          *seen; /* a bit a page */
} check;

/* One tree being walked: what was counted, and the last key passed. */
typedef struct walk {
    const table *table;
    bool         is_free;
    bool         is_main;
    uint64_t     branches, leaves, overflows, entries;
    bool         any;      /* a key was passed */
    bool         or_equal; /* it was a separator: the next may equal it */
    uint32_t     last_bytes;
    uint8_t      last[KEY_MAX];
    uint8_t     *page[DEPTH_MAX]; /* one buffer a level */
} walk;

static qst_status bad(const check *c, uint64_t page, const char *what)
{
    return qst__fail(c->err, QST_E_CORRUPT, "store", "page %" PRIu64 " of %" PRIu64 ": %s", page, c->pages, what);
}

/* Reads all of it; E_IO, or E_CORRUPT where the file ends before. */
static qst_status read_at(const check *c, uint64_t offset, void *out, size_t bytes)
{
    uint8_t *to = out;

    while (bytes) {
        ssize_t got = pread(c->fd, to, bytes, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return qst__fail(c->err, QST_E_IO, "store", "reading at byte %" PRIu64 ": %s", offset, strerror(errno));
        if (got == 0)
            return qst__fail(c->err, QST_E_CORRUPT, "store", "the file ends at byte %" PRIu64, offset);
        to += got;
        offset += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return QST_OK;
}

/* Counts pages as used once; the bounds are looked at here. */
static qst_status use(check *c, uint64_t page, uint64_t count)
{
    if (page < 2 || page >= c->next || count > c->next - page)
        return bad(c, page, "is outside of the pages in use");
    for (uint64_t p = page; p < page + count; p++) {
        uint8_t bit = (uint8_t)(1u << (p & 7));
        if (c->seen[p >> 3] & bit)
            return bad(c, p, "is used twice");
        c->seen[p >> 3] |= bit;
    }
    return QST_OK;
}

/* ---- Metas ------------------------------------------------------------------------------------------------------- */

/* One meta page. Its head is at the page's start, whose place the first meta's page size tells. */
static qst_status get_meta(const check *c, uint32_t index, uint32_t psize, meta *out)
{
    uint8_t        raw[PAGE_HEAD + META_BYTES];
    const uint8_t *at = raw + PAGE_HEAD;
    qst_status     status = read_at(c, (uint64_t)index * psize, raw, sizeof raw);

    if (status != QST_OK)
        return status;
    if (get32(at) != MAGIC || get16(raw + 10) != PAGE_META || get64(raw) != index)
        return bad(c, index, "is not a meta page");
    if (get32(at + 4) != VERSION)
        return qst__fail(c->err, QST_E_STALE, "store", "the file has format %u, not %u", (unsigned)get32(at + 4),
                         VERSION);
    out->map = get64(at + 16);
    out->free = get_table(at + 24);
    out->main = get_table(at + 24 + TABLE_BYTES);
    out->last = get64(at + 24 + 2 * TABLE_BYTES);
    out->txn = get64(at + 32 + 2 * TABLE_BYTES);
    psize = out->free.psize;
    if (psize < PSIZE_MIN || psize > PSIZE_MAX || (psize & (psize - 1)) != 0)
        return bad(c, index, "has a page size that is none");
    return QST_OK;
}

/* Both, and the newer one into c->now. */
static qst_status get_metas(check *c)
{
    meta       both[2];
    uint64_t   old;
    qst_status status = get_meta(c, 0, 0, &both[0]);

    if (status == QST_OK)
        status = get_meta(c, 1, both[0].free.psize, &both[1]);
    if (status != QST_OK)
        return status;
    if (both[0].free.psize != both[1].free.psize)
        return bad(c, 1, "has another page size than page 0");
    c->now = both[both[1].txn > both[0].txn];
    old = both[both[1].txn <= both[0].txn].txn;
    for (uint32_t i = 0; i < 2; i++)
        if (both[i].txn != 0 && (both[i].txn & 1) != i)
            return bad(c, i, "has a transaction number of the other meta page");
    if (c->now.txn - old > 1)
        return bad(c, c->now.txn & 1, "has a transaction number that does not follow");
    c->psize = c->now.free.psize;
    return QST_OK;
}

static qst_status check_meta(check *c, uint64_t file_bytes)
{
    const meta *m = &c->now;
    uint64_t    page = m->txn & 1;

    c->pages = file_bytes / c->psize;
    /* Pages taken and dropped within one transaction need never have been written: some may lie beyond the end. */
    if (m->last < 1 || m->last > 2 * c->pages + 1024)
        return bad(c, page, "has a last page far beyond the file");
    if (m->map > MAP_MAX)
        return bad(c, page, "has a map that is too large");
    if ((m->free.flags & ~(uint32_t)ENV_PLAIN_FILE) != TABLE_INTEGER || m->main.flags != 0)
        return bad(c, page, "has tables of another kind");
    c->next = m->last + 1;
    return QST_OK;
}

/* ---- Pages and nodes --------------------------------------------------------------------------------------------- */

/* A branch or leaf page by itself: after it, every node can be read. */
static qst_status check_page(const check *c, uint64_t number, const uint8_t *page, bool leaf)
{
    uint32_t lower = get16(page + 12), upper = get16(page + 14), n;
    uint64_t filled = 0;

    if (get64(page) != number || get16(page + 10) != (leaf ? PAGE_LEAF : PAGE_BRANCH))
        return bad(c, number, leaf ? "is not the leaf it should be" : "is not the branch it should be");
    if (lower < PAGE_HEAD || lower > upper || upper > c->psize || (lower & 1) || (upper & 1))
        return bad(c, number, "has bounds that are none");
    n = node_count(page);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t offset = get16(page + PAGE_HEAD + 2 * i);
        uint64_t bytes;

        if (offset < upper || (offset & 1) || offset + NODE_HEAD > c->psize)
            return bad(c, number, "has a node out of bounds");
        bytes = node_bytes(page + offset, leaf);
        if (get16(page + offset + 6) > KEY_MAX || bytes > c->psize - offset)
            return bad(c, number, "has a node that is too long");
        if (leaf && get16(page + offset + 4) > NODE_TABLE)
            return bad(c, number, "has a node of an unknown kind");
        filled += (bytes + 1) & ~(uint64_t)1;
    }
    if (filled != c->psize - upper)
        return bad(c, number, "has nodes that do not fill it");
    return QST_OK;
}

/* Keys ascend, as the table orders them. */
static qst_status pass_key(const check *c, walk *w, uint64_t page, const uint8_t *node, bool separator)
{
    uint32_t       bytes = get16(node + 6), common = bytes < w->last_bytes ? bytes : w->last_bytes;
    const uint8_t *key = node + NODE_HEAD;
    int            order;

    if (bytes == 0 || (w->is_free && bytes != 8))
        return bad(c, page, "has a key of a wrong length");
    if (w->is_free)
        order = !w->any ? 1 : (get64(key) > get64(w->last)) - (get64(key) < get64(w->last));
    else
        order = memcmp(key, w->last, common);
    if (!w->is_free && order == 0)
        order = (bytes > w->last_bytes) - (bytes < w->last_bytes);
    if (w->any && (order < 0 || (order == 0 && !w->or_equal)))
        return bad(c, page, "has keys out of order");
    memcpy(w->last, key, bytes);
    w->last_bytes = bytes;
    w->any = true;
    w->or_equal = separator;
    return QST_OK;
}

/* ---- Values ------------------------------------------------------------------------------------------------------ */

/* The list of a transaction's free pages: count u64, then page numbers, descending; more room may follow. */
static qst_status check_free(check *c, uint64_t page, const uint8_t *list, uint64_t bytes)
{
    uint64_t count = bytes >= 8 ? get64(list) : NONE, before = c->next;

    if (bytes % 8 != 0 || count > bytes / 8 - 1)
        return bad(c, page, "has a list of free pages that is too long");
    for (uint64_t i = 1; i <= count; i++) {
        uint64_t   number = get64(list + 8 * i);
        qst_status status = number < before ? use(c, number, 1) : bad(c, page, "has free pages out of order");
        if (status != QST_OK)
            return status;
        before = number;
    }
    return QST_OK;
}

/* A value on pages of its own: *value is its first byte's place in the file. */
static qst_status check_big(check *c, walk *w, uint64_t page, const uint8_t *node, uint64_t bytes, uint64_t *value)
{
    uint64_t   number = get64(node + NODE_HEAD + get16(node + 6));
    uint64_t   needed = (PAGE_HEAD - 1 + bytes) / c->psize + 1;
    uint8_t    head[PAGE_HEAD];
    qst_status status;

    if (number < 2 || number >= c->pages || needed > c->pages - number)
        return bad(c, page, "has a value beyond the end of the file");
    status = read_at(c, number * c->psize, head, sizeof head);
    if (status != QST_OK)
        return status;
    if (get64(head) != number || get16(head + 10) != PAGE_OVERFLOW || get32(head + 12) < needed)
        return bad(c, number, "is not the value's page it should be");
    *value = number * c->psize + PAGE_HEAD;
    w->overflows += get32(head + 12);
    return use(c, number, get32(head + 12));
}

static qst_status walk_table(check *c, const table *t, bool is_free, bool is_main);

static qst_status check_value(check *c, walk *w, uint64_t page, const uint8_t *node)
{
    uint32_t       flags = get16(node + 4);
    uint64_t       bytes = get16(node) | (uint64_t)get16(node + 2) << 16, place = 0;
    const uint8_t *data = node + NODE_HEAD + get16(node + 6);
    uint8_t       *list = NULL;
    qst_status     status = QST_OK;
    table          inner;

    if (w->is_main) {
        if (flags != NODE_TABLE || bytes != TABLE_BYTES)
            return bad(c, page, "has something else among the tables");
        inner = get_table(data);
        return inner.flags == 0 ? walk_table(c, &inner, false, false) : bad(c, page, "has a table of another kind");
    }
    if (flags == NODE_TABLE)
        return bad(c, page, "has a table in a table");
    if (flags == NODE_BIG)
        status = check_big(c, w, page, node, bytes, &place);
    if (status != QST_OK || !w->is_free)
        return status;
    if (get64(node + NODE_HEAD) > c->now.txn)
        return bad(c, page, "frees pages in a transaction to come");
    list = qst__zalloc(c->alloc, bytes ? (size_t)bytes : 1); /* within the file or a page, hence bounded; and aligned */
    if (!list)
        return qst__fail(c->err, QST_E_NOMEM, "store", "no memory for a list of %" PRIu64 " bytes", bytes);
    if (flags == NODE_BIG)
        status = read_at(c, place, list, (size_t)bytes);
    else
        memcpy(list, data, (size_t)bytes);
    if (status == QST_OK)
        status = check_free(c, page, list, bytes);
    qst__free(c->alloc, list);
    return status;
}

/* ---- Trees ------------------------------------------------------------------------------------------------------- */

/* The page at this level, counted from the root. Recursion: as deep as the tree, at most DEPTH_MAX. */
static qst_status walk_page(check *c, walk *w, uint64_t number, uint32_t level)
{
    bool       leaf = level + 1 == w->table->depth;
    qst_status status = use(c, number, 1);
    uint8_t   *page;
    uint32_t   n;

    if (status == QST_OK && !w->page[level]) {
        w->page[level] = qst__zalloc(c->alloc, c->psize);
        if (!w->page[level])
            status = qst__fail(c->err, QST_E_NOMEM, "store", "no memory for a page of %u bytes", (unsigned)c->psize);
    }
    page = w->page[level];
    if (status == QST_OK)
        status = read_at(c, number * c->psize, page, c->psize);
    if (status == QST_OK)
        status = check_page(c, number, page, leaf);
    if (status != QST_OK)
        return status;
    n = node_count(page);
    *(leaf ? &w->leaves : &w->branches) += 1;
    /* LMDB asserts two children of a branch; one can be met among the free pages, where it is being merged. */
    if (n == 0 || (!leaf && n < 2 && !w->is_free))
        return bad(c, number, "has too few nodes");
    for (uint32_t i = 0; i < n && status == QST_OK; i++) {
        const uint8_t *node = node_at(page, i);

        if (leaf || i > 0) /* a branch's first key stands for all that is less */
            status = pass_key(c, w, number, node, !leaf);
        if (status != QST_OK)
            break;
        w->entries += leaf;
        if (leaf)
            status = check_value(c, w, number, node);
        else
            status = walk_page(c, w, get16(node) | (uint64_t)get16(node + 2) << 16 | (uint64_t)get16(node + 4) << 32,
                               level + 1);
    }
    return status;
}

static qst_status walk_table(check *c, const table *t, bool is_free, bool is_main)
{
    walk      *w;
    qst_status status;

    if (t->root == NONE && t->depth == 0 && t->entries == 0)
        return QST_OK;
    if (t->depth == 0 || t->depth > DEPTH_MAX)
        return bad(c, t->root, "is the root of a tree of no possible depth");
    w = qst__zalloc(c->alloc, sizeof *w);
    if (!w)
        return qst__fail(c->err, QST_E_NOMEM, "store", "no memory for a walk, %zu bytes", sizeof *w);
    w->table = t;
    w->is_free = is_free;
    w->is_main = is_main;
    status = walk_page(c, w, t->root, 0);
    if (status == QST_OK && (w->branches != t->branches || w->leaves != t->leaves || w->overflows != t->overflows ||
                             w->entries != t->entries))
        status = bad(c, t->root, "is the root of a tree with other numbers of pages or entries");
    for (uint32_t i = 0; i < DEPTH_MAX; i++)
        qst__free(c->alloc, w->page[i]);
    qst__free(c->alloc, w);
    return status;
}

qst_status qst__lmdb_check(int fd, const qst__alloc *alloc, qst_error *err)
{
    check       c = {.fd = fd, .alloc = alloc, .err = err};
    struct stat found;
    qst_status  status;

    if (fstat(fd, &found) != 0)
        return qst__fail(err, QST_E_IO, "store", "the data: %s", strerror(errno));
    if (found.st_size == 0)
        return QST_OK;
    status = get_metas(&c);
    if (status == QST_OK)
        status = check_meta(&c, (uint64_t)found.st_size);
    if (status != QST_OK)
        return status;
    c.seen = qst__zalloc(alloc, (size_t)(c.next / 8 + 1));
    if (!c.seen)
        return qst__fail(err, QST_E_NOMEM, "store", "no memory to check %" PRIu64 " pages", c.next);
    status = walk_table(&c, &c.now.free, true, false);
    if (status == QST_OK)
        status = walk_table(&c, &c.now.main, false, true);
    qst__free(alloc, c.seen);
    return status;
}

bool qst__lmdb_full(int fd)
{
    check       c = {.fd = fd};
    struct stat found;

    return get_metas(&c) == QST_OK && fstat(fd, &found) == 0 && c.now.last < (uint64_t)found.st_size / c.psize;
}

bool qst__lmdb_txn(int fd, uint64_t *txn)
{
    check c = {.fd = fd};

    if (get_metas(&c) != QST_OK)
        return false;
    *txn = c.now.txn;
    return true;
}
