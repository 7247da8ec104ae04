/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What plain mode writes: the cells' bytes as they are, lines of ours, and the prompt, which
 * readline draws. Cells end their lines as terminals do, so do we: nothing translates them here.
 */
#include "config.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <readline/readline.h>

#include "plain-internal.h"
#include "plain-terminal.h"
#include "utf8.h"

/* ---- bytes ---------------------------------------------------------------------------------- */

/* False: nobody reads any more. */
static bool put(int fd, const char *data, size_t size)
{
    while (size) {
        if (plain_signals_impatient())
            return true;
        ssize_t done = write(fd, data, size);
        if (done >= 0) {
            data += done;
            size -= (size_t)done;
        } else if (errno == EAGAIN) {
            struct pollfd writable = {.fd = fd, .events = POLLOUT};
            poll(&writable, 1, -1);
        } else if (errno != EINTR) {
            return false;
        }
    }
    return true;
}

void plain_write(struct plain *plain, int stream, const char *data, size_t size)
{
    if (!size)
        return;
    bool good = put(stream == 2 ? STDERR_FILENO : STDOUT_FILENO, data, size);
    if (plain->edit) {
        plain_modes_follow(&plain->modes, data, size);
        plain->at_start = plain->modes.last == '\n';
    }
    if (!good && stream != 2 && plain->exit_status < 0)
        plain->exit_status = errno == EPIPE ? 128 + SIGPIPE : errno == EIO ? 128 + SIGHUP : 1;
}

/* Characters that a terminal in another encoding cannot show. */
static void add_readable(struct strbuf *out, const char *text, size_t size, bool utf8)
{
    static const struct {
        const char *sign, *ascii;
    } signs[] = {{"·", "-"}, {"—", "-"}, {"…", "..."}, {"⏰", "!"}};
    for (size_t i = 0; i < size; i++) {
        bool found = false;
        for (size_t n = 0; !utf8 && !found && n < sizeof signs / sizeof signs[0]; n++) {
            size_t length = strlen(signs[n].sign);
            found = i + length <= size && memcmp(text + i, signs[n].sign, length) == 0;
            if (found) {
                strbuf_adds(out, signs[n].ascii);
                i += length - 1;
            }
        }
        if (!found)
            strbuf_addc(out, text[i]);
    }
}

