/* SPDX-License-Identifier: MIT */
/*
 * Parts of the full screen that need no terminal: widths of characters, themes, colours, the rows
 * of a transcript, completion without a kernel.
 */
#include "config.h"

#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>
#include <unistd.h>

#include "colour.h"
#include "complete-local.h"
#include "glyph.h"
#include "testlib.h"
#include "theme.h"
#include "transcript.h"
#include "tui-signals.h"

/*
 * ---- characters ---------------------------------------------------------------------------------
 */

START_TEST(glyphs_have_widths)
{
    static const struct {
        const char *text;
        size_t size;
        int width;
        uint32_t first;
    } table[] = {
        {"a", 1, 1, 'a'},           {"世", 3, 2, 0x4e16},   {"e\xcc\x81x", 3, 1, 'e'},
        {"\t", 1, 8, ' '},          {"\n", 1, 0, 0},        {"\x1b", 1, 1, 0x241b},
        {"\x7f", 1, 1, 0x2421},     {"\xff", 1, 1, 0xfffd}, {"\xe4\xb8", 2, 1, 0xfffd},
        {"\xc2\x85", 2, 1, 0xfffd}, {"✓", 3, 1, 0x2713},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        struct glyph glyph;
        glyph_at(table[i].text, strlen(table[i].text), 0, &glyph);
        ck_assert_msg(glyph.size == table[i].size, "%zu: size %zu", i, glyph.size);
        ck_assert_msg(glyph.width == table[i].width, "%zu: width %d", i, glyph.width);
        ck_assert_msg(glyph.characters[0] == table[i].first, "%zu: %x", i, glyph.characters[0]);
    }
}
END_TEST

START_TEST(too_many_marks_are_dropped)
{
    char text[64] = "a";
    for (int i = 0; i < 20; i++)
        strcat(text, "\xcc\x81");
    struct glyph glyph;
    glyph_at(text, strlen(text), 0, &glyph);
    ck_assert_uint_eq(glyph.size, 41);
    ck_assert_uint_eq(glyph.characters[GLYPH_CHARACTERS - 1], 0x301);
}
END_TEST

START_TEST(text_is_cut_at_columns)
{
    ck_assert_uint_eq(glyph_columns("a世b", 5), 4);
    ck_assert_uint_eq(glyph_fit("a世b", 5, 2), 1);
    ck_assert_uint_eq(glyph_fit("a世b", 5, 3), 4);
    ck_assert_uint_eq(glyph_fit("", 0, 3), 0);
}
END_TEST

START_TEST(every_mark_has_an_ascii_form)
{
    ck_assert_int_eq(glyph_ascii(0x2713), '+');
    ck_assert_int_eq(glyph_ascii(0x2500), '-');
    ck_assert_int_eq(glyph_ascii('a'), 0);
}
END_TEST

/*
 * ---- colours
 * -------------------------------------------------------------------------------------
 */

START_TEST(rgb_becomes_the_nearest_of_256)
{
    static const struct {
        unsigned rgb;
        int index;
    } table[] = {{0x000000, 16},  {0xffffff, 231}, {0xff0000, 196}, {0x00ff00, 46},
                 {0x808080, 244}, {0x5f87af, 67},  {0x121212, 233}};
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        ck_assert_int_eq(colours_nearest_256(table[i].rgb), table[i].index);
}
END_TEST

