/* SPDX-License-Identifier: MIT */
/*
 * An authority by itself, without an engine: what is let through, what is refused, what a refusal
 * costs, on which thread the handler runs.
 */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "authority.h"
#include "engine-testlib.h"

/* What the handler saw last. */
static struct {
    atomic_int calls;
    pthread_t thread;
    char tool[200], arguments[200], owner[100], session[100], task_id[100];
    void *context;
    uint64_t id, cell, kernel;
} seen;

static void keep(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "(null)");
}

static char *handle(const struct hermes_tool_call *call)
{
    atomic_fetch_add(&seen.calls, 1);
    seen.thread = pthread_self();
    seen.context = call->context;
    seen.id = call->id;
    seen.cell = call->cell;
    seen.kernel = call->kernel;
    keep(seen.tool, sizeof seen.tool, call->tool);
    keep(seen.arguments, sizeof seen.arguments, call->arguments);
    keep(seen.owner, sizeof seen.owner, call->owner);
    keep(seen.session, sizeof seen.session, call->session);
    keep(seen.task_id, sizeof seen.task_id, call->task_id);
    return strdup("{\"ok\":true}");
}

static char *count_only(const struct hermes_tool_call *call)
{
    (void)call;
    atomic_fetch_add(&seen.calls, 1);
    return strdup("{\"ok\":true}");
}

static char *give_nothing(const struct hermes_tool_call *call)
{
    (void)call;
    return NULL;
}

static void set_up(void)
{
    memset(&seen, 0, sizeof seen);
}

static struct hermes_authority_options options_of(hermes_tool_fn handler)
{
    struct hermes_authority_options options = HERMES_AUTHORITY_OPTIONS_INIT;

    options.session = "conv-a";
    options.task_id = "turn-1";
    options.handler = handler;
    return options;
}

static struct hermes_authority *make(const struct hermes_authority_options *options)
{
    struct hermes_authority *authority = hermes_authority_new(options);

    ck_assert_ptr_nonnull(authority);
    ck_assert(hermes_authority_active(authority));
    ck_assert_uint_eq(hermes_authority_calls(authority), 0);
    return authority;
}

/* The answer is exactly this; or, with a leading '~', it is an error object that holds the rest. */
static void answers(struct hermes_authority *authority, const char *tool, const char *arguments,
                    const char *expected)
{
    char *answer = hermes_authority_dispatch(authority, tool, arguments);

    ck_assert_ptr_nonnull(answer);
    if (*expected == '~') {
        ck_assert_msg(strncmp(answer, "{\"error\":\"", 10) == 0 &&
                          answer[strlen(answer) - 1] == '}',
                      "%s", answer);
        ck_assert_msg(strstr(answer, expected + 1) != NULL, "no \"%s\" in %s", expected + 1,
                      answer);
    } else {
        ck_assert_str_eq(answer, expected);
    }
    hermes_free(answer);
}

/* ---- dispatch --------------------------------------------------------------------------- */

START_TEST(options_that_are_none)
{
    struct hermes_authority_options options = HERMES_AUTHORITY_OPTIONS_INIT;
    struct hermes_authority *authority = hermes_authority_new(&options);

    ck_assert_ptr_nonnull(authority);
    hermes_authority_unref(authority);
    ck_assert_ptr_null(hermes_authority_new(NULL));
    options.size--;
    ck_assert_ptr_null(hermes_authority_new(&options));
    options.size = 0;
    ck_assert_ptr_null(hermes_authority_new(&options));
}
END_TEST

START_TEST(the_handler_gets_the_context_on_the_calling_thread)
{
    struct hermes_authority_options options = options_of(handle);
    struct hermes_authority *authority;
    int mine;

    options.context = &mine;
    authority = make(&options);
    answers(authority, "web_search", "{\"query\":\"q\"}", "{\"ok\":true}");
    ck_assert(pthread_equal(seen.thread, pthread_self()));
    ck_assert_ptr_eq(seen.context, &mine);
    ck_assert_str_eq(seen.tool, "web_search");
    ck_assert_str_eq(seen.arguments, "{\"query\":\"q\"}");
    ck_assert_str_eq(seen.owner, "conv-a");
    ck_assert_str_eq(seen.session, "conv-a");
    ck_assert_str_eq(seen.task_id, "turn-1");
    ck_assert(!seen.id && !seen.cell && !seen.kernel);
    ck_assert_uint_eq(hermes_authority_calls(authority), 1);
    hermes_authority_unref(authority);
}
END_TEST

