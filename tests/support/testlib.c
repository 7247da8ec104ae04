/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "testlib.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static char suite_directory[256];

bool test_in_valgrind(void)
{
    const char *preload = getenv("LD_PRELOAD");

    return preload && strstr(preload, "vgpreload");
}

int test_run(Suite *suite)
{
    const char *temporary = getenv("TMPDIR");
    SRunner *runner = srunner_create(suite);
    int failed;

    snprintf(suite_directory, sizeof suite_directory, "%s/hermes-test-XXXXXX",
             temporary && *temporary ? temporary : "/tmp");
    if (!mkdtemp(suite_directory)) {
        perror(suite_directory);
        srunner_free(runner);
        return EXIT_FAILURE;
    }
    chmod(suite_directory, 0711); /* tests may become another user */
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    test_remove_tree(suite_directory);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* ---- time ------------------------------------------------------------------------------- */

int64_t test_now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int test_scaled_ms(int ms)
{
    const char *multiplier = getenv("CK_TIMEOUT_MULTIPLIER");
    double factor = multiplier ? strtod(multiplier, NULL) : 1;

    return factor > 1 ? (int)(ms * factor) : ms;
}

void test_pause_ms(int ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&pause, NULL);
}

/* ---- files ------------------------------------------------------------------------------ */

const char *test_python(void)
{
    const char *python = getenv("TEST_PYTHON");

    return python && *python ? python : "/usr/bin/python3";
}

static char *next_path(void)
{
    static char paths[32][4096];
    static unsigned next;

    return paths[next++ % 32];
}

const char *test_build_path(const char *name)
{
    const char *directory = getenv("HERMES_TEST_BUILDDIR");
    char *path = next_path();

#ifdef HERMES_TEST_BUILDDIR
    if (!directory)
        directory = HERMES_TEST_BUILDDIR;
#endif
    snprintf(path, 4096, "%s/%s", directory ? directory : ".", name);
    return path;
}

const char *test_directory(void)
{
    static char path[sizeof suite_directory + 32];

    if (!*path) { /* once in the fork that a test runs in, and the same for what that forks */
        snprintf(path, sizeof path, "%s/%d", suite_directory, (int)getpid());
        if (mkdir(path, 0755))
            ck_abort_msg("%s: %s", path, strerror(errno));
    }
    return path;
}

const char *test_path(const char *format, ...)
{
    char *path = next_path();
    int size = snprintf(path, 4096, "%s/", test_directory());
    va_list args;

    va_start(args, format);
    vsnprintf(path + size, 4096 - (size_t)size, format, args);
    va_end(args);
    return path;
}

void test_write_file(const char *path, const char *text, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

    ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
    ck_assert_int_eq(write(fd, text, strlen(text)), (long)strlen(text));
    fchmod(fd, mode);
    close(fd);
}

char *test_read_file(const char *path)
{
    size_t size = 0, room = 65536;
    char *text = malloc(room + 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;

    if (fd < 0 || !text) {
        free(text);
        return NULL;
    }
    while ((n = read(fd, text + size, room - size)) > 0) {
        size += (size_t)n;
        if (size == room) {
            room *= 2;
            text = realloc(text, room + 1);
            ck_assert_ptr_nonnull(text);
        }
    }
    close(fd);
    text[size] = '\0';
    return text;
}

bool test_exists(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

static int open_up(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)where;
    if (type == FTW_D || type == FTW_DNR)
        chmod(path, 0700);
    return 0;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
    (void)info, (void)type, (void)where;
    remove(path);
    return 0;
}

void test_remove_tree(const char *path)
{
    nftw(path, open_up, 64, FTW_PHYS);
    nftw(path, remove_one, 64, FTW_PHYS | FTW_DEPTH);
}

/* ---- descriptors ------------------------------------------------------------------------ */

void test_fds_take(struct test_fds *before)
{
    for (int fd = 0; fd < TEST_FDS_MAX; fd++)
        before->open[fd] = fcntl(fd, F_GETFD) >= 0;
}

void test_fds_check(const struct test_fds *before)
{
    char name[64], what[256];
    ssize_t n;

    for (int fd = 0; fd < TEST_FDS_MAX; fd++) {
        bool open_now = fcntl(fd, F_GETFD) >= 0;

        if (open_now == before->open[fd])
            continue;
        snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        n = readlink(name, what, sizeof what - 1);
        what[n > 0 ? n : 0] = '\0';
        ck_abort_msg("descriptor %d was %s (%s)", fd, open_now ? "left open" : "closed", what);
    }
}

/* ---- processes -------------------------------------------------------------------------- */

struct process {
    pid_t pid, parent;
    char state;
    unsigned long threads;
    unsigned long long start;
};

struct test_processes {
    struct process *list;
    size_t count;
};

static char mark[64]; /* HERMES_TEST_MARK=... */

static bool read_process(pid_t pid, struct process *process)
{
    char path[64], text[1024], *at;
    int fd, parent;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, text, sizeof text - 1);
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    at = strrchr(text, ')');
    if (!at)
        return false;
    process->pid = pid;
    n = sscanf(at + 1,
               " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %lu %*d %llu",
               &process->state, &parent, &process->threads, &process->start);
    process->parent = parent;
    return n == 4;
}

static bool is_alive(const struct process *process)
{
    return (process->state != 'Z' && process->state != 'X') || process->threads > 1;
}

