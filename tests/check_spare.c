/* SPDX-License-Identifier: MIT */
/*
 * Kernels that are started before anybody needs them. What others see goes through the public API;
 * that a spare is there and ready is looked at inside the engine, since nobody else may notice it.
 */
#include "config.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine-private.h"
#include "engine-testlib.h"

#define PID "import os\nprint(os.getpid())"

static void set_up(void)
{
    te_set_up();
    te_set(engine, "spare_kernels", "1");
}

/* ---- looks ------------------------------------------------------------------------------ */

/* Of the first that is ready; 0: there is none. */
static pid_t ready_spare(void)
{
    pid_t pid = 0;

    hr_engine_lock(engine);
    HR_LIST_EACH (link, &engine->kernels) {
        const struct hr_kernel *kernel = HR_CONTAINER(link, struct hr_kernel, link);

        if (!pid && kernel->spare && kernel->ready && kernel->state == HERMES_KERNEL_STARTING)
            pid = kernel->process.python;
    }
    hr_engine_unlock(engine);
    return pid;
}

/* What the engine knows of its spares. */
struct seen {
    int64_t spares, next_after_ns;
    unsigned lost;
    size_t kernels; /* spares, and what ends, too */
};

static struct seen look(void)
{
    struct seen seen = {0};

    hr_engine_lock(engine);
    seen.spares = engine->spares;
    seen.next_after_ns = engine->spare_after_ns;
    seen.lost = engine->spares_lost;
    HR_LIST_EACH (link, &engine->kernels)
        seen.kernels++;
    hr_engine_unlock(engine);
    return seen;
}

static pid_t wait_spare(void)
{
    pid_t pid = 0;

    ck_assert_msg(test_wait((pid = ready_spare()) != 0, TE_DEADLINE_MS), "no spare was started");
    return pid;
}

/* There is no alarm for the next try: one is due when a cell is over, and it has been quiet. */
#define RUN_UNTIL(condition)                                                                       \
    do {                                                                                           \
        int64_t end_ = test_now_ms() + test_scaled_ms(TE_DEADLINE_MS);                             \
        do                                                                                         \
            te_succeeds("a", "1");                                                                 \
        while (!test_wait(condition, 300) && test_now_ms() < end_);                                \
        ck_assert(condition);                                                                      \
    } while (0)

/* Take what is queued; of these types none may be there. */
static void no_event_of(enum hermes_event_type type, enum hermes_event_type other)
{
    struct hermes_event *event;

    te_forget_events();
    for (;;) {
        ck_assert_int_eq(hermes_next_event(engine, 0, &event), 0);
        if (!event)
            return;
        ck_assert(event->type != type && event->type != other);
        hermes_event_free(event);
    }
}

static pid_t pid_of(const struct hermes_cell *cell)
{
    struct hermes_result *result = te_run_cell(engine, cell);
    pid_t pid = (pid_t)result->kernel_pid;

    EXPECT(result, result->outcome == HERMES_SUCCESS);
    hermes_result_free(result);
    return pid;
}

static void runs_in(pid_t pid, const char *session, uint64_t generation,
                    enum hermes_previous previous)
{
    struct hermes_result *result = te_run(session, PID);
    char expected[24];

    snprintf(expected, sizeof expected, "%d\n", (int)pid);
    EXPECT_OUTPUT(result, expected);
    EXPECT(result, result->kernel_pid == pid && result->generation == generation);
    EXPECT(result, result->previous == previous && result->execution_count == 1);
    EXPECT(result, !result->reused);
    hermes_result_free(result);
}

/* ---- what it is for --------------------------------------------------------------------- */

START_TEST(off_unless_asked_for)
{
    struct hermes_engine *usual = te_engine_new();
    char *value = NULL;

    ck_assert_int_eq(hermes_get_option(usual, "spare_kernels", &value), 0);
    ck_assert_str_eq(value, "0");
    hermes_free(value);
    hermes_engine_free(usual);
}
END_TEST

START_TEST(a_reset_takes_it)
{
    pid_t spare;

    te_succeeds("a", "x = 1");
    spare = wait_spare();
    ck_assert_int_eq(hermes_reset(engine, "a", NULL), 0);
    runs_in(spare, "a", 2, HERMES_PREVIOUS_RESET);
    te_says("a", "print('x' in globals())", "False\n");
    ck_assert_int_ne(wait_spare(), spare);
}
END_TEST

