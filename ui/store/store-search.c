/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Searching: the text as a whole, letters in either case, newest cells first. By the index where it
 * can (three characters and more); else by a look at each row, as many as there is time for.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "store-internal.h"
#include "store-read.h"

static size_t characters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

/* As one string of the index's query language. */
static void add_phrase(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            strbuf_addc(out, '"');
        strbuf_addc(out, *text);
    }
    strbuf_addc(out, '"');
}

static void add_pattern(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '%');
    for (; *text; text++) {
        if (strchr("%_\\", *text))
            strbuf_addc(out, '\\');
        strbuf_addc(out, *text);
    }
    strbuf_addc(out, '%');
}

static bool search(struct store *store, struct store_call *call)
{
    struct database *database = store->database;
    struct store_piece *piece = call->data;
    struct strbuf wanted = STRBUF_INIT;
    bool indexed = database->index == INDEX_TRIGRAM && characters(piece->text) >= 3;
    int64_t session = piece->session ? store_find_session(database, piece->session) : 0;
    if (piece->session && !session)
        return database->state == DATABASE_OK;
    enum statement which = indexed ? (session ? STATEMENT_SEARCH_SESSION : STATEMENT_SEARCH)
                                   : (session ? STATEMENT_SCAN_SESSION : STATEMENT_SCAN);
    sqlite3_stmt *ids = database_statement(database, which);
    if (!ids)
        return false;
    (indexed ? add_phrase : add_pattern)(&wanted, piece->text);
    database_bind_text(database, ids, 1, wanted.data, wanted.size);
    database_bind_int(database, ids, 2, piece->first ? INT64_MAX : piece->place);
    size_t limit = piece->limit < STORE_PIECE_CELLS ? piece->limit : STORE_PIECE_CELLS;
    database_bind_int(database, ids, 3, (int64_t)limit);
    if (session)
        database_bind_int(database, ids, 4, session);
    bool good = store_piece_add_ids(database, piece, ids);
    strbuf_free(&wanted);
    if (good || indexed || database->state != DATABASE_STOPPED)
        return good;
    piece->more = false; /* so many rows were not looked at in time: the newest were */
    return true;
}

bool store_search(struct store *store, const char *session, const char *text, size_t limit,
                  store_take_fn take, void *context)
{
    struct store_reading reading = {.run = search,
                                    .session = session,
                                    .text = text,
                                    .limit = store_sane_limit(limit),
                                    .take = take,
                                    .context = context};
    return !*text || store_read_pieces(store, &reading);
}
