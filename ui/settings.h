/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The values of all options, by precedence: command line, environment, file, default. One name for
 * all places: --kernel-idle-timeout is HERMES_REPL_KERNEL_IDLE_TIMEOUT and "kernel_idle_timeout"
 * in the file. Values of the engine's options are handed to the engine, which judges them. What is
 * wrong in file and environment is a warning and falls back; what is wrong on the command line is
 * an error.
 */
#ifndef UI_SETTINGS_H
#define UI_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hermes-kernel.h>

#include "cli-table.h"
#include "strbuf.h"
#include "tool-settings.h"

enum setting_source { SOURCE_DEFAULT, SOURCE_FILE, SOURCE_ENVIRONMENT, SOURCE_FLAG };

struct setting {
    const struct cli_entry *entry;
    char *value; /* never NULL */
    enum setting_source source;
};

struct settings {
    struct hermes_engine *engine; /* NULL in tests of the parser: engine values are not judged */
    struct setting *items;
    size_t count;
    struct cli_entry *engine_entries; /* rows made from hermes_option_at() */
    char **engine_names;              /* their names with dashes */
    size_t engine_count;
    struct strbuf warnings;     /* lines */
    struct tool_settings tools; /* "tool_commands" */
};

void settings_init(struct settings *settings, struct hermes_engine *engine);
void settings_free(struct settings *settings);

struct setting *settings_by_name(struct settings *settings, const char *name, size_t size);
struct setting *settings_by_letter(struct settings *settings, char letter);
struct setting *settings_by_id(struct settings *settings, enum cli_id id);

/* False when the value is refused: error says why, and the setting keeps what it had. */
bool settings_set(struct settings *settings, struct setting *setting, const char *value,
                  enum setting_source source, struct strbuf *error);

const char *settings_text(struct settings *settings,
                          enum cli_id id); /* "" when nothing was given */
bool settings_flag(struct settings *settings, enum cli_id id);
int64_t settings_ms(struct settings *settings, enum cli_id id); /* -1: off */

/* The default path, or NULL when there is no home. Yours. */
char *settings_default_path(void);

/*
 * Problems become lines in warnings. False when the file cannot be read or is no JSON object:
 * error says why.
 */
bool settings_load_file(struct settings *settings, const char *path, struct strbuf *error);
bool settings_load_json(struct settings *settings, const char *name, const char *text, size_t size,
                        struct strbuf *error);
void settings_load_environment(struct settings *settings, char *const *environment);

#endif
