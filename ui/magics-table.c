/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "magics-table.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "magics-code.h"
#include "params.h"

static bool is_name_start(char c)
{
    return c == '_' || isalpha((unsigned char)c);
}

static bool is_name_char(char c)
{
    return c == '_' || isalnum((unsigned char)c);
}

static size_t name_length(const char *text, size_t size)
{
    size_t at = 0;
    if (size && is_name_start(text[0])) {
        while (at < size && is_name_char(text[at]))
            at++;
    }
    return at;
}

/*
 * Length of {name}, {name.attribute} or {name[0]} at text; 0 when it is something else (awk, find,
 * brace expansion).
 */
static size_t field_length(const char *text, size_t size)
{
    size_t at = 1 + name_length(text + 1, size - 1);
    if (at == 1)
        return 0;
    while (at < size && (is_name_char(text[at]) || (text[at] && strchr(".[]'\"", text[at]))))
        at++;
    return at < size && text[at] == '}' ? at + 1 : 0;
}

/* (str(value) if it is a variable, else the text as it stands). */
static void add_variable(struct strbuf *out, struct magic_text expression,
                         struct magic_text literal)
{
    strbuf_addf(out, "(str(%.*s) if '%.*s' in {**globals(), **locals()} else ",
                (int)expression.size, expression.text,
                (int)name_length(expression.text, expression.size), expression.text);
    params_add_literal(out, literal.text, literal.size);
    strbuf_addc(out, ')');
}

static void flush_literal(struct strbuf *out, struct strbuf *literal, bool *first)
{
    if (!literal->size && !*first)
        return;
    strbuf_adds(out, *first ? "" : " + ");
    params_add_literal(out, strbuf_text(literal), literal->size);
    strbuf_clear(literal);
    *first = false;
}

void magic_add_command(struct strbuf *out, struct magic_text command)
{
    struct strbuf literal = STRBUF_INIT;
    bool first = true;
    for (size_t at = 0; at < command.size;) {
        const char *text = command.text + at;
        size_t left = command.size - at, length = 0;
        struct magic_text inner = {text + 1, 0};
        if ((text[0] == '{' || text[0] == '}' || text[0] == '$') && left > 1 &&
            text[1] == text[0]) {
            strbuf_addc(&literal, text[0]);
            at += 2;
            continue;
        }
        if (text[0] == '{' && (length = field_length(text, left)))
            inner.size = length - 2;
        else if (text[0] == '$' && (length = name_length(text + 1, left - 1)))
            inner.size = length++;
        if (length) {
            flush_literal(out, &literal, &first);
            strbuf_adds(out, " + ");
            add_variable(out, inner, (struct magic_text){text, length});
            at += length;
        } else {
            strbuf_addc(&literal, text[0]);
            at++;
        }
    }
    flush_literal(out, &literal, &first);
    strbuf_free(&literal);
}

/* ---- one function for each kind ------------------------------------------------------------- */

static void nothing_line(struct strbuf *out, const struct magic *magic, struct magic_text rest)
{
    (void)magic;
    (void)rest;
    strbuf_adds(out, "pass");
}

static void nothing_cell(struct strbuf *out, const struct magic *magic, struct magic_text rest,
                         struct magic_text body)
{
    (void)magic;
    (void)rest;
    (void)body;
    strbuf_adds(out, "pass");
}

static void run_helper(struct strbuf *out, const char *code, struct magic_text rest,
                       struct magic_text body)
{
    strbuf_adds(out, "exec(");
    params_add_literal(out, code, strlen(code));
    strbuf_adds(out, ", {'space': globals(), 'words': ");
    params_add_literal(out, rest.text, rest.size);
    strbuf_adds(out, ", 'code': ");
    params_add_literal(out, body.text, body.size);
    strbuf_adds(out, "})");
}

static void matplotlib_line(struct strbuf *out, const struct magic *magic, struct magic_text rest)
{
    (void)magic;
    run_helper(out, matplotlib_code, rest, (struct magic_text){"", 0});
}

static bool begins_with_word(struct magic_text text, const char *const *words)
{
    size_t length = name_length(text.text, text.size);
    for (; *words; words++) {
        if (strlen(*words) == length && memcmp(*words, text.text, length) == 0)
            return true;
    }
    return false;
}

/*
 * Where the expression of "target = expression" begins: behind the last = outside brackets and
 * strings that assigns.
 */
