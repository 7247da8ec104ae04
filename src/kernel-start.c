/* SPDX-License-Identifier: MIT */
/*
 * The start of a kernel: channels, environment, process; and its memory's end. Every path unwinds
 * completely.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "boot-source.h"
#include "env.h"
#include "kernel-private.h"
#include "requests.h"
#include "staging.h"
#include "tools.h"

enum { PIPE_SIZE = 256 << 10 };

static void start_took_too_long(struct hr_timer *timer)
{
    hr_kernel_kill(HR_CONTAINER(timer, struct hr_kernel, stop), HERMES_PREVIOUS_TIMEOUT);
}

void hr_kernel_limit_start(struct hr_kernel *kernel)
{
    hr_timer_start(kernel->engine->loop, &kernel->stop,
                   hr_after_ms(kernel->engine->options.start_timeout_ms), start_took_too_long);
}

static int open_pipe(struct hr_kernel *kernel, int number, int *ret_write)
{
    struct hr_stream *stream = &kernel->streams[number - 1];
    int ends[2];

    if (HR_FAULT(HR_FAULT_PIPE) || pipe2(ends, O_CLOEXEC))
        return errno ? errno : EMFILE;
#ifdef F_SETPIPE_SZ
    if (number == 1)
        fcntl(ends[1], F_SETPIPE_SZ,
              PIPE_SIZE); /* best effort: fewer switches when much is written */
#endif
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    stream->number = number;
    stream->kernel = kernel;
    if (hr_watch_add(kernel->engine->loop, &stream->watch, ends[0], HR_READ,
                     hr_kernel_stream_ready)) {
        close(ends[0]);
        close(ends[1]);
        return ENOMEM;
    }
    *ret_write = ends[1];
    return 0;
}

