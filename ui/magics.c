/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "magics.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "magics-table.h"
#include "params.h"
#include "pylex.h"
#include "xalloc.h"

struct translation {
    struct strbuf out;
    struct pylex lex;
    const char *cell_name;
    bool changed;
};

static struct magic_text trim(struct magic_text text)
{
    while (text.size && isspace((unsigned char)text.text[0])) {
        text.text++;
        text.size--;
    }
    while (text.size && isspace((unsigned char)text.text[text.size - 1]))
        text.size--;
    return text;
}

static size_t word_length(struct magic_text text)
{
    size_t at = 0;
    while (at < text.size && !isspace((unsigned char)text.text[at]))
        at++;
    return at;
}

static struct magic_text after(struct magic_text text, size_t length)
{
    return trim((struct magic_text){text.text + length, text.size - length});
}

static void refuse(struct strbuf *out, const char *cell_name, const char *sign,
                   struct magic_text name)
{
    struct strbuf message = STRBUF_INIT;
    strbuf_addf(
        &message,
        "%s: the magic %s%.*s is not supported here (it needs IPython); remove it or guard it",
        cell_name, sign, (int)(name.size < 60 ? name.size : 60), name.text);
    strbuf_adds(out, "raise NotImplementedError(");
    params_add_literal(out, message.data, message.size);
    strbuf_addc(out, ')');
    strbuf_free(&message);
}

/* "%name rest" without the sign. */
static void line_magic(struct translation *t, struct magic_text text)
{
    struct magic_text name = {text.text, word_length(text)};
    const struct magic *magic = magic_find(name.text, name.size);
    if (magic && magic->line)
        magic->line(&t->out, magic, after(text, name.size));
    else
        refuse(&t->out, t->cell_name, "%", name);
}

/* "!command" without the sign; "!!command" gives its output's lines. */
static void shell(struct translation *t, struct magic_text text)
{
    if (text.size && text.text[0] == '!') {
        strbuf_adds(&t->out, "__import__('subprocess').getoutput(");
        magic_add_command(&t->out, after(text, 1));
        strbuf_adds(&t->out, ").splitlines()");
    } else {
        const struct magic *magic = magic_find("!", 1);
        magic->line(&t->out, magic, trim(text));
    }
}

/* "target = !command" or "target = %magic": where the sign is, or 0. */
static size_t assigned_sign(struct magic_text line)
{
    size_t at = 0;
    char quote = '\0';
    for (; at < line.size; at++) {
        char c = line.text[at];
        if (!isalnum((unsigned char)c) && (!c || !strchr("_.,[]'\" ", c)))
            break;
        if (c == quote)
            quote = '\0';
        else if (!quote && (c == '"' || c == '\''))
            quote = c;
    }
    if (!at || quote || at >= line.size || line.text[at] != '=')
        return 0;
    at++;
    while (at < line.size && line.text[at] == ' ')
        at++;
    bool sign =
        at + 1 < line.size && ((line.text[at] == '!' && line.text[at + 1] != '=') ||
                               (line.text[at] == '%' && isalpha((unsigned char)line.text[at + 1])));
    return sign ? at : 0;
}

static void assignment(struct translation *t, struct magic_text line, size_t sign)
{
    struct magic_text rest = after(line, sign + 1);
    strbuf_add(&t->out, line.text, sign);
    if (line.text[sign] == '!') {
        strbuf_adds(&t->out, "__import__('subprocess').getoutput(");
        magic_add_command(&t->out, rest);
        strbuf_adds(&t->out, ").splitlines()");
        return;
    }
    size_t length = word_length(rest);
    struct magic_text name = {rest.text, length}, words = after(rest, length);
    bool value =
        (length == 3 && (memcmp(name.text, "pwd", 3) == 0 || memcmp(name.text, "env", 3) == 0)) ||
        (length == 4 && memcmp(name.text, "time", 4) == 0);
    const struct magic *magic = value ? magic_find(name.text, length) : NULL;
    if (magic) {
        magic->line(&t->out, magic, words);
    } else {
        strbuf_adds(&t->out, "None; ");
        refuse(&t->out, t->cell_name, "%", name);
    }
}

/* name? and ?name ask for help, which a batch has no use for. */
static bool is_help(struct magic_text line)
{
    if (!line.size || (line.text[0] != '?' && line.text[line.size - 1] != '?'))
        return false;
    for (size_t i = 0; i < line.size; i++) {
        if (!isalnum((unsigned char)line.text[i]) &&
            (!line.text[i] || !strchr("_.?%*", line.text[i])))
            return false;
    }
    return line.size > 1;
}

static size_t indent_of(struct magic_text line)
{
    size_t indent = 0;
    while (indent < line.size && (line.text[indent] == ' ' || line.text[indent] == '\t'))
        indent++;
    return indent;
}

static bool is_magic(struct magic_text code)
{
    return code.size > 1 && code.text[0] == '%' &&
           (isalpha((unsigned char)code.text[1]) || code.text[1] == '%');
}

bool magics_is_line(const char *line, size_t size)
{
    struct magic_text text = {line, size}, code = after(text, indent_of(text));
    return is_magic(code) || (code.size && code.text[0] == '!') || assigned_sign(code) ||
           is_help(code);
}

