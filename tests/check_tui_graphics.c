/* SPDX-License-Identifier: MIT */
/*
 * Pictures on terminals that draw some: what is asked, what is written for which answer, where, how
 * often, and that it is taken back. The program on a real terminal; what it writes is read as a
 * terminal would.
 */
#include "config.h"

#include <png.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphics-testlib.h"
#include "sixel.h"
#include "tui-testlib.h"

#define QUESTION "\033_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\033\\"
#define IS_KITTY "\033_Gi=31;OK\033\\\033P>|kitty(0.35.2)\033\\"
#define CELLS_10_20 "\033[6;20;10t"
#define HAS_SIXEL "\033[?62;4;22c"
#define PLACEHOLDER 0x10EEEE

/* A picture of 30 × 20 pixels: 30 columns, whose marks libvterm knows, and 10 rows. */
#define WIDTH 30
#define HEIGHT 20
#define ROWS 10

static unsigned char *file;
static size_t file_size;

/*
 * ---- a picture
 * ----------------------------------------------------------------------------------------
 */

static uint32_t colour_of(int x, int y)
{
    return (uint32_t)(x * 255 / (WIDTH - 1)) << 16 | (uint32_t)(y * 255 / (HEIGHT - 1)) << 8 |
           (x / 8 % 2 ? 0xc0u : 0x20u);
}

static void make_file(void)
{
    png_image png = {.version = PNG_IMAGE_VERSION, .width = WIDTH, .height = HEIGHT};
    unsigned char pixels[WIDTH * HEIGHT * 3];
    png_alloc_size_t size = 0;
    png.format = PNG_FORMAT_RGB;
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        for (int k = 0; k < 3; k++)
            pixels[i * 3 + k] = (unsigned char)(colour_of(i % WIDTH, i / WIDTH) >> (16 - 8 * k));
    }
    ck_assert(png_image_write_get_memory_size(png, size, 0, pixels, 0, NULL));
    free(file);
    file = malloc(size);
    ck_assert(png_image_write_to_memory(&png, file, &size, 0, pixels, 0, NULL));
    file_size = size;
    FILE *out = fopen(test_path("picture.png"), "wb");
    ck_assert(out && fwrite(file, 1, size, out) == size && fclose(out) == 0);
}

/* P() is the picture, as the value of cell 2. */
static void show_picture(void)
{
    char text[4608];
    snprintf(text, sizeof(text),
             "class P:\n    def _repr_png_(self, n='picture'): return open('%s/' + n + '.png', "
             "'rb').read()\n",
             test_directory());
    terminal_paste(tui, text);
    tui_run("", 1);
    tui_run("P()", 2);
}

static void start_with(const char *const *arguments, const char *const *environment)
{
    tui_stop();
    tui_start(arguments, 24, 80, environment);
    terminal_wait_text(tui, ">>>");
}

static void set_up(void)
{
    tui_setup();
    make_file();
}

/*
 * ---- what was written
 * --------------------------------------------------------------------------------
 */

static struct kitty_command last_command;

/* How many commands of an action were written; the last one is kept. */
static int count_commands(char action)
{
    size_t size, at = 0;
    const char *bytes = terminal_bytes(tui, &size);
    struct kitty_command command;
    int count = 0;
    while (kitty_command_next(bytes, size, &at, &command)) {
        if (kitty_key(&command, 'a') != action) {
            free(command.data);
            continue;
        }
        count++;
        free(last_command.data);
        last_command = command;
    }
    return count;
}

static struct sixel_picture last_sixels;

static int count_sixels(void)
{
    size_t size, at = 0;
    const char *bytes = terminal_bytes(tui, &size);
    struct sixel_picture picture;
    int count = 0;
    while (sixel_picture_next(bytes, size, &at, &picture)) {
        count++;
        free(last_sixels.pixels);
        last_sixels = picture;
    }
    return count;
}

static bool is_placeholder(int row, int column)
{
    return terminal_cell(tui, row, column).chars[0] == PLACEHOLDER;
}

