/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "block-lines.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "char-width.h"
#include "utf8.h"
#include "xalloc.h"

static const struct block_style default_style;

/* ---- the live lines ------------------------------------------------------------------------- */

struct line *lines_at(const struct lines *lines, size_t row)
{
    return &lines->ring[(lines->first + row) & (lines->capacity - 1)];
}

uint64_t lines_number(const struct lines *lines, size_t row)
{
    return lines->pages.next + row;
}

static struct line *current(const struct lines *lines)
{
    return lines_at(lines, lines->row);
}

/* Memory of a line that is gone stays for the next one while it is little. */
static void recycle(struct lines *lines, struct line *line)
{
    enum { KEEP_BYTES = 512 };
    if (line->text_capacity + line->runs_capacity > KEEP_BYTES || line->cells ||
        lines->live_bytes > lines->live_limit / 2)
        line_release(lines, line);
    else
        line_clear(lines, line);
    line->flags = LINE_ASCII;
}

static void freeze_first(struct lines *lines)
{
    struct line *line = lines_at(lines, 0);
    line_sync(lines, line);
    struct line_view view = {line->text,      line->runs,  line->size,
                             line->runs_size, line->width, line->flags};
    pages_add(&lines->pages, &view);
    recycle(lines, line);
    lines->first = (lines->first + 1) & (lines->capacity - 1);
    lines->count--;
    if (lines->row)
        lines->row--;
}

static void grow_ring(struct lines *lines)
{
    size_t capacity = lines->capacity ? lines->capacity * 2 : 4;
    struct line *ring = xcalloc(capacity, sizeof(*ring));
    for (size_t i = 0; i < lines->capacity; i++)
        ring[i] = *lines_at(lines, i);
    for (size_t i = lines->capacity; i < capacity; i++)
        ring[i].flags = LINE_ASCII;
    free(lines->ring);
    lines->ring = ring;
    lines->capacity = capacity;
    lines->first = 0;
}

/* A line at the end. The first ones freeze when there are too many, or too large. */
static void push_line(struct lines *lines)
{
    if (lines->count >= BLOCK_LIVE_LINES)
        freeze_first(lines);
    while (lines->live_bytes > lines->live_limit && lines->count > 1) {
        size_t before = lines->live_bytes;
        freeze_first(lines);
        if (lines->live_bytes == before && lines->count < BLOCK_LIVE_LINES / 8)
            break; /* it is the last line that is large */
    }
    pages_enforce(&lines->pages, lines->live_bytes + lines->capacity * sizeof(*lines->ring));
    if (lines->count == lines->capacity)
        grow_ring(lines);
    lines->count++;
}

void lines_truncate(struct lines *lines, size_t count)
{
    while (lines->count > count)
        recycle(lines, lines_at(lines, --lines->count));
}

static void follow_cursor(struct lines *lines)
{
    uint64_t number = lines_number(lines, lines->row);
    uint64_t rows = (uint64_t)lines->window_rows;
    if (number >= lines->top + rows)
        lines->top = number - rows + 1;
}

void lines_erase_frozen(struct lines *lines)
{
    uint64_t top = lines->top;
    while (lines->row && lines_number(lines, 0) < top)
        freeze_first(lines);
    pages_erase(&lines->pages);
}

void lines_resize(struct lines *lines, int window_columns, int window_rows)
{
    lines->window_columns = window_columns;
    lines->window_rows = window_rows;
    follow_cursor(lines);
}

void lines_init(struct lines *lines, size_t limit_bytes)
{
    *lines = (struct lines){.window_columns = 80, .window_rows = 24};
    lines->live_limit = limit_bytes / 4;
    pages_init(&lines->pages, limit_bytes);
    push_line(lines);
}

void lines_free(struct lines *lines)
{
    for (size_t i = 0; i < lines->capacity; i++)
        line_release(lines, &lines->ring[i]);
    free(lines->ring);
    lines->ring = NULL;
    lines->capacity = 0;
    pages_free(&lines->pages);
}

void lines_freeze(struct lines *lines)
{
    size_t count = lines_live_count(lines);
    lines_truncate(lines, count ? count : 1);
    while (count-- > 0)
        freeze_first(lines);
    for (size_t i = 0; i < lines->capacity; i++)
        line_release(lines, &lines->ring[i]);
    free(lines->ring);
    lines->ring = NULL;
    lines->capacity = lines->first = lines->count = lines->row = 0;
    lines->live_bytes = 0;
    lines->column = lines->marks = 0;
    lines->style = default_style;
    lines->saved = (struct cursor){.number = lines->pages.next};
    lines->top = lines->pages.next;
    pages_trim(&lines->pages);
    pages_enforce(&lines->pages, 0);
    push_line(lines);
}

static bool is_empty(struct lines *lines, size_t row)
{
    struct line *line = lines_at(lines, row);
    line_sync(lines, line);
    return !line->size;
}

size_t lines_live_count(struct lines *lines)
{
    size_t count = lines->count;
    while (count > lines->row && is_empty(lines, count - 1))
        count--;
    return count;
}

