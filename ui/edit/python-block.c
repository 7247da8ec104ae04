/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "python-block.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "magics.h"
#include "pylex.h"
#include "xalloc.h"

enum {
    SUITES = 100,   /* as deep as Python goes */
    BRACKETS = 200, /* the same */
    TAB = 8,
};

struct suite {
    size_t start;  /* of the statement that opened it */
    size_t indent; /* of that statement, in columns */
    bool attempt;  /* try: needs except or finally */
};

struct scan {
    const char *text;
    size_t size;
    struct pylex lex;
    uint8_t *kinds;
    size_t kinds_capacity;

    struct suite suites[SUITES];
    size_t suite_count;
    char brackets[BRACKETS];
    size_t opened[BRACKETS]; /* where */
    size_t depth, depth_before;
    bool broken; /* a bracket closes what is not open */

    size_t line;      /* the last line that was taken */
    bool line_inside; /* it began within a string */
    size_t statement; /* the last one */
    size_t indent;
    bool any;    /* there is a statement */
    char last;   /* its last byte of code that is no blank */
    bool simple; /* a magic or shell command: not to be looked into */
};

/* ---- words and lines ------------------------------------------------------------------------ */

static size_t line_length(const struct scan *scan, size_t at)
{
    const char *newline = memchr(scan->text + at, '\n', scan->size - at);
    return newline ? (size_t)(newline - scan->text) + 1 - at : scan->size - at;
}

static size_t blanks(const char *text, size_t size)
{
    size_t count = 0;
    while (count < size && (text[count] == ' ' || text[count] == '\t' || text[count] == '\f'))
        count++;
    return count;
}

static size_t columns_of(const char *blank, size_t size)
{
    size_t columns = 0;
    for (size_t i = 0; i < size; i++)
        columns = blank[i] == '\t' ? (columns / TAB + 1) * TAB : columns + 1;
    return columns;
}

static bool starts_with_word(const char *text, size_t size, const char *word)
{
    size_t length = strlen(word);
    return size >= length && memcmp(text, word, length) == 0 &&
           (size == length || (!isalnum((unsigned char)text[length]) && text[length] != '_' &&
                               (unsigned char)text[length] < 0x80));
}

static bool statement_is(const struct scan *scan, const char *const *words)
{
    size_t at =
        scan->statement + blanks(scan->text + scan->statement, scan->size - scan->statement);
    for (; *words; words++) {
        if (starts_with_word(scan->text + at, scan->size - at, *words))
            return true;
    }
    return false;
}

/* ---- the scan ------------------------------------------------------------------------------- */

static void begin_statement(struct scan *scan, size_t at, size_t blank)
{
    scan->any = true;
    scan->statement = at;
    scan->indent = columns_of(scan->text + at, blank);
    scan->last = '\0';
    scan->simple = false;
    scan->depth = 0;
    while (scan->suite_count && scan->suites[scan->suite_count - 1].indent >= scan->indent)
        scan->suite_count--;
}

static void take_bracket(struct scan *scan, size_t at)
{
    static const char open[] = "([{", close[] = ")]}";
    char c = scan->text[at];
    if (strchr(open, c)) {
        if (scan->depth < BRACKETS) {
            scan->brackets[scan->depth] = close[strchr(open, c) - open];
            scan->opened[scan->depth++] = at;
        } else {
            scan->broken = true;
        }
    } else if (!scan->depth || scan->brackets[--scan->depth] != c) {
        scan->broken = true;
    }
}

static void take_code(struct scan *scan, size_t at, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = scan->text[at + i];
        if (scan->kinds[i] == PYLEX_COMMENT || isspace((unsigned char)c) || !c)
            continue;
        scan->last = c;
        if (scan->kinds[i] == PYLEX_CODE && strchr("()[]{}", c))
            take_bracket(scan, at + i);
        else if (scan->kinds[i] != PYLEX_CODE)
            scan->last = '"';
    }
}

/* A suite is open behind its colon; "try: x" on one line has none, but waits for its except. */
static void end_statement(struct scan *scan)
{
    static const char *const attempt[] = {"try", NULL};
    bool opens = scan->last == ':', waits = statement_is(scan, attempt);
    if ((opens || waits) && !scan->simple && scan->suite_count < SUITES)
        scan->suites[scan->suite_count++] =
            (struct suite){.start = scan->statement, .indent = scan->indent, .attempt = waits};
}

static void take_line(struct scan *scan, size_t at, size_t length)
{
    size_t blank = blanks(scan->text + at, length),
           trimmed = pylex_trimmed(scan->text + at, length);
    bool begins = pylex_at_statement(&scan->lex);
    bool empty = blank >= trimmed || scan->text[at + blank] == '#';
    scan->line = at;
    scan->line_inside = pylex_in_string(&scan->lex);
    scan->depth_before = scan->depth;
    if (begins && empty)
        return;
    if (begins) {
        begin_statement(scan, at, blank);
        scan->depth_before = 0;
        scan->simple = magics_is_line(scan->text + at, trimmed);
        if (scan->simple)
            return;
    }
    if (length > scan->kinds_capacity)
        scan->kinds = xrealloc(scan->kinds, scan->kinds_capacity = length * 2);
    pylex_line_kinds(&scan->lex, scan->text + at, length, scan->kinds);
    take_code(scan, at, length);
    if (pylex_at_statement(&scan->lex))
        end_statement(scan);
}

