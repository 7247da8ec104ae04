/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "runner-code.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "boot-source.h"
#include "options.h"
#include "wire.h"

enum { COMPILED_MAX = 4 << 20, SOURCE_MAX = 1 << 20, ENTRIES_MAX = 16 };
enum { CACHE_SECONDS = 60 * 24 * 3600 };

/* The runner's file and what continues it, in this order: one program. */
#define MAIN "hermes_kernel_runner.py"
static const char *const continued[] = {
    "hermes_kernel_requests.py",
    "hermes_kernel_mending.py",
    "hermes_kernel_display.py",
    "hermes_kernel_tracebacks.py",
};
#define CONTINUED (sizeof continued / sizeof continued[0])

struct entry {
    char *python;
    char *file; /* as in the cache: a list of magic, runner, bootstrap; NULL: none */
    size_t size;
    bool read; /* from the cache directory, which may hold no such file */
};

struct hr_runner_code {
    char *path;
    char *directory; /* of the file itself, whatever links lead to it */
    char *source;    /* all of it; NULL until an interpreter without compiled code asks for it */
    size_t source_size;
    uint64_t source_key; /* tells this runner from others */
    struct entry entries[ENTRIES_MAX];
    size_t count;
};

/* ---- files ------------------------------------------------------------------------------ */

static char *if_readable(char *path)
{
    if (path && access(path, R_OK) == 0)
        return path;
    hr_free(path);
    return NULL;
}

/* The directory of the library, or of the program it is linked into. */
static char *own_directory(void)
{
    Dl_info info;
    char *path, *slash;

    if (!dladdr((void *)(uintptr_t)own_directory, &info) || !info.dli_fname)
        return NULL;
    path = realpath(info.dli_fname, NULL);
    if (!path) /* a program's name may be no path at all */
        path = realpath("/proc/self/exe", NULL);
    slash = path ? strrchr(path, '/') : NULL;
    if (slash)
        *slash = '\0';
    return path;
}

char *hr_find_installed(const char *named, const char *file_name, const char *tree_directory)
{
    static const char *const around[] = {"", "/..", "/../..", "/../../.."};
    char *directory, *found = NULL;

    if (named && *named)
        return if_readable(hr_strdup(named));
    directory =
        own_directory(); /* first: a build tree's program must not take an installed older part */
    for (size_t i = 0; directory && !found && i < sizeof around / sizeof around[0]; i++) {
        found = if_readable(hr_printf("%s%s/%s", directory, around[i], file_name));
        if (!found)
            found = if_readable(
                hr_printf("%s%s/%s/%s", directory, around[i], tree_directory, file_name));
    }
    free(directory);
    return found ? found : if_readable(hr_printf("%s/%s", HERMES_PKGLIBEXECDIR, file_name));
}

static char *read_whole(int fd, size_t maximum, size_t *ret_size)
{
    struct stat info;
    char *data;
    ssize_t n;

    if (fstat(fd, &info) || !S_ISREG(info.st_mode) || (uint64_t)info.st_size > maximum)
        return NULL;
    data = hr_malloc((size_t)info.st_size + 1);
    if (!data)
        return NULL;
    n = read(fd, data, (size_t)info.st_size);
    if (n != info.st_size) {
        hr_free(data);
        return NULL;
    }
    data[n] = '\0';
    *ret_size = (size_t)n;
    return data;
}

static uint64_t hash(uint64_t seed, const void *data, size_t size)
{
    const unsigned char *byte = data;

    for (size_t i = 0; i < size; i++)
        seed = (seed ^ byte[i]) * UINT64_C(0x100000001b3);
    return seed;
}

struct hr_runner_code *hr_runner_code_new(void)
{
    return hr_calloc(1, sizeof(struct hr_runner_code));
}

static void entry_done(struct entry *entry)
{
    hr_free(entry->python);
    hr_free(entry->file);
}

static uint64_t hash_file(uint64_t key, const struct stat *info)
{
    key = hash(key, &info->st_size, sizeof info->st_size);
    key = hash(key, &info->st_mtim, sizeof info->st_mtim);
    return hash(key, &info->st_ino, sizeof info->st_ino);
}

static void drop_all(struct hr_runner_code *code)
{
    for (size_t i = 0; i < code->count; i++)
        entry_done(&code->entries[i]);
    code->count = 0;
    hr_free(code->source);
    hr_free(code->path);
    hr_free(code->directory);
    code->source = code->path = code->directory = NULL;
}

static char *directory_of(const char *path)
{
    char *real = realpath(path, NULL), *slash = real ? strrchr(real, '/') : NULL, *copy;

    if (!slash) {
        free(real);
        return NULL;
    }
    *slash = '\0';
    copy = hr_strdup(real);
    free(real);
    return copy;
}

