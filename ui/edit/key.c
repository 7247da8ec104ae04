/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "key.h"

#include <stdlib.h>
#include <string.h>

#include "key-name.h"
#include "utf8.h"
#include "xalloc.h"

enum {
    ESC = 27,
    PASTE_LIMIT = 16 << 20,
    ANSWER_LIMIT = 4096, /* of what the terminal says by itself */
    PATIENCE = 20,       /* how often the time may run out for an answer that is half there */
    PARAMETERS = 4,
    KEPT_CAPACITY = 64 << 10,
};

static const char paste_end[] = "\033[201~";
#define MARK_SIZE (sizeof paste_end - 1)

struct keys {
    struct strbuf in;
    size_t at; /* what is before it was given out */
    struct strbuf paste;
    bool in_paste;
    bool alone; /* the last piece that came was one byte */
    int impatience;
    char legacy[16]; /* raw bytes in the form that readline and programs know */
};

/* What begins at the present place. The take functions return its length; 0: there must be more. */
struct input {
    struct keys *keys;
    const char *data;
    size_t size;
    bool late;
    unsigned modifiers; /* of an escape before the sequence */
};

struct keys *keys_new(void)
{
    return xcalloc(1, sizeof(struct keys));
}

void keys_free(struct keys *keys)
{
    if (!keys)
        return;
    strbuf_free(&keys->in);
    strbuf_free(&keys->paste);
    free(keys);
}

void keys_feed(struct keys *keys, const char *data, size_t size)
{
    size_t rest = keys->in.size - keys->at;
    if (keys->at && rest)
        memmove(keys->in.data, keys->in.data + keys->at, rest);
    if (keys->in.data) {
        keys->in.size = rest;
        keys->in.data[rest] = '\0';
    }
    keys->at = 0;
    keys->alone = size == 1;
    keys->impatience = 0;
    strbuf_add(&keys->in, data, size);
}

/* ---- characters ----------------------------------------------------------------------------- */

static void set_raw(struct keys *keys, struct key *key, const char *data, size_t size)
{
    memcpy(keys->legacy, data, size);
    key->raw = keys->legacy;
    key->raw_size = size;
}

static void name_character(struct key *key, uint32_t code, unsigned modifiers)
{
    bool control = code < 32 || code == 127 || modifiers & ~(unsigned)KEY_SHIFT;
    key->type = control || code == ' ' ? KEY_NAMED : KEY_TEXT;
    if (!key_name_character(code, modifiers, key->name))
        key->type = KEY_REPLY;
}

static size_t take_character(struct input *input, size_t escapes, struct key *key)
{
    uint32_t code = 0;
    size_t size = utf8_decode(input->data + escapes, input->size - escapes, &code);
    if (!size && !input->late)
        return 0;
    if (!size || code == UINT32_MAX) { /* cut, or no UTF-8 at all: shown as what it is */
        char bytes[8];
        size = size ? size : input->size - escapes;
        memset(bytes, ESC, sizeof bytes);
        code = 0xFFFD;
        set_raw(input->keys, key, bytes, escapes + utf8_encode(code, bytes + escapes));
    }
    name_character(key, code, escapes ? KEY_ALT : 0);
    return escapes + size;
}

/* ---- control sequences ---------------------------------------------------------------------- */

struct sequence {
    char prefix; /* one of <=>? */
    int parameters[PARAMETERS];
    size_t count;
    char final;
};

static unsigned modifiers_of(int parameter)
{
    return parameter > 1 && parameter <= 16 ? (unsigned)parameter - 1 : 0;
}

static void name_sequence(const struct input *input, struct key *key, const char *base,
                          unsigned modifiers)
{
    key->type = KEY_NAMED;
    if (base)
        key_name_function(base, modifiers | input->modifiers, key->name);
}

/* A character that came as a number: programs want it in the old form, where there is one. */
static void name_number(struct input *input, struct key *key, int code, unsigned modifiers)
{
    char bytes[8];
    if (code < 0 || code > 0x10FFFF || (code >= 0xE000 && code < 0xF900)) { /* kitty's own keys */
        key->type = KEY_NAMED;
        return;
    }
    name_character(key, (uint32_t)code, modifiers);
    size_t size = key_legacy_bytes((uint32_t)code, modifiers, bytes);
    if (size)
        set_raw(input->keys, key, bytes, size);
}

