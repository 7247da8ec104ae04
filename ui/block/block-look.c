/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A block as rows and as text. */
#include "config.h"

#include <string.h>

#include "block-internal.h"

bool block_is_empty(const struct block *block)
{
    return block_lines(block) == 0 && !block->lines.pages.dropped;
}

bool block_has_screen(const struct block *block)
{
    return block->grid != NULL;
}

/* Rows that are asked for are clipped: a caller may not have seen yet that there are less. */
static size_t clip(size_t value, size_t count)
{
    return value < count ? value : count ? count - 1 : 0;
}

/* ---- rows ----------------------------------------------------------------------------------- */

size_t block_rows(struct block *block, int columns)
{
    if (block->grid)
        return (size_t)grid_rows(block->grid);
    return rows_count(&block->rows, &block->lines, columns);
}

static void add_gap(const struct pages *pages, struct strbuf *out)
{
    strbuf_addf(out, "... %llu line%s not kept ...", (unsigned long long)pages->dropped,
                pages->dropped == 1 ? "" : "s");
}

/* The row that stands for the lines that are not there. */
static size_t gap_row(const struct block *block, size_t left, struct block_cell *cells,
                      size_t count)
{
    static const struct block_style style = {.attributes = BLOCK_DIM};
    struct strbuf text = STRBUF_INIT;
    add_gap(&block->lines.pages, &text);
    for (size_t i = 0; i < count; i++) {
        bool inside = left + i < text.size;
        cells[i] = (struct block_cell){.characters = {inside ? (uint32_t)text.data[left + i] : ' '},
                                       .width = 1};
        if (inside)
            cells[i].style = style;
    }
    size_t width = text.size;
    strbuf_free(&text);
    return width;
}

size_t block_row(struct block *block, int columns, size_t row, size_t left,
                 struct block_cell *cells, size_t count)
{
    uint64_t number;
    size_t within;
    if (block->grid)
        return grid_row(block->grid, (int)clip(row, (size_t)grid_rows(block->grid)), left, cells,
                        count);
    if (!rows_find(&block->rows, &block->lines, columns, row, &number, &within))
        return gap_row(block, left, cells, count);
    return rows_fill(&block->rows, &block->lines, columns, number, within, block->version, left,
                     cells, count);
}

size_t block_gap(struct block *block, int columns, uint64_t *ret_lines)
{
    *ret_lines = block->grid ? 0 : block->lines.pages.dropped;
    if (block->grid)
        return SIZE_MAX;
    return rows_gap(&block->rows, &block->lines, columns);
}

bool block_cursor(struct block *block, int columns, size_t *ret_row, int *ret_column)
{
    struct lines *lines = &block->lines;
    struct line_view view;
    if (block->grid) {
        int row;
        bool visible = grid_cursor(block->grid, &row, ret_column);
        *ret_row = (size_t)row;
        return visible;
    }
    uint64_t number = lines_number(lines, lines->row);
    lines_view(lines, number, &view);
    *ret_row = rows_of_line(&block->rows, lines, columns, number) +
               rows_of_column(&view, columns, lines->column, ret_column);
    return !(block->parser.modes & MODE_CURSOR_HIDDEN);
}

/* ---- lines ---------------------------------------------------------------------------------- */

static size_t count_lines(const struct block *block)
{
    return pages_lines(&block->lines.pages) + lines_live_count(block_lines_of(block));
}

/* While a program has the screen, its rows are the lines. */
size_t block_lines(const struct block *block)
{
    return block->grid ? (size_t)grid_rows(block->grid) : count_lines(block);
}

static uint64_t number_of(const struct lines *lines, size_t line)
{
    size_t frozen = pages_lines(&lines->pages);
    return line < frozen ? pages_number(&lines->pages, line) : lines->pages.next + (line - frozen);
}

static void view_line(const struct block *block, size_t line, struct line_view *ret_view)
{
    struct lines *lines = block_lines_of(block);
    lines_view(lines, number_of(lines, line), ret_view);
}

void block_line_text(const struct block *block, size_t line, struct strbuf *out)
{
    struct line_view view;
    if (line >= block_lines(block))
        return;
    if (block->grid) {
        grid_row_text(block->grid, (int)line, false, out);
        return;
    }
    view_line(block, line, &view);
    strbuf_add(out, view.size ? view.text : "", view.size);
}

size_t block_row_of_line(struct block *block, int columns, size_t line)
{
    struct lines *lines = &block->lines;
    if (block->grid)
        return clip(line, (size_t)grid_rows(block->grid));
    return rows_of_line(&block->rows, lines, columns, number_of(lines, line));
}

size_t block_line_of_row(struct block *block, int columns, size_t row)
{
    struct pages *pages = &block->lines.pages;
    uint64_t number;
    size_t within;
    if (block->grid)
        return clip(row, (size_t)grid_rows(block->grid));
    while (!rows_find(&block->rows, &block->lines, columns, row, &number, &within))
        row++; /* what comes behind the gap */
    size_t line = number >= pages->next ? pages_lines(pages) + (size_t)(number - pages->next)
                                        : pages_kept(pages, number);
    return clip(line, count_lines(block));
}

/* ---- text ----------------------------------------------------------------------------------- */

void block_add_styled(const struct line_view *view, struct strbuf *out)
{
    static const struct block_style none;
    struct block_style now = none;
    struct run_reader reader;
    runs_start(&reader, view);
    for (uint32_t at = 0; at < view->size;) {
        runs_to(&reader, at);
        if (!style_equal(&now, &reader.style)) {
            now = reader.style;
            sgr_write(out, &now);
        }
        uint32_t end = reader.next < view->size ? reader.next : view->size;
        strbuf_add(out, view->text + at, end - at);
        at = end;
    }
    if (!style_equal(&now, &none))
        strbuf_adds(out, "\x1b[0m");
}

static void add_line(const struct line_view *view, bool styled, struct strbuf *out)
{
    if (styled)
        block_add_styled(view, out);
    else if (view->size)
        strbuf_add(out, view->text, view->size);
}

static void add_grid(const struct block *block, bool styled, struct strbuf *out)
{
    struct strbuf text = STRBUF_INIT;
    grid_text(block->grid, styled, &text);
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] != '\r')
            strbuf_addc(out, text.data[i]);
    strbuf_free(&text);
}

/* While a program has the screen: as it would be if the cell ended now. */
void block_text(const struct block *block, bool styled, struct strbuf *out)
{
    const struct pages *pages = &block->lines.pages;
    size_t count = count_lines(block), gap = SIZE_MAX;
    if (pages->dropped)
        gap = pages_gap(pages);
    for (size_t i = 0; i < count; i++) {
        struct line_view view;
        view_line(block, i, &view);
        if (i && !(view.flags & LINE_CONTINUED && i != gap))
            strbuf_addc(out, '\n');
        if (i == gap) {
            add_gap(pages, out);
            strbuf_addc(out, '\n');
        }
        add_line(&view, styled, out);
    }
    if (count)
        strbuf_addc(out, '\n');
    if (block->grid)
        add_grid(block, styled, out);
}
