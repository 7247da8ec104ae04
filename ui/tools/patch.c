/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * patch: replace a text in a file, or apply a patch to many. All is worked out in memory first;
 * then each file is written at once or not at all, and when one cannot be written those before it
 * get their old content back.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "json-write.h"
#include "patch-apply.h"
#include "patch-parse.h"
#include "text-diff.h"
#include "tool-arguments.h"
#include "tool-file.h"
#include "tool.h"
#include "xalloc.h"

enum { FILE_BYTES_MAX = 16 * 1000 * 1000, DIFF_BYTES_MAX = 100000, LINES_NAMED = 10 };

/* A file as it is, and as it will be. */
struct change {
    char *path, *name; /* absolute; as the caller calls it */
    bool existed, exists;
    struct strbuf before, after;
    bool executable;
    size_t moved_to, moved_from; /* index + 1 of the other one; 0: none */
    bool written;
};

struct work {
    const struct tool_context *context;
    struct change *changes;
    size_t count, capacity;
    struct strbuf notes, error;
};

/*
 * ---- files ------------------------------------------------------------------------------------
 */

static size_t find_change(const struct work *work, const char *path)
{
    size_t i = 0;
    while (i < work->count && strcmp(work->changes[i].path, path) != 0)
        i++;
    return i;
}

/* The file's entry; its content is read when it is first asked for. False: error is set. */
static bool open_change(struct work *work, const char *name, size_t *ret_index)
{
    struct stat status;
    char *path = tool_path(work->context, name), *real = realpath(path, NULL);
    if (real) {
        free(path);
        path = real;
    }
    *ret_index = find_change(work, path);
    if (*ret_index < work->count) {
        free(path);
        return true;
    }
    work->changes = xgrow(work->changes, work->count, &work->capacity, sizeof *work->changes);
    struct change *change = &work->changes[work->count++];
    *change = (struct change){.path = path, .name = xstrdup(name)};
    if (lstat(path, &status) < 0 && (errno == ENOENT || errno == ENOTDIR))
        return true;
    if (!tool_read_all(path, name, FILE_BYTES_MAX, &change->before, &work->error))
        return false;
    const char *kind = tool_binary_kind(strbuf_text(&change->before), change->before.size);
    if (kind)
        strbuf_setf(&work->error, "%s is %s, not UTF-8 text", name, kind);
    change->existed = change->exists = true;
    strbuf_add(&change->after, strbuf_text(&change->before), change->before.size);
    return !kind;
}

/* The message of a file that is not there, with the nearest name. */
static bool refuse_missing(struct work *work, const struct change *change)
{
    struct stat status;
    int fd = tool_open(change->path, change->name, &status, &work->error);
    if (fd >= 0)
        close(fd);
    if (!work->error.size)
        strbuf_setf(&work->error, "%s: no such file any more", change->name);
    return false;
}

static void free_work(struct work *work)
{
    for (size_t i = 0; i < work->count; i++) {
        free(work->changes[i].path);
        free(work->changes[i].name);
        strbuf_free(&work->changes[i].before);
        strbuf_free(&work->changes[i].after);
    }
    free(work->changes);
    strbuf_free(&work->notes);
    strbuf_free(&work->error);
}

static bool put_file(const struct change *change, const struct strbuf *content, bool exists,
                     struct strbuf *error)
{
    if (!exists) {
        if (unlink(change->path) == 0 || errno == ENOENT)
            return true;
        strbuf_setf(error, "cannot delete %s: %s", change->name, strerror(errno));
        return false;
    }
    struct tool_written written;
    struct stat status;
    if (!tool_write_all(change->path, change->name, strbuf_text(content), content->size, &written,
                        error))
        return false;
    if (change->executable && written.created && stat(change->path, &status) == 0)
        chmod(change->path, (status.st_mode & 07777) | ((status.st_mode & 0444) >> 2));
    return true;
}

static bool is_changed(const struct change *change)
{
    return change->existed != change->exists || change->before.size != change->after.size ||
           memcmp(strbuf_text(&change->before), strbuf_text(&change->after), change->before.size) !=
               0;
}