static size_t expression_start(struct magic_text text)
{
    size_t start = 0;
    unsigned depth = 0;
    char quote = 0;
    for (size_t i = 0; i < text.size; i++) {
        char c = text.text[i], before = i ? text.text[i - 1] : ' ',
             after = i + 1 < text.size ? text.text[i + 1] : ' ';
        if (quote) {
            if (c == '\\')
                i++;
            else if (c == quote)
                quote = 0;
        } else if (c == '"' || c == '\'') {
            quote = c;
        } else if (strchr("([{", c) && c) {
            depth++;
        } else if (strchr(")]}", c) && c) {
            depth -= depth > 0;
        } else if (c == '=' && !depth && after != '=' && !strchr("=!<>:", before)) {
            start = i + 1;
        }
    }
    return start;
}

#define SHOW_TIME "print('Wall time: %.3g s' % (__import__('time').perf_counter() - "

static void time_line(struct strbuf *out, const struct magic *magic, struct magic_text rest)
{
    static const char *const statements[] = {"import", "from",  "del",    "assert", "raise",
                                             "for",    "while", "with",   "if",     "try",
                                             "def",    "class", "global", "pass",   NULL};
    (void)magic;
    if (!rest.size || begins_with_word(rest, statements) || memchr(rest.text, ';', rest.size)) {
        run_helper(out,
                   "start = __import__('time').perf_counter()\nexec(code, space)\n" SHOW_TIME
                   "start))\n",
                   (struct magic_text){"", 0}, rest);
        return;
    }
    size_t start = expression_start(rest);
    strbuf_add(out, rest.text, start);
    strbuf_adds(out, start ? " " : "");
    strbuf_adds(out, "(lambda start, value: (" SHOW_TIME
                     "start)), value)[1])(__import__('time').perf_counter(), (");
    strbuf_add(out, rest.text + start, rest.size - start);
    strbuf_adds(out, "))");
}

static void timeit_line(struct strbuf *out, const struct magic *magic, struct magic_text rest)
{
    (void)magic;
    run_helper(out, timeit_code, rest, (struct magic_text){"", 0});
}

static void timeit_cell(struct strbuf *out, const struct magic *magic, struct magic_text rest,
                        struct magic_text body)
{
    (void)magic;
    run_helper(out, timeit_code, rest, body);
}

static void capture_cell(struct strbuf *out, const struct magic *magic, struct magic_text rest,
                         struct magic_text body)
{
    (void)magic;
    run_helper(out, capture_code, rest, body);
}

static void shell_line(struct strbuf *out, const struct magic *magic, struct magic_text rest)
{
    strbuf_adds(out, "_exit_code = __import__('subprocess').call(");
    if (magic && magic->detail) {
        strbuf_adds(out, "'");
        strbuf_adds(out, magic->detail);
        strbuf_adds(out, " ' + ");
    }
    magic_add_command(out, rest);
    strbuf_adds(out, ", shell=True)");
}

static void python_module_line(struct strbuf *out, const struct magic *magic,
                               struct magic_text rest)
{
    strbuf_addf(
        out,
        "_exit_code = "
        "__import__('subprocess').call(__import__('shlex').quote(__import__('sys').executable)"
        " + ' -m %s ' + ",
        magic->detail);
    magic_add_command(out, rest);
    strbuf_adds(out, ", shell=True)");
}

/* A cell that is the input of another interpreter; a status other than 0 is an error. */
static void script_cell(struct strbuf *out, const struct magic *magic, struct magic_text rest,
                        struct magic_text body)
{
    strbuf_adds(out, "_exit_code = __import__('subprocess').run(__import__('shlex').split(");
    if (magic->detail) {
        params_add_literal(out, magic->detail, strlen(magic->detail));
        strbuf_adds(out, " + ' ' + ");
    }
    params_add_literal(out, rest.text, rest.size);
    strbuf_adds(out, "), check=True, input=");
    params_add_literal(out, body.text, body.size);
    strbuf_adds(out, ".encode()).returncode");
}

static void python_cell(struct strbuf *out, const struct magic *magic, struct magic_text rest,
                        struct magic_text body)
{
    (void)magic;
    (void)rest;
    strbuf_adds(out, "_exit_code = __import__('subprocess').run([__import__('sys').executable, "
                     "'-'], check=True, input=");
    params_add_literal(out, body.text, body.size);
    strbuf_adds(out, ".encode()).returncode");
}

static void cd_line(struct strbuf *out, const struct magic *magic, struct magic_text rest)
{
    (void)magic;
    if (rest.size > 1 && (rest.text[0] == '"' || rest.text[0] == '\'') &&
        rest.text[rest.size - 1] == rest.text[0])
        rest = (struct magic_text){rest.text + 1, rest.size - 2};
    strbuf_adds(out, "__import__('os').chdir(__import__('os').path.expanduser(");
    magic_add_command(out, rest.size ? rest : (struct magic_text){"~", 1});
    strbuf_adds(out, ")); print(__import__('os').getcwd())");
}

static void pwd_line(struct strbuf *out, const struct magic *magic, struct magic_text rest)
{
    (void)magic;
    (void)rest;
    strbuf_adds(out, "__import__('os').getcwd()");
}

