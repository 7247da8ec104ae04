/* SPDX-License-Identifier: MIT */
/*
 * Blocks: what each sequence does to lines, rows of a width, limits, and what hostile output cannot
 * do.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ui/utf8.h" /* not that of src/ */
#include "block.h"
#include "testlib.h"

static struct block *block;
static struct strbuf text;

static void set_up(void)
{
    block = block_new(0);
    block_resize(block, 40, 10);
}

static void tear_down(void)
{
    block_free(block);
    block = NULL;
    strbuf_free(&text);
}

static void put(const char *data)
{
    block_write(block, data, strlen(data));
}

static const char *plain(void)
{
    strbuf_clear(&text);
    block_text(block, false, &text);
    return strbuf_text(&text);
}

static const char *styled(void)
{
    strbuf_clear(&text);
    block_text(block, true, &text);
    return strbuf_text(&text);
}

/* One row as text; `|` stands where a wide character is cut or missing. */
static const char *row(int columns, size_t number, size_t left, size_t count)
{
    struct block_cell cells[128];
    strbuf_clear(&text);
    block_row(block, columns, number, left, cells, count);
    for (size_t i = 0; i < count; i++) {
        char bytes[4];
        ck_assert(cells[i].width > 0 || (i && cells[i - 1].width == 2));
        for (size_t k = 0; k < BLOCK_CELL_CHARACTERS && cells[i].characters[k]; k++)
            strbuf_add(&text, bytes, utf8_encode(cells[i].characters[k], bytes));
    }
    return strbuf_text(&text);
}

struct example {
    const char *written, *shown;
};

static void check_examples(const struct example *rows, size_t count, bool colours)
{
    for (size_t i = 0; i < count; i++) {
        tear_down();
        set_up();
        put(rows[i].written);
        const char *shown = colours ? styled() : plain();
        ck_assert_msg(strcmp(shown, rows[i].shown) == 0, "row %zu: \"%s\" instead of \"%s\"", i,
                      shown, rows[i].shown);
        ck_assert(!block_has_screen(block));
        tear_down(); /* the same, byte by byte */
        set_up();
        for (const char *at = rows[i].written; *at; at++)
            block_write(block, at, 1);
        shown = colours ? styled() : plain();
        ck_assert_msg(strcmp(shown, rows[i].shown) == 0, "row %zu in pieces: \"%s\"", i, shown);
    }
}
#define CHECK_EXAMPLES(rows, colours) check_examples(rows, sizeof(rows) / sizeof(*rows), colours)

/* ---- text and moves ------------------------------------------------------------------------- */

START_TEST(controls)
{
    static const struct example rows[] = {
        {"", ""},
        {"a", "a\n"},
        {"a\n", "a\n"},
        {"a\r\nb", "a\nb\n"},
        {"a\n\n", "a\n\n"},
        {"\n\n", "\n\n"},
        {"abc\rX", "Xbc\n"},
        {"abc\b\bX", "aXc\n"},
        {"\b\bX", "X\n"},
        {"a\tb", "a       b\n"},
        {"a\t", "a\n"},
        {"abcdefghi\r\tX", "abcdefghX\n"},
        {"ab\vc", "ab\n  c\n"},
        {"ab\fc", "ab\n  c\n"},
        {"a\x07\x0e\x0f\x7f\x01z", "az\n"},
        {"keep   \n", "keep   \n"},
    };
    CHECK_EXAMPLES(rows, false);
}
END_TEST

