/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "tty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <unistd.h>

#include "alloc.h"
#include "engine-private.h"
#include "kernel-private.h"

enum { INPUT_MAX = 1 << 20, DEFAULT_COLUMNS = 80, DEFAULT_ROWS = 24, PATH_SIZE = 128 };

/* ---- the terminal ----------------------------------------------------------------------- */

static int open_master(void)
{
    int fd;

    if (HR_FAULT(HR_FAULT_PIPE))
        return -1;
#ifdef __linux__
    fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
#else
    fd = posix_openpt(O_RDWR | O_NOCTTY);
    if (fd >= 0) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, O_NONBLOCK);
    }
#endif
    return fd;
}

static int set_size(int master, int columns, int rows)
{
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};

    return ioctl(master, TIOCSWINSZ, &size);
}

/* The size that its spec asks for. */
static int take_size(const struct hr_kernel *kernel, int master)
{
    const struct hr_spec *spec = kernel->spec;

    return set_size(master, spec->columns ? spec->columns : DEFAULT_COLUMNS,
                    spec->rows ? spec->rows : DEFAULT_ROWS);
}

void hr_tty_take_size(struct hr_kernel *kernel)
{
    take_size(kernel, kernel->streams[0].watch.fd);
}

/* As a terminal emulator has it; what types is UTF-8. */
static int set_up_master(struct hr_kernel *kernel, int fd)
{
    struct hr_tty *tty = kernel->tty;
    char path[PATH_SIZE];
    int failed;

    if (grantpt(fd) || unlockpt(fd))
        return errno;
    failed = ptsname_r(fd, path, sizeof path);
    if (failed)
        return failed > 0 ? failed : errno;
    tty->path = hr_strdup(path);
    if (!tty->path)
        return ENOMEM;
    if (tcgetattr(fd, &tty->modes))
        return errno;
    tty->modes.c_oflag |= OPOST | ONLCR;
    tty->modes.c_lflag |= ISIG | ICANON | ECHO | ECHOE | ECHOK | IEXTEN;
#ifdef IUTF8
    tty->modes.c_iflag |= IUTF8;
#endif
    if (tcsetattr(fd, TCSANOW, &tty->modes) || take_size(kernel, fd))
        return errno;
    return 0;
}

