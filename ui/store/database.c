/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "database.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "progress.h"
#include "xalloc.h"

#define PROGRESS_STEPS 2000 /* of SQLite's machine: some tens of microseconds */
#define COPY_LIMIT_BYTES (256 * 1024 * 1024)

static const char *const texts[] = {
#define X(name, text) [STATEMENT_##name] = (text),
#include "statements.h"
#undef X
};

/* ---- failures ------------------------------------------------------------------------------- */

static enum database_state state_of(int code)
{
    switch (code & 0xFF) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return DATABASE_OK;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return DATABASE_BUSY;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return DATABASE_DAMAGED;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return DATABASE_READ_ONLY;
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_NOMEM:
        return DATABASE_FULL;
    case SQLITE_CANTOPEN:
    case SQLITE_AUTH:
        return DATABASE_FAILED;
    case SQLITE_INTERRUPT:
        return DATABASE_STOPPED;
    default:
        return DATABASE_REFUSED;
    }
}

static bool judge(struct database *database, int code)
{
    database->state = state_of(code);
    if (database->state != DATABASE_OK)
        database->code = database->sql->extended_errcode(database->handle);
    return database->state == DATABASE_OK;
}

const char *database_fault(struct database *database)
{
    int number = database->sql->system_errno(database->handle);
    if (database->state == DATABASE_FULL && number)
        return strerror(number);
    return database->sql->errmsg(database->handle);
}

/* ---- statements ----------------------------------------------------------------------------- */

/* The lock is another process's: all one can do is to look again soon. */
static int wait_for_others(void *context, int count)
{
    struct database *database = context;
    if (now_ms() >= database->busy_ms)
        return 0;
    poll(NULL, 0, count < 50 ? 1 : 5);
    return 1;
}

static int is_late(void *context)
{
    struct database *database = context;
    return database->stop_ms && now_ms() >= database->stop_ms;
}

static int note_pages(void *context, sqlite3 *handle, const char *name, int pages)
{
    struct database *database = context;
    (void)handle, (void)name;
    database->journal_pages = pages;
    return SQLITE_OK;
}

sqlite3_stmt *database_statement(struct database *database, enum statement statement)
{
    sqlite3_stmt **place = &database->statements[statement];
    if (!*place) {
        judge(database,
              database->sql->prepare_v2(database->handle, texts[statement], -1, place, NULL));
        return *place;
    }
    database->state = DATABASE_OK;
    return *place;
}

void database_bind_text(struct database *database, sqlite3_stmt *statement, int place,
                        const char *text, size_t size)
{
    if (text)
        database->sql->bind_text(statement, place, text, (int)size, SQLITE_STATIC);
    else
        database->sql->bind_null(statement, place);
}

void database_bind_int(struct database *database, sqlite3_stmt *statement, int place,
                       int64_t number)
{
    database->sql->bind_int64(statement, place, number);
}

bool database_row(struct database *database, sqlite3_stmt *statement)
{
    int code = database->sql->step(statement);
    judge(database, code);
    if (code == SQLITE_ROW)
        return true;
    database->sql->reset(statement);
    return false;
}

bool database_run(struct database *database, sqlite3_stmt *statement)
{
    while (database_row(database, statement))
        ;
    return database->state == DATABASE_OK;
}

bool database_exec(struct database *database, const char *text)
{
    return judge(database, database->sql->exec(database->handle, text, NULL, NULL, NULL));
}

int64_t database_meta(struct database *database, const char *name, int64_t other)
{
    sqlite3_stmt *statement = database_statement(database, STATEMENT_META);
    if (!statement)
        return other;
    database_bind_text(database, statement, 1, name, strlen(name));
    if (database_row(database, statement)) {
        other = database->sql->column_int64(statement, 0);
        database->sql->reset(statement);
    }
    return other;
}

bool database_set_meta(struct database *database, const char *name, int64_t value)
{
    sqlite3_stmt *statement = database_statement(database, STATEMENT_SET_META);
    if (!statement)
        return false;
    database_bind_text(database, statement, 1, name, strlen(name));
    database_bind_int(database, statement, 2, value);
    return database_run(database, statement);
}

/* ---- opening -------------------------------------------------------------------------------- */

/*
 * The mode is right from the start; SQLite gives its other files that of this one. Returns 0 or an
 * errno.
 */
static int make_file(const char *path)
{
    struct stat status;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0) {
        close(fd);
        return 0;
    }
    if (errno != EEXIST || stat(path, &status) < 0)
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    if ((status.st_mode & 077) && status.st_uid == geteuid())
        chmod(path, 0600);
    return 0;
}

static struct database *new_database(const struct sqlite_api *sql, const char *name, int flags,
                                     struct strbuf *error)
{
    struct database *database = xcalloc(1, sizeof(*database));
    database->sql = sql;
    database->index = INDEX_NONE;
    if (!judge(database, sql->open_v2(name, &database->handle, flags, NULL))) {
        strbuf_setf(error, "%s", database->handle ? database_fault(database) : "out of memory");
        return database;
    }
    sql->busy_handler(database->handle, wait_for_others, database);
    sql->progress_handler(database->handle, PROGRESS_STEPS, is_late, database);
    return database;
}

static int64_t read_number(struct database *database, const char *text)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = -1;
    if (judge(database, database->sql->prepare_v2(database->handle, text, -1, &statement, NULL)) &&
        database_row(database, statement)) {
        number = database->sql->column_int64(statement, 0);
        database->sql->reset(statement);
    }
    database->sql->finalize(statement);
    return number;
}

