/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tree.h"

#ifdef __linux__

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static bool in_session(pid_t pid, pid_t session)
{
    char stat[512], *end;
    int parent, group, its_session;
    char state;

    if (!session || read_proc(pid, "stat", stat, sizeof stat) <= 0)
        return false;
    end = strrchr(stat, ')'); /* the name before it may hold anything */
    if (!end || sscanf(end + 1, " %c %d %d %d", &state, &parent, &group, &its_session) != 4)
        return false;
    return its_session == session && state != 'Z';
}

static bool has_mark(pid_t pid, const char *mark, size_t mark_size)
{
    char environment[65536];
    ssize_t size = read_proc(pid, "environ", environment, sizeof environment);

    for (char *at = environment; size > 0 && at < environment + size; at += strlen(at) + 1)
        if (strncmp(at, mark, mark_size) == 0)
            return true;
    return false;
}

int hr_tree_kill(const char *id, pid_t session)
{
    char mark[80];
    int size = snprintf(mark, sizeof mark, "HERMES_TREE_ID=%s", id), killed = 0, found;
    pid_t self = getpid();

    /* again while something is found: a process may fork while the list is read */
    for (int round = 0; round < 20; round++) {
        DIR *proc = opendir("/proc");
        struct dirent *entry;

        found = 0;
        while (proc && (entry = readdir(proc))) {
            pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

            if (pid <= 1 || pid == self ||
                !(has_mark(pid, mark, (size_t)size + 1) || in_session(pid, session)))
                continue;
            if (kill(pid, SIGKILL) == 0)
                found++;
        }
        if (proc)
            closedir(proc);
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
