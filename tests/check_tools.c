/* SPDX-License-Identifier: MIT */
/*
 * Tools that cells call: whose authority a call has, what it may do, who gets which answer, what
 * becomes of calls whose cell ends. Through hermes_execute() with a handler and through
 * hermes_submit() with events.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "engine-testlib.h"

/* In a cell: wait for a file that somebody else makes. */
/* How many of 20 calls got another one's answer. */
#define WORK                                                                                       \
    "def work(n):\n"                                                                               \
    "    wrong = 0\n"                                                                              \
    "    for i in range(20):\n"                                                                    \
    "        answer = web_search('q' + str(n), limit=100 * n + i)\n"                               \
    "        wrong += answer != {'tool': 'web_search', 'arguments': {'query': 'q' + str(n), "      \
    "'limit': 100 * n + i}}\n"                                                                     \
    "    return wrong\n"

enum { SEEN_MAX = 64 };

/* What handlers saw. */
static struct {
    atomic_int calls;
    atomic_ullong cell, kernel;
    pthread_t thread;
    void *contexts[SEEN_MAX];
    char tool[100], arguments[4096], owner[100], session[100], task_id[100];
} seen;

static atomic_bool entered, released;

static void set_up(void)
{
    memset(&seen, 0, sizeof seen);
    entered = released = false;
    te_set_up();
}

static void keep(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "(null)");
}

static void note(const struct hermes_tool_call *call)
{
    int n = atomic_fetch_add(&seen.calls, 1);

    if (n < SEEN_MAX)
        seen.contexts[n] = call->context;
    seen.cell = call->cell;
    seen.kernel = call->kernel;
    seen.thread = pthread_self();
    keep(seen.tool, sizeof seen.tool, call->tool);
    keep(seen.arguments, sizeof seen.arguments, call->arguments);
    keep(seen.owner, sizeof seen.owner, call->owner);
    keep(seen.session, sizeof seen.session, call->session);
    keep(seen.task_id, sizeof seen.task_id, call->task_id);
}

/* {"tool": ..., "arguments": ...} */
static char *echo(const struct hermes_tool_call *call)
{
    size_t size = strlen(call->arguments) + strlen(call->tool) + 64;
    char *answer = malloc(size);

    note(call);
    snprintf(answer, size, "{\"tool\": \"%s\",\n \"arguments\": %s}\n", call->tool,
             call->arguments);
    return answer;
}

/* Answers with the text that the context points to; NULL: with nothing. */
static char *say(const struct hermes_tool_call *call)
{
    note(call);
    return call->context ? strdup(call->context) : NULL;
}

static char *wait_for_release(const struct hermes_tool_call *call)
{
    note(call);
    entered = true;
    test_wait(released, TE_DEADLINE_MS);
    return strdup("{\"late\": true}");
}

static struct hermes_cell tool_cell(const char *session, const char *code)
{
    struct hermes_cell cell = te_cell(session, code);

    cell.tool_handler = echo;
    cell.max_tool_calls = -1;
    return cell;
}