/* The first row with placeholders of the picture's row (-1: any), or -1. */
static int placeholder_row(void)
{
    for (int row = 0; row < terminal_rows(tui); row++) {
        if (is_placeholder(row, 5))
            return row;
    }
    return -1;
}

static bool has_half_blocks(void)
{
    return terminal_find(tui, "▀▀▀▀") >= 0;
}

/* Until the program has drawn what it has to draw by now: it answers a key after it. */
static void wait_drawn(void)
{
    static int round;
    char text[32];
    snprintf(text, sizeof(text), "drawn%d", ++round);
    terminal_keys(tui, text);
    terminal_wait_text(tui, text);
    terminal_keys(tui, "\003");
    terminal_wait_no_text(tui, text);
}

/*
 * ---- asking
 * -----------------------------------------------------------------------------------------
 */

START_TEST(the_terminal_is_asked_behind_the_first_screen)
{
    size_t size;
    terminal_wait(tui, terminal_has_bytes(tui, QUESTION "\033[>q\033[16t\033[c"));
    const char *bytes = terminal_bytes(tui, &size);
    const char *prompt = memmem(bytes, size, ">>> ", 4),
               *question = memmem(bytes, size, QUESTION, 8);
    ck_assert(prompt && question && prompt < question);
    wait_drawn();
    ck_assert_int_eq(terminal_count(tui, "AAAA"), 0);
}
END_TEST

START_TEST(some_are_not_asked)
{
    static const char *const terminals[][2] = {
        {"TERM=screen-256color", NULL},
        {"TERM=linux", NULL},
        {"TERM=tmux-256color", NULL},
        {"TMUX=/tmp/none,1,0", NULL},
        {"STY=1.pts-0.host", NULL},
        {"HERMES_REPL_GRAPHICS=off", NULL},
        {"TERM_PROGRAM=Apple_Terminal", NULL},
        {"HERMES_REPL_GRAPHICS=blocks", NULL},
        {"HERMES_REPL_GRAPHICS=kitty", NULL},
    };
    start_with(NULL, terminals[_i]);
    wait_drawn();
    ck_assert(!terminal_has_bytes(tui, "\033_G"));
    ck_assert(!terminal_has_bytes(tui, "\033[c"));
    terminal_keys(tui, "\034"); /* not all of them have another screen to leave */
    terminal_wait_exit(tui);
    tui_stop();
}
END_TEST

START_TEST(without_an_answer_pictures_are_half_blocks)
{
    show_picture();
    terminal_wait(tui, has_half_blocks());
    wait_drawn();
    ck_assert_int_eq(count_commands('T'), 0);
    ck_assert_int_eq(count_sixels(), 0);
    ck_assert_int_eq(placeholder_row(), -1);
}
END_TEST

START_TEST(the_protocol_without_placeholders_is_not_enough)
{
    terminal_keys(tui, "\033_Gi=31;OK\033\\\033P>|WezTerm 20240203\033\\\033[?65;6c");
    terminal_keys(tui, "\033P>|kitty(0.27.1)\033\\");
    terminal_keys(tui, "\033_Gi=31;ENOTSUPPORTED\033\\");
    show_picture();
    terminal_wait(tui, has_half_blocks());
    ck_assert_int_eq(count_commands('T'), 0);
    ck_assert_int_eq(terminal_find(tui, "WezTerm"), -1);
}
END_TEST

START_TEST(a_late_answer_changes_pictures_that_are_there)
{
    show_picture();
    terminal_wait(tui, has_half_blocks());
    int row = terminal_find(tui, "▀▀▀▀");
    terminal_keys(tui, IS_KITTY);
    terminal_wait(tui, placeholder_row() >= 0);
    ck_assert_int_eq(placeholder_row(), row);
    terminal_wait(tui, !has_half_blocks());
}
END_TEST

/*
 * ---- kitty
 * -------------------------------------------------------------------------------------------
 */

