/* SPDX-License-Identifier: MIT */
/*
 * Fault injection: while an operation runs, the n-th allocation (pipe, socket, spawn ...) fails,
 * for n = 1, 2 ... until the operation has no n-th any more. Each time it ends in a clean error or
 * in a right result, the engine works on, and no descriptor, process or directory is left. Needs a
 * build with --enable-fault-injection.
 */
#include "config.h"

#include <dirent.h>
#include <signal.h>
#include <unistd.h>

#include "alloc.h"
#include "engine-private.h"
#include "engine-testlib.h"

#ifdef HERMES_FAULT_INJECTION

static const char *const kind_names[] = {
    "allocation", "pipe", "socket", "spawn", "mkdir", "thread", "write", "open", "rename",
};
_Static_assert(sizeof kind_names / sizeof kind_names[0] == HR_FAULT_COUNT, "a kind without a name");

/* What runs now, for messages. */
static char context[128];

#define CHECK(condition, ...)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            char text_[800];                                                                       \
            hermes_fault_set(current_kind, 0);                                                     \
            snprintf(text_, sizeof text_, __VA_ARGS__);                                            \
            ck_abort_msg("%s: not so: %s; %s", context, #condition, text_);                        \
        }                                                                                          \
    } while (0)

static int current_kind;

static void hangs(int number)
{
    ssize_t ignored = write(2, context, strlen(context)) + write(2, " hangs\n", 7);

    (void)number, (void)ignored;
    _exit(99);
}

static void begin(const char *name, int kind, unsigned long n)
{
    snprintf(context, sizeof context, "%s, %s %lu fails", name, kind_names[kind], n);
    current_kind = kind;
    signal(SIGALRM, hangs);
    alarm(60);
    hermes_fault_set(kind, n);
}

/* false: there was no n-th operation of this kind. */
static bool end(unsigned long n)
{
    bool hit = hermes_fault_count(current_kind) >= n;

    hermes_fault_set(current_kind, 0);
    return hit;
}

static void check_status(int status, const struct hermes_error *error)
{
    CHECK(status == HERMES_ENOMEM || status == HERMES_ESYSTEM || status == HERMES_ENOENT, "%s",
          hermes_status_name(status));
    CHECK(!error || (error->code == status && error->text[0]), "%s", error->text);
}

/* The result of a cell that says 42 if all goes well. */
static void check_result(struct hermes_result *result)
{
    CHECK(result != NULL, " ");
    if (result->outcome == HERMES_SUCCESS)
        CHECK((result->output_size == 3 && !strcmp(result->output, "42\n")) || result->warning,
              "%s", hermes_result_json(result, NULL));
    else
        CHECK(result->outcome == HERMES_ERROR && result->error_size > 0, "%s",
              hermes_result_json(result, NULL));
    hermes_result_free(result);
}

static void check_after(const char *session)
{
    struct hermes_result *result = te_run(session, "print(40 + 2)");

    CHECK(result->outcome == HERMES_SUCCESS && !strcmp(result->output, "42\n"), "%s",
          hermes_result_json(result, NULL));
    hermes_result_free(result);
}

static size_t directories;

static void check_clean(size_t fds)
{
    CHECK(hermes_shutdown_all(engine) == 0, " ");
    CHECK(test_wait(test_count_children(getpid(), 0) == 0, 5000), "a process is left");
    CHECK(te_fd_count() == fds, "%zu descriptors, not %zu", te_fd_count(), fds);
    CHECK(te_staging_count() == directories, "a directory is left");
    CHECK(te_kernel_count(engine) == 0, "a kernel is left");
}

/* ---- operations ------------------------------------------------------------------------- */

static struct hermes_cell strict_cell(const char *code)
{
    struct hermes_cell cell = te_cell("a", code);

    cell.mode = HERMES_MODE_STRICT; /* with a staging directory */
    return cell;
}

static void execute(const struct hermes_cell *cell)
{
    struct hermes_result *result = NULL;
    struct hermes_error error = {0};
    int status = hermes_execute(engine, cell, &result, &error);

    if (status)
        check_status(status, &error);
    else
        check_result(result);
}

