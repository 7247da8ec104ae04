/* SPDX-License-Identifier: MIT */
/*
 * How a new process becomes the kernel: what the guard's command line says of it, and the way from
 * the fork to execve(). For the guard, and for what starts both (guard-launch.h).
 */
#ifndef HR_KERNEL_PROCESS_H
#define HR_KERNEL_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

enum { HR_GUARD_LIMITS_MAX = 8 };

/* What the command line says of the kernel. */
struct hr_guard_options {
    bool aux, requests, host;
    pid_t kernel;         /* it runs already; 0: it is to be started */
    const char *terminal; /* NULL: none */
    struct {
        int resource;
        struct rlimit value;
    } limits[HR_GUARD_LIMITS_MAX];
    size_t limit_count;
    char **argv;
};

/* false: no command line of ours. */
bool hr_guard_read_options(int argc, char **argv, struct hr_guard_options *options);

/*
 * In the new process, with the descriptors of the guard's start: become the kernel, if its parent
 * is that guard. Returns only with the errno of a failure. All memory may be the parent's (vfork).
 */
int hr_guard_become_kernel(const struct hr_guard_options *options, pid_t guard,
                           char *const environment[]);

/* Every signal as usual. For a new process: it has none of the caller's handlers then. */
void hr_guard_reset_signals(void);

/* Nothing from there on stays open in what is executed. */
void hr_guard_close_on_exec(unsigned first_fd);

#endif