/* The cell succeeds, says this, and made that many calls. */
static void says(const struct hermes_cell *cell, const char *output, uint64_t calls)
{
    struct hermes_result *result = te_run_cell(engine, cell);

    EXPECT(result, result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(result, output);
    EXPECT(result, result->tool_calls == calls);
    hermes_result_free(result);
}

static void tools_say(const char *session, const char *code, const char *output, uint64_t calls)
{
    struct hermes_cell cell = tool_cell(session, code);

    says(&cell, output, calls);
}

static void answer_event(const struct hermes_event *event)
{
    char *answer = echo(event->tool_call);

    ck_assert_int_eq(hermes_tool_answer(engine, event->tool_call->id, answer, strlen(answer)), 0);
    free(answer);
}

/*
 * Answer the cell's calls until it is done; as many as can be had are kept back and answered in
 * reverse.
 */
static struct hermes_event *serve(uint64_t cell, size_t keep_back)
{
    struct hermes_event *open[32], *event;
    size_t count = 0;

    for (;;) {
        ck_assert_int_eq(
            hermes_next_event(engine, count ? 20 : test_scaled_ms(TE_DEADLINE_MS), &event), 0);
        ck_assert(event || count);
        if (event && event->type == HERMES_EVENT_DONE && event->cell == cell)
            return event;
        if (event && event->type == HERMES_EVENT_TOOL_CALL)
            open[count++] = event;
        else
            hermes_event_free(event);
        if (event && count < keep_back)
            continue;
        while (count) {
            answer_event(open[--count]);
            hermes_event_free(open[count]);
        }
    }
}

/* The same as tools_say(), by events. */
static void events_say(const char *session, const char *code, const char *output, uint64_t calls,
                       size_t keep_back)
{
    struct hermes_cell cell = tool_cell(session, code);
    struct hermes_event *done;

    cell.tool_handler = NULL;
    done = serve(te_submit_cell(&cell), keep_back);
    EXPECT(done->result, done->result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(done->result, output);
    EXPECT(done->result, done->result->tool_calls == calls);
    hermes_event_free(done);
}

/* ---- authority -------------------------------------------------------------------------- */

/* contract: a later cell's call runs under that cell's authority; report A43 */
START_TEST(a_later_cells_call_runs_under_that_cells_authority)
{
    struct hermes_cell cell =
        tool_cell("conv", "import hermes_tools\nhermes_tools.web_search(query='q')\n");
    int one, two;

    cell.task_id = "turn-1";
    cell.tool_context = &one;
    says(&cell, "", 1);
    ck_assert_str_eq(seen.task_id, "turn-1");
    ck_assert_str_eq(seen.session, "conv");
    ck_assert_str_eq(seen.owner, "conv");
    ck_assert_str_eq(seen.tool, "web_search");
    ck_assert_str_eq(seen.arguments, "{\"query\": \"q\", \"limit\": 5}");
    ck_assert(pthread_equal(seen.thread, pthread_self()));
    ck_assert_uint_eq(seen.kernel, (uint64_t)te_kernel_number(engine, "conv", "id"));
    cell.task_id = "turn-2";
    cell.tool_context = &two;
    says(&cell, "", 1);
    ck_assert_str_eq(seen.task_id, "turn-2");
    ck_assert_int_eq(seen.calls, 2);
    ck_assert_ptr_eq(seen.contexts[0], &one);
    ck_assert_ptr_eq(seen.contexts[1], &two);
}
END_TEST

START_TEST(the_same_by_events)
{
    struct hermes_cell cell =
        tool_cell("conv", "import hermes_tools\nprint(hermes_tools.web_search(query='q'))\n");
    int contexts[2];

    cell.tool_handler = NULL;
    cell.child_id = "kid";
    for (int i = 0; i < 2; i++) {
        struct hermes_event *call, *done;
        uint64_t id;

        cell.task_id = i ? "turn-2" : "turn-1";
        cell.tool_context = &contexts[i];
        id = te_submit_cell(&cell);
        call = te_event(HERMES_EVENT_TOOL_CALL, id);
        ck_assert_uint_eq(call->tool_call->cell, id);
        ck_assert_uint_eq(call->tool_call->kernel, call->kernel);
        ck_assert_str_eq(call->tool_call->owner, "conv::child::kid");
        ck_assert_str_eq(call->tool_call->session, "conv");
        ck_assert_str_eq(call->tool_call->task_id, cell.task_id);
        ck_assert_ptr_eq(call->tool_call->context, &contexts[i]);
        ck_assert_int_eq(hermes_tool_answer(engine, call->tool_call->id, "{\"ok\": 1}", 9), 0);
        ck_assert_int_eq(hermes_tool_answer(engine, call->tool_call->id, "{\"ok\": 2}", 9),
                         HERMES_ENOENT);
        hermes_event_free(call);
        done = te_done(id);
        EXPECT_OUTPUT(done->result, "{'ok': 1}\n");
        EXPECT(done->result, done->result->tool_calls == 1);
        hermes_event_free(done);
    }
    ck_assert_int_eq(hermes_tool_answer(engine, 0, "{}", 2), HERMES_ENOENT);
    ck_assert_int_eq(hermes_tool_answer(engine, 123456789, "{}", 2), HERMES_ENOENT);
}
END_TEST

/* contract: an alias runs under the current cell's authority, allow-list and budget */
START_TEST(an_alias_of_an_earlier_cell)
{
    struct hermes_cell cell =
        tool_cell("a", "import hermes_tools\nalias = hermes_tools.web_search\n");
    int one, two;

    cell.tool_context = &one;
    says(&cell, "", 0);
    cell.code = "alias(query='q')\nprint(alias('r'))";
    cell.tool_context = &two;
    cell.max_tool_calls = 1;
    says(&cell, "{'error': 'Tool call limit reached (1) in this cell'}\n", 1);
    ck_assert_int_eq(seen.calls, 1);
    ck_assert_ptr_eq(seen.contexts[0], &two);
}
END_TEST

static void refuses(struct hermes_authority *authority)
{
    char *answer;

    ck_assert_ptr_nonnull(authority);
    ck_assert(!hermes_authority_active(authority));
    answer = hermes_authority_dispatch(authority, "web_search", "{\"query\": \"q\"}");
    ck_assert_msg(answer && strstr(answer, "No active execute_code cell"), "%s", answer);
    hermes_free(answer);
}

/*
 * contract: each cell installs a fresh authority, retired when it settles; that of a dead kernel
 * can be asked for
 */
START_TEST(each_cell_installs_a_fresh_authority)
{
    struct hermes_cell cell = tool_cell("a", "x = 1");
    struct hermes_authority *first, *second, *dead;
    uint64_t kernel;

    says(&cell, "", 0);
    kernel = (uint64_t)te_kernel_number(engine, "a", "id");
    first = hermes_kernel_authority(engine, kernel);
    refuses(first);
    cell.code = "from hermes_tools import terminal; terminal('x')";
    says(&cell, "", 1);
    second = hermes_kernel_authority(engine, kernel);
    refuses(second);
    ck_assert_ptr_ne(first, second);
    ck_assert_uint_eq(hermes_authority_calls(first), 0);
    ck_assert_uint_eq(hermes_authority_calls(second), 1);
    ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
    ck_assert_int_eq(hermes_kernel_wait(engine, kernel, TE_DEADLINE_MS), 1);
    dead = hermes_kernel_authority(engine, kernel);
    ck_assert_ptr_eq(dead, second);
    refuses(dead);
    ck_assert_ptr_null(hermes_kernel_authority(engine, kernel + 1000));
    ck_assert_ptr_null(hermes_kernel_authority(engine, 0));
    hermes_engine_free(engine);
    engine = NULL;
    refuses(dead); /* ours outlives the engine */
    hermes_authority_unref(first);
    hermes_authority_unref(second);
    hermes_authority_unref(dead);
    ck_assert_int_eq(seen.calls, 1);
}
END_TEST

static struct hermes_authority *running;

static char *look_at_the_running_one(const struct hermes_tool_call *call)
{
    char *answer;

    note(call);
    running = hermes_kernel_authority(engine, call->kernel);
    ck_assert_ptr_nonnull(running);
    ck_assert(hermes_authority_active(running));
    ck_assert_uint_eq(hermes_authority_calls(running), 1);
    answer = hermes_authority_dispatch(running, "no_such_tool", "{}");
    ck_assert_ptr_nonnull(strstr(answer, "not available"));
    hermes_free(answer);
    return strdup("{}");
}

/* It is retired on every path on which a cell settles. */
START_TEST(retired_on_every_path)
{
    static const char *const ends[] = {"pass",
                                       "1 / 0",
                                       "import sys; sys.exit(3)",
                                       "import os; os._exit(5)",
                                       "import os; os.kill(os.getpid(), 9)",
                                       "import time; time.sleep(60)"};

    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        char code[300] = "";
        struct hermes_cell cell = tool_cell("a", code);

        snprintf(code, sizeof code, "from hermes_tools import terminal; terminal('x')\n%s",
                 ends[i]);
        cell.tool_handler = look_at_the_running_one;
        cell.timeout_ms = i == 5 ? 700 : -1;
        hermes_result_free(te_run_cell(engine, &cell));
        refuses(running);
        hermes_authority_unref(running);
    }
    ck_assert_int_eq(seen.calls, 6);
}
END_TEST

/* ---- tool sets -------------------------------------------------------------------------- */

#define LIST_TOOLS                                                                                 \
    "import hermes_tools\n"                                                                        \
    "print(*sorted(name for name in dir(hermes_tools) if not name.startswith('_') and "            \
    "callable(getattr(hermes_tools, name)) and name != 'ToolError'))\n"                            \
    "print(sorted(hermes_tools.__all__) == sorted(name for name in dir(hermes_tools) if not "      \
    "name.startswith('_') and "                                                                    \
    "callable(getattr(hermes_tools, name)) and name != 'ToolError'))\n"

START_TEST(exactly_the_tools_of_the_session)
{
    static const char *const one[] = {"read_file", NULL}, *const other[] = {"terminal", NULL};
    struct hermes_cell cell = tool_cell("a", LIST_TOOLS);
    struct hermes_result *result;

    says(&cell,
         "json_parse patch read_file retry search_files shell_quote terminal web_extract "
         "web_search write_file\nTrue\n",
         0);
    cell.tools = one; /* report A11 */
    says(&cell, "json_parse read_file retry shell_quote\nTrue\n", 0);
    cell.tools = other;
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "json_parse retry shell_quote terminal\nTrue\n");
    EXPECT(result, !result->reused);
    hermes_result_free(result);
    cell.tools = one;
    cell.code = "print(hasattr(hermes_tools, 'read_file'), hasattr(hermes_tools, 'terminal'))";
    result = te_run_cell(engine, &cell);
    EXPECT_OUTPUT(result, "True False\n");
    EXPECT(result, result->reused);
    hermes_result_free(result);
    cell.code = "print(hermes_tools._call('terminal', {'command': 'x'}))";
    says(&cell,
         "{'error': \"Tool 'terminal' is not available in execute_code. Available: read_file\"}\n",
         0);
    ck_assert_int_eq(seen.calls, 0);
}
END_TEST

