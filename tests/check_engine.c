/* SPDX-License-Identifier: MIT */
/*
 * Cells and their outcomes through the public API: what lives from cell to cell, how a cell may
 * end, how a kernel may die, what a cell cannot break, and which calls are refused. Marks like
 * "report A17" name entries of the field reports.
 */
#include "config.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine-testlib.h"

/* ---- what lives on: the contract -------------------------------------------------------- */

START_TEST(state_persists_across_cells)
{
    struct hermes_result *first = te_run("kernel-test", "x = 41"), *second;

    EXPECT(first, first->outcome == HERMES_SUCCESS && first->started && !first->start_failed);
    EXPECT(first, !first->reused && first->execution_count == 1 && first->generation == 1);
    EXPECT(first, first->previous == HERMES_PREVIOUS_NONE && !first->state_reset && !first->ended);
    EXPECT(first, first->state_kept == -1 && first->kernel != 0 &&
                      test_process_lives((pid_t)first->kernel_pid));
    second = te_run("kernel-test", "print(x + 1)");
    EXPECT(second, second->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(second, "42\n");
    EXPECT(second,
           second->reused && second->execution_count == 2 && second->kernel == first->kernel);
    EXPECT(second, second->kernel_pid == first->kernel_pid && second->cell > first->cell);
    hermes_result_free(first);
    hermes_result_free(second);
}
END_TEST

START_TEST(reset_discards_state)
{
    struct hermes_result *result;

    te_succeeds("kernel-test", "x = 41");
    result = te_run_flags("kernel-test", "print(x + 1)", HERMES_CELL_RESET);
    EXPECT(result, result->outcome == HERMES_ERROR && result->exit_code == 1);
    EXPECT(result, te_error_has(result, "NameError"));
    EXPECT(result,
           result->state_reset && !result->reused && result->previous == HERMES_PREVIOUS_RESET);
    EXPECT(result, result->generation == 2 && result->execution_count == 1);
    hermes_result_free(result);
}
END_TEST

START_TEST(exception_keeps_the_kernel_alive)
{
    struct hermes_result *boom;

    te_succeeds("kernel-test", "a = 7");
    boom = te_run("kernel-test", "print('before')\n1 / 0");
    EXPECT(boom, boom->outcome == HERMES_ERROR && boom->exit_code == 1 && !boom->ended);
    EXPECT(boom, te_error_has(boom, "ZeroDivisionError"));
    EXPECT(boom,
           te_has(boom, "before\n--- stderr ---\nTraceback") && te_has(boom, "ZeroDivisionError"));
    hermes_result_free(boom);
    te_says("kernel-test", "print(a)", "7\n");
}
END_TEST

START_TEST(imports_persist)
{
    te_succeeds("kernel-test", "import json as _j");
    te_says("kernel-test", "print(_j.dumps({'k': 1}))", "{\"k\": 1}\n");
}
END_TEST

START_TEST(subprocess_output_reaches_the_result)
{
    te_says("kernel-test",
            "import subprocess, sys\n"
            "subprocess.run([sys.executable, '-c', \"print('raw-passthrough')\"])\n",
            "raw-passthrough\n");
}
END_TEST

/* report A27 */
START_TEST(empty_output_is_told_as_such)
{
    struct hermes_result *result = te_run("a", "x = 1");

    EXPECT_OUTPUT(result, "");
    EXPECT(result, !result->truncated && !result->bytes_total && !result->bytes_captured &&
                       !result->bytes_omitted);
    EXPECT(result,
           !result->error && !result->warning && !result->spill_path && !result->background_output);
    hermes_result_free(result);
    result = te_run("a", "print('12345')");
    EXPECT(result, !result->truncated && result->bytes_total == 6 && result->bytes_captured == 6);
    hermes_result_free(result);
}
END_TEST

/* report A60 */
START_TEST(echo_and_await_are_asked_for)
{
    struct hermes_result *result;

    te_says("a", "_ = 'mine'\n1 + 1", "");
    te_says("a", "print(_)", "mine\n");
    result = te_run_flags("a", "40 + 2", HERMES_CELL_ECHO);
    EXPECT(result, te_has(result, "42"));
    hermes_result_free(result);
    te_says("a", "print(_)", "mine\n"); /* as at the prompt: a name of the user's own hides it */
    hermes_result_free(te_run_flags("b", "6 * 7", HERMES_CELL_ECHO));
    te_says("b", "print(_)", "42\n");
    result = te_run("a", "import asyncio\nawait asyncio.sleep(0)");
    EXPECT(result, result->outcome == HERMES_ERROR && te_error_has(result, "SyntaxError"));
    hermes_result_free(result);
    result = te_run_flags("a", "import asyncio\nawait asyncio.sleep(0)\nprint('awaited')",
                          HERMES_CELL_AWAIT);
    EXPECT(result, result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(result, "awaited\n");
    hermes_result_free(result);
}
END_TEST

/* report B19 */
START_TEST(future_flags_carry_over_where_asked)
{
    struct hermes_result *result;

    hermes_result_free(
        te_run_flags("a", "from __future__ import annotations", HERMES_CELL_INTERACTIVE));
    result =
        te_run_flags("a", "def f(x: undefined_name): pass\nprint('lazy')", HERMES_CELL_INTERACTIVE);
    EXPECT(result, result->outcome == HERMES_SUCCESS);
    hermes_result_free(result);
    result = te_run("b", "def f(x: undefined_name): pass"); /* nothing of the runner's own flags */
    EXPECT(result, result->outcome == HERMES_ERROR);
    hermes_result_free(result);
}
END_TEST

/* report B6 */
START_TEST(main_is_a_real_module)
{
    te_succeeds("a", "def f(): return 7");
    te_says("a", "import pickle; print(pickle.loads(pickle.dumps(f))(), f.__module__)",
            "7 __main__\n");
    te_says("a", "import sys; print(sys.modules['__main__'].f is f, __name__)", "True __main__\n");
    te_says("a",
            "import multiprocessing as m\n"
            "def g(n): return n * n\n"
            "with m.get_context('fork').Pool(2) as pool: print(pool.map(g, range(4)))\n",
            "[0, 1, 4, 9]\n");
    te_says("a", "import inspect; print(inspect.getsource(g), end='')", "def g(n): return n * n\n");
}
END_TEST

/* report B6: spawn must not run the runner again */
START_TEST(multiprocessing_spawn_works)
{
    te_says("a",
            "import multiprocessing as m, operator\n"
            "with m.get_context('spawn').Pool(1) as pool: print(pool.map(operator.neg, [1, 2]))\n",
            "[-1, -2]\n");
}
END_TEST

/* report B7 */
START_TEST(traceback_names_the_cell_and_shows_its_line)
{
    struct hermes_result *result;

    te_succeeds("a", "def bad():\n    return undefined_thing\n");
    te_succeeds("a", "x = 1");
    result = te_run("a", "y = 2\nbad()");
    EXPECT(result, result->outcome == HERMES_ERROR);
    EXPECT(result, te_error_has(result, "File \"<cell 3>\", line 2"));
    EXPECT(result, te_error_has(result, "    bad()\n"));
    EXPECT(result,
           te_error_has(result, "File \"<cell 1>\", line 2, in bad\n    return undefined_thing"));
    EXPECT(result, !te_error_has(result, "hermes_kernel"));
    EXPECT(result, !te_error_has(result, "exec("));
    hermes_result_free(result);
}
END_TEST

START_TEST(traceback_of_a_file_has_its_name_and_lines)
{
    static const char whole[] = "# %%\nx = 1\n# %%\ny = 2\nraise KeyError('there')\n";
    struct hermes_cell cell = te_cell("a", "x = 1\n");
    struct hermes_result *result;

    cell.file_name = "/nowhere/script.py";
    cell.first_line = 2;
    cell.whole_source = whole;
    hermes_result_free(te_run_cell(engine, &cell));
    cell.code = "y = 2\nraise KeyError('there')\n";
    cell.first_line = 4;
    cell.whole_source = NULL;
    result = te_run_cell(engine, &cell);
    EXPECT(result, te_error_has(result, "File \"/nowhere/script.py\", line 5"));
    EXPECT(result, te_error_has(result, "raise KeyError('there')"));
    hermes_result_free(result);
}
END_TEST

START_TEST(source_may_hold_anything)
{
    static const char nul[] = "print('a')\n\0print('b')";
    struct hermes_cell cell = te_cell("a", nul);
    struct hermes_result *result;

    cell.code_size = sizeof nul - 1;
    result = te_run_cell(engine, &cell); /* python refuses it; the kernel lives */
    EXPECT(result, result->outcome == HERMES_ERROR && !result->ended);
    hermes_result_free(result);
    te_says("a", "\xef\xbb\xbfprint('bom')", "bom\n");
    te_says("a", "print('cr')\r\nprint('lf')\r\n", "cr\nlf\n");
    te_says("a", "# only a comment", "");
    te_says("a", "   \n\n", "");
    te_says("a", "print('\xc3\xa4', '\xf0\x9f\x98\x80')", "\xc3\xa4 \xf0\x9f\x98\x80\n");
    cell = te_cell("a", "print('\xff')"); /* not UTF-8 */
    result = te_run_cell(engine, &cell);
    EXPECT(result, !result->ended);
    hermes_result_free(result);
    te_says("a", "print('alive')", "alive\n");
}
END_TEST

/* ---- ends of cells and kernels ---------------------------------------------------------- */

/* contract: sys.exit ends the kernel; report B8: its code and message are told */
START_TEST(sys_exit_ends_the_kernel)
{
    static const struct {
        const char *code;
        enum hermes_outcome outcome;
        int exit_code;
        const char *text;
    } cases[] = {
        {"import sys; print('out'); sys.exit(0)", HERMES_SUCCESS, 0, NULL},
        {"import sys; sys.exit()", HERMES_SUCCESS, 0, NULL},
        {"import sys; sys.exit(3)", HERMES_ERROR, 3, NULL},
        {"import sys; sys.exit('bad')", HERMES_ERROR, 1, "bad"},
        {"raise SystemExit(7)", HERMES_ERROR, 7, NULL},
        {"exit(4)", HERMES_ERROR, 4, NULL},
        {"quit()", HERMES_SUCCESS, 0, NULL},
    };
    enum hermes_previous previous = HERMES_PREVIOUS_NONE;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hermes_result *result = te_run("a", cases[i].code);

        EXPECT(result, result->ended && result->outcome == cases[i].outcome &&
                           result->exit_code == cases[i].exit_code);
        EXPECT(result, result->previous == previous && !result->reused);
        EXPECT(result, !cases[i].text || te_has(result, cases[i].text) ||
                           te_error_has(result, cases[i].text));
        EXPECT(result, (result->outcome == HERMES_SUCCESS) == !result->error);
        ck_assert_uint_eq(te_kernel_count(engine), 0);
        ck_assert_int_eq(hermes_kernel_wait(engine, result->kernel, TE_DEADLINE_MS), 1);
        ck_assert(!test_process_lives((pid_t)result->kernel_pid));
        hermes_result_free(result);
        previous = HERMES_PREVIOUS_EXITED;
    }
    te_says_fresh("a", "print('respawned')", "respawned\n", HERMES_PREVIOUS_EXITED);
}
END_TEST

/*
 * report A28: the pipe stays open in a daemon, the cell settles all the same; report A22: what was
 * printed is kept
 */
START_TEST(os_exit_with_a_child_that_holds_the_pipe)
{
    int64_t start = test_now_ms();
    struct hermes_result *result =
        te_run("a", "import subprocess, os\n"
                    "subprocess.Popen(['sleep', '60'])\n"
                    "print('row 0')\nos.write(1, b'row 1')\nos._exit(3)");

    EXPECT(result, test_now_ms() - start < (TE_SANITIZED || test_in_valgrind() ? 20000 : 5000));
    EXPECT(result, result->outcome == HERMES_ERROR && result->exit_code == 3 && result->ended &&
                       result->term_signal == 0);
    EXPECT(result, te_has(result, "row 0\nrow 1"));
    EXPECT(result, te_error_has(result, "died") && te_error_has(result, "exit status 3"));
    EXPECT(result, te_error_has(result, "state was lost"));
    hermes_result_free(result);
    te_says_fresh("a", "print(1)", "1\n", HERMES_PREVIOUS_DIED);
}
END_TEST

/* report A28: nor can one that writes for ever hold it up */
START_TEST(os_exit_with_a_child_that_writes_for_ever)
{
    struct hermes_result *result =
        te_run("a", "import subprocess, os\nsubprocess.Popen(['yes'])\nos._exit(0)");

    EXPECT(result, result->outcome == HERMES_ERROR && result->exit_code == 0 && result->ended);
    hermes_result_free(result);
    te_says_fresh("a", "print(1)", "1\n", HERMES_PREVIOUS_DIED);
}
END_TEST

/* report A61, A17: killed in a cell; the group is the kernel's own */
START_TEST(killed_in_a_cell)
{
    struct hermes_result *result;

    te_succeeds("other", "x = 5");
    result = te_run(
        "a", "import os, signal\nprint('last words', flush=True)\nos.killpg(0, signal.SIGKILL)");
    EXPECT(result, result->outcome == HERMES_ERROR && result->term_signal == SIGKILL &&
                       result->exit_code == -SIGKILL);
    EXPECT(result,
           result->ended && te_has(result, "last words") && te_error_has(result, "SIGKILL"));
    EXPECT(result, te_error_has(result, "state was lost"));
    hermes_result_free(result);
    te_says("other", "print(x)", "5\n");
    result = te_run(
        "a",
        "import os, signal\nos.kill(os.getpid(), signal.SIGTERM)\nimport time; time.sleep(60)");
    EXPECT(result, result->outcome == HERMES_ERROR && result->term_signal == SIGTERM &&
                       result->exit_code == -SIGTERM);
    EXPECT(result, te_error_has(result, "SIGTERM") && result->previous == HERMES_PREVIOUS_DIED);
    hermes_result_free(result);
    te_says("other", "print(x)", "5\n");
}
END_TEST

/* report A17: a kernel killed from outside, between cells */
START_TEST(killed_between_cells)
{
    static const int signals[] = {SIGKILL, SIGTERM};

    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct hermes_result *result = te_run_flags("a", "x = 1", HERMES_CELL_RESET);
        uint64_t kernel = result->kernel;

        ck_assert_int_eq(kill((pid_t)result->kernel_pid, signals[i]), 0);
        hermes_result_free(result);
        ck_assert_int_eq(hermes_kernel_wait(engine, kernel, TE_DEADLINE_MS), 1);
        result = te_run("a", "print('x' in globals())");
        EXPECT(result, result->outcome == HERMES_SUCCESS && !result->reused);
        EXPECT(result, result->previous == HERMES_PREVIOUS_DIED && result->state_reset);
        EXPECT_OUTPUT(result, "False\n");
        hermes_result_free(result);
    }
}
END_TEST

