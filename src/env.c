/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "env.h"

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "buf.h"
#include "text.h"

/* A variable of the host, or one that is set. */
struct variable {
    const char *text; /* "NAME=value" */
    size_t name_size;
    size_t position; /* in the host's order */
    char *owned;     /* text, when it is not the host's */
    enum { KEPT, SET, DROPPED } fate;
};

struct environment {
    struct variable *list;
    size_t count;
    bool failed; /* out of memory */
};

/* The names that a scrub drops for what they contain, in capitals ... */
static const char *const secret_words[] = {
    "KEY",  "TOKEN", "SECRET",  "PASSWORD", "CREDENTIAL", "PASSWD",
    "AUTH", "DSN",   "WEBHOOK", "CREDS",    "BEARER",     "APIKEY",
};

/* ... keeps for what they begin with ... */
static const char *const safe_prefixes[] = {
    "PATH", "HOME",  "USER",    "LANG", "LC_",        "TERM",        "TMPDIR", "TMP",
    "TEMP", "SHELL", "LOGNAME", "XDG_", "PYTHONPATH", "VIRTUAL_ENV", "CONDA",
};

/* ... and keeps by their whole name. */
static const char *const safe_names[] = {
    "HERMES_HOME",
    "HERMES_PROFILE",
    "HERMES_CONFIG",
    "HERMES_ENV",
    "HERMES_DELEGATED_CHILD_CONTEXT",
};

/* Ours: they configure this program or belong to one kernel, and are no business of the next. */
static const char *const own_prefixes[] = {"HERMES_REPL_", "HERMES_KERNEL_"};
static const char *const own_names[] = {
    "HERMES_REPL", "HERMES_TREE_ID", "HERMES_RPC_SOCKET", "HERMES_RPC_TOKEN", "HERMES_RPC_DIR",
};

/* Who a worker is on the task board: never for its delegated children. */
static const char kanban_prefix[] = "HERMES_KANBAN_";
static const char fence_name[] = "HERMES_DELEGATED_CHILD_CONTEXT";

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* ---- names ------------------------------------------------------------------------------ */

static bool is_name(const char *name, size_t size, const char *word)
{
    return strlen(word) == size && !memcmp(name, word, size);
}

static bool begins_with(const char *name, size_t size, const char *prefix)
{
    size_t prefix_size = strlen(prefix);

    return size >= prefix_size && !memcmp(name, prefix, prefix_size);
}

static bool any_name(const char *name, size_t size, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_name(name, size, words[i]))
            return true;
    return false;
}

static bool any_prefix(const char *name, size_t size, const char *const *prefixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (begins_with(name, size, prefixes[i]))
            return true;
    return false;
}

/* Whether word (capitals) stands anywhere in name, in any case; not by locale. */
static bool contains(const char *name, size_t size, const char *word)
{
    size_t word_size = strlen(word);

    for (size_t at = 0; at + word_size <= size; at++) {
        size_t i = 0;

        while (i < word_size &&
               (name[at + i] >= 'a' && name[at + i] <= 'z' ? name[at + i] - 'a' + 'A'
                                                           : name[at + i]) == word[i])
            i++;
        if (i == word_size)
            return true;
    }
    return false;
}

static bool is_secret(const char *name, size_t size)
{
    for (size_t i = 0; i < LENGTH(secret_words); i++)
        if (contains(name, size, secret_words[i]))
            return true;
    return false;
}

/* Whether the comma-separated list holds the name. */
static bool is_listed(const char *list, const char *name, size_t size)
{
    while (list && *list) {
        size_t skip = strspn(list, " \t,"), item = strcspn(list + skip, ","), end = item;

        while (end && strchr(" \t", list[skip + end - 1]))
            end--;
        if (end == size && !memcmp(list + skip, name, size))
            return true;
        list += skip + item;
    }
    return false;
}

static bool passes(const struct hr_env_request *request, const char *name, size_t size)
{
    if (is_listed(request->passthrough, name, size))
        return true;
    if (request->policy == HERMES_ENV_INHERIT)
        return !any_name(name, size, own_names, LENGTH(own_names)) &&
               !any_prefix(name, size, own_prefixes, LENGTH(own_prefixes));
    return !is_secret(name, size) &&
           (any_prefix(name, size, safe_prefixes, LENGTH(safe_prefixes)) ||
            any_name(name, size, safe_names, LENGTH(safe_names)));
}