START_TEST(moves)
{
    static const struct example rows[] = {
        {"abc\x1b[2DX", "aXc\n"},
        {"abc\x1b[99DX", "Xbc\n"},
        {"abc\x1b[DX", "abX\n"},
        {"abc\x1b[0DX", "abX\n"},
        {"a\x1b[3CX", "a   X\n"},
        {"a\x1b[999CX", "a                                      X\n"},
        {"abc\x1b[2GX", "aXc\n"},
        {"abc\x1b[2`X", "aXc\n"},
        {"abc\x1b[GX", "Xbc\n"},
        {"abc\nde\x1b[AX", "abX\nde\n"},
        {"abc\nde\x1b[99AX", "abX\nde\n"},
        {"abc\nde\x1b[FX", "Xbc\nde\n"},
        {"abc\nde\x1b[A\x1b[BX", "abc\ndeX\n"},
        {"a\x1b[2BX", "a\n\n X\n"},
        {"a\x1b[2EX", "a\n\nX\n"},
        {"a\x1b[99BX", "a\n\n\n\n\n\n\n\n\n X\n"}, /* the window ends there */
        {"a\x1b[99Bb\x1b[99A\rX", "X\n\n\n\n\n\n\n\n\n b\n"},
        {"a\x1b"
         "7bc\x1b"
         "8X",
         "aXc\n"},
        {"a\x1b[sbc\x1b[uX", "aXc\n"},
        {"a\nb\x1b"
         "7\nc\x1b"
         "8X",
         "a\nbX\nc\n"},
        {"ab\x1b"
         "Dc",
         "ab\n  c\n"},
        {"ab\x1b"
         "Ec",
         "ab\nc\n"},
        {"ab\ncd\x1b"
         "MX",
         "abX\ncd\n"},
        {"abc\nde\x1b[HX", "Xbc\nde\n"},
        {"abc\nde\x1b[1;2HX", "aXc\nde\n"},
        {"abc\nde\x1b[1dX", "abX\nde\n"},
        {"a\x1b[2IX", "a               X\n"},
        {"0123456789\x1b[ZX", "01234567X9\n"},
        {"ab\x1b[3b", "abbbb\n"},
        {"a\n\n\n\x1b[3A", "a\n"}, /* lines below that nothing was written to */
    };
    CHECK_EXAMPLES(rows, false);
}
END_TEST

START_TEST(erasing)
{
    static const struct example rows[] = {
        {"abcdef\x1b[3D\x1b[K", "abc\n"},
        {"abcdef\x1b[3D\x1b[1K", "    ef\n"},
        {"abcdef\x1b[2K", ""},
        {"abcdef\r\x1b[Kx", "x\n"},
        {"abcdef\x1b[2Kx", "      x\n"},
        {"abcdef\x1b[3G\x1b[2X", "ab  ef\n"},
        {"abcdef\x1b[3G\x1b[99X", "ab\n"},
        {"abcdef\x1b[3G\x1b[2P", "abef\n"},
        {"abcdef\x1b[3G\x1b[99P", "ab\n"},
        {"abcdef\x1b[3G\x1b[2@", "ab  cdef\n"},
        {"abcdef\x1b[3G\x1b[99@", "ab\n"},
        {"a\nb\nc\x1b[2A\x1b[J", "a\n"},
        {"a\nbb\nc\x1b[A\r\x1b[J", "a\n"},
        {"a\nbbb\nc\x1b[A\x1b[1J", "\n  b\nc\n"},
        {"a\nb\nc\x1b[2J", "\n\n"},
        {"a\nb\nc\x1b[H\x1b[2Jx", "x\n"}, /* clear */
        {"a\nb\nc\x1b[2J\x1b[Hx", "x\n"},
        {"a\nb\nc\x1b[H\x1b[2J\x1b[3Jx", "x\n"},
        {"a\nb\x1b"
         "cx",
         "x\n"},
    };
    CHECK_EXAMPLES(rows, false);
}
END_TEST

START_TEST(clearing_leaves_what_scrolled_off)
{
    for (int i = 0; i < 15; i++)
        put("old\n");
    put("\x1b[H\x1b[2J");
    put("new\n");
    ck_assert_str_eq(plain(), "old\nold\nold\nold\nold\nold\nnew\n");
    put("\x1b[H\x1b[2Jnewer\n"); /* the next picture of an animation */
    ck_assert_str_eq(plain(), "old\nold\nold\nold\nold\nold\nnewer\n");
    put("\x1b[H\x1b[2J\x1b[3Jonly\n");
    ck_assert_str_eq(plain(), "only\n");
    uint64_t dropped = 1;
    ck_assert_uint_eq(block_gap(block, 40, &dropped), SIZE_MAX);
    ck_assert_uint_eq(dropped, 0);
}
END_TEST