/*
 * report A17: the same in a race with the next cell, which may be given to the dying kernel: it
 * must not hang or be lost
 */
START_TEST(killed_while_the_next_cell_comes)
{
    for (int i = 0; i < 20; i++) {
        struct hermes_result *result = te_run("a", "x = 1");

        ck_assert_int_gt(result->kernel_pid, 0);
        ck_assert_int_eq(kill((pid_t)result->kernel_pid, SIGKILL), 0);
        hermes_result_free(result);
        result = te_run("a", "print('next')");
        EXPECT(result, result->outcome == HERMES_SUCCESS ? !result->reused
                                                         : te_error_has(result, "SIGKILL"));
        hermes_result_free(result);
    }
}
END_TEST

START_TEST(limits_beyond_the_end_of_time_are_none)
{
    struct hermes_result *result = te_run_timeout("a", "print('done')", INT64_MAX);

    EXPECT(result, result->outcome == HERMES_SUCCESS && te_has(result, "done"));
    ck_assert_int_eq(hermes_reset(engine, "a", NULL), HERMES_OK);
    ck_assert_int_eq(hermes_kernel_wait(engine, result->kernel, INT64_MAX), 1);
    hermes_result_free(result);
}
END_TEST

START_TEST(crash_is_told_with_its_traceback)
{
    struct hermes_result *result =
        te_run("a", "import ctypes\ndef deep():\n    ctypes.string_at(0)\nprint('x')\ndeep()");

    EXPECT(result, result->outcome == HERMES_ERROR && result->term_signal == SIGSEGV &&
                       result->exit_code == -SIGSEGV);
    EXPECT(result, te_error_has(result, "SIGSEGV") && te_error_has(result, "state was lost"));
    EXPECT(result, te_error_has(result, "Segmentation fault") &&
                       te_error_has(result, "Current thread") &&
                       te_error_has(result, "line 5 in <module>"));
    EXPECT(result,
           !te_error_has(result, "hermes kernel runner") && !te_error_has(result, "hermes_boot"));
    EXPECT(result, te_error_has(result, "Segmentation fault") && te_error_has(result, "in deep"));
    EXPECT(result, te_has(result, "x\n") && result->ended);
    hermes_result_free(result);
    result = te_run("a", "import os; os.abort()");
    EXPECT(result, result->outcome == HERMES_ERROR && result->term_signal == SIGABRT &&
                       te_error_has(result, "SIGABRT"));
    hermes_result_free(result);
    te_says_fresh("a", "print('up')", "up\n", HERMES_PREVIOUS_DIED);
}
END_TEST