/* ---- the environment -------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    const struct variable *one = a, *two = b;
    size_t size = one->name_size < two->name_size ? one->name_size : two->name_size;
    int order = memcmp(one->text, two->text, size);

    if (order)
        return order;
    if (one->name_size != two->name_size)
        return one->name_size < two->name_size ? -1 : 1;
    return one->position < two->position ? -1 : one->position > two->position;
}

static int compare_positions(const void *a, const void *b)
{
    const struct variable *one = a, *two = b;

    return one->position < two->position ? -1 : one->position > two->position;
}

static void sort(struct environment *environment, int (*compare)(const void *, const void *))
{
    if (environment->count)
        qsort(environment->list, environment->count, sizeof *environment->list, compare);
}

static struct variable *find(const struct environment *environment, const char *name)
{
    for (size_t i = 0; i < environment->count; i++)
        if (is_name(environment->list[i].text, environment->list[i].name_size, name))
            return &environment->list[i];
    return NULL;
}

/* Of a name that comes twice the first counts, as for getenv(). */
static void drop_duplicates(struct environment *environment)
{
    size_t kept = 0;

    sort(environment, compare_names);
    for (size_t i = 0; i < environment->count; i++) {
        const struct variable *variable = &environment->list[i];

        if (kept && environment->list[kept - 1].name_size == variable->name_size &&
            !memcmp(environment->list[kept - 1].text, variable->text, variable->name_size))
            continue;
        environment->list[kept++] = *variable;
    }
    environment->count = kept;
    sort(environment, compare_positions);
}

/* The host's variables, each with its fate. There is room for `more` others. */
static bool take_host(struct environment *environment, const struct hr_env_request *request,
                      size_t more)
{
    size_t count = 0;

    while (request->host && request->host[count])
        count++;
    environment->list = hr_calloc(count + more, sizeof *environment->list);
    if (!environment->list)
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *text = request->host[i], *equals = strchr(text, '=');
        struct variable *variable = &environment->list[environment->count];

        if (!equals || equals == text)
            continue;
        variable->text = text;
        variable->name_size = (size_t)(equals - text);
        variable->position = i;
        environment->count++;
    }
    drop_duplicates(environment);
    for (size_t i = 0; i < environment->count; i++) {
        struct variable *variable = &environment->list[i];

        variable->fate = passes(request, variable->text, variable->name_size) ? KEPT : DROPPED;
    }
    return true;
}

static void drop(struct environment *environment, const char *name)
{
    struct variable *variable = find(environment, name);

    if (variable)
        variable->fate = DROPPED;
}

/* Takes text, which is "NAME=value" of this name; NULL: out of memory. */
static void set_text(struct environment *environment, const char *name, char *text)
{
    struct variable *variable = find(environment, name);

    if (!text) {
        environment->failed = true;
        return;
    }
    if (!variable) {
        variable = &environment->list[environment->count];
        variable->position =
            environment->count ? environment->list[environment->count - 1].position + 1 : 0;
        environment->count++;
    }
    hr_free(variable->owned);
    variable->text = variable->owned = text;
    variable->name_size = strlen(name);
    variable->fate = SET;
}

static void set(struct environment *environment, const char *name, const char *value)
{
    set_text(environment, name, hr_printf("%s=%s", name, value));
}

static const char *value_of(const struct variable *variable)
{
    return variable ? variable->text + variable->name_size + 1 : NULL;
}

/* What every scrubbed kernel gets. */
static void set_for_python(struct environment *environment)
{
    const char *zone = value_of(find(environment, "HERMES_TIMEZONE"));
    size_t size;

    set(environment, "PYTHONDONTWRITEBYTECODE", "1");
    set(environment, "PYTHONIOENCODING", "utf-8");
    set(environment, "PYTHONUTF8", "1");
    if (zone) {
        zone += strspn(zone, " \t\r\n");
        size = strlen(zone);
        while (size && strchr(" \t\r\n", zone[size - 1]))
            size--;
        if (size)
            set_text(environment, "TZ", hr_printf("TZ=%.*s", (int)size, zone));
    }
    drop(environment, "HERMES_TIMEZONE");
}

