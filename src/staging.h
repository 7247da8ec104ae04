/* SPDX-License-Identifier: MIT */
/*
 * Staging directories: private (0700) directories of a kernel, and the sweep of those that dead
 * hosts left. Follows no symbolic link and touches no name but its own prefix, "hermes_kernel_".
 */
#ifndef HR_STAGING_H
#define HR_STAGING_H

#include "api/hermes-kernel.h"

/*
 * Make one below TMPDIR (else /tmp, /var/tmp, XDG_RUNTIME_DIR: the first that works; TMPDIR counts
 * when it is absolute). It holds a file ".host" that names this process. Errors: HERMES_ENOMEM;
 * HERMES_ESYSTEM, text names what was tried
 */
int hr_staging_create(char **ret_path, struct hermes_error *error);
/*
 * The same in the n-th of these places only, 0 to HR_STAGING_ROOTS - 1: for what only a try can
 * tell. 0 or an errno (ENOENT: no such place).
 */
enum { HR_STAGING_ROOTS = 4 };
int hr_staging_create_at(size_t root, char **ret_path);
/*
 * Remove it with all it holds; what can't be removed stays, the rest goes. Mounted file systems in
 * it are left alone. 0, or an errno: EINVAL for a name without our prefix, ENOTDIR for a symbolic
 * link.
 */
int hr_staging_remove(const char *path);
/*
 * Remove directories of our prefix below root (NULL: every root that create may use) that belong to
 * this user and whose host is gone (pid and start time), or that are older than 7 days and have no
 * ".host" - or one of another machine, boot or pid namespace, whose processes can't be seen from
 * here. A failed removal is not counted. Returns how many went.
 */
int hr_staging_sweep(const char *root);

#endif
