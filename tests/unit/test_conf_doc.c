/* SPDX-License-Identifier: MIT
 *
 * test_conf_doc.c: docs/config.md is what the table of keys says. Run with UPDATE_DOCS=1 in the environment, this
 * writes the page instead. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"
#include "conf/conf.h"
#include "conf/schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGE QST_SOURCE_DIR "/docs/config.md"

/* A user's file; the test reads it. */
static const char EXAMPLE[] = "{\n"
                              "  \"device\": {\"platform\": \"nvidia\"},\n"
                              "  \"plugin\": {\"clblast\": {\"library\": \"/opt/clblast/lib/libclblast.so\"}},\n"
                              "  \"tune\": {\"level\": \"extensive\", \"budget_ms\": 3000},\n"
                              "  \"candidates\": {\"deny\": [\"matmul.clblast.*\"]},\n"
                              "  \"groups\": {\"matmul\": {\"unit\": {\"priority\": 5}}},\n"
                              "  \"store\": {\"environment\": \"nightly\"},\n"
                              "  \"decisions\": {\"file\": \"decisions.jsonl\"},\n"
                              "  \"log\": \"warn,tune\"\n"
                              "}\n";

static const char HEAD[] =
    "# Configuration\n"
    "\n"
    "<!-- Written by tests/unit/test_conf_doc.c from the table in core/conf/schema.c. After a change there:\n"
    "     UPDATE_DOCS=1 ctest -R unit.conf_doc -->\n"
    "\n"
    "Settings come from these sources; what a later one says goes before what an earlier one said:\n"
    "\n"
    "1. the defaults below;\n"
    "2. the user's file, `$XDG_CONFIG_HOME/quernstone/config.json`, or `~/.config/quernstone/config.json`;\n"
    "3. the project's file, the nearest `quernstone.json` from the working directory upwards;\n"
    "4. the file that `QST_CONFIG` names;\n"
    "5. the variables below;\n"
    "6. the program, by `config` in `qst_options`; of the command, `--config`, over it `--set`, and options such as\n"
    "   `--level`, which say it once: one that `--set` contradicts is refused. Denials add up: `--set candidates.deny=…`\n"
    "   is put to those of `--config`, and `--deny` to both.\n"
    "\n"
    "A file holds one JSON object. The dots of a key are levels of objects, and may be written as dots too:\n"
    "`{\"tune\": {\"level\": 2}}` and `{\"tune.level\": 2}` say the same. A key that is not listed here or is said in\n"
    "both ways, a value of another type, or one that is out of bounds makes no context: the error names the source and\n"
    "the key, and `qst` exits with 2. `qst config` shows every setting that is in force and where it comes from.\n"
    "\n"
    "- The project's file comes with whatever was checked out or unpacked there. It may set `tune`, `groups`, "
    "`candidates`\n"
    "  and `log`, and nothing that leads to code, a device, a store or an output. One that belongs to another user "
    "than\n"
    "  root and the program's is passed over, which `qst config` shows.\n"
    "- A missing file is none, save the one that `QST_CONFIG` names.\n"
    "- A list takes the place of an earlier source's list, but for two: `QST_PLUGIN_PATH` goes in front of it, and "
    "denials\n"
    "  add up, `candidates.deny` being put to what earlier sources deny. An empty text takes back what an earlier source\n"
    "  said; of denials so does an empty first item, before others: `[\"\", \"matmul.unit.*\"]`, "
    "`QST_DENY=,matmul.unit.*`,\n"
    "  `--deny '' --deny 'matmul.unit.*'`.\n"
    "- A relative path is relative to the file that says it; of a variable or the program, to the working directory.\n"
    "- An empty variable counts as not set. Lists in variables are separated by commas, directories by colons; truth\n"
    "  values are `true`, `1`, `on`, `false`, `0`, `off`. An elevated process (set-user-id) reads no variable.\n"
    "\n"
    "A user's file, for example:\n"
    "\n"
    "```json\n";

