/* SPDX-License-Identifier: MIT
 *
 * ext/abilities.h: an optional capability of a plugin: it tells what it can do on a device beyond what queries say, for
 * `qst plugins`. Version 1.0, and it grows as plugin.h does; whatever did not fit would get another id.
 */
#ifndef QUERNSTONE_EXT_ABILITIES_H
#define QUERNSTONE_EXT_ABILITIES_H

#include <quernstone/plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What qst_plugin.get_extension is asked for. */
#define QST_EXT_ABILITIES "quernstone.abilities/1"

/* Grows. Static, or living as long as the instance.
 *   tell   [any thread] ability `index` of `count`: its name, and QST_OK, or E_UNSUPPORTED with the reason, as a
 *          candidate's supports() would. The texts are static or live as long as the instance. May ask the host's
 *          run_once. */
typedef struct qst_abilities {
    uint32_t size;
    uint32_t count;
    int32_t (*tell)(void *instance, const qst_device *device, uint32_t index, const char **name, const char **why);
} qst_abilities;

#ifdef __cplusplus
}
#endif
#endif