static void check_placeholders(int top, int rows, int first)
{
    static const uint32_t marks[] = {0x305, 0x30D, 0x30E, 0x310, 0x312, 0x33D,
                                     0x33E, 0x33F, 0x346, 0x34A, 0x34B, 0x34C};
    long id = kitty_key(&last_command, 'i');
    for (int y = 0; y < rows; y++) {
        for (int x = 0; x < WIDTH; x++) {
            VTermScreenCell cell = terminal_cell(tui, top + y, 5 + x);
            ck_assert_uint_eq(cell.chars[0], PLACEHOLDER);
            ck_assert_uint_eq(cell.chars[1], marks[first + y]);
            if (x < 12)
                ck_assert_uint_eq(cell.chars[2], marks[x]);
            ck_assert_uint_ne(cell.chars[3], 0);
            ck_assert_uint_eq(cell.chars[4], 0);
            ck_assert(VTERM_COLOR_IS_INDEXED(&cell.fg));
            ck_assert_int_eq(cell.fg.indexed.idx, id & 0xff);
        }
        ck_assert(!is_placeholder(top + y, 5 + WIDTH));
        ck_assert(!is_placeholder(top + y, 4));
    }
    ck_assert(!is_placeholder(top + rows, 5));
}

START_TEST(kitty_gets_the_picture_once_and_its_cells)
{
    terminal_keys(tui, IS_KITTY);
    show_picture();
    terminal_wait(tui, placeholder_row() >= 0 &&
                           is_placeholder(placeholder_row() + ROWS - 1, 4 + WIDTH));
    ck_assert_int_eq(count_commands('T'), 1);
    ck_assert_uint_eq(last_command.size, file_size);
    ck_assert(memcmp(last_command.data, file, file_size) == 0);
    ck_assert_int_eq(kitty_key(&last_command, 'f'), 100);
    ck_assert_int_eq(kitty_key(&last_command, 'U'), 1);
    ck_assert_int_eq(kitty_key(&last_command, 'q'), 2);
    ck_assert_int_eq(kitty_key(&last_command, 'c'), WIDTH);
    ck_assert_int_eq(kitty_key(&last_command, 'r'), ROWS);
    long id = kitty_key(&last_command, 'i');
    ck_assert_int_gt(id >> 24, 0);
    ck_assert_int_ge(id & 0xff, 16);
    ck_assert_int_eq(id >> 8 & 0xffff, 0);
    check_placeholders(placeholder_row(), ROWS, 0);
    ck_assert(!has_half_blocks());
    wait_drawn();
    tui_run("1 + 1", 3);
    terminal_keys(tui, "\014"); /* C-l */
    wait_drawn();
    ck_assert_int_eq(count_commands('T'), 1);
    ck_assert_int_eq(count_commands('d'), 0);
}
END_TEST

START_TEST(kitty_pictures_scroll_and_are_cut)
{
    terminal_keys(tui, IS_KITTY);
    show_picture();
    terminal_wait(tui, placeholder_row() >= 0);
    count_commands('T');
    tui_run("for i in range(11): print('line', i)\r", 3);
    terminal_wait_text(tui, "     line 10");
    terminal_wait(tui, placeholder_row() == 1);
    int rows = 0;
    while (is_placeholder(1 + rows, 5))
        rows++;
    ck_assert(rows > 0 && rows < ROWS);
    check_placeholders(1, rows, ROWS - rows); /* the last rows of it */
    ck_assert_int_eq(count_commands('T'), 1);
}
END_TEST

START_TEST(kitty_pictures_stay_while_another_tab_is_shown)
{
    start_with((const char *const[]){"--session", "one", "--session", "two", NULL}, NULL);
    terminal_keys(tui, IS_KITTY);
    show_picture();
    terminal_wait(tui, placeholder_row() >= 0);
    int row = placeholder_row();
    terminal_keys(tui, "\030n");
    tui_wait_status(" two");
    terminal_wait(tui, placeholder_row() < 0);
    terminal_keys(tui, "\030n");
    tui_wait_status(" one");
    terminal_wait(tui, placeholder_row() == row);
    ck_assert_int_eq(count_commands('T'), 1);
    ck_assert_int_eq(count_commands('d'), 0);
}
END_TEST

