/* SPDX-License-Identifier: MIT
 * What the two files of the preloaded library share. */
#ifndef CPS_INJECT_H
#define CPS_INJECT_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { INJECT_DEPTH = 40 };

/* What the test reads; faults.py has the same layout. */
struct inject_log {
    _Atomic uint64_t calls; /* of the kind so far */
    _Atomic uint64_t fired; /* faults */
    uint64_t base;          /* where the program lies, for addr2line */
    uint64_t depth;
    uint64_t stack[INJECT_DEPTH]; /* return addresses of the first fault */
    uint64_t armed;               /* 1: the kind of call is one that can be watched here */
    uint64_t first;               /* the first argument of the system call that failed */
};

/* What was asked for, from the environment. */
struct inject {
    char call[16];
    uint64_t at;
    bool always, cut, brief;
    int error, signal;
    long spare;
    char cut_path[4096];
    struct inject_log *log;
    pid_t (*fork)(void);
    int (*thread)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    int (*clock)(clockid_t, struct timespec *);
    int (*mask)(int, const sigset_t *, sigset_t *);
    bool memory, forks, threads, clocks;
};
extern struct inject inject_fault;

/** Whether this call of the watched kind is the one that shall fail; what else is to be done at it
 * is done. @p first  the call's first argument */
bool inject_is_due(uint64_t first);
/** Traps the system calls of the kind asked for. False: there is no such kind, or no trap. */
bool inject_watch_calls(void);

#endif
