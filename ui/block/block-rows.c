/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "block-rows.h"

#include <stdlib.h>
#include <string.h>

#include "char-width.h"
#include "xalloc.h"

void rows_free(struct rows *rows)
{
    free(rows->start);
    rows->start = NULL;
    rows->capacity = 0;
    rows->valid = false;
}

/* ---- one line ------------------------------------------------------------------------------- */

struct character {
    uint32_t code;
    int width;
    uint32_t end; /* offset behind it and the marks that belong to it */
};

/* What is kept is well-formed. */
static inline uint32_t decode(const unsigned char *bytes, uint32_t *ret_size)
{
    if (bytes[0] < 0x80) {
        *ret_size = 1;
        return bytes[0];
    }
    if (bytes[0] < 0xE0) {
        *ret_size = 2;
        return (bytes[0] & 0x1Fu) << 6 | (bytes[1] & 0x3Fu);
    }
    if (bytes[0] < 0xF0) {
        *ret_size = 3;
        return (bytes[0] & 0x0Fu) << 12 | (bytes[1] & 0x3Fu) << 6 | (bytes[2] & 0x3Fu);
    }
    *ret_size = 4;
    return (bytes[0] & 0x07u) << 18 | (bytes[1] & 0x3Fu) << 12 | (bytes[2] & 0x3Fu) << 6 |
           (bytes[3] & 0x3Fu);
}

static inline void read_character(const struct line_view *view, uint32_t at, struct character *ret)
{
    const unsigned char *bytes = (const unsigned char *)view->text;
    uint32_t size, mark_size;
    ret->code = decode(bytes + at, &size);
    ret->width = ret->code < 0x80 ? 1 : char_width(ret->code);
    ret->end = at + size;
    while (ret->end < view->size && bytes[ret->end] >= 0x80 &&
           char_width(decode(bytes + ret->end, &mark_size)) == 0)
        ret->end += mark_size;
}

/* From the beginning of a row to that of the next one. A mark is of no width wherever it is. */
static uint32_t skip_row(const struct line_view *view, int columns, uint32_t at)
{
    const unsigned char *bytes = (const unsigned char *)view->text;
    int column = 0;
    while (at < view->size) {
        uint32_t size, code = decode(bytes + at, &size);
        int width = code < 0x80 ? 1 : char_width(code);
        if (column && column + width > columns)
            break;
        column += width;
        at += size;
    }
    return at;
}

static size_t line_rows(const struct line_view *view, int columns)
{
    if (columns <= 0 || view->flags & LINE_FIXED || view->width <= (uint32_t)columns)
        return 1;
    if (!(view->flags & LINE_WIDE))
        return (view->width - 1) / (uint32_t)columns + 1;
    size_t count = 0;
    for (uint32_t at = 0; at < view->size; count++)
        at = skip_row(view, columns, at);
    return count;
}

size_t rows_of_column(const struct line_view *view, int columns, uint32_t column, int *ret_column)
{
    *ret_column = (int)column;
    if (columns <= 0 || view->flags & LINE_FIXED)
        return 0;
    uint32_t width = (uint32_t)columns;
    if (!(view->flags & LINE_WIDE)) {
        size_t last = line_rows(view, columns) - 1, row = column / width;
        *ret_column = row > last ? columns - 1 : (int)(column % width); /* behind its end */
        return row > last ? last : row;
    }
    size_t row = 0;
    uint32_t in_row = 0, at = 0, seen = 0;
    while (at < view->size && seen < column) {
        struct character character;
        read_character(view, at, &character);
        if (in_row && in_row + (uint32_t)character.width > width) {
            row++;
            in_row = 0;
        }
        in_row += (uint32_t)character.width;
        seen += (uint32_t)character.width;
        at = character.end;
    }
    in_row += column > seen ? column - seen : 0;
    *ret_column = (int)(in_row < width ? in_row : width - 1);
    return row;
}

/* ---- sums ----------------------------------------------------------------------------------- */

