/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the collector and of its spill file share: a place for the file, a collector,
 * and what comes out of it.
 */
#ifndef COLLECTOR_TESTLIB_H
#define COLLECTOR_TESTLIB_H

#include "collector.h"

extern const char *ct_base;    /* a fresh directory for each test */
extern char ct_directory[512]; /* one in it that does not exist yet */

void ct_set_up(void); /* a fixture */
struct hr_collector *ct_make(size_t limit, uint64_t spill_limit);
void ct_feed_times(struct hr_collector *collector, const char *text, size_t times);
void ct_finish(struct hr_collector *collector, struct hr_collected *collected); /* and free it */

char *ct_read_file(const char *path, size_t *ret_size); /* free() */
int ct_count_entries(const char *path);                 /* of a directory; -1: there is none */

#endif
