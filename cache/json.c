/* SPDX-License-Identifier: MIT
 *
 * json.c: writes records as lines of one JSON document, and reads such a document without trust. */
#include "cache/json.h"

#include "base/str.h"
#include "cache/envelope.h"
#include "cache/text.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

static const char FORMAT[] = "quernstone-store";
enum { VERSION = 1 };

static const char *const TABLES[QST_DB_COUNT] = {
    [QST_DB_META] = "meta",         [QST_DB_VERDICTS] = "verdicts",     [QST_DB_THROUGHPUT] = "throughput",
    [QST_DB_PROGRAMS] = "programs", [QST_DB_QUARANTINE] = "quarantine", [QST_DB_HISTORY] = "history",
};

/* QST_DB_COUNT where there is none. */
static uint32_t find_table(const char *name)
{
    uint32_t db = 0;

    while (db < QST_DB_COUNT && strcmp(TABLES[db], name) != 0)
        db++;
    return db;
}

/* ---- Export ------------------------------------------------------------------------------------------------------ */

typedef struct out {
    qst__alloc      alloc;
    qst__json_write write;
    void           *user;
    uint32_t        db;
    uint64_t        count;
    qst_status      status;
} out;

/* A JSON string; text that is no UTF-8 is left out. */
static void append_string(qst__str *line, const char *text, size_t length)
{
    json_t *string = json_stringn(text, length);
    char   *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

    qst__str_append(line, quoted ? quoted : "\"\"");
    if (quoted) {
        json_malloc_t give;
        json_free_t   take_back;
        json_get_alloc_funcs(&give, &take_back);
        take_back(quoted);
    }
    json_decref(string);
}

static void send(out *o, qst__str *line)
{
    if (line->failed)
        o->status = QST_E_NOMEM;
    else if (o->write(o->user, line->text, line->length) != 0)
        o->status = QST_E_IO;
}

static int32_t export_record(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    out          *o = user;
    qst__envelope content;
    qst__str      line;

    qst__str_init(&line, &o->alloc);
    qst__str_printf(&line, "%s\n{\"table\": \"%s\", \"key\": \"", o->count ? "," : "", TABLES[o->db]);
    qst__hex_append(&line, key, (size_t)key_bytes);
    qst__str_append(&line, "\", \"value\": \"");
    qst__base64_append(&line, value, (size_t)value_bytes);
    qst__str_append(&line, "\"");
    if (qst__envelope_open(&content, value, (size_t)value_bytes) == QST_OK && content.key_length) {
        qst__str_append(&line, ", \"about\": ");
        append_string(&line, content.key, content.key_length);
    }
    qst__str_append(&line, "}");
    send(o, &line);
    qst__str_finish(&line);
    o->count++;
    return o->status;
}

qst_status qst__store_export(const qst_store *store, uint32_t tables, const char *about, qst__json_write write,
                             void *user, uint64_t *count, qst_error *err)
{
    out      o = {.alloc = qst__alloc_default(), .write = write, .user = user};
    qst__str line;

    qst__str_init(&line, &o.alloc);
    qst__str_printf(&line, "{\"format\": \"%s\", \"version\": %d, \"about\": ", FORMAT, (int)VERSION);
    append_string(&line, about ? about : "", about ? strlen(about) : 0);
    qst__str_append(&line, ", \"records\": [");
    send(&o, &line);
    for (o.db = 0; o.db < QST_DB_COUNT && o.status == QST_OK; o.db++)
        if (tables & (1u << o.db)) {
            int32_t status = store->iterate(store->self, o.db, export_record, &o);
            if (o.status == QST_OK)
                o.status = status;
        }
    qst__str_clear(&line);
    qst__str_append(&line, "\n]}\n");
    if (o.status == QST_OK)
        send(&o, &line);
    qst__str_finish(&line);
    if (count)
        *count = o.count;
    if (o.status != QST_OK)
        return qst__fail(err, o.status, "store", "the export ended after %" PRIu64 " records: %s", o.count,
                         qst_status_text(o.status));
    return QST_OK;
}

/* ---- Import ------------------------------------------------------------------------------------------------------ */

typedef struct record {
    uint32_t db;
    uint8_t *key, *value;
    size_t   key_bytes, value_bytes;
} record;

static qst_status bad(size_t index, const char *what, qst_error *err)
{
    return qst__fail(err, QST_E_CORRUPT, "store", "record %zu: %s", index + 1, what);
}

static const char *text_of(const json_t *object, const char *name, size_t *length)
{
    const json_t *member = json_object_get(object, name);

    *length = json_string_length(member);
    return json_string_value(member);
}