/* Deletions come last: what is written may have been in what is deleted. */
static bool write_changes(struct work *work)
{
    bool good = true;
    for (int deleting = 0; deleting <= 1 && good; deleting++) {
        for (size_t i = 0; i < work->count && good; i++) {
            struct change *change = &work->changes[i];
            if (change->exists == (deleting == 1) || !is_changed(change))
                continue;
            good = put_file(change, &change->after, change->exists, &work->error);
            change->written = good;
        }
    }
    for (size_t i = 0; i < work->count && !good; i++) {
        struct strbuf ignored = STRBUF_INIT;
        if (work->changes[i].written)
            put_file(&work->changes[i], &work->changes[i].before, work->changes[i].existed,
                     &ignored);
        strbuf_free(&ignored);
    }
    return good;
}

/*
 * ---- the answer -------------------------------------------------------------------------------
 */

static void add_list(const struct work *work, const char *key, bool existed, bool exists,
                     struct strbuf *result_json)
{
    bool first = true;
    for (size_t i = 0; i < work->count; i++) {
        const struct change *change = &work->changes[i];
        if (change->existed != existed || change->exists != exists || !is_changed(change))
            continue;
        strbuf_addf(result_json, first ? ", \"%s\": [" : ", ", key);
        json_add_text(result_json, change->name);
        first = false;
    }
    strbuf_adds(result_json, first ? "" : "]");
}

static void add_diff(const struct work *work, size_t index, struct strbuf *diff)
{
    const struct change *change = &work->changes[index], *from = change;
    if (change->moved_from) {
        from = &work->changes[change->moved_from - 1];
        strbuf_addf(diff, "rename from %s\nrename to %s\n", from->name, change->name);
    }
    if (change->moved_to)
        return;
    text_diff(diff, from->existed ? from->name : NULL, strbuf_text(&from->before),
              from->before.size, change->exists ? change->name : NULL, strbuf_text(&change->after),
              change->after.size);
}

static void report(const struct work *work, struct strbuf *result_json)
{
    struct strbuf diff = STRBUF_INIT;
    for (size_t i = 0; i < work->count; i++)
        add_diff(work, i, &diff);
    bool cut = diff.size > DIFF_BYTES_MAX;
    if (cut) {
        diff.size = DIFF_BYTES_MAX;
        while (diff.size && diff.data[diff.size - 1] != '\n')
            diff.size--;
    }
    strbuf_adds(result_json, "{\"success\": true");
    add_list(work, "files_modified", true, true, result_json);
    add_list(work, "files_created", false, true, result_json);
    add_list(work, "files_deleted", true, false, result_json);
    strbuf_adds(result_json, ", \"diff\": ");
    json_add_string(result_json, strbuf_text(&diff), diff.size);
    strbuf_adds(result_json, cut ? ", \"diff_truncated\": true" : "");
    if (work->notes.size) {
        strbuf_adds(result_json, ", \"notes\": ");
        json_add_string(result_json, work->notes.data, work->notes.size - 1);
    }
    strbuf_free(&diff);
}

/*
 * ---- a text for a text ------------------------------------------------------------------------
 */

static size_t line_of(const struct strbuf *text, size_t at)
{
    size_t line = 1;
    for (size_t i = 0; i < at; i++)
        line += text->data[i] == '\n';
    return line;
}

/* Replace all, and say how many there were and in which lines. */
static size_t replace_text(const struct strbuf *text, const char *old, const char *new,
                           struct strbuf *result, struct strbuf *lines)
{
    /* read_call() has seen that it is there. NOLINTNEXTLINE(clang-analyzer-core.*) */
    size_t count = 0, at = 0, old_size = strlen(old);
    const char *found;
    while ((found = memmem(strbuf_text(text) + at, text->size - at, old, old_size))) {
        size_t start = (size_t)(found - text->data);
        if (count++ < LINES_NAMED)
            strbuf_addf(lines, "%s%zu", count > 1 ? ", " : "", line_of(text, start));
        strbuf_add(result, text->data + at, start - at);
        strbuf_adds(result, new);
        at = start + old_size;
    }
    strbuf_add(result, strbuf_text(text) + at, text->size - at);
    strbuf_adds(lines, count > LINES_NAMED ? ", ..." : "");
    return count;
}

/* "\n" as "\r\n". Yours. */
static char *with_crlf(const char *text)
{
    struct strbuf result = STRBUF_INIT;
    for (; *text; text++)
        strbuf_add(&result, *text == '\n' ? "\r\n" : text, *text == '\n' ? 2 : 1);
    return strbuf_steal(&result);
}

static struct text_line trim(struct text_line line)
{
    while (line.size && strchr(" \t\r", line.text[line.size - 1]))
        line.size--;
    while (line.size && strchr(" \t", line.text[0])) {
        line.text++;
        line.size--;
    }
    return line;
}

