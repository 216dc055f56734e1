/* SPDX-License-Identifier: MIT
 *
 * The memory store: sorted arrays of blobs, each blob counted so that a reader keeps it while others replace it. */
#include "cache/memory.h"

#include "base/lock.h"

#include <string.h>

typedef struct blob {
    uint32_t      holders; /* under the store's lock */
    uint32_t      key_bytes;
    uint64_t      value_bytes;
    unsigned char bytes[]; /* key, then value */
} blob;

typedef struct token {
    struct token *next;
    blob         *key;
} token;

typedef struct memory {
    const qst__alloc *alloc;
    qst__lock         lock;
    QST__VEC(blob *) table[QST_DB_COUNT];
    token *claims;
} memory;

static bool in_contract(uint32_t db, const void *key, uint64_t key_bytes)
{
    return db < QST_DB_COUNT && key && key_bytes > 0 && key_bytes <= QST_STORE_KEY_MAX;
}

static blob *make_blob(const qst__alloc *alloc, const void *key, uint64_t key_bytes, const void *value,
                       uint64_t value_bytes)
{
    blob *made;

    if (value_bytes > SIZE_MAX - sizeof *made - QST_STORE_KEY_MAX)
        return NULL;
    made = qst__zalloc(alloc, sizeof *made + (size_t)key_bytes + (size_t)value_bytes);
    if (!made)
        return NULL;
    made->holders = 1;
    made->key_bytes = (uint32_t)key_bytes;
    made->value_bytes = value_bytes;
    memcpy(made->bytes, key, (size_t)key_bytes);
    if (value_bytes)
        memcpy(made->bytes + key_bytes, value, (size_t)value_bytes);
    return made;
}

/* Under the lock. */
static void let_go(const memory *store, blob *held)
{
    if (held && --held->holders == 0)
        qst__free(store->alloc, held);
}

/* Order of keys: by bytes, a prefix before what it begins. */
static int compare(const blob *there, const void *key, uint64_t key_bytes)
{
    uint64_t common = there->key_bytes < key_bytes ? there->key_bytes : key_bytes;
    int      order = memcmp(there->bytes, key, (size_t)common);

    if (order != 0)
        return order;
    return there->key_bytes < key_bytes ? -1 : there->key_bytes > key_bytes;
}

/* Under the lock: the position of the first key that is not less; *same says whether it is that key. */
static size_t find(const memory *store, uint32_t db, const void *key, uint64_t key_bytes, bool *same)
{
    blob *const *data = store->table[db].data;
    size_t       low = 0, high = store->table[db].count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(data[middle], key, key_bytes) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *same = low < store->table[db].count && compare(data[low], key, key_bytes) == 0;
    return low;
}

static int32_t show(memory *store, blob *held, qst_store_take take, void *user)
{
    int32_t end = take(user, held->bytes, held->key_bytes, held->bytes + held->key_bytes, held->value_bytes);

    qst__lock_take(&store->lock);
    let_go(store, held);
    qst__lock_give(&store->lock);
    return end;
}

static int32_t memory_get(void *self, uint32_t db, const void *key, uint64_t key_bytes, qst_store_take take, void *user)
{
    memory *store = self;
    blob   *held = NULL;
    bool    same;
    size_t  at;

    if (!in_contract(db, key, key_bytes) || !take)
        return QST_E_INVALID;
    qst__lock_take(&store->lock);
    at = find(store, db, key, key_bytes, &same);
    if (same) {
        held = store->table[db].data[at];
        held->holders++;
    }
    qst__lock_give(&store->lock);
    if (!held)
        return QST_E_NOTFOUND;
    show(store, held, take, user);
    return QST_OK;
}

static int32_t memory_put(void *self, uint32_t db, const void *key, uint64_t key_bytes, const void *value,
                          uint64_t value_bytes)
{
    memory    *store = self;
    qst_status status = QST_OK;
    blob      *fresh;
    bool       same;
    size_t     at;

    if (!in_contract(db, key, key_bytes) || (!value && value_bytes))
        return QST_E_INVALID;
    fresh = make_blob(store->alloc, key, key_bytes, value, value_bytes);
    if (!fresh)
        return QST_E_NOMEM;
    qst__lock_take(&store->lock);
    at = find(store, db, key, key_bytes, &same);
    if (same) {
        let_go(store, store->table[db].data[at]);
        store->table[db].data[at] = fresh;
    } else if (qst__vec_push(store->alloc, &store->table[db], fresh)) {
        blob **data = store->table[db].data;
        memmove(data + at + 1, data + at, (store->table[db].count - 1 - at) * sizeof *data);
        data[at] = fresh;
    } else {
        let_go(store, fresh);
        status = QST_E_NOMEM;
    }
    qst__lock_give(&store->lock);
    return status;
}

/* The entry after the key in `last` (none: the first), held; its key replaces that in `last`. */
static blob *following(memory *store, uint32_t db, qst__memory_at *last)
{
    blob  *held = NULL;
    bool   same = false;
    size_t at;

    qst__lock_take(&store->lock);
    at = last->bytes ? find(store, db, last->key, last->bytes, &same) : 0;
    at += same;
    if (at < store->table[db].count) {
        held = store->table[db].data[at];
        held->holders++;
        last->bytes = held->key_bytes;
        memcpy(last->key, held->bytes, held->key_bytes);
    }
    qst__lock_give(&store->lock);
    return held;
}

