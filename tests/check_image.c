/* SPDX-License-Identifier: MIT */
/*
 * Pictures in blocks: sizes, colours, what shines through, broken files, and the PNG that is kept.
 */
#include "config.h"

#include <check.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "block.h"
#include "image.h"
#include "testlib.h"

static struct block *block;
static unsigned char *file;
static size_t file_size;

static void set_up(void)
{
    block = block_new(0);
    block_resize(block, 40, 24);
}

static void tear_down(void)
{
    block_free(block);
    block = NULL;
    free(file);
    file = NULL;
}

/* A PNG of this size whose pixels are colour(x, y) as RGBA. */
static void make_png(unsigned width, unsigned height, uint32_t (*colour)(unsigned, unsigned))
{
    png_image png = {.version = PNG_IMAGE_VERSION, .width = width, .height = height};
    unsigned char *pixels = malloc((size_t)width * height * 4);
    png_alloc_size_t size = 0;
    png.format = PNG_FORMAT_RGBA;
    for (unsigned y = 0; y < height; y++) {
        for (unsigned x = 0; x < width; x++) {
            uint32_t rgba = colour(x, y);
            for (unsigned i = 0; i < 4; i++)
                pixels[((size_t)y * width + x) * 4 + i] = (unsigned char)(rgba >> (24 - 8 * i));
        }
    }
    ck_assert(png_image_write_get_memory_size(png, size, 0, pixels, 0, NULL));
    free(file);
    file = malloc(size);
    ck_assert(png_image_write_to_memory(&png, file, &size, 0, pixels, 0, NULL));
    file_size = size;
    free(pixels);
}

static uint32_t red(unsigned x, unsigned y)
{
    (void)x, (void)y;
    return 0xFF0000FF;
}

static uint32_t rows_of_colours(unsigned x, unsigned y)
{
    (void)x;
    static const uint32_t colours[] = {0x102030FF, 0x405060FF, 0x708090FF, 0x00000000};
    return colours[y % 4];
}

static uint32_t chequered(unsigned x, unsigned y)
{
    return (x ^ y) & 1 ? 0xFFFFFFFF : 0x000000FF;
}

static uint32_t half_there(unsigned x, unsigned y)
{
    (void)x, (void)y;
    return 0xFF000080;
}

static void cell_at(size_t row, size_t column, struct block_cell *ret)
{
    block_row(block, 40, row, column, ret, 1);
}

START_TEST(two_pixels_in_a_cell)
{
    struct block_cell cell;
    make_png(3, 5, rows_of_colours);
    ck_assert(block_add_png(block, file, file_size, 20));
    ck_assert_uint_eq(block_rows(block, 40), 3);
    cell_at(0, 2, &cell);
    ck_assert_uint_eq(cell.characters[0], 0x2580);
    ck_assert_uint_eq(cell.style.foreground, BLOCK_RGB | 0x102030);
    ck_assert_uint_eq(cell.style.background, BLOCK_RGB | 0x405060);
    cell_at(1, 0, &cell);
    ck_assert_uint_eq(cell.style.foreground, BLOCK_RGB | 0x708090);
    ck_assert_uint_eq(cell.style.background, 0); /* clear: the terminal's own */
    cell_at(2, 0, &cell);
    ck_assert_uint_eq(cell.style.foreground, BLOCK_RGB | 0x102030);
    ck_assert_uint_eq(cell.style.background, 0); /* no pixel */
    cell_at(0, 3, &cell);
    ck_assert_uint_eq(cell.characters[0], ' ');
}
END_TEST