/* A KeyboardInterrupt that nobody asked for is an error like others. */
START_TEST(own_keyboard_interrupt_is_an_error)
{
    struct hermes_result *result;

    te_succeeds("a", "x = 1");
    result = te_run("a", "raise KeyboardInterrupt");
    EXPECT(result,
           result->outcome == HERMES_ERROR && result->exit_code == 1 && result->state_kept == -1);
    hermes_result_free(result);
    result =
        te_run("a", "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(30)");
    EXPECT(result, result->outcome == HERMES_ERROR && te_error_has(result, "KeyboardInterrupt") &&
                       !result->ended);
    hermes_result_free(result);
    te_says("a", "print(x)", "1\n");
}
END_TEST

/* ---- what a cell cannot break ----------------------------------------------------------- */

/* report A18: frames of the cell's own, on every descriptor it can find */
START_TEST(a_cell_cannot_forge_its_reply)
{
    static const char *const frames[] = {
        "b'\\xc8E' + struct.pack('<HIQ', 0, 8, 1) + struct.pack('<iI', 0, 0)",
        "b'no frame at all\\n'",
        "b'Fatal, says he, but nothing dies'",
        "b'\\xc8E' + struct.pack('<HIQ', 0, 0xffffffff, 1)",
        "b'\\xc8R' + struct.pack('<HIQ', 0, 4, 0) + struct.pack('<I', 0)",
        "b'\\xc8\\x99' + struct.pack('<HIQ', 0, 0, 1)",
    };

    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        struct hermes_result *result;
        char code[1000];

        snprintf(code, sizeof code,
                 "import os, struct, stat, time\n"
                 "frame = %s\n"
                 "for fd in map(int, os.listdir('/proc/self/fd')):\n"
                 "    try:\n"
                 "        if fd > 2 and stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, frame)\n"
                 "    except OSError: pass\n"
                 "time.sleep(0.2); print('real')\n",
                 frames[i]);
        result = te_run("a", code);
        EXPECT(result, result->outcome == HERMES_SUCCESS
                           ? te_has(result, "real")
                           : result->outcome == HERMES_ERROR && result->ended &&
                                 te_error_has(result, "state was lost"));
        hermes_result_free(result);
        te_says("a", "print('two')", "two\n");
    }
}
END_TEST

