/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Cells out of rows, some at a time: each piece is a call to the thread, and the caller's function
 * runs between two of them.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "progress.h"
#include "store-internal.h"
#include "store-read.h"
#include "xalloc.h"

#define PIECE_BYTES (2u << 20)

/* ---- pieces --------------------------------------------------------------------------------- */

static void free_piece(void *data)
{
    struct store_piece *piece = data;
    for (size_t i = 0; i < piece->count; i++)
        store_cell_clear(&piece->cells[i]);
    free(piece->cells);
    free(piece->session);
    free(piece->text);
    free(piece);
}

static struct store_piece *new_piece(const char *session, const char *text)
{
    struct store_piece *piece = xcalloc(1, sizeof(*piece));
    piece->session = session ? xstrdup(session) : NULL;
    piece->text = text ? xstrdup(text) : NULL;
    return piece;
}

static const char *text_at(struct database *database, sqlite3_stmt *row, int column,
                           size_t *ret_size)
{
    const char *text = (const char *)database->sql->column_text(row, column);
    size_t size = text ? (size_t)database->sql->column_bytes(row, column) : 0;
    if (ret_size)
        *ret_size = size;
    return text ? xmemdup0(text, size) : NULL;
}

static struct store_cell *add_cell(struct store_piece *piece)
{
    piece->cells = xgrow(piece->cells, piece->count, &piece->capacity, sizeof(*piece->cells));
    struct store_cell *cell = &piece->cells[piece->count++];
    *cell = (struct store_cell){.id = 0};
    return cell;
}

static bool is_full(const struct store_piece *piece)
{
    return piece->count >= STORE_PIECE_CELLS || piece->bytes >= PIECE_BYTES;
}

bool store_piece_add(struct database *database, struct store_piece *piece, int64_t id)
{
    const struct sqlite_api *sql = database->sql;
    sqlite3_stmt *row = database_statement(database, STATEMENT_READ_CELL);
    if (!row)
        return false;
    database_bind_int(database, row, 1, id);
    if (!database_row(database, row))
        return database->state == DATABASE_OK; /* another program has deleted it */
    struct store_cell *cell = add_cell(piece);
    cell->id = sql->column_int64(row, 0);
    cell->session = text_at(database, row, 1, NULL);
    cell->number = (unsigned)sql->column_int64(row, 2);
    cell->source = text_at(database, row, 3, &cell->source_size);
    cell->status = text_at(database, row, 4, NULL);
    cell->exit_code = (int)sql->column_int64(row, 5);
    cell->output = text_at(database, row, 6, &cell->output_size);
    cell->spill_path = text_at(database, row, 7, NULL);
    cell->submitted_us = sql->column_int64(row, 8);
    cell->started_us = sql->column_int64(row, 9);
    cell->duration_us = sql->column_int64(row, 10);
    cell->generation = (uint64_t)sql->column_int64(row, 11);
    cell->execution_count = (uint64_t)sql->column_int64(row, 12);
    cell->previous = text_at(database, row, 13, NULL);
    cell->how = (unsigned)sql->column_int64(row, 14);
    cell->origin = text_at(database, row, 15, NULL);
    cell->first_line = (unsigned)sql->column_int64(row, 16);
    sql->reset(row);
    if (!cell->output)
        cell->output = xstrdup("");
    piece->bytes += cell->source_size + cell->output_size;
    return true;
}

bool store_piece_add_ids(struct database *database, struct store_piece *piece, sqlite3_stmt *ids)
{
    bool good = true;
    while (good && !is_full(piece)) {
        if (!database_row(database, ids))
            return database->state == DATABASE_OK;
        piece->place = database->sql->column_int64(ids, 0);
        good = store_piece_add(database, piece, piece->place);
        piece->more = true;
    }
    enum database_state state = database->state;
    database->sql->reset(ids);
    database->state = state;
    return good;
}

/*
 * Somebody waits for the last so many: in all no longer than for one piece. Who wants all of it
 * waits so long for each piece.
 */
