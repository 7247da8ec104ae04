/* SPDX-License-Identifier: MIT */
/*
 * What terminals send, as keys: names, raw bytes, mouse, paste, answers; whole, in pieces, and
 * broken.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "key.h"
#include "testlib.h"

static struct keys *keys;
static struct key key;

static void set_up(void)
{
    keys = keys_new();
}

static void tear_down(void)
{
    keys_free(keys);
}

static void feed(const char *bytes)
{
    keys_feed(keys, bytes, strlen(bytes));
}

static bool next(bool late)
{
    return keys_next(keys, late, &key);
}

/* The only key that the bytes are. */
static void take(const char *bytes, size_t size)
{
    keys_feed(keys, bytes, size);
    ck_assert_msg(next(false), "no key");
    ck_assert_uint_eq(key.raw_size > 0, true);
}

static void none(void)
{
    struct key other;
    ck_assert(!keys_next(keys, false, &other));
    ck_assert(!keys_wait(keys));
}

/* ---- names ---------------------------------------------------------------------------------- */

static const struct {
    const char *bytes, *name, *raw; /* raw NULL: the bytes */
} named[] = {
    {"\r", "Enter", NULL},
    {"\n", "C-j", NULL},
    {"\t", "Tab", NULL},
    {" ", "Space", NULL},
    {"\177", "Backspace", NULL},
    {"\b", "C-h", NULL},
    {"\001", "C-a", NULL},
    {"\032", "C-z", NULL},
    {"\034", "C-\\", NULL},
    {"\035", "C-]", NULL},
    {"\036", "C-^", NULL},
    {"\037", "C-_", NULL},
    {"\033f", "M-f", NULL},
    {"\033F", "M-F", NULL},
    {"\033\r", "M-Enter", NULL},
    {"\033 ", "M-Space", NULL},
    {"\0333", "M-3", NULL},
    {"\033\177", "M-Backspace", NULL},
    {"\033\010", "C-M-h", NULL},
    {"\033\xC3\xA9", "M-\xC3\xA9", NULL},
    {"\033[A", "Up", NULL},
    {"\033OA", "Up", NULL},
    {"\033[1;5D", "C-Left", NULL},
    {"\033[1;3C", "M-Right", NULL},
    {"\033[1;2A", "S-Up", NULL},
    {"\033[1;8B", "C-M-S-Down", NULL},
    {"\033[1;9A", "M-Up", NULL},
    {"\033[H", "Home", NULL},
    {"\033OF", "End", NULL},
    {"\033[1~", "Home", NULL},
    {"\033[4~", "End", NULL},
    {"\033[2~", "Insert", NULL},
    {"\033[3~", "Delete", NULL},
    {"\033[3;5~", "C-Delete", NULL},
    {"\033[5~", "PgUp", NULL},
    {"\033[6;5~", "C-PgDn", NULL},
    {"\033OP", "F1", NULL},
    {"\033OS", "F4", NULL},
    {"\033[1;5P", "C-F1", NULL},
    {"\033[1;2R", "S-F3", NULL},
    {"\033[11~", "F1", NULL},
    {"\033[15~", "F5", NULL},
    {"\033[17~", "F6", NULL},
    {"\033[24~", "F12", NULL},
    {"\033[34~", "F20", NULL},
    {"\033[Z", "S-Tab", NULL},
    /* the Linux console, rxvt */
    {"\033[[A", "F1", NULL},
    {"\033[[E", "F5", NULL},
    {"\033[7~", "Home", NULL},
    {"\033[8~", "End", NULL},
    {"\033[a", "S-Up", NULL},
    {"\033[c", "S-Right", NULL},
    {"\033Oa", "C-Up", NULL},
    {"\033[3$", "S-Delete", NULL},
    {"\033[3^", "C-Delete", NULL},
    {"\033[3@", "C-S-Delete", NULL},
    {"\033\033[A", "M-Up", NULL},
    {"\033\033[3~", "M-Delete", NULL},
    {"\033\033OA", "M-Up", NULL},
    /* keypad */
    {"\033OM", "Enter", "\r"},
    {"\033Oj", "*", "*"},
    {"\033Oy", "9", "9"},
    /* CSI u and modifyOtherKeys: what programs get is the old form, where there is one */
    {"\033[13;2u", "S-Enter", "\r"},
    {"\033[13;5u", "C-Enter", "\r"},
    {"\033[27;5;13~", "C-Enter", "\r"},
    {"\033[27;3;13~", "M-Enter", "\033\r"},
    {"\033[97;5u", "C-a", "\001"},
    {"\033[27;5;97~", "C-a", "\001"},
    {"\033[97;6u", "C-S-a", "\001"},
    {"\033[97;7u", "C-M-a", "\033\001"},
    {"\033[97;2u", "A", "A"},
    {"\033[27;2;65~", "A", "A"},
    {"\033[99;5u", "C-c", "\003"},
    {"\033[105;5u", "Tab", "\t"},
    {"\033[47;5u", "C-_", "\037"},
    {"\033[9;2u", "S-Tab", "\033[Z"},
    {"\033[27u", "Esc", "\033"},
    {"\033[32;2u", "Space", " "},
    {"\033[233u", "\xC3\xA9", "\xC3\xA9"},
    {"\033[49;5u", "C-1", NULL},
    {"\033[97:65;2:1u", "A", "A"},
    {"\033[57399u", "", NULL},
    /* unknown to us, maybe not to ~/.inputrc */
    {"\033[1;2X", "", NULL},
};

