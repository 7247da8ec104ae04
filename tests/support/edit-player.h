/* SPDX-License-Identifier: MIT */
/*
 * Plays bytes as keys into an editor, with what a front end does around it, and looks after each
 * key whether the editor is still in its senses. For the fuzzer and the test with random keys.
 */
#ifndef EDIT_PLAYER_H
#define EDIT_PLAYER_H

#include <stddef.h>
#include <stdint.h>

struct player;

struct player *player_new(void);
void player_free(struct player *player);
/* One read from the terminal. */
void player_play(struct player *player, const char *bytes, size_t size);
/* The time for a lone escape ran out. */
void player_late(struct player *player);
/* What comes between two keys: an answer to a completion, another tab, a recalled cell, a resize. */
void player_outside(struct player *player, unsigned what);
/* C-g twice: nothing that was begun waits for a key any more. */
void player_give_up(struct player *player);
void player_toggle_vi(struct player *player);
size_t player_keys(const struct player *player); /* that the editor got */

#endif