START_TEST(the_owner_of_a_delegated_child_is_qualified)
{
    static const struct {
        const char *session, *task_id, *child_id, *owner;
    } cases[] = {
        {"s", "t", NULL, "s"},          {NULL, "t", NULL, "t"},
        {"s", "t", "c", "s::child::c"}, {NULL, "t", "c", "t::child::c"},
        {NULL, NULL, NULL, "(null)"},   {NULL, NULL, "c", "(null)"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hermes_authority_options options = options_of(handle);
        struct hermes_authority *authority;

        options.session = cases[i].session;
        options.task_id = cases[i].task_id;
        options.child_id = cases[i].child_id;
        authority = make(&options);
        answers(authority, "terminal", NULL, "{\"ok\":true}");
        ck_assert_str_eq(seen.owner, cases[i].owner);
        ck_assert_str_eq(seen.session, cases[i].session ? cases[i].session : "(null)");
        ck_assert_str_eq(seen.task_id, cases[i].task_id ? cases[i].task_id : "(null)");
        hermes_authority_unref(authority);
    }
}
END_TEST

/* What the caller passed is copied. */
START_TEST(the_options_may_go)
{
    char session[] = "conv-a", task_id[] = "turn-1", first[] = "web_search", second[] = "terminal";
    const char *tools[] = {first, second, NULL};
    struct hermes_authority_options options = options_of(handle);
    struct hermes_authority *authority;

    options.session = session;
    options.task_id = task_id;
    options.tools = tools;
    authority = make(&options);
    memset(session, 'x', sizeof session - 1);
    memset(task_id, 'x', sizeof task_id - 1);
    memset(first, 'x', sizeof first - 1);
    memset(second, 'x', sizeof second - 1);
    tools[0] = NULL;
    answers(authority, "terminal", "{}", "{\"ok\":true}");
    answers(authority, "web_search", "{}", "{\"ok\":true}");
    ck_assert_str_eq(seen.session, "conv-a");
    ck_assert_str_eq(seen.task_id, "turn-1");
    hermes_authority_unref(authority);
}
END_TEST

START_TEST(no_arguments_are_an_empty_object)
{
    struct hermes_authority_options options = options_of(handle);
    struct hermes_authority *authority = make(&options);

    answers(authority, "terminal", NULL, "{\"ok\":true}");
    ck_assert_str_eq(seen.arguments, "{}");
    answers(authority, "terminal", "", "{\"ok\":true}");
    ck_assert_str_eq(seen.arguments, "{}");
    answers(authority, "terminal", "no JSON", "{\"ok\":true}"); /* the handler's to judge */
    ck_assert_str_eq(seen.arguments, "no JSON");
    hermes_authority_unref(authority);
}
END_TEST

START_TEST(a_handler_without_an_answer)
{
    struct hermes_authority_options options = options_of(give_nothing);
    struct hermes_authority *authority = make(&options);

    answers(authority, "terminal", "{}", "~The handler of 'terminal' gave no answer");
    ck_assert_uint_eq(hermes_authority_calls(authority), 1); /* it was dispatched */
    hermes_authority_unref(authority);
}
END_TEST

/* ---- refusals --------------------------------------------------------------------------- */

/* contract: a settled cell's authority refuses dispatch */
START_TEST(a_retired_one_refuses)
{
    struct hermes_authority_options options = options_of(handle);
    struct hermes_authority *authority = make(&options);

    hermes_authority_retire(authority);
    ck_assert(!hermes_authority_active(authority));
    answers(authority, "web_search", "{\"query\":\"q\"}", "~No active execute_code cell");
    hermes_authority_retire(authority);
    ck_assert(!hermes_authority_active(authority));
    answers(authority, "web_search", "{\"query\":\"q\"}", "~No active execute_code cell");
    ck_assert_int_eq(seen.calls, 0);
    ck_assert_uint_eq(hermes_authority_calls(authority), 0);
    hermes_authority_unref(authority);
}
END_TEST

START_TEST(without_a_handler_all_is_refused_for_nothing)
{
    struct hermes_authority_options options = options_of(NULL);
    struct hermes_authority *authority;

    options.max_calls = 1;
    authority = make(&options);
    for (int i = 0; i < 3; i++)
        answers(authority, "terminal", "{}",
                "~No handler for tools is registered; 'terminal' was not run");
    ck_assert_uint_eq(hermes_authority_calls(authority), 0);
    hermes_authority_retire(authority);
    answers(authority, "terminal", "{}", "~No active execute_code cell");
    hermes_authority_unref(authority);
}
END_TEST

START_TEST(the_allow_list)
{
    static const char *const tools[] = {"read_file", "my_tool", NULL}, *const none[] = {NULL};
    struct hermes_authority_options options = options_of(handle);
    struct hermes_authority *authority;

    options.tools = tools;
    options.max_calls = 2;
    authority = make(&options);
    answers(authority, "terminal", "{}",
            "~Tool 'terminal' is not available in execute_code. Available: read_file, my_tool");
    answers(authority, "READ_FILE", "{}", "~not available");
    answers(authority, "read_fil", "{}", "~not available");
    answers(authority, "read_file ", "{}", "~not available");
    answers(authority, "", "{}", "~Tool '' is not available");
    answers(authority, NULL, "{}", "~Tool '' is not available");
    ck_assert_uint_eq(hermes_authority_calls(authority), 0);
    answers(authority, "read_file", "{}", "{\"ok\":true}");
    answers(authority, "my_tool", "{}", "{\"ok\":true}");
    ck_assert_int_eq(seen.calls, 2);
    hermes_authority_unref(authority);

    options.tools = none;
    authority = make(&options);
    answers(authority, "read_file", "{}", "~Available: none");
    hermes_authority_unref(authority);

    options.tools = NULL;
    authority = make(&options);
    answers(authority, "anything", "{}", "{\"ok\":true}");
    hermes_authority_unref(authority);
}
END_TEST

/* The refusal is JSON of a bounded size whatever the name is. */
START_TEST(odd_names)
{
    static const char *const tools[] = {"read_file", NULL};
    static const char *const names[] = {"\"",     "\\",       "\n\t\x01\x7f",
                                        "%s%n%d", "\xff\xfe", "\xc3\xa9\xe2\x82\xac",
                                        "'); --", "{\"a\":1}"};
    struct hermes_authority_options options = options_of(handle);
    struct hermes_authority *authority;
    char *long_name = malloc(100001), *answer;

    options.tools = tools;
    authority = make(&options);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        answers(authority, names[i], "{}",
                "~is not available in execute_code. Available: read_file");
    memset(long_name, 0xc3, 100000);
    long_name[100000] = '\0';
    answer = hermes_authority_dispatch(authority, long_name, "{}");
    ck_assert_ptr_nonnull(answer);
    ck_assert_uint_lt(strlen(answer), 1200);
    ck_assert_ptr_nonnull(strstr(answer, "is not available"));
    ck_assert_ptr_null(strchr(answer, '\xc3'));
    hermes_free(answer);
    free(long_name);
    ck_assert_int_eq(seen.calls, 0);
    hermes_authority_unref(authority);
}
END_TEST

/* ---- the budget ------------------------------------------------------------------------- */

START_TEST(the_budget)
{
    static const char *const tools[] = {"read_file", NULL};
    struct hermes_authority_options options = options_of(handle);
    struct hermes_authority *authority;

    options.tools = tools;
    options.max_calls = 2;
    authority = make(&options);
    answers(authority, "terminal", "{}", "~not available"); /* costs nothing */
    answers(authority, "read_file", "{}", "{\"ok\":true}");
    answers(authority, "read_file", "{}", "{\"ok\":true}");
    answers(authority, "read_file", "{}", "~Tool call limit reached (2)");
    answers(authority, "read_file", "{}", "~Tool call limit reached (2)");
    answers(authority, "terminal", "{}", "~not available"); /* the list comes before the budget */
    ck_assert_int_eq(seen.calls, 2);
    ck_assert_uint_eq(hermes_authority_calls(authority), 2);
    hermes_authority_unref(authority);
}
END_TEST

START_TEST(the_default_budget_is_50_and_there_may_be_none)
{
    struct hermes_authority_options options = options_of(handle);
    struct hermes_authority *authority = make(&options);

    for (int i = 0; i < 50; i++)
        answers(authority, "terminal", "{}", "{\"ok\":true}");
    answers(authority, "terminal", "{}", "~Tool call limit reached (50)");
    hermes_authority_unref(authority);
    options.max_calls = -1;
    authority = make(&options);
    for (int i = 0; i < 500; i++)
        answers(authority, "terminal", "{}", "{\"ok\":true}");
    ck_assert_uint_eq(hermes_authority_calls(authority), 500);
    hermes_authority_unref(authority);
}
END_TEST

enum { RACERS = 60 };

struct race {
    struct hermes_authority *authority;
    pthread_barrier_t start;
    atomic_int answered, refused, inactive;
};

static void *run_racer(void *argument)
{
    struct race *race = argument;
    char *answer;

    pthread_barrier_wait(&race->start);
    answer = hermes_authority_dispatch(race->authority, "terminal", "{}");
    if (strcmp(answer, "{\"ok\":true}") == 0)
        atomic_fetch_add(&race->answered, 1);
    else if (strstr(answer, "Tool call limit reached (50)"))
        atomic_fetch_add(&race->refused, 1);
    else if (strstr(answer, "No active execute_code cell"))
        atomic_fetch_add(&race->inactive, 1);
    hermes_free(answer);
    return NULL;
}

static void race(struct race *race, bool retire)
{
    struct hermes_authority_options options = options_of(count_only);
    pthread_t threads[RACERS];

    memset(race, 0, sizeof *race);
    atomic_store(&seen.calls, 0);
    options.max_calls = 50;
    race->authority = make(&options);
    ck_assert_int_eq(pthread_barrier_init(&race->start, NULL, RACERS + 1), 0);
    for (size_t i = 0; i < RACERS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, run_racer, race), 0);
    pthread_barrier_wait(&race->start);
    if (retire)
        hermes_authority_retire(race->authority);
    for (size_t i = 0; i < RACERS; i++)
        ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
    pthread_barrier_destroy(&race->start);
    ck_assert_uint_eq(hermes_authority_calls(race->authority), (uint64_t)seen.calls);
    ck_assert_int_eq(race->answered + race->refused + race->inactive, RACERS);
    hermes_authority_unref(race->authority);
}

