/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "block-lines.h"
#include "char-width.h"
#include "utf8.h"
#include "xalloc.h"

static const struct block_style default_style;

void *line_grow(struct lines *lines, void *array, uint32_t *capacity, size_t need, size_t size)
{
    if (need <= *capacity)
        return array;
    size_t wanted = *capacity ? *capacity : 16;
    while (wanted < need)
        wanted += wanted / 2;
    lines->live_bytes += (wanted - *capacity) * size;
    *capacity = (uint32_t)wanted;
    return xrealloc(array, wanted * size);
}

static void drop_cells(struct lines *lines, struct line *line)
{
    lines->live_bytes -= line->cells_capacity * sizeof(*line->cells);
    free(line->cells);
    line->cells = NULL;
    line->cells_count = line->cells_capacity = 0;
}

static void clear_text(struct line *line)
{
    line->size = line->runs_size = line->width = 0;
    line->run_start = line->run_offset = line->run_base = 0;
    line->last = default_style;
    line->flags = (uint8_t)((line->flags & LINE_CONTINUED) | LINE_ASCII);
}

void line_clear(struct lines *lines, struct line *line)
{
    enum { KEEP_CELLS = 256 };
    if (line->cells_capacity > KEEP_CELLS)
        drop_cells(lines, line);
    line->cells_count = 0;
    line->edited = line->stale = false;
    clear_text(line);
}

void line_release(struct lines *lines, struct line *line)
{
    lines->live_bytes -= line->text_capacity + line->runs_capacity;
    drop_cells(lines, line);
    free(line->text);
    free(line->runs);
    *line = (struct line){.flags = LINE_ASCII};
}

/* ---- text that grows ------------------------------------------------------------------------ */

static void change_style(struct lines *lines, struct line *line, const struct block_style *style)
{
    if (style_equal(&line->last, style))
        return;
    uint32_t base = line->run_offset;
    if (line->runs_size && line->run_offset == line->size) { /* nothing has the last one */
        line->runs_size = line->run_start;
        base = line->run_base;
    }
    line->runs = line_grow(lines, line->runs, &line->runs_capacity, line->runs_size + RUN_BYTES, 1);
    line->run_start = line->runs_size;
    line->run_base = base;
    line->runs_size += (uint32_t)run_encode(line->runs + line->runs_size, line->size - base, style);
    line->run_offset = line->size;
    line->last = *style;
}

/* Bytes only: the caller counts columns and sets flags. */
void line_append(struct lines *lines, struct line *line, const char *text, size_t size,
                 const struct block_style *style)
{
    change_style(lines, line, style);
    line->text = line_grow(lines, line->text, &line->text_capacity, line->size + size, 1);
    memcpy(line->text + line->size, text, size);
    line->size += (uint32_t)size;
}

/* ---- cells ---------------------------------------------------------------------------------- */

void line_mark(struct line *line, uint32_t column, uint32_t mark)
{
    if (column > line->cells_count)
        return;
    while (column > 0 && !line->cells[column - 1].code)
        column--;
    if (!column)
        return;
    uint32_t *marks = line->cells[column - 1].marks;
    for (size_t i = 0; i < CELL_MARKS; i++) {
        if (!marks[i]) {
            marks[i] = mark;
            line->stale = true;
            return;
        }
    }
}

void line_edit(struct lines *lines, struct line *line)
{
    if (line->edited)
        return;
    struct line_view view = {line->text, line->runs, line->size, line->runs_size, 0, 0};
    struct run_reader reader;
    line->cells =
        line_grow(lines, line->cells, &line->cells_capacity, line->width + 1, sizeof(*line->cells));
    line->cells_count = 0;
    runs_start(&reader, &view);
    for (uint32_t at = 0; at < line->size;) {
        uint32_t code;
        runs_to(&reader, at);
        size_t length = utf8_decode(line->text + at, line->size - at, &code);
        int width = char_width(code);
        if (width > 0)
            line->cells[line->cells_count++] =
                (struct edit_cell){.code = code, .style = reader.style};
        else
            line_mark(line, line->cells_count, code);
        if (width == 2)
            line->cells[line->cells_count++] = (struct edit_cell){.style = reader.style};
        at += (uint32_t)length;
    }
    line->edited = true;
    line->stale = false;
    line->flags &= (uint8_t)~LINE_FIXED;
}

