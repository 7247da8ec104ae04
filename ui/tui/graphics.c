/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which way pictures are drawn, by what was wished and what the terminal has said. */
#include "config.h"

#include "graphics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphics-internal.h"
#include "sixel.h"
#include "xalloc.h"

#define USUAL_WIDTH 10 /* of a cell, in pixels */
#define USUAL_HEIGHT 20
#define SIDE_MAX 2000 /* of a picture, in pixels; xterm takes less and says so */

/* What all answer ends each question. */
#define CELL_SIZE "\033[16t"
#define DEVICE "\033[c"
#define SIXELS "\033[?1;1;0S\033[?2;1;0S" /* registers, largest picture */
/* A picture of one pixel, which is not kept; name and version. */
static const char questions[] =
    "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\\033[>q" CELL_SIZE DEVICE;

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && value[0];
}

/* Where questions would be shown as text, or would be asked of tmux or screen instead. */
static bool may_ask(void)
{
    const char *name = getenv("TERM"), *program = getenv("TERM_PROGRAM");
    static const char *const never[] = {"linux", "dumb", "unknown", "screen", "tmux", "vt", "cons"};
    if (!name || is_set("TMUX") || is_set("STY"))
        return false;
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        if (strncmp(name, never[i], strlen(never[i])) == 0)
            return false;
    }
    return !program || strcmp(program, "Apple_Terminal") != 0;
}

static enum graphics_wish parse_wish(const char *wish)
{
    static const char *const names[] = {"auto", "off", "kitty", "sixel", "blocks"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(wish, names[i]) == 0)
            return (enum graphics_wish)i;
    }
    return WISH_BLOCKS;
}

struct graphics *graphics_new(struct screen *screen, const char *wish)
{
    struct graphics *graphics = xcalloc(1, sizeof(*graphics));
    graphics->screen = screen;
    graphics->wish = parse_wish(wish);
    graphics->kitty.tmux = is_set("TMUX");
    graphics->sixels.registers = SIXEL_COLOURS_MAX;
    graphics->sixels.width_max = graphics->sixels.height_max = SIDE_MAX;
    screen_cell_pixels(screen, &graphics->cell_width, &graphics->cell_height);
    kitty_init(graphics);
    return graphics;
}

void graphics_free(struct graphics *graphics)
{
    if (!graphics)
        return;
    sixels_free(graphics);
    free(graphics->kitty.images);
    free(graphics);
}

enum graphics_protocol graphics_protocol(const struct graphics *graphics)
{
    /* Numbers of pictures are colours, their places are characters. */
    bool cells = screen_is_utf8(graphics->screen) && screen_colour_count(graphics->screen) >= 256;
    switch (graphics->wish) {
    case WISH_KITTY:
        return cells ? PROTOCOL_KITTY : PROTOCOL_NONE;
    case WISH_SIXEL:
        return PROTOCOL_SIXEL;
    case WISH_AUTO:
        if (graphics->can_kitty && graphics->has_placeholders && cells)
            return PROTOCOL_KITTY;
        return graphics->can_sixel && graphics->cell_width ? PROTOCOL_SIXEL : PROTOCOL_NONE;
    case WISH_OFF:
    case WISH_BLOCKS:
        break;
    }
    return PROTOCOL_NONE;
}

bool graphics_off(const struct graphics *graphics)
{
    return graphics->wish == WISH_OFF;
}

void graphics_set_background(struct graphics *graphics, uint32_t rgb)
{
    if (rgb != graphics->background)
        sixels_forget(graphics);
    graphics->background = rgb;
}

void graphics_cell_pixels(const struct graphics *graphics, int *ret_width, int *ret_height)
{
    *ret_width = graphics->cell_width ? graphics->cell_width : USUAL_WIDTH;
    *ret_height = graphics->cell_width ? graphics->cell_height : USUAL_HEIGHT;
}

/*
 * ---- questions and answers
 * -----------------------------------------------------------------------
 */

static void ask(struct graphics *graphics, const char *text)
{
    screen_ask(graphics->screen, text, strlen(text), SCREEN_ANSWER_DEVICE);
}

void graphics_ask(struct graphics *graphics)
{
    if (graphics->asked || !may_ask())
        return;
    if (graphics->wish == WISH_AUTO) {
        graphics->asked = true;
        ask(graphics, questions);
    } else if (graphics->wish == WISH_SIXEL) {
        ask(graphics, CELL_SIZE SIXELS DEVICE);
    }
}

bool graphics_set_wish(struct graphics *graphics, const char *wish)
{
    enum graphics_wish parsed = parse_wish(wish);
    if (parsed == graphics->wish)
        return false;
    kitty_leave(graphics);
    sixels_forget(graphics);
    graphics->wish = parsed;
    graphics_ask(graphics);
    return true;
}

/* The numbers of ESC [ ? 1 ; 2 ; 3 x; returns how many there are. */
static size_t read_numbers(const char *text, const char *end, int *numbers, size_t limit)
{
    size_t count = 1;
    memset(numbers, 0, limit * sizeof(*numbers));
    for (; text < end; text++) {
        if (*text == ';' && count++ == limit)
            return limit;
        if (*text >= '0' && *text <= '9' && numbers[count - 1] < 100000)
            numbers[count - 1] = numbers[count - 1] * 10 + *text - '0';
    }
    return count;
}

