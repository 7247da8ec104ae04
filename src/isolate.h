/* SPDX-License-Identifier: MIT */
/*
 * The command line of bubblewrap for a kernel that is to be apart from the system: read-only but
 * for its own directory, with a private /tmp, without network and other processes. Knows nothing
 * of kernels; Linux only.
 */
#ifndef HR_ISOLATE_H
#define HR_ISOLATE_H

#include <limits.h>
#include <stddef.h>
#include <sys/types.h>

enum { HR_ISOLATE_READABLE = 6, HR_ISOLATE_ARGUMENTS = 80 };

/* All borrowed; NULL where there is none. */
struct hr_isolation {
    const char *start;                         /* where it starts; NULL: in "/" */
    const char *cwd;                           /* may be written, unless it holds the system */
    const char *staging;                       /* so may this */
    const char *readable[HR_ISOLATE_READABLE]; /* what a kernel needs, wherever it lies */
    const char *terminal;                      /* the device that becomes HR_ISOLATE_TERMINAL */
};

#define HR_ISOLATE_TERMINAL "/dev/console"

/* The path of bwrap in ret (PATH_MAX bytes), from $PATH. 0 or ENOENT. */
int hr_isolate_find(char *ret);
/*
 * Write the arguments to argv, from the program's path to "--"; returns how many. They point to the
 * texts of isolation and to fixed ones.
 */
size_t hr_isolate_arguments(const struct hr_isolation *isolation, const char *bwrap, char **argv);

/*
 * The n-th process of a line of first children below pid, as the system names it here: of bwrap 1
 * is the first process in there, 2 what it was started for. 0: none.
 */
pid_t hr_isolate_inner(pid_t pid, int n);

#endif
