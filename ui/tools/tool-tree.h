/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ends all that a command has started. Linux: found in /proc by session, process group, parents and
 * a mark in the environment. Elsewhere: the process group.
 */
#ifndef UI_TOOL_TREE_H
#define UI_TOOL_TREE_H

#include <sys/types.h>

/* "NAME=value" that marks the processes of one command. */
#define TOOL_TREE_VARIABLE "HERMES_TOOL_ID"

/*
 * SIGTERM, then after at most grace_ms SIGKILL, to the session that root leads; with a mark, also
 * to root's descendants and to whatever carries the mark. root must not be reaped yet; 0: it is not
 * known, and the mark decides. Returns how many there were beside root.
 */
int tool_tree_end(pid_t root, const char *mark, int grace_ms);

#endif
