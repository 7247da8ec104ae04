/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glyph.h"
#include "highlight.h"
#include "tui-internal.h"
#include "utf8.h"
#include "xalloc.h"

/* What is drawn of one item, from one of its rows on. */
struct painter {
    struct tui *tui;
    struct repl_session *session;
    struct repl_item *item;
    bool chosen;
    size_t source_at;  /* where the next source row begins */
    size_t source_row; /* and its number */
    uint8_t *classes;  /* of the source up to source_known */
    size_t classes_size;
    struct block_cell *cells;
};

/*
 * ---- marks
 * ---------------------------------------------------------------------------------------
 */

static void duration_text(char out[static 16], int64_t us)
{
    double seconds = (double)us / 1e6;
    if (seconds < 0.0995)
        snprintf(out, 16, seconds < 0.01 ? "%.1fms" : "%.0fms", seconds * 1e3);
    else if (seconds < 10)
        snprintf(out, 16, "%.2fs", seconds);
    else if (seconds < 100)
        snprintf(out, 16, "%.1fs", seconds);
    else if (seconds < 6000)
        snprintf(out, 16, "%dm%02ds", (int)(seconds / 60), (int)seconds % 60);
    else
        snprintf(out, 16, "%dh%02dm", (int)(seconds / 3600), (int)(seconds / 60) % 60);
}

/* "0.42s ✓" at the right of a cell's first row. */
static void draw_outcome(struct painter *painter, int screen_row)
{
    const struct repl_cell *cell = painter->item->cell;
    struct tui *tui = painter->tui;
    char time[16] = "", text[64];
    const char *mark = "";
    enum theme_role role = ROLE_OK;
    switch (cell->state) {
    case REPL_QUEUED:
        mark = "queued …";
        role = ROLE_DIM;
        break;
    case REPL_RUNNING:
        if (tui_now_ms() - cell->started_ms >= 1000)
            duration_text(time, (tui_now_ms() - cell->started_ms) * 1000);
        mark = cell->input_waits ? "▶" : "⟲";
        role = ROLE_BUSY;
        break;
    default:
        duration_text(time, cell->duration_us);
        if (cell->not_run)
            time[0] = '\0';
        mark = cell->not_run                         ? "not run"
               : cell->outcome == HERMES_SUCCESS     ? "✓"
               : cell->outcome == HERMES_TIMEOUT     ? "timeout ✗"
               : cell->outcome == HERMES_INTERRUPTED ? "⊘"
                                                     : "✗";
        role = cell->outcome == HERMES_SUCCESS && !cell->not_run ? ROLE_OK : ROLE_FAIL;
        if (cell->state == REPL_EARLIER || cell->not_run)
            role = ROLE_DIM;
        break;
    }
    if (cell->due) {
        mark = "queued …";
        role = ROLE_DIM;
        time[0] = '\0';
    } else if (cell->key && cell->state != REPL_QUEUED && cell->state != REPL_RUNNING &&
        (cell->edited || cell->state == REPL_EARLIER)) { /* this source has not run here */
        mark = cell->number && cell->edited    ? "edited"
               : block_is_empty(cell->output) ? ""
                                              : "from file";
        time[0] = '\0';
        role = ROLE_DIM;
    }
    if (cell->number == 0 && !cell->key)
        return;
    snprintf(text, sizeof(text), " %s%s%s", time, time[0] ? " " : "", mark);
    int columns = (int)glyph_columns(text, strlen(text));
    int column = tui->layout.columns - columns - 1;
    screen_puts(tui->screen, screen_row, column, columns, text, tui_style(tui, role));
}

