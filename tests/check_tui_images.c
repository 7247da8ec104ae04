/* SPDX-License-Identifier: MIT */
/*
 * The full screen: what is more than text, of real libraries. Figures of matplotlib, pictures of
 * PIL, tables of pandas. The tests' Python (Debian's) has them; where one is missing, its tests say
 * so.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui-testlib.h"

/* A figure's half-blocks begin so; the block is indented. */
#define HALF "     \xe2\x96\x80\xe2\x96\x80\xe2\x96\x80\xe2\x96\x80"

/* Colours of the rows with half-blocks, as 24 bits: how many cells have one that is near this. */
static int count_colour(int red, int green, int blue)
{
    int count = 0;
    for (int row = 0; row < terminal_rows(tui); row++) {
        if (!strstr(terminal_row(tui, row), HALF))
            continue;
        for (int column = 5; column < 80; column++) {
            VTermScreenCell cell = terminal_cell(tui, row, column);
            if (cell.chars[0] != 0x2580 || VTERM_COLOR_IS_DEFAULT_FG(&cell.fg))
                continue;
            VTermColor colour = terminal_colour(tui, cell.fg);
            count += abs(colour.rgb.red - red) + abs(colour.rgb.green - green) +
                         abs(colour.rgb.blue - blue) <
                     60;
        }
    }
    return count;
}

static void wait_over(int number)
{
    char text[16];
    snprintf(text, sizeof(text), "#%d ", number);
    tui_wait_status(text);
    tui_wait_status("idle");
}

/* ---- figures --------------------------------------------------------------------------------- */

START_TEST(a_figure_appears_by_itself)
{
    if (!tui_has_module("matplotlib"))
        return;
    terminal_paste(tui,
                   "import matplotlib.pyplot as plt\n"
                   "plt.figure(figsize=(4, 2)).patch.set_facecolor('#ff0000'); plt.axis('off')\n"
                   "plt.fill([0, 1, 1, 0], [0, 0, 1, 1], color='#0000ff');\n");
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, HALF);
    wait_over(2);
    /* A red border round blue; what they mix to is neither. */
    terminal_wait(tui, count_colour(255, 0, 0) > 50 && count_colour(0, 0, 255) > 200);
    ck_assert_int_eq(count_colour(0, 255, 0), 0);
    ck_assert_int_eq(terminal_find(tui, "<Figure"), -1); /* the picture stands for it */
}
END_TEST

START_TEST(show_draws_where_it_is_called)
{
    if (!tui_has_module("matplotlib"))
        return;
    tui_run("import matplotlib.pyplot as plt", 2);
    terminal_paste(
        tui,
        "print('above'); plt.figure(figsize=(3, 1)); plt.plot([1, 2]); plt.show(); print('below')");
    terminal_keys(tui, "\r");
    terminal_wait_text(tui, "     below");
    wait_over(3);
    terminal_wait(tui, terminal_find(tui, "     above") < terminal_find(tui, HALF) &&
                           terminal_find(tui, HALF) < terminal_find(tui, "     below"));
    int count = terminal_count(tui, HALF);
    tui_run("4 + 4", 4); /* it is closed: not shown again */
    terminal_wait_text(tui, "     8");
    ck_assert_int_le(terminal_count(tui, HALF), count);
}
END_TEST

START_TEST(a_cell_that_fails_shows_figure_and_error)
{
    if (!tui_has_module("matplotlib"))
        return;
    terminal_paste(
        tui,
        "import matplotlib.pyplot as plt\nplt.figure(figsize=(3, 1)); plt.plot([1, 2])\n1 / 0\n");
    terminal_keys(tui, "\r");
    int row = terminal_wait_text(tui, "     ZeroDivisionError");
    terminal_wait(tui, terminal_find(tui, HALF) >= 0 && terminal_find(tui, HALF) < row);
    ck_assert_int_eq(terminal_find(tui, "hermes_kernel"), -1);
}
END_TEST

START_TEST(a_chosen_backend_is_kept)
{
    if (!tui_has_module("matplotlib"))
        return;
    tui_run("import matplotlib; matplotlib.use('Agg'); import matplotlib.pyplot as plt", 2);
    tui_run("plt.plot([1, 2]); plt.get_backend().lower()", 3);
    terminal_wait_text(tui, "     'agg'");
    ck_assert_int_eq(terminal_find(tui, HALF), -1);
    tui_run("%matplotlib inline", 4);
    tui_enter("plt.figure(figsize=(3, 1)); plt.plot([1, 2]);");
    terminal_wait_text(tui, HALF);
}
END_TEST

START_TEST(an_image_of_pil_is_a_picture)
{
    if (!tui_has_module("PIL"))
        return;
    tui_run("from PIL import Image; Image.new('RGB', (20, 8), '#00ff00')", 2);
    terminal_wait_text(tui, HALF);
    terminal_wait(tui, count_colour(0, 255, 0) == 80); /* 20 columns, 4 rows of two pixels */
    ck_assert_int_eq(terminal_find(tui, "<PIL"), -1);
    tui_run("display(Image.new('L', (6, 2), 255), 7)", 3);
    terminal_wait(tui, count_colour(255, 255, 255) == 6);
    terminal_wait_text(tui, "     7");
}
END_TEST

