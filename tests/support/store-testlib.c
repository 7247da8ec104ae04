/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "store-testlib.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "store-internal.h"
#include "testlib.h"
#include "xalloc.h"

int64_t test_cell_give(struct store *store, const char *session, unsigned number,
                       const char *source, const char *status, const char *output)
{
    struct store_cell cell = {
        .session = session, .number = number, .source = source, .source_size = strlen(source)};
    int64_t id = store_begin(store, &cell);
    if (status) {
        cell.status = status;
        cell.output = output;
        cell.output_size = output ? strlen(output) : 0;
        cell.execution_count = number;
        store_settle(store, id, &cell);
    }
    return id;
}

bool test_cells_take(void *context, const struct store_cell *cell)
{
    struct test_cells *cells = context;
    cells->items = xrealloc(cells->items, (cells->count + 1) * sizeof(*cells->items));
    struct store_cell *copy = &cells->items[cells->count++];
    *copy = *cell;
    copy->session = xstrdup(cell->session);
    copy->source = xmemdup0(cell->source, cell->source_size);
    copy->status = cell->status ? xstrdup(cell->status) : NULL;
    copy->output = cell->output ? xmemdup0(cell->output, cell->output_size) : NULL;
    copy->spill_path = cell->spill_path ? xstrdup(cell->spill_path) : NULL;
    copy->previous = cell->previous ? xstrdup(cell->previous) : NULL;
    copy->origin = cell->origin ? xstrdup(cell->origin) : NULL;
    return !cells->limit || cells->count < cells->limit;
}

void test_cells_clear(struct test_cells *cells)
{
    for (size_t i = 0; i < cells->count; i++)
        store_cell_clear(&cells->items[i]);
    free(cells->items);
    *cells = (struct test_cells){.items = NULL};
}

static struct test_cells last;

const struct test_cells *test_cells_of(struct store *store, const char *session)
{
    test_cells_clear(&last);
    ck_assert(store_read_session(store, session, 100000, test_cells_take, &last));
    return &last;
}

const struct test_cells *test_cells_found(struct store *store, const char *session,
                                          const char *text)
{
    test_cells_clear(&last);
    ck_assert(store_search(store, session, text, 100000, test_cells_take, &last));
    return &last;
}

struct wanted {
    const char *name;
    struct store_session *found;
    size_t count;
};

static bool take_session(void *context, const struct store_session *session)
{
    struct wanted *wanted = context;
    wanted->count++;
    if (wanted->found && wanted->name && strcmp(session->name, wanted->name) == 0) {
        *wanted->found = *session;
        wanted->found->name = wanted->name;
    }
    return true;
}

size_t test_sessions(struct store *store, const char *name, struct store_session *ret_session)
{
    struct wanted wanted = {name, ret_session, 0};
    if (ret_session)
        *ret_session = (struct store_session){.name = NULL};
    ck_assert(store_read_sessions(store, take_session, &wanted));
    return wanted.count;
}

char *test_remark(struct store *store)
{
    char *remark = NULL;
    test_wait((remark = store_take_remark(store)) != NULL, 5000);
    return remark;
}