START_TEST(a_background_tells_the_theme)
{
    enum theme_kind kind;
    uint32_t rgb;
    ck_assert_int_eq(theme_guess(NULL), THEME_DARK);
    ck_assert_int_eq(theme_guess("15;0"), THEME_DARK);
    ck_assert_int_eq(theme_guess("0;15"), THEME_LIGHT);
    ck_assert_int_eq(theme_guess("0;default;7"), THEME_LIGHT);
    ck_assert_int_eq(theme_guess("nonsense"), THEME_DARK);
    static const char light[] = "\033]11;rgb:ffff/ffff/eeee\033\\",
                      dark[] = "\033]11;rgb:1e/1e/2e\a";
    ck_assert(theme_from_reply(light, sizeof(light) - 1, &kind, &rgb) && kind == THEME_LIGHT);
    ck_assert_uint_eq(rgb, 0xffffee);
    ck_assert(theme_from_reply(dark, sizeof(dark) - 1, &kind, &rgb) && kind == THEME_DARK);
    ck_assert_uint_eq(rgb, 0x1e1e2e);
    for (size_t size = 0; size < sizeof(light) - 8; size++)
        ck_assert(!theme_from_reply(light, size, &kind, &rgb) || size > 20);
    ck_assert(!theme_from_reply("11;rgb:zz/zz/zz", 15, &kind, &rgb));
}
END_TEST

/*
 * ---- the transcript
 * ---------------------------------------------------------------------------------
 */

static struct repl_session session;
static struct repl_cell cells[40];
static struct repl_item items[40];

static void setup(void)
{
    memset(&session, 0, sizeof(session));
    memset(cells, 0, sizeof(cells));
    memset(items, 0, sizeof(items));
    session.items = items;
}

static void add_cell(const char *source, int lines)
{
    size_t n = session.item_count++;
    struct repl_cell *cell = &cells[n];
    cell->number = (unsigned)n + 1;
    cell->state = REPL_SETTLED;
    cell->source = strdup(source);
    cell->source_size = strlen(source);
    cell->output = block_new(0);
    for (int i = 0; i < lines; i++) {
        char line[32];
        snprintf(line, sizeof(line), "line %d\n", i);
        block_write(cell->output, line, strlen(line));
    }
    block_end(cell->output);
    items[n].cell = cell;
}

static void teardown(void)
{
    for (size_t i = 0; i < session.item_count; i++) {
        if (!items[i].cell)
            continue;
        free(cells[i].source);
        free(cells[i].view);
        block_free(cells[i].output);
    }
    free(session.view);
}

START_TEST(rows_are_source_and_output)
{
    add_cell("x = 1", 0);
    add_cell("for i in y:\n    print(i)\n", 3);
    items[session.item_count++].text = (char *)"kernel killed";
    ck_assert_uint_eq(transcript_rows(&items[0], 80), 1);
    ck_assert_uint_eq(transcript_rows(&items[1], 80), 5);
    ck_assert_uint_eq(transcript_rows(&items[2], 80), 1);
    ck_assert_int_eq(transcript_row(&items[1], 80, 1).part, PART_SOURCE);
    ck_assert_int_eq(transcript_row(&items[1], 80, 2).part, PART_OUTPUT);
    ck_assert_int_eq(transcript_row(&items[2], 80, 0).part, PART_RULE);
    block_write(cells[1].output, "more\n", 5);
    ck_assert_uint_eq(transcript_rows(&items[1], 80), 6);
}
END_TEST

START_TEST(long_output_is_folded)
{
    add_cell("x", 1000);
    size_t shown = TRANSCRIPT_HEAD_ROWS + 1 + TRANSCRIPT_TAIL_ROWS;
    ck_assert_uint_eq(transcript_rows(&items[0], 80), 1 + shown);
    ck_assert(transcript_is_cut(&items[0], 80));
    struct transcript_row fold = transcript_row(&items[0], 80, 1 + TRANSCRIPT_HEAD_ROWS);
    ck_assert_int_eq(fold.part, PART_FOLD);
    ck_assert_uint_eq(fold.hidden, 1000 - TRANSCRIPT_HEAD_ROWS - TRANSCRIPT_TAIL_ROWS);
    ck_assert_uint_eq(transcript_row(&items[0], 80, shown).row, 999);
    ck_assert_uint_eq(transcript_row_of_output(&items[0], 80, 999), shown);
    ck_assert_uint_eq(transcript_row_of_output(&items[0], 80, 500), 1 + TRANSCRIPT_HEAD_ROWS);
    transcript_set_fold(&items[0], FOLD_OPEN);
    ck_assert_uint_eq(transcript_rows(&items[0], 80), 1001);
    ck_assert_uint_eq(transcript_row_of_output(&items[0], 80, 500), 501);
    transcript_set_fold(&items[0], FOLD_CLOSED);
    ck_assert_uint_eq(transcript_rows(&items[0], 80), 2);
    ck_assert_uint_eq(transcript_row(&items[0], 80, 1).hidden, 1000);
}
END_TEST

