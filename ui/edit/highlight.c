/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pylex says for each byte of a line whether it is code; the code is then told apart here. Kinds
 * and classes use the same memory: a kind is read before its place gets a class.
 */
#include "config.h"

#include "highlight.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "magics.h"
#include "pylex.h"
#include "python-words.h"
#include "xalloc.h"

#define BRACKETS 200 /* as deep as Python goes */

struct painter {
    const char *text;
    uint8_t *classes; /* of the present line behind `at`: kinds */
    size_t at, end;   /* of the present line */
    struct pylex lex;
    bool statement; /* at its first word */
    bool definition;
    char before; /* the last byte of code that is no blank */
    char brackets[BRACKETS];
    size_t depth;
};

static bool is_word(char c)
{
    return c == '_' || (unsigned char)c >= 0x80 || isalnum((unsigned char)c);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f' || c == '\r';
}

static char char_at(const struct painter *painter, size_t at)
{
    return at < painter->end ? painter->text[at] : '\0';
}

static void paint(struct painter *painter, size_t end, enum highlight_class class)
{
    memset(painter->classes + painter->at, class, end - painter->at);
    painter->at = end;
}

/* ---- numbers -------------------------------------------------------------------------------- */

/*
 * Digits of a base, with single underscores between. Where they end; at itself when there are none.
 */
static size_t digits(const struct painter *painter, size_t at, const char *allowed)
{
    size_t end = at;
    for (;;) {
        size_t next = end > at && char_at(painter, end) == '_' ? end + 1 : end;
        char c = char_at(painter, next);
        if (!c || !strchr(allowed, c))
            return end;
        end = next + 1;
    }
}

static const char decimal[] = "0123456789";

static size_t number_end(const struct painter *painter)
{
    size_t at = painter->at, end;
    if (char_at(painter, at) == '0') {
        int base = tolower((unsigned char)char_at(painter, at + 1));
        const char *allowed = base == 'x'   ? "0123456789abcdefABCDEF"
                              : base == 'o' ? "01234567"
                              : base == 'b' ? "01"
                                            : NULL;
        size_t begin = at + 2 + (allowed && char_at(painter, at + 2) == '_');
        if (allowed && (end = digits(painter, begin, allowed)) > begin)
            return end;
    }
    at = digits(painter, at, decimal);
    if (char_at(painter, at) == '.')
        at = digits(painter, at + 1, decimal);
    if (tolower((unsigned char)char_at(painter, at)) == 'e') {
        size_t sign = char_at(painter, at + 1) == '-' || char_at(painter, at + 1) == '+';
        end = digits(painter, at + 1 + sign, decimal);
        if (end > at + 1 + sign)
            at = end;
    }
    return tolower((unsigned char)char_at(painter, at)) == 'j' ? at + 1 : at;
}

/* ---- words ---------------------------------------------------------------------------------- */

static bool word_is(const char *word, size_t size, const char *wanted)
{
    return strlen(wanted) == size && memcmp(word, wanted, size) == 0;
}

static size_t skip_blanks(const struct painter *painter, size_t at)
{
    while (at < painter->end && is_blank(painter->text[at]))
        at++;
    return at;
}

static size_t word_end(const struct painter *painter, size_t at)
{
    while (at < painter->end && is_word(painter->text[at]))
        at++;
    return at;
}

/* The line's last byte of code is a colon. What is behind the present word still has its kind. */
static bool opens_suite(const struct painter *painter, size_t at)
{
    char last = '\0';
    for (; at < painter->end; at++) {
        if (painter->classes[at] != PYLEX_COMMENT && !is_blank(painter->text[at]))
            last = painter->text[at];
    }
    return last == ':';
}

/* match, case and type are keywords only where nothing else can be meant. */
static bool is_soft_keyword(const struct painter *painter, size_t end)
{
    static const char *const operators[] = {"in", "is", "and", "or", "not", "if", "else", "for"};
    const char *word = painter->text + painter->at;
    size_t size = end - painter->at, next = skip_blanks(painter, end);
    bool type = word_is(word, size, "type");
    if (!type && !word_is(word, size, "match") && !word_is(word, size, "case"))
        return false;
    char c = char_at(painter, next);
    if (!c || (next == end && c != '(' && c != '[' && c != '{'))
        return false;
    if (type) {
        size_t name = word_end(painter, next);
        c = char_at(painter, skip_blanks(painter, name));
        return name > next && !isdigit((unsigned char)char_at(painter, next)) &&
               (c == '=' || c == '[');
    }
    if (is_word(c) || c == '"' || c == '\'') {
        size_t length = word_end(painter, next) - next;
        for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
            if (word_is(painter->text + next, length, operators[i]))
                return i == 4 && opens_suite(painter, next);
        }
        return true;
    }
    return strchr("([{-*~.", c) && opens_suite(painter, next);
}

