/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "rlimits.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "alloc.h"
#include "list.h"

enum { MIB = 1 << 20, CPU_GRACE_S = 1 };

/*
 * Memory: data, not address space, which interpreters and libraries reserve much of that they never
 * touch. On Linux that is private memory which can be written, the heap as well as mappings.
 */
static const struct limit {
    int resource;
    int64_t unit;
    size_t offset;
    const char *option, *words, *unit_words;
    const char *signs[3]; /* what an exception says when it was met */
} rows[] = {
    [HR_RLIMIT_MEMORY] = {RLIMIT_DATA,
                          MIB,
                          offsetof(struct hr_options, memory_limit),
                          "memory_limit",
                          "memory limit",
                          " MiB",
                          {"MemoryError", "Cannot allocate memory"}},
    [HR_RLIMIT_CPU] = {RLIMIT_CPU,
                       1,
                       offsetof(struct hr_options, cpu_limit),
                       "cpu_limit",
                       "CPU time limit",
                       " s",
                       {NULL}},
    [HR_RLIMIT_PROCESSES] = {RLIMIT_NPROC,
                             1,
                             offsetof(struct hr_options, process_limit),
                             "process_limit",
                             "process limit",
                             "",
                             {"[Errno 11] Resource temporarily", "can't start new thread"}},
    [HR_RLIMIT_FILE_SIZE] = {RLIMIT_FSIZE,
                             MIB,
                             offsetof(struct hr_options, file_size_limit),
                             "file_size_limit",
                             "file size limit",
                             " MiB",
                             {"[Errno 27] File too large", "SIGXFSZ"}},
    [HR_RLIMIT_OPEN_FILES] = {RLIMIT_NOFILE,
                              1,
                              offsetof(struct hr_options, open_files_limit),
                              "open_files_limit",
                              "open files limit",
                              "",
                              {"[Errno 24] Too many open files"}},
};
_Static_assert(HR_ARRAY_LENGTH(rows) == HR_RLIMIT_COUNT, "a limit without a row");

void hr_rlimits_take(struct hr_rlimits *limits, const struct hr_options *options)
{
    for (size_t i = 0; i < HR_RLIMIT_COUNT; i++)
        limits->value[i] = *(const int64_t *)(const void *)((const char *)options + rows[i].offset);
}

/* Of CPU time the soft limit is told by a signal, which may be caught; a second later none is. */
static uint64_t soft_of(const struct hr_rlimits *limits, size_t kind)
{
    return (uint64_t)(limits->value[kind] * rows[kind].unit);
}

static uint64_t hard_of(const struct hr_rlimits *limits, size_t kind)
{
    return soft_of(limits, kind) + (kind == HR_RLIMIT_CPU ? CPU_GRACE_S : 0);
}

bool hr_rlimits_text(const struct hr_rlimits *limits, enum hr_rlimit_kind kind,
                     char text[HR_RLIMIT_TEXT_SIZE])
{
    if (limits->value[kind])
        snprintf(text, HR_RLIMIT_TEXT_SIZE, "%d:%" PRIu64 ":%" PRIu64, rows[kind].resource,
                 soft_of(limits, kind), hard_of(limits, kind));
    return limits->value[kind] != 0;
}

#ifdef HERMES_NO_GUARD
int hr_rlimits_apply(const struct hr_rlimits *limits, int pid)
{
    for (size_t i = 0; i < HR_RLIMIT_COUNT; i++) {
        struct rlimit limit = {soft_of(limits, i), hard_of(limits, i)}, old;

        if (!limits->value[i])
            continue;
#ifdef __linux__
        if (prlimit(pid, rows[i].resource, NULL, &old))
            return errno;
        if (limit.rlim_max > old.rlim_max)
            limit.rlim_max = old.rlim_max;
        if (limit.rlim_cur > limit.rlim_max)
            limit.rlim_cur = limit.rlim_max;
        if (prlimit(pid, rows[i].resource, &limit, NULL))
            return errno;
#else
        (void)pid, (void)old, (void)limit;
        return ENOSYS;
#endif
    }
    return 0;
}
#endif

const char *hr_rlimits_describe_death(const struct hr_rlimits *limits, int signal_number,
                                      int64_t cpu_ms, char *text, size_t size)
{
    const int64_t *value = limits->value;

    if (value[HR_RLIMIT_CPU] &&
        (signal_number == SIGXCPU ||
         (signal_number == SIGKILL && cpu_ms >= value[HR_RLIMIT_CPU] * 1000))) {
        snprintf(text, size, "CPU time limit of %" PRId64 " s, %s", value[HR_RLIMIT_CPU],
                 signal_number == SIGXCPU ? "SIGXCPU" : "SIGKILL");
        return rows[HR_RLIMIT_CPU].option;
    }
    if (value[HR_RLIMIT_FILE_SIZE] && signal_number == SIGXFSZ) {
        snprintf(text, size, "file size limit of %" PRId64 " MiB, SIGXFSZ",
                 value[HR_RLIMIT_FILE_SIZE]);
        return rows[HR_RLIMIT_FILE_SIZE].option;
    }
    if (value[HR_RLIMIT_MEMORY] &&
        (signal_number == SIGABRT || signal_number == SIGSEGV || signal_number == SIGBUS)) {
        size_t said = strlen(text); /* C code that gets no memory ends in such a way, or another */

        snprintf(text + said, size - said, "; there is a memory limit of %" PRId64 " MiB",
                 value[HR_RLIMIT_MEMORY]);
    }
    return NULL;
}

const char *hr_rlimits_of_exception(const struct hr_rlimits *limits, const char *traceback,
                                    size_t size, char **ret_hint)
{
    for (size_t i = 0; i < HR_RLIMIT_COUNT; i++) {
        for (size_t n = 0; limits->value[i] && n < HR_ARRAY_LENGTH(rows[i].signs); n++) {
            const char *sign = rows[i].signs[n];

            if (!sign || !memmem(traceback, size, sign, strlen(sign)))
                continue;
            *ret_hint =
                hr_printf("This session has a %s of %" PRId64 "%s (option %s).", rows[i].words,
                          limits->value[i], rows[i].unit_words, rows[i].option);
            return rows[i].option;
        }
    }
    return NULL;
}
