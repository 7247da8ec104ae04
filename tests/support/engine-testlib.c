/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "engine-testlib.h"

#include <ctype.h>
#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STASH_MAX = 4096 };

struct hermes_engine *engine;

static struct test_processes *processes_before;
static struct test_fds fds_before;
static size_t threads_before;
static struct hermes_event *stash[STASH_MAX];
static size_t stashed;

/* ---- small things ----------------------------------------------------------------------- */

bool te_long(void)
{
    return getenv("HERMES_TEST_LONG") != NULL;
}

const char *te_python(void)
{
    const char *python = getenv("HERMES_TEST_PYTHON");

    return python ? python : "/usr/bin/python3";
}

/* ---- processes and descriptors ---------------------------------------------------------- */

bool te_wait_gone(pid_t pid)
{
    return test_wait(!test_process_lives(pid), TE_DEADLINE_MS);
}

static void read_command(const char *pid, char *line, size_t size)
{
    char path[300];
    size_t n = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/cmdline", pid);
    file = fopen(path, "re");
    if (file) {
        n = fread(line, 1, size - 1, file);
        fclose(file);
    }
    for (size_t i = 0; i < n; i++)
        if (!line[i])
            line[i] = ' ';
    line[n] = '\0';
}

/* Our children; what they are goes into text. */
static size_t list_children(const char *word, char *text, size_t size)
{
    struct dirent *entry;
    DIR *proc = opendir("/proc");
    char line[4096];
    size_t n = 0;

    ck_assert_ptr_nonnull(proc);
    while ((entry = readdir(proc))) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0]) ? (pid_t)atoi(entry->d_name) : 0;

        if (!pid || test_process_parent(pid) != getpid())
            continue;
        read_command(entry->d_name, line, sizeof line);
        if (word && !strstr(line, word))
            continue;
        n++;
        if (text)
            snprintf(text + strlen(text), size - strlen(text), "\n  %d %c %.200s", (int)pid,
                     test_process_state(pid), line);
    }
    closedir(proc);
    return n;
}

size_t te_runners(void)
{
    return list_children("hermes_kernel_runner", NULL, 0);
}

static bool no_child(void)
{
#ifdef HERMES_NO_GUARD
    /* Without a guard the orphans of a kernel come to us, as the nearest subreaper. */
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
#endif
    return test_count_children(getpid(), 0) == 0;
}

void te_no_process_left(void)
{
    char text[4096] = "";

    if (test_wait(no_child(), 5000))
        return;
    list_children(NULL, text, sizeof text);
    ck_abort_msg("processes are left:%s", text);
}

static size_t count_entries(const char *path, const char *prefix)
{
    struct dirent *entry;
    DIR *directory = opendir(path);
    size_t n = 0;

    while (directory && (entry = readdir(directory)))
        n += entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
    if (directory)
        closedir(directory);
    return n;
}

size_t te_fd_count(void)
{
    return count_entries("/proc/self/fd", "") - 1; /* that of the listing */
}

size_t te_staging_count(void)
{
    return count_entries(test_directory(), "hermes_kernel_");
}

static bool has_text(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && status.st_size > 0;
}

bool te_wait_file(const char *path)
{
    return test_wait(has_text(path), TE_DEADLINE_MS);
}

long te_read_number(const char *path)
{
    FILE *file;
    long number = -1;

    ck_assert_msg(te_wait_file(path), "no %s", path);
    file = fopen(path, "re");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%ld", &number), 1);
    fclose(file);
    return number;
}

long te_memory_kb(pid_t pid, const char *field)
{
    char path[64], line[256];
    size_t size = strlen(field);
    long kb = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, field, size) == 0 && line[size] == ':')
            kb = strtol(line + size + 1, NULL, 10);
    if (file)
        fclose(file);
    return kb;
}

/* ---- fixtures --------------------------------------------------------------------------- */

struct hermes_engine *te_engine_new(void)
{
    struct hermes_engine *made = NULL;
    struct hermes_error error = {0};
    int status = hermes_engine_new(&made, &error);

    ck_assert_msg(status == 0, "%s: %s", hermes_status_name(status), error.text);
    te_set(made, "python", te_python());
    te_set(made, "spill_directory", test_path("spill"));
    return made;
}

void te_set(struct hermes_engine *which, const char *option, const char *value)
{
    struct hermes_error error = {0};
    int status = hermes_set_option(which, option, value, &error);

    ck_assert_msg(status == 0, "%s = %s: %s: %s", option, value, hermes_status_name(status),
                  error.text);
}

