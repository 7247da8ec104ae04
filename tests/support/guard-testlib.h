/* SPDX-License-Identifier: MIT */
/*
 * A host's part towards a guard, without an engine; and kernels written in C, which are the test
 * program itself with a word as its first argument: "--sleep", "--nasty" (every way to hide that a
 * process has, ten processes or so), "--runaways" and "--bomb". Each writes a line when it is
 * ready.
 */
#ifndef GUARD_TESTLIB_H
#define GUARD_TESTLIB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "guard/guard-protocol.h"
#include "testlib.h"

enum { GT_SOON_MS = 10000 };

/* A guard that this test started, and our ends of its sockets. */
struct guarded {
    pid_t guard, kernel;
    int link, control, aux, output; /* output: what the kernel writes to 1 and 2 */
};

extern struct test_processes *gt_before; /* the processes before the test */

void gt_set_up(void); /* a fixture */

/* Start a guard with this program as its kernel (argv), not waiting for news. */
void gt_start_argv(struct guarded *guarded, bool aux, const char *const *kernel);
/* And wait until it has started. */
void gt_start(struct guarded *guarded, const char *const *kernel);
void gt_start_python(struct guarded *guarded, const char *code);
void gt_start_self(struct guarded *guarded, const char *what);

/* The next message within the time, or type 0 at the end of the link. */
struct hr_guard_message gt_next_message(const struct guarded *guarded);
struct hr_guard_message gt_expect(const struct guarded *guarded, enum hr_guard_type type);
void gt_say(const struct guarded *guarded, enum hr_guard_type type, int a, uint32_t c);
/* What the kernel writes up to and including a newline. */
char *gt_read_line(const struct guarded *guarded);

/* The guard has exited by itself; nothing is left. */
void gt_finish(struct guarded *guarded);
/* After the kernel's end: EXITED with this status, GONE with nobody left, the end. */
void gt_expect_end(struct guarded *guarded, int status);
/* Processes that became our children by their parents' death, and any other child. */
void gt_kill_orphans(void);

void gt_make_pair(int type, int ends[2]);
void gt_sleep_for_ever(void); /* two minutes, lest it stay when a guard fails */

/* The test program's main(): a kernel, or what run() does. */
int gt_main(int argc, char **argv, int (*run)(void));

#endif
