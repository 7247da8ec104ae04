/* SPDX-License-Identifier: MIT */
/*
 * The processes below the guard, found by their parents in /proc and signalled without hitting a
 * stranger; and what else /proc tells. Knows nothing of the kernel or the host.
 */
#ifndef HR_GUARD_DESCENDANTS_H
#define HR_GUARD_DESCENDANTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Descriptor of a process, close-on-exec, or -1. */
int hr_guard_pidfd(pid_t pid);

/* From now on none of these is taken for a descendant, up to the first 0. */
void hr_descendants_spare(const int32_t *pids, size_t count);

/* How many live; -1: they cannot be listed now. */
int hr_descendants_count(void);

/* SIGTERM to each descendant, and SIGCONT, since a stopped one could not take it. */
void hr_descendants_terminate(void);

/*
 * Stop all descendants until none runs that could fork, then SIGKILL them. Some may escape, by
 * having forked at a bad moment: repeat until there are no children left. Returns how many may not
 * be killed (another user's), or -1 when the processes can't be listed now.
 */
int hr_descendants_kill(void);

/* How often the out-of-memory killer struck: in our control group if that counts, else anywhere. */
unsigned long long hr_guard_oom_kills(void);

#endif
