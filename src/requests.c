/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "requests.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "engine-private.h"
#include "json-text.h"
#include "kernel-private.h"
#include "text.h"

enum { WAITING_MAX = 64, TEXT_MAX = 1 << 20, TIMEOUT_MS = 1000 };

static const char HAS_GONE[] =
    "{\"error\":\"the kernel has gone, or answers no requests any more\"}";
static const char NO_MEMORY[] = "{\"error\":\"out of memory\"}";
static const char NO_JSON[] = "{\"error\":\"the kernel gave no JSON object\"}";

struct hr_request {
    struct hr_link link;
    uint64_t id;
    int64_t due_ns;
    struct hr_event *answer; /* reserved */
};

/* ---- answers ---------------------------------------------------------------------------- */

/* The one answer of a request. text is copied; without memory for it the answer says so. */
static void answer(struct hr_requests *requests, struct hr_request *request, const char *text,
                   size_t size)
{
    struct hr_event *event = request->answer;

    hr_list_remove(&request->link);
    requests->count--;
    event->data = hr_memdup(text, size);
    event->public.data = event->data ? event->data : NO_MEMORY;
    event->public.size = event->data ? size : sizeof NO_MEMORY - 1;
    event->public.kernel = requests->kernel->id;
    event->public.request = request->id;
    hr_event_push(requests->kernel->engine, event);
    hr_free(request);
}

static void too_late(struct hr_timer *timer);

static void arm(struct hr_requests *requests)
{
    int64_t due = HR_NEVER;

    HR_LIST_EACH (link, &requests->waiting) {
        const struct hr_request *request = HR_CONTAINER(link, struct hr_request, link);

        if (request->due_ns < due)
            due = request->due_ns;
    }
    if (due == HR_NEVER)
        hr_timer_stop(requests->kernel->engine->loop, &requests->timer);
    else
        hr_timer_start(requests->kernel->engine->loop, &requests->timer, due, too_late);
}

static void too_late(struct hr_timer *timer)
{
    static const char text[] = "{\"error\":\"no answer in time\"}";
    struct hr_requests *requests = HR_CONTAINER(timer, struct hr_requests, timer);
    int64_t now = hr_now_ns();

    HR_LIST_EACH (link, &requests->waiting) {
        struct hr_request *request = HR_CONTAINER(link, struct hr_request, link);

        if (request->due_ns <= now)
            answer(requests, request, text, sizeof text - 1);
    }
    arm(requests);
}

static void take_answer(struct hr_requests *requests, const struct hr_frame *frame)
{
    HR_LIST_EACH (link, &requests->waiting) {
        struct hr_request *request = HR_CONTAINER(link, struct hr_request, link);

        if (request->id != frame->id)
            continue;
        if (frame->body_size < 2 || *frame->body != '{' ||
            frame->body[frame->body_size - 1] != '}' ||
            !hr_utf8_valid(frame->body, frame->body_size))
            answer(requests, request, NO_JSON, sizeof NO_JSON - 1);
        else
            answer(requests, request, frame->body, frame->body_size);
        arm(requests);
        return; /* else it came too late */
    }
}

/* ---- the socket ------------------------------------------------------------------------- */

static void forget_all(struct hr_requests *requests)
{
    hr_buf_done(&requests->in);
    hr_buf_done(&requests->out);
    hr_timer_stop(requests->kernel->engine->loop, &requests->timer);
    HR_LIST_EACH (link, &requests->waiting)
        answer(requests, HR_CONTAINER(link, struct hr_request, link), HAS_GONE,
               sizeof HAS_GONE - 1);
}

static void close_socket(struct hr_requests *requests)
{
    int fd = requests->watch.fd;

    if (fd < 0)
        return;
    hr_watch_remove(requests->kernel->engine->loop, &requests->watch);
    close(fd);
    forget_all(requests);
}

