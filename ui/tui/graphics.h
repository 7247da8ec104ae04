/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pictures as pictures, on terminals that can draw them. Without this they are half-blocks: that
 * stays so where the terminal is not known to do better, and what is drawn takes the same rows and
 * columns.
 *
 * kitty's protocol: a picture is given to the terminal once, and drawn by cells of text that name
 * its parts, which the screen moves and clips as any other text. Sixels: they are written over
 * blank cells after everything else, so only pictures that are wholly to be seen are drawn so.
 *
 * What the terminal can do it is asked once; nothing waits for the answers. Knows the screen and
 * pictures of blocks, nothing of sessions.
 */
#ifndef UI_TUI_GRAPHICS_H
#define UI_TUI_GRAPHICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "block.h"
#include "screen.h"

struct graphics;

/* wish: "auto", "off", "kitty", "sixel" or "blocks". */
struct graphics *graphics_new(struct screen *screen, const char *wish);
void graphics_free(struct graphics *graphics); /* after graphics_leave(); NULL is fine */
/* Another wish; the same one costs nothing. True: pictures are drawn in another way now. */
bool graphics_set_wish(struct graphics *graphics, const char *wish);
/* Ask the terminal, unless it is one that would show the questions, or one stands in between. */
void graphics_ask(struct graphics *graphics);
/* An answer of the terminal's. True: pictures can be drawn in another way now. */
bool graphics_take_reply(struct graphics *graphics, const char *text, size_t size);
/* The window has another size: its cells may, too. True: they do, and pictures are drawn anew. */
bool graphics_resized(struct graphics *graphics);
/* Pictures are not to be shown at all. */
bool graphics_off(const struct graphics *graphics);
/* What shines through pictures that are written as pixels, 0xRRGGBB; at first black. */
void graphics_set_background(struct graphics *graphics, uint32_t rgb);
void graphics_cell_pixels(const struct graphics *graphics, int *ret_width, int *ret_height);

/*
 * A drawing begins: pictures that are not drawn in it are not on the screen after it. covered:
 * something will lie over it.
 */
void graphics_begin(struct graphics *graphics, bool covered);
/*
 * One row of a picture, which stands on the screen as half-blocks; `left` columns of it are
 * scrolled away, and it has `columns` at most from there. Rows come from the top.
 */
void graphics_row(struct graphics *graphics, const struct block_picture *picture, size_t row,
                  int left, int screen_row, int screen_column, int columns);
/* Before and after screen_flush(). */
void graphics_before_flush(struct graphics *graphics);
void graphics_after_flush(struct graphics *graphics);

/* Take back the pictures for which alive() is false. */
void graphics_sweep(struct graphics *graphics, bool (*alive)(void *context, uint64_t id),
                    void *context);
/* The terminal is given away: take everything back. It is given again when it is drawn. */
void graphics_leave(struct graphics *graphics);

#endif