static int32_t memory_iterate(void *self, uint32_t db, qst_store_take take, void *user)
{
    qst__memory_at last = {.bytes = 0};
    blob          *held;

    if (db >= QST_DB_COUNT || !take)
        return QST_E_INVALID;
    do
        held = following(self, db, &last);
    while (held && show(self, held, take, user) == 0);
    return QST_OK;
}

bool qst__memory_next(const qst_store *store, uint32_t db, qst__memory_at *at)
{
    memory *self = store->self;
    blob   *held = following(self, db, at);

    if (!held)
        return false;
    qst__lock_take(&self->lock);
    let_go(self, held);
    qst__lock_give(&self->lock);
    return true;
}

static int32_t memory_remove(void *self, uint32_t db, const void *key, uint64_t key_bytes)
{
    memory *store = self;
    bool    same;
    size_t  at;

    if (!in_contract(db, key, key_bytes))
        return QST_E_INVALID;
    qst__lock_take(&store->lock);
    at = find(store, db, key, key_bytes, &same);
    if (same) {
        blob **data = store->table[db].data;
        let_go(store, data[at]);
        store->table[db].count--;
        memmove(data + at, data + at + 1, (store->table[db].count - at) * sizeof *data);
    }
    qst__lock_give(&store->lock);
    return same ? QST_OK : QST_E_NOTFOUND;
}

static void free_token(const memory *store, token *given)
{
    if (given)
        qst__free(store->alloc, given->key);
    qst__free(store->alloc, given);
}

/* Under the lock. */
static bool is_claimed(const memory *store, const void *key, uint64_t key_bytes)
{
    for (const token *held = store->claims; held; held = held->next)
        if (compare(held->key, key, key_bytes) == 0)
            return true;
    return false;
}

static int32_t memory_claim(void *self, const void *key, uint64_t key_bytes, void **out)
{
    memory    *store = self;
    qst_status status = QST_OK;
    token     *fresh;

    if (!in_contract(0, key, key_bytes) || !out)
        return QST_E_INVALID;
    *out = NULL;
    fresh = qst__zalloc(store->alloc, sizeof *fresh);
    if (!fresh)
        return QST_E_NOMEM;
    fresh->key = make_blob(store->alloc, key, key_bytes, NULL, 0);
    if (!fresh->key) {
        free_token(store, fresh);
        return QST_E_NOMEM;
    }
    qst__lock_take(&store->lock);
    if (is_claimed(store, key, key_bytes)) {
        status = QST_E_BUSY;
    } else {
        fresh->next = store->claims;
        store->claims = fresh;
        *out = fresh;
    }
    qst__lock_give(&store->lock);
    if (status != QST_OK)
        free_token(store, fresh);
    return status;
}

static void memory_release(void *self, void *given)
{
    memory *store = self;
    token **at;

    if (!given)
        return;
    qst__lock_take(&store->lock);
    for (at = &store->claims; *at && *at != given; at = &(*at)->next)
        ;
    if (*at)
        *at = (*at)->next;
    else
        given = NULL; /* not one of ours, or released before */
    qst__lock_give(&store->lock);
    free_token(store, given);
}

static int32_t memory_sync(void *self)
{
    (void)self; /* nothing here survives the process, whatever is done */
    return QST_OK;
}

static int32_t memory_stat(void *self, qst_store_stat *out)
{
    memory        *store = self;
    qst_store_stat now = {.size = sizeof now};

    if (!out || out->size < sizeof out->size)
        return QST_E_INVALID;
    qst__lock_take(&store->lock);
    for (uint32_t db = 0; db < QST_DB_COUNT; db++)
        now.entries[db] = store->table[db].count;
    qst__lock_give(&store->lock);
    if (now.size > out->size)
        now.size = out->size;
    memcpy(out, &now, now.size);
    return QST_OK;
}

static void memory_close(void *self)
{
    memory *store = self;

    if (!store)
        return;
    for (uint32_t db = 0; db < QST_DB_COUNT; db++) {
        for (size_t i = 0; i < store->table[db].count; i++)
            let_go(store, store->table[db].data[i]);
        qst__vec_finish(store->alloc, &store->table[db]);
    }
    while (store->claims) {
        token *next = store->claims->next;
        free_token(store, store->claims);
        store->claims = next;
    }
    qst__lock_finish(&store->lock);
    qst__free(store->alloc, store);
}

qst_status qst__store_memory(qst_store *store, const qst__alloc *alloc, qst_error *err)
{
    memory *self = qst__zalloc(alloc, sizeof *self);

    if (!self)
        return qst__fail(err, QST_E_NOMEM, "store", "no memory for the store in memory, %zu bytes", sizeof *self);
    self->alloc = alloc;
    qst__lock_init(&self->lock);
    *store = (qst_store){
        .size = sizeof *store,
        .name = "memory",
        .self = self,
        .get = memory_get,
        .put = memory_put,
        .iterate = memory_iterate,
        .remove = memory_remove,
        .claim = memory_claim,
        .release = memory_release,
        .sync = memory_sync,
        .close = memory_close,
        .stat = memory_stat,
    };
    return QST_OK;
}
