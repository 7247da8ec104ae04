/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Full text: an index over sources and one over outputs. Each holds no text of its own, only where
 * its parts of three characters are, so any piece of a text is found, signs too. To take a row out
 * the same text has to be given again; so what is indexed depends on the row alone.
 */
#include "config.h"

#include <string.h>

#include "database.h"
#include "utf8.h"

/* Bounds what one cell costs. */
#define INDEXED_HEAD_BYTES (16u * 1024)
#define INDEXED_TAIL_BYTES (8u * 1024)

static const char create[] =
    "DROP TABLE IF EXISTS source_index; DROP TABLE IF EXISTS output_index;"
    "CREATE VIRTUAL TABLE source_index USING fts5(text, content = '', tokenize = 'trigram');"
    "CREATE VIRTUAL TABLE output_index USING fts5(text, content = '', tokenize = 'trigram')";

static size_t cut_before(const char *text, size_t size)
{
    return size - utf8_partial_tail(text, size);
}

/* Its beginning and its end. NULs would end it for SQLite. */
static void index_text(const char *text, size_t size, struct strbuf *out)
{
    if (size <= INDEXED_HEAD_BYTES + INDEXED_TAIL_BYTES) {
        strbuf_add(out, text, size);
    } else {
        size_t tail = size - INDEXED_TAIL_BYTES;
        while (tail < size && ((unsigned char)text[tail] & 0xC0) == 0x80)
            tail++;
        strbuf_add(out, text, cut_before(text, INDEXED_HEAD_BYTES));
        strbuf_addc(out, '\n');
        strbuf_add(out, text + tail, size - tail);
    }
    for (size_t i = 0; i < out->size; i++) {
        if (!out->data[i])
            out->data[i] = ' ';
    }
}

bool database_index(struct database *database, enum statement which, int64_t row, const char *text,
                    size_t size)
{
    struct strbuf part = STRBUF_INIT;
    if (database->index == INDEX_NONE || !size)
        return true;
    sqlite3_stmt *statement = database_statement(database, which);
    if (!statement)
        return false;
    index_text(text, size, &part);
    database_bind_int(database, statement, 1, row);
    database_bind_text(database, statement, 2, part.data, part.size);
    bool good = database_run(database, statement);
    strbuf_free(&part);
    return good;
}

static bool index_all(struct database *database)
{
    const struct sqlite_api *sql = database->sql;
    sqlite3_stmt *rows = database_statement(database, STATEMENT_ALL_TEXTS);
    while (rows && database_row(database, rows)) {
        int64_t id = sql->column_int64(rows, 0);
        for (int i = 1; i <= 2; i++) {
            const char *text = (const char *)sql->column_text(rows, i);
            if (!database_index(database, i == 1 ? STATEMENT_INDEX_SOURCE : STATEMENT_INDEX_OUTPUT,
                                id, text, text ? (size_t)sql->column_bytes(rows, i) : 0)) {
                enum database_state state = database->state;
                sql->reset(rows);
                database->state = state;
                return false;
            }
        }
    }
    return rows && database->state == DATABASE_OK;
}

/*
 * The tables in which an index is kept, as they are in an empty one: a SQLite that does not know
 * the index can write them.
 */
#define EMPTY(index)                                                                               \
    "DELETE FROM " index "_data WHERE id NOT IN (1, 10);"                                          \
    "UPDATE " index "_data SET block = X'' WHERE id = 1;"                                          \
    "UPDATE " index "_data SET block = X'00000000000000' WHERE id = 10;"                           \
    "DELETE FROM " index "_idx; DELETE FROM " index "_docsize;"

bool database_clear_index(struct database *database)
{
    if (database->index == INDEX_TRIGRAM)
        return database_exec(database,
                             "INSERT INTO source_index(source_index) VALUES('delete-all');"
                             "INSERT INTO output_index(output_index) VALUES('delete-all');");
    if (database_meta(database, "index", 0) == 0)
        return database->state == DATABASE_OK;
    return database_exec(database, EMPTY("source_index") EMPTY("output_index")) &&
           database_set_meta(database, "holes", 1);
}

/* In one transaction, over what another process may have done meanwhile. */
static bool make_index(struct database *database)
{
    if (!database_exec(database, "BEGIN IMMEDIATE"))
        return false;
    bool good = database_exec(database, create);
    if (!good && database->state == DATABASE_REFUSED) { /* no FTS5, or no trigrams */
        database_exec(database, "ROLLBACK");
        database->state = DATABASE_OK;
        return true;
    }
    database->index = INDEX_TRIGRAM;
    good = good && index_all(database) && database_set_meta(database, "index", 1) &&
           database_set_meta(database, "holes", 0) && database_exec(database, "COMMIT");
    if (!good) {
        enum database_state state = database->state;
        database_exec(database, "ROLLBACK");
        database->state = state;
        database->index = INDEX_NONE;
    }
    return good;
}

/* An index that this SQLite cannot use gets holes; one that can fills them. */
bool database_find_index(struct database *database, enum database_index wanted)
{
    bool there = database_meta(database, "index", 0) != 0;
    if (database->state != DATABASE_OK)
        return false;
    bool holes = database_meta(database, "holes", 0) != 0;
    bool usable = wanted == INDEX_TRIGRAM;
    if (usable && there)
        usable = database_statement(database, STATEMENT_INDEX_SOURCE) != NULL;
    if (usable && there && !holes) {
        database->index = INDEX_TRIGRAM;
        return true;
    }
    if (!usable && database->state != DATABASE_OK && database->state != DATABASE_REFUSED)
        return false;
    database->state = DATABASE_OK;
    if (usable)
        return make_index(database);
    return !there || holes || database_set_meta(database, "holes", 1);
}