START_TEST(a_cell_that_resets_takes_it)
{
    struct hermes_cell cell = te_cell("a", "1");
    pid_t spare;

    te_succeeds("a", "x = 1");
    spare = wait_spare();
    cell.flags = HERMES_CELL_RESET;
    ck_assert_int_eq(pid_of(&cell), spare);
}
END_TEST

START_TEST(a_new_session_takes_it)
{
    pid_t spare;

    te_succeeds("a", "x = 1");
    spare = wait_spare();
    runs_in(spare, "b", 1, HERMES_PREVIOUS_NONE);
    te_says("a", "print(x)", "1\n");
}
END_TEST

START_TEST(there_may_be_several)
{
    te_set(engine, "spare_kernels", "3");
    te_succeeds("a", "1");
    ck_assert(test_wait(look().spares == 3, TE_DEADLINE_MS));
    ck_assert(test_wait(te_runners() == 4, TE_DEADLINE_MS)); /* by name: once they are executed */
    ck_assert_uint_eq(te_kernel_count(engine), 1);
}
END_TEST

/* ---- nobody sees it --------------------------------------------------------------------- */

START_TEST(not_counted_and_not_told_of)
{
    struct hermes_event *event;
    uint64_t kernel;
    pid_t spare;

    te_set(engine, "max_session_kernels", "1");
    event = te_done(te_submit("a", "x = 1"));
    kernel = event->result->kernel;
    hermes_event_free(event);
    spare = wait_spare();
    ck_assert_uint_eq(te_runners(), 2);
    ck_assert_uint_eq(te_kernel_count(engine), 1);
    ck_assert_int_ne((int)te_kernel_number(engine, "a", "pid"), spare);
    ck_assert_int_eq(hermes_resize(engine, 0, 80, 24), HERMES_ENOENT);
    ck_assert_int_eq(hermes_kernel_wait(engine, 0, 0), 1);
    te_says("a", "print(x)", "1\n"); /* the cap has not ended it */
    te_forget_events();
    for (;;) {
        ck_assert_int_eq(hermes_next_event(engine, 0, &event), 0);
        if (!event)
            break;
        ck_assert(event->type != HERMES_EVENT_KERNEL || event->kernel == kernel);
        hermes_event_free(event);
    }
}
END_TEST

static void next_state(const char *session, uint64_t kernel, enum hermes_kernel_state state)
{
    struct hermes_event *event = te_event(HERMES_EVENT_KERNEL, kernel);

    ck_assert_int_eq(event->state, state);
    ck_assert_str_eq(event->session, session);
    hermes_event_free(event);
}

/* Its owner sees it begin as any other does. */
START_TEST(it_begins_like_a_kernel)
{
    struct hermes_cell cell = te_cell("b", "1");
    struct hermes_event *done;
    uint64_t kernel = 0;

    hermes_event_free(te_done(te_submit("a", "1")));
    wait_spare();
    ck_assert_int_eq(hermes_start(engine, &cell, &kernel, NULL), 0);
    ck_assert_uint_ne(kernel, 0);
    next_state("b", kernel, HERMES_KERNEL_STARTING);
    next_state("b", kernel, HERMES_KERNEL_IDLE);
    ck_assert_uint_eq(te_kernel_count(engine), 2);
    ck_assert_int_eq((int)te_kernel_number(engine, "b", "id"), (int)kernel);
    ck_assert_double_lt(te_kernel_number(engine, "b", "execution_count"), 1);
    done = te_done(te_submit("b", "1"));
    ck_assert_uint_eq(done->result->kernel, kernel);
    hermes_event_free(done);
}
END_TEST

/* It would take time away from the cell. */
START_TEST(none_is_started_while_a_cell_runs)
{
    char code[600];
    uint64_t cell;

    snprintf(code, sizeof code, TE_WAIT "wait('%s')", test_path("go"));
    cell = te_submit("a", code);
    te_started(cell);
    ck_assert(!test_wait(look().spares != 0, 300));
    test_write_file(test_path("go"), "x", 0600);
    hermes_event_free(te_done(cell));
    wait_spare();
}
END_TEST

