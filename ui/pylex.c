/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "pylex.h"

#include <ctype.h>
#include <string.h>

struct line {
    const char *text;
    size_t size, at;
    uint8_t *kinds; /* NULL: nobody asks */
};

static int char_at(const struct line *line, size_t offset)
{
    return line->at + offset < line->size ? (unsigned char)line->text[line->at + offset] : -1;
}

static void mark(const struct line *line, size_t from, enum pylex_kind kind)
{
    size_t end = line->at < line->size ? line->at : line->size;
    if (line->kinds && from < end)
        memset(line->kinds + from, kind, end - from);
}

static bool is_word(int c)
{
    return c == '_' || c >= 0x80 || isalnum(c);
}

static bool triple_at(const struct line *line, int quote)
{
    return char_at(line, 0) == quote && char_at(line, 1) == quote && char_at(line, 2) == quote;
}

static struct pylex_frame *top(struct pylex *lex)
{
    return lex->count ? &lex->frames[lex->count - 1] : NULL;
}

static void push(struct pylex *lex, struct pylex_frame frame)
{
    if (lex->count < PYLEX_DEPTH)
        lex->frames[lex->count++] = frame;
}

static void open_string(struct pylex *lex, struct line *line, bool formatted)
{
    int quote = char_at(line, 0);
    bool triple = triple_at(line, quote);
    line->at += triple ? 3 : 1;
    mark(line, line->at - (triple ? 3 : 1), PYLEX_STRING);
    push(lex, (struct pylex_frame){.quote = (char)quote, .triple = triple, .formatted = formatted});
}

/* In a field, the delimiter of an enclosing triple-quoted string ends that string. */
static bool close_enclosing(struct pylex *lex, struct line *line)
{
    for (size_t i = lex->count; i-- > 0;) {
        const struct pylex_frame *frame = &lex->frames[i];
        if (frame->quote && frame->triple && triple_at(line, frame->quote)) {
            lex->count = i;
            line->at += 3;
            mark(line, line->at - 3, PYLEX_STRING);
            return true;
        }
    }
    return false;
}

/* A word, and the string that it may be the prefix of. */
static void take_word(struct pylex *lex, struct line *line)
{
    size_t start = line->at;
    while (is_word(char_at(line, 0)))
        line->at++;
    int next = char_at(line, 0);
    if ((next != '"' && next != '\'') || line->at - start > 2)
        return;
    bool prefix = true, formatted = false;
    for (size_t i = start; i < line->at; i++) {
        prefix = prefix && strchr("rRbBuUfFtT", line->text[i]);
        formatted = formatted || strchr("fFtT", line->text[i]);
    }
    if (close_enclosing(lex, line))
        return;
    open_string(lex, line, prefix && formatted);
    if (prefix)
        mark(line, start, PYLEX_STRING);
}

static void take_bracket(unsigned *depth, int c)
{
    if (strchr("([{", c))
        ++*depth;
    else if (*depth)
        --*depth;
}

static void take_code(struct pylex *lex, struct line *line)
{
    int c = char_at(line, 0);
    if (is_word(c)) {
        take_word(lex, line);
    } else if (c == '"' || c == '\'') {
        open_string(lex, line, false);
    } else if (c == '#') {
        size_t start = line->at;
        line->at = line->size;
        mark(line, start, PYLEX_COMMENT);
    } else {
        if (c == '\\' && line->at + 1 == line->size)
            lex->continued = true;
        if (c && strchr("([{}])", c))
            take_bracket(&lex->depth, c);
        line->at++;
    }
}

static void take_string(struct pylex *lex, struct line *line)
{
    const struct pylex_frame *frame = top(lex);
    int c = char_at(line, 0);
    if (c == '\\') {
        lex->continued = line->at + 1 == line->size;
        line->at += 2;
    } else if (c == frame->quote && (!frame->triple || triple_at(line, c))) {
        line->at += frame->triple ? 3 : 1;
        lex->count--;
    } else if (c == '{' && frame->formatted) {
        bool doubled = char_at(line, 1) == '{';
        line->at += doubled ? 2 : 1;
        if (!doubled)
            push(lex, (struct pylex_frame){.quote = 0});
    } else {
        line->at++;
    }
}