START_TEST(a_large_picture_comes_in_pieces)
{
    terminal_keys(tui, IS_KITTY);
    char line[4608];
    snprintf(line, sizeof(line),
             "import zlib, struct, os; c = lambda t, d: struct.pack('>I', len(d)) + t + d + "
             "struct.pack('>I', zlib.crc32(t + d))\n"
             "open('%s/big.png', 'wb').write(b'\\x89PNG\\r\\n\\x1a\\n' + c(b'IHDR', "
             "struct.pack('>IIBBBBB', 200, 100, 8, 2, 0, 0, 0)) + c(b'IDAT', "
             "zlib.compress(b''.join(b'\\0' + os.urandom(600) for i in range(100)))) + c(b'IEND', "
             "b''))",
             test_directory());
    show_picture();
    terminal_paste(tui, line);
    tui_run("", 3);
    tui_run("class Q(P): _repr_png_ = lambda s: P._repr_png_(s, 'big')", 4);
    tui_run("Q()", 5);
    terminal_wait(tui, count_commands('T') == 2);
    ck_assert_uint_gt(last_command.pieces, 10);
    ck_assert_uint_le(last_command.largest, 4096);
    FILE *in = fopen(test_path("big.png"), "rb");
    unsigned char *whole = malloc(last_command.size + 1);
    ck_assert_uint_eq(fread(whole, 1, last_command.size + 1, in), last_command.size);
    ck_assert(memcmp(whole, last_command.data, last_command.size) == 0);
    free(whole);
    fclose(in);
}
END_TEST

START_TEST(kitty_pictures_are_taken_back)
{
    terminal_keys(tui, IS_KITTY);
    show_picture();
    terminal_wait(tui, placeholder_row() >= 0);
    count_commands('T');
    long id = kitty_key(&last_command, 'i');
    if (_i == 0) { /* the session's cells go */
        terminal_keys(tui, "\030L");
        terminal_wait_text(tui, "forget grants");
        terminal_keys(tui, "y");
        terminal_wait(tui, count_commands('d') == 1);
    } else if (_i == 1) { /* stopped, and continued */
        terminal_keys(tui, "\032");
        terminal_wait(tui, count_commands('d') == 1);
        kill(terminal_pid(tui), SIGCONT);
        terminal_wait(tui, count_commands('T') == 2);
    } else {
        if (_i == 2)
            terminal_keys(tui, "\034");
        else
            kill(terminal_pid(tui), SIGABRT); /* it falls */
        terminal_wait_exit(tui);
        size_t size;
        const char *bytes = terminal_bytes(tui, &size);
        const char *taken = memmem(bytes, size, "\033_Ga=d,", 7);
        const char *left = memmem(bytes, size, "\033[?1049l", 8);
        ck_assert(taken && left && taken < left);
    }
    ck_assert_int_eq(count_commands('d'), 1);
    ck_assert_int_eq(kitty_key(&last_command, 'i'), id);
    ck_assert_int_eq(kitty_key(&last_command, 'd'), 'I');
    if (_i >= 2)
        tui_stop();
}
END_TEST

START_TEST(through_tmux_commands_are_packed_when_wished)
{
    start_with((const char *const[]){"--graphics", "kitty", NULL},
               (const char *const[]){"TMUX=/tmp/none,1,0", "TERM=tmux-256color", NULL});
    show_picture();
    terminal_wait(tui, terminal_has_bytes(tui, "\033Ptmux;\033\033_Ga=T,U=1,f=100,"));
    ck_assert(terminal_has_bytes(tui, "\033\033\\\033\\"));
}
END_TEST

/*
 * ---- sixels
 * -----------------------------------------------------------------------------------------
 */

