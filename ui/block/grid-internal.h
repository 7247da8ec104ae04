/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A grid's inside, for grid.c (what is seen) and grid-feed.c (what libvterm is given).
 */
#ifndef UI_BLOCK_GRID_INTERNAL_H
#define UI_BLOCK_GRID_INTERNAL_H

#include <vterm.h>

#include "grid.h"

/* Enough for ESC [ ? and some modes: what may stand before the `l` that leaves the screen. */
enum { TAIL_BYTES = 48 };

struct grid {
    VTerm *vterm;
    VTermScreen *screen;
    VTermState *state;
    int columns, rows;
    bool alternate, left, cursor_hidden;
    char tail[TAIL_BYTES]; /* the last bytes that were written */
    size_t tail_size;
    enum { SEQUENCE_NONE, SEQUENCE_ESCAPE, SEQUENCE_CSI } sequence;
    unsigned digits, separators; /* of the parameter; in the sequence */
    char partial[4];             /* the beginning of a character */
    size_t partial_size;
    uint32_t repeat; /* CSI b was seen: so often */
    struct strbuf scrolled, answers;
};

#endif