START_TEST(wide_and_combining)
{
    static const struct example rows[] = {
        {"世界", "世界\n"},
        {"e\xcc\x81x\b\bE", "Ex\n"},
        {"e\xcc\x81\xcc\x82\xcc\x83\xcc\x84\xcc\x85z", "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84z\n"},
        {"\xcc\x81x", "x\n"},
        {"世a\rb", "b a\n"},       /* left half */
        {"世a\x1b[2Gb", " ba\n"},  /* right half */
        {"a世b\r世", "世 b\n"},    /* a wide one over a left half */
        {"世界\x1b[2G\x1b[K", ""}, /* the edges of erasing */
        {"世界x\x1b[3G\x1b[1K", "    x\n"},
        {"世界x\x1b[2G\x1b[P", " 界x\n"},
        {"世x\x1b[2G\x1b[@", "   x\n"},
        {"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb",
         "\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb\n"},
        {"a\xef\xbf\xbf"
         "b\xee\x80\x80",
         "a\xef\xbf\xbd"
         "b\xee\x80\x80\n"}, /* not assigned; private */
    };
    CHECK_EXAMPLES(rows, false);
}
END_TEST

START_TEST(malformed_characters)
{
    static const struct example rows[] = {
        {"a\xff"
         "b",
         "a\xef\xbf\xbd"
         "b\n"},
        {"a\xc3"
         "b",
         "a\xef\xbf\xbd"
         "b\n"},
        {"a\xe4\xb8"
         "b",
         "a\xef\xbf\xbd"
         "b\n"},
        {"a\xed\xa0\x80"
         "b",
         "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
         "b\n"},
        {"a\xe4\xb8\x1b[31mb", "a\xef\xbf\xbd"
                               "b\n"},
        {"a\xc2\x9b"
         "31mb",
         "a31mb\n"}, /* C1 controls are dropped, not obeyed */
        {"a\xe2\x80\xae"
         "b\xe2\x81\xa6"
         "c\xf3\xa0\x81\x81"
         "d",
         "abcd\n"}, /* bidi, tags */
    };
    CHECK_EXAMPLES(rows, false);
}
END_TEST

/* ---- styles --------------------------------------------------------------------------------- */

START_TEST(colours_and_attributes)
{
    static const struct example rows[] = {
        {"\x1b[31mr\x1b[0mn", "\x1b[0;31mr\x1b[0mn\n"},
        {"\x1b[31mr\x1b[mn", "\x1b[0;31mr\x1b[0mn\n"},
        {"\x1b[1;2;3;4;7;8;9mx", "\x1b[0;1;2;3;4;7;8;9mx\x1b[0m\n"},
        {"\x1b[1;2;3;4;7;8;9m\x1b[22;23;24;27;28;29mx", "x\n"},
        {"\x1b[21mx", "\x1b[0;4mx\x1b[0m\n"},
        {"\x1b[4:3mx\x1b[4:0my", "\x1b[0;4mx\x1b[0my\n"},
        {"\x1b[97;107mx\x1b[39;49my", "\x1b[0;97;107mx\x1b[0my\n"},
        {"\x1b[38;5;200;48;5;3mx", "\x1b[0;38;5;200;43mx\x1b[0m\n"},
        {"\x1b[38;2;1;2;3;48;2;4;5;6mx", "\x1b[0;38;2;1;2;3;48;2;4;5;6mx\x1b[0m\n"},
        {"\x1b[38:5:200mx", "\x1b[0;38;5;200mx\x1b[0m\n"},
        {"\x1b[38:2:1:2:3mx", "\x1b[0;38;2;1;2;3mx\x1b[0m\n"},
        {"\x1b[38:2::1:2:3;1mx", "\x1b[0;1;38;2;1;2;3mx\x1b[0m\n"},
        {"\x1b[58;5;3;1mx", "\x1b[0;1mx\x1b[0m\n"},
        {"\x1b[58:2::1:2:3;1mx", "\x1b[0;1mx\x1b[0m\n"},
        {"\x1b[38;2;1mx", "x\n"},
        {"\x1b[5;53mx", "x\n"},
        {"\x1b[31m\x1b[32mx\x1b[33m\ny", "\x1b[0;32mx\x1b[0m\n\x1b[0;33my\x1b[0m\n"},
        {"\x1b[31mabc\x1b[2G\x1b[34mX", "\x1b[0;31ma\x1b[0;34mX\x1b[0;31mc\x1b[0m\n"},
        {"\x1b[31ma\x1b[3Cb", "\x1b[0;31ma\x1b[0m   \x1b[0;31mb\x1b[0m\n"},
        {"\x1b[31mx\x1b[!py", "\x1b[0;31mx\x1b[0my\n"},
        {"\x1b[41m  \x1b[0m", "\x1b[0;41m  \x1b[0m\n"},
        {"a\x1b[41m\x1b[39G\x1b[K", "a                                     \x1b[0;41m  \x1b[0m\n"},
    };
    CHECK_EXAMPLES(rows, true);
}
END_TEST

