/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "poll-parts.h"

#if defined(__linux__) && !defined(HERMES_NO_EPOLL)
#define USE_EPOLL 1
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif

enum {
    BATCH = 64,
    LOOK_AGAIN_NS = 30000,
    QUICK_NS = 60000,
    TRY_AGAIN_NS = 10000000,
    PARTS_PAUSE_NS = 5000000
};

struct hr_loop {
    void (*lock)(void *), (*unlock)(void *);
    void *context;

    struct hr_timer **heap; /* 1-based binary heap by (due, order) */
    size_t timers, reserved, heap_capacity;
    uint64_t next_order;

    struct hr_watch wake;
    int wake_write;
    atomic_bool woken;
    bool sleeping;
    int64_t sleep_until_ns;

#ifdef USE_EPOLL
    int epoll;
    struct epoll_event ready[BATCH];
    int ready_count;
    struct hr_watch *preferred;
    bool quick;   /* the last wait for it was short; the driver's alone */
    bool removed; /* a watch went while somebody slept */
#else
    struct hr_watch **slots; /* NULL: free */
    size_t slot_count, slot_capacity;
    struct pollfd *set; /* what the poll in progress looks at, slot by slot */
    struct hr_watch **set_watches;
    size_t set_count, set_capacity;
#endif
};

int64_t hr_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t hr_later_ns(int64_t from_ns, int64_t ms)
{
    return ms < (HR_NEVER - from_ns) / 1000000 ? from_ns + ms * 1000000 : HR_NEVER;
}

/* ---- timers ----------------------------------------------------------------------------- */

static bool timer_before(const struct hr_timer *a, const struct hr_timer *b)
{
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->order < b->order;
}

static void heap_put(struct hr_loop *loop, size_t position, struct hr_timer *timer)
{
    loop->heap[position] = timer;
    timer->position = position;
}

static void heap_sift(struct hr_loop *loop, size_t position)
{
    struct hr_timer *timer = loop->heap[position];
    size_t child;

    for (; position > 1 && timer_before(timer, loop->heap[position / 2]); position /= 2)
        heap_put(loop, position, loop->heap[position / 2]);
    for (; (child = position * 2) <= loop->timers; position = child) {
        if (child < loop->timers && timer_before(loop->heap[child + 1], loop->heap[child]))
            child++;
        if (!timer_before(loop->heap[child], timer))
            break;
        heap_put(loop, position, loop->heap[child]);
    }
    heap_put(loop, position, timer);
}

bool hr_timer_reserve(struct hr_loop *loop, size_t timers)
{
    size_t capacity = loop->heap_capacity;
    struct hr_timer **heap;

    while (capacity < loop->reserved + timers + 1)
        capacity = capacity ? capacity * 2 : 32;
    if (capacity > loop->heap_capacity) {
        heap = hr_realloc(loop->heap, capacity * sizeof *heap);
        if (!heap)
            return false;
        loop->heap = heap;
        loop->heap_capacity = capacity;
    }
    loop->reserved += timers;
    return true;
}

void hr_timer_release(struct hr_loop *loop, size_t timers)
{
    loop->reserved -= timers;
}

void hr_timer_start(struct hr_loop *loop, struct hr_timer *timer, int64_t due_ns,
                    void (*fire)(struct hr_timer *))
{
    timer->fire = fire;
    if (!timer->position)
        heap_put(loop, ++loop->timers, timer);
    timer->due_ns = due_ns;
    timer->order = loop->next_order++;
    heap_sift(loop, timer->position);
    if (loop->sleeping && due_ns < loop->sleep_until_ns)
        hr_loop_wake(loop);
}

void hr_timer_stop(struct hr_loop *loop, struct hr_timer *timer)
{
    size_t position = timer->position;
    struct hr_timer *last;

    if (!position)
        return;
    timer->position = 0;
    last = loop->heap[loop->timers--];
    if (last != timer) {
        heap_put(loop, position, last);
        heap_sift(loop, position);
    }
}

static void run_due_timers(struct hr_loop *loop)
{
    int64_t now = hr_now_ns();
    uint64_t limit = loop->next_order;

    while (loop->timers) {
        struct hr_timer *timer = loop->heap[1];

        if (timer->due_ns > now || timer->order >= limit)
            return;
        hr_timer_stop(loop, timer);
        timer->fire(timer);
    }
}

/* ---- wake-up ---------------------------------------------------------------------------- */

