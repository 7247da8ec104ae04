/* SPDX-License-Identifier: MIT */
/*
 * The start of a kernel: channels, environment, process; and its memory's end. Every path unwinds completely.
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
#include "staging.h"

enum { PIPE_SIZE = 256 << 10 };

static void start_took_too_long(struct hr_timer *timer)
{
    hr_kernel_kill(HR_CONTAINER(timer, struct hr_kernel, stop), HERMES_PREVIOUS_TIMEOUT);
}

static int open_pipe(struct hr_kernel *kernel, int number, int *ret_write)
{
    struct hr_stream *stream = &kernel->streams[number - 1];
    int ends[2];

    if (HR_FAULT(HR_FAULT_PIPE) || pipe2(ends, O_CLOEXEC))
        return errno ? errno : EMFILE;
#ifdef F_SETPIPE_SZ
    if (number == 1)
        fcntl(ends[1], F_SETPIPE_SZ, PIPE_SIZE); /* best effort: fewer switches when much is written */
#endif
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    stream->number = number;
    stream->kernel = kernel;
    if (hr_watch_add(kernel->engine->loop, &stream->watch, ends[0], HR_READ, hr_kernel_stream_ready)) {
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
    error = hr_watch_add(kernel->engine->loop, &kernel->control, pair[0], HR_READ, hr_kernel_control_ready);
    if (error) {
        close(pair[0]);
        return error;
    }
    error = open_pipe(kernel, 1, &request->stdout_fd);
    if (!error && kernel->spec->io != HERMES_IO_ONE_PIPE)
        error = open_pipe(kernel, 2, &request->stderr_fd);
    request->stdin_fd = kernel->spec->stdin_source == HERMES_STDIN_INHERIT ? STDIN_FILENO : -1;
    return error;
}

static char **make_environment(struct hr_kernel *kernel)
{
    extern char **environ;
    const struct hr_spec *spec = kernel->spec;
    const char *set[] = {"HERMES_TREE_ID", kernel->process.tree_id, NULL};
    struct hr_env_request request = {
        .policy = spec->env,
        .host = environ,
        .passthrough = kernel->engine->options.env_passthrough,
        .set = set,
        .delegated_child = spec->owner->child != NULL,
    };

    return hr_env_build(&request);
}

static int start_process(struct hr_kernel *kernel, struct hermes_error *error)
{
    struct hermes_engine *engine = kernel->engine;
    char command[64];
    struct hr_process_request request = {
        .python = kernel->spec->python,
        .command = command,
        .guard = engine->guard,
        .cwd = kernel->staging ? kernel->staging : *kernel->spec->cwd ? kernel->spec->cwd : NULL,
        .stdin_fd = -1, .stdout_fd = -1, .stderr_fd = -1, .control_fd = -1,
    };
    char **environment = make_environment(kernel);
    int failed = environment ? open_channels(kernel, &request) : ENOMEM, status;

    /* what `ps` shows stays short: the bootstrap itself comes over the socket (kernel-io.c) */
    snprintf(command, sizeof command, "exec(__import__('posix').read(3,%zu))", sizeof HR_BOOT_SOURCE - 1);
    if (failed) {
        status = hr_error_set(error, failed == ENOMEM ? HERMES_ENOMEM : HERMES_ESYSTEM, failed,
                              "cannot make the kernel's channels: %s", strerror(failed));
    } else {
        struct hr_process_request with_err = request;

        with_err.environment = environment;
        if (kernel->spec->io == HERMES_IO_ONE_PIPE)
            with_err.stderr_fd = request.stdout_fd;
        status = hr_process_start(&kernel->process, &with_err, error);
    }
    if (request.control_fd >= 0)
        close(request.control_fd);
    if (request.stdout_fd >= 0)
        close(request.stdout_fd);
    if (request.stderr_fd >= 0)
        close(request.stderr_fd);
    hr_env_free(environment);
    return status;
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
    hr_free(kernel->staging);
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
    spec->references++;
    spec->owner->kernels++;
    kernel->control.fd = kernel->streams[0].watch.fd = kernel->streams[1].watch.fd = -1;
    hr_buf_init(&kernel->in, HR_FRAME_DISPLAY_MAX + HR_FRAME_HEADER_SIZE + HR_SCRATCH_SIZE);
    hr_list_init(&kernel->link);
    hr_list_init(&kernel->queue);
    kernel->process.exited = hr_kernel_process_exited;
    kernel->process.acknowledged = hr_kernel_process_acknowledged;
    kernel->process.gone = hr_kernel_process_gone;
    return kernel;
}

int hr_kernel_new(struct hermes_engine *engine, struct hr_spec *spec, struct hr_kernel **ret, struct hermes_error *error)
{
    struct hr_kernel *kernel = kernel_alloc(engine, spec);
    int status, failed;

    if (!kernel)
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    failed = hr_process_prepare(&kernel->process, engine->loop);
    status = failed ? hr_error_set(error, HERMES_ESYSTEM, failed, "no random numbers: %s", strerror(failed)) : 0;
    if (!status && spec->mode == HERMES_MODE_STRICT && !*spec->cwd)
        status = hr_staging_create(&kernel->staging, error);
    if (!status)
        status = start_process(kernel, error);
    if (status) {
        hr_kernel_close_channels(kernel);
        if (kernel->staging)
            hr_staging_remove(kernel->staging);
        hr_kernel_free(kernel);
        return status;
    }
    kernel->id = hr_engine_id(engine);
    kernel->generation = ++spec->owner->generation;
    kernel->pinned = spec->owner->child != NULL;
    kernel->started_ns = kernel->last_used_ns = hr_now_ns();
    kernel->listed = true;
    hr_list_append(&engine->kernels, &kernel->link);
    hr_timer_start(engine->loop, &kernel->stop, hr_after_ms(engine->options.start_timeout_ms), start_took_too_long);
    hr_event_kernel(kernel);
    *ret = kernel;
    return 0;
}
