/* SPDX-License-Identifier: MIT */
/*
 * The processes of one kernel: start, signal, kill with everything below, and the news of their
 * end. With a guard (Linux) or by process group (elsewhere, or as built). Knows nothing of cells
 * and frames. No SIGCHLD, no foreign pids.
 *
 * News come from the loop through the three functions of struct hr_process; `gone` is the last.
 */
#ifndef HR_PROCESS_H
#define HR_PROCESS_H

#include <sys/types.h>

#include "api/hermes-kernel.h"
#include "isolate.h"
#include "loop.h"
#include "rlimits.h"

struct hr_process {
    /* set by the owner before the start */
    void (*exited)(struct hr_process *process, int wait_status, bool status_known,
                   bool out_of_memory);
    void (*acknowledged)(
        struct hr_process *process); /* every signal asked for so far has been sent */
    void (*pruned)(struct hr_process *process); /* none but the spared are left */
    void (*gone)(
        struct hr_process *process); /* no process is left; may free the owner later, not here */

    struct hr_loop *loop;
    pid_t child;    /* our direct child: the guard, else Python; 0 once reaped */
    pid_t python;   /* 0 until known */
    pid_t inner;    /* the first process in there, when it is isolated */
    bool isolated;  /* our child is bwrap, and guard and Python name processes otherwise */
    int64_t cpu_ms; /* that Python has used; known with its exit */
    int exec_errno; /* of an interpreter that could not be executed */
    char tree_id[33];
    struct hr_watch link;  /* guard link, else a pidfd */
    int lifeline;          /* without a guard: its death is our death's news */
    bool lifeline_armed;   /* the system sends the signal */
    struct hr_timer timer; /* reaping, grace; the owner reserves it */
    uint32_t signals_asked, signals_sent;
    bool have_exited, kill_asked, finished, holds;
    int grace_ms;
};

struct hr_process_request {
    const char *python;
    const char *command;                            /* source for -c */
    const char *guard;                              /* path of the guard program */
    char *const *environment;                       /* HERMES_TREE_ID must be in it */
    const char *cwd;                                /* NULL: the host's */
    int stdin_fd, stdout_fd, stderr_fd, control_fd; /* the child's ends, borrowed */
    int tools_fd, requests_fd;                      /* -1: none */
    const struct hr_rlimits *limits;
    const struct hr_isolation *isolation; /* NULL: none */
    const char *terminal; /* path of what becomes 0, 1, 2 and the controlling terminal, or NULL */
};

/* Fresh random id for HERMES_TREE_ID. 0 or an errno. */
int hr_process_prepare(struct hr_process *process, struct hr_loop *loop);
/* 0, or HERMES_ESYSTEM, HERMES_ENOENT with text. After a failure nothing is left. */
int hr_process_start(struct hr_process *process, const struct hr_process_request *request,
                     struct hermes_error *error);
/* Signal the kernel's process group; `acknowledged` follows. */
void hr_process_signal(struct hr_process *process, int signal_number);
/*
 * Whether the kernel's own process ignores a signal at this moment (false where that cannot be
 * told).
 */
bool hr_process_ignores(const struct hr_process *process, int signal_number);
/* The kernel may be gone: continue a guard that somebody has stopped, so that it tells. */
void hr_process_wake(struct hr_process *process);
/* Its end is not to be that of what hr_process_prune() will name: wait for that. */
void hr_process_hold(struct hr_process *process);
/* End everything but these processes, as hr_process_kill() does; `pruned` follows. */
void hr_process_prune(struct hr_process *process, const pid_t *spared, size_t count, int grace_ms);
/* One of them, woken by SIGCONT, is the kernel from now on. */
void hr_process_resume(struct hr_process *process, pid_t pid);
/* End everything: SIGTERM, and SIGKILL after the grace. May be asked again. */
void hr_process_kill(struct hr_process *process, int grace_ms);

#endif
