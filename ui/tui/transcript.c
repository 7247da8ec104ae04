/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "glyph.h"
#include "transcript.h"
#include "tui-internal.h"
#include "xalloc.h"

/* Room at the right of a cell's source for its time and mark. */
#define OUTCOME_COLUMNS 12

/* Kept in repl_cell.view: what was measured, and for what it holds. */
struct cell_view {
    enum transcript_fold fold;
    int unwrapped; /* 1 + columns that are scrolled away; 0: lines are wrapped */
    int columns;
    size_t source_rows;
    int output_columns;
    uint64_t version;
    size_t output_rows;
};

struct transcript_view *transcript_view(struct repl_session *session)
{
    if (!session->view) {
        struct transcript_view *view = xcalloc(1, sizeof(*view));
        view->follows = true;
        view->mark = SIZE_MAX;
        session->view = view;
    }
    return session->view;
}

static struct cell_view *cell_view(struct repl_cell *cell)
{
    if (!cell->view)
        cell->view = xcalloc(1, sizeof(struct cell_view));
    return cell->view;
}

enum transcript_fold transcript_fold(const struct repl_item *item)
{
    return item->cell ? cell_view(item->cell)->fold : FOLD_AUTO;
}

void transcript_set_fold(struct repl_item *item, enum transcript_fold fold)
{
    if (!item->cell)
        return;
    cell_view(item->cell)->fold = fold;
    item->cell->folded = fold == FOLD_CLOSED;
}

int transcript_left(const struct repl_item *item)
{
    return item->cell ? cell_view(item->cell)->unwrapped - 1 : -1;
}

void transcript_set_left(struct repl_item *item, int left)
{
    if (item->cell)
        cell_view(item->cell)->unwrapped = left < 0 ? 0 : left + 1;
}

/*
 * ---- widths ------------------------------------------------------------------------------------
 */

int transcript_prefix(const struct repl_cell *cell)
{
    char text[32];
    int columns = snprintf(text, sizeof(text), "[%u] ", cell->number);
    return columns > TUI_INDENT ? columns : TUI_INDENT;
}

int transcript_source_columns(const struct repl_cell *cell, int columns)
{
    int rest = columns - transcript_prefix(cell) - OUTCOME_COLUMNS;
    return rest > 8 ? rest : 8;
}

int transcript_output_columns(int columns)
{
    return columns - TUI_INDENT > 8 ? columns - TUI_INDENT : 8;
}

size_t transcript_source_row(const struct repl_cell *cell, int columns, size_t at, size_t *ret_next)
{
    const char *text = cell->source + at;
    size_t rest = cell->source_size - at;
    const char *end = memchr(text, '\n', rest);
    size_t line = end ? (size_t)(end - text) : rest;
    size_t fits = glyph_fit(text, line, transcript_source_columns(cell, columns));
    if (fits == 0 && line > 0) { /* a character that is wider than the row */
        struct glyph glyph;
        glyph_at(text, line, 0, &glyph);
        fits = glyph.size;
    }
    *ret_next = at + fits + (fits == line && end ? 1 : 0);
    return fits;
}

/* Blank lines at the end are not shown. */
static size_t shown_source(const struct repl_cell *cell)
{
    size_t size = cell->source ? cell->source_size : 0;
    while (size && (cell->source[size - 1] == '\n' || cell->source[size - 1] == ' '))
        size--;
    return size;
}

static size_t count_source(const struct repl_cell *cell, int columns)
{
    size_t rows = 0, size = shown_source(cell);
    for (size_t at = 0; at < size; rows++)
        transcript_source_row(cell, columns, at, &at);
    return rows ? rows : 1;
}

/*
 * ---- one item
 * ------------------------------------------------------------------------------------
 */

static const struct cell_view *measured(struct repl_cell *cell, int columns)
{
    struct cell_view *view = cell_view(cell);
    if (view->columns != columns) {
        view->columns = columns;
        view->source_rows = count_source(cell, columns);
        view->output_columns = -1;
    }
    int output_columns = view->unwrapped ? 0 : transcript_output_columns(columns);
    uint64_t version = block_version(cell->output);
    if (view->output_columns != output_columns || view->version != version) {
        view->output_rows =
            block_is_empty(cell->output) ? 0 : block_rows(cell->output, output_columns);
        view->output_columns = output_columns;
        view->version = version;
    }
    return view;
}

