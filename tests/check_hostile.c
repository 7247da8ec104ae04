/* SPDX-License-Identifier: MIT */
/*
 * Cells that attack what runs them: frames of their own on every descriptor that they can reach,
 * the runner patched from inside, displays without end. What holds in every case: the host goes on,
 * another session keeps its state, and no result claims state that is gone.
 */
#include "config.h"

#include <signal.h>
#include <unistd.h>

#include "engine-testlib.h"

enum { CELL_LIMIT_MS = 1000 };

static struct hermes_kernel_setup setups[2];

/* What an attacker needs: the sockets, the runner's globals, the id of the running cell, frames. */
static const char TOOLKIT[] =
    "import gc, os, random, socket, stat, struct, sys, threading, time\n"
    "kept = 'kept'\n"
    "def sockets():\n"
    "    found = []\n"
    "    for fd in map(int, os.listdir('/proc/self/fd')):\n"
    "        try:\n"
    "            if fd > 2 and stat.S_ISSOCK(os.fstat(fd).st_mode): found.append(fd)\n"
    "        except OSError: pass\n"
    "    return found\n"
    "def runner():\n"
    "    at = sys._getframe()\n"
    "    while at.f_code.co_name != 'serve': at = at.f_back\n"
    "    return at.f_globals\n"
    "def my_id():\n"
    "    return struct.unpack('<Q', runner()['job'][1][8:16])[0]\n"
    "def frame(kind, body=b'', ident=1, flags=0, size=None, magic=b'\\xc8'):\n"
    "    return magic + kind + struct.pack('<HIQ', flags, len(body) if size is None else size, "
    "ident) + body\n"
    "def fields(*texts):\n"
    "    return struct.pack('<I', len(texts)) + b''.join(struct.pack('<I', len(t)) + t for t in "
    "texts)\n"
    "reply = struct.pack('<iI', 0, 0)\n"
    "def send(data):\n"
    "    for fd in sockets():\n"
    "        try: os.write(fd, data)\n"
    "        except OSError: pass\n";

static void set_up(void)
{
    te_set_up();
    for (size_t i = 0; i < sizeof setups / sizeof *setups; i++)
        setups[i] = (struct hermes_kernel_setup)HERMES_KERNEL_SETUP_INIT;
    setups[0].requests = setups[1].requests = true;
    setups[1].io = HERMES_IO_TTY;
}

static bool ends(const struct hermes_result *result)
{
    return result->ended || result->outcome == HERMES_TIMEOUT;
}

static struct hermes_result *run(const struct hermes_kernel_setup *setup, const char *code)
{
    struct hermes_cell cell = te_cell("hostile", code);

    cell.setup = setup;
    cell.flags = HERMES_CELL_DISPLAY;
    cell.timeout_ms = test_scaled_ms(CELL_LIMIT_MS);
    return te_run_cell(engine, &cell);
}

/*
 * The next cell has the state that its result speaks of: all of it, or none and a word why. A
 * kernel whose runner was spoilt may die or hang with the next cell: then it is the cell after
 * that, and the kernel is a fresh one. The cell needs nothing that an attack can have taken away.
 */
static void is_honest(const struct hermes_kernel_setup *setup, const char *attack,
                      struct hermes_result *result)
{
    bool lost = ends(result);

    for (int attempt = 0; attempt < 2; attempt++) {
        hermes_result_free(result);
        result = run(setup, "kept");
        if (!ends(result))
            break;
        ck_assert_msg(!lost, "after: %s\n%.3000s", attack, hermes_result_json(result, NULL));
        lost = true;
    }
    ck_assert_msg(result->reused ? !lost && !te_error_has(result, "NameError")
                                 : te_error_has(result, "NameError: name 'kept'") &&
                                       result->previous != HERMES_PREVIOUS_NONE,
                  "after: %s\n%.3000s", attack, hermes_result_json(result, NULL));
    hermes_result_free(result);
}

/* Each in a kernel of its own, beside a session that must not notice. */
static void attack_by(const struct hermes_kernel_setup *setup, const char *const *attacks,
                      size_t count)
{
    char said[40];

    te_succeeds("bystander", "n = 0");
    for (size_t i = 0; i < count; i++) {
        struct hermes_result *result;

        hermes_reset(engine, "hostile", NULL);
        result = run(setup, TOOLKIT);
        EXPECT(result, result->outcome == HERMES_SUCCESS && result->execution_count == 1);
        hermes_result_free(result);
        is_honest(setup, attacks[i], run(setup, attacks[i]));
        snprintf(said, sizeof said, "%zu\n", i + 1);
        te_says("bystander", "n += 1; print(n)", said);
    }
}

