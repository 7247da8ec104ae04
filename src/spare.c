/* SPDX-License-Identifier: MIT */
/*
 * Spares: kernels that are started before anybody needs them, so that a reset or a new session does
 * not wait for an interpreter. A spare is made like the newest kernel, when nothing has happened
 * for a moment, and becomes a kernel only where a fresh one would be the same: of equal settings,
 * with the environment that the host has now, in the same directory, and with all files as they
 * were that decide how an interpreter starts. Where that is not so it ends; nobody is told that it
 * was there. Knows kernels and specs, not cells.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "alloc.h"
#include "env.h"
#include "kernel-private.h"

#define QUIET_NS INT64_C(100000000)
#define BACK_OFF_NS INT64_C(1000000000)
enum { BACK_OFF_DOUBLINGS = 9, HELD_MAX = 64 << 10 };

struct stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec changed;
};

struct hr_spare {
    char **environment;
    struct stamp directory; /* which it is, not what is in it */
    char *files;            /* names, each with its NUL; NULL: not ready yet */
    size_t files_size;
    struct stamp *stamps;
    struct hr_link held; /* output, as events */
    size_t held_bytes;
    bool dropped; /* we have ended it ourselves */
};

/* ---- is it still what a fresh kernel would be? ------------------------------------------ */

/* All zero for what is not there. */
static struct stamp stamp_of(const char *path)
{
    struct stamp stamp;
    struct stat info;

    memset(&stamp, 0, sizeof stamp); /* they are compared as bytes */
    if (stat(path, &info) == 0) {
        stamp.device = info.st_dev;
        stamp.inode = info.st_ino;
        stamp.size = info.st_size;
        stamp.changed.tv_sec = info.st_mtim.tv_sec;
        stamp.changed.tv_nsec = info.st_mtim.tv_nsec;
    }
    return stamp;
}

static struct stamp identity_of(const char *directory)
{
    struct stamp stamp = stamp_of(directory);

    stamp.size = 0;
    memset(&stamp.changed, 0, sizeof stamp.changed);
    return stamp;
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static bool files_are_unchanged(const struct hr_spare *spare)
{
    size_t n = 0;

    for (size_t at = 0; at < spare->files_size; at += strlen(spare->files + at) + 1) {
        struct stamp now = stamp_of(spare->files + at);

        if (!same_stamp(&now, &spare->stamps[n++]))
            return false;
    }
    return true;
}

static bool environment_is_unchanged(const struct hr_kernel *kernel, const struct hr_spec *spec)
{
    char **now = hr_kernel_environment(kernel, spec), **then = kernel->spare->environment;
    size_t n = 0;
    bool same;

    while (now && now[n] && then[n] && strcmp(now[n], then[n]) == 0)
        n++;
    same = now && !now[n] && !then[n];
    hr_env_free(now);
    return same;
}

/* Whether somebody has ended it, and the news of that has not come yet. */
static bool lives(const struct hr_kernel *kernel)
{
    char byte;
    ssize_t n = recv(kernel->control.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);

    return n < 0 ? errno == EAGAIN || errno == EINTR : n > 0 && !kernel->ready;
}

static bool fits(const struct hr_kernel *kernel, const struct hr_spec *spec)
{
    struct stamp directory = identity_of(spec->cwd);

    return hr_spec_differs_by_owner_only(kernel->spec, spec) &&
           same_stamp(&directory, &kernel->spare->directory) &&
           environment_is_unchanged(kernel, spec) && files_are_unchanged(kernel->spare) &&
           lives(kernel);
}

/*
 * Not for a delegated child, which has another environment, nor for what depends on the host's own
 * directory or standard input of the moment.
 */
static bool can_have_spares(const struct hr_spec *spec)
{
    return !spec->owner->child && spec->stdin_source == HERMES_STDIN_NONE && *spec->python == '/' &&
           (*spec->cwd || spec->mode == HERMES_MODE_STRICT);
}

/* ---- the beginning ---------------------------------------------------------------------- */

static void failed(struct hermes_engine *engine)
{
    unsigned doublings =
        engine->spares_lost < BACK_OFF_DOUBLINGS ? engine->spares_lost : BACK_OFF_DOUBLINGS;

    engine->spare_after_ns = hr_now_ns() + (BACK_OFF_NS << doublings);
    engine->spares_lost++;
}

static void spare_free(struct hr_spare *spare)
{
    HR_LIST_EACH (link, &spare->held) {
        hr_list_remove(link);
        hermes_event_free(&HR_CONTAINER(link, struct hr_event, link)->public);
    }
    hr_env_free(spare->environment);
    hr_free(spare->files);
    hr_free(spare->stamps);
    hr_free(spare);
}

void hr_spare_free(struct hr_kernel *kernel)
{
    if (kernel->spare)
        spare_free(kernel->spare);
    kernel->spare = NULL;
}

static void drop(struct hr_kernel *kernel)
{
    kernel->spare->dropped = true;
    hr_kernel_kill(kernel, HERMES_PREVIOUS_KILLED);
}

static void start(struct hermes_engine *engine, const struct hr_spec *like)
{
    struct hr_spec *spec = hr_spec_for_nobody(engine, like);
    struct hr_spare *spare = hr_calloc(1, sizeof *spare);
    struct hr_kernel *kernel = NULL;
    struct hermes_error error;

    if (spare) {
        hr_list_init(&spare->held);
        spare->directory = identity_of(like->cwd);
    }
    if (!spec || !spare || hr_kernel_spawn(engine, spec, &kernel, &error)) {
        failed(engine);
        hr_free(spare);
    } else {
        kernel->spare = spare;
        engine->spares++;
        spare->environment = hr_kernel_environment(kernel, spec);
        if (!spare->environment || !hr_kernel_send_init(kernel, NULL))
            hr_kernel_kill(kernel, HERMES_PREVIOUS_DIED);
    }
    if (spec)
        hr_spec_unref(engine, spec);
}

/*
 * While a cell runs or a kernel starts, a second interpreter would take time away from it; there
 * will be another moment.
 */
static void moment_came(struct hr_timer *timer)
{
    struct hermes_engine *engine = HR_CONTAINER(timer, struct hermes_engine, spare_timer);
    const struct hr_kernel *newest = NULL;
    int64_t used_ns = 0;

    if (engine->closing || engine->spares >= engine->options.spare_kernels)
        return;
    HR_LIST_EACH (link, &engine->kernels) {
        const struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (hr_kernel_is_ending(kernel))
            continue;
        if (!kernel->ready || HR_KERNEL_ATTACHED(kernel))
            return;
        if (kernel->last_used_ns > used_ns)
            used_ns = kernel->last_used_ns;
        if (kernel->listed && can_have_spares(kernel->spec) && (!newest || kernel->id > newest->id))
            newest = kernel;
    }
    if (newest && hr_now_ns() - used_ns < QUIET_NS)
        hr_timer_start(engine->loop, timer, used_ns + QUIET_NS, moment_came);
    else if (newest)
        start(engine, newest->spec);
}

void hr_spare_arm(struct hermes_engine *engine)
{
    int64_t now;

    if (engine->spares >= engine->options.spare_kernels || engine->spare_timer.position ||
        engine->closing || hr_list_empty(&engine->kernels))
        return;
    now = hr_now_ns();
    if (now >= engine->spare_after_ns)
        hr_timer_start(engine->loop, &engine->spare_timer, now + QUIET_NS, moment_came);
}

/* ---- its life --------------------------------------------------------------------------- */

void hr_spare_ready(struct hr_kernel *kernel, const char *files, size_t size)
{
    struct hr_spare *spare = kernel->spare;
    size_t count = 0, n = 0;

    for (size_t i = 0; i < size; i++)
        count += !files[i];
    if (!size || files[size - 1]) {
        hr_kernel_fault(kernel, "a READY without the files of a spare");
        return;
    }
    spare->stamps = hr_calloc(count, sizeof *spare->stamps);
    spare->files = spare->stamps ? hr_memdup(files, size) : NULL;
    if (!spare->files) {
        hr_kernel_kill(kernel, HERMES_PREVIOUS_DIED);
        return;
    }
    spare->files_size = size;
    for (size_t at = 0; at < size; at += strlen(files + at) + 1)
        spare->stamps[n++] = stamp_of(files + at);
}

/* What is written at the start belongs to who gets the kernel; who writes for ever is no spare. */
void hr_spare_hold(struct hr_kernel *kernel, struct hr_event *event)
{
    struct hr_spare *spare = kernel->spare;

    if (!event || hr_kernel_is_ending(kernel)) {
        if (event)
            hermes_event_free(&event->public);
        return;
    }
    spare->held_bytes += event->public.size;
    hr_list_append(&spare->held, &event->link);
    if (spare->held_bytes > HELD_MAX)
        hr_kernel_kill(kernel, HERMES_PREVIOUS_DIED);
}

/* It stops being one, and not because it was taken. */
void hr_spare_ends(struct hr_kernel *kernel)
{
    kernel->engine->spares--;
    if (!kernel->spare->dropped && !kernel->engine->closing)
        failed(kernel->engine);
}

void hr_spare_drop_all(struct hermes_engine *engine)
{
    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (kernel->spare && !hr_kernel_is_ending(kernel))
            drop(kernel);
    }
}