START_TEST(an_empty_tool_set_has_no_tool)
{
    static const char *const none[] = {NULL};
    struct hermes_cell cell = tool_cell(
        "a", "try:\n"
             "    import hermes_tools as h\n"
             "except ImportError:\n"
             "    h = None\n"
             "names = 'web_search web_extract read_file write_file search_files patch terminal'\n"
             "print([name for name in names.split() if hasattr(h, name)])");

    cell.tools = none;
    says(&cell, "[]\n", 0);
    cell.code = "import socket, subprocess, sys\n"
                "print(subprocess.run([sys.executable, '-c', 'from hermes_tools import terminal'], "
                "capture_output=True).returncode)";
    says(&cell, "1\n", 0);
    ck_assert_ptr_null(
        hermes_kernel_authority(engine, (uint64_t)te_kernel_number(engine, "a", "id")));
}
END_TEST

START_TEST(configured_names_become_functions)
{
    static const char *const tools[] = {"my_tool", "read_file", "not-a-name",         "a b",
                                        "json",    "_call",     "gr\xc3\xbc\xc3\x9f", NULL};
    struct hermes_cell cell = tool_cell(
        "a",
        "from hermes_tools import *\n"
        "print(my_tool(x=[1, None, 'é'], y={'z': 1.5})['arguments'], my_tool.__name__)\n"
        "print(my_tool()['arguments'])\n"
        "try:\n    my_tool(1)\nexcept TypeError: print('by name only')\n"
        "print(read_file('p')['tool'], grüß(a=1)['tool'])\n"
        "import hermes_tools\n"
        "print(hermes_tools._call('not-a-name', {'a': 1})['tool'], hermes_tools.json.__name__)\n"
        "print(hermes_tools._call('web_search', {'a': 1})['error'][:31])");

    cell.tools = tools;
    says(&cell,
         "{'x': [1, None, 'é'], 'y': {'z': 1.5}} my_tool\n{}\nby name only\nread_file "
         "grüß\nnot-a-name json\n"
         "Tool 'web_search' is not availa\n",
         5);
}
END_TEST

static void sends(const char *call, const char *tool, const char *arguments)
{
    char code[600];

    snprintf(code, sizeof code, "from hermes_tools import *\n%s", call);
    tools_say("a", code, "", 1);
    ck_assert_str_eq(seen.tool, tool);
    ck_assert_str_eq(seen.arguments, arguments);
}

START_TEST(the_signatures)
{
    sends("web_search('q', 3)", "web_search", "{\"query\": \"q\", \"limit\": 3}");
    sends("web_extract('http://x')", "web_extract", "{\"urls\": [\"http://x\"]}");
    sends("web_extract('x', 500)", "web_extract", "{\"urls\": [\"x\"], \"char_limit\": 500}");
    sends("web_extract(('a', 'b'))", "web_extract", "{\"urls\": [\"a\", \"b\"]}");
    sends("import pathlib; read_file(pathlib.Path('p'))", "read_file",
          "{\"path\": \"p\", \"offset\": 1, \"limit\": 500}");
    sends("write_file('p', content='\\u00e9\\n')", "write_file",
          "{\"path\": \"p\", \"content\": \"\\u00e9\\n\"}");
    sends("search_files('x', file_glob='*.c', context=2)", "search_files",
          "{\"pattern\": \"x\", \"target\": \"content\", \"path\": \".\", \"file_glob\": \"*.c\", "
          "\"limit\": 50, \"offset\": 0, "
          "\"output_mode\": \"content\", \"context\": 2}");
    sends("search_files('x', 'files')", "search_files",
          "{\"pattern\": \"x\", \"target\": \"files\", \"path\": \".\", \"limit\": 50, \"offset\": "
          "0, "
          "\"output_mode\": \"content\", \"context\": 0}");
    sends("patch('p', 'old', 'new')", "patch",
          "{\"path\": \"p\", \"old_string\": \"old\", \"new_string\": \"new\", \"replace_all\": "
          "false, \"mode\": \"replace\"}");
    sends("patch(mode='patch', patch='*** Begin')", "patch",
          "{\"replace_all\": false, \"mode\": \"patch\", \"patch\": \"*** Begin\"}");
    sends("terminal('ls', 5, '/tmp')", "terminal",
          "{\"command\": \"ls\", \"timeout\": 5, \"workdir\": \"/tmp\"}");
    sends("terminal('ls', background=True, pty=True, notify_on_complete=True)", "terminal",
          "{\"command\": \"ls\"}");
    sends("import hermes_tools as h; h._call('terminal', {'command': 'a\\0b', 'n': "
          "12345678901234567890})",
          "terminal", "{\"command\": \"a\\u0000b\", \"n\": 12345678901234567890}");
    sends(
        "import hermes_tools as h; h._call('terminal', {'background': 1, 'command': 'x', 'pty': 2, "
        "'notify': 3, "
        "'notify_on_complete': 4, 'watch_patterns': [5], 'heartbeat': 6, 'persist_on_release': 7})",
        "terminal", "{\"command\":\"x\"}");
    sends("import hermes_tools as h; h._call('web_search', {'background': 1})", "web_search",
          "{\"background\": 1}");
}
END_TEST

