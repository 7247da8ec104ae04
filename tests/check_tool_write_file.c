/* SPDX-License-Identifier: MIT */
/*
 * write_file: at once or not at all, links followed, modes kept, nothing left beside it.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tool-testlib.h"

static mode_t mode_of(const char *path)
{
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_mode & 07777;
}

static int count_entries(const char *path)
{
    DIR *stream = opendir(path);
    ck_assert_ptr_nonnull(stream);
    int count = -2;
    while (readdir(stream))
        count++;
    closedir(stream);
    return count;
}

START_TEST(new_file)
{
    umask(027);
    cJSON *answer = call("write_file", "{'path': 'a.txt', 'content': 'h\xC3\xA9llo\\n'}");
    ck_assert_int_eq(number_of(answer, "bytes_written"), 7);
    ck_assert(is_true(answer, "created") && !is_true(answer, "dirs_created"));
    ck_file("a.txt", "h\xC3\xA9llo\n");
    ck_assert_int_eq(mode_of(test_path("a.txt")), 0640);
    ck_assert_int_eq(count_entries(test_directory()), 1);
    call("write_file", "{'path': 'empty', 'content': ''}");
    ck_file("empty", "");
}
END_TEST

START_TEST(old_file)
{
    test_write_file(test_path("run.sh"), "old and longer\n", 0644);
    ck_assert_int_eq(chmod(test_path("run.sh"), 0751), 0);
    cJSON *answer = call("write_file", "{'path': 'run.sh', 'content': 'new'}");
    ck_assert(!is_true(answer, "created"));
    ck_file("run.sh", "new");
    ck_assert_int_eq(mode_of(test_path("run.sh")), 0751);
    ck_assert_int_eq(count_entries(test_directory()), 1);
}
END_TEST

/* Changing the umask, even for a moment, would open files that other threads make meanwhile. */
static int umask_calls;

mode_t umask(mode_t mask)
{
    umask_calls++;
    return (mode_t)syscall(SYS_umask, mask);
}

START_TEST(umask_is_left_alone)
{
    umask(077);
    int calls = umask_calls;
    ck_assert_int_gt(calls, 0);
    call("write_file", "{'path': 'dir/new', 'content': 'x'}");
    ck_no_error();
    call("write_file", "{'path': 'dir/new', 'content': 'y'}");
    ck_no_error();
    ck_assert_int_eq(umask_calls, calls);
    ck_assert_int_eq(mode_of(test_path("dir/new")), 0600);
    umask(022);
}
END_TEST

/* Only root may give files away: for others there is nothing to see. */
START_TEST(owner_and_group)
{
    struct stat status;
    test_write_file(test_path("theirs"), "old", 0644);
    if (geteuid() != 0 || chown(test_path("theirs"), 12345, 23456) < 0)
        return;
    ck_assert_int_eq(chmod(test_path("theirs"), 06750), 0);
    call("write_file", "{'path': 'theirs', 'content': 'new'}");
    ck_file("theirs", "new");
    ck_assert_int_eq(stat(test_path("theirs"), &status), 0);
    ck_assert_uint_eq(status.st_uid, 12345);
    ck_assert_uint_eq(status.st_gid, 23456);
    ck_assert_int_eq(status.st_mode & 07777, 06750);
}
END_TEST

START_TEST(directories)
{
    cJSON *answer = call("write_file", "{'path': 'a/b/../c/x', 'content': '1'}");
    ck_no_error();
    ck_assert(is_true(answer, "dirs_created"));
    ck_file("a/c/x", "1");
    call("write_file", "{'path': 'a/c/y', 'content': '2'}");
    ck_assert(!is_true(test_answer, "dirs_created"));
}
END_TEST

START_TEST(links)
{
    ck_assert_int_eq(mkdir(test_path("real"), 0755), 0);
    test_write_file(test_path("real/x"), "old", 0604);
    ck_assert_int_eq(symlink("real/x", test_path("one")), 0);
    ck_assert_int_eq(symlink("one", test_path("two")), 0);
    ck_assert_int_eq(symlink("real/later", test_path("dangling")), 0);
    ck_assert_int_eq(symlink("round", test_path("round")), 0);
    call("write_file", "{'path': 'two', 'content': 'new'}");
    ck_file("real/x", "new");
    ck_assert_int_eq(mode_of(test_path("real/x")), 0604);
    call("write_file", "{'path': 'dangling', 'content': 'there'}");
    ck_file("real/later", "there");
    struct stat status;
    ck_assert(lstat(test_path("two"), &status) == 0 && S_ISLNK(status.st_mode));
    ck_assert(lstat(test_path("dangling"), &status) == 0 && S_ISLNK(status.st_mode));
    ck_assert_int_eq(count_entries(test_path("real")), 2);
    call("write_file", "{'path': 'round', 'content': 'x'}");
    ck_error("cannot write round");
}
END_TEST