static void warm_up(void)
{
    struct hermes_cell cell = strict_cell("1");

    hermes_result_free(te_run_cell(engine, &cell));
}

static void no_preparation(void)
{
}

static void first_cell(void)
{
    struct hermes_cell cell = strict_cell("print(40 + 2)");

    execute(&cell);
}

static void reset_cell(void)
{
    struct hermes_cell cell = strict_cell("print(40 + 2)");

    cell.flags = HERMES_CELL_RESET;
    execute(&cell);
}

static void failing_cell(void)
{
    struct hermes_cell cell = strict_cell("import sys\nprint('x', file=sys.stderr)\n1 / 0");

    execute(&cell);
}

static void long_cell(void)
{
    struct hermes_cell cell = strict_cell("print('H'); print('x' * 200000); print('T')");
    struct hermes_result *result = NULL;
    struct hermes_error error = {0};
    int status = hermes_execute(engine, &cell, &result, &error);

    if (status) {
        check_status(status, &error);
        return;
    }
    if (result->outcome == HERMES_SUCCESS)
        CHECK(result->warning && (strstr(result->warning, "memory") ||
                                  (result->truncated && te_has(result, "T\n"))),
              "%s", hermes_result_json(result, NULL));
    else
        CHECK(result->outcome == HERMES_ERROR && result->error_size > 0, "%s", result->error);
    hermes_result_free(result);
}

static void timed_out_cell(void)
{
    struct hermes_cell cell = strict_cell("while True: pass");
    struct hermes_result *result = NULL;
    struct hermes_error error = {0};
    int status;

    cell.timeout_ms = 50;
    status = hermes_execute(engine, &cell, &result, &error);
    if (status) {
        check_status(status, &error);
        return;
    }
    CHECK(result->outcome == HERMES_TIMEOUT || result->outcome == HERMES_ERROR, "%s",
          hermes_result_json(result, NULL));
    CHECK(result->error_size > 0, " ");
    hermes_result_free(result);
}

static void submitted_cell(void)
{
    struct hermes_cell cell = strict_cell("print(40 + 2)\ndisplay('shown')");
    struct hermes_event *event;
    struct hermes_error error = {0};
    uint64_t id;
    int status;

    cell.flags = HERMES_CELL_DISPLAY;
    status = hermes_submit(engine, &cell, &id, &error);
    if (status) {
        check_status(status, &error);
        return;
    }
    do { /* whatever else is lost: it is told that the cell is done */
        CHECK(hermes_next_event(engine, 30000, &event) == 0 && event, "no DONE");
        if (event->type == HERMES_EVENT_DONE && event->cell == id)
            break;
        hermes_event_free(event);
    } while (true);
    CHECK(event->result, " ");
    CHECK(event->result->outcome == HERMES_SUCCESS || event->result->error_size > 0, "%s",
          hermes_result_json(event->result, NULL));
    hermes_event_free(event);
}

static uint64_t sleeping;

static void start_sleeper(void)
{
    struct hermes_cell cell =
        strict_cell("import time; print('ready', flush=True); time.sleep(60)");

    sleeping = te_submit_cell(&cell);
    te_output(sleeping, "ready");
}

static void expect_sleeper_done(bool lost)
{
    struct hermes_event *event;

    do {
        CHECK(hermes_next_event(engine, 30000, &event) == 0 && event, "no DONE");
        if (event->type == HERMES_EVENT_DONE && event->cell == sleeping)
            break;
        hermes_event_free(event);
    } while (true);
    CHECK(event->result->outcome == HERMES_INTERRUPTED || event->result->outcome == HERMES_ERROR,
          "%s", hermes_result_json(event->result, NULL));
    CHECK(!lost || event->result->state_kept != 1, "%s", hermes_result_json(event->result, NULL));
    hermes_event_free(event);
}

static void interrupt_it(void)
{
    CHECK(hermes_interrupt(engine, sleeping, "a reason", 10000) == 0, " ");
    expect_sleeper_done(false);
}

static void kill_it(void)
{
    CHECK(hermes_kill(engine, sleeping, "a reason") == 0, " ");
    expect_sleeper_done(true);
}

