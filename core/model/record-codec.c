/* SPDX-License-Identifier: MIT
 *
 * record-codec.c: a verdict as the bytes of a store's value, and back. */
#include "model/verdict.h"

#include <string.h>

/* All little-endian. A string is its length as u32 and its bytes; length ~0: NULL.
 *
 *   header   "QSTV", schema u32, length of the rest u32, CRC-32 of the rest u32
 *   key      string
 *   verdict  checksum[32], flags level judge_revision ruler_revision ruler u32, limit_ns total_ns u64,
 *            problem driver op target string, at_s u64, n u32, n findings, n_order u32, n_order indices u32
 *   finding  name string, outcome round launches poor u32, workspace build_ns verify_ns sample_ns u64,
 *            estimate_ns as the bits of a double u64, why string, count u32, count samples
 *   sample   ns u64, round u32
 *
 * What can be derived from samples (best, stalled) is derived. */
enum { HEADER_BYTES = 16, NULL_STRING_BYTES = 4, SAMPLE_BYTES = 12 };
enum { LEAST_FINDING = NULL_STRING_BYTES + 4 * 4 + 5 * 8 + NULL_STRING_BYTES + 4 };

static const uint8_t MAGIC[4] = {'Q', 'S', 'T', 'V'};

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void put_number(qst__str *out, uint64_t value, int bytes)
{
    char raw[8];
    for (int i = 0; i < bytes; i++)
        raw[i] = (char)(uint8_t)(value >> 8 * i);
    qst__str_append_n(out, raw, (size_t)bytes);
}

static void put_u32(qst__str *out, uint32_t value)
{
    put_number(out, value, 4);
}

static void put_u64(qst__str *out, uint64_t value)
{
    put_number(out, value, 8);
}

static void put_string(qst__str *out, const char *text)
{
    size_t length = text ? strlen(text) : 0;
    if (length >= UINT32_MAX) {
        out->failed = true;
        return;
    }
    put_u32(out, text ? (uint32_t)length : UINT32_MAX);
    qst__str_append_n(out, text, length);
}

static void put_finding(qst__str *out, const qst__finding *finding)
{
    uint64_t estimate;
    memcpy(&estimate, &finding->estimate_ns, sizeof estimate);
    put_string(out, finding->name);
    put_u32(out, finding->outcome);
    put_u32(out, finding->round);
    put_u32(out, finding->launches);
    put_u32(out, finding->poor);
    put_u64(out, finding->workspace);
    put_u64(out, finding->build_ns);
    put_u64(out, finding->verify_ns);
    put_u64(out, finding->sample_ns);
    put_u64(out, estimate);
    put_string(out, finding->why);
    put_u32(out, finding->samples.count);
    for (uint32_t i = 0; i < finding->samples.count; i++) {
        put_u64(out, finding->samples.ns[i]);
        put_u32(out, finding->samples.round[i]);
    }
}

static void put_verdict(qst__str *out, const qst__verdict *verdict)
{
    uint32_t n_right = 0;
    qst__str_append_n(out, (const char *)verdict->checksum, sizeof verdict->checksum);
    put_u32(out, verdict->flags);
    put_u32(out, verdict->level);
    put_u32(out, verdict->judge_revision);
    put_u32(out, verdict->ruler_revision);
    put_u32(out, verdict->ruler);
    put_u64(out, verdict->limit_ns);
    put_u64(out, verdict->total_ns);
    put_string(out, verdict->problem);
    put_string(out, verdict->driver);
    put_string(out, verdict->op);
    put_string(out, verdict->target);
    put_u64(out, verdict->at_s);
    put_u32(out, verdict->n);
    for (uint32_t i = 0; i < verdict->n; i++)
        put_finding(out, &verdict->findings[i]);
    for (uint32_t i = 0; i < verdict->n_order; i++)
        n_right += qst__outcome_right(verdict->findings[verdict->order[i]].outcome);
    put_u32(out, n_right);
    for (uint32_t i = 0; i < verdict->n_order; i++)
        if (qst__outcome_right(verdict->findings[verdict->order[i]].outcome))
            put_u32(out, verdict->order[i]);
}

