/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sessions as a whole: listed, renamed, deleted; and everything deleted.
 */
#include "config.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "progress.h"
#include "store-internal.h"
#include "store-marks.h"
#include "store-purge.h"
#include "xalloc.h"

#define CHANGE_MS 10000
#define DELETE_MS 120000 /* a large index is written anew */
#define STILL_READ                                                                                 \
    "the cells are deleted, but another program still reads the journal that held them"

/* ---- the list ------------------------------------------------------------------------------- */

struct list {
    struct store_session *items;
    size_t count, capacity;
};

static void free_list(void *data)
{
    struct list *list = data;
    for (size_t i = 0; i < list->count; i++)
        free((char *)list->items[i].name);
    free(list->items);
    free(list);
}

static void add_session(struct list *list, struct database *database, sqlite3_stmt *row,
                        const struct store_marks *marks)
{
    const struct sqlite_api *sql = database->sql;
    const char *name = (const char *)sql->column_text(row, 1);
    struct store_session session = {.last_used_us = sql->column_int64(row, 2),
                                    .cells = (uint64_t)sql->column_int64(row, 3)};
    int64_t id = sql->column_int64(row, 0);
    for (size_t i = 0; i < marks->count; i++) {
        if (marks->items[i].session == id && marks->items[i].lives) {
            session.live = true;
            session.pid = marks->items[i].program.pid;
        }
    }
    if (!name || (!session.cells && !session.live))
        return;
    session.name = xstrdup(name);
    list->items = xgrow(list->items, list->count, &list->capacity, sizeof(*list->items));
    list->items[list->count++] = session;
}

static bool list_sessions(struct store *store, struct store_call *call)
{
    struct database *database = store->database;
    struct store_marks marks = {.items = NULL};
    sqlite3_stmt *row = database_statement(database, STATEMENT_LIST_SESSIONS);
    if (!row || !store_load_marks(database, &marks)) {
        store_free_marks(&marks);
        return false;
    }
    while (database_row(database, row))
        add_session(call->data, database, row, &marks);
    store_free_marks(&marks);
    return database->state == DATABASE_OK;
}

bool store_read_sessions(struct store *store, store_take_session_fn take, void *context)
{
    struct list *list = xcalloc(1, sizeof(*list));
    struct store_call *call =
        store_call(store, list_sessions, list, free_list, false, STORE_READ_MS);
    if (!call)
        return store->mode == STORE_OFF;
    bool good = call->good;
    for (size_t i = 0; good && i < list->count; i++) {
        if (!take(context, &list->items[i]))
            break;
    }
    store_call_free(call);
    return good;
}

/* ---- changes -------------------------------------------------------------------------------- */

struct change {
    char *from, *to;
    struct store_purged purged;
};

static void free_change(void *data)
{
    struct change *change = data;
    free(change->from);
    free(change->to);
    free(change);
}

/* Ask for a change; all but purging is refused where another program has the session open. */
static bool ask(struct store *store, store_call_fn run, struct change *change, bool lasting,
                int64_t wait_ms, struct store_purged *ret_purged, struct strbuf *error)
{
    struct store_call *call = store_call(store, run, change, free_change, lasting, wait_ms);
    if (!call) {
        strbuf_setf(error, store->mode == STORE_OFF
                               ? "no history is kept"
                               : "the history is busy; nothing is changed yet");
        return false;
    }
    bool good = call->good;
    if (ret_purged)
        *ret_purged = change->purged;
    if (!good)
        strbuf_setf(error, "%s", strbuf_text(&call->error));
    store_call_free(call);
    return good;
}

/* 0: error is set. */
static int64_t find_free_session(struct store *store, const char *name, struct strbuf *error)
{
    struct store_marks marks = {.items = NULL};
    int64_t session = store_find_session(store->database, name);
    if (!session) {
        if (store->database->state == DATABASE_OK)
            strbuf_setf(error, "there is no session '%s'", name);
        return 0;
    }
    bool good = store_load_marks(store->database, &marks);
    const struct store_mark *other = good ? store_other_mark(&marks, session) : NULL;
    if (other)
        strbuf_setf(error, "session '%s' is open in another program (process %" PRId64 ")", name,
                    other->program.pid);
    store_free_marks(&marks);
    return good && !other ? session : 0;
}

