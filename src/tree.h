/* SPDX-License-Identifier: MIT */
/*
 * The net below the guard: finds by a mark in their environment, or by their session, what outlived
 * it. Linux only.
 */
#ifndef HR_TREE_H
#define HR_TREE_H

#include <sys/types.h>

/*
 * SIGKILL every process that has HERMES_TREE_ID=id in its initial environment, or belongs to
 * session (0: none). Returns how many.
 */
int hr_tree_kill(const char *id, pid_t session);

#endif