static void set_python_path(struct environment *environment, const char *first)
{
    const struct variable *variable = find(environment, "PYTHONPATH");
    const char *rest = variable && variable->fate != DROPPED ? value_of(variable) : "";

    set_text(environment, "PYTHONPATH",
             hr_printf("PYTHONPATH=%s%s%s", first, *rest ? ":" : "", rest));
}

static void fence(struct environment *environment)
{
    for (size_t i = 0; i < environment->count; i++)
        if (begins_with(environment->list[i].text, environment->list[i].name_size, kanban_prefix))
            environment->list[i].fate = DROPPED;
    set(environment, fence_name, "1");
}

static void done(struct environment *environment)
{
    for (size_t i = 0; i < environment->count; i++)
        hr_free(environment->list[i].owned);
    hr_free(environment->list);
}

/* false: out of memory; done() either way. */
static bool make(struct environment *environment, const struct hr_env_request *request)
{
    enum { OWN_VARIABLES = 6 };
    size_t pairs = 0;

    memset(environment, 0, sizeof *environment);
    while (request->set && request->set[2 * pairs])
        pairs++;
    if (!take_host(environment, request, pairs + OWN_VARIABLES))
        return false;
    if (request->policy == HERMES_ENV_SCRUB)
        set_for_python(environment);
    for (size_t i = 0; i < pairs; i++) {
        if (request->set[2 * i + 1])
            set(environment, request->set[2 * i], request->set[2 * i + 1]);
        else
            drop(environment, request->set[2 * i]);
    }
    if (request->pythonpath_first)
        set_python_path(environment, request->pythonpath_first);
    if (request->delegated_child)
        fence(environment);
    return !environment->failed;
}

/* ---- results ---------------------------------------------------------------------------- */

char **hr_env_build(const struct hr_env_request *request)
{
    struct environment environment;
    size_t pointers = 1, bytes = 0;
    char **block = NULL, *at;

    if (!make(&environment, request))
        goto out;
    for (size_t i = 0; i < environment.count; i++)
        if (environment.list[i].fate != DROPPED) {
            pointers++;
            bytes += strlen(environment.list[i].text) + 1;
        }
    block = hr_malloc(pointers * sizeof *block + bytes);
    if (!block)
        goto out;
    at = (char *)(block + pointers);
    pointers = 0;
    for (size_t i = 0; i < environment.count; i++)
        if (environment.list[i].fate != DROPPED) {
            size_t size = strlen(environment.list[i].text) + 1;

            memcpy(at, environment.list[i].text, size);
            block[pointers++] = at;
            at += size;
        }
    block[pointers] = NULL;
out:
    done(&environment);
    return block;
}

void hr_env_free(char **block)
{
    hr_free(block);
}

static void add_names(struct hr_buf *out, const struct environment *environment, const char *title,
                      int fate)
{
    const char *separator = "";

    hr_buf_printf(out, "\"%s\":[", title);
    for (size_t i = 0; i < environment->count; i++) {
        const struct variable *variable = &environment->list[i];

        if ((int)variable->fate != fate)
            continue;
        hr_buf_add_text(out, separator);
        if (!hr_json_add_string(out, variable->text, variable->name_size))
            out->failed = true;
        separator = ",";
    }
    hr_buf_add_text(out, "]");
}

char *hr_env_explain(const struct hr_env_request *request)
{
    struct environment environment;
    struct hr_buf out;
    char *text = NULL;

    hr_buf_init(&out, 0);
    if (make(&environment, request)) {
        sort(&environment, compare_names);
        hr_buf_add_text(&out, "{");
        add_names(&out, &environment, "kept", KEPT);
        hr_buf_add_text(&out, ",");
        add_names(&out, &environment, "set", SET);
        hr_buf_add_text(&out, ",");
        add_names(&out, &environment, "dropped", DROPPED);
        hr_buf_add_text(&out, "}");
        text = hr_buf_take(&out);
    }
    hr_buf_done(&out);
    done(&environment);
    return text;
}
