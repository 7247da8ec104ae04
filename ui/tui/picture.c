/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures: where graphics meet sessions, and one picture on the whole screen. */
#include "config.h"

#include <stdlib.h>

#include "graphics.h"
#include "image.h"
#include "tui-internal.h"
#include "xalloc.h"

/* Apart from the same picture in its cell, which has another size. */
#define VIEW_ID ((uint64_t)1 << 63)

enum { UPPER_HALF = 0x2580, LOWER_HALF = 0x2584 };

/*
 * ---- which pictures are still there
 * --------------------------------------------------------------
 */

/* What lies before view->first is never shown again. */
static bool session_has(struct repl_session *session, uint64_t id)
{
    for (size_t i = transcript_view(session)->first; i < session->item_count; i++) {
        const struct repl_cell *cell = session->items[i].cell;
        if (cell && cell->output && block_has_picture(cell->output, id))
            return true;
    }
    return false;
}

static bool is_alive(void *context, uint64_t id)
{
    const struct tui *tui = context;
    if (id & VIEW_ID)
        return tui->focus == FOCUS_PICTURE && id == tui->picture.id;
    for (size_t i = 0; i < repl_session_count(tui->repl); i++) {
        if (session_has(repl_session_at(tui->repl, i), id))
            return true;
    }
    return false;
}

void tui_pictures_sweep(struct tui *tui)
{
    size_t items = 0;
    for (size_t i = 0; i < repl_session_count(tui->repl); i++) {
        struct repl_session *session = repl_session_at(tui->repl, i);
        items += session->item_count - transcript_view(session)->first;
    }
    if (items < tui->items_seen)
        graphics_sweep(tui->graphics, is_alive, tui);
    tui->items_seen = items;
}

void tui_set_background(struct tui *tui, uint32_t rgb)
{
    tui->background_rgb = rgb;
    graphics_set_background(tui->graphics, rgb);
    for (size_t i = 0; i < repl_session_count(tui->repl); i++) {
        struct repl_session *session = repl_session_at(tui->repl, i);
        if (session->running)
            block_set_background(session->running->output, rgb);
    }
}

/*
 * ---- the view
 * ------------------------------------------------------------------------------------
 */

static bool last_of_item(const struct repl_item *item, struct block_picture *picture)
{
    return item->cell && item->cell->output && block_last_picture(item->cell->output, picture);
}

/* In browse mode that of the cell that is chosen. */
static const struct repl_cell *find_picture(struct tui *tui, struct block_picture *picture)
{
    struct repl_session *session = tui->front;
    size_t chosen = transcript_view(session)->chosen;
    if (tui->focus == FOCUS_BROWSE && chosen < session->item_count &&
        last_of_item(&session->items[chosen], picture))
        return session->items[chosen].cell;
    for (size_t i = session->item_count; i-- > 0;) {
        if (last_of_item(&session->items[i], picture))
            return session->items[i].cell;
    }
    return NULL;
}

void tui_picture_free(struct tui *tui)
{
    free(tui->picture.png);
    free(tui->picture.title);
    free(tui->picture.pixels);
    tui->picture = (struct tui_picture){.png = NULL};
}

void tui_picture_open(struct tui *tui)
{
    struct block_picture found;
    uint32_t width, height;
    const struct repl_cell *cell = find_picture(tui, &found);
    if (!cell || !image_size(found.png, found.size, &width, &height)) {
        tui_say(tui, "there is no picture here yet");
        return;
    }
    bool browses = tui->focus == FOCUS_BROWSE;
    tui_picture_free(tui);
    tui->picture = (struct tui_picture){
        .id = found.id | VIEW_ID,
        .png = xmemdup0(found.png, found.size),
        .size = found.size,
        .width = width,
        .height = height,
        .browses = browses,
        .title = xasprintf(" [%u] %u × %u pixels; any key returns", cell->number, width, height),
    };
    tui->focus = FOCUS_PICTURE;
    tui_damage(tui, DAMAGE_ALL);
}