/* report B18: a broken frame is named, and ends the kernel at once */
START_TEST(a_protocol_error_is_told)
{
    struct hermes_cell cell = te_cell(
        "a", "import os, stat, time\n"
             "for fd in map(int, os.listdir('/proc/self/fd')):\n"
             "    try:\n"
             "        if stat.S_ISSOCK(os.fstat(fd).st_mode): os.write(fd, b'\\xc8Z' * 64)\n"
             "    except OSError: pass\n"
             "time.sleep(60)\n");
    struct hermes_result *result;

    cell.timeout_ms = 30000;
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_ERROR && te_error_has(result, "protocol error"));
    hermes_result_free(result);
}
END_TEST

/* report A19, B1: nothing of the protocol can be read from fd 0 */
START_TEST(stdin_is_empty)
{
    te_says("a", "try: input('?')\nexcept EOFError: print('EOF')", "?EOF\n");
    te_says("a",
            "import subprocess\n"
            "print(repr(subprocess.run(['cat'], capture_output=True, text=True).stdout))",
            "''\n");
    te_says("a", "import sys; print(repr(sys.stdin.read()))", "''\n");
    te_says("a", "print(3)", "3\n");
}
END_TEST

/* report B14 */
START_TEST(closed_streams_come_back)
{
    te_succeeds("a", "import os; os.close(1); os.close(2); os.close(0)");
    te_says("a", "print('still')", "still\n");
    te_says("a", "import os; os.write(1, b'raw\\n')", "raw\n");
    hermes_result_free(te_run("a", "import sys; sys.stdout.close(); sys.__stderr__.close()"));
    te_says("a", "print('again')", "again\n");
    te_succeeds(
        "a",
        "import os; kept = os.dup(1); os.dup2(os.open(os.devnull, os.O_RDWR), 1)"); /* its own wish: left alone */
    te_says("a", "print('hidden'); os.dup2(kept, 1); print('shown')", "shown\n");
    hermes_result_free(te_run(
        "a", "import os; os.closerange(3, 1000)")); /* it may cost the kernel, never the host */
    te_says("a", "print('after all')", "after all\n");
}
END_TEST

/* report A20, B14: a reply is always sent, whatever the cell did to the modules it needs */
START_TEST(replies_survive_sabotage)
{
    static const char *const sabotage[] = {
        "class E(Exception):\n    def __str__(self): raise SystemExit(9)\n    __repr__ = "
        "__str__\nraise E('x')",
        "import traceback, linecache\ntraceback.__dict__.clear(); linecache.__dict__.clear()\n1/0",
        "import os, sys, io, json, struct, threading\n"
        "os.write = os.read = struct.pack = struct.unpack = json.dumps = io.StringIO = None\n1/0",
        "import builtins\nfor n in ('print', 'len', 'str', 'bytes', 'repr', 'isinstance', "
        "'getattr', 'compile', 'exec'):\n"
        "    globals()[n] = None\n1/0",
        "import sys\nsys.stdout = sys.stderr = None\n1/0",
        "import sys; sys.setrecursionlimit(60)\ndef f(): f()\nf()",
        "import sys\nsys.excepthook = sys.displayhook = None; sys.path[:] = []; sys.meta_path[:] = "
        "[]\n1/0",
        "raise ValueError('\\udcff' + chr(0))",
        "import signal\nfor s in (1, 2, 15): signal.signal(s, signal.SIG_IGN)\n1/0",
    };

    for (size_t i = 0; i < sizeof sabotage / sizeof sabotage[0]; i++) {
        struct hermes_result *result = te_run_flags("a", "kept = 1", HERMES_CELL_RESET);

        hermes_result_free(result);
        result = te_run_timeout("a", sabotage[i], 20000);
        EXPECT(result, result->outcome == HERMES_ERROR && !result->ended && result->error_size > 0);
        hermes_result_free(result);
        result = te_run_timeout("a", "import os; os.system('echo alive'); kept", 20000);
        EXPECT(result,
               result->outcome == HERMES_SUCCESS && result->reused && te_has(result, "alive"));
        hermes_result_free(result);
    }
}
END_TEST