/* What is only possible at the other end: an ioctl there. Never our controlling terminal. */
static int open_slave(const struct hr_tty *tty)
{
    return HR_FAULT(HR_FAULT_OPEN) ? -1
                                   : open(tty->path, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

int hr_tty_open(struct hr_kernel *kernel, int *ret_slave)
{
    struct hr_stream *stream = &kernel->streams[0];
    unsigned char random[HR_MARKER_SECRET_SIZE / 2];
    struct hr_tty *tty = kernel->tty = hr_calloc(1, sizeof *tty);
    int fd, failed;

    if (!tty)
        return ENOMEM;
    tty->kernel = kernel;
    hr_buf_init(&tty->pending, 0);
    hr_buf_init(&tty->input, 0);
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return errno ? errno : EIO;
    hr_marker_init(&tty->marker, random);
    fd = open_master();
    if (fd < 0)
        return errno ? errno : EMFILE;
    failed = set_up_master(kernel, fd);
    stream->number = 1;
    stream->kernel = kernel;
    if (!failed &&
        hr_watch_add(kernel->engine->loop, &stream->watch, fd, HR_READ, hr_kernel_stream_ready))
        failed = ENOMEM;
    if (failed) {
        close(fd);
        return failed;
    }
    *ret_slave = open_slave(tty);
    return *ret_slave < 0 ? errno ? errno : EIO : 0;
}

void hr_tty_free(struct hr_kernel *kernel)
{
    struct hr_tty *tty = kernel->tty;

    if (!tty)
        return;
    hr_timer_stop(kernel->engine->loop, &tty->patience);
    hr_buf_done(&tty->pending);
    hr_buf_done(&tty->input);
    hr_free(tty->path);
    hr_free(tty);
    kernel->tty = NULL;
}

void hr_tty_settle(struct hr_kernel *kernel)
{
    struct hr_tty *tty = kernel->tty;
    int master = kernel->streams[0].watch.fd;
    struct termios now;

    if (master < 0)
        return;
    /* Gaps in the struct that differ cost one call. NOLINTNEXTLINE(*-memory-comparison,cert-*) */
    if (tcgetattr(master, &now) == 0 && memcmp(&now, &tty->modes, sizeof now) != 0)
        tcsetattr(master, TCSANOW, &tty->modes);
    hr_tty_forget_input(kernel);
}

void hr_tty_forget_input(struct hr_kernel *kernel)
{
    struct hr_tty *tty = kernel->tty;
    int slave;

    if (!tty->typed)
        return;
    tty->typed = false;
    hr_buf_done(&tty->input);
    slave = open_slave(tty);
    if (slave >= 0) {
        tcflush(slave, TCIFLUSH);
        close(slave);
    }
}

void hr_tty_start_output(struct hr_kernel *kernel)
{
    struct hr_tty *tty = kernel->tty;
    struct termios modes = tty->modes;
    int master = kernel->streams[0].watch.fd, slave = open_slave(tty);

    /* C-s has no force where C-s has no meaning */
    modes.c_iflag |= IXON;
    tcsetattr(master, TCSANOW, &modes);
    modes.c_iflag &= ~(tcflag_t)IXON;
    tcsetattr(master, TCSANOW, &modes);
    tcsetattr(master, TCSANOW, &tty->modes);
    if (slave >= 0) {
        tcflow(slave, TCOON);
        close(slave);
    }
}

/* ---- input ------------------------------------------------------------------------------ */

void hr_tty_send_input(struct hr_kernel *kernel)
{
    struct hr_tty *tty = kernel->tty;
    ssize_t n;

    while (tty->input.size) {
        n = write(kernel->streams[0].watch.fd, tty->input.data, tty->input.size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            n = (ssize_t)tty->input.size; /* nobody is there */
        if (n <= 0)
            break;
        hr_buf_consume(&tty->input, (size_t)n);
    }
    if (!tty->input.size)
        hr_buf_done(&tty->input);
    hr_kernel_update_pause(kernel);
}

static struct hr_kernel *find_terminal(struct hermes_engine *engine, uint64_t id)
{
    struct hr_kernel *kernel = hr_engine_find_kernel(engine, id);

    return kernel && kernel->tty && kernel->streams[0].watch.fd >= 0 &&
                   kernel->state != HERMES_KERNEL_DEAD && kernel->state != HERMES_KERNEL_PARKED
               ? kernel
               : NULL;
}

static int type(struct hr_kernel *kernel, const char *data, size_t size, struct hermes_error *error)
{
    struct hr_tty *tty = kernel->tty;

    if (size > INPUT_MAX || tty->input.size > INPUT_MAX - size)
        return hr_error_set(error, HERMES_EAGAIN, 0, "%zu bytes of input wait already",
                            tty->input.size);
    if (!hr_buf_add(&tty->input, data, size)) {
        tty->input.failed = false;
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    }
    tty->typed = true;
    tty->typed_ns = hr_now_ns();
    hr_kernel_end_holds(kernel);
    hr_tty_send_input(kernel);
    return 0;
}

int hermes_input(struct hermes_engine *engine, uint64_t id, const char *data, size_t size,
                 struct hermes_error *error)
{
    struct hr_kernel *kernel;
    int status = 0;

    hr_engine_lock(engine);
    kernel = find_terminal(engine, id);
    if (!kernel)
        status = hr_error_set(error, HERMES_ENOENT, 0, "no such kernel, or it has no terminal");
    else if (size)
        status = type(kernel, data, size, error);
    hr_engine_unlock(engine);
    return status;
}

int hermes_resize(struct hermes_engine *engine, uint64_t id, int columns, int rows)
{
    struct hr_kernel *kernel;
    int status = 0;

    if (columns < 1 || rows < 1 || columns > UINT16_MAX || rows > UINT16_MAX)
        return HERMES_EINVAL;
    hr_engine_lock(engine);
    kernel = find_terminal(engine, id);
    if (!kernel || set_size(kernel->streams[0].watch.fd, columns, rows))
        status = HERMES_ENOENT;
    hr_engine_unlock(engine);
    return status;
}

/* ---- interrupt -------------------------------------------------------------------------- */

bool hr_tty_interrupt(struct hr_kernel *kernel)
{
    int master = kernel->streams[0].watch.fd;
    pid_t group;

    if (master < 0 || ioctl(master, TIOCGPGRP, &group) || group <= 0 ||
        group == kernel->process.python || kill(-group, 0))
        return false;
#ifdef TIOCSIG
    return ioctl(master, TIOCSIG, SIGINT) == 0;
#else
    return kill(-group, SIGINT) == 0;
#endif
}
