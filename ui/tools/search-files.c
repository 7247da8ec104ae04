/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search_files: lines by regular expression, or files by name. Lines are matched one by one. All is
 * bounded: files, their size, the steps of the matcher, the length of what is shown, and the time.
 */
#include "config.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <errno.h>
#include <inttypes.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "glob-match.h"
#include "json-write.h"
#include "search-list.h"
#include "tool-arguments.h"
#include "tool-file.h"
#include "tool.h"
#include "utf8.h"
#include "xalloc.h"

enum {
    FILE_BYTES_MAX = 32 * 1000 * 1000,
    SNIFF = 8192,
    LINE_SHOWN = 500,
    LIMIT_MAX = 10000,
    CONTEXT_MAX = 100
};
enum { ANSWER_BYTES_MAX = 1000000 };
enum {
    MATCH_LIMIT = 1000000,
    DEPTH_LIMIT = 10000,
    HEAP_LIMIT_KIB = 65536,
    TIMEOUT_DEFAULT_MS = 30000
};

#ifdef __APPLE__
#define MODIFIED st_mtimespec
#else
#define MODIFIED st_mtim
#endif

enum mode { MODE_CONTENT, MODE_FILES_ONLY, MODE_COUNT };

struct search {
    const struct tool_context *context;
    const char *pattern, *target, *path, *file_glob, *output_mode;
    int64_t limit, offset, around;
    enum mode mode;
    pcre2_code *code;
    pcre2_match_data *data;
    pcre2_match_context *limits;
    int64_t deadline;
    int64_t total;       /* matches, or files in MODE_FILES_ONLY */
    int64_t all_matches; /* in MODE_COUNT, where total counts files, too */
    int64_t files_searched, skipped_big;
    bool incomplete;
    struct strbuf items; /* JSON, joined by commas */
    struct strbuf names; /* the same for the list of files */
    struct strbuf error;
};

/*
 * ---- the expression ---------------------------------------------------------------------------
 */

static bool compile(struct search *search)
{
    int number;
    PCRE2_SIZE at;
    uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
    search->code = pcre2_compile((PCRE2_SPTR)search->pattern, strlen(search->pattern), options,
                                 &number, &at, NULL);
    if (!search->code) {
        PCRE2_UCHAR text[256] = "";
        pcre2_get_error_message(number, text, sizeof text);
        strbuf_setf(&search->error, "the pattern is no regular expression: %s, at character %zu",
                    (char *)text, (size_t)at + 1);
        return false;
    }
    pcre2_jit_compile(search->code, PCRE2_JIT_COMPLETE);
    search->data = pcre2_match_data_create(1, NULL);
    search->limits = pcre2_match_context_create(NULL);
    if (!search->data || !search->limits) {
        strbuf_setf(&search->error, "out of memory");
        return false;
    }
    pcre2_set_match_limit(search->limits, MATCH_LIMIT);
    pcre2_set_depth_limit(search->limits, DEPTH_LIMIT);
    pcre2_set_heap_limit(search->limits, HEAP_LIMIT_KIB);
    return true;
}

/* 1: it matches, 0: not, -1: error has one line. */
static int match_line(struct search *search, const char *text, size_t size, const char *name,
                      int64_t line)
{
    int found =
        pcre2_match(search->code, (PCRE2_SPTR)text, size, 0, 0, search->data, search->limits);
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
        found = pcre2_match(search->code, (PCRE2_SPTR)text, size, 0, PCRE2_NO_JIT, search->data,
                            search->limits);
    if (found >= 0)
        return 1;
    if (found == PCRE2_ERROR_NOMATCH || found == PCRE2_ERROR_PARTIAL)
        return 0;
    PCRE2_UCHAR reason[256] = "";
    pcre2_get_error_message(found, reason, sizeof reason);
    strbuf_setf(&search->error,
                "the pattern takes too much at %s, line %" PRId64 " (%s); make it simpler", name,
                line, (char *)reason);
    return -1;
}

/*
 * ---- lines ------------------------------------------------------------------------------------
 */

struct lines {
    const char *data;
    size_t *starts; /* one more than there are */
    size_t count, capacity;
};

