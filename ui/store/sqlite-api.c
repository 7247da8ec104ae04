/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "sqlite-api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define VERSION_NEEDED 3022000 /* a file in WAL mode can be read where nothing can be written */

static struct sqlite_api api;
static char fault[200];
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Copied, since ISO C has no cast from an object's address to a function's. */
static void find(void *library, const char *name, void *ret_function, size_t size)
{
    void *address = dlsym(library, name);
    if (address)
        memcpy(ret_function, &address, size);
    else
        snprintf(fault, sizeof(fault), "%s has no %s", HERMES_SQLITE_LIBRARY, name);
}

static void load(void)
{
    void *library = dlopen(HERMES_SQLITE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        snprintf(fault, sizeof(fault), "%s", why ? why : HERMES_SQLITE_LIBRARY " cannot be loaded");
        return;
    }
#define X(name) find(library, "sqlite3_" #name, &api.name, sizeof(api.name));
    SQLITE_CALLS(X)
#undef X
    if (!fault[0] && api.libversion_number() < VERSION_NEEDED)
        snprintf(fault, sizeof(fault), "%s is too old (%d, %d is needed)", HERMES_SQLITE_LIBRARY,
                 api.libversion_number(), VERSION_NEEDED);
}

const struct sqlite_api *sqlite_api(const char **ret_why)
{
    pthread_once(&once, load);
    *ret_why = fault;
    return fault[0] ? NULL : &api;
}
