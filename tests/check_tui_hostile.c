/* SPDX-License-Identifier: MIT */
/*
 * What cells and kernels say cannot steer the terminal of the full screen: output stays in its
 * block, answers of a kernel are text. Looked at is each byte that the program writes.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "testlib.h"
#include "tui-testlib.h"

/* Bytes that a cell writes, as Python has them. */
static const char *const attacks[] = {
    "b'\\x1b]0;PWN\\x07\\x1b]2;PWN\\x1b\\\\'",
    "b'\\x1b]52;c;UFdO\\x07\\x1b]52;c;?\\x07'",
    "b'\\x1b]8;;http://PWN\\x1b\\\\link\\x1b]8;;\\x1b\\\\'",
    "b'\\x1b]1337;File=inline=1:UFdO\\x07\\x1b]9;PWN\\x07\\x1b]777;notify;PWN\\x07'",
    "b'\\x1b]0;' + b'PWN' * 400000 + b'\\x07'",
    "b'\\x1b]0;' + b'PWN' * 1000",
    "b'\\x1bP' + b'PWN' * 1000 + b'\\n'",
    "b'\\x1bP+q544e\\x1b\\\\\\x1bP$qr\\x1b\\\\\\x1bP1;1|17/50574e\\x1b\\\\'",
    "b'\\x1b_Gf=100;UFdO\\x1b\\\\\\x1b^PWN\\x1b\\\\\\x1bXPWN\\x1b\\\\\\x1bkPWN\\x1b\\\\'",
    "b'\\x1bP0;0;0q#0;2;0;0;0~-~\\x1b\\\\'",
    "b'\\x1b[c\\x1b[>c\\x1b[=c\\x1b[5n\\x1b[21t\\x1b[18t\\x1b[?2004$p\\x1bZ\\x05'",
    "b'\\x1b[?69h\\x1b[5;20s\\x1b[3;7r\\x1b[?6h\\x1b[1;1H\\x1b[?6l\\x1b[r\\x1b[?69l'",
    "b'\\x1b[?1049h\\x1b[2J\\x1b[1;1HPWN\\x1b]0;PWN\\x07\\x1b[24;1HPWN\\x1b[?1049l'",
    "b'\\x1b[?47h\\x1b[?1047h\\x1b[1;1H\\x1b[3J\\x1b[?1047l\\x1b[?47l'",
    "b'\\x1bc\\x1b[!p\\x1b[2J\\x1b[3J\\x1b[H\\x1b#8'",
    "b'\\x1b[?1000h\\x1b[?1003h\\x1b[?1006h\\x1b[?2004l\\x1b[?1004h\\x1b[?25l\\x1b[?5h\\x1b[?3h'",
    "b'\\x1b(0\\x1b)0\\x0e\\x1bn\\x1bo\\x1b~\\x1b%@\\x1b[4h\\x1b[20h\\x1b[12h\\x1b[?7l'",
    "b'\\x1b[>4;2m\\x1b[>1u\\x1b=\\x1b[?1h\\x1b[?9001h\\x1b[?2026h'",
    "b'\\x9b2J\\x9d0;PWN\\x9c\\x90PWN\\x9c\\xc2\\x9b2J\\xc2\\x9d0;PWN\\xc2\\x9c'",
    "b'\\xff\\xfe\\xc0\\x80\\xed\\xa0\\x80\\xf8\\x88\\x80\\x80\\x80\\xe2\\x82\\xf0\\x9f'",
    "b'\\x1b[' + b'9' * 100000 + b'A\\x1b[99999999999B\\x1b[;;;;;;;;;;m'",
    "b'a' + b'\\xcc\\x81' * 20000 + b'\\xe2\\x80\\xae\\xe2\\x81\\xa6'",
    "b'\\x08' * 9999 + b'\\x1b[9999D\\x1b[9999A\\x1b[9999C\\x1bM' + b'\\x1bM' * 999",
    "b'\\x1b[4i\\x1b[5iPWN\\x1b[4i\\x1b[?5i\\x1b[1$r\\x1b[2$z\\x1b[1*x\\x1b[1;1*y'",
};

