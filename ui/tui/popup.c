/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "glyph.h"
#include "tui-internal.h"

#define POPUP_ROWS 10
#define TYPE_COLUMNS 10

struct box {
    int row, column, rows, columns;
    size_t top;
};

static int text_columns(const struct edit_match *matches, size_t count)
{
    int widest = 8;
    for (size_t i = 0; i < count && i < 500; i++) {
        int columns = (int)glyph_columns(matches[i].text, strlen(matches[i].text));
        widest = columns > widest ? columns : widest;
    }
    return widest;
}

/* Above the cursor where there is more room, below it otherwise. */
static struct box place(const struct tui *tui, const struct edit_match *matches, size_t count,
                        size_t selected)
{
    const struct tui_layout *layout = &tui->layout;
    struct box box = {.columns = text_columns(matches, count) + 2 + TYPE_COLUMNS};
    int above = tui->cursor_row - 1, below = layout->status_row - tui->cursor_row - 1;
    int room = above > below ? above : below;
    box.rows = (int)(count < POPUP_ROWS ? count : POPUP_ROWS);
    box.rows = box.rows < room ? box.rows : room;
    bool under = below >= box.rows;
    box.row = under ? tui->cursor_row + 1 : tui->cursor_row - box.rows;
    box.columns = box.columns < layout->columns ? box.columns : layout->columns;
    box.column = tui->cursor_column + box.columns <= layout->columns
                     ? tui->cursor_column
                     : layout->columns - box.columns;
    if (selected != SIZE_MAX && selected >= (size_t)box.rows)
        box.top = selected - (size_t)box.rows + 1;
    return box;
}

void tui_popup_draw(struct tui *tui)
{
    size_t count, selected;
    const struct edit_match *matches = edit_popup(tui->edit, &count, &selected);
    if (!matches || count == 0 || tui->cursor_row < 0)
        return;
    struct box box = place(tui, matches, count, selected);
    for (int i = 0; i < box.rows; i++) {
        size_t n = box.top + (size_t)i;
        const struct edit_match *match = &matches[n];
        struct block_style style = tui_style(tui, n == selected ? ROLE_POPUP_CHOSEN : ROLE_POPUP);
        int row = box.row + i, text = box.columns - TYPE_COLUMNS - 1;
        screen_fill(tui->screen, row, box.column, box.columns, style);
        screen_puts(tui->screen, row, box.column + 1, text, match->text, style);
        screen_puts(tui->screen, row, box.column + box.columns - TYPE_COLUMNS, TYPE_COLUMNS - 1,
                    match->type ? match->type : "", style);
    }
    if (count > (size_t)box.rows) {
        char more[32];
        int columns =
            snprintf(more, sizeof(more), "%zu/%zu", selected == SIZE_MAX ? 0 : selected + 1, count);
        screen_puts(tui->screen, box.row + box.rows - 1, box.column + box.columns - columns,
                    columns, more, tui_style(tui, ROLE_POPUP));
    }
}