/*
 * The hook takes the place of SQLite's own, which copies the journal into the database within a
 * commit; that would wait for the disk to sync (store-thread.c).
 */
static bool set_up(struct database *database, enum database_index wanted)
{
    if (!database_exec(database, "PRAGMA synchronous = NORMAL; PRAGMA secure_delete = FAST;"
                                 "PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;"))
        return false;
    int64_t version = read_number(database, "PRAGMA user_version");
    if (version < 0)
        return false;
    if (version > DATABASE_VERSION) {
        database->state = DATABASE_NEWER;
        return false;
    }
    if (database->sql->db_readonly(database->handle, "main") == 1) {
        database->state = DATABASE_READ_ONLY;
        return false;
    }
    if (!database_exec(database, "PRAGMA journal_mode = WAL"))
        return false;
    database->sql->wal_hook(database->handle, note_pages, database);
    return (version == DATABASE_VERSION || database_migrate(database, version)) &&
           database_find_index(database, wanted);
}

/*
 * What SQLite would take for a new file: one that lost all its pages but not its journal, which it
 * would throw away; and a single byte, which it would overwrite.
 */
static bool is_no_new_file(const char *path)
{
    struct stat status, journal;
    if (stat(path, &status) < 0 || status.st_size > 1)
        return false;
    char *name = xasprintf("%s-wal", path);
    bool pages = stat(name, &journal) == 0 && journal.st_size > 0;
    free(name);
    return status.st_size == 1 || pages;
}

enum database_state database_open(const char *path, int64_t busy_ms, enum database_index wanted,
                                  struct database **ret_database, struct strbuf *error)
{
    const char *why;
    struct stat status;
    const struct sqlite_api *sql = sqlite_api(&why);
    if (!sql) {
        strbuf_setf(error, "%s", why);
        return DATABASE_FAILED;
    }
    int failure = path ? make_file(path) : 0;
    if (failure) {
        strbuf_setf(error, "%s", strerror(failure));
        return failure == ENOSPC || failure == EDQUOT ? DATABASE_FULL : DATABASE_FAILED;
    }
    if (path && is_no_new_file(path)) {
        strbuf_setf(error, "its pages are gone");
        return DATABASE_DAMAGED;
    }
    struct database *database = new_database(
        sql, path ? path : ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, error);
    database->busy_ms = busy_ms;
    if (database->state == DATABASE_OK) {
        if (path && stat(path, &status) == 0) {
            database->device = status.st_dev;
            database->inode = status.st_ino;
        }
        if (!set_up(database, wanted))
            strbuf_setf(error, "%s", database_fault(database));
        if (database->state == DATABASE_REFUSED)
            database->state = DATABASE_DAMAGED; /* its tables are not what they should be */
    }
    if (database->state == DATABASE_OK) {
        *ret_database = database;
        return DATABASE_OK;
    }
    enum database_state state = database->state;
    database_abandon(database);
    return state;
}

static bool copy_pages(struct database *from, struct database *to)
{
    const struct sqlite_api *sql = to->sql;
    sqlite3_backup *backup = sql->backup_init(to->handle, "main", from->handle, "main");
    if (!backup)
        return judge(to, sql->extended_errcode(to->handle));
    int code = sql->backup_step(backup, -1);
    sql->backup_finish(backup);
    return judge(to, code);
}

/* Where not even the index of the journal can be made, only what the file itself has is seen. */
static struct database *open_for_reading(const struct sqlite_api *sql, const char *path,
                                         struct strbuf *error)
{
    struct strbuf name = STRBUF_INIT;
    strbuf_adds(&name, "file:");
    for (const char *c = path; *c; c++)
        strbuf_addf(&name, strchr("%?#", *c) ? "%%%02X" : "%c", (unsigned char)*c);
    size_t size = name.size;
    struct database *database = NULL;
    for (int i = 0; i < 2; i++) {
        name.size = size;
        strbuf_adds(&name, i ? "?immutable=1" : "?mode=ro");
        database =
            new_database(sql, strbuf_text(&name),
                         SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, error);
        database->busy_ms = now_ms() + 1000;
        if (database->state == DATABASE_OK &&
            read_number(database, "PRAGMA user_version") == DATABASE_VERSION)
            break;
        database_close(database);
        database = NULL;
    }
    strbuf_free(&name);
    return database;
}

enum database_state database_open_copy(const char *path, struct database **ret_database,
                                       struct strbuf *error)
{
    const char *why;
    struct stat status;
    const struct sqlite_api *sql = sqlite_api(&why);
    if (!sql || stat(path, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0 ||
        status.st_size > COPY_LIMIT_BYTES)
        return DATABASE_FAILED;
    struct database *file = open_for_reading(sql, path, error);
    if (!file)
        return DATABASE_FAILED;
    struct database *database =
        new_database(sql, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, error);
    bool good = database->state == DATABASE_OK && copy_pages(file, database) &&
                database_find_index(database, INDEX_TRIGRAM);
    database_close(file);
    if (good) {
        *ret_database = database;
        return DATABASE_OK;
    }
    database_close(database);
    return DATABASE_FAILED;
}

void database_close(struct database *database)
{
    if (!database)
        return;
    for (size_t i = 0; i < STATEMENT_COUNT; i++)
        database->sql->finalize(database->statements[i]);
    database->sql->close(database->handle);
    free(database);
}

void database_abandon(struct database *database)
{
    if (database)
        database->sql->db_config(database->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    database_close(database);
}