static void split(struct lines *lines, const char *data, size_t size)
{
    lines->data = data;
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(data + at, '\n', size - at);
        lines->starts =
            xgrow(lines->starts, lines->count + 1, &lines->capacity, sizeof *lines->starts);
        lines->starts[lines->count++] = at;
        at = newline ? (size_t)(newline - data) + 1 : size;
    }
    lines->starts = xgrow(lines->starts, lines->count + 1, &lines->capacity, sizeof *lines->starts);
    lines->starts[lines->count] = size;
}

/* Without its line end. */
static const char *line_text(const struct lines *lines, size_t number, size_t *ret_size)
{
    const char *text = lines->data + lines->starts[number];
    size_t size = lines->starts[number + 1] - lines->starts[number];
    if (size && text[size - 1] == '\n')
        size--;
    if (size && text[size - 1] == '\r')
        size--;
    *ret_size = size;
    return text;
}

static void add_line(struct strbuf *items, const struct lines *lines, size_t number)
{
    size_t size;
    const char *text = line_text(lines, number, &size);
    if (size <= LINE_SHOWN) {
        json_add_string(items, text, size);
        return;
    }
    struct strbuf cut = STRBUF_INIT;
    strbuf_add(&cut, text, LINE_SHOWN - utf8_partial_tail(text, LINE_SHOWN));
    strbuf_adds(&cut, "... [truncated]");
    json_add_string(items, strbuf_text(&cut), cut.size);
    strbuf_free(&cut);
}

static void add_around(struct strbuf *items, const struct lines *lines, const char *key,
                       size_t from, size_t to)
{
    strbuf_addf(items, ", \"%s\": [", key);
    for (size_t i = from; i < to; i++) {
        strbuf_adds(items, i > from ? ", " : "");
        add_line(items, lines, i);
    }
    strbuf_adds(items, "]");
}

static void add_match(struct search *search, const struct lines *lines, size_t number,
                      const char *name)
{
    struct strbuf *items = &search->items;
    size_t around = (size_t)search->around;
    strbuf_adds(items, items->size ? ", {\"path\": " : "{\"path\": ");
    json_add_text(items, name);
    strbuf_addf(items, ", \"line\": %zu, \"content\": ", number + 1);
    add_line(items, lines, number);
    if (around) {
        add_around(items, lines, "before", number > around ? number - around : 0, number);
        add_around(items, lines, "after", number + 1,
                   lines->count - number - 1 > around ? number + 1 + around : lines->count);
    }
    strbuf_adds(items, "}");
}

/*
 * ---- files ------------------------------------------------------------------------------------
 */

/*
 * Whether the match of that number goes into this page, which also ends when the answer gets too
 * big.
 */
static bool is_shown(struct search *search, int64_t index)
{
    if (index < search->offset || index >= search->offset + search->limit)
        return false;
    if (search->items.size + search->names.size <= ANSWER_BYTES_MAX)
        return true;
    search->limit = index - search->offset;
    return false;
}

static void add_file(struct search *search, const char *name, int64_t matches)
{
    bool shown = is_shown(search, search->total++);
    search->all_matches += matches;
    if (!shown)
        return;
    strbuf_adds(&search->names, search->names.size ? ", " : "");
    json_add_text(&search->names, name);
    if (search->mode == MODE_COUNT) {
        strbuf_addf(&search->names, ": %" PRId64, matches);
        return;
    }
    strbuf_adds(&search->items, search->items.size ? ", {\"path\": " : "{\"path\": ");
    json_add_text(&search->items, name);
    strbuf_adds(&search->items, "}");
}

static bool is_over(struct search *search)
{
    if (search_now_ms() >= search->deadline || tool_cancelled(search->context))
        search->incomplete = true;
    return search->incomplete;
}

static bool search_lines(struct search *search, const struct lines *lines, const char *name)
{
    int64_t matches = 0;
    for (size_t i = 0; i < lines->count; i++) {
        size_t size;
        const char *text = line_text(lines, i, &size);
        int found = match_line(search, text, size, name, (int64_t)i + 1);
        if (found < 0)
            return false;
        if (i % 1024 == 1023 && is_over(search))
            break;
        if (!found)
            continue;
        matches++;
        if (search->mode == MODE_CONTENT && is_shown(search, search->total++))
            add_match(search, lines, i, name);
        if (search->mode == MODE_FILES_ONLY)
            break;
    }
    if (matches && search->mode != MODE_CONTENT)
        add_file(search, name, matches);
    return true;
}

/*
 * False: error has one line. Files that cannot be read are passed over, unless it is the only one.
 */
