/* SPDX-License-Identifier: MIT
 *
 * out.h: what the command prints: tables, JSON, failures, progress; and the JSON that the library describes itself
 * with. Memory here never fails: out of memory ends the command with one line and exit code 1.
 */
#ifndef QST_TOOL_OUT_H
#define QST_TOOL_OUT_H

#include <jansson.h>
#include <quernstone/context.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* realloc and strdup-like printf that never give NULL. out_resize(NULL, n) allocates. */
void *out_resize(void *memory, size_t bytes);
char *out_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *out_text_of(const char *format, va_list args) __attribute__((format(printf, 1, 0)));
void *out_need(void *memory); /* what another function allocated */

/* What is no UTF-8, or what a terminal would obey, as \x1b; lines: ends of lines and tabs stay. To be freed. Tables,
 * progress and lines on stderr are printed so, since names and messages come from users, files and plugins. */
char *out_escaped(const char *text, bool lines);

/* A user's text as messages quote it: escaped, the first 60 bytes or so and an ellipsis where it is longer, '' where it
 * is empty. */
typedef struct out_quote {
    char text[64];
} out_quote;
out_quote out_shown(const char *text);

/* A table: columns aligned, two blanks between them, none at a line's end. */
typedef struct out_table {
    const char *align;      /* one letter a column: l or r */
    size_t      columns, n; /* n cells so far, the heads included */
    char      **cells;
    size_t      room; /* letters of a line: longer texts are cut to it, the longest first; 0: none is */
    size_t      name; /* the column that is cut last: by which a row is asked for */
    const char *
        spare; /* columns that are left out where texts would be cut to little, the first first, 'a' is column 0; NULL: none */
} out_table;

/* `heads` has one text a column. */
void out_table_init(out_table *table, const char *align, const char *const *heads);
/* One cell, from left to right, row after row. */
void out_table_cell(out_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_table_print(const out_table *table, const char *indent);
void out_table_finish(out_table *table);

/* The letters that fit into a line where stdout is a terminal; 0: it is none, or `wide`, and lines may have any length. */
size_t out_room(bool wide);

/* A line of two texts, which may be long: on a terminal it ends where that does, with an ellipsis. */
void out_cut(const char *head, const char *text, bool wide);

/* A text, which may be long, as lines that end where a terminal does, between words; all but the first begin with `indent`. */
void out_flow(const char *text, const char *indent, bool wide);

/* Prints indented and frees. */
void out_json(json_t *json);

/* Text that a sink gathers; begins as zero, the owner frees `text`, which is terminated. */
typedef struct out_buffer {
    char  *text;
    size_t length, room;
} out_buffer;
void out_gather(void *user, const char *text, size_t length);

/* The text as values; NULL after a line on stderr. */
json_t *out_parse(const char *what, const out_buffer *buffer);

/* qst_describe as values; NULL after a line on stderr. */
json_t *out_describe(qst_context *context, const char *what);

/* All texts in it as out_escaped has them, for what is then printed for people. */
void out_harmless(json_t *json);

/* A member's text, number or truth; "" or 0 where it is missing or null. */
const char *out_member(const json_t *object, const char *name);
double      out_number(const json_t *object, const char *name);
int         out_truth(const json_t *object, const char *name);

/* "3.670 s" from 1000 ms on, else "117.258 ms", below 1 ms "0.2251 ms". */
typedef struct out_time {
    char text[32];
} out_time;
out_time out_ms(double ms);

/* One line on stderr; return EXIT_FAILED. */
int  out_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
int  out_error(const char *what, qst_status status, const qst_error *err);
void out_line(const char *prefix, bool lines, const char *format, va_list args); /* what both are made of */

/* A line that says what goes on, on stderr and only where that is a terminal; out_progress(NULL) wipes it. */
void out_progress(const char *format, ...);

#endif
