/* SPDX-License-Identifier: MIT */
/* Messages between the engine and a kernel's guard, one a packet; both are of the same build. */
#ifndef HR_GUARD_PROTOCOL_H
#define HR_GUARD_PROTOCOL_H

#include <stdint.h>

enum hr_guard_type {
    HR_GUARD_INTERRUPT =
        1,            /* to the guard: a = signal for the kernel's process group, c = cookie */
    HR_GUARD_KILL,    /* to the guard: a = grace between SIGTERM and SIGKILL in ms */
    HR_GUARD_HOLD,    /* to the guard: when the kernel has ended, wait for PRUNE or KILL */
    HR_GUARD_PRUNE,   /* to the guard: end all but `spared`; a as in KILL. PRUNED follows */
    HR_GUARD_RESUME,  /* to the guard: a = pid of a spared one that is the kernel from now on: it
                               gets SIGCONT. STARTED follows */
    HR_GUARD_STARTED, /* from the guard: a = pid of the kernel */
    HR_GUARD_EXEC_FAILED, /* from the guard: a = errno */
    HR_GUARD_ACK,         /* from the guard: the signal with cookie c was sent; a = 0 or errno */
    HR_GUARD_EXITED,      /* from the guard: a = wait status, b = 1 when out of memory is likely,
                               c = CPU time used in ms */
    HR_GUARD_PRUNED,      /* from the guard: none but the spared are left */
    HR_GUARD_GONE,        /* from the guard: it exits now; a = 0, or how many processes of another
                               user are left that it may not kill */
};

enum { HR_GUARD_SPARED_MAX = 9 };

struct hr_guard_message {
    uint32_t type;
    int32_t a, b;
    uint32_t c;
    int32_t spared[HR_GUARD_SPARED_MAX]; /* pids; 0: none */
};

/* Descriptors at the guard's start. */
#define HR_GUARD_FD_LINK 3
#define HR_GUARD_FD_CONTROL 4
#define HR_GUARD_FD_AUX 5
#define HR_GUARD_FD_REQUESTS 6 /* and in the kernel */
#define HR_GUARD_FD_EXEC 8     /* at its end when the kernel's execve() went well, else an errno */
#define HR_GUARD_FD_HOST 7     /* a pidfd of the host, for a guard that cannot see it */

#endif
