/* SPDX-License-Identifier: MIT */
/* What the long runs ask about their own process. */
#ifndef LOAD_HOST_H
#define LOAD_HOST_H

/* Memory of sanitizers is not ours to judge. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HOST_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HOST_SANITIZED 1
#endif
#ifndef HOST_SANITIZED
#define HOST_SANITIZED 0
#endif

struct host {
    int descriptors;
    int processes; /* children, zombies too */
    int entries;   /* of the directory */
    long rss_kb;   /* after malloc_trim() */
};

void host_look(struct host *host, const char *directory);
long host_rss_kb(int pid); /* -1: there is no such process */

#endif
