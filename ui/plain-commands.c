/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The commands that are the front end's, and the programs that they start on the terminal.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plain-internal.h"
#include "plain-terminal.h"
#include "source-text.h"

/* ---- other programs ------------------------------------------------------------------------- */

static void become(const char *command, const char *path)
{
    static const int numbers[] = {SIGINT,  SIGTERM, SIGHUP, SIGPIPE, SIGWINCH, SIGCONT,
                                  SIGQUIT, SIGSEGV, SIGBUS, SIGFPE,  SIGILL,   SIGABRT};
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigemptyset(&usual.sa_mask);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaction(numbers[i], &usual, NULL);
    char *script = xasprintf("%s \"$1\"", command);
    execl("/bin/sh", "sh", "-c", script, "sh", path, (char *)NULL);
    _exit(127);
}

/* Run it over the file, with the terminal as it was before us. */
static bool run_program(struct plain *plain, const char *command, const char *path)
{
    int status = -1, ignored;
    plain_leave_prompt(plain, "");
    plain_paste_mode(plain, false);
    plain_terminal_restore();
    pid_t pid = fork();
    if (pid == 0)
        become(command, path);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    plain_terminal_raw();
    if (plain_signals_take(&ignored) & PLAIN_END) /* it was meant for us, too */
        plain->exit_status = 128 + ignored;
    plain->at_start = true;
    plain->dirty = true;
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static const char *program_of(const char *first, const char *second, const char *usual)
{
    const char *name = first ? getenv(first) : NULL;
    if (!name || !name[0])
        name = getenv(second);
    return name && name[0] ? name : usual;
}

/* A file of ours with this text. Yours, with its path; NULL: it could not be made. */
static char *make_file(const char *suffix, const char *text, size_t size)
{
    const char *directory = getenv("TMPDIR");
    char *path = xasprintf("%s/hermes-repl-XXXXXX%s",
                           directory && directory[0] ? directory : "/tmp", suffix);
    int fd = mkstemps(path, (int)strlen(suffix));
    bool good = fd >= 0;
    while (good && size) {
        ssize_t done = write(fd, text, size);
        good = done > 0;
        text += done > 0 ? done : 0;
        size -= done > 0 ? (size_t)done : 0;
    }
    if (fd >= 0)
        close(fd);
    if (good)
        return path;
    if (fd >= 0)
        unlink(path);
    free(path);
    return NULL;
}

/* ---- commands ------------------------------------------------------------------------------- */

static struct repl_cell *cell_of(struct repl_session *session, const char *arguments)
{
    unsigned long number = strtoul(arguments, NULL, 10);
    for (size_t i = session->item_count; i-- > 0;) {
        struct repl_cell *cell = session->items[i].cell;
        if (cell && cell->number &&
            (arguments[0] ? cell->number == number : cell->state != REPL_QUEUED))
            return cell;
    }
    return NULL;
}

static void edit_text_of_file(struct plain *plain, const char *path)
{
    struct strbuf bytes = STRBUF_INIT, error = STRBUF_INIT;
    if (source_read_file(path, &bytes, &error)) {
        while (bytes.size && bytes.data[bytes.size - 1] == '\n')
            bytes.size--;
        edit_set(plain->edit, strbuf_text(&bytes), bytes.size, bytes.size);
    } else {
        plain_say(plain, "%s", strbuf_text(&error));
    }
    strbuf_free(&bytes);
    strbuf_free(&error);
}

static void run_edit(struct plain *plain, struct repl_session *session, const char *arguments)
{
    size_t size;
    const struct repl_cell *cell = arguments[0] ? cell_of(session, arguments) : NULL;
    if (arguments[0] && !cell) {
        plain_say(plain, "there is no cell %s", arguments);
        return;
    }
    const char *text = cell ? cell->source : edit_text(plain->edit, &size);
    size = cell ? cell->source_size : size;
    char *whole = xasprintf("%.*s%s", (int)size, text, size ? "\n" : "");
    char *path = make_file(".py", whole, strlen(whole));
    free(whole);
    if (!path) {
        plain_say(plain, "no file can be made for the editor: %s", strerror(errno));
        return;
    }
    if (run_program(plain, program_of("VISUAL", "EDITOR", "vi"), path))
        edit_text_of_file(plain, path);
    else
        plain_say(plain, "the editor did not end well; the prompt is as it was");
    unlink(path);
    free(path);
}

static void run_page(struct plain *plain, struct repl_session *session, const char *arguments)
{
    const struct repl_cell *cell = cell_of(session, arguments);
    struct strbuf text = STRBUF_INIT;
    if (!cell) {
        plain_say(plain, "there is no such cell");
        return;
    }
    block_text(cell->output, true, &text);
    bool complete = cell->spill_path && access(cell->spill_path, R_OK) == 0;
    char *path =
        complete ? xstrdup(cell->spill_path) : make_file("", strbuf_text(&text), text.size);
    if (!path) {
        plain_say(plain, "no file can be made for the pager: %s", strerror(errno));
    } else {
        run_program(plain, program_of(NULL, "PAGER", "less -R"), path);
        if (!complete)
            unlink(path);
    }
    free(path);
    strbuf_free(&text);
}

static void run_suspend(struct plain *plain)
{
    plain_hide(plain);
    plain_paste_mode(plain, false);
    plain_terminal_suspend();
    plain_resized(plain);
    plain->dirty = true;
}

bool plain_command(struct plain *plain, struct repl_session *session, const char *name,
                   const char *arguments)
{
    if (!plain->edit)
        return false;
    if (strcmp(name, "clear") == 0 || strcmp(name, "redraw") == 0)
        plain_clear_screen(plain);
    else if (strcmp(name, "edit") == 0)
        run_edit(plain, session, arguments);
    else if (strcmp(name, "page") == 0)
        run_page(plain, session, arguments);
    else if (strcmp(name, "suspend") == 0)
        run_suspend(plain);
    else if (strcmp(name, "vi") == 0)
        edit_toggle_vi(plain->edit);
    else
        return false;
    plain->dirty = true;
    return true;
}