/* What stands above a section's keys. */
static const struct {
    const char *section, *text;
} INTROS[] = {
    {"device", "Which device `qst` works on. A program that uses the library brings its own queue, and its device."},
    {"plugins", "Where candidates come from. Plugins are read from directories that root or the user owns and nobody "
                "else may write\nto."},
    {"plugin", "Settings of plugins, which each plugin describes. One for a plugin that is not there is noted in the "
               "log."},
    {"tune", "How answers are found."},
    {"candidates", "Which candidates may run. This is looked at whenever an answer is looked up, and never stored."},
    {"groups", "Which candidates are tried first."},
    {"store", "Where answers are kept from process to process."},
    {"verdicts", "Stored answers."},
    {"throughput", "Stored peaks of devices, from which the roof of a problem follows."},
    {"programs", "Stored program binaries."},
    {"decisions", "The account of each tuning as it is made. The three may be set together."},
    {"history", "The account of earlier processes in the store, which no look-up reads."},
    {"log", "Messages of the library. It writes none unless asked."},
};

/* ---- One key ---------------------------------------------------------------------------------------------------- */

static void append_values(qst__str *page, const qst__key_row *row)
{
    static const char *const types[] = {
        [QST__TYPE_TEXT] = "text",
        [QST__TYPE_NAME] = "name of `[A-Za-z0-9._-]`",
        [QST__TYPE_PATH] = "path",
        [QST__TYPE_LOG] = "text",
        [QST__TYPE_ANY] = "text, number, `true` or `false`",
        [QST__TYPE_LIST] = "text or list of texts",
        [QST__TYPE_GATHER] = "text or list of texts",
        [QST__TYPE_PATHS] = "path or list of paths",
        [QST__TYPE_INT] = "integer",
        [QST__TYPE_LONG] = "integer",
        [QST__TYPE_REAL] = "number",
        [QST__TYPE_BOOL] = "`true` or `false`",
    };
    uint32_t count = 0;
    for (; row->tokens && row->tokens[count]; count++)
        qst__str_printf(page, "%s`%s`", count ? ", " : "", row->tokens[count]);
    if (row->type == QST__TYPE_GRADE)
        qst__str_printf(page, ", or 0 … %u", count - 1);
    if (!row->tokens)
        qst__str_append(page, types[row->type]);
    if (row->type == QST__TYPE_INT || row->type == QST__TYPE_LONG || row->type == QST__TYPE_REAL)
        qst__str_printf(page, ", %.15g … %.15g", row->min, row->max);
}

static void append_row(qst__str *page, const qst__key_row *row)
{
    qst__str_printf(page, "| `%s` | ", row->path);
    append_values(page, row);
    qst__str_append(page, " | ");
    if (*row->standard)
        qst__str_printf(page, "`%s`", row->standard);
    qst__str_append(page, " | ");
    if (row->variable)
        qst__str_printf(page, "`%s`", row->variable);
    qst__str_printf(page, " | %s | ", row->sources & QST__SOURCE(QST__FROM_PROJECT) ? "yes" : "no");
    for (const char *at = row->help; *at; at++)
        qst__str_printf(page, *at == '|' || *at == '*' ? "\\%c" : "%c", *at);
    qst__str_append(page, " |\n");
}

/* ---- The page --------------------------------------------------------------------------------------------------- */

static bool same_section(const char *a, const char *b)
{
    size_t length = strcspn(a, ".");
    return length == strcspn(b, ".") && strncmp(a, b, length) == 0;
}

static void append_section_head(qst__str *page, const char *path)
{
    const char *intro = NULL;
    for (size_t i = 0; i < sizeof INTROS / sizeof *INTROS; i++)
        if (same_section(INTROS[i].section, path))
            intro = INTROS[i].text;
    if (!intro)
        fail_msg("the section of %s has no line above its keys", path);
    qst__str_printf(page, "\n## %.*s\n\n%s\n\n", (int)strcspn(path, "."), path, intro);
    qst__str_append(page,
                    "| key | values | default | variable | project's file | meaning |\n|---|---|---|---|---|---|\n");
}

