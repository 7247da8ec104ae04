/* SPDX-License-Identifier: MIT */
/*
 * Random keys, in Emacs and in vi mode: nothing ends, hangs or leaves the editor in a state that
 * cannot be. $HERMES_TEST_KEYS: how many for each mode; a quick look without it.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edit-player.h"
#include "testlib.h"

static const char *const sequences[] = {
    "\033[A",
    "\033[B",
    "\033[C",
    "\033[D",
    "\033[H",
    "\033[F",
    "\033[3~",
    "\xC3\xA9",
    "\xE4\xB8\x96",
    "\xF0\x9F\x9A\x80",
    "\033[",
    "\033O",
    "\033.",
    "\033[",
    "\033O",
    "\033.",
    "\033[",
    "\033O",
    "\033.",
    "\033\177",
    "\033[",
    "\033O",
    "\033.",
    "\033[",
    "\033O",
    "\033.",
    "\033OA",
    "\033[1;5C",
    "\033[",
    "\033O",
    "\033.",
    "\033[",
    "\033O",
    "\033.",
    "\033[",
    "\033O",
    "\033.",
    "\033[",
    "\033O",
    "\033.",
    "\033[",
    "\033O",
    "\033.",
    "\033[",
    "\033O",
    "\033.",
    "\033\r",
    "\033[Z",
    "\033[13;5u",
    "\033[27;5;97~",
    "\033[1;9X",
    "\r",
    "\r",
    "\t",
    "\t",
    "\x12",
    "\x18\x05",
    "\x18(",
    "\x18)",
    "\x18"
    "e",
    "\x18\x0F",
    "\x16",
    "\x1F",
    "\033[",
    "\033O",
    "\033.",
    "if x:\r",
    "print(",
    "\033[200~>>> a\r\n... b\n  c\033[201~",
    "\033[200~\xC3\033[201~",
};

static unsigned long next_random(unsigned long *state)
{
    *state = *state * 6364136223846793005UL + 1442695040888963407UL;
    return *state >> 33;
}

static void play_random(bool vi, unsigned long seed)
{
    const char *wanted = getenv("HERMES_TEST_KEYS");
    size_t count = wanted ? strtoul(wanted, NULL, 10) : 20000;
    setenv("INPUTRC", "/dev/null", 1);
    struct player *player = player_new();
    if (vi)
        player_toggle_vi(player);
    while (player_keys(player) < count) {
        unsigned long chosen = next_random(&seed);
        size_t known = sizeof sequences / sizeof *sequences;
        char byte = (char)(next_random(&seed) % 128);
        if (chosen % 3 == 0) {
            const char *bytes = sequences[next_random(&seed) % known];
            player_play(player, bytes, strlen(bytes));
        } else if (chosen % 997 == 1) {
            player_play(player, (char[]){(char)0xE4}, 1);
        } else {
            player_play(player, &byte, 1);
        }
        if (chosen % 5 == 1)
            player_late(player);
        if (chosen % 53 == 1)
            player_outside(player, (unsigned)next_random(&seed) % 1000);
        if (chosen % 101 == 1)
            player_give_up(player);
    }
    player_free(player);
}

START_TEST(emacs)
{
    play_random(false, 1 + (unsigned long)_i);
}
END_TEST

START_TEST(vi)
{
    play_random(true, 100 + (unsigned long)_i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("edit_random");
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 3600);
    tcase_add_loop_test(random, emacs, 0, 2);
    tcase_add_loop_test(random, vi, 0, 2);
    suite_add_tcase(suite, random);
    return test_run(suite);
}