static enum highlight_class word_class(struct painter *painter, size_t end)
{
    const char *word = painter->text + painter->at;
    size_t size = end - painter->at;
    if (painter->definition) {
        painter->definition = false;
        return HIGHLIGHT_DEFINITION;
    }
    enum python_word kind = python_word_kind(word, size);
    if (kind == PYTHON_KEYWORD) {
        painter->definition = word_is(word, size, "def") || word_is(word, size, "class");
        return HIGHLIGHT_KEYWORD;
    }
    if (painter->statement && is_soft_keyword(painter, end))
        return HIGHLIGHT_KEYWORD;
    if (kind != PYTHON_BUILTIN || painter->before == '.')
        return HIGHLIGHT_PLAIN;
    /* f(file=x): the name of an argument. */
    size_t next = skip_blanks(painter, end);
    bool argument = painter->depth && char_at(painter, next) == '=' &&
                    char_at(painter, next + 1) != '=' &&
                    (painter->before == '(' || painter->before == ',');
    return argument ? HIGHLIGHT_PLAIN : HIGHLIGHT_BUILTIN;
}

/* ---- other code ----------------------------------------------------------------------------- */

static char partner(char bracket)
{
    switch (bracket) {
    case '(':
        return ')';
    case '[':
        return ']';
    default:
        return '}';
    }
}

static enum highlight_class bracket_class(struct painter *painter, char c)
{
    if (strchr("([{", c)) {
        if (painter->depth < BRACKETS)
            painter->brackets[painter->depth] = c;
        painter->depth++;
        return HIGHLIGHT_PLAIN;
    }
    if (!painter->depth)
        return HIGHLIGHT_ERROR;
    painter->depth--;
    bool known = painter->depth < BRACKETS;
    return known && partner(painter->brackets[painter->depth]) != c ? HIGHLIGHT_ERROR
                                                                    : HIGHLIGHT_PLAIN;
}

static enum highlight_class sign_class(struct painter *painter, char c, bool field)
{
    if (strchr("()[]{}", c))
        return field ? HIGHLIGHT_PLAIN : bracket_class(painter, c);
    if (c == '!')
        return field || char_at(painter, painter->at + 1) == '=' ? HIGHLIGHT_OPERATOR
                                                                 : HIGHLIGHT_ERROR;
    if (strchr("+-*/%@&|^~<>=:", c))
        return HIGHLIGHT_OPERATOR;
    return c == '$' || c == '?' || c == '`' ? HIGHLIGHT_ERROR : HIGHLIGHT_PLAIN;
}

static void paint_decorator(struct painter *painter)
{
    size_t end = skip_blanks(painter, painter->at + 1);
    while (end < painter->end && (is_word(painter->text[end]) || painter->text[end] == '.'))
        end++;
    paint(painter, end, HIGHLIGHT_DECORATOR);
}

static void paint_code(struct painter *painter)
{
    size_t at = painter->at;
    char c = painter->text[at];
    bool field = painter->classes[at] == PYLEX_FIELD;
    if (is_blank(c)) {
        paint(painter, skip_blanks(painter, at), HIGHLIGHT_PLAIN);
        return;
    }
    if (isdigit((unsigned char)c) ||
        (c == '.' && isdigit((unsigned char)char_at(painter, at + 1)))) {
        paint(painter, number_end(painter), HIGHLIGHT_NUMBER);
    } else if (is_word(c)) {
        size_t end = word_end(painter, at);
        paint(painter, end, word_class(painter, end));
    } else if (c == '@' && painter->statement) {
        paint_decorator(painter);
    } else {
        paint(painter, at + 1, sign_class(painter, c, field));
    }
    painter->before = painter->text[painter->at - 1];
    painter->statement = c == ';' && !painter->depth;
}

static void paint_run(struct painter *painter, enum pylex_kind kind, enum highlight_class class)
{
    size_t end = painter->at;
    while (end < painter->end && painter->classes[end] == kind)
        end++;
    paint(painter, end, class);
    painter->before = '"';
    painter->statement = false;
}

/* ---- lines ---------------------------------------------------------------------------------- */

