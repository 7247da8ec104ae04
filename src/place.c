/* SPDX-License-Identifier: MIT */
/*
 * Where a cell runs: its interpreter and its directory, found on the caller's thread without the engine's lock, since an unknown
 * program may have to be asked.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "engine-private.h"
#include "interp.h"

enum { MEMO_NS = 1000000000 };

/* What decides on the interpreter, as one text; an answer to the same question is good for a second. */
static char *memo_question(enum hermes_mode mode, const char *python, const char *cwd)
{
    const char *path = getenv("PATH"), *venv = getenv("VIRTUAL_ENV"), *conda = getenv("CONDA_PREFIX");

    return hr_printf("%d\n%s\n%s\n%s\n%s\n%s", (int)mode, python ? python : "", cwd, path ? path : "", venv ? venv : "",
                     conda ? conda : "");
}

static int find_python(struct hermes_engine *engine, enum hermes_mode mode, const char *python, const char *cwd, char **ret,
                       struct hermes_error *error)
{
    extern char **environ;
    char *question = memo_question(mode, python, cwd), *found = NULL;
    int status = 0;

    if (!question)
        return hr_error_set(error, HERMES_ENOMEM, 0, "out of memory");
    pthread_mutex_lock(&engine->memo_lock);
    if (engine->memo.question && hr_now_ns() < engine->memo.until_ns && strcmp(engine->memo.question, question) == 0)
        found = hr_strdup(engine->memo.python);
    pthread_mutex_unlock(&engine->memo_lock);
    if (!found) {
        status = hr_interp_find(engine->interp, mode, python, cwd, environ, &found, error);
        if (!status) {
            pthread_mutex_lock(&engine->memo_lock);
            hr_free(engine->memo.question);
            hr_free(engine->memo.python);
            engine->memo.question = question;
            engine->memo.python = hr_strdup(found);
            engine->memo.until_ns = engine->memo.python ? hr_now_ns() + MEMO_NS : 0;
            pthread_mutex_unlock(&engine->memo_lock);
            question = NULL;
        }
    }
    hr_free(question);
    *ret = found;
    return status;
}

/* Interpreter and directory of a request; blocks at most while an unknown program is asked. No lock may be held. */
int hr_place_find(struct hermes_engine *engine, enum hermes_mode mode, const char *python, const char *cwd, struct hr_place *ret,
                      struct hermes_error *error)
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
    status = find_python(engine, ret->mode, python ? python : configured, ret->cwd, &ret->python, error);
    hr_free(configured);
    if (status)
        hr_free(ret->cwd);
    return status;
}

int hermes_find_python(struct hermes_engine *engine, enum hermes_mode mode, const char *python, char **ret_path,
                       struct hermes_error *error)
{
    struct hr_place place;
    int status = hr_place_find(engine, mode, python, NULL, &place, error);

    if (!status) {
        *ret_path = place.python;
        hr_free(place.cwd);
    }
    return status;
}
