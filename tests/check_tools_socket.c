/* SPDX-License-Identifier: MIT */
/*
 * The channels that tool calls come by, from the side of one who does not keep to hermes_tools: raw
 * clients of the path socket, hostile cells, what they leave behind; where the socket lies and who
 * may reach it.
 */
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine-testlib.h"

/* In a cell, or in a child of it: a client that says what it likes. */
#define CLIENT                                                                                     \
    "import json, os, socket, sys, time\n"                                                         \
    "import hermes_tools as h\n"                                                                   \
    "class Client:\n"                                                                              \
    "    def __init__(self):\n"                                                                    \
    "        self.s = socket.socket(socket.AF_UNIX); self.s.settimeout(30); "                      \
    "self.s.connect(h.SOCKET)\n"                                                                   \
    "        self.f = self.s.makefile('rb')\n"                                                     \
    "    def ask(self, line):\n"                                                                   \
    "        self.s.sendall(line if isinstance(line, bytes) else json.dumps(line).encode() + "     \
    "b'\\n')\n"                                                                                    \
    "        return json.loads(self.f.readline())\n"                                               \
    "def good(**other):\n"                                                                         \
    "    request = {'id': 1, 'token': h.TOKEN, 'tool': 'terminal', 'arguments': '{\"command\": "   \
    "\"x\"}'}\n"                                                                                   \
    "    request.update(other)\n"                                                                  \
    "    return {k: v for k, v in request.items() if v is not Ellipsis}\n"

static atomic_int calls;
static char last_arguments[400];

static void set_up(void)
{
    calls = 0;
    te_set_up();
}

static char *count(const struct hermes_tool_call *call)
{
    atomic_fetch_add(&calls, 1);
    snprintf(last_arguments, sizeof last_arguments, "%s", call->arguments);
    return strdup("{\"ran\": true}");
}

static struct hermes_cell tool_cell(const char *session, const char *code)
{
    struct hermes_cell cell = te_cell(session, code);

    cell.tool_handler = count;
    return cell;
}