static bool end_transaction(struct store *store, bool good)
{
    if (good && store_transaction(store, STATEMENT_COMMIT))
        return true;
    enum database_state state = store->database->state;
    store_transaction(store, STATEMENT_ROLLBACK);
    store->database->state = state;
    return false;
}

static bool rename_session(struct store *store, struct store_call *call)
{
    struct database *database = store->database;
    const struct change *change = call->data;
    if (!store_transaction(store, STATEMENT_BEGIN))
        return false;
    int64_t session = find_free_session(store, change->from, &call->error);
    bool taken = session && store_find_session(database, change->to);
    if (taken)
        strbuf_setf(&call->error, "there is a session '%s' already", change->to);
    sqlite3_stmt *rename =
        session && !taken ? database_statement(database, STATEMENT_RENAME_SESSION) : NULL;
    bool good = false;
    if (rename) {
        database_bind_int(database, rename, 1, session);
        database_bind_text(database, rename, 2, change->to, strlen(change->to));
        good = database_run(database, rename);
    }
    if (!end_transaction(store, good))
        return false;
    for (size_t i = 0; i < store->entered_count; i++) {
        if (strcmp(store->entered[i], change->from) == 0) {
            free(store->entered[i]);
            store->entered[i] = xstrdup(change->to);
        }
    }
    return true;
}

static bool delete_session(struct store *store, struct store_call *call)
{
    struct change *change = call->data;
    struct store_spills spills = {.paths = NULL};
    store->database->stop_ms = 0; /* begun, it is brought to its end */
    if (!store_transaction(store, STATEMENT_BEGIN))
        return false;
    int64_t session = find_free_session(store, change->from, &call->error);
    bool good = end_transaction(store, session && store_delete_rows(store, session, &spills));
    if (good) {
        store_remove_spills(&spills);
        good = store_wipe(store, false);
        if (!good)
            strbuf_setf(&call->error, STILL_READ);
        store->marks_due = store->entered_count > 0;
    }
    store_free_spills(&spills);
    return good;
}

static bool purge(struct store *store, struct store_call *call)
{
    struct change *change = call->data;
    store->database->stop_ms = 0;
    bool good = store_purge_rows(store, &change->purged);
    if (good && !store_wipe(store, true)) {
        strbuf_setf(&call->error, STILL_READ);
        good = false;
    }
    store->marks_due = store->entered_count > 0;
    change->purged.damaged = store_remove_damaged(store->file);
    if (good && strcmp(store->file, store->path) != 0) {
        strbuf_setf(&call->error, "%s is of a newer hermes-repl, which has to purge it",
                    store->path);
        return false;
    }
    return good;
}

static struct change *new_change(const char *from, const char *to)
{
    struct change *change = xcalloc(1, sizeof(*change));
    change->from = from ? xstrdup(from) : NULL;
    change->to = to ? xstrdup(to) : NULL;
    return change;
}

static bool rename_it(struct store *store, const char *from, const char *to, bool lasting,
                      struct strbuf *error)
{
    if (*to)
        return ask(store, rename_session, new_change(from, to), lasting, CHANGE_MS, NULL, error);
    strbuf_setf(error, "a session needs a name");
    return false;
}

bool store_rename(struct store *store, const char *from, const char *to, struct strbuf *error)
{
    return store->mode == STORE_OFF || rename_it(store, from, to, false, error);
}

bool store_rename_lasting(struct store *store, const char *from, const char *to,
                          struct strbuf *error)
{
    return rename_it(store, from, to, true, error);
}

bool store_delete(struct store *store, const char *session, struct strbuf *error)
{
    return ask(store, delete_session, new_change(session, NULL), true, DELETE_MS, NULL, error);
}

bool store_purge_counted(struct store *store, struct store_purged *ret_purged, struct strbuf *error)
{
    return ask(store, purge, new_change(NULL, NULL), true, DELETE_MS, ret_purged, error);
}

bool store_purge(struct store *store, struct strbuf *error)
{
    return store_purge_counted(store, NULL, error);
}
