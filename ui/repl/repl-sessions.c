/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of sessions, their names, and what is known of their kernels beside events.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "repl-document.h"
#include "repl-internal.h"
#include "session-name.h"
#include "store.h"
#include "utf8.h"

size_t repl_session_count(const struct repl *repl)
{
    return repl->session_count;
}

struct repl_session *repl_session_at(const struct repl *repl, size_t n)
{
    return n < repl->session_count ? &repl->sessions[n]->session : NULL;
}

struct repl_session *repl_session_named(const struct repl *repl, const char *name)
{
    for (size_t i = 0; i < repl->session_count; i++) {
        if (strcmp(repl->sessions[i]->session.name, name) == 0)
            return &repl->sessions[i]->session;
    }
    return NULL;
}

struct repl_session *repl_session_of_owner(const struct repl *repl, const char *owner)
{
    for (size_t i = 0; owner && i < repl->session_count; i++) {
        if (strcmp(repl->sessions[i]->owner, owner) == 0)
            return &repl->sessions[i]->session;
    }
    return NULL;
}

struct repl_session *repl_front_session(const struct repl *repl)
{
    return repl->in_front;
}

void repl_bring_front(struct repl *repl, struct repl_session *session)
{
    struct repl_session *before = repl->in_front;
    if (!session)
        return;
    repl->in_front = session;
    session->unread = session->failed = false;
    for (size_t i = 0; i < session->item_count; i++) {
        if (session->items[i].cell)
            session->items[i].cell->seen = true;
    }
    if (before && before != session)
        repl_tell_session(repl, before);
    repl_tell_session(repl, session);
    repl_document_look(repl, session);
}

/* ---- names ---------------------------------------------------------------------------------- */

bool repl_check_name(const struct repl *repl, const char *name, struct strbuf *error)
{
    if (!session_name_check(name, error))
        return false;
    if (repl_session_named(repl, name)) {
        strbuf_setf(error, "there is a session '%s' already", name);
        return false;
    }
    return true;
}

static char *free_name(const struct repl *repl)
{
    for (unsigned n = 1;; n++) {
        char *name = n == 1 ? xstrdup("main") : xasprintf("s%u", n);
        if (!repl_session_named(repl, name))
            return name;
        free(name);
    }
}

/*
 * The engine's name of it: one that no session of this run has had, so that no old kernel's event
 * is ours.
 */
static char *owner_for(struct repl *repl, const char *name)
{
    size_t made = repl->sessions_made++;
    return made ? xasprintf("%s#%zu", name, made + 1) : xstrdup(name);
}

/* ---- kernels -------------------------------------------------------------------------------- */

