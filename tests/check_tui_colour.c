/* SPDX-License-Identifier: MIT */
/*
 * The full screen: colours of 24 bits arrive as they are where the terminal has them, and as the
 * nearest of 256 elsewhere.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "colour.h"
#include "tui-testlib.h"

#define TRUE_COLOUR ((const char *const[]){"COLORTERM=truecolor", NULL})

static void start(const char *const *environment)
{
    tui_stop();
    tui_start(NULL, 24, 80, environment);
    terminal_wait_text(tui, ">>>");
}

static bool is_rgb(VTermColor colour, unsigned rgb)
{
    return VTERM_COLOR_IS_RGB(&colour) && colour.rgb.red == (rgb >> 16 & 255) &&
           colour.rgb.green == (rgb >> 8 & 255) && colour.rgb.blue == (rgb & 255);
}

static bool is_index(VTermColor colour, int index)
{
    return VTERM_COLOR_IS_INDEXED(&colour) && colour.indexed.idx == index;
}

/* A word in colours, and where it is shown. */
static VTermScreenCell coloured(const char *sgr, int number)
{
    char line[256], word[32];
    snprintf(line, sizeof(line), "print('\\x1b[%sm' + 'word' + '%d\\x1b[0m')", sgr, number);
    snprintf(word, sizeof(word), "     word%d", number);
    tui_run(line, number);
    int row = terminal_wait_text(tui, word);
    return terminal_cell(tui, row, 5);
}

/* What is typed has no escape. */
static bool sends_rgb(void)
{
    return terminal_has_bytes(tui, "\033[38;2;") || terminal_has_bytes(tui, "\033[48;2;");
}

static void check_exact(void)
{
    VTermScreenCell cell = coloured("38;2;1;2;3;48;2;254;0;255", 1);
    ck_assert(is_rgb(cell.fg, 0x010203));
    ck_assert(is_rgb(cell.bg, 0xfe00ff));
    cell = coloured("38;2;0;0;7;48;2;0;0;0", 2); /* no numbers of the palette */
    ck_assert(is_rgb(cell.fg, 0x000007));
    ck_assert(is_rgb(cell.bg, 0x000000));
}

static void check_nearest(void)
{
    VTermScreenCell cell = coloured("38;2;1;2;3;48;2;254;0;255", 1);
    ck_assert(is_index(cell.fg, colours_nearest_256(0x010203)));
    ck_assert(is_index(cell.bg, colours_nearest_256(0xfe00ff)));
}

START_TEST(colours_of_cells_arrive_as_they_are)
{
    start(TRUE_COLOUR);
    check_exact();
}
END_TEST

START_TEST(the_other_word_for_it_is_known)
{
    start((const char *const[]){"COLORTERM=24bit", NULL});
    check_exact();
}
END_TEST

START_TEST(colours_by_number_stay_numbers)
{
    start(TRUE_COLOUR);
    VTermScreenCell cell = coloured("31;42", 1);
    ck_assert(is_index(cell.fg, 1) && is_index(cell.bg, 2));
    cell = coloured("93;104", 2);
    ck_assert(is_index(cell.fg, 11) && is_index(cell.bg, 12));
    cell = coloured("38;5;16;48;5;255", 3);
    ck_assert(is_index(cell.fg, 16) && is_index(cell.bg, 255));
    cell = coloured("1;3;38;2;9;8;7", 4);
    ck_assert(cell.attrs.bold && cell.attrs.italic && is_rgb(cell.fg, 0x090807));
    ck_assert(VTERM_COLOR_IS_DEFAULT_BG(&cell.bg));
}
END_TEST

/* The same cells with and without: the numbers' bytes are the terminal's own. */
START_TEST(other_terminals_get_the_nearest_of_256)
{
    start(NULL);
    check_nearest();
    ck_assert(!sends_rgb());
}
END_TEST

START_TEST(gnu_screen_is_not_believed)
{
    start((const char *const[]){"COLORTERM=truecolor", "TERM=screen-256color", NULL});
    check_nearest();
}
END_TEST

START_TEST(tmux_is_believed)
{
    start((const char *const[]){"COLORTERM=truecolor", "TERM=screen-256color", "TMUX=/tmp/none,1,0",
                                NULL});
    check_exact();
}
END_TEST

