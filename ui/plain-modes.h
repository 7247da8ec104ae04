/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What output that goes straight to a terminal has switched on there: alternate screen, mouse,
 * hidden cursor ... Follows the bytes, and tells how to undo what a program left behind that did
 * not end well.
 */
#ifndef UI_PLAIN_MODES_H
#define UI_PLAIN_MODES_H

#include <stdbool.h>
#include <stddef.h>

#include "strbuf.h"

#define PLAIN_MODES_MAX 32

struct plain_modes {
    int on[PLAIN_MODES_MAX]; /* private modes that were set */
    size_t count;
    bool cursor_hidden, keypad, styled;
    bool no_wrap, ansi, charset, shifted, region, origin, cursor_shape, kitty_keys;
    char last; /* the last byte that was no part of a sequence */
    /* The sequence that is begun. */
    enum {
        PLAIN_TEXT,
        PLAIN_ESCAPE,
        PLAIN_CHARSET,
        PLAIN_CSI,
        PLAIN_STRING,
        PLAIN_STRING_ESCAPE
    } state;
    char parameters[64];
    size_t length;
};

void plain_modes_follow(struct plain_modes *modes, const char *data, size_t size);
/* Append what undoes them; nothing when all is as it was. */
void plain_modes_undo(struct plain_modes *modes, struct strbuf *out);

#endif