void hr_loop_wake(struct hr_loop *loop)
{
    int saved_errno = errno;
    uint64_t one = 1;

    if (!atomic_exchange(&loop->woken, true)) {
        ssize_t ignored = write(loop->wake_write, &one, sizeof one);
        (void)ignored; /* full means that a wake-up is pending already */
    }
    errno = saved_errno;
}

/*
 * A wake-up between the read and the store writes nothing, and needs not: we are awake and look at
 * everything that was changed before it. The other order would leave the flag set with nothing to
 * read, and every later wake-up would be lost.
 */
static void wake_ready(struct hr_watch *watch, unsigned events)
{
    struct hr_loop *loop = (struct hr_loop *)((char *)watch - offsetof(struct hr_loop, wake));
    char drain[64];

    (void)events;
    while (read(watch->fd, drain, sizeof drain) == sizeof drain)
        continue;
    atomic_store(&loop->woken, false);
}

#ifdef USE_EPOLL
static int open_wake(int ends[2])
{
    if (HR_FAULT(HR_FAULT_PIPE))
        return EMFILE;
    ends[0] = ends[1] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return ends[0] < 0 ? errno : 0;
}
#else
static int open_wake(int ends[2])
{
    if (HR_FAULT(HR_FAULT_PIPE))
        return EMFILE;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return errno;
    return 0;
}
#endif

/* ---- backends --------------------------------------------------------------------------- */

#ifdef USE_EPOLL

static struct epoll_event epoll_wish(struct hr_watch *watch)
{
    struct epoll_event wish = {.data.ptr = watch};

    wish.events =
        (watch->events & HR_READ ? EPOLLIN : 0u) | (watch->events & HR_WRITE ? EPOLLOUT : 0u);
    return wish;
}

static int backend_open(struct hr_loop *loop)
{
    if (HR_FAULT(HR_FAULT_OPEN))
        return EMFILE;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    return loop->epoll < 0 ? errno : 0;
}

static void backend_close(struct hr_loop *loop)
{
    if (loop->epoll >= 0)
        close(loop->epoll);
}

/*
 * A watch for nothing is not in the set at all: epoll reports hang-ups whether they are wanted or
 * not, and a paused stream whose writer has gone would spin. The preferred watch is not in it
 * either: it is looked at by poll.
 */
static int backend_add(struct hr_loop *loop, struct hr_watch *watch)
{
    struct epoll_event wish = epoll_wish(watch);

    if (!watch->events)
        return 0;
    return epoll_ctl(loop->epoll, EPOLL_CTL_ADD, watch->fd, &wish) ? errno : 0;
}

static void backend_change(struct hr_loop *loop, struct hr_watch *watch, unsigned old)
{
    struct epoll_event wish = epoll_wish(watch);
    int operation = !watch->events ? EPOLL_CTL_DEL : old ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    if (watch != loop->preferred)
        epoll_ctl(loop->epoll, operation, watch->fd, &wish);
    else if (loop->sleeping)
        hr_loop_wake(loop);
}

static void backend_remove(struct hr_loop *loop, struct hr_watch *watch)
{
    struct epoll_event none = {0};

    if (watch == loop->preferred)
        loop->preferred = NULL;
    else if (watch->events)
        epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, &none);
    for (int i = 0; i < loop->ready_count; i++)
        if (loop->ready[i].data.ptr == watch)
            loop->ready[i].data.ptr = NULL;
    loop->removed |= loop->sleeping;
}

void hr_loop_prefer(struct hr_loop *loop, struct hr_watch *watch)
{
    struct hr_watch *old = loop->preferred;
    struct epoll_event none = {0};

    if (watch == old || watch->fd < 0 || loop->sleeping)
        return; /* a sleeper looks where it began to look */
    loop->preferred = NULL;
    if (old && backend_add(loop, old)) { /* no memory: all stays as it was */
        loop->preferred = old;
        return;
    }
    if (watch->events)
        epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, &none);
    loop->preferred = watch;
}

/*
 * Wait for the preferred descriptor (both[0]) or any other (both[1]). While answers come within
 * some microseconds we look again for as long instead of going to sleep, and let others run in
 * between: to be woken takes longer than that.
 */
static void wait_for_both(struct hr_loop *loop, struct pollfd both[2], const struct timespec *limit)
{
    int64_t begin = hr_now_ns();
    int n = 0;

    while (loop->quick && both[0].fd >= 0 && !n && hr_now_ns() - begin < LOOK_AGAIN_NS) {
        sched_yield();
        n = poll(both, 2, 0);
    }
    if (!n)
        n = ppoll(both, 2, limit, NULL);
    loop->quick = both[0].fd >= 0 && hr_now_ns() - begin < QUICK_NS;
    if (n < 0)
        both[0].revents = both[1].revents = 0;
}

