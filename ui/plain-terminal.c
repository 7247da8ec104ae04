/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "plain-terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "last-words.h"

static struct termios saved;
static volatile sig_atomic_t is_saved, is_raw, is_impatient;
static int pipe_ends[2] = {-1, -1};

/* ---- signals -------------------------------------------------------------------------------- */

static void note(int number)
{
    int before = errno;
    char byte = (char)number;
    if (number == SIGTERM || number == SIGHUP)
        alarm(LAST_WORDS_PATIENCE_S);
    if (write(pipe_ends[1], &byte, 1) < 0)
        errno = before; /* full: enough of them are in it */
    errno = before;
}

/* Again and again: a write may have begun only just now. */
static void lose_patience(int number)
{
    (void)number;
    is_impatient = 1;
    alarm(LAST_WORDS_PATIENCE_S);
}

/* A fault: give the terminal back, then die of it. */
static void crash(int number)
{
    static const char rescue[] = "\033[?2004l\033[0m\033[?25h\r\n";
    struct sigaction action = {.sa_handler = SIG_DFL};
    if (is_raw) {
        last_words(STDOUT_FILENO, rescue, sizeof rescue - 1);
        tcsetattr(STDIN_FILENO, TCSANOW, &saved);
    }
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
    raise(number);
}

static void handle(int number, void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static bool is_ignored(int number)
{
    struct sigaction old;
    return sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

bool plain_signals_open(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGQUIT};
    if (pipe(pipe_ends) < 0)
        return false;
    for (int i = 0; i < 2; i++) {
        fcntl(pipe_ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(pipe_ends[i], F_SETFL, O_NONBLOCK);
    }
    handle(SIGPIPE, SIG_IGN);
    handle(SIGINT, note);
    handle(SIGTERM, note);
    if (!is_ignored(SIGHUP)) /* nohup */
        handle(SIGHUP, note);
    handle(SIGALRM, lose_patience);
    handle(SIGWINCH, note);
    handle(SIGCONT, note);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        handle(faults[i], crash);
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGALRM);
    sigaddset(&ours, SIGWINCH);
    sigaddset(&ours, SIGCONT);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
    return true;
}

void plain_signals_close(void)
{
    static const int ours[] = {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT};
    for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++) {
        if (ours[i] != SIGHUP || !is_ignored(SIGHUP))
            handle(ours[i], ours[i] == SIGWINCH || ours[i] == SIGCONT ? SIG_DFL : SIG_IGN);
    }
    for (int i = 0; i < 2; i++) {
        if (pipe_ends[i] >= 0)
            close(pipe_ends[i]);
        pipe_ends[i] = -1;
    }
}

bool plain_signals_impatient(void)
{
    return is_impatient;
}

int plain_signals_fd(void)
{
    return pipe_ends[0];
}

unsigned plain_signals_take(int *ret_number)
{
    unsigned flags = 0;
    char bytes[64];
    ssize_t got;
    while ((got = read(pipe_ends[0], bytes, sizeof bytes)) > 0) {
        for (ssize_t i = 0; i < got; i++) {
            switch (bytes[i]) {
            case SIGINT:
                flags |= PLAIN_INTERRUPT;
                break;
            case SIGWINCH:
                flags |= PLAIN_RESIZE;
                break;
            case SIGCONT:
                flags |= PLAIN_CONTINUE;
                break;
            default:
                flags |= PLAIN_END;
                *ret_number = (unsigned char)bytes[i];
                break;
            }
        }
    }
    return flags;
}

/* ---- modes ---------------------------------------------------------------------------------- */

void plain_terminal_raw(void)
{
    struct termios raw;
    if (is_raw || tcgetattr(STDIN_FILENO, &saved) < 0)
        return;
    is_saved = 1;
    raw = saved;
    cfmakeraw(&raw);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    is_raw = 1;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
}

void plain_terminal_restore(void)
{
    if (is_raw && is_saved && (is_impatient || tcsetattr(STDIN_FILENO, TCSADRAIN, &saved) < 0))
        tcsetattr(STDIN_FILENO, TCSANOW, &saved);
    is_raw = 0;
}

void plain_terminal_suspend(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, before;
    plain_terminal_restore();
    sigemptyset(&usual.sa_mask);
    sigaction(SIGTSTP, &usual, &before);
    kill(0, SIGTSTP);
    sigaction(SIGTSTP, &before, NULL);
    plain_terminal_raw();
}

void plain_terminal_size(int *ret_columns, int *ret_rows)
{
    struct winsize size = {.ws_col = 0};
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col && size.ws_row;
    *ret_columns = known ? size.ws_col : 80;
    *ret_rows = known ? size.ws_row : 24;
}
