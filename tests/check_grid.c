/* SPDX-License-Identifier: MIT */
/*
 * Full-screen programs in a block: what switches to a grid and what does not, what stays of it, and
 * vim, less, htop on a real pseudo-terminal.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../ui/utf8.h" /* not that of src/ */
#include "block.h"
#include "pty-testlib.h"
#include "testlib.h"

static struct block *block;
static struct strbuf text;

static void set_up(void)
{
    block = block_new(0);
    block_resize(block, 20, 5);
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

/* The rows as they are drawn, without blanks at their ends. */
static const char *drawn(int columns)
{
    struct block_cell cells[256];
    size_t rows = block_rows(block, columns);
    strbuf_clear(&text);
    for (size_t row = 0; row < rows; row++) {
        block_row(block, columns, row, 0, cells, (size_t)columns);
        for (int i = 0; i < columns; i++) {
            char bytes[4];
            for (size_t k = 0; k < BLOCK_CELL_CHARACTERS && cells[i].characters[k]; k++)
                strbuf_add(&text, bytes, utf8_encode(cells[i].characters[k], bytes));
        }
        strbuf_addc(&text, '\n');
    }
    test_trim_screen(&text);
    return strbuf_text(&text);
}

/* ---- what switches -------------------------------------------------------------------------- */

START_TEST(lines_stay_lines)
{
    static const char *const written[] = {
        "\x1b[H\x1b[2J",
        "\x1b[1;1H",
        "\x1b[1;5Hx",
        "\x1b[f",
        "\x1b[2J",
        "\x1b[?25l",
        "\x1b"
        "7\x1b[9;9H\x1b"
        "8x",
        "\x1b[2;4r",
        "\x1b[5A\x1b[J",
        "\x1b[?1049l",
        "\x1b[9;9H\x1b[6n\x1b[Hx",
        "\x1b[s\x1b[5;5H\x1b[ux",
    };
    for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++) {
        put("a\nb\n");
        put(written[i]);
        ck_assert_msg(!block_has_screen(block), "row %zu", i);
    }
}
END_TEST

START_TEST(the_alternate_screen)
{
    put("before\n\x1b[31m");
    put("\x1b[?1049h\x1b[Hfull\x1b[3;5Hscreen\x1b[7mX");
    ck_assert(block_has_screen(block));
    ck_assert_uint_eq(block_rows(block, 20), 5);
    ck_assert_uint_eq(block_lines(block), 5);
    ck_assert_str_eq(drawn(20), "full\n\n    screenX\n");
    struct block_cell cell;
    ck_assert_uint_eq(block_row(block, 20, 2, 10, &cell, 1), 20);
    ck_assert_uint_eq(cell.characters[0], 'X');
    ck_assert_uint_eq(cell.style.attributes, BLOCK_REVERSE);
    size_t row;
    int column;
    ck_assert(block_cursor(block, 20, &row, &column));
    ck_assert_uint_eq(row, 2);
    ck_assert_int_eq(column, 11);
    strbuf_clear(&text);
    block_line_text(block, 2, &text);
    ck_assert_str_eq(strbuf_text(&text), "    screenX");
    ck_assert_uint_eq(block_row_of_line(block, 4, 3), 3); /* whatever the width */
    ck_assert_uint_eq(block_line_of_row(block, 4, 3), 3);
    put("\x1b[?1049lafter\n");
    ck_assert(!block_has_screen(block));
    block_end(block);
    ck_assert_str_eq(plain(), "before\nafter\n");
}
END_TEST

/* However the output is cut, the first byte behind the sequence is for lines. */
START_TEST(leaving_in_pieces)
{
    static const char written[] =
        "a\n\x1b[?1049hfull\x1b[?25l\x1b[?1;1049lb\x1b[?1047h\x1b[?1047lc";
    for (size_t cut = 1; cut < sizeof written - 1; cut++) {
        tear_down();
        set_up();
        block_write(block, written, cut);
        block_write(block, written + cut, sizeof written - 1 - cut);
        ck_assert(!block_has_screen(block));
        ck_assert_str_eq(plain(), "a\nbc\n");
    }
}
END_TEST

START_TEST(the_last_screen_stays)
{
    put("before\n\x1b[?1049hlast \x1b[1mscreen\x1b[0m");
    block_end(block); /* the program was killed */
    ck_assert(!block_has_screen(block));
    strbuf_clear(&text);
    block_text(block, true, &text);
    ck_assert_str_eq(strbuf_text(&text), "before\nlast \x1b[0;1mscreen\x1b[0m\n");

    tear_down();
    set_up();
    put("\x1b[?1049h\x1b[2;2Hpage\x1b[?1049l\r\x1b[K"); /* it left: nothing else is there to see */
    ck_assert_str_eq(plain(), "");
    block_end(block);
    ck_assert_str_eq(plain(), "\n page\n");

    tear_down();
    set_up();
    put("\x1b[?1049hpage\x1b[?1049lbye\n");
    block_end(block);
    ck_assert_str_eq(plain(), "bye\n");
}
END_TEST

