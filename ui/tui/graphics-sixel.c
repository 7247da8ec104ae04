/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pictures as sixels. ncurses knows nothing of them: under each it has blank cells, and what it
 * writes there takes pixels away. So they are written after it, again whenever one of their rows
 * has changed, and their rows are written anew when they go.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "graphics-internal.h"
#include "image.h"
#include "sixel.h"
#include "xalloc.h"

#define TEXTS_MAX_BYTES ((size_t)16 << 20)

/*
 * ---- making
 * --------------------------------------------------------------------------------------
 */

static void drop_text(struct sixels *sixels, size_t at)
{
    sixels->bytes -= sixels->texts[at].text.size;
    strbuf_free(&sixels->texts[at].text);
    sixels->texts[at] = sixels->texts[--sixels->count];
}

static struct sixel_text *find_text(struct sixels *sixels, uint64_t picture, int columns, int rows)
{
    for (size_t i = 0; i < sixels->count; i++) {
        struct sixel_text *text = &sixels->texts[i];
        if (text->picture == picture && text->columns == columns && text->rows == rows)
            return text;
    }
    return NULL;
}

static void drop_old_texts(struct graphics *graphics)
{
    struct sixels *sixels = &graphics->sixels;
    for (size_t i = sixels->count; i-- > 0 && sixels->bytes > TEXTS_MAX_BYTES;) {
        if (sixels->texts[i].frame != graphics->frame)
            drop_text(sixels, i);
    }
}

/* As large as the cells are, with the picture's own aspect. */
static void fit(const struct graphics *graphics, const struct block_picture *picture,
                uint64_t width, uint64_t height, int *ret_width, int *ret_height)
{
    int cell_width, cell_height;
    graphics_cell_pixels(graphics, &cell_width, &cell_height);
    uint64_t room = (uint64_t)picture->columns * (uint64_t)cell_width;
    uint64_t high = (uint64_t)picture->rows * (uint64_t)cell_height;
    if (room > (uint64_t)graphics->sixels.width_max)
        room = (uint64_t)graphics->sixels.width_max;
    if (high > (uint64_t)graphics->sixels.height_max)
        high = (uint64_t)graphics->sixels.height_max;
    if (width * high > height * room)
        high = height * room / width;
    else
        room = width * high / height;
    *ret_width = room ? (int)room : 1;
    *ret_height = high ? (int)high : 1;
}

static struct sixel_text *make_text(struct graphics *graphics, const struct block_picture *picture)
{
    struct sixels *sixels = &graphics->sixels;
    uint32_t width, height;
    int columns, rows;
    if (picture->size > PICTURE_BYTES_MAX ||
        !image_size(picture->png, picture->size, &width, &height))
        return NULL;
    fit(graphics, picture, width, height, &columns, &rows);
    uint32_t *pixels =
        image_scale(picture->png, picture->size, columns, rows, graphics->background);
    if (!pixels)
        return NULL;
    drop_old_texts(graphics);
    sixels->texts = xgrow(sixels->texts, sixels->count, &sixels->capacity, sizeof(*sixels->texts));
    struct sixel_text *text = &sixels->texts[sixels->count++];
    *text = (struct sixel_text){
        .picture = picture->id, .columns = picture->columns, .rows = (int)picture->rows};
    sixel_encode(&text->text, pixels, columns, rows, sixels->registers);
    sixels->bytes += text->text.size;
    free(pixels);
    return text;
}

/*
 * ---- drawing
 * -------------------------------------------------------------------------------------
 */

void sixels_begin(struct graphics *graphics)
{
    graphics->sixels.wanted.count = 0;
    graphics->sixels.begun.picture = 0;
}

static void add_place(struct sixel_places *places, const struct sixel_place *place)
{
    places->items = xgrow(places->items, places->count, &places->capacity, sizeof(*places->items));
    places->items[places->count++] = *place;
}

/* All of it is to be seen. */
static void finish_picture(struct graphics *graphics, const struct block_picture *picture)
{
    struct sixels *sixels = &graphics->sixels;
    struct sixel_place *begun = &sixels->begun;
    struct sixel_text *text = find_text(sixels, picture->id, begun->columns, begun->rows);
    if (!text)
        text = make_text(graphics, picture);
    if (!text)
        return;
    text->frame = graphics->frame;
    for (int i = 0; i < begun->rows; i++)
        screen_fill(graphics->screen, begun->row + i, begun->column, begun->columns,
                    (struct block_style){0, 0, 0});
    add_place(&sixels->wanted, begun);
}