static int open_channels(struct hr_kernel *kernel, struct hr_process_request *request)
{
    int pair[2], error;

    if (HR_FAULT(HR_FAULT_SOCKET) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return errno ? errno : EMFILE;
    request->control_fd = pair[1];
    error = hr_watch_add(kernel->engine->loop, &kernel->control, pair[0], HR_READ,
                         hr_kernel_control_ready);
    if (error) {
        close(pair[0]);
        return error;
    }
    if (kernel->spec->requests) {
        error = hr_requests_open(kernel, &request->requests_fd);
        if (error)
            return error;
    }
    if (kernel->spec->io == HERMES_IO_TTY) {
        error = hr_tty_open(kernel, &request->stdout_fd);
        request->terminal = kernel->tty ? kernel->tty->path : NULL;
        request->stderr_fd = request->stdout_fd;
        return error;
    }
    error = open_pipe(kernel, 1, &request->stdout_fd);
    if (!error && kernel->spec->io == HERMES_IO_ONE_PIPE)
        request->stderr_fd = request->stdout_fd;
    else if (!error)
        error = open_pipe(kernel, 2, &request->stderr_fd);
    request->stdin_fd = kernel->spec->stdin_source == HERMES_STDIN_INHERIT ? STDIN_FILENO : -1;
    return error;
}

char **hr_kernel_environment(const struct hr_kernel *kernel, const struct hr_spec *spec)
{
    extern char **environ;
    /* a terminal's size is asked of itself, where it is right after a change too */
    const char *set[] = {"HERMES_TREE_ID",
                         kernel->process.tree_id,
                         "TERM",
                         spec->terminal,
                         "COLUMNS",
                         NULL,
                         "LINES",
                         NULL,
                         NULL};
    struct hr_env_request request = {
        .policy = spec->env,
        .host = environ,
        .passthrough = kernel->engine->options.env_passthrough,
        .set = set,
        .pythonpath_first = hr_tools_wanted(spec) ? kernel->staging : NULL,
        .delegated_child = spec->owner->child != NULL,
    };

    if (spec->io != HERMES_IO_TTY)
        set[2] = NULL;
    return hr_env_build(&request);
}

/* Close the child's ends; the process has its own. */
static void close_ends(struct hr_process_request *request)
{
    int ends[] = {request->control_fd, request->tools_fd, request->requests_fd, request->stdout_fd,
                  request->stderr_fd == request->stdout_fd ? -1 : request->stderr_fd};

    for (size_t i = 0; i < HR_ARRAY_LENGTH(ends); i++)
        if (ends[i] >= 0)
            close(ends[i]);
}

const char *hr_kernel_directory(const struct hr_kernel *kernel)
{
    const struct hr_spec *spec = kernel->spec;

    if (*spec->cwd)
        return spec->cwd;
    return spec->mode == HERMES_MODE_STRICT ? kernel->staging : NULL;
}

/*
 * What `ps` shows stays short: the bootstrap itself stands in the socket before the process starts.
 * It went in whole and by itself, so one read of its size takes it. Compiled, where an
 * interpreter's code is kept: to compile it takes a new interpreter longer than all that it does.
 */
static int send_bootstrap(struct hr_kernel *kernel, char *command, size_t size)
{
    size_t kept_size = 0;
    char *kept = hr_runner_code_boot(kernel->engine->runner, kernel->spec->python, &kept_size);
    const char *boot = kept ? kept : HR_BOOT_SOURCE;
    size_t boot_size = kept ? kept_size : sizeof HR_BOOT_SOURCE - 1;
    ssize_t sent = send(kernel->control.fd, boot, boot_size, MSG_NOSIGNAL | MSG_DONTWAIT);
    int failed = sent == (ssize_t)boot_size ? 0 : errno ? errno : EIO;

    snprintf(command, size,
             kept ? "exec(__import__('marshal').loads(__import__('posix').read(3,%zu)))"
                  : "exec(__import__('posix').read(3,%zu))",
             boot_size);
    hr_free(kept);
    return failed;
}

#ifdef HERMES_NO_GUARD

static int isolate(struct hr_kernel *kernel, struct hr_isolation *isolation,
                   struct hermes_error *error)
{
    (void)kernel, (void)isolation;
    return hr_error_set(error, HERMES_ESYSTEM, ENOSYS,
                        "this library was built without what isolated kernels need");
}

#else

/* The directory that holds an interpreter and its library: /usr of /usr/bin/python3. */
static char *prefix_of(const char *python)
{
    char *prefix = hr_strdup(python);

    for (int i = 0; i < 2 && prefix; i++)
        *(strrchr(prefix, '/') ? strrchr(prefix, '/') : prefix) = '\0';
    return prefix;
}

static int isolate(struct hr_kernel *kernel, struct hr_isolation *isolation,
                   struct hermes_error *error)
{
    char bwrap[PATH_MAX];

    if (hr_isolate_find(bwrap))
        return hr_error_set(error, HERMES_ENOENT, ENOENT,
                            "isolate: bwrap is not found on PATH; install bubblewrap");
    kernel->prefix = prefix_of(kernel->spec->python);
    if (!kernel->prefix)
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    isolation->staging = kernel->staging;
    isolation->readable[0] = kernel->engine->guard;
    isolation->readable[1] = hr_runner_code_directory(kernel->engine->runner);
    isolation->readable[2] = kernel->engine->tool_directory;
    isolation->readable[3] = *kernel->prefix ? kernel->prefix : NULL;
    isolation->readable[4] = kernel->spec->path0;
    return 0;
}

#endif

static int start_process(struct hr_kernel *kernel, struct hermes_error *error)
{
    struct hr_isolation isolation = {.cwd = NULL};
    char command[80];
    struct hr_process_request request = {
        .limits = &kernel->limits,
        .python = kernel->spec->python,
        .command = command,
        .guard = kernel->engine->guard,
        .stdin_fd = -1,
        .stdout_fd = -1,
        .stderr_fd = -1,
        .control_fd = -1,
        .tools_fd = -1,
        .requests_fd = -1,
    };
    char **environment = NULL;
    int failed = 0, status = hr_tools_wanted(kernel->spec)
                                 ? hr_tools_open(kernel, &request.tools_fd, error)
                                 : 0;

    if (!status) {
        environment = hr_kernel_environment(kernel, kernel->spec);
        failed = environment ? open_channels(kernel, &request) : ENOMEM;
    }
    if (!status && !failed)
        failed = send_bootstrap(kernel, command, sizeof command);
    request.environment = environment;
    request.cwd = hr_kernel_directory(kernel);
    isolation.cwd = request.cwd;
    isolation.terminal = request.terminal;
    if (kernel->engine->options.isolate && !status && !failed) {
        status = isolate(kernel, &isolation, error);
        request.isolation = &isolation;
    }
    kernel->moves = hr_interp_is_shadowed(request.cwd);
    if (kernel->moves)
        request.cwd = "/";
    isolation.start = request.cwd;
    if (failed)
        status = hr_error_set(error, failed == ENOMEM ? HERMES_ENOMEM : HERMES_ESYSTEM, failed,
                              "cannot make the kernel's channels: %s", strerror(failed));
    else if (!status)
        status = hr_process_start(&kernel->process, &request, error);
    close_ends(&request);
    hr_env_free(environment);
    return status;
}

/* It stays valid to ask for after the kernel has gone. */
static void keep_authority(struct hr_kernel *kernel)
{
    struct hermes_engine *engine = kernel->engine;

    if (!kernel->authority)
        return;
    hermes_authority_unref(engine->dead[engine->dead_next].authority);
    engine->dead[engine->dead_next].kernel = kernel->id;
    engine->dead[engine->dead_next].authority = kernel->authority;
    engine->dead_next = (engine->dead_next + 1) % HR_DEAD_AUTHORITIES;
}

void hr_kernel_free(struct hr_kernel *kernel)
{
    hr_list_remove(&kernel->link);
    hr_timer_release(kernel->engine->loop, HR_KERNEL_TIMERS);
    kernel->spec->owner->kernels--;
    hr_spec_unref(kernel->engine, kernel->spec);
    hr_buf_done(&kernel->in);
    hr_buf_done(&kernel->out);
    hr_buf_done(&kernel->crash);
    hr_buf_done(&kernel->start_text);
    hr_collector_free(kernel->background);
    hr_tty_free(kernel);
    hr_requests_free(kernel);
    hr_free(kernel->staging);
    hr_free(kernel->prefix);
    hr_free(kernel->tool_token);
    hr_free(kernel->no_checkpoint);
    hr_spare_free(kernel);
    keep_authority(kernel);
    hr_free(kernel);
}

static struct hr_kernel *kernel_alloc(struct hermes_engine *engine, struct hr_spec *spec)
{
    struct hr_kernel *kernel = hr_calloc(1, sizeof *kernel);

    if (!kernel)
        return NULL;
    if (!hr_timer_reserve(engine->loop, HR_KERNEL_TIMERS)) {
        hr_free(kernel);
        return NULL;
    }
    kernel->engine = engine;
    kernel->spec = spec;
    hr_rlimits_take(&kernel->limits, &engine->options);
    spec->references++;
    spec->owner->kernels++;
    kernel->control.fd = kernel->streams[0].watch.fd = kernel->streams[1].watch.fd = -1;
    hr_buf_init(&kernel->in, HR_FRAME_DISPLAY_MAX + HR_FRAME_HEADER_SIZE + HR_SCRATCH_SIZE);
    hr_list_init(&kernel->link);
    hr_list_init(&kernel->queue);
    kernel->process.exited = hr_kernel_process_exited;
    kernel->process.acknowledged = hr_kernel_process_acknowledged;
    kernel->process.pruned = hr_checkpoint_pruned;
    kernel->process.gone = hr_kernel_process_gone;
    return kernel;
}

/* What a start needs from the installation. */
static int find_parts(struct hermes_engine *engine, struct hermes_error *error)
{
    int status = hr_runner_code_load(engine->runner, engine->options.runner, error);

#ifndef HERMES_NO_GUARD
    if (!status && !engine->guard) {
        engine->guard =
            hr_find_installed(engine->options.guard, "hermes-kernel-guard", "src/guard");
        if (!engine->guard)
            status =
                hr_error_set(error, HERMES_ENOENT, 0,
                             "hermes-kernel-guard is not found%s%.150s; set the option \"guard\"",
                             *engine->options.guard ? " at " : "", engine->options.guard);
    }
#endif
    return status;
}

int hr_kernel_spawn(struct hermes_engine *engine, struct hr_spec *spec, struct hr_kernel **ret,
                    struct hermes_error *error)
{
    struct hr_kernel *kernel;
    int failed, status = find_parts(engine, error);

    if (status)
        return status;
    kernel = kernel_alloc(engine, spec);
    if (!kernel)
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    failed = hr_process_prepare(&kernel->process, engine->loop);
    status = failed ? hr_error_set(error, HERMES_ESYSTEM, failed, "no random numbers: %s",
                                   strerror(failed))
                    : 0;
    if (!status && spec->mode == HERMES_MODE_STRICT && !*spec->cwd) {
        if (!engine->swept)
            hr_staging_sweep(NULL);
        engine->swept = true;
        status = hr_staging_create(&kernel->staging, error);
    }
    if (!status)
        status = start_process(kernel, error);
    if (status) {
        hr_tools_close(kernel);
        hr_kernel_close_channels(kernel);
        if (kernel->staging)
            hr_staging_remove(kernel->staging);
        hr_kernel_free(kernel);
        return status;
    }
    hr_list_append(&engine->kernels, &kernel->link);
    hr_kernel_limit_start(kernel);
    *ret = kernel;
    return 0;
}

void hr_kernel_introduce(struct hr_kernel *kernel)
{
    struct hr_owner *owner = kernel->spec->owner;

    kernel->id = hr_engine_id(kernel->engine);
    kernel->generation = ++owner->generation;
    kernel->pinned = owner->child != NULL;
    kernel->started_ns = kernel->last_used_ns = hr_now_ns();
    kernel->started_boot_ns = hr_boot_ns();
    kernel->listed = true;
    hr_event_kernel(kernel);
}

int hr_kernel_new(struct hermes_engine *engine, struct hr_spec *spec, struct hr_kernel **ret,
                  struct hermes_error *error)
{
    struct hr_kernel *kernel = NULL;
    int failed, status = hr_kernel_spawn(engine, spec, &kernel, error);

    if (!kernel)
        return status;
    hr_kernel_introduce(kernel);
    failed = hr_engine_need_thread(engine);
    if (failed) {
        kernel->listed = false; /* it never served anybody */
        hr_kernel_kill(kernel, HERMES_PREVIOUS_DIED);
        return hr_error_set(error, HERMES_ESYSTEM, failed, "cannot start a thread: %s",
                            strerror(failed));
    }
    *ret = kernel;
    return 0;
}