static void says(const char *session, const char *code, const char *output, uint64_t expected)
{
    struct hermes_cell cell = tool_cell(session, code);
    struct hermes_result *result = te_run_cell(engine, &cell);

    EXPECT(result, result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(result, output);
    EXPECT(result, result->tool_calls == expected);
    hermes_result_free(result);
}

/* The code runs in a child process of the cell, as a script. */
static void child_says(const char *session, const char *script, const char *output,
                       uint64_t expected)
{
    char code[1000];

    test_write_file(test_path("child.py"), script, 0600);
    snprintf(code, sizeof code,
             "import subprocess, sys\np = subprocess.run([sys.executable, '%s'], stdout=-1, "
             "stderr=-1, text=True)\n"
             "print(p.stdout + p.stderr, end='')",
             test_path("child.py"));
    says(session, code, output, expected);
}

/* ---- raw clients ------------------------------------------------------------------------ */

/* report A39 */
START_TEST(tokens_that_are_none)
{
    child_says(
        "a",
        CLIENT
        "c = Client()\n"
        "for token in ..., 'wrong', '', 'é', 'ü' * 64, 7, 0, None, True, [], {}, [h.TOKEN], "
        "h.TOKEN[:-1], h.TOKEN + 'x', h.TOKEN.upper(), "
        "'0' * 64, 'x' * 1000000, '\\0', '\\udc80':\n"
        "    answer = c.ask(good(token=token))\n"
        "    if answer.get('id') != 1 and token != '\\udc80' or 'Unauthorized' not in "
        "answer['error'] and 'Invalid' not in answer['error']: print(repr(token)[:40], answer)\n"
        "print(c.ask(good(id='last')))",
        "{'id': 'last', 'result': {'ran': True}}\n", 1);
    ck_assert_int_eq(calls, 1);
}
END_TEST

START_TEST(lines_that_are_no_request)
{
    child_says(
        "a",
        CLIENT
        "c = Client()\n"
        "lines = [b'hello', b'{', b'[]', b'1', b'null', b'\"text\"', b'{} {}', b'{}garbage', "
        "b'\\0', b'\\xff\\xfe', b'{\"id\":1,}', b' ',\n"
        "         b'{\"id\": 1}\\0', b'[' * 100000, b'{\"a\":' * 5000, b'\\r', b'{\"token\": \"' + "
        "b'\\\\u0000' * 64 + b'\"',\n"
        "         json.dumps(good()).encode() + b'x', json.dumps(good()).encode()[:-1]]\n"
        "for line in lines:\n"
        "    answer = c.ask(line + b'\\n')\n"
        "    if answer != {'id': None, 'error': 'Invalid RPC request'}: print(line[:40], answer)\n"
        "for bad in good(tool=...), good(tool=None), good(tool=5), good(tool=['terminal']), "
        "good(arguments=5), good(arguments='5'), \\\n"
        "        good(arguments='{} {}'), good(arguments='{'), good(arguments=None), "
        "good(arguments=[]), good(arguments='', args=5), \\\n"
        "        good(arguments='{\"a\": 1}x'):\n"
        "    answer = c.ask(bad)\n"
        "    if answer.get('id') != 1 or not answer['error'].startswith('Invalid RPC request: '): "
        "print(bad, answer)\n"
        "c.s.sendall(b'\\n\\n\\n')\n" /* nothing is said of empty lines */
        "for tool in '', 'Terminal', 'terminal ', 'execute_code', '__class__', 'terminal\\n', "
        "'é':\n"
        "    answer = c.ask(good(tool=tool))\n"
        "    if 'is not available' not in answer['result']['error']: print(tool, answer)\n"
        "print(c.ask(good(id=2**40)))",
        "{'id': 1099511627776, 'result': {'ran': True}}\n", 1);
    ck_assert_int_eq(calls, 1);
}
END_TEST

START_TEST(lines_in_pieces_and_many_at_once)
{
    child_says("a",
               CLIENT
               "c = Client()\n"
               "line = json.dumps(good(id='é')).encode() + b'\\n'\n"
               "for i in range(len(line)): c.s.sendall(line[i:i + 1])\n"
               "print(json.loads(c.f.readline()))\n"
               "c.s.sendall(b''.join(json.dumps(good(id=n, tool='none' if n % 2 else "
               "'terminal')).encode() + b'\\n' for n in range(8)) + line[:20])\n"
               "answers = [json.loads(c.f.readline()) for _ in range(8)]\n"
               "print(sorted(a['id'] for a in answers if 'ran' in a['result']), sorted(a['id'] for "
               "a in answers if 'ran' not in a['result']))\n"
               "print(c.ask(line[20:])['id'])\n"
               "d = Client(); d.s.sendall(line[:30]); d.s.close()\n" /* half a line, and gone */
               "e = Client(); e.s.sendall(line); e.s.shutdown(socket.SHUT_WR); print(e.f.read() in "
               "(b'', b'{\"id\":\"\\xc3\\xa9\",\"result\":{\"ran\": true}}\\n'))\n",
               "{'id': 'é', 'result': {'ran': True}}\n[0, 2, 4, 6] [1, 3, 5, 7]\né\nTrue\n", 7);
}
END_TEST

START_TEST(oversized_lines)
{
    child_says("a",
               CLIENT
               "c = Client()\n"
               "def flood(size):\n" /* one answer, however long it is */
               "    for _ in range(size >> 20): c.s.sendall(b'x' * (1 << 20))\n"
               "    c.s.sendall(b'\\n')\n"
               "flood(9 << 20)\n"
               "print(json.loads(c.f.readline()))\n"
               "print(c.ask(good())['result'])\n"
               "flood(40 << 20)\n"
               "print(json.loads(c.f.readline())['error'])\n"
               "print(c.ask(b'y' * (10 << 20) + json.dumps(good()).encode() + b'\\n')['error'])\n"
               "print(c.ask(good(arguments=json.dumps({'command': 'z' * (7 << 20)})))['result'])",
               "{'id': None, 'error': 'Invalid RPC request: the line is too long'}\n{'ran': True}\n"
               "Invalid RPC request: the line is too long\nInvalid RPC request: the line is too "
               "long\n{'ran': True}\n",
               2);
}
END_TEST

/*
 * upstream: parameters that a cell's terminal() may not have are dropped, whoever writes them and
 * however often
 */
START_TEST(blocked_parameters_by_hand)
{
    child_says("a",
               CLIENT "c = Client()\n"
                      "c.ask(good(arguments='{\"command\":\"x\",\"background\":1,\"background\":2,"
                      "\"Background\":3,\"pty\":true,\"pty\":true}'))",
               "", 1);
    ck_assert_str_eq(last_arguments, "{\"command\":\"x\"}");
    child_says(
        "a", CLIENT "c = Client()\nc.ask(good(arguments=..., args={'command': 'y', 'notify': 1}))",
        "", 1);
    ck_assert_str_eq(last_arguments, "{\"command\":\"y\"}");
    child_says("a", CLIENT "c = Client()\nc.ask(good(arguments=...))", "", 1);
    ck_assert_str_eq(last_arguments, "{}");
}
END_TEST

/* Its answer goes nowhere, and nobody else gets it. */
START_TEST(a_client_that_goes_before_its_answer)
{
    char code[1500] = "";
    struct hermes_cell cell = tool_cell("a", code);
    struct hermes_event *call, *done;
    size_t fds;
    uint64_t id;

    hermes_result_free(te_run("a", "1"));
    fds = te_fd_count();
    test_write_file(test_path("child.py"),
                    CLIENT "Client().s.sendall(json.dumps(good()).encode() + b'\\n')\n", 0600);
    snprintf(
        code, sizeof code,
        TE_WAIT
        "import hermes_tools, subprocess, sys\n"
        "subprocess.run([sys.executable, '%s'])\nwait('%s')\nprint(hermes_tools.terminal('mine'))",
        test_path("child.py"), test_path("go"));
    cell.tool_handler = NULL;
    id = te_submit_cell(&cell);
    call = te_event(HERMES_EVENT_TOOL_CALL, id);
    ck_assert(test_wait(te_fd_count() <= fds, TE_DEADLINE_MS)); /* its connection is closed */
    ck_assert_int_eq(hermes_tool_answer(engine, call->tool_call->id, "\"the child's\"", 13), 0);
    hermes_event_free(call);
    test_write_file(test_path("go"), "x", 0600);
    call = te_event(HERMES_EVENT_TOOL_CALL, id);
    ck_assert_int_eq(hermes_tool_answer(engine, call->tool_call->id, "\"mine\"", 6), 0);
    hermes_event_free(call);
    done = te_done(id);
    EXPECT_OUTPUT(done->result, "mine\n");
    EXPECT(done->result, done->result->tool_calls == 2);
    hermes_event_free(done);
}
END_TEST

/* Who lets the answers lie is not read on, and costs the host a bounded amount of memory. */
START_TEST(a_client_that_does_not_read)
{
    long before, after;

    says("a", "1", "", 0);
    before = te_memory_kb(getpid(), "VmRSS");
    child_says("a",
               CLIENT "c = Client()\n"
                      "c.s.setblocking(False)\n"
                      "line, sent, idle = b'x\\n' * 4096, 0, 0\n"
                      "while idle < 100 and sent < 60 << 20:\n"
                      "    try: sent += c.s.send(line[sent % 2:]); idle = 0\n"
                      "    except BlockingIOError: idle += 1; time.sleep(0.005)\n"
                      "print(sent < 4 << 20)\n"
                      "c.s.setblocking(True)\n"
                      "rest = -sent % 2\n"
                      "left = sent // 2 + rest\n"
                      "import threading\n"
                      "threading.Thread(target=lambda: c.s.sendall(b'\\n' * rest + "
                      "json.dumps(good(id='end')).encode() + b'\\n')).start()\n"
                      "while left: left -= b'Invalid' in c.f.readline()\n"
                      "print(json.loads(c.f.readline())['id'])",
               "True\nend\n", 1);
    after = te_memory_kb(getpid(), "VmRSS");
    if (!TE_SANITIZED)
        ck_assert_int_lt(after - before, 12 * 1024);
}
END_TEST

/* A client cannot take the place of all others. */
START_TEST(very_many_connections)
{
    struct rlimit limit;

    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < 700)
        return;
    says("a",
         "import resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (1024, "
         "resource.getrlimit(resource.RLIMIT_NOFILE)[1]))\n"
         "import hermes_tools as h, socket, threading\n"
         "def connect():\n"
         "    s = socket.socket(socket.AF_UNIX); s.connect(h.SOCKET); return s\n"
         "many = [connect() for _ in range(600)]\n"
         "print(many[599].recv(1), h.terminal('mine'))\n"
         "for s in many: s.close()\n"
         "def by_path():\n"
         "    answers.append(h._exchange(b'hello\\n', lambda line: True))\n"
         "answers = []\n"
         "t = threading.Thread(target=by_path); t.start(); t.join()\n"
         "print(answers)",
         "b'' {'ran': True}\n[b'{\"id\":null,\"error\":\"Invalid RPC request\"}\\n']\n", 1);
}
END_TEST