static void name_mouse(struct key *key, int code, int column, int row, bool released)
{
    key->type = KEY_MOUSE;
    key->column = column > 0 ? column - 1 : 0;
    key->row = row > 0 ? row - 1 : 0;
    key->button = code & 3;
    key->number = code & 28; /* shift, meta, control */
    if (code & 64)
        key->mouse = code & 1 ? KEY_MOUSE_WHEEL_DOWN : KEY_MOUSE_WHEEL_UP;
    else if (code & 32)
        key->mouse = KEY_MOUSE_DRAG;
    else
        key->mouse = released ? KEY_MOUSE_RELEASE : KEY_MOUSE_PRESS;
}

/* Numbers apart; of "1:2" the part before the colon. */
static void read_parameters(const char *data, size_t size, struct sequence *sequence)
{
    bool colon = false;
    size_t at = 0;
    if (size && strchr("<=>?", data[0]))
        sequence->prefix = data[at++];
    sequence->count = at < size;
    for (; at < size; at++) {
        size_t index = sequence->count - 1;
        if (data[at] == ';') {
            sequence->count++;
            colon = false;
        } else if (data[at] == ':') {
            colon = true;
        } else if (!colon && index < PARAMETERS && data[at] >= '0' && data[at] <= '9' &&
                   sequence->parameters[index] < 10000000) {
            sequence->parameters[index] = sequence->parameters[index] * 10 + data[at] - '0';
        }
    }
}

static void name_tilde(struct input *input, const struct sequence *sequence, struct key *key)
{
    const int *parameters = sequence->parameters;
    unsigned modifiers = modifiers_of(parameters[1]);
    if (parameters[0] == 27 && sequence->count >= 3) {
        name_number(input, key, parameters[2], modifiers);
        return;
    }
    if (parameters[0] == 200) {
        input->keys->in_paste = true;
        return;
    }
    if (parameters[0] == 201) /* an end without a beginning */
        return;
    if (sequence->final == '$' || sequence->final == '@')
        modifiers |= KEY_SHIFT;
    if (sequence->final == '^' || sequence->final == '@')
        modifiers |= KEY_CONTROL;
    name_sequence(input, key, key_base_of_number(parameters[0]), modifiers);
}

/* xterm's F3 with modifiers looks like the answer of a cursor in the first line. */
static bool is_position(const struct sequence *sequence)
{
    return sequence->final == 'R' && sequence->count == 2 &&
           !(sequence->parameters[0] == 1 && modifiers_of(sequence->parameters[1]));
}

static void name_csi(struct input *input, const struct sequence *sequence, struct key *key)
{
    const int *parameters = sequence->parameters;
    char final = sequence->final;
    unsigned modifiers = modifiers_of(parameters[1]);
    if (sequence->prefix == '<' && (final == 'M' || final == 'm'))
        name_mouse(key, parameters[0], parameters[1], parameters[2], final == 'm');
    else if (sequence->prefix || strchr("ntxy", final) || is_position(sequence))
        key->type = KEY_REPLY;
    else if (strchr("~$^@", final))
        name_tilde(input, sequence, key);
    else if (final == 'u')
        name_number(input, key, parameters[0], modifiers);
    else if (final == 'Z')
        name_sequence(input, key, "Tab", modifiers | KEY_SHIFT);
    else if (!sequence->count && (final == 'I' || final == 'O')) {
        key->type = KEY_FOCUS;
        key->number = final == 'I';
    } else {
        const char *base = key_base_of_letter(final, false, &modifiers);
        name_sequence(input, key, base, modifiers);
    }
}

/* The Linux console's F1 to F5: ESC [ [ A. Old mouse reports: ESC [ M and three bytes. */
static size_t take_odd_csi(struct input *input, size_t at, struct key *key)
{
    size_t need = input->data[at] == '[' ? at + 2 : at + 4;
    if (input->size < need)
        return input->late ? input->size : 0;
    const unsigned char *data = (const unsigned char *)input->data + at + 1;
    if (input->data[at] == '[') {
        static const char *const names[] = {"F1", "F2", "F3", "F4", "F5"};
        name_sequence(input, key, data[0] >= 'A' && data[0] <= 'E' ? names[data[0] - 'A'] : NULL,
                      0);
    } else {
        int code = data[0] - 32;
        bool released = (code & 67) == 3;
        name_mouse(key, released ? code & ~3 : code, data[1] - 32, data[2] - 32, released);
    }
    return need;
}

