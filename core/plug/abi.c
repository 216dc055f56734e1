/* SPDX-License-Identifier: MIT
 *
 * abi.c: reads a plugin's descriptor before any code of it runs: from what may be a stranger's data to a copy that
 * holds what this host knows, or to a refusal with the numbers. */
#include "plug/registry.h"

#include <stdio.h>
#include <string.h>

#define SOURCE       "plugin"
#define SIZE_LEAST   QST_SIZE_TO(qst_plugin, start) /* of the first release */
#define MUST_KNOW    0xffff0000u
#define KNOWN        0u /* of the flags that must be understood */
#define LONGEST_NAME 63u

/* The members that come before the size is known to be true; the rest is only touched up to it. */
typedef struct head {
    uint32_t magic;
    uint32_t size;
} head;

static qst_status check_numbers(const qst_plugin *plugin, qst_error *err)
{
    uint32_t unknown = plugin->flags & MUST_KNOW & ~KNOWN;
    if (plugin->abi_major != QST_ABI_MAJOR)
        return qst__fail(err, QST_E_ABI, SOURCE, "ABI major %u, this host has %u", plugin->abi_major, QST_ABI_MAJOR);
    if (plugin->min_host_minor > QST_ABI_MINOR)
        return qst__fail(err, QST_E_ABI, SOURCE, "needs host minor %u, this host has %u", plugin->min_host_minor,
                         QST_ABI_MINOR);
    if (unknown)
        return qst__fail(err, QST_E_ABI, SOURCE, "unknown flag 0x%x must be understood", unknown & (~unknown + 1u));
    return QST_OK;
}

static qst_status check_parts(const qst_plugin *plugin, qst_error *err)
{
    if (!qst__is_name(plugin->name, NULL))
        return qst__fail(err, QST_E_PLUGIN, SOURCE, "name is missing or not of [a-z0-9_]");
    if (strlen(plugin->name) > LONGEST_NAME)
        return qst__fail(err, QST_E_PLUGIN, SOURCE, "name is longer than %u characters", LONGEST_NAME);
    if (!plugin->start)
        return qst__fail(err, QST_E_PLUGIN, SOURCE, "no start");
    return QST_OK;
}

qst_status qst__plugin_read(const qst_plugin *given, qst_plugin *copy, qst_error *err)
{
    head first;
    memset(copy, 0, sizeof *copy);
    memcpy(&first, (const void *)given, sizeof first);
    if (first.magic != QST_PLUGIN_MAGIC)
        return qst__fail(err, QST_E_ABI, SOURCE, "magic is 0x%08x, not 0x%08x", first.magic, QST_PLUGIN_MAGIC);
    if (first.size < SIZE_LEAST)
        return qst__fail(err, QST_E_ABI, SOURCE, "descriptor of %u bytes, the least is %zu", first.size, SIZE_LEAST);
    memcpy(copy, (const void *)given, first.size < sizeof *copy ? first.size : sizeof *copy);
    copy->size = (uint32_t)sizeof *copy;

    qst_status status = check_numbers(copy, err);
    if (status == QST_OK)
        status = check_parts(copy, err);
    return status;
}

static void digest_file(const qst__plugin *plugin, uint8_t digest[32])
{
    uint8_t     block[4096];
    qst__sha256 sha;
    size_t      n;
    FILE       *file = plugin->path ? fopen(plugin->path, "rb") : NULL;

    memset(digest, 0, 32);
    if (!file)
        return;
    qst__sha256_init(&sha);
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        qst__sha256_update(&sha, block, n);
    if (!ferror(file))
        qst__sha256_finish(&sha, digest);
    fclose(file);
}

void qst__plugin_digest(qst__plugin *plugin, uint8_t digest[32])
{
    enum { NOT_YET, BEING_WRITTEN, DONE };
    int state = atomic_load_explicit(&plugin->digested, memory_order_acquire);

    if (state == DONE) {
        memcpy(digest, plugin->digest, sizeof plugin->digest);
        return;
    }
    digest_file(plugin, digest);
    if (state == NOT_YET && atomic_compare_exchange_strong(&plugin->digested, &state, BEING_WRITTEN)) {
        memcpy(plugin->digest, digest, sizeof plugin->digest);
        atomic_store_explicit(&plugin->digested, DONE, memory_order_release);
    }
}
