/* SPDX-License-Identifier: MIT */
/*
 * The file that takes output which is too long, as the collector uses it; and what fails on the
 * way.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "collector-testlib.h"
#include "collector.h"
#include "testlib.h"

/* ---- the spill file --------------------------------------------------------------------- */

/* Collect a little too much; the path, or NULL, to free(). */
static char *spill_once(const char *where, uint64_t limit)
{
    struct hr_collector_options options = {100, limit, where, false, false};
    struct hr_collector *collector = hr_collector_new(&options);
    struct hr_collected got;
    char *path, *warning;

    ck_assert_ptr_nonnull(collector);
    ct_feed_times(collector, "0123456789\n", 100);
    ct_finish(collector, &got);
    ck_assert(got.truncated);
    ck_assert_uint_eq(got.bytes_captured, 100);
    warning = hr_collected_warning(&got);
    ck_assert_ptr_nonnull(warning);
    ck_assert_ptr_nonnull(strstr(warning, "truncated; the script did run"));
    ck_assert((strstr(warning, "saved to") != NULL) == (got.spill_path != NULL));
    hr_free(warning);
    path = got.spill_path ? strdup(got.spill_path) : NULL;
    hr_collected_done(&got);
    return path;
}

START_TEST(file_is_private)
{
    char *path = spill_once(ct_directory, 1000000), *name;
    struct stat status;

    ck_assert_ptr_nonnull(path);
    name = strrchr(path, '/') + 1;
    ck_assert_int_eq(strncmp(path, ct_directory, strlen(ct_directory)), 0);
    ck_assert_int_eq(strncmp(name, "stdout-", 7), 0);
    ck_assert_uint_eq(strspn(name + 7, "0123456789abcdef"), 16);
    ck_assert_str_eq(name + 23, ".txt");
    ck_assert_int_eq(lstat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode, S_IFREG | 0600);
    ck_assert_int_eq(stat(ct_directory, &status), 0);
    ck_assert_uint_eq(status.st_mode, S_IFDIR | 0700);
    *strrchr(ct_directory, '/') = '\0';
    ck_assert_int_eq(stat(ct_directory, &status), 0); /* a parent that was made, too */
    ck_assert_uint_eq(status.st_mode, S_IFDIR | 0700);
    free(path);
}
END_TEST

START_TEST(file_is_private_whatever_the_umask)
{
    struct stat status;
    char *path;

    umask(0);
    path = spill_once(ct_directory, 1000000);
    ck_assert_int_eq(lstat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode, S_IFREG | 0600);
    free(path);
    umask(0277);
    path = spill_once(ct_directory, 1000000);
    ck_assert_int_eq(lstat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode, S_IFREG | 0600);
    free(path);
}
END_TEST

START_TEST(names_differ)
{
    char *one = spill_once(ct_directory, 1000000), *two = spill_once(ct_directory, 1000000);

    ck_assert_str_ne(one, two);
    ck_assert_int_eq(ct_count_entries(ct_directory), 2);
    free(one);
    free(two);
}
END_TEST

START_TEST(relative_directory)
{
    char *path;

    ck_assert_int_eq(chdir(ct_base), 0);
    path = spill_once("here/and//there/", 1000000);
    ck_assert_ptr_nonnull(path);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(access(path, R_OK), 0);
    free(path);
}
END_TEST

START_TEST(no_directory)
{
    ck_assert_ptr_null(spill_once(NULL, 1000000));
    ck_assert_ptr_null(spill_once("", 1000000));
    ck_assert_ptr_null(spill_once(ct_directory, 0));
    ck_assert_int_eq(ct_count_entries(ct_directory), -1);
    ck_assert_ptr_null(spill_once("/dev/null/spill", 1000000));
    ck_assert_ptr_null(spill_once("/proc/spill", 1000000));
    ck_assert_int_eq(ct_count_entries(ct_base), 0);
}
END_TEST

