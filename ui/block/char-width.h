/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many columns a character takes, the same in every locale: the C library's table for UTF-8,
 * fetched once for each 256 characters. Used by one thread.
 */
#ifndef UI_BLOCK_CHAR_WIDTH_H
#define UI_BLOCK_CHAR_WIDTH_H

#include <stdint.h>

#define CHAR_REPLACEMENT 0xFFFDu

extern const signed char *char_width_groups[]; /* only for char_width() */
int char_width_slow(uint32_t code);

/* 0, 1 or 2; -1: no character that may be shown (control, not assigned). */
static inline int char_width(uint32_t code)
{
    const signed char *widths = code < 0x110000 ? char_width_groups[code >> 8] : (void *)0;
    return widths ? widths[code & 0xFF] : char_width_slow(code);
}

/*
 * What is shown for a character that a program wrote: itself, U+FFFD, or 0 for those that have no
 * shape of their own and could only mislead (controls, direction overrides, tags).
 */
uint32_t char_shown(uint32_t code);

#endif
