/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "session-run.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

struct reading {
    struct session_run *run;
    char *origin;           /* real path; NULL: all cells */
    char *last, *last_real; /* of the origins that came: most are the same */
};

static void clear_cell(struct run_cell *cell)
{
    free(cell->source);
    free(cell->status);
    free(cell->output);
    free(cell->origin);
    free(cell->previous);
}

static void forget(struct session_run *run)
{
    for (size_t i = 0; i < run->count; i++)
        clear_cell(&run->cells[i]);
    run->count = 0;
}

void session_run_free(struct session_run *run)
{
    forget(run);
    free(run->cells);
    *run = (struct session_run){NULL, 0, 0};
}

static char *real_path(const char *path)
{
    char *real = realpath(path, NULL);
    return real ? real : xstrdup(path);
}

static bool is_wanted(struct reading *reading, const char *origin)
{
    if (!reading->origin)
        return true;
    if (!origin || !origin[0])
        return false;
    if (!reading->last || strcmp(reading->last, origin) != 0) {
        free(reading->last);
        free(reading->last_real);
        reading->last = xstrdup(origin);
        reading->last_real = real_path(origin);
    }
    return strcmp(reading->last_real, reading->origin) == 0;
}

static bool take(void *context, const struct store_cell *cell)
{
    struct reading *reading = context;
    struct session_run *run = reading->run;
    if (!is_wanted(reading, cell->origin))
        return true;
    if (run->count && cell->number <= run->cells[run->count - 1].number)
        forget(run);
    run->cells = xgrow(run->cells, run->count, &run->capacity, sizeof(*run->cells));
    run->cells[run->count++] = (struct run_cell){
        .number = cell->number,
        .how = cell->how,
        .first_line = cell->first_line,
        .source = xmemdup0(cell->source, cell->source_size),
        .source_size = cell->source_size,
        .status = xstrdup(cell->status ? cell->status : "running"),
        .output = xmemdup0(cell->output ? cell->output : "", cell->output_size),
        .output_size = cell->output_size,
        .origin = cell->origin && cell->origin[0] ? xstrdup(cell->origin) : NULL,
        .previous = xstrdup(cell->previous ? cell->previous : ""),
        .execution_count = cell->execution_count,
    };
    return true;
}

bool session_run_read(struct store *store, const char *session, const char *origin,
                      struct session_run *run, struct strbuf *error)
{
    struct reading reading = {run, origin ? real_path(origin) : NULL, NULL, NULL};
    bool good = store_read_session(store, session, SIZE_MAX, take, &reading);
    if (!good)
        strbuf_setf(error, "the history cannot be read now");
    free(reading.origin);
    free(reading.last);
    free(reading.last_real);
    return good;
}

struct search {
    const char *session;
    bool found;
};

static bool compare(void *context, const struct store_session *session)
{
    struct search *search = context;
    search->found = strcmp(session->name, search->session) == 0;
    return !search->found;
}

bool session_run_exists(struct store *store, const char *session)
{
    struct search search = {session, false};
    store_read_sessions(store, compare, &search);
    return search.found;
}