START_TEST(directory_of_others_is_refused)
{
    snprintf(ct_directory, sizeof ct_directory, "%s/open", ct_base);
    ck_assert_int_eq(mkdir(ct_directory, 0700), 0);
    ck_assert_int_eq(chmod(ct_directory, 0770), 0);
    ck_assert_ptr_null(spill_once(ct_directory, 1000000));
    ck_assert_int_eq(chmod(ct_directory, 0702), 0);
    ck_assert_ptr_null(spill_once(ct_directory, 1000000));
    ck_assert_int_eq(chmod(ct_directory, 0755), 0);
    if (geteuid() == 0) {
        ck_assert_int_eq(chown(ct_directory, 65534, 65534), 0);
        ck_assert_ptr_null(spill_once(ct_directory, 1000000));
        ck_assert_int_eq(chown(ct_directory, 0, 0), 0);
    }
    ck_assert_int_eq(ct_count_entries(ct_directory), 0);
    free(spill_once(ct_directory, 1000000));
    ck_assert_int_eq(ct_count_entries(ct_directory), 1);
}
END_TEST

static void make_file(const char *name, time_t age)
{
    char path[600];
    struct timespec times[2] = {{time(NULL) - age, 0}, {time(NULL) - age, 0}};
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", ct_directory, name);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool is_there(const char *name)
{
    char path[600];
    struct stat status;

    snprintf(path, sizeof path, "%s/%s", ct_directory, name);
    return lstat(path, &status) == 0;
}

START_TEST(old_files_go)
{
    char path[600];

    free(spill_once(ct_directory, 1000000));
    make_file("stdout-0000000000000001.txt", 8 * 24 * 3600);
    make_file("stdout-0000000000000002.txt", 6 * 24 * 3600);
    make_file("stdout-000000000000003.txt", 99 * 24 * 3600); /* not quite our name */
    make_file("stdout-0000000000000004.txt~", 99 * 24 * 3600);
    make_file("notes.txt", 99 * 24 * 3600);
    snprintf(path, sizeof path, "%s/stdout-0000000000000005.txt", ct_directory);
    ck_assert_int_eq(symlink("/nonexistent", path), 0);
    free(spill_once(ct_directory, 1000000));
    ck_assert(!is_there("stdout-0000000000000001.txt"));
    ck_assert(is_there("stdout-0000000000000002.txt"));
    ck_assert(is_there("stdout-000000000000003.txt"));
    ck_assert(is_there("stdout-0000000000000004.txt~"));
    ck_assert(is_there("stdout-0000000000000005.txt"));
    ck_assert(is_there("notes.txt"));
    ck_assert_int_eq(ct_count_entries(ct_directory), 7);
}
END_TEST

START_TEST(many_files_go)
{
    char name[64];
    int i;

    free(spill_once(ct_directory, 1000000));
    for (i = 0; i < 250; i++) {
        snprintf(name, sizeof name, "stdout-%016x.txt", i);
        make_file(name, 1000 + i);
    }
    free(spill_once(ct_directory, 1000000));
    ck_assert_int_eq(ct_count_entries(ct_directory), 200);
    ck_assert(is_there("stdout-0000000000000000.txt")); /* the newest of them */
    ck_assert(is_there("stdout-00000000000000c5.txt"));
    ck_assert(!is_there("stdout-00000000000000c6.txt"));
}
END_TEST

/*
 * The limit is smaller than what is in memory; the cut is between lines; no newline is added then.
 */
START_TEST(small_spill_limit)
{
    char *path = spill_once(ct_directory, 22), *text;
    size_t size;

    text = ct_read_file(path, &size);
    ck_assert_str_eq(text, "0123456789\n0123456789\n[... spill capped at 22 bytes ...]\n");
    free(text);
    free(path);
}
END_TEST

START_TEST(exact_spill_limit)
{
    char *path = spill_once(ct_directory, 1100), *text;
    size_t size;

    text = ct_read_file(path, &size);
    ck_assert_uint_eq(size, 1100);
    ck_assert_ptr_null(strstr(text, "capped"));
    free(text);
    free(path);
}
END_TEST

/*
 * The size of the file that a process with a limit on file sizes makes; -1: none. Libcheck writes
 * files too, hence a child.
 */
static int spill_size_with_limit(rlim_t size)
{
    struct hr_collector_options options = {100, 1000000, ct_directory, false, false};
    struct rlimit limit = {size, RLIM_INFINITY};
    struct hr_collector *collector;
    struct hr_collected got;
    struct stat status;
    pid_t child = fork();
    int end;

    if (child == 0) {
        setrlimit(RLIMIT_FSIZE, &limit);
        collector = hr_collector_new(&options);
        ct_feed_times(collector, "0123456789\n", 100);
        if (!hr_collector_finish(collector, &got) || got.bytes_captured != 100)
            _exit(1);
        if (!got.spill_path)
            _exit(2);
        _exit(stat(got.spill_path, &status) != 0 || status.st_size > (off_t)size
                  ? 3
                  : (int)(status.st_size / 10));
    }
    ck_assert_int_eq(waitpid(child, &end, 0), child);
    ck_assert_msg(WIFEXITED(end), "signal %d", WTERMSIG(end)); /* not SIGXFSZ, above all */
    ck_assert_int_ne(WEXITSTATUS(end), 1);
    ck_assert_int_ne(WEXITSTATUS(end), 3);
    return WEXITSTATUS(end) == 2 ? -1 : WEXITSTATUS(end) * 10;
}

START_TEST(file_size_limit)
{
    ck_assert_int_ge(spill_size_with_limit(500), 400);
    ck_assert_int_eq(spill_size_with_limit(40), -1);
}
END_TEST

START_TEST(unknown_file_goes)
{
    struct hr_collector *collector = ct_make(100, 1000000);

    ct_feed_times(collector, "0123456789\n", 100);
    ck_assert_int_eq(ct_count_entries(ct_directory), 1);
    hr_collector_free(collector);
    ck_assert_int_eq(ct_count_entries(ct_directory), 0);
}
END_TEST

START_TEST(descriptors)
{
    int before = ct_count_entries("/proc/self/fd"), fd, flags;
    struct hr_collector *collector = ct_make(100, 1000000);
    struct hr_collected got;

    ct_feed_times(collector, "0123456789\n", 100);
    for (fd = 3; fd < 100; fd++) {
        char link[64], target[600];
        ssize_t n;

        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        n = readlink(link, target, sizeof target - 1);
        target[n < 0 ? 0 : n] = '\0';
        if (strncmp(target, ct_base, strlen(ct_base)) == 0) {
            flags = fcntl(fd, F_GETFD);
            ck_assert_msg(flags & FD_CLOEXEC, "%s", target);
        }
    }
    ct_finish(collector, &got);
    hr_collected_done(&got);
    ck_assert_int_eq(ct_count_entries("/proc/self/fd"), before);
}
END_TEST

START_TEST(default_directory)
{
    char *path;

    setenv("XDG_STATE_HOME", "/x/state", 1);
    setenv("HOME", "/home/me", 1);
    path = hr_spill_default_directory();
    ck_assert_str_eq(path, "/x/state/hermes-repl/spill");
    hr_free(path);
    setenv("XDG_STATE_HOME", "relative", 1);
    path = hr_spill_default_directory();
    ck_assert_str_eq(path, "/home/me/.local/state/hermes-repl/spill");
    hr_free(path);
    unsetenv("XDG_STATE_HOME");
    setenv("HOME", "", 1);
    ck_assert_ptr_null(hr_spill_default_directory());
    unsetenv("HOME");
    ck_assert_ptr_null(hr_spill_default_directory());
}
END_TEST

#ifdef HERMES_FAULT_INJECTION
/* Whatever the n-th operation of a kind is: the cell's text is there, and no half file. */
static void check_fault(int kind, unsigned long n)
{
    struct hr_collector *collector = ct_make(100, 1000000);
    struct hr_collected got;

    hermes_fault_set(kind, n);
    ct_feed_times(collector, "0123456789\n", 100);
    ck_assert(hr_collector_finish(collector, &got));
    hermes_fault_set(kind, 0);
    ck_assert(got.truncated);
    ck_assert_uint_eq(got.bytes_captured, 100);
    ck_assert_uint_eq(got.bytes_total, 1100);
    if (got.spill_path)
        unlink(got.spill_path);
    ck_assert_int_le(ct_count_entries(ct_directory), 0);
    hr_collected_done(&got);
    hr_collector_free(collector);
}

START_TEST(failing_system_calls)
{
    int before = ct_count_entries("/proc/self/fd");
    unsigned long n;

    for (n = 1; n < 8; n++) {
        check_fault(HR_FAULT_MKDIR, n);
        check_fault(HR_FAULT_OPEN, n);
        check_fault(HR_FAULT_WRITE, n);
        test_remove_tree(test_path("state"));
    }
    check_fault(HR_FAULT_WRITE, 50);
    ck_assert_int_eq(ct_count_entries("/proc/self/fd"), before);
}
END_TEST

START_TEST(failing_allocations)
{
    int before = ct_count_entries("/proc/self/fd");
    unsigned long n, seen;

    for (n = 1, seen = 0; seen >= n - 1; n++) { /* until nothing fails any more */
        struct hr_collector_options options = {1000, 1000000, ct_directory, false, false};
        struct hr_collector *collector;
        struct hr_collected got;
        char *warning;

        hermes_fault_set(HR_FAULT_ALLOC, n);
        collector = hr_collector_new(&options);
        if (collector) {
            ct_feed_times(collector, "0123456789\n\xe2\x82\xac", 200);
            if (hr_collector_finish(collector, &got) || hr_collector_finish(collector, &got)) {
                ck_assert(got.truncated);
                ck_assert_uint_eq(got.bytes_total, 2800);
                ck_assert_uint_gt(got.bytes_captured, 0);
                ck_assert_ptr_nonnull(strstr(got.text, "TRUNCATED"));
                warning = hr_collected_warning(&got);
                hr_free(warning);
                if (got.spill_path)
                    unlink(got.spill_path);
            }
            hr_collected_done(&got);
        }
        hr_collector_free(collector);
        seen = hermes_fault_count(HR_FAULT_ALLOC);
        hermes_fault_set(HR_FAULT_ALLOC, 0);
        ck_assert_int_le(ct_count_entries(ct_directory), 0);
    }
    ck_assert_uint_gt(n, 8);
    ck_assert_int_eq(ct_count_entries("/proc/self/fd"), before);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("spill");
    TCase *tcase = tcase_create("spill");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, ct_set_up, NULL);
    tcase_add_test(tcase, file_is_private);
    tcase_add_test(tcase, file_is_private_whatever_the_umask);
    tcase_add_test(tcase, names_differ);
    tcase_add_test(tcase, relative_directory);
    tcase_add_test(tcase, no_directory);
    tcase_add_test(tcase, directory_of_others_is_refused);
    tcase_add_test(tcase, old_files_go);
    tcase_add_test(tcase, many_files_go);
    tcase_add_test(tcase, small_spill_limit);
    tcase_add_test(tcase, exact_spill_limit);
    tcase_add_test(tcase, file_size_limit);
    tcase_add_test(tcase, unknown_file_goes);
    tcase_add_test(tcase, descriptors);
    tcase_add_test(tcase, default_directory);
#ifdef HERMES_FAULT_INJECTION
    tcase_add_test(tcase, failing_system_calls);
    tcase_add_test(tcase, failing_allocations);
#endif
    suite_add_tcase(suite, tcase);
    return test_run(suite);
}
