/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Descriptors and signals of the server. It never blocks in a write: a host that is busy writing to
 * us need not read.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "mcp-internal.h"
#include "progress.h"

#define READ_SIZE 65536
#define OUT_MAX ((size_t)16 << 20) /* with so much to write no more requests are read */
#define KEPT_MAX ((size_t)1 << 20) /* of what is written already */

/*
 * ---- signals
 * ----------------------------------------------------------------------------------------
 */

static atomic_int deadly;
static atomic_int wake_fd = -1;
static struct hermes_engine *_Atomic waiting_engine;

static void handle(int number)
{
    int saved = errno, fd = atomic_load(&wake_fd);
    struct hermes_engine *engine = atomic_load(&waiting_engine);
    atomic_store(&deadly, number);
    if (fd >= 0) {
        ssize_t ignored = write(fd, "", 1);
        (void)ignored;
    }
    if (engine)
        hermes_wake(engine);
    errno = saved;
}

/* The second signal of a kind has its usual effect: the guard ends the kernels then. */
static void catch (int number)
{
    struct sigaction old, action = {.sa_handler = handle, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    if (number == SIGTERM || sigaction(number, NULL, &old) < 0 || old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

static void install(struct mcp_server *server)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigset_t ours;
    atomic_store(&wake_fd, server->wake[1]);
    atomic_store(&waiting_engine, server->engine);
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
    catch (SIGTERM);
    catch (SIGINT);
    catch (SIGHUP);
    sigemptyset(&ours);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGHUP);
    pthread_sigmask(SIG_UNBLOCK, &ours, NULL);
}

int mcp_io_signal(void)
{
    return atomic_load(&deadly);
}

void mcp_io_wake(struct mcp_server *server)
{
    ssize_t ignored = write(server->wake[1], "", 1); /* full: it wakes already */
    (void)ignored;
}

/*
 * ---- descriptors
 * ------------------------------------------------------------------------------------
 */

static bool open_pipe(int ends[2])
{
    if (pipe(ends) < 0)
        return false;
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

/* Nothing but the server reads its input or writes to its output, whatever a library prints. */
bool mcp_io_open(struct mcp_server *server)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    server->wake[0] = server->wake[1] = -1;
    server->input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    server->output = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    bool good = null >= 0 && server->input >= 0 && server->output >= 0 && open_pipe(server->wake) &&
                hermes_event_fd(server->engine) >= 0 && dup2(null, STDIN_FILENO) >= 0 &&
                dup2(STDERR_FILENO, STDOUT_FILENO) >= 0;
    if (null >= 0)
        close(null);
    if (good)
        install(server);
    return good;
}

void mcp_io_close(struct mcp_server *server)
{
    atomic_store(&wake_fd, -1);
    atomic_store(&waiting_engine, NULL);
    int fds[] = {server->input, server->output, server->wake[0], server->wake[1]};
    for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

/*
 * ---- writing
 * ----------------------------------------------------------------------------------------
 */

size_t mcp_io_pending(const struct mcp_server *server)
{
    return server->out.size - server->written;
}

static void drop_written(struct mcp_server *server)
{
    struct strbuf *out = &server->out;
    if (server->reader_gone || server->written == out->size) {
        if (out->capacity > KEPT_MAX)
            strbuf_free(out);
        strbuf_clear(out);
    } else if (server->written > KEPT_MAX && server->written > out->size / 2) {
        out->size -= server->written;
        memmove(out->data, out->data + server->written, out->size);
    } else {
        return;
    }
    server->written = 0;
}

static bool is_writable(struct mcp_server *server)
{
    struct pollfd writable = {.fd = server->output, .events = POLLOUT};
    return poll(&writable, 1, 0) > 0;
}

/* As much as the reader takes now: what poll() promises room for, at a time. */
static void write_some(struct mcp_server *server)
{
    while (mcp_io_pending(server) && is_writable(server)) {
        size_t size = mcp_io_pending(server) < PIPE_BUF ? mcp_io_pending(server) : PIPE_BUF;
        ssize_t done = write(server->output, server->out.data + server->written, size);
        if (done > 0) {
            server->written += (size_t)done;
        } else if (done < 0 && errno != EINTR && errno != EAGAIN) {
            server->reader_gone = true;
            break;
        } else if (done < 0 && errno == EAGAIN) {
            break;
        }
    }
    drop_written(server);
}

void mcp_io_flush(struct mcp_server *server, int64_t limit_ms)
{
    int64_t end = now_ms() + limit_ms;
    while (mcp_io_pending(server) && !server->reader_gone) {
        struct pollfd writable = {.fd = server->output, .events = POLLOUT};
        int64_t left = end - now_ms();
        if (left <= 0)
            break;
        if (poll(&writable, 1, (int)left) > 0)
            write_some(server);
    }
}

/*
 * ---- waiting and reading
 * ----------------------------------------------------------------------------
 */

void mcp_io_wait(struct mcp_server *server, int64_t timeout_ms, bool *ret_input, bool *ret_events)
{
    bool reads = !server->input_over && mcp_io_pending(server) < OUT_MAX;
    struct pollfd fds[] = {
        {.fd = server->wake[0], .events = POLLIN},
        {.fd = hermes_event_fd(server->engine), .events = POLLIN},
        {.fd = server->output, .events = mcp_io_pending(server) ? POLLOUT : 0},
        {.fd = reads ? server->input : -1, .events = POLLIN},
    };
    char bytes[64];
    *ret_input = *ret_events = false;
    if (poll(fds, 4, timeout_ms > INT_MAX ? INT_MAX : (int)timeout_ms) <= 0)
        return;
    while (fds[0].revents && read(server->wake[0], bytes, sizeof(bytes)) > 0)
        ;
    if (fds[2].revents & (POLLERR | POLLHUP | POLLNVAL))
        server->reader_gone = true;
    else if (fds[2].revents & POLLOUT)
        write_some(server);
    *ret_events = fds[1].revents != 0;
    *ret_input = fds[3].revents != 0;
}

bool mcp_io_read(struct mcp_server *server)
{
    char bytes[READ_SIZE];
    ssize_t size = read(server->input, bytes, sizeof(bytes));
    if (size > 0)
        mcp_lines_add(&server->lines, bytes, (size_t)size);
    else if (size == 0 || (errno != EINTR && errno != EAGAIN))
        server->input_over = true;
    return size > 0;
}
