/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "modes.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "progress.h"
#include "screen.h"

#define ANSWER_MS 1000 /* what is not answered by then never is */

/* What a handler needs to give the terminal back; valid while `taken`. */
static struct termios saved;
static volatile bool taken;
static bool exit_hook_set;
static char to_rescue[16384];
static volatile sig_atomic_t to_rescue_size;

static int64_t asked_ms; /* when the terminal was asked last */
static bool colour_open;
static int devices_open;

static const char modes_on[] = "\033[?2004h";
static const char mouse_on[] = "\033[?1000h\033[?1006h";
static const char mouse_off[] = "\033[?1006l\033[?1000l";
static const char modes_off[] = "\033[?1006l\033[?1000l\033[?2004l";
/* The end of a string, should one be half written. */
static const char string_end[] = "\033\\";
/* Also what ncurses would write: attributes, cursor, the other screen. */
static const char rescue[] = "\033[?1006l\033[?1000l\033[?2004l\033[0m\033[?25h\033[?1049l\r\n";

bool modes_send(const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(STDOUT_FILENO, data, size);
        if (n < 0 && errno == EAGAIN) {
            struct pollfd ready = {STDOUT_FILENO, POLLOUT, 0};
            if (poll(&ready, 1, 1000) <= 0)
                return false;
        } else if (n < 0 && errno != EINTR) {
            return false;
        }
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool send_rescue(void)
{
    return modes_send(string_end, sizeof(string_end) - 1) &&
           modes_send(to_rescue, (size_t)to_rescue_size) && modes_send(rescue, sizeof(rescue) - 1);
}

/* What dies is not held by a terminal that takes nothing: what nobody has read makes room. */
void screen_rescue(void)
{
    if (!taken)
        return;
    taken = false;
    int flags = fcntl(STDOUT_FILENO, F_GETFL);
    fcntl(STDOUT_FILENO, F_SETFL, flags | O_NONBLOCK);
    if (!send_rescue() && tcflush(STDOUT_FILENO, TCOFLUSH) == 0)
        send_rescue();
    fcntl(STDOUT_FILENO, F_SETFL, flags);
    tcsetattr(STDIN_FILENO, TCSANOW, &saved);
}

/* A signal may come in the middle. */
void screen_set_rescue(const char *data, size_t size)
{
    to_rescue_size = 0;
    atomic_signal_fence(memory_order_seq_cst);
    if (size == 0 || size > sizeof(to_rescue))
        return;
    memcpy(to_rescue, data, size);
    atomic_signal_fence(memory_order_seq_cst);
    to_rescue_size = (sig_atomic_t)size;
}

bool modes_remember(void)
{
    return tcgetattr(STDIN_FILENO, &saved) == 0;
}

void modes_set(bool mouse)
{
    raw();
    noecho();
    nonl();
    modes_send(modes_on, sizeof(modes_on) - 1);
    if (mouse)
        modes_mouse(true);
    taken = true;
    if (!exit_hook_set)
        atexit(screen_rescue);
    exit_hook_set = true;
}

void modes_mouse(bool on)
{
    if (on)
        modes_send(mouse_on, sizeof(mouse_on) - 1);
    else
        modes_send(mouse_off, sizeof(mouse_off) - 1);
}

/* Before it looks so: what is pressed between the two would be neither key nor signal. */
static void keys_are_signals(void)
{
    struct termios terminal;
    if (tcgetattr(STDIN_FILENO, &terminal) != 0)
        return;
    terminal.c_lflag |= ISIG & saved.c_lflag;
    tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
}

void modes_ask(const char *data, size_t size, enum screen_answer last)
{
    modes_send(data, size);
    asked_ms = now_ms();
    if (last == SCREEN_ANSWER_DEVICE)
        devices_open++;
    else
        colour_open = true;
}

/* Answers come in the order of questions, and not each terminal tells its colour. */
void modes_answered(enum screen_answer last)
{
    if (last == SCREEN_ANSWER_DEVICE)
        devices_open -= devices_open > 0;
    colour_open = false;
}

static bool has_colour(const char *data, size_t size)
{
    const char *at = memmem(data, size, "\033]11;", 5), *end = data + size;
    return at &&
           (memchr(at, '\a', (size_t)(end - at)) || memmem(at, (size_t)(end - at), "\033\\", 2));
}

static int count_devices(const char *data, size_t size)
{
    const char *at = data, *end = data + size;
    int count = 0;
    while ((at = memmem(at, (size_t)(end - at), "\033[?", 3))) {
        for (at += 3; at < end && ((*at >= '0' && *at <= '9') || *at == ';'); at++)
            continue;
        count += at < end && *at == 'c';
    }
    return count;
}

static bool all_answered(const char *data, size_t size)
{
    if (devices_open)
        return count_devices(data, size) >= devices_open;
    return !colour_open || has_colour(data, size);
}

/* What was asked a moment ago may not be answered yet, and is nobody else's to read. */
static void drain_answers(void)
{
    char data[4096];
    size_t size = 0;
    int64_t left;
    while (!all_answered(data, size) && (left = asked_ms + ANSWER_MS - now_ms()) > 0) {
        struct pollfd ready = {STDIN_FILENO, POLLIN, 0};
        if (poll(&ready, 1, (int)left) <= 0)
            continue;
        size = size < sizeof(data) ? size : 0;
        ssize_t n = read(STDIN_FILENO, data + size, sizeof(data) - size);
        if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
            break;
        size += n > 0 ? (size_t)n : 0;
    }
    devices_open = 0;
    colour_open = false;
}

/* Keys are signals first: C-c in the time that answers take is not to be lost. */
void modes_reset(void)
{
    keys_are_signals();
    modes_send(modes_off, sizeof(modes_off) - 1);
    drain_answers();
}

void modes_restore(void)
{
    tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
    taken = false;
}
