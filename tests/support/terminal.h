/* SPDX-License-Identifier: MIT */
/*
 * A terminal for tests of programs that want one: a pseudo-terminal with the program on it, and
 * libvterm as its screen. Tests wait for what they expect to see, with a deadline; what does not
 * come fails the test and shows the screen.
 */
#ifndef TEST_TERMINAL_H
#define TEST_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <vterm.h>

struct terminal;

/*
 * Start a program. environment: "NAME=VALUE" over ours, "NAME" to take one away, NULL-ended, or
 * NULL. TERM is xterm-256color, the locale C.UTF-8, and there is no inputrc, unless it says
 * otherwise.
 */
struct terminal *terminal_start(const char *const *argv, int rows, int columns,
                                const char *const *environment);
/* Kill what runs on it, and free. NULL is fine. */
void terminal_stop(struct terminal *terminal);
pid_t terminal_pid(const struct terminal *terminal);

/* ---- the keyboard ---- */
void terminal_keys(struct terminal *terminal, const char *keys);
void terminal_send(struct terminal *terminal, const char *data, size_t size);
void terminal_paste(struct terminal *terminal, const char *text); /* bracketed */
void terminal_resize(struct terminal *terminal, int rows, int columns);

/* ---- the screen ---- */
/* Take what the program has written, for at most ms. False when it has closed the terminal. */
bool terminal_pump(struct terminal *terminal, int ms);
/* Put something on the screen that the program knows nothing of. */
void terminal_show(struct terminal *terminal, const char *bytes);
/* A row's text without blanks at its end; good until eight others were asked for. */
const char *terminal_row(const struct terminal *terminal, int row);
/* The first row that holds text, or -1. */
int terminal_find(const struct terminal *terminal, const char *text);
/* The column in which text begins in a row, or -1. */
int terminal_column(const struct terminal *terminal, int row, const char *text);
/* How many rows hold text. */
int terminal_count(const struct terminal *terminal, const char *text);
VTermScreenCell terminal_cell(const struct terminal *terminal, int row, int column);
/* A colour that is an index as what it looks like. */
VTermColor terminal_colour(const struct terminal *terminal, VTermColor colour);
void terminal_cursor(const struct terminal *terminal, int *ret_row, int *ret_column);
bool terminal_cursor_shown(const struct terminal *terminal);
int terminal_rows(const struct terminal *terminal);
void terminal_dump(const struct terminal *terminal); /* to standard error */

/* All bytes that came since the last terminal_forget(). */
bool terminal_has_bytes(const struct terminal *terminal, const char *bytes);
const char *terminal_bytes(const struct terminal *terminal, size_t *ret_size);
size_t terminal_byte_count(const struct terminal *terminal);
void terminal_forget(struct terminal *terminal);
/* It gives no answers to what it is asked, as it does otherwise (ESC [ c). */
extern bool terminal_is_silent;
/* From here on it takes nothing, as after C-s at a terminal that obeys it. */
void terminal_hold(struct terminal *terminal);

/* ---- waiting ---- */
#define TERMINAL_MS 20000

/* Until text is on the screen; returns its row. */
int terminal_wait_text(struct terminal *terminal, const char *text);
void terminal_wait_no_text(struct terminal *terminal, const char *text);
/* Until the program is over; its wait status. */
int terminal_wait_exit(struct terminal *terminal);
/* Nothing has come for ms: for what must not happen only. */
void terminal_settle(struct terminal *terminal, int ms);

/* Until the condition holds, which looks at the terminal. */
#define terminal_wait(terminal, condition)                                                         \
    do {                                                                                           \
        int64_t end_ = test_now_ms() + test_scaled_ms(TERMINAL_MS);                                \
        while (!(condition) && test_now_ms() < end_)                                               \
            terminal_pump(terminal, 20);                                                           \
        if (!(condition)) {                                                                        \
            terminal_dump(terminal);                                                               \
            ck_abort_msg("waited in vain for: %s", #condition);                                    \
        }                                                                                          \
    } while (0)

#endif