static void patch_u32(char *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (char)(uint8_t)(value >> 8 * i);
}

qst_status qst__verdict_encode(const qst__verdict *verdict, const char *key_text, const qst__alloc *alloc,
                               uint8_t **bytes, size_t *length)
{
    qst__str out;
    *bytes = NULL;
    *length = 0;
    qst__str_init(&out, alloc);
    qst__str_append_n(&out, (const char *)MAGIC, sizeof MAGIC);
    put_u32(&out, QST__RECORD_SCHEMA);
    put_u64(&out, 0); /* length and CRC: patched below */
    put_string(&out, key_text);
    put_verdict(&out, verdict);
    if (out.failed || out.length - HEADER_BYTES > UINT32_MAX) {
        qst__str_finish(&out);
        return QST_E_NOMEM;
    }
    size_t rest = out.length - HEADER_BYTES;
    patch_u32(out.text + 8, (uint32_t)rest);
    patch_u32(out.text + 12, qst__crc32(0, out.text + HEADER_BYTES, rest));
    *length = out.length;
    *bytes = (uint8_t *)qst__str_take(&out);
    return *bytes ? QST_OK : QST_E_NOMEM;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* What is left to read. The first fault stays; from then on everything reads as zero. */
typedef struct reader {
    const uint8_t    *at;
    size_t            left;
    const qst__alloc *alloc;
    qst_status        status;
} reader;

static void fault(reader *in, qst_status status)
{
    if (in->status == QST_OK)
        in->status = status;
    in->left = 0;
}

static uint64_t get_number(reader *in, size_t bytes)
{
    uint64_t value = 0;
    if (in->left < bytes) {
        fault(in, QST_E_CORRUPT);
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        value |= (uint64_t)in->at[i] << 8 * i;
    in->at += bytes;
    in->left -= bytes;
    return value;
}

static uint32_t get_u32(reader *in)
{
    return (uint32_t)get_number(in, 4);
}

static uint64_t get_u64(reader *in)
{
    return get_number(in, 8);
}

/* A string's bytes where they stand; NULL with length 0 where it is NULL or broken. */
static const char *get_span(reader *in, size_t *length)
{
    const char *span = NULL;
    uint32_t    size = get_u32(in);
    *length = 0;
    if (in->status != QST_OK || size == UINT32_MAX)
        return NULL;
    if (size > in->left || memchr(in->at, '\0', size)) {
        fault(in, QST_E_CORRUPT);
        return NULL;
    }
    span = (const char *)in->at;
    *length = size;
    in->at += size;
    in->left -= size;
    return span;
}

static char *get_string(reader *in)
{
    size_t      length;
    const char *span = get_span(in, &length);
    char       *text = span ? qst__zalloc(in->alloc, length + 1) : NULL;
    if (span && !text)
        fault(in, QST_E_NOMEM);
    if (text)
        memcpy(text, span, length);
    return text;
}

/* A count of things that take `bytes` each or more: no more than what is left can hold. */
static uint32_t get_count(reader *in, size_t bytes)
{
    uint32_t count = get_u32(in);
    if (count > in->left / bytes) {
        fault(in, QST_E_CORRUPT);
        return 0;
    }
    return count;
}

static void get_samples(reader *in, qst__samples *samples)
{
    uint32_t count = get_count(in, SAMPLE_BYTES);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t ns = get_u64(in);
        uint32_t round = get_u32(in);
        qst__samples_push(samples, ns, round);
    }
    if (samples->count != count)
        fault(in, QST_E_CORRUPT);
}

static void get_finding(reader *in, qst__finding *finding)
{
    finding->name = get_string(in);
    finding->outcome = get_u32(in);
    finding->round = get_u32(in);
    finding->launches = get_u32(in);
    finding->poor = get_u32(in);
    finding->workspace = get_u64(in);
    finding->build_ns = get_u64(in);
    finding->verify_ns = get_u64(in);
    finding->sample_ns = get_u64(in);
    uint64_t estimate = get_u64(in);
    memcpy(&finding->estimate_ns, &estimate, sizeof estimate);
    finding->why = get_string(in);
    get_samples(in, &finding->samples);
    if (!finding->name || finding->outcome >= QST__OUTCOME_COUNT)
        fault(in, QST_E_CORRUPT);
}

/* Findings that exist, are right and come once; so there are never more than there are findings. */
static void get_order(reader *in, qst__verdict *verdict)
{
    uint32_t count = get_count(in, 4);
    if (count > verdict->n) {
        fault(in, QST_E_CORRUPT);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t index = get_u32(in);
        bool     sound = index < verdict->n && qst__outcome_right(verdict->findings[index].outcome);
        for (uint32_t k = 0; sound && k < i; k++)
            sound = verdict->order[k] != index;
        if (!sound) {
            fault(in, QST_E_CORRUPT);
            return;
        }
        verdict->order[i] = index;
        verdict->n_order = i + 1;
    }
}

static void get_verdict(reader *in, qst__verdict *verdict)
{
    for (size_t i = 0; i < sizeof verdict->checksum; i++)
        verdict->checksum[i] = (uint8_t)get_number(in, 1);
    verdict->flags = get_u32(in);
    verdict->level = get_u32(in);
    verdict->judge_revision = get_u32(in);
    verdict->ruler_revision = get_u32(in);
    verdict->ruler = get_u32(in);
    verdict->limit_ns = get_u64(in);
    verdict->total_ns = get_u64(in);
    verdict->problem = get_string(in);
    verdict->driver = get_string(in);
    verdict->op = get_string(in);
    verdict->target = get_string(in);
    verdict->at_s = get_u64(in);
    uint32_t n = get_count(in, LEAST_FINDING);
    verdict->findings = qst__zalloc_array(in->alloc, n, sizeof *verdict->findings);
    verdict->order = qst__zalloc_array(in->alloc, n, sizeof *verdict->order);
    if (!verdict->findings || !verdict->order) {
        fault(in, QST_E_NOMEM);
        return;
    }
    verdict->n = n;
    for (uint32_t i = 0; i < n && in->status == QST_OK; i++)
        get_finding(in, &verdict->findings[i]);
    get_order(in, verdict);
    if (in->left)
        fault(in, QST_E_CORRUPT);
}

/* Stands the reader behind a sound header. */
static qst_status open_record(reader *in, const uint8_t *bytes, size_t length)
{
    *in = (reader){.at = bytes, .left = length};
    if (length < HEADER_BYTES || memcmp(bytes, MAGIC, sizeof MAGIC) != 0)
        return QST_E_CORRUPT;
    (void)get_u32(in);
    if (get_u32(in) != QST__RECORD_SCHEMA)
        return QST_E_STALE;
    if (get_u32(in) != length - HEADER_BYTES)
        return QST_E_CORRUPT;
    if (get_u32(in) != qst__crc32(0, bytes + HEADER_BYTES, length - HEADER_BYTES))
        return QST_E_CORRUPT;
    return QST_OK;
}

qst_status qst__verdict_decode(qst__verdict *verdict, const char *key_text, const qst__alloc *alloc,
                               const uint8_t *bytes, size_t length)
{
    reader in;
    size_t key_length;
    memset(verdict, 0, sizeof *verdict);
    qst_status status = open_record(&in, bytes, length);
    if (status != QST_OK)
        return status;
    const char *key = get_span(&in, &key_length);
    if (!key)
        return QST_E_CORRUPT;
    if (key_text && (strlen(key_text) != key_length || memcmp(key, key_text, key_length) != 0))
        return QST_E_NOTFOUND;
    in.alloc = verdict->alloc = alloc;
    get_verdict(&in, verdict);
    if (in.status != QST_OK)
        qst__verdict_finish(verdict);
    return in.status;
}

const char *qst__record_key(const uint8_t *bytes, size_t length, size_t *key_length)
{
    reader in;
    *key_length = 0;
    return open_record(&in, bytes, length) == QST_OK ? get_span(&in, key_length) : NULL;
}