START_TEST(the_plain_prompt_tells_what_it_is)
{
    if (!tui_has_module("matplotlib"))
        return;
    tui_teardown();
    tui_start((const char *const[]){"--plain", NULL}, 24, 80, NULL);
    terminal_wait_text(tui, ">>>");
    tui_enter("import matplotlib.pyplot as plt; plt.plot([1, 2]);");
    terminal_wait_text(tui, "<Figure size 640x480 with 1 Axes>");
    terminal_wait_text(tui, "[2] >>>");
    tui_enter("from PIL import Image; Image.new('L', (6, 2), 255)");
    terminal_wait_text(tui, "<PIL.Image.Image image mode=L size=6x2");
    ck_assert_int_eq(terminal_count(tui, "\xe2\x96\x80"), 0);
    terminal_keys(tui, "\004");
    terminal_wait_exit(tui);
    tui_stop();
}
END_TEST

/*
 * ---- tables and long lines ---------------------------------------------------------------------
 */

/* Columns of the longest row of the screen between the tabs and the prompt. */
static int widest_row(void)
{
    int widest = 0, prompt = terminal_find(tui, ">>>");
    for (int row = 1; row < prompt; row++) {
        int width = (int)strlen(terminal_row(tui, row)); /* ASCII there */
        if (!strstr(terminal_row(tui, row), "[") && width > widest)
            widest = width;
    }
    return widest;
}

START_TEST(a_wide_table_takes_the_window)
{
    if (!tui_has_module("pandas"))
        return;
    tui_run("import pandas as pd, numpy as np; df = pd.DataFrame(np.arange(4000).reshape(100, 40))",
            2);
    terminal_keys(tui, "\030l");
    tui_run("df.head(3)", 3);
    terminal_wait_text(tui, " ... ");
    int narrow = widest_row();
    ck_assert_int_gt(narrow, 70);
    ck_assert_int_le(narrow, 80);
    terminal_resize(tui, 30, 130);
    terminal_wait(tui, strstr(terminal_row(tui, 29), "idle") != NULL);
    terminal_keys(tui, "\030l");
    tui_run("df.head(3)", 4);
    terminal_wait(tui, widest_row() > 115 && widest_row() <= 130);
    terminal_wait(tui, terminal_count(tui, " ... ") == 4);
    tui_run("df", 5); /* 60 rows at most are shown whole: 5 and 5 */
    terminal_wait_text(tui, "[100 rows x 40 columns]");
    terminal_wait_text(tui, "     ..  ");
}
END_TEST

START_TEST(values_are_broken_at_the_windows_width)
{
    tui_run("x = [n * 10**12 for n in range(1, 8)]", 1);
    tui_run("x", 2);
    terminal_wait_text(tui, "     [1000000000000,");
    terminal_wait_text(tui, "      7000000000000]");
    terminal_resize(tui, 30, 130);
    terminal_wait(tui, strstr(terminal_row(tui, 29), "idle") != NULL);
    tui_run("x", 3);
    int row = terminal_wait_text(tui, "     [1000000000000, 2000000000000, 3");
    ck_assert_ptr_nonnull(strstr(terminal_row(tui, row), "7000000000000]"));
    terminal_resize(tui, 24, 60);
    terminal_wait(tui, strstr(terminal_row(tui, 23), "idle") != NULL);
    tui_run("x[:4]", 4);
    terminal_wait_text(tui, "      4000000000000]");
}
END_TEST

START_TEST(long_lines_are_scrolled_sideways)
{
    tui_run("print(''.join('%010d' % i for i in range(20)))", 1);
    tui_run("print('short\\n' + ''.join('<%08d>' % i for i in range(30)) + '\\nend')", 2);
    /* 300 characters in rows of 75 */
    terminal_wait(tui, terminal_find(tui, "     end") == terminal_find(tui, "     short") + 5);
    terminal_keys(tui, "\030[");
    tui_wait_status("browse");
    terminal_keys(tui, "\033[C"); /* whole lines first */
    terminal_wait(tui, terminal_find(tui, "│    end") == terminal_find(tui, "│    short") + 2);
    int row = terminal_wait_text(tui, "│    <00000000>");
    terminal_keys(tui, "\033[C"); /* then what is at their right: 8 columns each time */
    terminal_wait_text(tui, "│    0><00000001>");
    terminal_wait(tui, terminal_find(tui, "│    0><00000001>") == row &&
                           strcmp(terminal_row(tui, row + 1), "│") == 0);
    /* the other cell stays as it was */
    terminal_wait(tui,
                  terminal_find(tui, "     00000000000000000001") == 1 + terminal_find(tui, "[1]"));
    for (int i = 0; i < 28; i++)
        terminal_keys(tui, "\033[C");
    terminal_wait(tui,
                  strstr(terminal_row(tui, row), "<00000029>") != NULL); /* columns 232 to 306 */
    for (int i = 0; i < 30; i++)
        terminal_keys(tui, "\033[D");
    terminal_wait(tui, terminal_find(tui, "│    end") == terminal_find(tui, "│    short") + 5);
    terminal_keys(tui, "q");
}
END_TEST

static Suite *suite_tui_images(void)
{
    Suite *suite = suite_create("tui-images");
    TCase *tests = tui_test_case(suite, "images");
    tcase_add_test(tests, a_figure_appears_by_itself);
    tcase_add_test(tests, show_draws_where_it_is_called);
    tcase_add_test(tests, a_cell_that_fails_shows_figure_and_error);
    tcase_add_test(tests, a_chosen_backend_is_kept);
    tcase_add_test(tests, an_image_of_pil_is_a_picture);
    tcase_add_test(tests, the_plain_prompt_tells_what_it_is);
    tcase_add_test(tests, a_wide_table_takes_the_window);
    tcase_add_test(tests, values_are_broken_at_the_windows_width);
    tcase_add_test(tests, long_lines_are_scrolled_sideways);
    return suite;
}

int main(void)
{
    return test_run(suite_tui_images());
}
