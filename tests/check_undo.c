/* SPDX-License-Identifier: MIT */
/*
 * Taking resets back: a parked kernel comes back as it was, is nobody's meanwhile, and goes when
 * its time is over, when there are too many, when the session is cleared and when the host ends.
 */
#include "config.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine-private.h"
#include "engine-testlib.h"

static void set_up(void)
{
    te_set_up();
    te_set(engine, "undo_kernels", "2");
}

/* ---- steps ------------------------------------------------------------------------------ */

static void reset(const char *session)
{
    ck_assert_int_eq(hermes_reset(engine, session, NULL), 0);
}

/* One that a checkpoint is becoming. */
static bool coming_back(void)
{
    bool any = false;

    hr_engine_lock(engine);
    HR_LIST_EACH (link, &engine->kernels)
        any |= HR_CONTAINER(link, struct hr_kernel, link)->resuming;
    hr_engine_unlock(engine);
    return any;
}

static struct hermes_undone undo(const char *session)
{
    struct hermes_undone undone = HERMES_UNDONE_INIT;
    struct hermes_error error = {0};

    ck_assert(test_wait(!coming_back(), TE_DEADLINE_MS));
    ck_assert_msg(hermes_undo(engine, session, NULL, 0, &undone, &error) == 0, "%s", error.text);
    return undone;
}

static void cannot_undo(const char *session, int status, const char *text)
{
    struct hermes_error error = {0};

    ck_assert(test_wait(!coming_back(), TE_DEADLINE_MS));
    ck_assert_int_eq(hermes_undo(engine, session, NULL, 0, NULL, &error), status);
    ck_assert_msg(strstr(error.text, text) != NULL, "\"%s\" is not in: %s", text, error.text);
}

static pid_t kernel_pid(const char *session)
{
    return (pid_t)te_kernel_number(engine, session, "pid");
}

static size_t parked(void)
{
    size_t count = 0;

    hr_engine_lock(engine);
    HR_LIST_EACH (link, &engine->kernels)
        count += HR_CONTAINER(link, struct hr_kernel, link)->state == HERMES_KERNEL_PARKED;
    hr_engine_unlock(engine);
    return count;
}

static char process_state(pid_t pid)
{
    char path[64], text[512] = "", *end;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file) {
        text[fread(text, 1, sizeof text - 1, file)] = '\0';
        fclose(file);
    }
    end = strrchr(text, ')');
    return end && end[1] ? end[2] : '-';
}

/* ---- it comes back ---------------------------------------------------------------------- */

START_TEST(off_unless_asked_for)
{
    struct hermes_engine *usual = te_engine_new();
    char *value = NULL;

    ck_assert_int_eq(hermes_get_option(usual, "undo_kernels", &value), 0);
    ck_assert_str_eq(value, "0");
    hermes_free(value);
    hermes_engine_free(usual);
    te_set(engine, "undo_kernels", "0");
    te_succeeds("a", "x = 1");
    reset("a");
    cannot_undo("a", HERMES_ENOENT, "undo_kernels");
    cannot_undo("nobody", HERMES_ENOENT, "nothing is kept to go back to");
    te_says_fresh("a", "print('x' in globals())", "False\n", HERMES_PREVIOUS_RESET);
}
END_TEST

START_TEST(brings_back_all_as_it_was)
{
    struct hermes_undone undone;
    struct hermes_result *result;
    double id;
    pid_t pid;

    te_succeeds("a", "x = [1, 2]");
    te_succeeds("a", "x.append(3)");
    pid = kernel_pid("a");
    id = te_kernel_number(engine, "a", "id");
    reset("a");
    te_says_fresh("a", "print('x' in globals())", "False\n", HERMES_PREVIOUS_RESET);
    undone = undo("a");
    ck_assert_uint_eq(undone.kernel, (uint64_t)id);
    ck_assert_uint_eq(undone.execution_count, 2);
    ck_assert_int_eq(undone.cause, HERMES_PREVIOUS_RESET);
    ck_assert_int_gt(undone.memory_bytes, 1 << 20);
    ck_assert(undone.left_ms > 0 && undone.left_ms <= 600000);
    ck_assert_int_eq(kernel_pid("a"), pid);
    result = te_run("a", "print(x)");
    EXPECT(result, result->execution_count == 3 && result->generation == 1 && result->reused);
    EXPECT(result, result->previous == HERMES_PREVIOUS_UNDONE && !result->state_reset);
    EXPECT(result, result->kernel_pid == pid);
    EXPECT_OUTPUT(result, "[1, 2, 3]\n");
    hermes_result_free(result);
    result = te_run("a", "1");
    EXPECT(result, result->previous == HERMES_PREVIOUS_NONE);
    hermes_result_free(result);
    cannot_undo("a", HERMES_ENOENT, "nothing is kept");
}
END_TEST

