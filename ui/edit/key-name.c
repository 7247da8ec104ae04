/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "key-name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "key.h"
#include "utf8.h"

static const struct alias {
    const char *word; /* as a user writes it, without regard to case */
    const char *name; /* NULL: the character code */
    uint32_t code;
} aliases[] = {
    {"esc", NULL, 27},       {"escape", NULL, 27},    {"enter", NULL, '\r'},
    {"return", NULL, '\r'},  {"ret", NULL, '\r'},     {"cr", NULL, '\r'},
    {"newline", NULL, '\n'}, {"lfd", NULL, '\n'},     {"tab", NULL, '\t'},
    {"space", NULL, ' '},    {"spc", NULL, ' '},      {"backspace", NULL, 127},
    {"bs", NULL, 127},       {"rubout", NULL, 127},   {"up", "Up", 0},
    {"down", "Down", 0},     {"left", "Left", 0},     {"right", "Right", 0},
    {"home", "Home", 0},     {"end", "End", 0},       {"begin", "Begin", 0},
    {"insert", "Insert", 0}, {"ins", "Insert", 0},    {"delete", "Delete", 0},
    {"del", "Delete", 0},    {"pgup", "PgUp", 0},     {"pageup", "PgUp", 0},
    {"page-up", "PgUp", 0},  {"prior", "PgUp", 0},    {"pgdn", "PgDn", 0},
    {"pgdown", "PgDn", 0},   {"pagedown", "PgDn", 0}, {"page-down", "PgDn", 0},
};

static const char *const function_keys[] = {"F1",  "F2",  "F3",  "F4",  "F5",  "F6",  "F7",
                                            "F8",  "F9",  "F10", "F11", "F12", "F13", "F14",
                                            "F15", "F16", "F17", "F18", "F19", "F20"};
#define FUNCTION_KEYS (sizeof function_keys / sizeof *function_keys)

/* ---- names ---------------------------------------------------------------------------------- */

void key_name_function(const char *base, unsigned modifiers, char name[static KEY_NAME_SIZE])
{
    snprintf(name, KEY_NAME_SIZE, "%s%s%s%s", modifiers & KEY_CONTROL ? "C-" : "",
             modifiers & (KEY_ALT | KEY_META) ? "M-" : "", modifiers & KEY_SHIFT ? "S-" : "", base);
}

/* What a character becomes by the control key, where terminals send the same byte for both. */
static uint32_t without_control(uint32_t code, unsigned *modifiers)
{
    switch (code) {
    case 'i':
        code = '\t';
        break;
    case 'm':
        code = '\r';
        break;
    case '[':
        code = 27;
        break;
    case '?':
        code = 127;
        break;
    default:
        return code == '@' ? ' ' : code == '/' ? '_' : code;
    }
    *modifiers &= ~(unsigned)(KEY_CONTROL | KEY_SHIFT);
    return code;
}

static const char *special_name(uint32_t code)
{
    switch (code) {
    case '\r':
        return "Enter";
    case '\t':
        return "Tab";
    case 27:
        return "Esc";
    case ' ':
        return "Space";
    case 127:
        return "Backspace";
    default:
        return NULL;
    }
}

/* Shift shows in the character itself, but for letters with control. */
static uint32_t shifted(uint32_t code, unsigned *modifiers)
{
    if (*modifiers & KEY_CONTROL) {
        if (code < 128 && isupper((int)code))
            code = (uint32_t)tolower((int)code);
        if (code < 128 && isalpha((int)code))
            return code;
    } else if (*modifiers & KEY_SHIFT && code < 128 && islower((int)code)) {
        code = (uint32_t)toupper((int)code);
    }
    *modifiers &= ~(unsigned)KEY_SHIFT;
    return code;
}

bool key_name_character(uint32_t code, unsigned modifiers, char name[static KEY_NAME_SIZE])
{
    name[0] = '\0';
    if (code == 0) {
        code = ' ';
        modifiers |= KEY_CONTROL;
    } else if (code < 32 && !special_name(code)) {
        code = code < 27 ? code + 'a' - 1 : code + '@';
        modifiers |= KEY_CONTROL;
    } else if (modifiers & KEY_CONTROL) {
        code = without_control(code < 128 ? (uint32_t)tolower((int)code) : code, &modifiers);
    }
    const char *special = special_name(code);
    if (special) {
        if (code == ' ' && !(modifiers & KEY_CONTROL))
            modifiers &= ~(unsigned)KEY_SHIFT;
        key_name_function(special, modifiers, name);
        return true;
    }
    if (code > 127 && code < 160)
        return false;
    code = shifted(code, &modifiers);
    char text[5] = "";
    text[utf8_encode(code, text)] = '\0';
    key_name_function(text, modifiers, name);
    return true;
}