/* All processes now; free(). */
static struct process *list_processes(size_t *ret_count)
{
    DIR *proc = opendir("/proc");
    struct process *list = NULL;
    struct dirent *entry;
    size_t count = 0, room = 0;

    ck_assert_ptr_nonnull(proc);
    while ((entry = readdir(proc))) {
        if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
            continue;
        if (count == room) {
            room = room ? 2 * room : 256;
            list = realloc(list, room * sizeof *list);
            ck_assert_ptr_nonnull(list);
        }
        count += read_process((pid_t)atoi(entry->d_name), &list[count]);
    }
    closedir(proc);
    *ret_count = count;
    return list;
}

static const struct process *find(const struct process *list, size_t count, pid_t pid)
{
    for (size_t i = 0; i < count; i++)
        if (list[i].pid == pid)
            return &list[i];
    return NULL;
}

static bool descends(const struct process *list, size_t count, const struct process *process)
{
    for (int depth = 0; process && depth < 100000; depth++) {
        if (process->parent == getpid())
            return true;
        process = find(list, count, process->parent);
    }
    return false;
}

static bool is_marked(pid_t pid)
{
    static char environment[1 << 18];
    char path[64];
    ssize_t n, size = 0;
    int fd;

    if (!mark[0] || pid == getpid())
        return false;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while ((n = read(fd, environment + size, sizeof environment - (size_t)size)) > 0)
        size += n;
    close(fd);
    return memmem(environment, (size_t)size, mark, strlen(mark)) != NULL;
}

struct test_processes *test_processes_take(void)
{
    struct test_processes *before = malloc(sizeof *before);

    ck_assert_ptr_nonnull(before);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    snprintf(mark, sizeof mark, "HERMES_TEST_MARK=%d-%lld", (int)getpid(),
             (long long)test_now_ms());
    setenv("HERMES_TEST_MARK", strchr(mark, '=') + 1, 1);
    before->list = list_processes(&before->count);
    return before;
}

/* Names of the new ones go to text. */
static int look(const struct test_processes *before, char *text, size_t size)
{
    size_t count;
    struct process *list = list_processes(&count);
    int found = 0;

    *text = '\0';
    for (size_t i = 0; i < count; i++) {
        const struct process *old = find(before->list, before->count, list[i].pid);
        size_t used = strlen(text);

        if (!is_alive(&list[i]) || (old && old->start == list[i].start) ||
            !(descends(list, count, &list[i]) || is_marked(list[i].pid)))
            continue;
        found++;
        snprintf(text + used, size - used, " %d(%c, parent %d)", (int)list[i].pid, list[i].state,
                 (int)list[i].parent);
    }
    free(list);
    return found;
}

int test_processes_new(const struct test_processes *before)
{
    char text[1024];

    return look(before, text, sizeof text);
}

void test_processes_check(struct test_processes *before, int ms)
{
    char text[1024];
    bool clean = test_wait(look(before, text, sizeof text) == 0, ms);

    free(before->list);
    free(before);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        ;
    ck_assert_msg(clean, "processes are left:%s", text);
}

bool test_process_lives(pid_t pid)
{
    struct process process;

    return pid > 0 && read_process(pid, &process) && is_alive(&process);
}

char test_process_state(pid_t pid)
{
    struct process process;

    return pid > 0 && read_process(pid, &process) ? process.state : 0;
}

pid_t test_process_parent(pid_t pid)
{
    struct process process;

    return pid > 0 && read_process(pid, &process) ? process.parent : 0;
}

int test_list_children(pid_t parent, pid_t *ret_list, int maximum)
{
    size_t count;
    struct process *list = list_processes(&count);
    int found = 0;

    for (size_t i = 0; i < count; i++)
        if (list[i].parent == parent && found++ < maximum)
            ret_list[found - 1] = list[i].pid;
    free(list);
    return found;
}

int test_count_children(pid_t parent, char state)
{
    size_t count;
    struct process *list = list_processes(&count);
    int found = 0;

    for (size_t i = 0; i < count; i++)
        found += list[i].parent == parent && (!state || list[i].state == state);
    free(list);
    return found;
}

static void become(const char *const *argv, const int *fds, int n, char *const *environment)
{
    int lifted[16];

    setsid(); /* what kills the test's group spares it, and it has to notice by itself */
    for (int i = 0; i < n; i++) /* out of the way of the targets */
        lifted[i] = fds[i] < 0 ? -1 : fcntl(fds[i], F_DUPFD, 64);
    for (int i = 0; i < n; i++) {
        close(i);
        if (lifted[i] >= 0)
            dup2(lifted[i], i);
    }
    for (int fd = n; fd < TEST_FDS_MAX; fd++)
        close(fd);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    execve(argv[0], (char *const *)argv, environment ? environment : environ);
    _exit(127);
}

pid_t test_spawn(const char *const *argv, const int *fds, int n, char *const *environment)
{
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        become(argv, fds, n, environment);
    return pid;
}

int test_reap(pid_t pid, int ms)
{
    int status = 0;
    pid_t got = 0;

    if (!test_wait((got = waitpid(pid, &status, WNOHANG)) != 0, ms))
        ck_abort_msg("process %d is still there", (int)pid);
    ck_assert_int_eq(got, pid);
    return status;
}
