/* SPDX-License-Identifier: MIT */
/*
 * Which Python runs a kernel. Sees through version managers' shims once and remembers. Must not be
 * called with the engine's lock held: asking an unknown program blocks.
 */
#ifndef HR_INTERP_H
#define HR_INTERP_H

#include "api/hermes-kernel.h"

struct hr_interp_cache; /* answers of programs that had to be asked; thread-safe, at most 32 */

struct hr_interp_cache *hr_interp_cache_new(void);
void hr_interp_cache_free(struct hr_interp_cache *cache);

/*
 * The ladder. python NULL: project mode takes VIRTUAL_ENV, then CONDA_PREFIX (bin/python, else
 * bin/python3; the first that is an executable file decides: if it is broken or older than 3.8, the
 * default is next), and both modes end at python3, else python, on PATH. A name without a slash is
 * searched on PATH; "~/" is expanded.
 *
 * A script ("#!": a version manager's shim) is run once, at most 5 s, for its sys.executable, with
 * cwd as working directory; its answer is remembered for this cwd. Any other program is taken as it
 * is, its version becomes known when the kernel starts. Of an environment the version is looked up
 * in pyvenv.cfg, or asked for as above.
 *
 * The path returned is absolute and its symlinks are NOT resolved (a venv is its path).
 *   Errors: HERMES_ENOENT, text names what was tried and how to choose one (--python PATH);
 *           HERMES_ENOMEM
 */
int hr_interp_find(struct hr_interp_cache *cache, enum hermes_mode mode, const char *python,
                   const char *cwd, char *const *environment, char **ret_path,
                   struct hermes_error *error);

/*
 * From 3.13 on, `python -c` imports linecache with the working directory first on sys.path, before
 * it runs anything. true: there that would be a file of the user's. NULL: no directory.
 */
bool hr_interp_is_shadowed(const char *directory);

#endif
