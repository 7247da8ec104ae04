/* SPDX-License-Identifier: MIT */
/*
 * The queue of events. Output and displays are its only unbounded part: above a high mark the
 * streams of cells that make events, and the frames of those that display, are not read until the
 * queue is short again, so that pipe and socket slow the cell down and memory stays bounded.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "authority.h"
#include "tools.h"

enum { HIGH_MARK = 2 << 20, LOW_MARK = 512 << 10 };

/* What an event costs: very many small ones are much, too. */
static size_t cost(const struct hr_event *event)
{
    return sizeof *event + event->public.size;
}

struct hr_event *hr_event_new(enum hermes_event_type type, const char *data, size_t size)
{
    struct hr_event *event = hr_calloc(1, sizeof *event);

    if (!event)
        return NULL;
    hr_list_init(&event->link);
    event->public.type = type;
    if (data) {
        event->data = hr_memdup(data, size);
        if (!event->data) {
            hr_free(event);
            return NULL;
        }
        event->public.data = event->data;
        event->public.size = size;
    }
    return event;
}

static void set_paused(struct hermes_engine *engine, bool paused)
{
    if (engine->paused == paused)
        return;
    engine->paused = paused;
    HR_LIST_EACH (link, &engine->kernels)
        hr_kernel_update_pause(HR_CONTAINER(link, struct hr_kernel, link));
}

static void signal_event_fd(struct hermes_engine *engine)
{
    bool want = !hr_list_empty(&engine->events);
    char byte = 1;
    ssize_t ignored;

    if (engine->event_fds[0] < 0 || want == engine->event_signalled)
        return;
    engine->event_signalled = want;
    ignored = want ? write(engine->event_fds[1], &byte, 1) : read(engine->event_fds[0], &byte, 1);
    (void)ignored;
}

void hr_event_push(struct hermes_engine *engine, struct hr_event *event)
{
    if (!event)
        return;
    hr_list_append(&engine->events, &event->link);
    engine->event_bytes += cost(event);
    if (engine->event_bytes > HIGH_MARK)
        set_paused(engine, true);
    signal_event_fd(engine);
}

void hr_event_kernel(struct hr_kernel *kernel)
{
    struct hr_event *event;

    if (!kernel->engine->event_wanted || kernel->spare)
        return;
    event = hr_event_new(HERMES_EVENT_KERNEL, NULL, 0);
    if (!event)
        return;
    event->session = hr_strdup(kernel->spec->owner->name);
    event->public.session = event->session;
    event->public.kernel = kernel->id;
    event->public.state = kernel->state;
    event->public.cause = kernel->cause;
    event->public.execution_count = kernel->execution_count;
    hr_event_push(kernel->engine, event);
}

bool hr_event_tool_call(struct hr_cell *cell, const struct hr_tool_call *call)
{
    struct hr_event *event = hr_event_new(HERMES_EVENT_TOOL_CALL, NULL, 0);
    struct hermes_tool_call *copy;

    if (!event)
        return false;
    copy = &event->tool_call;
    hr_authority_fill_call(cell->authority, copy);
    copy->id = call->id;
    copy->tool = call->tool;
    copy->arguments = call->arguments;

    const char **texts[] = {&copy->tool, &copy->arguments, &copy->owner, &copy->session,
                            &copy->task_id};

    for (size_t i = 0; i < HR_ARRAY_LENGTH(texts);
         i++) { /* the cell may settle before the event is looked at */
        if (!*texts[i])
            continue;
        *texts[i] = event->tool_texts[i] = hr_strdup(*texts[i]);
        if (!event->tool_texts[i]) {
            hermes_event_free(&event->public);
            return false;
        }
    }
    event->public.cell = cell->id;
    event->public.kernel = cell->kernel->id;
    event->public.tool_call = copy;
    hr_event_push(cell->engine, event);
    return true;
}

/* Called with the lock by the public function. */
struct hermes_event *hr_event_take(struct hermes_engine *engine)
{
    struct hr_event *event;

    if (hr_list_empty(&engine->events))
        return NULL;
    event = HR_CONTAINER(engine->events.next, struct hr_event, link);
    hr_list_remove(&event->link);
    engine->event_bytes -= cost(event);
    if (engine->event_bytes < LOW_MARK)
        set_paused(engine, false);
    signal_event_fd(engine);
    return &event->public;
}

void hermes_event_free(struct hermes_event *public)
{
    struct hr_event *event;

    if (!public)
        return;
    event = HR_CONTAINER(public, struct hr_event, public);
    hermes_result_free(event->public.result);
    hr_free(event->data);
    hr_free(event->session);
    for (size_t i = 0; i < HR_ARRAY_LENGTH(event->tool_texts); i++)
        hr_free(event->tool_texts[i]);
    hr_free(event);
}