/* report A42 */
START_TEST(what_is_not_printed_is_not_shown)
{
    tools_say("a", "from hermes_tools import terminal\nterminal('echo secret-ish')", "", 1);
}
END_TEST

START_TEST(without_a_handler_tools_are_refused)
{
    struct hermes_cell cell =
        tool_cell("a", "from hermes_tools import terminal\nprint(terminal('x')['error'])");

    cell.tool_handler = NULL;
    says(&cell,
         "Tool 'terminal' is not available in execute_code: the host has no handler for tools\n",
         0);
    cell.flags = HERMES_CELL_EVENTS; /* still nobody who answers */
    says(&cell,
         "Tool 'terminal' is not available in execute_code: the host has no handler for tools\n",
         0);
}
END_TEST

/* ---- budgets ---------------------------------------------------------------------------- */

#define SIXTY_THREADS                                                                              \
    "import threading, hermes_tools\n"                                                             \
    "answers, start = [], threading.Barrier(60)\n"                                                 \
    "def call():\n"                                                                                \
    "    start.wait()\n"                                                                           \
    "    answers.append(hermes_tools.terminal('x'))\n"                                             \
    "threads = [threading.Thread(target=call) for _ in range(60)]\n"                               \
    "for t in threads: t.start()\n"                                                                \
    "for t in threads: t.join()\n"                                                                 \
    "print(sum('tool' in a for a in answers), sum('limit reached (50)' in a.get('error', '') for " \
    "a in answers))"

/* report B12 */
START_TEST(sixty_threads_race_for_a_budget_of_fifty)
{
    struct hermes_cell cell = tool_cell("a", SIXTY_THREADS);
    struct hermes_event *done;

    cell.max_tool_calls = 0; /* the option, and that is 50 */
    says(&cell, "50 10\n", 50);
    ck_assert_int_eq(seen.calls, 50);
    cell.tool_handler = NULL;
    done = serve(te_submit_cell(&cell), 7);
    EXPECT_OUTPUT(done->result, "50 10\n");
    EXPECT(done->result, done->result->tool_calls == 50);
    hermes_event_free(done);
    ck_assert_int_eq(seen.calls, 100);
}
END_TEST

START_TEST(refusals_cost_nothing_and_each_cell_has_its_own_budget)
{
    struct hermes_cell cell = tool_cell(
        "a", "import hermes_tools as h\n"
             "for _ in range(9): assert 'not available' in h._call('execute_code', {})['error']\n"
             "for _ in range(9): assert 'Invalid RPC' in h._call('terminal', [1])['error']\n"
             "print([next(iter(h.terminal('x'))) for _ in range(4)])");

    cell.max_tool_calls = 2;
    says(&cell, "['tool', 'tool', 'error', 'error']\n", 2);
    says(&cell, "['tool', 'tool', 'error', 'error']\n", 2);
    te_set(engine, "max_tool_calls", "3");
    cell.max_tool_calls = 0;
    says(&cell, "['tool', 'tool', 'tool', 'error']\n", 3);
    te_set(engine, "max_tool_calls", "0");
    says(&cell, "['error', 'error', 'error', 'error']\n", 0);
    ck_assert_int_eq(seen.calls, 7);
}
END_TEST

/* ---- answers ---------------------------------------------------------------------------- */

static void answers(const char *json, const char *output)
{
    struct hermes_cell cell =
        tool_cell("a", "from hermes_tools import terminal\nprint(repr(terminal('x')))");

    cell.tool_handler = say;
    cell.tool_context = (void *)json;
    says(&cell, output, 1);
}

START_TEST(answers_of_every_kind)
{
    answers("{\"a\": [1, 2.5, null, true, \"\\u00e9\"]}", "{'a': [1, 2.5, None, True, 'é']}\n");
    answers("\n{\n\"a\":\r\n 1\n}\n\n", "{'a': 1}\n");
    answers("\"text\"", "'text'\n");
    answers("\"{\\\"inner\\\": 1}\"",
            "{'inner': 1}\n"); /* a string that is JSON is decoded once more */
    answers("\"[\"", "'['\n");
    answers("null", "None\n");
    answers("0", "0\n");
    answers("[]", "[]\n");
    answers("\"\xff\xfe\"", "'��'\n");
    answers("{\"tab\": \"a\tb\"}", "{'tab': 'a\\tb'}\n");
    answers("{\"id\": 77, \"result\": 1, \"error\": 2}", "{'id': 77, 'result': 1, 'error': 2}\n");
}
END_TEST

START_TEST(answers_that_are_none)
{
    static const char *const texts[] = {"",
                                        " ",
                                        "hello",
                                        "{",
                                        "{} {}",
                                        "1}\n{\"id\": 2, \"result\": 1",
                                        "1, \"error\": 2",
                                        "{'a': 1}",
                                        "01x",
                                        "undefined"};

    answers(NULL, "{'error': 'the handler gave no answer'}\n");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        answers(texts[i], "{'error': 'the answer to the tool call is no JSON'}\n");
    answers("01", "{'error': 'the answer is no JSON'}\n"); /* to Python */
    answers("{\"ok\": true}", "{'ok': True}\n");
}
END_TEST

static char *huge(const struct hermes_tool_call *call)
{
    size_t size = (size_t)(intptr_t)call->context;
    char *answer = malloc(size + 1);

    note(call);
    memset(answer, 'x', size);
    answer[0] = answer[size - 1] = '"';
    answer[size] = '\0';
    return answer;
}

START_TEST(a_huge_answer)
{
    struct hermes_cell cell =
        tool_cell("a", "from hermes_tools import terminal\nprint(len(terminal('x')))");

    cell.tool_handler = huge;
    cell.tool_context = (void *)(intptr_t)(20 << 20);
    says(&cell, "20971518\n", 1);
    cell.tool_context = (void *)(intptr_t)((64 << 20) + 1);
    cell.code = "print(terminal('x'))";
    says(&cell, "{'error': 'the answer is too large'}\n", 1);
    cell.tool_context = (void *)(intptr_t)3; /* and the channel is as good as before */
    says(&cell, "x\n", 1);
    cell.code = "import subprocess, sys\n"
                "print(subprocess.run([sys.executable, '-c', 'from hermes_tools import *; "
                "print(len(terminal(1)))'], stdout=-1).stdout)";
    cell.tool_context = (void *)(intptr_t)(20 << 20);
    says(&cell, "b'20971518\\n'\n", 1);
}
END_TEST

