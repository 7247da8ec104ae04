/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From settings to a server. Its cells belong to an agent, not to a person at a terminal: their
 * environment is scrubbed unless somebody chose otherwise, and nobody is asked for approval.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "mcp.h"
#include "tool-list.h"

/* What only a batch understands must not be ignored in silence. */
static bool check_words(const struct cli *cli, struct strbuf *error)
{
    for (size_t i = 0; i < cli->count; i++) {
        const struct cli_entry *entry = cli->words[i].setting->entry;
        bool other = entry->id == CLI_BATCH || entry->id == CLI_CODE;
        if (!other && (entry->group != CLI_GROUP_BATCH || entry->engine))
            continue;
        strbuf_setf(error, "--mcp and %s exclude each other", cli->words[i].spelling);
        return false;
    }
    if (cli->rest_count)
        strbuf_setf(error, "--mcp takes no FILE: %s", cli->rest[0]);
    return !cli->rest_count;
}

static const char *text_or_null(struct settings *settings, enum cli_id id)
{
    const char *text = settings_text(settings, id);
    return text[0] ? text : NULL;
}

bool mcp_start(struct settings *settings, const struct cli *cli, int *ret_status,
               struct strbuf *error)
{
    bool env_chosen = settings_by_id(settings, CLI_ENV)->source != SOURCE_DEFAULT;
    struct mcp_options options = {
        .inherit_env = env_chosen && strcmp(settings_text(settings, CLI_ENV), "inherit") == 0,
        .strict = strcmp(settings_text(settings, CLI_MODE), "strict") == 0,
        .python = text_or_null(settings, CLI_PYTHON),
        .cwd = text_or_null(settings, CLI_CWD),
    };
    const char **tools =
        tool_list_parse(&settings->tools, settings_text(settings, CLI_TOOLS), error);
    const struct tool_terms terms = {
        .tools = tools,
        .settings = &settings->tools,
        .approve = settings_text(settings, CLI_APPROVE),
        .env = options.inherit_env ? HERMES_ENV_INHERIT : HERMES_ENV_SCRUB,
        .cwd = options.cwd,
        .strict = options.strict,
    };
    bool good = check_words(cli, error);
    options.terms = &terms;
    hermes_set_option(settings->engine, "undo_kernels", "0", NULL); /* no tool takes a reset back */
    if (good)
        *ret_status = mcp_run(settings->engine, &options);
    free(tools);
    return good;
}
