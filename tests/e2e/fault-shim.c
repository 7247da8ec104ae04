/* SPDX-License-Identifier: MIT */
/*
 * Loaded before the C library (LD_PRELOAD): the n-th open, read, write, fsync, rename or mkdir that
 * concerns a directory fails, or the n-th pipe, socket, process or thread that is made. Tests say
 * which, in the environment, and read from a file whether there was such a one. What the program
 * starts is spared.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char kind[16], under[4096], told[4096];
static long number;
static atomic_long seen;

__attribute__((constructor)) static void begin(void)
{
    static const char *const names[] = {"FAULT_KIND", "FAULT_UNDER", "FAULT_TOLD", "FAULT_NUMBER",
                                        "LD_PRELOAD"};
    const char *values[5];

    for (int i = 0; i < 5; i++)
        values[i] = getenv(names[i]) ? getenv(names[i]) : "";
    snprintf(kind, sizeof kind, "%s", values[0]);
    snprintf(under, sizeof under, "%s", values[1]);
    snprintf(told, sizeof told, "%s", values[2]);
    number = strtol(values[3], NULL, 10);
    for (int i = 0; i < 5; i++)
        unsetenv(names[i]);
}

/* Whether this is the one; what stands in the file then. */
static bool is_it(const char *operation, const char *path, int error)
{
    int fd;

    if (strcmp(kind, operation) || atomic_fetch_add(&seen, 1) + 1 != number)
        return false;
    fd = (int)syscall(SYS_openat, AT_FDCWD, told, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    syscall(SYS_write, fd, path, strlen(path));
    syscall(SYS_close, fd);
    errno = error;
    return true;
}

static bool fails(const char *operation, const char *path, int error)
{
    return strncmp(path, under, strlen(under)) == 0 && is_it(operation, path, error);
}

/* The same of a descriptor. */
static bool fails_fd(const char *operation, int fd, int error)
{
    char name[40], path[4096];
    ssize_t size;

    if (strcmp(kind, operation))
        return false;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    size = readlink(name, path, sizeof path - 1);
    path[size > 0 ? size : 0] = '\0';
    return fails(operation, path, error);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name)                                                                                 \
    int name(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                    \
        va_end(list);                                                                              \
        return fails("open", path, EMFILE) ? -1 : REAL(name)(path, flags, mode);                   \
    }
#define OPENAT(name)                                                                               \
    int name(int directory, const char *path, int flags, ...)                                      \
    {                                                                                              \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                    \
        va_end(list);                                                                              \
        return fails("open", path, EMFILE) ? -1 : REAL(name)(directory, path, flags, mode);        \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void *data, size_t size)
{
    return fails_fd("write", fd, ENOSPC) ? -1 : REAL(write)(fd, data, size);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
    return fails_fd("write", fd, ENOSPC) ? -1 : REAL(writev)(fd, parts, count);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
    return fails_fd("write", fd, ENOSPC) ? -1 : REAL(pwrite)(fd, data, size, at);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t at)
{
    return fails_fd("write", fd, ENOSPC) ? -1 : REAL(pwrite64)(fd, data, size, at);
}

int fsync(int fd)
{
    return fails_fd("fsync", fd, EIO) ? -1 : REAL(fsync)(fd);
}

int fdatasync(int fd)
{
    return fails_fd("fsync", fd, EIO) ? -1 : REAL(fdatasync)(fd);
}

int rename(const char *from, const char *to)
{
    return fails("rename", to, EIO) ? -1 : REAL(rename)(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    return fails("mkdir", path, ENOSPC) ? -1 : REAL(mkdir)(path, mode);
}

ssize_t read(int fd, void *data, size_t size)
{
    return fails_fd("read", fd, EIO) ? -1 : REAL(read)(fd, data, size);
}

ssize_t pread(int fd, void *data, size_t size, off_t at)
{
    return fails_fd("read", fd, EIO) ? -1 : REAL(pread)(fd, data, size, at);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t at)
{
    return fails_fd("read", fd, EIO) ? -1 : REAL(pread64)(fd, data, size, at);
}

/* ---- what has no place on the disk ------------------------------------------------------------ */

int pipe(int ends[2])
{
    return is_it("pipe", "pipe", EMFILE) ? -1 : REAL(pipe)(ends);
}

int pipe2(int ends[2], int flags)
{
    return is_it("pipe", "pipe2", EMFILE) ? -1 : REAL(pipe2)(ends, flags);
}

int socket(int domain, int type, int protocol)
{
    return is_it("socket", "socket", EMFILE) ? -1 : REAL(socket)(domain, type, protocol);
}

int socketpair(int domain, int type, int protocol, int ends[2])
{
    return is_it("socket", "socketpair", EMFILE) ? -1
                                                 : REAL(socketpair)(domain, type, protocol, ends);
}

int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const argv[], char *const environment[])
{
    return is_it("spawn", path, EAGAIN)
               ? EAGAIN
               : REAL(posix_spawn)(pid, path, actions, attributes, argv, environment);
}

pid_t fork(void)
{
    return is_it("spawn", "fork", EAGAIN) ? -1 : REAL(fork)();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *argument)
{
    return is_it("thread", "pthread_create", EAGAIN)
               ? EAGAIN
               : REAL(pthread_create)(thread, attributes, run, argument);
}