static char *count_arguments(const struct hermes_tool_call *call)
{
    char *answer = malloc(40);

    note(call);
    snprintf(answer, 40, "%zu", strlen(call->arguments));
    return answer;
}

START_TEST(huge_and_odd_arguments)
{
    struct hermes_cell cell = tool_cell(
        "a", "from hermes_tools import *\n"
             "print(write_file('p', 'x' * 7_000_000))\n"
             "print(write_file('p', 'x' * 9_000_000)['error'][:27])\n"
             "import threading\n"
             "t = threading.Thread(target=lambda: print(write_file('p', 'x' * 7_000_000)))\n"
             "t.start(); t.join()\n"
             "print('Invalid' in web_search(float('nan'))['error'], 'Invalid' in "
             "web_search('\\udc80')['error'])\n"
             "try:\n    web_search(object())\nexcept TypeError: print('no JSON')\n"
             "deep = {}\nfor _ in range(900): deep = {'d': deep}\n"
             "import hermes_tools as h\n"
             "print(h._call('web_search', deep) > 900)\n"
             "for _ in range(3000): deep = [deep]\n"
             "try:\n    print('Invalid' in h._call('web_search', {'d': deep})['error'])\n"
             "except RecursionError: print(True)\n"
             "print(web_search('after'))");

    cell.tool_handler = count_arguments;
    says(&cell,
         "7000028\nthe arguments are too large\n7000028\nTrue True\nno JSON\nTrue\nTrue\n30\n", 4);
}
END_TEST

/* report A47 */
START_TEST(helpers)
{
    tools_say("a",
              "from hermes_tools import json_parse, shell_quote, retry\n"
              "print(json_parse('\\ufeff{\"a\":\"x\\ty\"}')['a'])\n"
              "print(json_parse(b'\\xef\\xbb\\xbf[1]'), json_parse('{\"a\": \"1\\n2\"}'))\n"
              "for bad in '', '{', '\\ufeff\\ufeff1':\n"
              "    try: json_parse(bad); print('parsed', bad)\n"
              "    except ValueError: pass\n"
              "print(shell_quote(\"a b'c\"), shell_quote(''), shell_quote(7))\n"
              "import time; slept = []; time.sleep = slept.append\n"
              "tries = []\n"
              "def flaky():\n"
              "    tries.append(1)\n"
              "    if len(tries) < 3: raise OSError(len(tries))\n"
              "    return 'done'\n"
              "print(retry(flaky), slept)\n"
              "tries = [1] * -9; del slept[:]\n"
              "try: retry(lambda: 1 / 0, max_attempts=4, delay=1)\n"
              "except ZeroDivisionError: print('given up', slept)\n"
              "print(retry(lambda: 5, max_attempts=1))\n",
              "x\ty\n[1] {'a': '1\\n2'}\n'a b'\"'\"'c' '' 7\ndone [2, 4]\ngiven up [1, 2, 4]\n5\n",
              0);
}
END_TEST

/* ---- many at once ----------------------------------------------------------------------- */

#define SIXTEEN_THREADS                                                                            \
    "import threading\nfrom hermes_tools import web_search\n" WORK "wrong = []\n"                  \
    "threads = [threading.Thread(target=lambda n=n: wrong.append(work(n))) for n in range(16)]\n"  \
    "for t in threads: t.start()\n"                                                                \
    "for t in threads: t.join()\n"                                                                 \
    "print(len(wrong), sum(wrong))"

#define FOUR_FORKS                                                                                 \
    "import os\nfrom hermes_tools import web_search\n" WORK "web_search('before')\n"               \
    "pids = []\n"                                                                                  \
    "for n in range(4):\n"                                                                         \
    "    pid = os.fork()\n"                                                                        \
    "    if not pid: os._exit(work(n))\n"                                                          \
    "    pids.append(pid)\n"                                                                       \
    "own = work(9)\n"                                                                              \
    "print([os.waitpid(pid, 0)[1] for pid in pids], own)"

/* report A37 */
START_TEST(sixteen_threads_get_their_own_answers)
{
    tools_say("a", SIXTEEN_THREADS, "16 0\n", 320);
    ck_assert_int_eq(seen.calls, 320);
    events_say("a", SIXTEEN_THREADS, "16 0\n", 320, 1);
    events_say("a", SIXTEEN_THREADS, "16 0\n", 320, 16);
    ck_assert_int_eq(seen.calls, 960);
}
END_TEST

START_TEST(four_forked_workers_get_their_own_answers)
{
    tools_say("a", FOUR_FORKS, "[0, 0, 0, 0] 0\n", 101);
    ck_assert_int_eq(seen.calls, 101);
    events_say("a", FOUR_FORKS, "[0, 0, 0, 0] 0\n", 101, 5);
}
END_TEST

START_TEST(forks_of_threads_and_threads_of_forks)
{
    tools_say("a",
              "import os, threading, warnings\nwarnings.simplefilter('ignore')\nfrom hermes_tools "
              "import web_search\n" WORK "def fork(n):\n"
              "    pid = os.fork()\n"
              "    if not pid:\n"
              "        wrong = []\n"
              "        threads = [threading.Thread(target=lambda i=i: wrong.append(work(i))) for i "
              "in range(3)]\n"
              "        for t in threads: t.start()\n"
              "        for t in threads: t.join()\n"
              "        os._exit(sum(wrong) + 7 * (len(wrong) != 3))\n"
              "    out.append((work(n), os.waitpid(pid, 0)[1]))\n"
              "out = []\n"
              "threads = [threading.Thread(target=fork, args=(n,)) for n in range(3)]\n"
              "for t in threads: t.start()\n"
              "for t in threads: t.join()\n"
              "print(out)",
              "[(0, 0), (0, 0), (0, 0)]\n", 240);
}
END_TEST

START_TEST(spawned_children_call_tools)
{
    tools_say("a",
              "import subprocess, sys\n"
              "code = \"from hermes_tools import web_search, json_parse; "
              "print(web_search('child')['arguments']['query'])\"\n"
              "print(subprocess.run([sys.executable, '-c', code], stdout=-1).stdout)\n"
              "print(subprocess.run(['sh', '-c', '\"$0\" -c \"$1\"; true', sys.executable, code], "
              "stdout=-1).stdout)\n"
              "outer = 'import subprocess, sys; print(subprocess.run([sys.executable, \"-c\", %r], "
              "stdout=-1).stdout)' % code\n"
              "print(subprocess.run([sys.executable, '-c', outer], stdout=-1, cwd='/').stdout)\n"
              "many = [subprocess.Popen([sys.executable, '-c', code.replace('child', 'child%d' % "
              "n)], stdout=-1) for n in range(4)]\n"
              "print([p.communicate()[0] for p in many])",
              "b'child\\n'\nb'child\\n'\nb\"b'child\\\\n'\\n\"\n[b'child0\\n', b'child1\\n', "
              "b'child2\\n', b'child3\\n']\n",
              7);
}
END_TEST