static size_t source_shown(const struct cell_view *view)
{
    bool cut = view->fold != FOLD_OPEN && view->source_rows > TRANSCRIPT_SOURCE_ROWS;
    return cut ? TRANSCRIPT_SOURCE_ROWS : view->source_rows;
}

static bool output_is_cut(const struct repl_cell *cell, const struct cell_view *view)
{
    return view->fold == FOLD_AUTO && !block_has_screen(cell->output) &&
           view->output_rows > TRANSCRIPT_HEAD_ROWS + TRANSCRIPT_TAIL_ROWS + 1;
}

static size_t output_shown(const struct repl_cell *cell, const struct cell_view *view)
{
    if (view->fold == FOLD_CLOSED)
        return view->output_rows ? 1 : 0;
    return output_is_cut(cell, view) ? TRANSCRIPT_HEAD_ROWS + 1 + TRANSCRIPT_TAIL_ROWS
                                     : view->output_rows;
}

bool transcript_is_cut(struct repl_item *item, int columns)
{
    if (!item->cell)
        return false;
    const struct cell_view *view = measured(item->cell, columns);
    return view->source_rows > TRANSCRIPT_SOURCE_ROWS ||
           view->output_rows > TRANSCRIPT_HEAD_ROWS + TRANSCRIPT_TAIL_ROWS + 1;
}

size_t transcript_rows(struct repl_item *item, int columns)
{
    if (!item->cell)
        return 1;
    const struct cell_view *view = measured(item->cell, columns);
    return source_shown(view) + output_shown(item->cell, view);
}

struct transcript_row transcript_row(struct repl_item *item, int columns, size_t row)
{
    if (!item->cell)
        return (struct transcript_row){PART_RULE, 0, 0};
    const struct cell_view *view = measured(item->cell, columns);
    size_t source = source_shown(view);
    if (row + 1 == source && source < view->source_rows)
        return (struct transcript_row){PART_SOURCE_MORE, row, view->source_rows - source + 1};
    if (row < source)
        return (struct transcript_row){PART_SOURCE, row, 0};
    row -= source;
    if (view->fold == FOLD_CLOSED)
        return (struct transcript_row){PART_FOLD, 0, view->output_rows};
    if (!output_is_cut(item->cell, view) || row < TRANSCRIPT_HEAD_ROWS)
        return (struct transcript_row){PART_OUTPUT, row, 0};
    size_t hidden = view->output_rows - TRANSCRIPT_HEAD_ROWS - TRANSCRIPT_TAIL_ROWS;
    if (row == TRANSCRIPT_HEAD_ROWS)
        return (struct transcript_row){PART_FOLD, row, hidden};
    return (struct transcript_row){PART_OUTPUT, row - 1 + hidden, 0};
}

size_t transcript_row_of_output(struct repl_item *item, int columns, size_t output_row)
{
    if (!item->cell)
        return 0;
    const struct cell_view *view = measured(item->cell, columns);
    size_t source = source_shown(view);
    if (view->fold == FOLD_CLOSED)
        return source;
    if (!output_is_cut(item->cell, view) || output_row < TRANSCRIPT_HEAD_ROWS)
        return source + output_row;
    size_t hidden = view->output_rows - TRANSCRIPT_HEAD_ROWS - TRANSCRIPT_TAIL_ROWS;
    if (output_row < TRANSCRIPT_HEAD_ROWS + hidden)
        return source + TRANSCRIPT_HEAD_ROWS;
    return source + output_row - hidden + 1;
}

/*
 * ---- the window
 * ------------------------------------------------------------------------------------
 */

/*
 * The place `rows` above the end of everything, at most back to item `least`. Returns the rows in
 * between.
 */
static int from_end(struct repl_session *session, int columns, int rows, size_t least,
                    size_t *ret_item, size_t *ret_row)
{
    const struct transcript_view *view = transcript_view(session);
    size_t item = session->item_count, total = 0, wanted = (size_t)(rows > 0 ? rows : 0);
    if (view->end && view->end < item && view->end > least)
        item = view->end;
    while (item > least && total < wanted)
        total += transcript_rows(&session->items[--item], columns);
    *ret_item = item;
    *ret_row = total > wanted ? total - wanted : 0;
    return (int)(total > wanted ? wanted : total);
}