static void backend_wait(struct hr_loop *loop, int64_t wait_ns)
{
    struct timespec limit = {wait_ns / 1000000000, wait_ns % 1000000000};
    struct hr_watch *preferred = loop->preferred;
    struct pollfd both[2] = {{-1, 0, 0}, {loop->epoll, POLLIN, 0}};
    int n = 0, found = 0;

    if (preferred) {
        both[0].fd = preferred->events ? preferred->fd : -1;
        both[0].events = (short)((preferred->events & HR_READ ? POLLIN : 0) |
                                 (preferred->events & HR_WRITE ? POLLOUT : 0));
    }
    loop->unlock(loop->context);
    wait_for_both(loop, both, wait_ns == HR_NEVER ? NULL : &limit);
    if (both[0].revents)
        loop->ready[found++] =
            (struct epoll_event){.events = (uint32_t)both[0].revents, .data.ptr = preferred};
    if (both[1].revents)
        n = epoll_wait(loop->epoll, loop->ready + found, BATCH - found, 0);
    loop->lock(loop->context);
    /*
     * What was found ready before a watch was removed may be that watch. What still is ready is
     * told again in the next step.
     */
    loop->ready_count = loop->removed ? 0 : found + (n > 0 ? n : 0);
    loop->removed = false;
}

static void backend_dispatch(struct hr_loop *loop)
{
    for (int i = 0; i < loop->ready_count; i++) {
        struct hr_watch *watch = loop->ready[i].data.ptr;
        unsigned got = loop->ready[i].events, events;

        if (!watch)
            continue;
        events = (got & (EPOLLIN | EPOLLHUP | EPOLLERR) ? HR_READ : 0u) |
                 (got & (EPOLLOUT | EPOLLHUP | EPOLLERR) ? HR_WRITE : 0u);
        if (events & watch->events)
            watch->ready(watch, events & watch->events);
    }
    loop->ready_count = 0;
}

#else /* poll */

static int backend_open(struct hr_loop *loop)
{
    (void)loop;
    return 0;
}

static void backend_close(struct hr_loop *loop)
{
    hr_free(loop->slots);
    hr_free(loop->set);
    hr_free(loop->set_watches);
}

/* The sleeper looks at an old set. */
static void backend_changed(struct hr_loop *loop)
{
    if (loop->sleeping)
        hr_loop_wake(loop);
}

static int backend_add(struct hr_loop *loop, struct hr_watch *watch)
{
    size_t slot;

    for (slot = 0; slot < loop->slot_count && loop->slots[slot]; slot++)
        continue;
    if (slot == loop->slot_capacity) {
        size_t capacity = loop->slot_capacity ? loop->slot_capacity * 2 : 16;
        struct hr_watch **slots = hr_realloc(loop->slots, capacity * sizeof *slots);

        if (!slots)
            return ENOMEM;
        loop->slots = slots;
        loop->slot_capacity = capacity;
    }
    if (slot == loop->slot_count)
        loop->slot_count++;
    loop->slots[slot] = watch;
    watch->slot = slot;
    backend_changed(loop);
    return 0;
}

static void backend_change(struct hr_loop *loop, struct hr_watch *watch, unsigned old)
{
    (void)watch, (void)old;
    backend_changed(loop);
}

static void backend_remove(struct hr_loop *loop, struct hr_watch *watch)
{
    loop->slots[watch->slot] = NULL;
    for (size_t i = 0; i < loop->set_count; i++)
        if (loop->set_watches[i] == watch)
            loop->set_watches[i] = NULL;
    backend_changed(loop);
}

static bool set_fill(struct hr_loop *loop)
{
    loop->set_count = 0;
    if (loop->set_capacity < loop->slot_count) {
        struct pollfd *set = hr_realloc(loop->set, loop->slot_capacity * sizeof *set);
        struct hr_watch **watches;

        if (set)
            loop->set = set;
        watches = hr_realloc(loop->set_watches, loop->slot_capacity * sizeof *watches);
        if (watches)
            loop->set_watches = watches;
        if (!set || !watches)
            return false;
        loop->set_capacity = loop->slot_capacity;
    }
    for (size_t i = 0; i < loop->slot_count; i++) {
        struct hr_watch *watch = loop->slots[i];

        if (!watch || !watch->events)
            continue;
        loop->set[loop->set_count] = (struct pollfd){
            .fd = watch->fd,
            .events = (short)((watch->events & HR_READ ? POLLIN : 0) |
                              (watch->events & HR_WRITE ? POLLOUT : 0)),
        };
        loop->set_watches[loop->set_count++] = watch;
    }
    return true;
}

