/* SPDX-License-Identifier: MIT */
/*
 * The runner's program: its source text, and for each interpreter its compiled form, remembered in
 * memory and in the user's cache directory, so that a kernel does not compile it at every start.
 */
#ifndef HR_RUNNER_CODE_H
#define HR_RUNNER_CODE_H

#include "api/hermes-kernel.h"
#include "buf.h"

struct hr_runner_code;

struct hr_runner_code *hr_runner_code_new(void);
void hr_runner_code_free(struct hr_runner_code *code);

/*
 * Find the source at path ("": the library's directory, the source tree, the installed place), and
 * beside it the files that continue it; note whether it is another than before.
 *   Errors: HERMES_ENOENT, HERMES_ENOMEM
 */
int hr_runner_code_load(struct hr_runner_code *code, const char *path, struct hermes_error *error);
/* The directory of the source, where its parts lie that kernels read on need. */
const char *hr_runner_code_directory(const struct hr_runner_code *code);
/* Append the three fields of INIT: either the source alone, or magic and compiled code alone. */
bool hr_runner_code_add_fields(struct hr_runner_code *code, const char *python, struct hr_buf *out);
/*
 * What an interpreter made of the runner and of the bootstrap; the code is good for its magic
 * number only.
 */
struct hr_compiled {
    const char *magic, *runner, *boot;
    size_t magic_size, runner_size, boot_size;
};
/* Keep what a kernel compiled. Best effort. */
void hr_runner_code_keep(struct hr_runner_code *code, const char *python,
                         const struct hr_compiled *compiled);
/* The kept bootstrap, hr_free(); NULL: none, its source is to be sent. */
char *hr_runner_code_boot(struct hr_runner_code *code, const char *python, size_t *ret_size);
/* A kernel did not start with what was kept: it is compiled anew for the next. */
void hr_runner_code_forget(struct hr_runner_code *code, const char *python);

/*
 * A file that is installed with the library: named (if not empty), in the package's libexec
 * directory, beside the library, or in the build or source tree around it (subdirectory
 * tree_directory). hr_free(); NULL: not there, or out of memory.
 */
char *hr_find_installed(const char *named, const char *file_name, const char *tree_directory);

#endif
