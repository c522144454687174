/* SPDX-License-Identifier: MIT
 * Random programs of afuc. */
#ifndef TESTS_AFUC_PROGRAM_H
#define TESTS_AFUC_PROGRAM_H

#include "tests/model/afuc_model.h"

/* What a processor begins with, and what it runs. */
struct afuc_program {
    enum afuc_kind kind;
    uint64_t seed;
    uint64_t random;
    uint32_t image[AFUC_IMAGE];
    bool made[AFUC_IMAGE]; /* the word is decided */
    struct afuc_model begin;
    unsigned head;    /* ticks of what it begins with */
    unsigned ticks;   /* the model went so far */
    const char *stop; /* why it did not go on, NULL: it was enough */
};

/* splitmix64 */
uint32_t afuc_random(struct afuc_program *program);
/* Below a number. */
uint32_t afuc_below(struct afuc_program *program, uint32_t end);
bool afuc_one_in(struct afuc_program *program, uint32_t n);
/* Small, an edge, few bits, or anything. */
uint32_t afuc_value(struct afuc_program *program);
/* Words of a stream, of which a table of packets may be the first 128; how many there are, less
 * than AFUC_QUEUE. */
uint32_t afuc_stream_make(struct afuc_program *program, uint32_t *word, bool table);
/* The same for the same kind and seed: the state to begin with, and an image of which each word is
 * chosen when the model comes to it first, so that it can be executed. */
void afuc_program_make(struct afuc_program *program, enum afuc_kind kind, uint64_t seed);

#endif
