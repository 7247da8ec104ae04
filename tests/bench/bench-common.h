/* SPDX-License-Identifier: MIT */
/*
 * What the programs that measure the engine share: time, series of figures, cells, and the floor:
 * the least that keeps a Python child alive: vfork, a socketpair, a pipe, poll; a runner that execs
 * text. Knows no row of the table.
 */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stddef.h>
#include <sys/types.h>

#include "hermes-kernel.h"

enum { MAX_ROUNDS = 1000 };

extern const char *python;
extern int rounds;

/* One contestant's figures, one a round: printed as "name unit value value ...". */
struct series {
    const char *name, *unit;
    double value[MAX_ROUNDS];
};

struct floor {
    pid_t pid;
    int control, output;
    size_t bytes;
};

__attribute__((noreturn)) void fail(const char *what);
double now_us(void);
double quantile(double *values, int count, double q); /* sorts them */
void print_series(const struct series *series);

void floor_start(struct floor *floor, const char *const *flags);
void floor_run(struct floor *floor, const char *code);
void floor_stop(struct floor *floor);

struct hermes_engine *new_engine(void);
void run_in(struct hermes_engine *engine, const char *session, const char *code);
double time_python(const char *const *argv); /* ms from start to end */
long status_kib(const char *field);          /* of /proc/self/status */

#endif
