/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "interp.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "alloc.h"
#include "buf.h"
#include "list.h"
#include "options.h"
#include "probe.h"

enum {
    CACHE_SIZE = 32,
    ASK_MS = 5000,
    ANSWER_MAX = 16384,
    OLDEST_MINOR = 8, /* 3.8 */
};

/* What a program that had to be asked said. */
struct answer {
    char *key;        /* program, its file's identity, and what a version manager looks at */
    char *executable; /* its sys.executable */
};

struct hr_interp_cache {
    pthread_mutex_t lock;
    struct answer answers[CACHE_SIZE];
    size_t next; /* the oldest, or the first unused */
};

struct search {
    struct hr_interp_cache *cache;
    const char *cwd;
    char *const *environment;
    struct hermes_error *error;
    bool failed; /* out of memory: what was not found may be there */
};

/* Runs under any Python: an old one is to be named as such. */
static const char question[] =
    "import os, sys\n"
    "name = sys.executable or ''\n"
    "if sys.version_info[0] > 2:\n"
    "    name = os.fsencode(name)\n"
    "os.write(1, ('hermes-python %d.%d ' % sys.version_info[:2]).encode()"
    " + name + b'\\0')\n";
static const char answer_mark[] = "hermes-python ";
static const char advice[] = "choose a Python with --python PATH";

/* ---- the cache -------------------------------------------------------------------------- */

struct hr_interp_cache *hr_interp_cache_new(void)
{
    struct hr_interp_cache *cache = hr_calloc(1, sizeof *cache);

    if (cache && pthread_mutex_init(&cache->lock, NULL)) {
        hr_free(cache);
        return NULL;
    }
    return cache;
}

void hr_interp_cache_free(struct hr_interp_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < CACHE_SIZE; i++) {
        hr_free(cache->answers[i].key);
        hr_free(cache->answers[i].executable);
    }
    pthread_mutex_destroy(&cache->lock);
    hr_free(cache);
}

/* A copy of what is known under the key, or NULL. */
static char *recall(struct hr_interp_cache *cache, const char *key)
{
    char *executable = NULL;

    pthread_mutex_lock(&cache->lock);
    for (size_t i = 0; i < CACHE_SIZE && !executable; i++)
        if (cache->answers[i].key && !strcmp(cache->answers[i].key, key))
            executable = hr_strdup(cache->answers[i].executable);
    pthread_mutex_unlock(&cache->lock);
    return executable;
}

/* Without memory it is not remembered. */
static void remember(struct hr_interp_cache *cache, const char *key, const char *executable)
{
    struct answer new = {hr_strdup(key), hr_strdup(executable)}, old;

    if (!new.key || !new.executable) {
        hr_free(new.key);
        hr_free(new.executable);
        return;
    }
    pthread_mutex_lock(&cache->lock);
    old = cache->answers[cache->next];
    cache->answers[cache->next] = new;
    cache->next = (cache->next + 1) % CACHE_SIZE;
    pthread_mutex_unlock(&cache->lock);
    hr_free(old.key);
    hr_free(old.executable);
}

/* ---- files and names -------------------------------------------------------------------- */

static const char *variable(const struct search *search, const char *name)
{
    size_t size = strlen(name);

    for (char *const *at = search->environment; at && *at; at++)
        if (!strncmp(*at, name, size) && (*at)[size] == '=')
            return (*at)[size + 1] ? *at + size + 1 : NULL;
    return NULL;
}

static bool is_program(const char *path)
{
    struct stat info;

    return stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
           faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0;
}

/* Text that hr_printf() made; remembers when there was no memory. */
static char *made(struct search *search, char *text)
{
    search->failed |= !text;
    return text;
}

/* path as seen from the search's directory; NULL: there is no directory, or no memory. */
static char *absolute(struct search *search, const char *path)
{
    char *directory, *joined;

    if (*path == '/')
        return made(search, hr_strdup(path));
    if (search->cwd && *search->cwd == '/')
        return made(search, hr_printf("%s/%s", search->cwd, path));
    directory = getcwd(NULL, 0);
    if (!directory)
        return NULL;
    joined = search->cwd ? hr_printf("%s/%s/%s", directory, search->cwd, path)
                         : hr_printf("%s/%s", directory, path);
    free(directory);
    return made(search, joined);
}

