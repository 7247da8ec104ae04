/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "spill.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "text.h"

#define PREFIX "stdout-"
#define SUFFIX ".txt"
#define HEX_SIZE 16
#define CAP_LINE_SIZE 80
#define DIRECTORY_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* ---- the directory ---------------------------------------------------------------------- */

/* Make path and the parents of it that are missing; only what does not exist yet gets a mode. */
static void make_directories(const char *path)
{
    char *copy = hr_strdup(path), *slash;

    if (!copy)
        return;
    for (slash = copy; *slash == '/'; slash++)
        ;
    while ((slash = strchr(slash, '/'))) {
        *slash = '\0';
        if (!HR_FAULT(HR_FAULT_MKDIR))
            (void)mkdir(copy, 0700);
        *slash++ = '/';
    }
    if (!HR_FAULT(HR_FAULT_MKDIR))
        (void)mkdir(copy, 0700);
    hr_free(copy);
}

/* A descriptor of the directory, if it is ours and nobody else can write into it. */
static int open_directory(const char *path)
{
    struct stat status;
    int fd = HR_FAULT(HR_FAULT_OPEN) ? -1 : open(path, DIRECTORY_FLAGS);

    if (fd < 0) {
        make_directories(path);
        fd = HR_FAULT(HR_FAULT_OPEN) ? -1 : open(path, DIRECTORY_FLAGS);
    }
    if (fd >= 0 && (fstat(fd, &status) != 0 || status.st_uid != geteuid() ||
                    (status.st_mode & (S_IWGRP | S_IWOTH)))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool is_spill_name(const char *name)
{
    size_t prefix = strlen(PREFIX);

    return strncmp(name, PREFIX, prefix) == 0 &&
           strspn(name + prefix, "0123456789abcdef") == HEX_SIZE &&
           strcmp(name + prefix + HEX_SIZE, SUFFIX) == 0;
}

struct entry {
    time_t changed;
    char name[sizeof PREFIX SUFFIX + HEX_SIZE];
};

static int newest_first(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;

    return (left->changed < right->changed) - (left->changed > right->changed);
}

/* The spill files in a directory, as far as memory goes. */
static struct entry *list_entries(DIR *directory, size_t *ret_count)
{
    struct entry *entries = NULL, *more;
    size_t capacity = 0, count = 0;
    struct dirent *found;
    struct stat status;

    while ((found = readdir(directory))) {
        if (!is_spill_name(found->d_name) ||
            fstatat(dirfd(directory), found->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
            !S_ISREG(status.st_mode))
            continue;
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 64;
            more = hr_realloc(entries, capacity * sizeof *entries);
            if (!more)
                break;
            entries = more;
        }
        entries[count].changed = status.st_mtime;
        memcpy(entries[count++].name, found->d_name, sizeof entries->name);
    }
    *ret_count = count;
    return entries;
}

/* Remove what is too old or too much, to make room for one more file. */
static void sweep(int directory_fd)
{
    time_t now = time(NULL);
    int fd = openat(directory_fd, ".", DIRECTORY_FLAGS);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    struct entry *entries;
    size_t count, i;

    if (!directory) {
        if (fd >= 0)
            close(fd);
        return;
    }
    entries = list_entries(directory, &count);
    if (entries)
        qsort(entries, count, sizeof *entries, newest_first);
    for (i = 0; entries && i < count; i++)
        if (i + 1 >= HR_SPILL_KEEP || entries[i].changed < now - HR_SPILL_SECONDS)
            (void)unlinkat(directory_fd, entries[i].name, 0);
    hr_free(entries);
    closedir(directory);
}

/* ---- the file --------------------------------------------------------------------------- */

static bool random_name(char *name, size_t size)
{
    unsigned char raw[HEX_SIZE / 2];
    size_t used = strlen(PREFIX), i;

    if (getentropy(raw, sizeof raw) != 0)
        return false;
    memcpy(name, PREFIX, used);
    for (i = 0; i < sizeof raw; i++, used += 2)
        snprintf(name + used, size - used, "%02x", raw[i]);
    snprintf(name + used, size - used, "%s", SUFFIX);
    return true;
}

/* directory/name, made absolute. */
static char *absolute_path(const char *directory, const char *name)
{
    char *cwd, *path;

    if (directory[0] == '/')
        return hr_printf("%s%s%s", directory, directory[strlen(directory) - 1] == '/' ? "" : "/",
                         name);
    cwd = getcwd(NULL, 0);
    path = cwd ? hr_printf("%s/%s/%s", cwd, directory, name) : NULL;
    free(cwd); /* getcwd's own */
    return path;
}

/* Bytes that a file may hold before the system sends SIGXFSZ, which would end the host. */
static uint64_t file_size_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur > CAP_LINE_SIZE ? limit.rlim_cur - CAP_LINE_SIZE : 0;
}

static bool create_file(struct hr_spill *spill)
{
    int attempt;

    for (attempt = 0; attempt < 4; attempt++) {
        if (!random_name(spill->name, sizeof spill->name) || HR_FAULT(HR_FAULT_OPEN))
            return false;
        spill->fd = openat(spill->directory_fd, spill->name,
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (spill->fd >= 0)
            return fchmod(spill->fd, 0600) == 0;
        spill->name[0] = '\0'; /* it is not ours to remove */
        if (errno != EEXIST)
            break;
    }
    return false;
}

void hr_spill_init(struct hr_spill *spill)
{
    memset(spill, 0, sizeof *spill);
    spill->directory_fd = spill->fd = -1;
}

bool hr_spill_open(struct hr_spill *spill, const char *directory, uint64_t limit)
{
    uint64_t system_limit = file_size_limit();

    spill->limit = limit < system_limit ? limit : system_limit;
    if (spill->limit == 0 || *directory == '\0')
        return false;
    spill->directory_fd = open_directory(directory);
    if (spill->directory_fd < 0)
        return false;
    sweep(spill->directory_fd);
    if (!create_file(spill) || !(spill->path = absolute_path(directory, spill->name))) {
        hr_spill_discard(spill);
        return false;
    }
    return true;
}

static bool write_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = -1;

        errno = ENOSPC;
        if (!HR_FAULT(HR_FAULT_WRITE))
            n = write(fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data += n;
        size -= (size_t)n;
    }
    return true;
}

static bool write_cap_line(struct hr_spill *spill)
{
    char line[CAP_LINE_SIZE];
    int n = snprintf(line, sizeof line, "%s[... spill capped at %llu bytes ...]\n",
                     spill->line_open ? "\n" : "", (unsigned long long)spill->limit);

    spill->capped = true;
    return write_all(spill->fd, line, (size_t)n);
}

void hr_spill_write(struct hr_spill *spill, const char *text, size_t size)
{
    bool ok = true;
    size_t room, n = size;

    if (spill->fd < 0 || spill->capped || size == 0)
        return;
    if (size > spill->limit - spill->size) {
        room = (size_t)(spill->limit - spill->size);
        n = hr_utf8_cut_before(text, room);
    }
    if (n > 0) {
        ok = write_all(spill->fd, text, n);
        spill->size += n;
        spill->line_open = text[n - 1] != '\n';
    }
    if (ok && n < size)
        ok = write_cap_line(spill);
    if (!ok)
        hr_spill_discard(spill);
}

static void close_fds(struct hr_spill *spill)
{
    if (spill->fd >= 0)
        close(spill->fd);
    if (spill->directory_fd >= 0)
        close(spill->directory_fd);
    spill->fd = spill->directory_fd = -1;
}

void hr_spill_close(struct hr_spill *spill)
{
    int fd = spill->fd;

    spill->fd = -1;
    if (fd >= 0 && close(fd) != 0 && errno != EINTR)
        hr_spill_discard(spill); /* a late error of a network file system */
    else
        close_fds(spill);
}

void hr_spill_discard(struct hr_spill *spill)
{
    if (spill->directory_fd >= 0 && spill->name[0])
        (void)unlinkat(spill->directory_fd, spill->name, 0);
    else if (spill->path)
        (void)unlink(spill->path);
    close_fds(spill);
    hr_free(spill->path);
    spill->path = NULL;
}

void hr_spill_done(struct hr_spill *spill)
{
    hr_spill_close(spill);
    hr_free(spill->path);
    hr_spill_init(spill);
}