static void make_page(qst__str *page)
{
    qst__str_append(page, HEAD);
    qst__str_append(page, EXAMPLE);
    qst__str_append(page, "```\n");
    for (uint32_t i = 0; i < qst__schema_rows; i++) {
        if (i == 0 || !same_section(qst__schema[i].path, qst__schema[i - 1].path))
            append_section_head(page, qst__schema[i].path);
        append_row(page, &qst__schema[i]);
    }
    qst__str_append(
        page,
        "\n## Variables\n\nAnother variable that begins with `QST_` and has a value is noted in the log, in "
        "`qst config` and in `qst doctor`, with\nthe name that it may be meant to have, or the key that a file sets.\n\n"
        "| variable | sets |\n|---|---|\n"
        "| `QST_CONFIG` | the fourth source: a file that must be there |\n");
    for (uint32_t i = 0; i < qst__schema_rows; i++)
        if (qst__schema[i].variable)
            qst__str_printf(page, "| `%s` | `%s` |\n", qst__schema[i].variable, qst__schema[i].path);
}

/* Number of the first line that differs, from 1; 0: none does. */
static int differing_line(const char *a, const char *b)
{
    int line = 1;
    for (; *a && *a == *b; a++, b++)
        line += *a == '\n';
    return *a == *b ? 0 : line;
}

static void the_page_is_what_the_table_says(void **state)
{
    static char text[1 << 18];
    qst__alloc  alloc = qst__alloc_default();
    qst__str    page;
    const char *update = getenv("UPDATE_DOCS");
    (void)state;
    qst__str_init(&page, &alloc);
    make_page(&page);
    assert_false(page.failed);
    if (update && strcmp(update, "1") == 0) {
        FILE *out = fopen(PAGE, "wb");
        assert_non_null(out);
        assert_int_equal(fwrite(page.text, 1, page.length, out), page.length);
        assert_int_equal(fclose(out), 0);
    }
    FILE *in = fopen(PAGE, "rb");
    if (!in)
        fail_msg("docs/config.md is missing: UPDATE_DOCS=1 writes it");
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    assert_int_equal(fclose(in), 0);
    int line = differing_line(text, page.text);
    qst__str_finish(&page);
    if (line)
        fail_msg("docs/config.md is stale from line %d on: UPDATE_DOCS=1 writes it anew", line);
}

static void the_example_can_be_read(void **state)
{
    const qst__conf_sources sources = {.api = EXAMPLE};
    qst__alloc              alloc = qst__alloc_default();
    qst__conf              *conf = NULL;
    qst_error               err = {0};
    (void)state;
    if (qst__conf_create(&conf, &alloc, &sources, &err) != QST_OK)
        fail_msg("%s", err.text);
    assert_int_equal(qst__conf_settings(conf)->level, QST__LEVEL_EXTENSIVE);
    qst__conf_destroy(conf);
}

/* A section's keys stand together, else it would have two heads; and no line above keys is left over. */
static void sections_stand_together(void **state)
{
    uint32_t heads = 0;
    (void)state;
    for (uint32_t i = 0; i < qst__schema_rows; i++) {
        bool starts = i == 0 || !same_section(qst__schema[i].path, qst__schema[i - 1].path);
        heads += starts;
        for (uint32_t j = 0; starts && j < i; j++)
            assert_false(same_section(qst__schema[i].path, qst__schema[j].path));
    }
    assert_int_equal(heads, sizeof INTROS / sizeof *INTROS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_is_what_the_table_says),
        cmocka_unit_test(the_example_can_be_read),
        cmocka_unit_test(sections_stand_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
