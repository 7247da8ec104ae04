/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "guard/descendants.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { STOP_PASSES = 16 };

struct process {
    pid_t pid, parent;
    unsigned long long start; /* in clock ticks since boot: tells a pid from its next use */
    char state;
    bool ours; /* a descendant */
};

/* What getdents64 fills. */
struct directory_entry {
    uint64_t inode;
    int64_t offset;
    unsigned short size;
    unsigned char type;
    char name[];
};

static _Alignas(struct directory_entry) char scratch[16384]; /* for what is read from /proc */
static struct process first_processes[256];                  /* the table, until it must grow */

/* Every process of the machine, in order of pid. */
static struct {
    struct process *list;
    size_t count, capacity;
    bool sorted;
    bool children_only; /* memory is short */
} table = {.list = first_processes, .capacity = sizeof first_processes / sizeof first_processes[0]};

static const int32_t *spared; /* pids that are left alone */
static size_t spared_count;

/* ---- text without stdio ----------------------------------------------------------------- */

/* Append text at `at`, with its NUL; NULL when it does not fit, or at is NULL. */
static char *put_text(char *at, const char *end, const char *text)
{
    size_t size = strlen(text);

    if (!at || size >= (size_t)(end - at))
        return NULL;
    memcpy(at, text, size + 1);
    return at + size;
}

static char *put_number(char *at, const char *end, unsigned long number)
{
    char digits[24], *first = digits + sizeof digits - 1;

    *first = '\0';
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    return put_text(at, end, first);
}

static unsigned long long read_number(const char *text)
{
    unsigned long long number = 0;

    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (unsigned)(*text - '0');
    return number;
}

/* The first size - 1 bytes of a file and a NUL; false when it is empty or can't be read. */
static bool read_file(const char *path, char *data, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    size_t used = 0;
    ssize_t n;

    if (fd < 0)
        return false;
    while ((n = read(fd, data + used, size - 1 - used)) > 0)
        used += (size_t)n;
    close(fd);
    data[used] = '\0';
    return used > 0;
}

/* ---- out of memory ---------------------------------------------------------------------- */

/* The number of the line "key number" in scratch, or false. */
static bool find_counter(const char *key, unsigned long long *ret_number)
{
    size_t size = strlen(key);
    const char *line = scratch;

    while (strncmp(line, key, size) || line[size] != ' ') {
        line = strchr(line, '\n');
        if (!line)
            return false;
        line++;
    }
    *ret_number = read_number(line + size + 1);
    return true;
}

/* Our control group's file (version 2), or false. */
static bool read_group_file(const char *name)
{
    char path[4096 + 64], *group, *at;
    const char *end = path + sizeof path;

    if (!read_file("/proc/self/cgroup", scratch, sizeof scratch))
        return false;
    group = strstr(scratch, "0::/");
    if (!group || (group != scratch && group[-1] != '\n'))
        return false;
    group += strlen("0::");
    group[strcspn(group, "\n")] = '\0';
    at = put_text(path, end, "/sys/fs/cgroup");
    at = put_text(at, end, group);
    at = put_text(at, end, "/");
    at = put_text(at, end, name);
    return at && read_file(path, scratch, sizeof scratch);
}

unsigned long long hr_guard_oom_kills(void)
{
    unsigned long long number = 0;

    if (read_group_file("memory.events") && find_counter("oom_kill", &number))
        return number;
    if (read_file("/proc/vmstat", scratch, sizeof scratch))
        find_counter("oom_kill", &number);
    return number;
}

/* ---- the table -------------------------------------------------------------------------- */

static bool read_process(pid_t pid, struct process *process)
{
    char path[40], stat[1024], *at;
    const char *end = path + sizeof path;

    at = put_text(path, end, "/proc/");
    at = put_number(at, end, (unsigned long)pid);
    at = put_text(at, end, "/stat");
    if (!at || !read_file(path, stat, sizeof stat))
        return false;
    at = strrchr(stat, ')'); /* the name in parentheses may hold anything, "1) R 1 (" too */
    if (!at || at[1] != ' ' || !at[2] || at[3] != ' ')
        return false;
    process->pid = pid;
    process->state = at[2];
    at += 4;
    process->parent = (pid_t)read_number(at);
    for (int field = 4; field < 22; field++) {
        at = strchr(at, ' ');
        if (!at)
            return false;
        at++;
    }
    process->start = read_number(at);
    process->ours = false;
    return true;
}

