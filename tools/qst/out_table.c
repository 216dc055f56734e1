/* SPDX-License-Identifier: MIT
 *
 * out_table.c: aligned tables, and lines that end where a terminal does. */
#include "out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define GAP   2 /* blanks between columns */
#define LEAST 4 /* letters that a column keeps */

void out_table_init(out_table *table, const char *align, const char *const *heads)
{
    memset(table, 0, sizeof *table);
    table->align = align;
    table->columns = strlen(align);
    for (size_t i = 0; i < table->columns; i++)
        out_table_cell(table, "%s", heads[i]);
}

void out_table_cell(out_table *table, const char *format, ...)
{
    va_list args;
    table->cells = out_resize(table->cells, (table->n + 1) * sizeof *table->cells);
    va_start(args, format);
    char *cell = out_text_of(format, args);
    va_end(args);
    table->cells[table->n++] = out_escaped(cell, false);
    free(cell);
}

/* Letters, not bytes: continuation bytes of UTF-8 take no place. */
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (; *text; text++)
        width += (*text & 0xC0) != 0x80;
    return width;
}

/* Bytes of the text's first `letters` letters. */
static size_t bytes_of(const char *text, size_t letters)
{
    size_t bytes = 0;
    while (text[bytes] && (letters || (text[bytes] & 0xC0) == 0x80))
        letters -= (text[bytes++] & 0xC0) != 0x80;
    return bytes;
}

/* The text, or where it is longer than the room, what of it fits and an ellipsis; to be freed. 0: there is no end. */
static char *fitting(const char *text, size_t room)
{
    return !room || width_of(text) <= room ? out_text("%s", text)
                                           : out_text("%.*s…", (int)bytes_of(text, room - 1), text);
}

size_t out_room(bool wide)
{
    enum { USUAL = 80 };
    struct winsize size = {0};
    const char    *columns = getenv("COLUMNS");
    long           told = columns ? strtol(columns, NULL, 10) : 0;
    if (wide || !isatty(STDOUT_FILENO))
        return 0;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
        return size.ws_col;
    return told > 0 ? (size_t)told : USUAL;
}

/* A whole line, without blanks at its end. */
static void print_line(char *line, size_t room)
{
    for (size_t length = strlen(line); length && line[length - 1] == ' ';)
        line[--length] = '\0';
    char *shown = fitting(line, room);
    puts(shown);
    free(shown);
}

void out_cut(const char *head, const char *text, bool wide)
{
    char *line = out_text("%s%s", head, text);
    print_line(line, out_room(wide));
    free(line);
}

/* Letter by letter the widest column of texts gives way, but the first: that is what a record is asked for by. */
static void fit_columns(const out_table *table, const char *indent, size_t *width)
{
    size_t all = strlen(indent) + GAP * (table->columns - 1);
    for (size_t i = 0; i < table->columns; i++)
        all += width[i];
    while (table->room && all > table->room) {
        size_t widest = 0;
        for (size_t i = 1; i < table->columns; i++)
            if (table->align[i] != 'r' && width[i] > LEAST && (!widest || width[i] >= width[widest]))
                widest = i;
        if (!widest)
            return;
        width[widest]--;
        all--;
    }
}

/* The cell on its way into a line. */
static char *place_cell(char *line, const char *cell, const char *before, size_t width, bool right)
{
    char  *shown = fitting(cell, width), *longer;
    size_t own = width_of(shown), pad = width > own ? width - own : 0;
    longer = out_text("%s%s%*s%s%*s", line, before, right ? (int)pad : 0, "", shown, right ? 0 : (int)pad, "");
    free(shown);
    free(line);
    return longer;
}

void out_table_print(const out_table *table, const char *indent)
{
    size_t *width = out_resize(NULL, table->columns * sizeof *width);
    memset(width, 0, table->columns * sizeof *width);
    for (size_t i = 0; i < table->n; i++) {
        size_t own = width_of(table->cells[i]);
        if (own > width[i % table->columns])
            width[i % table->columns] = own;
    }
    fit_columns(table, indent, width);
    for (size_t i = 0; i < table->n; i += table->columns) {
        char *line = out_text("%s", indent);
        for (size_t k = 0; k < table->columns; k++)
            line = place_cell(line, table->cells[i + k], k ? "  " : "", width[k], table->align[k] == 'r');
        print_line(line, table->room);
        free(line);
    }
    free(width);
}

void out_table_finish(out_table *table)
{
    for (size_t i = 0; i < table->n; i++)
        free(table->cells[i]);
    free(table->cells);
}