START_TEST(styles_of_cells)
{
    struct block_cell cells[8];
    put("\x1b[1;38;2;1;2;3ma\x1b[0;48;5;7m世\x1b[0m");
    ck_assert_uint_eq(block_row(block, 40, 0, 0, cells, 8), 3);
    ck_assert_uint_eq(cells[0].style.foreground, BLOCK_RGB | 0x010203);
    ck_assert_uint_eq(cells[0].style.attributes, BLOCK_BOLD);
    ck_assert_uint_eq(cells[1].style.background, BLOCK_INDEX | 7);
    ck_assert_uint_eq(cells[1].width, 2);
    ck_assert_uint_eq(cells[2].width, 0);
    ck_assert_uint_eq(cells[2].characters[0], 0);
    ck_assert_uint_eq(cells[2].style.background, BLOCK_INDEX | 7);
    ck_assert_uint_eq(cells[3].characters[0], ' ');
    ck_assert_uint_eq(cells[3].width, 1);
    ck_assert_uint_eq(cells[3].style.background, 0);
}
END_TEST

/* ---- rows ----------------------------------------------------------------------------------- */

START_TEST(rows_of_a_width)
{
    put("0123456789abc\n\nxy\n");
    ck_assert_uint_eq(block_rows(block, 5), 5);
    ck_assert_str_eq(row(5, 0, 0, 5), "01234");
    ck_assert_str_eq(row(5, 2, 0, 5), "abc  ");
    ck_assert_str_eq(row(5, 3, 0, 5), "     ");
    ck_assert_str_eq(row(5, 1, 2, 5), "789  ");
    ck_assert_uint_eq(block_rows(block, 13), 3);
    ck_assert_uint_eq(block_rows(block, 0), 3);
    ck_assert_str_eq(row(0, 0, 10, 5), "abc  ");
    ck_assert_uint_eq(block_row_of_line(block, 5, 1), 3);
    ck_assert_uint_eq(block_line_of_row(block, 5, 2), 0);
    ck_assert_uint_eq(block_line_of_row(block, 5, 4), 2);
    strbuf_clear(&text);
    block_line_text(block, 2, &text);
    ck_assert_str_eq(strbuf_text(&text), "xy");
}
END_TEST

START_TEST(wide_characters_at_the_edge)
{
    struct block_cell cells[4];
    put("a世界b\n");
    ck_assert_uint_eq(block_rows(block, 4), 2);
    ck_assert_str_eq(row(4, 0, 0, 4), "a世 ");
    ck_assert_str_eq(row(4, 1, 0, 4), "界b ");
    ck_assert_uint_eq(block_row(block, 4, 0, 0, cells, 4), 3);
    ck_assert_uint_eq(block_rows(block, 2), 4);
    ck_assert_uint_eq(block_rows(block, 1), 4); /* a half is shown as a blank */
    ck_assert_str_eq(row(1, 1, 0, 1), " ");
    ck_assert_uint_eq(block_row(block, 1, 1, 0, cells, 4), 1);
    ck_assert_str_eq(row(0, 0, 2, 4), " 界b"); /* scrolled: cut in the middle */
    ck_assert_str_eq(row(0, 0, 0, 2), "a ");
    ck_assert_str_eq(row(0, 0, 2, 2), "  ");
}
END_TEST