START_TEST(a_terminal_of_eight_colours_stays_one)
{
    start((const char *const[]){"COLORTERM=truecolor", "TERM=xterm", NULL});
    VTermScreenCell cell = coloured("38;2;250;2;3", 1);
    ck_assert(is_index(cell.fg, 1));
    ck_assert(!sends_rgb());
}
END_TEST

START_TEST(no_color_still_means_none)
{
    start((const char *const[]){"COLORTERM=truecolor", "NO_COLOR=1", NULL});
    VTermScreenCell cell = coloured("38;2;1;2;3", 1);
    ck_assert(VTERM_COLOR_IS_DEFAULT_FG(&cell.fg));
    ck_assert(!sends_rgb());
}
END_TEST

/* Descriptions in a directory of the test's. */
static const char *compile(const char *text)
{
    static char variable[4200];
    char command[9000];
    test_write_file(test_path("terminal.ti"), text, 0600);
    snprintf(command, sizeof(command), "cd '%s' && tic -x -o terminfo terminal.ti",
             test_directory());
    snprintf(variable, sizeof(variable), "TERMINFO=%s/terminfo", test_directory());
    ck_assert_msg(system(command) == 0, "tic failed (Debian: ncurses-bin)");
    return variable;
}

START_TEST(a_terminals_description_may_say_it)
{
    const char *terminfo = compile("flag|has RGB,\n\tRGB, use=xterm-256color,\n"
                                   "word|has the word of tmux,\n\tTc, use=xterm-256color,\n");
    start((const char *const[]){terminfo, "TERM=flag", NULL});
    check_exact();
    start((const char *const[]){terminfo, "TERM=word", NULL});
    check_exact();
}
END_TEST

/* They name only eight by number: the rest of 256 is named as everywhere else. */
START_TEST(terminals_of_direct_colour_have_numbers_too)
{
    const char *terminfo = compile(
        "direct|like xterm-direct,\n\tRGB, colors#0x1000000, pairs#0x7fff, initc@, ccc@,\n"
        "\tsetaf=\\E[%?%p1%{8}%<%t3%p1%d%e38\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d"
        "\\:%p1%{255}%&%d%;m,\n"
        "\tsetab=\\E[%?%p1%{8}%<%t4%p1%d%e48\\:2\\:\\:%p1%{65536}%/%d\\:%p1%{256}%/%{255}%&%d"
        "\\:%p1%{255}%&%d%;m,\n"
        "\tuse=xterm-256color,\n");
    start((const char *const[]){terminfo, "TERM=direct", NULL});
    check_exact();
    VTermScreenCell cell = coloured("38;5;196;103", 3);
    ck_assert(is_index(cell.fg, 196) && is_index(cell.bg, 11));
}
END_TEST

START_TEST(nobody_else_sees_the_description)
{
    start(TRUE_COLOUR);
    tui_run("import os; print('it is', os.environ.get('TERMINFO'), os.environ.get('TERM'))", 1);
    terminal_wait_text(tui, "     it is None ");
    tui_run("!echo in a shell \"${TERMINFO-no}ne\"", 2);
    terminal_wait_text(tui, "     in a shell none");
    start((const char *const[]){"COLORTERM=truecolor", "TERMINFO=/own/place", NULL});
    check_exact();
    tui_run("import os; print('it is', os.environ.get('TERMINFO'))", 3);
    terminal_wait_text(tui, "     it is /own/place");
}
END_TEST

/*
 * ---- pictures -----------------------------------------------------------------------------------
 */

/* Four pixels in two rows, each of another colour. */
static const char picture[] =
    "import struct, zlib\n"
    "def part(kind, data):\n"
    "    return (struct.pack('>I', len(data)) + kind + data +\n"
    "            struct.pack('>I', zlib.crc32(kind + data)))\n"
    "class Picture:\n"
    "    def _repr_png_(self):\n"
    "        rows = bytes.fromhex('00' '010203' 'c8b4a1' '00' '112233' '000102')\n"
    "        return (b'\\x89PNG\\r\\n\\x1a\\n' + part(b'IHDR', struct.pack('>IIBBBBB', 2, 2, 8, 2, "
    "0, 0, "
    "0)) +\n"
    "                part(b'IDAT', zlib.compress(rows)) + part(b'IEND', b''))\n"
    "Picture()\n";