/* From the host's own process: it has the token, and is no child of the cell. */
static int connect_to(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_int_ge(fd, 0);
    ck_assert_uint_lt(strlen(path), sizeof address.sun_path);
    memcpy(address.sun_path, path, strlen(path));
    ck_assert_msg(connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "%s: %s", path,
                  strerror(errno));
    return fd;
}

static void ask(int fd, const char *line, const char *answer)
{
    char got[1000];
    size_t size = 0;

    ck_assert_int_eq(write(fd, line, strlen(line)), (ssize_t)strlen(line));
    ck_assert_int_eq(write(fd, "\n", 1), 1);
    while (!size || got[size - 1] != '\n') {
        ssize_t n = read(fd, got + size, sizeof got - 1 - size);

        ck_assert_int_gt(n, 0);
        size += (size_t)n;
    }
    got[size] = '\0';
    ck_assert_msg(strstr(got, answer) && strchr(got, '\n') == got + size - 1, "no \"%s\" in %s",
                  answer, got);
}

static char path[300], token[100];

static void learn(const char *session)
{
    struct hermes_result *result =
        te_run(session, "import hermes_tools as h; print(h.SOCKET, h.TOKEN)");

    EXPECT(result, sscanf(result->output, "%299s %99s", path, token) == 2);
    EXPECT(result, strlen(token) == 64);
    hermes_result_free(result);
}

static int64_t used_ms(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * INT64_C(1000) +
           (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1000;
}

/* Who connects while the host has no descriptor left waits, and the host does not spin. */
START_TEST(no_descriptor_for_a_client)
{
    struct hermes_cell cell;
    struct te_thread thread;
    struct rlimit before, low;
    char code[1000];
    int64_t used;
    int lowest;

    says("a", "import hermes_tools", "", 0);
    test_write_file(test_path("child.py"),
                    CLIENT "c = Client()\nopen(sys.argv[1], 'w').write('x')\nprint(c.ask(good()))",
                    0600);
    snprintf(
        code, sizeof code,
        "import subprocess, sys\nprint(subprocess.run([sys.executable, '%s', '%s'], stdout=-1, "
        "text=True).stdout)",
        test_path("child.py"), test_path("connected"));
    cell = tool_cell("a", code);
    lowest = dup(STDIN_FILENO);
    close(lowest);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    low = before;
    low.rlim_cur = (rlim_t)lowest;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &low), 0);
    te_thread_start(&thread, engine, &cell);
    ck_assert(test_wait(access(test_path("connected"), F_OK) == 0, TE_DEADLINE_MS));
    used = used_ms();
    test_pause_ms(400); /* the time itself is what is tested */
    used = used_ms() - used;
    ck_assert_int_eq(calls, 0);
    setrlimit(RLIMIT_NOFILE, &before);
    te_thread_join(&thread);
    EXPECT_OUTPUT(thread.result, "{'id': 1, 'result': {'ran': True}}\n\n");
    hermes_result_free(thread.result);
    ck_assert_int_lt(used, 60);
}
END_TEST