static void draw_number(struct painter *painter, int screen_row)
{
    const struct repl_cell *cell = painter->item->cell;
    char text[32];
    if (cell->kind != CELL_CODE || (cell->key && cell->number == 0)) {
        screen_puts(painter->tui->screen, screen_row, 0, TUI_INDENT,
                    cell->kind == CELL_CODE       ? "[ ]"
                    : cell->kind == CELL_MARKDOWN ? "text"
                                                  : "raw",
                    tui_style(painter->tui, ROLE_DIM));
        return;
    }
    if (cell->number == 0) {
        screen_puts(painter->tui->screen, screen_row, TUI_INDENT, 60, "output while no cell ran",
                    tui_style(painter->tui, ROLE_DIM));
        return;
    }
    snprintf(text, sizeof(text), "[%u]", cell->number);
    enum theme_role role =
        cell->state == REPL_EARLIER || cell->state == REPL_QUEUED ? ROLE_DIM : ROLE_NUMBER;
    screen_puts(painter->tui->screen, screen_row, 0, 31, text, tui_style(painter->tui, role));
}

/*
 * ---- rows
 * ------------------------------------------------------------------------------------------
 */

/*
 * The classes of the source up to `end`, with room so that a long source is not coloured row by
 * row.
 */
static void know_classes(struct painter *painter, size_t end)
{
    const struct repl_cell *cell = painter->item->cell;
    if (end <= painter->classes_size)
        return;
    size_t size = end + 4096 < cell->source_size ? end + 4096 : cell->source_size;
    painter->classes = xrealloc(painter->classes, size ? size : 1);
    highlight_python(cell->source, size, painter->classes);
    painter->classes_size = size;
}

static void draw_source(struct painter *painter, size_t row, int screen_row)
{
    struct tui *tui = painter->tui;
    const struct repl_cell *cell = painter->item->cell;
    int column = transcript_prefix(cell), columns = tui->layout.columns;
    for (; cell->source && painter->source_row < row && painter->source_at < cell->source_size;
         painter->source_row++)
        transcript_source_row(cell, columns, painter->source_at, &painter->source_at);
    if (row == 0)
        draw_number(painter, screen_row);
    if (cell->source && painter->source_at < cell->source_size) {
        size_t next, at = painter->source_at;
        size_t end = at + transcript_source_row(cell, columns, at, &next);
        know_classes(painter, end);
        while (at < end) {
            size_t run = at + 1;
            while (run < end && painter->classes[run] == painter->classes[at])
                run++;
            bool old = cell->state == REPL_EARLIER && !cell->key;
            struct block_style style = old                      ? tui_style(tui, ROLE_DIM)
                                       : cell->kind != CELL_CODE ? tui_style(tui, ROLE_TEXT)
                                       : theme_source(tui->theme, painter->classes[at]);
            column += screen_text(tui->screen, screen_row, column, columns - column,
                                  cell->source + at, run - at, style);
            at = run;
        }
        painter->source_at = next;
        painter->source_row = row + 1;
    }
    if (row == 0)
        draw_outcome(painter, screen_row);
}

/* One row, which stands there as half-blocks. */
static void draw_picture_row(struct painter *painter, const struct block_picture *picture,
                             size_t row, int screen_row)
{
    struct tui *tui = painter->tui;
    int columns = transcript_output_columns(tui->layout.columns);
    int left = transcript_left(painter->item) < 0 ? 0 : transcript_left(painter->item);
    if (!graphics_off(tui->graphics)) {
        graphics_row(tui->graphics, picture, row, left, screen_row, TUI_INDENT, columns);
        return;
    }
    screen_fill(tui->screen, screen_row, TUI_INDENT, columns, (struct block_style){0, 0, 0});
    if (row == 0)
        screen_puts(tui->screen, screen_row, TUI_INDENT, columns, "(a picture; C-x g shows it)",
                    tui_style(tui, ROLE_DIM));
}

