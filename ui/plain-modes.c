/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "plain-modes.h"

#include <stdlib.h>
#include <string.h>

static void set_mode(struct plain_modes *modes, int number, bool on)
{
    size_t i = 0;
    if (number == 25) { /* the cursor is shown unless it is hidden */
        modes->cursor_hidden = !on;
        return;
    }
    if (number == 7) {
        modes->no_wrap = !on;
        return;
    }
    modes->origin |= number == 6 && on;
    while (i < modes->count && modes->on[i] != number)
        i++;
    if (on && i == modes->count && modes->count < PLAIN_MODES_MAX)
        modes->on[modes->count++] = number;
    else if (!on && i < modes->count)
        modes->on[i] = modes->on[--modes->count];
}

static void end_csi(struct plain_modes *modes, char final)
{
    const char *parameters = modes->parameters;
    modes->parameters[modes->length] = '\0';
    if (final == 'm')
        modes->styled = modes->length && strcmp(parameters, "0") != 0;
    else if (final == 'r' && parameters[0] != '?')
        modes->region = modes->length > 0;
    else if (final == 'q' && modes->length && parameters[modes->length - 1] == ' ')
        modes->cursor_shape = strcmp(parameters, "0 ") != 0 && strcmp(parameters, " ") != 0;
    else if (final == 'u' && modes->length)
        modes->kitty_keys = parameters[0] == '>';
    else if (final == 'h' && parameters[0] != '?')
        modes->ansi = true;
    if ((final != 'h' && final != 'l') || modes->parameters[0] != '?')
        return;
    for (const char *at = modes->parameters + 1; *at;) {
        char *end;
        long number = strtol(at, &end, 10);
        if (end > at && number > 0 && number < 10000)
            set_mode(modes, (int)number, final == 'h');
        at = *end ? end + 1 : end;
    }
}

static void take_escape(struct plain_modes *modes, char c)
{
    modes->state = PLAIN_TEXT;
    modes->length = 0;
    if (c == '[')
        modes->state = PLAIN_CSI;
    else if (strchr("]PX^_", c) && c)
        modes->state = PLAIN_STRING;
    else if (c == '=' || c == '>')
        modes->keypad = c == '=';
    else if (c && strchr("()*+", c))
        modes->state = PLAIN_CHARSET;
    else if (c == 'c')
        *modes = (struct plain_modes){.last = '\n'};
}

static void take_byte(struct plain_modes *modes, char c)
{
    switch (modes->state) {
    case PLAIN_TEXT:
        if (c == '\033')
            modes->state = PLAIN_ESCAPE;
        else
            modes->last = c;
        break;
    case PLAIN_ESCAPE:
        take_escape(modes, c);
        break;
    case PLAIN_CHARSET:
        modes->charset |= c != 'B';
        modes->state = PLAIN_TEXT;
        break;
    case PLAIN_CSI:
        if (c >= 0x40 && c <= 0x7e) {
            end_csi(modes, c);
            modes->state = PLAIN_TEXT;
        } else if (c == '\033') {
            modes->state = PLAIN_ESCAPE;
        } else if (modes->length + 1 < sizeof modes->parameters) {
            modes->parameters[modes->length++] = c;
        }
        break;
    case PLAIN_STRING:
        if (c == '\a' || c == '\n')
            modes->state = PLAIN_TEXT;
        else if (c == '\033')
            modes->state = PLAIN_STRING_ESCAPE;
        break;
    case PLAIN_STRING_ESCAPE:
        modes->state = PLAIN_TEXT;
        if (c != '\\')
            take_escape(modes, c);
        break;
    }
}

/* SO takes the other character set, SI this one. */
static void follow_shift(struct plain_modes *modes, const char *data, size_t size)
{
    const char *out = memrchr(data, 016, size), *in = memrchr(data, 017, size);
    if (out || in)
        modes->shifted = out && (!in || out > in);
}

void plain_modes_follow(struct plain_modes *modes, const char *data, size_t size)
{
    /* Plain text, which is most of it, is passed over at once. */
    while (size) {
        if (modes->state == PLAIN_TEXT) {
            const char *escape = memchr(data, '\033', size);
            size_t skip = escape ? (size_t)(escape - data) : size;
            if (skip) {
                modes->last = data[skip - 1];
                follow_shift(modes, data, skip);
            }
            data += skip;
            size -= skip;
            if (!size)
                return;
        }
        take_byte(modes, *data++);
        size--;
    }
}

/* The region moves the cursor when it goes: it is kept, unless rows were counted from its top. */
static void undo_rare(const struct plain_modes *modes, struct strbuf *out)
{
    if (modes->no_wrap)
        strbuf_adds(out, "\033[?7h");
    if (modes->ansi)
        strbuf_adds(out, "\033[4l\033[20l");
    if (modes->charset)
        strbuf_adds(out, "\033(B\033)B");
    if (modes->shifted)
        strbuf_adds(out, "\017");
    if (modes->origin)
        strbuf_adds(out, "\033[r\033[999;1H\r\n");
    else if (modes->region)
        strbuf_adds(out, "\0337\033[r\0338");
    if (modes->cursor_shape)
        strbuf_adds(out, "\033[0 q");
    if (modes->kitty_keys)
        strbuf_adds(out, "\033[<u");
}

void plain_modes_undo(struct plain_modes *modes, struct strbuf *out)
{
    if (modes->state != PLAIN_TEXT) /* end what is begun: CAN */
        strbuf_addc(out, '\030');
    modes->state = PLAIN_TEXT;
    if (modes->styled)
        strbuf_adds(out, "\033[0m");
    while (modes->count)
        strbuf_addf(out, "\033[?%dl", modes->on[--modes->count]);
    if (modes->cursor_hidden)
        strbuf_adds(out, "\033[?25h");
    if (modes->keypad)
        strbuf_adds(out, "\033>");
    undo_rare(modes, out);
    *modes = (struct plain_modes){.last = modes->last};
}