START_TEST(the_right_token_alone_is_not_enough)
{
    char line[300];
    struct hermes_cell cell;
    uint64_t id;
    int fd;

    learn("a");
    snprintf(line, sizeof line, "{\"id\": 5, \"token\": \"%s\", \"tool\": \"terminal\"}", token);
    fd = connect_to(path);
    ask(fd, line, "{\"id\":5,\"error\":\"No active execute_code cell"); /* none runs */
    cell = tool_cell("a", "import hermes_tools; hermes_tools.terminal('hold')");
    cell.tool_handler = NULL;
    id = te_submit_cell(&cell);
    struct hermes_event *call = te_event(HERMES_EVENT_TOOL_CALL, id);
    ask(fd, line,
        "{\"id\":5,\"error\":\"No active execute_code cell"); /* one runs, and it is none of its processes */
    ask(fd, "{\"id\": 6, \"token\": \"\", \"tool\": \"terminal\"}",
        "{\"id\":6,\"error\":\"Unauthorized RPC request\"}");
    ck_assert_int_eq(hermes_tool_answer(engine, call->tool_call->id, "{}", 2), 0);
    hermes_event_free(call);
    call = te_done(id);
    EXPECT(call->result, call->result->tool_calls == 1);
    hermes_event_free(call);
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    ask(fd, line, "Unauthorized RPC request"); /* the token went with its kernel */
    close(fd);
    ck_assert_int_eq(calls, 0);
}
END_TEST

START_TEST(tokens_belong_to_one_kernel)
{
    char first[100];

    learn("a");
    strcpy(first, token);
    learn("b");
    ck_assert_str_ne(first, token);
    ck_assert_int_eq(hermes_reset(engine, "a", NULL), 0);
    learn("a");
    ck_assert_str_ne(first, token);
}
END_TEST

/* ---- hostile cells ---------------------------------------------------------------------- */

/* Writes requests to all it can reach, again and again, and tells how often it got round. */
#define HOSTILE                                                                                    \
    "import os, socket, json, fcntl, stat\n"                                                       \
    "def requests(token, names):\n"                                                                \
    "    for tool in 'terminal', 'execute_code':\n"                                                \
    "        for name in names:\n"                                                                 \
    "            yield json.dumps({'id': 1, 'token': token, 'cell': name, 'tool': tool, "          \
    "'arguments': '{}'}).encode() + b'\\n'\n"                                                      \
    "def paths():\n"                                                                               \
    "    for line in open('/proc/net/unix'):\n"                                                    \
    "        if line.rstrip().endswith('/tools'): yield line.split()[-1]\n"                        \
    "def attack(token, names, spare=()):\n"                                                        \
    "    lines = list(requests(token, names)) + [json.dumps({'id': 2, 'token': token, 'tool': "    \
    "'terminal'}).encode() + b'\\n']\n"                                                            \
    "    for fd in map(int, os.listdir('/proc/self/fd')):\n"                                       \
    "        try:\n"                                                                               \
    "            if fd in spare or not stat.S_ISSOCK(os.fstat(fd).st_mode): continue\n"            \
    "            os.set_blocking(fd, False)\n"                                                     \
    "            for line in lines: os.write(fd, line)\n"                                          \
    "        except OSError: pass\n"                                                               \
    "    for path in paths():\n"                                                                   \
    "        try:\n"                                                                               \
    "            s = socket.socket(socket.AF_UNIX); s.settimeout(5); s.connect(path)\n"            \
    "            for line in lines: s.sendall(line); answers.append(s.recv(65536))\n"              \
    "        except OSError: pass\n"                                                               \
    "answers = []\n"

static long rounds(void)
{
    char *text = test_read_file(test_path("rounds"));
    long n = text ? atol(text) : 0;

    free(text);
    return n;
}

static void wait_rounds(long more)
{
    long until = rounds() + more;

    ck_assert(test_wait(rounds() >= until, TE_DEADLINE_MS));
}

/*
 * A process that stays: with the kernel's end of the channel, the token, and the name of its cell.
 */