START_TEST(the_cursor_in_rows)
{
    size_t at;
    int column;
    put("0123456789abc");
    ck_assert(block_cursor(block, 5, &at, &column));
    ck_assert_uint_eq(at, 2);
    ck_assert_int_eq(column, 3);
    put("\r");
    block_cursor(block, 5, &at, &column);
    ck_assert_uint_eq(at, 0);
    ck_assert_int_eq(column, 0);
    put("\x1b[7G");
    block_cursor(block, 5, &at, &column);
    ck_assert_uint_eq(at, 1);
    ck_assert_int_eq(column, 1);
    put("\nx\n");
    block_cursor(block, 5, &at, &column);
    ck_assert_uint_eq(at, 4);
    ck_assert_uint_eq(block_rows(block, 5), 4);
    put("a世界b");
    block_cursor(block, 4, &at, &column);
    ck_assert_uint_eq(at, block_rows(block, 4) - 1);
    ck_assert_int_eq(column, 3);
    put("\x1b[?25l");
    ck_assert(!block_cursor(block, 5, &at, &column));
    put("\x1b[?25h");
    ck_assert(block_cursor(block, 5, &at, &column));
}
END_TEST

/* The n-th row, found by counting, must be the one that is looked up. */
START_TEST(rows_of_many_lines)
{
    static const int widths[] = {80, 33, 7, 0};
    for (int i = 0; i < 20000; i++) {
        char line[128];
        snprintf(line, sizeof line, "%s%d %.*s\n", i % 3 ? "" : "世界", i, i % 70,
                 "e\xcc\x81----------------------------------------------------------------------");
        put(line);
    }
    ck_assert_uint_eq(block_lines(block), 20000);
    for (size_t w = 0; w < sizeof(widths) / sizeof(*widths); w++) {
        size_t sum = 0, lines = block_lines(block);
        for (size_t i = 0; i < lines; i++) {
            if (i % 97 == 0 || i + 250 > lines) {
                ck_assert_uint_eq(block_row_of_line(block, widths[w], i), sum);
                ck_assert_uint_eq(block_line_of_row(block, widths[w], sum), i);
            }
            sum = i + 1 < lines ? block_row_of_line(block, widths[w], i + 1) : sum;
        }
        ck_assert_uint_ge(block_rows(block, widths[w]), sum + 1);
    }
    ck_assert_str_eq(row(80, block_row_of_line(block, 80, 3), 0, 9), "世界3 e\xcc\x81  ");
}
END_TEST

/* ---- limits --------------------------------------------------------------------------------- */

START_TEST(long_lines_go_on)
{
    enum { SIZE = 150000 };
    char *data = malloc(SIZE + 1);
    memset(data, 'x', SIZE);
    data[SIZE] = '\0';
    put(data);
    ck_assert_uint_eq(block_lines(block), 3);
    put("\n");
    ck_assert_uint_eq(block_lines(block), 3);
    plain();
    ck_assert_uint_eq(text.size, SIZE + 1);
    ck_assert(memcmp(text.data, data, SIZE) == 0);
    put("\x1b[A");
    put(data); /* over it: there is no room for all in the middle */
    free(data);
    ck_assert_uint_le(block_lines(block), 6);
}
END_TEST

START_TEST(moves_have_an_end)
{
    put("\x1b[4000000000C\x1b[99999999999999999999Bx\x1b[99999999999D\x1b[;;;;Ay\x1b[2147483647b");
    ck_assert_uint_le(block_lines(block), 10);
    ck_assert_uint_le(strlen(plain()), 10 * 120);
    for (int i = 0; i < 20000; i++)
        put("\t");
    put("x");
    ck_assert_uint_le(strlen(plain()), 3 * BLOCK_LINE_BYTES);
}
END_TEST