static int show_picture(void)
{
    terminal_paste(tui, picture);
    terminal_keys(tui, "\033\r");
    return terminal_wait_text(tui, "     \xe2\x96\x80\xe2\x96\x80");
}

START_TEST(pixels_arrive_as_they_are)
{
    start(TRUE_COLOUR);
    int row = show_picture();
    VTermScreenCell left = terminal_cell(tui, row, 5), right = terminal_cell(tui, row, 6);
    ck_assert(is_rgb(left.fg, 0x010203) && is_rgb(left.bg, 0x112233));
    ck_assert(is_rgb(right.fg, 0xc8b4a1) && is_rgb(right.bg, 0x000102));
}
END_TEST

START_TEST(pixels_are_the_nearest_of_256_elsewhere)
{
    start(NULL);
    int row = show_picture();
    VTermScreenCell right = terminal_cell(tui, row, 6);
    ck_assert(is_index(right.fg, colours_nearest_256(0xc8b4a1)));
    ck_assert(is_index(right.bg, colours_nearest_256(0x000102)));
}
END_TEST

/*
 * ---- more than there are numbers for pairs ------------------------------------------------------
 */

enum { ROWS = 50, COLUMNS = 180, FRAMES = 9 }; /* 81 000 pairs; ncurses has 65 535 */

/* Every character of every frame has a colour of its own. */
static const char many[] = "def frame(f):\n"
                           "    for y in range(50):\n"
                           "        print(''.join('\\x1b[38;2;%d;%d;%dm#' % (f + 1, y, x) for x in "
                           "range(180)) + '\\x1b[0m')\n"
                           "    print('frame', '<%d>' % f)\n";

static int wrong_colours(int frame)
{
    char text[32];
    int wrong = 0;
    snprintf(text, sizeof(text), "     frame <%d>", frame);
    int top = terminal_find(tui, text) - ROWS;
    for (int y = 0; top >= 0 && y < ROWS; y++) {
        for (int x = 0; x < COLUMNS; x++) {
            unsigned rgb = (unsigned)(frame + 1) << 16 | (unsigned)y << 8 | (unsigned)x;
            wrong += !is_rgb(terminal_cell(tui, top + y, 5 + x).fg, rgb);
        }
    }
    return top < 0 ? -1 : wrong;
}

START_TEST(colours_stay_right_when_all_numbers_are_used)
{
    tui_stop();
    tui_start(NULL, 70, 200, TRUE_COLOUR);
    terminal_wait_text(tui, ">>>");
    terminal_paste(tui, many);
    tui_run("\033", 1);
    for (int frame = 0; frame < FRAMES; frame++) {
        char line[32];
        snprintf(line, sizeof(line), "frame(%d)", frame);
        tui_enter(line);
        terminal_wait(tui, wrong_colours(frame) == 0);
        tui_wait_status("idle");
    }
    VTermScreenCell cell = coloured("38;2;250;1;2", FRAMES + 2);
    ck_assert(is_rgb(cell.fg, 0xfa0102));
}
END_TEST

static Suite *suite_tui_colour(void)
{
    Suite *suite = suite_create("tui_colour");
    TCase *tests = tui_test_case(suite, "cells");
    tcase_add_test(tests, colours_of_cells_arrive_as_they_are);
    tcase_add_test(tests, the_other_word_for_it_is_known);
    tcase_add_test(tests, colours_by_number_stay_numbers);
    tcase_add_test(tests, other_terminals_get_the_nearest_of_256);
    tcase_add_test(tests, gnu_screen_is_not_believed);
    tcase_add_test(tests, tmux_is_believed);
    tcase_add_test(tests, a_terminal_of_eight_colours_stays_one);
    tcase_add_test(tests, no_color_still_means_none);
    tcase_add_test(tests, a_terminals_description_may_say_it);
    tcase_add_test(tests, terminals_of_direct_colour_have_numbers_too);
    tcase_add_test(tests, nobody_else_sees_the_description);
    tests = tui_test_case(suite, "pictures");
    tcase_add_test(tests, pixels_arrive_as_they_are);
    tcase_add_test(tests, pixels_are_the_nearest_of_256_elsewhere);
    tests = tui_test_case(suite, "many colours");
    tcase_add_test(tests, colours_stay_right_when_all_numbers_are_used);
    return suite;
}

int main(void)
{
    return test_run(suite_tui_colour());
}