START_TEST(a_hostile_process_that_stays)
{
    static char script[6000], code[1500];

    snprintf(script, sizeof script,
             "import sys, time\n" HOSTILE "token, name = sys.argv[1:3]\n"
             "n = 0\n"
             "while True:\n"
             "    attack(token, [name, '', '0' * 16])\n"
             "    n += 1\n"
             "    open('%s.tmp', 'w').write(str(n)); os.replace('%s.tmp', '%s')\n"
             "    assert not any(b'result' in a for a in answers if a), answers\n"
             "    del answers[:]\n"
             "    time.sleep(0.001)\n",
             test_path("rounds"), test_path("rounds"), test_path("rounds"));
    test_write_file(test_path("hostile.py"), script, 0600);
    snprintf(code, sizeof code,
             "import hermes_tools as h, subprocess, sys, os\n"
             "link = h.kernel.exchange.__globals__['tools']\n"
             "control = h.kernel.exchange.__globals__['control']\n"
             "p = subprocess.Popen([sys.executable, '%s', h.TOKEN, h.kernel.name_of_cell()], "
             "start_new_session=True, pass_fds=[link])\n",
             test_path("hostile.py"));
    says("a", code, "", 0);
    wait_rounds(5);
    ck_assert_int_eq(calls, 0);
    /*
     * A later cell calls as ever, and its budget is its own. (Answers of the shared channel may go
     * to the thief.)
     */
    says("a", "print(p.poll(), h._exchange(b'x\\n', lambda line: True)[:11])",
         "None b'{\"id\":null,'\n", 0);
    wait_rounds(5);
    says("a",
         "import threading\n"
         "h.kernel.broken = True\n"
         "print(h.terminal('x'))",
         "{'ran': True}\n", 1);
    ck_assert_int_eq(calls, 1);
    wait_rounds(5);
    ck_assert_int_eq(calls, 1);
    says("a", "print(p.poll()); p.kill(); p.wait()", "None\n", 0);
    ck_assert_int_eq(calls, 1);
}
END_TEST

/*
 * A thread that stays writes to every socket of the kernel; to that which ends the kernel, at last.
 */
START_TEST(a_hostile_thread_that_stays)
{
    static char code[6000];
    struct hermes_result *result;
    struct hermes_cell cell;

    snprintf(code, sizeof code,
             HOSTILE "import hermes_tools as h, threading, time\n"
                     "token, name, control = h.TOKEN, h.kernel.name_of_cell(), "
                     "h.kernel.exchange.__globals__['control']\n"
                     "def loop():\n"
                     "    n = 0\n"
                     "    while not os.path.exists('%s'):\n"
                     "        attack(token, [name, '', '0' * 16], [control])\n"
                     "        n += 1\n"
                     "        open('%s.tmp', 'w').write(str(n)); os.replace('%s.tmp', '%s')\n"
                     "        time.sleep(0.001)\n"
                     "    attack(token, [name, '', '0' * 16])\n"
                     "ready = threading.Event()\n"
                     "threading.Thread(target=loop).start()\n",
             test_path("end"), test_path("rounds"), test_path("rounds"), test_path("rounds"));
    cell = tool_cell("a", code);
    cell.max_tool_calls = 3;
    result =
        te_run_cell(engine, &cell); /* it may begin while its own cell runs, within its budget */
    EXPECT(result, result->outcome == HERMES_SUCCESS && result->tool_calls <= 3);
    ck_assert_int_eq(calls, (int)result->tool_calls);
    hermes_result_free(result);
    calls = 0;
    wait_rounds(5);
    ck_assert_int_eq(calls, 0);
    snprintf(code, sizeof code,
             "import time\nend = time.time() + 20\n"
             "first = int(open('%s').read())\n"
             "while int(open('%s').read()) < first + 5: assert time.time() < end\n",
             test_path("rounds"), test_path("rounds"));
    cell.code = code;
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_SUCCESS && result->tool_calls == 0);
    hermes_result_free(result);
    ck_assert_int_eq(calls, 0);
    test_write_file(test_path("end"), "x", 0600);
    ck_assert(test_wait(te_kernel_count(engine) == 0 || rounds() > 0, TE_DEADLINE_MS));
    hermes_result_free(te_run("a", "1")); /* in the old kernel or in a new one */
    ck_assert_int_eq(calls, 0);
    says("b", "from hermes_tools import terminal\nprint(terminal('x'))", "{'ran': True}\n", 1);
}
END_TEST

/*
 * A kernel as the prompt has it, at a terminal and with a socket for questions: both are written to
 * as well, and answers are forged.
 */
START_TEST(a_hostile_thread_at_the_prompt)
{
    struct hermes_kernel_setup setup = HERMES_KERNEL_SETUP_INIT;
    static char code[6000];
    struct hermes_result *result;
    struct hermes_cell cell;
    uint64_t kernel, request;
    struct hermes_event *event;

    setup.io = HERMES_IO_TTY;
    setup.requests = true;
    snprintf(
        code, sizeof code,
        HOSTILE
        "import hermes_tools as h, struct, threading, time\n"
        "token, name = h.TOKEN, h.kernel.name_of_cell()\n"
        "inside = h.kernel.exchange.__globals__\n"
        "control, asked = inside['control'], inside['aux']\n"
        "def forge():\n"
        "    body = b'{\"id\": 1, \"tool\": \"terminal\", \"arguments\": \"{}\"}'\n"
        "    for n in range(200):\n"
        "        os.write(asked, struct.pack('<BBHIQ', 200, ord('a'), 0, len(body), n) + body)\n"
        "def loop():\n"
        "    n = 0\n"
        "    while not os.path.exists('%s'):\n"
        "        attack(token, [name, '', '0' * 16], [control, asked])\n"
        "        for line in requests(token, [name, '']): os.write(1, line)\n"
        "        forge()\n"
        "        n += 1\n"
        "        open('%s.tmp', 'w').write(str(n)); os.replace('%s.tmp', '%s')\n"
        "        time.sleep(0.001)\n"
        "    attack(token, [name, '', '0' * 16], [control])\n"
        "threading.Thread(target=loop).start()\n",
        test_path("end"), test_path("rounds"), test_path("rounds"), test_path("rounds"));
    cell = tool_cell("a", code);
    cell.setup = &setup;
    cell.max_tool_calls = 3;
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_SUCCESS && result->tool_calls <= 3);
    kernel = result->kernel;
    hermes_result_free(result);
    calls = 0;
    wait_rounds(5);
    ck_assert_int_eq(calls, 0);
    ck_assert_int_eq(
        hermes_request(engine, kernel, "{\"request\":\"ping\"}", 10000, &request, NULL), 0);
    event = te_event(HERMES_EVENT_ANSWER, 0); /* its own or a forged one: nobody acts upon it */
    ck_assert_uint_eq(event->request, request);
    hermes_event_free(event);
    cell.code = "print('later')";
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_SUCCESS && result->tool_calls == 0);
    hermes_result_free(result);
    ck_assert_int_eq(calls, 0);
    test_write_file(test_path("end"), "x", 0600); /* now what breaks the protocol there */
    ck_assert_int_eq(hermes_kernel_wait(engine, kernel, TE_DEADLINE_MS), 1);
    ck_assert_int_eq(calls, 0);
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_SUCCESS && te_has(result, "later"));
    EXPECT(result, result->previous == HERMES_PREVIOUS_DIED);
    hermes_result_free(result);
    ck_assert_int_eq(calls, 0);
}
END_TEST

