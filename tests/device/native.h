/* SPDX-License-Identifier: MIT
 * Facts of the device, which its native client checks. */
#ifndef CPS_TEST_NATIVE_H
#define CPS_TEST_NATIVE_H

#include "tests/device/gpu.h"

/** What is to be seen, and what sees it. */
struct fact {
    const char *name;
    bool (*holds)(void);
};

/** Ends a fact that does not hold. */
#define HOLDS(condition)                                                                          \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            printf("# %s:%d: %s (errno: %s)\n", __FILE__, __LINE__, #condition, strerror(errno)); \
            return false;                                                                         \
        }                                                                                         \
    } while (0)

extern const struct fact facts_memory[], facts_sync[], facts_hang[], facts_endless[];
extern const struct fact facts_preempt[], facts_levels[], facts_order[], facts_threads[],
    facts_stuck[], facts_full[];

/** Runs a function in a child process. @return whether it ended with status 0 */
bool in_child(int (*run)(int argument), int argument);
/** A stream that waits until word 0 of @p flag is 1, and then writes 2 to word 1. */
struct gpu_buf make_waiter(int fd, const struct gpu_buf *flag);

#endif