enum kind { KIND_SCRIPT, KIND_ELF, KIND_OTHER };

static enum kind kind_of(const char *path)
{
    char start[4] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    ssize_t n;

    if (fd < 0)
        return KIND_OTHER; /* may be run and not read */
    n = read(fd, start, sizeof start);
    close(fd);
    if (n >= 2 && !memcmp(start, "#!", 2))
        return KIND_SCRIPT;
    return n == 4 && !memcmp(start, "\177ELF", 4) ? KIND_ELF : KIND_OTHER;
}

/* The first program of this name on PATH, absolute, or NULL. */
static char *search_path(struct search *search, const char *name)
{
    const char *at = variable(search, "PATH"), *end;

    for (at = at ? at : "/usr/local/bin:/usr/bin:/bin";; at = end + 1) {
        char *relative, *path = NULL;

        end = strchrnul(at, ':');
        relative =
            made(search, hr_printf("%.*s%s%s", (int)(end - at), at, end == at ? "./" : "/", name));
        if (relative)
            path = absolute(search, relative);
        hr_free(relative);
        if (path && is_program(path))
            return path;
        hr_free(path);
        if (!*end)
            return NULL;
    }
}

/* ---- programs that have to be asked ----------------------------------------------------- */

static int no_memory(struct search *search)
{
    search->failed = true;
    return hr_error_set(search->error, HERMES_ENOMEM, ENOMEM, "out of memory");
}

static char *make_key(struct search *search, const char *path)
{
    const char *version = variable(search, "PYENV_VERSION"), *cwd = search->cwd ? search->cwd : ".";
    char *local_path = made(search, hr_printf("%s/.python-version", cwd));
    struct stat info, local;

    if (!local_path || stat(local_path, &local))
        memset(&local, 0, sizeof local);
    hr_free(local_path);
    if (stat(path, &info))
        memset(&info, 0, sizeof info);
    return made(search, hr_printf("%s\n%s\n%s\n%llu.%llu.%lld.%ld.%lld %lld.%ld", path, cwd,
                                  version ? version : "", (unsigned long long)info.st_dev,
                                  (unsigned long long)info.st_ino, (long long)info.st_mtim.tv_sec,
                                  info.st_mtim.tv_nsec, (long long)info.st_size,
                                  (long long)local.st_mtim.tv_sec, local.st_mtim.tv_nsec));
}

/* "3.11..." is enough; false: no number. */
static bool parse_version(const char *text, long *ret_major, long *ret_minor)
{
    char *end;

    *ret_major = strtol(text, &end, 10);
    if (end == text || *end != '.')
        return false;
    text = end + 1;
    *ret_minor = strtol(text, &end, 10);
    return end != text;
}

static bool is_new_enough(long major, long minor)
{
    return major > 3 || (major == 3 && minor >= OLDEST_MINOR);
}

/* The program's own words about why it failed, or those of the system. */
static int ask_failed(struct search *search, const char *path, int error, const struct hr_buf *err)
{
    const char *words = err->data ? err->data + strspn(err->data, " \t\r\n") : "";
    int size = (int)strcspn(words, "\r\n");

    if (error == ETIMEDOUT)
        return hr_error_set(search->error, HERMES_ENOENT, error,
                            "%s did not answer within %d s; %s", path, ASK_MS / 1000, advice);
    if (error == ENODATA || error == ENOBUFS)
        return hr_error_set(search->error, HERMES_ENOENT, error,
                            "%s is no working Python%s%.*s; %s", path, size ? ": " : "",
                            size > 120 ? 120 : size, words, advice);
    return hr_error_set(search->error, HERMES_ENOENT, error, "cannot run %s: %s; %s", path,
                        strerror(error), advice);
}

