/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "image.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "xalloc.h"

/* ---- reading -------------------------------------------------------------------------------- */

/* Mapped, for it may be too large to be had: that is no reason to end the program. */
struct raster {
    uint8_t *rgba;
    uint64_t width, height;
};

static bool raster_map(struct raster *raster)
{
    void *memory = mmap(NULL, raster->width * raster->height * 4, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    raster->rgba = memory == MAP_FAILED ? NULL : memory;
    return raster->rgba != NULL;
}

static void raster_unmap(struct raster *raster)
{
    if (raster->rgba)
        munmap(raster->rgba, raster->width * raster->height * 4);
}

static bool read_png(const void *data, size_t size, struct raster *ret)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    bool done = false;
    if (!size || !png_image_begin_read_from_memory(&png, data, size))
        return false;
    *ret = (struct raster){.width = png.width, .height = png.height};
    png.format = PNG_FORMAT_RGBA;
    if (ret->width && ret->height && ret->width <= IMAGE_PIXELS_MAX / ret->height)
        done = raster_map(ret) && png_image_finish_read(&png, NULL, ret->rgba, 0, NULL);
    png_image_free(&png);
    if (!done)
        raster_unmap(ret);
    return done;
}

/* ---- scaling -------------------------------------------------------------------------------- */

static uint32_t blend(uint64_t sum, uint64_t alpha, uint64_t count, uint32_t background)
{
    uint64_t full = count * 255;
    return (uint32_t)((sum + (full - alpha) * background + full / 2) / full);
}

/* The average of a rectangle of pixels. */
static uint32_t average(const struct raster *raster, uint64_t left, uint64_t right, uint64_t top,
                        uint64_t bottom, uint32_t background)
{
    uint64_t red = 0, green = 0, blue = 0, alpha = 0;
    uint64_t count = (right - left) * (bottom - top);
    for (uint64_t y = top; y < bottom; y++) {
        const uint8_t *at = raster->rgba + (y * raster->width + left) * 4;
        for (uint64_t x = left; x < right; x++, at += 4) {
            red += (uint32_t)at[0] * at[3];
            green += (uint32_t)at[1] * at[3];
            blue += (uint32_t)at[2] * at[3];
            alpha += at[3];
        }
    }
    if (alpha * 16 < count * 255)
        return IMAGE_CLEAR; /* next to nothing can be seen */
    return blend(red, alpha, count, background >> 16 & 0xFF) << 16 |
           blend(green, alpha, count, background >> 8 & 0xFF) << 8 |
           blend(blue, alpha, count, background & 0xFF);
}

static uint64_t at_least_1(uint64_t value)
{
    return value ? value : 1;
}

/* How large the picture becomes, in pixels: the aspect stays. */
static void fit(const struct raster *raster, uint64_t width_max, uint64_t height_max,
                uint64_t *ret_width, uint64_t *ret_height)
{
    uint64_t width = raster->width, height = raster->height;
    if (width > width_max) {
        height = at_least_1((height * width_max + width / 2) / width);
        width = width_max;
    }
    if (height > height_max) {
        width = at_least_1((width * height_max + height / 2) / height);
        height = height_max;
    }
    *ret_width = width;
    *ret_height = height;
}

/* Where the part of a pixel ends; it has one pixel of the picture at least. */
static uint64_t part_end(uint64_t index, uint64_t from, uint64_t to)
{
    uint64_t begin = index * from / to, end = (index + 1) * from / to;
    return end > begin ? end : begin + 1;
}

static void scale(const struct raster *raster, uint64_t width, uint64_t height, uint32_t background,
                  uint32_t *to)
{
    for (uint64_t y = 0; y < height; y++) {
        uint64_t top = y * raster->height / height, bottom = part_end(y, raster->height, height);
        for (uint64_t x = 0; x < width; x++)
            *to++ = average(raster, x * raster->width / width, part_end(x, raster->width, width),
                            top, bottom, background);
    }
}

bool image_read(const void *png, size_t size, int columns_max, int rows_max, uint32_t background,
                struct image *ret_image)
{
    struct raster raster;
    uint64_t width, height;
    if (columns_max < 1 || rows_max < 1 || !read_png(png, size, &raster))
        return false;
    fit(&raster, (uint64_t)columns_max, (uint64_t)rows_max * 2, &width, &height);
    ret_image->columns = (int)width;
    ret_image->rows = (int)((height + 1) / 2);
    ret_image->pixels = xmalloc(width * (uint64_t)ret_image->rows * 2 * sizeof(uint32_t));
    scale(&raster, width, height, background, ret_image->pixels);
    for (uint64_t x = 0; height % 2 && x < width; x++)
        ret_image->pixels[height * width + x] = IMAGE_CLEAR;
    raster_unmap(&raster);
    return true;
}

uint32_t *image_scale(const void *png, size_t size, int width, int height, uint32_t background)
{
    struct raster raster;
    if (width < 1 || height < 1 || (uint64_t)width > IMAGE_PIXELS_MAX / (uint64_t)height ||
        !read_png(png, size, &raster))
        return NULL;
    uint32_t *pixels = xmalloc((size_t)width * (size_t)height * sizeof(*pixels));
    scale(&raster, (uint64_t)width, (uint64_t)height, background, pixels);
    raster_unmap(&raster);
    return pixels;
}

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

bool image_size(const void *png, size_t size, uint32_t *ret_width, uint32_t *ret_height)
{
    static const char head[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    const unsigned char *bytes = png;
    if (size < 24 || memcmp(bytes, head, 16) != 0)
        return false;
    *ret_width = big_endian(bytes + 16);
    *ret_height = big_endian(bytes + 20);
    return *ret_width && *ret_height;
}

void image_free(struct image *image)
{
    free(image->pixels);
    image->pixels = NULL;
}