START_TEST(names_of_sequences)
{
    take(named[_i].bytes, strlen(named[_i].bytes));
    const char *raw = named[_i].raw ? named[_i].raw : named[_i].bytes;
    ck_assert_str_eq(key.name, named[_i].name);
    ck_assert_uint_eq(key.raw_size, strlen(raw));
    ck_assert_mem_eq(key.raw, raw, key.raw_size);
    unsigned char first = (unsigned char)raw[0];
    ck_assert_int_eq(key.type, first > 32 && first != 127 ? KEY_TEXT : KEY_NAMED);
    none();
}
END_TEST

/* The same byte for byte: nothing comes out early, and then the same key. */
START_TEST(names_in_pieces)
{
    size_t size = strlen(named[_i].bytes);
    for (size_t i = 0; i + 1 < size; i++) {
        keys_feed(keys, named[_i].bytes + i, 1);
        ck_assert_msg(!next(false), "%zu bytes are a key", i + 1);
        ck_assert(keys_wait(keys));
    }
    take(named[_i].bytes + size - 1, 1);
    ck_assert_str_eq(key.name, named[_i].name);
    none();
}
END_TEST

START_TEST(control_space_is_a_nul)
{
    take("\0", 1);
    ck_assert_str_eq(key.name, "C-Space");
    ck_assert_uint_eq(key.raw_size, 1);
    take("\033\0", 2);
    ck_assert_str_eq(key.name, "C-M-Space");
    take("\033[32;5u", 7);
    ck_assert_str_eq(key.name, "C-Space");
    ck_assert_mem_eq(key.raw, "\0", 1);
}
END_TEST

START_TEST(many_at_once)
{
    static const char *const wanted[] = {"a",   "Up",  "\xE4\xB8\x96", "Enter",
                                         "M-b", "Esc", "Esc",          "x"};
    feed("a\033[A\xE4\xB8\x96\r\033b\033\033\033");
    size_t i = 0;
    for (; next(false); i++)
        ck_assert_str_eq(key.name, wanted[i]);
    ck_assert_uint_eq(i, 6);
    ck_assert(keys_wait(keys));
    ck_assert(next(true));
    ck_assert_str_eq(key.name, "Esc");
    ck_assert(next(true));
    ck_assert_str_eq(key.name, "Esc");
    none();
}
END_TEST