static int distance(uint32_t a, uint32_t b)
{
    int most = 0;
    for (int shift = 0; shift < 24; shift += 8) {
        int difference = abs((int)(a >> shift & 255) - (int)(b >> shift & 255));
        most = difference > most ? difference : most;
    }
    return most;
}

/* In the middle of each pixel of the file, which is several here. */
static void check_colours(const struct sixel_picture *picture, int most)
{
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            int at_x = (2 * x + 1) * picture->width / (2 * WIDTH);
            int at_y = (2 * y + 1) * picture->height / (2 * HEIGHT);
            uint32_t there = picture->pixels[at_y * picture->width + at_x];
            ck_assert_uint_ne(there, UINT32_MAX);
            ck_assert_msg(distance(there, colour_of(x, y)) <= most, "%d, %d is %06x, not %06x", x,
                          y, there, colour_of(x, y));
        }
    }
}

START_TEST(sixels_are_drawn_where_the_picture_is)
{
    terminal_keys(tui, CELLS_10_20 HAS_SIXEL);
    terminal_wait(tui, terminal_has_bytes(tui, "\033[?1;1;0S"));
    show_picture();
    terminal_wait(tui, count_sixels() == 1);
    ck_assert_int_eq(last_sixels.row, terminal_find(tui, "P()") + 1);
    ck_assert_int_eq(last_sixels.column, 5);
    ck_assert_int_eq(last_sixels.width, WIDTH * 10);
    ck_assert_int_eq(last_sixels.height, ROWS * 20);
    check_colours(&last_sixels, 24);
    ck_assert(!has_half_blocks());
    terminal_wait(tui, terminal_find(tui, ">>>") == last_sixels.row + ROWS);
    int row, column;
    terminal_cursor(tui, &row, &column);
    ck_assert_int_eq(row, last_sixels.row + ROWS);
    wait_drawn();
    tui_run("import time; time.sleep(1.2)", 3); /* the clock in the status line ticks */
    ck_assert_int_eq(count_sixels(), 1);
}
END_TEST

START_TEST(sixels_follow_the_picture_and_go_with_it)
{
    terminal_keys(tui, CELLS_10_20 HAS_SIXEL);
    show_picture();
    terminal_wait(tui, count_sixels() == 1);
    int row = last_sixels.row;
    tui_run("for i in range(8): print('line', i)\r", 3);
    terminal_wait_text(tui, "     line 7");
    terminal_wait(tui, count_sixels() >= 2 && last_sixels.row < row);
    ck_assert_int_eq(last_sixels.row, terminal_find(tui, "P()") + 1);
    tui_run("for i in range(9): print('more', i)\r", 4);
    terminal_wait(tui, has_half_blocks()); /* a part of it is to be seen */
    ck_assert_int_eq(terminal_find(tui, "P()"), -1);
    int drawn = count_sixels();
    terminal_keys(tui, "\033[5~\033[5~g"); /* back up, in browse mode */
    terminal_wait(tui, count_sixels() > drawn);
    ck_assert(!has_half_blocks());
    terminal_keys(tui, "q");
    terminal_wait(tui, has_half_blocks());
}
END_TEST

/* What stands for the pixels: only what is written there takes it away. */
static void put_pixels(void)
{
    char text[256];
    for (int row = 0; row < ROWS; row++) {
        snprintf(text, sizeof(text), "\0337\033[%d;%dH%%%%%%%%%%%%%%%%%%%%\0338",
                 last_sixels.row + row + 1, last_sixels.column + 1);
        terminal_show(tui, text);
    }
    ck_assert_int_eq(terminal_count(tui, "%%%%%"), ROWS);
}