static void draw_output(struct painter *painter, size_t row, int screen_row)
{
    struct tui *tui = painter->tui;
    int columns = transcript_output_columns(tui->layout.columns);
    int left = transcript_left(painter->item);
    struct block *block = painter->item->cell->output;
    block_row(block, left < 0 ? columns : 0, row, left < 0 ? 0 : (size_t)left, painter->cells,
              (size_t)columns);
    uint64_t lines;
    if (block_gap(block, left < 0 ? columns : 0, &lines) == row) {
        for (int i = 0; i < columns; i++)
            painter->cells[i].style = tui_style(tui, ROLE_RULE);
    }
    for (int i = 0; i < columns && painter->item->cell->state == REPL_EARLIER; i++)
        painter->cells[i].style.attributes |= BLOCK_DIM;
    screen_cells(tui->screen, screen_row, TUI_INDENT, painter->cells, columns);
    struct block_picture picture;
    if (block_picture_at(block, left < 0 ? columns : 0, row, &picture))
        draw_picture_row(painter, &picture, row - picture.first_row, screen_row);
}

static void draw_note(struct painter *painter, int screen_row, const char *mark, size_t count,
                      const char *rest)
{
    char text[160];
    snprintf(text, sizeof(text), "%s %zu %s", mark, count, rest);
    screen_puts(painter->tui->screen, screen_row, TUI_INDENT, painter->tui->layout.columns, text,
                tui_style(painter->tui, ROLE_DIM));
}

static void draw_rule(struct painter *painter, int screen_row)
{
    struct tui *tui = painter->tui;
    const char *text = painter->item->text ? painter->item->text : "";
    int columns = tui->layout.columns;
    struct block_style style = tui_style(tui, ROLE_RULE);
    int column = 0;
    for (; column < 4 && column < columns; column++)
        screen_puts(tui->screen, screen_row, column, 1, "─", style);
    column +=
        1 + screen_puts(tui->screen, screen_row, column + 1, columns - column - 1, text, style) + 1;
    for (; column < columns; column++)
        screen_puts(tui->screen, screen_row, column, 1, "─", style);
}

/*
 * ---- searching
 * -------------------------------------------------------------------------------------
 */

/* Tint what is searched for where it stands in this row of the screen. */
static void tint_matches(struct painter *painter, const char *line, int screen_row, int column)
{
    struct tui *tui = painter->tui;
    const char *needle = strbuf_text(&tui->search.text);
    size_t size = tui->search.text.size;
    if (!size)
        return;
    for (const char *at = line; (at = strcasestr(at, needle)); at += size)
        screen_tint(tui->screen, screen_row, column + (int)glyph_columns(line, (size_t)(at - line)),
                    (int)glyph_columns(at, size), tui_style(tui, ROLE_MATCH));
}

static void tint_output(struct painter *painter, int screen_row)
{
    struct strbuf line = STRBUF_INIT;
    int columns = transcript_output_columns(painter->tui->layout.columns);
    for (int i = 0; i < columns; i++) {
        const struct block_cell *cell = &painter->cells[i];
        char bytes[4];
        for (size_t k = 0; cell->width && k < BLOCK_CELL_CHARACTERS && cell->characters[k]; k++)
            strbuf_add(&line, bytes, utf8_encode(cell->characters[k], bytes));
        if (cell->width && !cell->characters[0])
            strbuf_addc(&line, ' ');
    }
    tint_matches(painter, strbuf_text(&line), screen_row, TUI_INDENT);
    strbuf_free(&line);
}

static void tint_source(struct painter *painter, size_t from, int screen_row)
{
    const struct repl_cell *cell = painter->item->cell;
    if (!painter->tui->search.text.size || !cell->source || from >= cell->source_size)
        return;
    size_t next;
    size_t size = transcript_source_row(cell, painter->tui->layout.columns, from, &next);
    char *line = xstrndup(cell->source + from, size);
    tint_matches(painter, line, screen_row, transcript_prefix(cell));
    free(line);
}

/*
 * ---- the whole
 * ---------------------------------------------------------------------------------------
 */