START_TEST(lone_escape)
{
    feed("\033");
    ck_assert(!next(false));
    ck_assert(keys_wait(keys));
    ck_assert(next(true));
    ck_assert_str_eq(key.name, "Esc");
    none();
    /* Alt with what may begin a sequence. */
    static const char *const letters[][2] = {
        {"\033[", "M-["}, {"\033O", "M-O"}, {"\033]", "M-]"}, {"\033P", "M-P"}, {"\033_", "M-_"}};
    for (size_t i = 0; i < 5; i++) {
        feed(letters[i][0]);
        ck_assert(!next(false));
        ck_assert(next(true));
        ck_assert_str_eq(key.name, letters[i][1]);
        none();
    }
}
END_TEST

/* ---- UTF-8 ---------------------------------------------------------------------------------- */

START_TEST(broken_characters)
{
    static const struct {
        const char *bytes;
        int keys;
    } rows[] = {{"\xFF", 1},
                {"\x80", 1},
                {"\xC3(", 2},
                {"\xE4\xB8"
                 "a",
                 2},
                {"\xED\xA0\x80", 3},
                {"\xF5\x80", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int count = 0;
        feed(rows[i].bytes);
        ck_assert(next(false));
        ck_assert_str_eq(key.name, "\xEF\xBF\xBD");
        ck_assert_int_eq(key.type, KEY_TEXT);
        ck_assert_uint_eq(key.raw_size, 3);
        for (count = 1; next(false); count++)
            ;
        ck_assert_int_eq(count, rows[i].keys);
        none();
    }
}
END_TEST

START_TEST(cut_characters)
{
    feed("\xF0\x9F");
    ck_assert(!next(false));
    ck_assert(keys_wait(keys));
    feed("\x9A\x80");
    ck_assert(next(false));
    ck_assert_str_eq(key.name, "\xF0\x9F\x9A\x80");
    feed("\xF0\x9F");
    ck_assert(next(true));
    ck_assert_str_eq(key.name, "\xEF\xBF\xBD");
    none();
    feed("\xC2\x85"); /* a control of C1 is no text */
    ck_assert(next(false));
    ck_assert_int_eq(key.type, KEY_REPLY);
}
END_TEST

/* ---- mouse, focus, answers ------------------------------------------------------------------ */

START_TEST(mouse)
{
    static const struct {
        const char *bytes;
        enum key_mouse what;
        int button, column, row, modifiers;
    } rows[] = {
        {"\033[<0;10;20M", KEY_MOUSE_PRESS, 0, 9, 19, 0},
        {"\033[<0;10;20m", KEY_MOUSE_RELEASE, 0, 9, 19, 0},
        {"\033[<34;1;1M", KEY_MOUSE_DRAG, 2, 0, 0, 0},
        {"\033[<64;300;2M", KEY_MOUSE_WHEEL_UP, 0, 299, 1, 0},
        {"\033[<65;3;2M", KEY_MOUSE_WHEEL_DOWN, 1, 2, 1, 0},
        {"\033[<20;3;2M", KEY_MOUSE_PRESS, 0, 2, 1, 20},
        {"\033[M !!", KEY_MOUSE_PRESS, 0, 0, 0, 0},
        {"\033[M#!!", KEY_MOUSE_RELEASE, 0, 0, 0, 0},
        {"\033[M`!!", KEY_MOUSE_WHEEL_UP, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        take(rows[i].bytes, strlen(rows[i].bytes));
        ck_assert_int_eq(key.type, KEY_MOUSE);
        ck_assert_int_eq(key.mouse, rows[i].what);
        ck_assert_int_eq(key.button, rows[i].button);
        ck_assert_int_eq(key.column, rows[i].column);
        ck_assert_int_eq(key.row, rows[i].row);
        ck_assert_int_eq(key.number, rows[i].modifiers);
        none();
    }
}
END_TEST

START_TEST(focus)
{
    take("\033[I", 3);
    ck_assert_int_eq(key.type, KEY_FOCUS);
    ck_assert_int_eq(key.number, 1);
    take("\033[O", 3);
    ck_assert_int_eq(key.type, KEY_FOCUS);
    ck_assert_int_eq(key.number, 0);
}
END_TEST

static const char *const answers[] = {
    "\033[?62;22c",
    "\033[>41;354;0c",
    "\033[12;40R",
    "\033[?12;40;1R",
    "\033[0n",
    "\033[?2026;2$y",
    "\033[?1u",
    "\033[8;24;80t",
    "\033]11;rgb:1/2/3\a",
    "\033]11;rgb:1/2/3\033\\",
    "\033]lthe title of the window\033\\",
    "\033]Lthat of its icon\033\\",
    "\033P0$r\nprint(1)\n\033\\",
    "\033P1+r5463=1b\033\\",
    "\033_Gi=1;OK\033\\",
    "\033P>|XTerm(370)\033\\",
};

START_TEST(answers_of_the_terminal)
{
    size_t size = strlen(answers[_i]);
    take(answers[_i], size);
    ck_assert_int_eq(key.type, KEY_REPLY);
    ck_assert_uint_eq(key.text_size, size);
    ck_assert_mem_eq(key.text, answers[_i], size);
    none();
    /* A slow line: the timer runs out in the middle. Nothing of it is ever typed. */
    for (size_t i = 0; i < size; i++) {
        keys_feed(keys, answers[_i] + i, 1);
        if (i + 1 == size)
            ck_assert(next(false));
        else
            ck_assert(!next(i > 2 && i % 3 == 0));
    }
    ck_assert_int_eq(key.type, KEY_REPLY);
    ck_assert_uint_eq(key.text_size, size);
}
END_TEST

START_TEST(an_answer_that_does_not_end)
{
    feed("\033]11;rgb:");
    int turns = 0;
    while (!next(true))
        ck_assert_int_lt(++turns, 100);
    ck_assert_int_eq(key.type, KEY_REPLY);
    none();
    take("x", 1);
    ck_assert_str_eq(key.name, "x");
}
END_TEST

START_TEST(a_sequence_that_breaks_off)
{
    feed("\033[1;\033[A");
    ck_assert(next(false));
    ck_assert_int_eq(key.type, KEY_REPLY);
    ck_assert(next(false));
    ck_assert_str_eq(key.name, "Up");
    none();
}
END_TEST

/* ---- paste ---------------------------------------------------------------------------------- */

static void pasted(const char *wanted)
{
    ck_assert_int_eq(key.type, KEY_PASTE);
    ck_assert_uint_eq(key.text_size, strlen(wanted));
    ck_assert_mem_eq(key.text, wanted, key.text_size);
}

START_TEST(paste_is_one_key)
{
    feed("a\033[200~x = 1\r\n\ty\r\n\033[A\001\177\xC2\x9Bz\rw\xFF\xC3\xA9\033[201~b");
    ck_assert(next(false));
    ck_assert_str_eq(key.name, "a");
    ck_assert(next(false));
    pasted("x = 1\n\ty\n[Az\nw\xEF\xBF\xBD\xC3\xA9");
    ck_assert(next(false));
    ck_assert_str_eq(key.name, "b");
    none();
}
END_TEST

START_TEST(paste_in_pieces)
{
    const char *bytes = "\033[200~x\033[20y\r\n\033[201~";
    for (size_t i = 0; i < strlen(bytes); i++) {
        keys_feed(keys, bytes + i, 1);
        ck_assert_int_eq(next(false), i + 1 == strlen(bytes));
        ck_assert_int_eq(keys_wait(keys), i < 5);
    }
    pasted("x[20y\n");
    none();
}
END_TEST

START_TEST(paste_without_an_end)
{
    feed("\033[200~x = 1");
    ck_assert(!next(false));
    ck_assert(!next(true));
    feed("\003"); /* C-c alone is a finger's */
    ck_assert(next(false));
    pasted("x = 1");
    ck_assert(next(false));
    ck_assert_str_eq(key.name, "C-c");
    none();
    feed("\033[201~y"); /* and an end without a beginning is nothing */
    ck_assert(next(false));
    ck_assert_int_eq(key.type, KEY_REPLY);
    ck_assert(next(false));
    ck_assert_str_eq(key.name, "y");
}
END_TEST

START_TEST(paste_has_a_limit)
{
    static char piece[1 << 20];
    memset(piece, 'x', sizeof piece);
    feed("\033[200~");
    for (int i = 0; i < 20; i++) {
        keys_feed(keys, piece, sizeof piece);
        ck_assert(!next(false));
    }
    feed("\033[201~");
    ck_assert(next(false));
    ck_assert_uint_eq(key.text_size, 16 << 20);
    none();
}
END_TEST

/* ---- names that users write ----------------------------------------------------------------- */

START_TEST(parsed_names)
{
    static const char *const rows[][2] = {
        {"C-x", "C-x"},
        {"c-X", "C-x"},
        {"Ctrl-x", "C-x"},
        {"control+x", "C-x"},
        {"^X", "C-x"},
        {"Alt-f", "M-f"},
        {"M-F", "M-F"},
        {"S-f", "F"},
        {"alt-shift-f", "M-F"},
        {"ESC", "Esc"},
        {"escape", "Esc"},
        {"return", "Enter"},
        {"C-m", "Enter"},
        {"C-i", "Tab"},
        {"C-[", "Esc"},
        {"C-@", "C-Space"},
        {"^@", "C-Space"},
        {"C-/", "C-_"},
        {"^?", "Backspace"},
        {"m-c-h", "C-M-h"},
        {"S-Tab", "S-Tab"},
        {"shift-tab", "S-Tab"},
        {"pageup", "PgUp"},
        {"C-pgdn", "C-PgDn"},
        {"f12", "F12"},
        {"S-F3", "S-F3"},
        {"SPC", "Space"},
        {"x", "x"},
        {"\xC3\xA9", "\xC3\xA9"},
        {"-", "-"},
        {"C--", "C--"},
        {"^", "^"},
        {"C-C", "C-c"},
        {"del", "Delete"},
        {"C-S-left", "C-S-Left"},
        {"C-j", "C-j"},
    };
    char name[24];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ck_assert_msg(key_parse_name(rows[i][0], strlen(rows[i][0]), name), "%s", rows[i][0]);
        ck_assert_str_eq(name, rows[i][1]);
    }
    static const char *const wrong[] = {"", "C-", "xy", "F21", "hyper-x", "C-xy", "\xC3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!key_parse_name(wrong[i], strlen(wrong[i]), name), "%s", wrong[i]);
}
END_TEST

/* A name that a key has is a name that can be written. */
START_TEST(names_parse_as_themselves)
{
    char name[24];
    if (!named[_i].name[0])
        return;
    ck_assert(key_parse_name(named[_i].name, strlen(named[_i].name), name));
    ck_assert_str_eq(name, named[_i].name);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("key");
    TCase *names = tcase_create("names"), *rest = tcase_create("rest"),
          *paste = tcase_create("paste");
    int count = (int)(sizeof named / sizeof *named);

    tcase_add_checked_fixture(names, set_up, tear_down);
    tcase_add_loop_test(names, names_of_sequences, 0, count);
    tcase_add_loop_test(names, names_in_pieces, 0, count);
    tcase_add_loop_test(names, names_parse_as_themselves, 0, count);
    tcase_add_test(names, control_space_is_a_nul);
    tcase_add_test(names, many_at_once);
    tcase_add_test(names, lone_escape);
    tcase_add_test(names, parsed_names);
    suite_add_tcase(suite, names);
    tcase_add_checked_fixture(rest, set_up, tear_down);
    tcase_add_test(rest, broken_characters);
    tcase_add_test(rest, cut_characters);
    tcase_add_test(rest, mouse);
    tcase_add_test(rest, focus);
    tcase_add_loop_test(rest, answers_of_the_terminal, 0, (int)(sizeof answers / sizeof *answers));
    tcase_add_test(rest, an_answer_that_does_not_end);
    tcase_add_test(rest, a_sequence_that_breaks_off);
    suite_add_tcase(suite, rest);
    tcase_add_checked_fixture(paste, set_up, tear_down);
    tcase_add_test(paste, paste_is_one_key);
    tcase_add_test(paste, paste_in_pieces);
    tcase_add_test(paste, paste_without_an_end);
    tcase_add_test(paste, paste_has_a_limit);
    suite_add_tcase(suite, paste);
    return test_run(suite);
}
