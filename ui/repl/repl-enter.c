/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a block that was entered is: a command, a magic, a question, or Python for a cell.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "magics-table.h"
#include "magics.h"
#include "nearest.h"
#include "pylex.h"
#include "repl-document.h"
#include "repl-internal.h"
#include "repl-lines.h"

struct text {
    const char *start;
    size_t size;
};

static struct text trimmed(struct text text)
{
    while (text.size && isspace((unsigned char)text.start[0])) {
        text.start++;
        text.size--;
    }
    while (text.size && isspace((unsigned char)text.start[text.size - 1]))
        text.size--;
    return text;
}

static bool is_one_line(struct text text)
{
    return !memchr(text.start, '\n', text.size);
}

/* ---- name? ---------------------------------------------------------------------------------- */

/* "name?", "name??", "?name": the name and how many signs. */
static bool is_question(struct text text, struct text *ret_name, size_t *ret_signs)
{
    size_t signs = 0;
    if (!is_one_line(text))
        return false;
    while (text.size && text.start[0] == '?') {
        text.start++;
        text.size--;
        signs++;
    }
    while (text.size && text.start[text.size - 1] == '?') {
        text.size--;
        signs++;
    }
    text = trimmed(text);
    if (!signs || !text.size)
        return false;
    for (size_t i = 0; i < text.size; i++) {
        unsigned char c = (unsigned char)text.start[i];
        if (!isalnum(c) && !(c & 0x80) && !strchr("_.[]'\"", c))
            return false;
    }
    *ret_name = text;
    *ret_signs = signs;
    return true;
}

/* What people type to leave a prompt of Python. */
static bool is_leaving(struct text line)
{
    static const char *const words[] = {"exit", "quit", "exit()", "quit()"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strlen(words[i]) == line.size && memcmp(words[i], line.start, line.size) == 0)
            return true;
    }
    return false;
}

/* ---- %magics that are commands here --------------------------------------------------------- */

static const char *const translated[][2] = {
    {"reset", "reset"},     {"who", "vars"},      {"whos", "vars"},    {"who_ls", "vars"},
    {"history", "history"}, {"hist", "history"},  {"load", "load"},    {"loadpy", "load"},
    {"run", "run"},         {"edit", "edit"},     {"ed", "edit"},      {"debug", "debug"},
    {"pdb", "pdb"},         {"pinfo", "inspect"}, {"pdoc", "inspect"}, {"save", "save"},
    {"notebook", "save"},   {"clear", "clear"},   {"cls", "clear"},    {"quickref", "help"},
    {"magic", "help"},      {"lsmagic", "help"},  {"rerun", "rerun"},  {"recall", "reuse"},
    {"rep", "reuse"},       {"pycat", "load"},    {"page", "page"},
};

static const char *command_of(struct text name)
{
    for (size_t i = 0; i < sizeof translated / sizeof translated[0]; i++) {
        if (strlen(translated[i][0]) == name.size &&
            memcmp(translated[i][0], name.start, name.size) == 0)
            return translated[i][1];
    }
    return NULL;
}

static struct text magic_name(struct text line)
{
    size_t size = 1;
    while (size < line.size && !isspace((unsigned char)line.start[size]))
        size++;
    return (struct text){line.start + 1, size - 1};
}

static void refuse_magic(struct text name, struct strbuf *error)
{
    static const char *const usual[] = {"time",       "timeit", "cd", "pwd", "env",
                                        "matplotlib", "pip",    "ls", "sx"};
    char *word = xmemdup0(name.start, name.size < 40 ? name.size : 40);
    struct nearest nearest = {word, NULL, 0};
    for (size_t i = 0; i < sizeof translated / sizeof translated[0]; i++)
        nearest_offer(&nearest, translated[i][0]);
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        nearest_offer(&nearest, usual[i]);
    if (strcmp(word, "paste") == 0 || strcmp(word, "cpaste") == 0)
        strbuf_setf(error, "%%%s is not needed: paste into the prompt, it runs nothing by itself",
                    word);
    else if (nearest.best)
        strbuf_setf(error, "%%%s is not known here; did you mean %%%s?", word, nearest.best);
    else
        strbuf_setf(error, "%%%s needs IPython; :help lists what there is here", word);
    free(word);
}

