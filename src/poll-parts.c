/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "poll-parts.h"

#include <sys/resource.h>
#include <time.h>

#include "loop.h"

enum { PAUSE_NS = 5000000 };

int hr_poll_in_parts(struct pollfd *set, size_t count, int64_t wait_ns)
{
    const struct timespec pause = {0, PAUSE_NS};
    int64_t now = hr_now_ns(), end = wait_ns > HR_NEVER - now ? HR_NEVER : now + wait_ns;
    struct rlimit limit;
    int ready = 0;

    for (;;) {
        size_t most = !getrlimit(RLIMIT_NOFILE, &limit) ? (size_t)limit.rlim_cur : 0, part;

        for (size_t at = 0; most && at < count; at += part) {
            part = count - at < most ? count - at : most;
            ready += poll(set + at, (nfds_t)part, 0) > 0;
        }
        if (ready || hr_now_ns() >= end)
            return ready;
        nanosleep(&pause, NULL);
        if (!most)
            return 0; /* perhaps by then */
    }
}