START_TEST(goes_back_over_several_resets)
{
    te_succeeds("a", "x = 1");
    reset("a");
    te_succeeds("a", "x = 2");
    reset("a");
    te_succeeds("a", "x = 3");
    undo("a");
    te_says("a", "print(x)", "2\n");
    undo("a");
    te_says("a", "print(x)", "1\n");
    reset("a"); /* also one that has come back */
    undo("a");
    te_says("a", "print(x)", "1\n");
}
END_TEST

/* A cell that resets leaves the old kernel behind, too, once that has nothing to do. */
START_TEST(undoes_a_cell_that_resets)
{
    struct hermes_cell cell = te_cell("a", "y = 1");

    te_succeeds("a", "x = 1");
    cell.flags = HERMES_CELL_RESET;
    hermes_result_free(te_run_cell(engine, &cell));
    undo("a");
    te_says("a", "print(x, 'y' in globals())", "1 False\n");
}
END_TEST

START_TEST(looking_changes_nothing)
{
    struct hermes_undone undone = HERMES_UNDONE_INIT;

    te_succeeds("a", "x = 1");
    reset("a");
    te_succeeds("a", "x = 2");
    ck_assert_int_eq(hermes_undo(engine, "a", NULL, HERMES_UNDO_LOOK, &undone, NULL), 0);
    ck_assert_uint_eq(undone.execution_count, 1);
    te_says("a", "print(x)", "2\n");
    undone.size = 0;
    ck_assert_int_eq(hermes_undo(engine, "a", NULL, 0, &undone, NULL), HERMES_EINVAL);
    ck_assert_int_eq(hermes_undo(engine, NULL, NULL, 0, NULL, NULL), HERMES_EINVAL);
    te_says("a", "print(x)", "2\n");
}
END_TEST

START_TEST(not_while_cells_run)
{
    uint64_t cell;

    te_succeeds("a", "x = 1");
    reset("a");
    cell = te_submit("a", "import time; time.sleep(60)");
    te_started(cell);
    cannot_undo("a", HERMES_EAGAIN, "run or wait");
    ck_assert_int_eq(hermes_interrupt(engine, cell, NULL, 0), 0);
    hermes_event_free(te_done(cell));
    undo("a");
    te_says("a", "print(x)", "1\n");
}
END_TEST

START_TEST(works_at_a_terminal_and_with_requests)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = te_cell("a", "x = input()");
    struct hermes_event *event;
    uint64_t id, request;

    setup.io = HERMES_IO_TTY;
    setup.requests = true;
    cell.setup = &setup;
    id = te_submit_cell(&cell);
    te_started(id);
    ck_assert_int_eq(
        hermes_input(engine, (uint64_t)te_kernel_number(engine, "a", "id"), "first\n", 6, NULL), 0);
    hermes_event_free(te_done(id));
    reset("a");
    cell.code = "y = 1";
    hermes_event_free(te_done(te_submit_cell(&cell)));
    id = undo("a").kernel;
    cell.code = "print(x, input())";
    request = te_submit_cell(&cell);
    te_started(request);
    ck_assert_int_eq(hermes_input(engine, id, "second\n", 7, NULL), 0);
    te_output(request, "first second");
    hermes_event_free(te_done(request));
    ck_assert_int_eq(hermes_request(engine, id, "{\"request\":\"ping\"}", 20000, &request, NULL),
                     0);
    event = te_event(HERMES_EVENT_ANSWER, 0);
    ck_assert_ptr_nonnull(strstr(event->data, "\"busy\": false"));
    hermes_event_free(event);
}
END_TEST

/* ---- meanwhile it is nobody's ----------------------------------------------------------- */

