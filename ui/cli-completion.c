/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Completion scripts for shells, made from the table of options. Names of sessions are asked of
 * the program when they are needed.
 */
#include "config.h"

#include <string.h>

#include "cli.h"

/* What stands for an option's argument when a shell completes it. */
enum argument {
    ARGUMENT_NONE,
    ARGUMENT_ANY,
    ARGUMENT_WORDS,
    ARGUMENT_FILE,
    ARGUMENT_DIRECTORY,
    ARGUMENT_SESSION
};

static enum argument argument_of(const struct cli_entry *entry)
{
    const char *argument = entry->argument;
    if (!argument)
        return ARGUMENT_NONE;
    if (entry->type == CLI_TYPE_OPTIONAL || entry->type == CLI_TYPE_APPROVE ||
        (entry->type == CLI_TYPE_CHOICE && strchr(entry->range, '|')))
        return ARGUMENT_WORDS;
    if (strcmp(argument, "DIR") == 0)
        return ARGUMENT_DIRECTORY;
    if (strncmp(argument, "FILE", 4) == 0 || strcmp(argument, "PATH") == 0 ||
        strcmp(argument, "OUT") == 0)
        return ARGUMENT_FILE;
    return strncmp(argument, "NAME", 4) == 0 && !strchr(argument, '=') ? ARGUMENT_SESSION
                                                                       : ARGUMENT_ANY;
}

/* "stop|continue" and "[all]" as words. */
static void add_words(struct strbuf *out, const struct cli_entry *entry)
{
    const char *text = entry->type == CLI_TYPE_OPTIONAL ? entry->argument : entry->range;
    for (; *text; text++) {
        if (*text != '[' && *text != ']')
            strbuf_addc(out, *text == '|' ? ' ' : *text);
    }
}

/* Text within single quotes of a shell; `special` characters get a backslash. */
static void add_quoted(struct strbuf *out, const char *text, const char *special)
{
    for (; *text; text++) {
        if (*text == '\'')
            strbuf_adds(out, "'\\''");
        else if (strchr(special, *text))
            strbuf_addf(out, "\\%c", *text);
        else
            strbuf_addc(out, *text);
    }
}

static bool has_no_form(const struct cli_entry *entry)
{
    return entry->name && entry->type == CLI_TYPE_FLAG && entry->key;
}

/* ---- bash ---------------------------------------------------------------------------------- */

static void add_spellings(struct strbuf *out, const struct cli_entry *entry, const char *between)
{
    if (entry->name)
        strbuf_addf(out, "--%s%s", entry->name, entry->letter ? between : "");
    if (entry->letter)
        strbuf_addf(out, "-%c", entry->letter);
}

static void add_bash_case(struct strbuf *out, const struct cli_entry *entry)
{
    enum argument argument = argument_of(entry);
    if (argument == ARGUMENT_NONE)
        return;
    strbuf_adds(out, "        ");
    add_spellings(out, entry, "|");
    strbuf_adds(out, ") ");
    if (argument == ARGUMENT_WORDS) {
        strbuf_adds(out, "COMPREPLY=($(compgen -W '");
        add_words(out, entry);
        strbuf_adds(out, "' -- \"$cur\"))");
    } else if (argument == ARGUMENT_SESSION) {
        strbuf_adds(out, "mapfile -t COMPREPLY < <(_hermes_repl_sessions \"$cur\")");
    } else if (argument == ARGUMENT_DIRECTORY) {
        strbuf_adds(out, "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")");
    } else if (argument == ARGUMENT_FILE) {
        strbuf_adds(out, "compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")");
    } else {
        strbuf_adds(out, ":");
    }
    strbuf_adds(out, entry->type == CLI_TYPE_OPTIONAL ? "; [ -n \"$COMPREPLY\" ] && return ;;\n"
                                                      : "; return ;;\n");
}

static void add_bash(struct strbuf *out, const struct settings *settings)
{
    strbuf_adds(out, "# bash completion for hermes-repl; made by hermes-repl --completion bash\n"
                     "_hermes_repl_sessions() {\n"
                     "    local name\n"
                     "    while read -r name _; do\n"
                     "        [[ $name == \"$1\"* ]] && printf '%s\\n' \"$name\"\n"
                     "    done < <(hermes-repl --list 2>/dev/null)\n"
                     "}\n"
                     "_hermes_repl() {\n"
                     "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i\n"
                     "    COMPREPLY=()\n"
                     "    if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then "
                     "prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                     "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                     "        if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
                     "            compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "
                     "\"$cur\"); return\n"
                     "        fi\n"
                     "    done\n"
                     "    case $prev in\n");
    for (size_t i = 0; i < settings->count; i++)
        add_bash_case(out, settings->items[i].entry);
    strbuf_adds(out, "    esac\n"
                     "    if [[ $cur == -* ]]; then\n"
                     "        COMPREPLY=($(compgen -W '");
    for (size_t i = 0; i < settings->count; i++) {
        const struct cli_entry *entry = settings->items[i].entry;
        if (!entry->name && !entry->letter)
            continue;
        add_spellings(out, entry, " ");
        strbuf_addc(out, ' ');
        if (has_no_form(entry))
            strbuf_addf(out, "--no-%s ", entry->name);
    }
    strbuf_adds(out,
                "' -- \"$cur\"))\n"
                "    else\n"
                "        compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
                "    fi\n"
                "}\n"
                "complete -F _hermes_repl hermes-repl\n");
}

