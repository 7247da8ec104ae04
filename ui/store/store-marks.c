/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which programs have which sessions open.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "live-mark.h"
#include "store-marks.h"
#include "xalloc.h"

/* ---- the marks in the database -------------------------------------------------------------- */

bool store_load_marks(struct database *database, struct store_marks *marks)
{
    const struct sqlite_api *sql = database->sql;
    sqlite3_stmt *row = database_statement(database, STATEMENT_LIST_PROGRAMS);
    if (!row)
        return false;
    while (database_row(database, row)) {
        marks->items = xgrow(marks->items, marks->count, &marks->capacity, sizeof(*marks->items));
        struct store_mark *mark = &marks->items[marks->count++];
        *mark = (struct store_mark){.session = sql->column_int64(row, 0)};
        mark->program.pid = sql->column_int64(row, 1);
        mark->program.started = sql->column_int64(row, 2);
        const char *host = (const char *)sql->column_text(row, 3);
        size_t size = host ? strnlen(host, sizeof(mark->program.host) - 1) : 0;
        memcpy(mark->program.host, host ? host : "", size);
        mark->lives = live_mark_lives(&mark->program);
    }
    return database->state == DATABASE_OK;
}

void store_free_marks(struct store_marks *marks)
{
    free(marks->items);
    *marks = (struct store_marks){.items = NULL};
}

const struct store_mark *store_other_mark(const struct store_marks *marks, int64_t session)
{
    struct live_mark own;
    live_mark_own(&own);
    for (size_t i = 0; i < marks->count; i++) {
        const struct store_mark *mark = &marks->items[i];
        if (mark->session == session && mark->lives && !live_mark_is(&mark->program, &own))
            return mark;
    }
    return NULL;
}

static bool change_mark(struct database *database, enum statement which, int64_t session,
                        const struct live_mark *program)
{
    sqlite3_stmt *statement = database_statement(database, which);
    if (!statement)
        return false;
    database_bind_int(database, statement, 1, session);
    database_bind_int(database, statement, 2, program->pid);
    database_bind_int(database, statement, 3, program->started);
    database_bind_text(database, statement, 4, program->host, strlen(program->host));
    return database_run(database, statement);
}

static bool delete_if_empty(struct database *database, int64_t session)
{
    sqlite3_stmt *statement = database_statement(database, STATEMENT_DELETE_EMPTY_SESSION);
    if (!statement)
        return false;
    database_bind_int(database, statement, 1, session);
    return database_run(database, statement);
}

bool store_sweep_marks(struct database *database, const struct store_marks *marks)
{
    bool good = true;
    for (size_t i = 0; good && i < marks->count; i++) {
        const struct store_mark *mark = &marks->items[i];
        if (!mark->lives)
            good = change_mark(database, STATEMENT_DELETE_PROGRAM, mark->session, &mark->program) &&
                   delete_if_empty(database, mark->session);
    }
    return good;
}

bool store_write_marks(struct store *store)
{
    struct live_mark own;
    bool good = true;
    live_mark_own(&own);
    for (size_t i = 0; good && i < store->entered_count; i++) {
        int64_t session = store_make_session(store->database, store->entered[i], store_now_us());
        good = session && change_mark(store->database, STATEMENT_ADD_PROGRAM, session, &own);
    }
    return good;
}

/* A transaction around it. */
static bool remove_mark(struct store *store, const char *name)
{
    struct live_mark own;
    live_mark_own(&own);
    if (!store_transaction(store, STATEMENT_BEGIN))
        return false;
    int64_t session = store_find_session(store->database, name);
    bool good = session ? change_mark(store->database, STATEMENT_DELETE_PROGRAM, session, &own) &&
                              delete_if_empty(store->database, session)
                        : store->database->state == DATABASE_OK;
    if (good && store_transaction(store, STATEMENT_COMMIT))
        return true;
    store_transaction(store, STATEMENT_ROLLBACK);
    return false;
}

void store_remove_marks(struct store *store)
{
    store->database->busy_ms = 0; /* what stays is found out: the process is no more */
    for (size_t i = 0; i < store->entered_count; i++)
        remove_mark(store, store->entered[i]);
}

/* ---- calls ---------------------------------------------------------------------------------- */

struct entry {
    char *name;
    bool other;
};

static void free_entry(void *data)
{
    struct entry *entry = data;
    free(entry->name);
    free(entry);
}

static size_t find_entered(const struct store *store, const char *name)
{
    size_t i = 0;
    while (i < store->entered_count && strcmp(store->entered[i], name) != 0)
        i++;
    return i;
}

static bool enter(struct store *store, struct store_call *call)
{
    struct entry *entry = call->data;
    struct store_marks marks = {.items = NULL};
    if (find_entered(store, entry->name) == store->entered_count) {
        store->entered = xgrow(store->entered, store->entered_count, &store->entered_capacity,
                               sizeof(*store->entered));
        store->entered[store->entered_count++] = xstrdup(entry->name);
    }
    store->marks_due = true; /* should it fail now, it is written with the next cell */
    if (!store_transaction(store, STATEMENT_BEGIN))
        return false;
    bool good = store_load_marks(store->database, &marks) &&
                store_sweep_marks(store->database, &marks) && store_write_marks(store);
    int64_t session = good ? store_find_session(store->database, entry->name) : 0;
    entry->other = session && store_other_mark(&marks, session);
    store_free_marks(&marks);
    if (good && store_transaction(store, STATEMENT_COMMIT)) {
        store->marks_due = false;
        return true;
    }
    enum database_state state = store->database->state;
    store_transaction(store, STATEMENT_ROLLBACK);
    store->database->state = state;
    return false;
}

static bool leave(struct store *store, struct store_call *call)
{
    const struct entry *entry = call->data;
    size_t i = find_entered(store, entry->name);
    if (i < store->entered_count) {
        free(store->entered[i]);
        store->entered[i] = store->entered[--store->entered_count];
    }
    return remove_mark(store, entry->name);
}

static struct entry *new_entry(const char *name)
{
    struct entry *entry = xcalloc(1, sizeof(*entry));
    entry->name = xstrdup(name);
    return entry;
}

bool store_enter(struct store *store, const char *session)
{
    struct store_call *call =
        store_call(store, enter, new_entry(session), free_entry, false, STORE_READ_MS);
    bool other = call && ((const struct entry *)call->data)->other;
    store_call_free(call);
    return other;
}

void store_leave(struct store *store, const char *session)
{
    store_call_free(store_call(store, leave, new_entry(session), free_entry, false, STORE_READ_MS));
}