/*
 * Where the text would be if blanks at the ends of lines did not count; the number of lines that
 * fit in *ret_count.
 */
static size_t find_similar(const struct text_lines *lines, const struct text_lines *wanted,
                           size_t *ret_count)
{
    size_t best = 0;
    *ret_count = 0;
    for (size_t i = 0; i < lines->count; i++) {
        size_t same = 0;
        for (; same < wanted->count && i + same < lines->count; same++) {
            struct text_line a = trim(lines->list[i + same]), b = trim(wanted->list[same]);
            if (!text_line_same(&a, &b))
                break;
        }
        if (same > *ret_count) {
            *ret_count = same;
            best = i;
        }
    }
    return best;
}

static void not_found(struct work *work, const struct change *change, const char *old)
{
    struct text_lines lines = {NULL, 0, 0}, wanted = {NULL, 0, 0};
    size_t count;
    text_split(&lines, strbuf_text(&change->before), change->before.size);
    text_split(&wanted, old, strlen(old));
    size_t at = find_similar(&lines, &wanted, &count);
    strbuf_setf(&work->error, "old_string is not in %s", change->name);
    if (count && count == wanted.count)
        strbuf_addf(&work->error, "; from line %zu on it is the same but for white space", at + 1);
    else if (count && trim(lines.list[at]).size)
        strbuf_addf(&work->error, "; it begins like line %zu, but line %zu differs", at + 1,
                    at + count + 1);
    text_lines_free(&lines);
    text_lines_free(&wanted);
}

static bool replace(struct work *work, const char *name, const char *old, const char *new, bool all,
                    size_t *ret_count)
{
    size_t index;
    if (!open_change(work, name, &index))
        return false;
    struct change *change = &work->changes[index];
    if (!change->exists)
        return refuse_missing(work, change);
    struct strbuf result = STRBUF_INIT, lines = STRBUF_INIT;
    size_t count = replace_text(&change->before, old, new, &result, &lines);
    if (!count && strchr(old, '\n') && !strchr(old, '\r') &&
        strstr(strbuf_text(&change->before), "\r\n")) {
        char *old_crlf = with_crlf(old), *new_crlf = with_crlf(new);
        strbuf_clear(&result);
        count = replace_text(&change->before, old_crlf, new_crlf, &result, &lines);
        free(old_crlf);
        free(new_crlf);
    }
    if (!count)
        not_found(work, change, old);
    else if (count > 1 && !all)
        strbuf_setf(
            &work->error,
            "old_string is in %s %zu times (lines %s): make it longer, or say replace_all=True",
            name, count, strbuf_text(&lines));
    strbuf_free(&lines);
    strbuf_free(&change->after);
    change->after = result;
    *ret_count = count;
    return !work->error.size;
}

/*
 * ---- a patch ----------------------------------------------------------------------------------
 */

/* "a/x" may be the name itself. */
static bool open_patched(struct work *work, const struct patch_file *file, size_t *ret_index)
{
    if (file->prefixed && file->kind != PATCH_ADD) {
        char *whole = xasprintf("a/%s", file->path), *path = tool_path(work->context, file->path),
             *other = tool_path(work->context, whole);
        bool use_whole = access(path, F_OK) < 0 && access(other, F_OK) == 0 &&
                         find_change(work, path) == work->count;
        bool good = open_change(work, use_whole ? whole : file->path, ret_index);
        free(whole);
        free(path);
        free(other);
        return good;
    }
    return open_change(work, file->path, ret_index);
}

static bool move(struct work *work, const char *new_path, size_t from)
{
    size_t to;
    if (!open_change(work, new_path, &to))
        return false;
    if (to == from)
        return true;
    struct change *source = &work->changes[from], *target = &work->changes[to];
    if (target->exists) {
        strbuf_setf(&work->error, "cannot move %s to %s: that file exists", source->name,
                    target->name);
        return false;
    }
    struct stat status;
    target->executable = stat(source->path, &status) == 0 && (status.st_mode & 0100);
    target->exists = true;
    strbuf_free(&target->after);
    target->after = source->after;
    target->moved_from = from + 1;
    source->after = (struct strbuf)STRBUF_INIT;
    source->exists = false;
    source->moved_to = to + 1;
    return true;
}

static bool add_file(struct work *work, const struct patch_file *file, struct change *change)
{
    if (change->exists) {
        strbuf_setf(&work->error, "%s exists already: the patch says it is new", change->name);
        return false;
    }
    struct strbuf content = STRBUF_INIT;
    bool good = patch_apply(file, change->name, "", 0, &content, &work->notes, &work->error);
    strbuf_free(&change->after);
    change->after = content;
    change->exists = true;
    change->executable = file->executable;
    return good;
}

