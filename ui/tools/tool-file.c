/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tool-file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "atomic-file.h"
#include "nearest.h"
#include "xalloc.h"

enum { LINKS_MAX = 40, NAMES_MAX = 10000 };

char *tool_path(const struct tool_context *context, const char *path)
{
    const char *home = getenv("HOME");
    if (path[0] == '~' && (path[1] == '/' || path[1] == '\0') && home && home[0])
        return xasprintf("%s%s", home, path + 1);
    if (path[0] == '/' || path[0] == '\0' || !context->cwd)
        return xstrdup(path);
    size_t size = strlen(context->cwd);
    return xasprintf("%s%s%s", context->cwd, size && context->cwd[size - 1] == '/' ? "" : "/",
                     path);
}

/* The directory of path with its slash; "" when there is none. Yours. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? xstrndup(path, (size_t)(slash + 1 - path)) : xstrdup("");
}

/*
 * ---- reading ----------------------------------------------------------------------------------
 */

static bool no_such_file(const char *path, const char *name, struct strbuf *error)
{
    char *directory = directory_of(path);
    struct nearest nearest = {path + strlen(directory), NULL, 0};
    struct strbuf names = STRBUF_INIT;
    DIR *stream = opendir(directory[0] ? directory : ".");
    struct dirent *entry;
    for (int count = 0; stream && count < NAMES_MAX && (entry = readdir(stream)); count++)
        strbuf_add(&names, entry->d_name, strlen(entry->d_name) + 1);
    for (size_t at = 0; at < names.size; at += strlen(names.data + at) + 1) {
        if (strcmp(names.data + at, ".") != 0 && strcmp(names.data + at, "..") != 0)
            nearest_offer(&nearest, names.data + at);
    }
    if (stream)
        closedir(stream);
    if (nearest.best)
        strbuf_setf(error, "%s: no such file; is it %s?", name, nearest.best);
    else if (!stream)
        strbuf_setf(error, "%s: no such file; there is no such directory either", name);
    else
        strbuf_setf(error, "%s: no such file", name);
    strbuf_free(&names);
    free(directory);
    return false;
}

static bool refuse_kind(const char *name, mode_t mode, struct strbuf *error)
{
    if (S_ISDIR(mode))
        strbuf_setf(
            error,
            "%s is a directory; search_files(\"*\", target=\"files\", path=...) lists its files",
            name);
    else
        strbuf_setf(error, "%s is no regular file", name);
    return false;
}

int tool_open(const char *path, const char *name, struct stat *ret_status, struct strbuf *error)
{
    if (!path[0]) {
        strbuf_setf(error, "the path is empty");
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) {
        if (errno == ENOENT)
            no_such_file(path, name, error);
        else
            strbuf_setf(error, "cannot read %s: %s", name, strerror(errno));
        return -1;
    }
    if (fstat(fd, ret_status) == 0 && S_ISREG(ret_status->st_mode))
        return fd;
    refuse_kind(name, ret_status->st_mode, error);
    close(fd);
    return -1;
}

bool tool_read_all(const char *path, const char *name, size_t most, struct strbuf *bytes,
                   struct strbuf *error)
{
    struct stat status;
    int fd = tool_open(path, name, &status, error);
    if (fd < 0)
        return false;
    char *block = xmalloc(65536);
    ssize_t size;
    while ((size = read(fd, block, 65536)) != 0) {
        if (size < 0 && errno == EINTR)
            continue;
        if (size < 0) {
            strbuf_setf(error, "cannot read %s: %s", name, strerror(errno));
            break;
        }
        strbuf_add(bytes, block, (size_t)size);
        if (bytes->size > most) {
            strbuf_setf(error, "%s is too big (more than %zu bytes)", name, most);
            break;
        }
    }
    free(block);
    close(fd);
    return size == 0;
}

const char *tool_binary_kind(const char *data, size_t size)
{
    if (size >= 2 && (memcmp(data, "\xFF\xFE", 2) == 0 || memcmp(data, "\xFE\xFF", 2) == 0))
        return "UTF-16 text";
    if (memchr(data, '\0', size))
        return "a binary file";
    size_t control = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)data[i];
        control += c < 0x20 && !strchr("\n\r\t\f\b\x1b", c);
    }
    return control > size / 3 ? "a binary file" : NULL;
}

/*
 * ---- writing ----------------------------------------------------------------------------------
 */

/* Where a chain of links ends, whether there is a file or not. Yours; NULL: it goes round. */
static char *end_of_links(const char *path)
{
    char *target = xstrdup(path);
    for (int i = 0; i < LINKS_MAX; i++) {
        char link[PATH_MAX];
        ssize_t size = readlink(target, link, sizeof link - 1);
        if (size < 0)
            return target;
        link[size] = '\0';
        char *directory = link[0] == '/' ? xstrdup("") : directory_of(target);
        free(target);
        target = xasprintf("%s%s", directory, link);
        free(directory);
    }
    free(target);
    errno = ELOOP;
    return NULL;
}

/*
 * Make what is missing of the directories above path. -1: errno says why; else how many were made.
 */
static int make_directories(const char *path)
{
    char *copy = xstrdup(path);
    int made = 0;
    for (char *slash = strchr(copy + 1, '/'); slash && made >= 0; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(copy, 0777) == 0)
            made++;
        else if (errno != EEXIST && access(copy, F_OK) < 0)
            made = -1;
        *slash = '/';
    }
    int number = errno;
    free(copy);
    errno = number;
    return made;
}

bool tool_write_all(const char *path, const char *name, const char *data, size_t size,
                    struct tool_written *ret_written, struct strbuf *error)
{
    struct stat status;
    struct tool_written written = {false, false};
    size_t length = strlen(path);
    if (!length) {
        strbuf_setf(error, "the path is empty");
        return false;
    }
    if (path[length - 1] == '/')
        return refuse_kind(name, S_IFDIR, error);
    char *target = end_of_links(path);
    bool good = target != NULL;
    if (good && stat(target, &status) == 0) {
        good = S_ISREG(status.st_mode) || refuse_kind(name, status.st_mode, error);
    } else if (good) {
        int made = make_directories(target);
        good = made >= 0;
        written = (struct tool_written){true, made > 0};
    }
    if (!good && !error->size)
        strbuf_setf(error, "cannot write %s: %s", name, strerror(errno));
    good = good && atomic_file_write(target, data, size, error);
    free(target);
    if (good && ret_written)
        *ret_written = written;
    return good;
}

char *tool_program(const char *name)
{
    if (strchr(name, '/'))
        return xstrdup(name);
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; at;) {
        size_t size = strcspn(at, ":");
        char *candidate = xasprintf("%.*s/%s", (int)size, at, name);
        struct stat status;
        if (size && access(candidate, X_OK) == 0 && stat(candidate, &status) == 0 &&
            S_ISREG(status.st_mode))
            return candidate;
        free(candidate);
        at = at[size] ? at + size + 1 : NULL;
    }
    return NULL;
}
