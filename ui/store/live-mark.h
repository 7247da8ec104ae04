/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which running program a mark in the database stands for. A process id alone would not do: it may
 * have been given to another process since, or be one of another machine or container.
 */
#ifndef UI_LIVE_MARK_H
#define UI_LIVE_MARK_H

#include <stdbool.h>
#include <stdint.h>

struct live_mark {
    int64_t pid;
    int64_t started; /* in ticks since the machine was booted; 0: not known here */
    char host[80];   /* this run of the machine, and its space of process ids */
};

void live_mark_own(struct live_mark *ret_mark);
bool live_mark_lives(const struct live_mark *mark);
bool live_mark_is(const struct live_mark *mark, const struct live_mark *other);

#endif