bool store_read_pieces(struct store *store, struct store_reading *reading)
{
    bool wants = true, more = true, all = reading->limit >= STORE_ALL_CELLS;
    int64_t left_ms = STORE_READ_MS;
    while (wants && more && reading->limit) {
        if (left_ms <= 0)
            return false;
        struct store_piece *piece = new_piece(reading->session, reading->text);
        piece->place = reading->place;
        piece->limit = reading->limit;
        piece->first = !reading->started;
        int64_t begun_ms = now_ms();
        struct store_call *call =
            store_call(store, reading->run, piece, free_piece, false, left_ms);
        if (!call)
            return store->mode == STORE_OFF;
        left_ms -= all ? 0 : now_ms() - begun_ms;
        bool good = call->good;
        reading->started = true;
        reading->place = piece->place;
        /* The end may have come with the last cell: then the next piece is empty. */
        more = good && piece->count > 0 && piece->more;
        reading->limit -= piece->count < reading->limit ? piece->count : reading->limit;
        for (size_t i = 0; wants && i < piece->count; i++)
            wants = reading->take(reading->context, &piece->cells[i]);
        store_call_free(call);
        if (!good)
            return false;
    }
    return true;
}

/* ---- one session ---------------------------------------------------------------------------- */

/* Where the last so many begin; 0: at the first. */
static int64_t first_of(struct database *database, sqlite3_stmt *statement)
{
    int64_t id = 0;
    if (database_row(database, statement)) {
        id = database->sql->column_int64(statement, 0);
        database->sql->reset(statement);
    }
    return id;
}

static bool read_session(struct store *store, struct store_call *call)
{
    struct database *database = store->database;
    struct store_piece *piece = call->data;
    int64_t session = store_find_session(database, piece->session);
    if (!session)
        return database->state == DATABASE_OK;
    if (piece->first) {
        sqlite3_stmt *first = database_statement(database, STATEMENT_FIRST_OF_SESSION);
        if (!first)
            return false;
        database_bind_int(database, first, 1, session);
        database_bind_int(database, first, 2, (int64_t)(piece->limit - 1));
        piece->place = first_of(database, first) - 1;
        if (database->state != DATABASE_OK)
            return false;
    }
    sqlite3_stmt *ids = database_statement(database, STATEMENT_IDS_OF_SESSION);
    if (!ids)
        return false;
    database_bind_int(database, ids, 1, session);
    database_bind_int(database, ids, 2, piece->place + 1);
    database_bind_int(database, ids, 3, (int64_t)piece->limit);
    return store_piece_add_ids(database, piece, ids);
}

bool store_read_session(struct store *store, const char *session, size_t limit, store_take_fn take,
                        void *context)
{
    struct store_reading reading = {.run = read_session,
                                    .session = session,
                                    .limit = store_sane_limit(limit),
                                    .take = take,
                                    .context = context};
    return store_read_pieces(store, &reading);
}

/* ---- the sources of all --------------------------------------------------------------------- */

static bool read_sources(struct store *store, struct store_call *call)
{
    struct database *database = store->database;
    const struct sqlite_api *sql = database->sql;
    struct store_piece *piece = call->data;
    if (piece->first) {
        sqlite3_stmt *first = database_statement(database, STATEMENT_FIRST_OF_ALL);
        if (!first)
            return false;
        database_bind_int(database, first, 1, (int64_t)(piece->limit - 1));
        piece->place = first_of(database, first) - 1;
        if (database->state != DATABASE_OK)
            return false;
    }
    sqlite3_stmt *rows = database_statement(database, STATEMENT_READ_SOURCES);
    if (!rows)
        return false;
    database_bind_int(database, rows, 1, piece->place + 1);
    database_bind_int(database, rows, 2, (int64_t)piece->limit);
    while (database_row(database, rows)) {
        struct store_cell *cell = add_cell(piece);
        piece->more = true;
        piece->place = cell->id = sql->column_int64(rows, 0);
        cell->session = text_at(database, rows, 1, NULL);
        cell->number = (unsigned)sql->column_int64(rows, 2);
        cell->source = text_at(database, rows, 3, &cell->source_size);
        cell->submitted_us = sql->column_int64(rows, 4);
        piece->bytes += cell->source_size;
        if (piece->bytes >= PIECE_BYTES) {
            sql->reset(rows);
            return true;
        }
    }
    return database->state == DATABASE_OK;
}

bool store_read_sources(struct store *store, size_t limit, store_take_fn take, void *context)
{
    struct store_reading reading = {
        .run = read_sources, .limit = store_sane_limit(limit), .take = take, .context = context};
    return store_read_pieces(store, &reading);
}
