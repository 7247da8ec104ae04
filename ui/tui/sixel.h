/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pixels as sixels, which terminals in the line of the VT340 draw at their cursor. Colours are
 * reduced to as many as the terminal has registers. Knows no terminal.
 */
#ifndef UI_TUI_SIXEL_H
#define UI_TUI_SIXEL_H

#include <stdint.h>

#include "strbuf.h"

#define SIXEL_CLEAR UINT32_MAX /* a pixel that is not drawn; others are 0xRRGGBB */
#define SIXEL_COLOURS_MAX 256

/* The whole sequence, from DCS to ST. colours: 2 to SIXEL_COLOURS_MAX. */
void sixel_encode(struct strbuf *out, const uint32_t *pixels, int width, int height, int colours);

#endif