/* ---- it is what a fresh kernel would be, or it is not taken ----------------------------- */

static struct hermes_kernel_setup setup;

static void other_mode(struct hermes_cell *cell)
{
    cell->mode = HERMES_MODE_STRICT;
}

static void other_directory(struct hermes_cell *cell)
{
    cell->cwd = test_directory();
}

static void other_tools(struct hermes_cell *cell)
{
    static const char *const tools[] = {"terminal", NULL};

    cell->tools = tools;
}

static void other_python(struct hermes_cell *cell)
{
    ck_assert_int_eq(symlink(te_python(), test_path("python3")), 0);
    cell->python = test_path("python3");
}

static void other_environment(struct hermes_cell *cell)
{
    setup.env = HERMES_ENV_INHERIT;
    cell->setup = &setup;
}

static void with_requests(struct hermes_cell *cell)
{
    setup.requests = true;
    cell->setup = &setup;
}

static void a_terminal(struct hermes_cell *cell)
{
    setup.io = HERMES_IO_TTY;
    cell->setup = &setup;
}

static void a_script(struct hermes_cell *cell)
{
    setup.script = "some.py";
    cell->setup = &setup;
}

static void the_hosts_input(struct hermes_cell *cell)
{
    setup.stdin_source = HERMES_STDIN_INHERIT;
    cell->setup = &setup;
}

static void a_child(struct hermes_cell *cell)
{
    cell->child_id = "kid";
}

static void a_new_variable(struct hermes_cell *cell)
{
    (void)cell;
    setenv("LC_SPARE", "1", 1); /* one that a kernel gets */
}

static void a_changed_variable(struct hermes_cell *cell)
{
    (void)cell;
    setenv("LC_PAPER", "C", 1);
}

static void another_option(struct hermes_cell *cell)
{
    (void)cell;
    te_set(engine, "env_passthrough", "NOBODY_HAS_THIS");
}

/* after: whether it is still there when another was started in its stead */
static const struct difference {
    const char *name;
    void (*make)(struct hermes_cell *cell);
    bool stays;
} differences[] = {
    {"mode", other_mode, false},
    {"directory", other_directory, false},
    {"tools", other_tools, false},
    {"interpreter", other_python, false},
    {"kind of environment", other_environment, false},
    {"requests", with_requests, false},
    {"terminal", a_terminal, false},
    {"script", a_script, false},
    {"input of the host", the_hosts_input, true},
    {"delegated child", a_child, true},
    {"new variable", a_new_variable, false},
    {"changed variable", a_changed_variable, false},
    {"option", another_option, false},
};

START_TEST(what_differs_has_a_kernel_of_its_own)
{
    static const struct hermes_kernel_setup usual = HERMES_KERNEL_SETUP_INIT;
    const struct difference *difference = &differences[_i];
    struct hermes_cell cell = te_cell("b", "1");
    pid_t spare;

    setenv("LC_PAPER", "POSIX", 1);
    setup = usual;
    te_succeeds("a", "x = 1");
    spare = wait_spare();
    difference->make(&cell);
    ck_assert_msg(pid_of(&cell) != spare, "another %s took the spare", difference->name);
    if (difference->stays) /* lost: it ended by itself; else the engine has ended it */
        ck_assert_msg(ready_spare() == spare, "another %s: the spare is gone, %u lost",
                      difference->name, look().lost);
    else
        ck_assert_msg(te_wait_gone(spare), "another %s: the spare is still there",
                      difference->name);
    te_says("a", "print(x)", "1\n");
    unsetenv("LC_SPARE");
}
END_TEST

/* A directory of the same name is another directory. */
START_TEST(the_directory_may_be_another_one)
{
    struct hermes_cell cell = te_cell("a", "1");
    pid_t spare;

    ck_assert_int_eq(mkdir(test_path("here"), 0700), 0);
    cell.cwd = test_path("here");
    pid_of(&cell);
    spare = wait_spare();
    ck_assert_int_eq(rename(test_path("here"), test_path("there")), 0);
    ck_assert_int_eq(mkdir(test_path("here"), 0700), 0);
    cell.session = "b";
    ck_assert_int_ne(pid_of(&cell), spare);
    ck_assert(te_wait_gone(spare));
}
END_TEST

