/* SPDX-License-Identifier: MIT */
/*
 * Sessions and kernels as the host sees them: reset, close, clear, wait, list.
 */
#include "config.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "alloc.h"
#include "engine-private.h"
#include "env.h"

/* ---- sessions and kernels --------------------------------------------------------------- */

enum end_kind { END_RESET, END_CLOSE, END_CLEAR };

static void end_kernel(struct hr_kernel *kernel, enum end_kind kind)
{
    if (kernel->state == HERMES_KERNEL_PARKED) {
        if (kind != END_RESET) {
            hr_checkpoint_forget(kernel);
            hr_kernel_kill(kernel, HERMES_PREVIOUS_KILLED);
        }
        return;
    }
    if (kind != END_RESET)
        hr_checkpoint_forget(kernel);
    switch (kind) {
    case END_RESET:
        hr_kernel_settle_queue(kernel, "the session was reset");
        if (!hr_undo_park(kernel))
            hr_kernel_kill(kernel, HERMES_PREVIOUS_RESET);
        break;
    case END_CLOSE:
        hr_kernel_settle_queue(kernel, "the session was closed");
        hr_kernel_stop(kernel, HERMES_PREVIOUS_EXITED);
        break;
    case END_CLEAR:
        hr_kernel_settle_queue(kernel, "the session was cleared");
        hr_kernel_kill(kernel, HERMES_PREVIOUS_KILLED);
        break;
    }
}

/* Lock held. Returns the owner, NULL when it has no kernel. */
static struct hr_owner *end_owner(struct hermes_engine *engine, const char *session,
                                  const char *child, enum end_kind kind)
{
    struct hr_owner *owner = session ? hr_registry_find_owner(engine, session, child) : NULL;
    bool any = false;

    if (!owner || !owner->kernels)
        return NULL;
    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (kernel->spec->owner != owner)
            continue;
        any |= kernel->state != HERMES_KERNEL_PARKED || kind != END_RESET;
        end_kernel(kernel, kind);
    }
    return any ? owner : NULL;
}

static int end_and_return(struct hermes_engine *engine, const char *session, const char *child,
                          enum end_kind kind)
{
    int status;

    hr_engine_lock(engine);
    status = end_owner(engine, session, child, kind) ? 0 : HERMES_ENOENT;
    hr_engine_unlock(engine);
    return status;
}

int hermes_reset(struct hermes_engine *engine, const char *session, const char *child_id)
{
    return end_and_return(engine, session, child_id, END_RESET);
}

int hermes_close(struct hermes_engine *engine, const char *session, const char *child_id)
{
    return end_and_return(engine, session, child_id, END_CLOSE);
}

/* All kernels of an owner that were there when the wait began. */
struct gone_wait {
    const struct hr_owner *owner;
    uint64_t up_to;
};

static bool owner_gone(struct hermes_engine *engine, void *argument)
{
    const struct gone_wait *wait = argument;

    HR_LIST_EACH (link, &engine->kernels) {
        const struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (kernel->spec->owner == wait->owner && kernel->id <= wait->up_to)
            return false;
    }
    return true;
}

static int end_and_wait(struct hermes_engine *engine, const char *session, const char *child)
{
    struct gone_wait wait = {0};

    hr_engine_lock(engine);
    wait.owner = end_owner(engine, session, child, END_CLEAR);
    wait.up_to = engine->next_id;
    if (wait.owner)
        hr_engine_wait(engine, owner_gone, &wait, HR_NEVER);
    hr_engine_unlock(engine);
    return 0;
}

int hermes_session_clear(struct hermes_engine *engine, const char *session)
{
    return session ? end_and_wait(engine, session, NULL) : HERMES_EINVAL;
}

int hermes_child_end(struct hermes_engine *engine, const char *session, const char *child_id)
{
    return session && child_id ? end_and_wait(engine, session, child_id) : HERMES_EINVAL;
}

int hermes_pin(struct hermes_engine *engine, const char *session, bool pinned)
{
    int status;

    if (!session || !*session || strstr(session, "::"))
        return HERMES_EINVAL;
    hr_engine_lock(engine);
    status = hr_registry_pin(engine, session, pinned);
    hr_engine_unlock(engine);
    return status;
}

struct hr_kernel *hr_engine_find_kernel(struct hermes_engine *engine, uint64_t id)
{
    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (kernel->id == id && !kernel->spare)
            return kernel;
    }
    return NULL;
}

static bool kernel_gone(struct hermes_engine *engine, void *argument)
{
    return !hr_engine_find_kernel(engine, *(uint64_t *)argument);
}

int hermes_kernel_wait(struct hermes_engine *engine, uint64_t kernel, int64_t timeout_ms)
{
    int gone;

    hr_engine_lock(engine);
    hr_engine_wait(engine, kernel_gone, &kernel,
                   timeout_ms < 0 ? HR_NEVER : hr_later_ns(hr_now_ns(), timeout_ms));
    gone = kernel_gone(engine, &kernel);
    hr_engine_unlock(engine);
    return gone;
}