/* What the program itself has no reason to write while cells print. */
static const char *const forbidden[] = {
    "\033]",      "\033P",    "\033_",    "\033^",        "\033X",    "\033k",      "\033c",
    "\033[c",     "\033[>c",  "\033[5n",  "\033[21t",     "\033[18t", "\033[!p",    "\033[3J",
    "\033#8",     "\033[?69", "\033Z",    "\005",         "\016",     "\033[?1003", "\033[?2004",
    "\033[?1049", "\033[?47", "\033[?5",  "\033[?3h",     "\033[4h",  "\033[5i",    "\302\233",
    "\302\235",   "\302\220", "\302\234", "\342\200\256",
};

/* No forbidden bytes, and well-formed: a byte above 0x7f alone would be a control in some terminals. */
static void look_at_bytes(const char *attack)
{
    size_t size;
    const char *bytes = terminal_bytes(tui, &size);

    for (size_t i = 0; i < sizeof forbidden / sizeof *forbidden; i++)
        ck_assert_msg(!terminal_has_bytes(tui, forbidden[i]), "%s lets %s out (%zu)", attack,
                      forbidden[i] + (forbidden[i][0] == '\033'), i);
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        size_t more = c < 0x80 ? 0 : c < 0xc2 ? 9 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;

        for (size_t n = 1; n <= more && i + n < size; n++)
            ck_assert_msg(((unsigned char)bytes[i + n] & 0xc0) == 0x80 && more < 9,
                          "%s lets malformed bytes out", attack);
        i += more;
    }
}

static void screen_is_ours(const char *attack)
{
    ck_assert_msg(terminal_find(tui, "1:main") == 0, "%s moves the tab", attack);
    ck_assert_msg(terminal_cursor_shown(tui), "%s hides the cursor", attack);
}

START_TEST(output_stays_in_its_block)
{
    char line[400];
    int number = 1;

    tui_run("import os", number++);
    for (size_t i = 0; i < sizeof attacks / sizeof *attacks; i++) {
        terminal_forget(tui);
        snprintf(line, sizeof line, "_ = os.write(1, %s)", attacks[i]);
        terminal_paste(tui, line);
        terminal_keys(tui, "\r");
        snprintf(line, sizeof line, "print('\\nstill', 'here', %d)", number);
        tui_run(line, number + 1);
        snprintf(line, sizeof line, "still here %d", number);
        terminal_wait_text(tui, line);
        number += 2;
        screen_is_ours(attacks[i]);
        look_at_bytes(attacks[i]);
    }
}
END_TEST

/* A kernel's answers are made of what the cell has made of its objects. */
START_TEST(answers_of_a_kernel_are_text)
{
    terminal_paste(tui, "evil = '\\x1b]0;PWN\\x07\\x9b2J\\x1b[2J\\u202e'\n"
                        "class Evil:\n    def __repr__(self): return evil\n"
                        "Evil.__doc__ = evil\nglobals()[evil] = e = Evil()\n"
                        "e.__dict__['ab' + evil] = e.abcd = 1\n"
                        "def f(): pass\nf.__name__ = f.__qualname__ = f.__doc__ = evil\n");
    terminal_keys(tui, "\r\r");
    terminal_wait_text(tui, "[1]");
    terminal_forget(tui);
    tui_enter(":vars");
    terminal_wait_text(tui, "q closes");
    terminal_keys(tui, "q");
    terminal_wait_no_text(tui, "q closes");
    tui_enter("e?");
    terminal_wait_text(tui, "q closes");
    terminal_keys(tui, "q");
    terminal_wait_no_text(tui, "q closes");
    tui_enter("f??");
    terminal_wait_text(tui, "q closes");
    terminal_keys(tui, "q");
    terminal_wait_no_text(tui, "q closes");
    terminal_keys(tui, "e.ab\t");
    terminal_wait_text(tui, "e.abcd");
    screen_is_ours("an answer");
    look_at_bytes("an answer");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile output on the full screen");
    TCase *tcase = tui_test_case(suite, "hostile");

    tcase_add_test(tcase, output_stays_in_its_block);
    tcase_add_test(tcase, answers_of_a_kernel_are_text);
    return test_run(suite);
}