/* A magic on a line of its own. False with an empty error: it is for magics_translate(). */
static bool run_magic(struct repl *repl, struct repl_session *session, struct text line,
                      struct strbuf *error)
{
    struct text name = magic_name(line);
    const char *command = command_of(name);
    if (!command) {
        if (!magic_find(name.start, name.size))
            refuse_magic(name, error);
        return false;
    }
    struct text rest = trimmed((struct text){name.start + name.size, line.size - name.size - 1});
    char *typed = xasprintf("%s %.*s", command, (int)rest.size, rest.start);
    bool good = repl_command(repl, session, typed, error);
    free(typed);
    return good;
}

/* ---- Python --------------------------------------------------------------------------------- */

/* The white space that begins every line that is code. */
static struct text common_indent(struct text text)
{
    struct pylex lex = {.count = 0};
    struct text common = {NULL, 0};
    for (size_t at = 0; at < text.size;) {
        const char *line = text.start + at;
        size_t length = pylex_line_length(line, text.size - at), indent = 0;
        while (indent < length && (line[indent] == ' ' || line[indent] == '\t'))
            indent++;
        bool blank = indent >= pylex_trimmed(line, length);
        if (!blank && pylex_at_statement(&lex)) {
            size_t same = 0;
            while (common.start && same < indent && same < common.size &&
                   line[same] == common.start[same])
                same++;
            common = common.start ? (struct text){common.start, same} : (struct text){line, indent};
        }
        pylex_line(&lex, line, length);
        at += length;
    }
    return common;
}

bool repl_dedent(const char *source, size_t size, struct strbuf *out)
{
    struct text text = {source, size}, common = common_indent(text);
    struct pylex lex = {.count = 0};
    if (!common.size)
        return false;
    for (size_t at = 0; at < size;) {
        const char *line = source + at;
        size_t length = pylex_line_length(line, size - at), skip = 0;
        if (!pylex_in_string(&lex)) {
            while (skip < common.size && skip < length && line[skip] == common.start[skip])
                skip++;
        }
        strbuf_add(out, line + skip, length - skip);
        pylex_line(&lex, line, length);
        at += length;
    }
    return true;
}

static bool run_python(struct repl *repl, struct repl_session *session, struct text text,
                       struct strbuf *error)
{
    struct strbuf dedented = STRBUF_INIT;
    struct repl_submission what = {.source = text.start, .source_size = text.size};
    if (repl_dedent(text.start, text.size, &dedented)) {
        what.code = strbuf_text(&dedented);
        what.code_size = dedented.size;
    }
    char *name = xasprintf("cell %u", session->next_number);
    struct magics_result magics = magics_translate(what.code ? what.code : text.start,
                                                   what.code ? what.code_size : text.size, name);
    if (magics.source) {
        what.code = magics.source;
        what.code_size = magics.size;
        what.wall_time = magics.wall_time;
    }
    bool good = repl_submit(repl, session, &what, error);
    free(magics.source);
    free(name);
    strbuf_free(&dedented);
    return good;
}

/* Blank lines around it are no part of a block. */
static struct text without_blank_lines(struct text text)
{
    for (size_t length; text.size; text.start += length, text.size -= length) {
        length = pylex_line_length(text.start, text.size);
        if (trimmed((struct text){text.start, length}).size)
            break;
    }
    while (text.size && isspace((unsigned char)text.start[text.size - 1]))
        text.size--;
    return text;
}

bool repl_enter(struct repl *repl, struct repl_session *session, const char *source, size_t size,
                struct strbuf *error)
{
    struct text text = without_blank_lines((struct text){source, size}), line = trimmed(text), name;
    size_t signs;
    if (repl_document_editing(session))
        return repl_document_enter_edited(repl, session, source, size, error);
    if (!line.size)
        return true;
    if (line.start[0] == ':') {
        char *typed = xmemdup0(line.start, line.size);
        bool good = is_one_line(line) && repl_command(repl, session, typed, error);
        if (!is_one_line(line))
            strbuf_setf(error, "a command is one line");
        free(typed);
        return good;
    }
    if (is_leaving(line))
        return repl_command(repl, session, "quit", error);
    if (is_question(line, &name, &signs))
        return repl_inspect(repl, session, name.start, name.size, signs > 1, error);
    if (line.start[0] == '%' && line.size > 1 && line.start[1] != '%' && is_one_line(line)) {
        strbuf_clear(error);
        if (run_magic(repl, session, line, error))
            return true;
        if (error->size)
            return false;
    }
    strbuf_clear(error);
    if (session->document && repl_document_enter(repl, session, text.start, text.size, error))
        return true;
    return !error->size && run_python(repl, session, text, error);
}