void te_set_up_bare(void)
{
    unsetenv("PYTHONUNBUFFERED");
    unsetenv("PYTHONDONTWRITEBYTECODE");
    unsetenv("PYTHONPATH");
    unsetenv("VIRTUAL_ENV");
    unsetenv("CONDA_PREFIX");
    setenv("TMPDIR", test_directory(), 1);
    setenv("XDG_STATE_HOME", test_directory(), 1);
    processes_before = test_processes_take();
    test_fds_take(&fds_before);
    threads_before = count_entries("/proc/self/task", "");
}

void te_set_up(void)
{
    te_set_up_bare();
    engine = te_engine_new();
}

void te_forget_events(void)
{
    for (size_t i = 0; i < stashed; i++)
        hermes_event_free(stash[i]);
    stashed = 0;
}

void te_tear_down(void)
{
    te_forget_events();
    hermes_engine_free(engine);
    engine = NULL;
    te_no_process_left();
    test_processes_check(processes_before, 5000);
    ck_assert_uint_eq(te_staging_count(), 0);
    test_fds_check(&fds_before);
    /*
     * A joined thread may stand in /proc a moment longer. A sanitizer's own thread may start late.
     */
    ck_assert(TE_SANITIZED ||
              test_wait(count_entries("/proc/self/task", "") <= threads_before, 2000));
}

/* ---- cells ------------------------------------------------------------------------------ */

struct hermes_cell te_cell(const char *session, const char *code)
{
    struct hermes_cell cell = HERMES_CELL_INIT;

    cell.session = session;
    cell.code = code;
    return cell;
}

struct hermes_result *te_run_cell(struct hermes_engine *which, const struct hermes_cell *cell)
{
    struct hermes_result *result = NULL;
    struct hermes_error error = {0};
    int status = hermes_execute(which, cell, &result, &error);

    ck_assert_msg(status == 0, "%s: %s", hermes_status_name(status), error.text);
    ck_assert_ptr_nonnull(result);
    return result;
}

struct hermes_result *te_run(const char *session, const char *code)
{
    struct hermes_cell cell = te_cell(session, code);

    return te_run_cell(engine, &cell);
}

struct hermes_result *te_run_flags(const char *session, const char *code, unsigned flags)
{
    struct hermes_cell cell = te_cell(session, code);

    cell.flags = flags;
    return te_run_cell(engine, &cell);
}

struct hermes_result *te_run_timeout(const char *session, const char *code, int64_t timeout_ms)
{
    struct hermes_cell cell = te_cell(session, code);

    cell.timeout_ms = timeout_ms;
    return te_run_cell(engine, &cell);
}

void te_says(const char *session, const char *code, const char *output)
{
    struct hermes_result *result = te_run(session, code);

    EXPECT(result, result->outcome == HERMES_SUCCESS && result->exit_code == 0);
    EXPECT_OUTPUT(result, output);
    hermes_result_free(result);
}

void te_succeeds(const char *session, const char *code)
{
    struct hermes_result *result = te_run(session, code);

    EXPECT(result, result->outcome == HERMES_SUCCESS && result->exit_code == 0 && !result->error);
    hermes_result_free(result);
}

void te_says_fresh(const char *session, const char *code, const char *output,
                   enum hermes_previous previous)
{
    struct hermes_result *result = te_run(session, code);

    EXPECT(result, result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(result, output);
    EXPECT(result, !result->reused && result->execution_count == 1);
    EXPECT(result, result->previous == previous);
    hermes_result_free(result);
}

bool te_has(const struct hermes_result *result, const char *text)
{
    return memmem(result->output, result->output_size, text, strlen(text)) != NULL;
}

bool te_error_has(const struct hermes_result *result, const char *text)
{
    return result->error && memmem(result->error, result->error_size, text, strlen(text)) != NULL;
}

static void *run_in_thread(void *argument)
{
    struct te_thread *thread = argument;

    thread->status = hermes_execute(thread->engine, &thread->cell, &thread->result, &thread->error);
    return NULL;
}

void te_thread_start(struct te_thread *thread, struct hermes_engine *which,
                     const struct hermes_cell *cell)
{
    memset(thread, 0, sizeof *thread);
    thread->engine = which;
    thread->cell = *cell;
    ck_assert_int_eq(pthread_create((pthread_t *)&thread->thread, NULL, run_in_thread, thread), 0);
}

void te_thread_join(struct te_thread *thread)
{
    ck_assert_int_eq(pthread_join((pthread_t)thread->thread, NULL), 0);
    ck_assert_msg(thread->status == 0, "%s: %s", hermes_status_name(thread->status),
                  thread->error.text);
}

/* ---- events ----------------------------------------------------------------------------- */

uint64_t te_submit_cell(const struct hermes_cell *cell)
{
    struct hermes_error error = {0};
    uint64_t id = 0;
    int status = hermes_submit(engine, cell, &id, &error);

    ck_assert_msg(status == 0, "%s: %s", hermes_status_name(status), error.text);
    ck_assert_uint_ne(id, 0);
    return id;
}

uint64_t te_submit(const char *session, const char *code)
{
    struct hermes_cell cell = te_cell(session, code);

    return te_submit_cell(&cell);
}

static bool matches(const struct hermes_event *event, enum hermes_event_type type, uint64_t id)
{
    bool of_kernel = type == HERMES_EVENT_BACKGROUND || type == HERMES_EVENT_KERNEL;

    return event->type == type && (!id || id == (of_kernel ? event->kernel : event->cell));
}

struct hermes_event *te_event(enum hermes_event_type type, uint64_t id)
{
    int64_t due = test_now_ms() + TE_DEADLINE_MS;
    struct hermes_event *event;