/* report B12 */
START_TEST(sixty_threads_race_for_a_budget_of_fifty)
{
    struct race result;

    for (int i = 0; i < 20; i++) {
        race(&result, false);
        ck_assert_int_eq(result.answered, 50);
        ck_assert_int_eq(result.refused, 10);
        ck_assert_int_eq(seen.calls, 50);
    }
}
END_TEST

/* Everybody is either dispatched and counted, or refused. */
START_TEST(threads_race_with_the_end)
{
    struct race result;

    for (int i = 0; i < 20; i++) {
        race(&result, true);
        ck_assert_int_eq(result.answered, seen.calls);
    }
}
END_TEST

/* ---- references ------------------------------------------------------------------------- */

static struct hermes_authority *dispatching;

static char *retire_it(const struct hermes_tool_call *call)
{
    hermes_authority_retire(dispatching);
    ck_assert(!hermes_authority_active(dispatching));
    ck_assert_str_eq(call->tool, "terminal");
    return strdup("{\"done\":1}");
}

/*
 * A call that runs goes on, and a handler may use the authority: no lock is held (else this never
 * ends).
 */
START_TEST(a_call_that_runs_outlives_the_retirement)
{
    struct hermes_authority_options options = options_of(retire_it);

    dispatching = make(&options);
    answers(dispatching, "terminal", "{}", "{\"done\":1}");
    answers(dispatching, "terminal", "{}", "~No active execute_code cell");
    hermes_authority_unref(dispatching);
}
END_TEST

