/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "repl-document.h"
#include "tui-internal.h"
#include "tui-signals.h"
#include "tui.h"
#include "xalloc.h"

#define TICK_MS 1000     /* while a time is shown that goes on */
#define TUI_KILL_MS 3000 /* a kernel that is killed is gone far sooner */

int64_t tui_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The option's, or what suits the terminal. */
enum theme_kind tui_wanted_theme(const struct tui *tui)
{
    enum theme_kind kind;
    if (!screen_has_colour(tui->screen))
        return THEME_MONO;
    return theme_by_name(settings_text(tui->settings, CLI_THEME), &kind) ? kind : tui->background;
}

struct block_style tui_style(const struct tui *tui, enum theme_role role)
{
    return theme_style(tui->theme, role);
}

void tui_damage(struct tui *tui, unsigned damage)
{
    tui->damage |= damage;
    tui->draw_now = true;
}

void tui_say(struct tui *tui, const char *format, ...)
{
    struct strbuf line = STRBUF_INIT;
    va_list arguments;
    va_start(arguments, format);
    strbuf_vaddf(&line, format, arguments);
    va_end(arguments);
    free(tui->message);
    tui->message = strbuf_steal(&line);
    tui_damage(tui, DAMAGE_ALL);
}

/*
 * ---- sessions and the one prompt
 * ------------------------------------------------------------------
 */

static bool front_is_open(const struct tui *tui)
{
    const struct repl_session *session = tui->front;
    for (size_t i = 0; i < repl_session_count(tui->repl); i++) {
        if (repl_session_at(tui->repl, i) == session && session->serial == tui->front_serial)
            return true;
    }
    return false;
}

static void keep_draft(struct tui *tui, struct repl_session *session)
{
    size_t size;
    const char *text = edit_text(tui->edit, &size);
    free(session->draft);
    session->draft = size ? xmemdup0(text, size) : NULL;
    session->draft_size = size;
    session->draft_point = edit_point(tui->edit);
}

void tui_follow_front(struct tui *tui)
{
    struct repl_session *front = repl_front_session(tui->repl);
    if (front == tui->front && front->serial == tui->front_serial)
        return;
    if (tui->front && front_is_open(tui))
        keep_draft(tui, tui->front);
    tui->front = front;
    tui->front_serial = front->serial;
    tui->to_cell = false;
    if (front->document && !front->view)
        tui_document_opened(tui);
    edit_set_session(tui->edit, front->name);
    edit_set(tui->edit, front->draft ? front->draft : "", front->draft_size, front->draft_point);
    tui->completion = tui->inspection = 0;
    free(tui->signature);
    tui->signature = NULL;
    tui->prompt_top = 0;
    if (tui->focus != FOCUS_PROMPT)
        tui_browse_leave(tui);
    tui_input_update(tui);
    tui_damage(tui, DAMAGE_ALL);
}

/*
 * ---- the rounds of the loop
 * -------------------------------------------------------------------------
 */

static void handle_keys(struct tui *tui, bool late)
{
    struct key key;
    int64_t now = tui_now_ms();
    while (!tui->quit && tui->child.pid == 0 && !tui->held_ms && keys_next(tui->keys, late, &key)) {
        tui->in_key = true;
        tui_key(tui, &key);
        tui->in_key = false;
        tui_follow_front(tui);
    }
    tui->escape_ms = keys_wait(tui->keys) ? now + KEY_ESCAPE_MS : 0;
}

static void read_keys(struct tui *tui)
{
    char data[65536];
    ssize_t n = read(STDIN_FILENO, data, sizeof(data));
    if (n > 0) {
        keys_feed(tui->keys, data, (size_t)n);
        handle_keys(tui, false);
    } else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
        tui->deadly = SIGHUP; /* the terminal is gone */
    }
}

void tui_suspend(struct tui *tui)
{
    graphics_leave(tui->graphics);
    screen_leave(tui->screen);
    tui_signals_stop();
    screen_return(tui->screen, true);
    tui_resize(tui);
    tui_damage(tui, DAMAGE_ALL);
}

/* After a stop that was not ours: SIGSTOP, which nobody can prepare for. */
static void retake(struct tui *tui)
{
    screen_retake(tui->screen);
    tui_resize(tui);
    tui_damage(tui, DAMAGE_ALL);
}

