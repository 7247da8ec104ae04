/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "complete-local.h"
#include "highlight.h"
#include "python-words.h"
#include "xalloc.h"

#define FILES_MAX 1000
#define WORDS_MAX 200
#define CELLS_MAX 200 /* whose words are looked at, newest first */

void local_matches_add(struct local_matches *matches, const char *text, const char *type)
{
    matches->items =
        xgrow(matches->items, matches->count, &matches->capacity, sizeof(*matches->items));
    matches->items[matches->count++] =
        (struct edit_match){xstrdup(text), type && type[0] ? xstrdup(type) : NULL};
}

void local_matches_free(struct local_matches *matches)
{
    for (size_t i = 0; i < matches->count; i++) {
        free(matches->items[i].text);
        free(matches->items[i].type);
    }
    free(matches->items);
    *matches = (struct local_matches){NULL, 0, 0};
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct edit_match *)a)->text, ((const struct edit_match *)b)->text);
}

static void sort(struct local_matches *matches)
{
    if (matches->count > 1)
        qsort(matches->items, matches->count, sizeof(*matches->items), by_text);
}

/*
 * ---- commands
 * -------------------------------------------------------------------------------------
 */

bool local_commands(const char *text, size_t point, struct local_matches *matches,
                    size_t *ret_start)
{
    if (point < 1 || text[0] != ':' || memchr(text, ' ', point) || memchr(text, '\n', point))
        return false;
    *ret_start = 1;
    for (size_t i = 0; i < command_count; i++) {
        if (strncmp(command_table[i].name, text + 1, point - 1) == 0)
            local_matches_add(matches, command_table[i].name, "command");
    }
    sort(matches);
    return true;
}

/*
 * ---- files
 * ------------------------------------------------------------------------------------------
 */

/*
 * Where the path begins that ends at point: in a string that is open, behind "!" or a command that
 * takes one.
 */
static bool find_path(const char *text, size_t size, size_t point, size_t *ret_start)
{
    size_t at = point;
    if (text[0] == '!' || (text[0] == ':' && memchr(text, ' ', point))) {
        while (at > 1 && !strchr(" =<>\"'", text[at - 1]))
            at--;
        *ret_start = at;
        return text[0] == ':' || at > 1;
    }
    if (point == 0)
        return false;
    uint8_t *classes = xcalloc(size + 1, 1);
    highlight_python(text, point, classes); /* what is behind may close it */
    while (at > 0 && classes[at - 1] == HIGHLIGHT_STRING && text[at - 1] != '"' &&
           text[at - 1] != '\'' && text[at - 1] != '\n')
        at--;
    bool in_string = at > 0 && classes[at - 1] == HIGHLIGHT_STRING &&
                     (text[at - 1] == '"' || text[at - 1] == '\'');
    if (in_string && at == point) { /* a quote: does it open, or close? */
        size_t before = at - 1;
        while (before > 0 && classes[before - 1] == HIGHLIGHT_STRING &&
               text[before - 1] != text[at - 1])
            before--;
        in_string = !(before > 0 && classes[before - 1] == HIGHLIGHT_STRING);
    }
    free(classes);
    *ret_start = at;
    return in_string;
}

static char *directory_of(const char *path, size_t size, int64_t pid)
{
    char here[64] = ".";
    if (pid > 0)
        snprintf(here, sizeof(here), "/proc/%lld/cwd", (long long)pid);
    if (size == 0)
        return xstrdup(here);
    if (path[0] == '/')
        return xstrndup(path, size);
    if (path[0] == '~' && path[1] == '/' && getenv("HOME"))
        return xasprintf("%s%.*s", getenv("HOME"), (int)size - 1, path + 1);
    return xasprintf("%s/%.*s", here, (int)size, path);
}

static void add_file(struct local_matches *matches, const char *directory, const char *name)
{
    char *path = xasprintf("%s/%s", directory, name);
    struct stat status;
    bool folder = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    free(path);
    path = xasprintf("%s%s", name, folder ? "/" : "");
    local_matches_add(matches, path, folder ? "folder" : "file");
    free(path);
}

bool local_files(const char *text, size_t size, size_t point, int64_t pid,
                 struct local_matches *matches, size_t *ret_start)
{
    size_t start;
    if (!find_path(text, size, point, &start))
        return false;
    size_t name = point;
    while (name > start && text[name - 1] != '/')
        name--;
    char *directory = directory_of(text + start, name - start, pid);
    DIR *stream = opendir(directory);
    const struct dirent *entry;
    while (stream && matches->count < FILES_MAX && (entry = readdir(stream))) {
        bool dots = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        bool hidden = entry->d_name[0] == '.' && (point == name || text[name] != '.');
        if (!dots && !hidden && strncmp(entry->d_name, text + name, point - name) == 0)
            add_file(matches, directory, entry->d_name);
    }
    if (stream)
        closedir(stream);
    free(directory);
    sort(matches);
    *ret_start = name;
    return true;
}

/*
 * ---- words
 * ------------------------------------------------------------------------------------------
 */

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static void add_word(struct local_matches *matches, const char *word, size_t size, const char *type)
{
    for (size_t i = 0; i < matches->count; i++) {
        if (strlen(matches->items[i].text) == size &&
            memcmp(matches->items[i].text, word, size) == 0)
            return;
    }
    if (matches->count >= WORDS_MAX)
        return;
    char *copy = xstrndup(word, size);
    local_matches_add(matches, copy, type);
    free(copy);
}

static void add_words_of(struct local_matches *matches, const char *text, size_t size,
                         const char *prefix, size_t prefix_size)
{
    for (size_t i = 0; i < size;) {
        size_t end = i;
        while (end < size && is_word(text[end]))
            end++;
        if (end - i > prefix_size && !isdigit((unsigned char)text[i]) &&
            memcmp(text + i, prefix, prefix_size) == 0)
            add_word(matches, text + i, end - i, "seen");
        i = end > i ? end : i + 1;
    }
}

void local_words(const char *text, size_t point, const struct repl_session *session,
                 struct local_matches *matches, size_t *ret_start)
{
    size_t start = point;
    while (start > 0 && is_word(text[start - 1]))
        start--;
    *ret_start = start;
    size_t size = point - start;
    bool member = start > 0 && text[start - 1] == '.';
    if (size == 0)
        return;
    for (size_t i = 0; !member && python_keywords[i]; i++) {
        if (strncmp(python_keywords[i], text + start, size) == 0)
            add_word(matches, python_keywords[i], strlen(python_keywords[i]), "keyword");
    }
    for (size_t i = 0; !member && python_builtins[i]; i++) {
        if (strncmp(python_builtins[i], text + start, size) == 0)
            add_word(matches, python_builtins[i], strlen(python_builtins[i]), "builtin");
    }
    size_t seen = 0;
    for (size_t i = session->item_count; i-- > 0 && seen < CELLS_MAX; seen++) {
        const struct repl_cell *cell = session->items[i].cell;
        if (cell && cell->source)
            add_words_of(matches, cell->source, cell->source_size, text + start, size);
    }
    add_words_of(matches, text, start, text + start, size);
    sort(matches);
}
