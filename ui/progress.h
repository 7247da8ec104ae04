/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The progress line of a batch on a terminal: "[3/12] title ... 1.2 s" on stderr, gone before
 * anything else is written.
 */
#ifndef UI_PROGRESS_H
#define UI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strbuf.h"

struct progress {
    bool on;
    bool shown;
    bool clean; /* the cursor stands at the start of a line */
    struct strbuf label;
    int64_t started_ms; /* 0: no cell runs */
    int64_t next_ms;    /* not drawn before */
};

void progress_init(struct progress *progress, bool wanted); /* on only when stderr is a terminal */
void progress_begin(struct progress *progress, size_t number, size_t total, const char *title,
                    size_t title_size);
void progress_end(struct progress *progress);
/* Draw if it is time; how long until the next time, -1: never. */
int64_t progress_tick(struct progress *progress);
/* Before and after bytes go to fd. */
void progress_clear(struct progress *progress);
void progress_wrote(struct progress *progress, int fd, const char *data, size_t size);
void progress_done(struct progress *progress);

int64_t now_ms(void); /* monotonic */

#endif