/* report B20 */
START_TEST(fork_in_a_cell_answers_once)
{
    struct hermes_result *result = te_run(
        "a", "import os\npid = os.fork()\nprint('x', flush=True)\nif pid: os.waitpid(pid, 0)");

    EXPECT(result, result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(result, "x\nx\n");
    hermes_result_free(result);
    for (int i = 0; i < 5; i++)
        te_says("a", "print('next')", "next\n");
    te_says("a",
            "import os, sys\npid = os.fork()\nif pid == 0: "
            "sys.exit(5)\nprint(os.WEXITSTATUS(os.waitpid(pid, 0)[1]))",
            "5\n");
    te_says("a", "print('alive')", "alive\n");
}
END_TEST

/* report B9: the cell and its children hold no descriptor but their own */
START_TEST(descriptors_of_a_cell)
{
    int ours = dup(1), pipe_ends[2]; /* not close-on-exec, as a careless host has them */
    struct hermes_result *result;

    ck_assert_int_ge(ours, 3);
    ck_assert_int_eq(pipe(pipe_ends), 0);
    te_succeeds("sibling", "x = 1");
    te_says(
        "a",
        "import os\n"
        "seen = {}\n"
        "for name in os.listdir('/proc/self/fd'):\n"
        "    try: seen[int(name)] = os.readlink('/proc/self/fd/' + name)\n"
        "    except OSError: pass\n"
        "own = [seen[n] for n in range(3)]\n" /* the private ones: sockets, a lifeline, and duplicates of 0 to 2 */
        "rest = [seen[n] for n in seen if n > 2 and seen[n] not in own]\n"
        "print(len(seen) <= 9, 1 <= len(rest) <= 3, all(k.startswith(('socket:', 'pipe:')) for k "
        "in rest), [n for n in seen if 2 < n < 64],"
        " [n for n in seen if n > 2 and os.get_inheritable(n)])\n",
        "True True True [] []\n");
    result =
        te_run("a", "import subprocess\nsubprocess.run(['ls', '/proc/self/fd'], close_fds=False)");
    EXPECT_OUTPUT(result, "0\n1\n2\n3\n"); /* 3 is that of ls */
    hermes_result_free(result);
    close(ours);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}
END_TEST

/* cases 172: no helper thread, and the bare interpreter's flags */
START_TEST(kernel_is_a_plain_interpreter)
{
    te_says("a",
            "import sys, os\n"
            "print(len(os.listdir('/proc/self/task')), sys.flags.isolated, "
            "sys.flags.ignore_environment,"
            " sys.flags.no_site, os.getpid() == os.getsid(0) == os.getpgid(0))",
            "1 0 0 0 True\n");
    te_says("b", "print(sorted(n for n in globals() if not n.startswith('__')))", "[]\n");
    te_says("a",
            "import signal\nprint([signal.getsignal(s) for s in (signal.SIGTERM, signal.SIGHUP, "
            "signal.SIGCHLD)] =="
            " [signal.SIG_DFL] * 3, signal.pthread_sigmask(signal.SIG_BLOCK, []))",
            "True set()\n");
}
END_TEST

/* report A57: a scrubbed environment is good enough to work in */
START_TEST(sockets_and_children_work)
{
    te_says(
        "a",
        "import socket, subprocess, tempfile, sys\n"
        "s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); s.close()\n"
        "with tempfile.TemporaryFile() as f: f.write(b'x')\n"
        "print(subprocess.check_output([sys.executable, '-c', 'print(6*7)'], text=True), end='')",
        "42\n");
}
END_TEST

START_TEST(working_directory_is_the_cells_own_business)
{
    struct hermes_cell cell = te_cell("a", "import os; print(os.getcwd())");
    struct hermes_result *result;
    char expected[300];

    cell.cwd = test_directory();
    result = te_run_cell(engine, &cell);
    snprintf(expected, sizeof expected, "%s\n", test_directory());
    EXPECT_OUTPUT(result, expected);
    hermes_result_free(result);
    cell.code = "import tempfile\nd = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)";
    hermes_result_free(te_run_cell(engine, &cell));
    cell.code = "print('still here')";
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "still here\n");
    EXPECT(result, result->reused);
    hermes_result_free(result);
}
END_TEST

/* report B17: five megabytes of source while a left-over child floods the pipe */
START_TEST(a_large_cell_never_blocks)
{
    enum { SIZE = 5 << 20 };
    char *code = malloc(SIZE + 1);
    struct hermes_result *result;
    struct hermes_cell cell;
    int64_t start;

    ck_assert_ptr_nonnull(code);
    memset(code, '#', SIZE);
    memcpy(code, "big = 1\n", 8);
    memcpy(code + SIZE - 13, "\nprint('big')", 14);
    cell = te_cell("a", code);
    te_succeeds("a", "import subprocess; p = subprocess.Popen(['yes'])");
    start = test_now_ms();
    cell.timeout_ms = 15000;
    result = te_run_cell(engine, &cell);
    EXPECT(result, test_now_ms() - start < 25000);
    EXPECT(result, result->outcome == HERMES_SUCCESS || result->outcome == HERMES_TIMEOUT);
    hermes_result_free(result);
    hermes_result_free(te_run_flags("a", "p = 0", HERMES_CELL_RESET));
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "big\n");
    hermes_result_free(result);
    free(code);
}
END_TEST

/* ---- the result as JSON ----------------------------------------------------------------- */

static const cJSON *item(const cJSON *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

    ck_assert_msg(found != NULL, "no member %s", name);
    return found;
}

START_TEST(result_as_json)
{
    struct hermes_result *result = te_run("a", "print('q\"\\\\\\n\\x00\\x1f', end='')");
    char *text = hermes_result_json(result, "\"cell\":{\"index\":1}");
    cJSON *json = cJSON_Parse(text);
    const cJSON *kernel;

    ck_assert_msg(json != NULL, "no JSON: %s", text);
    ck_assert_ptr_null(strchr(text, '\n'));
    ck_assert_str_eq(item(json, "status")->valuestring, "success");
    ck_assert_msg(strstr(text, "\"output\":\"q\\\"\\\\\\n\\u0000\\u001f\"") != NULL, "%s", text);
    ck_assert_int_eq(item(json, "exit_code")->valueint, 0);
    ck_assert(item(json, "duration_seconds")->valuedouble >= 0 &&
              item(json, "queued_seconds")->valuedouble >= 0);
    ck_assert_int_eq(item(json, "tool_calls_made")->valueint, 0);
    ck_assert(cJSON_IsFalse(item(json, "stdout_truncated")));
    ck_assert_int_eq(item(json, "stdout_bytes_total")->valueint, 6);
    ck_assert_int_eq(item(json, "stdout_bytes_captured")->valueint, 6);
    ck_assert_int_eq(item(json, "stdout_bytes_omitted")->valueint, 0);
    ck_assert_int_eq(item(item(json, "cell"), "index")->valueint, 1);
    ck_assert_ptr_null(cJSON_GetObjectItemCaseSensitive(json, "error"));
    kernel = item(json, "kernel");
    ck_assert_str_eq(item(kernel, "mode")->valuestring, "session");
    ck_assert(cJSON_IsFalse(item(kernel, "reused")) && cJSON_IsFalse(item(kernel, "state_reset")));
    ck_assert_int_eq(item(kernel, "execution_count")->valueint, 1);
    ck_assert_int_eq(item(kernel, "generation")->valueint, 1);
    ck_assert_ptr_null(cJSON_GetObjectItemCaseSensitive(kernel, "ended"));
    ck_assert_ptr_null(cJSON_GetObjectItemCaseSensitive(kernel, "state_kept"));
    ck_assert_ptr_null(cJSON_GetObjectItemCaseSensitive(kernel, "previous"));
    cJSON_Delete(json);
    hermes_free(text);
    hermes_result_free(result);
    result = te_run("a", "import os; os._exit(2)");
    text = hermes_result_json(result, NULL);
    json = cJSON_Parse(text);
    ck_assert_str_eq(item(json, "status")->valuestring, "error");
    ck_assert_ptr_nonnull(strstr(item(json, "error")->valuestring, "state was lost"));
    ck_assert(cJSON_IsTrue(item(item(json, "kernel"), "ended")));
    cJSON_Delete(json);
    hermes_free(text);
    hermes_result_free(result);
}
END_TEST