START_TEST(counts_nowhere_and_does_nothing)
{
    struct hermes_event *event;
    uint64_t kernel, request;
    pid_t pid;

    te_set(engine, "max_session_kernels", "1");
    event = te_done(te_submit("a", "x = 1"));
    kernel = event->result->kernel;
    hermes_event_free(event);
    pid = kernel_pid("a");
    reset("a");
    ck_assert(test_wait(process_state(pid) == 'T', TE_DEADLINE_MS));
    ck_assert_uint_eq(te_kernel_count(engine), 0);
    ck_assert_int_eq(hermes_reset(engine, "a", NULL), HERMES_ENOENT);
    te_succeeds("b", "1"); /* takes the one place that there is, and nobody goes */
    ck_assert_uint_eq(parked(), 1);
    ck_assert_int_eq(hermes_kernel_wait(engine, kernel, 0), 0);
    ck_assert_int_eq(hermes_resize(engine, kernel, 80, 24), HERMES_ENOENT);
    ck_assert_int_eq(hermes_request(engine, kernel, "{\"request\":\"ping\"}", 0, &request, NULL),
                     HERMES_ENOENT);
    undo("a"); /* now b goes: the cap holds */
    ck_assert(test_wait(te_kernel_number(engine, "b", "id") < 0, TE_DEADLINE_MS));
    te_says("a", "print(x)", "1\n");
}
END_TEST

static void next_state(uint64_t kernel, enum hermes_kernel_state state, enum hermes_previous cause)
{
    struct hermes_event *event = te_event(HERMES_EVENT_KERNEL, kernel);

    ck_assert_int_eq(event->state, state);
    ck_assert_int_eq(event->cause, cause);
    ck_assert_str_eq(event->session, "a");
    ck_assert(state != HERMES_KERNEL_PARKED || event->execution_count > 0);
    hermes_event_free(event);
}

START_TEST(events_tell_of_it)
{
    struct hermes_event *event = te_done(te_submit("a", "x = 1"));
    uint64_t kernel = event->result->kernel;

    hermes_event_free(event);
    next_state(kernel, HERMES_KERNEL_STARTING, HERMES_PREVIOUS_NONE);
    next_state(kernel, HERMES_KERNEL_BUSY, HERMES_PREVIOUS_NONE);
    next_state(kernel, HERMES_KERNEL_IDLE, HERMES_PREVIOUS_NONE);
    reset("a");
    next_state(kernel, HERMES_KERNEL_PARKED, HERMES_PREVIOUS_RESET);
    undo("a");
    next_state(kernel, HERMES_KERNEL_IDLE, HERMES_PREVIOUS_UNDONE);
    hermes_event_free(te_done(te_submit("a", "x")));
    next_state(kernel, HERMES_KERNEL_BUSY, HERMES_PREVIOUS_NONE);
    next_state(kernel, HERMES_KERNEL_IDLE, HERMES_PREVIOUS_NONE);
    reset("a");
    next_state(kernel, HERMES_KERNEL_PARKED, HERMES_PREVIOUS_RESET);
    te_set(engine, "undo_kernels", "0");
    next_state(kernel, HERMES_KERNEL_STOPPING, HERMES_PREVIOUS_RESET);
    next_state(kernel, HERMES_KERNEL_DEAD, HERMES_PREVIOUS_RESET);
}
END_TEST

/* ---- what is not kept ------------------------------------------------------------------- */

static void is_not_kept(const char *code, const char *why)
{
    pid_t pid;

    te_succeeds("a", code);
    pid = kernel_pid("a");
    reset("a");
    cannot_undo("a", HERMES_ENOENT, why);
    ck_assert(te_wait_gone(pid));
}

START_TEST(what_others_wait_for_is_not_kept)
{
    uint64_t cell;

    is_not_kept("import subprocess\np = subprocess.Popen(['sleep', '60'])", "started processes");
    is_not_kept("import subprocess\n"
                "subprocess.run(['sh', '-c', 'setsid sleep 60 </dev/null >/dev/null 2>&1 &'])",
                "started processes");
    is_not_kept("import socket\ns = socket.create_server(('127.0.0.1', 0))", "listens on a port");
    te_set(engine, "undo_memory", "100");
    is_not_kept("x = bytearray(b'x') * (120 << 20)", "undo_memory");
    cell = te_submit("a", "import time; time.sleep(60)");
    te_started(cell);
    reset("a");
    cannot_undo("a", HERMES_ENOENT, "running a cell");
    hermes_event_free(te_done(cell));
    ck_assert_uint_eq(parked(), 0);
}
END_TEST

