/* SPDX-License-Identifier: MIT */
/*
 * Staging directories: private, wholly removable whatever a cell did in them, and swept once their
 * host is dead.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "staging.h"
#include "testlib.h"

enum { NOBODY = 65534, DAY = 24 * 3600 };

static struct test_fds fds;
static struct hermes_error error;

static void set_up(void)
{
    test_fds_take(&fds);
    setenv("TMPDIR", test_directory(), 1);
    unsetenv("XDG_RUNTIME_DIR");
}

static void tear_down(void)
{
    test_fds_check(&fds);
}

static char *create(void)
{
    char *path = NULL;
    int code = hr_staging_create(&path, &error);

    ck_assert_msg(code == 0, "%d: %s", code, error.text);
    return path;
}

static void make_directory(const char *path)
{
    ck_assert_msg(mkdir(path, 0755) == 0, "%s: %s", path, strerror(errno));
}

static void set_age(const char *path, int days)
{
    struct timespec times[2] = {{.tv_sec = time(NULL) - days * DAY},
                                {.tv_sec = time(NULL) - days * DAY}};

    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static int count_entries(const char *path)
{
    DIR *stream = opendir(path);
    int count = 0;

    ck_assert_ptr_nonnull(stream);
    while (readdir(stream))
        count++;
    closedir(stream);
    return count - 2;
}

/* Run the function as a user without rights; only root can. */
static void as_nobody(void (*function)(void))
{
    int status;
    pid_t pid;

    if (geteuid() != 0) {
        function();
        return;
    }
    ck_assert_int_eq(chown(test_directory(), NOBODY, NOBODY), 0);
    setenv("TMPDIR", test_directory(), 1);
    pid = fork();
    if (pid == 0) {
        if (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
            setresuid(NOBODY, NOBODY, NOBODY))
            _exit(99);
        function();
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
}

/* ck_assert() in a process that is not the test's own. */
static void require(bool condition, int line)
{
    if (!condition) {
        fprintf(stderr, "%s:%d failed: %s\n", __FILE__, line, strerror(errno));
        _exit(1);
    }
}
#define REQUIRE(condition) require(condition, __LINE__)

/* ---- create ----------------------------------------------------------------------------- */

START_TEST(created_private_with_the_hosts_name_in_it)
{
    char *path, *text;
    struct stat info;
    char host[300];

    umask(0777); /* whatever it is */
    path = create();
    umask(022);
    ck_assert(!strncmp(path, test_path("hermes_kernel_"), strlen(test_path("hermes_kernel_"))));
    ck_assert_int_eq(stat(path, &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0700);
    snprintf(host, sizeof host, "%s/.host", path);
    ck_assert_int_eq(stat(host, &info), 0);
    ck_assert_uint_eq(info.st_mode & 07777, 0600);
    text = test_read_file(host);
    ck_assert_int_eq(atoi(text), getpid());
    free(text);
    ck_assert_int_eq(hr_staging_remove(path), 0);
    ck_assert(!test_exists(path));
    hr_free(path);
}
END_TEST

START_TEST(every_directory_is_another)
{
    char *paths[50];

    for (int i = 0; i < 50; i++)
        paths[i] = create();
    ck_assert_int_eq(count_entries(test_directory()), 50);
    for (int i = 0; i < 50; i++) {
        ck_assert_int_eq(hr_staging_remove(paths[i]), 0);
        hr_free(paths[i]);
    }
    ck_assert_int_eq(count_entries(test_directory()), 0);
}
END_TEST

START_TEST(useless_tmpdir_is_passed_over)
{
    static const char *const values[] = {"/nowhere/at/all", "", "relative", "/dev/null"};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char *path;

        setenv("TMPDIR", values[i], 1);
        path = create();
        ck_assert(!strncmp(path, "/tmp/hermes_kernel_", 19));
        ck_assert_int_eq(hr_staging_remove(path), 0);
        hr_free(path);
    }
}
END_TEST

/* A mount namespace of our own with something mounted; false: not root. */
static bool mount_tmpfs(const char *path, unsigned long flags)
{
    static bool unshared;

    if (!unshared && (unshare(CLONE_NEWNS) || mount("none", "/", "", MS_REC | MS_PRIVATE, "")))
        return false;
    unshared = true;
    return mount("none", path, "tmpfs", flags, "") == 0;
}

START_TEST(works_without_tmp)
{
    const char *place = "/dev/shm";
    char *path = NULL;

    unsetenv("TMPDIR");
    if (!mount_tmpfs("/tmp", MS_RDONLY) || !mount_tmpfs("/var/tmp", MS_RDONLY))
        return; /* needs root */
    ck_assert_int_eq(hr_staging_create(&path, &error), HERMES_ESYSTEM);
    ck_assert_ptr_null(path);
    ck_assert_int_eq(error.os_errno, EROFS);
    ck_assert_ptr_nonnull(strstr(error.text, "/tmp (Read-only file system), /var/tmp ("));
    setenv("XDG_RUNTIME_DIR", place, 1);
    path = create();
    ck_assert(!strncmp(path, place, strlen(place)));
    ck_assert_int_eq(hr_staging_remove(path), 0);
    hr_free(path);
}
END_TEST

START_TEST(full_disk_leaves_nothing)
{
    char *path = NULL;

    make_directory(test_path("small"));
    if (!mount_tmpfs("/tmp", MS_RDONLY) || !mount_tmpfs("/var/tmp", MS_RDONLY))
        return; /* needs root */
    ck_assert_int_eq(mount("none", "/mnt", "tmpfs", 0, "nr_inodes=2"),
                     0); /* room for the directory alone */
    setenv("TMPDIR", "/mnt", 1);
    ck_assert_int_eq(hr_staging_create(&path, &error), HERMES_ESYSTEM);
    ck_assert_ptr_nonnull(strstr(error.text, "/mnt (No space left on device)"));
    ck_assert_int_eq(count_entries("/mnt"), 0);
}
END_TEST

/* ---- remove ----------------------------------------------------------------------------- */

START_TEST(removed_with_all_kinds_of_things)
{
    char *path = create(), name[4096];
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    make_directory(test_path("precious"));
    test_write_file(test_path("precious/file"), "gold", 0600);
    snprintf(name, sizeof name, "%s/fifo", path);
    ck_assert_int_eq(mkfifo(name, 0600), 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", path);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
    snprintf(name, sizeof name, "%s/link", path);
    ck_assert_int_eq(symlink(test_path("precious"), name), 0);
    snprintf(name, sizeof name, "%s/directory", path);
    make_directory(name);
    snprintf(name, sizeof name, "%s/directory/link", path);
    ck_assert_int_eq(symlink(test_path("precious"), name), 0);
    snprintf(name, sizeof name, "%s/directory/-rf \n*", path);
    test_write_file(name, "", 0);
    snprintf(name, sizeof name, "%s/directory/hard", path);
    ck_assert_int_eq(link(test_path("precious/file"), name), 0);
    /* names that the removal itself uses */
    snprintf(name, sizeof name, "%s/hermes_kernel_moved_0", path);
    test_write_file(name, "", 0600);
    snprintf(name, sizeof name, "%s/hermes_kernel_moved_1", path);
    make_directory(name);
    snprintf(name, sizeof name, "%s/hermes_kernel_moved_1/hermes_kernel_moved_1", path);
    make_directory(name);
    snprintf(name, sizeof name,
             "%s/hermes_kernel_moved_1/hermes_kernel_moved_1/hermes_kernel_moved_1", path);
    make_directory(name);
    ck_assert_int_eq(hr_staging_remove(path), 0);
    ck_assert(!test_exists(path));
    ck_assert(test_exists(test_path("precious/file")));
    hr_free(path);
}
END_TEST

START_TEST(removed_however_deep)
{
    char *path = create();
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (int i = 0; i < 1000; i++) { /* the whole path is far longer than any call takes */
        int next;

        ck_assert_int_eq(mkdirat(fd, "deeper", 0755), 0);
        next = openat(fd, "deeper", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(next, 0);
        close(fd);
        fd = next;
    }
    ck_assert_int_eq(mkdirat(fd, "end", 0755), 0);
    close(fd);
    ck_assert_int_eq(hr_staging_remove(path), 0);
    ck_assert(!test_exists(path));
    hr_free(path);
}
END_TEST

START_TEST(removed_however_many)
{
    char *path = create(), name[4096];

    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "%s/d%d", path, i);
        make_directory(name);
        for (int j = 0; j < 10; j++) {
            snprintf(name, sizeof name, "%s/d%d/%d", path, i, j);
            if (j % 2)
                make_directory(name);
            else
                test_write_file(name, "", 0600);
        }
    }
    ck_assert_int_eq(hr_staging_remove(path), 0);
    ck_assert(!test_exists(path));
    hr_free(path);
}
END_TEST

static void remove_without_rights(void)
{
    char *path = create(), name[4096];

    snprintf(name, sizeof name, "%s/a", path);
    REQUIRE(mkdir(name, 0700) == 0);
    snprintf(name, sizeof name, "%s/a/b", path);
    REQUIRE(mkdir(name, 0700) == 0);
    snprintf(name, sizeof name, "%s/a/b/c", path);
    REQUIRE(mkdir(name, 0) == 0);
    snprintf(name, sizeof name, "%s/a/b/file", path);
    REQUIRE(mknod(name, S_IFREG, 0) == 0);
    snprintf(name, sizeof name, "%s/a/b", path);
    REQUIRE(chmod(name, 0) == 0);
    snprintf(name, sizeof name, "%s/a", path);
    REQUIRE(chmod(name, 0500) == 0);
    REQUIRE(chmod(path, 0) == 0);
    REQUIRE(hr_staging_remove(path) == 0);
    REQUIRE(!test_exists(path));
    hr_free(path);
}

START_TEST(removed_when_a_cell_took_all_rights_away)
{
    test_path("x"); /* the directory is made by this process */
    as_nobody(remove_without_rights);
}
END_TEST

START_TEST(refuses_what_is_not_ours)
{
    make_directory(test_path("other"));
    make_directory(test_path("hermes_kernel"));
    ck_assert_int_eq(hr_staging_remove(test_path("other")), EINVAL);
    ck_assert_int_eq(hr_staging_remove(test_path("hermes_kernel")), EINVAL);
    ck_assert_int_eq(hr_staging_remove(test_path("hermes_kernel_x/")), EINVAL);
    ck_assert_int_eq(hr_staging_remove(""), EINVAL);
    ck_assert_int_eq(hr_staging_remove("/"), EINVAL);
    ck_assert_int_eq(symlink(test_path("other"), test_path("hermes_kernel_link")), 0);
    ck_assert_int_eq(hr_staging_remove(test_path("hermes_kernel_link")), ENOTDIR);
    test_write_file(test_path("hermes_kernel_file"), "", 0600);
    ck_assert_int_eq(hr_staging_remove(test_path("hermes_kernel_file")), ENOTDIR);
    ck_assert_int_eq(hr_staging_remove(test_path("hermes_kernel_none")), ENOENT);
    ck_assert_int_eq(hr_staging_remove(test_path("none/hermes_kernel_x")), ENOENT);
    ck_assert_int_eq(count_entries(test_directory()), 4);
    ck_assert_int_eq(chdir(test_directory()), 0);
    make_directory("hermes_kernel_here");
    ck_assert_int_eq(hr_staging_remove("hermes_kernel_here"), 0);
}
END_TEST

START_TEST(mounted_file_systems_are_left_alone)
{
    char *path = create(), name[4096], inner[4100];

    make_directory(test_path("precious"));
    test_write_file(test_path("precious/file"), "gold", 0600);
    snprintf(name, sizeof name, "%s/mount", path);
    make_directory(name);
    snprintf(inner, sizeof inner, "%s/b", name);
    if (mount_tmpfs(name, 0)) { /* needs root */
        make_directory(inner);
        /* of the same file system, which a device number would not tell */
        ck_assert_int_eq(mount(test_path("precious"), inner, "", MS_BIND, ""), 0);
        ck_assert_int_eq(hr_staging_remove(path), EXDEV);
        ck_assert_int_eq(umount(inner), 0);
        ck_assert(test_exists(inner));
        ck_assert_int_eq(umount(name), 0);
        ck_assert_int_eq(mount(test_path("precious"), name, "", MS_BIND, ""), 0);
        ck_assert_int_eq(hr_staging_remove(path), EXDEV);
        ck_assert_int_eq(umount(name), 0);
        make_directory(inner);
        ck_assert_int_eq(mount(test_path("precious"), inner, "", MS_BIND, ""), 0);
        ck_assert_int_ne(hr_staging_remove(path), 0);
        ck_assert_int_eq(umount(inner), 0);
        ck_assert(test_exists(test_path("precious/file")));
    }
    ck_assert_int_eq(hr_staging_remove(path), 0);
    hr_free(path);
}
END_TEST

START_TEST(what_cannot_be_removed_stays_and_the_rest_goes)
{
    char *path = create(), name[4096];
    int flags = FS_IMMUTABLE_FL, fd;

    for (int i = 0; i < 20; i++) {
        snprintf(name, sizeof name, "%s/%d", path, i);
        make_directory(name);
        snprintf(name, sizeof name, "%s/%d/file", path, i);
        test_write_file(name, "", 0600);
    }
    fd = open(name, O_RDONLY | O_CLOEXEC);
    if (ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0) { /* needs root, and a file system that has it */
        ck_assert_int_eq(hr_staging_remove(path), EPERM);
        ck_assert(test_exists(name));
        ck_assert_int_eq(count_entries(path), 1);
        flags = 0;
        ck_assert_int_eq(ioctl(fd, FS_IOC_SETFLAGS, &flags), 0);
    }
    close(fd);
    ck_assert_int_eq(hr_staging_remove(path), 0);
    hr_free(path);
}
END_TEST

/* ---- sweep ------------------------------------------------------------------------------ */

START_TEST(sweeps_old_directories_of_our_name_and_no_others)
{
    make_directory(test_path("hermes_kernel_old"));
    test_write_file(test_path("hermes_kernel_old/file"), "", 0600);
    set_age(test_path("hermes_kernel_old"), 8);
    make_directory(test_path("hermes_kernel_young"));
    set_age(test_path("hermes_kernel_young"), 6);
    make_directory(test_path("precious"));
    test_write_file(test_path("precious/file"), "", 0600);
    ck_assert_int_eq(symlink(test_path("precious"), test_path("hermes_kernel_link")), 0);
    set_age(test_path("hermes_kernel_link"), 8);
    set_age(test_path("precious"), 8);
    make_directory(test_path("unrelated"));
    set_age(test_path("unrelated"), 8);
    test_write_file(test_path("hermes_kernel_file"), "", 0600);
    set_age(test_path("hermes_kernel_file"), 8);
    ck_assert_int_eq(hr_staging_sweep(test_directory()), 1);
    ck_assert(!test_exists(test_path("hermes_kernel_old")));
    ck_assert(test_exists(test_path("hermes_kernel_young")));
    ck_assert(test_exists(test_path("precious/file")));
    ck_assert(test_exists(test_path("hermes_kernel_link")));
    ck_assert(test_exists(test_path("hermes_kernel_file")));
    ck_assert(test_exists(test_path("unrelated")));
    ck_assert_int_eq(hr_staging_sweep(test_directory()), 0);
    ck_assert_int_eq(hr_staging_sweep("/nowhere"), 0);
}
END_TEST

/* A host in a process of its own makes directories and then lives on until it is killed. */
static pid_t start_host(int directories)
{
    int made[2];
    char byte;
    pid_t pid;

    ck_assert_int_eq(pipe2(made, O_CLOEXEC), 0);
    pid = fork();
    if (pid == 0) {
        for (int i = 0; i < directories; i++)
            hr_free(create());
        if (write(made[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    ck_assert_int_eq(read(made[0], &byte, 1), 1);
    close(made[0]);
    close(made[1]);
    return pid;
}

START_TEST(swept_as_soon_as_the_host_is_dead)
{
    char *mine = create();
    pid_t host = start_host(3);

    ck_assert_int_eq(count_entries(test_directory()), 4);
    ck_assert_int_eq(hr_staging_sweep(test_directory()), 0);
    kill(host, SIGSTOP); /* is alive */
    ck_assert_int_eq(hr_staging_sweep(test_directory()), 0);
    kill(host, SIGKILL);
    ck_assert(test_wait(!test_process_lives(host), 5000)); /* and not yet reaped */
    ck_assert_int_ge(hr_staging_sweep(NULL), 3); /* all places: others may have left some too */
    ck_assert_int_eq(count_entries(test_directory()), 1);
    ck_assert(test_exists(mine));
    test_reap(host, 5000);
    ck_assert_int_eq(hr_staging_sweep(test_directory()), 0);
    set_age(mine, 30); /* age is nothing while the host lives */
    ck_assert_int_eq(hr_staging_sweep(test_directory()), 0);
    ck_assert_int_eq(hr_staging_remove(mine), 0);
    hr_free(mine);
}
END_TEST

/* The host's file of a directory with one of its words replaced. */
static void change_host(const char *path, int word, const char *by)
{
    char name[4096], text[600] = "", *file, *at, *rest = NULL;
    int n = 0;

    snprintf(name, sizeof name, "%s/.host", path);
    file = test_read_file(name);
    for (at = strtok_r(file, " \n", &rest); at; at = strtok_r(NULL, " \n", &rest), n++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", n ? " " : "",
                 n == word ? by : at);
    strcat(text, "\n");
    test_write_file(name, text, 0600);
    free(file);
}

START_TEST(pid_that_is_used_again_is_not_the_host)
{
    char *path = create();

    change_host(path, 1, "12345");
    ck_assert_int_eq(hr_staging_sweep(test_directory()), 1);
    ck_assert(!test_exists(path));
    hr_free(path);
}
END_TEST

START_TEST(host_that_cannot_be_seen_from_here_has_seven_days)
{
    static const struct {
        int word;
        const char *by;
    } changes[] = {{2, "00000000-0000-0000-0000-000000000000"}, /* another boot or machine */
                   {3, "pid:[1]"},                              /* another container */
                   {0, "nonsense"},
                   {0, "-1"},
                   {0, ""}};

    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        char *path = create();

        change_host(path, 1, "12345");
        change_host(path, changes[i].word, changes[i].by);
        ck_assert_int_eq(hr_staging_sweep(test_directory()), 0);
        set_age(path, 8);
        ck_assert_int_eq(hr_staging_sweep(test_directory()), 1);
        hr_free(path);
    }
}
END_TEST

START_TEST(host_file_that_is_no_file_is_not_opened)
{
    for (int kind = 0; kind < 3; kind++) {
        char *path = create(), name[4096];

        snprintf(name, sizeof name, "%s/.host", path);
        unlink(name);
        if (kind == 0)
            ck_assert_int_eq(mkfifo(name, 0600), 0); /* would wait for a writer */
        else if (kind == 1)
            ck_assert_int_eq(symlink("/etc/passwd", name), 0);
        else
            make_directory(name);
        ck_assert_int_eq(hr_staging_sweep(test_directory()), 0);
        set_age(path, 8);
        ck_assert_int_eq(hr_staging_sweep(test_directory()), 1);
        hr_free(path);
    }
}
END_TEST

static void sweep_among_others(void)
{
    char *path = create();

    change_host(path, 1, "12345");
    REQUIRE(hr_staging_sweep(test_path("..")) == 0);
    /* root's is not ours; nor can root's file in ours be removed: not counted */
    REQUIRE(hr_staging_sweep(getenv("TMPDIR")) == 1);
    REQUIRE(test_exists(getenv("ROOTS")));
    REQUIRE(test_exists(getenv("MIXED")));
    hr_free(path);
}

START_TEST(directories_of_other_users_and_failures_do_not_count)
{
    char name[4096];

    if (geteuid() != 0)
        return; /* nobody else could make them */
    make_directory(test_path("hermes_kernel_roots"));
    set_age(test_path("hermes_kernel_roots"), 8);
    make_directory(test_path("hermes_kernel_mixed"));
    make_directory(test_path("hermes_kernel_mixed/roots"));
    test_write_file(test_path("hermes_kernel_mixed/roots/file"), "", 0600);
    ck_assert_int_eq(chown(test_path("hermes_kernel_mixed"), NOBODY, NOBODY), 0);
    set_age(test_path("hermes_kernel_mixed"), 8);
    setenv("ROOTS", test_path("hermes_kernel_roots"), 1);
    snprintf(name, sizeof name, "%s", test_path("hermes_kernel_mixed"));
    setenv("MIXED", name, 1);
    as_nobody(sweep_among_others);
}
END_TEST

START_TEST(sweepers_may_meet)
{
    pid_t host = start_host(40), sweepers[3];
    int status, sum = 0;

    kill(host, SIGKILL);
    test_reap(host, 5000);
    for (int i = 0; i < 3; i++) {
        sweepers[i] = fork();
        if (sweepers[i] == 0)
            _exit(hr_staging_sweep(test_directory()));
    }
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(waitpid(sweepers[i], &status, 0), sweepers[i]);
        ck_assert(WIFEXITED(status));
        sum += WEXITSTATUS(status);
    }
    ck_assert_int_eq(sum, 40);
    ck_assert_int_eq(count_entries(test_directory()), 0);
}
END_TEST

#ifdef HERMES_FAULT_INJECTION
START_TEST(every_failure_is_clean)
{
    static const int kinds[] = {HR_FAULT_ALLOC, HR_FAULT_MKDIR, HR_FAULT_OPEN, HR_FAULT_WRITE};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (unsigned long n = 1; n <= 6; n++) {
            char *path = NULL;
            int code;

            hermes_fault_set(kinds[i], n);
            code = hr_staging_create(&path, &error);
            hermes_fault_set(kinds[i], 0);
            if (kinds[i] != HR_FAULT_ALLOC) /* the next place is taken */
                ck_assert_int_eq(code, 0);
            else
                ck_assert(code == 0 || code == HERMES_ENOMEM);
            ck_assert((code == 0) == (path != NULL));
            if (path)
                ck_assert_int_eq(hr_staging_remove(path), 0);
            hr_free(path);
            ck_assert_int_eq(count_entries(test_directory()), 0);
        }
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("staging");
    TCase *test_case = tcase_create("staging");

    tcase_set_timeout(test_case, 60);
    tcase_add_checked_fixture(test_case, set_up, tear_down);
    tcase_add_test(test_case, created_private_with_the_hosts_name_in_it);
    tcase_add_test(test_case, every_directory_is_another);
    tcase_add_test(test_case, useless_tmpdir_is_passed_over);
    tcase_add_test(test_case, works_without_tmp);
    tcase_add_test(test_case, full_disk_leaves_nothing);
    tcase_add_test(test_case, removed_with_all_kinds_of_things);
    tcase_add_test(test_case, removed_however_deep);
    tcase_add_test(test_case, removed_however_many);
    tcase_add_test(test_case, removed_when_a_cell_took_all_rights_away);
    tcase_add_test(test_case, refuses_what_is_not_ours);
    tcase_add_test(test_case, mounted_file_systems_are_left_alone);
    tcase_add_test(test_case, what_cannot_be_removed_stays_and_the_rest_goes);
    tcase_add_test(test_case, sweeps_old_directories_of_our_name_and_no_others);
    tcase_add_test(test_case, swept_as_soon_as_the_host_is_dead);
    tcase_add_test(test_case, pid_that_is_used_again_is_not_the_host);
    tcase_add_test(test_case, host_that_cannot_be_seen_from_here_has_seven_days);
    tcase_add_test(test_case, host_file_that_is_no_file_is_not_opened);
    tcase_add_test(test_case, directories_of_other_users_and_failures_do_not_count);
    tcase_add_test(test_case, sweepers_may_meet);
#ifdef HERMES_FAULT_INJECTION
    tcase_add_test(test_case, every_failure_is_clean);
#endif
    suite_add_tcase(suite, test_case);
    return test_run(suite);
}
