/* SPDX-License-Identifier: MIT */
/*
 * What the tests of the engine share, on top of testlib.h: a fixture that leaves nothing behind or
 * fails, cells in one line, events by kind. It uses the public header only.
 */
#ifndef ENGINE_TESTLIB_H
#define ENGINE_TESTLIB_H

#include <check.h>
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "hermes-kernel.h"
#include "testlib.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TE_SANITIZED 1
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TE_SANITIZED 1
#endif
#ifndef TE_SANITIZED
#define TE_SANITIZED 0
#endif

enum { TE_DEADLINE_MS = 20000 };

/* ---- fixtures (checked ones) ------------------------------------------------------------ */

extern struct hermes_engine *engine; /* of the test; it may free it and set it to NULL */

/*
 * Looks at descriptors, threads and processes; TMPDIR (staging directories, spill files) becomes
 * test_directory().
 */
void te_set_up_bare(void);
void te_set_up(void); /* and an engine */
/* Frees the engine. No descriptor, thread, process or staging directory may be left over. */
void te_tear_down(void);

bool te_long(void);          /* HERMES_TEST_LONG is set */
const char *te_python(void); /* HERMES_TEST_PYTHON, else /usr/bin/python3 */
struct hermes_engine *te_engine_new(void);
void te_set(struct hermes_engine *which, const char *option, const char *value);

/* ---- cells ------------------------------------------------------------------------------ */

struct hermes_cell te_cell(const char *session, const char *code);
struct hermes_result *te_run_cell(struct hermes_engine *which, const struct hermes_cell *cell);
struct hermes_result *te_run(const char *session, const char *code); /* in `engine` */
struct hermes_result *te_run_flags(const char *session, const char *code, unsigned flags);
struct hermes_result *te_run_timeout(const char *session, const char *code, int64_t timeout_ms);
/* The cell succeeds and its output is exactly this. */
void te_says(const char *session, const char *code, const char *output);
void te_succeeds(const char *session, const char *code);
/* The same for a fresh kernel, and why there is one. */
void te_says_fresh(const char *session, const char *code, const char *output,
                   enum hermes_previous previous);

/* For cells: wait(path), touch(path). */
#define TE_WAIT                                                                                    \
    "import os, sys, time\n"                                                                       \
    "def wait(path, there=True):\n"                                                                \
    "    end = time.time() + 30\n"                                                                 \
    "    while os.path.exists(path) != there:\n"                                                   \
    "        assert time.time() < end, path\n"                                                     \
    "        time.sleep(0.003)\n"                                                                  \
    "def touch(path): open(path, 'w').write('x')\n"

bool te_has(const struct hermes_result *result, const char *text);       /* in output */
bool te_error_has(const struct hermes_result *result, const char *text); /* in error */
/* Does it hold, in any result? The message shows the whole result. */
#define EXPECT(result, condition)                                                                  \
    ck_assert_msg((condition), "not so: %s\n  in %.3000s", #condition,                             \
                  hermes_result_json((result), NULL))
#define EXPECT_OUTPUT(result, text)                                                                \
    ck_assert_msg(                                                                                 \
        (result)->output_size == strlen(text) && !memcmp((result)->output, (text), strlen(text)),  \
        "output is not \"%s\"\n  in %.3000s", (text), hermes_result_json((result), NULL))

/* Cells from threads. */
struct te_thread {
    struct hermes_engine *engine;
    struct hermes_cell cell;
    struct hermes_result *result;
    struct hermes_error error;
    int status;
    unsigned long thread;
};
void te_thread_start(struct te_thread *thread, struct hermes_engine *which,
                     const struct hermes_cell *cell);
void te_thread_join(struct te_thread *thread);

/* ---- events ----------------------------------------------------------------------------- */

uint64_t te_submit(const char *session, const char *code);
uint64_t te_submit_cell(const struct hermes_cell *cell);
/*
 * The next event of a type for a cell (BACKGROUND, KERNEL: for a kernel; 0: any). Others are kept
 * for later calls. Fails the test when none comes.
 */
struct hermes_event *te_event(enum hermes_event_type type, uint64_t id);
struct hermes_event *te_done(uint64_t cell);
void te_started(uint64_t cell);
void te_forget_events(void); /* those that were kept */
/* OUTPUT events of the cell until their text so far holds this. */
void te_output(uint64_t cell, const char *text);

/* ---- kernels ---------------------------------------------------------------------------- */

cJSON *te_kernels(struct hermes_engine *which); /* cJSON_Delete() */
size_t te_kernel_count(struct hermes_engine *which);
/* A number of the only kernel of an owner; -1: there is none, or more. */
double te_kernel_number(struct hermes_engine *which, const char *owner, const char *field);

/* ---- processes and descriptors ---------------------------------------------------------- */

bool te_wait_gone(pid_t pid);
bool te_wait_file(const char *path); /* until a cell has written it */
long te_read_number(const char *path);
size_t te_runners(void); /* our direct children that are kernels */
/*
 * Wait until we have no descendant, zombies neither. The test fails with their command lines if
 * they stay.
 */
void te_no_process_left(void);
size_t te_fd_count(void);
size_t te_staging_count(void); /* staging directories in test_directory() */
/* A field of /proc/PID/status in kB: "VmRSS", "VmHWM". */
long te_memory_kb(pid_t pid, const char *field);

/* ---- suites ----------------------------------------------------------------------------- */

/* Add the cases of a suite, each with te_tear_down() and time for slow machines. */
void te_add_cases(Suite *suite, TCase *const *cases, size_t count, SFun set_up);

#endif
