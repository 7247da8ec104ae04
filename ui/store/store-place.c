/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the database is: the usual file, one beside it, or memory; and what becomes of a damaged
 * one.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"
#include "store-internal.h"
#include "xalloc.h"

#define BUSY_RETRY_MS 20 /* between attempts */
#define BUSY_REMARK_MS 2000
#define FAILED_RETRY_MS 1000

char *store_default_path(void)
{
    const char *base = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (base && base[0] == '/')
        return xasprintf("%s/hermes-repl/history.db", base);
    return home && home[0] == '/' ? xasprintf("%s/.local/state/hermes-repl/history.db", home)
                                  : NULL;
}

bool store_make_directories(const char *path, struct strbuf *error)
{
    char *copy = xstrdup(path);
    int failure = 0;
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        failure = mkdir(copy, 0700) < 0 && errno != EEXIST ? errno : 0;
        *slash = '/';
    }
    free(copy);
    if (failure && failure != EISDIR) {
        struct stat status;
        char *directory = xstrndup(path, (size_t)(strrchr(path, '/') - path));
        bool there = stat(directory, &status) == 0 && S_ISDIR(status.st_mode);
        free(directory);
        if (!there) {
            strbuf_setf(error, "%s", strerror(failure));
            return false;
        }
    }
    return true;
}

/* ---- damage --------------------------------------------------------------------------------- */

/*
 * Opening, and setting aside, is for one program at a time: another must not make a new file
 * between the renaming of the old one and that of its journal. -1: not now. Where locking is not to
 * be had (a directory that cannot be read), it goes without: *ret_fd is -1 then.
 */
static bool lock_directory(const char *path, int *ret_fd)
{
    int64_t end = now_ms() + STORE_BUSY_MS;
    const char *slash = strrchr(path, '/');
    char *directory = slash ? xstrndup(path, (size_t)(slash - path) + 1) : xstrdup(".");
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(directory);
    while (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
        bool taken = errno == EWOULDBLOCK || errno == EINTR;
        if (taken && now_ms() < end) {
            poll(NULL, 0, 1);
            continue;
        }
        close(fd);
        fd = -1;
        if (taken)
            return false;
    }
    *ret_fd = fd;
    return true;
}

/* A name that nothing has, for the file and what belongs to it. */
static char *free_name(const char *path)
{
    char date[32];
    struct tm parts;
    time_t now = time(NULL);
    strftime(date, sizeof(date), "%Y-%m-%dT%H-%M-%S", localtime_r(&now, &parts));
    char *name = xasprintf("%s.damaged-%s", path, date);
    for (int i = 2; access(name, F_OK) == 0; i++) {
        free(name);
        name = xasprintf("%s.damaged-%s-%d", path, date, i);
    }
    return name;
}

static bool move(const char *path, const char *name, const char *suffix)
{
    char *from = xasprintf("%s%s", path, suffix), *to = xasprintf("%s%s", name, suffix);
    bool good = rename(from, to) == 0 || errno == ENOENT;
    free(from);
    free(to);
    return good;
}

/* The directory is locked. The journal goes with the file: what it holds can be read there. */
static bool set_aside(struct store *store, struct strbuf *error)
{
    char *name = free_name(store->file);
    bool good = move(store->file, name, "");
    if (good) {
        move(store->file, name, "-wal");
        move(store->file, name, "-shm");
        store_say(store, REMARK_DAMAGED,
                  "the history was damaged; it is in %s now, and a new one has begun", name);
    } else {
        strbuf_setf(error, "it is damaged, and cannot be moved: %s", strerror(errno));
    }
    free(name);
    return good;
}

static bool is_file(const char *path, dev_t device, ino_t inode)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_dev == device && status.st_ino == inode;
}

/*
 * Set aside by another program, or deleted by hand: what is written to it now, nobody would find.
 */
bool store_file_is_gone(const struct store *store)
{
    return store->place == PLACE_FILE &&
           !is_file(store->file, store->database->device, store->database->inode);
}

/* ---- opening -------------------------------------------------------------------------------- */

static void stay_in_memory(struct store *store, const char *why)
{
    struct strbuf error = STRBUF_INIT;
    const char *no_library;
    if (store->file && database_open_copy(store->file, &store->database, &error) == DATABASE_OK)
        store->place = PLACE_MEMORY;
    else if (database_open(NULL, 0, store->wanted, &store->database, &error) == DATABASE_OK)
        store->place = PLACE_MEMORY;
    else
        store->place = PLACE_NOWHERE;
    if (!sqlite_api(&no_library))
        store_say(store, REMARK_PLACE, "no history is kept: %s", no_library);
    else if (!store->path)
        store_say(store, REMARK_PLACE,
                  "history is kept in memory only: there is no home directory");
    else
        store_say(store, REMARK_PLACE, "history is kept in memory only: %s: %s", store->file, why);
    strbuf_free(&error);
}

