/* SPDX-License-Identifier: MIT */
/*
 * What the libcheck programs share: waiting with a deadline, a directory per test, and looks at
 * what a test leaves behind (descriptors, processes). A failed look fails the test. Linux only
 * where it reads /proc.
 */
#ifndef TESTLIB_H
#define TESTLIB_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

/* Run the suite and remove all its directories: what main() returns. */
int test_run(Suite *suite);

/* Valgrind keeps what is freed, and makes system calls of its own: some sums are not ours then. */
bool test_in_valgrind(void);

/* ---- time ------------------------------------------------------------------------------- */

int64_t test_now_ms(void);
int test_scaled_ms(int ms); /* longer under sanitizers: times CK_TIMEOUT_MULTIPLIER */
void test_pause_ms(int ms); /* between two looks; not to hope */

/* Look at the condition until it is true, at most ms (scaled). Whether it became true. */
#define test_wait(condition, ms)                                                                   \
    __extension__({                                                                                \
        int64_t test_end_ = test_now_ms() + test_scaled_ms(ms);                                    \
        bool test_met_;                                                                            \
        while (!(test_met_ = (condition)) && test_now_ms() < test_end_)                            \
            test_pause_ms(1);                                                                      \
        test_met_;                                                                                 \
    })

/* ---- files ------------------------------------------------------------------------------ */

const char *test_python(void);                 /* $TEST_PYTHON, else /usr/bin/python3 */
const char *test_build_path(const char *name); /* a file in the top build directory */
const char *test_directory(void);              /* this test's own, empty at first */
/* A path below it, as printf. Good until 32 others were asked for. */
const char *test_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
void test_write_file(const char *path, const char *text, mode_t mode);
char *test_read_file(const char *path); /* free(); NULL: none */
bool test_exists(const char *path);     /* links are not followed */
void test_remove_tree(const char *path);

/* ---- descriptors ------------------------------------------------------------------------ */

enum { TEST_FDS_MAX = 1024 };

struct test_fds {
    bool open[TEST_FDS_MAX];
};

void test_fds_take(struct test_fds *before);
void test_fds_check(const struct test_fds *before); /* none more and none less is open now */

/* ---- processes -------------------------------------------------------------------------- */

struct test_processes; /* those there were */

/*
 * From here on orphans of this process's tree become its children, so that nothing it starts can
 * hide. Every process that is started inherits a mark in its environment, too, for those that some
 * other subreaper takes.
 */
struct test_processes *test_processes_take(void);
/* How many processes are new since then: living descendants of this process, and living ones with
 * the mark. */
int test_processes_new(const struct test_processes *before);
/* None new may live after at most ms (scaled). Reaps and frees. */
void test_processes_check(struct test_processes *before, int ms);

bool test_process_lives(
    pid_t pid); /* exists and is no zombie (with other threads running it is none) */
char test_process_state(pid_t pid); /* 'R', 'S', 'T', 'Z' ...; 0: does not exist */
pid_t test_process_parent(pid_t pid);
int test_count_children(pid_t parent, char state);                  /* of that state; 0: any */
int test_list_children(pid_t parent, pid_t *ret_list, int maximum); /* how many there are */

/*
 * Start a program with descriptors fds[0..n-1] as its 0..n-1 (-1: closed) and nothing else open,
 * signals as they were at first. environment NULL: ours.
 */
pid_t test_spawn(const char *const *argv, const int *fds, int n, char *const *environment);
/* The wait status of a child; fails the test after ms (scaled). */
int test_reap(pid_t pid, int ms);

#endif
