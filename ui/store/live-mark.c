/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "live-mark.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool read_line(const char *path, char *line, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, line, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    line[got > 0 ? got : 0] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return got > 0;
}

/* The 22nd field of stat, counted behind the name, which may hold anything. -1: no such process. */
static int64_t start_of(int64_t pid)
{
    char path[64], line[1024];
    snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
    if (!read_line(path, line, sizeof(line)))
        return access("/proc/self/stat", R_OK) == 0 || (kill((pid_t)pid, 0) < 0 && errno == ESRCH)
                   ? -1
                   : 0;
    const char *at = strrchr(line, ')');
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    return at ? strtoll(at, NULL, 10) : 0;
}

static void name_host(char *host, size_t size)
{
    char boot[64];
    struct stat space;
    if (!read_line("/proc/sys/kernel/random/boot_id", boot, sizeof(boot)) &&
        gethostname(boot, sizeof(boot)) < 0)
        boot[0] = '\0';
    boot[sizeof(boot) - 1] = '\0';
    bool known = stat("/proc/self/ns/pid", &space) == 0;
    snprintf(host, size, "%s %ju", boot, known ? (uintmax_t)space.st_ino : 0);
}

void live_mark_own(struct live_mark *ret_mark)
{
    ret_mark->pid = getpid();
    ret_mark->started = start_of(ret_mark->pid);
    name_host(ret_mark->host, sizeof(ret_mark->host));
}

bool live_mark_lives(const struct live_mark *mark)
{
    char host[sizeof(mark->host)];
    name_host(host, sizeof(host));
    return strcmp(host, mark->host) == 0 && mark->pid > 0 && start_of(mark->pid) == mark->started;
}

bool live_mark_is(const struct live_mark *mark, const struct live_mark *other)
{
    return mark->pid == other->pid && mark->started == other->started &&
           strcmp(mark->host, other->host) == 0;
}