static bool search_file(struct search *search, const char *path, const char *name, bool alone)
{
    struct strbuf bytes = STRBUF_INIT, error = STRBUF_INIT;
    struct lines lines = {NULL, NULL, 0, 0};
    const char *kind = NULL;
    bool good = tool_read_all(path, name, FILE_BYTES_MAX, &bytes, &error);
    if (good &&
        (kind = tool_binary_kind(strbuf_text(&bytes), bytes.size < SNIFF ? bytes.size : SNIFF)) &&
        alone)
        strbuf_setf(&error, "%s is %s, not UTF-8 text", name, kind);
    search->skipped_big += !good && bytes.size > FILE_BYTES_MAX;
    if (alone && error.size) {
        strbuf_setf(&search->error, "%s", strbuf_text(&error));
        good = false;
    } else if (!good || kind) {
        good = true;
    } else {
        search->files_searched++;
        split(&lines, strbuf_text(&bytes), bytes.size);
        good = search_lines(search, &lines, name);
        free(lines.starts);
    }
    strbuf_free(&bytes);
    strbuf_free(&error);
    return good;
}

/*
 * What a file is called in the result: relative to where the caller is, so that read_file(name)
 * finds it.
 */
static char *shown_name(const struct search *search, const char *below)
{
    const char *path = search->path;
    if (strcmp(path, ".") == 0 || strcmp(path, "./") == 0)
        return xstrdup(below);
    return xasprintf("%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/", below);
}

static bool search_content(struct search *search, const char *directory,
                           const struct search_list *list)
{
    bool good = true;
    for (size_t i = 0; i < list->count && good && !is_over(search); i++) {
        if (search->file_glob && !glob_match(search->file_glob, list->paths[i]))
            continue;
        char *path = xasprintf("%s/%s", directory, list->paths[i]),
             *name = shown_name(search, list->paths[i]);
        good = search_file(search, path, name, false);
        free(path);
        free(name);
    }
    return good;
}

struct found {
    const char *path;
    struct timespec time;
};

static int newest_first(const void *a, const void *b)
{
    const struct found *one = a, *two = b;
    if (one->time.tv_sec != two->time.tv_sec)
        return one->time.tv_sec < two->time.tv_sec ? 1 : -1;
    if (one->time.tv_nsec != two->time.tv_nsec)
        return one->time.tv_nsec < two->time.tv_nsec ? 1 : -1;
    return strcmp(one->path, two->path);
}

static void search_names(struct search *search, const char *directory,
                         const struct search_list *list)
{
    struct found *found = NULL;
    size_t count = 0, capacity = 0;
    for (size_t i = 0; i < list->count && !is_over(search); i++) {
        const char *below = list->paths[i];
        struct stat status;
        if (!glob_match(search->pattern, below) ||
            (search->file_glob && !glob_match(search->file_glob, below)))
            continue;
        char *path = xasprintf("%s/%s", directory, below);
        if (lstat(path, &status) == 0) {
            found = xgrow(found, count, &capacity, sizeof *found);
            found[count++] = (struct found){below, status.MODIFIED};
        }
        free(path);
    }
    if (count)
        qsort(found, count, sizeof *found, newest_first);
    for (size_t i = 0; i < count; i++) {
        char *name = shown_name(search, found[i].path);
        add_file(search, name, 0);
        free(name);
    }
    free(found);
}

/*
 * ---- the call ---------------------------------------------------------------------------------
 */

static bool run(struct search *search, bool by_name)
{
    struct search_list list = {.deadline = search->deadline};
    struct stat status;
    char *path = tool_path(search->context, search->path);
    bool good = false;
    if (stat(path, &status) < 0) {
        strbuf_setf(&search->error, "cannot search %s: %s", search->path, strerror(errno));
    } else if (!S_ISDIR(status.st_mode) && by_name) {
        strbuf_setf(&search->error, "cannot look for files in %s: it is no directory",
                    search->path);
    } else if (!S_ISDIR(status.st_mode)) {
        good = search_file(search, path, search->path, true);
    } else if (search_list_files(search->context, path, search->path, &list, &search->error)) {
        search->incomplete = list.incomplete;
        good = true;
        if (by_name)
            search_names(search, path, &list);
        else
            good = search_content(search, path, &list);
    }
    search_list_free(&list);
    free(path);
    return good;
}

