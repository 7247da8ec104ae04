/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What libvterm is given: only what it can stand, in pieces that end where something is to be done.
 */
#include "config.h"

#include <string.h>

#include "char-width.h"
#include "grid-internal.h"
#include "utf8.h"

static void remember_tail(struct grid *grid, const char *data, size_t size)
{
    if (size >= TAIL_BYTES) {
        memcpy(grid->tail, data + size - TAIL_BYTES, TAIL_BYTES);
        grid->tail_size = TAIL_BYTES;
        return;
    }
    size_t keep = grid->tail_size < TAIL_BYTES - size ? grid->tail_size : TAIL_BYTES - size;
    memmove(grid->tail, grid->tail + grid->tail_size - keep, keep);
    memcpy(grid->tail + keep, data, size);
    grid->tail_size = keep + size;
}

static void follow_escape(struct grid *grid, unsigned char byte)
{
    if (byte < 0x30 || byte >= 0x7F) /* libvterm waits for one that it knows */
        return;
    grid->sequence = byte == '[' ? SEQUENCE_CSI : SEQUENCE_NONE;
    grid->digits = grid->separators = 0;
}

/*
 * Whether a byte is a parameter too much, or a digit: libvterm (0.1.4) has room for 16 and writes
 * the others behind them, and its numbers overflow. What ends a sequence there must end it here.
 */
static bool is_excess(struct grid *grid, unsigned char byte)
{
    enum { DIGITS_MAX = 5, SEPARATORS_MAX = 14 };
    if (byte == 0x1B) {
        grid->sequence = SEQUENCE_ESCAPE;
    } else if (byte == 0x18 || byte == 0x1A) {
        grid->sequence = SEQUENCE_NONE;
    } else if (grid->sequence == SEQUENCE_ESCAPE) {
        follow_escape(grid, byte);
    } else if (grid->sequence == SEQUENCE_CSI) {
        if (byte >= '0' && byte <= '9')
            return ++grid->digits > DIGITS_MAX || grid->separators > SEPARATORS_MAX;
        if (byte == ';' || byte == ':') {
            grid->digits = 0;
            return ++grid->separators > SEPARATORS_MAX;
        }
        if (byte >= 0x40 && byte != 0x7F)
            grid->sequence = SEQUENCE_NONE;
    }
    return false;
}

/*
 * libvterm gets whole characters only: with a broken one it may write behind the end of its buffer
 * (0.1.4: decode_utf8 can give one character more than there are bytes).
 */
static void send_whole(struct grid *grid, const char *data, size_t size)
{
    struct strbuf raw = STRBUF_INIT, whole = STRBUF_INIT;
    if (!grid->partial_size && utf8_check(data, size, NULL)) {
        vterm_input_write(grid->vterm, data, size);
        return;
    }
    strbuf_add(&raw, grid->partial, grid->partial_size);
    strbuf_add(&raw, data, size);
    grid->partial_size = utf8_partial_tail(strbuf_text(&raw), raw.size);
    size_t ready = raw.size - grid->partial_size;
    memcpy(grid->partial, strbuf_text(&raw) + ready, grid->partial_size);
    utf8_repair(&whole, strbuf_text(&raw), ready);
    vterm_input_write(grid->vterm, strbuf_text(&whole), whole.size);
    strbuf_free(&raw);
    strbuf_free(&whole);
}

static void send(struct grid *grid, const char *data, size_t size)
{
    struct strbuf kept = STRBUF_INIT;
    if (grid->sequence == SEQUENCE_NONE && !memchr(data, 0x1B, size)) {
        send_whole(grid, data, size);
        return;
    }
    for (size_t i = 0; i < size; i++)
        if (!is_excess(grid, (unsigned char)data[i]))
            strbuf_addc(&kept, data[i]);
    if (kept.size)
        send_whole(grid, kept.data, kept.size);
    strbuf_free(&kept);
}

static void feed(struct grid *grid, const char *data, size_t size)
{
    if (!size)
        return;
    send(grid, data, size);
    remember_tail(grid, data, size);
}

/*
 * When the bytes so far are ESC [ ? and modes, so that `h` or `l` would switch them: the modes and
 * their size, else 0.
 */
static size_t pending_modes(const struct grid *grid, const char **ret_modes)
{
    size_t at = grid->tail_size;
    while (at &&
           ((grid->tail[at - 1] >= '0' && grid->tail[at - 1] <= '9') || grid->tail[at - 1] == ';'))
        at--;
    *ret_modes = grid->tail + at;
    bool pending = at >= 3 && memcmp(grid->tail + at - 3, "\x1b[?", 3) == 0;
    return pending ? grid->tail_size - at : 0;
}

/* libvterm looks at the first mode of a sequence only: one sequence for each of the others. */
static void feed_modes(struct grid *grid, const char *modes, size_t size, char final)
{
    for (size_t at = 0; at < size; at++) {
        struct strbuf sequence = STRBUF_INIT;
        if (modes[at] != ';')
            continue;
        strbuf_adds(&sequence, "\x1b[?");
        while (at + 1 < size && modes[at + 1] != ';')
            strbuf_addc(&sequence, modes[++at]);
        strbuf_addc(&sequence, final);
        send(grid, sequence.data, sequence.size);
        strbuf_free(&sequence);
    }
}

static void repeat_last(struct grid *grid)
{
    VTermPos position;
    VTermScreenCell cell;
    char bytes[4];
    uint32_t count = grid->repeat;
    grid->repeat = 0;
    vterm_state_get_cursorpos(grid->state, &position);
    if (position.col < 1)
        return;
    position.col--;
    memset(&cell, 0, sizeof(cell));
    vterm_screen_get_cell(grid->screen, position, &cell);
    uint32_t code = cell.chars[0] ? char_shown(cell.chars[0]) : ' ';
    if (!code || code == CHAR_REPLACEMENT)
        return;
    size_t size = utf8_encode(code, bytes);
    for (uint32_t i = 0; i < count && i < (uint32_t)grid->columns; i++)
        vterm_input_write(grid->vterm, bytes, size);
}

/* One byte that may end a sequence. */
static void feed_final(struct grid *grid, char final, struct strbuf *last)
{
    const char *modes = NULL;
    size_t size = final == 'b' ? 0 : pending_modes(grid, &modes);
    if (size && final == 'l' && grid->alternate) {
        strbuf_clear(last);
        grid_text(grid, true, last);
    }
    send(grid, &final, 1);
    if (size)
        feed_modes(grid, modes, size, final);
    remember_tail(grid, &final, 1);
    if (grid->repeat)
        repeat_last(grid);
}

/* Up to a byte that may end a sequence after which something is to be done. */
static size_t piece_size(const char *data, size_t size)
{
    size_t count = 0;
    while (count < size && data[count] != 'l' && data[count] != 'h' && data[count] != 'b')
        count++;
    return count;
}

size_t grid_write(struct grid *grid, const char *data, size_t size, struct strbuf *last)
{
    size_t at = 0;
    while (at < size && !grid->left) {
        size_t count = piece_size(data + at, size - at);
        feed(grid, data + at, count);
        at += count;
        if (at == size)
            break;
        feed_final(grid, data[at++], last);
    }
    return at;
}
