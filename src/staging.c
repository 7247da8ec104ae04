/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "staging.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "buf.h"
#include "options.h"

enum {
    HOST_TEXT_MAX = 256,
    RANDOM_BYTES = 8,
    NAME_TRIES = 16,
    OLD_SECONDS = 7 * 24 * 3600,
    PASSES_MAX =
        100000, /* more than directories can be nested, for one that somebody still fills */
};

static const char prefix[] = "hermes_kernel_";
static const char host_name[] = ".host";

/* The places to try, in order, NULL-ended. */
static void list_roots(const char *roots[HR_STAGING_ROOTS + 1])
{
    const char *temporary = getenv("TMPDIR"), *runtime = getenv("XDG_RUNTIME_DIR");
    size_t n = 0;

    if (temporary && *temporary == '/')
        roots[n++] = temporary;
    roots[n++] = "/tmp";
    roots[n++] = "/var/tmp";
    if (runtime && *runtime == '/')
        roots[n++] = runtime;
    roots[n] = NULL;
}

/* ---- who the host is -------------------------------------------------------------------- */

/* Up to size - 1 bytes of a file and a NUL; false: none. A fifo or a link in its place is not
 * waited for or followed. */
static bool read_small(int directory, const char *name, char *data, size_t size)
{
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    struct stat info;
    ssize_t n = -1;

    if (fd < 0)
        return false;
    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        n = read(fd, data, size - 1);
    close(fd);
    data[n > 0 ? n : 0] = '\0';
    return n > 0;
}

/* When a process started, in clock ticks since boot; 0: there is no such process, or it has ended.
 */
static unsigned long long start_time(long pid)
{
    unsigned long threads = 0;
    char path[64], text[1024], *at, state;

    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    if (!read_small(AT_FDCWD, path, text, sizeof text) || !(at = strrchr(text, ')')) ||
        at[1] != ' ')
        return 0;
    state = at[2];
    for (int field = 2; field < 22; field++) {
        at = strchr(at + 1, ' ');
        if (!at)
            return 0;
        if (field == 19)
            threads = strtoul(at + 1, NULL, 10);
    }
    if ((state == 'Z' && threads < 2) || state == 'X') /* with other threads it is no zombie */
        return 0;
    return strtoull(at + 1, NULL, 10);
}