static void report(const struct search *search, bool by_name, struct strbuf *result_json)
{
    int64_t next = search->offset + search->limit, total = search->total;
    strbuf_addf(result_json, "{\"total_count\": %" PRId64,
                search->mode == MODE_COUNT ? search->all_matches : total);
    if (search->mode == MODE_COUNT)
        strbuf_addf(result_json, ", \"counts\": {%s}", strbuf_text(&search->names));
    else
        strbuf_addf(result_json, ", \"matches\": [%s]", strbuf_text(&search->items));
    if (search->mode == MODE_FILES_ONLY)
        strbuf_addf(result_json, ", \"files\": [%s]", strbuf_text(&search->names));
    if (!by_name)
        strbuf_addf(result_json, ", \"files_searched\": %" PRId64, search->files_searched);
    strbuf_addf(result_json, ", \"truncated\": %s",
                total > next || search->incomplete ? "true" : "false");
    if (total > next)
        strbuf_addf(result_json, ", \"next_offset\": %" PRId64, next);
    if (search->skipped_big)
        strbuf_addf(result_json, ", \"files_too_big\": %" PRId64, search->skipped_big);
    if (search->incomplete)
        strbuf_adds(
            result_json,
            ", \"warning\": \"not everything was searched: too many files, or too little time; "
            "name a smaller path\"");
    strbuf_adds(result_json, "}");
}

static bool read_arguments(struct search *search, const cJSON *arguments)
{
    const struct argument table[] = {
        {"pattern", ARGUMENT_TEXT, true, {.text = &search->pattern}, 0, -1},
        {"target", ARGUMENT_TEXT, false, {.text = &search->target}, 0, -1},
        {"path", ARGUMENT_TEXT, false, {.text = &search->path}, 0, -1},
        {"file_glob", ARGUMENT_TEXT, false, {.text = &search->file_glob}, 0, -1},
        {"limit", ARGUMENT_INTEGER, false, {.integer = &search->limit}, 1, INT64_MAX},
        {"offset", ARGUMENT_INTEGER, false, {.integer = &search->offset}, 0, INT64_MAX},
        {"output_mode", ARGUMENT_TEXT, false, {.text = &search->output_mode}, 0, -1},
        {"context", ARGUMENT_INTEGER, false, {.integer = &search->around}, 0, CONTEXT_MAX},
        {NULL, ARGUMENT_TEXT, false, {NULL}, 0, -1},
    };
    if (!arguments_read(arguments, table, &search->error))
        return false;
    if (search->limit > LIMIT_MAX)
        search->limit = LIMIT_MAX;
    if (!search->pattern[0])
        strbuf_setf(&search->error, "'pattern' is empty");
    else if (!search->path[0])
        strbuf_setf(&search->error, "'path' is empty");
    else if (strcmp(search->target, "content") != 0 && strcmp(search->target, "files") != 0)
        strbuf_setf(&search->error, "'target' must be content or files, not '%s'", search->target);
    else if (strcmp(search->output_mode, "content") == 0)
        search->mode = MODE_CONTENT;
    else if (strcmp(search->output_mode, "files_only") == 0)
        search->mode = MODE_FILES_ONLY;
    else if (strcmp(search->output_mode, "count") == 0)
        search->mode = MODE_COUNT;
    else
        strbuf_setf(&search->error, "'output_mode' must be content, files_only or count, not '%s'",
                    search->output_mode);
    return search->error.size == 0;
}

void tool_search_files(const struct tool_context *context, const cJSON *arguments,
                       struct strbuf *result_json)
{
    struct search search = {.context = context,
                            .target = "content",
                            .path = ".",
                            .limit = 50,
                            .output_mode = "content"};
    search.deadline = search_now_ms() + (context->settings ? context->settings->search_timeout_ms
                                                           : TIMEOUT_DEFAULT_MS);
    bool good = read_arguments(&search, arguments), by_name = strcmp(search.target, "files") == 0;
    if (by_name)
        search.mode = MODE_FILES_ONLY;
    good = good && (by_name || compile(&search)) && run(&search, by_name);
    if (good && tool_cancelled(context))
        tool_error(result_json, "cancelled");
    else if (good)
        report(&search, by_name, result_json);
    else
        tool_error(result_json, "search_files: %s", strbuf_text(&search.error));
    pcre2_match_data_free(search.data);
    pcre2_match_context_free(search.limits);
    pcre2_code_free(search.code);
    strbuf_free(&search.items);
    strbuf_free(&search.names);
    strbuf_free(&search.error);
}