/* What is only half there is waited for, but not for ever. */
static size_t give_up(struct input *input, struct key *key)
{
    if (input->late)
        input->keys->impatience++;
    if (input->size < ANSWER_LIMIT && input->keys->impatience < PATIENCE)
        return 0;
    key->type = KEY_REPLY;
    return input->size;
}

static size_t take_csi(struct input *input, size_t begin, struct key *key)
{
    const char *data = input->data;
    size_t at = begin;
    if (at < input->size && (data[at] == '[' || data[at] == 'M'))
        return take_odd_csi(input, at, key);
    while (at < input->size && data[at] >= '0' && data[at] <= '?')
        at++;
    bool rxvt = at > begin && at < input->size && data[at] == '$' && data[begin] <= '9';
    size_t parameters = at;
    while (!rxvt && at < input->size && data[at] >= ' ' && data[at] <= '/')
        at++;
    if (at == input->size)
        return give_up(input, key);
    if (!rxvt && (data[at] < '@' || data[at] > '~')) { /* broken off: what follows begins anew */
        key->type = KEY_REPLY;
        return at;
    }
    struct sequence sequence = {.final = data[at]};
    read_parameters(data + begin, parameters - begin, &sequence);
    name_csi(input, &sequence, key);
    return at + 1;
}

/* ESC O: cursor keys in application mode, F1 to F4, the keypad. */
static size_t take_ss3(struct input *input, size_t at, struct key *key)
{
    unsigned modifiers = 0;
    if (at < input->size && input->data[at] >= '1' && input->data[at] <= '9') {
        modifiers = modifiers_of(input->data[at++] - '0');
    }
    if (at == input->size)
        return give_up(input, key);
    char letter = input->data[at++];
    const char *base = key_base_of_letter(letter, true, &modifiers);
    if (base)
        name_sequence(input, key, base, modifiers);
    else if (letter == 'M')
        name_number(input, key, '\r', modifiers);
    else if (letter == 'X')
        name_number(input, key, '=', modifiers);
    else if (letter >= 'j' && letter <= 'y')
        name_number(input, key, letter - 'j' + '*', modifiers);
    else
        key->type = KEY_NAMED;
    return at;
}

/* The answers that are strings: ESC ] ... (OSC), ESC P ... (DCS), ESC _ ... (APC, kitty's). */
static size_t take_answer(struct input *input, size_t at, struct key *key)
{
    for (size_t i = at; i < input->size; i++) {
        bool closed = input->data[i] == ESC && i + 1 < input->size && input->data[i + 1] == '\\';
        if (input->data[i] == '\a' || closed) {
            key->type = KEY_REPLY;
            return i + (closed ? 2 : 1);
        }
    }
    return give_up(input, key);
}

/* Not every ESC ] begins an answer: it may be Alt with a bracket. */
static bool is_answer(const struct input *input)
{
    if (input->size < 3)
        return false;
    char kind = input->data[1], next = input->data[2];
    return (kind == ']' && ((next >= '0' && next <= '9') || memchr("lL", next, 2))) ||
           (kind == '_' && next == 'G') ||
           (kind == 'P' && ((next >= '0' && next <= '9') || memchr("!>+$", next, 4)));
}

/* rxvt sends Alt with a key as ESC before the key's sequence; else it is the key Esc, twice. */
static size_t take_two_escapes(struct input *input, struct key *key)
{
    bool sequence = input->size > 2 && (input->data[2] == '[' || input->data[2] == 'O');
    if (input->size < (sequence ? 4 : 3) && !input->late)
        return 0;
    if (sequence && input->size > 3) {
        input->modifiers = KEY_ALT;
        return input->data[2] == 'O' ? take_ss3(input, 3, key) : take_csi(input, 3, key);
    }
    name_character(key, ESC, 0);
    return 1;
}

