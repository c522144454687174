/* SPDX-License-Identifier: MIT
 * What firmware takes: a handler reads as many words as it likes, and where that is not what the
 * header says the next header is looked for in the wrong place. So it is counted, by operation and
 * count, how often the next packet was where it should be; and by level, how often a case ended
 * there: the packet was refused, or never came to its end. The grammar and the mutators follow what
 * was counted, mostly. */
#ifndef CPS_FUZZ_LEARN_H
#define CPS_FUZZ_LEARN_H

#include "tools/explain/fuzz/case.h"
#include "tools/explain/fuzz/random.h"

#define LEARN_OPCODES 128u
#define LEARN_COUNTS  64u
#define LEARN_LEVELS  6u

struct learned {
    uint16_t took[LEARN_OPCODES][LEARN_COUNTS]; /**< the next packet was where it should be */
    uint16_t lost[LEARN_OPCODES][LEARN_COUNTS]; /**< it was elsewhere, or nowhere */
    uint16_t passed[LEARN_OPCODES][LEARN_LEVELS];
    uint16_t refused[LEARN_OPCODES][LEARN_LEVELS];
};

/** The packet that a level is at. */
struct learn_last {
    uint64_t iova;
    uint32_t header;
    bool there;
};

/** A level has come from packet @p last to @p iova, a header or the end of its stream. */
void learn_next(struct learned *learned, const struct fuzz_case *input,
                const struct learn_last *last, unsigned level, uint64_t iova);
/** It does not come from a packet to the next one: words are missing. */
void learn_starved(struct learned *learned, uint32_t header);
/** The firmware refuses a packet, or does not come to its end. */
void learn_refused(struct learned *learned, uint32_t header, unsigned level);
/** Adds what others have counted. */
void learn_join(struct learned *learned, const struct learned *more);
/** Whether packets with that count mostly lead astray. */
bool learn_is_bad(const struct learned *learned, unsigned opcode, uint32_t count);
/** Whether cases mostly end there on that level. */
bool learn_is_refused(const struct learned *learned, unsigned opcode, unsigned level);
/** A count that firmware takes, or @p wanted, if it is none of the bad ones or nothing is known. */
uint32_t learn_count(const struct learned *learned, unsigned opcode, uint32_t wanted,
                     struct rng *rng);

#endif