/* The name of a file that is not there, or NULL: the key tells these files from older ones. */
static const char *identify(const char *path, const char *directory, uint64_t *ret_key)
{
    uint64_t key = hash(UINT64_C(0xcbf29ce484222325), HR_BOOT_SOURCE, sizeof HR_BOOT_SOURCE);
    char name[PATH_MAX];
    struct stat info;

    *ret_key = 0;
    if (!path || !directory || stat(path, &info))
        return MAIN;
    key = hash_file(hash(key, path, strlen(path)), &info);
    for (size_t i = 0; i < CONTINUED; i++) {
        snprintf(name, sizeof name, "%s/%s", directory, continued[i]);
        if (stat(name, &info))
            return continued[i];
        key = hash_file(key, &info);
    }
    *ret_key = key;
    return NULL;
}

int hr_runner_code_load(struct hr_runner_code *code, const char *path, struct hermes_error *error)
{
    char *found = HR_FAULT(HR_FAULT_OPEN) ? NULL : hr_find_installed(path, MAIN, "runner");
    char *directory = found ? directory_of(found) : NULL;
    const char *missing;
    uint64_t key;

    missing = identify(found, directory, &key);
    if (missing) {
        hr_free(found);
        hr_free(directory);
        return hr_error_set(error, HERMES_ENOENT, 0,
                            "%s is not found%s%.150s; set the option \"runner\"", missing,
                            path && *path ? " at " : "", path ? path : "");
    }
    if (code->path && key == code->source_key) {
        hr_free(found);
        hr_free(directory);
        return 0;
    }
    drop_all(code); /* the first, or another since */
    code->path = found;
    code->directory = directory;
    code->source_key = key;
    return 0;
}

const char *hr_runner_code_directory(const struct hr_runner_code *code)
{
    return code->directory;
}

void hr_runner_code_free(struct hr_runner_code *code)
{
    if (!code)
        return;
    drop_all(code);
    hr_free(code);
}

static bool add_file(struct hr_buf *out, const char *path)
{
    int fd = HR_FAULT(HR_FAULT_OPEN) ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    size_t size;
    char *text = fd < 0 ? NULL : read_whole(fd, SOURCE_MAX, &size);
    bool added = text && hr_buf_add(out, text, size);

    if (fd >= 0)
        close(fd);
    hr_free(text);
    return added;
}

static bool need_source(struct hr_runner_code *code)
{
    char name[PATH_MAX];
    struct hr_buf source;
    bool whole;

    if (code->source)
        return true;
    hr_buf_init(&source, SOURCE_MAX);
    whole = add_file(&source, code->path);
    for (size_t i = 0; i < CONTINUED && whole; i++) {
        snprintf(name, sizeof name, "%s/%s", code->directory, continued[i]);
        whole = add_file(&source, name);
    }
    if (whole)
        code->source_size = source.size, code->source = hr_buf_take(&source);
    hr_buf_done(&source);
    return code->source != NULL;
}

/* ---- the cache directory ---------------------------------------------------------------- */

/* Opens it if it is ours alone: what lies there is executed. */
static int open_cache(bool make)
{
    const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    char *parent, *path;
    struct stat info;
    int fd = -1;

    if (base && *base == '/')
        parent = hr_strdup(base);
    else if (home && *home == '/')
        parent = hr_printf("%s/.cache", home);
    else
        return -1;
    path = parent ? hr_printf("%s/hermes-kernel", parent) : NULL;
    if (path) {
        if (make && access(path, F_OK)) {
            if (!HR_FAULT(HR_FAULT_MKDIR))
                mkdir(parent, 0700);
            if (!HR_FAULT(HR_FAULT_MKDIR))
                mkdir(path, 0700);
        }
        fd = HR_FAULT(HR_FAULT_OPEN) ? -1
                                     : open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0 && (fstat(fd, &info) || info.st_uid != geteuid() || (info.st_mode & 022))) {
            close(fd);
            fd = -1;
        }
    }
    hr_free(path);
    hr_free(parent);
    return fd;
}

/* The name tells interpreter (as a file of this moment) and runner apart. */
static bool cache_name(const struct hr_runner_code *code, const char *python, char *name,
                       size_t size)
{
    struct stat info;
    uint64_t key;

    if (stat(python, &info))
        return false;
    key = hash_file(hash(code->source_key, python, strlen(python)), &info);
    snprintf(name, size, "runner-%016llx.bin", (unsigned long long)key);
    return true;
}

/* false: it is no kept file */
static bool take_apart(const char *file, size_t size, struct hr_compiled *ret)
{
    struct hr_fields fields;

    return hr_fields_open(&fields, file, size) &&
           hr_fields_next(&fields, &ret->magic, &ret->magic_size) &&
           hr_fields_next(&fields, &ret->runner, &ret->runner_size) &&
           hr_fields_next(&fields, &ret->boot, &ret->boot_size) && ret->runner_size &&
           ret->boot_size;
}

