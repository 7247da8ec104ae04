/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "holdings.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "list.h"

enum { SOCKETS_MAX = 256 };

static const char CANNOT_BE_TOLD[] = "is of a system that does not tell what it holds";

/* The beginning of a file below /proc/PID, as a text; false: it cannot be read. */
static bool read_proc(pid_t pid, const char *name, char *text, size_t size)
{
    char path[320];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd < 0 ? -1 : read(fd, text, size - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = '\0';
    return n >= 0;
}

static DIR *open_proc(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    return opendir(path);
}

/* One that is not known, in a list of /proc. */
static bool has_other(const char *text, const pid_t *known, size_t count)
{
    for (char *end; *text; text = end) {
        pid_t pid = (pid_t)strtol(text, &end, 10);
        size_t i = 0;

        if (end == text)
            break;
        while (i < count && known[i] != pid)
            i++;
        if (i == count)
            return true;
    }
    return false;
}

/* Of all its threads. */
static bool has_children(pid_t pid, const pid_t *known, size_t count)
{
    DIR *tasks = open_proc(pid, "task");
    struct dirent *entry;
    bool found = false;

    while (tasks && !found && (entry = readdir(tasks))) {
        char name[288], text[256];

        snprintf(name, sizeof name, "task/%s/children", entry->d_name);
        found = *entry->d_name != '.' && read_proc(pid, name, text, sizeof text) &&
                has_other(text, known, count);
    }
    if (tasks)
        closedir(tasks);
    return found;
}

/* ---- what is open ----------------------------------------------------------------------- */

static bool is_gpu(const char *path)
{
    static const char *const devices[] = {"/dev/nvidia", "/dev/kfd", "/dev/dri/"};

    for (size_t i = 0; i < HR_ARRAY_LENGTH(devices); i++)
        if (strncmp(path, devices[i], strlen(devices[i])) == 0)
            return true;
    return false;
}

static bool is_in(const unsigned long *sockets, size_t count, unsigned long inode)
{
    for (size_t i = 0; i < count; i++)
        if (sockets[i] == inode)
            return true;
    return false;
}

/* Whether one of the sockets waits for connections, by a table like /proc/PID/net/tcp. */
static bool listens(pid_t pid, const char *table, const unsigned long *sockets, size_t count)
{
    char path[64], line[512];
    unsigned state;
    unsigned long inode;
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, table);
    file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = sscanf(line, "%*s %*s %*s %x %*s %*s %*s %*s %*s %lu", &state, &inode) == 2 &&
                state == 0x0a && is_in(sockets, count, inode);
    if (file)
        fclose(file);
    return found;
}

static const char *open_things(pid_t pid)
{
    unsigned long sockets[SOCKETS_MAX];
    DIR *folder = open_proc(pid, "fd");
    struct dirent *entry;
    size_t count = 0;
    bool gpu = false;

    if (!folder)
        return CANNOT_BE_TOLD;
    while (!gpu && (entry = readdir(folder))) {
        char target[64] = "";

        if (readlinkat(dirfd(folder), entry->d_name, target, sizeof target - 1) < 0)
            continue;
        gpu = is_gpu(target);
        if (strncmp(target, "socket:[", 8) == 0 && count < SOCKETS_MAX)
            sockets[count++] = strtoul(target + 8, NULL, 10);
    }
    closedir(folder);
    if (gpu)
        return "uses a GPU";
    if (listens(pid, "net/tcp", sockets, count) || listens(pid, "net/tcp6", sockets, count))
        return "listens on a port";
    return NULL;
}

/* ---- public ----------------------------------------------------------------------------- */

const char *hr_holdings_of(pid_t pid, pid_t guard, const pid_t *known, size_t count)
{
    if (has_children(pid, known, count) || (guard && has_children(guard, known, count)))
        return "has started processes that still run";
    return open_things(pid);
}

int64_t hr_holdings_memory(pid_t pid)
{
    long long size, resident, shared;
    char text[128];

    if (!read_proc(pid, "statm", text, sizeof text) ||
        sscanf(text, "%lld %lld %lld", &size, &resident, &shared) != 3)
        return -1;
    return (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
}
