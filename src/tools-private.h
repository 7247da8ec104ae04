/* SPDX-License-Identifier: MIT */
/* What the two files of the tool channel share. */
#ifndef HR_TOOLS_PRIVATE_H
#define HR_TOOLS_PRIVATE_H

#include "tools.h"

struct hr_tool_peer {
    struct hr_link link;
    struct hermes_engine *engine;
    struct hr_kernel *kernel; /* of an inherited socket; NULL: told by the token */
    pid_t pid;                /* of a path socket's other end */
    int64_t started_ticks;    /* of that process; 0: it had gone by then */
    struct hr_watch watch;
    struct hr_buf in, out;
    bool skipping; /* the rest of an oversized line */
};

/* tools.c */
struct hr_tool_peer *hr_tool_peer_new(struct hermes_engine *engine,
                                      int fd); /* NULL: out of memory */
void hr_tool_peer_close(struct hr_tool_peer *peer);
/* Start of a process in clock ticks since boot, 0 when it cannot be told. */
int64_t hr_process_started_ticks(pid_t pid);

#endif
