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

#include "batch-start.h"
#include "cli.h"
#include "command.h"
#include "document-file.h"
#include "interactive.h"
#include "mcp.h"
#include "remark.h"
#include "signals.h"
#include "source-text.h"
#include "store-commands.h"
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
    remark(text);
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
        char *one = xmemdup0(line, length);
        remark(one);
        free(one);
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
    const char *replayed = cli_value(&program->cli, CLI_REPLAY);
    struct start start = {settings, &program->cli, &program->error};
    if (replayed)
        return replay_start(&start);
    if (cli_value(&program->cli, CLI_SESSION) &&
        (settings_flag(settings, CLI_MCP) || cli_value(&program->cli, CLI_VERIFY)))
        return usage_error("--session is for the prompt, --batch, -c and --history");
    if (settings_flag(settings, CLI_MCP)) {
        set_agent_defaults(program);
        bool good = mcp_start(settings, &program->cli, &status, &program->error);
        return good ? status : usage_error(strbuf_text(&program->error));
    }
    if (batch)
        return batch_start(&start);
    bool good = interactive_start(settings, &program->cli, &status, &program->error);
    return good ? status : usage_error(strbuf_text(&program->error));
}

int main(int argc, char **argv)
{
    struct program program = {.engine = NULL};
    struct hermes_error error = {0, 0, ""};
    hold_standard_descriptors();
    if (hermes_engine_new(&program.engine, &error) != HERMES_OK) {
        remark(error.text[0] ? error.text : "the engine could not start");
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
