/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "atomic-file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "xalloc.h"

enum { ATTEMPTS = 100 };

static bool refuse(struct strbuf *error, const char *path, int number)
{
    strbuf_setf(error, "cannot write %s: %s", path, strerror(number));
    return false;
}

/* A file that did not exist; *ret_name is yours. */
static int create(const char *prefix, int size, const char *name, mode_t mode, char **ret_name)
{
    int fd = -1;
    *ret_name = NULL;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint64_t random = 0;
        if (getentropy(&random, sizeof random) < 0)
            random = ((uint64_t)getpid() << 32) ^ (uint64_t)(uintptr_t)&random ^ (uint64_t)attempt;
        free(*ret_name);
        *ret_name = xasprintf("%.*s.%s-%08" PRIx64, size, prefix, name, random & 0xFFFFFFFF);
        fd = open(*ret_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
        if (fd >= 0 || errno != EEXIST)
            break;
    }
    return fd;
}

/*
 * A new file beside the target; *ret_name is yours. The mode is what the umask leaves of this one.
 */
static int open_temporary(const char *target, mode_t mode, char **ret_name)
{
    const char *slash = strrchr(target, '/');
    int directory = slash ? (int)(slash + 1 - target) : 0;
    int fd = create(target, directory, slash ? slash + 1 : target, mode, ret_name);
    if (fd < 0 && errno == ENAMETOOLONG) {
        free(*ret_name);
        fd = create(target, directory, "hermes", mode, ret_name);
    }
    return fd;
}

/* What path leads to: itself, or the end of its links even when nothing is there yet. Yours. */
static char *resolve(const char *path)
{
    char *target = realpath(path, NULL);
    return target ? target : xstrdup(path);
}

/*
 * 1: a device or a pipe, to be written as it is; 0: a file or nothing yet; -1: no, errno says why.
 */
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
    int fd = open_temporary(target, status.st_mode ? 0600 : 0666, &temporary);
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

/*
 * Owner, group and mode of the file that is replaced, as far as we may: who gets the file instead
 * gets no rights that were meant for others. A new file has what open() gave it.
 */
static bool keep_access(int fd, const struct stat *old)
{
    struct stat made;
    mode_t mode = old->st_mode & 07777;
    if (!old->st_mode)
        return true;
    if (fstat(fd, &made) < 0)
        return false;
    bool owner = made.st_uid == old->st_uid, group = made.st_gid == old->st_gid;
    if (!owner || !group)
        owner = group = fchown(fd, old->st_uid, old->st_gid) == 0;
    if (!group && (made.st_gid == old->st_gid || fchown(fd, (uid_t)-1, old->st_gid) == 0))
        group = true;
    if (!owner)
        mode &= ~(mode_t)(S_ISUID | S_ISGID);
    if (!group)
        mode = (mode & ~(mode_t)(S_ISGID | S_IRWXG)) | (mode & S_IRWXO) << 3;
    return fchmod(fd, mode) == 0;
}

/* Some file systems cannot tell. */
static bool on_disk(int fd)
{
    return fsync(fd) == 0 || errno == EINVAL || errno == ENOSYS;
}

bool atomic_file_write(const char *path, const char *data, size_t size, struct strbuf *error)
{
    struct stat status;
    int kind = look_at(path, &status);
    if (kind)
        return kind > 0 ? write_device(path, data, size, error) : refuse(error, path, errno);
    char *target = resolve(path), *temporary;
    int fd = open_temporary(target, status.st_mode ? 0600 : 0666, &temporary);
    int number = errno;
    bool good = fd >= 0;
    if (good) {
        /* On the disk before it has the name: a crash of the system leaves no empty file. */
        good = write_all(fd, data, size) && keep_access(fd, &status) && on_disk(fd);
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
