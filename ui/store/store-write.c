/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cells into rows.
 */
#include "config.h"

#include <string.h>

#include "store-internal.h"
#include "utf8.h"
#include "xalloc.h"

#define TAIL_BYTES (64u * 1024)

void store_cap_output(const struct store_cell *cell, struct strbuf *out)
{
    size_t head = STORE_OUTPUT_LIMIT - TAIL_BYTES - 512; /* room for the line between them */
    if (!cell->output_size)
        return;
    if (cell->output_size <= STORE_OUTPUT_LIMIT) {
        utf8_repair(out, cell->output, cell->output_size);
        return;
    }
    size_t tail = cell->output_size - TAIL_BYTES;
    head -= utf8_partial_tail(cell->output, head);
    while (tail < cell->output_size && ((unsigned char)cell->output[tail] & 0xC0) == 0x80)
        tail++;
    utf8_repair(out, cell->output, head);
    strbuf_addf(out, "\n[... %zu bytes are not kept in the history", tail - head);
    if (cell->spill_path && strlen(cell->spill_path) < 300)
        strbuf_addf(out, "; all of it: %s", cell->spill_path);
    strbuf_adds(out, " ...]\n");
    utf8_repair(out, cell->output + tail, cell->output_size - tail);
}

int64_t store_find_session(struct database *database, const char *name)
{
    int64_t id = 0;
    sqlite3_stmt *statement = database_statement(database, STATEMENT_FIND_SESSION);
    if (!statement)
        return 0;
    database_bind_text(database, statement, 1, name, strlen(name));
    if (database_row(database, statement)) {
        id = database->sql->column_int64(statement, 0);
        database->sql->reset(statement);
    }
    return id;
}

int64_t store_make_session(struct database *database, const char *name, int64_t now_us)
{
    int64_t id = store_find_session(database, name);
    if (id || database->state != DATABASE_OK)
        return id;
    sqlite3_stmt *statement = database_statement(database, STATEMENT_ADD_SESSION);
    if (!statement)
        return 0;
    database_bind_text(database, statement, 1, name, strlen(name));
    database_bind_int(database, statement, 2, now_us);
    return database_run(database, statement) ? database->sql->last_insert_rowid(database->handle)
                                             : 0;
}

static void bind_words(struct database *database, sqlite3_stmt *statement, int place,
                       const char *text)
{
    database_bind_text(database, statement, place, text, text ? strlen(text) : 0);
}

bool store_write_begin(struct store *store, const struct store_job *job)
{
    struct database *database = store->database;
    const struct store_cell *cell = &job->cell;
    int64_t session = store_make_session(database, cell->session, cell->submitted_us);
    sqlite3_stmt *add = session ? database_statement(database, STATEMENT_ADD_CELL) : NULL;
    if (!add)
        return false;
    database_bind_int(database, add, 1, session);
    database_bind_int(database, add, 2, cell->number);
    database_bind_text(database, add, 3, cell->source, cell->source_size);
    database_bind_int(database, add, 4, cell->submitted_us);
    database_bind_int(database, add, 5, (int64_t)cell->generation);
    bind_words(database, add, 6, cell->previous);
    database_bind_int(database, add, 7, cell->how);
    bind_words(database, add, 8, cell->origin);
    database_bind_int(database, add, 9, cell->first_line);
    if (!database_run(database, add))
        return false;
    int64_t row = database->sql->last_insert_rowid(database->handle);
    sqlite3_stmt *use = database_statement(database, STATEMENT_USE_SESSION);
    if (!use)
        return false;
    database_bind_int(database, use, 1, session);
    database_bind_int(database, use, 2, cell->submitted_us);
    if (!database_run(database, use) ||
        !database_index(database, STATEMENT_INDEX_SOURCE, row, cell->source, cell->source_size))
        return false;
    store->open_cells = xgrow(store->open_cells, store->open_count, &store->open_capacity,
                              sizeof(*store->open_cells));
    store->open_cells[store->open_count++] = (struct store_open_cell){.id = job->id, .row = row};
    return true;
}

static struct store_open_cell *find_open(struct store *store, int64_t id)
{
    for (size_t i = store->open_count; i-- > 0;) {
        if (store->open_cells[i].id == id)
            return &store->open_cells[i];
    }
    return NULL;
}

/*
 * A row that is not there was deleted meanwhile, by whomever: then the outcome is not kept either.
 */
bool store_write_settle(struct store *store, const struct store_job *job)
{
    struct database *database = store->database;
    const struct store_cell *cell = &job->cell;
    struct store_open_cell *open = find_open(store, job->id);
    if (!open || open->settled)
        return true;
    open->settled = true;
    sqlite3_stmt *settle = open->row ? database_statement(database, STATEMENT_SETTLE_CELL) : NULL;
    if (!settle)
        return !open->row;
    database_bind_int(database, settle, 1, open->row);
    bind_words(database, settle, 2, cell->status);
    database_bind_int(database, settle, 3, cell->exit_code);
    database_bind_text(database, settle, 4, cell->output, cell->output_size);
    bind_words(database, settle, 5, cell->spill_path);
    database_bind_int(database, settle, 6, cell->started_us);
    database_bind_int(database, settle, 7, cell->duration_us);
    database_bind_int(database, settle, 8, (int64_t)cell->generation);
    database_bind_int(database, settle, 9, (int64_t)cell->execution_count);
    bind_words(database, settle, 10, cell->previous);
    if (!database_run(database, settle))
        return false;
    if (database->sql->changes(database->handle) == 0)
        return true;
    return database_index(database, STATEMENT_INDEX_OUTPUT, open->row, cell->output,
                          cell->output_size);
}
