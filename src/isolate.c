/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "isolate.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "list.h"

/*
 * /run goes because of the sockets in there: who may talk to the session's or the system's services
 * can start programs outside.
 */
static const char *const hidden[] = {"/tmp", "/var/tmp", "/run", "/dev"};

int hr_isolate_find(char *ret)
{
    const char *at = getenv("PATH"), *end;

    for (at = at && *at ? at : "/usr/bin:/bin";; at = end + 1) {
        end = strchrnul(at, ':');
        if (*at == '/' && snprintf(ret, PATH_MAX, "%.*s/bwrap", (int)(end - at), at) < PATH_MAX &&
            access(ret, X_OK) == 0)
            return 0;
        if (!*end)
            return ENOENT;
    }
}

/* Whether path is that directory or in it. */
static bool is_in(const char *path, const char *directory)
{
    size_t length = directory ? strlen(directory) : 0;

    return length && path && strncmp(path, directory, length) == 0 &&
           (path[length] == '\0' || path[length] == '/');
}

static bool is_hidden(const char *path)
{
    for (size_t i = 0; i < HR_ARRAY_LENGTH(hidden); i++)
        if (is_in(path, hidden[i]))
            return true;
    return false;
}

/* It would take the system, or what is private, back in. */
static bool holds_the_system(const char *path)
{
    if (strcmp(path, "/") == 0)
        return true;
    for (size_t i = 0; i < HR_ARRAY_LENGTH(hidden); i++)
        if (is_in(hidden[i], path))
            return true;
    return false;
}

static void add_mount(char **argv, size_t *count, const char *kind, const char *from,
                      const char *to)
{
    argv[(*count)++] = (char *)kind;
    argv[(*count)++] = (char *)from;
    argv[(*count)++] = (char *)to;
}

size_t hr_isolate_arguments(const struct hr_isolation *isolation, const char *bwrap, char **argv)
{
    static const char *const fixed[] = {
        "--unshare-user-try",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--cap-drop",
        "ALL",
        "--setenv",
        "TMPDIR",
        "/tmp",
        "--ro-bind",
        "/",
        "/",
        "--dev",
        "/dev",
        "--proc",
        "/proc",
    };
    const char *cwd = isolation->cwd && !holds_the_system(isolation->cwd) ? isolation->cwd : NULL;
    size_t count = 0;

    argv[count++] = (char *)bwrap;
    for (size_t i = 0; i < HR_ARRAY_LENGTH(fixed); i++)
        argv[count++] = (char *)fixed[i];
    for (size_t i = 0; i + 1 < HR_ARRAY_LENGTH(hidden); i++) {
        if (access(hidden[i], F_OK))
            continue;
        argv[count++] = (char *)"--tmpfs";
        argv[count++] = (char *)hidden[i];
    }
    if (cwd)
        add_mount(argv, &count, "--bind", cwd, cwd);
    for (size_t i = 0; i < HR_ISOLATE_READABLE; i++) {
        const char *path = isolation->readable[i];

        if (path && !holds_the_system(path) && (is_hidden(path) || is_in(path, cwd)) &&
            !is_in(cwd, path))
            add_mount(argv, &count, "--ro-bind-try", path, path);
    }
    if (isolation->staging)
        add_mount(argv, &count, "--bind", isolation->staging, isolation->staging);
    if (isolation->terminal)
        add_mount(argv, &count, "--dev-bind", isolation->terminal, HR_ISOLATE_TERMINAL);
    argv[count++] = (char *)"--chdir";
    argv[count++] = (char *)(isolation->start ? isolation->start : "/");
    argv[count++] = (char *)"--";
    return count;
}

pid_t hr_isolate_inner(pid_t pid, int n)
{
    for (; n > 0 && pid > 0; n--) {
        char path[64], text[32] = "";
        ssize_t size;
        int fd;

        snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        size = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (fd >= 0)
            close(fd);
        pid = size > 0 ? (pid_t)strtol(text, NULL, 10) : 0;
    }
    return pid > 0 ? pid : 0;
}
