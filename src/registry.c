/* SPDX-License-Identifier: MIT */
/*
 * Which kernel serves a cell, and which kernels must go: keys, owners, the cap, idle limits, reset.
 * Knows kernels only as things that are listed, attached and used last at some time.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "kernel.h"

enum { OWNERS_MAX = 4096 };

const char *const hr_io_names[] = {"pipes", "onepipe", "tty"};

/* ---- owners ----------------------------------------------------------------------------- */

static void owner_free(struct hermes_engine *engine, struct hr_owner *owner)
{
    hr_list_remove(&owner->link);
    engine->owner_count--;
    hr_free(owner->name);
    hr_free(owner->session);
    hr_free(owner->child);
    hr_free(owner);
}

/*
 * Owners without kernels are remembered, so that a fresh kernel can say what became of the last;
 * but not without end.
 */
static void forget_old_owners(struct hermes_engine *engine)
{
    HR_LIST_EACH (link, &engine->owners) {
        struct hr_owner *owner = HR_CONTAINER(link, struct hr_owner, link);

        if (engine->owner_count <= OWNERS_MAX || link == engine->owners.previous)
            return;
        if (!owner->kernels && !owner->cells && !owner->pinned)
            owner_free(engine, owner);
    }
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

struct hr_owner *hr_registry_find_owner(struct hermes_engine *engine, const char *session,
                                        const char *child)
{
    HR_LIST_EACH (link, &engine->owners) {
        struct hr_owner *owner = HR_CONTAINER(link, struct hr_owner, link);

        if (strcmp(owner->session, session) == 0 && same_text(owner->child, child))
            return owner;
    }
    return NULL;
}

static struct hr_owner *owner_new(struct hermes_engine *engine, const char *session,
                                  const char *child)
{
    struct hr_owner *owner = hr_calloc(1, sizeof *owner);

    if (!owner)
        return NULL;
    owner->session = hr_strdup(session);
    owner->child = hr_strdup(child);
    owner->name = child ? hr_printf("%s::child::%s", session, child) : hr_strdup(session);
    hr_list_init(&owner->link);
    engine->owner_count++;
    if (!owner->session || !owner->name || (child && !owner->child)) {
        owner_free(engine, owner);
        return NULL;
    }
    hr_list_append(&engine->owners, &owner->link);
    forget_old_owners(engine);
    return owner;
}

/* ---- specs ------------------------------------------------------------------------------ */

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The tool set as sorted, unique lines; *ret NULL for all tools. */
static bool join_tools(const char *const *tools, char **ret)
{
    size_t count = 0;
    const char **sorted;
    struct hr_buf joined;

    *ret = NULL;
    if (!tools)
        return true;
    while (tools[count])
        count++;
    sorted = hr_malloc(count * sizeof *sorted);
    if (!sorted)
        return false;
    if (count)
        memcpy(sorted, tools, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, compare_names);
    hr_buf_init(&joined, 0);
    hr_buf_add(&joined, "", 0);
    for (size_t i = 0; i < count; i++)
        if (!i || strcmp(sorted[i], sorted[i - 1]) != 0)
            hr_buf_printf(&joined, "%s\n", sorted[i]);
    hr_free(sorted);
    *ret = hr_buf_take(&joined);
    return *ret != NULL;
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (hash ^ (text ? 0x100 : 0x101)) * UINT64_C(0x100000001b3);
}

static uint64_t hash_key(const struct hr_owner *owner, enum hermes_mode mode, const char *python,
                         const char *cwd, const char *tools)
{
    uint64_t hash = hash_text(UINT64_C(0xcbf29ce484222325), owner->name);

    hash = hash_text(hash ^ (uint64_t)mode, python);
    return hash_text(hash_text(hash, cwd), tools);
}

static bool same_place(const struct hr_spec *a, const struct hr_spec *b)
{
    return a->mode == b->mode && strcmp(a->python, b->python) == 0 && strcmp(a->cwd, b->cwd) == 0 &&
           same_text(a->tools, b->tools);
}

static bool same_key(const struct hr_spec *a, const struct hr_spec *b)
{
    return a->key_hash == b->key_hash && a->owner == b->owner && same_place(a, b);
}

static bool same_setup(const struct hr_spec *a, const struct hr_spec *b)
{
    return a->io == b->io && a->requests == b->requests && a->stdin_source == b->stdin_source &&
           a->env == b->env && same_text(a->script, b->script) && same_text(a->path0, b->path0) &&
           a->argv.size == b->argv.size &&
           (!a->argv.size || memcmp(a->argv.data, b->argv.data, a->argv.size) == 0);
}

bool hr_spec_differs_by_owner_only(const struct hr_spec *a, const struct hr_spec *b)
{
    return same_place(a, b) && same_setup(a, b);
}

void hr_spec_unref(struct hermes_engine *engine, struct hr_spec *spec)
{
    (void)engine;
    if (--spec->references)
        return;
    hr_free(spec->python);
    hr_free(spec->cwd);
    hr_free(spec->tools);
    hr_free(spec->script);
    hr_free(spec->path0);
    hr_free(spec->terminal);
    hr_buf_done(&spec->argv);
    hr_free(spec);
}

static bool copy_setup(struct hr_spec *spec, const struct hermes_kernel_setup *setup)
{
    static const struct hermes_kernel_setup defaults = HERMES_KERNEL_SETUP_INIT;

    if (!setup)
        setup = &defaults;
    spec->io = setup->io;
    spec->stdin_source = setup->stdin_source;
    spec->env = setup->env;
    spec->requests = setup->requests;
    spec->columns = setup->columns;
    spec->rows = setup->rows;
    spec->terminal = hr_strdup(setup->terminal ? setup->terminal : "xterm-256color");
    spec->script = hr_strdup(setup->script);
    spec->path0 = setup->path0                       ? hr_strdup(setup->path0)
                  : spec->mode == HERMES_MODE_STRICT ? NULL
                                                     : hr_strdup("");
    for (const char *const *item = setup->argv; item && *item; item++)
        hr_buf_add(&spec->argv, *item, strlen(*item) + 1);
    return !spec->argv.failed && spec->terminal && (!setup->script || spec->script) &&
           (spec->path0 || (!setup->path0 && spec->mode == HERMES_MODE_STRICT));
}

struct hr_spec *hr_spec_for_nobody(struct hermes_engine *engine, const struct hr_spec *spec)
{
    struct hr_spec *copy = hr_malloc(sizeof *copy);

    if (!copy)
        return NULL;
    *copy = *spec; /* the texts are not shared: */
    copy->references = 1;
    copy->owner = &engine->nobody;
    copy->key_hash = 0;
    copy->python = hr_strdup(spec->python);
    copy->cwd = hr_strdup(spec->cwd);
    copy->tools = hr_strdup(spec->tools);
    copy->script = hr_strdup(spec->script);
    copy->path0 = hr_strdup(spec->path0);
    copy->terminal = hr_strdup(spec->terminal);
    hr_buf_init(&copy->argv, 0);
    hr_buf_add(&copy->argv, spec->argv.data, spec->argv.size);
    if (!copy->python || !copy->cwd || !copy->terminal || (spec->tools && !copy->tools) ||
        (spec->script && !copy->script) || (spec->path0 && !copy->path0) || copy->argv.failed) {
        hr_spec_unref(engine, copy);
        return NULL;
    }
    return copy;
}

/* A cell's spec is that of the live kernel it fits, so that the usual cell copies no key. */
static struct hr_spec *share_spec(struct hermes_engine *engine, struct hr_spec *fresh, bool reset,
                                  bool *ret_mismatch)
{
    *ret_mismatch = false;
    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (!kernel->listed || reset || !same_key(kernel->spec, fresh))
            continue;
        if (same_setup(kernel->spec, fresh))
            return kernel->spec;
        *ret_mismatch = true;
    }
    return NULL;
}

