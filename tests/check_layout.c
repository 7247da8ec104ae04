/* SPDX-License-Identifier: MIT */
/*
 * The rows of a text behind its prompts: wrapping, wide characters, tabs, controls, the cursor.
 */
#include "config.h"

#include <check.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "layout.h"
#include "testlib.h"

static struct layout layout;

static void make(const char *text, size_t point, int columns)
{
    layout_make(&layout, text, strlen(text), point, columns, 4, 4);
}

static void row(size_t index, size_t from, size_t to, int column, int width, bool first)
{
    ck_assert_uint_lt(index, layout.count);
    const struct layout_row *row = &layout.rows[index];
    ck_assert_uint_eq(row->from, from);
    ck_assert_uint_eq(row->to, to);
    ck_assert_int_eq(row->column, column);
    ck_assert_int_eq(row->width, width);
    ck_assert_int_eq(row->first, first);
}

static void cursor(size_t at_row, int column)
{
    ck_assert_uint_eq(layout.cursor_row, at_row);
    ck_assert_int_eq(layout.cursor_column, column);
}

START_TEST(lines)
{
    make("", 0, 80);
    ck_assert_uint_eq(layout.count, 1);
    row(0, 0, 0, 4, 0, true);
    cursor(0, 4);
    make("ab\n\ncd\n", 5, 80);
    ck_assert_uint_eq(layout.count, 4);
    row(1, 3, 3, 4, 0, true);
    row(2, 4, 6, 4, 2, true);
    row(3, 7, 7, 4, 0, true);
    cursor(2, 5);
}
END_TEST

START_TEST(long_lines)
{
    make("abcdefghijklmnopqrstu", 10, 14);
    ck_assert_uint_eq(layout.count, 3);
    row(0, 0, 10, 4, 10, true);
    row(1, 10, 20, 4, 10, false);
    row(2, 20, 21, 4, 1, false);
    cursor(1, 4);
    make("abcdefghij", 10, 14); /* the cursor behind a full row has one of its own */
    ck_assert_uint_eq(layout.count, 2);
    cursor(1, 4);
    make("abcdefghij", 9, 14);
    ck_assert_uint_eq(layout.count, 1);
    cursor(0, 13);
    make("abcdefgh", 8, 6); /* too narrow to go on below the prompt */
    row(1, 2, 8, 0, 6, false);
}
END_TEST

START_TEST(odd_characters)
{
    struct layout_cell cell;
    make("\xE4\xB8\x96\xE4\xB8\x96\xE4\xB8\x96", 9, 9); /* two of width 2 in 5 columns */
    row(0, 0, 6, 4, 4, true);
    make("a\tb", 3, 80);
    cursor(0, 4 + 9);
    make("a\001\xFF\xCC\x81", 5, 80);
    cursor(0, 4 + 1 + 2 + 1 + 1);
    layout_cell("e\xCC\x81x", 4, 0, &cell);
    ck_assert_uint_eq(cell.size, 3);
    ck_assert_int_eq(cell.width, 1);
    ck_assert_str_eq(cell.show, "e\xCC\x81");
    layout_cell("\033", 1, 0, &cell);
    ck_assert_str_eq(cell.show, "^[");
    ck_assert(cell.substitute);
    layout_cell("\xE4\xB8", 2, 0, &cell);
    ck_assert_uint_eq(cell.size, 2);
    ck_assert_str_eq(cell.show, "\xEF\xBF\xBD");
    layout_cell("\t", 1, 3, &cell);
    ck_assert_str_eq(cell.show, "     ");
}
END_TEST

/* Very many marks on one character: shown are some, and the place goes behind them all. */
START_TEST(many_marks)
{
    char text[201] = "e";
    struct layout_cell cell;
    for (size_t i = 1; i < 199; i += 2)
        memcpy(text + i, "\xCC\x81", 2);
    layout_cell(text, 199, 0, &cell);
    ck_assert_uint_eq(cell.size, 199);
    ck_assert_uint_lt(strlen(cell.show), sizeof cell.show);
}
END_TEST

START_TEST(places)
{
    const char *text = "ab\xE4\xB8\x96"
                       "d\nxyz";
    make(text, 0, 80);
    ck_assert_uint_eq(layout_place(&layout.rows[0], text, 4, true), 0);
    ck_assert_uint_eq(layout_place(&layout.rows[0], text, 7, true), 2); /* within a wide one */
    ck_assert_uint_eq(layout_place(&layout.rows[0], text, 99, true), 6);
    ck_assert_uint_eq(layout_place(&layout.rows[0], text, 99, false), 5);
    ck_assert_uint_eq(layout_place(&layout.rows[0], text, 0, true), 0);
    ck_assert_uint_eq(layout_row_of(&layout, 6), 0);
    ck_assert_uint_eq(layout_row_of(&layout, 7), 1);
}
END_TEST

static void set_up(void)
{
    ck_assert_ptr_nonnull(setlocale(LC_CTYPE, "C.UTF-8"));
}

static void tear_down(void)
{
    layout_free(&layout);
}

int main(void)
{
    Suite *suite = suite_create("layout");
    TCase *rows = tcase_create("rows");

    tcase_add_checked_fixture(rows, set_up, tear_down);
    tcase_add_test(rows, lines);
    tcase_add_test(rows, long_lines);
    tcase_add_test(rows, odd_characters);
    tcase_add_test(rows, many_marks);
    tcase_add_test(rows, places);
    suite_add_tcase(suite, rows);
    return test_run(suite);
}