/* Which lines are there, and how many are said to be missing, add up to what was written. */
START_TEST(dropped_lines_are_counted)
{
    static const size_t limits[] = {1, 100000, 1000000};
    enum { LINES = 60000 };
    for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++) {
        block_free(block);
        block = block_new(limits[i]);
        for (int n = 0; n < LINES; n++) {
            char line[64];
            snprintf(line, sizeof line, "\x1b[%dmline %d\x1b[0m\r\n", 30 + n % 8, n);
            put(line);
        }
        for (int ended = 0; ended < 2; ended++) {
            uint64_t dropped;
            size_t gap = block_gap(block, 80, &dropped), lines = block_lines(block);
            ck_assert_uint_ne(gap, SIZE_MAX);
            ck_assert_uint_eq(lines + dropped, LINES);
            ck_assert_uint_eq(block_rows(block, 80), lines + 1);
            for (size_t n = 0; n < lines; n++) {
                char wanted[64];
                snprintf(wanted, sizeof wanted, "line %zu", n < gap ? n : n + (size_t)dropped);
                strbuf_clear(&text);
                block_line_text(block, n, &text);
                ck_assert_str_eq(strbuf_text(&text), wanted);
            }
            ck_assert_uint_gt(gap, lines / 10);
            ck_assert_uint_eq(block_line_of_row(block, 80, gap), gap);
            ck_assert_uint_eq(block_row_of_line(block, 80, gap), gap + 1);
            row(80, gap, 0, 60);
            char wanted[64];
            snprintf(wanted, sizeof wanted, "... %llu lines not kept ...",
                     (unsigned long long)dropped);
            ck_assert(strncmp(strbuf_text(&text), wanted, strlen(wanted)) == 0);
            ck_assert_ptr_nonnull(strstr(plain(), wanted));
            block_end(block);
        }
    }
}
END_TEST

static size_t memory_kb(void)
{
    unsigned long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert_int_eq(fscanf(file, "%lu %lu", &size, &resident), 2);
    fclose(file);
    return resident * 4;
}

/* Each kind of output that could be kept at a multiple of its size. */
START_TEST(memory_is_flat)
{
    static const char *const pieces[] = {
        "line\r\n",
        "\r\n",
        "\x1b[38;2;1;2;3ma\x1b[38;2;3;2;1mb",
        "0123456789abcdef0123456789abcdef",
        "\x1b[2A\x1b[39Gx\r\x1b[5Ce\xcc\x81\xcc\x82\n\n\n",
        "\t\t\t\x1b[41mx\x1b[K\r",
        "\x1b]0;",
        "\x1b[6n",
        "\x1b[?1049hx\x1b[6n\x1b[?1049l",
    };
    bool sanitized = getenv("CK_TIMEOUT_MULTIPLIER") != NULL; /* freed memory is held back */
    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        struct strbuf piece = STRBUF_INIT;
        while (piece.size < 65536)
            strbuf_adds(&piece, pieces[i]);
        block_free(block);
        block = block_new(1 << 20);
        size_t before = memory_kb(), bytes = i == 8 ? 1 << 17 : 16 << 20;
        for (size_t done = 0; done < bytes; done += piece.size)
            block_write(block, piece.data, piece.size);
        strbuf_free(&piece);
        size_t after = memory_kb();
        ck_assert_msg(sanitized || after < before + 6 * 1024, "piece %zu: %zu kB more", i,
                      after - before);
    }
}
END_TEST

/* ---- what it must not let through ----------------------------------------------------------- */

