/* SPDX-License-Identifier: MIT
 *
 * out_table.c: aligned tables, and lines that end where a terminal does. */
#include "out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define GAP   2  /* blanks between columns */
#define KEEP  12 /* letters that a text keeps as long as there is a column to spare */
#define LEAST 4  /* and then */

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

void out_flow(const char *text, const char *indent, bool wide)
{
    size_t room = out_room(wide), at = 0;
    while (*text) {
        size_t blanks = strspn(text, " "), length = blanks + strcspn(text + blanks, " ");
        char  *word = out_text("%.*s", (int)length, text);
        if (room && at && at + width_of(word) > room) {
            printf("\n%s%s", indent, word + blanks);
            at = width_of(indent) + width_of(word + blanks);
        } else {
            fputs(word, stdout);
            at += width_of(word);
        }
        text += length;
        free(word);
    }
    putchar('\n');
}

/* Letters of a line of such columns; those of width 0 are left out. */
static size_t line_of(const out_table *table, const char *indent, const size_t *width)
{
    size_t all = width_of(indent), shown = 0;
    for (size_t i = 0; i < table->columns; i++) {
        all += width[i];
        shown += width[i] > 0;
    }
    return all + (shown ? GAP * (shown - 1) : 0);
}

/* Letter by letter the widest text over `least` gives way, but the rows' name: true where the line fits then. */
static bool narrow(const out_table *table, const char *indent, size_t *width, size_t least)
{
    size_t all = line_of(table, indent, width);
    while (all > table->room) {
        size_t widest = table->columns;
        for (size_t i = 0; i < table->columns; i++)
            if (i != table->name && table->align[i] != 'r' && width[i] > least &&
                (widest == table->columns || width[i] >= width[widest]))
                widest = i;
        if (widest == table->columns)
            return false;
        width[widest]--;
        all--;
    }
    return true;
}

/* Texts give way first, then columns, in their order, then what texts are left, and the rows' name at last. */
static void fit_columns(const out_table *table, const char *indent, size_t *width)
{
    const char *spare = table->spare ? table->spare : "";
    size_t     *whole = out_resize(NULL, table->columns * sizeof *whole);
    memcpy(whole, width, table->columns * sizeof *whole);
    while (table->room && !narrow(table, indent, width, KEEP) && *spare) {
        whole[*spare++ - 'a'] = 0;
        memcpy(width, whole, table->columns * sizeof *whole);
    }
    if (table->room && !narrow(table, indent, width, LEAST))
        while (width[table->name] > KEEP && line_of(table, indent, width) > table->room)
            width[table->name]--;
    free(whole);
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
        char       *line = out_text("%s", indent);
        const char *before = "";
        for (size_t k = 0; k < table->columns; k++) {
            if (!width[k])
                continue;
            line = place_cell(line, table->cells[i + k], before, width[k], table->align[k] == 'r');
            before = "  ";
        }
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
