/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <curses.h>
#include <stdlib.h>
#include <string.h>

#include "colour.h"
#include "true-colour.h"
#include "xalloc.h"

#define PAIRS_MIN 2048  /* fewer are not worth drawing everything again */
#define PAIRS_MAX 65535 /* beyond, ncurses draws something else */
#define SLOTS 131072    /* of the table; a power of two, twice as many as pairs */

struct slot {
    uint64_t key; /* 0: empty; else foreground and background, each with 1 added */
    int pair;
};

struct colours {
    bool any;
    bool all; /* those of 24 bits too */
    int colours;
    int pairs;     /* that ncurses has */
    int pairs_max; /* that are used: each takes about 150 bytes in all */
    int used;
    size_t size; /* of the table: it grows, most screens have few colours */
    struct slot *slots;
};

struct colours *colours_new(bool wanted)
{
    struct colours *colours = xcalloc(1, sizeof(*colours));
    if (wanted && has_colors() && start_color() == OK) {
        use_default_colors();
        colours->colours = COLORS;
        colours->all = COLORS == TRUE_COLOUR_COUNT;
        colours->pairs = COLOR_PAIRS - 1 < PAIRS_MAX ? COLOR_PAIRS - 1 : PAIRS_MAX;
        colours->any = COLORS >= 8 && colours->pairs > 0;
    }
    colours->size = 256;
    colours->slots = xcalloc(colours->size, sizeof(*colours->slots));
    return colours;
}

void colours_free(struct colours *colours)
{
    if (!colours)
        return;
    free(colours->slots);
    free(colours);
}

void colours_set_cells(struct colours *colours, size_t cells)
{
    size_t wanted = cells * 2 > PAIRS_MIN ? cells * 2 : PAIRS_MIN;
    colours->pairs_max = wanted < (size_t)colours->pairs ? (int)wanted : colours->pairs;
}

bool colours_any(const struct colours *colours)
{
    return colours->any;
}

/* The nearest level of the 6×6×6 cube. */
static int cube_level(int value)
{
    return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40;
}

static int square(int value)
{
    return value * value;
}

int colours_nearest_256(unsigned rgb)
{
    static const int levels[] = {0, 95, 135, 175, 215, 255};
    int red = (int)(rgb >> 16 & 255), green = (int)(rgb >> 8 & 255), blue = (int)(rgb & 255);
    int r = cube_level(red), g = cube_level(green), b = cube_level(blue);
    int grey_step = ((red + green + blue) / 3 - 3) / 10;
    grey_step = grey_step < 0 ? 0 : grey_step > 23 ? 23 : grey_step;
    int grey = 8 + 10 * grey_step;
    int cube_distance =
        square(levels[r] - red) + square(levels[g] - green) + square(levels[b] - blue);
    int grey_distance = square(grey - red) + square(grey - green) + square(grey - blue);
    return grey_distance < cube_distance ? 232 + grey_step : 16 + 36 * r + 6 * g + b;
}

/* One of the first eight for one of 256. */
static int of_eight(int index)
{
    if (index < 16)
        return index & 7;
    if (index >= 232)
        return index < 244 ? 0 : 7;
    int red = (index - 16) / 36, green = (index - 16) / 6 % 6, blue = (index - 16) % 6;
    return (red > 2 ? 1 : 0) | (green > 2 ? 2 : 0) | (blue > 2 ? 4 : 0);
}

static int number_of(const struct colours *colours, uint32_t colour)
{
    if (!colour)
        return -1;
    if (colours->all && colour & BLOCK_RGB)
        return TRUE_COLOUR_BASE + (int)(colour & 0xffffff);
    int index = colour & BLOCK_RGB ? colours_nearest_256(colour & 0xffffff) : (int)(colour & 255);
    if (index < colours->colours)
        return index;
    return colours->colours >= 16 && index < 16 ? index : of_eight(index);
}

static struct slot *find_slot(struct slot *slots, size_t size, uint64_t key)
{
    size_t i = (key * 0x9e3779b97f4a7c15u >> 32) & (size - 1);
    while (slots[i].key && slots[i].key != key)
        i = (i + 1) & (size - 1);
    return &slots[i];
}

static void grow(struct colours *colours)
{
    size_t size = colours->size * 4;
    struct slot *slots = xcalloc(size, sizeof(*slots));
    for (size_t i = 0; i < colours->size; i++) {
        if (colours->slots[i].key)
            *find_slot(slots, size, colours->slots[i].key) = colours->slots[i];
    }
    free(colours->slots);
    colours->slots = slots;
    colours->size = size;
}

void colours_forget(struct colours *colours)
{
    reset_color_pairs();
    memset(colours->slots, 0, colours->size * sizeof(*colours->slots));
    colours->used = 0;
}

int colours_pair(struct colours *colours, const struct block_style *style, bool *ret_full)
{
    if (!colours->any || (!style->foreground && !style->background))
        return 0;
    int front = number_of(colours, style->foreground), back = number_of(colours, style->background);
    uint64_t key = (uint64_t)(front + 1) << 32 | (uint32_t)(back + 1);
    struct slot *slot = find_slot(colours->slots, colours->size, key);
    if (slot->key)
        return slot->pair;
    if (colours->used >= colours->pairs_max) {
        *ret_full = true;
        return 0;
    }
    if ((size_t)colours->used * 2 >= colours->size && colours->size < SLOTS) {
        grow(colours);
        slot = find_slot(colours->slots, colours->size, key);
    }
    int pair = ++colours->used;
    if (init_extended_pair(pair, front, back) != OK)
        return 0;
    *slot = (struct slot){key, pair};
    return pair;
}

unsigned long colours_attributes(const struct block_style *style)
{
    static const struct {
        unsigned ours;
        attr_t theirs;
    } map[] = {
        {BLOCK_BOLD, A_BOLD},           {BLOCK_DIM, A_DIM},         {BLOCK_ITALIC, A_ITALIC},
        {BLOCK_UNDERLINE, A_UNDERLINE}, {BLOCK_REVERSE, A_REVERSE}, {BLOCK_CONCEAL, A_INVIS},
    };
    attr_t attributes = A_NORMAL;
    if (!style->attributes)
        return attributes;
    for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++) {
        if (style->attributes & map[i].ours)
            attributes |= map[i].theirs;
    }
    return attributes;
}