static void sets_up_customization(const char *text)
{
    ck_assert(mkdir(test_path("path"), 0700) == 0 || test_exists(test_path("path")));
    test_write_file(test_path("path/sitecustomize.py"), text, 0600);
    setenv("PYTHONPATH", test_path("path"), 1);
}

/* What an interpreter reads when it starts may be another by now: a package was installed. */
START_TEST(files_of_the_start_may_have_changed)
{
    pid_t spare;

    sets_up_customization("import builtins; builtins.made = 'before'");
    te_says("a", "print(made)", "before\n");
    spare = wait_spare();
    sets_up_customization("import builtins; builtins.made = 'after it'");
    te_says("b", "print(made)", "after it\n");
    ck_assert(te_wait_gone(spare));
    spare = wait_spare();
    runs_in(spare, "c", 1, HERMES_PREVIOUS_NONE);
}
END_TEST

START_TEST(files_of_the_start_may_be_new)
{
    pid_t spare;

    ck_assert_int_eq(mkdir(test_path("path"), 0700), 0);
    setenv("PYTHONPATH", test_path("path"), 1);
    te_says("a", "import builtins\nprint(hasattr(builtins, 'made'))", "False\n");
    spare = wait_spare();
    sets_up_customization("import builtins; builtins.made = 'new'");
    te_says("b", "print(made)", "new\n");
    ck_assert(te_wait_gone(spare));
}
END_TEST

START_TEST(the_terminal_has_its_size)
{
    struct hermes_cell cell = te_cell("a", "1");
    struct hermes_result *result;
    pid_t spare;

    setup = (struct hermes_kernel_setup)HERMES_KERNEL_SETUP_INIT;
    setup.io = HERMES_IO_TTY;
    setup.columns = 100;
    setup.rows = 20;
    cell.setup = &setup;
    pid_of(&cell);
    spare = wait_spare();
    setup.columns = 77;
    setup.rows = 33;
    cell.session = "b";
    cell.code = "import os\nprint(*os.get_terminal_size())\nprint(os.isatty(0), input())";
    {
        uint64_t kernel = 0;

        ck_assert_int_eq(hermes_start(engine, &cell, &kernel, NULL), 0);
        ck_assert_int_eq(hermes_input(engine, kernel, "typed\r", 6, NULL), 0);
    }
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->kernel_pid == spare && te_has(result, "77 33"));
    EXPECT(result, te_has(result, "True typed"));
    hermes_result_free(result);
}
END_TEST

START_TEST(strict_sessions_have_a_directory_of_their_own)
{
    struct hermes_cell cell = te_cell("a", "import os\nprint(os.getcwd())");
    struct hermes_result *one, *two;
    pid_t spare;

    cell.mode = HERMES_MODE_STRICT;
    one = te_run_cell(engine, &cell);
    spare = wait_spare();
    cell.session = "b";
    two = te_run_cell(engine, &cell);
    EXPECT(two, two->outcome == HERMES_SUCCESS && two->kernel_pid == spare);
    ck_assert_str_ne(one->output, two->output);
    hermes_result_free(one);
    hermes_result_free(two);
}
END_TEST

/* The text of the whole script comes with the first cell, when the spare runs already. */
START_TEST(tracebacks_show_lines_of_the_script)
{
    struct hermes_cell cell = te_cell("a", "1");
    struct hermes_result *result;
    pid_t spare;

    pid_of(&cell);
    spare = wait_spare();
    cell.session = "b";
    cell.code = "def f():\n    raise ValueError('here')\nf()";
    cell.file_name = "script.py";
    cell.first_line = 3;
    cell.whole_source =
        "import os\n\ndef f():\n    raise ValueError('here')\nf()  # as the file has it\n";
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->kernel_pid == spare && te_error_has(result, "as the file has it"));
    EXPECT(result, te_error_has(result, "line 5"));
    hermes_result_free(result);
}
END_TEST

static char *answers(const struct hermes_tool_call *call)
{
    char text[200];

    snprintf(text, sizeof text, "{\"of\": \"%s\"}", call->session);
    return strdup(text);
}

