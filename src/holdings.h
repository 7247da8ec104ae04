/* SPDX-License-Identifier: MIT */
/*
 * What a process would go on holding while it is stopped, as /proc tells: asked of a kernel before
 * it is parked. Knows nothing of kernels. Where there is no /proc nothing can be told.
 */
#ifndef HR_HOLDINGS_H
#define HR_HOLDINGS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * NULL: nothing that somebody could wait for; else what, as "listens on a port". guard: its parent,
 * or 0. Neither has other children then than those that are known.
 */
const char *hr_holdings_of(pid_t pid, pid_t guard, const pid_t *known, size_t count);

/* Bytes of memory that it shares with no file and no other process, about; -1: cannot be told. */
int64_t hr_holdings_memory(pid_t pid);

#endif
