/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The command line. Our options are recognised anywhere before "--"; an unknown word with a dash
 * is an error that names "--"; all other words are FILE (unless -c is given) and the script's own
 * arguments. Parsing only collects words, so that file and environment can be applied in between;
 * cli_apply() judges them.
 */
#ifndef UI_CLI_H
#define UI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "settings.h"
#include "strbuf.h"

struct cli {
    struct cli_word {
        struct setting *setting;
        char *spelling; /* "--cell-timeout", for messages */
        char *value;
    } * words;
    size_t count, capacity;
    const char **rest; /* FILE and ARGS, NULL-ended; the strings are argv's */
    size_t rest_count, rest_capacity;
};

/* On failure error gets one line. */
bool cli_parse(struct cli *cli, struct settings *settings, int argc, char *const *argv,
               struct strbuf *error);
/* Put the words into the settings. */
bool cli_apply(const struct cli *cli, struct settings *settings, struct strbuf *error);
/* The value of the last word for an option, or NULL: what must be known before cli_apply(). */
const char *cli_value(const struct cli *cli, enum cli_id id);
void cli_free(struct cli *cli);

void cli_help(struct strbuf *out);
void cli_help_all(struct strbuf *out, struct settings *settings);
void cli_list_options(struct strbuf *out, struct settings *settings);
/* A completion script for "bash", "zsh" or "fish". */
void cli_completion(struct strbuf *out, const struct settings *settings, const char *shell);

#endif