static size_t take_escape(struct input *input, struct key *key)
{
    if (input->size == 1) {
        name_character(key, ESC, 0);
        return input->late ? 1 : 0;
    }
    char next = input->data[1];
    if (input->size == 2 && memchr("[O]P_", next, 5)) {
        name_character(key, (unsigned char)next, KEY_ALT);
        return input->late ? 2 : 0;
    }
    if (next == '[')
        return take_csi(input, 2, key);
    if (next == 'O')
        return take_ss3(input, 2, key);
    if (is_answer(input))
        return take_answer(input, 2, key);
    if (next != ESC)
        return take_character(input, 1, key);
    return take_two_escapes(input, key);
}

/* ---- paste ---------------------------------------------------------------------------------- */

static void add_paste(struct keys *keys, const char *data, size_t size)
{
    size_t room = PASTE_LIMIT - keys->paste.size;
    strbuf_add(&keys->paste, data, size < room ? size : room);
}

/* Line ends as \n; no controls, also not those of C1; what is no UTF-8 repaired. */
static void clean_paste(struct strbuf *paste)
{
    struct strbuf repaired = STRBUF_INIT;
    if (!utf8_check(strbuf_text(paste), paste->size, NULL)) {
        utf8_repair(&repaired, paste->data, paste->size);
        strbuf_free(paste);
        *paste = repaired;
    }
    char *data = paste->data;
    size_t kept = 0;
    for (size_t i = 0; i < paste->size; i++) {
        unsigned char c = (unsigned char)data[i];
        bool more = i + 1 < paste->size;
        if (c == '\r') {
            if (more && data[i + 1] == '\n')
                continue;
            c = '\n';
        }
        if (c == 0xC2 && more && (unsigned char)data[i + 1] < 0xA0)
            i++;
        else if ((c >= 32 && c != 127) || c == '\n' || c == '\t')
            data[kept++] = (char)c;
    }
    if (data)
        data[kept] = '\0';
    paste->size = kept;
}

static bool give_paste(struct keys *keys, struct key *key)
{
    keys->in_paste = false;
    clean_paste(&keys->paste);
    key->type = KEY_PASTE;
    key->raw = key->text = strbuf_text(&keys->paste);
    key->raw_size = key->text_size = keys->paste.size;
    return true;
}

static bool take_paste(struct keys *keys, struct key *key)
{
    const char *data = strbuf_text(&keys->in) + keys->at;
    size_t size = keys->in.size - keys->at;
    /* The mark may never come, say when a program died that stood between: C-c ends the paste. */
    if (keys->alone && size == 1 && data[0] == 3) {
        keys->alone = false;
        return give_paste(keys, key);
    }
    const char *end = size ? memmem(data, size, paste_end, MARK_SIZE) : NULL;
    if (end) {
        add_paste(keys, data, (size_t)(end - data));
        keys->at += (size_t)(end - data) + MARK_SIZE;
        return give_paste(keys, key);
    }
    size_t held = size < MARK_SIZE - 1 ? size : MARK_SIZE - 1;
    while (held && memcmp(data + size - held, paste_end, held) != 0)
        held--;
    add_paste(keys, data, size - held);
    keys->at += size - held;
    return false;
}

/* ---- the keys ------------------------------------------------------------------------------- */

bool keys_next(struct keys *keys, bool late, struct key *ret_key)
{
    for (;;) {
        struct key key = {.type = KEY_REPLY};
        if (keys->in_paste) {
            bool whole = take_paste(keys, &key);
            if (whole)
                *ret_key = key;
            return whole;
        }
        if (keys->paste.capacity > KEPT_CAPACITY)
            strbuf_free(&keys->paste);
        strbuf_clear(&keys->paste);
        struct input input = {.keys = keys,
                              .data = strbuf_text(&keys->in) + keys->at,
                              .size = keys->in.size - keys->at,
                              .late = late};
        if (!input.size)
            return false;
        size_t size =
            input.data[0] == ESC ? take_escape(&input, &key) : take_character(&input, 0, &key);
        if (!size)
            return false;
        late = false; /* it ran out for this one */
        keys->at += size;
        if (keys->in_paste)
            continue;
        if (!key.raw) {
            key.raw = input.data;
            key.raw_size = size;
        }
        if (key.type == KEY_REPLY) {
            key.text = input.data;
            key.text_size = size;
        }
        *ret_key = key;
        return true;
    }
}

bool keys_wait(const struct keys *keys)
{
    return !keys->in_paste && keys->at < keys->in.size;
}
