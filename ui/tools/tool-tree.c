/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tool-tree.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "strbuf.h"
#include "xalloc.h"

enum { LOOK_MS = 5, KILL_LOOKS = 400, STOP_PASSES = 8 };

struct process {
    pid_t pid, parent, group, session;
    bool ours;
};

struct table {
    struct process *list;
    size_t count, capacity;
};

/*
 * ---- looking ----------------------------------------------------------------------------------
 */

static bool read_small(const char *path, struct strbuf *text)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    char block[4096];
    ssize_t size;
    while ((size = read(fd, block, sizeof block)) > 0 && text->size < 1 << 20)
        strbuf_add(text, block, (size_t)size);
    close(fd);
    return size == 0;
}

/* False for zombies and what is gone. */
static bool read_process(const char *pid, struct process *process)
{
    char path[64], state = 0;
    struct strbuf text = STRBUF_INIT;
    int parent = 0, group = 0, session = 0;
    snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
    bool good = read_small(path, &text);
    const char *end =
        good ? strrchr(strbuf_text(&text), ')') : NULL; /* the name may hold anything */
    good = end && sscanf(end, ") %c %d %d %d", &state, &parent, &group, &session) == 4 &&
           state != 'Z' && state != 'X';
    strbuf_free(&text);
    *process = (struct process){(pid_t)strtol(pid, NULL, 10), parent, group, session, false};
    return good;
}

static bool has_mark(pid_t pid, const char *mark)
{
    char path[64];
    struct strbuf text = STRBUF_INIT;
    snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    bool found = false;
    read_small(path, &text);
    for (size_t at = 0; at < text.size && !found; at += strlen(text.data + at) + 1)
        found = strcmp(text.data + at, mark) == 0;
    strbuf_free(&text);
    return found;
}

static bool mark_descendants(struct table *table, pid_t root)
{
    bool more = false;
    for (size_t i = 0; i < table->count; i++) {
        struct process *process = &table->list[i];
        for (size_t j = 0; j < table->count && !process->ours; j++) {
            if (process->parent == root ||
                (table->list[j].ours && table->list[j].pid == process->parent))
                process->ours = more = true;
        }
    }
    return more;
}

/* Never of root 0: in a container others may have that for a session and a parent. */
static bool is_of(const struct process *process, pid_t root)
{
    return root > 0 && (process->session == root || process->group == root || process->pid == root);
}

/* The living processes that belong to root, at the beginning of the table. */
static void look(struct table *table, pid_t root, const char *mark)
{
    table->count = 0;
    DIR *stream = opendir("/proc");
    struct dirent *entry;
    while (stream && (entry = readdir(stream))) {
        struct process process;
        if (!isdigit((unsigned char)entry->d_name[0]) || !read_process(entry->d_name, &process))
            continue;
        process.ours = is_of(&process, root) || (mark && has_mark(process.pid, mark));
        table->list = xgrow(table->list, table->count, &table->capacity, sizeof *table->list);
        table->list[table->count++] = process;
    }
    if (stream)
        closedir(stream);
    while (mark && root > 0 && mark_descendants(table, root))
        ;
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++) {
        if (table->list[i].ours && table->list[i].pid != getpid())
            table->list[kept++] = table->list[i];
    }
    table->count = kept;
}

/*
 * ---- ending -----------------------------------------------------------------------------------
 */

static void send_all(const struct table *table, int number)
{
    for (size_t i = 0; i < table->count; i++)
        kill(table->list[i].pid, number);
}

static void pause_ms(int ms)
{
    poll(NULL, 0, ms);
}

/* SIGSTOP first, until none runs that could fork. */
static void kill_all(struct table *table, pid_t root, const char *mark)
{
    size_t before = 0;
    for (int pass = 0; pass < STOP_PASSES && table->count != before; pass++) {
        before = table->count;
        send_all(table, SIGSTOP);
        look(table, root, mark);
    }
    send_all(table, SIGKILL);
}

int tool_tree_end(pid_t root, const char *mark, int grace_ms)
{
    struct table table = {NULL, 0, 0};
    look(&table, root, mark);
    int others = 0;
    for (size_t i = 0; i < table.count; i++)
        others += table.list[i].pid != root;
    if (table.count) {
        send_all(&table, SIGTERM);
        send_all(&table, SIGCONT);
    }
    for (int waited = 0; table.count && waited < grace_ms; waited += LOOK_MS) {
        pause_ms(LOOK_MS);
        look(&table, root, mark);
    }
    for (int i = 0; table.count && i < KILL_LOOKS; i++) {
        kill_all(&table, root, mark);
        pause_ms(LOOK_MS);
        look(&table, root, mark);
    }
    if (root > 0 && access("/proc/self/stat", R_OK) < 0)
        kill(-root, SIGKILL);
    free(table.list);
    return others;
}