static void send_pending(struct hr_requests *requests)
{
    struct hr_buf *out = &requests->out;
    ssize_t n;

    while (out->size) {
        n = send(requests->watch.fd, out->data, out->size, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            n = (ssize_t)out->size; /* its end is told by a read */
        if (n <= 0)
            break;
        hr_buf_consume(out, (size_t)n);
    }
    if (!out->size)
        hr_buf_done(out);
    hr_watch_change(requests->kernel->engine->loop, &requests->watch,
                    out->size ? HR_READ | HR_WRITE : HR_READ);
}

static void take_frames(struct hr_requests *requests)
{
    struct hr_frame frame;
    const char *fault = NULL;
    size_t at = 0;
    ssize_t used;

    while ((used = hr_frame_decode(requests->in.data + at, requests->in.size - at, &frame,
                                   &fault)) > 0) {
        at += (size_t)used;
        if (frame.type == HR_FRAME_ANSWER) {
            take_answer(requests, &frame);
            continue;
        }
        fault = "a frame on the wrong socket";
        used = -1;
        break;
    }
    if (used < 0) {
        hr_kernel_fault(requests->kernel, fault);
        close_socket(requests);
        return;
    }
    hr_buf_consume(&requests->in, at);
    if (!requests->in.size)
        hr_buf_done(&requests->in);
}

static void socket_ready(struct hr_watch *watch, unsigned events)
{
    struct hr_requests *requests = HR_CONTAINER(watch, struct hr_requests, watch);
    struct hermes_engine *engine = requests->kernel->engine;
    ssize_t n;

    if (events & HR_WRITE)
        send_pending(requests);
    if (!(events & HR_READ))
        return;
    n = recv(watch->fd, engine->scratch, sizeof engine->scratch, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return;
    if (n <= 0 || !hr_buf_add(&requests->in, engine->scratch, (size_t)n))
        close_socket(requests);
    else
        take_frames(requests);
}

int hr_requests_open(struct hr_kernel *kernel, int *ret_child_fd)
{
    struct hr_requests *requests = hr_calloc(1, sizeof *requests);
    int pair[2];

    if (!requests)
        return ENOMEM;
    kernel->requests = requests;
    requests->kernel = kernel;
    requests->watch.fd = -1;
    hr_list_init(&requests->waiting);
    hr_buf_init(&requests->in, HR_FRAME_ANSWER_MAX + HR_FRAME_HEADER_SIZE + HR_SCRATCH_SIZE);
    hr_buf_init(&requests->out, 0);
    if (HR_FAULT(HR_FAULT_SOCKET) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return errno ? errno : EMFILE;
    *ret_child_fd = pair[1];
    if (hr_watch_add(kernel->engine->loop, &requests->watch, pair[0], HR_READ, socket_ready)) {
        close(pair[0]);
        return ENOMEM;
    }
    return 0;
}

void hr_requests_close(struct hr_kernel *kernel)
{
    if (kernel->requests)
        close_socket(kernel->requests);
}

void hr_requests_restart(struct hr_kernel *kernel)
{
    struct hr_requests *requests = kernel->requests;

    if (!requests || requests->watch.fd < 0)
        return;
    while (recv(requests->watch.fd, kernel->engine->scratch, sizeof kernel->engine->scratch,
                MSG_DONTWAIT) > 0)
        continue;
    forget_all(requests);
    requests->announced = false;
    hr_watch_change(kernel->engine->loop, &requests->watch, HR_READ);
}

void hr_requests_free(struct hr_kernel *kernel)
{
    hr_requests_close(kernel);
    hr_free(kernel->requests);
    kernel->requests = NULL;
}

/* ---- asking ----------------------------------------------------------------------------- */

/* Check the text, and give it without comments: JSON for the kernel's strict parser. */
static int read_request(const char *json, char **ret_text, size_t *ret_size,
                        struct hermes_error *error)
{
    cJSON *object = NULL;
    size_t size, offset;
    int status;

    if (!json)
        return hr_error_set(error, HERMES_EINVAL, 0, "no request");
    size = strnlen(json, TEXT_MAX + 1);
    if (size > TEXT_MAX)
        return hr_error_set(error, HERMES_EINVAL, 0, "a request above %d bytes", TEXT_MAX);
    status = hr_json_text_object(json, size, &object, error);
    cJSON_Delete(object);
    if (status)
        return status;
    *ret_size = size;
    *ret_text = hr_memdup(json, size);
    if (!*ret_text)
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    hr_json_text_strip(*ret_text, size, &offset);
    return 0;
}

static int ask(struct hr_requests *requests, const char *text, size_t size, int64_t timeout_ms,
               uint64_t *ret_id)
{
    char header[HR_FRAME_HEADER_SIZE];
    struct hr_request *request = hr_calloc(1, sizeof *request);
    struct hr_buf *out = &requests->out;

    if (!request)
        return HERMES_ENOMEM;
    request->id = hr_engine_id(requests->kernel->engine);
    request->answer = hr_event_new(HERMES_EVENT_ANSWER, NULL, 0);
    hr_frame_header(header, HR_FRAME_REQUEST, 0, (uint32_t)size, request->id);
    if (!request->answer || !hr_kernel_begin(requests->kernel) ||
        !hr_buf_reserve(out, sizeof header + size) ||
        (!requests->announced && !hr_kernel_send_attend(requests->kernel))) {
        out->failed = false;
        if (request->answer)
            hermes_event_free(&request->answer->public);
        hr_free(request);
        return HERMES_ENOMEM;
    }
    requests->announced = true;
    hr_buf_add(out, header, sizeof header);
    hr_buf_add(out, text, size);
    request->due_ns =
        timeout_ms < 0 ? HR_NEVER : hr_later_ns(hr_now_ns(), timeout_ms ? timeout_ms : TIMEOUT_MS);
    hr_list_append(&requests->waiting, &request->link);
    requests->count++;
    *ret_id = request->id;
    arm(requests);
    send_pending(requests);
    return 0;
}

int hermes_request(struct hermes_engine *engine, uint64_t id, const char *json, int64_t timeout_ms,
                   uint64_t *ret_request, struct hermes_error *error)
{
    struct hr_requests *requests;
    struct hr_kernel *kernel;
    char *text = NULL;
    size_t size = 0;
    int status = read_request(json, &text, &size, error);

    if (status)
        return status;
    hr_engine_lock(engine);
    engine->event_wanted = true;
    kernel = hr_engine_find_kernel(engine, id);
    requests = kernel && !hr_kernel_is_ending(kernel) && kernel->state != HERMES_KERNEL_PARKED &&
                       !kernel->resuming
                   ? kernel->requests
                   : NULL;
    if (!requests || requests->watch.fd < 0)
        status = hr_error_set(error, HERMES_ENOENT, 0, "no such kernel, or it answers no requests");
    else if (requests->count >= WAITING_MAX)
        status =
            hr_error_set(error, HERMES_EAGAIN, 0, "%zu requests wait already", requests->count);
    else if (ask(requests, text, size, timeout_ms, ret_request))
        status = hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    hr_engine_unlock(engine);
    hr_free(text);
    return status;
}