START_TEST(pools_born_in_the_cell_work)
{
    static const char *const methods[] = {"fork", "spawn", "forkserver"};

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        char code[1200];

        snprintf(code, sizeof code,
                 "import multiprocessing\nfrom hermes_tools import web_search\n" WORK
                 "with multiprocessing.get_context('%s').Pool(2) as pool: print(pool.map(work, "
                 "range(4)))",
                 methods[i]);
        tools_say("a", code, "[0, 0, 0, 0]\n", 80);
        tools_say("a", code, "[0, 0, 0, 0]\n",
                  80); /* a pool of this cell; a fork server may be older */
    }
}
END_TEST

/* ---- what is left of earlier cells ------------------------------------------------------- */

/* report A38 */
START_TEST(a_late_thread_of_an_earlier_cell)
{
    char code[2000];

    snprintf(code, sizeof code,
             TE_WAIT "import threading, hermes_tools as h\nout = []\n"
                     "def late():\n    wait('%s')\n    out.append(h.terminal('echo late'))\n"
                     "    out.append(h.terminal('echo late'))\n    touch('%s')\n"
                     "threading.Thread(target=late).start()",
             test_path("go"), test_path("done"));
    tools_say("a", code, "", 0);
    snprintf(code, sizeof code,
             "touch('%s'); wait('%s'); print([a['error'][:28] for a in out], "
             "h.terminal('mine')['arguments']['command'])",
             test_path("go"), test_path("done"));
    tools_say("a", code, "['No active execute_code cell:', 'No active execute_code cell:'] mine\n",
              1);
    ck_assert_int_eq(seen.calls, 1);
}
END_TEST

/* It had not heard of hermes_tools before; and what it forks and starts is as old as itself. */
START_TEST(a_late_thread_that_imports_late)
{
    char code[2000];

    snprintf(code, sizeof code,
             TE_WAIT "import threading, warnings\nwarnings.simplefilter('ignore')\nout = []\n"
                     "def late():\n    wait('%s')\n    import hermes_tools as h\n    "
                     "out.append(h.terminal('echo late'))\n"
                     "    pid = os.fork()\n"
                     "    if not pid: os._exit('No active execute_code cell' in h.terminal('echo "
                     "fork').get('error', ''))\n"
                     "    out.append(os.waitpid(pid, 0)[1] >> 8)\n    touch('%s')\n"
                     "threading.Thread(target=late).start()",
             test_path("go"), test_path("done"));
    tools_say("a", code, "", 0);
    snprintf(code, sizeof code,
             "touch('%s'); wait('%s'); print(out[0].get('error', '')[:28], out[1])",
             test_path("go"), test_path("done"));
    tools_say("a", code, "No active execute_code cell: 1\n", 0);
    ck_assert_int_eq(seen.calls, 0);
}
END_TEST

START_TEST(a_late_thread_while_no_cell_runs)
{
    char code[2000];

    snprintf(code, sizeof code,
             TE_WAIT
             "import threading, hermes_tools as h\nout = []\n"
             "def late():\n    wait('%s')\n    out.append(h.terminal('echo late')); touch('%s')\n"
             "threading.Thread(target=late).start()",
             test_path("go"), test_path("done"));
    tools_say("a", code, "", 0);
    test_write_file(test_path("go"), "x", 0600);
    ck_assert(te_wait_file(test_path("done")));
    tools_say("a", "print(out[0]['error'][:28])", "No active execute_code cell:\n", 0);
    ck_assert_int_eq(seen.calls, 0);
}
END_TEST

START_TEST(a_pool_of_an_earlier_cell_is_refused)
{
    static const char *const methods[] = {"fork", "spawn"};

    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        char code[1200];

        snprintf(code, sizeof code,
                 "import multiprocessing\nfrom hermes_tools import terminal\n"
                 "def call(n): return terminal('x').get('error', 'done')[:28]\n"
                 "pool = multiprocessing.get_context('%s').Pool(2)\n"
                 "print(pool.map(call, range(3)))",
                 methods[i]);
        tools_say("a", code, "['done', 'done', 'done']\n", 3);
        tools_say("a", "print(*pool.map(call, range(3)), call(1))\npool.terminate(); pool.join()",
                  "No active execute_code cell: No active execute_code cell: No active "
                  "execute_code cell: done\n",
                  1);
    }
}
END_TEST

/*
 * The threads of asyncio's own executor are those of the cell; of one that the user made they are
 * not.
 */
START_TEST(awaited_threads_are_the_cells_own)
{
    static const char call[] =
        "from hermes_tools import terminal\nimport asyncio\n"
        "call = asyncio.get_running_loop().run_in_executor(None, terminal, 'x')\n"
        "print((await call).get('error', 'done')[:28])";
    struct hermes_cell cell = tool_cell("a", call), mine;

    cell.flags = HERMES_CELL_AWAIT;
    for (int i = 0; i < 3; i++)
        says(&cell, "done\n", 1);
    mine =
        tool_cell("a", "import concurrent.futures as f\n"
                       "asyncio.get_running_loop().set_default_executor(f.ThreadPoolExecutor(1))\n"
                       "await asyncio.get_running_loop().run_in_executor(None, int)");
    mine.flags = HERMES_CELL_AWAIT;
    says(&mine, "", 0);
    says(&cell, "No active execute_code cell:\n", 0);
}
END_TEST

/* ---- cells that end while a call is open -------------------------------------------------- */

/* report B10 */
START_TEST(a_slow_handler_runs_once)
{
    struct hermes_cell cell =
        tool_cell("a", "from hermes_tools import terminal\nprint(terminal('x'))");
    struct te_thread thread;

    cell.tool_handler = wait_for_release;
    te_thread_start(&thread, engine, &cell);
    ck_assert(test_wait(entered, TE_DEADLINE_MS));
    test_pause_ms(1500); /* the time itself is what is tested */
    released = true;
    te_thread_join(&thread);
    EXPECT_OUTPUT(thread.result, "{'late': True}\n");
    EXPECT(thread.result, thread.result->tool_calls == 1 && thread.result->duration_us >= 1500000);
    ck_assert_int_eq(seen.calls, 1);
    hermes_result_free(thread.result);
}
END_TEST

