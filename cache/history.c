/* SPDX-License-Identifier: MIT
 *
 * history.c: writes sessions and records, late and in order. */
#include "cache/history.h"

#include "base/lock.h"
#include "cache/envelope.h"

#include <inttypes.h>
#include <jansson.h>
#include <quernstone/version.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { KEY_BYTES = 16 };

typedef struct row {
    struct row *next;
    uint64_t    number;
    size_t      length;
    char        json[];
} row;

struct qst__history {
    qst_store        *store;
    const qst__alloc *alloc;
    int32_t           level;
    uint32_t          keep;
    uint64_t          unix_ns, begin_ns;
    char             *label;
    qst__lock         lock;
    uint64_t          session;       /* 0: not written yet */
    uint64_t          numbers;       /* given so far */
    row              *first, **last; /* held until something changes */
    size_t            held;          /* their bytes */
};

static void make_key(uint8_t key[KEY_BYTES], uint64_t session, uint64_t number)
{
    for (int i = 0; i < 8; i++) {
        key[i] = (uint8_t)(session >> (56 - 8 * i));
        key[8 + i] = (uint8_t)(number >> (56 - 8 * i));
    }
}

static bool read_key(const void *key, uint64_t key_bytes, uint64_t *session, uint64_t *number)
{
    const uint8_t *at = key;

    *session = *number = 0;
    for (int i = 0; i < 8 && key_bytes == KEY_BYTES; i++) {
        *session = *session << 8 | at[i];
        *number = *number << 8 | at[8 + i];
    }
    return key_bytes == KEY_BYTES;
}

static void write_row(qst__history *h, uint64_t number, const char *json, size_t length)
{
    char          text[48];
    uint8_t       key[KEY_BYTES], *bytes;
    size_t        n;
    qst__envelope content = {.kind = 'H', .schema = QST__HISTORY_SCHEMA, .key = text};

    content.key_length = (size_t)snprintf(text, sizeof text, "%" PRIu64 "/%" PRIu64, h->session, number);
    content.value = (const uint8_t *)json;
    content.value_bytes = length;
    bytes = qst__envelope_seal(h->alloc, &content, &n);
    make_key(key, h->session, number);
    if (bytes)
        (void)h->store->put(h->store->self, QST_DB_HISTORY, key, sizeof key, bytes, n);
    qst__free(h->alloc, bytes);
}

/* ---- Old sessions ------------------------------------------------------------------------------------------------ */

typedef struct census {
    const qst__alloc *alloc;
    QST__VEC(uint64_t) sessions; /* ascending */
    uint64_t own;                /* stays, whatever its age */
    uint64_t before;             /* others below go */
    QST__VEC(uint64_t) rows;     /* pairs of session and number that go */
    bool failed;
} census;

static int32_t count_session(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    census  *c = user;
    uint64_t session, number;

    (void)value, (void)value_bytes;
    if (read_key(key, key_bytes, &session, &number) &&
        (c->sessions.count == 0 || c->sessions.data[c->sessions.count - 1] != session))
        c->failed = !qst__vec_push(c->alloc, &c->sessions, session);
    return c->failed;
}

static int32_t collect_row(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    census  *c = user;
    uint64_t session, number;

    (void)value, (void)value_bytes;
    if (!read_key(key, key_bytes, &session, &number))
        return 0;
    if (session >= c->before)
        return 1;
    if (session == c->own)
        return 0;
    c->failed = !qst__vec_push(c->alloc, &c->rows, session) || !qst__vec_push(c->alloc, &c->rows, number);
    return c->failed;
}

static void prune(qst__history *h)
{
    census  c = {.alloc = h->alloc, .own = h->session};
    uint8_t key[KEY_BYTES];
    size_t  excess;

    if (!h->keep)
        return;
    (void)h->store->iterate(h->store->self, QST_DB_HISTORY, count_session, &c);
    excess = c.sessions.count > h->keep ? c.sessions.count - h->keep : 0;
    for (size_t i = 0; i < c.sessions.count && excess > 0; i++)
        if (c.sessions.data[i] != c.own) {
            c.before = c.sessions.data[i] + 1;
            excess--;
        }
    if (!c.failed && c.before) {
        (void)h->store->iterate(h->store->self, QST_DB_HISTORY, collect_row, &c);
    }
    for (size_t i = 0; i + 1 < c.rows.count; i += 2) {
        make_key(key, c.rows.data[i], c.rows.data[i + 1]);
        (void)h->store->remove(h->store->self, QST_DB_HISTORY, key, sizeof key);
    }
    qst__vec_finish(c.alloc, &c.sessions);
    qst__vec_finish(c.alloc, &c.rows);
}

/* ---- The session ------------------------------------------------------------------------------------------------- */

static int32_t see(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    (void)user, (void)key, (void)key_bytes, (void)value, (void)value_bytes;
    return 0;
}