START_TEST(tools_are_those_of_the_session)
{
    struct hermes_cell cell = te_cell("a", "1");
    struct hermes_result *result;
    pid_t spare;

    pid_of(&cell);
    spare = wait_spare();
    cell.session = "b";
    cell.code = "from hermes_tools import terminal\nprint(terminal('x'))";
    cell.tool_handler = answers;
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->kernel_pid == spare && result->tool_calls == 1);
    EXPECT_OUTPUT(result, "{'of': 'b'}\n");
    hermes_result_free(result);
}
END_TEST

/* It is told to who gets the kernel, and before: to nobody. */
START_TEST(output_of_the_start_is_kept)
{
    struct hermes_event *event, *done;
    uint64_t cell;

    sets_up_customization("import os; os.write(2, b'started\\n')");
    hermes_event_free(te_done(te_submit("a", "1")));
    no_event_of(HERMES_EVENT_ANSWER, HERMES_EVENT_ANSWER); /* its own output is out of the way */
    wait_spare();
    no_event_of(HERMES_EVENT_BACKGROUND, HERMES_EVENT_BACKGROUND);
    cell = te_submit("b", "1");
    event = te_event(HERMES_EVENT_BACKGROUND, 0);
    ck_assert_mem_eq(event->data, "started\n", 8);
    done = te_done(cell);
    ck_assert_uint_eq(event->kernel, done->result->kernel);
    ck_assert_str_eq(done->result->background_output, "started\n");
    hermes_event_free(event);
    hermes_event_free(done);
}
END_TEST

/* ---- its end ---------------------------------------------------------------------------- */

START_TEST(its_death_is_silent)
{
    int64_t killed_ns;
    pid_t spare;

    hermes_event_free(te_done(te_submit("a", "x = 1")));
    spare = wait_spare();
    no_event_of(HERMES_EVENT_BACKGROUND, HERMES_EVENT_BACKGROUND);
    killed_ns = hr_now_ns();
    ck_assert_int_eq(kill(spare, SIGKILL), 0);
    ck_assert(test_wait(look().lost == 1 && look().kernels == 1, TE_DEADLINE_MS));
    no_event_of(HERMES_EVENT_KERNEL, HERMES_EVENT_DONE);
    ck_assert_int_ge(look().next_after_ns, killed_ns + 1000000000); /* not so soon */
    te_says("a", "print(x)", "1\n");
    ck_assert_int_eq(hermes_reset(engine, "a", NULL), 0);
    te_says_fresh("a", "print('x' in globals())", "False\n", HERMES_PREVIOUS_RESET);
    RUN_UNTIL(look().spares == 1);
}
END_TEST

/* The news of its death may not have come yet. */
START_TEST(a_dead_one_is_not_taken)
{
    for (int i = 0; i < 3; i++) {
        pid_t spare;

        te_succeeds("a", "1");
        spare = wait_spare();
        hr_engine_lock(engine); /* nothing is read */
        ck_assert_int_eq(kill(spare, SIGKILL), 0);
        ck_assert(te_wait_gone(spare));
        hr_engine_unlock(engine);
        ck_assert_int_eq(hermes_reset(engine, "a", NULL), 0);
        te_says_fresh("a", "print(1)", "1\n", HERMES_PREVIOUS_RESET);
        hr_engine_lock(engine);
        engine->spare_after_ns = 0; /* the next round need not wait */
        hr_engine_unlock(engine);
    }
}
END_TEST

START_TEST(one_that_cannot_start_is_tried_seldom)
{
    te_succeeds("a", "x = 1");
    wait_spare();
    sets_up_customization("import sys; 'ipykernel' in sys.modules or __import__('os')._exit(1)");
    te_set(engine, "kill_grace", "0.1"); /* ends the one there is */
    ck_assert(test_wait(look().lost == 1, TE_DEADLINE_MS));
    te_says("a", "print(x)", "1\n");
    RUN_UNTIL(look().lost == 2);
    te_says("a", "print(x)", "1\n");
    ck_assert_uint_eq(te_kernel_count(engine), 1);
}
END_TEST

