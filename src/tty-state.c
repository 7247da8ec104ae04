/* SPDX-License-Identifier: MIT */
/*
 * hermes_input_state(): what the programs at a terminal do about input. The modes are the
 * terminal's. Whether somebody waits stands in /proc: the system call that a thread sleeps in, and
 * what its descriptor is. Where the system does not tell that, the name of the kernel function it
 * sleeps in; where it tells nothing (another user's program, like sudo), a sleep with the echo off.
 *
 * Only the kernel's own processes are looked at, the first ones HR_LOOKED_AT_MAX.
 */
#include "config.h"

#include "tty.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "engine-private.h"
#include "list.h"

enum { LOOKED_AT_MAX = 256, THREADS_MAX = 64, OWN_TERMINAL_MAJOR = 5 };

/* What is to be known, taken with the lock held. */
struct question {
    pid_t root;       /* of the kernel's processes */
    pid_t python;     /* the one that is asked first */
    pid_t foreground; /* process group */
    dev_t terminal;
    bool raw, no_echo;
};

/* ---- /proc ------------------------------------------------------------------------------ */

/* Returns how much it is, or -1; NUL-ended. */
static ssize_t read_text(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, size - 1);

    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n;
}

/* Process group and state; false: gone. */
static bool read_stat(pid_t pid, pid_t *ret_group, char *ret_state)
{
    char path[64], text[512], *end;
    int parent, group;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    if (read_text(path, text, sizeof text) <= 0)
        return false;
    end = strrchr(text, ')'); /* of the program's name, which may hold anything */
    if (!end || sscanf(end + 1, " %c %d %d", ret_state, &parent, &group) != 3)
        return false;
    *ret_group = group;
    return true;
}

static bool is_terminal(const struct question *question, pid_t pid, unsigned long fd)
{
    char path[64];
    struct stat status;

    snprintf(path, sizeof path, "/proc/%d/fd/%lu", (int)pid, fd);
    return stat(path, &status) == 0 && S_ISCHR(status.st_mode) &&
           (status.st_rdev == question->terminal ||
            status.st_rdev == makedev(OWN_TERMINAL_MAJOR, 0)); /* /dev/tty */
}

static bool is_poll(long call)
{
    static const long calls[] = {
#ifdef SYS_select
        SYS_select,
#endif
#ifdef SYS_poll
        SYS_poll,
#endif
#ifdef SYS_epoll_wait
        SYS_epoll_wait,
#endif
        SYS_pselect6,   SYS_ppoll, SYS_epoll_pwait,
    };

    for (size_t i = 0; i < HR_ARRAY_LENGTH(calls); i++)
        if (call == calls[i])
            return true;
    return false;
}

/* ---- who waits -------------------------------------------------------------------------- */

enum answer { NO, YES, UNKNOWN };

/* By the system call that the thread is in. */
static enum answer thread_reads(const struct question *question, pid_t pid, const char *thread)
{
    char path[400], text[256];
    unsigned long fd;
    long call;

    snprintf(path, sizeof path, "/proc/%d/task/%s/syscall", (int)pid, thread);
    if (read_text(path, text, sizeof text) > 0) {
        if (sscanf(text, "%ld %lx", &call, &fd) != 2)
            return NO; /* it runs */
        if (call == SYS_read
#ifdef SYS_readv
            || call == SYS_readv
#endif
        )
            return is_terminal(question, pid, fd) ? YES : NO;
        return question->raw && is_poll(call) ? YES : NO;
    }
    snprintf(path, sizeof path, "/proc/%d/task/%s/wchan", (int)pid, thread);
    if (read_text(path, text, sizeof text) <= 0 || strcmp(text, "0") == 0)
        return UNKNOWN;
    return strstr(text, "n_tty_read") || strstr(text, "wait_woken") ||
                   (question->raw && strstr(text, "poll"))
               ? YES
               : NO;
}

static bool process_reads(const struct question *question, pid_t pid, char state)
{
    char path[64];
    struct dirent *entry;
    bool waits = false, unknown = false;
    DIR *tasks;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    for (int n = 0; tasks && !waits && n < THREADS_MAX && (entry = readdir(tasks)); n++) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        enum answer answer = thread_reads(question, pid, entry->d_name);

        waits = answer == YES;
        unknown |= answer == UNKNOWN;
    }
    if (tasks)
        closedir(tasks);
    return waits || (unknown && state == 'S' && question->no_echo);
}

static bool in_foreground_and_reads(const struct question *question, pid_t pid)
{
    pid_t group;
    char state;

    return read_stat(pid, &group, &state) && group == question->foreground &&
           process_reads(question, pid, state);
}

/* Append the children of a process. Returns how many there are now. */
static size_t add_children(pid_t pid, pid_t *list, size_t count)
{
    char path[400], text[4096], *at, *end;
    struct dirent *entry;
    DIR *tasks;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    tasks = opendir(path);
    while (tasks && (entry = readdir(tasks))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, entry->d_name);
        read_text(path, text, sizeof text);
        for (at = text; count < LOOKED_AT_MAX; at = end) {
            long child = strtol(at, &end, 10);

            if (end == at)
                break;
            list[count++] = (pid_t)child;
        }
    }
    if (tasks)
        closedir(tasks);
    return count;
}

static bool somebody_reads(const struct question *question)
{
    pid_t list[LOOKED_AT_MAX];
    size_t count = 1;

    if (in_foreground_and_reads(question, question->python))
        return true;
    list[0] = question->root;
    for (size_t i = 0; i < count; i++) {
        if (list[i] != question->python && in_foreground_and_reads(question, list[i]))
            return true;
        count = add_children(list[i], list, count);
    }
    return false;
}

int hermes_input_state(struct hermes_engine *engine, uint64_t id)
{
    struct question question = {0};
    struct hr_kernel *kernel;
    struct termios modes;
    struct stat slave;
    int state = HERMES_ENOENT, master;

    hr_engine_lock(engine);
    kernel = hr_engine_find_kernel(engine, id);
    master = kernel && kernel->tty ? kernel->streams[0].watch.fd : -1;
    if (master >= 0 && tcgetattr(master, &modes) == 0) { /* those of the slave */
        question.raw = !(modes.c_lflag & ICANON);
        question.no_echo = !(modes.c_lflag & ECHO);
        question.python = kernel->process.python;
        question.root = kernel->process.child;
        if (ioctl(master, TIOCGPGRP, &question.foreground))
            question.foreground = 0;
        if (stat(kernel->tty->path, &slave) == 0)
            question.terminal = slave.st_rdev;
        state =
            (question.raw ? HERMES_INPUT_RAW : 0) | (question.no_echo ? HERMES_INPUT_NO_ECHO : 0);
    }
    hr_engine_unlock(engine);
    if (state >= 0 && question.foreground > 0 && question.python > 0 && somebody_reads(&question))
        state |= HERMES_INPUT_WAITS;
    return state;
}
