/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "tui-internal.h"

/* What a person types into stays in sight, however many cells wait below. */
static void keep_typed_in_sight(struct tui *tui)
{
    struct transcript_view *view = transcript_view(tui->front);
    view->end = 0;
    for (size_t i = tui->front->item_count; tui->to_cell && i > 0 && !view->end; i--) {
        if (tui->front->items[i - 1].cell && tui->front->items[i - 1].cell == tui->front->running)
            view->end = i;
    }
}

/* How many rows the transcript would like: no more than there are. */
static int wanted_rows(struct tui *tui, int rows)
{
    size_t item, row;
    if (tui->focus == FOCUS_READER || tui->focus == FOCUS_PICKER)
        return rows;
    return transcript_window(tui->front, tui->layout.columns, rows, &item, &row);
}

/*
 * Tabs, transcript, bars, prompt, status. While the transcript is short the prompt stands below it,
 * and moves down as it grows.
 */
void tui_layout(struct tui *tui)
{
    struct tui_layout *layout = &tui->layout;
    struct tui_layout before = *layout;
    *layout = (struct tui_layout){.rows = screen_rows(tui->screen),
                                  .columns = screen_columns(tui->screen)};
    layout->small = layout->rows < TUI_ROWS_MIN || layout->columns < TUI_COLUMNS_MIN;
    if (!layout->small) {
        layout->status_row = layout->rows - 1;
        keep_typed_in_sight(tui);
        layout->prompt_rows = tui_prompt_rows(tui, layout->rows / 2);
        layout->bar_rows = tui_bars_count(tui);
        int room =
            layout->rows - 3 - layout->prompt_rows; /* tabs, status, one row of the transcript */
        layout->bar_rows = layout->bar_rows < room ? layout->bar_rows : room;
        layout->transcript_row = 1;
        int rest = layout->rows - 2 - layout->bar_rows - layout->prompt_rows;
        layout->transcript_rows = rest > 1 ? rest : 1;
        layout->transcript_rows = wanted_rows(tui, layout->transcript_rows);
        layout->bar_row = layout->transcript_row + layout->transcript_rows;
        layout->prompt_row = layout->bar_row + layout->bar_rows;
    }
    /* Gaps in the struct that differ cost one drawing. NOLINTNEXTLINE(*-memory-comparison,cert-*) */
    if (memcmp(&before, layout, sizeof(before)) != 0)
        tui->damage = DAMAGE_ALL;
}

static void draw_small(struct tui *tui)
{
    struct block_style plain = {0, 0, 0};
    char text[80];
    graphics_begin(tui->graphics, true);
    for (int row = 0; row < tui->layout.rows; row++)
        screen_fill(tui->screen, row, 0, tui->layout.columns, plain);
    snprintf(text, sizeof(text), "%dx%d is too small,", tui->layout.columns, tui->layout.rows);
    screen_puts(tui->screen, 0, 0, tui->layout.columns, text, plain);
    snprintf(text, sizeof(text), "please give me %dx%d.", TUI_COLUMNS_MIN, TUI_ROWS_MIN);
    screen_puts(tui->screen, 1, 0, tui->layout.columns, text, plain);
    screen_puts(tui->screen, 2, 0, tui->layout.columns, "Your cells go on.", plain);
    screen_cursor(tui->screen, -1, 0);
}

static void draw_middle(struct tui *tui)
{
    if (tui->focus == FOCUS_READER)
        tui_reader_draw(tui);
    else if (tui->focus == FOCUS_PICKER)
        tui_picker_draw(tui);
    else
        tui_transcript_draw(tui);
}

static void draw_parts(struct tui *tui)
{
    const struct tui_layout *layout = &tui->layout;
    bool popup = tui->focus == FOCUS_PROMPT && edit_popup(tui->edit, &(size_t){0}, &(size_t){0});
    if (popup != tui->popup_shown)
        tui->damage |= DAMAGE_ALL;
    if (tui->damage & DAMAGE_TRANSCRIPT) {
        graphics_begin(tui->graphics, popup);
        draw_middle(tui);
    }
    if (tui->damage & (DAMAGE_PROMPT | DAMAGE_TRANSCRIPT)) {
        tui_bars_draw(tui);
        tui_prompt_draw(tui);
        for (int row = layout->prompt_row + layout->prompt_rows; row < layout->status_row; row++)
            screen_fill(tui->screen, row, 0, layout->columns, (struct block_style){0, 0, 0});
    }
    if (tui->damage & DAMAGE_TABS)
        tui_tabs_draw(tui);
    if (tui->damage & DAMAGE_STATUS)
        tui_status_draw(tui);
    if (popup)
        tui_popup_draw(tui);
    tui->popup_shown = popup;
    screen_cursor(tui->screen, tui->cursor_row, tui->cursor_column);
}

void tui_draw(struct tui *tui)
{
    if (graphics_set_wish(tui->graphics, settings_text(tui->settings, CLI_GRAPHICS)))
        tui->damage = DAMAGE_ALL;
    if (tui->theme != tui_wanted_theme(tui)) {
        tui->theme = tui_wanted_theme(tui);
        tui->damage = DAMAGE_ALL;
    }
    tui_layout(tui);
    if (tui->damage & DAMAGE_TRANSCRIPT)
        tui_pictures_sweep(tui);
    if (tui->layout.small)
        draw_small(tui);
    else if (tui->focus == FOCUS_PICTURE)
        tui_picture_draw(tui);
    else
        draw_parts(tui);
    if (tui->prompt_is_new)
        screen_repaint_row(tui->screen, tui->layout.prompt_row);
    tui->prompt_is_new = false;
    graphics_before_flush(tui->graphics);
    screen_flush(tui->screen);
    graphics_after_flush(tui->graphics);
    tui->damage = 0;
    tui->draw_now = false;
    tui->drawn_ms = tui_now_ms();
}

void tui_resize(struct tui *tui)
{
    bool cells = graphics_resized(tui->graphics);
    if (!screen_resize(tui->screen)) {
        if (cells)
            tui_damage(tui, DAMAGE_ALL);
        return;
    }
    int columns = screen_columns(tui->screen), rows = screen_rows(tui->screen);
    if (columns >= TUI_COLUMNS_MIN && rows >= TUI_ROWS_MIN) {
        repl_resize(tui->repl, transcript_output_columns(columns), rows - 4);
        edit_set_width(tui->edit, columns);
    }
    tui->damage = DAMAGE_ALL;
    tui->draw_now = true;
}