static void clear_it(void)
{
    CHECK(hermes_session_clear(engine, "a") == 0, " ");
    expect_sleeper_done(true);
}

static void shut_down(void)
{
    CHECK(hermes_shutdown_all(engine) == 0, " ");
    CHECK(test_wait(test_count_children(getpid(), 0) == 0, 5000), "a process is left");
}

static void reset_command(void)
{
    struct hermes_result *result = NULL;
    struct hermes_cell cell = strict_cell("print('x' in globals())");

    CHECK(hermes_reset(engine, "a", NULL) == 0, " ");
    if (hermes_execute(engine, &cell, &result, NULL) == 0 && result->outcome == HERMES_SUCCESS)
        CHECK(!strcmp(result->output, "False\n") || result->warning, "%s",
              hermes_result_json(result, NULL));
    hermes_result_free(result);
}

static void close_command(void)
{
    CHECK(hermes_close(engine, "a", NULL) == 0, " ");
    CHECK(test_wait(te_runners() == 0, 10000), "it goes on");
    CHECK(test_wait(te_staging_count() <= directories, 10000), "its directory is left");
}

/* What takes several passes and renames to be removed. */
static void crowd_the_directory(void)
{
    struct hermes_cell cell = strict_cell("import os\n"
                                          "for name in 'ab':\n"
                                          "    os.makedirs(name + '/c/d')\n"
                                          "    open(name + '/c/file', 'w').close()");

    hermes_result_free(te_run_cell(engine, &cell));
}

static void warm_with_state(void)
{
    struct hermes_cell cell = strict_cell("x = 1");

    hermes_result_free(te_run_cell(engine, &cell));
}

static char *answer_tool(const struct hermes_tool_call *call)
{
    CHECK(!strcmp(call->tool, "terminal"), "%s", call->tool);
    return strdup("{\"output\": \"42\"}");
}

/* A call that cannot be made is an error of the cell's own. */
static void tool_cell(void)
{
    struct hermes_cell cell = strict_cell("from hermes_tools import terminal\n"
                                          "print(terminal('echo 42')['output'])");

    cell.tool_handler = answer_tool;
    execute(&cell);
}

/* With a terminal, and a socket for questions. */
static void terminal_cell(void)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = te_cell("t", "print(40 + 2)");
    struct hermes_result *result = NULL;
    struct hermes_error error = {0};
    int status;

    setup.io = HERMES_IO_TTY;
    setup.requests = true;
    cell.setup = &setup;
    status = hermes_execute(engine, &cell, &result, &error);
    if (status)
        check_status(status, &error);
    else if (result->outcome == HERMES_SUCCESS)
        CHECK(te_has(result, "42") || result->warning, "%s", hermes_result_json(result, NULL));
    else
        CHECK(result->outcome == HERMES_ERROR && result->error_size > 0, "%s", result->error);
    hermes_result_free(result);
}

static void questions(void)
{
    char *text, *path = NULL, *warnings = NULL;
    struct hermes_error error = {0};
    int status;

    text = hermes_kernels_json(engine);
    CHECK(!text || strstr(text, "\"state\":\"idle\""), "%s", text);
    hermes_free(text);
    text = hermes_explain_env(engine, HERMES_ENV_SCRUB);
    CHECK(!text || strstr(text, "\"PATH\""), "%s", text);
    hermes_free(text);
    status = hermes_get_option(engine, "timeout", &text);
    CHECK(status == HERMES_ENOMEM || (status == 0 && !strcmp(text, "300")), "%s",
          hermes_status_name(status));
    if (!status)
        hermes_free(text);
    status = hermes_find_python(engine, HERMES_MODE_STRICT, NULL, &path, &error);
    CHECK(status == HERMES_ENOMEM || status == HERMES_ENOENT || (status == 0 && path[0] == '/'),
          "%s", error.text);
    if (!status)
        hermes_free(path);
    status = hermes_configure(engine, "{\"timeout\": 300, \"nonsense\": 1}", 31, &warnings, &error);
    CHECK(status == 0 || status == HERMES_ENOMEM, "%s", error.text);
    if (!status)
        hermes_free(warnings);
    status = hermes_set_option(engine, "env_passthrough", "SOME_NAME", &error);
    CHECK(status == 0 || status == HERMES_ENOMEM, "%s", error.text);
}

