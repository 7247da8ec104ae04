/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pictures as half blocks: a PNG is scaled down until it fits, two pixels stand in each column.
 * Knows nothing of blocks.
 */
#ifndef UI_BLOCK_IMAGE_H
#define UI_BLOCK_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMAGE_PIXELS_MAX ((uint64_t)64 << 20)

/* Half of a cell: colour 0xRRGGBB, or the terminal's own background. */
#define IMAGE_CLEAR UINT32_MAX

struct image {
    int columns, rows;
    uint32_t *pixels; /* columns * rows * 2, from the top */
};

/*
 * At most so many columns and rows, and not larger than the picture is. What shines through gets
 * some of the background. False: no PNG, a broken one, or a huge one.
 */
bool image_read(const void *png, size_t size, int columns_max, int rows_max, uint32_t background,
                struct image *ret_image);
/* The same with exactly so many pixels, smaller or larger; pixels are width * height. Yours. */
uint32_t *image_scale(const void *png, size_t size, int width, int height, uint32_t background);
/* What the file says of its size. False: no PNG. */
bool image_size(const void *png, size_t size, uint32_t *ret_width, uint32_t *ret_height);
void image_free(struct image *image);

#endif
