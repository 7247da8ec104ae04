/* SPDX-License-Identifier: MIT */
/*
 * Keys at random on the whole full screen, with resizes in between: it never dies of them, never
 * stands still, and leaves properly. TUI_FUZZ_SEED chooses other keys ("random": any, and it says
 * which), TUI_FUZZ_SECONDS for how long.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "tui-testlib.h"

static uint64_t state;

static unsigned below(unsigned n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 11) % n;
}

/* What people type, and what they do not: no shell commands, no files but the one that is open. */
static const char *const words[] = {
    "x = 1\r",
    "print('some', 'output')\r",
    "for i in range(300): print(i)\r\r",
    "1/0\r",
    "def f(a, b=2):\r",
    "    return a\r\r",
    "input('? ')\r",
    "answer\r",
    "import pdb; pdb.set_trace()\r",
    "n\r",
    "c\r",
    "import time; time.sleep(.2)\r",
    "print('\\x1b[31mred\\x1b[0m\\x1b[5A\\rup 世界')\r",
    "[1, 2, {3: (4,\r",
    "'''open string\r",
    "print('\\x1b[?1049h\\x1b[2J grid'); input()\r",
    "f(",
    "imp\t",
    "x.\t",
    "\t",
    "\033[Z",
    ":vars\r",
    ":help\r",
    ":keys\r",
    ":queue\r",
    ":drop\r",
    ":sessions\r",
    ":rename n\r",
    ":no such\r",
    ":status\r",
    "世界 é 😀 ",
    "e\xcc\x81\xcc\x82",
    "\xff\xfe\x80",
    "x?\r",
    "%timeit 1\r",
    "# comment\r",
    ":run-all\r",
    ":undo-edit\r",
    ":redo-edit\r",
    ":undo\r",
    ":split 2\r",
    ":merge 1\r",
    ":edit-cell 1\r",
    ":insert-above 1\r",
    ":delete-cell 1\r",
    ":kind\r",
    ":cells\r",
    ":reload\r",
};
static const char *const sequences[] = {
    "\033[A",
    "\033[B",
    "\033[C",
    "\033[D",
    "\033[5~",
    "\033[6~",
    "\033[H",
    "\033[F",
    "\033[3~",
    "\033OR",
    "\033OS",
    "\033OQ",
    "\033[1;5C",
    "\033[1;5D",
    "\033\r",
    "\033b",
    "\033f",
    "\033d",
    "\033<",
    "\033>",
    "\033p",
    "\033",
    "\030[",
    "\030[",
    "\030\023",
    "\030-",
    "\030o",
    "\030|",
    "\030y",
    "\030k",
    "\030v",
    "\030?",
    "\030n",
    "\030p",
    "\030c",
    "\0301",
    "\030l",
    "\030r",
    "\030q",
    "\030\030",
    "\030(",
    "\030)",
    "\030e",
    "\030\022",
    "\030i",
    "\030i",
    "\030,",
    "\030w",
    "\030L",
    "\030&",
    "\030\005",
    "\030/",
    "\033[<64;5;5M",
    "\033[<65;5;5M",
    "\033[<0;3;1M",
    "\033[<0;9;7M",
    "\033[<35;200;200M",
    "\033[I",
    "\033[O",
    "\033]11;rgb:ffff/ffff/ffff\033\\",
    "\033]11;rgb:",
    "\033[27;5;13~",
    "\033[13;2u",
    "\033[200~",
    "\033[201~",
    "\033[200~pasted\nlines\n>>> and prompts\033[201~",
    "\033P1$r\033\\",
    "\033[999999999;99999999999M",
    "\033[?1;2c",
};
/* In browse mode and in readers. */
static const char browse[] = "jkgGnNzyYveErio0[]e/?:qbf abdduuKJsmtRAB";

static void press(void)
{
    char key[2] = "";
    unsigned kind = below(100);
    if (kind < 30) {
        terminal_keys(tui, words[below(sizeof(words) / sizeof(words[0]))]);
    } else if (kind < 60) {
        terminal_keys(tui, sequences[below(sizeof(sequences) / sizeof(sequences[0]))]);
    } else if (kind < 75) {
        key[0] = browse[below(sizeof(browse) - 1)];
        terminal_keys(tui, key);
    } else if (kind < 90) {
        key[0] = (char)(1 + below(31)); /* a control; none that leaves or stops by itself */
        if (key[0] != 4 && key[0] != 26 && key[0] != 28)
            terminal_keys(tui, key);
    } else if (kind < 96) {
        terminal_keys(tui, "\003");
    } else {
        terminal_resize(tui, 2 + (int)below(50), 4 + (int)below(150)); /* libvterm needs so much */
    }
}

