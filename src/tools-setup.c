/* SPDX-License-Identifier: MIT */
/*
 * The set-up of the tool channel: the engine's path socket, and what a kernel with tools needs.
 * tools.c carries the calls.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "alloc.h"
#include "staging.h"
#include "tools-module.h"
#include "tools-private.h"

enum { PEERS_MAX = 512, ACCEPT_PAUSE_MS = 100 };

/* ---- the path socket -------------------------------------------------------------------- */

static void accept_again(struct hr_timer *timer)
{
    struct hermes_engine *engine = HR_CONTAINER(timer, struct hermes_engine, tool_accept);

    hr_watch_change(engine->loop, &engine->tool_listener, HR_READ);
}

/* No descriptor or memory is left: who waits stays in the queue, and the listener readable. */
static void pause_accepting(struct hermes_engine *engine)
{
    hr_watch_change(engine->loop, &engine->tool_listener, 0);
    hr_timer_start(engine->loop, &engine->tool_accept, hr_later_ns(hr_now_ns(), ACCEPT_PAUSE_MS),
                   accept_again);
}

/* Those that have gone, and whose turn to be told so comes after this one's. */
static void drop_closed_peers(struct hermes_engine *engine)
{
    HR_LIST_EACH (link, &engine->tool_peers) {
        struct hr_tool_peer *peer = HR_CONTAINER(link, struct hr_tool_peer, link);
        char byte;

        if (!peer->kernel && recv(peer->watch.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            hr_tool_peer_close(peer);
    }
}

static void accept_peer(struct hr_watch *watch, unsigned events)
{
    struct hermes_engine *engine = HR_CONTAINER(watch, struct hermes_engine, tool_listener);
    struct ucred other = {0};
    socklen_t size = sizeof other;
    struct hr_tool_peer *peer = NULL;
    int fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC);

    (void)events;
    if (fd < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
            pause_accepting(engine);
        return;
    }
    if (engine->tool_peer_count >= PEERS_MAX)
        drop_closed_peers(engine);
    if (engine->tool_peer_count < PEERS_MAX &&
        !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &other, &size) && other.uid == geteuid())
        peer = hr_tool_peer_new(engine, fd);
    if (!peer) {
        close(fd);
        return;
    }
    peer->pid = other.pid;
    peer->started_ticks = hr_process_started_ticks(other.pid);
    engine->tool_peer_count++;
}