static size_t page_rows(struct page *page, int columns)
{
    if (page->columns == columns)
        return page->rows;
    page->rows = 0;
    for (uint32_t i = 0; i < page->count; i++) {
        struct line_view view;
        page_line(page, i, &view);
        page->rows += line_rows(&view, columns);
    }
    page->columns = columns;
    return page->rows;
}

static bool has_gap(const struct lines *lines)
{
    return lines->pages.dropped > 0;
}

/* Frozen rows with the gap. */
static size_t sum_up(struct rows *rows, struct lines *lines, int columns)
{
    const struct pages *pages = &lines->pages;
    if (rows->valid && rows->columns == columns && rows->changes == pages->changes)
        return rows->start[pages->count];
    if (rows->capacity < pages->count + 1) {
        rows->capacity = pages->count * 2 + 1;
        rows->start = xrealloc(rows->start, rows->capacity * sizeof(*rows->start));
    }
    size_t sum = 0;
    for (size_t i = 0; i < pages->count; i++) {
        sum += has_gap(lines) && i == pages->head;
        rows->start[i] = sum;
        sum += page_rows(pages->list[i], columns);
    }
    sum += has_gap(lines) && pages->head == pages->count;
    rows->start[pages->count] = sum;
    rows->columns = columns;
    rows->changes = pages->changes;
    rows->valid = true;
    return sum;
}

static size_t live_rows(struct lines *lines, size_t row, int columns)
{
    struct line_view view;
    lines_view(lines, lines_number(lines, row), &view);
    return line_rows(&view, columns);
}

size_t rows_count(struct rows *rows, struct lines *lines, int columns)
{
    size_t sum = sum_up(rows, lines, columns), live = lines_live_count(lines);
    for (size_t i = 0; i < live; i++)
        sum += live_rows(lines, i, columns);
    return sum;
}

size_t rows_gap(struct rows *rows, struct lines *lines, int columns)
{
    const struct pages *pages = &lines->pages;
    if (!has_gap(lines))
        return SIZE_MAX;
    sum_up(rows, lines, columns);
    return rows->start[pages->head] - 1;
}

static void find_in_page(const struct page *page, int columns, size_t row, uint64_t *ret_number,
                         size_t *ret_within)
{
    for (uint32_t i = 0; i < page->count; i++) {
        struct line_view view;
        page_line(page, i, &view);
        size_t count = line_rows(&view, columns);
        if (row < count || i + 1 == page->count) {
            *ret_number = page->first + i;
            *ret_within = row;
            return;
        }
        row -= count;
    }
}

bool rows_find(struct rows *rows, struct lines *lines, int columns, size_t row,
               uint64_t *ret_number, size_t *ret_within)
{
    const struct pages *pages = &lines->pages;
    size_t frozen = sum_up(rows, lines, columns);
    if (row == rows_gap(rows, lines, columns))
        return false;
    if (row < frozen) {
        size_t low = 0, high = pages->count;
        while (high - low > 1) {
            size_t middle = low + (high - low) / 2;
            if (rows->start[middle] <= row)
                low = middle;
            else
                high = middle;
        }
        find_in_page(pages->list[low], columns, row - rows->start[low], ret_number, ret_within);
        return true;
    }
    row -= frozen;
    size_t last = lines->count - 1, at = 0;
    for (; at < last; at++) {
        size_t count = live_rows(lines, at, columns);
        if (row < count)
            break;
        row -= count;
    }
    *ret_number = lines_number(lines, at);
    *ret_within = row;
    return true;
}

size_t rows_of_line(struct rows *rows, struct lines *lines, int columns, uint64_t number)
{
    const struct pages *pages = &lines->pages;
    size_t row = sum_up(rows, lines, columns);
    if (number >= pages->next) {
        for (size_t i = 0; i < number - pages->next && i < lines->count; i++)
            row += live_rows(lines, i, columns);
        return row;
    }
    const struct page *page = pages_find(pages, number);
    size_t index = 0;
    while (pages->list[index] != page)
        index++;
    row = rows->start[index];
    for (uint32_t i = 0; page->first + i < number; i++) {
        struct line_view view;
        page_line(page, i, &view);
        row += line_rows(&view, columns);
    }
    return row;
}

