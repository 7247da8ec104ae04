/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "batch-start.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "interactive.h"
#include "remark.h"
#include "replay-run.h"
#include "store-result.h"
#include "tool-list.h"
#include "xalloc.h"

static int usage_error(const char *text)
{
    remark(text);
    return BATCH_STATUS_USAGE;
}

/* The paths of --save, NULL-ended, or NULL. Yours; the strings are not. */
static const char **save_paths(const struct cli *cli)
{
    const char **paths = xcalloc(cli->count + 1, sizeof(*paths));
    size_t count = 0;
    for (size_t i = 0; i < cli->count; i++) {
        if (cli->words[i].setting->entry->id == CLI_SAVE)
            paths[count++] = cli->words[i].value;
    }
    if (count)
        return paths;
    free(paths);
    return NULL;
}

/* With a session there is a history, if it is not off. */
static struct store *open_history(struct start *start, const char *session)
{
    enum store_mode mode = store_mode_of(settings_text(start->settings, CLI_HISTORY_MODE));
    return session && mode != STORE_OFF ? store_open(NULL, mode) : NULL;
}

static void close_history(struct store *store)
{
    if (!store)
        return;
    store_flush(store, 5000);
    for (char *remark; (remark = store_take_remark(store)); free(remark))
        usage_error(remark);
    store_close(store);
}

/* Nobody resets and takes that back, or opens a session, where no person is. */
static void want_nothing_kept(struct settings *settings)
{
    hermes_set_option(settings->engine, "spare_kernels", "0", NULL);
    hermes_set_option(settings->engine, "undo_kernels", "0", NULL);
}

int batch_start(struct start *start)
{
    struct settings *settings = start->settings;
    struct rest rest = {.wanted = false};
    struct batch_options options = {
        .verify = cli_value(start->cli, CLI_VERIFY) != NULL,
        .keep_going = strcmp(settings_text(settings, CLI_ON_ERROR), "continue") == 0,
        .echo = settings_flag(settings, CLI_ECHO),
        .quiet = settings_flag(settings, CLI_QUIET),
        .scrub = strcmp(settings_text(settings, CLI_ENV), "scrub") == 0,
        .strict = strcmp(settings_text(settings, CLI_MODE), "strict") == 0,
        .python = text_or_null(settings, CLI_PYTHON),
        .cwd = text_or_null(settings, CLI_CWD),
        .run_timeout_ms = settings_ms(settings, CLI_TIMEOUT),
        .cell_timeout_ms = settings_ms(settings, CLI_CELL_TIMEOUT),
        .junit = text_or_null(settings, CLI_JUNIT),
    };
    const char **tools =
        tool_list_parse(&settings->tools, settings_text(settings, CLI_TOOLS), start->error);
    const struct tool_terms terms = tool_terms_of(settings, tools);
    const char **saves = save_paths(start->cli);
    options.terms = &terms;
    options.saves = (const char *const *)saves;
    int status;
    want_nothing_kept(settings);
    if (batch_options_set(start, &options, &rest)) {
        options.store = open_history(start, options.session);
        status = batch_run(start->settings->engine, &options);
        close_history(options.store);
        if (rest.wanted &&
            !interactive_continue(settings, start->cli, &rest, &status, start->error))
            status = usage_error(strbuf_text(start->error));
    } else {
        status = usage_error(strbuf_text(start->error));
    }
    rest_free(&rest);
    params_free(&options.params);
    cell_ranges_free(&options.cells);
    free(saves);
    free(tools);
    return status;
}

static bool check_replay(struct start *start)
{
    static const enum cli_id others[] = {CLI_BATCH, CLI_CODE, CLI_VERIFY, CLI_MCP, CLI_SESSION};
    static const enum cli_id meaningless[] = {CLI_JSON,  CLI_EVENTS, CLI_ON_ERROR, CLI_RESUME,
                                              CLI_PARAM, CLI_PARAMS, CLI_CELLS,    CLI_SAVE,
                                              CLI_STDIN, CLI_ECHO};
    const struct cli *cli = start->cli;
    for (size_t i = 0; i < cli->count; i++) {
        enum cli_id id = cli->words[i].setting->entry->id;
        for (size_t n = 0; n < sizeof(others) / sizeof(others[0]); n++) {
            if (id == others[n])
                strbuf_setf(start->error, "--replay excludes %s", cli->words[i].spelling);
        }
        for (size_t n = 0; n < sizeof(meaningless) / sizeof(meaningless[0]); n++) {
            if (id == meaningless[n])
                strbuf_setf(start->error, "--replay does nothing with %s", cli->words[i].spelling);
        }
    }
    if (!start->error->size && cli->rest_count)
        strbuf_setf(start->error, "--replay takes a session, and no FILE: %s", cli->rest[0]);
    return !start->error->size;
}

int replay_start(struct start *start)
{
    struct settings *settings = start->settings;
    if (!check_replay(start))
        return usage_error(strbuf_text(start->error));
    const char **tools =
        tool_list_parse(&settings->tools, settings_text(settings, CLI_TOOLS), start->error);
    const struct tool_terms terms = tool_terms_of(settings, tools);
    const struct replay_options options = {
        .session = cli_value(start->cli, CLI_REPLAY),
        .junit = text_or_null(settings, CLI_JUNIT),
        .python = text_or_null(settings, CLI_PYTHON),
        .cwd = terms.cwd,
        .terms = &terms,
        .store = store_open(NULL, STORE_ON),
        .run_timeout_ms = settings_ms(settings, CLI_TIMEOUT),
        .quiet = settings_flag(settings, CLI_QUIET),
    };
    want_nothing_kept(settings);
    int status = replay_run(settings->engine, &options);
    close_history(options.store);
    free(tools);
    return status;
}