/* What was typed goes along: the runner shows it in tracebacks, hermes-kernel-protocol(7). */
static void add_original(struct strbuf *out, struct magic_text line)
{
    if (!memchr(line.text, '\n', line.size))
        strbuf_addf(out, "\t#magic\t%.*s", (int)line.size, line.text);
}

/* One logical line without its end, which begins a statement. False: it is plain Python. */
static bool translate_line(struct translation *t, struct magic_text line)
{
    if (!magics_is_line(line.text, line.size))
        return false;
    size_t indent = indent_of(line);
    struct magic_text code = {line.text + indent, line.size - indent};
    size_t sign = assigned_sign(code);
    strbuf_add(&t->out, line.text, indent);
    size_t before = t->out.size;
    if (sign)
        assignment(t, trim(code), sign);
    else if (is_magic(code))
        line_magic(t, trim((struct magic_text){code.text + 1, code.size - 1}));
    else if (code.text[0] == '!')
        shell(t, (struct magic_text){code.text + 1, code.size - 1});
    else
        strbuf_adds(&t->out, "pass");
    if (t->out.size > before + strlen("pass"))
        add_original(&t->out, line);
    t->changed = true;
    return true;
}

/*
 * Join the lines of a magic that ends in a backslash; *ret_lines is how many there are behind the
 * first.
 */
static size_t take_continued(const char *text, size_t size, struct strbuf *joined,
                             size_t *ret_lines)
{
    size_t at = 0;
    *ret_lines = 0;
    for (;;) {
        size_t length = pylex_line_length(text + at, size - at),
               trimmed = pylex_trimmed(text + at, length);
        bool more = trimmed && text[at + trimmed - 1] == '\\' && at + length < size;
        strbuf_add(joined, text + at, more ? trimmed - 1 : trimmed);
        at += length;
        if (!more)
            return at;
        ++*ret_lines;
    }
}

static void translate_lines(struct translation *t, const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t length = pylex_line_length(text + at, size - at), more = 0;
        struct strbuf joined = STRBUF_INIT;
        if (pylex_at_statement(&t->lex)) {
            size_t whole = take_continued(text + at, size - at, &joined, &more);
            if (translate_line(t, (struct magic_text){strbuf_text(&joined), joined.size})) {
                for (size_t i = 0; i < more + 1; i++)
                    strbuf_addc(&t->out, '\n');
                at += whole;
                strbuf_free(&joined);
                continue;
            }
        }
        strbuf_free(&joined);
        strbuf_add(&t->out, text + at, length);
        pylex_line(&t->lex, text + at, length);
        at += length;
    }
}

/* Where "%%name" stands: at the start of the cell, blank lines and comments may precede it. */
static bool find_cell_magic(const char *text, size_t size, size_t *ret_at)
{
    for (size_t at = 0; at < size;) {
        size_t length = pylex_line_length(text + at, size - at);
        struct magic_text line = trim((struct magic_text){text + at, length});
        if (line.size > 2 && line.text[0] == '%' && line.text[1] == '%' &&
            isalpha((unsigned char)line.text[2])) {
            *ret_at = at;
            return true;
        }
        if (line.size && line.text[0] != '#')
            return false;
        at += length;
    }
    return false;
}

static void cell_magic(struct translation *t, const char *text, size_t size,
                       struct magics_result *result)
{
    size_t length = pylex_line_length(text, size);
    struct magic_text line = trim((struct magic_text){text, length}),
                      body = {text + length, size - length};
    struct magic_text words = {line.text + 2, line.size - 2};
    struct magic_text name = {words.text, word_length(words)}, rest = after(words, name.size);
    const struct magic *magic = magic_find(name.text, name.size);
    t->changed = true;
    if (name.size == 4 && memcmp(name.text, "time", 4) == 0) {
        result->wall_time = true;
        strbuf_add(&t->out, rest.text, rest.size);
        strbuf_addc(&t->out, '\n');
        translate_lines(t, body.text, body.size);
    } else if (magic && magic->cell) {
        bool python = strcmp(magic->name, "capture") == 0 || strcmp(magic->name, "timeit") == 0;
        struct magics_result inner = {NULL, 0, false};
        if (python)
            inner = magics_translate(body.text, body.size, t->cell_name);
        if (inner.source)
            body = (struct magic_text){inner.source, inner.size};
        magic->cell(&t->out, magic, rest, body);
        add_original(&t->out, line);
        strbuf_addc(&t->out, '\n');
        free(inner.source);
    } else {
        refuse(&t->out, t->cell_name, "%%", name);
        strbuf_addc(&t->out, '\n');
    }
}

struct magics_result magics_translate(const char *source, size_t size, const char *cell_name)
{
    struct translation t = {.cell_name = cell_name};
    struct magics_result result = {NULL, 0, false};
    size_t at;
    if (!memchr(source, '%', size) && !memchr(source, '!', size) && !memchr(source, '?', size))
        return result;
    if (find_cell_magic(source, size, &at)) {
        strbuf_add(&t.out, source, at);
        cell_magic(&t, source + at, size - at, &result);
    } else {
        translate_lines(&t, source, size);
    }
    if (t.changed) {
        result.size = t.out.size;
        result.source = strbuf_steal(&t.out);
    }
    strbuf_free(&t.out);
    return result;
}