static bool grow(void)
{
    size_t size = table.capacity * sizeof *table.list;
    void *list = mmap(NULL, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (list == MAP_FAILED)
        return false;
    memcpy(list, table.list, size);
    if (table.list != first_processes)
        munmap(table.list, size);
    table.list = list;
    table.capacity *= 2;
    return true;
}

/* false: no memory. */
static bool add_process(pid_t pid)
{
    struct process process;

    if (!read_process(pid, &process) || (table.children_only && process.parent != getpid()))
        return true;
    if (table.count == table.capacity && !grow())
        return false;
    if (table.count && table.list[table.count - 1].pid > pid)
        table.sorted = false;
    table.list[table.count++] = process;
    return true;
}

static const struct process *find_process(pid_t pid)
{
    size_t low = 0, high = table.count;

    if (!table.sorted) { /* Linux lists pids in order; this is for a /proc that does not */
        for (size_t i = 0; i < table.count; i++)
            if (table.list[i].pid == pid)
                return &table.list[i];
        return NULL;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (table.list[middle].pid == pid)
            return &table.list[middle];
        if (table.list[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool is_spared(pid_t pid)
{
    for (size_t i = 0; i < spared_count && spared[i]; i++)
        if (spared[i] == pid)
            return true;
    return false;
}

static void mark_descendants(void)
{
    pid_t self = getpid();
    bool changed;

    do { /* parents mostly have the lower pid: one run marks them all, a second finds no more */
        changed = false;
        for (size_t i = 0; i < table.count; i++) {
            struct process *process = &table.list[i];
            const struct process *parent;

            if (process->ours)
                continue;
            parent = process->parent == self ? NULL : find_process(process->parent);
            process->ours =
                !is_spared(process->pid) && (process->parent == self || (parent && parent->ours));
            changed |= process->ours;
        }
    } while (changed);
}

static bool list_processes(int proc_fd)
{
    ssize_t size;

    table.count = 0;
    table.sorted = true;
    while ((size = syscall(SYS_getdents64, proc_fd, scratch, sizeof scratch)) > 0)
        for (ssize_t at = 0; at < size;) {
            const struct directory_entry *entry = (const void *)(scratch + at);

            at += entry->size;
            if (entry->name[0] >= '1' && entry->name[0] <= '9' &&
                !add_process((pid_t)read_number(entry->name)))
                return false;
        }
    return true;
}

/*
 * List all processes and mark ours; false: /proc can't be read now. When memory is short, the list
 * holds as many of our own children as it can: killing these again and again gets everybody, since
 * every orphan becomes our child.
 */
static bool take_snapshot(void)
{
    int fd = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0)
        return false;
    if (!list_processes(fd)) {
        table.children_only = true;
        lseek(fd, 0, SEEK_SET);
        list_processes(fd);
    }
    close(fd);
    mark_descendants();
    return true;
}

/* ---- signals ---------------------------------------------------------------------------- */

int hr_guard_pidfd(pid_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    return -1;
#endif
}

/* By the descriptor, where the system has that. */
static int send_signal(int pidfd, pid_t pid, int signal_number)
{
#ifdef SYS_pidfd_send_signal
    if (pidfd >= 0)
        return syscall(SYS_pidfd_send_signal, pidfd, signal_number, NULL, 0) ? errno : 0;
#endif
    return kill(pid, signal_number) ? errno : 0;
}

/*
 * Signal the very process of the table, not another one that has its pid by now: nobody but us
 * reaps our children, and any other is looked at again while a descriptor holds it. 0 or an errno.
 */
static int signal_process(const struct process *process, int signal_number)
{
    struct process now;
    int fd, error = ESRCH;

    if (process->parent == getpid())
        return send_signal(-1, process->pid, signal_number);
    fd = hr_guard_pidfd(process->pid);
    if (read_process(process->pid, &now) && now.start == process->start)
        error = send_signal(fd, process->pid, signal_number);
    if (fd >= 0)
        close(fd);
    return error;
}

void hr_descendants_spare(const int32_t *pids, size_t count)
{
    spared = pids;
    spared_count = count;
}

int hr_descendants_count(void)
{
    int count = 0;

    if (!take_snapshot())
        return -1;
    for (size_t i = 0; i < table.count; i++)
        count += table.list[i].ours;
    return count;
}

void hr_descendants_terminate(void)
{
    if (!take_snapshot())
        return;
    for (size_t i = 0; i < table.count; i++)
        if (table.list[i].ours) {
            signal_process(&table.list[i], SIGTERM);
            signal_process(&table.list[i], SIGCONT);
        }
}

/*
 * Stop our own children by the list that Linux keeps of them. It is read at once, where the table
 * takes a millisecond or more: so it also gets one that forks and exits, forks and exits, and is
 * never in the table under its present pid. Nobody but us reaps these, so each pid is still the one
 * that was read.
 */
static void stop_children(void)
{
    if (read_file("/proc/thread-self/children", scratch, sizeof scratch))
        for (const char *at = scratch, *end; (end = strchr(at, ' ')); at = end + 1)
            if (!is_spared((pid_t)read_number(at)))
                send_signal(-1, (pid_t)read_number(at), SIGSTOP);
}

/* Stop what runs of the table. Returns how many that were, with those that went away meanwhile. */
static int stop_table(void)
{
    int running = 0;

    for (size_t i = 0; i < table.count; i++) {
        const struct process *process = &table.list[i];
        int error;

        if (!process->ours || strchr("TtX", process->state))
            continue;
        error = signal_process(process, SIGSTOP);
        /* a "zombie" may be alive, when its first thread has ended and others run */
        if ((!error || error == ESRCH) && !strchr("ZD", process->state))
            running++;
    }
    return running;
}

/* Again until no new one is found. Leaves the last snapshot in the table. */
static bool stop_all(void)
{
    for (int pass = 0; pass < STOP_PASSES; pass++) {
        stop_children();
        if (!take_snapshot())
            return false;
        if (!stop_table())
            break;
        if (pass)
            poll(NULL, 0, 1);
    }
    return true;
}

int hr_descendants_kill(void)
{
    int refused = 0;

    if (!stop_all())
        return -1;
    for (size_t i = 0; i < table.count; i++)
        if (table.list[i].ours && signal_process(&table.list[i], SIGKILL) == EPERM)
            refused++;
    return refused;
}