/* Nor does it take the place of what is: nobody wants an empty kernel back. */
START_TEST(an_unused_kernel_is_not_kept)
{
    struct hermes_cell cell = te_cell("a", NULL);
    uint64_t kernel;

    te_succeeds("a", "x = 1");
    reset("a");
    ck_assert_int_eq(hermes_start(engine, &cell, &kernel, NULL), 0);
    reset("a");
    undo("a");
    te_says("a", "print(x)", "1\n");
}
END_TEST

/* ---- its end ---------------------------------------------------------------------------- */

START_TEST(ends_when_its_time_is_over)
{
    pid_t pid;

    te_set(engine, "undo_timeout", "1");
    te_succeeds("a", "x = 1");
    pid = kernel_pid("a");
    reset("a");
    ck_assert_uint_eq(parked(), 1);
    ck_assert(te_wait_gone(pid)); /* though nobody calls */
    cannot_undo("a", HERMES_ENOENT, "as long as the options say");
}
END_TEST

START_TEST(the_oldest_goes_first)
{
    const char *const names[] = {"a", "b", "c"};
    pid_t pids[3];

    for (int i = 0; i < 3; i++) {
        te_succeeds(names[i], "x = 1");
        pids[i] = kernel_pid(names[i]);
        reset(names[i]);
    }
    ck_assert(te_wait_gone(pids[0]));
    cannot_undo("a", HERMES_ENOENT, "as long as");
    undo("b");
    undo("c");
    ck_assert_int_eq(kernel_pid("b"), pids[1]);
    ck_assert_int_eq(kernel_pid("c"), pids[2]);
}
END_TEST

START_TEST(ends_with_its_session)
{
    pid_t pid;

    te_succeeds("a", "x = 1");
    pid = kernel_pid("a");
    reset("a");
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    ck_assert_int_eq(kill(pid, 0), -1); /* clear has waited */
    te_succeeds("a", "x = 1");
    pid = kernel_pid("a");
    reset("a");
    ck_assert_int_eq(hermes_close(engine, "a", NULL), 0);
    ck_assert(te_wait_gone(pid));
    te_succeeds("a", "x = 1");
    pid = kernel_pid("a");
    reset("a");
    ck_assert_int_eq(hermes_shutdown_all(engine), 0);
    ck_assert_int_eq(kill(pid, 0), -1);
}
END_TEST

START_TEST(its_death_is_noticed)
{
    pid_t pid;

    te_succeeds("a", "x = 1");
    pid = kernel_pid("a");
    reset("a");
    ck_assert_int_eq(kill(pid, SIGKILL), 0);
    ck_assert(test_wait(parked() == 0, TE_DEADLINE_MS));
    cannot_undo("a", HERMES_ENOENT, "nothing is kept");
    te_says_fresh("a", "print(1)", "1\n", HERMES_PREVIOUS_RESET);
}
END_TEST

