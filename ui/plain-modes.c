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
    while (i < modes->count && modes->on[i] != number)
        i++;
    if (on && i == modes->count && modes->count < PLAIN_MODES_MAX)
        modes->on[modes->count++] = number;
    else if (!on && i < modes->count)
        modes->on[i] = modes->on[--modes->count];
}

static void end_csi(struct plain_modes *modes, char final)
{
    modes->parameters[modes->length] = '\0';
    if (final == 'm')
        modes->styled = modes->length && strcmp(modes->parameters, "0") != 0;
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

void plain_modes_follow(struct plain_modes *modes, const char *data, size_t size)
{
    /* Plain text, which is most of it, is passed over at once. */
    while (size) {
        if (modes->state == PLAIN_TEXT) {
            const char *escape = memchr(data, '\033', size);
            size_t skip = escape ? (size_t)(escape - data) : size;
            if (skip)
                modes->last = data[skip - 1];
            data += skip;
            size -= skip;
            if (!size)
                return;
        }
        take_byte(modes, *data++);
        size--;
    }
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
    modes->styled = modes->cursor_hidden = modes->keypad = false;
}