static void read_cache(const struct hr_runner_code *code, struct entry *entry)
{
    int directory = open_cache(false), fd;
    struct hr_compiled kept;
    struct stat info;
    char name[64];

    entry->read = true;
    if (directory < 0)
        return;
    fd = cache_name(code, entry->python, name, sizeof name) && !HR_FAULT(HR_FAULT_OPEN)
             ? openat(directory, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
             : -1;
    close(directory);
    if (fd < 0)
        return;
    if (!fstat(fd, &info) && info.st_uid == geteuid() && !(info.st_mode & 022))
        entry->file = read_whole(fd, COMPILED_MAX, &entry->size);
    close(fd);
    if (entry->file && !take_apart(entry->file, entry->size, &kept)) {
        hr_free(entry->file);
        entry->file = NULL;
    }
}

/* Files of interpreters and runners that are no more: what is old goes when something new comes. */
static void prune_cache(int directory)
{
    int copy = fcntl(directory, F_DUPFD_CLOEXEC, 3);
    DIR *list = copy < 0 ? NULL : fdopendir(copy);
    time_t now = time(NULL);
    struct dirent *entry;
    struct stat info;

    if (!list) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while ((entry = readdir(list)))
        if (strncmp(entry->d_name, "runner-", 7) == 0 &&
            fstatat(directory, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
            now - info.st_mtime > CACHE_SECONDS)
            unlinkat(directory, entry->d_name, 0);
    closedir(list);
}

static void write_cache(const struct hr_runner_code *code, const struct entry *entry)
{
    int directory = open_cache(true), fd;
    char name[64], temporary[96];
    bool written;

    if (directory < 0)
        return;
    if (cache_name(code, entry->python, name, sizeof name)) {
        snprintf(temporary, sizeof temporary, "%s.%ld", name, (long)getpid());
        fd = HR_FAULT(HR_FAULT_OPEN)
                 ? -1
                 : openat(directory, temporary,
                          O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0) {
            written = !HR_FAULT(HR_FAULT_WRITE) &&
                      write(fd, entry->file, entry->size) == (ssize_t)entry->size;
            if (close(fd) || !written || HR_FAULT(HR_FAULT_RENAME) ||
                renameat(directory, temporary, directory, name))
                unlinkat(directory, temporary, 0);
            prune_cache(directory);
        }
    }
    close(directory);
}

static void forget_cache(const struct hr_runner_code *code, const struct entry *entry)
{
    int directory = open_cache(false);
    char name[64];

    if (directory < 0)
        return;
    if (cache_name(code, entry->python, name, sizeof name))
        unlinkat(directory, name, 0);
    close(directory);
}

/* ---- entries ---------------------------------------------------------------------------- */

static struct entry *entry_of(struct hr_runner_code *code, const char *python)
{
    struct entry *entry;

    for (size_t i = 0; i < code->count; i++)
        if (strcmp(code->entries[i].python, python) == 0)
            return &code->entries[i];
    if (code->count == ENTRIES_MAX) {
        entry_done(&code->entries[0]);
        memmove(code->entries, code->entries + 1, --code->count * sizeof code->entries[0]);
    }
    entry = &code->entries[code->count];
    memset(entry, 0, sizeof *entry);
    entry->python = hr_strdup(python);
    if (!entry->python)
        return NULL;
    code->count++;
    return entry;
}

static bool have_kept(struct hr_runner_code *code, const char *python, struct hr_compiled *ret)
{
    struct entry *entry = entry_of(code, python);

    if (entry && !entry->read)
        read_cache(code, entry);
    return entry && entry->file && take_apart(entry->file, entry->size, ret);
}

bool hr_runner_code_add_fields(struct hr_runner_code *code, const char *python, struct hr_buf *out)
{
    struct hr_compiled kept;

    if (!have_kept(code, python, &kept))
        return need_source(code) && hr_fields_add(out, code->source, code->source_size) &&
               hr_fields_add(out, "", 0) && hr_fields_add(out, "", 0);
    return hr_buf_reserve(out, kept.runner_size + 1024) && hr_fields_add(out, "", 0) &&
           hr_fields_add(out, kept.magic, kept.magic_size) &&
           hr_fields_add(out, kept.runner, kept.runner_size);
}

char *hr_runner_code_boot(struct hr_runner_code *code, const char *python, size_t *ret_size)
{
    struct hr_compiled kept;

    if (!have_kept(code, python, &kept))
        return NULL;
    *ret_size = kept.boot_size;
    return hr_memdup(kept.boot, kept.boot_size);
}

void hr_runner_code_keep(struct hr_runner_code *code, const char *python,
                         const struct hr_compiled *compiled)
{
    struct entry *entry = entry_of(code, python);
    struct hr_buf file;

    if (!entry || !compiled->runner_size || !compiled->boot_size)
        return;
    hr_buf_init(&file, COMPILED_MAX);
    hr_buf_add_u32(&file, 3);
    hr_fields_add(&file, compiled->magic, compiled->magic_size);
    hr_fields_add(&file, compiled->runner, compiled->runner_size);
    hr_fields_add(&file, compiled->boot, compiled->boot_size);
    if (file.failed) {
        hr_buf_done(&file);
        return;
    }
    hr_free(entry->file);
    entry->size = file.size;
    entry->file = hr_buf_take(&file);
    entry->read = true;
    write_cache(code, entry);
}

void hr_runner_code_forget(struct hr_runner_code *code, const char *python)
{
    struct entry *entry = entry_of(code, python);

    if (!entry || !entry->file)
        return;
    forget_cache(code, entry);
    hr_free(entry->file);
    entry->file = NULL;
}
