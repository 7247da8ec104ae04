/* SPDX-License-Identifier: MIT */
/*
 * What a kernel and each of its processes may use of the machine, as resource limits (setrlimit):
 * from the options, for the guard's command line, and in words when one was met. Knows nothing of
 * kernels. A limit keeps accidents small; it is no sandbox.
 */
#ifndef HR_RLIMITS_H
#define HR_RLIMITS_H

#include <stdbool.h>
#include <stddef.h>

#include "buf.h"
#include "options.h"

enum hr_rlimit_kind {
    HR_RLIMIT_MEMORY,
    HR_RLIMIT_CPU,
    HR_RLIMIT_PROCESSES,
    HR_RLIMIT_FILE_SIZE,
    HR_RLIMIT_OPEN_FILES,
    HR_RLIMIT_COUNT
};

/* As they were when the kernel started, in the units of the options; 0: none. */
struct hr_rlimits {
    int64_t value[HR_RLIMIT_COUNT];
};

void hr_rlimits_take(struct hr_rlimits *limits, const struct hr_options *options);

/*
 * "RESOURCE:SOFT:HARD" for setrlimit(), as the guard's option -r takes it; false: that limit is not
 * set.
 */
enum { HR_RLIMIT_TEXT_SIZE = 64 };
bool hr_rlimits_text(const struct hr_rlimits *limits, enum hr_rlimit_kind kind,
                     char text[HR_RLIMIT_TEXT_SIZE]);
/* Without a guard: set them for a process that has just been started. 0 or an errno. */
int hr_rlimits_apply(const struct hr_rlimits *limits, int pid);

/*
 * Say in words that a process which a signal ended after so much CPU time met a limit, or may have.
 * Returns the option of one that was met for certain, else NULL; text is changed if there is
 * something to say.
 */
const char *hr_rlimits_describe_death(const struct hr_rlimits *limits, int signal_number,
                                      int64_t cpu_ms, char *text, size_t size);

/*
 * Say which limit an exception tells of: returns its option and a hint (hr_free()), or NULL: none.
 */
const char *hr_rlimits_of_exception(const struct hr_rlimits *limits, const char *traceback,
                                    size_t size, char **ret_hint);

#endif
