/* SPDX-License-Identifier: MIT
 *
 * variables.c: the variables of the environment that set something, and those that look as if they did. */
#include "base/getenv.h"
#include "conf/state.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "QST_"

static qst_status read_ours(qst__conf *conf, qst_error *err)
{
    for (uint32_t i = 0; i < qst__schema_rows; i++) {
        const qst__key_row *row = &qst__schema[i];
        const char         *text = row->variable ? qst__getenv(row->variable) : NULL;
        if (!text)
            continue;
        uint32_t place = qst__conf_add_place(conf, QST__FROM_ENV, row->variable, conf->working);
        if (place == UINT32_MAX)
            return qst__conf_nomem(err);
        qst_status status = qst__conf_put_text(conf, place, row, text, err);
        if (status != QST_OK)
            return status;
    }
    return QST_OK;
}

/* Read elsewhere than by the schema: by files.c, by the command about drivers, by tests. */
static const char *const OTHERS[] = {"QST_CONFIG", "QST_KEPT_ICD_FILENAMES", "QST_TEST_*", "QST_CHAOS_*"};

static bool is_ours(const char *name)
{
    bool ours = false;
    for (uint32_t i = 0; i < qst__schema_rows; i++)
        ours = ours || (qst__schema[i].variable && strcmp(qst__schema[i].variable, name) == 0);
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        ours = ours || qst__glob(OTHERS[i], name);
    return ours;
}

/* Notes the variables that begin as ours do and that nobody reads. One without a value is not set. */
static qst_status note_strangers(qst__conf *conf, qst_error *err)
{
    enum { NAME_SHOWN = 80 };
    for (const char *const *at = qst__getenv_all(); *at; at++) {
        char        name[NAME_SHOWN + 1], near[96], why[160];
        const char *equals = strchr(*at, '=');
        if (strncmp(*at, PREFIX, sizeof PREFIX - 1) != 0 || !equals || !equals[1])
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)(equals - *at), *at);
        if (is_ours(name))
            continue;
        if (qst__schema_near_variable(name, near, sizeof near))
            (void)snprintf(why, sizeof why, "no variable of this name is read (%s)", near);
        else
            (void)snprintf(why, sizeof why, "no variable of this name is read");
        if (qst__conf_note_ignored(conf, true, name, why, err) != QST_OK)
            return QST_E_NOMEM;
    }
    return QST_OK;
}

qst_status qst__conf_read_variables(qst__conf *conf, qst_error *err)
{
    qst_status status = read_ours(conf, err);
    return status == QST_OK ? note_strangers(conf, err) : status;
}
