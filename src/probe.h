/* SPDX-License-Identifier: MIT */
/*
 * Run a small program and take its answer: bounded in size and time, without a signal handler, and
 * no matter who reaps the children of this process. Knows nothing of interpreters.
 */
#ifndef HR_PROBE_H
#define HR_PROBE_H

#include "buf.h"

struct hr_probe_request {
    char *const *argv; /* argv[0] is the path */
    char *const *environment;
    const char *cwd; /* NULL, or no directory: that of this process */
    int timeout_ms;
};

/*
 * The program's answer is what it writes to stdout before a NUL byte; what it writes to stderr is
 * taken too. Its stdin is /dev/null, and it runs in its own session. When the time is over it is
 * killed with its process group. Out and err bound what is taken by their maximum. Returns 0 when a
 * NUL came, ENODATA when the output ended without, ETIMEDOUT, ENOBUFS (too much output), or the
 * errno of a start that failed.
 */
int hr_probe_run(const struct hr_probe_request *request, struct hr_buf *out, struct hr_buf *err);

#endif
