/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "authority.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "buf.h"
#include "text.h"

enum { DEFAULT_MAX_CALLS = 50 };

const char *const hr_tool_names[] = {"web_search",   "web_extract", "read_file", "write_file",
                                     "search_files", "patch",       "terminal",  NULL};

struct hermes_authority {
    atomic_uint references;
    pthread_mutex_t lock; /* guards active and calls; the rest does not change once it is bound */
    bool active;
    uint64_t calls;
    int64_t max_calls;
    char *session, *task_id, *owner;
    const char *const *tools; /* NULL-ended; NULL: all */
    bool own_tools;
    hermes_tool_fn handler;
    void *context;
    uint64_t cell, kernel;
};

static void authority_free(struct hermes_authority *authority)
{
    for (const char *const *tool = authority->tools; authority->own_tools && *tool; tool++)
        hr_free((char *)(uintptr_t)*tool);
    if (authority->own_tools)
        hr_free((void *)(uintptr_t)authority->tools);
    hr_free(authority->session);
    hr_free(authority->task_id);
    hr_free(authority->owner);
    pthread_mutex_destroy(&authority->lock);
    hr_free(authority);
}

static bool copy_tools(struct hermes_authority *authority, const char *const *tools)
{
    size_t count = 0;

    char **copies;

    authority->tools = tools;
    if (!tools || tools == hr_tool_names)
        return true;
    while (tools[count])
        count++;
    copies = hr_calloc(count + 1, sizeof *copies);
    authority->tools = (const char *const *)copies;
    authority->own_tools = copies != NULL;
    for (size_t i = 0; copies && i < count; i++)
        if (!(copies[i] = hr_strdup(tools[i])))
            return false;
    return copies != NULL;
}

struct hermes_authority *hermes_authority_new(const struct hermes_authority_options *options)
{
    struct hermes_authority *authority;
    const char *session;

    if (!options || options->size < sizeof *options)
        return NULL;
    authority = hr_calloc(1, sizeof *authority);
    if (!authority)
        return NULL;
    session = options->session ? options->session : options->task_id;
    atomic_init(&authority->references, 1);
    pthread_mutex_init(&authority->lock, NULL);
    authority->active = true;
    authority->max_calls = options->max_calls ? options->max_calls : DEFAULT_MAX_CALLS;
    authority->handler = options->handler;
    authority->context = options->context;
    authority->session = hr_strdup(options->session);
    authority->task_id = hr_strdup(options->task_id);
    authority->owner = session && options->child_id
                           ? hr_printf("%s::child::%s", session, options->child_id)
                           : hr_strdup(session);
    if (!copy_tools(authority, options->tools) || (options->session && !authority->session) ||
        (options->task_id && !authority->task_id) || (session && !authority->owner)) {
        authority_free(authority);
        return NULL;
    }
    return authority;
}

void hermes_authority_ref(struct hermes_authority *authority)
{
    atomic_fetch_add(&authority->references, 1);
}

void hermes_authority_unref(struct hermes_authority *authority)
{
    if (authority && atomic_fetch_sub(&authority->references, 1) == 1)
        authority_free(authority);
}

bool hermes_authority_active(struct hermes_authority *authority)
{
    bool active;

    pthread_mutex_lock(&authority->lock);
    active = authority->active;
    pthread_mutex_unlock(&authority->lock);
    return active;
}

void hermes_authority_retire(struct hermes_authority *authority)
{
    pthread_mutex_lock(&authority->lock);
    authority->active = false;
    pthread_mutex_unlock(&authority->lock);
}

uint64_t hermes_authority_calls(struct hermes_authority *authority)
{
    uint64_t calls;

    pthread_mutex_lock(&authority->lock);
    calls = authority->calls;
    pthread_mutex_unlock(&authority->lock);
    return calls;
}

void hr_authority_limit(struct hermes_authority *authority, int64_t max_calls)
{
    authority->max_calls = max_calls;
}

