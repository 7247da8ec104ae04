/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "patch-parse.h"

#include <stdlib.h>
#include <string.h>

#include "xalloc.h"

struct patch_file *patch_add_file(struct patch_set *set, enum patch_kind kind, char *path)
{
    set->files = xgrow(set->files, set->count, &set->capacity, sizeof *set->files);
    set->files[set->count] = (struct patch_file){.kind = kind, .path = path};
    return &set->files[set->count++];
}

struct patch_hunk *patch_add_hunk(struct patch_file *file, size_t patch_line)
{
    file->hunks = xgrow(file->hunks, file->count, &file->capacity, sizeof *file->hunks);
    file->hunks[file->count] = (struct patch_hunk){.patch_line = patch_line};
    return &file->hunks[file->count++];
}

struct patch_line *patch_add_line(struct patch_hunk *hunk, char sign, const char *text, size_t size)
{
    hunk->lines = xgrow(hunk->lines, hunk->count, &hunk->capacity, sizeof *hunk->lines);
    hunk->lines[hunk->count] = (struct patch_line){sign, text, size, false};
    return &hunk->lines[hunk->count++];
}

static void free_file(struct patch_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        for (size_t j = 0; j < file->hunks[i].anchor_count; j++)
            free(file->hunks[i].anchors[j]);
        free(file->hunks[i].anchors);
        free(file->hunks[i].lines);
    }
    free(file->hunks);
    free(file->path);
    free(file->new_path);
}

void patch_set_free(struct patch_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        free_file(&set->files[i]);
    free(set->files);
    *set = (struct patch_set){NULL, 0, 0};
}

bool patch_parse(const char *text, size_t size, struct patch_set *ret_set, struct strbuf *error)
{
    struct patch_set set = {NULL, 0, 0};
    size_t blank = strspn(text, " \t\r\n");
    bool v4a = strncmp(text + blank, "*** ", 4) == 0 && strncmp(text + blank, "*** a/", 6) != 0;
    bool good = v4a ? patch_parse_v4a(text, size, &set, error)
                    : patch_parse_unified(text, size, &set, error);
    if (good && !set.count) {
        strbuf_setf(error, "there is nothing to do in the patch: neither \"*** Begin Patch\" nor "
                           "\"--- \" and \"+++ \" "
                           "lines");
        good = false;
    }
    if (good)
        *ret_set = set;
    else
        patch_set_free(&set);
    return good;
}