/* What must be equal for pids to mean the same: the boot of a machine, and the pid namespace. */
static void describe_world(char *text, size_t size)
{
    char boot[64] = "", space[64] = "";
    ssize_t n = readlink("/proc/self/ns/pid", space, sizeof space - 1);

    space[n > 0 ? n : 0] = '\0';
    read_small(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    boot[strcspn(boot, "\n")] = '\0';
    snprintf(text, size, "%s %s", boot, space);
}

static void describe_host(char *text, size_t size)
{
    char world[HOST_TEXT_MAX / 2];
    long pid = (long)getpid();

    describe_world(world, sizeof world);
    snprintf(text, size, "%ld %llu %s\n", pid, start_time(pid), world);
}

enum host { HOST_UNKNOWN, HOST_LIVES, HOST_GONE };

static enum host look_for_host(int directory)
{
    char text[HOST_TEXT_MAX], world[HOST_TEXT_MAX / 2], *end;
    unsigned long long started, now;
    long pid;

    if (!read_small(directory, host_name, text, sizeof text))
        return HOST_UNKNOWN;
    pid = strtol(text, &end, 10);
    if (pid <= 0 || *end != ' ')
        return HOST_UNKNOWN;
    started = strtoull(end + 1, &end, 10);
    describe_world(world, sizeof world);
    if (*end != ' ' || strncmp(end + 1, world, strlen(world)) || end[1 + strlen(world)] != '\n')
        return HOST_UNKNOWN;
    now = start_time(pid);
    if (!started || (!now && access("/proc/self/stat", F_OK))) /* there are no start times here */
        return kill((pid_t)pid, 0) == 0 || errno == EPERM ? HOST_LIVES : HOST_GONE;
    return now == started ? HOST_LIVES : HOST_GONE;
}

/* ---- create ----------------------------------------------------------------------------- */

static int write_host(int directory)
{
    char text[HOST_TEXT_MAX];
    size_t size, done = 0;
    int error = 0, fd;

    describe_host(text, sizeof text);
    size = strlen(text);
    fd = HR_FAULT(HR_FAULT_OPEN)
             ? -1
             : openat(directory, host_name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                      0600);
    if (fd < 0)
        return errno;
    fchmod(fd, 0600); /* the umask may have taken more */
    while (done < size && !error) {
        ssize_t n = HR_FAULT(HR_FAULT_WRITE) ? -1 : write(fd, text + done, size - done);

        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            error = n ? errno : EIO;
    }
    if (close(fd) && !error)
        error = errno;
    return error;
}

/* Whatever the umask was, the directory is 0700 and ours. */
static int furnish(const char *path)
{
    int fd =
        HR_FAULT(HR_FAULT_OPEN) ? -1 : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int error = 0;
    struct stat info;

    if (fd < 0 && errno == EACCES &&
        chmod(path, 0700) == 0) /* a umask that takes the owner's rights */
        fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno;
    if (fstat(fd, &info))
        error = errno;
    else if (info.st_uid != geteuid())
        error = EPERM;
    else if (fchmod(fd, 0700))
        error = errno;
    else
        error = write_host(fd);
    close(fd);
    return error;
}

/* 0 or an errno. */
static int create_below(const char *root, char **ret_path)
{
    unsigned char random[RANDOM_BYTES];
    char name[2 * RANDOM_BYTES + 1], *path;
    int error = EEXIST;

    for (int attempt = 0; attempt < NAME_TRIES && error == EEXIST; attempt++) {
        if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
            return errno ? errno : EIO;
        for (size_t i = 0; i < sizeof random; i++)
            snprintf(name + 2 * i, 3, "%02x", random[i]);
        path = hr_printf("%s/%s%s", root, prefix, name);
        if (!path)
            return ENOMEM;
        error = HR_FAULT(HR_FAULT_MKDIR) ? ENOSPC : mkdir(path, 0700) ? errno : 0;
        if (!error) {
            error = furnish(path);
            if (!error) {
                *ret_path = path;
                return 0;
            }
            hr_staging_remove(path);
        }
        hr_free(path);
    }
    return error;
}

int hr_staging_create_at(size_t root, char **ret_path)
{
    const char *roots[HR_STAGING_ROOTS + 1];
    size_t count = 0;

    list_roots(roots);
    while (roots[count])
        count++;
    return root < count ? create_below(roots[root], ret_path) : ENOENT;
}

int hr_staging_create(char **ret_path, struct hermes_error *error)
{
    struct hr_buf tried;
    const char *roots[HR_STAGING_ROOTS + 1];
    int code = HERMES_ESYSTEM, failed = 0;

    *ret_path = NULL;
    list_roots(roots);
    hr_buf_init(&tried, 0);
    for (size_t i = 0; roots[i] && code == HERMES_ESYSTEM; i++) {
        failed = create_below(roots[i], ret_path);
        if (!failed)
            code = HERMES_OK;
        else if (failed == ENOMEM ||
                 !hr_buf_printf(&tried, "%s%s (%s)", i ? ", " : "", roots[i], strerror(failed)))
            code = HERMES_ENOMEM;
    }
    if (code == HERMES_ESYSTEM)
        hr_error_set(error, code, failed, "cannot make a private directory; tried %s", tried.data);
    else if (code)
        hr_error_set(error, code, ENOMEM, "out of memory");
    hr_buf_done(&tried);
    return code;
}

/* ---- remove ----------------------------------------------------------------------------- */

/*
 * How a tree of any depth goes with three descriptors and no recursion: directories inside a
 * directory of the top are moved up to the top before that one is removed.
 */
struct removal {
    int top;
    unsigned moved; /* for the next name */
    int error;      /* the first */
    bool progress;  /* of this pass */
};

/* A directory right here, no link. -1 and errno. */
static int open_here(int parent, const char *name)
{
    if (HR_FAULT(HR_FAULT_OPEN))
        return -1;
    return openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
}

/*
 * Whether both directories are of one mount: a directory bound from elsewhere has the same device.
 */
static bool same_mount(int one, int two)
{
    int fds[] = {one, two};
    long mounts[2] = {0};
    struct stat info[2];

    for (size_t i = 0; i < 2; i++) {
        char path[64], text[512], *at;

        if (fstat(fds[i], &info[i]))
            return false;
        snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fds[i]);
        at = read_small(AT_FDCWD, path, text, sizeof text) ? strstr(text, "mnt_id:") : NULL;
        if (at)
            mounts[i] = strtol(at + strlen("mnt_id:"), NULL, 10);
    }
    return info[0].st_dev == info[1].st_dev && mounts[0] == mounts[1];
}