/* A host with a parked kernel is killed, alone or with the guard: nothing of it is left. */
static void host_dies(bool with_guard)
{
    int told[2];
    pid_t pids[3], host;

    ck_assert_int_eq(pipe(told), 0);
    host = fork();
    if (host == 0) {
        struct hermes_engine *own = NULL;
        struct hermes_cell cell = te_cell("a", "x = 1");
        struct hermes_result *result = NULL;

        if (hermes_engine_new(&own, NULL) || hermes_set_option(own, "undo_kernels", "1", NULL) ||
            hermes_execute(own, &cell, &result, NULL))
            _exit(1);
        pids[0] = (pid_t)result->kernel_pid;
        pids[1] = (pid_t)te_kernel_number(own, "a", "guard_pid");
        if (hermes_reset(own, "a", NULL) ||
            hermes_undo(own, "a", NULL, HERMES_UNDO_LOOK, NULL, NULL))
            _exit(1);
        if (write(told[1], pids, 2 * sizeof *pids) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(told[0], pids, 2 * sizeof *pids), 2 * sizeof *pids);
    ck_assert(test_wait(process_state(pids[0]) == 'T', TE_DEADLINE_MS));
    kill(host, SIGSTOP);
    if (with_guard)
        kill(pids[1], SIGKILL);
    kill(host, SIGKILL);
    waitpid(host, NULL, 0);
    ck_assert(te_wait_gone(pids[0]));
    ck_assert(te_wait_gone(pids[1]));
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue; /* its orphans are ours */
    hermes_sweep_staging(engine);
    close(told[0]);
    close(told[1]);
}

START_TEST(nothing_outlives_the_host)
{
    host_dies(false);
    host_dies(true);
}
END_TEST

/* ---- checkpoints ------------------------------------------------------------------------ */

#ifndef HERMES_NO_GUARD

static void set_up_checkpoints(void)
{
    set_up();
    te_set(engine, "checkpoints", "3");
}

/* As many as there are of the only kernel. */
static size_t checkpoints(void)
{
    size_t count = 0;

    hr_engine_lock(engine);
    HR_LIST_EACH (link, &engine->kernels)
        count += HR_CONTAINER(link, struct hr_kernel, link)->checkpoint_count;
    hr_engine_unlock(engine);
    return count;
}

START_TEST(goes_back_cell_by_cell)
{
    struct hermes_result *result;
    struct hermes_undone undone;
    pid_t pid;

    te_succeeds("a", "x = ['one']");
    te_succeeds("a", "x.append('two')");
    te_succeeds("a", "x.append('three')");
    te_succeeds("a", "x = None; import os; os.environ['HERMES_X'] = '1'");
    pid = kernel_pid("a");
    ck_assert(test_wait(checkpoints() == 3, TE_DEADLINE_MS));
    undone = undo("a");
    ck_assert_uint_eq(undone.execution_count, 3);
    ck_assert_int_eq(undone.cause, HERMES_PREVIOUS_NONE);
    result = te_run("a", "import os; print(x, 'HERMES_X' in os.environ)");
    EXPECT_OUTPUT(result, "['one', 'two', 'three'] False\n");
    EXPECT(result, result->execution_count == 4 && result->generation == 1);
    EXPECT(result, result->previous == HERMES_PREVIOUS_UNDONE);
    EXPECT(result, result->kernel_pid != pid && result->kernel_pid == kernel_pid("a"));
    hermes_result_free(result);
    ck_assert(te_wait_gone(pid));
    undo("a"); /* what has just been printed */
    ck_assert_uint_eq(undo("a").execution_count, 2);
    te_says("a", "print(x)", "['one', 'two']\n");
    undo("a");
    ck_assert_uint_eq(undo("a").execution_count, 1);
    te_says("a", "print(x)", "['one']\n");
    undo("a");
    cannot_undo("a", HERMES_ENOENT, "nothing is kept"); /* no more than three were */
    te_says("a", "print(x)", "['one']\n");
}
END_TEST

static const struct {
    const char *code;
    enum hermes_outcome outcome;
} ends_of_cells[] = {
    {"x = 0\nwhile True: pass", HERMES_TIMEOUT},
    {"x = 0\nimport os; os.kill(os.getpid(), 11)", HERMES_ERROR},
    {"import os; os._exit(3)", HERMES_ERROR},
    {"raise SystemExit(4)", HERMES_ERROR},
    {"import subprocess\nsubprocess.Popen(['sleep', '60'])\nwhile True: pass", HERMES_TIMEOUT},
};

START_TEST(brings_back_what_a_cell_has_ended)
{
    bool exits = strstr(ends_of_cells[_i].code, "SystemExit") != NULL;
    struct hermes_result *result;

    te_succeeds("a", "x = 41");
    result = te_run_timeout("a", ends_of_cells[_i].code, 1000);
    EXPECT(result, result->outcome == ends_of_cells[_i].outcome && result->ended);
    EXPECT(result, exits || (result->undo && te_error_has(result, "undo brings it back")));
    hermes_result_free(result);
    ck_assert(test_wait(parked() == 1, TE_DEADLINE_MS));
    if (_i % 2) /* another may serve the session meanwhile */
        te_says("a", "print('x' in globals())", "False\n");
    if (_i % 2) /* its own state before that comes first */
        ck_assert_uint_eq(undo("a").execution_count, 0);
    ck_assert_uint_eq(undo("a").execution_count, 1);
    result = te_run("a", "x += 1; print(x)");
    EXPECT_OUTPUT(result, "42\n");
    EXPECT(result, result->execution_count == 2 && result->previous == HERMES_PREVIOUS_UNDONE);
    hermes_result_free(result);
    undo("a"); /* and goes on as ever */
    te_says("a", "print(x)", "41\n");
}
END_TEST

START_TEST(brings_back_what_was_killed)
{
    struct hermes_event *event;
    uint64_t cell;

    te_succeeds("a", "x = 1");
    cell = te_submit("a", "import time; time.sleep(60)");
    te_started(cell);
    ck_assert(test_wait(checkpoints() == 2, TE_DEADLINE_MS));
    ck_assert_int_eq(hermes_kill(engine, cell, NULL), 0);
    event = te_done(cell);
    ck_assert(event->result->outcome == HERMES_INTERRUPTED && event->result->undo);
    hermes_event_free(event);
    ck_assert(test_wait(parked() == 1, TE_DEADLINE_MS));
    undo("a");
    te_says("a", "print(x)", "1\n");
    cell = te_submit("a", "import time; time.sleep(60)");
    te_started(cell);
    ck_assert(test_wait(checkpoints() == 2, TE_DEADLINE_MS));
    reset("a");
    hermes_event_free(te_done(cell));
    ck_assert(test_wait(parked() == 1, TE_DEADLINE_MS));
    undo("a");
    te_says("a", "print(x)", "1\n");
}
END_TEST

START_TEST(channels_work_after_it)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = te_cell("a", "x = input()");
    struct hermes_event *event;
    uint64_t id, request;

    setup.io = HERMES_IO_TTY;
    setup.requests = true;
    cell.setup = &setup;
    id = te_submit_cell(&cell);
    te_started(id);
    ck_assert_int_eq(
        hermes_input(engine, (uint64_t)te_kernel_number(engine, "a", "id"), "first\n", 6, NULL), 0);
    hermes_event_free(te_done(id));
    cell.code = "print('half a line', end='', flush=True); import os; os._exit(1)";
    hermes_event_free(te_done(te_submit_cell(&cell)));
    ck_assert(test_wait(parked() == 1, TE_DEADLINE_MS));
    id = undo("a").kernel;
    cell.code = "import os; print(x, os.getsid(0) == os.getpid() == os.tcgetpgrp(0)); y = input()";
    request = te_submit_cell(&cell);
    te_output(request, "first True\r\n");
    ck_assert_int_eq(hermes_input(engine, id, "second\n", 7, NULL), 0);
    hermes_event_free(te_done(request));
    ck_assert_int_eq(hermes_request(engine, id, "{\"request\":\"ping\"}", 20000, &request, NULL),
                     0);
    event = te_event(HERMES_EVENT_ANSWER, 0);
    ck_assert_ptr_nonnull(strstr(event->data, "\"busy\": false"));
    hermes_event_free(event);
    cell.code = "import time\nwhile True: time.sleep(0.01)";
    request = te_submit_cell(&cell);
    te_started(request);
    ck_assert_int_eq(hermes_interrupt(engine, request, NULL, 0), 0);
    event = te_done(request);
    ck_assert_int_eq(event->result->state_kept, 1);
    hermes_event_free(event);
    cell.code = "print(y)";
    request = te_submit_cell(&cell);
    te_output(request, "second\r\n");
    hermes_event_free(te_done(request));
}
END_TEST