/* The format specification of a field: text, but for nested fields. */
static void take_spec(struct pylex *lex, struct line *line)
{
    int c = char_at(line, 0);
    if ((c == '"' || c == '\'') && close_enclosing(lex, line))
        return;
    line->at++;
    mark(line, line->at - 1, c == '{' || c == '}' ? PYLEX_FIELD : PYLEX_STRING);
    if (c == '}') {
        lex->count--;
    } else if (c == '{') {
        push(lex, (struct pylex_frame){.quote = 0});
    } else if (c == '"' || c == '\'') {
        const struct pylex_frame *string = lex->count > 1 ? &lex->frames[lex->count - 2] : NULL;
        if (string && !string->triple && string->quote == c)
            lex->count -= 2;
    }
}

static void take_field(struct pylex *lex, struct line *line)
{
    struct pylex_frame *frame = top(lex);
    int c = char_at(line, 0);
    if (frame->spec) {
        take_spec(lex, line);
    } else if (c == '"' || c == '\'') {
        if (!close_enclosing(lex, line))
            open_string(lex, line, false);
    } else if (is_word(c)) {
        size_t start = line->at;
        while (is_word(char_at(line, 0)))
            line->at++;
        mark(line, start, PYLEX_FIELD);
        line->at = start;
        take_word(lex, line);
    } else {
        line->at++;
        mark(line, line->at - 1, PYLEX_FIELD);
        if (c == '}' && !frame->depth)
            lex->count--;
        else if (c == ':' && !frame->depth)
            frame->spec = true;
        else if (c && strchr("([{}])", c))
            take_bracket(&frame->depth, c);
    }
}

/* What cannot go on beyond the end of a line is given up. */
static void end_line(struct pylex *lex)
{
    for (size_t i = 0; i < lex->count; i++) {
        const struct pylex_frame *frame = &lex->frames[i];
        bool goes_on = lex->continued && i + 1 == lex->count;
        if (frame->quote && !frame->triple && !goes_on) {
            lex->count = i;
            return;
        }
    }
}

/* Code and comments are marked where they are found; the rest is told by where we are. */
static void take_line(struct pylex *lex, struct line *line)
{
    lex->continued = false;
    while (line->at < line->size) {
        const struct pylex_frame *frame = top(lex);
        size_t start = line->at;
        if (!frame) {
            take_code(lex, line);
        } else if (frame->quote) {
            size_t depth = lex->count;
            take_string(lex, line);
            mark(line, start, lex->count > depth ? PYLEX_FIELD : PYLEX_STRING);
        } else {
            take_field(lex, line);
        }
    }
    end_line(lex);
}

void pylex_line(struct pylex *lex, const char *text, size_t size)
{
    struct line line = {.text = text, .size = pylex_trimmed(text, size)};
    take_line(lex, &line);
}

void pylex_line_kinds(struct pylex *lex, const char *text, size_t size, uint8_t *kinds)
{
    struct line line = {.text = text, .size = pylex_trimmed(text, size), .kinds = kinds};
    memset(kinds, PYLEX_CODE, size);
    take_line(lex, &line);
}

bool pylex_in_string(const struct pylex *lex)
{
    return lex->count > 0;
}

bool pylex_at_statement(const struct pylex *lex)
{
    return !lex->count && !lex->depth && !lex->continued;
}

size_t pylex_line_length(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (text[i] == '\n')
            return i + 1;
        if (text[i] == '\r')
            return i + 1 < size && text[i + 1] == '\n' ? i + 2 : i + 1;
    }
    return size;
}

size_t pylex_trimmed(const char *line, size_t size)
{
    while (size && (line[size - 1] == '\n' || line[size - 1] == '\r'))
        size--;
    return size;
}