static void print_lines(struct plain *plain, int stream, const char *text, size_t size)
{
    struct strbuf out = STRBUF_INIT, readable = STRBUF_INIT, visible = STRBUF_INIT;
    utf8_visible(&visible, text, size);
    add_readable(&readable, strbuf_text(&visible), visible.size,
                 strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
    strbuf_free(&visible);
    plain_hide(plain);
    if (plain->edit && !plain->at_start)
        strbuf_adds(&out, "\r\n");
    for (size_t i = 0; i < readable.size; i++) {
        if (readable.data[i] == '\n' && plain->edit)
            strbuf_addc(&out, '\r');
        strbuf_addc(&out, readable.data[i]);
    }
    if (readable.size && readable.data[readable.size - 1] != '\n')
        strbuf_adds(&out, plain->edit ? "\r\n" : "\n");
    plain_write(plain, stream, strbuf_text(&out), out.size);
    strbuf_free(&out);
    strbuf_free(&readable);
}

void plain_print(struct plain *plain, const char *text, size_t size)
{
    print_lines(plain, 1, text, size);
}

void plain_say(struct plain *plain, const char *format, ...)
{
    struct strbuf line = STRBUF_INIT;
    va_list arguments;
    strbuf_adds(&line, plain->edit ? "-- " : "hermes-repl: ");
    va_start(arguments, format);
    strbuf_vaddf(&line, format, arguments);
    va_end(arguments);
    print_lines(plain, plain->edit ? 1 : 2, strbuf_text(&line), line.size);
    strbuf_free(&line);
}

/* ---- the prompt ----------------------------------------------------------------------------- */

/* What readline shall show: text with prompts in it, and where the cursor is. */
struct shown {
    struct strbuf prompt, text;
    size_t point;
};

static void add_prompt(const struct plain *plain, struct strbuf *out)
{
    if (plain->message) {
        strbuf_adds(out, plain->message);
        return;
    }
    if (repl_session_count(plain->repl) > 1)
        strbuf_addf(out, "%s ", plain->front->name);
    strbuf_addf(out, "[%u] >>> ", plain->front->next_number);
}

static size_t columns_of(const char *text)
{
    size_t columns = 0;
    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

/* "    ... ": as wide as the prompt. */
static void add_continuation(const struct plain *plain, struct strbuf *out)
{
    struct strbuf prompt = STRBUF_INIT;
    add_prompt(plain, &prompt);
    size_t width = columns_of(strbuf_text(&prompt));
    for (size_t i = 4; i < width; i++)
        strbuf_addc(out, ' ');
    strbuf_adds(out, "... ");
    strbuf_free(&prompt);
}

static void compose(struct plain *plain, struct shown *shown)
{
    size_t size, point = edit_point(plain->edit);
    const char *text = edit_text(plain->edit, &size);
    add_prompt(plain, &shown->prompt);
    for (size_t i = 0; i < size; i++) {
        if (i == point)
            shown->point = shown->text.size;
        strbuf_addc(&shown->text, text[i]);
        if (text[i] == '\n')
            add_continuation(plain, &shown->text);
    }
    if (point >= size)
        shown->point = shown->text.size;
}

/* A terminal whose cursor cannot go up gets the line of the block that the cursor is in. */
static void compose_line(struct plain *plain, struct shown *shown)
{
    size_t size, point = edit_point(plain->edit), from, to, number = 0;
    const char *text = edit_text(plain->edit, &size);
    for (size_t i = 0; i < point; i++)
        number += text[i] == '\n';
    for (from = point; from && text[from - 1] != '\n';)
        from--;
    for (to = point; to < size && text[to] != '\n';)
        to++;
    if (number)
        add_continuation(plain, &shown->prompt);
    else
        add_prompt(plain, &shown->prompt);
    if (plain->drawn && number != plain->dumb_line) {
        plain_write(plain, 1, "\r\n", 2);
        rl_on_new_line();
    }
    plain->dumb_line = number;
    strbuf_add(&shown->text, text + from, to - from);
    shown->point = point - from;
}

/* readline draws this text in the place of its own, which stays as it is. */
static void draw_by_readline(struct shown *shown)
{
    char *line = rl_line_buffer;
    const char *display = rl_display_prompt;
    int end = rl_end, point = rl_point, mark = rl_mark;
    bool usual = rl_display_prompt == rl_prompt, active = rl_mark_active_p();
    strbuf_addc(&shown->text, '\0');
    rl_deactivate_mark();
    rl_set_prompt(strbuf_text(&shown->prompt));
    rl_line_buffer = shown->text.data;
    rl_end = (int)shown->text.size - 1;
    rl_point = rl_mark = (int)shown->point;
    rl_redisplay();
    rl_line_buffer = line;
    rl_end = end;
    rl_point = point;
    rl_mark = mark;
    rl_set_prompt("");
    if (!usual)
        rl_display_prompt = (char *)display;
    if (active)
        rl_activate_mark();
    fflush(rl_outstream);
}

static void take_message(struct plain *plain)
{
    const char *message = edit_message(plain->edit);
    free(plain->message);
    plain->message = message[0] ? xstrdup(message) : NULL;
}

void plain_draw(struct plain *plain)
{
    struct shown shown = {STRBUF_INIT, STRBUF_INIT, 0};
    if (!plain->drawn && !plain->at_start) {
        plain_write(plain, 1, "\r\n", 2);
        plain->at_start = true;
    }
    plain_paste_mode(plain, true);
    if (!plain->drawn)
        rl_on_new_line();
    take_message(plain);
    if (plain->dumb)
        compose_line(plain, &shown);
    else
        compose(plain, &shown);
    draw_by_readline(&shown);
    plain->drawn = true;
    plain->dirty = false;
    strbuf_free(&shown.prompt);
    strbuf_free(&shown.text);
}

void plain_hide(struct plain *plain)
{
    if (!plain->edit || !plain->drawn)
        return;
    if (plain->dumb) {
        plain_write(plain, 1, "\r\n", 2);
    } else {
        rl_clear_visible_line();
        fflush(rl_outstream);
    }
    plain->drawn = false;
    plain->at_start = true;
    plain->dirty = true;
}

/* Draw the whole block with the cursor behind it, so that the next line begins below. */
void plain_leave_prompt(struct plain *plain, const char *mark)
{
    struct shown shown = {STRBUF_INIT, STRBUF_INIT, 0};
    if (!plain->drawn)
        return;
    free(plain->message);
    plain->message = NULL;
    if (plain->dumb)
        compose_line(plain, &shown);
    else
        compose(plain, &shown);
    shown.point = shown.text.size;
    draw_by_readline(&shown);
    strbuf_free(&shown.prompt);
    strbuf_free(&shown.text);
    plain->drawn = false;
    plain_paste_mode(plain, false);
    plain_write(plain, 1, mark, strlen(mark));
    plain_write(plain, 1, "\r\n", 2);
    rl_on_new_line();
}

void plain_clear_screen(struct plain *plain)
{
    plain_hide(plain);
    if (!plain->dumb)
        plain_write(plain, 1, "\033[H\033[2J", 7);
    plain->at_start = true;
}

/* Pastes come between marks, so that their lines are not run one by one. */
void plain_paste_mode(struct plain *plain, bool on)
{
    if (plain->dumb || plain->paste_on == on)
        return;
    plain->paste_on = on;
    put(STDOUT_FILENO, on ? "\033[?2004h" : "\033[?2004l", 8);
}

void plain_resized(struct plain *plain)
{
    plain_hide(plain);
    plain_terminal_size(&plain->options->columns, &plain->options->rows);
    rl_set_screen_size(plain->options->rows, plain->options->columns);
    edit_set_width(plain->edit, plain->options->columns);
    repl_resize(plain->repl, plain->options->columns, plain->options->rows);
}

static bool cannot_go_up(void)
{
    const char *terminal = getenv("TERM");
    return !terminal || !terminal[0] || strcmp(terminal, "dumb") == 0 ||
           strcmp(terminal, "unknown") == 0;
}

void plain_screen_open(struct plain *plain)
{
    plain->dumb = cannot_go_up();
    plain->edit = edit_new(repl_history(plain->repl));
    rl_voidfunc_t *drawn_elsewhere = rl_redisplay_function;
    rl_redisplay_function = rl_redisplay; /* for another, readline does not look at the terminal */
    rl_reset_terminal(NULL);
    rl_redisplay_function = drawn_elsewhere;
    rl_outstream = stdout;
    edit_cancel(plain->edit); /* readline takes its stream when a line begins */
    rl_tty_set_echoing(1);
    rl_set_screen_size(plain->options->rows, plain->options->columns);
    edit_set_width(plain->edit, plain->options->columns);
    plain->at_start = true;
    plain->modes.last = '\n';
}

/* After another session came to the front: drafts stay with their sessions. */
void plain_follow_front(struct plain *plain)
{
    struct repl_session *now = repl_front_session(plain->repl), *before = plain->front;
    size_t size;
    if (now == before)
        return;
    for (size_t i = 0; i < repl_session_count(plain->repl) && before; i++) {
        if (repl_session_at(plain->repl, i) != before)
            continue;
        const char *text = edit_text(plain->edit, &size);
        free(before->draft);
        before->draft = size ? xmemdup0(text, size) : NULL;
        before->draft_size = size;
        before->draft_point = edit_point(plain->edit);
        break;
    }
    plain->front = now;
    edit_set_session(plain->edit, now->name);
    edit_set(plain->edit, now->draft ? now->draft : "", now->draft ? now->draft_size : 0,
             now->draft_point);
    plain_hide(plain);
    plain->dirty = true;
}