void hr_loop_prefer(struct hr_loop *loop, struct hr_watch *watch)
{
    (void)loop, (void)watch; /* poll is what it does anyway */
}

static void backend_wait(struct hr_loop *loop, int64_t wait_ns)
{
    struct timespec limit;
    int n;

    if (!set_fill(loop))
        wait_ns = wait_ns > TRY_AGAIN_NS ? TRY_AGAIN_NS : wait_ns;
    limit = (struct timespec){wait_ns / 1000000000, wait_ns % 1000000000};
    loop->unlock(loop->context);
    n = ppoll(loop->set, loop->set_count, wait_ns == HR_NEVER ? NULL : &limit, NULL);
    if (n < 0 && errno == EINVAL)
        n = hr_poll_in_parts(loop->set, loop->set_count, wait_ns);
    loop->lock(loop->context);
    if (n <= 0)
        loop->set_count = 0;
}

static void backend_dispatch(struct hr_loop *loop)
{
    for (size_t i = 0; i < loop->set_count; i++) {
        struct hr_watch *watch = loop->set_watches[i];
        short got = loop->set[i].revents;
        unsigned events = (got & (POLLIN | POLLHUP | POLLERR | POLLNVAL) ? HR_READ : 0u) |
                          (got & (POLLOUT | POLLHUP | POLLERR) ? HR_WRITE : 0u);

        if (watch && (events & watch->events))
            watch->ready(watch, events & watch->events);
    }
    loop->set_count = 0;
}

#endif

/* ---- the loop --------------------------------------------------------------------------- */

struct hr_loop *hr_loop_new(void (*lock)(void *), void (*unlock)(void *), void *context)
{
    struct hr_loop *loop = hr_calloc(1, sizeof *loop);
    int ends[2] = {-1, -1};

    if (!loop)
        return NULL;
    loop->lock = lock;
    loop->unlock = unlock;
    loop->context = context;
    loop->wake.fd = loop->wake_write = -1;
#ifdef USE_EPOLL
    loop->epoll = -1;
#endif
    if (backend_open(loop) || open_wake(ends))
        goto fail;
    loop->wake_write = ends[1];
    if (hr_watch_add(loop, &loop->wake, ends[0], HR_READ, wake_ready)) {
        close(ends[0]);
        if (ends[1] != ends[0])
            close(ends[1]);
        goto fail;
    }
    return loop;
fail:
    backend_close(loop);
    hr_free(loop->heap);
    hr_free(loop);
    return NULL;
}

void hr_loop_free(struct hr_loop *loop)
{
    int fd;

    if (!loop)
        return;
    fd = loop->wake.fd;
    hr_watch_remove(loop, &loop->wake);
    close(fd);
    if (loop->wake_write != fd)
        close(loop->wake_write);
    backend_close(loop);
    hr_free(loop->heap);
    hr_free(loop);
}

int hr_watch_add(struct hr_loop *loop, struct hr_watch *watch, int fd, unsigned events,
                 void (*ready)(struct hr_watch *, unsigned))
{
    int error;

    watch->fd = fd;
    watch->events = events;
    watch->ready = ready;
    error = backend_add(loop, watch);
    if (error)
        watch->fd = -1;
    return error;
}

void hr_watch_change(struct hr_loop *loop, struct hr_watch *watch, unsigned events)
{
    unsigned old = watch->events;

    if (watch->fd < 0 || old == events)
        return;
    watch->events = events;
    backend_change(loop, watch, old);
}

void hr_watch_remove(struct hr_loop *loop, struct hr_watch *watch)
{
    if (watch->fd < 0)
        return;
    backend_remove(loop, watch);
    watch->fd = -1;
}

void hr_loop_step(struct hr_loop *loop, int64_t due_ns)
{
    int64_t wait_ns = HR_NEVER;

    if (loop->timers && loop->heap[1]->due_ns < due_ns)
        due_ns = loop->heap[1]->due_ns;
    if (due_ns != HR_NEVER) {
        int64_t now = hr_now_ns();

        wait_ns = due_ns > now ? due_ns - now : 0;
    }
    loop->sleeping = true;
    loop->sleep_until_ns = due_ns;
    backend_wait(loop, wait_ns);
    loop->sleeping = false;
    backend_dispatch(loop);
    if (loop->timers)
        run_due_timers(loop);
}
