/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "char-width.h"
#include "glyph.h"
#include "utf8.h"

#define TAB_COLUMNS 8

static const struct {
    uint16_t code;
    char ascii;
} marks[] = {
    {0x00b7, '|'}, {0x2014, '-'}, {0x2022, '*'}, {0x2026, '~'}, {0x21b3, '>'}, {0x22ef, '~'},
    {0x23f3, '.'}, {0x2500, '-'}, {0x2502, '|'}, {0x250c, '+'}, {0x2510, '+'}, {0x2514, '+'},
    {0x2518, '+'}, {0x2580, '"'}, {0x2584, '_'}, {0x2588, '#'}, {0x25b2, '^'}, {0x25b6, '>'},
    {0x25b8, '>'}, {0x25bc, 'v'}, {0x25cb, 'o'}, {0x25cf, '*'}, {0x27f3, '@'}, {0x2713, '+'},
    {0x2717, 'x'}, {0x2190, '<'}, {0x2191, '^'}, {0x2192, '>'}, {0x2193, 'v'}, {0x27f2, '@'},
    {0x26a0, '!'}, {0x2328, '>'}, {0x2318, '#'}, {0x2298, '/'},
};

char glyph_ascii(uint32_t code)
{
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (marks[i].code == code)
            return marks[i].ascii;
    }
    return 0;
}

int glyph_width(uint32_t code)
{
    return code >= 0x20 && code < 0x7f ? 1 : char_width(code);
}

static size_t decode(const char *text, size_t size, uint32_t *ret_code)
{
    size_t length = utf8_decode(text, size, ret_code);
    if (length == 0 || *ret_code == UINT32_MAX) {
        *ret_code = 0xfffd;
        length = length ? length : size;
    } else if (utf8_turns(*ret_code)) {
        *ret_code = 0xfffd; /* else a line, a tool call say, could read as it is not */
    }
    return length;
}

/* Marks that stand over the character before them; too many are taken and dropped. */
static void take_marks(const char *text, size_t size, struct glyph *glyph)
{
    size_t count = 1;
    while (glyph->size < size && (unsigned char)text[glyph->size] >= 0x80) {
        uint32_t code;
        size_t length = decode(text + glyph->size, size - glyph->size, &code);
        if (glyph_width(code) != 0)
            break;
        if (count < GLYPH_CHARACTERS)
            glyph->characters[count++] = code;
        glyph->size += length;
    }
}

void glyph_at(const char *text, size_t size, int column, struct glyph *ret_glyph)
{
    unsigned char first = (unsigned char)text[0];
    *ret_glyph = (struct glyph){.size = 1, .width = 1};
    if (first == '\n') {
        ret_glyph->width = 0;
    } else if (first == '\t') {
        ret_glyph->characters[0] = ' ';
        ret_glyph->width = TAB_COLUMNS - column % TAB_COLUMNS;
    } else if (first >= 0x20 && first < 0x7f) {
        ret_glyph->characters[0] = first;
        if (size > 1 && (unsigned char)text[1] >= 0x80)
            take_marks(text, size, ret_glyph);
    } else if (first < 0x80) {
        ret_glyph->characters[0] = first == 0x7f ? 0x2421 : 0x2400u + first;
    } else {
        uint32_t code;
        ret_glyph->size = decode(text, size, &code);
        int width = glyph_width(code);
        ret_glyph->characters[0] = width > 0 ? code : 0xfffd;
        ret_glyph->width = width > 0 ? width : 1;
        take_marks(text, size, ret_glyph);
    }
}

size_t glyph_columns(const char *text, size_t size)
{
    size_t columns = 0;
    for (size_t i = 0; i < size;) {
        struct glyph glyph;
        glyph_at(text + i, size - i, (int)(columns & 0xffff), &glyph);
        columns += (size_t)glyph.width;
        i += glyph.size;
    }
    return columns;
}

size_t glyph_fit(const char *text, size_t size, int columns)
{
    size_t i = 0;
    int used = 0;
    while (i < size) {
        struct glyph glyph;
        glyph_at(text + i, size - i, used, &glyph);
        if (used + glyph.width > columns)
            break;
        used += glyph.width;
        i += glyph.size;
    }
    return i;
}
