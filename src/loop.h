/* SPDX-License-Identifier: MIT */
/*
 * The event loop: descriptors, timers and a wake-up, on one thread at a time. It knows nothing of
 * kernels and takes no locks by itself: while it sleeps it calls `unlock`, so that others may add
 * watches and timers, which wake it if needed.
 *
 * One step: wait; drain the wake-up; dispatch descriptors (each checked to be still watched); run
 * the timers that were due when the wait ended (timers started meanwhile wait a round). epoll where
 * there is one, else poll.
 */
#ifndef HR_LOOP_H
#define HR_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HR_NEVER INT64_MAX

enum hr_watch_events { HR_READ = 1, HR_WRITE = 2 };

struct hr_loop;

struct hr_watch {
    int fd;          /* -1: not watched */
    unsigned events; /* wanted; 0: watched for nothing */
    void (*ready)(struct hr_watch *watch, unsigned events);
    size_t slot; /* the poll backend's */
};

struct hr_timer {
    int64_t due_ns;
    void (*fire)(struct hr_timer *timer);
    size_t position; /* in the heap, from 1; 0: not running */
    uint64_t order;
};

struct hr_loop *hr_loop_new(void (*lock)(void *), void (*unlock)(void *), void *context);
void hr_loop_free(struct hr_loop *loop);

/* 0 or an errno. The watch must stay where it is until removed. */
int hr_watch_add(struct hr_loop *loop, struct hr_watch *watch, int fd, unsigned events,
                 void (*ready)(struct hr_watch *, unsigned));
void hr_watch_change(struct hr_loop *loop, struct hr_watch *watch, unsigned events);
void hr_watch_remove(struct hr_loop *loop, struct hr_watch *watch); /* also when not watched */

/*
 * Room for that many timers to run at once. Every timer must be covered by a reservation; in return
 * a start cannot fail. false: out of memory.
 */
bool hr_timer_reserve(struct hr_loop *loop, size_t timers);
void hr_timer_release(struct hr_loop *loop, size_t timers);
void hr_timer_start(struct hr_loop *loop, struct hr_timer *timer, int64_t due_ns,
                    void (*fire)(struct hr_timer *));             /* or move */
void hr_timer_stop(struct hr_loop *loop, struct hr_timer *timer); /* also when not running */

/*
 * The next wait is most likely for this one. Linux runs a thread that poll(2) wakes beside its
 * waker, on the same processor; one that sleeps in epoll_wait(2) is moved to an idle one, and
 * waking that takes longer than a whole short cell.
 */
void hr_loop_prefer(struct hr_loop *loop, struct hr_watch *watch);

/* One step that sleeps until due_ns at most. */
void hr_loop_step(struct hr_loop *loop, int64_t due_ns);
/* Does not sleep in the current or the next step. Any thread, signal handlers too. */
void hr_loop_wake(struct hr_loop *loop);

int64_t hr_now_ns(void); /* monotonic */
/* That many milliseconds after a moment; HR_NEVER for what is beyond the end of time. */
int64_t hr_later_ns(int64_t from_ns, int64_t ms);

#endif