/* ---- refused calls and kernels that cannot start ---------------------------------------- */

static void refuse(const struct hermes_cell *cell, int expected)
{
    struct hermes_result *result = NULL;
    struct hermes_error error = {0};
    uint64_t id = 0;
    int status = hermes_execute(engine, cell, &result, &error);

    ck_assert_msg(status == expected, "%s, not %s: %s", hermes_status_name(status),
                  hermes_status_name(expected), error.text);
    ck_assert_ptr_null(result);
    ck_assert_int_eq(error.code, expected);
    ck_assert_uint_gt(strlen(error.text), 0);
    ck_assert_int_eq(hermes_execute(engine, cell, &result, NULL), expected);
    ck_assert_int_eq(hermes_submit(engine, cell, &id, NULL), expected);
}

static bool deny_forbidden(const struct hermes_cell *cell, void *context, char *reason, size_t size)
{
    ++*(int *)context;
    if (!strstr(cell->code, "forbidden"))
        return true;
    snprintf(reason, size, "the host says no to %s", cell->session);
    return false;
}

/* report A44 */
START_TEST(the_hosts_guard_denies_before_anything_is_started)
{
    struct hermes_event *event;
    struct hermes_result *result;
    char code[4200];
    int asked = 0;

    snprintf(code, sizeof code, "open('%s', 'w') # forbidden", test_path("marker"));
    hermes_set_cell_guard(engine, deny_forbidden, &asked);
    result = te_run("a", code);
    EXPECT(result, result->outcome == HERMES_ERROR);
    EXPECT(result, te_error_has(result, "the host says no to a"));
    hermes_result_free(result);
    event = te_done(te_submit("b", code));
    EXPECT(event->result, event->result->outcome == HERMES_ERROR);
    EXPECT(event->result, te_error_has(event->result, "the host says no to b"));
    hermes_event_free(event);
    ck_assert_uint_eq(te_kernel_count(engine), 0);
    ck_assert_uint_eq(te_runners(), 0);
    te_says("a", "print(1)", "1\n");
    ck_assert_int_eq(asked, 3);
    hermes_result_free(te_run("a", code)); /* also where a kernel waits */
    ck_assert_int_ne(access(test_path("marker"), F_OK), 0);
    hermes_set_cell_guard(engine, NULL, NULL);
    te_says("a", "print('forbidden')", "forbidden\n");
    ck_assert_int_eq(asked, 4);
}
END_TEST

START_TEST(bad_cells_are_refused)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = te_cell("a", "print(1)"), good = cell;
    struct hermes_result *result;

    cell.session = NULL;
    refuse(&cell, HERMES_EINVAL);
    cell.session = "";
    refuse(&cell, HERMES_EINVAL);
    cell.session = "p::child::c"; /* report A12: it would be a child's name */
    refuse(&cell, HERMES_EINVAL);
    cell = good;
    cell.task_id = "x::y";
    refuse(&cell, HERMES_EINVAL);
    cell = good;
    cell.child_id = "x::y";
    refuse(&cell, HERMES_EINVAL);
    cell = good;
    cell.code = NULL;
    refuse(&cell, HERMES_EINVAL);
    cell.code = "";
    refuse(&cell, HERMES_EINVAL);
    cell.code = "x";
    cell.code_size = (size_t)HERMES_SOURCE_MAX + 1;
    refuse(&cell, HERMES_EINVAL);
    cell = good;
    cell.size = 0;
    refuse(&cell, HERMES_EINVAL);
    cell = good;
    setup.size = 0;
    cell.setup = &setup;
    refuse(&cell, HERMES_EINVAL);
    ck_assert_int_eq(hermes_execute(NULL, &good, &result, NULL), HERMES_EINVAL);
    ck_assert_int_eq(hermes_execute(engine, NULL, &result, NULL), HERMES_EINVAL);
    ck_assert_int_eq(hermes_execute(engine, &good, NULL, NULL), HERMES_EINVAL);
    ck_assert_uint_eq(te_kernel_count(engine), 0);
    te_says("a", "print(1)", "1\n");
}
END_TEST

START_TEST(unknown_ids_are_refused)
{
    struct hermes_result *result = te_run("a", "1");

    ck_assert_int_eq(hermes_interrupt(engine, result->cell, NULL, 0), HERMES_ENOENT);
    ck_assert_int_eq(hermes_kill(engine, result->cell, "late"), HERMES_ENOENT);
    ck_assert_int_eq(hermes_interrupt(engine, 123456789, NULL, 0), HERMES_ENOENT);
    ck_assert_int_eq(hermes_reset(engine, "nobody", NULL), HERMES_ENOENT);
    ck_assert_int_eq(hermes_reset(engine, "a", "no child"), HERMES_ENOENT);
    ck_assert_int_eq(hermes_close(engine, "nobody", NULL), HERMES_ENOENT);
    ck_assert_int_eq(hermes_session_clear(engine, "nobody"), 0);
    ck_assert_int_eq(hermes_child_end(engine, "nobody", "c"), 0);
    ck_assert_int_eq(hermes_kernel_wait(engine, 123456789, 0), 1);
    ck_assert_int_eq(hermes_kernel_wait(engine, result->kernel, 10), 0);
    hermes_result_free(result);
    te_says("a", "print('not harmed')", "not harmed\n");
}
END_TEST

