/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "search-list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tool-file.h"
#include "tool-process.h"
#include "xalloc.h"

enum { FILES_MAX = 200000, LIST_BYTES = 64 * 1000 * 1000, DEPTH_MAX = 64, NESTED_MAX = 8 };

int64_t search_now_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

void search_list_free(struct search_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->paths[i]);
    free(list->paths);
    list->paths = NULL;
    list->count = list->capacity = 0;
}

static bool is_over(const struct tool_context *context, struct search_list *list)
{
    if (list->count >= FILES_MAX || search_now_ms() >= list->deadline || tool_cancelled(context))
        list->incomplete = true;
    return list->incomplete;
}

static void add_path(struct search_list *list, const char *prefix, const char *name)
{
    list->paths = xgrow(list->paths, list->count, &list->capacity, sizeof *list->paths);
    list->paths[list->count++] = xasprintf("%s%s", prefix, name);
}

/*
 * ---- by walking -------------------------------------------------------------------------------
 */

static bool is_skipped_directory(const char *name)
{
    return strcmp(name, ".git") == 0 || strcmp(name, ".hg") == 0 || strcmp(name, ".svn") == 0;
}

/* Takes the descriptor. prefix is the path below the top, with its slash. */
static void walk(const struct tool_context *context, int fd, const char *prefix, int depth,
                 struct search_list *list)
{
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    struct dirent *entry;
    if (!stream) {
        if (fd >= 0)
            close(fd);
        return;
    }
    while (!is_over(context, list) && (entry = readdir(stream))) {
        const char *name = entry->d_name;
        struct stat status;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ||
            fstatat(dirfd(stream), name, &status, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        if (S_ISREG(status.st_mode)) {
            add_path(list, prefix, name);
        } else if (S_ISDIR(status.st_mode) && depth < DEPTH_MAX && !is_skipped_directory(name)) {
            char *below = xasprintf("%s%s/", prefix, name);
            walk(context,
                 openat(dirfd(stream), name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC),
                 below, depth + 1, list);
            free(below);
        }
    }
    closedir(stream);
}

/*
 * ---- by git or ripgrep ------------------------------------------------------------------------
 */

/* Run a program in directory; false unless it ends with status 0 or, with one_is_good, 1. */
static bool ask(const struct tool_context *context, const char *const *argv, const char *directory,
                bool one_is_good, struct search_list *list, struct strbuf *output)
{
    /* What would make git look at another repository than the one around the directory. */
    static const char *const without[] = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
                                          "GIT_PREFIX", NULL};
    static const char *const added[] = {"GIT_OPTIONAL_LOCKS=0", NULL};
    int64_t left = list->deadline - search_now_ms();
    const struct process_request request = {.argv = argv,
                                            .directory = directory,
                                            .environment = added,
                                            .without = without,
                                            .timeout_ms = left > 0 ? left : 0,
                                            .head_bytes = LIST_BYTES,
                                            .refuse_more = true};
    struct process_result result;
    process_run(context, &request, &result);
    bool good =
        result.end == PROCESS_EXITED && (result.code == 0 || (one_is_good && result.code == 1));
    if (good && output)
        strbuf_add(output, strbuf_text(&result.head), result.head.size);
    process_result_free(&result);
    return good;
}

static bool list_by_git(const struct tool_context *context, const char *git, const char *directory,
                        const char *prefix, int nested, struct search_list *list);

/* One name of git's list: a file, or a directory with a repository of its own. */
static void take_entry(const struct tool_context *context, const char *git, const char *directory,
                       const char *prefix, const char *name, int nested, struct search_list *list)
{
    struct stat status;
    char *path = xasprintf("%s/%s", directory, name);
    if (lstat(path, &status) == 0 && S_ISREG(status.st_mode)) {
        add_path(list, prefix, name);
    } else if (nested < NESTED_MAX && lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        size_t size = strlen(name);
        char *below = xasprintf("%s%s%s", prefix, name, size && name[size - 1] == '/' ? "" : "/");
        if (!list_by_git(context, git, path, below, nested + 1, list))
            walk(context, open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), below, 0,
                 list);
        free(below);
    }
    free(path);
}

/*
 * False when git does not know the directory, or ignores it whole: then it was meant to be searched
 * nevertheless.
 */
static bool list_by_git(const struct tool_context *context, const char *git, const char *directory,
                        const char *prefix, int nested, struct search_list *list)
{
    /* core.fsmonitor names a program of the repository's choice. */
    const char *const list_argv[] = {
        git,        "-c",       "core.fsmonitor=false", "ls-files", "-z",
        "--cached", "--others", "--exclude-standard",   NULL};
    const char *const ignore_argv[] = {git, "-c", "core.fsmonitor=false", "check-ignore", "-q",
                                       ".", NULL};
    struct strbuf names = STRBUF_INIT;
    bool good = ask(context, list_argv, directory, false, list, &names);
    if (good && !names.size && nested == 0)
        good = !ask(context, ignore_argv, directory, false, list, NULL);
    for (size_t at = 0; good && at < names.size && !is_over(context, list);
         at += strlen(names.data + at) + 1)
        take_entry(context, git, directory, prefix, names.data + at, nested, list);
    strbuf_free(&names);
    return good;
}

static bool list_by_rg(const struct tool_context *context, const char *rg, const char *directory,
                       struct search_list *list)
{
    const char *const argv[] = {rg,       "--no-config", "--files", "--hidden", "--no-messages",
                                "--null", "--glob",      "!.git",   "--glob",   "!.hg",
                                "--glob", "!.svn",       NULL};
    struct strbuf names = STRBUF_INIT;
    bool good = ask(context, argv, directory, true, list, &names);
    for (size_t at = 0; good && at < names.size && !is_over(context, list);
         at += strlen(names.data + at) + 1) {
        const char *name = names.data + at;
        add_path(list, "", strncmp(name, "./", 2) == 0 ? name + 2 : name);
    }
    strbuf_free(&names);
    return good;
}

/*
 * ---- all --------------------------------------------------------------------------------------
 */

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* git names a file in a merge conflict three times. */
static void sort_paths(struct search_list *list)
{
    if (list->count)
        qsort(list->paths, list->count, sizeof *list->paths, compare_paths);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (kept && strcmp(list->paths[kept - 1], list->paths[i]) == 0)
            free(list->paths[i]);
        else
            list->paths[kept++] = list->paths[i];
    }
    list->count = kept;
}

bool search_list_files(const struct tool_context *context, const char *directory, const char *name,
                       struct search_list *list, struct strbuf *error)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        strbuf_setf(error, "cannot search %s: %s", name, strerror(errno));
        return false;
    }
    char *git = tool_program("git"), *rg = tool_program("rg");
    bool good = (git && list_by_git(context, git, directory, "", 0, list)) ||
                (rg && list_by_rg(context, rg, directory, list));
    if (!good)
        walk(context, fd, "", 0, list);
    else
        close(fd);
    free(git);
    free(rg);
    sort_paths(list);
    return true;
}
