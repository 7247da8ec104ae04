/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "sixel.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

#define BAND 6     /* pixels, one above the other, in a character */
#define BINS 32768 /* five bits of each colour */

/*
 * ---- choosing colours: median cut
 * ----------------------------------------------------------------
 */

/* Pixels of nearly the same colour. */
struct bin {
    uint64_t count, sum[3];
    int index;
};

/* Some of the bins, which become one colour. */
struct box {
    size_t first, count;
    uint64_t pixels;
    int axis, extent; /* along which they differ most, and how much */
};

struct palette {
    struct bin *bins;     /* those that are used, sorted into the boxes */
    int16_t colour[BINS]; /* the number of a bin's box */
    struct box boxes[SIXEL_COLOURS_MAX];
    int count;
};

static int bin_of(uint32_t rgb)
{
    return (int)((rgb >> 9 & 0x7c00) | (rgb >> 6 & 0x03e0) | (rgb >> 3 & 0x1f));
}

static int component(const struct bin *bin, int axis)
{
    return bin->index >> (10 - 5 * axis) & 31;
}

static size_t count_bins(struct palette *palette, const uint32_t *pixels, size_t count)
{
    struct bin *all = xcalloc(BINS, sizeof(*all));
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (pixels[i] == SIXEL_CLEAR)
            continue;
        struct bin *bin = &all[bin_of(pixels[i])];
        bin->count++;
        for (int axis = 0; axis < 3; axis++)
            bin->sum[axis] += pixels[i] >> (16 - 8 * axis) & 255;
    }
    for (int i = 0; i < BINS; i++) {
        if (all[i].count) {
            all[used] = all[i];
            all[used++].index = i;
        }
    }
    palette->bins = all;
    return used;
}

static void measure(const struct palette *palette, struct box *box)
{
    box->pixels = 0;
    box->extent = -1;
    for (int axis = 0; axis < 3; axis++) {
        int low = 31, high = 0;
        for (size_t i = box->first; i < box->first + box->count; i++) {
            int value = component(&palette->bins[i], axis);
            low = value < low ? value : low;
            high = value > high ? value : high;
            if (axis == 0)
                box->pixels += palette->bins[i].count;
        }
        if (high - low > box->extent) {
            box->extent = high - low;
            box->axis = axis;
        }
    }
}

static int compare_bins(const void *a, const void *b, void *context)
{
    int axis = *(const int *)context;
    const struct bin *left = a, *right = b;
    int difference = component(left, axis) - component(right, axis);
    return difference ? difference : left->index - right->index;
}

/* Half of the pixels go into a box of their own. */
static void split(struct palette *palette, struct box *box)
{
    struct bin *bins = palette->bins + box->first;
    uint64_t pixels;
    size_t half = 1;
    qsort_r(bins, box->count, sizeof(*bins), compare_bins, &box->axis);
    for (pixels = bins[0].count; half + 1 < box->count; half++) {
        if (pixels + bins[half].count / 2 > box->pixels / 2)
            break;
        pixels += bins[half].count;
    }
    struct box *other = &palette->boxes[palette->count++];
    *other = (struct box){.first = box->first + half, .count = box->count - half};
    box->count = half;
    measure(palette, box);
    measure(palette, other);
}

static void choose_colours(struct palette *palette, const uint32_t *pixels, size_t count,
                           int colours)
{
    palette->boxes[0] = (struct box){.count = count_bins(palette, pixels, count)};
    palette->count = palette->boxes[0].count ? 1 : 0;
    measure(palette, &palette->boxes[0]);
    while (palette->count && palette->count < colours) {
        struct box *best = NULL;
        uint64_t weight = 0;
        for (int i = 0; i < palette->count; i++) {
            struct box *box = &palette->boxes[i];
            uint64_t mine = box->pixels * (uint64_t)box->extent * (uint64_t)box->extent;
            if (box->count > 1 && (!best || mine > weight)) {
                best = box;
                weight = mine;
            }
        }
        if (!best)
            break;
        split(palette, best);
    }
    for (int i = 0; i < palette->count; i++) {
        const struct box *box = &palette->boxes[i];
        for (size_t k = box->first; k < box->first + box->count; k++)
            palette->colour[palette->bins[k].index] = (int16_t)i;
    }
}

