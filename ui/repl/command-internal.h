/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the commands' files and the keymap share.
 */
#ifndef UI_COMMAND_INTERNAL_H
#define UI_COMMAND_INTERNAL_H

#include "command.h"
#include "repl-internal.h"

/* Default keys that stand for a command with arguments. */
struct command_binding {
    enum keymap_table table;
    const char *keys, *line;
};
extern const struct command_binding command_bindings[];
extern const size_t command_binding_count;

#define COMMAND(name)                                                                              \
    bool command_##name(struct repl *repl, struct repl_session *session, const char *arguments,    \
                        struct strbuf *error)

/* command-cells.c */
COMMAND(interrupt);
COMMAND(approve);
COMMAND(queue);
COMMAND(drop);
COMMAND(rerun);
COMMAND(reuse);
COMMAND(history);
COMMAND(search);
COMMAND(search_all);
COMMAND(debug);
COMMAND(pdb);
/* command-files.c */
COMMAND(run_file);
COMMAND(load);
COMMAND(save);
COMMAND(save_as);
COMMAND(continue);
COMMAND(replay);
/* command-document.c */
COMMAND(open);
COMMAND(recover);
COMMAND(reload);
COMMAND(cells);
COMMAND(run);
COMMAND(run_all);
COMMAND(run_above);
COMMAND(run_below);
COMMAND(edit_cell);
COMMAND(insert_above);
COMMAND(insert_below);
COMMAND(delete_cell);
COMMAND(move_up);
COMMAND(move_down);
COMMAND(split);
COMMAND(merge);
COMMAND(kind);
COMMAND(undo_edit);
COMMAND(redo_edit);
/* command-kernel.c */
COMMAND(reset);
COMMAND(undo);
COMMAND(session_clear);
COMMAND(kill);
COMMAND(vars);
COMMAND(inspect);
COMMAND(cwd);
COMMAND(status);
/* command-sessions.c */
COMMAND(new);
COMMAND(switch);
COMMAND(next);
COMMAND(previous);
COMMAND(sessions);
COMMAND(rename);
COMMAND(close);
/* command-program.c */
COMMAND(help);
COMMAND(keys);
COMMAND(options);
COMMAND(set);
COMMAND(leave);
COMMAND(quit);

struct document;
struct document_cell;
/* path: in tracebacks; for scripts. */
bool command_run_cell(struct repl *repl, struct repl_session *session,
                      const struct document *document, const struct document_cell *cell,
                      const char *path, struct strbuf *error);
/* The cell that "12", "[12]" or "" (the last one) names; NULL with one line in error. */
struct repl_cell *command_cell(struct repl_session *session, const char *text,
                               struct strbuf *error);
/* What a cell showed, as a file has it. */
void command_copy_outputs(const struct repl_cell_data *data, struct outputs *outputs);
/* A path with ~ for the home. Yours. */
char *command_path(const char *text);

#endif
