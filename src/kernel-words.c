/* SPDX-License-Identifier: MIT */
/* How a kernel's end reads: for errors, and as an exit code. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "kernel-private.h"

static const char *signal_name(int number)
{
    static const char *const names[] = {
        [SIGHUP] = "SIGHUP",   [SIGINT] = "SIGINT",   [SIGQUIT] = "SIGQUIT", [SIGILL] = "SIGILL",
        [SIGTRAP] = "SIGTRAP", [SIGABRT] = "SIGABRT", [SIGBUS] = "SIGBUS",   [SIGFPE] = "SIGFPE",
        [SIGKILL] = "SIGKILL", [SIGUSR1] = "SIGUSR1", [SIGSEGV] = "SIGSEGV", [SIGUSR2] = "SIGUSR2",
        [SIGPIPE] = "SIGPIPE", [SIGALRM] = "SIGALRM", [SIGTERM] = "SIGTERM", [SIGXCPU] = "SIGXCPU",
        [SIGXFSZ] = "SIGXFSZ", [SIGSYS] = "SIGSYS",
    };

    if (number > 0 && (size_t)number < HR_ARRAY_LENGTH(names) && names[number])
        return names[number];
    return "a signal"; /* the number is in exit_code */
}

const char *hr_kernel_describe_death(const struct hr_kernel *kernel, char *text, size_t size)
{
    int status = kernel->exit_status;

    if (!kernel->exit_known)
        snprintf(text, size, "its process ended, cause unknown");
    else if (WIFSIGNALED(status))
        snprintf(text, size, "killed by %s%s", signal_name(WTERMSIG(status)),
                 kernel->out_of_memory ? "; the system was out of memory" : "");
    else
        snprintf(text, size, "exit status %d", WEXITSTATUS(status));
    if (!kernel->exit_known || !WIFSIGNALED(status) || kernel->process.kill_asked)
        return NULL;
    return hr_rlimits_describe_death(&kernel->limits, WTERMSIG(status), kernel->process.cpu_ms,
                                     text, size);
}

static bool begins(const char *line, size_t size, const char *with)
{
    return size >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

/* The end of the lines at `from` that are frames, or say that there are none. */
static size_t frames_end(const char *data, size_t size, size_t from)
{
    static const char none[] = "  <no Python frame>";

    while (from < size && (begins(data + from, size - from, "  File \"") ||
                           begins(data + from, size - from, none))) {
        const char *end = memchr(data + from, '\n', size - from);
        from = end ? (size_t)(end - data) + 1 : size;
    }
    return from;
}

/* Frames are listed innermost first: the runner's, and what started it, stand at the end. */
static size_t users_frames_end(const char *data, size_t from, size_t end)
{
    static const char ours[] = "  File \"<hermes kernel runner>\"", none[] = "  <no Python frame>";

    for (size_t at = from; at < end;) {
        const char *line_end = memchr(data + at, '\n', end - at);

        if (begins(data + at, end - at, ours) || begins(data + at, end - at, none))
            return at;
        at = line_end ? (size_t)(line_end - data) + 1 : end;
    }
    return end;
}

void hr_kernel_trim_crash(struct hr_buf *text)
{
    char *data = text->data;
    size_t kept = 0, at = 0;

    while (at < text->size) {
        const char *line_end = memchr(data + at, '\n', text->size - at);
        size_t next = line_end ? (size_t)(line_end - data) + 1 : text->size;
        bool thread = begins(data + at, next - at, "Thread 0x");
        bool current = begins(data + at, next - at, "Current thread 0x");
        size_t frames = thread || current ? frames_end(data, text->size, next) : next;
        size_t users = thread || current ? users_frames_end(data, next, frames) : next;

        if (thread && users == next && frames > next) {
            at = frames + (frames < text->size && data[frames] == '\n');
            continue;
        }
        memmove(data + kept, data + at, users - at);
        kept += users - at;
        at = frames;
    }
    text->size = kept;
    if (data)
        data[kept] = '\0';
}

int hr_kernel_death_code(const struct hr_kernel *kernel)
{
    if (!kernel->exit_known)
        return -SIGKILL;
    return WIFSIGNALED(kernel->exit_status) ? -WTERMSIG(kernel->exit_status)
                                            : WEXITSTATUS(kernel->exit_status);
}

void hr_kernel_describe_start_failure(const struct hr_kernel *kernel, struct hr_buf *text)
{
    char how[160];

    if (kernel->process.exec_errno) {
        hr_buf_printf(text, "cannot execute %s: %s", kernel->spec->python,
                      strerror(kernel->process.exec_errno));
    } else if (kernel->cause == HERMES_PREVIOUS_TIMEOUT) {
        hr_buf_printf(text, "it was not ready within %gs",
                      (double)kernel->engine->options.start_timeout_ms / 1000);
    } else if (kernel->process.isolated && !kernel->exit_known) {
        hr_buf_add_text(text, "bubblewrap could not isolate it");
    } else {
        hr_kernel_describe_death(kernel, how, sizeof how);
        hr_buf_printf(text, "%s: %s", kernel->spec->python, how);
    }
    if (kernel->start_text.size) {
        hr_buf_add_text(text, "\n");
        hr_buf_add(text, kernel->start_text.data, kernel->start_text.size);
    }
}