size_t key_legacy_bytes(uint32_t code, unsigned modifiers, char bytes[static 8])
{
    size_t size = 0;
    if (modifiers & (KEY_ALT | KEY_META))
        bytes[size++] = 27;
    if (code == '\t' && modifiers & KEY_SHIFT) {
        memcpy(bytes + size, "\033[Z", 3);
        return size + 3;
    }
    if (code < 128 && modifiers & KEY_CONTROL && !special_name(code)) {
        int upper = toupper((int)code);
        if (code == '/')
            upper = '_';
        if (code >= 32 && (upper < '@' || upper > '_'))
            return code == '?' ? (bytes[size] = 127, size + 1) : 0;
        bytes[size++] = (char)(upper & 31);
        return size;
    }
    if (code == ' ' && modifiers & KEY_CONTROL) {
        bytes[size++] = 0;
        return size;
    }
    code = shifted(code, &modifiers);
    return size + utf8_encode(code, bytes + size);
}

/* ---- what terminals send -------------------------------------------------------------------- */

const char *key_base_of_letter(char letter, bool ss3, unsigned *modifiers)
{
    if (letter >= 'P' && letter <= 'S')
        return function_keys[letter - 'P'];
    if (letter >= 'a' && letter <= 'd') { /* rxvt */
        *modifiers |= ss3 ? KEY_CONTROL : KEY_SHIFT;
        letter = (char)toupper(letter);
    }
    switch (letter) {
    case 'A':
        return "Up";
    case 'B':
        return "Down";
    case 'C':
        return "Right";
    case 'D':
        return "Left";
    case 'E':
        return "Begin";
    case 'F':
        return "End";
    case 'H':
        return "Home";
    default:
        return NULL;
    }
}

const char *key_base_of_number(int number)
{
    static const char *const low[] = {NULL,   "Home", "Insert", "Delete", "End",
                                      "PgUp", "PgDn", "Home",   "End"};
    static const struct {
        int first, last, key;
    } ranges[] = {{11, 15, 1}, {17, 21, 6}, {23, 26, 11}, {28, 29, 15}, {31, 34, 17}};
    if (number >= 0 && number < (int)(sizeof low / sizeof *low))
        return low[number];
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) {
        if (number >= ranges[i].first && number <= ranges[i].last)
            return function_keys[ranges[i].key - 1 + number - ranges[i].first];
    }
    return NULL;
}

/* ---- names that users write ----------------------------------------------------------------- */

static const struct {
    const char *word;
    unsigned modifier;
} prefixes[] = {
    {"c", KEY_CONTROL}, {"ctrl", KEY_CONTROL}, {"control", KEY_CONTROL}, {"m", KEY_ALT},
    {"alt", KEY_ALT},   {"meta", KEY_ALT},     {"s", KEY_SHIFT},         {"shift", KEY_SHIFT},
};

/* Length of a modifier at the beginning ("Ctrl-", "alt+"), 0: none. What follows is not empty. */
static size_t take_prefix(const char *text, size_t size, unsigned *modifiers)
{
    if (size > 1 && text[0] == '^') {
        *modifiers |= KEY_CONTROL;
        return 1;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i].word);
        if (size > length + 1 && strncasecmp(text, prefixes[i].word, length) == 0 &&
            (text[length] == '-' || text[length] == '+')) {
            *modifiers |= prefixes[i].modifier;
            return length + 1;
        }
    }
    return 0;
}

static bool equals(const char *text, size_t size, const char *word)
{
    return strlen(word) == size && strncasecmp(text, word, size) == 0;
}

bool key_parse_name(const char *text, size_t size, char name[static 24])
{
    unsigned modifiers = 0;
    for (size_t length; (length = take_prefix(text, size, &modifiers)) > 0; size -= length)
        text += length;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++) {
        if (!equals(text, size, aliases[i].word))
            continue;
        if (!aliases[i].name)
            return key_name_character(aliases[i].code, modifiers, name);
        key_name_function(aliases[i].name, modifiers, name);
        return true;
    }
    for (size_t i = 0; i < FUNCTION_KEYS; i++) {
        if (equals(text, size, function_keys[i])) {
            key_name_function(function_keys[i], modifiers, name);
            return true;
        }
    }
    uint32_t code = 0;
    if (!size || utf8_decode(text, size, &code) != size || code == UINT32_MAX)
        return false;
    return key_name_character(code, modifiers, name);
}