/* ---- frames ----------------------------------------------------------------------------- */

static const char *const forged[] = {
    "send(frame(b'E', reply))",
    "send(frame(b'E', reply, my_id()))",
    "send(frame(b'E', reply, my_id()) * 2)",
    "send(frame(b'E', reply, my_id() + 1))",
    "send(frame(b'E', reply, 2**64 - 1))",
    "send(frame(b'E', struct.pack('<iI', 0, 0xffffffff), my_id()))",
    "send(frame(b'E', reply, my_id(), flags=0xffff))",
    "send(frame(b'E', b'', my_id()))",
    "send(frame(b'E', reply, my_id(), size=0xffffffff))",
    "send(frame(b'R', fields(b'3', b'x', b'y', b'm', b'c', b'1', b'b')))",
    "send(frame(b'R', struct.pack('<I', 0xffffffff)))",
    "send(frame(b'D', b'', my_id()))",
    "send(frame(b'D', struct.pack('<II', 0xffffffff, 0xffffffff), my_id()))",
    "send(frame(b'D', fields(b'text/plain'), my_id()))",
    "send(frame(b'D', fields(b'image/png', b'\\xff' * 999, b'\\x1b]0;x\\x07', b'{'), my_id()))",
    "send(frame(b'D', fields(b'text/plain', b'x'), 7))",
    "send(frame(b'a', b'{}', 1)); send(frame(b'a', b'\\xff' * 4096, 2))",
    "send(frame(b'a', b'{}', 1, size=1 << 23))",
    "send(frame(b'I')); send(frame(b'X'))",
    "send(frame(b'E', reply, my_id(), magic=b'\\xc9'))",
    "send(b'\\xc8')",
    "send(b'Fatal Python error: not at all\\n\\n  File \"x\", line 1 in y\\n')",
    "send(random.Random(7).randbytes(70000))",
    "[send(bytes([0xc8, n])) for n in range(256)]",
    "for s in sockets(): socket.socket(fileno=os.dup(s)).shutdown(socket.SHUT_RDWR)",
    "for s in sockets(): os.close(s)",
    "for s in sockets(): os.dup2(os.open('/dev/zero', os.O_RDWR), s)",
    "for s in sockets(): os.set_blocking(s, False)",
    "a, b = socket.socketpair()\nfor s in sockets(): os.dup2(a.fileno(), s)",
    "def steal(fd):\n    while True: os.read(fd, 1)\n"
    "for s in sockets(): threading.Thread(target=steal, args=(s,), daemon=True).start()",
};

START_TEST(forged_frames)
{
    attack_by(&setups[_i], forged, sizeof forged / sizeof *forged);
}
END_TEST

/* From a process that is not the kernel, while the next cells run. */
START_TEST(forged_by_a_child_that_stays)
{
    static const char *const attacks[] = {
        "ident = my_id()\n"
        "if os.fork() == 0:\n"
        "    while True:\n"
        "        try: send(frame(b'E', reply, ident))\n"
        "        except BaseException: pass\n"
        "        time.sleep(0.001)\n",
        "if os.fork() == 0:\n"
        "    fds = sockets()\n"
        "    while True:\n"
        "        for fd in fds:\n"
        "            try: os.read(fd, 1)\n"
        "            except BaseException: pass\n",
    };

    attack_by(&setups[_i], attacks, sizeof attacks / sizeof *attacks);
}
END_TEST

