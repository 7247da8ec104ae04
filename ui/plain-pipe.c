/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Blocks from standard input that is no terminal: each runs as soon as it is whole, what it shows
 * goes to standard output, tracebacks to standard error, and there are no prompts.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "plain-internal.h"
#include "plain-terminal.h"
#include "progress.h"
#include "pylex.h"
#include "utf8.h"

#define PEEK_MS 50 /* for the line behind a blank one, which may go on with the suite */

/* ---- input ---------------------------------------------------------------------------------- */

static void read_some(struct plain *plain)
{
    char bytes[65536];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got > 0)
        strbuf_add(&plain->input, bytes, (size_t)got);
    else if (got == 0 || (errno != EINTR && errno != EAGAIN))
        plain->input_over = true;
}

static bool is_readable(int64_t wait_ms)
{
    struct pollfd readable = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&readable, 1, (int)wait_ms) > 0;
}

/* Length of the first line with its end; 0: it is not whole yet. */
static size_t first_line(const struct plain *plain)
{
    const char *end = plain->input.size ? memchr(plain->input.data, '\n', plain->input.size) : NULL;
    if (end)
        return (size_t)(end - plain->input.data) + 1;
    return plain->input_over ? plain->input.size : 0;
}

static void drop_input(struct plain *plain, size_t size)
{
    memmove(plain->input.data, plain->input.data + size, plain->input.size - size);
    plain->input.size -= size;
    plain->input.data[plain->input.size] = '\0';
}

static bool is_blank(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (!isspace((unsigned char)text[i]))
            return false;
    }
    return true;
}

/* ---- blocks --------------------------------------------------------------------------------- */

/* The next line begins in a string, between brackets or behind a backslash. */
static bool is_open(const struct plain *plain)
{
    return !pylex_at_statement(&plain->lex);
}

static void add_line(struct plain *plain, size_t length)
{
    const char *line = plain->input.data;
    if (!is_open(plain) && (line[0] == ' ' || line[0] == '\t') && plain->block.size)
        plain->has_suite = true;
    pylex_line(&plain->lex, line, length);
    strbuf_add(&plain->block, line, length);
    drop_input(plain, length);
}

/* Words that go on with the statement above. */
static bool goes_on(const char *line, size_t size)
{
    static const char *const words[] = {"else", "elif", "except", "finally", "case"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t length = strlen(words[i]);
        if (size > length && memcmp(line, words[i], length) == 0 &&
            !isalnum((unsigned char)line[length]) && line[length] != '_')
            return true;
    }
    return false;
}

/*
 * The first line that is neither blank nor a comment at column 0; *ret_start: where it begins. 0:
 * none is there.
 */
static size_t next_statement(const struct plain *plain, size_t *ret_start)
{
    const char *text = strbuf_text(&plain->input);
    for (size_t at = 0; at < plain->input.size;) {
        const char *end = memchr(text + at, '\n', plain->input.size - at);
        if (!end && !plain->input_over)
            return 0;
        size_t length = end ? (size_t)(end - text) + 1 - at : plain->input.size - at;
        if (text[at] != '#' && !is_blank(text + at, length)) {
            *ret_start = at;
            return length;
        }
        at += length;
    }
    return 0;
}

/* A blank line ends a suite, unless what goes on with it is there already. */
static bool suite_goes_on(struct plain *plain)
{
    int64_t end_ms = now_ms() + PEEK_MS;
    for (;;) {
        size_t start, length = next_statement(plain, &start);
        if (length) {
            const char *line = plain->input.data + start;
            bool more =
                plain->has_suite && (line[0] == ' ' || line[0] == '\t' || goes_on(line, length));
            while (more && start) { /* line numbers stay true */
                size_t first = first_line(plain);
                add_line(plain, first);
                start -= first;
            }
            return more;
        }
        int64_t left = end_ms - now_ms();
        if (plain->input_over || left <= 0 || !is_readable(left))
            return false;
        read_some(plain);
    }
}

static bool enter(struct plain *plain)
{
    struct strbuf text = STRBUF_INIT;
    utf8_repair(&text, strbuf_text(&plain->block), plain->block.size);
    strbuf_clear(&plain->block);
    plain->lex = (struct pylex){.count = 0};
    plain->has_suite = false;
    plain_enter(plain, strbuf_text(&text), text.size);
    strbuf_free(&text);
    return true;
}

