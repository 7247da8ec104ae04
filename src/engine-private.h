/* SPDX-License-Identifier: MIT */
/* What the files of the public API share. */
#ifndef HR_ENGINE_PRIVATE_H
#define HR_ENGINE_PRIVATE_H

#include "kernel.h"

/* drive.c; context is the engine */
void hr_engine_lock(void *context);
void hr_engine_unlock(void *context);
/* Wait, with the lock held, until done() or the time; drive the loop meanwhile where possible. */
void hr_engine_wait(struct hermes_engine *engine, bool (*done)(struct hermes_engine *, void *),
                    void *argument, int64_t due_ns);
int hr_condition_new(pthread_cond_t *condition); /* on the monotonic clock */
void *hr_engine_thread(void *engine);

/* sessions.c */
struct hr_kernel *hr_engine_find_kernel(struct hermes_engine *engine, uint64_t id); /* or NULL */

/* place.c */
struct hr_place {
    enum hermes_mode mode;
    char *python, *cwd; /* owned */
};
/* Interpreter and directory of a request. The lock must not be held. */
int hr_place_find(struct hermes_engine *engine, enum hermes_mode mode, const char *python,
                  const char *cwd, struct hr_place *ret, struct hermes_error *error);

#endif