START_TEST(absolute_addressing)
{
    for (int i = 0; i < 7; i++) {
        char line[16];
        snprintf(line, sizeof line, "line %d\r\n", i);
        put(line);
    }
    put("\x1b[2;1H");
    ck_assert(!block_has_screen(block));
    put("X");
    ck_assert(block_has_screen(block));
    ck_assert_str_eq(drawn(20), "line 3\nXine 4\nline 5\nline 6\n");
    put("\x1b[5;1Hbottom\r\nmore\r\n"); /* what scrolls off is kept */
    ck_assert_str_eq(drawn(20), "line 5\nline 6\nbottom\nmore\n");
    const char *all = "line 0\nline 1\nline 2\nline 3\nXine 4\nline 5\nline 6\nbottom\nmore\n";
    ck_assert_str_eq(plain(), all);
    block_end(block);
    ck_assert_str_eq(plain(), all);
}
END_TEST

START_TEST(erasing_at_a_place)
{
    put("one\ntwo\nthree\x1b[2;2H\x1b[K");
    ck_assert(block_has_screen(block));
    ck_assert_str_eq(drawn(20), "one\nt\nthree\n");
}
END_TEST

/* As apt draws its bar: the last row is taken out of the scrolling. */
START_TEST(scroll_regions)
{
    put("start\r\n\x1b"
        "7\x1b[0;4r\x1b"
        "8\x1b[1A");
    ck_assert(!block_has_screen(block));
    put("\x1b"
        "7\x1b[5;0f\x1b[42mbar 50%\x1b[0m\x1b"
        "8");
    ck_assert(block_has_screen(block));
    put("\x1b[3;1H\r\na\r\nb\r\nc\r\n");
    const char *shown = drawn(20);
    ck_assert_ptr_nonnull(strstr(shown, "c\n"));
    ck_assert_ptr_nonnull(strstr(shown, "bar 50%"));
    ck_assert_ptr_null(strstr(shown, "start"));
    ck_assert_ptr_nonnull(strstr(plain(), "start"));
}
END_TEST

START_TEST(sizes)
{
    put("\x1b[?1049h\x1b[5;18Habc\x1b[Htop");
    block_resize(block, 10, 3);
    ck_assert_uint_eq(block_rows(block, 10), 3);
    put("\x1b[2J\x1b[3;9HXY");
    ck_assert_str_eq(drawn(10), "\n\n        XY\n");
    block_resize(block, 60, 20);
    put("\x1b[2J\x1b[20;58Hend");
    ck_assert_uint_eq(block_rows(block, 60), 20);
    ck_assert_ptr_nonnull(strstr(drawn(60), "end"));
    for (int i = 0; i < 200; i++) {
        block_resize(block, 1 + i * 7 % 90, 1 + i * 5 % 40);
        put("\x1b[99;99Hx\r\n\x1b[2Aab世界\x1b[5;9r\n\n\n\x1b[r");
        drawn(30);
    }
    for (int alternate = 0; alternate < 2; alternate++) { /* the cursor above what is left */
        tear_down();
        set_up();
        block_resize(block, 20, 12);
        put(alternate ? "\x1b[?1049h" : "\x1b[2;1H");
        put("a\x1b[11;12H\x1b"
            "7\x1b[9;11r\x1b[12;1Hlast\x1b[1;3H");
        block_resize(block, 7, 3);
        put("x\x1b"
            "8y\n\n\x1bM\x1bM\x1bM\x1bM\x1b#6z");
        ck_assert_ptr_nonnull(strstr(drawn(7), "z"));
    }
    block_resize(block, 1, 1);
    put("\x1b[H世\x1b[?7l世界\x1b#6世");
    drawn(30);
    block_resize(block, -5, 1 << 30);
    ck_assert_uint_le(block_rows(block, 10), 1000);
}
END_TEST