    for (size_t i = 0; i < stashed; i++) {
        if (!matches(stash[i], type, id))
            continue;
        event = stash[i];
        memmove(stash + i, stash + i + 1, (--stashed - i) * sizeof stash[0]);
        return event;
    }
    while (test_now_ms() < due) {
        ck_assert_int_eq(hermes_next_event(engine, due - test_now_ms(), &event), 0);
        if (!event)
            continue;
        if (matches(event, type, id))
            return event;
        ck_assert_uint_lt(stashed, STASH_MAX);
        stash[stashed++] = event;
    }
    ck_abort_msg("no event %d for %llu", (int)type, (unsigned long long)id);
    return NULL;
}

struct hermes_event *te_done(uint64_t cell)
{
    struct hermes_event *event = te_event(HERMES_EVENT_DONE, cell);

    ck_assert_ptr_nonnull(event->result);
    ck_assert_uint_eq(event->result->cell, cell);
    return event;
}

void te_started(uint64_t cell)
{
    hermes_event_free(te_event(HERMES_EVENT_STARTED, cell));
}

void te_output(uint64_t cell, const char *text)
{
    char seen[4096] = "";
    size_t size = 0;

    while (!memmem(seen, size, text, strlen(text))) {
        struct hermes_event *event = te_event(HERMES_EVENT_OUTPUT, cell);
        size_t take = event->size < sizeof seen - size ? event->size : sizeof seen - size;

        memcpy(seen + size, event->data, take);
        size += take;
        hermes_event_free(event);
    }
}

/* ---- kernels ---------------------------------------------------------------------------- */

cJSON *te_kernels(struct hermes_engine *which)
{
    char *text = hermes_kernels_json(which);
    cJSON *kernels = text ? cJSON_Parse(text) : NULL;

    ck_assert_msg(cJSON_IsArray(kernels), "no list of kernels: %s", text ? text : "(none)");
    hermes_free(text);
    return kernels;
}

size_t te_kernel_count(struct hermes_engine *which)
{
    cJSON *kernels = te_kernels(which);
    size_t count = (size_t)cJSON_GetArraySize(kernels);

    cJSON_Delete(kernels);
    return count;
}

double te_kernel_number(struct hermes_engine *which, const char *owner, const char *field)
{
    cJSON *kernels = te_kernels(which), *kernel;
    double number = -1;
    size_t found = 0;

    cJSON_ArrayForEach(kernel, kernels)
    {
        const cJSON *name = cJSON_GetObjectItemCaseSensitive(kernel, "owner");
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(kernel, field);

        if (!cJSON_IsString(name) || strcmp(name->valuestring, owner) != 0)
            continue;
        ck_assert_msg(cJSON_IsNumber(value) || cJSON_IsBool(value), "no field %s", field);
        number = cJSON_IsBool(value) ? cJSON_IsTrue(value) : value->valuedouble;
        found++;
    }
    cJSON_Delete(kernels);
    return found == 1 ? number : -1;
}

/* ---- suites ----------------------------------------------------------------------------- */

void te_add_cases(Suite *suite, TCase *const *cases, size_t count, SFun set_up)
{
    for (size_t i = 0; i < count; i++) {
        tcase_add_checked_fixture(cases[i], set_up, te_tear_down);
        tcase_set_timeout(cases[i], 120);
        suite_add_tcase(suite, cases[i]);
    }
}
