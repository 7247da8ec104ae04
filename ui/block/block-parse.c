/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "block-parse.h"

#include <string.h>

#include "char-width.h"
#include "utf8.h"

enum { BEL = 7, CAN = 0x18, SUB = 0x1A, ESC = 0x1B, DEL = 0x7F };

#define VALUE_MAX 100000u /* of a parameter: more than any move can be */

void parse_reset(struct parser *parser)
{
    parser->state = PARSE_TEXT;
    parser->partial_size = 0;
    parser->wish = WISH_NONE;
    parser->away = false;
}

/* ---- characters ----------------------------------------------------------------------------- */

/* Bytes of a character that came in pieces. Returns how many were taken of the new ones. */
static size_t complete_character(struct parser *parser, struct lines *lines, const char *data,
                                 size_t size)
{
    size_t taken = 0, length = 0;
    uint32_t code = 0;
    while (taken < size && !length) {
        parser->partial[parser->partial_size++] = data[taken++];
        length = utf8_decode(parser->partial, parser->partial_size, &code);
    }
    if (!length)
        return taken;
    taken -= parser->partial_size - length; /* the byte that broke it begins something else */
    parser->partial_size = 0;
    parser->last = code == UINT32_MAX ? CHAR_REPLACEMENT : code;
    lines_put(lines, parser->last);
    return taken;
}

static size_t non_ascii(struct parser *parser, struct lines *lines, const char *data, size_t size)
{
    size_t at = 0;
    while (at < size && (unsigned char)data[at] >= 0x80) {
        uint32_t code;
        size_t length = utf8_decode(data + at, size - at, &code);
        if (!length) {
            memcpy(parser->partial, data + at, size - at);
            parser->partial_size = size - at;
            return size;
        }
        parser->last = code == UINT32_MAX ? CHAR_REPLACEMENT : code;
        lines_put(lines, parser->last);
        at += length;
    }
    return at;
}

static void escape_start(struct parser *parser)
{
    parser->state = PARSE_ESCAPE;
    parser->sequence[0] = ESC;
    parser->sequence_size = 1;
}

static bool is_plain(unsigned char byte)
{
    return byte >= 0x20 && byte < DEL;
}

/* Returns how many bytes were taken, at least one unless parser->wish was set. */
static size_t text(struct parser *parser, struct lines *lines, const char *data, size_t size)
{
    unsigned char first = (unsigned char)data[0];
    size_t count = 0;
    if (first == ESC) {
        escape_start(parser);
        return 1;
    }
    if (parser->away && first != DEL && first != BEL && first) {
        parser->wish = WISH_SCREEN;
        parser->sequence_size = 0;
        return 0;
    }
    if (first < 0x20 || first == DEL) {
        parse_control(parser, lines, first);
        return 1;
    }
    if (first >= 0x80)
        return non_ascii(parser, lines, data, size);
    while (count < size && is_plain((unsigned char)data[count]))
        count++;
    lines_put_ascii(lines, data, count);
    parser->last = (unsigned char)data[count - 1];
    return count;
}

/* ---- strings -------------------------------------------------------------------------------- */

static void string_start(struct parser *parser, char kind)
{
    parser->state = PARSE_STRING;
    parser->string_kind = kind;
    parser->string_bytes = 0;
    parser->sixel = false;
}

/*
 * A line's end closes what was not closed, for otherwise the output would be gone. Only in pictures
 * (sixel) may there be lines.
 */
static void string_byte(struct parser *parser, struct lines *lines, unsigned char byte)
{
    if (++parser->string_bytes > STRING_BYTES)
        parser->state = PARSE_TEXT;
    switch (byte) {
    case ESC:
        parser->state = PARSE_STRING_ESCAPE;
        return;
    case BEL:
        if (parser->string_kind == ']')
            parser->state = PARSE_TEXT;
        return;
    case CAN:
    case SUB:
        parser->state = PARSE_TEXT;
        return;
    case '\n':
    case '\r':
        if (parser->sixel)
            return;
        parser->state = PARSE_TEXT;
        parse_control(parser, lines, byte);
        return;
    default:
        break;
    }
    if (parser->string_kind == 'P' && byte == 'q' && parser->string_bytes < 16)
        parser->sixel = true;
}

/* ---- the machine ---------------------------------------------------------------------------- */