/* While its cell runs, a hostile cell gets what the cell may have, and not one call more. */
START_TEST(never_beyond_allow_list_and_budget)
{
    static const char *const tools[] = {"read_file", NULL};
    static char code[6000];
    struct hermes_cell cell = tool_cell("a", code);
    struct hermes_result *result;

    snprintf(code, sizeof code, "%s",
             HOSTILE "import hermes_tools as h, threading\n"
                     "token, name, control = h.TOKEN, h.kernel.name_of_cell(), "
                     "h.kernel.exchange.__globals__['control']\n"
                     "real = requests\n"
                     "def requests(token, names):\n"
                     "    for line in real(token, names): yield line; yield "
                     "line.replace(b'terminal', b'read_file')\n"
                     "threads = [threading.Thread(target=attack, args=(token, [name, ''], "
                     "[control])) for _ in range(4)]\n"
                     "for t in threads: t.start()\n"
                     "for t in threads: t.join()\n"
                     "print(sum(b'result' in a and b'ran' in a for a in answers) <= 5)\n"
                     "print(any(b'limit reached (5)' in a for a in answers), any(b'not available' "
                     "in a for a in answers))\n");
    cell.tools = tools;
    cell.max_tool_calls = 5;
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "True\nTrue True\n");
    EXPECT(result, result->tool_calls == 5);
    hermes_result_free(result);
    ck_assert_int_eq(calls, 5);
}
END_TEST

/* A connection that a process of an earlier cell made, in other hands; its maker is gone. */
START_TEST(an_inherited_connection)
{
    static char script[3000], code[2500];

    snprintf(
        script, sizeof script,
        CLIENT TE_WAIT
        "c = Client()\n"
        "print(c.ask(good())['result'], flush=True)\n"
        "parent = os.getpid()\n"
        "if os.fork() == 0:\n"
        "    while os.getppid() == parent: time.sleep(0.001)\n"
        "    wait('%s')\n"
        "    answer = c.ask(good())\n"
        "    open('%s.tmp', 'w').write(answer.get('error', 'it ran')); os.replace('%s.tmp', '%s')\n"
        "    os._exit(0)\n"
        "os._exit(0)\n",
        test_path("go"), test_path("answer"), test_path("answer"), test_path("answer"));
    test_write_file(test_path("client.py"), script, 0600);
    snprintf(code, sizeof code,
             TE_WAIT "import subprocess, sys\n"
                     "p = subprocess.Popen([sys.executable, '%s'], stdout=-1)\n"
                     "print(p.stdout.readline()); p.wait()",
             test_path("client.py"));
    says("a", code, "b\"{'ran': True}\\n\"\n", 1);
    snprintf(code, sizeof code, "touch('%s'); wait('%s'); print(open('%s').read()[:28])",
             test_path("go"), test_path("answer"), test_path("answer"));
    says("a", code, "No active execute_code cell:\n", 0);
    ck_assert_int_eq(calls, 1);
}
END_TEST

/* Half a request in the shared channel is its cell's own trouble: one call fails, none hangs. */
START_TEST(garbage_in_the_kernels_own_channel)
{
    says("a",
         "import hermes_tools as h, os\n"
         "os.write(h.kernel.exchange.__globals__['tools'], b'{\"id\": 1, \"tool')\n"
         "print(h.terminal('one'), h.terminal('two'))",
         "{'error': 'Invalid RPC request'} {'ran': True}\n", 1);
    says("a",
         "os.write(h.kernel.exchange.__globals__['tools'], b'x\\n' * 20)\n"
         "print([h.terminal('y') for _ in range(21)][-1])",
         "{'ran': True}\n", 21);
}
END_TEST

/* ---- where the socket lies -------------------------------------------------------------- */