/*
 * ---- writing
 * -------------------------------------------------------------------------------------
 */

static void add_number(struct strbuf *out, uint64_t number)
{
    char digits[20];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + number % 10);
    while (number /= 10);
    strbuf_add(out, digits + at, sizeof(digits) - at);
}

/* Components are percents. */
static void add_palette(struct strbuf *out, const struct palette *palette)
{
    for (int i = 0; i < palette->count; i++) {
        const struct box *box = &palette->boxes[i];
        strbuf_addc(out, '#');
        add_number(out, (uint64_t)i);
        strbuf_adds(out, ";2");
        for (int axis = 0; axis < 3 && box->pixels; axis++) {
            uint64_t sum = 0;
            for (size_t k = box->first; k < box->first + box->count; k++)
                sum += palette->bins[k].sum[axis];
            strbuf_addc(out, ';');
            add_number(out, (sum * 100 + box->pixels * 255 / 2) / (box->pixels * 255));
        }
    }
}

static void add_run(struct strbuf *out, uint8_t bits, int count)
{
    if (count > 3) {
        strbuf_addc(out, '!');
        add_number(out, (uint64_t)count);
        count = 1;
    }
    while (count-- > 0)
        strbuf_addc(out, (char)('?' + bits));
}

static void add_colour(struct strbuf *out, int colour, const uint8_t *bits, int width)
{
    while (width && !bits[width - 1])
        width--;
    strbuf_addc(out, '#');
    add_number(out, (uint64_t)colour);
    for (int x = 0; x < width;) {
        int end = x + 1;
        while (end < width && bits[end] == bits[x])
            end++;
        add_run(out, bits[x], end - x);
        x = end;
    }
    strbuf_addc(out, '$');
}

/* Six rows: each colour draws where it is, over the same line. bits: all 0, and so again after. */
static void add_band(struct strbuf *out, const struct palette *palette, const uint32_t *pixels,
                     int width, int rows, uint8_t *bits)
{
    bool used[SIXEL_COLOURS_MAX] = {false};
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < width; x++, pixels++) {
            if (*pixels == SIXEL_CLEAR)
                continue;
            int colour = palette->colour[bin_of(*pixels)];
            used[colour] = true;
            bits[(size_t)colour * (size_t)width + (size_t)x] |= (uint8_t)(1 << y);
        }
    }
    for (int colour = 0; colour < palette->count; colour++) {
        if (!used[colour])
            continue;
        uint8_t *row = bits + (size_t)colour * (size_t)width;
        add_colour(out, colour, row, width);
        memset(row, 0, (size_t)width);
    }
}

void sixel_encode(struct strbuf *out, const uint32_t *pixels, int width, int height, int colours)
{
    struct palette *palette = xcalloc(1, sizeof(*palette));
    colours = colours < 2 ? 2 : colours > SIXEL_COLOURS_MAX ? SIXEL_COLOURS_MAX : colours;
    choose_colours(palette, pixels, (size_t)width * (size_t)height, colours);
    uint8_t *bits = xcalloc((size_t)(palette->count ? palette->count : 1), (size_t)width);
    strbuf_addf(out, "\033P0;1;0q\"1;1;%d;%d", width, height); /* 1: what is not drawn stays */
    add_palette(out, palette);
    for (int y = 0; y < height; y += BAND) {
        if (y)
            strbuf_addc(out, '-');
        add_band(out, palette, pixels + (size_t)y * (size_t)width, width,
                 height - y < BAND ? height - y : BAND, bits);
    }
    strbuf_adds(out, "\033\\");
    free(bits);
    free(palette->bins);
    free(palette);
}