struct hermes_authority *hermes_kernel_authority(struct hermes_engine *engine, uint64_t id)
{
    struct hermes_authority *authority = NULL;
    struct hr_kernel *kernel;

    hr_engine_lock(engine);
    kernel = hr_engine_find_kernel(engine, id);
    if (kernel)
        authority = kernel->authority;
    for (size_t i = 0; !kernel && i < HR_DEAD_AUTHORITIES; i++)
        if (engine->dead[i].kernel == id)
            authority = engine->dead[i].authority;
    if (authority)
        hermes_authority_ref(authority);
    hr_engine_unlock(engine);
    return authority;
}

/* ---- what there is ---------------------------------------------------------------------- */

static bool add_string(cJSON *object, const char *name, const char *text)
{
    struct hr_buf json;
    bool done;

    if (!text)
        return cJSON_AddNullToObject(object, name) != NULL;
    hr_buf_init(&json, 0);
    done = hr_json_add_string(&json, text, strlen(text)) &&
           cJSON_AddRawToObject(object, name, json.data);
    hr_buf_done(&json);
    return done;
}

static bool add_tools(cJSON *object, const char *tools)
{
    cJSON *list;

    if (!tools)
        return cJSON_AddNullToObject(object, "tools") != NULL;
    list = cJSON_AddArrayToObject(object, "tools");
    for (const char *end; list && *tools; tools = end + 1) {
        char *name;
        cJSON *item;

        end = strchr(tools, '\n');
        name = hr_memdup(tools, (size_t)(end - tools));
        item = name ? cJSON_CreateString(name) : NULL;
        hr_free(name);
        if (!item || !cJSON_AddItemToArray(list, item)) {
            cJSON_Delete(item);
            return false;
        }
    }
    return list != NULL;
}

static bool describe_kernel(cJSON *list, const struct hr_kernel *kernel)
{
    const struct hr_spec *spec = kernel->spec;
    double now = (double)hr_now_ns();
    cJSON *object = cJSON_CreateObject();

    if (!object || !cJSON_AddItemToArray(list, object)) {
        cJSON_Delete(object);
        return false;
    }
    return cJSON_AddNumberToObject(object, "id", (double)kernel->id) &&
           add_string(object, "owner", spec->owner->name) &&
           add_string(object, "session", spec->owner->session) &&
           add_string(object, "child", spec->owner->child) &&
           add_string(object, "mode", spec->mode == HERMES_MODE_STRICT ? "strict" : "project") &&
           add_string(object, "python", spec->python) && add_string(object, "cwd", spec->cwd) &&
           add_tools(object, spec->tools) && add_string(object, "io", hr_io_names[spec->io]) &&
           add_string(object, "state", hr_kernel_state_name(kernel->state)) &&
           cJSON_AddNumberToObject(object, "pid", kernel->process.python) &&
           cJSON_AddNumberToObject(object, "guard_pid", kernel->process.child) &&
           cJSON_AddNumberToObject(object, "execution_count", (double)kernel->execution_count) &&
           cJSON_AddNumberToObject(object, "generation", (double)kernel->generation) &&
           cJSON_AddNumberToObject(object, "attached", (double)HR_KERNEL_ATTACHED(kernel)) &&
           cJSON_AddBoolToObject(object, "pinned", kernel->pinned || spec->owner->pinned) &&
           cJSON_AddNumberToObject(object, "age_seconds",
                                   (now - (double)kernel->started_ns) / 1e9) &&
           cJSON_AddNumberToObject(
               object, "idle_seconds",
               HR_KERNEL_ATTACHED(kernel) ? 0 : (now - (double)kernel->last_used_ns) / 1e9);
}

char *hermes_kernels_json(struct hermes_engine *engine)
{
    cJSON *list = cJSON_CreateArray();
    bool complete = list != NULL;
    char *printed, *text;

    hr_engine_lock(engine);
    HR_LIST_EACH (link, &engine->kernels) {
        const struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (complete && kernel->listed)
            complete = describe_kernel(list, kernel);
    }
    hr_engine_unlock(engine);
    printed = complete ? cJSON_PrintUnformatted(list) : NULL;
    cJSON_Delete(list);
    text = hr_strdup(printed);
    cJSON_free(printed);
    return text;
}

char *hermes_explain_env(struct hermes_engine *engine, enum hermes_env env)
{
    extern char **environ;
    struct hr_env_request request = {.policy = env, .host = environ};
    const char *set[] = {"HERMES_TREE_ID", "", NULL};
    char *passthrough, *text;

    hr_engine_lock(engine);
    passthrough = hr_strdup(engine->options.env_passthrough);
    hr_engine_unlock(engine);
    request.passthrough = passthrough;
    request.set = set;
    text = hr_env_explain(&request);
    hr_free(passthrough);
    return text;
}