static void open_it(bool document)
{
    /* readline 8.2 forgets what it keeps for a key that was to follow when another comes */
    char leaks[4200];
    snprintf(leaks, sizeof(leaks), "LSAN_OPTIONS=print_suppressions=0:suppressions=%s",
             test_path("leaks"));
    test_write_file(test_path("leaks"), "leak:libreadline\n", 0644);
    const char *arguments[] = {test_path("f.py"), NULL};
    if (document)
        test_write_file(arguments[0],
                        "import time\n# %%\nx = 1\nprint(x)\n\n# %% [markdown]\n# Text\n# %%\n"
                        "time.sleep(0.05)\n# %%\nfor i in range(50):\n    print(i)\n# %%\n1 / x\n",
                        0600);
    tui_start(document ? arguments : NULL, 24, 80,
              (const char *const[]){"EDITOR=true", "PAGER=cat >/dev/null; true", leaks, NULL});
    terminal_wait_text(tui, ">>>");
}

static bool has_keyboard(void)
{
    return terminal_find(tui, "has the keyboard") >= 0 ||
           terminal_find(tui, "asks for a secret") >= 0;
}

/* It answers still, if only after an interrupt; then it leaves when it is told to. */
static void ck_lives(void)
{
    char word[32];
    terminal_resize(tui, 24, 80);
    snprintf(word, sizeof(word), "alive%u", below(1000000));
    bool seen = false;
    for (int i = 0; i < 200 && !seen && test_process_lives(terminal_pid(tui)); i++) {
        if (has_keyboard())
            terminal_keys(tui, "\030k");
        terminal_keys(tui, "\033[201~\007\003");
        for (int k = 0; k < 5; k++)
            terminal_pump(tui, 20);
        terminal_keys(tui, word);
        for (int k = 0; k < 10 && !seen; k++) {
            terminal_pump(tui, 20);
            seen = terminal_find(tui, word) >= 0;
        }
    }
    if (!seen)
        terminal_dump(tui);
    ck_assert_msg(seen || !test_process_lives(terminal_pid(tui)), "it does not answer any more");
}

START_TEST(random_keys_do_no_harm)
{
    const char *seed = getenv("TUI_FUZZ_SEED"), *seconds = getenv("TUI_FUZZ_SECONDS");
    uint64_t first = !seed                         ? 1
                     : strcmp(seed, "random") == 0 ? (uint64_t)test_now_ms() * 2654435761u
                                                   : strtoull(seed, NULL, 0);
    int64_t end = test_now_ms() + 1000 * (seconds ? strtol(seconds, NULL, 10) : 15);
    fprintf(stderr, "TUI_FUZZ_SEED=%#llx\n", (unsigned long long)first);
    state = first | 1;
    while (test_now_ms() < end) {
        open_it(below(2));
        for (int i = 0; i < 400 && test_now_ms() < end; i++) {
            press();
            if (!terminal_pump(tui, (int)below(4)))
                break; /* it was left: one of the keys may do that */
        }
        if (test_process_lives(terminal_pid(tui)))
            ck_lives();
        for (int i = 0; i < 20 && test_process_lives(terminal_pid(tui)); i++) {
            terminal_keys(tui, has_keyboard() ? "\030k" : "\007\034");
            for (int k = 0; k < 50 && test_process_lives(terminal_pid(tui)); k++)
                terminal_pump(tui, 20);
        }
        int status = terminal_wait_exit(tui);
        /*
         * A C-c or C-\ behind the key that left it ends it at once: the terminal is its own again
         * by then.
         */
        bool good = WIFEXITED(status)
                        ? WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 128 + SIGQUIT
                        : WTERMSIG(status) == SIGINT || WTERMSIG(status) == SIGQUIT;
        if (!good)
            terminal_dump(tui);
        ck_assert_msg(good, "seed %#llx: wait status %#x", (unsigned long long)first,
                      (unsigned)status);
        tui_stop();
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tui_fuzz");
    TCase *tests = tcase_create("keys");
    tcase_add_test(tests, random_keys_do_no_harm);
    tcase_set_timeout(tests, 3600);
    suite_add_tcase(suite, tests);
    return test_run(suite);
}
