/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hermes-repl: options from command line, environment and file, then the front end that was asked
 * for.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <hermes-kernel.h>

#include "batch.h"
#include "cli.h"
#include "command.h"
#include "document-file.h"
#include "interactive.h"
#include "mcp.h"
#include "signals.h"
#include "source-text.h"
#include "store-commands.h"
#include "store-result.h"
#include "tool-calls.h"
#include "tool-list.h"
#include "xalloc.h"

extern char **environ;

struct program {
    struct hermes_engine *engine;
    struct settings settings;
    struct cli cli;
    struct strbuf error;
    char *config_path; /* NULL: none */
    bool config_read;
};

static int usage_error(const char *text)
{
    fprintf(stderr, "hermes-repl: %s\n", text);
    return BATCH_STATUS_USAGE;
}

/* Descriptors 0 to 2 exist, so that nothing else gets their numbers. */
static void hold_standard_descriptors(void)
{
    int fd;
    do {
        fd = open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= 2);
    if (fd > 2)
        close(fd);
}

/* Take the text away. False when standard output could not be written. */
static bool print(struct strbuf *text)
{
    bool good =
        fwrite(strbuf_text(text), 1, text->size, stdout) == text->size && fflush(stdout) == 0;
    strbuf_free(text);
    if (!good)
        fprintf(stderr, "hermes-repl: cannot write to standard output: %s\n", strerror(errno));
    return good;
}

/*
 * ---- configuration
 * --------------------------------------------------------------------------------
 */

static bool load_config(struct program *program)
{
    const char *given = cli_value(&program->cli, CLI_CONFIG);
    if (!given)
        given = getenv("HERMES_REPL_CONFIG");
    bool explicit = given && given[0];
    program->config_path = explicit ? xstrdup(given) : settings_default_path();
    if (program->config_path)
        program->settings.tools.path = xstrdup(program->config_path);
    if (program->config_path && (explicit || access(program->config_path, F_OK) == 0)) {
        program->config_read =
            settings_load_file(&program->settings, program->config_path, &program->error);
        if (!program->config_read && explicit)
            return false;
        if (!program->config_read)
            strbuf_addf(&program->settings.warnings, "%s; the file is ignored\n",
                        strbuf_text(&program->error));
    }
    settings_load_environment(&program->settings, environ);
    return true;
}