void tui_picture_close(struct tui *tui)
{
    tui->focus = tui->picture.browses ? FOCUS_BROWSE : FOCUS_PROMPT;
    graphics_sweep(tui->graphics, is_alive, tui);
    tui_picture_free(tui);
    tui_damage(tui, DAMAGE_ALL);
}

static uint64_t at_least_1(uint64_t value)
{
    return value ? value : 1;
}

/* As many cells as fit, of the picture's aspect. */
static void fit(const struct tui *tui, int columns_max, int rows_max, int *ret_columns,
                int *ret_rows)
{
    const struct tui_picture *picture = &tui->picture;
    int cell_width, cell_height;
    graphics_cell_pixels(tui->graphics, &cell_width, &cell_height);
    uint64_t width = (uint64_t)columns_max * (uint64_t)cell_width;
    uint64_t height = (uint64_t)rows_max * (uint64_t)cell_height;
    if (picture->width * height > picture->height * width)
        height = picture->height * width / picture->width;
    else
        width = picture->width * height / picture->height;
    *ret_columns = (int)at_least_1((width + (uint64_t)cell_width / 2) / (uint64_t)cell_width);
    *ret_rows = (int)at_least_1((height + (uint64_t)cell_height / 2) / (uint64_t)cell_height);
}

static struct block_cell half_blocks(uint32_t upper, uint32_t lower)
{
    struct block_cell cell = {.characters = {UPPER_HALF}, .width = 1};
    if (upper == IMAGE_CLEAR && lower == IMAGE_CLEAR) {
        cell.characters[0] = ' ';
    } else if (upper == IMAGE_CLEAR) {
        cell.characters[0] = LOWER_HALF;
        cell.style.foreground = BLOCK_RGB | lower;
    } else {
        cell.style.foreground = BLOCK_RGB | upper;
        cell.style.background = lower == IMAGE_CLEAR ? 0 : BLOCK_RGB | lower;
    }
    return cell;
}

static void draw_half_blocks(struct tui *tui, int row, int screen_row, int screen_column)
{
    const struct tui_picture *picture = &tui->picture;
    const uint32_t *upper = picture->pixels + (size_t)row * 2 * (size_t)picture->columns;
    for (int x = 0; x < picture->columns; x++) {
        struct block_cell cell = half_blocks(upper[x], upper[x + picture->columns]);
        screen_cells(tui->screen, screen_row, screen_column + x, &cell, 1);
    }
}

static void draw_picture(struct tui *tui, int columns, int rows)
{
    struct tui_picture *picture = &tui->picture;
    const struct block_picture whole = {.id = picture->id,
                                        .png = picture->png,
                                        .size = picture->size,
                                        .rows = (size_t)picture->rows,
                                        .columns = picture->columns};
    int top = (rows - picture->rows) / 2, left = (columns - picture->columns) / 2;
    for (int row = 0; row < picture->rows; row++) {
        draw_half_blocks(tui, row, top + row, left);
        graphics_row(tui->graphics, &whole, (size_t)row, 0, top + row, left, picture->columns);
    }
}

void tui_picture_draw(struct tui *tui)
{
    struct tui_picture *picture = &tui->picture;
    int rows = screen_rows(tui->screen), columns = screen_columns(tui->screen);
    int wide, high;
    graphics_begin(tui->graphics, false);
    for (int row = 0; row < rows; row++)
        screen_fill(tui->screen, row, 0, columns, (struct block_style){0, 0, 0});
    fit(tui, columns, rows - 1, &wide, &high);
    if (!picture->pixels || wide != picture->columns || high != picture->rows) {
        free(picture->pixels);
        picture->pixels = image_scale(picture->png, picture->size, wide, high * 2, tui->background_rgb);
        picture->columns = wide;
        picture->rows = high;
    }
    if (picture->pixels)
        draw_picture(tui, columns, rows - 1);
    screen_fill(tui->screen, rows - 1, 0, columns, tui_style(tui, ROLE_STATUS));
    screen_puts(tui->screen, rows - 1, 0, columns, picture->title, tui_style(tui, ROLE_STATUS));
    screen_cursor(tui->screen, -1, 0);
}