static size_t first_item(struct repl_session *session)
{
    const struct transcript_view *view = transcript_view(session);
    return view->first < session->item_count ? view->first : session->item_count;
}

/* What is kept in the view may be of a time when there were more items, or other rows. */
static void mend(struct repl_session *session, int columns)
{
    struct transcript_view *view = transcript_view(session);
    if (view->first > session->item_count)
        view->first = 0;
    if (view->floor < view->first || view->floor > session->item_count)
        view->floor = view->first;
    if (view->item < view->first)
        view->item = view->first, view->row = 0;
    if (view->item >= session->item_count)
        view->follows = true;
    else if (!view->follows && view->row >= transcript_rows(&session->items[view->item], columns))
        view->row = transcript_rows(&session->items[view->item], columns) - 1;
    if (view->chosen >= session->item_count)
        view->chosen = session->item_count ? session->item_count - 1 : 0;
    if (view->mark != SIZE_MAX && view->mark >= session->item_count)
        view->mark = SIZE_MAX;
}

/* Rows from a place on, counted up to `enough`. */
static int rows_from(struct repl_session *session, int columns, size_t item, size_t row, int enough)
{
    size_t total = 0;
    for (; item < session->item_count && total < (size_t)enough + row; item++)
        total += transcript_rows(&session->items[item], columns);
    total = total > row ? total - row : 0;
    return total < (size_t)enough ? (int)total : enough;
}

int transcript_window(struct repl_session *session, int columns, int rows, size_t *ret_item,
                      size_t *ret_row)
{
    struct transcript_view *view = transcript_view(session);
    mend(session, columns);
    if (view->follows)
        return from_end(session, columns, rows, view->floor, ret_item, ret_row);
    *ret_item = view->item;
    *ret_row = view->row;
    return rows_from(session, columns, view->item, view->row, rows);
}

static void move_up(struct repl_session *session, int columns, size_t by)
{
    struct transcript_view *view = transcript_view(session);
    while (by > view->row && view->item > first_item(session)) {
        by -= view->row;
        view->row = transcript_rows(&session->items[--view->item], columns);
    }
    view->row = by < view->row ? view->row - by : 0;
}

static void move_down(struct repl_session *session, int columns, size_t by)
{
    struct transcript_view *view = transcript_view(session);
    while (view->item < session->item_count) {
        size_t rows = transcript_rows(&session->items[view->item], columns);
        if (view->row + by < rows) {
            view->row += by;
            return;
        }
        by -= rows - view->row;
        view->item++;
        view->row = 0;
    }
}

void transcript_scroll(struct repl_session *session, int columns, int rows, int by)
{
    struct transcript_view *view = transcript_view(session);
    if (by == 0 || (by > 0 && view->follows))
        return;
    size_t item, row;
    transcript_window(session, columns, rows, &item, &row);
    if (item >= session->item_count) { /* an empty window: from its end */
        if (by > 0 || session->item_count <= first_item(session))
            return;
        item = session->item_count;
        row = 0;
    }
    view->item = item;
    view->row = row;
    view->follows = false;
    if (by < 0)
        move_up(session, columns, (size_t)-by);
    else
        move_down(session, columns, (size_t)by);
    if (by > 0 && rows_from(session, columns, view->item, view->row, rows + 1) <= rows)
        view->follows = true;
}

void transcript_show(struct repl_session *session, int columns, int rows, size_t item, size_t row)
{
    struct transcript_view *view = transcript_view(session);
    size_t at, at_row;
    int filled = transcript_window(session, columns, rows, &at, &at_row);
    for (int i = 0; i < filled && at < session->item_count; i++) {
        if (at == item && at_row == row)
            return;
        if (++at_row >= transcript_rows(&session->items[at], columns)) {
            at++;
            at_row = 0;
        }
    }
    view->item = item;
    view->row = row;
    view->follows = false;
    move_up(session, columns, (size_t)(rows / 2));
    if (rows_from(session, columns, view->item, view->row, rows + 1) <= rows) {
        view->follows = true;
        if (view->floor > item)
            view->floor = view->first;
    }
}