START_TEST(other_settings_of_a_live_kernel_are_refused)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = te_cell("a", "print('new')");
    struct hermes_result *result;

    te_succeeds("a", "x = 1");
    setup.io = HERMES_IO_ONE_PIPE;
    cell.setup = &setup;
    refuse(&cell, HERMES_EMISMATCH);
    setup.io = HERMES_IO_PIPES;
    setup.env = HERMES_ENV_INHERIT;
    refuse(&cell, HERMES_EMISMATCH);
    te_says("a", "print(x)", "1\n");
    cell.flags = HERMES_CELL_RESET;
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_SUCCESS && result->previous == HERMES_PREVIOUS_RESET);
    hermes_result_free(result);
}
END_TEST

START_TEST(a_full_queue_refuses)
{
    struct hermes_cell cell = te_cell("a", "print('queued')");
    char code[400];
    uint64_t running, waiting[2];
    struct hermes_event *event;
    uint64_t refused;

    te_set(engine, "max_queued_cells", "2");
    snprintf(code, sizeof code,
             "import os, time\nwhile not os.path.exists('%s'): time.sleep(0.005)", test_path("go"));
    running = te_submit("a", code);
    te_started(running);
    waiting[0] = te_submit_cell(&cell);
    waiting[1] = te_submit_cell(&cell);
    refuse(&cell, HERMES_EAGAIN);
    ck_assert_int_eq(hermes_submit(engine, &cell, &refused, NULL), HERMES_EAGAIN);
    test_write_file(test_path("go"), "1", 0600);
    for (size_t i = 0; i < 2; i++) {
        event = te_done(waiting[i]);
        EXPECT(event->result,
               event->result->outcome == HERMES_SUCCESS && event->result->execution_count == i + 2);
        hermes_event_free(event);
    }
}
END_TEST

static void expect_start_failure(struct hermes_result *result, const char *text)
{
    EXPECT(result, result->outcome == HERMES_ERROR && result->start_failed && !result->started &&
                       result->exit_code != 0);
    EXPECT(result, te_error_has(result, text));
    hermes_result_free(result);
    ck_assert_uint_eq(te_kernel_count(engine), 0);
}

START_TEST(kernels_that_cannot_start)
{
    struct hermes_cell cell = te_cell("a", "print(1)");

    cell.cwd = "/nonexistent/directory";
    expect_start_failure(te_run_cell(engine, &cell), "/nonexistent/directory");
    cell.cwd = NULL;
    cell.python = "/nonexistent/python";
    expect_start_failure(te_run_cell(engine, &cell), "/nonexistent/python");
    cell.python = "/bin/true"; /* a program, but no interpreter */
    expect_start_failure(te_run_cell(engine, &cell), "exit status 0");
    cell.python = "/etc/passwd"; /* not even that */
    expect_start_failure(te_run_cell(engine, &cell), "/etc/passwd");
    te_says("a", "print('well')", "well\n");
}
END_TEST

START_TEST(an_installation_without_its_parts)
{
#ifndef HERMES_NO_GUARD
    te_set(engine, "guard", "/nonexistent/guard");
    expect_start_failure(te_run("a", "print(1)"), "guard");
    te_set(engine, "guard", "/etc/passwd"); /* no program: the interpreter has begun by then */
    expect_start_failure(te_run("a", "print(1)"), "/etc/passwd: Permission denied");
    hermes_engine_free(engine);
    engine = te_engine_new(); /* the guard is looked for once, and so is the runner */
#endif
    te_says("a", "print('well')", "well\n");
    hermes_engine_free(engine);
    engine = te_engine_new();
    te_set(engine, "runner", "/nonexistent/runner.py");
    expect_start_failure(te_run("a", "print(1)"), "/nonexistent/runner.py");
    ck_assert_int_eq(mkdir(test_path("runner"), 0700), 0);
    test_write_file(test_path("runner/hermes_kernel_runner.py"), "", 0600);
    te_set(engine, "runner", test_path("runner/hermes_kernel_runner.py")); /* and the others? */
    expect_start_failure(te_run("a", "print(1)"), "hermes_kernel_requests.py is not found");
    te_set(engine, "runner", "");
    te_says("a", "print('well')", "well\n");
}
END_TEST

START_TEST(a_runner_that_is_edited_is_used_at_once)
{
    char command[1000];

    snprintf(command, sizeof command, "cp -r '%s/runner' '%s'", HERMES_TEST_SRCDIR,
             test_directory());
    ck_assert_int_eq(system(command), 0);
    te_set(engine, "runner", test_path("runner/hermes_kernel_runner.py"));
    te_says("a", "print('well')", "well\n");
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    test_write_file(test_path("runner/hermes_kernel_requests.py"), "posix._exit(9)\n", 0600);
    expect_start_failure(te_run("b", "print(1)"), "exit status 9");
}
END_TEST

START_TEST(a_start_that_hangs_or_fails_in_site)
{
    test_write_file(test_path("sitecustomize.py"),
                    "import os, sys\n"
                    "if 'HERMES_TREE_ID' in os.environ:\n"
                    "    sys.stderr.write('site says no\\n'); sys.stderr.flush()\n"
                    "    os._exit(9)\n",
                    0600);
    setenv("PYTHONPATH", test_directory(), 1);
    expect_start_failure(te_run("a", "print(1)"), "site says no");
    test_write_file(test_path("sitecustomize.py"),
                    "import os, time\n"
                    "if 'HERMES_TREE_ID' in os.environ: time.sleep(60)\n",
                    0600);
    te_set(engine, "start_timeout", "0.5");
    expect_start_failure(te_run("a", "print(1)"), "0.5");
    te_set(engine, "start_timeout", "30");
    unsetenv("PYTHONPATH");
    te_says("a", "print('well')", "well\n");
}
END_TEST