/* As open_here(), whatever rights a cell has taken from it. */
static int open_directory(int parent, const char *name)
{
    int fd = open_here(parent, name);

    if (fd >= 0 || errno != EACCES)
        return fd;
    if (fchmodat(parent, name, 0700, AT_SYMLINK_NOFOLLOW)) {
        errno = EACCES;
        return -1;
    }
    return open_here(parent, name);
}

static void note_error(struct removal *removal, int error)
{
    if (!removal->error && error != ENOENT)
        removal->error = error;
}

/* Move directory/name to the top under a free name. 0 or an errno. */
static int move_up(struct removal *removal, int directory, const char *name)
{
    char new_name[48];

    for (;;) {
        snprintf(new_name, sizeof new_name, "%smoved_%u", prefix, removal->moved++);
        if (!HR_FAULT(HR_FAULT_RENAME) && renameat(directory, name, removal->top, new_name) == 0)
            return 0;
        if (errno == EACCES && fchmodat(directory, name, 0700, AT_SYMLINK_NOFOLLOW) == 0 &&
            renameat(directory, name, removal->top, new_name) == 0) /* its ".." must be writable */
            return 0;
        if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
            return errno;
    }
}

/* Empty one directory of the top: remove its files, move its directories up. Takes fd. */
static void empty_directory(struct removal *removal, int fd)
{
    DIR *stream;
    struct dirent *entry;

    fchmod(fd, 0700);
    stream = fdopendir(fd);
    if (!stream) {
        note_error(removal, errno);
        close(fd);
        return;
    }
    while ((entry = readdir(stream))) {
        int error = 0;

        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if (unlinkat(dirfd(stream), entry->d_name, 0))
            error = errno;
        if (error == EISDIR || error == EPERM)
            error = move_up(removal, dirfd(stream), entry->d_name);
        if (error)
            note_error(removal, error);
        else
            removal->progress = true;
    }
    closedir(stream);
}

/* Remove an entry of the top, or come nearer to it. */
static void remove_entry(struct removal *removal, const char *name)
{
    int fd;

    if (unlinkat(removal->top, name, 0) == 0) {
        removal->progress = true;
        return;
    }
    if (errno != EISDIR && errno != EPERM) {
        note_error(removal, errno);
        return;
    }
    fd = open_directory(removal->top, name);
    if (fd < 0) {
        note_error(removal, errno == ENOTDIR ? EPERM : errno);
        return;
    }
    if (!same_mount(fd, removal->top)) {
        note_error(removal, EXDEV);
        close(fd);
        return;
    }
    empty_directory(removal, fd);
    if (unlinkat(removal->top, name, AT_REMOVEDIR) == 0)
        removal->progress = true;
    else
        note_error(removal, errno);
}

/* One pass over the entries of the top. */
static void remove_entries(struct removal *removal)
{
    int fd = open_here(removal->top, ".");
    struct dirent *entry;
    DIR *stream;

    removal->error = 0;
    removal->progress = false;
    stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream) {
        note_error(removal, errno);
        if (fd >= 0)
            close(fd);
        return;
    }
    while ((entry = readdir(stream)))
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            remove_entry(removal, entry->d_name);
    closedir(stream);
}

