/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Pictures in a block: rows of half blocks, and the PNGs they were made of. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "block-internal.h"
#include "image.h"
#include "xalloc.h"

/* All PNGs of a block; then the oldest are forgotten, and only their half blocks stay. */
#define IMAGES_MAX_BYTES ((size_t)8 << 20)

enum { UPPER_HALF = 0x2580, LOWER_HALF = 0x2584 };

static void forget(struct block_images *images, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        images->bytes -= images->list[i].size + sizeof(*images->list);
        free(images->list[i].png);
    }
    images->count -= count;
    memmove(images->list, images->list + count, images->count * sizeof(*images->list));
}

void block_images_free(struct block_images *images)
{
    if (images->count)
        forget(images, images->count);
    free(images->list);
    images->list = NULL;
}

static void remember(struct block_images *images, uint64_t number, const struct image *image,
                     const void *png, size_t size)
{
    static uint64_t last_id;
    size_t old = 0, bytes = images->bytes + size + sizeof(*images->list);
    while (old < images->count && bytes > IMAGES_MAX_BYTES)
        bytes -= images->list[old++].size + sizeof(*images->list);
    if (old)
        forget(images, old);
    if (bytes > IMAGES_MAX_BYTES)
        return;
    images->list = xgrow(images->list, images->count, &images->capacity, sizeof(*images->list));
    images->list[images->count++] = (struct block_image){
        ++last_id, number, (size_t)image->rows, image->columns, xmemdup0(png, size), size};
    images->bytes = bytes;
}

/* Two pixels, one above the other. */
static void put_pixels(struct lines *lines, uint32_t upper, uint32_t lower)
{
    struct block_style style = {0};
    uint32_t code = UPPER_HALF;
    if (upper == IMAGE_CLEAR && lower == IMAGE_CLEAR) {
        code = ' ';
    } else if (upper == IMAGE_CLEAR) {
        code = LOWER_HALF;
        style.foreground = BLOCK_RGB | lower;
    } else {
        style.foreground = BLOCK_RGB | upper;
        style.background = lower == IMAGE_CLEAR ? 0 : BLOCK_RGB | lower;
    }
    lines->style = style;
    lines_put(lines, code);
}

static void put_row(struct lines *lines, const struct image *image, int row)
{
    const uint32_t *upper = image->pixels + (size_t)row * 2 * (size_t)image->columns;
    for (int x = 0; x < image->columns; x++)
        put_pixels(lines, upper[x], upper[x + image->columns]);
    lines_at(lines, lines->row)->flags |= LINE_FIXED;
    lines_newline(lines);
}

bool block_add_png(struct block *block, const void *data, size_t size, int max_rows)
{
    struct lines *lines = &block->lines;
    struct block_style style = lines->style;
    struct image image;
    if (!image_read(data, size, lines->window_columns, max_rows, block->background, &image))
        return false;
    lines_fresh(lines);
    uint64_t number = lines_number(lines, lines->row);
    for (int row = 0; row < image.rows; row++)
        put_row(lines, &image, row);
    lines->style = style;
    remember(&block->images, number, &image, data, size);
    image_free(&image);
    block->version++;
    return true;
}

/* The last picture that begins at the line or before it. */
static const struct block_image *find_image(const struct block_images *images, uint64_t number)
{
    size_t low = 0, high = images->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (images->list[middle].number <= number)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || number >= images->list[low - 1].number + images->list[low - 1].rows)
        return NULL;
    return &images->list[low - 1];
}

/* Whether all its lines are there and show nothing else. */
static bool is_whole(struct block *block, const struct block_image *image)
{
    struct lines *lines = &block->lines;
    const struct pages *pages = &lines->pages;
    uint64_t end = pages->next + lines->count;
    for (uint64_t number = image->number; number < image->number + image->rows; number++) {
        struct line_view view;
        if (number >= end ||
            (number < pages->next && pages_number(pages, pages_kept(pages, number)) != number))
            return false;
        lines_view(lines, number, &view);
        if (!(view.flags & LINE_FIXED))
            return false;
    }
    return true;
}

static void describe(struct block *block, int columns, const struct block_image *image,
                     struct block_picture *ret)
{
    *ret = (struct block_picture){
        .id = image->id,
        .png = image->png,
        .size = image->size,
        .first_row = rows_of_line(&block->rows, &block->lines, columns, image->number),
        .rows = image->rows,
        .columns = image->columns,
    };
}

bool block_picture_at(struct block *block, int columns, size_t row,
                      struct block_picture *ret_picture)
{
    uint64_t number;
    size_t within;
    if (block->grid || !block->images.count ||
        !rows_find(&block->rows, &block->lines, columns, row, &number, &within))
        return false;
    const struct block_image *image = find_image(&block->images, number);
    if (!image || !is_whole(block, image))
        return false;
    describe(block, columns, image, ret_picture);
    return true;
}

bool block_last_picture(struct block *block, struct block_picture *ret_picture)
{
    for (size_t i = block->grid ? 0 : block->images.count; i-- > 0;) {
        if (is_whole(block, &block->images.list[i])) {
            describe(block, 0, &block->images.list[i], ret_picture);
            return true;
        }
    }
    return false;
}

bool block_has_picture(const struct block *block, uint64_t id)
{
    for (size_t i = 0; i < block->images.count; i++) {
        if (block->images.list[i].id == id)
            return true;
    }
    return false;
}

void block_set_background(struct block *block, uint32_t rgb)
{
    block->background = rgb & 0xFFFFFF;
}