/* Who keeps what is freed looks by himself whether it is. */
static bool freed_is_kept(void)
{
    return TE_SANITIZED || test_in_valgrind();
}

/* Kilobytes of address space. */
static long space_in_use(void)
{
    return freed_is_kept() ? 0 : te_memory_kb(getpid(), "VmSize");
}

/* It is held until the last of them goes, and no longer: seen by its size. */
START_TEST(references)
{
    enum { SIZE_KB = 16 << 10 };
    struct hermes_authority_options options = options_of(handle);
    struct hermes_authority *authority;
    char *session = malloc((SIZE_KB << 10) + 1);
    long before, held;

    ck_assert_ptr_nonnull(session);
    memset(session, 's', SIZE_KB << 10);
    session[SIZE_KB << 10] = '\0';
    options.session = session;
    before = space_in_use();
    authority = make(&options);
    held = space_in_use();
    ck_assert(freed_is_kept() || held >= before + SIZE_KB);
    hermes_authority_ref(authority);
    hermes_authority_unref(authority);
    ck_assert_int_ge(space_in_use(), held);
    answers(authority, "terminal", "{}", "{\"ok\":true}");
    hermes_authority_unref(authority);
    ck_assert_int_lt(space_in_use(), before + SIZE_KB);
    hermes_authority_unref(NULL);
    free(session);
}
END_TEST