static void append_cell(struct lines *lines, struct line *line, const struct edit_cell *cell)
{
    char bytes[4 * BLOCK_CELL_CHARACTERS];
    size_t size = utf8_encode(cell->code, bytes);
    if (size > 1)
        line->flags &= (uint8_t)~LINE_ASCII;
    for (size_t i = 0; i < CELL_MARKS && cell->marks[i]; i++) {
        size += utf8_encode(cell->marks[i], bytes + size);
        line->flags &= (uint8_t)~LINE_ASCII;
    }
    line_append(lines, line, bytes, size, &cell->style);
}

void line_sync(struct lines *lines, struct line *line)
{
    if (!line->stale)
        return;
    uint32_t count = line->cells_count;
    while (count && line->cells[count - 1].code == ' ' && !line->cells[count - 1].marks[0] &&
           style_is_plain(&line->cells[count - 1].style))
        count--;
    clear_text(line);
    for (uint32_t i = 0; i < count; i++) {
        if (line->cells[i].code)
            append_cell(lines, line, &line->cells[i]);
        else
            line->flags |= LINE_WIDE;
    }
    line->width = count;
    line->stale = false;
}

/* Halves of wide characters that the edges of a change would leave become blanks. */
static void blank_halves(struct line *line, uint32_t from, uint32_t to)
{
    if (from > 0 && from < line->cells_count && !line->cells[from].code) {
        line->cells[from - 1].code = ' ';
        memset(line->cells[from - 1].marks, 0, sizeof(line->cells[from - 1].marks));
    }
    if (to < line->cells_count && !line->cells[to].code)
        line->cells[to].code = ' ';
}

/* Replace columns that the line has, or its end, by blanks. */
void line_blank(struct line *line, uint32_t from, uint32_t to, const struct block_style *style)
{
    blank_halves(line, from, to);
    for (uint32_t i = from; i < to; i++)
        line->cells[i] = (struct edit_cell){.code = ' ', .style = *style};
    if (line->cells_count < to)
        line->cells_count = to;
    line->stale = true;
}

/* Make it so many columns wide, with blanks. */
void line_pad(struct lines *lines, struct line *line, uint32_t column,
              const struct block_style *style)
{
    if (column <= line->cells_count)
        return;
    line->cells =
        line_grow(lines, line->cells, &line->cells_capacity, column, sizeof(*line->cells));
    line_blank(line, line->cells_count, column, style);
}

void line_set(struct lines *lines, struct line *line, uint32_t column, uint32_t code, int width,
              const struct block_style *style)
{
    uint32_t end = column + (uint32_t)width;
    line_pad(lines, line, column, &default_style);
    line->cells = line_grow(lines, line->cells, &line->cells_capacity, end, sizeof(*line->cells));
    blank_halves(line, column, end);
    line->cells[column] = (struct edit_cell){.code = code, .style = *style};
    if (width == 2)
        line->cells[column + 1] = (struct edit_cell){.style = *style};
    if (line->cells_count < end)
        line->cells_count = end;
    line->stale = true;
}

/* Up to column `to`; behind the end of the line only a background can be seen. */
void line_erase(struct lines *lines, struct line *line, uint32_t from, uint32_t to,
                uint32_t background)
{
    uint32_t width = line->edited ? line->cells_count : line->width;
    if (!background && from >= width)
        return;
    if (!background && from == 0 && to >= width) {
        line_clear(lines, line);
        return;
    }
    struct block_style style = {.background = background};
    line_edit(lines, line);
    if (background || to < width) {
        line_pad(lines, line, from, &default_style);
        line->cells =
            line_grow(lines, line->cells, &line->cells_capacity, to, sizeof(*line->cells));
        line_blank(line, from, to, &style);
    } else {
        blank_halves(line, from, width);
        line->cells_count = from;
        line->stale = true;
    }
}
