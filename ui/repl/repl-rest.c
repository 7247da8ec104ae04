/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Going on with a batch whose cell failed: its kernel is the first session's, and :continue runs
 * the cells that are left, one after the other, until one fails.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "command-internal.h"
#include "rest.h"

/* The kernel lives and has run cells; its events came before there was a prompt. */
static void adopt_kernel(struct repl *repl, struct repl_session *session)
{
    char *json = hermes_kernels_json(repl->engine);
    cJSON *list = json ? cJSON_Parse(json) : NULL;
    const cJSON *kernel;
    cJSON_ArrayForEach(kernel, list)
    {
        const cJSON *id = cJSON_GetObjectItemCaseSensitive(kernel, "id");
        const cJSON *count = cJSON_GetObjectItemCaseSensitive(kernel, "execution_count");
        const cJSON *age = cJSON_GetObjectItemCaseSensitive(kernel, "age_seconds");
        if (!cJSON_IsNumber(id) || (uint64_t)id->valuedouble != session->kernel)
            continue;
        session->execution_count = cJSON_IsNumber(count) ? (uint64_t)count->valuedouble : 0;
        if (cJSON_IsNumber(age))
            session_data(session)->kernel_since_ms -= (int64_t)(age->valuedouble * 1000);
    }
    cJSON_Delete(list);
    hermes_free(json);
}

void repl_adopt(struct repl *repl)
{
    struct rest *rest = repl->options.rest;
    struct repl_session *session = repl_session_at(repl, 0);
    if (session->has_kernel) {
        session->state = HERMES_KERNEL_IDLE;
        session->ran = true;
        adopt_kernel(repl, session);
        repl_learn_kernel(repl, session);
        if (repl->options.columns && !repl->options.pipes)
            hermes_resize(repl->engine, session->kernel, repl->options.columns, repl->options.rows);
    }
    if (session->next_number < rest->next_number)
        session->next_number = rest->next_number;
    size_t left = rest->count - rest->at;
    struct strbuf line = STRBUF_INIT;
    strbuf_addf(&line, "%s: %s · its variables are here", rest->label, rest->remark);
    if (left)
        strbuf_addf(&line, " · :continue runs the %zu cell%s left", left, left == 1 ? "" : "s");
    repl_add_item(repl, session, NULL, strbuf_steal(&line));
}

static bool run_next(struct repl *repl, struct repl_session *session, struct strbuf *error)
{
    struct rest *rest = repl->options.rest;
    const struct document_cell *cell = &rest->document.cells[rest->cells[rest->at].cell];
    if (!command_run_cell(repl, session, &rest->document, cell, rest->file_name, error))
        return false;
    rest->at++;
    repl->rest_cell = repl->open[repl->open_count - 1]->cell.id;
    return true;
}

bool command_continue(struct repl *repl, struct repl_session *session, const char *arguments,
                      struct strbuf *error)
{
    const struct rest *rest = repl->options.rest;
    if (arguments[0])
        strbuf_setf(error, ":continue takes nothing: %s", arguments);
    else if (!rest)
        strbuf_setf(error, "there is no batch to go on with (--on-error interactive leaves one)");
    else if (repl->rest_cell)
        strbuf_setf(error, "the cells of %s run already", rest->label);
    else if (rest->at >= rest->count)
        strbuf_setf(error, "no cell of %s is left", rest->label);
    else
        return run_next(repl, session, error);
    return false;
}

void repl_rest_settled(struct repl *repl, struct repl_cell_data *data)
{
    const struct rest *rest = repl->options.rest;
    struct repl_session *session = data->session;
    struct strbuf error = STRBUF_INIT;
    if (!repl->rest_cell || repl->rest_cell != data->cell.id)
        return;
    repl->rest_cell = 0;
    size_t left = rest->count - rest->at;
    if (data->cell.outcome != HERMES_SUCCESS && left)
        repl_say(repl, session, "%zu cell%s of %s %s left; :continue runs %s", left,
                 left == 1 ? "" : "s", rest->label, left == 1 ? "is" : "are",
                 left == 1 ? "it" : "them");
    else if (data->cell.outcome == HERMES_SUCCESS && !left)
        repl_say(repl, session, "all cells of %s have run", rest->label);
    else if (left && !run_next(repl, session, &error))
        repl_say(repl, session, "%s", strbuf_text(&error));
    strbuf_free(&error);
}
