/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From settings to a batch, or to a replay: what main() calls.
 */
#ifndef UI_BATCH_START_H
#define UI_BATCH_START_H

#include <string.h>

#include "batch.h"
#include "cli.h"
#include "settings.h"
#include "tool-calls.h"

struct start {
    struct settings *settings;
    const struct cli *cli;
    struct strbuf *error;
};

static inline const char *text_or_null(struct settings *settings, enum cli_id id)
{
    const char *text = settings_text(settings, id);
    return text[0] ? text : NULL;
}

/* What cells of a person's run may call. The list of tools is the caller's. */
static inline struct tool_terms tool_terms_of(struct settings *settings, const char *const *tools)
{
    bool scrub = strcmp(settings_text(settings, CLI_ENV), "scrub") == 0;
    return (struct tool_terms){
        .tools = tools,
        .settings = &settings->tools,
        .approve = settings_text(settings, CLI_APPROVE),
        .env = scrub ? HERMES_ENV_SCRUB : HERMES_ENV_INHERIT,
        .cwd = text_or_null(settings, CLI_CWD),
        .strict = strcmp(settings_text(settings, CLI_MODE), "strict") == 0,
    };
}

/* Each returns the exit status; wrong usage has been told of. */
int batch_start(struct start *start);
int replay_start(struct start *start);

/* batch-options.c. False: one line in error. */
bool batch_options_set(struct start *start, struct batch_options *options, struct rest *rest);

#endif
