/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "layout.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "utf8.h"
#include "xalloc.h"

enum {
    NARROW = 8,    /* a text narrower than this is not indented below a prompt */
    COMBINING = 7, /* marks on one character; more are dropped from the picture */
};

static const char replacement[] = "\xEF\xBF\xBD";

/* Length of one character and its width: -1: what cannot be shown. */
static size_t decode(const char *text, size_t size, uint32_t *code, int *width)
{
    size_t length = utf8_decode(text, size, code);
    if (!length || *code == UINT32_MAX) {
        *width = -1;
        return length ? length : size;
    }
    *width = wcwidth((wchar_t)*code);
    return length;
}

static void show(struct layout_cell *cell, const char *text, size_t size, int width)
{
    memcpy(cell->show, text, size);
    cell->show[size] = '\0';
    cell->width = width;
}

static size_t add_marks(const char *text, size_t size, struct layout_cell *cell)
{
    size_t at = cell->size, shown = at;
    uint32_t code;
    int width;
    while (at < size && (unsigned char)text[at] >= 0x80) {
        size_t length = decode(text + at, size - at, &code, &width);
        if (width != 0)
            break;
        if (shown + length < sizeof cell->show - 1 && shown < cell->size + COMBINING * 4) {
            memcpy(cell->show + shown, text + at, length);
            shown += length;
        }
        at += length;
    }
    cell->show[shown] = '\0';
    return at;
}

void layout_cell(const char *text, size_t size, int column, struct layout_cell *ret_cell)
{
    unsigned char c = (unsigned char)text[0];
    uint32_t code = 0;
    int width;
    *ret_cell = (struct layout_cell){.size = 1};
    if (c == '\t') {
        int spaces = LAYOUT_TAB - column % LAYOUT_TAB;
        show(ret_cell, "        ", (size_t)spaces, spaces);
        return;
    }
    if (c < 32 || c == 127) {
        show(ret_cell, (char[]){'^', (char)(c ^ 64)}, 2, 2);
        ret_cell->substitute = true;
        return;
    }
    size_t length = decode(text, size, &code, &width);
    ret_cell->size = length;
    if (width < 0) {
        show(ret_cell, replacement, 3, 1);
        ret_cell->substitute = true;
        return;
    }
    if (width == 0) { /* a mark with nothing before it */
        show(ret_cell, " ", 1, 1);
        memcpy(ret_cell->show + 1, text, length);
        ret_cell->show[1 + length] = '\0';
        return;
    }
    show(ret_cell, text, length, width);
    if (size > length && (unsigned char)text[length] >= 0x80)
        ret_cell->size = add_marks(text, size, ret_cell);
}

/* ---- rows ----------------------------------------------------------------------------------- */

static struct layout_row *begin_row(struct layout *layout, size_t from, int column, bool first)
{
    layout->rows = xgrow(layout->rows, layout->count, &layout->capacity, sizeof *layout->rows);
    struct layout_row *row = &layout->rows[layout->count++];
    *row = (struct layout_row){.from = from, .to = from, .column = column, .first = first};
    return row;
}

static void set_cursor(struct layout *layout, const struct layout_row *row)
{
    layout->cursor_row = layout->count - 1;
    layout->cursor_column = row->column + row->width;
}

/* One line of the text, from..end. */
static void add_line(struct layout *layout, const char *text, size_t from, size_t end, size_t point,
                     int columns, int prompt, int next_prompt)
{
    struct layout_row *row = begin_row(layout, from, prompt, true);
    struct layout_cell cell;
    int column = 0; /* in the whole line, for tabs */
    for (size_t at = from; at < end; at += cell.size) {
        unsigned char c = (unsigned char)text[at];
        if (c >= 32 && c < 127 && (at + 1 == end || (unsigned char)text[at + 1] < 0x80))
            cell.size = 1, cell.width = 1;
        else
            layout_cell(text + at, end - at, column, &cell);
        if (row->width && row->column + row->width + cell.width > columns)
            row = begin_row(layout, at, next_prompt, false);
        if (point >= at && point < at + cell.size)
            set_cursor(layout, row);
        row->width += cell.width;
        row->to = at + cell.size;
        column += cell.width;
    }
    if (point != end)
        return;
    if (row->width && row->column + row->width >= columns)
        row = begin_row(layout, end, next_prompt, false);
    set_cursor(layout, row);
}

void layout_make(struct layout *layout, const char *text, size_t size, size_t point, int columns,
                 int first_prompt, int next_prompt)
{
    layout->count = 0;
    if (columns < 1)
        columns = 1;
    if (columns - next_prompt < NARROW)
        next_prompt = 0;
    if (columns - first_prompt < 1)
        first_prompt = 0;
    for (size_t at = 0;;) {
        const char *newline = at < size ? memchr(text + at, '\n', size - at) : NULL;
        size_t end = newline ? (size_t)(newline - text) : size;
        add_line(layout, text, at, end, point, columns, at ? next_prompt : first_prompt,
                 next_prompt);
        if (!newline)
            return;
        at = end + 1;
    }
}

void layout_free(struct layout *layout)
{
    free(layout->rows);
    *layout = (struct layout){.rows = NULL};
}

size_t layout_place(const struct layout_row *row, const char *text, int column, bool last)
{
    struct layout_cell cell;
    int at_column = row->column;
    size_t at = row->from, before = at;
    while (at < row->to && at_column < column) {
        layout_cell(text + at, row->to - at, at_column - row->column, &cell);
        if (at_column + cell.width > column)
            return at;
        before = at;
        at += cell.size;
        at_column += cell.width;
    }
    /* Behind the last cell of a row that goes on would be in the next row. */
    return at == row->to && !last ? before : at;
}

size_t layout_row_of(const struct layout *layout, size_t place)
{
    size_t low = 0, high = layout->count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (layout->rows[middle].from <= place)
            low = middle;
        else
            high = middle;
    }
    return low;
}
