/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Just enough of Python's lexical rules to know, line by line, whether the next line begins inside
 * a string or in the middle of a statement. It never fails: broken source leaves it in the state
 * that does least harm (a string in single quotes ends at the end of its line, whatever stands in
 * it).
 */
#ifndef UI_PYLEX_H
#define UI_PYLEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PYLEX_DEPTH 24

/* What we are inside of: a string, or a replacement field of an f-string. */
struct pylex_frame {
    char quote; /* 0: a field */
    bool triple;
    bool formatted; /* f or t prefix: { opens a field */
    bool spec;      /* field: behind the colon */
    unsigned depth; /* field: open brackets */
};

struct pylex {
    struct pylex_frame frames[PYLEX_DEPTH];
    size_t count;
    unsigned depth; /* open brackets outside strings */
    bool continued; /* the last line ended in a backslash */
};

/* Take one line (with or without its line end). Start from a struct of zeros. */
void pylex_line(struct pylex *lex, const char *line, size_t size);

/* What a byte belongs to. */
enum pylex_kind {
    PYLEX_CODE,
    PYLEX_FIELD, /* code in a replacement field, with its braces */
    PYLEX_STRING,
    PYLEX_COMMENT,
};

/* The same, with the kind of each byte but those of the line end; kinds holds size bytes. */
void pylex_line_kinds(struct pylex *lex, const char *line, size_t size, uint8_t *kinds);

/* The next line begins inside a string. */
bool pylex_in_string(const struct pylex *lex);

/* The next line begins a statement. */
bool pylex_at_statement(const struct pylex *lex);

/* Length of the line at text with its line end (\n, \r\n or \r); 0 at the end. */
size_t pylex_line_length(const char *text, size_t size);

/* The same without its line end. */
size_t pylex_trimmed(const char *line, size_t size);

#endif