static const struct operation {
    const char *name;
    void (*prepare)(void);
    void (*run)(void);
} operations[] = {
    {"first cell", no_preparation, first_cell},
    {"warm cell", warm_up, first_cell},
    {"failing cell", warm_up, failing_cell},
    {"long output", warm_up, long_cell},
    {"reset cell", warm_up, reset_cell},
    {"timeout", warm_up, timed_out_cell},
    {"submit", no_preparation, submitted_cell},
    {"submit, warm", warm_up, submitted_cell},
    {"interrupt", start_sleeper, interrupt_it},
    {"kill", start_sleeper, kill_it},
    {"clear", start_sleeper, clear_it},
    {"shutdown", warm_up, shut_down},
    {"reset command", warm_with_state, reset_command},
    {"close command", warm_with_state, close_command},
    {"close with a full directory", crowd_the_directory, close_command},
    {"questions", warm_up, questions},
    {"tool call", no_preparation, tool_cell},
    {"tool call, warm", warm_up, tool_cell},
    {"terminal", no_preparation, terminal_cell},
    {"terminal, warm", terminal_cell, terminal_cell},
};

/* One operation, each kind, each n. By default the later allocations are sampled. */
START_TEST(an_operation)
{
    const struct operation *operation = &operations[_i];
    unsigned long total = 0;
    size_t fds;

    first_cell(); /* what is made once stays: runner, interpreter, guard */
    hermes_shutdown_all(engine);
    fds = te_fd_count();
    directories = te_staging_count();
    for (int kind = 0; kind < HR_FAULT_COUNT; kind++) {
        unsigned long step = 1;
        bool hit = true;

        for (unsigned long n = 1; hit; n += step) {
            operation->prepare();
            begin(operation->name, kind, n);
            operation->run();
            hit = end(n);
            if (hit || n == 1)
                check_after("a");
            total += hit;
            check_clean(fds);
            if (n >= 30 && !te_long())
                step = 5;
        }
    }
    alarm(0);
    printf("%s: %lu faults\n", operation->name, total);
    fflush(stdout);
    ck_assert_uint_gt(total, 0);
}
END_TEST

/* The engine itself: its beginning, and its very first cell, which loads what is loaded once. */
START_TEST(a_new_engine)
{
    size_t fds = te_fd_count();
    unsigned long total = 0;

    for (int kind = 0; kind < HR_FAULT_COUNT; kind++) {
        bool hit = true;

        for (unsigned long n = 1; hit; n++) {
            struct hermes_error error = {0};
            int status;

            begin("new engine", kind, n);
            status = hermes_engine_new(&engine, &error);
            hit = end(n);
            total += hit;
            if (status) {
                check_status(status, &error);
                engine = NULL;
            } else if (n % 4 == 1) {
                struct hermes_cell cell = te_cell("a", "print(40 + 2)");

                cell.python = te_python();
                check_result(te_run_cell(engine, &cell));
            }
            hermes_engine_free(engine);
            engine = NULL;
            CHECK(te_fd_count() == fds, "%zu descriptors, not %zu", te_fd_count(), fds);
            CHECK(test_wait(test_count_children(getpid(), 0) == 0, 5000), "a process is left");
        }
    }
    alarm(0);
    ck_assert_uint_gt(total, 3);
}
END_TEST

START_TEST(the_first_cell_of_an_engine)
{
    size_t fds = te_fd_count();

    for (int kind = 0; kind < HR_FAULT_COUNT; kind++) {
        unsigned long step = 1;
        bool hit = true;

        for (unsigned long n = 1; hit; n += step) {
            engine = te_engine_new();
            begin("first cell of an engine", kind, n);
            first_cell();
            hit = end(n);
            check_after("a");
            hermes_engine_free(engine);
            engine = NULL;
            CHECK(te_fd_count() == fds, "%zu descriptors, not %zu", te_fd_count(), fds);
            if (n >= 20 && !te_long())
                step = 7;
        }
    }
    alarm(0);
}
END_TEST

