/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Other programs: the editor and the pager get the terminal while sessions go on behind them; the
 * clipboard is reached through the terminal, and through tmux where that stands in between.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base64.h"
#include "source-text.h"
#include "tui-internal.h"
#include "utf8.h"
#include "xalloc.h"

extern char **environ;

#define CLIPBOARD_MAX (1u << 20)

/* A file of our own with this text; NULL: it cannot be made. Yours, the file too. */
static char *write_file(const char *suffix, const char *text, size_t size)
{
    const char *folder = getenv("TMPDIR");
    char *path =
        xasprintf("%s/hermes-repl-XXXXXX%s", folder && folder[0] ? folder : "/tmp", suffix);
    int fd = mkostemps(path, (int)strlen(suffix), O_CLOEXEC);
    bool good = fd >= 0;
    while (good && size) {
        ssize_t n = write(fd, text, size);
        good = n > 0 || (n < 0 && errno == EINTR);
        text += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    good = fd >= 0 && close(fd) == 0 && good;
    if (good)
        return path;
    if (fd >= 0)
        unlink(path);
    free(path);
    return NULL;
}

/* A shell command with the path as its $1. Signals are as at the start of a program. */
static pid_t spawn_shell(const char *command, const char *path)
{
    const char *argv[] = {"sh", "-c", command, "sh", path, NULL};
    posix_spawnattr_t attributes;
    sigset_t all, none;
    pid_t pid = 0;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setsigmask(&attributes, &none);
    int error = posix_spawn(&pid, "/bin/sh", NULL, &attributes, (char *const *)argv, environ);
    posix_spawnattr_destroy(&attributes);
    return error ? 0 : pid;
}

/*
 * ---- editor and pager
 * -----------------------------------------------------------------------------
 */

/* Takes path. */
static void run_child(struct tui *tui, const char *command, char *path, bool edits)
{
    graphics_leave(tui->graphics);
    screen_leave(tui->screen);
    tui->child =
        (struct tui_child){.pid = spawn_shell(command, path), .path = path, .edits = edits};
    if (tui->child.pid)
        return;
    screen_return(tui->screen, false);
    tui_say(tui, "cannot start %s", command);
    unlink(path);
    free(path);
    tui->child = (struct tui_child){.pid = 0};
}

static const char *wish(const char *first, const char *second, const char *otherwise)
{
    const char *value = first ? getenv(first) : NULL;
    if (!value || !value[0])
        value = second ? getenv(second) : NULL;
    return value && value[0] ? value : otherwise;
}

void tui_edit_outside(struct tui *tui)
{
    size_t size;
    const char *text = edit_text(tui->edit, &size);
    char *path = write_file(".py", text, size);
    if (!path) {
        tui_say(tui, "no file for the editor: %s", strerror(errno));
        return;
    }
    char *command = xasprintf("%s \"$1\"", wish("VISUAL", "EDITOR", "vi"));
    run_child(tui, command, path, true);
    free(command);
}

/*
 * -R: colours. A short text stays on the screen until a key: the way back is ours. $PAGER may be
 * more than one command, of which each would wait for the terminal but the one with the redirection.
 */
static void page(struct tui *tui, char *path)
{
    const char *pager = wish("PAGER", NULL, "less");
    setenv("LESS", "-R", 0);
    char *command = xasprintf("exec <\"$1\" && %s", pager);
    run_child(tui, command, path, false);
    free(command);
}

void tui_page(struct tui *tui, const char *text, size_t size)
{
    char *path = write_file("", text, size);
    if (path)
        page(tui, path);
    else
        tui_say(tui, "no file for the pager: %s", strerror(errno));
}

bool tui_page_file(struct tui *tui, const char *path)
{
    struct strbuf text = STRBUF_INIT, error = STRBUF_INIT;
    bool good = source_read_file(path, &text, &error);
    if (good)
        tui_page(tui, strbuf_text(&text), text.size);
    strbuf_free(&text);
    strbuf_free(&error);
    return good;
}

static void take_text(struct tui *tui)
{
    struct strbuf text = STRBUF_INIT, error = STRBUF_INIT;
    if (source_read_file(tui->child.path, &text, &error)) {
        while (text.size && text.data[text.size - 1] == '\n')
            text.data[--text.size] = '\0';
        edit_set(tui->edit, strbuf_text(&text), text.size, text.size);
    } else {
        tui_say(tui, "%s", strbuf_text(&error));
    }
    strbuf_free(&text);
    strbuf_free(&error);
}

bool tui_child_changed(struct tui *tui)
{
    int status = 0;
    if (tui->clipboard && waitpid(tui->clipboard, &status, WNOHANG) == tui->clipboard)
        tui->clipboard = 0;
    if (!tui->child.pid || waitpid(tui->child.pid, &status, WNOHANG | WUNTRACED) != tui->child.pid)
        return false;
    if (WIFSTOPPED(status))
        return true;
    tui->child.pid = 0;
    screen_return(tui->screen, false);
    tui_resize(tui);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && tui->child.edits)
        take_text(tui);
    else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        tui_say(tui,
                tui->child.edits ? "the editor failed; the text is as it was" : "the pager failed");
    unlink(tui->child.path);
    free(tui->child.path);
    tui->child.path = NULL;
    tui_damage(tui, DAMAGE_ALL);
    return false;
}

void tui_child_end(struct tui *tui)
{
    int status;
    if (tui->child.pid) {
        kill(tui->child.pid, SIGHUP);
        kill(tui->child.pid, SIGTERM);
        kill(tui->child.pid, SIGCONT);
        while (waitpid(tui->child.pid, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    if (tui->child.path)
        unlink(tui->child.path);
    free(tui->child.path);
    tui->child = (struct tui_child){.pid = 0};
}

/*
 * ---- the clipboard
 * -----------------------------------------------------------------------------------
 */

/*
 * tmux takes no clipboard sequences from programs unless it was told to; its own command always
 * works.
 */
static void copy_to_tmux(struct tui *tui, const char *text, size_t size)
{
    if (!getenv("TMUX") || tui->clipboard)
        return;
    char *path = write_file("", text, size);
    if (!path)
        return;
    tui->clipboard = spawn_shell("tmux load-buffer -w \"$1\" >/dev/null 2>&1; rm -f \"$1\"", path);
    if (!tui->clipboard)
        unlink(path);
    free(path);
}

void tui_copy(struct tui *tui, const char *what, const char *text, size_t size)
{
    struct strbuf sequence = STRBUF_INIT;
    size_t given =
        size < CLIPBOARD_MAX ? size : CLIPBOARD_MAX - utf8_partial_tail(text, CLIPBOARD_MAX);
    strbuf_adds(&sequence, "\033]52;c;");
    base64_add(&sequence, text, given);
    strbuf_adds(&sequence, "\033\\");
    screen_send(tui->screen, sequence.data, sequence.size);
    strbuf_free(&sequence);
    copy_to_tmux(tui, text, given);
    size_t lines = 1;
    for (size_t i = 0; i + 1 < given; i++)
        lines += text[i] == '\n';
    tui_say(tui, "copied %s: %zu line%s, %zu bytes%s", what, lines, lines == 1 ? "" : "s", given,
            given < size ? " (the beginning: it is long)" : "");
}