/* parent/name, which must be a directory of ours. 0 or an errno. */
static int remove_directory(int parent, const char *name)
{
    struct removal removal = {.progress = true};
    struct stat info;
    int error = 0, passes = 0;

    if (fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW))
        return errno;
    if (!S_ISDIR(info.st_mode))
        return ENOTDIR;
    if (info.st_uid != geteuid())
        return EPERM;
    removal.top = open_directory(parent, name);
    if (removal.top < 0)
        return errno;
    if (fstat(removal.top, &info) || info.st_uid != geteuid())
        error = EPERM;
    else if (!same_mount(removal.top, parent))
        error = EXDEV;
    if (error) {
        close(removal.top);
        return error;
    }
    fchmod(removal.top, 0700);
    while (unlinkat(parent, name, AT_REMOVEDIR)) {
        error = errno;
        if ((error != ENOTEMPTY && error != EEXIST) || !removal.progress || passes++ == PASSES_MAX)
            break;
        remove_entries(&removal);
        error = 0;
    }
    close(removal.top);
    return error && removal.error ? removal.error : error;
}

/*
 * Without descriptors to spare: what we put there ourselves, which is all of a directory in which
 * no cell ran.
 */
static int remove_plain(const char *path)
{
    static const char *const names[] = {host_name, "hermes_tools.py"};
    char file[PATH_MAX];
    struct stat info;

    if (lstat(path, &info) || !S_ISDIR(info.st_mode))
        return ENOTDIR;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((size_t)snprintf(file, sizeof file, "%s/%s", path, names[i]) < sizeof file)
            unlink(file);
    return rmdir(path) ? errno : 0;
}

/* parent/name, which is path. 0 or an errno. */
static int remove_below(const char *parent, const char *name, const char *path)
{
    int fd = HR_FAULT(HR_FAULT_OPEN) ? -1 : open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int error = fd < 0 ? errno : remove_directory(fd, name);

    if (fd >= 0)
        close(fd);
    return error == EMFILE || error == ENFILE ? remove_plain(path) : error;
}

int hr_staging_remove(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t size = !slash || slash == path ? 1 : (size_t)(slash - path);
    char parent[PATH_MAX]; /* no allocation: it must not stay for want of memory */
    int error;

    if (strncmp(name, prefix, strlen(prefix)))
        return EINVAL;
    if (size >= sizeof parent)
        return ENAMETOOLONG;
    memcpy(parent, slash ? path : ".", size);
    parent[size] = '\0';
    error = remove_below(parent, name, path);
    /* once more: no other try comes before the next host's, and what failed may have passed */
    return error && error != ENOENT ? remove_below(parent, name, path) : error;
}

/* ---- sweep ------------------------------------------------------------------------------ */

static bool is_left_over(int root, const char *name)
{
    enum host host = HOST_UNKNOWN;
    struct stat info;
    int fd;

    if (strncmp(name, prefix, strlen(prefix)) || fstatat(root, name, &info, AT_SYMLINK_NOFOLLOW) ||
        !S_ISDIR(info.st_mode) || info.st_uid != geteuid())
        return false;
    fd = open_here(root, name);
    if (fd >= 0) {
        host = look_for_host(fd);
        close(fd);
    }
    return host == HOST_GONE || (host == HOST_UNKNOWN && time(NULL) - info.st_mtime > OLD_SECONDS);
}

static int sweep_root(const char *root)
{
    DIR *stream = opendir(root);
    struct dirent *entry;
    int count = 0;

    while (stream && (entry = readdir(stream)))
        if (is_left_over(dirfd(stream), entry->d_name) &&
            remove_directory(dirfd(stream), entry->d_name) == 0)
            count++;
    if (stream)
        closedir(stream);
    return count;
}

int hr_staging_sweep(const char *root)
{
    const char *roots[HR_STAGING_ROOTS + 1];
    int count = 0;

    if (root)
        return sweep_root(root);
    list_roots(roots);
    for (size_t i = 0; roots[i]; i++)
        count += sweep_root(roots[i]);
    return count;
}