/* ---- zsh ----------------------------------------------------------------------------------- */

static void add_zsh_option(struct strbuf *out, const struct cli_entry *entry, const char *spelling)
{
    static const char *const actions[] = {[ARGUMENT_ANY] = " ",
                                          [ARGUMENT_FILE] = "_files",
                                          [ARGUMENT_DIRECTORY] = "_files -/",
                                          [ARGUMENT_SESSION] = "_hermes_repl_sessions"};
    enum argument argument = argument_of(entry);
    strbuf_addf(out, "    '%s%s%s[", entry->type == CLI_TYPE_LIST ? "*" : "", spelling,
                argument != ARGUMENT_NONE && spelling[1] == '-' ? "=" : "");
    add_quoted(out, entry->help, "[]:\\");
    strbuf_addc(out, ']');
    if (argument != ARGUMENT_NONE) {
        strbuf_addf(out, ":%s", entry->type == CLI_TYPE_OPTIONAL ? ":" : "");
        add_quoted(out,
                   entry->type == CLI_TYPE_OPTIONAL ? ""
                   : argument == ARGUMENT_WORDS     ? "choice"
                                                    : entry->argument,
                   "[]:\\");
        strbuf_addc(out, ':');
        if (argument == ARGUMENT_WORDS) {
            strbuf_addc(out, '(');
            add_words(out, entry);
            strbuf_addc(out, ')');
        } else {
            strbuf_adds(out, actions[argument]);
        }
    }
    strbuf_adds(out, "'\n");
}

static void add_zsh(struct strbuf *out, const struct settings *settings)
{
    strbuf_adds(out, "#compdef hermes-repl\n"
                     "# made by hermes-repl --completion zsh\n"
                     "_hermes_repl_sessions() {\n"
                     "    local -a names\n"
                     "    names=(${${(f)\"$(hermes-repl --list 2>/dev/null)\"}%% *})\n"
                     "    compadd -a names\n"
                     "}\n"
                     "local -a options\n"
                     "options=(\n");
    for (size_t i = 0; i < settings->count; i++) {
        const struct cli_entry *entry = settings->items[i].entry;
        struct strbuf spelling = STRBUF_INIT;
        if (entry->name) {
            strbuf_setf(&spelling, "--%s", entry->name);
            add_zsh_option(out, entry, strbuf_text(&spelling));
        }
        if (entry->letter) {
            strbuf_setf(&spelling, "-%c", entry->letter);
            add_zsh_option(out, entry, strbuf_text(&spelling));
        }
        if (has_no_form(entry))
            strbuf_addf(out, "    '--no-%s'\n", entry->name);
        strbuf_free(&spelling);
    }
    strbuf_adds(out, ")\n"
                     "_arguments $options '*:file:_files'\n");
}

/* ---- fish ---------------------------------------------------------------------------------- */

static void add_fish_option(struct strbuf *out, const struct cli_entry *entry)
{
    enum argument argument = argument_of(entry);
    strbuf_adds(out, "complete -c hermes-repl");
    if (entry->name)
        strbuf_addf(out, " -l %s", entry->name);
    if (entry->letter)
        strbuf_addf(out, " -s %c", entry->letter);
    if (argument == ARGUMENT_FILE || argument == ARGUMENT_DIRECTORY)
        strbuf_adds(out,
                    argument == ARGUMENT_FILE ? " -r" : " -x -a '(__fish_complete_directories)'");
    else if (argument == ARGUMENT_SESSION)
        strbuf_adds(out, " -x -a '(__hermes_repl_sessions)'");
    else if (argument != ARGUMENT_NONE && entry->type != CLI_TYPE_OPTIONAL)
        strbuf_adds(out, " -x");
    if (argument == ARGUMENT_WORDS && entry->type != CLI_TYPE_OPTIONAL) {
        strbuf_adds(out, " -a '");
        add_words(out, entry);
        strbuf_addc(out, '\'');
    }
    strbuf_adds(out, " -d '");
    for (const char *text = entry->help; *text; text++) {
        if (*text == '\'' || *text == '\\')
            strbuf_addc(out, '\\');
        strbuf_addc(out, *text);
    }
    strbuf_adds(out, "'\n");
    if (has_no_form(entry))
        strbuf_addf(out, "complete -c hermes-repl -l no-%s\n", entry->name);
}

static void add_fish(struct strbuf *out, const struct settings *settings)
{
    strbuf_adds(out,
                "# made by hermes-repl --completion fish\n"
                "function __hermes_repl_sessions\n"
                "    hermes-repl --list 2>/dev/null | string replace -r ' .*' ''\n"
                "end\n");
    for (size_t i = 0; i < settings->count; i++) {
        const struct cli_entry *entry = settings->items[i].entry;
        if (entry->name || entry->letter)
            add_fish_option(out, entry);
    }
}

void cli_completion(struct strbuf *out, const struct settings *settings, const char *shell)
{
    if (strcmp(shell, "zsh") == 0)
        add_zsh(out, settings);
    else if (strcmp(shell, "fish") == 0)
        add_fish(out, settings);
    else
        add_bash(out, settings);
}