static void env_line(struct strbuf *out, const struct magic *magic, struct magic_text rest)
{
    (void)magic;
    size_t name = 0;
    while (name < rest.size && rest.text[name] != '=' && !isspace((unsigned char)rest.text[name]))
        name++;
    if (!rest.size) {
        strbuf_adds(out, "dict(__import__('os').environ)");
        return;
    }
    strbuf_adds(out, "__import__('os').environ[");
    params_add_literal(out, rest.text, name);
    strbuf_adds(out, "]");
    size_t value = name;
    while (value < rest.size &&
           (isspace((unsigned char)rest.text[value]) || (value == name && rest.text[value] == '=')))
        value++;
    if (name == rest.size)
        return;
    strbuf_adds(out, " = ");
    magic_add_command(out, (struct magic_text){rest.text + value, rest.size - value});
    strbuf_adds(out, "; print('env: %s=%s' % (");
    params_add_literal(out, rest.text, name);
    strbuf_adds(out, ", __import__('os').environ[");
    params_add_literal(out, rest.text, name);
    strbuf_adds(out, "]))");
}

static void writefile_cell(struct strbuf *out, const struct magic *magic, struct magic_text rest,
                           struct magic_text body)
{
    (void)magic;
    run_helper(out, writefile_code, rest, body);
}

/* Of extensions only one is known: it does nothing that a batch could miss. */
static void load_ext_line(struct strbuf *out, const struct magic *magic, struct magic_text rest)
{
    (void)magic;
    if (rest.size == 10 && memcmp(rest.text, "autoreload", 10) == 0) {
        strbuf_adds(out, "pass");
        return;
    }
    strbuf_adds(out, "raise NotImplementedError('%load_ext: IPython extensions need IPython; the "
                     "only one taken is autoreload, not ' + ");
    params_add_literal(out, rest.text, rest.size);
    strbuf_addc(out, ')');
}

/* clang-format off */
static const struct magic magics[] = {
    {"!", shell_line, NULL, NULL},
    {"sx", shell_line, NULL, NULL},
    {"system", shell_line, NULL, NULL},
    {"matplotlib", matplotlib_line, NULL, NULL},
    {"time", time_line, NULL, NULL},
    {"timeit", timeit_line, timeit_cell, NULL},
    {"capture", NULL, capture_cell, NULL},
    {"config", nothing_line, NULL, NULL},
    {"load_ext", load_ext_line, NULL, NULL},
    {"reload_ext", load_ext_line, NULL, NULL},
    {"autoreload", nothing_line, NULL, NULL},
    {"xmode", nothing_line, NULL, NULL},
    {"colors", nothing_line, NULL, NULL},
    {"precision", nothing_line, NULL, NULL},
    {"pdb", nothing_line, NULL, NULL},
    {"html", NULL, nothing_cell, NULL},
    {"HTML", NULL, nothing_cell, NULL},
    {"javascript", NULL, nothing_cell, NULL},
    {"js", NULL, nothing_cell, NULL},
    {"latex", NULL, nothing_cell, NULL},
    {"markdown", NULL, nothing_cell, NULL},
    {"svg", NULL, nothing_cell, NULL},
    {"SVG", NULL, nothing_cell, NULL},
    {"bash", NULL, script_cell, "bash"},
    {"sh", NULL, script_cell, "sh"},
    {"perl", NULL, script_cell, "perl"},
    {"ruby", NULL, script_cell, "ruby"},
    {"script", NULL, script_cell, NULL},
    {"python", NULL, python_cell, NULL},
    {"python3", NULL, python_cell, NULL},
    {"cd", cd_line, NULL, NULL},
    {"pwd", pwd_line, NULL, NULL},
    {"env", env_line, NULL, NULL},
    {"set_env", env_line, NULL, NULL},
    {"pip", python_module_line, NULL, "pip"},
    {"conda", shell_line, NULL, "conda"},
    {"ls", shell_line, NULL, "ls"},
    {"ll", shell_line, NULL, "ls -l"},
    {"cat", shell_line, NULL, "cat"},
    {"cp", shell_line, NULL, "cp"},
    {"mv", shell_line, NULL, "mv"},
    {"rm", shell_line, NULL, "rm"},
    {"mkdir", shell_line, NULL, "mkdir"},
    {"rmdir", shell_line, NULL, "rmdir"},
    {"writefile", NULL, writefile_cell, NULL},
    {"file", NULL, writefile_cell, NULL},
};
/* clang-format on */

const struct magic *magic_find(const char *name, size_t size)
{
    for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++) {
        if (strlen(magics[i].name) == size && memcmp(magics[i].name, name, size) == 0)
            return &magics[i];
    }
    return NULL;
}