/* What the answer says: the executable, or an error. */
static int read_answer(struct search *search, const char *path, const char *text,
                       char **ret_executable)
{
    const char *mark = strstr(text, answer_mark), *executable;
    long major, minor;

    if (!mark || !parse_version(mark + strlen(answer_mark), &major, &minor))
        return hr_error_set(search->error, HERMES_ENOENT, 0, "%s is no working Python; %s", path,
                            advice);
    executable = strchr(mark + strlen(answer_mark), ' ');
    if (!is_new_enough(major, minor))
        return hr_error_set(search->error, HERMES_ENOENT, 0,
                            "%s is Python %ld.%ld, and 3.%d or newer is needed; %s", path, major,
                            minor, OLDEST_MINOR, advice);
    if (!executable || executable[1] != '/' || !is_program(executable + 1))
        return hr_error_set(search->error, HERMES_ENOENT, 0,
                            "%s does not know its own program file; %s", path, advice);
    *ret_executable = hr_strdup(executable + 1);
    return *ret_executable ? 0 : no_memory(search);
}

bool hr_interp_is_shadowed(const char *directory)
{
    static const char *const found[] = {"linecache", "linecache.py", "linecache.pyc",
                                        "linecache.so"};
    bool shadowed = false;
    int fd = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

    for (size_t i = 0; fd >= 0 && !shadowed && i < HR_ARRAY_LENGTH(found); i++)
        shadowed = faccessat(fd, found[i], F_OK, 0) == 0;
    if (fd >= 0)
        close(fd);
    return shadowed;
}

/* Run the program once for its sys.executable; it must be a Python new enough. */
static int ask(struct search *search, const char *path, char **ret_executable)
{
    const char *aside = hr_interp_is_shadowed(search->cwd) ? "-I" : "-E";
    char *argv[] = {(char *)path, (char *)aside,    (char *)"-S",
                    (char *)"-c", (char *)question, NULL};
    struct hr_probe_request request = {argv, search->environment, search->cwd, ASK_MS};
    char *key = make_key(search, path);
    struct hr_buf out, err;
    int code;

    if (!key)
        return no_memory(search);
    *ret_executable = recall(search->cache, key);
    if (*ret_executable && is_program(*ret_executable)) {
        hr_free(key);
        return 0;
    }
    hr_free(*ret_executable);
    *ret_executable = NULL;
    hr_buf_init(&out, ANSWER_MAX);
    hr_buf_init(&err, ANSWER_MAX);
    code = hr_probe_run(&request, &out, &err);
    if (code == ENOBUFS && out.size < ANSWER_MAX / 2)
        code = no_memory(search);
    else if (code)
        code = ask_failed(search, path, code, &err);
    else
        code = read_answer(search, path, out.data, ret_executable);
    if (!code)
        remember(search->cache, key, *ret_executable);
    hr_buf_done(&out);
    hr_buf_done(&err);
    hr_free(key);
    return code;
}

/* A program that was found: seen through when it is a script. Takes path. */
static int take_program(struct search *search, char *path, char **ret_path)
{
    int code;

    if (kind_of(path) != KIND_SCRIPT) {
        *ret_path = path;
        return 0;
    }
    code = ask(search, path, ret_path);
    hr_free(path);
    return code;
}

/* ---- environments ----------------------------------------------------------------------- */

/* The value of `key = value` in a pyvenv.cfg's text, or NULL. */
static const char *setting(const char *text, const char *key)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += strspn(line, " \t\r\n");
        if (!strncmp(line, key, strlen(key))) {
            const char *at = line + strlen(key);

            at += strspn(at, " \t");
            if (*at == '=')
                return at + 1 + strspn(at + 1, " \t");
        }
    }
    return NULL;
}

/* The Python version that made the virtual environment, from its configuration file. */
static bool read_venv_version(const char *root, long *ret_major, long *ret_minor)
{
    char text[4096], *path = hr_printf("%s/pyvenv.cfg", root);
    const char *value;
    ssize_t n = -1;
    int fd;

    if (path) {
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
        if (fd >= 0) {
            n = read(fd, text, sizeof text - 1);
            close(fd);
        }
    }
    hr_free(path);
    if (n <= 0)
        return false;
    text[n] = '\0';
    value = setting(text, "version_info");
    if (!value)
        value = setting(text, "version");
    return value && parse_version(value, ret_major, ret_minor);
}

