/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small process beside each command of a tool. When the program dies before the command, in
 * whatever way, it ends the command with all that it has started. Nothing else sees to that: what
 * the program would do at its own end it cannot do any more.
 */
#ifndef UI_TOOLS_TOOL_KEEPER_H
#define UI_TOOLS_TOOL_KEEPER_H

#include <sys/types.h>

struct tool_keeper {
    pid_t pid; /* 0: there is none */
    int line;  /* its end is ours */
};

/* Before the command starts, which will have the mark in its environment. Without one things go on. */
void tool_keeper_start(struct tool_keeper *keeper, const char *mark);
/* The command runs, as this process. */
void tool_keeper_tell(const struct tool_keeper *keeper, pid_t root);
/* The command has ended. */
void tool_keeper_end(struct tool_keeper *keeper);

#endif
