/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tree.h"

#ifdef __linux__

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KILL_ROUNDS = 20, STOP_PASSES = 16, LOOKS_AT_ONE = 15, LOOKS = 200 };

static ssize_t read_proc(pid_t pid, const char *name, char *data, size_t size)
{
    char path[64];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    n = read(fd, data, size - 1);
    close(fd);
    if (n >= 0)
        data[n] = '\0';
    return n;
}

/* The state of a process, and its session; false: it is gone. */
static bool read_stat(pid_t pid, char *ret_state, int *ret_session)
{
    char stat[512], *end;
    int parent, group;

    if (read_proc(pid, "stat", stat, sizeof stat) <= 0)
        return false;
    end = strrchr(stat, ')'); /* the name before it may hold anything */
    return end && sscanf(end + 1, " %c %d %d %d", ret_state, &parent, &group, ret_session) == 4 &&
           *ret_state != 'Z';
}

/* Not one of the system's own. */
static bool has_memory(pid_t pid)
{
    char pages[64];

    return read_proc(pid, "statm", pages, sizeof pages) > 0 && strtol(pages, NULL, 10) > 0;
}

/*
 * In the middle of its execve() a process shows an empty environment for a moment, and so does one
 * that has cleared its own for ever: each is looked at again some times, a millisecond apart, as
 * long as there are looks left.
 */
static bool has_mark(pid_t pid, const char *mark, size_t mark_size, int *looks)
{
    char environment[65536];
    ssize_t size = read_proc(pid, "environ", environment, sizeof environment);

    for (int more = LOOKS_AT_ONE; size == 0 && more > 0 && *looks > 0 && has_memory(pid); more--) {
        --*looks;
        poll(NULL, 0, 1);
        size = read_proc(pid, "environ", environment, sizeof environment);
    }
    for (char *at = environment; size > 0 && at < environment + size; at += strlen(at) + 1)
        if (strncmp(at, mark, mark_size) == 0)
            return true;
    return false;
}

/* Signal all that belong to the tree. Returns how many; for SIGSTOP, how many were running. */
static int signal_tree(const char *mark, size_t mark_size, pid_t session, int signal_number,
                       int *looks)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    int count = 0;

    while (proc && (entry = readdir(proc))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        int its_session;
        char state;

        if (pid <= 1 || pid == getpid() || !read_stat(pid, &state, &its_session) ||
            (signal_number == SIGSTOP && state == 'T'))
            continue;
        if ((session && its_session == session) || has_mark(pid, mark, mark_size, looks))
            count += kill(pid, signal_number) == 0;
    }
    if (proc)
        closedir(proc);
    return count;
}

/* They are stopped first, until none runs that could fork; again while something is found. */
int hr_tree_kill(const char *id, pid_t session)
{
    char mark[80];
    size_t size = (size_t)snprintf(mark, sizeof mark, "HERMES_TREE_ID=%s", id) + 1;
    int killed = 0, looks = LOOKS, found;

    for (int round = 0; round < KILL_ROUNDS; round++) {
        for (int pass = 0; pass < STOP_PASSES; pass++)
            if (signal_tree(mark, size, session, SIGSTOP, &looks) == 0)
                break;
        found = signal_tree(mark, size, session, SIGKILL, &looks);
        killed += found;
        if (!found)
            break;
    }
    return killed;
}

#else

int hr_tree_kill(const char *id, pid_t session)
{
    (void)id, (void)session;
    return 0;
}

#endif
