/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "block.h"

#include <stdlib.h>

#include "block-internal.h"
#include "xalloc.h"

/* Written to a grid at once: what scrolls off in the meantime is held twice. */
#define GRID_PIECE_BYTES ((size_t)32 << 10)

struct block *block_new(size_t limit_bytes)
{
    struct block *block = xcalloc(1, sizeof(*block));
    if (!limit_bytes)
        limit_bytes = BLOCK_LIMIT_BYTES;
    lines_init(&block->lines,
               limit_bytes > BLOCK_LIMIT_MIN_BYTES ? limit_bytes : BLOCK_LIMIT_MIN_BYTES);
    block->parser.answers = &block->answers;
    return block;
}

void block_free(struct block *block)
{
    if (!block)
        return;
    grid_free(block->grid);
    block_images_free(&block->images);
    lines_free(&block->lines);
    rows_free(&block->rows);
    strbuf_free(&block->last_screen);
    strbuf_free(&block->answers);
    free(block);
}

static int within(int value, int max)
{
    return value < 1 ? 1 : value > max ? max : value;
}

void block_resize(struct block *block, int columns, int rows)
{
    struct lines *lines = &block->lines;
    columns = within(columns, BLOCK_COLUMNS_MAX);
    rows = within(rows, BLOCK_ROWS_MAX);
    if (columns == lines->window_columns && rows == lines->window_rows)
        return;
    lines_resize(lines, columns, rows);
    if (block->grid)
        grid_resize(block->grid, columns, rows);
    block->version++;
}

/* ---- grids ---------------------------------------------------------------------------------- */

void block_write_styled(struct block *block, const struct strbuf *text)
{
    static const struct block_style none;
    struct strbuf ignored = STRBUF_INIT;
    struct parser parser = {.answers = &ignored};
    struct block_style style = block->lines.style;
    block->lines.style = none;
    parse(&parser, &block->lines, strbuf_text(text), text->size);
    block->lines.style = style;
    strbuf_free(&ignored);
}

static void take_scrolled(struct block *block)
{
    struct strbuf text = STRBUF_INIT;
    grid_take_scrolled(block->grid, &text);
    block_write_styled(block, &text);
    strbuf_free(&text);
}

static void feed_grid(struct block *block, const struct strbuf *text)
{
    grid_write(block->grid, strbuf_text(text), text->size, &block->last_screen);
}

/* What lines know of modes, the grid must know, too. */
static void pass_modes(struct block *block)
{
    const struct parser *parser = &block->parser;
    struct strbuf text = STRBUF_INIT;
    if (parser->modes & BLOCK_MODE_CURSOR_KEYS)
        strbuf_adds(&text, "\x1b[?1h");
    if (parser->modes & BLOCK_MODE_PASTE)
        strbuf_adds(&text, "\x1b[?2004h");
    if (parser->modes & MODE_CURSOR_HIDDEN)
        strbuf_adds(&text, "\x1b[?25l");
    if (parser->region_top)
        strbuf_addf(&text, "\x1b[%u;%ur", parser->region_top, parser->region_bottom);
    feed_grid(block, &text);
    strbuf_free(&text);
}

/* The lines that a terminal would still show become the grid. */
static void move_screen(struct block *block)
{
    struct lines *lines = &block->lines;
    struct strbuf text = STRBUF_INIT;
    uint64_t number = lines->top > lines->pages.next ? lines->top : lines->pages.next;
    for (; number < lines->pages.next + lines->count; number++) {
        struct line_view view;
        lines_view(lines, number, &view);
        block_add_styled(&view, &text);
        if (number + 1 < lines->pages.next + lines->count)
            strbuf_adds(&text, "\r\n");
    }
    lines_take_screen(lines);
    feed_grid(block, &text);
    strbuf_free(&text);
}

/* After all else, since a scroll region sets the cursor back. */
static void place_cursor(struct block *block)
{
    struct strbuf text = STRBUF_INIT;
    sgr_write(&text, &block->lines.style);
    strbuf_addf(&text, "\x1b[%u;%uH", block->parser.away_row, block->parser.away_column);
    feed_grid(block, &text);
    strbuf_free(&text);
}

static void start_grid(struct block *block)
{
    struct parser *parser = &block->parser;
    struct lines *lines = &block->lines;
    bool alternate = parser->wish == WISH_ALTERNATE;
    block->grid = grid_new(lines->window_columns, lines->window_rows, alternate);
    strbuf_clear(&block->last_screen);
    if (!alternate)
        move_screen(block);
    pass_modes(block);
    if (!alternate)
        place_cursor(block);
    if (parser->sequence_size && parser->sequence_size <= PARSE_SEQUENCE_BYTES)
        grid_write(block->grid, parser->sequence, parser->sequence_size, &block->last_screen);
    else if (alternate)
        grid_write(block->grid, "\x1b[?1049h", 8, &block->last_screen);
    parse_reset(parser);
}

static void stop_grid(struct block *block)
{
    block->parser.modes = grid_modes(block->grid);
    grid_take_answers(block->grid, &block->answers);
    grid_free(block->grid);
    block->grid = NULL;
}

/* A program left the alternate screen: what it showed waits whether anything else comes. */
static void leave_grid(struct block *block)
{
    stop_grid(block);
    block->lines.wrote = false;
}

static size_t write_grid(struct block *block, const char *data, size_t size)
{
    size_t piece = size < GRID_PIECE_BYTES ? size : GRID_PIECE_BYTES;
    size_t taken = grid_write(block->grid, data, piece, &block->last_screen);
    take_scrolled(block);
    if (grid_has_left(block->grid))
        leave_grid(block);
    return taken;
}

/* ---- writing -------------------------------------------------------------------------------- */

void block_write(struct block *block, const char *data, size_t size)
{
    if (!size)
        return;
    while (size) {
        size_t taken;
        if (block->grid)
            taken = write_grid(block, data, size);
        else
            taken = parse(&block->parser, &block->lines, data, size);
        if (block->parser.wish != WISH_NONE)
            start_grid(block);
        data += taken;
        size -= taken;
    }
    block->version++;
}

void block_end(struct block *block)
{
    struct lines *lines = &block->lines;
    bool keep = block->grid || (block->last_screen.size && !lines->wrote);
    if (block->grid) {
        strbuf_clear(&block->last_screen);
        grid_text(block->grid, true, &block->last_screen);
        stop_grid(block);
    }
    if (keep) {
        lines_fresh(lines);
        block_write_styled(block, &block->last_screen);
    }
    strbuf_free(&block->last_screen);
    parse_reset(&block->parser);
    block->parser.modes = 0;
    lines_freeze(lines);
    block->version++;
}

uint64_t block_version(const struct block *block)
{
    return block->version;
}

void block_take_answers(struct block *block, struct strbuf *out)
{
    if (block->grid)
        grid_take_answers(block->grid, out);
    strbuf_add(out, strbuf_text(&block->answers), block->answers.size);
    strbuf_clear(&block->answers);
}

unsigned block_modes(const struct block *block)
{
    if (block->grid)
        return grid_modes(block->grid);
    return block->parser.modes & (BLOCK_MODE_CURSOR_KEYS | BLOCK_MODE_PASTE);
}
