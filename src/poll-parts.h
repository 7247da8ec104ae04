/* SPDX-License-Identifier: MIT */
/*
 * poll() for a list that is longer than the limit of descriptors, which poll() refuses: the host
 * has lowered it below what is watched.
 */
#ifndef HR_POLL_PARTS_H
#define HR_POLL_PARTS_H

#include <poll.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Look at the list in parts, every few milliseconds, at most that long (HR_NEVER: as long as it
 * takes). Returns how many parts have something ready.
 */
int hr_poll_in_parts(struct pollfd *set, size_t count, int64_t wait_ns);

#endif