START_TEST(threads_are_a_reason_not_to)
{
    te_succeeds("a", "import threading\nstop = threading.Event()\n"
                     "t = threading.Thread(target=stop.wait); t.start()");
    te_succeeds("a", "x = 1");
    te_succeeds("a", "y = 1");
    te_set(engine, "checkpoints", "1"); /* the one of before is what is gone back to */
    te_says("a", "stop.set(); t.join(); print(x)", "1\n");
    te_succeeds("a", "x = 2");
    undo("a");
    te_says("a", "print(x, y)", "1 1\n");
    te_succeeds("b", "import threading\nstop = threading.Event()\n"
                     "t = threading.Thread(target=stop.wait); t.start()");
    undo("b"); /* before it there was none */
    te_succeeds("b", "import threading\nstop = threading.Event()\n"
                     "t = threading.Thread(target=stop.wait, daemon=True); t.start()");
    te_set(engine, "checkpoints", "0");
    te_succeeds("b", "1"); /* drops what is kept */
    te_set(engine, "checkpoints", "1");
    te_succeeds("b", "1");
    cannot_undo("b", HERMES_ENOENT, "1 other thread of Python runs in the kernel");
    te_succeeds("b", "stop.set()");
}
END_TEST

START_TEST(memory_is_bounded)
{
    te_set(engine, "undo_memory", "60");
    te_succeeds("a", "x = bytearray(b'x') * (40 << 20)");
    te_succeeds("a", "1");
    te_succeeds("a", "1");
    ck_assert(test_wait(checkpoints() == 3, TE_DEADLINE_MS)); /* they share all that */
    te_succeeds("a", "for i in range(0, len(x), 4096): x[i] = 1");
    te_succeeds("a", "for i in range(0, len(x), 4096): x[i] = 2");
    te_succeeds("a", "1");
    ck_assert(test_wait(checkpoints() < 3, TE_DEADLINE_MS));
    undo("a");
    te_says("a", "print(x[0])", "2\n");
}
END_TEST

