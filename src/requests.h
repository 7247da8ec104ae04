/* SPDX-License-Identifier: MIT */
/*
 * Questions to a kernel beside its cells: hermes_request(), over a socket of their own, which a
 * thread of the runner reads. Each gets exactly one answer, from there or from here: too late, or
 * the kernel has gone. Knows nothing of what is asked.
 */
#ifndef HR_REQUESTS_H
#define HR_REQUESTS_H

#include "kernel.h"

struct hr_requests {
    struct hr_kernel *kernel;
    struct hr_watch watch;
    struct hr_buf in, out;
    struct hr_link waiting; /* struct hr_request, oldest first */
    size_t count;
    struct hr_timer timer; /* the earliest limit */
    bool announced;        /* the runner knows that somebody asks */
};

/* Set a kernel up: its end of the socket in *ret_child_fd. 0 or an errno. */
int hr_requests_open(struct hr_kernel *kernel, int *ret_child_fd);
/* The kernel has ended: answer what is open. */
void hr_requests_close(struct hr_kernel *kernel);
/* Answer all that waits; another process has the other end now. */
void hr_requests_restart(struct hr_kernel *kernel);
void hr_requests_free(struct hr_kernel *kernel);

#endif