START_TEST(pixels_are_erased_when_the_picture_goes)
{
    terminal_keys(tui, CELLS_10_20 HAS_SIXEL);
    show_picture();
    terminal_wait(tui, count_sixels() == 1);
    put_pixels();
    wait_drawn();
    ck_assert_int_eq(terminal_count(tui, "%"), ROWS); /* nothing else is written there */
    if (_i == 0) {
        terminal_keys(tui, "\030l"); /* blank cells become blank cells */
        terminal_wait_no_text(tui, "P()");
    } else if (_i == 1) {
        tui_run("pass", 3); /* it stays where it is */
        wait_drawn();
        ck_assert_int_eq(terminal_count(tui, "%"), ROWS);
        tui_run("for i in range(12): print()\r", 4);
    } else {
        terminal_keys(tui, "\030c"); /* another tab */
        tui_wait_status(" s2");
    }
    terminal_wait_no_text(tui, "%");
}
END_TEST

START_TEST(a_popup_over_sixels_leaves_half_blocks)
{
    terminal_keys(tui, CELLS_10_20 HAS_SIXEL);
    show_picture();
    terminal_wait(tui, count_sixels() == 1);
    terminal_keys(tui, "impor");
    terminal_wait_text(tui, ">>> impor");
    terminal_keys(tui, "\003");
    tui_run("value_one = value_two = 1", 3);
    int drawn = count_sixels();
    terminal_keys(tui, "value_\t\t");
    terminal_wait(tui, terminal_count(tui, "value_one") >= 2);
    terminal_wait(tui, has_half_blocks());
    terminal_keys(tui, "\007\003");
    terminal_wait(tui, !has_half_blocks());
    terminal_wait(tui, count_sixels() > drawn);
}
END_TEST

START_TEST(sixels_have_as_many_colours_as_the_terminal)
{
    terminal_keys(tui, CELLS_10_20 HAS_SIXEL "\033[?1;0;16S\033[?2;0;200;150S");
    show_picture();
    terminal_wait(tui, count_sixels() >= 1);
    wait_drawn();
    count_sixels();
    ck_assert_int_le(last_sixels.registers, 16);
    ck_assert_int_eq(last_sixels.width, 200);
    ck_assert_int_eq(last_sixels.height, 133);
    check_colours(&last_sixels, 170);
}
END_TEST

START_TEST(sixels_come_when_wished_and_go_when_not)
{
    start_with((const char *const[]){"--graphics=sixel", NULL}, NULL);
    show_picture();
    terminal_wait(tui, count_sixels() == 1);
    ck_assert_int_eq(last_sixels.width, WIDTH * 10); /* the usual cell */
    tui_enter(":set graphics blocks");
    terminal_wait(tui, has_half_blocks());
    ck_assert_int_eq(count_sixels(), 1);
    tui_enter(":set graphics off");
    terminal_wait_text(tui, "(a picture; C-x g shows it)");
    terminal_wait(tui, !has_half_blocks());
    tui_enter(":set graphics sixel");
    terminal_wait(tui, count_sixels() == 2);
    tui_enter(":set graphics best");
    terminal_wait_text(tui, "'best' is not one of");
}
END_TEST

START_TEST(a_resize_draws_sixels_again)
{
    terminal_keys(tui, CELLS_10_20 HAS_SIXEL);
    show_picture();
    terminal_wait(tui, count_sixels() == 1);
    terminal_resize(tui, 30, 90);
    terminal_wait(tui, count_sixels() >= 2);
    terminal_resize(tui, 11, 90); /* higher than the window is now */
    terminal_wait(tui, has_half_blocks());
}
END_TEST

/*
 * ---- the view
 * ---------------------------------------------------------------------------------------
 */

