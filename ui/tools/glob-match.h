/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * File name patterns as in .gitignore and shells: * and ? within a name, ** across directories,
 * [a-z], {a,b}, and a backslash before what is meant literally. Characters are UTF-8. The work for
 * one name is bounded.
 */
#ifndef UI_GLOB_MATCH_H
#define UI_GLOB_MATCH_H

#include <stdbool.h>

/*
 * A pattern without slash is for the last part of path, another one for the whole path (a leading
 * slash is dropped).
 */
bool glob_match(const char *pattern, const char *path);

#endif