/* What draws placeholders: other terminals that know kitty's protocol know nothing of these. */
static bool knows_placeholders(const char *text, size_t size)
{
    char name[64] = "";
    int major = 0, minor = 0;
    memcpy(name, text, size < sizeof(name) - 1 ? size : sizeof(name) - 1);
    const char *version = strstr(name, "kitty(");
    if (strstr(name, "ghostty"))
        return true;
    return version && sscanf(version, "kitty(%5d.%5d", &major, &minor) == 2 &&
           (major > 0 || minor >= 28);
}

/* ESC [ ? item ; status ; value... S */
static void take_limits(struct graphics *graphics, const int *numbers, size_t count)
{
    struct sixels *sixels = &graphics->sixels;
    if (count < 3 || numbers[1] != 0)
        return;
    if (numbers[0] == 1 && numbers[2] >= 2)
        sixels->registers = numbers[2] < SIXEL_COLOURS_MAX ? numbers[2] : SIXEL_COLOURS_MAX;
    if (numbers[0] == 2 && count > 3 && numbers[2] > 0 && numbers[3] > 0) {
        sixels->width_max = numbers[2] < SIDE_MAX ? numbers[2] : SIDE_MAX;
        sixels->height_max = numbers[3] < SIDE_MAX ? numbers[3] : SIDE_MAX;
    }
}

static void take_csi(struct graphics *graphics, const char *text, size_t size)
{
    int numbers[32];
    bool question = text[2] == '?';
    char final = text[size - 1];
    size_t count = read_numbers(text + 2 + question, text + size - 1, numbers, 32);
    if (question && final == 'c') {
        bool before = graphics->can_sixel;
        screen_answered(graphics->screen, SCREEN_ANSWER_DEVICE);
        for (size_t i = 1; i < count; i++)
            graphics->can_sixel |= numbers[i] == 4;
        if (graphics->can_sixel && !before && graphics->wish == WISH_AUTO)
            ask(graphics, SIXELS DEVICE);
    } else if (question && final == 'S') {
        take_limits(graphics, numbers, count);
    } else if (!question && final == 't' && count == 3 && numbers[0] == 6 && numbers[1] > 1 &&
               numbers[2] > 1 && numbers[1] < 1000 && numbers[2] < 1000) {
        graphics->cell_height = numbers[1];
        graphics->cell_width = numbers[2];
    }
}

bool graphics_take_reply(struct graphics *graphics, const char *text, size_t size)
{
    enum graphics_protocol before = graphics_protocol(graphics);
    const struct graphics old = *graphics;
    if (size > 4 && memcmp(text, "\033[", 2) == 0)
        take_csi(graphics, text, size);
    else if (size > 6 && memcmp(text, "\033_Gi=31", 7) == 0)
        graphics->can_kitty |= memmem(text, size, ";OK", 3) != NULL;
    else if (size > 4 && memcmp(text, "\033P>|", 4) == 0)
        graphics->has_placeholders |= knows_placeholders(text, size);
    bool sizes = old.cell_width != graphics->cell_width ||
                 old.cell_height != graphics->cell_height ||
                 old.sixels.registers != graphics->sixels.registers ||
                 old.sixels.width_max != graphics->sixels.width_max ||
                 old.sixels.height_max != graphics->sixels.height_max;
    if (sizes)
        sixels_forget(graphics);
    enum graphics_protocol now = graphics_protocol(graphics);
    return now != before || (sizes && now == PROTOCOL_SIXEL);
}

bool graphics_resized(struct graphics *graphics)
{
    int width, height;
    if (screen_cell_pixels(graphics->screen, &width, &height)) {
        if (width == graphics->cell_width && height == graphics->cell_height)
            return false;
        graphics->cell_width = width;
        graphics->cell_height = height;
        sixels_forget(graphics);
        return true;
    }
    if (graphics->can_sixel || (graphics->wish == WISH_SIXEL && may_ask()))
        ask(graphics, CELL_SIZE DEVICE);
    return false;
}

/*
 * ---- drawing
 * -------------------------------------------------------------------------------------
 */

void graphics_begin(struct graphics *graphics, bool covered)
{
    graphics->frame++;
    graphics->covered = covered;
    sixels_begin(graphics);
}

void graphics_row(struct graphics *graphics, const struct block_picture *picture, size_t row,
                  int left, int screen_row, int screen_column, int columns)
{
    switch (graphics_protocol(graphics)) {
    case PROTOCOL_KITTY:
        kitty_row(graphics, picture, row, left, screen_row, screen_column, columns);
        break;
    case PROTOCOL_SIXEL:
        if (left == 0 && picture->columns <= columns && !graphics->covered)
            sixels_row(graphics, picture, row, screen_row, screen_column);
        break;
    case PROTOCOL_NONE:
        break;
    }
}

void graphics_before_flush(struct graphics *graphics)
{
    sixels_before_flush(graphics);
}

void graphics_after_flush(struct graphics *graphics)
{
    sixels_after_flush(graphics);
}

void graphics_sweep(struct graphics *graphics, bool (*alive)(void *context, uint64_t id),
                    void *context)
{
    kitty_sweep(graphics, alive, context);
    sixels_sweep(graphics, alive, context);
}

void graphics_leave(struct graphics *graphics)
{
    static const char clear[] = "\033[2J";
    kitty_leave(graphics);
    if (graphics->sixels.shown.count) /* where there is no other screen, they would stay */
        screen_send(graphics->screen, clear, sizeof(clear) - 1);
    graphics->sixels.wanted.count = graphics->sixels.shown.count = 0;
}