int hr_spec_get(struct hermes_engine *engine, const struct hermes_cell *request, const char *python,
                const char *cwd, struct hr_spec **ret, struct hermes_error *error)
{
    const char *session = request->session ? request->session : request->task_id;
    struct hr_owner *owner = hr_registry_find_owner(engine, session, request->child_id);
    struct hr_spec *spec = hr_calloc(1, sizeof *spec), *shared;
    bool mismatch;

    if (!owner)
        owner = owner_new(engine, session, request->child_id);
    if (!spec || !owner) {
        hr_free(spec);
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    }
    spec->references = 1;
    spec->owner = owner;
    spec->mode = request->mode ? request->mode : (enum hermes_mode)engine->options.mode;
    spec->python = hr_strdup(python);
    spec->cwd = hr_strdup(cwd);
    if (!join_tools(request->tools, &spec->tools) || !spec->python || !spec->cwd ||
        !copy_setup(spec, request->setup)) {
        hr_spec_unref(engine, spec);
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    }
    spec->key_hash = hash_key(owner, spec->mode, spec->python, spec->cwd, spec->tools);
    shared = share_spec(engine, spec, request->flags & HERMES_CELL_RESET, &mismatch);
    if (shared || mismatch)
        hr_spec_unref(engine, spec);
    if (mismatch)
        return hr_error_set(
            error, HERMES_EMISMATCH, 0,
            "the live kernel of \"%.100s\" was started with other settings; reset it first",
            owner->name);
    if (shared) {
        shared->references++;
        spec = shared;
    }
    *ret = spec;
    return 0;
}

