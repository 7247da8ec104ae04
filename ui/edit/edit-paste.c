/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pasted text as it was meant: without the prompts and the outputs of the session it comes from,
 * and indented as the place where it goes.
 */
#include "config.h"

#include "edit-internal.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "python-block.h"

struct line {
    const char *text;
    size_t size; /* without the \n */
};

static bool next_line(const char *text, size_t size, size_t *at, struct line *line)
{
    if (*at >= size)
        return false;
    const char *newline = memchr(text + *at, '\n', size - *at);
    size_t end = newline ? (size_t)(newline - text) : size;
    *line = (struct line){text + *at, end - *at};
    *at = end + 1;
    return true;
}

static size_t blanks(struct line line)
{
    size_t count = 0;
    while (count < line.size && (line.text[count] == ' ' || line.text[count] == '\t'))
        count++;
    return count;
}

/* ---- prompts -------------------------------------------------------------------------------- */

/* Length of a prompt of Python's ("... " when it continues) at the line's beginning; 0: none. */
static size_t python_prompt(struct line line, char sign)
{
    size_t at = blanks(line);
    if (line.size < at + 3 || line.text[at] != sign || line.text[at + 1] != sign ||
        line.text[at + 2] != sign)
        return 0;
    at += 3;
    if (at == line.size)
        return at;
    return line.text[at] == ' ' ? at + 1 : 0;
}

/* "In [12]: " */
static size_t ipython_prompt(struct line line)
{
    size_t at = blanks(line);
    if (line.size < at + 6 || memcmp(line.text + at, "In [", 4) != 0)
        return 0;
    at += 4;
    size_t digits = at;
    while (at < line.size && isdigit((unsigned char)line.text[at]))
        at++;
    if (at == digits || at + 2 > line.size || memcmp(line.text + at, "]:", 2) != 0)
        return 0;
    at += 2;
    return at < line.size && line.text[at] == ' ' ? at + 1 : at;
}

/* "   ...: " */
static size_t ipython_continuation(struct line line)
{
    size_t at = blanks(line), dots = at;
    while (at < line.size && line.text[at] == '.')
        at++;
    if (at < dots + 3 || at == line.size || line.text[at] != ':')
        return 0;
    at++;
    return at < line.size && line.text[at] == ' ' ? at + 1 : at;
}

/* The prompt and the continuation of a session; sizes in bytes, 0: the line has none. */
static size_t prompt_of(struct line line, bool ipython)
{
    size_t size = ipython ? ipython_prompt(line) : python_prompt(line, '>');
    if (!size)
        size = ipython ? ipython_continuation(line) : python_prompt(line, '.');
    return size;
}

enum origin { PLAIN, PYTHON, IPYTHON };

/* Only by its first line: a docstring may hold a session, too. */
static enum origin origin_of(const char *text, size_t size)
{
    struct line line;
    for (size_t at = 0; next_line(text, size, &at, &line);) {
        if (blanks(line) == line.size)
            continue;
        if (python_prompt(line, '>'))
            return PYTHON;
        return ipython_prompt(line) ? IPYTHON : PLAIN;
    }
    return PLAIN;
}

static void strip_prompts(const char *text, size_t size, bool ipython, struct strbuf *out)
{
    struct line line;
    for (size_t at = 0; next_line(text, size, &at, &line);) {
        size_t prompt = prompt_of(line, ipython);
        if (!prompt)
            continue;
        strbuf_add(out, line.text + prompt, line.size - prompt);
        strbuf_addc(out, '\n');
    }
}

/* ---- indentation ---------------------------------------------------------------------------- */

/* The blanks that all lines begin with which hold more than blanks. */
static size_t common_indent(const char *text, size_t size)
{
    struct line line, first = {NULL, 0};
    size_t common = SIZE_MAX;
    for (size_t at = 0; next_line(text, size, &at, &line);) {
        size_t blank = blanks(line), same = 0;
        if (blank == line.size)
            continue;
        if (!first.text)
            first = line;
        if (blank > common)
            blank = common;
        while (same < blank && line.text[same] == first.text[same])
            same++;
        common = same;
    }
    return common == SIZE_MAX ? 0 : common;
}

static void indent_lines(const char *text, size_t size, const char *blank, size_t blank_size,
                         struct strbuf *out)
{
    size_t common = common_indent(text, size);
    struct line line;
    bool first = true;
    for (size_t at = 0; next_line(text, size, &at, &line); first = false) {
        bool empty = blanks(line) == line.size;
        if (!first)
            strbuf_addc(out, '\n');
        if (!first && !empty)
            strbuf_add(out, blank, blank_size);
        if (!empty)
            strbuf_add(out, line.text + common, line.size - common);
    }
}

/*
 * The end of the last line is not wanted, but where a suite ends with it Enter then runs the block.
 */
static size_t without_last_newlines(const char *text, size_t size)
{
    size_t end = size;
    while (end && (text[end - 1] == '\n' || text[end - 1] == ' ' || text[end - 1] == '\t'))
        end--;
    bool multi_line = end && memchr(text, '\n', end);
    const char *newline = end < size ? memchr(text + end, '\n', size - end) : NULL;
    return multi_line && newline ? (size_t)(newline - text) + 1 : end;
}

static void clean(const char *text, size_t size, size_t start, struct strbuf *out)
{
    struct strbuf bare = STRBUF_INIT;
    enum origin origin = origin_of(text, size);
    if (origin != PLAIN) {
        strip_prompts(text, size, origin == IPYTHON, &bare);
        bool ended = text[size - 1] == '\n';
        text = strbuf_text(&bare);
        size = bare.size - (bare.size && !ended);
    }
    size_t kept = without_last_newlines(text, size);
    indent_lines(text, kept, rl_line_buffer + start, (size_t)rl_point - start, out);
    if (kept && text[kept - 1] == '\n')
        strbuf_addc(out, '\n');
    strbuf_free(&bare);
}

void edit_paste(struct edit *edit, const char *text, size_t size)
{
    edit->serial++;
    edit_close_popup(edit);
    if (edit->search.active) {
        const char *newline = memchr(text, '\n', size);
        edit_search_add(edit, text, newline ? (size_t)(newline - text) : size);
        return;
    }
    edit_settle(edit);
    struct strbuf cleaned = STRBUF_INIT;
    size_t start = edit_line_start((size_t)rl_point);
    if (edit_is_blank(start, (size_t)rl_point) &&
        !python_block_in_string(rl_line_buffer, (size_t)rl_point)) {
        clean(text, size, start, &cleaned);
        text = strbuf_text(&cleaned);
        size = cleaned.size;
    }
    edit_change((size_t)rl_point, (size_t)rl_point, text, size);
    strbuf_free(&cleaned);
}