START_TEST(one_that_writes_for_ever_is_none)
{
    te_succeeds("a", "x = 1");
    wait_spare();
    sets_up_customization("import os\nfor n in range(3000): os.write(1, b'x' * 99 + b'\\n')");
    te_set(engine, "kill_grace", "0.1");
    ck_assert(test_wait(look().lost == 1, TE_DEADLINE_MS));
    te_says("a", "print(x)", "1\n");
}
END_TEST

START_TEST(it_goes_when_it_is_not_wanted)
{
    pid_t spare;

    te_succeeds("a", "x = 1");
    spare = wait_spare();
    te_set(engine, "spare_kernels", "0");
    ck_assert(te_wait_gone(spare));
    te_says("a", "print(x)", "1\n");
    te_set(engine, "spare_kernels", "1");
    spare = wait_spare();
    ck_assert_int_eq(hermes_shutdown_all(engine), 0);
    ck_assert(!test_process_lives(spare));
    ck_assert_uint_eq(te_runners(), 0);
    te_succeeds("a", "1");
    wait_spare();
}
END_TEST

START_TEST(it_goes_with_the_last_idle_kernel)
{
    pid_t spare;

    te_succeeds("a", "1");
    spare = wait_spare();
    te_set(engine, "kernel_idle_timeout", "1"); /* ends the spare, too, and starts another */
    ck_assert(te_wait_gone(spare));
    ck_assert(test_wait(te_runners() == 0, TE_DEADLINE_MS));
    ck_assert_int_eq(look().spares, 0);
}
END_TEST

/* ---- races ------------------------------------------------------------------------------ */

static void *reset_often(void *argument)
{
    const char *session = argument;

    for (int i = 0; i < 6; i++) {
        struct hermes_result *result = te_run(session, "print(40 + 2)");

        EXPECT(result, result->outcome == HERMES_SUCCESS);
        EXPECT_OUTPUT(result, "42\n");
        hermes_result_free(result);
        test_pause_ms(i % 2 ? 130 : 1);
        hermes_reset(engine, session, NULL);
    }
    return NULL;
}

START_TEST(resets_from_several_threads)
{
    pthread_t threads[3];
    static char names[3][2] = {"a", "b", "c"};

    te_set(engine, "spare_kernels", "2");
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, reset_often, names[i]), 0);
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("spare");
    TCase *use = tcase_create("use"), *same = tcase_create("same"), *ends = tcase_create("ends");
    TCase *all[] = {use, same, ends};

    te_add_cases(suite, all, sizeof all / sizeof all[0], set_up);
    tcase_add_test(use, off_unless_asked_for);
    tcase_add_test(use, a_reset_takes_it);
    tcase_add_test(use, a_cell_that_resets_takes_it);
    tcase_add_test(use, a_new_session_takes_it);
    tcase_add_test(use, there_may_be_several);
    tcase_add_test(use, not_counted_and_not_told_of);
    tcase_add_test(use, it_begins_like_a_kernel);
    tcase_add_test(use, none_is_started_while_a_cell_runs);
    tcase_add_loop_test(same, what_differs_has_a_kernel_of_its_own, 0,
                        (int)(sizeof differences / sizeof differences[0]));
    tcase_add_test(same, the_directory_may_be_another_one);
    tcase_add_test(same, files_of_the_start_may_have_changed);
    tcase_add_test(same, files_of_the_start_may_be_new);
    tcase_add_test(same, the_terminal_has_its_size);
    tcase_add_test(same, strict_sessions_have_a_directory_of_their_own);
    tcase_add_test(same, tracebacks_show_lines_of_the_script);
    tcase_add_test(same, tools_are_those_of_the_session);
    tcase_add_test(same, output_of_the_start_is_kept);
    tcase_add_test(ends, its_death_is_silent);
    tcase_add_test(ends, a_dead_one_is_not_taken);
    tcase_add_test(ends, one_that_cannot_start_is_tried_seldom);
    tcase_add_test(ends, one_that_writes_for_ever_is_none);
    tcase_add_test(ends, it_goes_when_it_is_not_wanted);
    tcase_add_test(ends, it_goes_with_the_last_idle_kernel);
    tcase_add_test(ends, resets_from_several_threads);
    return test_run(suite);
}
