/* SPDX-License-Identifier: MIT */
/*
 * The environment of a kernel: which variables pass, which are set, which are dropped, and the
 * names of the latter for those who ask. Knows nothing of kernels; never looks at the process's
 * environ by itself.
 */
#ifndef HR_ENV_H
#define HR_ENV_H

#include "api/hermes-kernel.h"

struct hr_env_request {
    enum hermes_env policy;
    char *const *host;       /* "NAME=value", NULL-ended: the host's environment */
    const char *passthrough; /* comma-separated names that pass the scrub, or NULL */
    const char *const
        *set; /* name, value, name, value, NULL: set after the scrub; value NULL removes */
    const char *pythonpath_first; /* directory put first on PYTHONPATH, or NULL */
    bool delegated_child;         /* drop KANBAN identity variables, set the fence marker */
};

/* The environment as one NULL-ended block, freed with hr_env_free(). NULL: out of memory. */
char **hr_env_build(const struct hr_env_request *request);
void hr_env_free(char **block);

/*
 * {"kept":[...],"set":[...],"dropped":[...]}: names, sorted, never values. hr_free(). NULL: out of
 * memory.
 */
char *hr_env_explain(const struct hr_env_request *request);

#endif