/* Where on the line begins what is a command, not Python; SIZE_MAX: nowhere. */
static size_t command_start(const struct painter *painter)
{
    const char *line = painter->text + painter->at;
    size_t size = painter->end - painter->at, first = skip_blanks(painter, painter->at);
    if (first == painter->end)
        return SIZE_MAX;
    char c = painter->text[first];
    if (c == ':')
        return painter->before ? SIZE_MAX : first;
    if (c == '%' || c == '!' || c == '?' || painter->text[painter->end - 1] == '?')
        return magics_is_line(line, size) ? first : SIZE_MAX;
    const char *sign = memchr(line, '=', size);
    if (!sign)
        return SIZE_MAX;
    size_t value = skip_blanks(painter, (size_t)(sign - painter->text) + 1);
    c = char_at(painter, value);
    return (c == '%' || c == '!') && magics_is_line(line, size) ? value : SIZE_MAX;
}

static void paint_line(struct painter *painter)
{
    bool statement = pylex_at_statement(&painter->lex);
    size_t command = statement ? command_start(painter) : SIZE_MAX, begin = painter->at;
    if (statement) {
        painter->statement = true;
        painter->definition = false;
        painter->depth = 0;
    }
    if (command != SIZE_MAX) {
        paint(painter, command, HIGHLIGHT_PLAIN);
        paint(painter, painter->end, HIGHLIGHT_COMMAND);
        painter->before = ';';
        return;
    }
    pylex_line_kinds(&painter->lex, painter->text + begin, painter->end - begin,
                     painter->classes + begin);
    while (painter->at < painter->end) {
        switch ((enum pylex_kind)painter->classes[painter->at]) {
        case PYLEX_STRING:
            paint_run(painter, PYLEX_STRING, HIGHLIGHT_STRING);
            break;
        case PYLEX_COMMENT:
            paint_run(painter, PYLEX_COMMENT, HIGHLIGHT_COMMENT);
            break;
        default:
            paint_code(painter);
        }
    }
}

void highlight_python(const char *text, size_t size, uint8_t *classes)
{
    struct painter painter = {.text = text, .classes = classes};
    while (painter.at < size) {
        const char *newline = memchr(text + painter.at, '\n', size - painter.at);
        painter.end = newline ? (size_t)(newline - text) : size;
        paint_line(&painter);
        if (newline) {
            painter.end++;
            paint(&painter, painter.end, HIGHLIGHT_PLAIN);
        }
    }
}

/* ---- brackets ------------------------------------------------------------------------------- */

static bool is_bracket(const char *text, size_t size, size_t at)
{
    return at < size && text[at] && strchr("()[]{}", text[at]);
}

struct pairs {
    size_t open[BRACKETS];
    size_t depth;
    size_t wanted[2]; /* the one at the place is preferred to the one before it */
    size_t found[2][2];
    bool has[2];
};

static void pair(struct pairs *pairs, const char *text, size_t at)
{
    if (strchr("([{", text[at])) {
        if (pairs->depth < BRACKETS)
            pairs->open[pairs->depth] = at;
        pairs->depth++;
        return;
    }
    if (!pairs->depth || pairs->depth-- > BRACKETS)
        return;
    size_t open = pairs->open[pairs->depth];
    if (partner(text[open]) != text[at])
        return;
    for (size_t i = 0; i < 2; i++) {
        if (pairs->wanted[i] == open || pairs->wanted[i] == at) {
            pairs->has[i] = true;
            pairs->found[i][0] = open;
            pairs->found[i][1] = at;
        }
    }
}

bool highlight_brackets(const char *text, size_t size, size_t point, size_t *ret_open,
                        size_t *ret_close)
{
    bool here = is_bracket(text, size, point), before = point && is_bracket(text, size, point - 1);
    if (!here && !before)
        return false;
    struct pairs pairs = {.wanted = {here ? point : SIZE_MAX, before ? point - 1 : SIZE_MAX}};
    struct pylex lex = {.count = 0};
    uint8_t *kinds = NULL;
    size_t capacity = 0;
    for (size_t at = 0, length; (length = pylex_line_length(text + at, size - at)); at += length) {
        if (length > capacity)
            kinds = xrealloc(kinds, capacity = length * 2);
        pylex_line_kinds(&lex, text + at, length, kinds);
        for (size_t i = 0; i < length; i++) {
            if (kinds[i] <= PYLEX_FIELD && is_bracket(text, size, at + i))
                pair(&pairs, text, at + i);
        }
    }
    free(kinds);
    size_t chosen = pairs.has[0] ? 0 : 1;
    if (!pairs.has[chosen])
        return false;
    *ret_open = pairs.found[chosen][0];
    *ret_close = pairs.found[chosen][1];
    return true;
}