static void take_signals(struct tui *tui)
{
    unsigned came = tui_signals_take();
    bool childs = tui->child.pid != 0; /* keys were signals for it, of which it may have died */
    bool stops = came & TUI_SIGNAL_STOP;
    if (came & TUI_SIGNAL_CHILD)
        stops |= tui_child_changed(tui);
    if (came & TUI_SIGNAL_SIZE && tui->child.pid == 0)
        tui_resize(tui);
    if (stops && tui->child.pid)
        tui_signals_stop(); /* the shell waits for both */
    else if (stops && !childs)
        tui_suspend(tui);
    else if (came & TUI_SIGNAL_CONTINUE && tui->child.pid == 0)
        retake(tui);
    if (came & TUI_SIGNAL_INTERRUPT && !childs)
        repl_interrupt(tui->repl, tui->front);
    if (came & TUI_SIGNAL_QUIT && !childs)
        tui->deadly = SIGQUIT;
    tui->deadly = tui_signals_deadly() ? tui_signals_deadly() : tui->deadly;
}

static int sooner(int64_t wait, int64_t due)
{
    return (int)(wait < 0 || due < wait ? (due < 0 ? 0 : due) : wait);
}

/* Busy sessions show for how long: that is old after a second. */
static bool time_goes_on(const struct tui *tui)
{
    return tui->front->running != NULL ||
           (tui->front->has_kernel && (tui->front->state == HERMES_KERNEL_BUSY ||
                                       tui->front->state == HERMES_KERNEL_INTERRUPTING));
}

/* Draw what is old if it is time to; returns how long the loop may wait at most. */
static int64_t draw_or_wait(struct tui *tui, int64_t wait)
{
    int64_t now = tui_now_ms();
    if (tui->child.pid)
        return wait;
    if (!time_goes_on(tui)) {
        tui->tick_ms = 0;
    } else if (!tui->tick_ms) {
        tui->tick_ms = now + TICK_MS;
    } else if (now >= tui->tick_ms) {
        tui->tick_ms = now + TICK_MS;
        tui->damage |= DAMAGE_STATUS | DAMAGE_TRANSCRIPT;
    }
    if (tui->tick_ms)
        wait = sooner(wait, tui->tick_ms - now);
    if (!tui->damage)
        return wait;
    if (!tui->draw_now && now < tui->drawn_ms + TUI_FRAME_MS)
        return sooner(wait, tui->drawn_ms + TUI_FRAME_MS + TUI_FRAME_LATE_MS - now);
    tui_draw(tui);
    return wait;
}

static void run_loop(struct tui *tui)
{
    struct pollfd fds[] = {
        {STDIN_FILENO, POLLIN, 0}, {repl_fd(tui->repl), POLLIN, 0}, {tui_signals_fd(), POLLIN, 0}};
    while (!tui->quit && !tui->deadly) {
        int64_t wait = repl_step(tui->repl);
        tui_follow_front(tui);
        tui_input_offer(tui);
        if (repl_wants_quit(tui->repl))
            break;
        wait = draw_or_wait(tui, wait);
        if (tui->escape_ms)
            wait = sooner(wait, tui->escape_ms - tui_now_ms());
        if (tui->held_ms)
            wait = sooner(wait, TUI_HOLD_STEP_MS);
        fds[0].events = tui->child.pid ? 0 : POLLIN;
        int ready = poll(fds, 3, (int)wait);
        if (ready > 0 && fds[2].revents)
            take_signals(tui);
        if (ready > 0 && fds[0].revents && !tui->child.pid)
            read_keys(tui);
        else if (tui->escape_ms && tui_now_ms() >= tui->escape_ms)
            handle_keys(tui, true);
        if (tui->held_ms && tui_input_ready(tui))
            handle_keys(tui, false);
    }
}

/*
 * ---- life
 * --------------------------------------------------------------------------------------------
 */

bool tui_is_possible(void)
{
    const char *terminal = getenv("TERM");
    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && terminal && screen_knows(terminal);
}

/*
 * Kernels are started behind a screen that is there already: finding an interpreter may take its
 * time.
 */
static void draw_first(struct tui *tui, const struct repl_options *options)
{
    int columns = screen_columns(tui->screen), rows = screen_rows(tui->screen);
    const char *name = options->sessions && options->sessions[0] ? options->sessions[0]
                       : options->document                       ? "…"
                                                                 : "main";
    struct block_style bar = tui_style(tui, ROLE_STATUS);
    char *tab = xasprintf(" 1:%s ", name), *status = xasprintf(" %s │ starting", name);
    if (columns >= TUI_COLUMNS_MIN && rows >= TUI_ROWS_MIN) {
        screen_fill(tui->screen, 0, 0, columns, tui_style(tui, ROLE_TAB));
        screen_puts(tui->screen, 0, 0, columns, tab, tui_style(tui, ROLE_TAB_FRONT));
        screen_puts(tui->screen, 1, 0, columns, ">>> ", tui_style(tui, ROLE_PROMPT));
        screen_fill(tui->screen, rows - 1, 0, columns, bar);
        screen_puts(tui->screen, rows - 1, 0, columns, status, bar);
        screen_cursor(tui->screen, 1, 4);
        screen_flush(tui->screen);
    }
    free(tab);
    free(status);
}

