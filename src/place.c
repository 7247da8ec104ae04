/* SPDX-License-Identifier: MIT */
/*
 * Where a cell runs: its interpreter and its directory, found on the caller's thread without the
 * engine's lock, since an unknown program may have to be asked.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "engine-private.h"
#include "interp.h"

enum { MEMO_NS = 1000000000 };

/* What decides on the interpreter. Texts that are not there are empty. */
enum { ASKED_PYTHON, ASKED_CWD, ASKED_PATH, ASKED_VENV, ASKED_CONDA };
_Static_assert(ASKED_CONDA + 1 == HR_MEMO_TEXTS, "a text that the memo has no place for");

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static bool same_question(const struct hr_memo *memo, enum hermes_mode mode,
                          const char *const asked[HR_MEMO_TEXTS])
{
    if (!memo->answer || memo->mode != mode || hr_now_ns() >= memo->until_ns)
        return false;
    for (size_t i = 0; i < HR_MEMO_TEXTS; i++)
        if (strcmp(memo->asked[i], asked[i]) != 0)
            return false;
    return true;
}

void hr_memo_clear(struct hr_memo *memo)
{
    for (size_t i = 0; i < HR_MEMO_TEXTS; i++)
        hr_free(memo->asked[i]);
    hr_free(memo->answer);
    memset(memo, 0, sizeof *memo);
}

/* Best effort: an answer that is not kept is found again. */
static void keep_answer(struct hr_memo *memo, enum hermes_mode mode,
                        const char *const asked[HR_MEMO_TEXTS], const char *answer)
{
    bool complete = true;

    hr_memo_clear(memo);
    memo->mode = mode;
    memo->until_ns = hr_now_ns() + MEMO_NS;
    memo->answer = hr_strdup(answer);
    for (size_t i = 0; i < HR_MEMO_TEXTS; i++)
        complete &= (memo->asked[i] = hr_strdup(asked[i])) != NULL;
    if (!complete)
        hr_memo_clear(memo);
}

static int find_python(struct hermes_engine *engine, enum hermes_mode mode, const char *python,
                       const char *cwd, char **ret, struct hermes_error *error)
{
    extern char **environ;
    const char *const asked[HR_MEMO_TEXTS] = {
        [ASKED_PYTHON] = or_empty(python),
        [ASKED_CWD] = cwd,
        [ASKED_PATH] = or_empty(getenv("PATH")),
        [ASKED_VENV] = or_empty(getenv("VIRTUAL_ENV")),
        [ASKED_CONDA] = or_empty(getenv("CONDA_PREFIX")),
    };
    char *found = NULL;
    int status = 0;

    pthread_mutex_lock(&engine->memo_lock);
    if (same_question(&engine->memo, mode, asked))
        found = hr_strdup(engine->memo.answer);
    pthread_mutex_unlock(&engine->memo_lock);
    if (!found) {
        status = hr_interp_find(engine->interp, mode, python, cwd, environ, &found, error);
        if (!status) {
            pthread_mutex_lock(&engine->memo_lock);
            keep_answer(&engine->memo, mode, asked, found);
            pthread_mutex_unlock(&engine->memo_lock);
        }
    }
    *ret = found;
    return status;
}

/*
 * Interpreter and directory of a request; blocks at most while an unknown program is asked. No lock
 * may be held.
 */
int hr_place_find(struct hermes_engine *engine, enum hermes_mode mode, const char *python,
                  const char *cwd, struct hr_place *ret, struct hermes_error *error)
{
    char *configured = NULL, *here = NULL;
    int status;

    hr_engine_lock(engine);
    ret->mode = mode ? mode : (enum hermes_mode)engine->options.mode;
    if (!python && *engine->options.python)
        configured = hr_strdup(engine->options.python);
    hr_engine_unlock(engine);
    if (!cwd && ret->mode != HERMES_MODE_STRICT)
        here = getcwd(NULL, 0); /* a deleted one is used without a name */
    ret->cwd = hr_strdup(cwd ? cwd : here ? here : "");
    free(here);
    if (!ret->cwd) {
        hr_free(configured);
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    }
    status =
        find_python(engine, ret->mode, python ? python : configured, *ret->cwd ? ret->cwd : "/",
                    &ret->python, error); /* a shim may not work in a deleted directory */
    hr_free(configured);
    if (status)
        hr_free(ret->cwd);
    return status;
}

int hermes_find_python(struct hermes_engine *engine, enum hermes_mode mode, const char *python,
                       char **ret_path, struct hermes_error *error)
{
    struct hr_place place = {0};
    int status = hr_place_find(engine, mode, python, NULL, &place, error);

    if (!status) {
        *ret_path = place.python;
        hr_free(place.cwd);
    }
    return status;
}