static void free_record(const qst__alloc *alloc, record *r)
{
    qst__free(alloc, r->key);
    qst__free(alloc, r->value);
    *r = (record){.db = 0};
}

static qst_status read_record(const qst__alloc *alloc, const json_t *from, size_t index, record *r, qst_error *err)
{
    size_t      table_length, key_length, value_length;
    const char *table = text_of(from, "table", &table_length);
    const char *key = text_of(from, "key", &key_length);
    const char *value = text_of(from, "value", &value_length);
    bool        no_memory = false;

    *r = (record){.db = table ? find_table(table) : QST_DB_COUNT};
    if (r->db >= QST_DB_COUNT)
        return bad(index, "names no table", err);
    if (!key || key_length == 0 || key_length > 2 * QST_STORE_KEY_MAX)
        return bad(index, "has no key of 1 to 500 bytes", err);
    if (!value || value_length / 4 * 3 > QST__JSON_VALUE_BYTES)
        return bad(index, "has no value, or one of more than 64 MiB", err);
    r->key = qst__hex_read(alloc, key, key_length, &r->key_bytes, &no_memory);
    if (!r->key && !no_memory)
        return bad(index, "has a key that is not hex", err);
    if (r->key)
        r->value = qst__base64_read(alloc, value, value_length, &r->value_bytes, &no_memory);
    if (!no_memory && !r->value)
        return bad(index, "has a value that is not base64", err);
    return no_memory ? qst__fail(err, QST_E_NOMEM, "store", "no memory for record %zu", index + 1) : QST_OK;
}

/* One pass over all records; take NULL: only looks at them. */
static qst_status pass(const qst__alloc *alloc, const json_t *records, qst__json_take take, void *user,
                       qst__imported *done, qst_error *err)
{
    qst_status status = QST_OK;

    for (size_t i = 0; i < json_array_size(records) && status >= QST_OK; i++) {
        record r;

        status = read_record(alloc, json_array_get(records, i), i, &r, err);
        if (status == QST_OK && take) {
            status = take(user, r.db, r.key, r.key_bytes, r.value, r.value_bytes);
            done->taken += status == QST_OK;
            done->passed_over += status > QST_OK;
            if (status < QST_OK)
                (void)qst__fail(err, status, "store", "record %zu: %s", i + 1, qst_status_text(status));
        }
        free_record(alloc, &r);
    }
    return status < QST_OK ? status : QST_OK;
}

qst_status qst__store_import(const qst__alloc *alloc, const char *text, size_t bytes, qst__json_take take, void *user,
                             qst__imported *done, qst_error *err)
{
    json_error_t  where;
    json_t       *root = NULL;
    const json_t *records, *version;
    const char   *format;
    size_t        mark;
    qst_status    status;

    *done = (qst__imported){.records = 0};
    if (bytes > QST__JSON_BYTES_MAX)
        return qst__fail(err, QST_E_CORRUPT, "store", "%zu bytes to import, not at most %" PRIu64, bytes,
                         QST__JSON_BYTES_MAX);
    mark = qst__text_mark(text, bytes);
    root = json_loadb(text + mark, bytes - mark, JSON_REJECT_DUPLICATES, &where);
    if (!root)
        return qst__fail(err, QST_E_CORRUPT, "store", "line %d: %s", where.line, where.text);
    format = json_string_value(json_object_get(root, "format"));
    version = json_object_get(root, "version");
    records = json_object_get(root, "records");
    if (!format || strcmp(format, FORMAT) != 0)
        status = qst__fail(err, QST_E_CORRUPT, "store", "the format is not '%s'", FORMAT);
    else if (!json_is_integer(version) || json_integer_value(version) != VERSION)
        status = qst__fail(err, QST_E_CORRUPT, "store", "the version is not %d", (int)VERSION);
    else if (!json_is_array(records))
        status = qst__fail(err, QST_E_CORRUPT, "store", "there is no list of records");
    else
        status = pass(alloc, records, NULL, NULL, done, err);
    if (status == QST_OK) {
        done->records = json_array_size(records);
        status = pass(alloc, records, take, user, done, err);
    }
    json_decref(root);
    return status;
}

static int32_t see(void *user, const void *key, uint64_t key_bytes, const void *value, uint64_t value_bytes)
{
    (void)user, (void)key, (void)key_bytes, (void)value, (void)value_bytes;
    return 0;
}

qst_status qst__import_put(void *user, uint32_t db, const void *key, uint64_t key_bytes, const void *value,
                           uint64_t value_bytes)
{
    qst_store *store = user;

    if (store->get(store->self, db, key, key_bytes, see, NULL) == QST_OK)
        return QST_NOTHING;
    return store->put(store->self, db, key, key_bytes, value, value_bytes);
}