static bool patch_one(struct work *work, const struct patch_file *file)
{
    size_t index;
    if (!open_patched(work, file, &index))
        return false;
    struct change *change = &work->changes[index];
    if (file->kind == PATCH_ADD)
        return add_file(work, file, change);
    if (!change->exists)
        return refuse_missing(work, change);
    struct strbuf content = STRBUF_INIT;
    bool good = patch_apply(file, change->name, strbuf_text(&change->after), change->after.size,
                            &content, &work->notes, &work->error);
    if (good && file->kind == PATCH_DELETE && file->count && content.size) {
        strbuf_setf(&work->error, "%s: the patch deletes it, but holds not all of its lines",
                    change->name);
        good = false;
    }
    strbuf_free(&change->after);
    change->after = content;
    if (good && file->kind == PATCH_DELETE) {
        strbuf_free(&change->after);
        change->exists = false;
    }
    return good && (!file->new_path || move(work, file->new_path, index));
}

static bool patch_all(struct work *work, const char *text)
{
    struct patch_set set = {NULL, 0, 0};
    bool good = patch_parse(text, strlen(text), &set, &work->error);
    for (size_t i = 0; i < set.count && good; i++)
        good = patch_one(work, &set.files[i]);
    patch_set_free(&set);
    return good;
}

/*
 * ---- the call ---------------------------------------------------------------------------------
 */

struct call {
    const char *mode, *path, *old, *new, *patch;
    bool all;
};

static bool read_call(struct call *call, const cJSON *arguments, struct strbuf *error)
{
    const struct argument table[] = {
        {"path", ARGUMENT_TEXT, false, {.text = &call->path}, 0, -1},
        {"old_string", ARGUMENT_TEXT, false, {.text = &call->old}, 0, -1},
        {"new_string", ARGUMENT_TEXT, false, {.text = &call->new}, 0, -1},
        {"replace_all", ARGUMENT_FLAG, false, {.flag = &call->all}, 0, -1},
        {"mode", ARGUMENT_TEXT, false, {.text = &call->mode}, 0, -1},
        {"patch", ARGUMENT_TEXT, false, {.text = &call->patch}, 0, -1},
        {NULL, ARGUMENT_TEXT, false, {NULL}, 0, -1},
    };
    if (!arguments_read(arguments, table, error))
        return false;
    if (strcmp(call->mode, "patch") == 0) {
        if (!call->patch)
            strbuf_setf(error, "'patch' is missing: mode=\"patch\" needs the text of a patch");
    } else if (strcmp(call->mode, "replace") != 0) {
        strbuf_setf(error, "'mode' must be replace or patch, not '%s'", call->mode);
    } else if (!call->path || !call->old || !call->new) {
        strbuf_setf(error,
                    "'%s' is missing: mode=\"replace\" needs path, old_string and new_string",
                    !call->path  ? "path"
                    : !call->old ? "old_string"
                                 : "new_string");
    } else if (!call->path[0]) {
        strbuf_setf(error, "'path' is empty");
    } else if (!call->old[0]) {
        strbuf_setf(error, "'old_string' is empty; write_file() writes a whole file");
    } else if (strcmp(call->old, call->new) == 0) {
        strbuf_setf(error, "'old_string' and 'new_string' are the same");
    }
    return !error->size;
}

void tool_patch(const struct tool_context *context, const cJSON *arguments,
                struct strbuf *result_json)
{
    struct call call = {.mode = "replace"};
    struct work work = {.context = context};
    size_t count = 0;
    bool good = read_call(&call, arguments, &work.error);
    bool by_patch = good && strcmp(call.mode, "patch") == 0;
    good = good && (by_patch ? patch_all(&work, call.patch)
                             : replace(&work, call.path, call.old, call.new, call.all, &count));
    if (good && tool_cancelled(context)) {
        strbuf_setf(&work.error, "cancelled");
        good = false;
    }
    if (good && write_changes(&work)) {
        report(&work, result_json);
        if (!by_patch)
            strbuf_addf(result_json, ", \"replacements\": %zu", count);
        strbuf_adds(result_json, "}");
    } else {
        tool_error(result_json, "patch: %s%s", strbuf_text(&work.error),
                   by_patch || good ? "; no file was changed" : "");
    }
    free_work(&work);
}