START_TEST(answers_and_modes)
{
    put("\x1b[?1h\x1b[?1049h\x1b[3;4H\x1b[6n\x1b[c");
    ck_assert_uint_eq(block_modes(block), BLOCK_MODE_CURSOR_KEYS);
    strbuf_clear(&text);
    block_take_answers(block, &text);
    ck_assert(strncmp(strbuf_text(&text), "\x1b[3;4R\x1b[?", 9) == 0);
    put("\x1b[?2004h\x1b[?1l");
    ck_assert_uint_eq(block_modes(block), BLOCK_MODE_PASTE);
    strbuf_clear(&text);
    block_take_answers(block, &text);
    ck_assert_uint_eq(text.size, 0);
    put("\x1b[?25l");
    size_t row;
    int column;
    ck_assert(!block_cursor(block, 20, &row, &column));
    put("\x1b[?1049l");
    ck_assert_uint_eq(block_modes(block), BLOCK_MODE_PASTE);
    for (int i = 0; i < 10000; i++)
        put("\x1b[6n");
    strbuf_clear(&text);
    block_take_answers(block, &text);
    ck_assert_uint_le(text.size, 8192);
}
END_TEST

START_TEST(repeated_characters)
{
    put("\x1b[?1049hab\x1b[4bc");
    ck_assert_str_eq(drawn(20), "abbbbbc\n");
}
END_TEST

/* In pieces, too: libvterm would write behind its buffer. Seen under AddressSanitizer only. */
START_TEST(malformed_characters)
{
    static const char written[] = "\x1b[?1049h\x1b[Ha\xe4\xb8"
                                  "b\xff\xc3(\xe4\x1b[1mc\xf0\x9f\x98\x80"
                                  "d\xe4";
    for (size_t step = 1; step < 8; step++) {
        tear_down();
        set_up();
        for (size_t at = 0; at < sizeof written - 1; at += step)
            block_write(block, written + at,
                        sizeof written - 1 - at < step ? sizeof written - 1 - at : step);
        put("h");
        ck_assert_str_eq(drawn(20), "a\xef\xbf\xbd"
                                    "b\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd"
                                    "c\xf0\x9f\x98\x80"
                                    "d\xef\xbf\xbdh\n");
    }
}
END_TEST

START_TEST(huge_numbers)
{
    put("\x1b[?1049h1234567890\x1b[99999999999999999999999D");
    put("\x1b[1844674407370955");
    put("1615;18446744073709551616Hx\x1b[4294967297;2147483648H\x1b[99999999999999L\x1b["
        "99999999999@y");
    ck_assert_str_eq(drawn(20), "1234567890\n\n\n\n                   y\n");
    put("\x1b[H\x1b[99999\x7f"
        "99999999999999999999D\x1b [999999999999999999999999Dz");
    put("\x1b[1");
    for (int i = 0; i < 100000; i++)
        put(";1234567");
    put("mx\x1b[0m12345678");
    ck_assert_str_eq(drawn(20), "zx12345678\n\n\n\n                   y\n");
}
END_TEST

START_TEST(cells_of_a_grid)
{
    struct block_cell cells[20];
    put("\x1b[?1049h世e\xcc\x81\x1b[38;2;1;2;3;48;5;9mx\x1b[0m\x1b[44m\x1b[K");
    block_row(block, 20, 0, 0, cells, 20);
    ck_assert_uint_eq(cells[0].width, 2);
    ck_assert_uint_eq(cells[1].width, 0);
    ck_assert_uint_eq(cells[2].characters[1], 0x301);
    ck_assert_uint_eq(cells[3].style.foreground, BLOCK_RGB | 0x010203);
    ck_assert_uint_eq(cells[3].style.background, BLOCK_INDEX | 9);
    ck_assert_uint_eq(cells[10].style.background, BLOCK_INDEX | 4);
    block_row(block, 20, 0, 1, cells, 1);
    ck_assert_uint_eq(cells[0].characters[0], ' '); /* half of it is seen */
    ck_assert_uint_eq(cells[0].width, 1);
    block_row(block, 20, 0, 0, cells, 1);
    ck_assert_uint_eq(cells[0].width, 1);
}
END_TEST

/* ---- real programs -------------------------------------------------------------------------- */

static struct test_pty pty;

/* Feed what the program writes until the text is drawn, and give it its answers. */
static bool shows(const char *wanted)
{
    int64_t end = test_now_ms() + test_scaled_ms(20000);
    while (!strstr(drawn(80), wanted)) {
        struct strbuf out = STRBUF_INIT;
        if (pty.ended || test_now_ms() > end)
            return false;
        test_pty_read(&pty, &out, 50);
        block_write(block, strbuf_text(&out), out.size);
        strbuf_clear(&out);
        block_take_answers(block, &out);
        if (out.size)
            test_pty_write(&pty, out.data, out.size);
        strbuf_free(&out);
    }
    return true;
}

