/* SPDX-License-Identifier: MIT
 *
 * peak.c: peaks compared, named, and as the bytes of a store's value. */
#include "model/peak.h"

#include "base/hash.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { HEADER_BYTES = 16 };

static const uint8_t MAGIC[4] = {'Q', 'S', 'T', 'R'};

bool qst__peak_same(const qst__peak *a, const qst__peak *b)
{
    return a->role == b->role && a->type == b->type && a->numerics == b->numerics && a->bytes == b->bytes;
}

void qst__peak_print(const qst__peak *peak, qst__str *out)
{
    qst__str_printf(out, "type=%s numerics=%u bytes=%" PRId64, peak->type ? qst_type_name(peak->type) : "none",
                    peak->numerics, peak->bytes);
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void put(qst__str *out, uint64_t value, int bytes)
{
    char raw[8];
    for (int i = 0; i < bytes; i++)
        raw[i] = (char)(uint8_t)(value >> 8 * i);
    qst__str_append_n(out, raw, (size_t)bytes);
}

static void put_text(qst__str *out, const char *text)
{
    put(out, strlen(text), 4);
    qst__str_append(out, text);
}

static void set_u32(char *at, uint64_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(uint8_t)(value >> 8 * i);
}

qst_status qst__peak_encode(const qst__peak *peak, const char *key_text, const qst__alloc *alloc, uint8_t **bytes,
                            size_t *length)
{
    const uint32_t numbers[] = {peak->role, peak->type, peak->numerics, peak->flags & QST__PEAK_RAISED};
    uint64_t       bits;
    qst__str       out;

    *bytes = NULL;
    *length = 0;
    qst__str_init(&out, alloc);
    for (int i = 0; i < HEADER_BYTES; i++)
        put(&out, 0, 1);
    put_text(&out, key_text);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        put(&out, numbers[i], 4);
    memcpy(&bits, &peak->value, sizeof bits);
    put(&out, (uint64_t)peak->bytes, 8);
    put(&out, bits, 8);
    qst__str_append_n(&out, (const char *)peak->checksum, sizeof peak->checksum);
    put_text(&out, peak->candidate);
    if (!out.failed && out.length - HEADER_BYTES <= UINT32_MAX) {
        memcpy(out.text, MAGIC, sizeof MAGIC);
        set_u32(out.text + 4, QST__PEAK_SCHEMA);
        set_u32(out.text + 8, out.length - HEADER_BYTES);
        set_u32(out.text + 12, qst__crc32(0, out.text + HEADER_BYTES, out.length - HEADER_BYTES));
        *length = out.length;
    }
    *bytes = (uint8_t *)qst__str_take(&out);
    qst__str_finish(&out);
    return *bytes && *length ? QST_OK : QST_E_NOMEM;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* What is left to read; `bad` once something did not fit. */
typedef struct reader {
    const uint8_t *at;
    size_t         left;
    bool           bad;
} reader;

static const uint8_t *take(reader *r, size_t bytes)
{
    const uint8_t *at = r->at;
    if (r->bad || bytes > r->left) {
        r->bad = true;
        return NULL;
    }
    r->at += bytes;
    r->left -= bytes;
    return at;
}

static uint64_t get(reader *r, int bytes)
{
    const uint8_t *at = take(r, (size_t)bytes);
    uint64_t       value = 0;
    for (int i = 0; at && i < bytes; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return value;
}

static qst_status open_header(reader *r)
{
    const uint8_t *magic = take(r, sizeof MAGIC);
    uint64_t       schema = get(r, 4), length = get(r, 4), crc = get(r, 4);

    if (r->bad || memcmp(magic, MAGIC, sizeof MAGIC))
        return QST_E_CORRUPT;
    if (schema != QST__PEAK_SCHEMA)
        return QST_E_STALE;
    return length == r->left && crc == qst__crc32(0, r->at, r->left) ? QST_OK : QST_E_CORRUPT;
}

static bool plausible(const qst__peak *p)
{
    return (p->role == QST_OP_PROBE_COMPUTE || p->role == QST_OP_PROBE_MEMORY || p->role == QST_OP_PROBE_LAUNCH) &&
           p->type < QST_TYPE_END && p->numerics < QST_NUMERICS_END && p->bytes >= 0 && isfinite(p->value) &&
           p->value > 0;
}

qst_status qst__peak_decode(qst__peak *peak, const char *key_text, const uint8_t *bytes, size_t length)
{
    reader         r = {bytes, length, false};
    const uint8_t *text;
    size_t         n;
    uint64_t       bits;
    qst_status     status = open_header(&r);

    memset(peak, 0, sizeof *peak);
    if (status != QST_OK)
        return status;
    n = (size_t)get(&r, 4);
    text = take(&r, n);
    if (text && key_text && (n != strlen(key_text) || memcmp(text, key_text, n)))
        return QST_E_NOTFOUND;
    peak->role = (uint32_t)get(&r, 4);
    peak->type = (uint32_t)get(&r, 4);
    peak->numerics = (uint32_t)get(&r, 4);
    peak->flags = (uint32_t)get(&r, 4);
    peak->bytes = (int64_t)get(&r, 8);
    bits = get(&r, 8);
    memcpy(&peak->value, &bits, sizeof bits);
    text = take(&r, sizeof peak->checksum);
    if (text)
        memcpy(peak->checksum, text, sizeof peak->checksum);
    n = (size_t)get(&r, 4);
    text = take(&r, n);
    if (r.bad || r.left || n >= sizeof peak->candidate || !plausible(peak)) {
        memset(peak, 0, sizeof *peak);
        return QST_E_CORRUPT;
    }
    memcpy(peak->candidate, text, n);
    return QST_OK;
}