/* ---- kernels ---------------------------------------------------------------------------- */

void hr_registry_unlist(struct hr_kernel *kernel, enum hermes_previous cause, bool state_reset)
{
    struct hr_owner *owner = kernel->spec->owner;
    size_t at = 0;

    if (!kernel->listed)
        return;
    kernel->listed = false;
    while (at < HR_DEAD_KEYS - 1 && owner->dead[at].key_hash != kernel->spec->key_hash)
        at++;
    memmove(owner->dead + 1, owner->dead, at * sizeof owner->dead[0]);
    owner->dead[0].key_hash = kernel->spec->key_hash;
    owner->dead[0].cause = cause;
    owner->dead[0].state_reset = state_reset;
}

static void tell_what_was_before(struct hr_kernel *kernel)
{
    const struct hr_owner *owner = kernel->spec->owner;

    for (size_t i = 0; i < HR_DEAD_KEYS; i++) {
        if (owner->dead[i].key_hash == kernel->spec->key_hash && owner->dead[i].cause) {
            kernel->previous = owner->dead[i].cause;
            kernel->state_reset = owner->dead[i].state_reset;
            return;
        }
    }
    if (kernel->generation > 1)
        kernel->previous = HERMES_PREVIOUS_KEY_CHANGED;
}

/* ---- pins ------------------------------------------------------------------------------- */

/* Without pins it never is, for the cells that keep the kernels busy will end. */
bool hr_registry_is_full(const struct hermes_engine *engine)
{
    int64_t live = 0, pinned = 0;

    HR_LIST_EACH (link, &engine->kernels) {
        const struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (!kernel->listed || kernel->pinned)
            continue;
        live++;
        if (kernel->spec->owner->pinned)
            pinned++;
        else if (!HR_KERNEL_ATTACHED(kernel))
            return false;
    }
    return pinned && live >= engine->options.max_session_kernels;
}

int hr_registry_pin(struct hermes_engine *engine, const char *session, bool pinned)
{
    struct hr_owner *owner = hr_registry_find_owner(engine, session, NULL);

    if (!owner && !pinned)
        return 0;
    if (!owner)
        owner = owner_new(engine, session, NULL);
    if (!owner)
        return HERMES_ENOMEM;
    owner->pinned = pinned;
    hr_registry_trim(engine);
    hr_registry_arm_idle(engine);
    return 0;
}

/* ---- kernels for cells ------------------------------------------------------------------ */

struct hr_kernel *hr_registry_find(struct hermes_engine *engine, const struct hr_spec *spec)
{
    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (kernel->listed && (kernel->spec == spec || same_key(kernel->spec, spec)))
            return kernel;
    }
    return NULL;
}

int hr_registry_acquire(struct hermes_engine *engine, struct hr_spec *spec, bool reset,
                        struct hr_kernel **ret, struct hermes_error *error)
{
    struct hr_kernel *kernel = hr_registry_find(engine, spec);
    int status;