static void check_mode(const char *name, mode_t type, mode_t mode)
{
    struct stat info;

    ck_assert_msg(lstat(name, &info) == 0, "%s: %s", name, strerror(errno));
    ck_assert_msg((info.st_mode & S_IFMT) == type && (info.st_mode & 07777) == mode, "%s: %o", name,
                  info.st_mode);
    ck_assert_uint_eq(info.st_uid, geteuid());
}

/* report A40 */
START_TEST(nobody_else_reaches_it)
{
    static const char find[] =
        "import hermes_tools as h, os, subprocess\n"
        "tmp = os.path.dirname(os.path.dirname(h.SOCKET))\n"
        "print(subprocess.run(['find', tmp, '-type', 's', '-perm', '/077'], stdout=-1).stdout)\n"
        "print(subprocess.run(['find', tmp, '-path', '*hermes_kernel_*', '-perm', '/077', '!', "
        "'-type', 'l'], stdout=-1).stdout)\n";
    struct hermes_result *result;
    char module[300], *slash;
    mode_t before = umask(0);

    says("a", find, "b''\nb''\n", 0);
    umask(before);
    learn("a");
    result = te_run("a", "print(h.__file__)");
    ck_assert_int_eq(sscanf(result->output, "%299s", module), 1);
    hermes_result_free(result);
    check_mode(path, S_IFSOCK, 0600);
    check_mode(module, S_IFREG, 0600);
    slash = strrchr(path, '/');
    *slash = '\0';
    check_mode(path, S_IFDIR, 0700);
    slash = strrchr(module, '/');
    *slash = '\0';
    check_mode(module, S_IFDIR, 0700);
    ck_assert_int_eq(strncmp(path, test_directory(), strlen(test_directory())), 0);
    hermes_engine_free(engine);
    engine = NULL;
    ck_assert(!test_exists(path) && !test_exists(module));
}
END_TEST

/* Whether a client with this user id gets an answer. */
static bool is_heard(uid_t user)
{
    pid_t child = fork();
    int status;

    ck_assert_int_ge(child, 0);
    if (!child) {
        char got[8];
        int fd;

        if (user != geteuid() && (setgid(user) || setuid(user)))
            _exit(2);
        fd = connect_to(path);
        (void)!send(fd, "hello\n", 6, MSG_NOSIGNAL);
        _exit(recv(fd, got, sizeof got, 0) > 0 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) <= 1);
    return WEXITSTATUS(status) == 0;
}

/* Should the modes of the files not keep others out, their user id does. Root can try that. */
START_TEST(another_user_is_not_heard)
{
    char *slash;

    learn("a");
    ck_assert(is_heard(geteuid()));
    if (geteuid() == 0) {
        ck_assert_int_eq(chmod(path, 0666), 0);
        for (slash = path + strlen(test_directory()); slash; slash = strchr(slash + 1, '/')) {
            *slash = '\0';
            ck_assert_int_eq(chmod(path, 0711), 0);
            *slash = '/';
        }
        ck_assert(!is_heard(65534));
    }
}
END_TEST

START_TEST(the_token_is_in_no_argv_and_no_environment)
{
    says("a",
         "import hermes_tools as h, os, subprocess, sys\n"
         "child = subprocess.Popen([sys.executable, '-c', 'from hermes_tools import *; "
         "print(terminal(1), flush=True); import sys; sys.stdin.read()'],\n"
         "                         stdin=-1, stdout=-1)\n"
         "child.stdout.readline()\n"
         "def read(pid, name):\n"
         "    try: return open('/proc/%s/%s' % (pid, name), 'rb').read()\n"
         "    except OSError: return b''\n"
         "pids = [pid for pid in os.listdir('/proc') if pid.isdigit()]\n"
         "print([pid for pid in pids if h.TOKEN.encode() in read(pid, 'cmdline')], [pid for pid in "
         "pids if h.TOKEN.encode() in read(pid, 'environ')])\n"
         "print(str(child.pid) in pids, len(read(child.pid, 'environ')) > 0, [name for name in "
         "os.environ if 'TOKEN' in name or 'RPC' in name])\n"
         "child.communicate()\n",
         "[] []\nTrue True []\n", 1);
}
END_TEST

#define EVERY_WAY                                                                                  \
    "import hermes_tools as h, os, subprocess, sys\n"                                              \
    "child = subprocess.run([sys.executable, '-c', 'from hermes_tools import *; "                  \
    "print(terminal(1))'], stdout=-1, stderr=-1)\n"                                                \
    "print(h.terminal('x'), child.stdout)\n"

/* report A41 */
START_TEST(a_long_tmpdir)
{
    char name[400];

    memset(name, 'd', sizeof name);
    name[150] = '\0';
    ck_assert_int_eq(mkdir(test_path("%s", name), 0700), 0);
    setenv("TMPDIR", test_path("%s", name), 1);
    says("a", EVERY_WAY, "{'ran': True} b\"{'ran': True}\\n\"\n", 2);
    learn("a");
    ck_assert_uint_lt(strlen(path), 108);
    ck_assert(test_exists(path));
    hermes_engine_free(engine);
    engine = NULL;
    ck_assert(!test_exists(path));
    *strrchr(path, '/') = '\0';
    ck_assert(!test_exists(path));
    ck_assert_int_eq(rmdir(getenv("TMPDIR")), 0); /* nothing is left in it */
}
END_TEST

