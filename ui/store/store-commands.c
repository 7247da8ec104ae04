/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "store-commands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "json-write.h"
#include "session-name.h"
#include "store-export.h"
#include "store-purge.h"
#include "store.h"
#include "utf8.h"
#include "xalloc.h"

#define LINES_SHOWN 20
#define MATCHES_SHOWN 3
#define COLUMNS_SHOWN 200

struct command {
    struct store *store;
    const char *path;
    bool json;
    const char *text, *session;
    const char *const *words; /* the others of the command line, NULL-ended */
    size_t found;
    bool unwritable; /* standard output is */
};

static int complain(const char *text)
{
    fprintf(stderr, "hermes-repl: %s\n", text);
    return STORE_STATUS_FAILED;
}

/* False: nobody reads it. */
static bool put(struct command *command, struct strbuf *text)
{
    bool good = fwrite(strbuf_text(text), 1, text->size, stdout) == text->size;
    if (!good && !command->unwritable)
        fprintf(stderr, "hermes-repl: cannot write to standard output: %s\n", strerror(errno));
    command->unwritable = command->unwritable || !good;
    strbuf_free(text);
    return good;
}

/* ---- text for a terminal -------------------------------------------------------------------- */

/* What a terminal could obey becomes a question mark. */
static void add_plain(struct strbuf *out, const char *text, size_t size)
{
    struct strbuf whole = STRBUF_INIT;
    utf8_repair(&whole, text, size);
    for (size_t at = 0; at < whole.size;) {
        uint32_t code;
        size_t length = utf8_decode(whole.data + at, whole.size - at, &code);
        if (code == '\t')
            strbuf_addc(out, '\t');
        else if (code < 0x20 || (code >= 0x7F && code < 0xA0))
            strbuf_addc(out, '?');
        else
            strbuf_add(out, whole.data + at, length);
        at += length ? length : 1;
    }
    strbuf_free(&whole);
}

static void add_line(struct strbuf *out, const char *before, const char *line, size_t size)
{
    size_t shown = utf8_prefix(line, size, COLUMNS_SHOWN);
    strbuf_adds(out, before);
    add_plain(out, line, shown);
    strbuf_adds(out, shown < size ? " ...\n" : "\n");
}

static void add_time(struct strbuf *out, int64_t us)
{
    char text[64];
    struct tm parts;
    time_t seconds = (time_t)(us / 1000000);
    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &parts));
    strbuf_adds(out, text);
}

static void add_json_time(struct strbuf *out, const char *name, int64_t us)
{
    char text[64];
    struct tm parts;
    time_t seconds = (time_t)(us / 1000000);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", gmtime_r(&seconds, &parts));
    strbuf_addf(out, ",\"%s\":\"%s.%06dZ\"", name, text, (int)(us % 1000000));
}

/* ---- --list --------------------------------------------------------------------------------- */

static bool show_session(void *context, const struct store_session *session)
{
    struct command *command = context;
    struct strbuf out = STRBUF_INIT;
    command->found++;
    if (command->json) {
        strbuf_adds(&out, "{\"session\":");
        json_add_text(&out, session->name);
        add_json_time(&out, "last_used", session->last_used_us);
        strbuf_addf(&out, ",\"cells\":%" PRIu64 ",\"live\":%s,\"pid\":", session->cells,
                    session->live ? "true" : "false");
        strbuf_addf(&out, session->live ? "%" PRId64 : "null", session->pid);
        strbuf_adds(&out, "}\n");
        return put(command, &out);
    }
    add_plain(&out, session->name, strlen(session->name));
    do
        strbuf_addc(&out, ' ');
    while (out.size < 24);
    add_time(&out, session->last_used_us);
    strbuf_addf(&out, "  %6" PRIu64 " %s", session->cells, session->cells == 1 ? "cell " : "cells");
    if (session->live)
        strbuf_addf(&out, "  live (process %" PRId64 ")", session->pid);
    else
        out.size -= session->cells == 1;
    strbuf_addc(&out, '\n');
    return put(command, &out);
}

static int list(struct command *command)
{
    if (!store_read_sessions(command->store, show_session, command))
        return complain("the history cannot be read now");
    return STORE_STATUS_DONE;
}