/* Cells that wait for a kernel that cannot start fail with it, once each. */
START_TEST(queued_cells_of_a_failed_start)
{
    struct hermes_cell cell = te_cell("a", "print(1)");
    uint64_t ids[4];

    cell.python = "/bin/true";
    for (size_t i = 0; i < 4; i++)
        ids[i] = te_submit_cell(&cell);
    for (size_t i = 0; i < 4; i++) {
        struct hermes_event *event = te_done(ids[i]);

        EXPECT(event->result,
               event->result->start_failed && event->result->outcome == HERMES_ERROR);
        hermes_event_free(event);
    }
}
END_TEST

/* ---- setups ----------------------------------------------------------------------------- */

START_TEST(script_and_argv)
{
    static const char *const argv[] = {"--flag", "", "value with space", NULL};
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = te_cell("a", "import sys; print(sys.argv, __file__, sys.path[0])");
    struct hermes_result *result;

    setup.script = "/nowhere/script.py";
    setup.argv = argv;
    setup.path0 = "/nowhere";
    cell.setup = &setup;
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(
        result,
        "['/nowhere/script.py', '--flag', '', 'value with space'] /nowhere/script.py /nowhere\n");
    hermes_result_free(result);
    te_says("b", "import sys; print(sys.argv, repr(sys.path[0]), '__file__' in globals())",
            "[''] '' False\n");
}
END_TEST

START_TEST(one_pipe_keeps_the_order)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell =
        te_cell("a", "import sys, os\n"
                     "for i in range(3):\n"
                     "    print('o', i); print('e', i, file=sys.stderr); os.system('echo s')\n");
    struct hermes_result *result;

    setup.io = HERMES_IO_ONE_PIPE;
    cell.setup = &setup;
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "o 0\ne 0\ns\no 1\ne 1\ns\no 2\ne 2\ns\n");
    hermes_result_free(result);
}
END_TEST

START_TEST(stdin_of_the_host)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    struct hermes_cell cell = te_cell("a", "print(input(), input())");
    struct hermes_result *result;
    int ends[2], before = dup(0);

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "first\nsecond\n", 13), 13);
    dup2(ends[0], 0);
    setup.stdin_source = HERMES_STDIN_INHERIT;
    cell.setup = &setup;
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "first second\n");
    hermes_result_free(result);
    dup2(before, 0);
    close(before);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

START_TEST(names_and_versions)
{
    ck_assert_str_eq(hermes_status_name(HERMES_EMISMATCH), "HERMES_EMISMATCH");
    ck_assert_str_eq(hermes_status_text(0), "success");
    ck_assert_str_eq(hermes_status_name(-4711), "HERMES_?");
    ck_assert_str_eq(hermes_version(), HERMES_VERSION);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("engine");
    TCase *lives = tcase_create("state"), *ends = tcase_create("ends"),
          *safe = tcase_create("sabotage");
    TCase *calls = tcase_create("calls");
    TCase *all[] = {lives, ends, safe, calls};

    te_add_cases(suite, all, sizeof all / sizeof all[0], te_set_up);
    tcase_add_test(lives, state_persists_across_cells);
    tcase_add_test(lives, reset_discards_state);
    tcase_add_test(lives, exception_keeps_the_kernel_alive);
    tcase_add_test(lives, imports_persist);
    tcase_add_test(lives, subprocess_output_reaches_the_result);
    tcase_add_test(lives, empty_output_is_told_as_such);
    tcase_add_test(lives, echo_and_await_are_asked_for);
    tcase_add_test(lives, future_flags_carry_over_where_asked);
    tcase_add_test(lives, main_is_a_real_module);
    tcase_add_test(lives, multiprocessing_spawn_works);
    tcase_add_test(lives, traceback_names_the_cell_and_shows_its_line);
    tcase_add_test(lives, traceback_of_a_file_has_its_name_and_lines);
    tcase_add_test(lives, source_may_hold_anything);
    tcase_add_test(ends, sys_exit_ends_the_kernel);
    tcase_add_test(ends, os_exit_with_a_child_that_holds_the_pipe);
    tcase_add_test(ends, os_exit_with_a_child_that_writes_for_ever);
    tcase_add_test(ends, killed_in_a_cell);
    tcase_add_test(ends, killed_between_cells);
    tcase_add_test(ends, killed_while_the_next_cell_comes);
    tcase_add_test(ends, limits_beyond_the_end_of_time_are_none);
    tcase_add_test(ends, crash_is_told_with_its_traceback);
    tcase_add_test(ends, own_keyboard_interrupt_is_an_error);
    tcase_add_test(safe, a_cell_cannot_forge_its_reply);
    tcase_add_test(safe, a_protocol_error_is_told);
    tcase_add_test(safe, stdin_is_empty);
    tcase_add_test(safe, closed_streams_come_back);
    tcase_add_test(safe, replies_survive_sabotage);
    tcase_add_test(safe, fork_in_a_cell_answers_once);
    tcase_add_test(safe, descriptors_of_a_cell);
    tcase_add_test(safe, kernel_is_a_plain_interpreter);
    tcase_add_test(safe, sockets_and_children_work);
    tcase_add_test(safe, working_directory_is_the_cells_own_business);
    tcase_add_test(safe, a_large_cell_never_blocks);
    tcase_add_test(calls, result_as_json);
    tcase_add_test(calls, the_hosts_guard_denies_before_anything_is_started);
    tcase_add_test(calls, bad_cells_are_refused);
    tcase_add_test(calls, unknown_ids_are_refused);
    tcase_add_test(calls, other_settings_of_a_live_kernel_are_refused);
    tcase_add_test(calls, a_full_queue_refuses);
    tcase_add_test(calls, kernels_that_cannot_start);
    tcase_add_test(calls, an_installation_without_its_parts);
    tcase_add_test(calls, a_runner_that_is_edited_is_used_at_once);
    tcase_add_test(calls, a_start_that_hangs_or_fails_in_site);
    tcase_add_test(calls, queued_cells_of_a_failed_start);
    tcase_add_test(calls, script_and_argv);
    tcase_add_test(calls, one_pipe_keeps_the_order);
    tcase_add_test(calls, stdin_of_the_host);
    tcase_add_test(calls, names_and_versions);
    return test_run(suite);
}
