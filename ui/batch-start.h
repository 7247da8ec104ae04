/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From settings to a batch, or to a replay: what main() calls.
 */
#ifndef UI_BATCH_START_H
#define UI_BATCH_START_H

#include "batch.h"
#include "cli.h"
#include "settings.h"

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

/* Each returns the exit status; wrong usage has been told of. */
int batch_start(struct start *start);
int replay_start(struct start *start);

/* batch-options.c. False: one line in error. */
bool batch_options_set(struct start *start, struct batch_options *options, struct rest *rest);

#endif
