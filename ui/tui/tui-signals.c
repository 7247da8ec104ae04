/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "screen.h"
#include "tui-signals.h"

static const int caught[] = {SIGWINCH, SIGTSTP, SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCONT};
static const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* After so long a loop that has not come round writes to a terminal that takes nothing. */
#define OVERDUE_S 3

static struct sigaction before[COUNT(caught)], faults_before[COUNT(faults)], pipe_before;
static struct sigaction alarm_before;
static int wake[2] = {-1, -1};
static atomic_bool came[64]; /* the handler may run in another thread, beside the loop */
static volatile sig_atomic_t deadly;

static void on_signal(int number)
{
    int kept = errno;
    if (number == SIGTERM || number == SIGHUP) {
        if (!deadly)
            alarm(OVERDUE_S);
        deadly = number;
    } else if (number > 0 && number < 64) {
        came[number] = true;
    }
    ssize_t ignored = write(wake[1], "", 1);
    (void)ignored;
    errno = kept;
}

static void end_by(int number)
{
    struct sigaction usual = {.sa_handler = SIG_DFL};
    screen_rescue();
    sigaction(number, &usual, NULL);
    raise(number);
}

static void on_fault(int number)
{
    end_by(number);
}

static void on_overdue(int number)
{
    (void)number;
    if (deadly)
        end_by(deadly);
}

void tui_signals_install(void)
{
    if (pipe2(wake, O_CLOEXEC | O_NONBLOCK) != 0)
        wake[0] = wake[1] = -1;
    deadly = 0;
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    struct sigaction fault = {.sa_handler = on_fault, .sa_flags = SA_RESETHAND | SA_NODEFER};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    struct sigaction overdue = {.sa_handler = on_overdue, .sa_flags = SA_RESTART};
    for (size_t i = 0; i < COUNT(caught); i++)
        sigaction(caught[i], &action, &before[i]);
    for (size_t i = 0; i < COUNT(faults); i++) {
        sigaction(faults[i], NULL, &faults_before[i]);
        if (faults_before[i].sa_handler == SIG_DFL) /* a sanitizer has its own */
            sigaction(faults[i], &fault, NULL);
    }
    sigaction(SIGPIPE, &ignore, &pipe_before);
    sigaction(SIGALRM, &overdue, &alarm_before);
}

void tui_signals_done(void)
{
    alarm(0);
    sigaction(SIGALRM, &alarm_before, NULL);
    for (size_t i = 0; i < COUNT(caught); i++)
        sigaction(caught[i], &before[i], NULL);
    for (size_t i = 0; i < COUNT(faults); i++)
        sigaction(faults[i], &faults_before[i], NULL);
    sigaction(SIGPIPE, &pipe_before, NULL);
    for (int i = 0; i < 2; i++) {
        if (wake[i] >= 0)
            close(wake[i]);
        wake[i] = -1;
    }
}

int tui_signals_fd(void)
{
    return wake[0];
}

static unsigned take(int number, unsigned flag)
{
    return atomic_exchange(&came[number], false) ? flag : 0;
}

unsigned tui_signals_take(void)
{
    char bytes[64];
    while (read(wake[0], bytes, sizeof(bytes)) > 0)
        continue;
    return take(SIGWINCH, TUI_SIGNAL_SIZE) | take(SIGTSTP, TUI_SIGNAL_STOP) |
           take(SIGCHLD, TUI_SIGNAL_CHILD) | take(SIGINT, TUI_SIGNAL_INTERRUPT) |
           take(SIGQUIT, TUI_SIGNAL_QUIT) | take(SIGCONT, TUI_SIGNAL_CONTINUE);
}

int tui_signals_deadly(void)
{
    return deadly;
}

void tui_signals_stop(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, ours;
    sigaction(SIGTSTP, &usual, &ours);
    kill(0, SIGTSTP);
    sigaction(SIGTSTP, &ours, NULL);
    came[SIGCONT] = false; /* who called us takes care of it */
}
