/* SPDX-License-Identifier: MIT */
/*
 * What a cell writes: streams, order, which cell it belongs to, limits, spill files, cleaning,
 * memory. Through the public API, with real processes; the collector's own tests are in
 * check_collector.
 */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine-testlib.h"

/* ---- streams and order ------------------------------------------------------------------ */

/* report B2 */
START_TEST(streams_are_real)
{
    te_says(
        "a",
        "import sys, subprocess, faulthandler\n"
        "subprocess.run(['echo', 'A'], stdout=sys.stdout)\n"
        "sys.stdout.buffer.write(b'B\\n')\n"
        "print('C')\n"
        "faulthandler.enable(); faulthandler.disable()\n"
        "print(sys.stdout.fileno(), sys.stderr.fileno(), sys.stdout.isatty(), sys.stdout.encoding)",
        "A\nB\nC\n1 2 False utf-8\n");
}
END_TEST

/* report B3 */
START_TEST(order_is_kept)
{
    char expected[2000] = "";

    for (int i = 0; i < 50; i++)
        snprintf(expected + strlen(expected), 32, "p %d\nw %d\n", i, i);
    te_says("a", "import os; print('1', flush=True); os.system('echo 2'); print('3')", "1\n2\n3\n");
    te_says("a", "import os\nfor i in range(50):\n    print('p', i); os.write(1, b'w %d\\n' % i)",
            expected);
}
END_TEST

START_TEST(stderr_is_set_apart)
{
    te_says("a", "import sys; print('out'); print('err', file=sys.stderr); print('more')",
            "out\nmore\n--- stderr ---\nerr\n");
    te_says("a", "import sys; print('err', file=sys.stderr)", "--- stderr ---\nerr\n");
    te_says("a", "print('no line end', end='')", "no line end");
}
END_TEST

/* report B13: everything that was written before the reply belongs to the cell */
START_TEST(every_cell_gets_its_own_bytes)
{
    char code[120], expected[120];

    te_succeeds("a", "import os, sys");
    for (int n = 0; n < 300; n++) {
        snprintf(code, sizeof code, "os.write(2, b'E%d\\n'); os.write(1, b'O%d\\n')", n, n);
        snprintf(expected, sizeof expected, "O%d\n--- stderr ---\nE%d\n", n, n);
        te_says("a", code, expected);
    }
}
END_TEST

/* The output of the very first cell of a kernel races with the news that the kernel is ready. */
START_TEST(the_first_cell_gets_its_own_bytes)
{
    int kernels = te_long() ? 200 : 15;

    for (int n = 0; n < kernels; n++) {
        struct hermes_result *result = te_run_flags(
            "a", "import os\nos.write(1, b'first')\nos.write(2, b'err')", HERMES_CELL_RESET);

        EXPECT_OUTPUT(result, "first\n--- stderr ---\nerr");
        EXPECT(result, !result->background_output);
        hermes_result_free(result);
    }
}
END_TEST

/* report B5: what arrives while no cell runs is kept apart */
START_TEST(background_output_is_set_apart)
{
    struct hermes_result *result;
    struct hermes_event *event;

    result = te_run_flags("a",
                          "import threading, time, sys\n"
                          "def later():\n    time.sleep(0.2); print('late')\n"
                          "t = threading.Thread(target=later); t.start(); print('one')",
                          HERMES_CELL_EVENTS);
    EXPECT_OUTPUT(result, "one\n");
    event = te_event(HERMES_EVENT_BACKGROUND, result->kernel);
    ck_assert_int_eq(event->stream, 1);
    ck_assert_uint_eq(event->cell, 0);
    ck_assert_msg(event->size >= 4 && !memcmp(event->data, "late", 4), "%s", event->data);
    hermes_event_free(event);
    hermes_result_free(result);
    result = te_run("a", "t.join(); print('two')");
    EXPECT_OUTPUT(result, "two\n");
    EXPECT(result, result->background_output && !strncmp(result->background_output, "late\n", 5));
    hermes_result_free(result);
    result = te_run("a", "print('three')");
    EXPECT(result, !result->background_output);
    hermes_result_free(result);
}
END_TEST