static void csi_start(struct parser *parser)
{
    parser->csi.count = 0;
    parser->csi.colons = 0;
    parser->csi.private = parser->csi.intermediate = 0;
    parser->state = PARSE_CSI;
}

static void csi_digit(struct csi *csi, unsigned char byte)
{
    if (!csi->count)
        csi->value[csi->count++] = 0;
    if (csi->count > CSI_PARAMETERS)
        return;
    uint32_t *value = &csi->value[csi->count - 1];
    if (*value < VALUE_MAX)
        *value = *value * 10 + (byte - '0');
}

static void csi_separator(struct csi *csi, unsigned char byte)
{
    if (!csi->count)
        csi->value[csi->count++] = 0;
    if (csi->count >= CSI_PARAMETERS) {
        csi->count = CSI_PARAMETERS + 1; /* the others are dropped */
        return;
    }
    csi->value[csi->count] = 0;
    if (byte == ':')
        csi->colons |= 1u << csi->count;
    csi->count++;
}

static void csi_byte(struct parser *parser, struct lines *lines, unsigned char byte)
{
    struct csi *csi = &parser->csi;
    if (byte >= '0' && byte <= '9') {
        csi_digit(csi, byte);
    } else if (byte == ';' || byte == ':') {
        csi_separator(csi, byte);
    } else if (byte >= 0x40 && byte < DEL) {
        parser->state = PARSE_TEXT;
        if (csi->count > CSI_PARAMETERS)
            csi->count = CSI_PARAMETERS;
        parse_csi(parser, lines, (char)byte);
    } else if (byte >= '<' && byte <= '?' && !csi->count && !csi->private) {
        csi->private = (char)byte;
    } else if (byte >= 0x20 && byte < 0x30) {
        csi->intermediate = (char)byte;
    } else {
        parser->state = byte >= 0x80 ? PARSE_TEXT : PARSE_CSI_BROKEN;
    }
}

static void escape_byte(struct parser *parser, struct lines *lines, unsigned char byte)
{
    parser->state = PARSE_TEXT;
    if (byte == '[')
        csi_start(parser);
    else if (byte == ']' || byte == 'P' || byte == 'X' || byte == '^' || byte == '_')
        string_start(parser, (char)byte);
    else if (byte >= 0x20 && byte < 0x30)
        parser->state = PARSE_ESCAPE_REST;
    else
        parse_escape(parser, lines, (char)byte);
}

/* Controls work in the middle of a sequence; ESC begins the next one. */
static bool sequence_control(struct parser *parser, struct lines *lines, unsigned char byte)
{
    if (byte >= 0x20)
        return false;
    if (byte == ESC)
        escape_start(parser);
    else if (byte == CAN || byte == SUB)
        parser->state = PARSE_TEXT;
    else
        parse_control(parser, lines, byte);
    return true;
}

static void sequence_byte(struct parser *parser, struct lines *lines, unsigned char byte)
{
    switch (parser->state) {
    case PARSE_STRING:
        string_byte(parser, lines, byte);
        return;
    case PARSE_STRING_ESCAPE:
        escape_start(parser);
        break;
    default:
        break;
    }
    if (sequence_control(parser, lines, byte))
        return;
    if (parser->sequence_size < PARSE_SEQUENCE_BYTES)
        parser->sequence[parser->sequence_size] = (char)byte;
    parser->sequence_size++;
    switch (parser->state) {
    case PARSE_ESCAPE:
        escape_byte(parser, lines, byte);
        break;
    case PARSE_ESCAPE_REST:
        if (byte >= 0x30)
            parser->state = PARSE_TEXT;
        break;
    case PARSE_CSI:
        csi_byte(parser, lines, byte);
        break;
    case PARSE_CSI_BROKEN:
        if (byte >= 0x40)
            parser->state = PARSE_TEXT;
        break;
    default:
        break;
    }
}

size_t parse(struct parser *parser, struct lines *lines, const char *data, size_t size)
{
    size_t at = 0;
    if (parser->partial_size)
        at = complete_character(parser, lines, data, size);
    while (at < size && parser->wish == WISH_NONE) {
        if (parser->state == PARSE_TEXT)
            at += text(parser, lines, data + at, size - at);
        else
            sequence_byte(parser, lines, (unsigned char)data[at++]);
    }
    return at;
}
