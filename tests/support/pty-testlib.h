/* SPDX-License-Identifier: MIT */
/*
 * Programs on a real pseudo-terminal, and what a terminal (tmux, a server of our own) shows of
 * their output. A failed look fails the test.
 */
#ifndef PTY_TESTLIB_H
#define PTY_TESTLIB_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "strbuf.h"

struct test_pty {
    int fd;
    pid_t pid;
    bool ended; /* all output was read */
};

/* The environment is ours with TERM, and without what tells programs another size. */
void test_pty_start(struct test_pty *pty, const char *const *argv, const char *term, int columns,
                    int rows);
/* Wait at most ms (not scaled) for output and append it; false: none came. */
bool test_pty_read(struct test_pty *pty, struct strbuf *out, int ms);
void test_pty_write(struct test_pty *pty, const char *data, size_t size);
void test_pty_resize(struct test_pty *pty, int columns, int rows);
/* Read to the end, at most ms (scaled); the exit status. */
int test_pty_finish(struct test_pty *pty, struct strbuf *out, int ms);
void test_pty_kill(struct test_pty *pty);

/*
 * The text of a terminal of this size that was sent the bytes, with what scrolled off or without.
 */
void test_tmux_text(const struct strbuf *bytes, int columns, int rows, bool screen_only,
                    struct strbuf *out);
/* Without blanks at ends of lines, and empty lines at the end. */
void test_trim_screen(struct strbuf *text);

#endif
