/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "glyph.h"
#include "highlight.h"
#include "layout.h"
#include "tui-internal.h"
#include "xalloc.h"

#define PROMPT ">>> "
#define PROMPT_MORE "... "
#define PROMPT_COLUMNS 4

/* What stands in place of the prompt: a search, an argument, a cell; else the prompt itself. */
static const char *label(const struct tui *tui)
{
    static char cell[32];
    const char *message = edit_message(tui->edit);
    char *edited = message[0] ? NULL : tui_document_label(tui);
    snprintf(cell, sizeof(cell), "%s", edited ? edited : PROMPT);
    free(edited);
    return message[0] ? message : cell;
}

static int label_columns(const struct tui *tui)
{
    const char *text = label(tui);
    int columns = (int)glyph_columns(text, strlen(text)), half = tui->layout.columns / 2;
    return columns < half ? columns : half;
}

static void measure(struct tui *tui)
{
    size_t size;
    const char *text = edit_text(tui->edit, &size);
    int first = label_columns(tui);
    layout_make(&tui->prompt, text, size, edit_point(tui->edit), tui->layout.columns, first,
                PROMPT_COLUMNS);
    edit_set_prompts(tui->edit, first, PROMPT_COLUMNS);
}

int tui_prompt_rows(struct tui *tui, int rows_max)
{
    if (tui->to_cell || tui->focus == FOCUS_READER || tui->focus == FOCUS_PICKER)
        return 1;
    measure(tui);
    int rows = (int)tui->prompt.count, cursor = (int)tui->prompt.cursor_row;
    int shown = rows < rows_max ? rows : rows_max;
    if (cursor >= rows && shown == rows) /* the cursor has a row of its own */
        shown = rows + 1 < rows_max ? rows + 1 : rows_max;
    if (tui->prompt_top > cursor)
        tui->prompt_top = cursor;
    if (tui->prompt_top < cursor - shown + 1)
        tui->prompt_top = cursor - shown + 1;
    if (tui->prompt_top > rows - shown && cursor < rows)
        tui->prompt_top = rows - shown;
    return shown;
}

static void draw_label(struct tui *tui, size_t n, int screen_row)
{
    struct block_style plain = {0, 0, 0};
    screen_fill(tui->screen, screen_row, 0, tui->layout.columns, plain);
    if (n == 0)
        screen_puts(tui->screen, screen_row, 0, label_columns(tui), label(tui),
                    tui_style(tui, ROLE_PROMPT));
    else if (n < tui->prompt.count && tui->prompt.rows[n].first)
        screen_puts(tui->screen, screen_row, 0, PROMPT_COLUMNS, PROMPT_MORE,
                    tui_style(tui, ROLE_DIM));
}

/* What lies over the colours of the source: marked text, a pair of brackets. */
struct marks {
    size_t region_from, region_to, open, close;
};

static struct marks find_marks(const struct tui *tui, const char *text, size_t size)
{
    struct marks marks = {0, 0, SIZE_MAX, SIZE_MAX};
    if (!edit_region(tui->edit, &marks.region_from, &marks.region_to))
        marks.region_from = marks.region_to = 0;
    if (!highlight_brackets(text, size, edit_point(tui->edit), &marks.open, &marks.close))
        marks.open = marks.close = SIZE_MAX;
    return marks;
}

static void draw_row(struct tui *tui, const char *text, const uint8_t *classes,
                     const struct marks *marks, size_t n, int screen_row)
{
    const struct layout_row *row = &tui->prompt.rows[n];
    int column = row->column;
    for (size_t at = row->from; at < row->to;) {
        struct layout_cell cell;
        layout_cell(text + at, row->to - at, column - row->column, &cell);
        struct block_style style = theme_source(tui->theme, classes[at]);
        if (cell.substitute)
            style = tui_style(tui, ROLE_DIM);
        screen_text(tui->screen, screen_row, column, cell.width, cell.show, strlen(cell.show),
                    style);
        if (at >= marks->region_from && at < marks->region_to)
            screen_tint(tui->screen, screen_row, column, cell.width, tui_style(tui, ROLE_REGION));
        if (at == marks->open || at == marks->close)
            screen_tint(tui->screen, screen_row, column, cell.width, tui_style(tui, ROLE_BRACKET));
        column += cell.width;
        at += cell.size;
    }
}

/* Keys go to a cell: say so where the prompt was. */
static void draw_input_mark(struct tui *tui)
{
    const struct repl_cell *cell = tui->front->running;
    const char *back = keymap_keys_of(tui->keymap, KEYMAP_PROMPT, "input");
    bool secret = cell && cell->input_hidden &&
                  !cell->input_raw; /* an editor in there hides, too, and shows itself */
    char *text = xasprintf(" [%u] %s%s%s%s", cell ? cell->number : 0,
                           secret ? "asks for a secret" : "has the keyboard", back ? " · " : "",
                           back ? back : "", back ? " gives it back to the prompt" : "");
    int row = tui->layout.prompt_row;
    struct block_style style = tui_style(tui, ROLE_INPUT);
    screen_fill(tui->screen, row, 0, tui->layout.columns, style);
    screen_puts(tui->screen, row, 0, tui->layout.columns, text, style);
    free(text);
}

static void draw_text(struct tui *tui)
{
    size_t size, top = (size_t)tui->prompt_top;
    const char *text = edit_text(tui->edit, &size);
    size_t last = top + (size_t)tui->layout.prompt_rows;
    last = last < tui->prompt.count ? last : tui->prompt.count;
    size_t known = last > 0 ? tui->prompt.rows[last - 1].to : 0; /* what is below is not seen */
    uint8_t *classes = xcalloc(size + 1, 1);
    highlight_python(text, known, classes);
    struct marks marks = find_marks(tui, text, size);
    for (int i = 0; i < tui->layout.prompt_rows; i++) {
        size_t n = top + (size_t)i;
        draw_label(tui, n, tui->layout.prompt_row + i);
        if (n < tui->prompt.count)
            draw_row(tui, text, classes, &marks, n, tui->layout.prompt_row + i);
    }
    free(classes);
}

void tui_prompt_draw(struct tui *tui)
{
    if (tui->to_cell && tui->focus == FOCUS_PROMPT) {
        draw_input_mark(tui);
        return;
    }
    measure(tui); /* also where it is only shown */
    if (tui->prompt_top >= (int)tui->prompt.count)
        tui->prompt_top = (int)tui->prompt.count - 1;
    draw_text(tui);
    if (tui->focus == FOCUS_PROMPT) {
        tui->cursor_row = tui->layout.prompt_row + (int)tui->prompt.cursor_row - tui->prompt_top;
        tui->cursor_column = tui->prompt.cursor_column;
    } else if (tui->focus != FOCUS_PICKER && !tui->search.typing) {
        tui->cursor_row = -1;
    }
}