/* Nor does a cell get what stood in the pipe before it began, though nobody had read it yet. */
START_TEST(what_came_before_a_cell_is_not_its_own)
{
    char code[300];

    snprintf(code, sizeof code,
             "import subprocess; p = subprocess.Popen(['cat', '%s']); print(p.pid)",
             test_path("fifo"));
    ck_assert_int_eq(mkfifo(test_path("fifo"), 0600), 0);
    for (int i = 0; i < 20; i++) {
        struct hermes_result *result = te_run("a", code);
        pid_t writer = (pid_t)atoi(result->output);
        int fd = open(test_path("fifo"), O_WRONLY | O_CLOEXEC); /* waits for the writer */

        hermes_result_free(result);
        ck_assert_int_eq(write(fd, "late", 4), 4);
        close(fd);
        ck_assert(te_wait_gone(writer));
        result = te_run("a", "print(p.wait())");
        EXPECT_OUTPUT(result, "0\n");
        EXPECT(result, result->background_output && !strcmp(result->background_output, "late"));
        hermes_result_free(result);
    }
}
END_TEST

START_TEST(background_output_is_bounded)
{
    struct hermes_result *result;
    char code[600];

    snprintf(
        code, sizeof code,
        "import subprocess\nsubprocess.Popen(['sh', '-c', 'while [ ! -e %s ]; do sleep 0.01; done;"
        " head -c 2000000 /dev/zero | tr \"\\\\0\" x; echo 1 > %s'])\n",
        test_path("go"), test_path("done"));
    te_succeeds("a", code);
    test_write_file(test_path("go"), "1", 0600);
    ck_assert(te_wait_file(
        test_path("done"))); /* read by nobody's call: the pipe takes no two megabytes */
    result = te_run("a", "print('short')");
    EXPECT_OUTPUT(result, "short\n");
    EXPECT(result, result->background_output && result->background_output_size > 5000);
    EXPECT(result, result->background_output_size < 20000);
    hermes_result_free(result);
}
END_TEST

/* ---- limits ----------------------------------------------------------------------------- */

static char *read_all(const char *path, size_t *ret_size)
{
    struct stat status;
    char *text;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    ck_assert_msg(fd >= 0, "cannot open %s", path);
    ck_assert_int_eq(fstat(fd, &status), 0);
    text = malloc((size_t)status.st_size + 1);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(read(fd, text, (size_t)status.st_size), status.st_size);
    text[status.st_size] = '\0';
    *ret_size = (size_t)status.st_size;
    close(fd);
    return text;
}