/* ---- cells of a row ------------------------------------------------------------------------- */

/* The offset at which a row of a line begins. */
static uint32_t row_offset(struct rows *rows, const struct line_view *view, int columns,
                           const struct row_place *wanted)
{
    if (columns <= 0 || !wanted->row || view->flags & LINE_FIXED)
        return 0;
    if (view->flags & LINE_ASCII) {
        size_t offset = wanted->row * (size_t)columns;
        return offset < view->size ? (uint32_t)offset : view->size;
    }
    struct row_place *place = &rows->place, at = *wanted;
    at.row = at.offset = 0;
    if (place->number == at.number && place->version == at.version && place->columns == columns &&
        place->row <= wanted->row)
        at = *place;
    for (; at.row < wanted->row && at.offset < view->size; at.row++)
        at.offset = skip_row(view, columns, at.offset);
    *place = at;
    return at.offset;
}

static void blank_cells(struct block_cell *cells, size_t count)
{
    static const struct block_cell blank = {.characters = {' '}, .width = 1};
    for (size_t i = 0; i < count; i++)
        cells[i] = blank;
}

static void fill_cell(const struct line_view *view, uint32_t at, const struct character *character,
                      const struct block_style *style, struct block_cell *cell)
{
    uint32_t offset = at;
    memset(cell->characters, 0, sizeof(cell->characters));
    cell->width = (uint8_t)character->width;
    cell->style = *style;
    for (size_t i = 0; i < BLOCK_CELL_CHARACTERS && offset < character->end; i++) {
        uint32_t size;
        cell->characters[i] = decode((const unsigned char *)view->text + offset, &size);
        offset += size;
    }
}

/* The window on a row into which characters are put: columns `left` to `left` + `count`. */
struct window {
    struct block_cell *cells;
    size_t left, count;
};

/* A wide character of which the window shows one half only is a blank. */
static void put_character(const struct window *window, const struct line_view *view, uint32_t at,
                          const struct character *character, const struct block_style *style,
                          size_t column)
{
    size_t end = window->left + window->count;
    if (column >= window->left && column + (size_t)character->width <= end) {
        struct block_cell *cell = &window->cells[column - window->left];
        fill_cell(view, at, character, style, cell);
        if (character->width == 2)
            cell[1] = (struct block_cell){.style = *style};
    } else if (column < end && column + (size_t)character->width > window->left) {
        size_t seen = column < window->left ? window->left : column;
        window->cells[seen - window->left].style = *style;
    }
}

size_t rows_fill(struct rows *rows, struct lines *lines, int columns, uint64_t number,
                 size_t within, uint64_t version, size_t left, struct block_cell *cells,
                 size_t count)
{
    struct line_view view;
    struct run_reader reader;
    struct window window = {cells, left, count};
    struct row_place place = {number, version, columns, within, 0};
    lines_view(lines, number, &view);
    blank_cells(cells, count);
    uint32_t at = row_offset(rows, &view, columns, &place);
    size_t column = 0, limit = columns > 0 ? (size_t)columns : SIZE_MAX;
    bool all = columns <= 0 || view.flags & LINE_FIXED; /* the whole width is known */
    if (view.flags & LINE_ASCII && left) {
        size_t skip = left < view.size - at ? left : view.size - at;
        skip = skip < limit ? skip : limit;
        at += (uint32_t)skip;
        column = skip;
    }
    runs_start(&reader, &view);
    while (at < view.size && !(all && column >= left + count)) {
        struct character character;
        read_character(&view, at, &character);
        if (column && column + (size_t)character.width > limit)
            break;
        if (column + (size_t)character.width > left && column < left + count) {
            runs_to(&reader, at);
            put_character(&window, &view, at, &character, &reader.style, column);
        }
        column += (size_t)character.width;
        at = character.end;
    }
    size_t width = all ? view.width : column;
    return width < limit ? width : limit;
}