/* ---- --history ------------------------------------------------------------------------------ */

static void add_source(struct strbuf *out, const struct store_cell *cell)
{
    size_t lines = 0, at = 0;
    while (at < cell->source_size && lines < LINES_SHOWN) {
        const char *line = cell->source + at, *end = memchr(line, '\n', cell->source_size - at);
        size_t size = end ? (size_t)(end - line) : cell->source_size - at;
        add_line(out, "    ", line, size);
        at += size + (end != NULL);
        lines++;
    }
    if (at < cell->source_size)
        strbuf_adds(out, "    ...\n");
}

/* The lines of the output that hold the text. */
static void add_matches(struct strbuf *out, const struct store_cell *cell, const char *text)
{
    const char *line = cell->output;
    for (int shown = 0; line && shown < MATCHES_SHOWN;) {
        const char *match = strcasestr(line, text);
        if (!match)
            break;
        const char *start = match;
        while (start > line && start[-1] != '\n')
            start--;
        const char *end = strchr(match, '\n');
        add_line(out, "    | ", start, end ? (size_t)(end - start) : strlen(start));
        line = end ? end + 1 : NULL;
        shown++;
    }
}

static void add_json_cell(struct strbuf *out, const struct store_cell *cell)
{
    strbuf_addf(out, "{\"id\":%" PRId64 ",\"session\":", cell->id);
    json_add_text(out, cell->session);
    strbuf_addf(out, ",\"number\":%u", cell->number);
    add_json_time(out, "submitted", cell->submitted_us);
    strbuf_adds(out, ",\"status\":");
    json_add_text(out, cell->status);
    strbuf_addf(out, ",\"exit_code\":%d,\"duration_seconds\":%.6f,\"source\":", cell->exit_code,
                (double)cell->duration_us / 1e6);
    json_add_string(out, cell->source, cell->source_size);
    strbuf_adds(out, ",\"output\":");
    json_add_string(out, cell->output, cell->output_size);
    strbuf_adds(out, ",\"spill_path\":");
    json_add_text(out, cell->spill_path);
    strbuf_adds(out, "}\n");
}

void store_describe_match(struct strbuf *out, const struct store_cell *cell, const char *text)
{
    add_plain(out, cell->session, strlen(cell->session));
    strbuf_addf(out, " [%u] ", cell->number);
    add_time(out, cell->submitted_us);
    strbuf_addf(out, " %s\n", cell->status);
    add_source(out, cell);
    add_matches(out, cell, text);
}

static bool show_cell(void *context, const struct store_cell *cell)
{
    struct command *command = context;
    struct strbuf out = STRBUF_INIT;
    command->found++;
    if (command->json) {
        add_json_cell(&out, cell);
        return put(command, &out);
    }
    store_describe_match(&out, cell, command->text);
    return put(command, &out);
}

static int search(struct command *command)
{
    if (!store_search(command->store, command->session, command->text, SIZE_MAX, show_cell,
                      command))
        return complain("the history cannot be read now");
    return command->found ? STORE_STATUS_DONE : STORE_STATUS_NOTHING;
}

/* ---- changes -------------------------------------------------------------------------------- */

static bool find_session(void *context, const struct store_session *session)
{
    struct command *command = context;
    command->found += strcmp(session->name, command->session) == 0;
    return !command->found;
}

static bool has_session(struct command *command)
{
    command->found = 0;
    store_read_sessions(command->store, find_session, command);
    return command->found > 0;
}

static int no_session(const struct command *command)
{
    fprintf(stderr, "hermes-repl: there is no session '%s'\n", command->session);
    return STORE_STATUS_NOTHING;
}

static int finish(bool good, struct strbuf *error)
{
    int status = good ? STORE_STATUS_DONE : complain(strbuf_text(error));
    strbuf_free(error);
    return status;
}

static int export(struct command *command)
{
    struct strbuf error = STRBUF_INIT;
    bool good = store_export(command->store, command->session, command->words[0], &error);
    return finish(good, &error);
}

static int rename_session(struct command *command)
{
    struct strbuf error = STRBUF_INIT;
    bool good = session_name_check(command->words[0], &error) &&
                store_rename_lasting(command->store, command->session, command->words[0], &error);
    return finish(good, &error);
}

