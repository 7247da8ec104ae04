/* SPDX-License-Identifier: MIT */
/*
 * A kernel and its guard, started at once: the process that is to be the guard starts the kernel
 * before it executes its own program, so that the interpreter does not wait for that. Who is whose
 * child, and what each holds, is the same as when the guard starts the kernel. Linux only.
 */
#ifndef HR_GUARD_LAUNCH_H
#define HR_GUARD_LAUNCH_H

#include <sys/types.h>

#include "launch.h"

/* What argv is to have for the option -k; its value is written there. */
enum { HR_GUARD_PID_SIZE = 16 };

/*
 * argv: the guard's command line, with pid_text as the value of -k; both get the environment. 0 or
 * an errno; after a failure nothing is left.
 */
int hr_guard_launch(pid_t *ret_pid, char **argv, char *pid_text, char *const environment[],
                    struct hr_launch_fd *plan, size_t count, const char *cwd);

#endif