static void keys(const char *data)
{
    test_pty_write(&pty, data, strlen(data));
}

static void start(const char *const *argv)
{
    block_resize(block, 80, 24);
    test_pty_start(&pty, argv, "xterm-256color", 80, 24);
}

static int finish(void)
{
    struct strbuf out = STRBUF_INIT;
    int status = test_pty_finish(&pty, &out, 20000);
    block_write(block, strbuf_text(&out), out.size);
    strbuf_free(&out);
    return status;
}

static const char *numbered_file(void)
{
    const char *path = test_path("numbers");
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    for (int i = 1; i <= 200; i++)
        fprintf(file, "this is line %d of the file\n", i);
    fclose(file);
    return path;
}

START_TEST(less)
{
    const char *argv[] = {"less", numbered_file(), NULL};
    start(argv);
    ck_assert_msg(shows("this is line 23 of"), "%s", drawn(80));
    ck_assert(block_has_screen(block));
    keys("G");
    ck_assert_msg(shows("this is line 200 of"), "%s", drawn(80));
    ck_assert_ptr_null(strstr(drawn(80), "this is line 23 of"));
    keys("q");
    ck_assert_int_eq(finish(), 0);
    ck_assert(!block_has_screen(block));
    block_end(block);
    ck_assert_ptr_nonnull(strstr(plain(), "this is line 200 of")); /* the last screen stays */
}
END_TEST

START_TEST(vim)
{
    const char *path = numbered_file();
    const char *argv[] = {"vim.tiny", "-u", "NONE", "-N", "-n", path, NULL};
    start(argv);
    ck_assert_msg(shows("this is line 23 of"), "%s", drawn(80));
    ck_assert(block_has_screen(block));
    keys("ggiWritten here: \x1b");
    ck_assert_msg(shows("Written here: this is line 1 of"), "%s", drawn(80));
    test_pty_resize(&pty, 60, 10);
    block_resize(block, 60, 10);
    keys("\x0c");
    ck_assert(shows("Written here"));
    ck_assert_uint_eq(block_rows(block, 60), 10);
    keys(":wq\r");
    ck_assert_int_eq(finish(), 0);
    ck_assert(!block_has_screen(block));
    char *saved = test_read_file(path);
    ck_assert(strncmp(saved, "Written here: this is line 1 of", 31) == 0);
    free(saved);
}
END_TEST

START_TEST(htop)
{
    const char *argv[] = {"htop", "--readonly", NULL};
    setenv("HTOPRC", test_path("htoprc"), 1);
    start(argv);
    ck_assert_msg(shows("F10Quit"), "%s", drawn(80));
    ck_assert_ptr_nonnull(strstr(drawn(80), "PID"));
    ck_assert_ptr_nonnull(strstr(drawn(80), "Load average"));
    keys("q");
    finish();
    ck_assert(!block_has_screen(block));
    block_end(block);
    ck_assert_ptr_nonnull(strstr(plain(), "Load average"));
}
END_TEST

/* A program that is killed while it has the screen leaves it. */
START_TEST(killed)
{
    const char *argv[] = {"less", numbered_file(), NULL};
    start(argv);
    ck_assert(shows("this is line 23 of"));
    test_pty_kill(&pty);
    ck_assert(block_has_screen(block));
    block_end(block);
    ck_assert(!block_has_screen(block));
    ck_assert_ptr_nonnull(strstr(plain(), "this is line 23 of"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("grid");
    TCase *model = tcase_create("model"), *real = tcase_create("real");

    tcase_add_checked_fixture(model, set_up, tear_down);
    tcase_add_test(model, lines_stay_lines);
    tcase_add_test(model, the_alternate_screen);
    tcase_add_test(model, leaving_in_pieces);
    tcase_add_test(model, the_last_screen_stays);
    tcase_add_test(model, absolute_addressing);
    tcase_add_test(model, erasing_at_a_place);
    tcase_add_test(model, scroll_regions);
    tcase_add_test(model, sizes);
    tcase_add_test(model, answers_and_modes);
    tcase_add_test(model, repeated_characters);
    tcase_add_test(model, malformed_characters);
    tcase_add_test(model, huge_numbers);
    tcase_add_test(model, cells_of_a_grid);
    suite_add_tcase(suite, model);
    tcase_add_checked_fixture(real, set_up, tear_down);
    tcase_set_timeout(real, 60);
    tcase_add_test(real, less);
    tcase_add_test(real, vim);
    tcase_add_test(real, htop);
    tcase_add_test(real, killed);
    suite_add_tcase(suite, real);
    return test_run(suite);
}
