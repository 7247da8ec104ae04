/* SPDX-License-Identifier: MIT */
/*
 * Allocation for the whole library. Failure is always returned to the caller.
 *
 * In a build with --enable-fault-injection the n-th fallible operation of a kind can be made to
 * fail (tests only); otherwise HR_FAULT() is the constant false.
 */
#ifndef HR_ALLOC_H
#define HR_ALLOC_H

#include <stdbool.h>
#include <stddef.h>

void *hr_malloc(size_t size);
void *hr_calloc(size_t count, size_t size);
void *hr_realloc(void *pointer, size_t size);
char *hr_strdup(const char *text);              /* NULL stays NULL */
char *hr_memdup(const void *data, size_t size); /* with a closing NUL */
char *hr_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
void hr_free(void *pointer);

enum hr_fault {
    HR_FAULT_ALLOC,
    HR_FAULT_PIPE,
    HR_FAULT_SOCKET,
    HR_FAULT_SPAWN,
    HR_FAULT_MKDIR,
    HR_FAULT_THREAD,
    HR_FAULT_WRITE,
    HR_FAULT_OPEN,
    HR_FAULT_RENAME,
    HR_FAULT_COUNT
};

#ifdef HERMES_FAULT_INJECTION
#define HR_FAULT(kind) hr_fault_hit(kind) /* sets errno when it is true */
bool hr_fault_hit(enum hr_fault kind);
/*
 * Let the n-th (from 1) operation of this kind fail, and only it; 0 switches off. Resets the
 * counter.
 */
__attribute__((visibility("default"))) void hermes_fault_set(int kind, unsigned long n);
__attribute__((visibility("default"))) unsigned long hermes_fault_count(int kind);
#else
#define HR_FAULT(kind) false
#endif

#endif