static int delete_session(struct command *command)
{
    struct strbuf error = STRBUF_INIT;
    bool good = store_delete(command->store, command->session, &error);
    return finish(good, &error);
}

static int purge(struct command *command)
{
    struct strbuf error = STRBUF_INIT, out = STRBUF_INIT;
    struct store_purged purged = {0, 0, 0, 0};
    bool good = store_purge_counted(command->store, &purged, &error);
    strbuf_addf(&out, "removed %" PRIu64 " %s of %" PRIu64 " %s", purged.cells,
                purged.cells == 1 ? "cell" : "cells", purged.sessions,
                purged.sessions == 1 ? "session" : "sessions");
    if (purged.spills)
        strbuf_addf(&out, ", %u %s of output", purged.spills,
                    purged.spills == 1 ? "file" : "files");
    if (purged.damaged)
        strbuf_addf(&out, ", %u damaged %s", purged.damaged,
                    purged.damaged == 1 ? "file" : "files");
    strbuf_addc(&out, '\n');
    if (good || purged.cells || purged.spills || purged.damaged)
        put(command, &out);
    strbuf_free(&out);
    return finish(good, &error);
}

/* ---- which ---------------------------------------------------------------------------------- */

static const struct verb {
    enum cli_id id;
    int words;  /* beside the option's own argument */
    bool named; /* that argument is a session that there has to be */
    int (*run)(struct command *command);
} verbs[] = {
    {CLI_LIST, 0, false, list},
    {CLI_HISTORY, 0, false, search},
    {CLI_EXPORT, 1, true, export},
    {CLI_RENAME, 1, true, rename_session},
    {CLI_DELETE, 0, true, delete_session},
    {CLI_HISTORY_PURGE, 0, false, purge},
};

static bool say_remarks(struct store *store)
{
    bool any = false;
    for (char *remark; (remark = store_take_remark(store)); free(remark)) {
        complain(remark);
        any = true;
    }
    return any;
}

static int run_verb(const struct verb *verb, struct command *command)
{
    int status;
    /* Looking does not make the file. */
    if (verb->id != CLI_HISTORY_PURGE && access(command->path, F_OK) != 0 && errno == ENOENT) {
        if (verb->named)
            return no_session(command);
        return verb->id == CLI_LIST ? STORE_STATUS_DONE : STORE_STATUS_NOTHING;
    }
    command->store = store_open(command->path, STORE_ON);
    if (verb->named && !has_session(command))
        status = no_session(command);
    else
        status = verb->run(command);
    /* Not to be mistaken for a history without it. */
    if (say_remarks(command->store) && !command->found)
        status = STORE_STATUS_FAILED;
    store_close(command->store);
    if (fflush(stdout) != 0 && !command->unwritable) {
        fprintf(stderr, "hermes-repl: cannot write to standard output: %s\n", strerror(errno));
        command->unwritable = true;
    }
    return command->unwritable ? STORE_STATUS_FAILED : status;
}

int store_commands_run(struct settings *settings, const struct cli *cli)
{
    static const char *const none[] = {NULL};
    const struct verb *verb = NULL;
    const char *value = NULL;
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
        if (!cli_value(cli, verbs[i].id))
            continue;
        if (verb)
            return complain("one of --list, --history, --export, --rename, --delete and "
                            "--history-purge at a time");
        verb = &verbs[i];
        value = cli_value(cli, verb->id);
    }
    if (!verb)
        return -1;
    if (cli->rest_count > (size_t)verb->words) {
        fprintf(stderr, "hermes-repl: there is a word too many: %s\n", cli->rest[verb->words]);
        return STORE_STATUS_FAILED;
    }
    if (cli->rest_count < (size_t)verb->words)
        return complain(verb->id == CLI_EXPORT ? "--export needs a session and a FILE"
                                               : "--rename needs a session and its new name");
    struct command command = {
        .json = settings_flag(settings, CLI_JSON),
        .text = value,
        .session = verb->named ? value : cli_value(cli, CLI_SESSION),
        .words = cli->rest ? (const char *const *)cli->rest : none,
    };
    char *path = store_default_path();
    if (!path)
        return complain("there is no history: there is no home directory");
    command.path = path;
    int status = run_verb(verb, &command);
    free(path);
    return status;
}