START_TEST(children_and_random_numbers_are_as_they_were)
{
    te_succeeds("a", "import random; random.seed(7); random.random()");
    te_succeeds("a", "first = [random.random() for i in range(3)]; print(first)");
    undo("a");
    te_says("a",
            "second = [random.random() for i in range(3)]\n"
            "again = random.Random(7); again.random()\n"
            "print(second == [again.random() for i in range(3)])",
            "True\n");
}
END_TEST

/* ---- what becomes of them --------------------------------------------------------------- */

/* Checkpoints that nobody asked for, or that are none of the kernel's processes. */
START_TEST(forged_ones_are_none)
{
    static const char forge[] =
        "import os, socket, struct\n"
        "def forge(*pids):\n"
        "    body = struct.pack('<QI%dI' % len(pids), 1, len(pids), *pids)\n"
        "    for fd in range(3, 1024):\n"
        "        try: s = socket.socket(fileno=os.dup(fd))\n"
        "        except OSError: continue\n"
        "        try: s.send(struct.pack('<BBHIQ', 0xc8, 0x4b, 0, len(body), 0) + body)\n"
        "        except OSError: pass\n";
    char code[64];
    pid_t stranger = fork();

    if (stranger == 0) {
        setpgid(0, 0);
        for (;;)
            pause();
    }
    snprintf(code, sizeof code, "forge(%d); os._exit(1)", (int)stranger);
    te_succeeds("a", forge);
    hermes_result_free(te_run("a", code));
    ck_assert(test_wait(parked() == 0 || checkpoints() == 1, TE_DEADLINE_MS));
    if (hermes_undo(engine, "a", NULL, 0, NULL, NULL) == 0)
        ck_assert(test_wait(!coming_back(), TE_DEADLINE_MS));
    te_set(engine, "checkpoints", "0");
    te_succeeds("a", "1"); /* another one */
    ck_assert_int_eq(waitpid(stranger, NULL, WNOHANG), 0);
    te_succeeds("b", forge);
    snprintf(code, sizeof code, "forge(%d)", (int)stranger);
    hermes_result_free(te_run("b", code)); /* nobody has asked for any: its end */
    te_says_fresh("b", "print(1)", "1\n", HERMES_PREVIOUS_DIED);
    ck_assert_int_eq(waitpid(stranger, NULL, WNOHANG), 0);
    kill(stranger, SIGKILL);
    waitpid(stranger, NULL, 0);
}
END_TEST

START_TEST(they_end_with_their_kernel)
{
    te_succeeds("a", "x = 1");
    te_succeeds("a", "x = 1");
    ck_assert_uint_eq(checkpoints(), 2);
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    te_no_process_left();
    hermes_result_free(te_run("a", "import os; os._exit(1)"));
    ck_assert(test_wait(parked() == 1, TE_DEADLINE_MS));
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    te_no_process_left();
    hermes_result_free(te_run("a", "import os; os._exit(1)"));
    ck_assert(test_wait(parked() == 1, TE_DEADLINE_MS));
    te_set(engine, "undo_timeout", "1");
    ck_assert(test_wait(parked() == 0, TE_DEADLINE_MS));
    te_succeeds("a", "1");
    te_set(engine, "max_session_kernels", "1");
    te_succeeds("b", "1"); /* evicted: whole */
    ck_assert(test_wait(checkpoints() == 1, TE_DEADLINE_MS));
}
END_TEST