/* 0 with the path, HERMES_ENOMEM, or HERMES_ENOENT: broken or too old. Takes path. */
static int take_venv_program(struct search *search, const char *root, char *path, char **ret_path)
{
    enum kind kind = kind_of(path);
    char *executable = NULL;
    long major, minor;
    int code;

    if (kind == KIND_SCRIPT)
        return take_program(search, path, ret_path);
    if (kind == KIND_ELF && read_venv_version(root, &major, &minor)) {
        code = is_new_enough(major, minor) ? 0 : HERMES_ENOENT;
    } else {
        code = ask(search, path, &executable);
        if (!code)
            hr_free(
                executable); /* the environment is where this path is, wherever its links lead */
    }
    if (code)
        hr_free(path);
    else
        *ret_path = path;
    return code;
}

/* The active environment's Python: true when there is a program, *ret_code tells whether it can be
 * used. */
static bool find_in_environment(struct search *search, const char *name, char **ret_path,
                                int *ret_code)
{
    static const char *const programs[] = {"bin/python", "bin/python3"};
    const char *value = variable(search, name);
    char *root = value ? absolute(search, value) : NULL;
    bool found = false;

    for (size_t i = 0; root && i < sizeof programs / sizeof programs[0] && !found; i++) {
        char *path = made(search, hr_printf("%s/%s", root, programs[i]));

        if (path && is_program(path)) {
            *ret_code = take_venv_program(search, root, path, ret_path);
            found = true;
        } else {
            hr_free(path);
        }
    }
    hr_free(root);
    return found;
}

/* ---- the search ------------------------------------------------------------------------- */

static int find_default(struct search *search, char **ret_path)
{
    char *path = search_path(search, "python3");

    if (!path)
        path = search_path(search, "python");
    if (!path)
        return hr_error_set(search->error, HERMES_ENOENT, ENOENT,
                            "no python3 and no python on PATH; %s", advice);
    return take_program(search, path, ret_path);
}

static int find_named(struct search *search, const char *python, char **ret_path)
{
    const char *home = variable(search, "HOME");
    char *expanded = NULL, *path;
    int found;

    if (!strchr(python, '/')) {
        path = search_path(search, python);
        if (!path)
            return hr_error_set(search->error, HERMES_ENOENT, ENOENT, "no program %s on PATH; %s",
                                python, advice);
        return take_program(search, path, ret_path);
    }
    if (!strncmp(python, "~/", 2) && home) {
        expanded = hr_printf("%s%s", home, python + 1);
        if (!expanded)
            return no_memory(search);
    }
    path = absolute(search, expanded ? expanded : python);
    hr_free(expanded);
    if (!path)
        return search->failed
                   ? no_memory(search)
                   : hr_error_set(search->error, HERMES_ENOENT, ENOENT,
                                  "cannot run %s: the current directory is gone", python);
    if (!is_program(path)) {
        found = access(path, F_OK) == 0 ? EACCES : errno;
        hr_error_set(search->error, HERMES_ENOENT, found, "cannot run %s: %s; %s", path,
                     found == EACCES ? "not an executable file" : strerror(found), advice);
        hr_free(path);
        return HERMES_ENOENT;
    }
    return take_program(search, path, ret_path);
}

/* Into search->failed falls what looks like nothing found. */
static int find(struct search *search, enum hermes_mode mode, const char *python, char **ret_path)
{
    static const char *const names[] = {"VIRTUAL_ENV", "CONDA_PREFIX"};
    struct hermes_error *error = search->error;
    int code;

    if (python && *python)
        return find_named(search, python, ret_path);
    search->error = NULL; /* a broken environment is no error: there is the default */
    for (size_t i = 0; mode != HERMES_MODE_STRICT && i < sizeof names / sizeof names[0]; i++)
        if (find_in_environment(search, names[i], ret_path, &code)) {
            if (code == 0)
                return 0;
            break;
        }
    search->error = error;
    return search->failed ? no_memory(search) : find_default(search, ret_path);
}

int hr_interp_find(struct hr_interp_cache *cache, enum hermes_mode mode, const char *python,
                   const char *cwd, char *const *environment, char **ret_path,
                   struct hermes_error *error)
{
    struct search search = {cache, cwd, environment, error, false};
    int code;

    *ret_path = NULL;
    code = find(&search, mode, python, ret_path);
    if (!search.failed)
        return code;
    hr_free(*ret_path);
    *ret_path = NULL;
    search.error = error;
    return no_memory(&search);
}