static int bind_listener(const char *directory, char **ret_path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd;

    if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s/tools", directory) >=
        sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    fd = HR_FAULT(HR_FAULT_SOCKET) ? -1
                                   : socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd >= 0 &&
        (bind(fd, (struct sockaddr *)&address, sizeof address) || chmod(address.sun_path, 0600) ||
         listen(fd, 64) || !(*ret_path = hr_strdup(address.sun_path)))) {
        int saved = errno;

        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

/*
 * Where a socket can be had: a directory may be too long a name, or on a file system without
 * sockets. Only a real bind tells.
 */
static int open_listener(struct hermes_engine *engine, struct hermes_error *error)
{
    int fd = -1, saved = 0;

    if (engine->tool_listener.fd >= 0)
        return 0;
    for (int attempt = 0; attempt < HR_STAGING_ROOTS && fd < 0; attempt++) {
        saved = hr_staging_create_at((size_t)attempt, &engine->tool_directory);
        if (saved)
            continue;
        fd = bind_listener(engine->tool_directory, &engine->tool_path);
        saved = errno;
        if (fd < 0) {
            hr_staging_remove(engine->tool_directory);
            hr_free(engine->tool_directory);
            engine->tool_directory = NULL;
        }
    }
    if (fd < 0)
        return hr_error_set(error, HERMES_ESYSTEM, saved,
                            "no directory takes the socket for tools: %s", strerror(saved));
    if (hr_watch_add(engine->loop, &engine->tool_listener, fd, HR_READ, accept_peer)) {
        close(fd);
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    }
    return 0;
}

/* ---- a kernel's tools ------------------------------------------------------------------- */

bool hr_tools_wanted(const struct hr_spec *spec)
{
    return !spec->tools || *spec->tools;
}

static char *new_token(void)
{
    unsigned char random[32];
    char *token = hr_malloc(2 * sizeof random + 1);

    if (!token || getrandom(random, sizeof random, 0) != sizeof random) {
        hr_free(token);
        return NULL;
    }
    for (size_t i = 0; i < sizeof random; i++)
        snprintf(token + 2 * i, 3, "%02x", random[i]);
    return token;
}

static int write_module(struct hr_kernel *kernel, struct hermes_error *error)
{
    struct hr_buf text;
    char *path = hr_printf("%s/hermes_tools.py", kernel->staging);
    int fd, failed = 0;

    hr_buf_init(&text, 0);
    if (!path || !hr_tools_module(kernel->spec->tools, kernel->engine->tool_path,
                                  kernel->tool_token, &text)) {
        failed = ENOMEM;
    } else {
        fd = HR_FAULT(HR_FAULT_OPEN)
                 ? -1
                 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 || HR_FAULT(HR_FAULT_WRITE) ||
            write(fd, text.data, text.size) != (ssize_t)text.size)
            failed = errno ? errno : EIO;
        if (fd >= 0)
            close(fd);
    }
    if (failed)
        hr_error_set(error, failed == ENOMEM ? HERMES_ENOMEM : HERMES_ESYSTEM, failed,
                     "cannot write hermes_tools.py: %s", strerror(failed));
    hr_buf_done(&text);
    hr_free(path);
    return failed == ENOMEM ? HERMES_ENOMEM : failed ? HERMES_ESYSTEM : 0;
}

int hr_tools_open(struct hr_kernel *kernel, int *ret_child_fd, struct hermes_error *error)
{
    /*
     * A read in the runner ends that often, so that an interrupt that came just before it is
     * noticed.
     */
    static const struct timeval look_up = {.tv_usec = 200000};
    int pair[2], status = open_listener(kernel->engine, error);

    if (!status && !kernel->staging)
        status = hr_staging_create(&kernel->staging, error);
    if (status)
        return status;
    kernel->tool_token = new_token();
    if (!kernel->tool_token)
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    status = write_module(kernel, error);
    if (status)
        return status;
    if (HR_FAULT(HR_FAULT_SOCKET) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return hr_error_set(error, HERMES_ESYSTEM, errno, "cannot make a socket: %s",
                            strerror(errno));
    kernel->tool_peer = hr_tool_peer_new(kernel->engine, pair[0]);
    if (!kernel->tool_peer) {
        close(pair[0]);
        close(pair[1]);
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    }
    kernel->tool_peer->kernel = kernel;
    setsockopt(pair[1], SOL_SOCKET, SO_RCVTIMEO, &look_up, sizeof look_up);
    *ret_child_fd = pair[1];
    return 0;
}

void hr_tools_close(struct hr_kernel *kernel)
{
    if (kernel->tool_peer)
        hr_tool_peer_close(kernel->tool_peer);
    hr_free(kernel->tool_token);
    kernel->tool_token = NULL;
}

void hr_tools_engine_done(struct hermes_engine *engine)
{
    int fd = engine->tool_listener.fd;

    HR_LIST_EACH (link, &engine->tool_peers)
        hr_tool_peer_close(HR_CONTAINER(link, struct hr_tool_peer, link));
    if (fd >= 0) {
        hr_timer_stop(engine->loop, &engine->tool_accept);
        hr_watch_remove(engine->loop, &engine->tool_listener);
        close(fd);
    }
    if (engine->tool_directory)
        hr_staging_remove(engine->tool_directory);
    hr_free(engine->tool_directory);
    hr_free(engine->tool_path);
}
