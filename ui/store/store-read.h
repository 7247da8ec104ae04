/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading in pieces: what fits a call to the store's thread, so that nothing large piles up and
 * what others write is not held up.
 */
#ifndef UI_STORE_READ_H
#define UI_STORE_READ_H

#include "store-internal.h"

#define STORE_PIECE_CELLS 256
#define STORE_ALL_CELLS ((size_t)INT32_MAX) /* as a limit: there is none */

struct store_piece {
    char *session, *text; /* what is asked for; may be NULL */
    size_t limit;         /* as many at most */
    int64_t place;        /* id of the last cell before this piece, then of its last */
    bool first, more;     /* the first piece; there may be another one */
    struct store_cell *cells;
    size_t count, capacity, bytes;
};

struct store_reading {
    store_call_fn run; /* its data is a piece */
    const char *session, *text;
    size_t limit;
    store_take_fn take;
    void *context;
    int64_t place;
    bool started;
};

static inline size_t store_sane_limit(size_t limit)
{
    return limit < STORE_ALL_CELLS ? limit : STORE_ALL_CELLS;
}

bool store_read_pieces(struct store *store, struct store_reading *reading);

/* On the thread. */
bool store_piece_add(struct database *database, struct store_piece *piece, int64_t id);
/* The cells of a statement whose rows are ids, until the piece is full. */
bool store_piece_add_ids(struct database *database, struct store_piece *piece, sqlite3_stmt *ids);

#endif
