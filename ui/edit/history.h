/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was typed, for Up and searching: whole blocks, each with the session it was typed in, oldest
 * first. A walk gives the entries of one session first, newest first, then those of all others.
 * Lives in memory; a store fills it at the start and gets what is added. Used by one thread.
 */
#ifndef UI_HISTORY_H
#define UI_HISTORY_H

#include <stdbool.h>
#include <stddef.h>

struct history;

struct history *history_new(void);
void history_free(struct history *history);
/*
 * Not added: a block that equals the newest of its session, one that is blank, and one that begins
 * with a space, which is to be kept out.
 */
void history_add(struct history *history, const char *session, const char *text, size_t size);

/* The n-th entry of the walk for a session (0: the newest); NULL behind the last. Borrowed. */
const char *history_at(const struct history *history, const char *session, size_t n,
                       size_t *ret_size);
size_t history_count(const struct history *history);
/* How many of them are of this session: so many come first in its walk. */
size_t history_session_count(const struct history *history, const char *session);
/*
 * The first entry from n on (step 1: older, -1: newer) that begins with, or holds, the text and is
 * not equal to one that the walk gave before. False: none.
 */
bool history_find(const struct history *history, const char *session, const char *text, size_t size,
                  bool prefix, int step, size_t n, size_t *ret_n);

#endif