static bool exists_beside(const char *python, const char *name)
{
    const char *slash = strrchr(python, '/');
    char *path =
        xasprintf("%.*s/../%s", slash ? (int)(slash - python) : 1, slash ? python : ".", name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

/* "venv" of /home/me/venv/bin/python. */
static void add_environment(struct strbuf *label, const char *python)
{
    if (!exists_beside(python, "pyvenv.cfg") && !exists_beside(python, "conda-meta"))
        return;
    char *directory = xstrdup(python), *name;
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(directory, '/');
        if (slash)
            *slash = '\0';
    }
    name = strrchr(directory, '/');
    if (name && name[1])
        strbuf_addf(label, " %.40s", name + 1);
    free(directory);
}

/*
 * The version as the file's real name, or a directory of it, has it: python3.11, versions/3.12.1.
 */
static void add_version(struct strbuf *label, const char *python)
{
    char *real = realpath(python, NULL);
    const char *text = real ? real : python, *found = NULL;
    for (const char *at = text; *at; at++) {
        bool begins = isdigit((unsigned char)at[0]) && at[1] == '.' &&
                      isdigit((unsigned char)at[2]) &&
                      (at == text || !isdigit((unsigned char)at[-1]));
        if (begins)
            found = at;
    }
    size_t length = found ? 2 + strspn(found + 2, "0123456789") : 0;
    strbuf_addf(label, "py%.*s", (int)length, found ? found : "");
    free(real);
}

static void learn_python(struct repl_session *session, const char *python)
{
    struct strbuf label = STRBUF_INIT;
    add_version(&label, python);
    add_environment(&label, python);
    free(session->python_label);
    session->python_label = strbuf_steal(&label);
}

void repl_learn_kernel(struct repl *repl, struct repl_session *session)
{
    char *json = hermes_kernels_json(repl->engine);
    cJSON *list = json ? cJSON_Parse(json) : NULL;
    const cJSON *kernel;
    cJSON_ArrayForEach(kernel, list)
    {
        const cJSON *id = cJSON_GetObjectItemCaseSensitive(kernel, "id");
        if (!cJSON_IsNumber(id) || (uint64_t)id->valuedouble != session->kernel)
            continue;
        const cJSON *pid = cJSON_GetObjectItemCaseSensitive(kernel, "pid");
        const cJSON *python = cJSON_GetObjectItemCaseSensitive(kernel, "python");
        const cJSON *age = cJSON_GetObjectItemCaseSensitive(kernel, "age_seconds");
        const cJSON *generation = cJSON_GetObjectItemCaseSensitive(kernel, "generation");
        session->pid = cJSON_IsNumber(pid) ? (int64_t)pid->valuedouble : 0;
        session->generation = cJSON_IsNumber(generation) ? (uint64_t)generation->valuedouble : 0;
        if (cJSON_IsNumber(age))
            session_data(session)->kernel_since_ms = now_ms() - (int64_t)(age->valuedouble * 1000);
        if (cJSON_IsString(python))
            learn_python(session, python->valuestring);
    }
    cJSON_Delete(list);
    hermes_free(json);
}

/* Behind the prompt: whoever types needs longer than it does. */
void repl_start_kernel(struct repl *repl, struct repl_session *session)
{
    struct hermes_cell cell = repl_describe(repl, session);
    struct hermes_error why = {0, 0, ""};
    uint64_t kernel = 0;
    int status = hermes_start(repl->engine, &cell, &kernel, &why);
    if (status != HERMES_OK)
        repl_say(repl, session, "the kernel of %s did not start: %s", session->name,
                 why.text[0] ? why.text : hermes_status_text(status));
}

/* ---- opening and closing -------------------------------------------------------------------- */

static void session_free(struct repl_session_data *data)
{
    struct repl_session *session = &data->session;
    for (size_t i = 0; i < session->item_count; i++) {
        if (session->items[i].cell)
            repl_cell_free(cell_data(session->items[i].cell));
        free(session->items[i].text);
    }
    free(session->items);
    free(session->name);
    free(session->ended);
    free(session->python_label);
    free(session->draft);
    free(session->view);
    free(data->owner);
    free(data->save_path);
    free(data->doubt_path);
    free(data->cost);
    repl_document_free(session->document);
    free(data);
}

void repl_sessions_free(struct repl *repl)
{
    for (size_t i = 0; i < repl->session_count; i++) {
        repl_drop_questions(repl, &repl->sessions[i]->session, 0);
        session_free(repl->sessions[i]);
    }
    free(repl->sessions);
    repl->session_count = 0;
}

struct repl_session *repl_open(struct repl *repl, const char *name, struct strbuf *error)
{
    return repl_open_session(repl, name, name != NULL, error);
}

struct repl_session *repl_open_session(struct repl *repl, const char *name, bool recall,
                                       struct strbuf *error)
{
    if (name && !repl_check_name(repl, name, error))
        return NULL;
    if (repl->session_count >= REPL_SESSIONS_MAX) {
        strbuf_setf(error, "there are %d sessions already", REPL_SESSIONS_MAX);
        return NULL;
    }
    struct repl_session_data *data = xcalloc(1, sizeof(*data));
    data->session.name = name ? xstrdup(name) : free_name(repl);
    data->session.next_number = 1;
    data->named = recall;
    data->owner = owner_for(repl, data->session.name);
    data->session.serial = repl->sessions_made;
    hermes_pin(repl->engine, data->owner, true);
    struct hermes_cell cell = repl_describe(repl, &data->session);
    struct hermes_error why = {0, 0, ""};
    int status = hermes_start(repl->engine, &cell, &data->session.kernel, &why);
    if ((status == HERMES_EAGAIN || status == HERMES_EINVAL) && repl->session_count) {
        strbuf_setf(error, "session '%s' cannot be opened: %s", data->session.name,
                    why.text[0] ? why.text : hermes_status_text(status));
        hermes_pin(repl->engine, data->owner, false);
        session_free(data);
        return NULL;
    }
    data->session.has_kernel = status == HERMES_OK;
    data->session.state = HERMES_KERNEL_STARTING;
    data->kernel_since_ms = now_ms();
    repl->sessions = xgrow(repl->sessions, repl->session_count, &repl->session_capacity,
                           sizeof(struct repl_session_data *));
    repl->sessions[repl->session_count++] = data;
    repl_recall_session(repl, &data->session, data->named);
    repl_tell_session(repl, &data->session);
    if (status !=
        HERMES_OK) /* a cell will say so again: the session can be used when that is mended */
        repl_say(repl, &data->session, "the kernel of %s did not start: %s", data->session.name,
                 why.text[0] ? why.text : hermes_status_text(status));
    return &data->session;
}

bool repl_rename(struct repl *repl, struct repl_session *session, const char *name,
                 struct strbuf *error)
{
    if (strcmp(session->name, name) == 0)
        return true;
    if (!repl_check_name(repl, name, error))
        return false;
    if (repl->options.store && session_data(session)->named &&
        !store_rename(repl->options.store, session->name, name, error))
        return false;
    repl_leave_store(repl, session);
    free(session->name);
    session->name = xstrdup(name);
    session_data(session)->named = true;
    if (repl->options.store)
        store_enter(repl->options.store, name);
    repl_tell_session(repl, session);
    return true;
}

/* Its cells are forgotten here; the engine's events of them find nobody. */
static void forget_cells(struct repl *repl, struct repl_session *session)
{
    size_t kept = 0;
    for (size_t i = 0; i < repl->open_count; i++) {
        if (repl->open[i]->session == session)
            tool_calls_cancel(&repl->calls, repl->open[i]->cell.id);
        else
            repl->open[kept++] = repl->open[i];
    }
    repl->open_count = kept;
}

void repl_close(struct repl *repl, struct repl_session *session)
{
    struct repl_session_data *data = session_data(session);
    size_t at = 0;
    while (at < repl->session_count && repl->sessions[at] != data)
        at++;
    if (session->running || session->queued)
        hermes_reset(repl->engine, data->owner, NULL);
    else
        hermes_close(repl->engine, data->owner, NULL);
    hermes_pin(repl->engine, data->owner, false);
    tool_calls_forget(&repl->calls, data->owner);
    repl_leave_store(repl, session);
    repl_replay_forget(repl, session);
    forget_cells(repl, session);
    repl_drop_questions(repl, session, 0);
    repl_drop_doubt(repl, REPL_SURE, session);
    memmove(&repl->sessions[at], &repl->sessions[at + 1],
            (repl->session_count - at - 1) * sizeof(repl->sessions[0]));
    repl->session_count--;
    repl_forget_requests(repl, session); /* now that it is not among the open ones */
    bool was_front = repl->in_front == session;
    if (was_front)
        repl->in_front = NULL;
    session_free(data);
    if (!repl->session_count) {
        struct strbuf error = STRBUF_INIT;
        repl_open(repl, NULL, &error);
        strbuf_free(&error);
    }
    if (was_front)
        repl_bring_front(
            repl, repl_session_at(repl, at < repl->session_count ? at : repl->session_count - 1));
}

void repl_resize(struct repl *repl, int columns, int rows)
{
    repl->options.columns = repl->setup.columns = columns;
    repl->options.rows = repl->setup.rows = rows;
    for (size_t i = 0; i < repl->session_count; i++) {
        struct repl_session *session = &repl->sessions[i]->session;
        if (session->has_kernel && !repl->options.pipes)
            hermes_resize(repl->engine, session->kernel, columns, rows);
        for (size_t n = 0; n < session->item_count; n++) {
            if (session->items[n].cell)
                block_resize(session->items[n].cell->output, columns, rows);
        }
    }
}
