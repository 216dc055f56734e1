/* SPDX-License-Identifier: MIT
 *
 * registry.h: the plugins of a context: found, opened, read, judged; not yet started (run/host does that).
 *
 * Code is loaded only from the install directory, found relative to this library itself, and from directories named
 * explicitly; directory and file must be owned by root or the user and not be writable by others. Every refusal
 * keeps its reason and lets the others load. A shared object stays resident once opened. Within a directory files are
 * taken in the order of their names.
 */
#ifndef QST_PLUG_REGISTRY_H
#define QST_PLUG_REGISTRY_H

#include "base/base.h"

#include <quernstone/plugin.h>
#include <stdatomic.h>

enum { QST__PLUGIN_READY, QST__PLUGIN_STARTED, QST__PLUGIN_REFUSED };

typedef struct qst__plugin {
    char       *path; /* NULL: built in */
    qst_plugin  desc; /* bounded copy, valid where the state is not REFUSED, or the refusal came later */
    char       *name; /* from the descriptor, else the file's name without .so */
    uint32_t    state;
    char       *why; /* where REFUSED */
    void       *handle;
    void       *instance;   /* from start */
    void       *hosted;     /* the host table it was started with; run/host owns it */
    uint8_t     digest[32]; /* of the file, once `digested` is DONE: */
    _Atomic int digested;
} qst__plugin;

typedef struct qst__plugins {
    const qst__alloc *alloc;
    const qst__log   *log;
    QST__VEC(qst__plugin) list;
} qst__plugins;

void qst__plugins_init(qst__plugins *plugins, const qst__alloc *alloc, const qst__log *log);
/* Frees the list; does not call stop, closes nothing. */
void qst__plugins_finish(qst__plugins *plugins);

/* Reads a descriptor before any code of it runs: magic, size, major, minor, must-understand flags, name, start
 * present. E_ABI or E_PLUGIN with the numbers. abi.c. */
qst_status qst__plugin_read(const qst_plugin *given, qst_plugin *copy, qst_error *err);

/* SHA-256 of the plugin's file, which is read once; zeros for one that is linked in, or cannot be read. */
void qst__plugin_digest(qst__plugin *plugin, uint8_t digest[32]);

/* A descriptor linked in. E_ABI, E_PLUGIN (also for a name that is there), E_NOMEM. */
qst_status qst__plugins_add_builtin(qst__plugins *plugins, const qst_plugin *given, qst_error *err);

/* Opens every *.so of a directory whose plugin name matches a glob of `load` (n 0: all). Refusals become entries and
 * one log line each, not errors; E_NOMEM alone is one. A missing directory is one log line at info; one that may not
 * be trusted or read is one entry with its path. Opening a file runs its constructors, so that with `load` the file's
 * name (without lib and .so) has to match as well, else the file is passed over. A plugin whose name is already in
 * the list: the built-in or first one stays, the later becomes a refusal "is there already"; one of the name and
 * version of a built-in one is passed over, and so is a file that is in the list. */
qst_status qst__plugins_scan(qst__plugins *plugins, const char *directory, const char *const *load, uint32_t n_load,
                             qst_error *err);

/* Marks an entry refused with a reason and logs it. */
void qst__plugin_refuse(qst__plugins *plugins, qst__plugin *plugin, const char *format, ...) QST__PRINTF(3, 4);

/* The plugin directory that belongs to this library: <its directory>/quernstone/plugins-<ABI major>. Allocated.
 * E_NOTFOUND where it cannot be told, E_NOMEM. */
qst_status qst__plugins_home(const qst__alloc *alloc, char **home);

/* The path of a program that came with this library, beside that directory, by the rules of search.h for code.
 * Allocated; else NULL, and `why` has one line. */
qst_status qst__plugins_helper(const qst__alloc *alloc, const char *file, char **path, char *why, size_t why_size);

#endif
