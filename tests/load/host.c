/* SPDX-License-Identifier: MIT */
/* What the host holds: descriptors, children, files, memory. */
#include "config.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host.h"

static int count_entries(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    int count = 0;

    while (directory && (entry = readdir(directory)))
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (directory)
        closedir(directory);
    return count;
}

static int parent_of(const char *pid)
{
    char path[300], line[600];
    const char *end = NULL;
    int parent = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    file = fopen(path, "re");
    if (file && fgets(line, sizeof line, file))
        end = strrchr(line, ')');
    if (!end || sscanf(end, ") %*c %d", &parent) != 1)
        parent = -1;
    if (file)
        fclose(file);
    return parent;
}

/* Those who look make themselves a subreaper, so that no orphan is missed. */
static int count_children(void)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    int count = 0;

    while (proc && (entry = readdir(proc)))
        count += entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
                 parent_of(entry->d_name) == (int)getpid();
    if (proc)
        closedir(proc);
    return count;
}

long host_rss_kb(int pid)
{
    char path[64], line[256];
    long kb = -1;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/status", pid);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtol(line + 6, NULL, 10);
    if (file)
        fclose(file);
    return kb;
}

void host_look(struct host *host, const char *directory)
{
    malloc_trim(0);
    host->descriptors = count_entries("/proc/self/fd") - 1; /* that of the listing */
    host->processes = count_children();
    host->entries = count_entries(directory);
    host->rss_kb = host_rss_kb((int)getpid());
}
