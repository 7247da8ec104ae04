/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bytes of a terminal as keys. Knows the sequences of xterm and its kin (also with modifyOtherKeys
 * and CSI u), bracketed paste, SGR mouse and focus; nothing of what keys mean.
 */
#ifndef UI_KEY_H
#define UI_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "strbuf.h"

/*
 * Names of keys: "C-x" "M-f" "C-M-h" "Enter" "M-Enter" "Tab" "S-Tab" "Esc" "Backspace" "Space" "Up"
 * "C-Left" "PgUp" "F2" ...; "" for a sequence that is not known, which readline may know.
 */
enum key_type {
    KEY_TEXT,  /* one character (name: itself in UTF-8), but a space */
    KEY_NAMED, /* also "Space", with raw " " */
    KEY_PASTE, /* text: one whole paste, line ends as \n, without controls but \n and \t */
    KEY_MOUSE,
    KEY_FOCUS, /* number: 1 in, 0 out */
    KEY_REPLY, /* the terminal's answer to a query (text: the sequence); also what is broken */
};

enum key_mouse {
    KEY_MOUSE_PRESS,
    KEY_MOUSE_RELEASE,
    KEY_MOUSE_DRAG,
    KEY_MOUSE_WHEEL_UP,
    KEY_MOUSE_WHEEL_DOWN
};

struct key {
    enum key_type type;
    char name[24]; /* canonical; "" where there is none. Modifiers in the order C- M- S- */
    const char
        *raw; /* the bytes, for readline and for programs in cells; valid until the next call. What
                         came as a number (CSI u) is in its old form, where it has one. */
    size_t raw_size;
    const char *text; /* KEY_PASTE, KEY_REPLY */
    size_t text_size;
    int number; /* KEY_FOCUS; KEY_MOUSE: 4 with Shift, 8 with Alt, 16 with Control */
    enum key_mouse mouse;
    int button, column, row; /* KEY_MOUSE: from 0 */
};

/* How long a lone escape waits for what may follow. */
#define KEY_ESCAPE_MS 50

struct keys;

struct keys *keys_new(void);
void keys_free(struct keys *keys);
void keys_feed(struct keys *keys, const char *data, size_t size);
/*
 * The next whole key; false: none. `late`: the escape timer ran out, what is begun is all there is
 * (of an answer of the terminal, which a slow line may tear, only when it ran out again and again).
 */
bool keys_next(struct keys *keys, bool late, struct key *ret_key);
/*
 * Something is begun that only time or more bytes can end. (Inside a paste: no; it ends by its
 * mark, or by C-c, when that comes alone.)
 */
bool keys_wait(const struct keys *keys);

/*
 * "C-x", "c-X", "Ctrl-x", "Alt-f", "^X", "ESC" ... as a canonical name. False: no key has this
 * name.
 */
bool key_parse_name(const char *text, size_t size, char name[static 24]);

#endif