/* Nothing of an unfinished file is left in the cache, and what is there is right. */
static void check_cache(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;

    while (directory && (entry = readdir(directory)))
        CHECK(entry->d_name[0] == '.' || (strncmp(entry->d_name, "runner-", 7) == 0 &&
                                          strcmp(strrchr(entry->d_name, '.'), ".bin") == 0),
              "%s", entry->d_name);
    if (directory)
        closedir(directory);
    engine = te_engine_new();
    check_after("a");
    hermes_engine_free(engine);
    engine = NULL;
}

/* The first cell of all: the compiled runner is not kept yet. */
START_TEST(an_empty_cache)
{
    size_t fds = te_fd_count();
    unsigned long total = 0;

    for (int kind = HR_FAULT_MKDIR; kind < HR_FAULT_COUNT; kind++) {
        bool hit = true;

        for (unsigned long n = 1; hit; n++) {
            test_remove_tree(test_path("cache"));
            setenv("XDG_CACHE_HOME", test_path("cache"), 1);
            engine = te_engine_new();
            begin("empty cache", kind, n);
            first_cell();
            hit = end(n);
            total += hit;
            check_after("a");
            hermes_engine_free(engine);
            engine = NULL;
            check_cache(test_path("cache/hermes-kernel"));
            CHECK(te_fd_count() == fds, "%zu descriptors, not %zu", te_fd_count(), fds);
        }
    }
    alarm(0);
    ck_assert_uint_gt(total, 6);
}
END_TEST

static bool spare_came_or_failed(void)
{
    bool over = false;

    hr_engine_lock(engine);
    over = engine->spares_lost > 0;
    HR_LIST_EACH (link, &engine->kernels) {
        const struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        over |= kernel->spare && kernel->ready;
    }
    hr_engine_unlock(engine);
    return over;
}

/* A spare that does not come is noticed by nobody. */
START_TEST(a_spare)
{
    size_t fds = te_fd_count();
    unsigned long total = 0;

    for (int kind = 0; kind < HR_FAULT_COUNT; kind++) {
        unsigned long step = 1;
        bool hit = true;

        for (unsigned long n = 1; hit; n += step) {
            engine = te_engine_new();
            first_cell();
            te_set(engine, "spare_kernels", "1");
            begin("spare", kind, n);
            CHECK(test_wait(spare_came_or_failed(), TE_DEADLINE_MS), "no spare, no failure");
            hit = end(n);
            total += hit;
            CHECK(te_kernel_count(engine) == 1, "%zu kernels", te_kernel_count(engine));
            check_after("a");
            hermes_reset(engine, "a", NULL);
            check_after("a");
            hermes_engine_free(engine);
            engine = NULL;
            CHECK(te_fd_count() == fds, "%zu descriptors, not %zu", te_fd_count(), fds);
            if (n >= 20 && !te_long())
                step = 7;
        }
    }
    alarm(0);
    ck_assert_uint_gt(total, 10);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("fault");
    TCase *kernels = tcase_create("operations"), *engines = tcase_create("engines");

    tcase_add_checked_fixture(kernels, te_set_up, te_tear_down);
    tcase_add_checked_fixture(engines, te_set_up_bare, te_tear_down);
    tcase_set_timeout(kernels, te_long() ? 1200 : 180);
    tcase_set_timeout(engines, te_long() ? 1200 : 180);
    tcase_add_loop_test(kernels, an_operation, 0, (int)(sizeof operations / sizeof operations[0]));
    tcase_add_test(engines, a_new_engine);
    tcase_add_test(engines, the_first_cell_of_an_engine);
    tcase_add_test(engines, an_empty_cache);
    tcase_add_test(engines, a_spare);
    suite_add_tcase(suite, kernels);
    suite_add_tcase(suite, engines);
    return test_run(suite);
}

#else

int main(void)
{
    puts("skipped: built without --enable-fault-injection");
    return 77;
}

#endif