void lines_view(struct lines *lines, uint64_t number, struct line_view *ret_view)
{
    if (number < lines->pages.next) {
        const struct page *page = pages_find(&lines->pages, number);
        page_line(page, (uint32_t)(number - page->first), ret_view);
        return;
    }
    struct line *line = lines_at(lines, (size_t)(number - lines->pages.next));
    line_sync(lines, line);
    *ret_view = (struct line_view){line->text,      line->runs,  line->size,
                                   line->runs_size, line->width, line->flags};
}

/* ---- writing -------------------------------------------------------------------------------- */

void lines_newline(struct lines *lines)
{
    lines_down(lines);
    lines->column = 0;
}

void lines_down(struct lines *lines)
{
    if (lines->row + 1 == lines->count)
        push_line(lines);
    if (lines->row + 1 < lines->count)
        lines->row++;
    lines->marks = 0;
    follow_cursor(lines);
}

void lines_fresh(struct lines *lines)
{
    size_t live = lines_live_count(lines);
    if (live < lines->count) {
        lines->row = live;
        lines_truncate(lines, live + 1);
    } else {
        lines->row = live - 1;
        lines_newline(lines);
    }
    lines->column = lines->marks = 0;
}

/* The last line is full: the text goes on in a new one. Elsewhere there is no room for it. */
static bool continue_line(struct lines *lines)
{
    if (lines->row + 1 < lines->count)
        return false;
    lines_newline(lines);
    current(lines)->flags |= LINE_CONTINUED;
    return true;
}

/* Blanks up to the cursor: what was jumped over. */
static void append_gap(struct lines *lines, struct line *line)
{
    static const char blanks[] = "                                ";
    while (line->width < lines->column) {
        uint32_t count = lines->column - line->width;
        if (count > sizeof(blanks) - 1)
            count = sizeof(blanks) - 1;
        line_append(lines, line, blanks, count, &default_style);
        line->width += count;
    }
}

/* The current line grows at its end: nothing is overwritten. */
static bool is_append(const struct lines *lines, const struct line *line)
{
    return !line->edited && lines->column >= line->width;
}

static void overwrite_ascii(struct lines *lines, struct line *line, const char *text, size_t size)
{
    uint32_t end = lines->column + (uint32_t)size;
    line_pad(lines, line, end, &default_style);
    line_blank(line, lines->column, end, &lines->style);
    for (size_t i = 0; i < size; i++)
        line->cells[lines->column + i].code = (unsigned char)text[i];
    lines->column = end;
}

void lines_put_ascii(struct lines *lines, const char *text, size_t size)
{
    lines->marks = 0;
    lines->wrote = true;
    while (size) {
        struct line *line = current(lines);
        bool append = is_append(lines, line);
        if (append)
            append_gap(lines, line);
        else
            line_edit(lines, line);
        size_t used = append ? line->size : lines->column;
        size_t count = used < BLOCK_LINE_BYTES ? BLOCK_LINE_BYTES - used : 0;
        if (count > size)
            count = size;
        if (!count) {
            if (!continue_line(lines))
                return;
            continue;
        }
        if (append) {
            line_append(lines, line, text, count, &lines->style);
            line->width += (uint32_t)count;
            line->flags &= (uint8_t)~LINE_FIXED;
            lines->column = line->width;
        } else {
            overwrite_ascii(lines, line, text, count);
        }
        text += count;
        size -= count;
    }
}

/* A mark joins the character before it; there may be CELL_MARKS, and none without a character. */
static void put_mark(struct lines *lines, uint32_t code)
{
    struct line *line = current(lines);
    if (!lines->column || lines->marks >= CELL_MARKS)
        return;
    if (!line->edited && lines->column == line->width) {
        char bytes[4];
        size_t size = utf8_encode(code, bytes);
        struct block_style style = line->last;
        line_append(lines, line, bytes, size, &style);
        line->flags &= (uint8_t)~LINE_ASCII;
        lines->marks++;
    } else if (line->edited || lines->column < line->width) {
        line_edit(lines, line);
        line_mark(line, lines->column, code);
    }
}

void lines_put(struct lines *lines, uint32_t code)
{
    code = char_shown(code);
    if (!code)
        return;
    int width = char_width(code);
    lines->wrote = true;
    if (width == 0) {
        put_mark(lines, code);
        return;
    }
    struct line *line = current(lines);
    lines->marks = 0;
    bool append = is_append(lines, line);
    if (append)
        append_gap(lines, line);
    else
        line_edit(lines, line);
    if ((append ? line->size : lines->column) + 4 > BLOCK_LINE_BYTES) {
        if (continue_line(lines))
            lines_put(lines, code);
        return;
    }
    if (append) {
        char bytes[4];
        size_t size = utf8_encode(code, bytes);
        line_append(lines, line, bytes, size, &lines->style);
        line->width += (uint32_t)width;
        line->flags &= (uint8_t) ~(LINE_FIXED | (size > 1 ? LINE_ASCII : 0));
        line->flags |= width == 2 ? LINE_WIDE : 0;
    } else {
        line_set(lines, line, lines->column, code, width, &lines->style);
    }
    lines->column += (uint32_t)width;
}
