/* SPDX-License-Identifier: MIT */
/*
 * main() of a fuzz target that is built without libFuzzer: every file of the arguments, and every
 * file below those that are directories, is one input. So the corpora are regression tests in each
 * build.
 */
#include "config.h"

#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned long inputs;

static int run_file(const char *path, const struct stat *status, int type, struct FTW *at)
{
    size_t size = (size_t)status->st_size;
    unsigned char *data;
    FILE *file;

    (void)at;
    if (type != FTW_F)
        return type == FTW_D ? 0 : -1;
    data = malloc(size ? size : 1); /* exactly: a sanitizer sees reads behind the end */
    file = fopen(path, "rb");
    if (!data || !file || fread(data, 1, size, file) != size) {
        perror(path);
        return -1;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    inputs++;
    return 0;
}

int main(int argc, char **argv)
{
    int i;

    for (i = 1; i < argc; i++) {
        if (nftw(argv[i], run_file, 16, FTW_PHYS) != 0) {
            fprintf(stderr, "%s: cannot read all of it\n", argv[i]);
            return 1;
        }
    }
    printf("%lu inputs\n", inputs);
    return inputs > 0 ? 0 : 1;
}