/* report A23, A27 */
START_TEST(long_output_is_cut_in_the_middle_and_spilled)
{
    struct hermes_result *result = te_run("a", "print('HEAD'); print('x' * 200000); print('TAIL')");
    struct stat status;
    char *text;
    size_t size;

    EXPECT(result, result->outcome == HERMES_SUCCESS && result->truncated);
    EXPECT(result, result->bytes_total == 200011 &&
                       result->bytes_total == result->bytes_captured + result->bytes_omitted);
    EXPECT(result, result->output_size < 51000 && result->output_size > 45000);
    EXPECT(result, !strncmp(result->output, "HEAD\n", 5) && te_has(result, "TAIL\n") &&
                       te_has(result, "TRUNCATED"));
    EXPECT(result,
           result->spill_path && result->warning && strstr(result->warning, result->spill_path));
    ck_assert_ptr_nonnull(strstr(result->spill_path, test_path("spill")));
    ck_assert_int_eq(stat(result->spill_path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 07777, 0600);
    text = read_all(result->spill_path, &size);
    ck_assert_uint_eq(size, 200011);
    ck_assert(!strncmp(text, "HEAD\nxxx", 8) && !strcmp(text + size - 5, "TAIL\n"));
    free(text);
    hermes_session_clear(engine, "a"); /* report B15: it outlives the kernel */
    ck_assert_int_eq(stat(result->spill_path, &status), 0);
    hermes_result_free(result);
}
END_TEST

/* report A23: a spill that fails costs the path, nothing else */
START_TEST(a_spill_that_fails_is_no_error)
{
    struct hermes_result *result;

    test_write_file(test_path("file"), "", 0600);
    te_set(engine, "spill_directory", test_path("file/below"));
    result = te_run("a", "print('HEAD'); print('x' * 200000); print('TAIL')");
    EXPECT(result, result->outcome == HERMES_SUCCESS && result->truncated && !result->spill_path &&
                       result->warning);
    EXPECT(result,
           te_has(result, "HEAD\n") && te_has(result, "TAIL\n") && result->bytes_total == 200011);
    hermes_result_free(result);
    te_set(engine, "spill_directory", test_path("spill"));
    te_set(engine, "spill", "off");
    result = te_run("a", "print('x' * 200000)");
    EXPECT(result, result->truncated && !result->spill_path);
    hermes_result_free(result);
    te_set(engine, "spill", "on");
    result = te_run_flags("a", "print('x' * 200000)", HERMES_CELL_NO_SPILL);
    EXPECT(result, result->truncated && !result->spill_path);
    hermes_result_free(result);
}
END_TEST

/* report A24: head and tail of raw bytes too, and every byte is counted */
START_TEST(output_of_children_keeps_its_tail)
{
    struct hermes_result *result =
        te_run("a", "import subprocess, sys\n"
                    "subprocess.run([sys.executable, '-c', 'print(\"H\"); print(\"y\" * 300000); "
                    "print(\"T\")'])");

    EXPECT(result, !strncmp(result->output, "H\n", 2) && te_has(result, "yyy\nT\n"));
    EXPECT(result, result->bytes_total == 300005);
    EXPECT(result, result->bytes_omitted == result->bytes_total - result->bytes_captured &&
                       result->bytes_omitted > 0);
    hermes_result_free(result);
}
END_TEST

static bool is_utf8(const char *text, size_t size)
{
    for (size_t i = 0; i < size;) {
        unsigned char c = (unsigned char)text[i];
        size_t n = c < 0x80 ? 1 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;

        if (!n || c > 0xf4 || i + n > size)
            return false;
        for (size_t k = 1; k < n; k++)
            if (((unsigned char)text[i + k] & 0xc0) != 0x80)
                return false;
        i += n;
    }
    return true;
}

/* report A25: limits are bytes, cuts fall between code points */
START_TEST(limits_are_in_bytes)
{
    struct hermes_result *result = te_run("a", "print('\\U0001F600' * 2_000_000)");
    char *text;
    size_t size;

    EXPECT(result, result->bytes_total == 8000001 && result->truncated);
    EXPECT(result, result->output_size < 51000);
    ck_assert(is_utf8(result->output, result->output_size));
    EXPECT(result, !te_has(result, "\xef\xbf\xbd"));
    text = read_all(result->spill_path, &size);
    ck_assert_uint_le(size, 5000000 + 400);
    ck_assert_uint_ge(size, 4999000);
    ck_assert(is_utf8(text, size));
    free(text);
    hermes_result_free(result);
}
END_TEST

/* report B4: the error stream and tracebacks are bounded as well */
START_TEST(errors_are_bounded)
{
    struct hermes_result *result = te_run("a", "import sys; sys.stderr.write('e' * 500000)");
    char *json = hermes_result_json(result, NULL);

    ck_assert_uint_lt(strlen(json), 80000);
    EXPECT(result, result->bytes_total == 500000);
    hermes_free(json);
    hermes_result_free(result);
    result = te_run("a", "raise ValueError('q' * 3_000_000)");
    json = hermes_result_json(result, NULL);
    ck_assert_uint_lt(strlen(json), 120000);
    EXPECT(result, te_error_has(result, "ValueError: qqq"));
    hermes_free(json);
    hermes_result_free(result);
}
END_TEST

START_TEST(limits_are_options)
{
    struct hermes_result *result;

    te_set(engine, "stdout_limit", "1000");
    result = te_run("a", "print('a' * 999)");
    EXPECT(result, !result->truncated);
    hermes_result_free(result);
    result = te_run("a", "print('a' * 1000)");
    EXPECT(result, result->truncated && result->output_size < 1500);
    hermes_result_free(result);
}
END_TEST

/* report A26: any amount of output costs the host and the kernel next to nothing */
START_TEST(a_flood_costs_no_memory)
{
    int lines = te_long() ? 20000 : 4000; /* of 10 kB */
    char code[200];
    long before, kernel_before;
    struct hermes_result *result = te_run("a", "z = 'z' * 10000\nprint(z)");
    pid_t kernel = (pid_t)result->kernel_pid;

    hermes_result_free(result);
    snprintf(code, sizeof code, "for _ in range(%d): print(z)", lines);
    ck_assert_int_eq(system("echo 5 > /proc/$PPID/clear_refs"), 0); /* VmHWM starts again */
    before = te_memory_kb(getpid(), "VmRSS");
    kernel_before = te_memory_kb(kernel, "VmRSS");
    result = te_run("a", code);
    EXPECT(result,
           result->outcome == HERMES_SUCCESS && result->bytes_total == (uint64_t)lines * 10001);
    hermes_result_free(result);
    ck_assert_int_lt(te_memory_kb(kernel, "VmHWM") - kernel_before, 20000);
    if (!TE_SANITIZED)
        ck_assert_int_lt(te_memory_kb(getpid(), "VmHWM") - before, 20000);
}
END_TEST

/* ---- cleaning --------------------------------------------------------------------------- */

/* report A20 */
START_TEST(text_that_is_no_utf8)
{
    struct hermes_result *result = te_run("a", "x = 1; print('\\ud800')");

    EXPECT(result, result->outcome == HERMES_SUCCESS);
    ck_assert(is_utf8(result->output, result->output_size) && result->output_size > 1);
    hermes_result_free(result);
    te_says("a", "print(x)", "1\n");
    te_says("a", "import sys; sys.stdout.buffer.write(b'\\xff\\xfe'); sys.stdout.flush()",
            "\xef\xbf\xbd\xef\xbf\xbd");
    result = te_run("a", "raise ValueError('\\udcff')");
    EXPECT(result, result->outcome == HERMES_ERROR && te_error_has(result, "ValueError"));
    ck_assert(is_utf8(result->error, result->error_size));
    hermes_result_free(result);
    te_says("a", "import os\nfor b in '\\u20ac'.encode(): os.write(1, bytes([b]))", "\xe2\x82\xac");
}
END_TEST

START_TEST(output_may_hold_nul)
{
    struct hermes_result *result = te_run("a", "print('a\\0b', end='')");

    ck_assert_uint_eq(result->output_size, 3);
    ck_assert_mem_eq(result->output, "a\0b", 4); /* and the closing one */
    hermes_result_free(result);
}
END_TEST

/* report A31 */
START_TEST(control_sequences_go)
{
    te_says("a", "print('\\x1b[31mred\\x1b[0m \\u00c0 \\u00c7 \\u00fc')",
            "red \xc3\x80 \xc3\x87 \xc3\xbc\n");
    te_says("a", "print('\\x1b]0;title\\x07ok')", "ok\n");
    te_says("a", "print('\\x1b]0;never')", "0;never\n");
}
END_TEST

/* report A54: names that look like secrets are none; the code is never touched */
START_TEST(code_like_output_stays)
{
    te_says("a", "print('MAX_TOKENS=100'); print(\"d['apiKey']\")",
            "MAX_TOKENS=100\nd['apiKey']\n");
}
END_TEST

/* report A56: UTF-8 whatever the host's locale is */
START_TEST(utf8_in_the_c_locale)
{
    unsetenv("LC_ALL");
    setenv("LANG", "C", 1);
    te_says("a", "print('\xe2\x86\x92 \xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac')",
            "\xe2\x86\x92 \xc3\xa9 \xe6\x97\xa5\xe6\x9c\xac\n");
    te_says("a",
            "import sys; print(sys.getfilesystemencoding(), sys.stdin.encoding, "
            "open('/dev/null').encoding.lower())",
            "utf-8 utf-8 utf-8\n");
    setenv("LC_ALL", "POSIX", 1);
    te_says("b", "print('\xe2\x86\x92')", "\xe2\x86\x92\n");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("output");
    TCase *streams = tcase_create("streams"), *limits = tcase_create("limits"),
          *clean = tcase_create("cleaning");
    TCase *all[] = {streams, limits, clean};

    te_add_cases(suite, all, sizeof all / sizeof all[0], te_set_up);
    tcase_add_test(streams, streams_are_real);
    tcase_add_test(streams, order_is_kept);
    tcase_add_test(streams, stderr_is_set_apart);
    tcase_add_test(streams, every_cell_gets_its_own_bytes);
    tcase_add_test(streams, the_first_cell_gets_its_own_bytes);
    tcase_add_test(streams, background_output_is_set_apart);
    tcase_add_test(streams, what_came_before_a_cell_is_not_its_own);
    tcase_add_test(streams, background_output_is_bounded);
    tcase_add_test(limits, long_output_is_cut_in_the_middle_and_spilled);
    tcase_add_test(limits, a_spill_that_fails_is_no_error);
    tcase_add_test(limits, output_of_children_keeps_its_tail);
    tcase_add_test(limits, limits_are_in_bytes);
    tcase_add_test(limits, errors_are_bounded);
    tcase_add_test(limits, limits_are_options);
    tcase_add_test(limits, a_flood_costs_no_memory);
    tcase_add_test(clean, text_that_is_no_utf8);
    tcase_add_test(clean, output_may_hold_nul);
    tcase_add_test(clean, control_sequences_go);
    tcase_add_test(clean, code_like_output_stays);
    tcase_add_test(clean, utf8_in_the_c_locale);
    return test_run(suite);
}
