/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the files of graphics share. */
#ifndef UI_TUI_GRAPHICS_INTERNAL_H
#define UI_TUI_GRAPHICS_INTERNAL_H

#include "graphics.h"
#include "strbuf.h"

enum graphics_wish { WISH_AUTO, WISH_OFF, WISH_KITTY, WISH_SIXEL, WISH_BLOCKS };
enum graphics_protocol { PROTOCOL_NONE, PROTOCOL_KITTY, PROTOCOL_SIXEL };

#define PICTURE_BYTES_MAX ((size_t)4 << 20) /* of a PNG; larger ones stay half-blocks */

/* A picture that the terminal has. */
struct kitty_image {
    uint64_t picture;
    int columns, rows; /* for which it was given */
    uint32_t index;    /* the last byte of its number there, a colour of 256 */
    uint64_t bytes;    /* that it takes there, about */
    uint64_t frame;    /* the last one in which it was drawn */
};

struct kitty {
    uint32_t base; /* the first byte of all numbers: of this process */
    uint32_t next; /* index */
    struct kitty_image *images;
    size_t count, capacity;
    uint64_t bytes;
    bool tmux; /* its way through tmux is to be packed */
};

/* A picture that was made into sixels. */
struct sixel_text {
    uint64_t picture;
    int columns, rows;
    struct strbuf text;
    uint64_t frame;
};

/* Where a picture stands on the screen. */
struct sixel_place {
    uint64_t picture;
    int row, column, rows, columns;
    bool stale;    /* it was written over */
    uint64_t hash; /* of its rows when it was drawn */
    uint64_t generation;
};

struct sixel_places {
    struct sixel_place *items;
    size_t count, capacity;
};

struct sixels {
    struct sixel_text *texts;
    size_t count, capacity, bytes;
    struct sixel_places wanted, shown;
    /* The picture whose rows are being drawn. */
    struct sixel_place begun;
    int rows_seen;
    int registers;             /* for colours */
    int width_max, height_max; /* pixels that the terminal takes */
};

struct graphics {
    struct screen *screen;
    enum graphics_wish wish;
    bool asked;
    bool can_kitty, has_placeholders, can_sixel; /* by what was answered */
    int cell_width, cell_height;                 /* pixels; 0: not known */
    uint32_t background;
    bool covered;
    uint64_t frame;
    struct kitty kitty;
    struct sixels sixels;
};

enum graphics_protocol graphics_protocol(const struct graphics *graphics);

/* ---- graphics-kitty.c ---- */
void kitty_init(struct graphics *graphics);
void kitty_row(struct graphics *graphics, const struct block_picture *picture, size_t row, int left,
               int screen_row, int screen_column, int columns);
void kitty_sweep(struct graphics *graphics, bool (*alive)(void *context, uint64_t id),
                 void *context);
void kitty_leave(struct graphics *graphics);

/* ---- graphics-sixel.c ---- */
void sixels_begin(struct graphics *graphics);
void sixels_row(struct graphics *graphics, const struct block_picture *picture, size_t row,
                int screen_row, int screen_column);
void sixels_before_flush(struct graphics *graphics);
void sixels_after_flush(struct graphics *graphics);
void sixels_sweep(struct graphics *graphics, bool (*alive)(void *context, uint64_t id),
                  void *context);
/* Forget what was made; what is on the glass is erased with the next flush. */
void sixels_forget(struct graphics *graphics);
void sixels_free(struct graphics *graphics);

#endif