START_TEST(a_tmpdir_that_cannot_be_written)
{
    static const char *const places[] = {"/proc", "/nonexistent/x", "relative"};

    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        setenv("TMPDIR", places[i], 1);
        says("a", EVERY_WAY, "{'ran': True} b\"{'ran': True}\\n\"\n", 2);
        learn("a");
        ck_assert(strncmp(path, "/tmp/hermes_kernel_", 19) == 0 ||
                  strncmp(path, "/var/tmp/hermes_kernel_", 23) == 0);
        hermes_engine_free(engine);
        ck_assert(!test_exists(path));
        *strrchr(path, '/') = '\0';
        ck_assert(!test_exists(path));
        engine = te_engine_new();
    }
}
END_TEST

START_TEST(a_tmpdir_with_odd_characters)
{
    ck_assert_int_eq(mkdir(test_path("a \"b'\\é\n$x"), 0700), 0);
    setenv("TMPDIR", test_path("a \"b'\\é\n$x"), 1);
    says("a", EVERY_WAY "print(os.path.dirname(os.path.dirname(h.SOCKET)) == os.environ['TMPDIR'])",
         "{'ran': True} b\"{'ran': True}\\n\"\nTrue\n", 2);
}
END_TEST

/*
 * The module is found by its exact path in the kernel, and before what PYTHONPATH names in
 * children.
 */
START_TEST(nothing_shadows_the_module)
{
    struct hermes_cell cell = tool_cell("a", EVERY_WAY);
    struct hermes_result *result;

    ck_assert_int_eq(mkdir(test_path("cwd"), 0700), 0);
    ck_assert_int_eq(mkdir(test_path("lib"), 0700), 0);
    test_write_file(test_path("cwd/hermes_tools.py"), "raise SystemExit('shadow')\n", 0600);
    test_write_file(test_path("lib/hermes_tools.py"), "raise SystemExit('shadow')\n", 0600);
    test_write_file(test_path("lib/mine.py"), "x = 5\n", 0600);
    setenv("PYTHONPATH", test_path("lib"), 1);
    cell.cwd = test_path("cwd");
    cell.mode = HERMES_MODE_PROJECT;
    cell.code = "import hermes_tools as h, mine, os, subprocess, sys\n"
                "child = subprocess.run([sys.executable, '-c', 'from hermes_tools import *; import "
                "mine; print(terminal(1), mine.x)'], "
                "cwd='/', stdout=-1, stderr=-1)\n"
                "print(h.terminal('x'), child.stdout, mine.x)\n";
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "{'ran': True} b\"{'ran': True} 5\\n\" 5\n");
    hermes_result_free(result);
    unsetenv("PYTHONPATH");
}
END_TEST

/*
 * What a cell does to the module's file is its own affair; the next kernel's is whole, and nothing
 * is left.
 */
START_TEST(a_cell_that_spoils_the_files)
{
    says("a",
         "import hermes_tools as h, os, shutil\n"
         "os.remove(h.SOCKET); shutil.rmtree(os.path.dirname(h.__file__))\n"
         "print(h.terminal('x'))",
         "{'ran': True}\n", 1);
    says("a", "print(h._exchange(b'x\\n', lambda line: True)[:35])",
         "b'{\"error\": \"the tool was not reached'\n", 0);
    says("b", "from hermes_tools import terminal\nprint(terminal('x'))", "{'ran': True}\n", 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tools_socket");
    TCase *raw = tcase_create("raw"), *hostile = tcase_create("hostile"),
          *places = tcase_create("places");
    TCase *all[] = {raw, hostile, places};

    te_add_cases(suite, all, sizeof all / sizeof all[0], set_up);
    tcase_add_test(raw, tokens_that_are_none);
    tcase_add_test(raw, lines_that_are_no_request);
    tcase_add_test(raw, lines_in_pieces_and_many_at_once);
    tcase_add_test(raw, oversized_lines);
    tcase_add_test(raw, blocked_parameters_by_hand);
    tcase_add_test(raw, a_client_that_goes_before_its_answer);
    tcase_add_test(raw, a_client_that_does_not_read);
    tcase_add_test(raw, very_many_connections);
    tcase_add_test(raw, no_descriptor_for_a_client);
    tcase_add_test(raw, the_right_token_alone_is_not_enough);
    tcase_add_test(raw, tokens_belong_to_one_kernel);
    tcase_add_test(hostile, a_hostile_process_that_stays);
    tcase_add_test(hostile, a_hostile_thread_that_stays);
    tcase_add_test(hostile, a_hostile_thread_at_the_prompt);
    tcase_add_test(hostile, never_beyond_allow_list_and_budget);
    tcase_add_test(hostile, an_inherited_connection);
    tcase_add_test(hostile, garbage_in_the_kernels_own_channel);
    tcase_add_test(places, nobody_else_reaches_it);
    tcase_add_test(places, another_user_is_not_heard);
    tcase_add_test(places, the_token_is_in_no_argv_and_no_environment);
    tcase_add_test(places, a_long_tmpdir);
    tcase_add_test(places, a_tmpdir_that_cannot_be_written);
    tcase_add_test(places, a_tmpdir_with_odd_characters);
    tcase_add_test(places, nothing_shadows_the_module);
    tcase_add_test(places, a_cell_that_spoils_the_files);
    return test_run(suite);
}
