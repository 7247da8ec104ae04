/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the output of a cell, cut and resized by what they are: only shown characters come
 * out, rows and lines fit together, memory stays within bounds; the rest of them as a picture.
 */
#include "config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../../ui/utf8.h" /* not that of src/ */
#include "block.h"
#include "char-width.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(bool condition)
{
    if (!condition)
        abort();
}

static void check_cells(const struct block_cell *cells, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        need(cells[i].width <= 2);
        if (!cells[i].width) {
            need(i > 0 && cells[i - 1].width == 2 && !cells[i].characters[0]);
            continue;
        }
        need(cells[i].width == 1 || i + 1 < count);
        need(char_shown(cells[i].characters[0]) == cells[i].characters[0]);
        need(char_width(cells[i].characters[0]) == cells[i].width);
        for (size_t k = 1; k < BLOCK_CELL_CHARACTERS && cells[i].characters[k]; k++)
            need(char_width(cells[i].characters[k]) == 0);
    }
}

static void check_rows(struct block *block, int columns)
{
    struct block_cell cells[32];
    size_t rows = block_rows(block, columns), row, step = rows / 20 + 1;
    size_t lines = block_lines(block);
    uint64_t dropped;
    struct block_picture picture;
    int column;

    for (row = 0; row < rows; row += step) {
        size_t width = block_row(block, columns, row, 0, cells, 32);
        check_cells(cells, 32);
        need(block_has_screen(block) || columns <= 0 || width <= (size_t)columns ||
             block_gap(block, columns, &dropped) == row);
        block_row(block, columns, row, 3, cells, 7);
        check_cells(cells, 7);
        size_t line = block_line_of_row(block, columns, row);
        need(line < lines || (!lines && !line)); /* all were dropped */
        need(block_row_of_line(block, columns, line) <= row + 1);
        if (block_picture_at(block, columns, row, &picture))
            need(picture.first_row <= row && row < picture.first_row + picture.rows);
    }
    block_cursor(block, columns, &row, &column);
    need(row <= rows && column >= 0);
    need(columns <= 0 || block_has_screen(block) || column < columns);
}

static void check_text(const struct block *block)
{
    struct strbuf text = STRBUF_INIT;
    block_text(block, false, &text);
    need(utf8_check(strbuf_text(&text), text.size, NULL));
    for (size_t i = 0; i < text.size; i++) {
        unsigned char byte = (unsigned char)text.data[i];
        need(byte == '\n' || (byte >= 0x20 && byte != 0x7F));
        need(byte != 0xC2 || (unsigned char)text.data[i + 1] >= 0xA0);
    }
    strbuf_clear(&text);
    block_text(block, true, &text);
    strbuf_clear(&text);
    for (size_t i = 0, lines = block_lines(block); i < lines && i < 50; i++)
        block_line_text(block, i, &text);
    strbuf_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct block *block = block_new(1);
    struct strbuf answers = STRBUF_INIT;

    for (size_t at = 0; at + 2 < size;) {
        unsigned what = data[at] & 7, n = data[at] >> 3, length = data[at + 1] + 1u;
        at += 2;
        if (length > size - at)
            length = (unsigned)(size - at);
        if (what == 1)
            block_resize(block, (int)length, (int)n);
        else if (what == 2)
            block_add_png(block, data + at, size - at, (int)n);
        else if (what == 3)
            block_end(block);
        for (unsigned times = 0; times <= (what == 4 ? n * 8 : 0); times++)
            block_write(block, (const char *)data + at, length);
        at += length;
        check_rows(block, (int)(n % 3 ? n : 0));
        block_modes(block);
    }
    check_text(block);
    block_take_answers(block, &answers);
    need(answers.size <= 16384);
    block_end(block);
    need(!block_has_screen(block));
    check_rows(block, 10);
    check_text(block);
    strbuf_free(&answers);
    block_free(block);
    return 0;
}