/* What cells go on writing is drawn once a frame, so it need not be read more often. */
static void set_pace(struct tui *tui)
{
    static const char name[] = "output-interval";
    if (settings_by_name(tui->settings, name, sizeof(name) - 1)->source == SOURCE_DEFAULT)
        hermes_set_option(tui->engine, "output_interval", TUI_READ_S, NULL);
}

static bool start(struct tui *tui, struct repl_options *options, struct strbuf *error)
{
    setlocale(LC_CTYPE, "");
    tui_signals_install();
    tui->screen = screen_open(error);
    if (!tui->screen)
        return false;
    tui->background = theme_guess(getenv("COLORFGBG"));
    tui->theme = tui_wanted_theme(tui);
    tui->background_rgb = tui->theme == THEME_LIGHT ? 0xffffff : 0;
    tui->mouse = true;
    set_pace(tui);
    tui->graphics = graphics_new(tui->screen, settings_text(tui->settings, CLI_GRAPHICS));
    graphics_set_background(tui->graphics, tui->background_rgb);
    int rows = screen_rows(tui->screen), columns = screen_columns(tui->screen);
    rows = rows < TUI_ROWS_MIN ? TUI_ROWS_MIN : rows;
    columns = columns < TUI_COLUMNS_MIN ? TUI_COLUMNS_MIN : columns;
    options->columns = transcript_output_columns(columns);
    options->rows = rows - 4;
    options->blocks = true;
    options->terminal = screen_has_colour(tui->screen) ? "xterm-256color" : "xterm";
    draw_first(tui, options);
    tui->repl = repl_new(tui->engine, options, &tui_front, tui, error);
    if (!tui->repl)
        return false;
    tui->edit = edit_new(repl_history(tui->repl));
    tui->keys = keys_new();
    edit_set_width(tui->edit, columns);
    tui_follow_front(tui);
    return true;
}

/* Keys are signals again. */
static bool is_pressed(void *context)
{
    (void)context;
    return tui_signals_deadly() || tui_signals_take() & (TUI_SIGNAL_INTERRUPT | TUI_SIGNAL_QUIT);
}

/*
 * As Python programs leave: exit handlers run. The terminal is given back by now, and C-c ends the
 * wait.
 */
static void end_kernels(struct tui *tui)
{
    char *grace = NULL;
    hermes_get_option(tui->engine, "shutdown_grace", &grace);
    repl_finish(tui->repl, (int64_t)((grace ? strtod(grace, NULL) : 3) * 1000) + TUI_KILL_MS,
                is_pressed);
    hermes_free(grace);
}

static void finish(struct tui *tui)
{
    if (tui->graphics)
        graphics_leave(tui->graphics);
    graphics_free(tui->graphics);
    screen_close(tui->screen);
    tui->screen = NULL;
    tui_child_end(tui);
    if (tui->repl && !tui->deadly)
        end_kernels(tui);
    tui_signals_done();
    repl_free(tui->repl);
    edit_free(tui->edit);
    keys_free(tui->keys);
    free(tui->message);
    free(tui->question);
    free(tui->signature);
    kept_answers_free(&tui->kept);
    free(tui->stash);
    layout_free(&tui->prompt);
    tui_reader_free(tui);
    tui_picker_free(tui);
    tui_picture_free(tui);
    strbuf_free(&tui->search.text);
    strbuf_free(&tui->search.line);
}

bool tui_run(struct hermes_engine *engine, struct repl_options *options, const char *file,
             int *ret_status, struct strbuf *error)
{
    static const char ask_background[] = "\033]11;?\033\\";
    struct tui tui = {.engine = engine,
                      .settings = options->settings,
                      .keymap = options->keymap,
                      .damage = DAMAGE_ALL,
                      .draw_now = true};
    bool good = start(&tui, options, error);
    if (good) {
        if (file)
            tui_document_opened(&tui);
        tui_draw(&tui);
        enum theme_kind known;
        if (screen_has_colour(tui.screen) &&
            !theme_by_name(settings_text(tui.settings, CLI_THEME), &known))
            screen_ask(tui.screen, ask_background, sizeof(ask_background) - 1,
                       SCREEN_ANSWER_COLOUR);
        graphics_ask(tui.graphics);
        run_loop(&tui);
        *ret_status = tui.deadly ? 128 + tui.deadly : 0;
        if (tui.deadly) {
            size_t size;
            const char *prompt = edit_text(tui.edit, &size);
            repl_document_rescue(tui.repl, prompt, size, options->last_words);
        }
    }
    finish(&tui);
    return good;
}
