/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the suites of the store share: cells to give, cells that came back.
 */
#ifndef STORE_TESTLIB_H
#define STORE_TESTLIB_H

#include "store.h"

struct test_cells {
    struct store_cell *items; /* with copies of their texts */
    size_t count, limit;      /* 0: as many as there are */
};

/* Begin a cell; with a status, settle it too. Returns what store_begin() did. */
int64_t test_cell_give(struct store *store, const char *session, unsigned number,
                       const char *source, const char *status, const char *output);

bool test_cells_take(void *context, const struct store_cell *cell);
void test_cells_clear(struct test_cells *cells);
/* Each fails the test when the store cannot be read. The cells are good until the next call. */
const struct test_cells *test_cells_of(struct store *store, const char *session);
const struct test_cells *test_cells_found(struct store *store, const char *session,
                                          const char *text);
/* How many sessions are listed; *ret_session (may be NULL) is the one of that name. */
size_t test_sessions(struct store *store, const char *name, struct store_session *ret_session);

/* The remark there is, or comes soon; NULL: none. free(). */
char *test_remark(struct store *store);

#endif
