/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tables, version by version.
 */
#include "config.h"

#include <stdio.h>

#include "database.h"

/*
 * Ids of cells are never given twice: a cell may be deleted while another program is about to
 * settle it. The output stands behind what is listed, so that listing does not read it.
 */
static const char *const steps[DATABASE_VERSION] = {
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value INTEGER) WITHOUT ROWID;"
    "CREATE TABLE sessions("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,"
    " created_us INTEGER NOT NULL, used_us INTEGER NOT NULL, cells INTEGER NOT NULL);"
    "CREATE TABLE cells("
    " id INTEGER PRIMARY KEY AUTOINCREMENT, session INTEGER NOT NULL, number INTEGER NOT NULL,"
    " submitted_us INTEGER NOT NULL, source TEXT NOT NULL, status TEXT NOT NULL,"
    " exit_code INTEGER, started_us INTEGER, duration_us INTEGER, generation INTEGER,"
    " execution_count INTEGER, previous TEXT, spill_path TEXT, output TEXT);"
    "CREATE INDEX cells_of_session ON cells(session, id);"
    "CREATE TABLE programs("
    " session INTEGER NOT NULL, pid INTEGER NOT NULL, started INTEGER NOT NULL,"
    " host TEXT NOT NULL, PRIMARY KEY(session, pid, started, host)) WITHOUT ROWID;",
    "ALTER TABLE cells ADD COLUMN how INTEGER; ALTER TABLE cells ADD COLUMN origin TEXT;"
    "ALTER TABLE cells ADD COLUMN first_line INTEGER;",
};

/* Another process may have done it since: the version counts that stands behind the lock. */
static int64_t version_now(struct database *database)
{
    sqlite3_stmt *statement = NULL;
    int64_t version = -1;
    if (database->sql->prepare_v2(database->handle, "PRAGMA user_version", -1, &statement, NULL) ==
            SQLITE_OK &&
        database_row(database, statement)) {
        version = database->sql->column_int64(statement, 0);
        database->sql->reset(statement);
    }
    database->sql->finalize(statement);
    return version;
}

bool database_migrate(struct database *database, int64_t from)
{
    char mark[64];
    sqlite3_stmt *begin = database_statement(database, STATEMENT_BEGIN);
    if (!begin || !database_run(database, begin))
        return false;
    from = version_now(database);
    bool good = from >= 0;
    for (int64_t version = from; good && version < DATABASE_VERSION; version++)
        good = database_exec(database, steps[version]);
    snprintf(mark, sizeof(mark), "PRAGMA user_version = %d; COMMIT", DATABASE_VERSION);
    if (good && database_exec(database, mark))
        return true;
    enum database_state state = database->state;
    database_exec(database, "ROLLBACK");
    database->state = state;
    return false;
}