void sixels_row(struct graphics *graphics, const struct block_picture *picture, size_t row,
                int screen_row, int screen_column)
{
    struct sixels *sixels = &graphics->sixels;
    struct sixel_place *begun = &sixels->begun;
    if (row == 0) {
        *begun = (struct sixel_place){.picture = picture->id,
                                      .row = screen_row,
                                      .column = screen_column,
                                      .rows = (int)picture->rows,
                                      .columns = picture->columns};
        sixels->rows_seen = 0;
    }
    bool follows = begun->picture == picture->id && (size_t)sixels->rows_seen == row &&
                   screen_row == begun->row + (int)row;
    if (!follows)
        begun->picture = 0;
    else if (++sixels->rows_seen == begun->rows)
        finish_picture(graphics, picture);
}

/*
 * ---- to the glass
 * --------------------------------------------------------------------------------
 */

static struct sixel_place *find_place(const struct sixel_places *places,
                                      const struct sixel_place *place)
{
    for (size_t i = 0; i < places->count; i++) {
        struct sixel_place *there = &places->items[i];
        if (there->picture == place->picture && there->row == place->row &&
            there->column == place->column && there->rows == place->rows &&
            there->columns == place->columns)
            return there;
    }
    return NULL;
}

/* Also what else was drawn in these rows must be drawn again. */
static void erase_place(struct graphics *graphics, const struct sixel_place *gone)
{
    struct sixel_places *shown = &graphics->sixels.shown;
    screen_erase_rows(graphics->screen, gone->row, gone->rows);
    for (size_t i = 0; i < shown->count; i++) {
        struct sixel_place *place = &shown->items[i];
        if (place->row < gone->row + gone->rows && gone->row < place->row + place->rows)
            place->stale = true;
    }
}

void sixels_before_flush(struct graphics *graphics)
{
    struct sixels *sixels = &graphics->sixels;
    for (size_t i = 0; i < sixels->shown.count; i++) {
        if (!find_place(&sixels->wanted, &sixels->shown.items[i]))
            erase_place(graphics, &sixels->shown.items[i]);
    }
}

static uint64_t hash_rows(const struct graphics *graphics, const struct sixel_place *place)
{
    uint64_t hash = 0;
    for (int i = 0; i < place->rows; i++)
        hash = hash * 31 + screen_row_hash(graphics->screen, place->row + i);
    return hash;
}

static void draw_place(struct graphics *graphics, const struct sixel_place *place)
{
    struct strbuf out = STRBUF_INIT;
    const struct sixel_text *text =
        find_text(&graphics->sixels, place->picture, place->columns, place->rows);
    if (!text)
        return;
    strbuf_addf(&out, "\0337\033[%d;%dH", place->row + 1, place->column + 1);
    strbuf_add(&out, text->text.data, text->text.size);
    strbuf_adds(&out, "\0338"); /* the cursor is where ncurses has it */
    screen_send(graphics->screen, out.data, out.size);
    strbuf_free(&out);
}

void sixels_after_flush(struct graphics *graphics)
{
    struct sixels *sixels = &graphics->sixels;
    uint64_t generation = screen_generation(graphics->screen);
    for (size_t i = 0; i < sixels->wanted.count; i++) {
        struct sixel_place *place = &sixels->wanted.items[i];
        const struct sixel_place *there = find_place(&sixels->shown, place);
        place->hash = hash_rows(graphics, place);
        place->generation = generation;
        place->stale = false;
        if (!there || there->stale || there->hash != place->hash || there->generation != generation)
            draw_place(graphics, place);
    }
    sixels->shown.count = 0;
    for (size_t i = 0; i < sixels->wanted.count; i++)
        add_place(&sixels->shown, &sixels->wanted.items[i]);
}

void sixels_sweep(struct graphics *graphics, bool (*alive)(void *context, uint64_t id),
                  void *context)
{
    for (size_t i = graphics->sixels.count; i-- > 0;) {
        if (!alive(context, graphics->sixels.texts[i].picture))
            drop_text(&graphics->sixels, i);
    }
}

void sixels_forget(struct graphics *graphics)
{
    while (graphics->sixels.count)
        drop_text(&graphics->sixels, graphics->sixels.count - 1);
    graphics->sixels.wanted.count = 0;
}

void sixels_free(struct graphics *graphics)
{
    sixels_forget(graphics);
    free(graphics->sixels.texts);
    free(graphics->sixels.wanted.items);
    free(graphics->sixels.shown.items);
}
