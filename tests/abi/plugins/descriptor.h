/* SPDX-License-Identifier: MIT
 *
 * descriptor.h: descriptors of plugins made for tests. What one of them has wrong is an argument.
 */
#ifndef TEST_DESCRIPTOR_H
#define TEST_DESCRIPTOR_H

#include <quernstone/kit.h>

/* A start that adds nothing. */
static inline int32_t adds_nothing(const qst_host *host, void **instance)
{
    (void)host;
    *instance = NULL;
    return QST_OK;
}

#define DESCRIPTOR(symbol, magic_, major, least_minor, flags_, name_, start_)                                          \
    QST_API const qst_plugin symbol = {                                                                                \
        .magic = magic_,                                                                                               \
        .size = sizeof(qst_plugin),                                                                                    \
        .abi_major = major,                                                                                            \
        .abi_minor = QST_ABI_MINOR,                                                                                    \
        .min_host_minor = least_minor,                                                                                 \
        .flags = flags_,                                                                                               \
        .name = name_,                                                                                                 \
        .version = "1.0",                                                                                              \
        .licence = "MIT",                                                                                              \
        .start = start_,                                                                                               \
    }

/* One that has nothing wrong. */
#define DESCRIPTOR_OF(name_, start_) DESCRIPTOR(qst_plugin_v1, QST_PLUGIN_MAGIC, QST_ABI_MAJOR, 0, 0, name_, start_)

/* And one that brings one candidate. */
#define DESCRIPTOR_WITH(name_, candidate_)                                                                             \
    static int32_t start(const qst_host *host, void **instance)                                                        \
    {                                                                                                                  \
        *instance = NULL;                                                                                              \
        return host->add_candidate(host->self, &candidate_);                                                           \
    }                                                                                                                  \
    DESCRIPTOR_OF(name_, start)

#endif