static void show_warnings(struct program *program)
{
    const char *line = strbuf_text(&program->settings.warnings);
    while (*line) {
        size_t length = strcspn(line, "\n");
        fprintf(stderr, "hermes-repl: %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

/*
 * ---- information
 * ----------------------------------------------------------------------------------
 */

static void add_names(struct strbuf *out, const cJSON *lists, const char *member)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(lists, member), *name;
    strbuf_addf(out, "%s (%d)\n", member, cJSON_GetArraySize(list));
    cJSON_ArrayForEach(name, list)
    {
        if (cJSON_IsString(name))
            strbuf_addf(out, "  %s\n", name->valuestring);
    }
}

static int explain_env(struct program *program)
{
    bool scrub = strcmp(settings_text(&program->settings, CLI_ENV), "scrub") == 0;
    char *json = hermes_explain_env(program->engine, scrub ? HERMES_ENV_SCRUB : HERMES_ENV_INHERIT);
    struct strbuf out = STRBUF_INIT;
    if (!json)
        return usage_error("out of memory") ? BATCH_STATUS_START : 0;
    if (settings_flag(&program->settings, CLI_JSON)) {
        strbuf_addf(&out, "%s\n", json);
    } else {
        cJSON *lists = cJSON_Parse(json);
        add_names(&out, lists, "kept");
        add_names(&out, lists, "set");
        add_names(&out, lists, "dropped");
        cJSON_Delete(lists);
    }
    hermes_free(json);
    return print(&out) ? 0 : 1;
}

static int check_config(struct program *program)
{
    struct strbuf out = STRBUF_INIT;
    if (!program->config_path || (!program->config_read && !program->settings.warnings.size))
        strbuf_addf(&out, "no configuration file%s%s\n", program->config_path ? " at " : "",
                    program->config_path ? program->config_path : "");
    else
        strbuf_addf(&out, "%s: %s\n", program->config_path,
                    program->settings.warnings.size ? "has problems" : "ok");
    bool good = interactive_check_keys(&program->settings, &out);
    return print(&out) && good && !program->settings.warnings.size ? 0 : BATCH_STATUS_USAGE;
}

/*
 * A tool schema and a server are for agents: what was not configured is as in the library, not as
 * for a person at a terminal.
 */
static void set_agent_defaults(struct program *program)
{
    for (size_t i = 0; cli_engine_defaults[i][0]; i++) {
        const char *name = cli_engine_defaults[i][0];
        const struct hermes_option *option;
        bool given = false;
        for (size_t n = 0; n < program->settings.count; n++) {
            const struct setting *setting = &program->settings.items[n];
            if (setting->entry->engine && strcmp(setting->entry->key, name) == 0)
                given = setting->source != SOURCE_DEFAULT;
        }
        for (size_t n = 0; !given && (option = hermes_option_at(n)); n++) {
            if (strcmp(option->name, name) == 0)
                hermes_set_option(program->engine, name, option->default_value, NULL);
        }
    }
}

static int print_schema(struct program *program)
{
    struct settings *settings = &program->settings;
    const struct setting *list = settings_by_id(settings, CLI_TOOLS);
    const char **tools = NULL; /* all that are built in */
    const char **described;
    struct strbuf out = STRBUF_INIT;
    int status = BATCH_STATUS_START;
    if (list->source != SOURCE_DEFAULT)
        tools = tool_list_parse(&settings->tools, list->value, &program->error);
    set_agent_defaults(program);
    described = tool_list_describe(&settings->tools, tools);
    char *json = hermes_schema(program->engine, HERMES_MODE_DEFAULT, described);
    if (json) {
        strbuf_addf(&out, "%s\n", json);
        status = print(&out) ? 0 : 1;
    } else {
        usage_error("out of memory");
    }
    hermes_free(json);
    free(described);
    free(tools);
    return status;
}

static int convert(struct program *program)
{
    const char *const *words = (const char *const *)program->cli.rest;
    if (!words || !words[0] || !words[1] || words[2])
        return usage_error("--convert needs two words: --convert FILE OUT");
    int status = document_convert(words[0], words[1], &program->error);
    if (status)
        usage_error(strbuf_text(&program->error));
    return status;
}

/* -1: nothing of the kind was asked for. */
static int inform(struct program *program)
{
    struct settings *settings = &program->settings;
    struct strbuf out = STRBUF_INIT;
    const char *help = settings_text(settings, CLI_HELP);
    if (help[0]) {
        if (strcmp(help, "all") == 0)
            cli_help_all(&out, settings);
        else
            cli_help(&out);
        return print(&out) ? 0 : 1;
    }
    if (settings_flag(settings, CLI_VERSION)) {
        strbuf_addf(&out, "hermes-repl %s\n", HERMES_VERSION);
        return print(&out) ? 0 : 1;
    }
    if (settings_flag(settings, CLI_CHECK_CONFIG))
        return check_config(program);
    if (settings_flag(settings, CLI_LIST_OPTIONS)) {
        cli_list_options(&out, settings);
        return print(&out) ? 0 : 1;
    }
    if (settings_flag(settings, CLI_CONVERT))
        return convert(program);
    const char *shell = settings_text(settings, CLI_COMPLETION);
    if (shell[0]) {
        cli_completion(&out, settings, shell);
        return print(&out) ? 0 : 1;
    }
    if (settings_flag(settings, CLI_LIST_COMMANDS)) {
        command_list(&out);
        return print(&out) ? 0 : 1;
    }
    if (settings_flag(settings, CLI_LIST_KEYS)) {
        struct keymap *keymap = interactive_keymap(settings);
        keymap_list(keymap, &out);
        keymap_free(keymap);
        return print(&out) ? 0 : 1;
    }
    if (settings_flag(settings, CLI_SCHEMA))
        return print_schema(program);
    return settings_flag(settings, CLI_EXPLAIN_ENV) ? explain_env(program) : -1;
}

/*
 * ---- batch
 * ----------------------------------------------------------------------------------------
 */

static const char *text_or_null(struct settings *settings, enum cli_id id)
{
    const char *text = settings_text(settings, id);
    return text[0] ? text : NULL;
}

/* FILE and its arguments, or -c and its arguments. */
static bool set_input(struct program *program, struct batch_options *options)
{
    static const char *const none[] = {NULL};
    const char *const *rest = program->cli.rest ? (const char *const *)program->cli.rest : none;
    options->code = cli_value(&program->cli, CLI_CODE);
    const char *verified = cli_value(&program->cli, CLI_VERIFY);
    if (verified && (options->code || settings_flag(&program->settings, CLI_BATCH))) {
        strbuf_setf(&program->error, "--verify excludes --batch and -c");
        return false;
    }
    if (options->code && settings_flag(&program->settings, CLI_BATCH)) {
        strbuf_setf(&program->error, "--batch and -c exclude each other");
        return false;
    }
    if (verified) {
        options->file = verified;
    } else if (!options->code) {
        if (!rest[0]) {
            strbuf_setf(&program->error, "--batch needs a FILE (or - for standard input)");
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

static bool set_params(struct program *program, struct batch_options *options)
{
    const char *path = text_or_null(&program->settings, CLI_PARAMS);
    struct strbuf text = STRBUF_INIT;
    bool good = true;
    if (path) {
        good = source_read_file(path, &text, &program->error);
        if (good &&
            !params_add_json(&options->params, strbuf_text(&text), text.size, &program->error)) {
            char *fault = strbuf_steal(&program->error);
            strbuf_setf(&program->error, "--params: %s: %s", path, fault);
            free(fault);
            good = false;
        }
    }
    for (size_t i = 0; good && i < program->cli.count; i++) {
        const struct cli_word *word = &program->cli.words[i];
        if (word->setting->entry->id != CLI_PARAM)
            continue;
        good = params_add_text(&options->params, word->value, &program->error);
        if (!good) {
            char *fault = strbuf_steal(&program->error);
            strbuf_setf(&program->error, "%s: %s", word->spelling, fault);
            free(fault);
        }
    }
    strbuf_free(&text);
    return good;
}

static bool set_cells(struct program *program, struct batch_options *options)
{
    const char *text = cli_value(&program->cli, CLI_CELLS);
    if (!text || cell_ranges_parse(&options->cells, text, &program->error))
        return true;
    char *fault = strbuf_steal(&program->error);
    strbuf_setf(&program->error, "--cells: %s", fault);
    free(fault);
    return false;
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

static int run_batch(struct program *program)
{
    struct settings *settings = &program->settings;
    struct batch_options options = {
        .verify = cli_value(&program->cli, CLI_VERIFY) != NULL,
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
        tool_list_parse(&settings->tools, settings_text(settings, CLI_TOOLS), &program->error);
    const struct tool_terms terms = {
        .tools = tools,
        .settings = &settings->tools,
        .approve = settings_text(settings, CLI_APPROVE),
        .env = options.scrub ? HERMES_ENV_SCRUB : HERMES_ENV_INHERIT,
        .cwd = options.cwd,
        .strict = options.strict,
    };
    const char **saves = save_paths(&program->cli);
    options.terms = &terms;
    options.saves = (const char *const *)saves;
    int status;
    if (set_input(program, &options) && set_format(settings, &options, &program->error) &&
        set_params(program, &options) && set_cells(program, &options))
        status = batch_run(program->engine, &options);
    else
        status = usage_error(strbuf_text(&program->error));
    params_free(&options.params);
    cell_ranges_free(&options.cells);
    free(saves);
    free(tools);
    return status;
}

/*
 * ---- the program
 * ----------------------------------------------------------------------------------
 */

static int run(struct program *program, int argc, char **argv)
{
    struct settings *settings = &program->settings;
    if (!cli_parse(&program->cli, settings, argc, argv, &program->error) || !load_config(program) ||
        !cli_apply(&program->cli, settings, &program->error))
        return usage_error(strbuf_text(&program->error));
    show_warnings(program);
    int status = inform(program);
    if (status < 0)
        status = store_commands_run(settings, &program->cli);
    if (status >= 0)
        return status;
    bool batch = settings_flag(settings, CLI_BATCH) || cli_value(&program->cli, CLI_CODE) ||
                 cli_value(&program->cli, CLI_VERIFY);
    if (cli_value(&program->cli, CLI_SESSION) && (batch || settings_flag(settings, CLI_MCP)))
        return usage_error("--session is for the prompt and for --history");
    if (settings_flag(settings, CLI_MCP)) {
        set_agent_defaults(program);
        bool good = mcp_start(settings, &program->cli, &status, &program->error);
        return good ? status : usage_error(strbuf_text(&program->error));
    }
    if (batch)
        return run_batch(program);
    bool good = interactive_start(settings, &program->cli, &status, &program->error);
    return good ? status : usage_error(strbuf_text(&program->error));
}

int main(int argc, char **argv)
{
    struct program program = {.engine = NULL};
    struct hermes_error error = {0, 0, ""};
    hold_standard_descriptors();
    if (hermes_engine_new(&program.engine, &error) != HERMES_OK) {
        fprintf(stderr, "hermes-repl: %s\n",
                error.text[0] ? error.text : "the engine could not start");
        return BATCH_STATUS_START;
    }
    settings_init(&program.settings, program.engine);
    int status = run(&program, argc, argv);
    cli_free(&program.cli);
    settings_free(&program.settings);
    strbuf_free(&program.error);
    free(program.config_path);
    hermes_engine_free(program.engine);
    if (status == BATCH_STATUS_PIPE)
        signals_die_of_pipe();
    return status;
}