static void draw_row(struct painter *painter, size_t row, int screen_row)
{
    struct tui *tui = painter->tui;
    struct transcript_row what = transcript_row(painter->item, tui->layout.columns, row);
    bool searched = tui->focus == FOCUS_BROWSE && tui->search.text.size;
    screen_fill(tui->screen, screen_row, 0, tui->layout.columns, (struct block_style){0, 0, 0});
    switch (what.part) {
    case PART_RULE:
        draw_rule(painter, screen_row);
        break;
    case PART_SOURCE:
        draw_source(painter, what.row, screen_row);
        break;
    case PART_SOURCE_MORE:
        draw_note(painter, screen_row, "…", what.hidden, "more rows of source (z shows them)");
        break;
    case PART_OUTPUT:
        draw_output(painter, what.row, screen_row);
        if (searched)
            tint_output(painter, screen_row);
        break;
    case PART_FOLD:
        draw_note(painter, screen_row, "⋯", what.hidden, "rows folded (z shows them, o pages)");
        break;
    }
    if (searched && what.part == PART_SOURCE) {
        size_t at = 0;
        for (size_t i = 0; i < what.row && at < painter->item->cell->source_size; i++)
            transcript_source_row(painter->item->cell, tui->layout.columns, at, &at);
        tint_source(painter, at, screen_row);
    }
    if (painter->chosen && row == 0)
        screen_tint(tui->screen, screen_row, 0, tui->layout.columns, tui_style(tui, ROLE_CURSOR));
    else if (painter->chosen)
        screen_puts(tui->screen, screen_row, 0, 1, "│", tui_style(tui, ROLE_NUMBER));
}

static bool is_chosen(const struct tui *tui, const struct transcript_view *view, size_t item)
{
    if (tui->focus != FOCUS_BROWSE)
        return false;
    if (view->mark == SIZE_MAX)
        return item == view->chosen;
    size_t low = view->mark < view->chosen ? view->mark : view->chosen;
    size_t high = view->mark < view->chosen ? view->chosen : view->mark;
    return item >= low && item <= high;
}

/* The cursor of the program in the cell, when keys go there. */
static void place_cursor(struct painter *painter, size_t row, int screen_row)
{
    struct tui *tui = painter->tui;
    struct repl_cell *cell = painter->item->cell;
    size_t cursor_row;
    int cursor_column;
    if (!tui->to_cell || !cell || cell != painter->session->running)
        return;
    int columns = transcript_output_columns(tui->layout.columns);
    if (!block_cursor(cell->output, columns, &cursor_row, &cursor_column))
        return;
    size_t wanted = transcript_row_of_output(painter->item, tui->layout.columns, cursor_row);
    if (wanted == row ||
        (wanted == row + 1 && row + 1 == transcript_rows(painter->item, tui->layout.columns))) {
        tui->cursor_row = screen_row + (wanted != row);
        tui->cursor_column = TUI_INDENT + cursor_column;
    }
}

void tui_transcript_draw(struct tui *tui)
{
    struct repl_session *session = tui->front;
    struct painter painter = {.tui = tui, .session = session};
    int columns = tui->layout.columns, rows = tui->layout.transcript_rows;
    size_t item, row;
    int filled = transcript_window(session, columns, rows, &item, &row);
    painter.cells = xcalloc((size_t)columns + 16, sizeof(*painter.cells));
    if (tui->to_cell)
        tui->cursor_row = -1;
    for (int i = 0; i < rows; i++) {
        int screen_row = tui->layout.transcript_row + i;
        if (i >= filled || item >= session->item_count) {
            screen_fill(tui->screen, screen_row, 0, columns, (struct block_style){0, 0, 0});
            continue;
        }
        painter.item = &session->items[item];
        painter.chosen = is_chosen(tui, transcript_view(session), item);
        draw_row(&painter, row, screen_row);
        place_cursor(&painter, row, screen_row);
        if (painter.item->cell)
            painter.item->cell->seen = true;
        if (++row >= transcript_rows(painter.item, columns)) {
            item++;
            row = 0;
            painter.source_at = painter.source_row = painter.classes_size = 0;
        }
    }
    free(painter.classes);
    free(painter.cells);
}
