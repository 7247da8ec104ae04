/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a batch is asked to do, from the command line and the settings.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch-start.h"
#include "session-name.h"
#include "source-text.h"
#include "xalloc.h"

/* FILE and its arguments, or -c and its arguments. */
static bool set_input(struct start *start, struct batch_options *options)
{
    static const char *const none[] = {NULL};
    const char *const *rest = start->cli->rest ? (const char *const *)start->cli->rest : none;
    options->code = cli_value(start->cli, CLI_CODE);
    const char *verified = cli_value(start->cli, CLI_VERIFY);
    if (verified && (options->code || settings_flag(start->settings, CLI_BATCH))) {
        strbuf_setf(start->error, "--verify excludes --batch and -c");
        return false;
    }
    if (options->code && settings_flag(start->settings, CLI_BATCH)) {
        strbuf_setf(start->error, "--batch and -c exclude each other");
        return false;
    }
    if (verified) {
        options->file = verified;
    } else if (!options->code) {
        if (!rest[0]) {
            strbuf_setf(start->error, "--batch needs a FILE (or - for standard input)");
            return false;
        }
        options->file = *rest++;
    }
    options->argv = rest;
    return true;
}

static bool set_format(struct settings *settings, struct batch_options *options,
                       struct strbuf *error)
{
    bool json = settings_flag(settings, CLI_JSON), events = settings_flag(settings, CLI_EVENTS);
    if (json && events) {
        strbuf_setf(error, "--json and --events exclude each other");
        return false;
    }
    options->format = json ? BATCH_JSON : events ? BATCH_EVENTS : BATCH_HUMAN;
    if (options->verify && (json || events)) {
        strbuf_setf(error,
                    "--verify has an exit status and --junit; it excludes --json and --events");
        return false;
    }
    if (options->verify)
        options->format = BATCH_VERIFY;
    const char *source = settings_text(settings, CLI_STDIN);
    options->stdin_inherit =
        source[0] ? strcmp(source, "inherit") == 0 : options->format == BATCH_HUMAN;
    options->keep_going = options->keep_going || options->verify;
    return true;
}

static bool set_params(struct start *start, struct batch_options *options)
{
    const char *path = text_or_null(start->settings, CLI_PARAMS);
    struct strbuf text = STRBUF_INIT;
    bool good = true;
    if (path) {
        good = source_read_file(path, &text, start->error);
        if (good &&
            !params_add_json(&options->params, strbuf_text(&text), text.size, start->error)) {
            char *fault = strbuf_steal(start->error);
            strbuf_setf(start->error, "--params: %s: %s", path, fault);
            free(fault);
            good = false;
        }
    }
    for (size_t i = 0; good && i < start->cli->count; i++) {
        const struct cli_word *word = &start->cli->words[i];
        if (word->setting->entry->id != CLI_PARAM)
            continue;
        good = params_add_text(&options->params, word->value, start->error);
        if (!good) {
            char *fault = strbuf_steal(start->error);
            strbuf_setf(start->error, "%s: %s", word->spelling, fault);
            free(fault);
        }
    }
    strbuf_free(&text);
    return good;
}

static bool set_cells(struct start *start, struct batch_options *options)
{
    const char *text = cli_value(start->cli, CLI_CELLS);
    if (!text || cell_ranges_parse(&options->cells, text, start->error))
        return true;
    char *fault = strbuf_steal(start->error);
    strbuf_setf(start->error, "--cells: %s", fault);
    free(fault);
    return false;
}

/* The one name of --session, or NULL. False: several, or no name. */
static bool set_session(struct start *start, const char **ret_name)
{
    const struct cli *cli = start->cli;
    *ret_name = NULL;
    for (size_t i = 0; i < cli->count; i++) {
        if (cli->words[i].setting->entry->id != CLI_SESSION)
            continue;
        if (*ret_name) {
            strbuf_setf(start->error, "a batch has one session: give one --session");
            return false;
        }
        *ret_name = cli->words[i].value;
    }
    return !*ret_name || session_name_check(*ret_name, start->error);
}

static bool set_resume(struct start *start, struct batch_options *options)
{
    options->resume = settings_flag(start->settings, CLI_RESUME);
    if (!options->resume)
        return true;
    if (!options->session || !options->file || strcmp(options->file, "-") == 0 || options->verify)
        strbuf_setf(start->error, "--resume needs --session NAME --batch FILE");
    else if (strcmp(settings_text(start->settings, CLI_HISTORY_MODE), "off") == 0)
        strbuf_setf(start->error, "--resume needs the history, which is off");
    else
        return true;
    return false;
}

/* What is only configured does not hold where there is no terminal. */
static bool set_on_error(struct start *start, struct batch_options *options, struct rest *rest)
{
    const struct setting *setting = settings_by_id(start->settings, CLI_ON_ERROR);
    if (strcmp(setting->value, "interactive") != 0 || options->verify)
        return true;
    bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
    bool input = options->file && strcmp(options->file, "-") == 0;
    bool possible = terminal && options->format == BATCH_HUMAN && !input;
    if (possible)
        options->rest = rest;
    else if (setting->source == SOURCE_DEFAULT || setting->source != SOURCE_FLAG)
        return true;
    else if (!terminal)
        strbuf_setf(start->error,
                    "--on-error interactive opens a prompt: it needs a terminal on standard input "
                    "and output");
    else if (input)
        strbuf_setf(
            start->error,
            "--on-error interactive needs standard input for the prompt, not for the cells");
    else
        strbuf_setf(start->error,
                    "--on-error interactive opens a prompt: it excludes --json and --events");
    return possible;
}

bool batch_options_set(struct start *start, struct batch_options *options, struct rest *rest)
{
    return set_session(start, &options->session) && set_input(start, options) &&
           set_format(start->settings, options, start->error) && set_params(start, options) &&
           set_cells(start, options) && set_resume(start, options) &&
           set_on_error(start, options, rest);
}