/* To be freed by scan_end(). */
static void scan_text(struct scan *scan, const char *text, size_t size)
{
    memset(scan, 0, sizeof *scan);
    scan->text = text;
    scan->size = size;
    size_t at = 0;
    for (size_t length; at < size; at += length) {
        length = line_length(scan, at);
        take_line(scan, at, length);
    }
    if (size && text[size - 1] == '\n') { /* an empty line has begun */
        scan->line = size;
        scan->line_inside = pylex_in_string(&scan->lex);
        scan->depth_before = scan->depth;
    }
}

static void scan_end(struct scan *scan)
{
    free(scan->kinds);
}

static bool last_line_is_blank(const struct scan *scan)
{
    return scan->line &&
           blanks(scan->text + scan->line, scan->size - scan->line) == scan->size - scan->line;
}

/* ---- complete? ------------------------------------------------------------------------------ */

static bool suites_are_complete(const struct scan *scan)
{
    if (!scan->any || scan->simple)
        return true;
    size_t first =
        scan->statement + blanks(scan->text + scan->statement, scan->size - scan->statement);
    if (scan->last == ':' || scan->text[first] == '@')
        return false;
    for (size_t i = 0; i < scan->suite_count; i++) {
        if (scan->suites[i].attempt)
            return false;
    }
    return !scan->suite_count || last_line_is_blank(scan);
}

bool python_block_is_complete(const char *text, size_t size)
{
    size_t first = 0;
    while (first < size && isspace((unsigned char)text[first]))
        first++;
    if (first == size || text[first] == ':')
        return true;
    struct scan scan;
    scan_text(&scan, text, size);
    bool open = pylex_in_string(&scan.lex) || scan.lex.continued || scan.depth;
    bool complete = scan.broken;
    if (size - first > 2 && memcmp(text + first, "%%", 2) == 0)
        complete = last_line_is_blank(&scan);
    else if (!complete && !open)
        complete = suites_are_complete(&scan);
    scan_end(&scan);
    return complete;
}

bool python_block_in_string(const char *text, size_t size)
{
    struct pylex lex = {.count = 0};
    for (size_t at = 0, length; (length = pylex_line_length(text + at, size - at)); at += length)
        pylex_line(&lex, text + at, length);
    return pylex_in_string(&lex);
}

/* ---- indentation ---------------------------------------------------------------------------- */

static void copy_blanks(const struct scan *scan, size_t line, struct strbuf *out)
{
    strbuf_add(out, scan->text + line, blanks(scan->text + line, line_length(scan, line)));
}

static void add_spaces(struct strbuf *out, size_t count)
{
    while (count--)
        strbuf_addc(out, ' ');
}

/* Within brackets: below the first thing in them, or one step in when they end the line. */
static void indent_bracket(const struct scan *scan, struct strbuf *out)
{
    copy_blanks(scan, scan->line, out);
    if (scan->depth <= scan->depth_before)
        return;
    size_t open = scan->opened[scan->depth - 1];
    if (open < scan->line)
        return;
    size_t behind = open + 1 + blanks(scan->text + open + 1, scan->size - open - 1);
    if (behind == scan->size || scan->text[behind] == '#') {
        add_spaces(out, PYTHON_INDENT);
        return;
    }
    for (size_t i = scan->line + out->size; i <= open; i++) {
        if (((unsigned char)scan->text[i] & 0xC0) != 0x80)
            strbuf_addc(out, ' ');
    }
}

static void indent_statement(const struct scan *scan, struct strbuf *out)
{
    static const char *const leaving[] = {"return", "pass", "break", "continue", "raise", NULL};
    if (scan->statement < scan->line && pylex_at_statement(&scan->lex) &&
        blanks(scan->text + scan->line, scan->size - scan->line) == scan->size - scan->line) {
        copy_blanks(scan, scan->line, out); /* behind a blank line: as that one */
        return;
    }
    if (scan->last != ':' && statement_is(scan, leaving)) {
        if (scan->suite_count)
            copy_blanks(scan, scan->suites[scan->suite_count - 1].start, out);
        return;
    }
    copy_blanks(scan, scan->statement, out);
    if (scan->last == ':')
        add_spaces(out, PYTHON_INDENT);
}

void python_block_indentation(const char *text, size_t size, struct strbuf *out)
{
    struct scan scan;
    scan_text(&scan, text, size);
    if (pylex_in_string(&scan.lex)) {
        if (scan.line_inside)
            copy_blanks(&scan, scan.line, out);
    } else if (scan.broken || scan.simple || !scan.any) {
        copy_blanks(&scan, scan.line, out);
    } else if (scan.depth) {
        indent_bracket(&scan, out);
    } else if (scan.lex.continued) {
        copy_blanks(&scan, scan.line, out);
        if (scan.line == scan.statement)
            add_spaces(out, PYTHON_INDENT);
    } else {
        indent_statement(&scan, out);
    }
    scan_end(&scan);
}