static bool settled(void)
{
    struct hermes_authority *authority = hermes_kernel_authority(engine, seen.kernel);
    bool gone = authority && !hermes_authority_active(authority);

    hermes_authority_unref(authority);
    return gone;
}

/*
 * Runs the cell until its handler waits; then it is to end somehow, while the handler still runs.
 */
static void start_waiting(struct te_thread *thread, const struct hermes_cell *cell)
{
    te_thread_start(thread, engine, cell);
    ck_assert(test_wait(entered, TE_DEADLINE_MS));
}

static struct hermes_result *end_waiting(struct te_thread *thread)
{
    ck_assert(test_wait(settled(), TE_DEADLINE_MS));
    released = true;
    te_thread_join(thread);
    return thread->result;
}

START_TEST(interrupted_while_the_handler_runs)
{
    struct hermes_cell cell =
        tool_cell("a", "from hermes_tools import terminal\nx = 5\nprint('before', "
                       "flush=True)\nterminal('x')\nprint('not here')");
    struct hermes_result *result;
    struct te_thread thread;

    cell.tool_handler = wait_for_release;
    start_waiting(&thread, &cell);
    ck_assert_int_eq(hermes_interrupt(engine, seen.cell, NULL, -1), 0);
    result = end_waiting(&thread);
    EXPECT(result, result->outcome == HERMES_INTERRUPTED && result->state_kept == 1 &&
                       result->tool_calls == 1);
    EXPECT(result, te_has(result, "before\n") && !te_has(result, "not here"));
    hermes_result_free(result);
    tools_say("a", "print(x, terminal('next')['arguments'], terminal('again')['arguments'])",
              "5 {'command': 'next'} {'command': 'again'}\n", 2);
    tools_say("a", SIXTEEN_THREADS, "16 0\n", 320);
}
END_TEST

/* The cell goes on, and its next calls get their own answers. */
START_TEST(an_interrupt_that_the_cell_catches)
{
    char code[500] = "";
    struct hermes_cell cell = tool_cell("a", code);
    struct te_thread thread;

    snprintf(code, sizeof code,
             "from hermes_tools import terminal\n"
             "try: terminal('first')\nexcept KeyboardInterrupt: print('caught'); print('x', "
             "file=open('%s', 'w'))\n"
             "print(terminal('second'), terminal('third'))",
             test_path("caught"));
    cell.tool_handler = wait_for_release;
    start_waiting(&thread, &cell);
    ck_assert_int_eq(hermes_interrupt(engine, seen.cell, NULL, -1), 0);
    ck_assert(te_wait_file(test_path("caught")));
    released = true;
    te_thread_join(&thread);
    EXPECT(thread.result, thread.result->outcome == HERMES_SUCCESS);
    EXPECT_OUTPUT(thread.result, "caught\n{'late': True} {'late': True}\n");
    EXPECT(thread.result, thread.result->tool_calls == 3);
    hermes_result_free(thread.result);
}
END_TEST

START_TEST(timed_out_while_the_handler_runs)
{
    struct hermes_cell cell = tool_cell(
        "a", "from hermes_tools import terminal\nprint('before', flush=True)\nterminal('x')");
    struct hermes_result *result;
    struct te_thread thread;

    cell.tool_handler = wait_for_release;
    cell.timeout_ms = test_scaled_ms(700);
    start_waiting(&thread, &cell);
    result = end_waiting(&thread);
    EXPECT(result, result->outcome == HERMES_TIMEOUT && result->tool_calls == 1 &&
                       te_has(result, "before\n"));
    hermes_result_free(result);
    tools_say("a", "from hermes_tools import terminal\nprint(terminal('next')['arguments'])",
              "{'command': 'next'}\n", 1);
}
END_TEST

static char *kill_the_kernel(const struct hermes_tool_call *call)
{
    note(call);
    kill((pid_t)te_kernel_number(engine, call->owner, "pid"), SIGKILL);
    ck_assert(test_wait(settled(), TE_DEADLINE_MS));
    return strdup("{}");
}

static char *clear_the_session(const struct hermes_tool_call *call)
{
    note(call);
    ck_assert_int_eq(hermes_session_clear(engine, call->session), 0);
    return strdup("{}");
}

START_TEST(the_kernel_is_gone_while_the_handler_runs)
{
    struct hermes_cell cell = tool_cell("a", "from hermes_tools import terminal\nterminal('x')");
    struct hermes_result *result;

    cell.tool_handler = kill_the_kernel;
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_ERROR && result->term_signal == SIGKILL &&
                       result->tool_calls == 1);
    hermes_result_free(result);
    cell.tool_handler = clear_the_session;
    result = te_run_cell(engine, &cell);
    EXPECT(result, result->outcome == HERMES_INTERRUPTED && result->tool_calls == 1);
    hermes_result_free(result);
    tools_say("a", "from hermes_tools import terminal\nprint(terminal('next')['arguments'])",
              "{'command': 'next'}\n", 1);
}
END_TEST

START_TEST(open_events_of_a_cell_that_ends)
{
    struct hermes_cell cell = tool_cell("a", "from hermes_tools import terminal\nterminal('x')");

    cell.tool_handler = NULL;
    for (int i = 0; i < 3; i++) {
        uint64_t id = te_submit_cell(&cell);
        struct hermes_event *call = te_event(HERMES_EVENT_TOOL_CALL, id), *done;

        if (i == 0)
            ck_assert_int_eq(hermes_interrupt(engine, id, NULL, -1), 0);
        else if (i == 1)
            ck_assert_int_eq(hermes_kill(engine, id, NULL), 0);
        else
            ck_assert_int_eq(hermes_session_clear(engine, "a"), 0);
        done = te_done(id);
        EXPECT(done->result,
               done->result->outcome == HERMES_INTERRUPTED && done->result->tool_calls == 1);
        ck_assert_int_eq(hermes_tool_answer(engine, call->tool_call->id, "{}", 2), HERMES_ENOENT);
        ck_assert_str_eq(call->tool_call->tool, "terminal"); /* the event is ours */
        hermes_event_free(done);
        hermes_event_free(call);
    }
    events_say("a", "from hermes_tools import terminal\nprint(terminal('next')['arguments'])",
               "{'command': 'next'}\n", 1, 1);
}
END_TEST