void store_leave_file(struct store *store)
{
    store_disconnect(store);
    stay_in_memory(store, "it cannot be written");
    store->marks_due = store->entered_count > 0;
}

static void use_file_beside(struct store *store)
{
    size_t size = strlen(store->path);
    size -= size > 3 && strcmp(store->path + size - 3, ".db") == 0 ? 3 : 0;
    free(store->file);
    store->file = xasprintf("%.*s-%d.db", (int)size, store->path, DATABASE_VERSION);
    store_say(store, REMARK_NEWER,
              "%s is of a newer hermes-repl and is left alone; history is kept in %s", store->path,
              store->file);
}

void store_note_failure(struct store *store, enum database_state state, const char *why)
{
    int64_t now = now_ms();
    const char *file = store->place == PLACE_MEMORY ? "the history" : store->file;
    if (state == DATABASE_BUSY) {
        if (!store->busy_since_ms)
            store->busy_since_ms = now;
        if (now - store->busy_since_ms >= BUSY_REMARK_MS)
            store_say(store, REMARK_BUSY,
                      "another program has locked %s; cells wait in memory until it is free", file);
        store->retry_ms = now + BUSY_RETRY_MS;
        return;
    }
    store_say(store, REMARK_FAILING, "%s cannot be written now (%s); cells wait in memory", file,
              why);
    store->busy_since_ms = 0;
    store->retry_ms = now + FAILED_RETRY_MS;
}

/* One attempt, with the directory locked. True: another one is worth it, at once. */
static bool open_file(struct store *store, enum database_state *ret_state, struct strbuf *error)
{
    if (store->damaged_inode && is_file(store->file, store->damaged_device, store->damaged_inode) &&
        !set_aside(store, error)) {
        *ret_state = DATABASE_FAILED;
        return false;
    }
    store->damaged_inode = 0;
    *ret_state = database_open(store->file, now_ms() + STORE_BUSY_MS, store->wanted,
                               &store->database, error);
    if (*ret_state == DATABASE_NEWER && strcmp(store->file, store->path) == 0) {
        use_file_beside(store);
        return true;
    }
    if (*ret_state == DATABASE_READ_ONLY)
        strbuf_setf(error, "it cannot be written");
    return *ret_state == DATABASE_DAMAGED && set_aside(store, error);
}

static void find_place(struct store *store, struct strbuf *error)
{
    enum database_state state = DATABASE_FAILED;
    int lock = -1;
    if (!store_make_directories(store->file, error)) {
        stay_in_memory(store, strbuf_text(error));
        return;
    }
    if (lock_directory(store->file, &lock)) {
        for (int i = 0; i < 4 && open_file(store, &state, error); i++)
            ;
    } else {
        state = DATABASE_BUSY;
    }
    if (lock >= 0)
        close(lock);
    if (state == DATABASE_OK) {
        store->place = PLACE_FILE;
        store->marks_due = store->entered_count > 0;
        store->retry_ms = 0;
    } else if (state == DATABASE_BUSY || state == DATABASE_FULL) {
        store_note_failure(store, state, strbuf_text(error));
    } else {
        stay_in_memory(store, strbuf_text(error));
    }
}

bool store_connect(struct store *store)
{
    struct strbuf error = STRBUF_INIT;
    if (store_file_is_gone(store))
        store_disconnect(store);
    if (store->place != PLACE_UNKNOWN)
        return store->database != NULL;
    if (store->path && !store->file)
        store->file = xstrdup(store->path);
    if (store->file)
        find_place(store, &error);
    else
        stay_in_memory(store, "");
    strbuf_free(&error);
    return store->database != NULL;
}

void store_disconnect(struct store *store)
{
    database_abandon(store->database);
    store->database = NULL;
    store->place = PLACE_UNKNOWN;
    /* Their rows are in another file now, if anywhere. */
    for (size_t i = 0; i < store->open_count; i++)
        store->open_cells[i].row = 0;
}

bool store_replace_damaged(struct store *store)
{
    if (store->place != PLACE_FILE)
        return false;
    store->damaged_device = store->database->device;
    store->damaged_inode = store->database->inode;
    store_disconnect(store);
    return store_connect(store);
}