START_TEST(the_window_follows_the_end)
{
    size_t item, row;
    ck_assert_int_eq(transcript_window(&session, 80, 10, &item, &row), 0);
    for (int i = 0; i < 5; i++)
        add_cell("x", 3);
    ck_assert_int_eq(transcript_window(&session, 80, 100, &item, &row), 20);
    ck_assert(item == 0 && row == 0);
    ck_assert_int_eq(transcript_window(&session, 80, 10, &item, &row), 10);
    ck_assert(item == 2 && row == 2);
    transcript_scroll(&session, 80, 10, -3);
    transcript_window(&session, 80, 10, &item, &row);
    ck_assert(item == 1 && row == 3);
    add_cell("y", 1); /* what comes does not move what is looked at */
    transcript_window(&session, 80, 10, &item, &row);
    ck_assert(item == 1 && row == 3);
    transcript_scroll(&session, 80, 10, -100);
    transcript_window(&session, 80, 10, &item, &row);
    ck_assert(item == 0 && row == 0);
    transcript_scroll(&session, 80, 10, 1000);
    ck_assert(transcript_view(&session)->follows);
    transcript_window(&session, 80, 10, &item, &row);
    ck_assert(item == 3 && row == 0);
}
END_TEST

/* Each step of the window by one row shows the next row of all rows, whatever the heights are. */
START_TEST(scrolling_meets_every_row)
{
    for (int i = 0; i < 12; i++)
        add_cell(i % 3 ? "a" : "a\nb\nc", i * 7 % 5);
    size_t total = 0, item, row;
    for (size_t i = 0; i < session.item_count; i++)
        total += transcript_rows(&items[i], 80);
    transcript_scroll(&session, 80, 6, -1000);
    for (size_t top = 0; top + 6 <= total; top++) {
        transcript_window(&session, 80, 6, &item, &row);
        size_t at = row;
        for (size_t i = 0; i < item; i++)
            at += transcript_rows(&items[i], 80);
        ck_assert_uint_eq(at, top);
        transcript_scroll(&session, 80, 6, 1);
    }
    ck_assert(transcript_view(&session)->follows);
}
END_TEST

START_TEST(a_place_is_shown)
{
    size_t item, row;
    for (int i = 0; i < 20; i++)
        add_cell("x", 4);
    transcript_show(&session, 80, 10, 3, 2);
    int filled = transcript_window(&session, 80, 10, &item, &row);
    ck_assert_int_eq(filled, 10);
    ck_assert(item == 2 && row == 2);
    transcript_show(&session, 80, 10, 3, 0); /* it is there: nothing moves */
    transcript_window(&session, 80, 10, &item, &row);
    ck_assert(item == 2 && row == 2);
    session.item_count = 2; /* fewer than the view knows of */
    transcript_window(&session, 80, 10, &item, &row);
    session.item_count = 20;
}
END_TEST

/*
 * ---- completion without a kernel
 * -----------------------------------------------------------------------
 */

static bool has(const struct local_matches *matches, const char *text)
{
    for (size_t i = 0; i < matches->count; i++) {
        if (strcmp(matches->items[i].text, text) == 0)
            return true;
    }
    return false;
}

