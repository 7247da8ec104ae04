/* SPDX-License-Identifier: MIT */
/*
 * A new process with exactly the descriptors that it is to have, every signal as usual, and a
 * session of its own. Knows nothing of kernels and guards.
 */
#ifndef HR_LAUNCH_H
#define HR_LAUNCH_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct hr_launch_fd {
    int source, target; /* source -1: /dev/null */
    bool duplicated;    /* not for the caller */
};

/*
 * The sources stay the caller's. terminal: path of what becomes 0, 1 and 2 and the controlling
 * terminal, or NULL; cwd NULL: ours. 0 or an errno.
 */
int hr_launch(pid_t *ret_pid, char *const argv[], char *const environment[],
              struct hr_launch_fd *plan, size_t count, const char *terminal, const char *cwd);

/*
 * Sources out of the way of the targets, so that no dup2 overwrites a source still needed; and away
 * with those that were made for that. 0 or an errno.
 */
int hr_launch_lift(struct hr_launch_fd *plan, size_t count);
void hr_launch_drop(struct hr_launch_fd *plan, size_t count);

/* No signal blocked or ignored, and a session of its own where the system can give one. */
int hr_launch_attributes(posix_spawnattr_t *attributes);

#endif