    if (kernel && reset) {
        hr_kernel_stop(kernel, HERMES_PREVIOUS_RESET);
        kernel = NULL;
    }
    if (!kernel && hr_registry_is_full(engine))
        return hr_error_set(error, HERMES_EAGAIN, 0,
                            "all kernels are pinned or busy, and there may be %lld",
                            (long long)engine->options.max_session_kernels);
    if (!kernel) {
        kernel = hr_spare_take(engine, spec);
        status = kernel ? 0 : hr_kernel_new(engine, spec, &kernel, error);
        if (status)
            return status;
        tell_what_was_before(kernel);
    }
    *ret = kernel;
    return 0;
}

void hr_registry_requeue(struct hr_kernel *kernel)
{
    bool moved = kernel->queued > 0;

    while (kernel->queued) {
        struct hr_cell *cell = HR_CONTAINER(kernel->queue.next, struct hr_cell, link);
        struct hermes_error error;
        struct hr_kernel *fresh = NULL;

        hr_list_remove(&cell->link);
        kernel->queued--;
        cell->kernel = NULL;
        if (kernel->engine->closing)
            hr_cell_not_run(cell, "the engine is shutting down");
        else if (hr_registry_acquire(kernel->engine, cell->spec, false, &fresh, &error))
            hr_cell_start_failed(cell, error.text);
        else
            hr_kernel_enqueue(fresh, cell);
    }
    if (moved)
        hr_registry_trim(kernel->engine); /* its place may have been taken meanwhile */
}

/* A kernel that is being killed keeps its queue until it is gone: no new cell may overtake that. */
void hr_registry_keep_order(struct hermes_engine *engine, const struct hr_spec *spec)
{
    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (kernel->state == HERMES_KERNEL_STOPPING && !hr_kernel_cannot_start(kernel) &&
            same_key(kernel->spec, spec))
            hr_registry_requeue(kernel);
    }
}

/* ---- limits ----------------------------------------------------------------------------- */

void hr_registry_trim(struct hermes_engine *engine)
{
    for (;;) {
        struct hr_kernel *oldest = NULL;
        int64_t live = 0;

        HR_LIST_EACH (link, &engine->kernels) {
            struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

            if (!kernel->listed || kernel->pinned)
                continue;
            live++;
            if (!HR_KERNEL_ATTACHED(kernel) && !kernel->spec->owner->pinned &&
                (!oldest || kernel->last_used_ns < oldest->last_used_ns))
                oldest = kernel;
        }
        if (live <= engine->options.max_session_kernels || !oldest)
            return;
        hr_kernel_stop(oldest, HERMES_PREVIOUS_EVICTED);
    }
}

static void sweep_idle(struct hr_timer *timer)
{
    struct hermes_engine *engine = HR_CONTAINER(timer, struct hermes_engine, idle_timer);
    int64_t limit = engine->options.kernel_idle_timeout_ms * 1000000, now = hr_now_ns(),
            next = HR_NEVER;
    bool any = false;

    if (!limit)
        return;
    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);
        bool stays = HR_KERNEL_ATTACHED(kernel) || kernel->spec->owner->pinned;

        if (kernel->listed && !stays && now - kernel->last_used_ns >= limit)
            hr_kernel_stop(kernel, HERMES_PREVIOUS_IDLE);
        else if (kernel->listed && !stays && kernel->last_used_ns + limit < next)
            next = kernel->last_used_ns + limit;
        any |= kernel->listed;
    }
    if (!any) /* nobody has come for so long that nobody is waited for */
        hr_spare_drop_all(engine);
    if (next != HR_NEVER)
        hr_timer_start(engine->loop, timer, next, sweep_idle);
}

void hr_registry_arm_idle(struct hermes_engine *engine)
{
    int64_t limit = engine->options.kernel_idle_timeout_ms * 1000000, due = hr_now_ns() + limit;

    /* a timer that fires too early looks again; one that fires too late would be wrong */
    if (limit && (!engine->idle_timer.position || engine->idle_timer.due_ns > due))
        hr_timer_start(engine->loop, &engine->idle_timer, due, sweep_idle);
}