/* The first change: the session's row, and what was held. Under the lock. */
static void start_session(qst__history *h)
{
    uint8_t key[KEY_BYTES];
    char    id[24];
    char    version[32];
    json_t *row_json = NULL;
    char   *text = NULL;

    h->session = h->unix_ns ? h->unix_ns : 1;
    make_key(key, h->session, 0);
    while (h->store->get(h->store->self, QST_DB_HISTORY, key, sizeof key, see, NULL) == QST_OK)
        make_key(key, ++h->session, 0);
    (void)snprintf(id, sizeof id, "%" PRIu64, h->session); /* a string: JSON's numbers are doubles to many */
    (void)snprintf(version, sizeof version, "%d.%d.%d", QST_VERSION_MAJOR, QST_VERSION_MINOR, QST_VERSION_PATCH);
    for (int with_label = 1; with_label >= 0 && !row_json; with_label--) /* a label that is no UTF-8 is left out */
        row_json = json_pack("{s:s, s:I, s:I, s:s, s:s?}", "session", id, "started_unix_ms",
                             (json_int_t)(h->unix_ns / 1000000), "pid", (json_int_t)getpid(), "version", version,
                             "label", with_label ? h->label : NULL);
    if (row_json)
        text = json_dumps(row_json, JSON_COMPACT);
    if (text) {
        json_malloc_t give;
        json_free_t   take_back;

        write_row(h, 0, text, strlen(text));
        json_get_alloc_funcs(&give, &take_back);
        take_back(text);
    }
    json_decref(row_json);
    while (h->first) {
        row *next = h->first->next;
        write_row(h, h->first->number, h->first->json, h->first->length);
        qst__free(h->alloc, h->first);
        h->first = next;
    }
    h->last = &h->first;
    h->held = 0;
    prune(h);
}

/* Under the lock. */
static void hold(qst__history *h, const qst__str *json)
{
    row *fresh = qst__zalloc(h->alloc, sizeof *fresh + json->length);

    if (!fresh)
        return;
    fresh->number = h->numbers;
    fresh->length = json->length;
    memcpy(fresh->json, json->text, json->length);
    *h->last = fresh;
    h->last = &fresh->next;
    h->held += json->length;
    while (h->held > QST__HISTORY_HELD) {
        row *next = h->first->next;
        h->held -= h->first->length;
        qst__free(h->alloc, h->first);
        h->first = next;
    }
    if (!h->first)
        h->last = &h->first;
}

qst_status qst__history_begin(qst__history **history, qst_store *store, const qst__alloc *alloc,
                              const qst__history_options *options, qst_error *err)
{
    struct timespec now;
    qst__history   *h;

    *history = NULL;
    if (options->level == QST__HISTORY_OFF)
        return QST_OK;
    h = qst__zalloc(alloc, sizeof *h);
    if (h && options->label)
        h->label = qst__strdup(alloc, options->label);
    if (!h || (options->label && !h->label)) {
        qst__free(alloc, h);
        return qst__fail(err, QST_E_NOMEM, "store", "no memory for a session's history");
    }
    h->store = store;
    h->alloc = alloc;
    h->level = options->level;
    h->keep = options->keep;
    h->begin_ns = options->now_ns;
    h->unix_ns = options->unix_ns;
    if (!h->unix_ns && clock_gettime(CLOCK_REALTIME, &now) == 0)
        h->unix_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    h->last = &h->first;
    qst__lock_init(&h->lock);
    *history = h;
    return QST_OK;
}

void qst__history_note(qst__history *h, const char *kind, const char *json, uint64_t now_ns, uint32_t flags)
{
    qst__str text;

    if (!h || ((flags & QST__NOTE_HEAVY) && h->level < QST__HISTORY_FULL) || !qst__is_name(kind, "."))
        return;
    qst__str_init(&text, h->alloc);
    qst__str_printf(&text, "{\"kind\":\"%s\",\"offset_ns\":%" PRIu64 ",\"record\":", kind,
                    now_ns > h->begin_ns ? now_ns - h->begin_ns : 0);
    qst__str_append(&text, json);
    qst__str_append(&text, "}");
    qst__lock_take(&h->lock);
    h->numbers++;
    if (!text.failed && !h->session && (flags & QST__NOTE_CHANGED))
        start_session(h);
    if (!text.failed && h->session)
        write_row(h, h->numbers, text.text, text.length);
    else if (!text.failed)
        hold(h, &text);
    qst__lock_give(&h->lock);
    qst__str_finish(&text);
}

void qst__history_end(qst__history *h)
{
    if (!h)
        return;
    while (h->first) {
        row *next = h->first->next;
        qst__free(h->alloc, h->first);
        h->first = next;
    }
    qst__lock_finish(&h->lock);
    qst__free(h->alloc, h->label);
    qst__free(h->alloc, h);
}