/* ---- what the engine adds --------------------------------------------------------------- */

START_TEST(the_engine_binds_cell_and_kernel)
{
    struct hermes_authority_options options = options_of(handle);
    struct hermes_authority *authority = make(&options);

    hr_authority_limit(authority, 0);
    answers(authority, "terminal", "{}", "~Tool call limit reached (0)");
    hr_authority_limit(authority, -5);
    hr_authority_bind(authority, "conv-a::child::x", 7, 9);
    answers(authority, "terminal", "{}", "{\"ok\":true}");
    ck_assert_str_eq(seen.owner, "conv-a::child::x");
    ck_assert_str_eq(seen.session, "conv-a");
    ck_assert(seen.cell == 7 && seen.kernel == 9);
    hermes_authority_unref(authority);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("authority");
    TCase *all = tcase_create("authority");

    tcase_add_checked_fixture(all, set_up, NULL);
    tcase_set_timeout(all, 60);
    suite_add_tcase(suite, all);
    tcase_add_test(all, options_that_are_none);
    tcase_add_test(all, the_handler_gets_the_context_on_the_calling_thread);
    tcase_add_test(all, the_owner_of_a_delegated_child_is_qualified);
    tcase_add_test(all, the_options_may_go);
    tcase_add_test(all, no_arguments_are_an_empty_object);
    tcase_add_test(all, a_handler_without_an_answer);
    tcase_add_test(all, a_retired_one_refuses);
    tcase_add_test(all, without_a_handler_all_is_refused_for_nothing);
    tcase_add_test(all, the_allow_list);
    tcase_add_test(all, odd_names);
    tcase_add_test(all, the_budget);
    tcase_add_test(all, the_default_budget_is_50_and_there_may_be_none);
    tcase_add_test(all, sixty_threads_race_for_a_budget_of_fifty);
    tcase_add_test(all, threads_race_with_the_end);
    tcase_add_test(all, a_call_that_runs_outlives_the_retirement);
    tcase_add_test(all, references);
    tcase_add_test(all, the_engine_binds_cell_and_kernel);
    return test_run(suite);
}
