/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writing at the very end, to a terminal that may have nobody who reads it any more: whoever waits
 * for such a terminal never ends.
 */
#ifndef UI_LAST_WORDS_H
#define UI_LAST_WORDS_H

#include <stddef.h>

/* A deadly signal came: how long a terminal that is not read is waited for. */
#define LAST_WORDS_PATIENCE_S 2

/*
 * Write without waiting. Where a terminal has no room, what nobody has read of it is thrown away.
 * For signal handlers, too.
 */
void last_words(int fd, const char *text, size_t size);

#endif
