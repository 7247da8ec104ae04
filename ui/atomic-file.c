/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "atomic-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "xalloc.h"

static bool refuse(struct strbuf *error, const char *path, int number)
{
    strbuf_setf(error, "cannot write %s: %s", path, strerror(number));
    return false;
}

/* A new file beside the target; *ret_name is yours. */
static int open_temporary(const char *target, char **ret_name)
{
    const char *slash = strrchr(target, '/');
    int directory = slash ? (int)(slash + 1 - target) : 0;
    *ret_name = xasprintf("%.*s.%s.XXXXXX", directory, target, slash ? slash + 1 : target);
    int fd = mkostemp(*ret_name, O_CLOEXEC);
    if (fd < 0 && errno == ENAMETOOLONG) {
        free(*ret_name);
        *ret_name = xasprintf("%.*s.hermes-XXXXXX", directory, target);
        fd = mkostemp(*ret_name, O_CLOEXEC);
    }
    return fd;
}

/* What path leads to: itself, or the end of its links even when nothing is there yet. Yours. */
static char *resolve(const char *path)
{
    char *target = realpath(path, NULL);
    return target ? target : xstrdup(path);
}

/* 1: a device or a pipe, to be written as it is; 0: a file or nothing yet; -1: no, errno says why. */
static int look_at(const char *path, struct stat *status)
{
    if (stat(path, status) < 0) {
        status->st_mode = 0;
        return errno == ENOENT && path[0] ? 0 : -1;
    }
    if (S_ISDIR(status->st_mode)) {
        errno = EISDIR;
        return -1;
    }
    return !S_ISREG(status->st_mode);
}

bool atomic_file_check(const char *path, struct strbuf *error)
{
    struct stat status;
    int kind = look_at(path, &status);
    if (kind < 0)
        return refuse(error, path, errno);
    if (access(path, W_OK) < 0 && errno != ENOENT)
        return refuse(error, path, errno);
    if (kind)
        return true;
    char *target = resolve(path), *temporary;
    int fd = open_temporary(target, &temporary);
    int number = errno;
    if (fd >= 0) {
        close(fd);
        unlink(temporary);
    }
    free(temporary);
    free(target);
    return fd >= 0 || refuse(error, path, number);
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t done = write(fd, data, size);
        if (done < 0 && errno != EINTR)
            return false;
        if (done > 0) {
            data += done;
            size -= (size_t)done;
        }
    }
    return true;
}

static bool write_device(const char *path, const char *data, size_t size, struct strbuf *error)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return refuse(error, path, errno);
    bool good = write_all(fd, data, size);
    int number = errno;
    close(fd);
    return good || refuse(error, path, number);
}

/* The mode of the file that is replaced, or what a new one gets. */
static mode_t mode_for(const struct stat *status)
{
    if (status->st_mode)
        return status->st_mode & 07777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

bool atomic_file_write(const char *path, const char *data, size_t size, struct strbuf *error)
{
    struct stat status;
    int kind = look_at(path, &status);
    if (kind)
        return kind > 0 ? write_device(path, data, size, error) : refuse(error, path, errno);
    char *target = resolve(path), *temporary;
    int fd = open_temporary(target, &temporary);
    int number = errno;
    bool good = fd >= 0;
    if (good) {
        good = write_all(fd, data, size) && fchmod(fd, mode_for(&status)) == 0;
        number = errno;
        if (close(fd) < 0 && good) {
            good = false;
            number = errno;
        }
        if (good && rename(temporary, target) < 0) {
            good = false;
            number = errno;
        }
        if (!good)
            unlink(temporary);
    }
    free(temporary);
    free(target);
    return good || refuse(error, path, number);
}