START_TEST(refused)
{
    ck_assert_int_eq(mkdir(test_path("dir"), 0755), 0);
    ck_assert_int_eq(mkfifo(test_path("pipe"), 0600), 0);
    test_write_file(test_path("file"), "x", 0644);
    call("write_file", "{'path': 'dir', 'content': 'x'}");
    ck_error("dir is a directory");
    call("write_file", "{'path': 'new/', 'content': 'x'}");
    ck_error("new/ is a directory");
    call("write_file", "{'path': '', 'content': 'x'}");
    ck_error("the path is empty");
    call("write_file", "{'path': 'pipe', 'content': 'x'}");
    ck_error("pipe is no regular file");
    call("write_file", "{'path': '/dev/null', 'content': 'x'}");
    ck_error("no regular file");
    call("write_file", "{'path': 'file/x', 'content': 'x'}");
    ck_error("Not a directory");
    call("write_file", "{'path': '/proc/nothing/x', 'content': 'x'}");
    ck_error("cannot write /proc/nothing/x");
    call("write_file", "{'path': 'x'}");
    ck_error("'content' is missing");
    call("write_file", "{'path': 'x', 'content': 'a\\u0000b'}");
    ck_error("NUL");
    ck_assert(!test_exists(test_path("x")) && !test_exists(test_path("new")));
    ck_file("file", "x");
}
END_TEST

/* A reader sees the one or the other content, whole. */
START_TEST(never_half)
{
    struct strbuf one = STRBUF_INIT, two = STRBUF_INIT;
    for (int i = 0; i < 300000; i++) {
        strbuf_addc(&one, 'a');
        strbuf_addc(&two, 'b');
    }
    test_write_file(test_path("x"), strbuf_text(&one), 0644);
    int pipe_fds[2];
    ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC), 0);
    pid_t writer = fork();
    if (writer == 0) {
        for (int i = 0; i < 40; i++)
            call("write_file", "{'path': 'x', 'content': '%s'}", strbuf_text(i % 2 ? &one : &two));
        _exit(write(pipe_fds[1], "x", 1) == 1 ? 0 : 1);
    }
    close(pipe_fds[1]);
    fcntl(pipe_fds[0], F_SETFL, O_NONBLOCK);
    char done;
    int looks = 0;
    for (; read(pipe_fds[0], &done, 1) < 0; looks++) {
        char *there = test_read_file(test_path("x"));
        ck_assert_ptr_nonnull(there);
        ck_assert(strcmp(there, strbuf_text(&one)) == 0 || strcmp(there, strbuf_text(&two)) == 0);
        free(there);
    }
    ck_assert_int_gt(looks, 0);
    ck_assert_int_eq(test_reap(writer, 10000), 0);
    close(pipe_fds[0]);
    ck_assert_int_eq(count_entries(test_directory()), 1);
    strbuf_free(&one);
    strbuf_free(&two);
}
END_TEST

static void *write_many(void *argument)
{
    for (int i = 0; i < 50; i++) {
        struct strbuf arguments = STRBUF_INIT, result = STRBUF_INIT;
        strbuf_addf(&arguments, "{\"path\": \"t/%s-%d/x\", \"content\": \"%s\"}",
                    (const char *)argument, i, (const char *)argument);
        tool_call(&test_context, "write_file", arguments.data, arguments.size, &result);
        if (strstr(strbuf_text(&result), "error"))
            return result.data;
        strbuf_free(&arguments);
        strbuf_free(&result);
    }
    return NULL;
}

START_TEST(from_many_threads)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, write_many, (void *)names[i]), 0);
    for (int i = 0; i < 4; i++) {
        void *error;
        ck_assert_int_eq(pthread_join(threads[i], &error), 0);
        ck_assert_msg(!error, "%s", (char *)error);
    }
    ck_file("t/d-49/x", "d");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tool_write_file");
    TCase *tests = tool_test_case(suite, "write_file");
    tcase_add_test(tests, new_file);
    tcase_add_test(tests, old_file);
    tcase_add_test(tests, umask_is_left_alone);
    tcase_add_test(tests, owner_and_group);
    tcase_add_test(tests, directories);
    tcase_add_test(tests, links);
    tcase_add_test(tests, refused);
    tcase_add_test(tests, never_half);
    tcase_add_test(tests, from_many_threads);
    return test_run(suite);
}