/* The cell does not wait for its thread: the thread is told, and the late answer goes nowhere. */
START_TEST(a_thread_whose_cell_ends_first)
{
    char code[1500] = "";
    struct hermes_cell cell = tool_cell("a", code);
    struct hermes_event *call, *done;
    uint64_t id;

    snprintf(code, sizeof code,
             TE_WAIT "import threading\nfrom hermes_tools import terminal\nout = []\n"
                     "def call():\n    out.append(terminal('x')); touch('%s')\n"
                     "threading.Thread(target=call).start(); wait('%s')",
             test_path("done"), test_path("go"));
    cell.tool_handler = NULL;
    id = te_submit_cell(&cell);
    call = te_event(HERMES_EVENT_TOOL_CALL, id);
    test_write_file(test_path("go"), "x", 0600);
    done = te_done(id);
    EXPECT(done->result, done->result->outcome == HERMES_SUCCESS && done->result->tool_calls == 1);
    ck_assert(te_wait_file(test_path("done")));
    ck_assert_int_eq(hermes_tool_answer(engine, call->tool_call->id, "{}", 2), HERMES_ENOENT);
    hermes_event_free(done);
    hermes_event_free(call);
    tools_say("a", "print(out[0]['error'][:60])",
              "No active execute_code cell: the cell ended before the call \n", 0);
}
END_TEST

static char *run_another(const struct hermes_tool_call *call)
{
    struct hermes_cell cell = tool_cell(
        "b", "from hermes_tools import terminal\nprint(terminal('inner')['tool'], end='')");
    struct hermes_result *result;
    char *answer;

    note(call);
    if (strstr(call->arguments, "inner"))
        return strdup("{}");
    cell.tool_handler = echo;
    result = te_run_cell(engine, &cell);
    answer = malloc(200);
    snprintf(answer, 200, "\"%.100s %d\"", result->output, (int)result->tool_calls);
    hermes_result_free(result);
    return answer;
}

START_TEST(a_handler_that_runs_a_cell_of_another_session)
{
    struct hermes_cell cell = tool_cell(
        "a", "from hermes_tools import terminal\nprint(terminal('outer'), terminal('outer'))");

    cell.tool_handler = run_another;
    says(&cell, "terminal 1 terminal 1\n", 2);
    ck_assert_int_eq(seen.calls, 4);
}
END_TEST

/* ---- what it costs the host --------------------------------------------------------------- */

#ifdef HERMES_NO_GUARD
enum { KERNEL_FDS = 6 }; /* a lifeline and a pidfd instead of the guard's link */
#else
enum { KERNEL_FDS = 5 };
#endif

START_TEST(descriptors_of_the_host)
{
    const char *code =
        "from hermes_tools import terminal\nterminal('x')\nimport subprocess, sys\n"
        "subprocess.run([sys.executable, '-c', 'from hermes_tools import *; terminal(1)'])";
    size_t none = te_fd_count();

    tools_say("a", code, "", 2);
    ck_assert(test_wait(te_fd_count() <= none + 1 + KERNEL_FDS, 5000)); /* 1: the listener */
    tools_say("b", code, "", 2);
    tools_say("c", code, "", 2);
    ck_assert(test_wait(te_fd_count() <= none + 1 + 3 * KERNEL_FDS, 5000));
    ck_assert_uint_gt(te_fd_count(), none);
    for (int i = 0; i < 5; i++)
        tools_say("a", code, "", 2);
    ck_assert(test_wait(te_fd_count() <= none + 1 + 3 * KERNEL_FDS, 5000));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tools");
    TCase *authority = tcase_create("authority"), *sets = tcase_create("sets"),
          *replies = tcase_create("answers");
    TCase *many = tcase_create("many"), *late = tcase_create("late"), *ends = tcase_create("ends");
    TCase *all[] = {authority, sets, replies, many, late, ends};

    te_add_cases(suite, all, sizeof all / sizeof all[0], set_up);
    tcase_add_test(authority, a_later_cells_call_runs_under_that_cells_authority);
    tcase_add_test(authority, the_same_by_events);
    tcase_add_test(authority, an_alias_of_an_earlier_cell);
    tcase_add_test(authority, each_cell_installs_a_fresh_authority);
    tcase_add_test(authority, retired_on_every_path);
    tcase_add_test(sets, exactly_the_tools_of_the_session);
    tcase_add_test(sets, an_empty_tool_set_has_no_tool);
    tcase_add_test(sets, configured_names_become_functions);
    tcase_add_test(sets, the_signatures);
    tcase_add_test(sets, what_is_not_printed_is_not_shown);
    tcase_add_test(sets, without_a_handler_tools_are_refused);
    tcase_add_test(sets, sixty_threads_race_for_a_budget_of_fifty);
    tcase_add_test(sets, refusals_cost_nothing_and_each_cell_has_its_own_budget);
    tcase_add_test(replies, answers_of_every_kind);
    tcase_add_test(replies, answers_that_are_none);
    tcase_add_test(replies, a_huge_answer);
    tcase_add_test(replies, huge_and_odd_arguments);
    tcase_add_test(replies, helpers);
    tcase_add_test(many, sixteen_threads_get_their_own_answers);
    tcase_add_test(many, four_forked_workers_get_their_own_answers);
    tcase_add_test(many, forks_of_threads_and_threads_of_forks);
    tcase_add_test(many, spawned_children_call_tools);
    tcase_add_test(many, pools_born_in_the_cell_work);
    tcase_add_test(many, descriptors_of_the_host);
    tcase_add_test(late, a_late_thread_of_an_earlier_cell);
    tcase_add_test(late, a_late_thread_that_imports_late);
    tcase_add_test(late, a_late_thread_while_no_cell_runs);
    tcase_add_test(late, a_pool_of_an_earlier_cell_is_refused);
    tcase_add_test(late, awaited_threads_are_the_cells_own);
    tcase_add_test(ends, a_slow_handler_runs_once);
    tcase_add_test(ends, interrupted_while_the_handler_runs);
    tcase_add_test(ends, an_interrupt_that_the_cell_catches);
    tcase_add_test(ends, timed_out_while_the_handler_runs);
    tcase_add_test(ends, the_kernel_is_gone_while_the_handler_runs);
    tcase_add_test(ends, open_events_of_a_cell_that_ends);
    tcase_add_test(ends, a_thread_whose_cell_ends_first);
    tcase_add_test(ends, a_handler_that_runs_a_cell_of_another_session);
    return test_run(suite);
}