START_TEST(a_picture_on_the_whole_screen)
{
    if (_i == 1)
        terminal_keys(tui, IS_KITTY);
    if (_i == 2)
        terminal_keys(tui, CELLS_10_20 HAS_SIXEL);
    terminal_keys(tui, "\030g");
    terminal_wait_text(tui, "there is no picture here yet");
    show_picture();
    terminal_wait(tui, _i == 0   ? has_half_blocks()
                       : _i == 1 ? placeholder_row() >= 0
                                 : count_sixels() == 1);
    tui_enter(":image");
    terminal_wait_text(tui, "[2] 30 × 20 pixels; any key returns");
    ck_assert_int_eq(terminal_find(tui, ">>>"), -1);
    if (_i == 0) {
        ck_assert_int_ge(terminal_count(tui, "▀▀▀▀"), 20);
    } else if (_i == 1) {
        terminal_wait(tui, is_placeholder(10, 10));
        ck_assert_int_eq(count_commands('T'), 2);
        ck_assert_int_eq(kitty_key(&last_command, 'c'), 69);
        ck_assert_int_eq(kitty_key(&last_command, 'r'), 23);
    } else {
        terminal_wait(tui, count_sixels() == 2);
        ck_assert_int_eq(last_sixels.width, 690);
        check_colours(&last_sixels, 24);
    }
    terminal_keys(tui, "x");
    terminal_wait_text(tui, ">>>");
    ck_assert_int_eq(terminal_find(tui, ">>> x"), -1);
    terminal_wait_no_text(tui, "any key");
    if (_i == 1)
        ck_assert_int_eq(count_commands('d'), 1); /* what only the view showed */
    if (_i == 2)
        terminal_wait(tui, count_sixels() == 3);
    terminal_keys(tui, "\033[5~p"); /* in browse mode, and back there */
    terminal_wait_text(tui, "any key returns");
    terminal_keys(tui, "\r");
    terminal_wait_no_text(tui, "any key returns");
    terminal_keys(tui, "q");
    wait_drawn();
}
END_TEST

/*
 * ---- what is no picture
 * ----------------------------------------------------------------------------
 */

START_TEST(hostile_files_reach_no_terminal)
{
    static const char *const bodies[] = {
        "open(D,'rb').read()[:60]",
        "b'\\x89PNG\\r\\n\\x1a\\n' + b'\\x1b_Ga=T\\x1b\\\\' * 100",
        "open(D,'rb').read()[:16] + b'\\x7f\\xff\\xff\\xff' * 2 + open(D,'rb').read()[24:]",
        "b''",
        "b'\\x1b[c' * 1000",
    };
    char line[8192];
    terminal_keys(tui, _i ? IS_KITTY : CELLS_10_20 HAS_SIXEL);
    show_picture();
    terminal_wait(tui, _i ? count_commands('T') == 1 : count_sixels() == 1);
    snprintf(line, sizeof(line), "D = '%.4000s/picture.png'", test_directory());
    tui_run(line, 3);
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        snprintf(line, sizeof(line), "H = type('H', (), {'_repr_png_': lambda s: %.200s}); H()",
                 bodies[i]);
        tui_run(line, 4 + (int)i);
    }
    tui_run("print('still', 'here')", 9);
    terminal_wait_text(tui, "still here");
    ck_assert(_i ? count_commands('T') == 1 : count_sixels() >= 1);
    ck_assert(!terminal_has_bytes(tui, "\033_Ga=T\033"));
}
END_TEST

/* Pixels to sixels and back. */
static struct sixel_picture round_trip(const uint32_t *pixels, int width, int height, int colours)
{
    struct strbuf out = STRBUF_INIT;
    struct sixel_picture picture;
    size_t at = 0;
    sixel_encode(&out, pixels, width, height, colours);
    ck_assert(sixel_picture_next(out.data, out.size, &at, &picture));
    ck_assert_uint_eq(at, out.size);
    ck_assert_int_eq(picture.width, width);
    ck_assert_int_eq(picture.height, height);
    strbuf_free(&out);
    return picture;
}

START_TEST(few_colours_are_kept_exactly)
{
    enum { W = 37, H = 17 };
    static const uint32_t colours[] = {0x000000, 0xffffff, 0xff0000, 0x336699, SIXEL_CLEAR};
    uint32_t pixels[W * H];
    for (int i = 0; i < W * H; i++)
        pixels[i] = colours[i * 7 / 3 % 5];
    struct sixel_picture picture = round_trip(pixels, W, H, 256);
    ck_assert_int_eq(picture.registers, 4);
    for (int i = 0; i < W * H; i++)
        ck_assert_uint_eq(picture.pixels[i], pixels[i]);
    free(picture.pixels);
}
END_TEST