/* A frame whose end never comes is like a cell that never ends: limit and interrupt both end it. */
START_TEST(a_frame_without_end)
{
    struct hermes_cell cell =
        te_cell("hostile", "send(frame(b'D', b'', my_id(), size=1 << 24))\n"
                           "open(os.environ['TMPDIR'] + '/sent', 'w').write('1')");
    struct hermes_event *done;
    struct hermes_result *result;
    uint64_t id;

    te_set(engine, "interrupt_grace", "0.2");
    te_succeeds("hostile", TOOLKIT);
    cell.timeout_ms = test_scaled_ms(500);
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_TIMEOUT);
    is_honest(NULL, "a frame without end", result);
    ck_assert_int_eq(unlink(test_path("sent")), 0);
    te_succeeds("hostile", TOOLKIT);
    cell.timeout_ms = -1;
    id = te_submit_cell(&cell);
    ck_assert(te_wait_file(test_path("sent")));
    ck_assert_int_eq(hermes_interrupt(engine, id, NULL, 0), 0);
    done = te_done(id);
    EXPECT(done->result, done->result->outcome == HERMES_INTERRUPTED && !done->result->state_kept);
    hermes_event_free(done);
    te_says_fresh("hostile", "print('kept' in globals())", "False\n", HERMES_PREVIOUS_INTERRUPTED);
}
END_TEST

/* ---- the runner ------------------------------------------------------------------------- */

/* By its frames, by the garbage collector, by what it shares with the cells. */
START_TEST(a_patched_runner)
{
    static const char *const attacks[] = {
        "runner().clear()",
        "runner()['push'] = runner()['settle'] = runner()['take'] = None",
        "runner()['settle'] = lambda: None",
        "runner()['push'] = lambda: None",
        "runner()['take'] = lambda: None",
        "runner()['job'][:] = []",
        "runner()['job'] = None",
        "runner()['control'] = -1",
        "runner()['control'] = 1",
        "runner()['first_builtins'].clear(); runner()['modules'] = {}",
        "runner()['inbox'].append(frame(b'X', struct.pack('<II', 1, 1) + b'x1/0', 9))",
        "runner()['insist'].__code__ = (lambda *a: None).__code__",
        "runner()['settle'].__code__ = (lambda: 1/0).__code__",
        "import builtins\nfor n in list(vars(builtins)):\n"
        "    if n[0] != '_': setattr(builtins, n, None)",
        "import builtins; builtins.__dict__.clear()",
        "import sys; sys.__dict__.clear()",
        "import io\nfor n in list(vars(io)): vars(io)[n] = None",
        "for m in list(sys.modules): sys.modules[m] = None",
        "sys.modules.clear()",
        "for o in gc.get_objects():\n"
        "    if isinstance(o, dict) and 'first_builtins' in o: o.clear()",
        "for o in gc.get_objects():\n    if isinstance(o, list) and o is not gc: o[:] = []",
        "gc.set_threshold(1); gc.callbacks.append(lambda *a: 1/0)",
        "class E(BaseException):\n    __traceback__ = property(lambda s: 1/0)\n"
        "    __cause__ = property(lambda s: 1/0)\nraise E",
        "sys.settrace(lambda *a: 1/0)",
        "sys.setprofile(lambda *a: 1/0)",
        "threading.setprofile(lambda *a: 1/0); sys.unraisablehook = None",
        "sys.stdout = sys.stderr = type('S', (), {'__getattr__': lambda *a: 1/0})()",
        "sys.setswitchinterval(1e-9); sys.setrecursionlimit(50)",
        "import ctypes; ctypes.memset(id(runner()['job']), 0, 64)",
        "import signal; signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)\n"
        "signal.signal(signal.SIGALRM, lambda *a: 1/0)",
    };

    attack_by(&setups[0], attacks, sizeof attacks / sizeof *attacks);
}
END_TEST

/* ---- floods ----------------------------------------------------------------------------- */

static long memory_kb(void)
{
    return te_memory_kb(getpid(), "VmRSS");
}

/* Whether the number in a file stands still: the cell that counts there waits for us. */
static bool stands_still(const char *path)
{
    long before = test_exists(path) ? te_read_number(path) : 0;

    test_pause_ms(test_scaled_ms(200));
    return before > 0 && te_read_number(path) == before;
}

