/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tool-keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tool-tree.h"

enum { GRACE_MS = 200, MANY_FDS = 4096 };

/* Whoever reads the program's output waits for the last copy of its descriptors. */
static void hold_only(int line)
{
    dup2(line, STDIN_FILENO);
#ifdef HAVE_CLOSE_RANGE
    if (close_range(STDIN_FILENO + 1, ~0U, 0) == 0)
        return;
#endif
    for (int fd = STDIN_FILENO + 1; fd < MANY_FDS; fd++)
        close(fd);
}

/* A process of its own session: what is sent to the program's group or terminal is not for it. */
static void keep(int line, const char *mark) __attribute__((noreturn));

static void keep(int line, const char *mark)
{
    pid_t root = 0, told;
    ssize_t size;
    setsid();
    hold_only(line);
    if (chdir("/") < 0) {
        /* the directory stays in use for a while */
    }
    while ((size = read(STDIN_FILENO, &told, sizeof told)) > 0 || (size < 0 && errno == EINTR)) {
        if (size == sizeof told)
            root = told;
    }
    tool_tree_end(root, mark, GRACE_MS);
    _exit(0);
}

void tool_keeper_start(struct tool_keeper *keeper, const char *mark)
{
    int ends[2];
    sigset_t all, old;
    *keeper = (struct tool_keeper){0, -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return;
    sigfillset(&all); /* the keeper has them blocked for good */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    keeper->pid = fork();
    if (keeper->pid == 0) {
        close(ends[0]);
        keep(ends[1], mark);
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    close(ends[1]);
    keeper->line = ends[0];
    if (keeper->pid < 0)
        tool_keeper_end(keeper);
}

void tool_keeper_tell(const struct tool_keeper *keeper, pid_t root)
{
    if (keeper->pid > 0)
        send(keeper->line, &root, sizeof root, MSG_NOSIGNAL);
}

void tool_keeper_end(struct tool_keeper *keeper)
{
    if (keeper->pid > 0) {
        kill(keeper->pid, SIGKILL);
        while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    if (keeper->line >= 0)
        close(keeper->line);
    *keeper = (struct tool_keeper){0, -1};
}
