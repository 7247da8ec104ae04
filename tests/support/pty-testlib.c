/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "pty-testlib.h"

#include <check.h>
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testlib.h"

void test_pty_start(struct test_pty *pty, const char *const *argv, const char *term, int columns,
                    int rows)
{
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
    *pty = (struct test_pty){.fd = -1};
    pty->pid = forkpty(&pty->fd, NULL, NULL, &size);
    ck_assert_int_ge(pty->pid, 0);
    if (pty->pid == 0) {
        setenv("TERM", term, 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        unsetenv("COLUMNS");
        unsetenv("LINES");
        unsetenv("NO_COLOR");
        execvp(argv[0], (char *const *)(size_t)argv);
        perror(argv[0]);
        _exit(127);
    }
}

bool test_pty_read(struct test_pty *pty, struct strbuf *out, int ms)
{
    struct pollfd poll_fd = {.fd = pty->fd, .events = POLLIN};
    char buffer[65536];
    if (pty->ended || poll(&poll_fd, 1, ms) <= 0)
        return false;
    ssize_t size = read(pty->fd, buffer, sizeof buffer);
    if (size <= 0) {
        ck_assert(size == 0 || errno == EIO || errno == EINTR);
        pty->ended = size == 0 || errno == EIO;
        return false;
    }
    strbuf_add(out, buffer, (size_t)size);
    return true;
}

void test_pty_write(struct test_pty *pty, const char *data, size_t size)
{
    ck_assert_int_eq(write(pty->fd, data, size), (ssize_t)size);
}

void test_pty_resize(struct test_pty *pty, int columns, int rows)
{
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
    ck_assert_int_eq(ioctl(pty->fd, TIOCSWINSZ, &size), 0);
}

int test_pty_finish(struct test_pty *pty, struct strbuf *out, int ms)
{
    int64_t end = test_now_ms() + test_scaled_ms(ms);
    while (!pty->ended && test_now_ms() < end)
        test_pty_read(pty, out, 100);
    bool ended = pty->ended;
    close(pty->fd);
    pty->fd = -1;
    if (!ended)
        kill(pty->pid, SIGKILL);
    ck_assert_msg(ended, "the program on the pseudo-terminal does not end");
    int status = test_reap(pty->pid, ms);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void test_pty_kill(struct test_pty *pty)
{
    kill(pty->pid, SIGKILL);
    close(pty->fd);
    test_reap(pty->pid, 10000);
}

/* ---- tmux ----------------------------------------------------------------------------------- */

static int run_shell(const char *command)
{
    const char *argv[] = {"/bin/sh", "-c", command, NULL};
    int fds[3] = {-1, -1, -1};
    int status = test_reap(test_spawn(argv, fds, 3, NULL), 30000);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_bytes(const char *path, const struct strbuf *bytes)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(strbuf_text(bytes), 1, bytes->size, file), bytes->size);
    fclose(file);
}

void test_tmux_text(const struct strbuf *bytes, int columns, int rows, bool screen_only,
                    struct strbuf *out)
{
    char command[2048];
    const char *input = test_path("tmux-input"), *done = test_path("tmux-done");
    const char *shown = test_path("tmux-shown"), *socket = test_path("tmux.socket");
    write_bytes(input, bytes);
    snprintf(
        command, sizeof command,
        "unset TMUX; unlink '%s' 2>/dev/null; LC_ALL=C.UTF-8 exec tmux -u -S '%s' -f /dev/null "
        "new-session -d -x %d -y %d \"stty -opost; cat '%s'; : >'%s'; exec sleep 60\" "
        ">/dev/null 2>&1 </dev/null",
        done, socket, columns, rows + 1, input, done);
    ck_assert_int_eq(run_shell(command), 0);
    bool shows = test_wait(test_exists(done), 20000);
    snprintf(
        command, sizeof command,
        "LC_ALL=C.UTF-8; export LC_ALL; tmux -u -S '%s' capture-pane -p -J %s >'%s'; status=$?;"
        "tmux -S '%s' kill-server; exit $status",
        socket, screen_only ? "" : "-S -", shown, socket);
    int status = run_shell(command);
    ck_assert(shows);
    ck_assert_int_eq(status, 0);
    char *text = test_read_file(shown);
    ck_assert_ptr_nonnull(text);
    strbuf_adds(out, text);
    free(text);
}

void test_trim_screen(struct strbuf *text)
{
    struct strbuf out = STRBUF_INIT;
    const char *at = strbuf_text(text), *end = at + text->size;
    size_t keep = 0;
    while (at < end) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        size_t size = (size_t)((line_end ? line_end : end) - at);
        const char *next = line_end ? line_end + 1 : end;
        while (size && at[size - 1] == ' ')
            size--;
        strbuf_add(&out, at, size);
        strbuf_addc(&out, '\n');
        if (size)
            keep = out.size;
        at = next;
    }
    strbuf_clear(text);
    strbuf_add(text, strbuf_text(&out), keep);
    strbuf_free(&out);
}