/* Large displays, and very many empty ones: a host that reads no events holds the cell up. */
START_TEST(displays_that_nobody_reads)
{
    static const char *const what[] = {"'x' * 1000000", "''",
                                       "{'a/%d' % n: '' for n in range(9)}, raw=True"};
    const char *path = test_path("count");
    char code[400];
    long before;

    snprintf(code, sizeof code,
             "import os\nn = 0\nwhile n < 30000:\n    n += 1\n    display(%s)\n"
             "    if n %% %d: continue\n    with open('%s.new', 'w') as file: file.write(str(n))\n"
             "    os.replace('%s.new', '%s')\n",
             what[_i], _i ? 64 : 1, path, path, path);

    struct hermes_cell cell = te_cell("hostile", code);
    struct hermes_event *event;
    uint64_t id;
    bool done;

    te_succeeds("hostile", "pass");
    cell.flags = HERMES_CELL_DISPLAY;
    cell.timeout_ms = -1;
    before = memory_kb();
    id = te_submit_cell(&cell);
    te_started(id);
    ck_assert(test_wait(stands_still(path), TE_DEADLINE_MS));
    ck_assert_msg(te_read_number(path) < 30000, "%ld displays wait", te_read_number(path));
    if (!TE_SANITIZED)
        ck_assert_msg(memory_kb() < before + (64 << 10), "%ld kB more", memory_kb() - before);
    ck_assert_int_eq(hermes_interrupt(engine, id, NULL, 0), 0);
    do {
        ck_assert_int_eq(hermes_next_event(engine, test_scaled_ms(TE_DEADLINE_MS), &event), 0);
        ck_assert_ptr_nonnull(event);
        done = event->type == HERMES_EVENT_DONE;
        if (done)
            EXPECT(event->result,
                   event->result->outcome == HERMES_INTERRUPTED && event->result->state_kept == 1);
        hermes_event_free(event);
    } while (!done);
    te_says("hostile", "print(n > 0)", "True\n");
}
END_TEST

/* ---- words ------------------------------------------------------------------------------ */

/* What the cell has put into the words of its end comes clean, as its output does. */
START_TEST(an_end_in_hostile_words)
{
    static const char *const ends[] = {
        "import sys; sys.exit('\\x1b]0;x\\x07\\x1b[2Jgone')",
        "raise ValueError('\\x1b]0;x\\x07\\x1b[2Jgone')",
        "class gone(Exception): pass\ngone.__name__ = gone.__qualname__ = '\\x1b[2Jgone'\nraise "
        "gone",
        "send(b'Fatal Python error: \\x1b]0;x\\x07\\x1b[2Jgone\\n'); os._exit(1)",
        "compile('1', '\\x1b[2J', 'exec'); exec(compile('1/0', '\\x1b[2Jgone', 'exec'))",
    };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct hermes_result *result;

        hermes_result_free(te_run_flags("hostile", TOOLKIT, HERMES_CELL_RESET));
        result = te_run("hostile", ends[i]);
        EXPECT(result, result->outcome == HERMES_ERROR && te_error_has(result, "gone") &&
                           !memchr(result->error, '\033', result->error_size) &&
                           !memchr(result->output, '\033', result->output_size));
        hermes_result_free(result);
    }
}
END_TEST

START_TEST(a_start_in_hostile_words)
{
    struct hermes_result *result;

    test_write_file(test_path("sitecustomize.py"),
                    "import os\nos.write(2, b'\\x1b]0;x\\x07\\x1b[2Jgone')\nos._exit(3)\n", 0644);
    setenv("PYTHONPATH", test_directory(), 1);

    struct hermes_kernel_setup inherit = HERMES_KERNEL_SETUP_INIT;

    inherit.env = HERMES_ENV_INHERIT;
    result = run(&inherit, "1");
    unsetenv("PYTHONPATH");
    EXPECT(result, result->start_failed && te_error_has(result, "gone") &&
                       !memchr(result->error, '\033', result->error_size));
    hermes_result_free(result);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hostile");
    TCase *frames = tcase_create("frames"), *inside = tcase_create("the runner"),
          *floods = tcase_create("floods"), *words = tcase_create("words");
    TCase *cases[] = {frames, inside, floods, words};

    te_add_cases(suite, cases, sizeof cases / sizeof cases[0], set_up);
    tcase_add_loop_test(frames, forged_frames, 0, 2);
    tcase_add_loop_test(frames, forged_by_a_child_that_stays, 0, 2);
    tcase_add_test(frames, a_frame_without_end);
    tcase_add_test(inside, a_patched_runner);
    tcase_add_loop_test(floods, displays_that_nobody_reads, 0, 3);
    tcase_add_test(words, an_end_in_hostile_words);
    tcase_add_test(words, a_start_in_hostile_words);
    return test_run(suite);
}
