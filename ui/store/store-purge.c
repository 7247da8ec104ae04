/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "store-purge.h"

#include <dirent.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "progress.h"
#include "store-marks.h"
#include "xalloc.h"

#define JOURNAL_WAIT_MS 5000 /* for others to end what they read */

/* ---- spilled output ------------------------------------------------------------------------- */

static bool load_spills(struct database *database, int64_t session, struct store_spills *spills)
{
    sqlite3_stmt *row = database_statement(database, STATEMENT_SPILLS);
    if (!row)
        return false;
    database_bind_int(database, row, 1, session);
    while (database_row(database, row)) {
        const char *path = (const char *)database->sql->column_text(row, 0);
        spills->paths =
            xgrow(spills->paths, spills->count, &spills->capacity, sizeof(*spills->paths));
        spills->paths[spills->count++] = xstrdup(path ? path : "");
    }
    return database->state == DATABASE_OK;
}

/*
 * The engine's names for them: stdout-, 16 digits, .txt. Nothing else is removed by a row's word.
 */
static bool is_spill(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    struct stat status;
    return *path == '/' && strncmp(name, "stdout-", 7) == 0 &&
           strspn(name + 7, "0123456789abcdef") == 16 && strcmp(name + 23, ".txt") == 0 &&
           lstat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

unsigned store_remove_spills(const struct store_spills *spills)
{
    unsigned count = 0;
    for (size_t i = 0; i < spills->count; i++)
        count += is_spill(spills->paths[i]) && unlink(spills->paths[i]) == 0;
    return count;
}

void store_free_spills(struct store_spills *spills)
{
    for (size_t i = 0; i < spills->count; i++)
        free(spills->paths[i]);
    free(spills->paths);
    *spills = (struct store_spills){.paths = NULL};
}

/* ---- rows ----------------------------------------------------------------------------------- */

static bool run_with(struct database *database, enum statement which, int64_t session)
{
    sqlite3_stmt *statement = database_statement(database, which);
    if (!statement)
        return false;
    database_bind_int(database, statement, 1, session);
    return database_run(database, statement);
}

static bool unindex_row(struct database *database, sqlite3_stmt *row, int column,
                        enum statement which)
{
    const char *text = (const char *)database->sql->column_text(row, column);
    size_t size = text ? (size_t)database->sql->column_bytes(row, column) : 0;
    return database_index(database, which, database->sql->column_int64(row, 0), text, size);
}

static bool unindex_session(struct database *database, int64_t session)
{
    if (database->index == INDEX_NONE)
        return database_clear_index(database);
    sqlite3_stmt *row = database_statement(database, STATEMENT_TEXTS_OF_SESSION);
    if (!row)
        return false;
    database_bind_int(database, row, 1, session);
    while (database_row(database, row)) {
        if (!unindex_row(database, row, 1, STATEMENT_UNINDEX_SOURCE) ||
            !unindex_row(database, row, 2, STATEMENT_UNINDEX_OUTPUT)) {
            enum database_state state = database->state;
            database->sql->reset(row);
            database->state = state;
            return false;
        }
    }
    return database->state == DATABASE_OK;
}

bool store_delete_rows(struct store *store, int64_t session, struct store_spills *spills)
{
    struct database *database = store->database;
    return database_exec(database, "PRAGMA secure_delete = ON") &&
           load_spills(database, session, spills) && unindex_session(database, session) &&
           run_with(database, STATEMENT_DELETE_CELLS, session) &&
           run_with(database, STATEMENT_DELETE_PROGRAMS_OF_SESSION, session) &&
           run_with(database, STATEMENT_DELETE_SESSION, session);
}

static uint64_t count(struct database *database, const char *text)
{
    sqlite3_stmt *statement = NULL;
    uint64_t number = 0;
    if (database->sql->prepare_v2(database->handle, text, -1, &statement, NULL) == SQLITE_OK &&
        database_row(database, statement)) {
        number = (uint64_t)database->sql->column_int64(statement, 0);
        database->sql->reset(statement);
    }
    database->sql->finalize(statement);
    return number;
}

/* Sessions that a program has open stay, empty: it goes on to write in them. */
bool store_purge_rows(struct store *store, struct store_purged *purged)
{
    struct database *database = store->database;
    struct store_spills spills = {.paths = NULL};
    struct store_marks marks = {.items = NULL};
    if (!database_exec(database, "PRAGMA secure_delete = ON") ||
        !store_transaction(store, STATEMENT_BEGIN))
        return false;
    purged->cells = count(database, "SELECT count(*) FROM cells");
    purged->sessions = count(database, "SELECT count(*) FROM sessions WHERE cells > 0");
    bool good = load_spills(database, 0, &spills) && database_clear_index(database) &&
                database_exec(database, "DELETE FROM cells; UPDATE sessions SET cells = 0;") &&
                store_load_marks(database, &marks) && store_sweep_marks(database, &marks) &&
                database_exec(database, "DELETE FROM sessions WHERE NOT EXISTS"
                                        " (SELECT 1 FROM programs WHERE session = sessions.id)") &&
                store_transaction(store, STATEMENT_COMMIT);
    if (good) {
        purged->spills = store_remove_spills(&spills);
    } else {
        enum database_state state = database->state;
        store_transaction(store, STATEMENT_ROLLBACK);
        database->state = state;
    }
    store_free_marks(&marks);
    store_free_spills(&spills);
    return good;
}

/* ---- what is left of it in the files -------------------------------------------------------- */

/* The journal can be cut only when nobody reads in it. */
static bool cut_journal(struct database *database)
{
    int64_t end = now_ms() + JOURNAL_WAIT_MS;
    int pages = 0, copied = 0, code;
    database->busy_ms = end;
    while ((code = database->sql->wal_checkpoint_v2(database->handle, "main",
                                                    SQLITE_CHECKPOINT_TRUNCATE, &pages, &copied)) ==
               SQLITE_BUSY &&
           now_ms() < end)
        poll(NULL, 0, 5);
    database->journal_seen = 0;
    return code == SQLITE_OK;
}

bool store_wipe(struct store *store, bool all)
{
    struct database *database = store->database;
    bool good = true;
    database->busy_ms = now_ms() + JOURNAL_WAIT_MS;
    if (database->index != INDEX_NONE && !all)
        good = database_exec(database, "INSERT INTO source_index(source_index) VALUES('optimize');"
                                       "INSERT INTO output_index(output_index) VALUES('optimize')");
    if (all)
        good = database_exec(database, "VACUUM");
    good = cut_journal(database) && good;
    database_exec(database, "PRAGMA secure_delete = FAST");
    if (!good)
        database->state = DATABASE_BUSY;
    return good;
}

unsigned store_remove_damaged(const char *file)
{
    const char *slash = strrchr(file, '/');
    char *directory = slash ? xstrndup(file, (size_t)(slash - file) + 1) : xstrdup("./");
    char *prefix = xasprintf("%s.damaged-", slash ? slash + 1 : file);
    DIR *dir = opendir(directory);
    unsigned removed = 0;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0)
            removed += unlinkat(dirfd(dir), entry->d_name, 0) == 0;
    }
    if (dir)
        closedir(dir);
    free(directory);
    free(prefix);
    return removed;
}
