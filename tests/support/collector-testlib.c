/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "collector-testlib.h"

#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "testlib.h"

const char *ct_base;
char ct_directory[512];

void ct_set_up(void)
{
    ct_base = test_directory();
    snprintf(ct_directory, sizeof ct_directory, "%s/state/hermes-repl/spill", ct_base);
}

struct hr_collector *ct_make(size_t limit, uint64_t spill_limit)
{
    struct hr_collector_options options = {
        .limit_bytes = limit, .spill_limit_bytes = spill_limit, .spill_directory = ct_directory};
    struct hr_collector *collector = hr_collector_new(&options);

    ck_assert_ptr_nonnull(collector);
    return collector;
}

void ct_feed_times(struct hr_collector *collector, const char *text, size_t times)
{
    while (times-- > 0)
        hr_collector_feed(collector, text, strlen(text));
}

void ct_finish(struct hr_collector *collector, struct hr_collected *collected)
{
    ck_assert(hr_collector_finish(collector, collected));
    ck_assert_ptr_nonnull(collected->text);
    ck_assert_int_eq(collected->text[collected->size], '\0');
    ck_assert(hr_utf8_valid(collected->text, collected->size));
    hr_collector_free(collector);
}

char *ct_read_file(const char *path, size_t *ret_size)
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    char *text;

    ck_assert_msg(file != NULL, "%s", path);
    ck_assert_int_eq(fstat(fileno(file), &status), 0);
    text = malloc((size_t)status.st_size + 1);
    *ret_size = fread(text, 1, (size_t)status.st_size, file);
    text[*ret_size] = '\0';
    fclose(file);
    return text;
}

int ct_count_entries(const char *path)
{
    DIR *dir = opendir(path);
    int count = -2; /* "." and ".." */

    if (!dir)
        return -1;
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}
