/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "block-lines.h"

static struct line *current(const struct lines *lines)
{
    return lines_at(lines, lines->row);
}

/* The live row in which a line is, or the nearest. */
static size_t row_of(const struct lines *lines, uint64_t number)
{
    if (number < lines->pages.next)
        return 0;
    size_t row = (size_t)(number - lines->pages.next);
    return row < lines->count ? row : lines->count - 1;
}

/* ---- moving --------------------------------------------------------------------------------- */

/*
 * Up as far as lines can be changed: further than on a terminal, whose window may be lower. Down to
 * the last line, or to where the window of a terminal would end.
 */
void lines_move_rows(struct lines *lines, long by)
{
    lines->marks = 0;
    if (by < 0) {
        size_t up = (size_t)-by;
        lines->row = up < lines->row ? lines->row - up : 0;
        return;
    }
    uint32_t column = lines->column;
    for (; by > 0; by--) {
        uint64_t number = lines_number(lines, lines->row);
        if (lines->row + 1 == lines->count &&
            number + 1 >= lines->top + (uint64_t)lines->window_rows)
            break;
        lines_down(lines);
    }
    lines->column = column;
}

/*
 * To the right only as far as the window goes, or the line, if it is wider. Further than that no
 * terminal has a place.
 */
void lines_to_column(struct lines *lines, uint32_t column)
{
    const struct line *line = current(lines);
    uint32_t width = line->edited ? line->cells_count : line->width;
    uint32_t right = (uint32_t)lines->window_columns - 1;
    if (right < width)
        right = width;
    if (right < lines->column)
        right = lines->column;
    lines->marks = 0;
    lines->column = column < right ? column : right;
}

void lines_move_columns(struct lines *lines, long by)
{
    long column = (long)lines->column + by;
    lines_to_column(lines, column < 0 ? 0 : (uint32_t)column);
}

void lines_tab(struct lines *lines)
{
    uint32_t column = (lines->column | 7) + 1;
    lines->marks = 0;
    lines->column = column < BLOCK_LINE_BYTES ? column : BLOCK_LINE_BYTES;
}

void lines_home(struct lines *lines)
{
    lines->row = row_of(lines, lines->top);
    lines->column = lines->marks = 0;
}

void lines_save(struct lines *lines)
{
    lines->saved = (struct cursor){lines_number(lines, lines->row), lines->column, lines->style};
}

void lines_restore(struct lines *lines)
{
    lines->row = row_of(lines, lines->saved.number);
    lines->column = lines->saved.column;
    lines->style = lines->saved.style;
    lines->marks = 0;
}

/* ---- erasing -------------------------------------------------------------------------------- */

/* Where erasing a line to its end ends: only a background is seen there, and fills the window. */
static uint32_t erase_end(const struct lines *lines, const struct line *line)
{
    uint32_t width = line->edited ? line->cells_count : line->width;
    uint32_t columns = (uint32_t)lines->window_columns;
    return width > columns ? width : columns;
}

static void erase_row(struct lines *lines, size_t row)
{
    struct line *line = lines_at(lines, row);
    line_erase(lines, line, 0, erase_end(lines, line), lines->style.background);
}

void lines_erase_line(struct lines *lines, unsigned mode)
{
    struct line *line = current(lines);
    uint32_t end = erase_end(lines, line);
    uint32_t background = lines->style.background;
    lines->marks = 0;
    if (mode == 0 && lines->column < end)
        line_erase(lines, line, lines->column, end, background);
    else if (mode == 1)
        line_erase(lines, line, 0, lines->column + 1, background);
    else if (mode == 2)
        line_erase(lines, line, 0, end, background);
}

/* Empty lines below the cursor need not be there. */
static void erase_below(struct lines *lines)
{
    lines_erase_line(lines, 0);
    if (!lines->style.background)
        lines_truncate(lines, lines->row + 1);
    for (size_t row = lines->row + 1; row < lines->count; row++)
        erase_row(lines, row);
}

static void erase_all(struct lines *lines)
{
    size_t row = row_of(lines, lines->top);
    for (row = row < lines->row ? row : lines->row; row < lines->count; row++)
        erase_row(lines, row);
    if (!lines->style.background)
        lines_truncate(lines, lines->row + 1);
}

void lines_erase_screen(struct lines *lines, unsigned mode)
{
    lines->marks = 0;
    switch (mode) {
    case 0:
        erase_below(lines);
        break;
    case 1:
        for (size_t row = row_of(lines, lines->top); row < lines->row; row++)
            erase_row(lines, row);
        lines_erase_line(lines, 1);
        break;
    case 2:
        erase_all(lines);
        break;
    case 3:
        lines_erase_frozen(lines);
        break;
    default:
        break;
    }
}

void lines_take_screen(struct lines *lines)
{
    lines_home(lines);
    lines_truncate(lines, lines->row + 1);
    line_clear(lines, current(lines));
}

void lines_erase_cells(struct lines *lines, uint32_t count)
{
    struct line *line = current(lines);
    uint32_t end = erase_end(lines, line);
    lines->marks = 0;
    if (lines->column < end)
        line_erase(lines, line, lines->column,
                   count < end - lines->column ? lines->column + count : end,
                   lines->style.background);
}

/* ---- moving what is in a line --------------------------------------------------------------- */

void lines_delete_cells(struct lines *lines, uint32_t count)
{
    struct line *line = current(lines);
    uint32_t at = lines->column;
    lines->marks = 0;
    line_edit(lines, line);
    if (at >= line->cells_count)
        return;
    if (count > line->cells_count - at)
        count = line->cells_count - at;
    struct block_style style = {.background = lines->style.background};
    line_blank(line, at, at + count, &style); /* no half of a wide character stays */
    for (uint32_t i = at; i + count < line->cells_count; i++)
        line->cells[i] = line->cells[i + count];
    line->cells_count -= count;
}

/* What is pushed over the edge of the window is gone, unless the line was longer already. */
void lines_insert_cells(struct lines *lines, uint32_t count)
{
    struct line *line = current(lines);
    uint32_t at = lines->column;
    uint32_t end = erase_end(lines, line);
    lines->marks = 0;
    line_edit(lines, line);
    if (at >= line->cells_count)
        return;
    if (count > end - at)
        count = end - at;
    uint32_t width = line->cells_count + count < end ? line->cells_count + count : end;
    struct block_style style = {.background = lines->style.background};
    line_blank(line, at, at, &style);
    line_pad(lines, line, width, &style);
    line_blank(line, width - count, width, &style);
    for (uint32_t i = width; i-- > at + count;)
        line->cells[i] = line->cells[i - count];
    for (uint32_t i = at; i < at + count; i++)
        line->cells[i] = (struct edit_cell){.code = ' ', .style = style};
}
