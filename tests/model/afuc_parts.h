/* SPDX-License-Identifier: MIT
 * Between the two files of the naive model of afuc. */
#ifndef TESTS_AFUC_PARTS_H
#define TESTS_AFUC_PARTS_H

#include <stddef.h>

#include "tests/model/afuc_model.h"

typedef uint32_t u32;

/* Leaves a function: the documents do not say how it goes on. */
#define RET_OPEN(m, why)     \
    do {                     \
        afuc_open((m), why); \
        return 0;            \
    } while (0)

void afuc_open(struct afuc_model *m, const char *why);
u32 afuc_bits(u32 word, int low, int count);
u32 afuc_take(struct afuc_model *m, struct afuc_queue *q);
/* What $data is of at the level that is set. */
struct afuc_queue *afuc_stream(struct afuc_model *m);
/* NULL, and open, where there is none. */
u32 *afuc_memory(struct afuc_model *m, u32 hi, u32 lo);
u32 *afuc_sqe(struct afuc_model *m, u32 number);
u32 afuc_control_read(struct afuc_model *m, u32 number);
void afuc_control_write(struct afuc_model *m, u32 number, u32 value);
bool afuc_is_queue(u32 number);
/* What a register gives as a source, and does as a destination. */
u32 afuc_read_register(struct afuc_model *m, u32 number, int peek);
void afuc_write_register(struct afuc_model *m, u32 number, u32 value);

#endif