static void host_with_checkpoints_dies(bool dead_kernel, bool guard_first)
{
    int told[2];
    pid_t guard, host;

    ck_assert_int_eq(pipe(told), 0);
    host = fork();
    if (host == 0) {
        struct hermes_engine *own = NULL;
        struct hermes_result *result = NULL;
        struct hermes_cell cell = te_cell("a", "x = 1");

        if (hermes_engine_new(&own, NULL) || hermes_set_option(own, "undo_kernels", "1", NULL) ||
            hermes_set_option(own, "checkpoints", "2", NULL) ||
            hermes_execute(own, &cell, &result, NULL) || hermes_execute(own, &cell, &result, NULL))
            _exit(1);
        guard = (pid_t)te_kernel_number(own, "a", "guard_pid");
        cell.code = "import os; os._exit(1)";
        if (dead_kernel && hermes_execute(own, &cell, &result, NULL))
            _exit(1);
        if (hermes_undo(own, "a", NULL, HERMES_UNDO_LOOK, NULL, NULL) && !dead_kernel)
            _exit(1);
        if (write(told[1], &guard, sizeof guard) < 0)
            _exit(1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(told[0], &guard, sizeof guard), sizeof guard);
    if (guard_first) {
        kill(host, SIGSTOP);
        kill(guard, SIGKILL);
    }
    kill(host, SIGKILL);
    ck_assert(te_wait_gone(guard));
    close(told[0]);
    close(told[1]);
    ck_assert(test_wait((waitpid(-1, NULL, WNOHANG) < 0), TE_DEADLINE_MS)); /* we gather orphans */
    hermes_sweep_staging(engine);
}

START_TEST(they_end_with_the_host)
{
    host_with_checkpoints_dies(_i & 1, _i & 2);
}
END_TEST

START_TEST(they_end_with_the_guard)
{
    pid_t pid;

    te_succeeds("a", "x = 1");
    te_succeeds("a", "x = 1");
    pid = kernel_pid("a");
    ck_assert_int_eq(kill((pid_t)te_kernel_number(engine, "a", "guard_pid"), SIGKILL), 0);
    ck_assert(te_wait_gone(pid));
    ck_assert(test_wait(te_runners() == 0, TE_DEADLINE_MS));
    te_says_fresh("a", "print(1)", "1\n", HERMES_PREVIOUS_DIED);
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    ck_assert(test_wait((waitpid(-1, NULL, WNOHANG) < 0), TE_DEADLINE_MS)); /* we gather orphans */
}
END_TEST

#endif

int main(void)
{
    Suite *suite = suite_create("undo");
    TCase *back = tcase_create("back"), *parked_case = tcase_create("parked"),
          *ends = tcase_create("ends");
    TCase *const cases[] = {back, parked_case, ends};

    te_add_cases(suite, cases, HR_ARRAY_LENGTH(cases), set_up);
    tcase_add_test(back, off_unless_asked_for);
    tcase_add_test(back, brings_back_all_as_it_was);
    tcase_add_test(back, goes_back_over_several_resets);
    tcase_add_test(back, undoes_a_cell_that_resets);
    tcase_add_test(back, looking_changes_nothing);
    tcase_add_test(back, not_while_cells_run);
    tcase_add_test(back, works_at_a_terminal_and_with_requests);
    tcase_add_test(parked_case, counts_nowhere_and_does_nothing);
    tcase_add_test(parked_case, events_tell_of_it);
    tcase_add_test(parked_case, what_others_wait_for_is_not_kept);
    tcase_add_test(parked_case, an_unused_kernel_is_not_kept);
    tcase_add_test(ends, ends_when_its_time_is_over);
    tcase_add_test(ends, the_oldest_goes_first);
    tcase_add_test(ends, ends_with_its_session);
    tcase_add_test(ends, its_death_is_noticed);
    tcase_add_test(ends, nothing_outlives_the_host);
#ifndef HERMES_NO_GUARD
    TCase *forks = tcase_create("checkpoints");

    te_add_cases(suite, &forks, 1, set_up_checkpoints);
    tcase_add_test(forks, goes_back_cell_by_cell);
    tcase_add_loop_test(forks, brings_back_what_a_cell_has_ended, 0,
                        (int)HR_ARRAY_LENGTH(ends_of_cells));
    tcase_add_test(forks, brings_back_what_was_killed);
    tcase_add_test(forks, channels_work_after_it);
    tcase_add_test(forks, threads_are_a_reason_not_to);
    tcase_add_test(forks, memory_is_bounded);
    tcase_add_test(forks, children_and_random_numbers_are_as_they_were);
    tcase_add_test(forks, forged_ones_are_none);
    tcase_add_test(forks, they_end_with_their_kernel);
    tcase_add_loop_test(forks, they_end_with_the_host, 0, 4);
    tcase_add_test(forks, they_end_with_the_guard);
#endif
    return test_run(suite);
}