START_TEST(strings_are_swallowed)
{
    static const struct example rows[] = {
        {"a\x1b]0;title\x07"
         "b",
         "ab\n"},
        {"a\x1b]2;title\x1b\\b", "ab\n"},
        {"a\x1b]52;c;ZXZpbA==\x07"
         "b",
         "ab\n"},
        {"a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb\n"},
        {"a\x1b]1337;File=inline=1:AAAA\x07"
         "b",
         "ab\n"},
        {"a\x1bP1$r0m\x1b\\b", "ab\n"},
        {"a\x1b_Gf=100;AAAA\x1b\\b", "ab\n"},
        {"a\x1b^private\x1b\\b", "ab\n"},
        {"a\x1bXstring\x1b\\b", "ab\n"},
        {"a\x1bPq#0;2;0;0;0~-\n~~\x1b\\b", "ab\n"}, /* sixel may have lines */
        {"a\x1b]0;never ends\nb", "a\nb\n"},
        {"a\x1b]0;never ends\r\nb", "a\nb\n"},
        {"a\x1bPnever ends\nb", "a\nb\n"},
        {"a\x1b]0;x\x18"
         "b",
         "ab\n"},
        {"a\x1b]0;x\x1b[31mb", "ab\n"}, /* ESC ends it */
        {"a\x1b]0;\x1b]0;x\x07"
         "b",
         "ab\n"},
    };
    CHECK_EXAMPLES(rows, false);
}
END_TEST

START_TEST(sequences_are_dropped)
{
    static const struct example rows[] = {
        {"a\x1b[?69h\x1b[3;9sb", "ab\n"}, /* margins */
        {"a\x1b[2;5rb", "ab\n"},
        {"a\x1b[?1000h\x1b[?2026h\x1b[?7lb", "ab\n"},
        {"a\x1b[c\x1b[>c\x1b[5n\x1b[0x\x1b[18tb", "ab\n"},
        {"a\x1b[22;0;0t\x1b[4;100;100tb", "ab\n"},
        {"a\x1b[3Lb\x1b[2M\x1b[4S\x1b[5T", "ab\n"},
        {"a\x1b(0b\x1b)B\x1b#8c\x1b=d\x1b>e\x1bNf", "abcdef\n"},
        {"a\x1b[>4;2mb\x1b[=1;1u\x1b[<u", "ab\n"},
        {"a\x1b[1 qb\x1b[\"pc", "abc\n"},
        {"a\x1b[3\nCb", "a\n   b\n"}, /* a control in the middle works */
        {"a\x1b[3\x18"
         "b",
         "ab\n"},
        {"a\x1b[3\x1b[31mb", "ab\n"},
        {"a\x1b[1;2;3;4;5;6;7;8;9;10;11;12;13;14;15;16;17;18;19;20;21;22;23;24;25;26;27;28;29;30;"
         "31;"
         "32;33;34;35;36mb",
         "ab\n"},
        {"a\x1b[1?31mb\x1b[?1?25hc", "abc\n"},
        {"a\x1b\x1b\x1b[31mb", "ab\n"},
    };
    CHECK_EXAMPLES(rows, false);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        put(rows[i].written);
        block_end(block);
    }
}
END_TEST

START_TEST(a_string_without_end_ends)
{
    struct strbuf data = STRBUF_INIT;
    strbuf_adds(&data, "\x1b_");
    while (data.size < (5u << 20))
        strbuf_adds(&data, "no line end, ");
    block_write(block, data.data, data.size);
    strbuf_free(&data);
    ck_assert(!block_is_empty(block));
}
END_TEST

/* Only what has a shape comes out of anything. */
START_TEST(nothing_but_cells)
{
    uint32_t seed = 1;
    for (int round = 0; round < 120; round++) {
        char data[2048];
        for (size_t i = 0; i < sizeof data; i++) {
            static const char often[] = "\x1b\x1b\x1b[[[]]P_;:?0123456789mHJKhl\r\n\x07\\";
            seed = seed * 1664525 + 1013904223;
            data[i] = seed >> 31 ? often[(seed >> 8) % (sizeof often - 1)] : (char)(seed >> 16);
        }
        block_write(block, data, sizeof data);
        plain();
        ck_assert(utf8_check(text.data, text.size, NULL));
        for (size_t i = 0; i < text.size; i++) {
            unsigned char byte = (unsigned char)text.data[i];
            ck_assert(byte == '\n' || (byte >= 0x20 && byte != 0x7f));
            ck_assert(byte != 0xc2 || (unsigned char)text.data[i + 1] >= 0xa0);
        }
        size_t rows = block_rows(block, 20);
        for (size_t i = 0; i < rows && i < 50; i++)
            row(20, i, 0, 20);
        if (round % 4 == 3) {
            block_end(block);
            tear_down();
            set_up();
        }
    }
}
END_TEST