START_TEST(many_colours_are_near)
{
    enum { W = 256, H = 128 };
    static const int limits[][2] = {{256, 72}, {64, 100}, {16, 160}, {2, 255}};
    uint32_t *pixels = malloc(W * H * sizeof(*pixels));
    for (int i = 0; i < W * H; i++)
        pixels[i] =
            (uint32_t)(i % W) << 16 | (uint32_t)(i / W * 2) << 8 | (uint32_t)(i * 7 / W % 256);
    for (size_t k = 0; k < sizeof(limits) / sizeof(limits[0]); k++) {
        struct sixel_picture picture = round_trip(pixels, W, H, limits[k][0]);
        ck_assert_int_eq(picture.registers, limits[k][0]);
        for (int i = 0; i < W * H; i++)
            ck_assert_int_le(distance(picture.pixels[i], pixels[i]), limits[k][1]);
        free(picture.pixels);
    }
    for (int i = 0; i < W * H; i++)
        pixels[i] = SIXEL_CLEAR;
    struct sixel_picture nothing = round_trip(pixels, W, H, 16);
    ck_assert_int_eq(nothing.registers, 0);
    free(nothing.pixels);
    free(pixels);
}
END_TEST

static void tear_down(void)
{
    tui_teardown();
    free(last_command.data);
    last_command.data = NULL;
    free(last_sixels.pixels);
    last_sixels.pixels = NULL;
    free(file);
    file = NULL;
}

static TCase *add_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 120);
    suite_add_tcase(suite, tests);
    return tests;
}

static Suite *suite_tui_graphics(void)
{
    Suite *suite = suite_create("tui_graphics");
    TCase *tests = add_case(suite, "asking");
    tcase_add_test(tests, the_terminal_is_asked_behind_the_first_screen);
    tcase_add_loop_test(tests, some_are_not_asked, 0, 9);
    tcase_add_test(tests, without_an_answer_pictures_are_half_blocks);
    tcase_add_test(tests, the_protocol_without_placeholders_is_not_enough);
    tcase_add_test(tests, a_late_answer_changes_pictures_that_are_there);
    tests = add_case(suite, "kitty");
    tcase_add_test(tests, kitty_gets_the_picture_once_and_its_cells);
    tcase_add_test(tests, kitty_pictures_scroll_and_are_cut);
    tcase_add_test(tests, kitty_pictures_stay_while_another_tab_is_shown);
    tcase_add_test(tests, a_large_picture_comes_in_pieces);
    tcase_add_loop_test(tests, kitty_pictures_are_taken_back, 0, 4);
    tcase_add_test(tests, through_tmux_commands_are_packed_when_wished);
    tests = add_case(suite, "sixels");
    tcase_add_test(tests, sixels_are_drawn_where_the_picture_is);
    tcase_add_test(tests, sixels_follow_the_picture_and_go_with_it);
    tcase_add_loop_test(tests, pixels_are_erased_when_the_picture_goes, 0, 3);
    tcase_add_test(tests, a_popup_over_sixels_leaves_half_blocks);
    tcase_add_test(tests, sixels_have_as_many_colours_as_the_terminal);
    tcase_add_test(tests, sixels_come_when_wished_and_go_when_not);
    tcase_add_test(tests, a_resize_draws_sixels_again);
    tests = add_case(suite, "view");
    tcase_add_loop_test(tests, a_picture_on_the_whole_screen, 0, 3);
    tests = add_case(suite, "hostile");
    tcase_add_loop_test(tests, hostile_files_reach_no_terminal, 0, 2);
    tests = tcase_create("encoder");
    tcase_add_test(tests, few_colours_are_kept_exactly);
    tcase_add_test(tests, many_colours_are_near);
    suite_add_tcase(suite, tests);
    return suite;
}

int main(void)
{
    return test_run(suite_tui_graphics());
}
