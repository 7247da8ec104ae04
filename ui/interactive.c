/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "interactive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "batch-start.h"
#include "plain.h"
#include "repl-document.h"
#include "rest.h"
#include "session-name.h"
#include "store-result.h"
#include "tool-list.h"
#include "tui.h"
#include "xalloc.h"

#define LAST_WRITE_MS 2000

/* The file with the user's keys, or NULL: there is none. Yours. */
static char *keys_path(struct settings *settings)
{
    const char *given = settings_text(settings, CLI_KEYS);
    char *path = given[0] ? xstrdup(given) : keymap_default_path();
    if (!path || given[0] || access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

/* What is wrong in the file becomes lines of warnings. */
static struct keymap *read_keymap(struct settings *settings, struct strbuf *warnings)
{
    char *path = keys_path(settings);
    struct keymap *keymap = keymap_new();
    if (path)
        keymap_load(keymap, path, warnings);
    free(path);
    return keymap;
}

static void show_lines(const struct strbuf *lines)
{
    for (const char *line = strbuf_text(lines); *line;) {
        size_t length = strcspn(line, "\n");
        fprintf(stderr, "hermes-repl: %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
}

struct keymap *interactive_keymap(struct settings *settings)
{
    struct strbuf warnings = STRBUF_INIT;
    struct keymap *keymap = read_keymap(settings, &warnings);
    show_lines(&warnings);
    strbuf_free(&warnings);
    return keymap;
}

bool interactive_check_keys(struct settings *settings, struct strbuf *out)
{
    struct strbuf warnings = STRBUF_INIT;
    char *path = keys_path(settings);
    keymap_free(read_keymap(settings, &warnings));
    bool good = !warnings.size;
    show_lines(&warnings);
    if (path)
        strbuf_addf(out, "%s: %s\n", path, good ? "ok" : "has problems");
    strbuf_free(&warnings);
    free(path);
    return good;
}

/* What only a batch understands must not be ignored in silence; quiet we are anyway. */
static bool check_words(const struct cli *cli, struct strbuf *error)
{
    for (size_t i = 0; i < cli->count; i++) {
        const struct cli_entry *entry = cli->words[i].setting->entry;
        if (entry->id == CLI_SESSION && !session_name_check(cli->words[i].value, error))
            return false;
        if (entry->group != CLI_GROUP_BATCH || entry->engine || entry->id == CLI_QUIET)
            continue;
        strbuf_setf(error, "%s is for a batch: give --batch FILE or -c CODE, too",
                    cli->words[i].spelling);
        return false;
    }
    if (cli->rest_count > 1)
        strbuf_setf(error, "one FILE can be opened; what follows it is for --batch: %s",
                    cli->rest[1]);
    return cli->rest_count <= 1;
}

/* NULL-ended; the strings are the command line's. */
static const char **session_names(const struct cli *cli)
{
    const char **names = xcalloc(cli->count + 1, sizeof(*names));
    size_t count = 0;
    for (size_t i = 0; i < cli->count; i++) {
        if (cli->words[i].setting->entry->id == CLI_SESSION)
            names[count++] = cli->words[i].value;
    }
    return names;
}

/* While it goes on, ui/repl says them; what is written at the end may fail, too. */
static void say_last_remarks(struct store *store)
{
    char *remark;
    if (!store)
        return;
    store_flush(store, LAST_WRITE_MS);
    while ((remark = store_take_remark(store))) {
        fprintf(stderr, "hermes-repl: %s\n", remark);
        free(remark);
    }
}

/* For a person only: blocks from a pipe are a batch in this, and a batch may have been before. */
static void set_spares(struct settings *settings)
{
    static const char name[] = "spare-kernels";
    const struct setting *setting = settings_by_name(settings, name, sizeof name - 1);
    hermes_set_option(settings->engine, setting->entry->key,
                      isatty(STDIN_FILENO) ? setting->value : "0", NULL);
}

static bool run(struct settings *settings, struct repl_options *options, const char *file,
                int *ret_status, struct strbuf *error)
{
    bool screen = !settings_flag(settings, CLI_PLAIN) && tui_is_possible();
    set_spares(settings);
    if (screen ? tui_run(settings->engine, options, file, ret_status, error)
               : plain_run(settings->engine, options, file, ret_status, error))
        return true;
    fprintf(stderr, "hermes-repl: %s\n", strbuf_text(error));
    *ret_status = BATCH_STATUS_START;
    return true;
}

static bool start(struct settings *settings, const struct cli *cli, const char *file,
                  struct rest *rest, int *ret_status, struct strbuf *error)
{
    struct strbuf remarks =
        STRBUF_INIT; /* a screen would hide what is written before it is there */
    struct keymap *keymap = read_keymap(settings, &remarks);
    const char **tools =
        tool_list_parse(&settings->tools, settings_text(settings, CLI_TOOLS), error);
    const struct tool_terms terms = tool_terms_of(settings, tools);
    enum store_mode history = store_mode_of(settings_text(settings, CLI_HISTORY_MODE));
    struct strbuf last_words = STRBUF_INIT;
    const char *adopted[] = {rest ? rest->session : NULL, NULL};
    const char **names = rest ? NULL : session_names(cli);
    struct repl_options options = {
        .settings = settings,
        .terms = &terms,
        .mode = terms.strict ? HERMES_MODE_STRICT : HERMES_MODE_PROJECT,
        .python = text_or_null(settings, CLI_PYTHON),
        .cwd = terms.cwd,
        .env = terms.env,
        .sessions = rest ? adopted : names,
        .rest = rest,
        .keymap = keymap,
        .remarks = strbuf_text(&remarks),
        .store = history == STORE_OFF ? NULL : store_open(NULL, history),
        .last_words = &last_words,
        .document = file,
    };
    bool good = run(settings, &options, file, ret_status, error);
    show_lines(&last_words);
    strbuf_free(&last_words);
    say_last_remarks(options.store);
    store_close(options.store);
    keymap_free(keymap);
    strbuf_free(&remarks);
    free(names);
    free(tools);
    return good;
}

bool interactive_continue(struct settings *settings, const struct cli *cli, struct rest *rest,
                          int *ret_status, struct strbuf *error)
{
    return start(settings, cli, NULL, rest, ret_status, error);
}

bool interactive_start(struct settings *settings, const struct cli *cli, int *ret_status,
                       struct strbuf *error)
{
    if (!check_words(cli, error))
        return false;
    if (cli->rest_count && !isatty(STDIN_FILENO)) {
        strbuf_setf(error, "without a terminal %s is not opened; --batch runs it", cli->rest[0]);
        return false;
    }
    if (cli->rest_count && !repl_document_check(cli->rest[0], error))
        return false;
    return start(settings, cli, cli->rest_count ? cli->rest[0] : NULL, NULL, ret_status, error);
}