void hr_authority_bind(struct hermes_authority *authority, const char *owner, uint64_t cell,
                       uint64_t kernel)
{
    char *copy = hr_strdup(owner);

    if (copy) {
        hr_free(authority->owner);
        authority->owner = copy;
    }
    authority->cell = cell;
    authority->kernel = kernel;
}

hermes_tool_fn hr_authority_handler(const struct hermes_authority *authority)
{
    return authority->handler;
}

char *hr_error_json(const char *format, ...)
{
    char text[1024];
    struct hr_buf json;
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hr_buf_init(&json, 0);
    hr_buf_add_text(&json, "{\"error\":");
    hr_json_add_string(&json, text, strlen(text));
    hr_buf_add_text(&json, "}");
    return hr_buf_take(&json);
}

static bool is_allowed(const struct hermes_authority *authority, const char *tool)
{
    if (!authority->tools)
        return true;
    for (const char *const *name = authority->tools; *name; name++)
        if (strcmp(*name, tool) == 0)
            return true;
    return false;
}

static char *refuse_tool(const struct hermes_authority *authority, const char *tool)
{
    struct hr_buf names;
    char *refusal;

    hr_buf_init(&names, 0);
    for (const char *const *name = authority->tools; name && *name; name++)
        hr_buf_printf(&names, "%s%s", names.size ? ", " : "", *name);
    refusal = hr_error_json("Tool '%.100s' is not available in execute_code. Available: %.700s",
                            tool, names.size ? names.data : "none");
    hr_buf_done(&names);
    return refusal;
}

char *hr_authority_admit(struct hermes_authority *authority, const char *tool, bool *ret_no_memory)
{
    char *refusal = NULL;
    bool admitted = false;

    pthread_mutex_lock(&authority->lock);
    if (!authority->active)
        refusal = hr_error_json(
            "No active execute_code cell: the cell that this call belongs to has ended. "
            "Call tools while a cell runs, from threads and workers that this cell made.");
    else if (!is_allowed(authority, tool))
        refusal = refuse_tool(authority, tool);
    else if (authority->max_calls >= 0 && authority->calls >= (uint64_t)authority->max_calls)
        refusal = hr_error_json("Tool call limit reached (%lld) in this cell",
                                (long long)authority->max_calls);
    else
        admitted = true;
    authority->calls += admitted;
    pthread_mutex_unlock(&authority->lock);
    *ret_no_memory = !admitted && !refusal;
    return refusal;
}

void hr_authority_give_back(struct hermes_authority *authority)
{
    pthread_mutex_lock(&authority->lock);
    if (authority->calls)
        authority->calls--;
    pthread_mutex_unlock(&authority->lock);
}

void hr_authority_fill_call(struct hermes_authority *authority, struct hermes_tool_call *call)
{
    call->cell = authority->cell;
    call->kernel = authority->kernel;
    call->owner = authority->owner;
    call->session = authority->session;
    call->task_id = authority->task_id;
    call->context = authority->context;
}

char *hermes_authority_dispatch(struct hermes_authority *authority, const char *tool,
                                const char *arguments)
{
    struct hermes_tool_call call = {.tool = tool ? tool : "",
                                    .arguments = arguments && *arguments ? arguments : "{}"};
    bool no_memory;
    char *answer, *copy;

    if (!authority->handler && hermes_authority_active(authority))
        return hr_error_json("No handler for tools is registered; '%.100s' was not run", call.tool);
    answer = hr_authority_admit(authority, call.tool, &no_memory);
    if (answer || no_memory)
        return answer;
    hr_authority_fill_call(authority, &call);
    answer = authority->handler(&call);
    if (!answer)
        return hr_error_json("The handler of '%.100s' gave no answer", call.tool);
    copy = hr_strdup(answer); /* one way to free for our callers, whatever allocator we use */
    free(answer);
    return copy;
}
