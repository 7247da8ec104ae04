/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copying the journal into the database, so that it does not grow for ever. It syncs, which takes
 * as long as the disk likes: a thread and a connection of its own do it, and whoever writes or
 * reads meanwhile, here or in another program, is not held up.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "progress.h"
#include "store-internal.h"
#include "xalloc.h"

#define JOURNAL_PAGES 1000      /* copied when nothing was written for a while */
#define JOURNAL_PAGES_MOST 8000 /* and in any case */
#define JOURNAL_IDLE_MS 300

struct store_tidying {
    const struct sqlite_api *sql;
    char *path;
    pthread_t thread;
    atomic_bool finished;
};

/* What cannot be copied now is copied another time, at the latest when the last program ends. */
static void *copy_journal(void *context)
{
    struct store_tidying *tidying = context;
    const struct sqlite_api *sql = tidying->sql;
    sqlite3 *handle = NULL;
    int pages, copied;
    if (sql->open_v2(tidying->path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
        SQLITE_OK) {
        sql->db_config(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
        sql->wal_checkpoint_v2(handle, "main", SQLITE_CHECKPOINT_PASSIVE, &pages, &copied);
    }
    sql->close(handle);
    atomic_store(&tidying->finished, true);
    return NULL;
}

static void start_tidying(struct store *store)
{
    struct store_tidying *tidying = xcalloc(1, sizeof(*tidying));
    tidying->sql = store->database->sql;
    tidying->path = xstrdup(store->file);
    if (pthread_create(&tidying->thread, NULL, copy_journal, tidying) == 0) {
        store->tidying = tidying;
        return;
    }
    free(tidying->path);
    free(tidying);
}

void store_end_tidying(struct store *store)
{
    if (!store->tidying)
        return;
    pthread_join(store->tidying->thread, NULL);
    free(store->tidying->path);
    free(store->tidying);
    store->tidying = NULL;
}

void store_tidy_journal(struct store *store)
{
    struct database *database = store->database;
    int64_t now = now_ms();
    if (store->tidying && atomic_load(&store->tidying->finished))
        store_end_tidying(store);
    if (store->place != PLACE_FILE || store->tidying) {
        store->tidy_ms = 0;
        return;
    }
    if (database->journal_pages < database->journal_seen)
        database->journal_seen = 0; /* it was begun anew */
    int grown = database->journal_pages - database->journal_seen;
    if (grown < JOURNAL_PAGES) {
        store->tidy_ms = 0;
    } else if (grown < JOURNAL_PAGES_MOST && (grown != store->tidy_pages || !store->tidy_ms)) {
        store->tidy_ms = now + JOURNAL_IDLE_MS;
        store->tidy_pages = grown;
    } else if (grown >= JOURNAL_PAGES_MOST || now >= store->tidy_ms) {
        start_tidying(store);
        database->journal_seen = database->journal_pages;
        store->tidy_ms = 0;
    }
}