START_TEST(scaled_to_fit)
{
    static const struct {
        unsigned width, height;
        int rows_max;
        size_t columns, rows;
    } rows[] = {
        {40, 40, 30, 40, 20},   {80, 80, 30, 40, 20}, {80, 80, 10, 20, 10}, {10, 10, 30, 10, 5},
        {1, 1, 30, 1, 1},       {400, 1, 30, 40, 1},  {1, 400, 10, 1, 10},  {4000, 30, 30, 40, 1},
        {640, 400, 30, 40, 13}, {41, 3, 30, 40, 2},   {3, 100, 1, 1, 1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        tear_down();
        set_up();
        make_png(rows[i].width, rows[i].height, red);
        ck_assert(block_add_png(block, file, file_size, rows[i].rows_max));
        ck_assert_uint_eq(block_rows(block, 40), rows[i].rows);
        for (size_t row = 0; row < rows[i].rows; row++) {
            struct block_cell cell;
            ck_assert_uint_eq(block_row(block, 40, row, 0, &cell, 1), rows[i].columns);
            ck_assert_uint_eq(cell.style.foreground, BLOCK_RGB | 0xFF0000);
        }
    }
    make_png(4, 4, red);
    ck_assert(!block_add_png(block, file, file_size, 0));
}
END_TEST

START_TEST(areas_are_averaged)
{
    struct block_cell cell;
    make_png(160, 160, chequered);
    ck_assert(block_add_png(block, file, file_size, 40));
    for (size_t column = 0; column < 40; column++) {
        cell_at(7, column, &cell);
        uint32_t level = cell.style.foreground & 0xFF;
        ck_assert_uint_ge(level, 0x7E);
        ck_assert_uint_le(level, 0x81);
    }
}
END_TEST

START_TEST(what_shines_through)
{
    struct block_cell cell;
    make_png(2, 2, half_there);
    ck_assert(block_add_png(block, file, file_size, 40));
    cell_at(0, 0, &cell);
    ck_assert_uint_eq(cell.style.foreground, BLOCK_RGB | 0x800000);
    block_set_background(block, 0xFFFFFF);
    ck_assert(block_add_png(block, file, file_size, 40));
    cell_at(1, 0, &cell);
    ck_assert_uint_eq(cell.style.foreground, BLOCK_RGB | 0xFF7F7F);
}
END_TEST

/* A picture is never broken into rows that show something else. */
START_TEST(in_the_flow_of_text)
{
    struct strbuf text = STRBUF_INIT;
    make_png(30, 4, red);
    block_write(block, "\x1b[32mbefore", 11);
    ck_assert(block_add_png(block, file, file_size, 40));
    block_write(block, "after", 5);
    ck_assert_uint_eq(block_rows(block, 40), 4);
    ck_assert_uint_eq(block_rows(block, 10), 4);
    struct block_cell cell;
    ck_assert_uint_eq(block_row(block, 10, 1, 0, &cell, 1), 10);
    cell_at(3, 0, &cell);
    ck_assert_uint_eq(cell.style.foreground, BLOCK_INDEX | 2);
    block_text(block, false, &text);
    ck_assert(strncmp(strbuf_text(&text), "before\n\xe2\x96\x80", 10) == 0);
    strbuf_free(&text);
}
END_TEST

START_TEST(the_png_is_kept)
{
    struct block_picture picture, last;
    make_png(30, 6, red);
    block_write(block, "0123456789\n", 11);
    ck_assert(block_add_png(block, file, file_size, 40));
    ck_assert(block_add_png(block, file, file_size, 40));
    block_write(block, "x\n", 2);
    for (int ended = 0; ended < 2; ended++) {
        ck_assert(!block_picture_at(block, 40, 0, &picture));
        ck_assert(block_picture_at(block, 40, 3, &picture));
        ck_assert_uint_eq(picture.size, file_size);
        ck_assert(memcmp(picture.png, file, file_size) == 0);
        ck_assert_uint_eq(picture.first_row, 1);
        ck_assert_uint_eq(picture.rows, 3);
        ck_assert_int_eq(picture.columns, 30);
        ck_assert(block_has_picture(block, picture.id));
        ck_assert(!block_has_picture(block, 0));
        ck_assert(block_last_picture(block, &last));
        ck_assert(ended ? last.id == picture.id : last.id > picture.id); /* the whole one */
        ck_assert(block_picture_at(block, 5, 3, &picture));
        ck_assert_uint_eq(picture.first_row, 2); /* the text above has two rows */
        ck_assert(!block_picture_at(block, 40, 7, &picture));
        if (!ended) {
            block_write(block, "\x1b[2AX\x1b[2B", 9); /* over the second */
            ck_assert(!block_picture_at(block, 40, 4, &picture));
            ck_assert(block_picture_at(block, 40, 1, &picture));
        }
        block_end(block);
    }
    for (int i = 0; i < 200000; i++) /* until it is dropped */
        block_write(block, "0123456789 0123456789 0123456789 0123456789 0123456789\n", 55);
    ck_assert(block_picture_at(block, 40, 1, &picture)); /* the head stays */
    ck_assert(block_add_png(block, file, file_size, 40));
    for (int i = 0; i < 200000; i++)
        block_write(block, "0123456789 0123456789 0123456789 0123456789 0123456789\n", 55);
    size_t all = block_rows(block, 0), found = 0;
    for (size_t row = 0; row < all; row++)
        found += block_picture_at(block, 0, row, &picture);
    ck_assert_uint_eq(found, 3);
}
END_TEST

START_TEST(what_is_no_picture)
{
    make_png(50, 50, rows_of_colours);
    ck_assert(!block_add_png(block, "", 0, 10));
    ck_assert(!block_add_png(block, "GIF89a", 6, 10));
    for (size_t size = 0; size < file_size; size++) {
        unsigned char *cut = malloc(size + 1);
        memcpy(cut, file, size);
        block_add_png(block, cut, size, 10); /* what is there of it may do */
        free(cut);
    }
    tear_down();
    set_up();
    make_png(50, 50, rows_of_colours);
    for (size_t i = 0; i < file_size; i++) {
        unsigned char *broken = malloc(file_size);
        memcpy(broken, file, file_size);
        broken[i] ^= 0x55;
        block_add_png(block, broken, file_size, 10);
        free(broken);
    }
}
END_TEST

static uint32_t crc_of(const unsigned char *data, size_t size)
{
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int k = 0; k < 8; k++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    return ~crc;
}

/* A small file that says it is huge. */
START_TEST(huge_pictures_are_refused)
{
    static const unsigned sizes[][2] = {{65536, 1025}, {1000000, 1000000}, {0x7FFFFFFF, 1}, {0, 5}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        make_png(4, 4, red);
        unsigned char *header = file + 12; /* IHDR */
        for (int k = 0; k < 4; k++) {
            header[4 + k] = (unsigned char)(sizes[i][0] >> (24 - 8 * k));
            header[8 + k] = (unsigned char)(sizes[i][1] >> (24 - 8 * k));
        }
        uint32_t crc = crc_of(header, 17);
        for (int k = 0; k < 4; k++)
            header[17 + k] = (unsigned char)(crc >> (24 - 8 * k));
        ck_assert(!block_add_png(block, file, file_size, 10));
        ck_assert(block_is_empty(block));
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image");
    TCase *tests = tcase_create("image");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, two_pixels_in_a_cell);
    tcase_add_test(tests, scaled_to_fit);
    tcase_add_test(tests, areas_are_averaged);
    tcase_add_test(tests, what_shines_through);
    tcase_add_test(tests, in_the_flow_of_text);
    tcase_add_test(tests, the_png_is_kept);
    tcase_add_test(tests, what_is_no_picture);
    tcase_add_test(tests, huge_pictures_are_refused);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