/* Take one line. True: a block was entered. */
static bool take_line(struct plain *plain, size_t length)
{
    const char *line = plain->input.data;
    bool blank = is_blank(line, length), begun = plain->block.size > 0;
    if (!begun && blank) {
        drop_input(plain, length);
        return false;
    }
    if (begun ? memcmp(plain->block.data, "%%", 2) == 0
              : length > 2 && memcmp(line, "%%", 2) == 0) {
        add_line(plain, length); /* a cell magic has all up to a blank line */
        return blank && enter(plain);
    }
    if (is_open(plain)) {
        add_line(plain, length);
    } else if (blank) {
        add_line(plain, length);
        return !suite_goes_on(plain) && enter(plain);
    } else {
        /* The next statement ends a suite also without a blank line, as in a script. */
        if (plain->has_suite && line[0] != ' ' && line[0] != '\t' && line[0] != '#' &&
            !goes_on(line, length))
            return enter(plain);
        add_line(plain, length);
    }
    return !plain->has_suite && !is_open(plain) &&
           edit_is_complete(strbuf_text(&plain->block), plain->block.size) && enter(plain);
}

/* As much of the input as makes one block. */
static void take_input(struct plain *plain)
{
    size_t length;
    while (!plain_is_busy(plain) && plain->exit_status < 0 && !repl_wants_quit(plain->repl) &&
           (length = first_line(plain))) {
        if (take_line(plain, length))
            return;
    }
    if (plain->input_over && !plain->input.size && plain->block.size && !plain_is_busy(plain))
        enter(plain);
}

/* ---- the loop ------------------------------------------------------------------------------- */

static void show_prompt(struct plain *plain)
{
    struct strbuf text = STRBUF_INIT;
    if (!plain->prompts || !plain->dirty || plain_is_busy(plain))
        return;
    strbuf_addf(&text, plain->block.size ? "... " : "[%u] >>> ", plain->front->next_number);
    plain_write(plain, 2, text.data, text.size);
    strbuf_free(&text);
    plain->dirty = false;
}

static void take_signals(struct plain *plain)
{
    int number = 0;
    unsigned flags = plain_signals_take(&number);
    if (flags & PLAIN_END)
        plain->exit_status = 128 + number;
    if (flags & PLAIN_INTERRUPT && !repl_interrupt(plain->repl, plain->front)) {
        strbuf_clear(&plain->block);
        plain->has_suite = false;
        plain->lex = (struct pylex){.count = 0};
        plain->dirty = true;
        if (!plain->prompts)
            plain->exit_status = 130;
    }
}

static bool is_done(const struct plain *plain)
{
    return plain->exit_status >= 0 || repl_wants_quit(plain->repl) ||
           (plain->input_over && !plain->input.size && !plain->block.size &&
            !repl_is_busy(plain->repl) && !repl_awaits_answer(plain->repl));
}

int plain_pipe_run(struct plain *plain)
{
    int64_t wait = repl_step(plain->repl);
    plain->dirty = true;
    for (;;) {
        bool wants = !plain->input_over && !plain_is_busy(plain) && !first_line(plain) &&
                     !repl_awaits_answer(plain->repl);
        struct pollfd fds[] = {{wants ? STDIN_FILENO : -1, POLLIN, 0},
                               {plain_signals_fd(), POLLIN, 0},
                               {repl_fd(plain->repl), POLLIN, 0}};
        if (is_done(plain))
            break;
        show_prompt(plain);
        bool more = !plain_is_busy(plain) && !repl_awaits_answer(plain->repl) &&
                    (first_line(plain) || plain->input_over);
        poll(fds, 3, more ? 0 : (int)wait);
        if (fds[0].revents) {
            read_some(plain);
            plain->dirty = true;
        }
        take_signals(plain);
        wait = repl_step(plain->repl);
        if (!repl_awaits_answer(plain->repl))
            take_input(plain);
    }
    if (plain->exit_status >= 0)
        return plain->exit_status;
    return plain->last_failed ? 1 : 0;
}