/* ---- the rest ------------------------------------------------------------------------------- */

START_TEST(the_end_and_more)
{
    uint64_t version = block_version(block);
    ck_assert(block_is_empty(block));
    put("a\x1b[31mb\x1b[");
    ck_assert_uint_gt(block_version(block), version);
    ck_assert(!block_is_empty(block));
    block_end(block);
    ck_assert_str_eq(styled(), "a\x1b[0;31mb\x1b[0m\n");
    put("3mlate\x1b[AX");
    ck_assert_str_eq(styled(), "a\x1b[0;31mb\x1b[0m\n3mlateX\n");
    block_end(block);
    block_end(block);
    ck_assert_uint_eq(block_lines(block), 2);
}
END_TEST

START_TEST(cursor_position_is_answered)
{
    put("a\nbc\x1b[6n\x1b[5n");
    block_take_answers(block, &text);
    ck_assert_str_eq(strbuf_text(&text), "\x1b[2;3R\x1b[0n");
    strbuf_clear(&text);
    block_take_answers(block, &text);
    ck_assert_uint_eq(text.size, 0);
    put("\x1b"
        "7\x1b[999;999H\x1b[6n\x1b"
        "8x"); /* how programs ask for the size */
    block_take_answers(block, &text);
    ck_assert_str_eq(strbuf_text(&text), "\x1b[10;40R");
    ck_assert(!block_has_screen(block));
    ck_assert_str_eq(plain(), "a\nbcx\n");
}
END_TEST

START_TEST(key_modes)
{
    ck_assert_uint_eq(block_modes(block), 0);
    put("\x1b[?1h\x1b[?2004h");
    ck_assert_uint_eq(block_modes(block), BLOCK_MODE_CURSOR_KEYS | BLOCK_MODE_PASTE);
    put("\x1b[?1;2004l");
    ck_assert_uint_eq(block_modes(block), 0);
}
END_TEST

static void add_tests(TCase *tests, const TTest *const *list, size_t count)
{
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    for (size_t i = 0; i < count; i++)
        tcase_add_test(tests, list[i]);
}
#define ADD_TESTS(suite, name, list)                                                               \
    do {                                                                                           \
        TCase *tests_ = tcase_create(name);                                                        \
        add_tests(tests_, list, sizeof(list) / sizeof(*list));                                     \
        suite_add_tcase(suite, tests_);                                                            \
    } while (0)

int main(void)
{
    Suite *suite = suite_create("block");
    const TTest *const lines[] = {controls,
                                  moves,
                                  erasing,
                                  clearing_leaves_what_scrolled_off,
                                  wide_and_combining,
                                  malformed_characters};
    const TTest *const looks[] = {colours_and_attributes, styles_of_cells,
                                  rows_of_a_width,        wide_characters_at_the_edge,
                                  the_cursor_in_rows,     rows_of_many_lines};
    const TTest *const limits[] = {long_lines_go_on, moves_have_an_end, dropped_lines_are_counted,
                                   memory_is_flat};
    const TTest *const attacks[] = {strings_are_swallowed, sequences_are_dropped,
                                    a_string_without_end_ends, nothing_but_cells};
    const TTest *const rest[] = {the_end_and_more, cursor_position_is_answered, key_modes};

    ADD_TESTS(suite, "lines", lines);
    ADD_TESTS(suite, "looks", looks);
    ADD_TESTS(suite, "limits", limits);
    ADD_TESTS(suite, "attacks", attacks);
    ADD_TESTS(suite, "rest", rest);
    return test_run(suite);
}