START_TEST(commands_and_words_are_known)
{
    struct local_matches matches = {NULL, 0, 0};
    size_t start;
    ck_assert(local_commands(":res", 4, &matches, &start));
    ck_assert(start == 1 && has(&matches, "reset"));
    local_matches_free(&matches);
    ck_assert(!local_commands("x:res", 5, &matches, &start));
    ck_assert(!local_commands(":load fi", 8, &matches, &start));
    add_cell("my_long_name = 1", 0);
    local_words("print(my_", 9, &session, &matches, &start);
    ck_assert(start == 6 && has(&matches, "my_long_name"));
    local_matches_free(&matches);
    local_words("imp", 3, &session, &matches, &start);
    ck_assert(has(&matches, "import"));
    local_matches_free(&matches);
}
END_TEST

START_TEST(paths_are_known_in_strings_only)
{
    static const struct {
        const char *text;
        bool path;
    } table[] = {
        {"open('da", true}, {"open(\"da", true},    {"open('da'", false}, {"da", false},
        {"x = ''", false},  {"x = '", true},        {"!cat da", true},    {"!ca", false},
        {":load da", true}, {"f('a') + da", false}, {"'''da", true},
    };
    struct local_matches matches = {NULL, 0, 0};
    size_t start;
    test_write_file(test_path("data.csv"), "", 0600);
    ck_assert_int_eq(chdir(test_directory()), 0);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        size_t size = strlen(table[i].text);
        bool path = local_files(table[i].text, size, size, 0, &matches, &start);
        ck_assert_msg(path == table[i].path, "%s", table[i].text);
        if (path && strstr(table[i].text, "da"))
            ck_assert_msg(has(&matches, "data.csv"), "%s", table[i].text);
        local_matches_free(&matches);
    }
}
END_TEST

/*
 * ---- signals ------------------------------------------------------------------------------------
 */

enum { SIGNALS = 20000 };
static atomic_uint taken, late;

/* In this thread, while the other one takes. */
static void *end_children(void *unused)
{
    for (unsigned i = 0; i < SIGNALS && !late; i++) {
        int64_t end = test_now_ms() + test_scaled_ms(5000);
        pthread_kill(pthread_self(), SIGCHLD);
        while (taken == i && !late) {
            sched_yield();
            late = test_now_ms() >= end;
        }
    }
    return unused;
}

START_TEST(no_signal_is_lost)
{
    pthread_t thread;
    tui_signals_install();
    ck_assert_int_eq(pthread_create(&thread, NULL, end_children, NULL), 0);
    while (taken < SIGNALS && !late)
        taken += tui_signals_take() & TUI_SIGNAL_CHILD ? 1 : 0;
    pthread_join(thread, NULL);
    tui_signals_done();
    ck_assert_msg(!late, "signal %u was lost", taken + 1);
}
END_TEST

static Suite *suite_tui_parts(void)
{
    Suite *suite = suite_create("tui_parts");
    TCase *tests = tcase_create("characters");
    tcase_add_test(tests, glyphs_have_widths);
    tcase_add_test(tests, too_many_marks_are_dropped);
    tcase_add_test(tests, text_is_cut_at_columns);
    tcase_add_test(tests, every_mark_has_an_ascii_form);
    tcase_add_test(tests, rgb_becomes_the_nearest_of_256);
    tcase_add_test(tests, a_background_tells_the_theme);
    suite_add_tcase(suite, tests);
    tests = tcase_create("signals");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, no_signal_is_lost);
    suite_add_tcase(suite, tests);
    tests = tcase_create("transcript");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, rows_are_source_and_output);
    tcase_add_test(tests, long_output_is_folded);
    tcase_add_test(tests, the_window_follows_the_end);
    tcase_add_test(tests, scrolling_meets_every_row);
    tcase_add_test(tests, a_place_is_shown);
    tcase_add_test(tests, commands_and_words_are_known);
    tcase_add_test(tests, paths_are_known_in_strings_only);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    return test_run(suite_tui_parts());
}