/* ---- it becomes a kernel ---------------------------------------------------------------- */

static void tell_what_was_held(struct hr_kernel *kernel, struct hr_spare *spare)
{
    HR_LIST_EACH (link, &spare->held) {
        struct hr_event *event = HR_CONTAINER(link, struct hr_event, link);

        hr_list_remove(link);
        event->public.kernel = kernel->id;
        if (kernel->engine->event_wanted)
            hr_event_push(kernel->engine, event);
        else
            hermes_event_free(&event->public);
    }
}

static void become_kernel(struct hr_kernel *kernel, struct hr_spec *spec)
{
    struct hermes_engine *engine = kernel->engine;
    struct hr_spec *before = kernel->spec;
    struct hr_spare *spare = kernel->spare;

    engine->spares--;
    engine->spares_lost = 0;
    kernel->spare = NULL;
    kernel->bind_due = true;
    kernel->spec = spec;
    spec->references++;
    spec->owner->kernels++;
    before->owner->kernels--;
    hr_spec_unref(engine, before);
    if (kernel->tty)
        hr_tty_take_size(kernel);
    hr_kernel_introduce(kernel);
    tell_what_was_held(kernel, spare);
    spare_free(spare);
    if (kernel->ready)
        hr_kernel_set_state(kernel, HERMES_KERNEL_IDLE);
    hr_spare_arm(engine);
}

struct hr_kernel *hr_spare_take(struct hermes_engine *engine, struct hr_spec *spec)
{
    struct hr_kernel *taken = NULL;

    if (!engine->spares || !can_have_spares(spec))
        return NULL;
    HR_LIST_EACH (link, &engine->kernels) {
        struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (!kernel->spare || hr_kernel_is_ending(kernel))
            continue;
        if (!fits(kernel, spec))
            drop(kernel); /* nor is it like the newest kernel any more */
        else if (!taken || (kernel->ready && !taken->ready))
            taken = kernel;
    }
    if (taken)
        become_kernel(taken, spec);
    return taken;
}
