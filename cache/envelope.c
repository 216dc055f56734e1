/* SPDX-License-Identifier: MIT
 *
 * envelope.c: puts a header before a value, and looks whether one is whole. */
#include "cache/envelope.h"

#include <string.h>

enum { HEAD = 16, KEY_AT = HEAD + 4 };

static void put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get_u32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint8_t *qst__envelope_seal(const qst__alloc *alloc, const qst__envelope *content, size_t *length)
{
    uint8_t *bytes;

    if (content->key_length > UINT32_MAX / 4 || content->value_bytes > UINT32_MAX / 2)
        return NULL;
    *length = KEY_AT + content->key_length + content->value_bytes;
    bytes = qst__zalloc(alloc, *length);
    if (!bytes)
        return NULL;
    memcpy(bytes, "QST", 3);
    bytes[3] = (uint8_t)content->kind;
    put_u32(bytes + 4, content->schema);
    put_u32(bytes + 8, (uint32_t)(*length - HEAD));
    put_u32(bytes + HEAD, (uint32_t)content->key_length);
    if (content->key_length)
        memcpy(bytes + KEY_AT, content->key, content->key_length);
    if (content->value_bytes)
        memcpy(bytes + KEY_AT + content->key_length, content->value, content->value_bytes);
    put_u32(bytes + 12, qst__crc32(0, bytes + HEAD, *length - HEAD));
    return bytes;
}

qst_status qst__envelope_open(qst__envelope *content, const void *data, size_t length)
{
    const uint8_t *bytes = data;
    size_t         key_length;

    *content = (qst__envelope){.kind = 0};
    if (length < KEY_AT || memcmp(bytes, "QST", 3) != 0 || get_u32(bytes + 8) != length - HEAD ||
        get_u32(bytes + 12) != qst__crc32(0, bytes + HEAD, length - HEAD))
        return QST_E_CORRUPT;
    key_length = get_u32(bytes + HEAD);
    if (key_length == UINT32_MAX) /* no text */
        key_length = 0;
    if (key_length > length - KEY_AT)
        return QST_E_CORRUPT;
    *content = (qst__envelope){.kind = (char)bytes[3],
                               .schema = get_u32(bytes + 4),
                               .key = (const char *)bytes + KEY_AT,
                               .key_length = key_length,
                               .value = bytes + KEY_AT + key_length,
                               .value_bytes = length - KEY_AT - key_length};
    return QST_OK;
}
