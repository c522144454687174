/* SPDX-License-Identifier: MIT
 * Packets out of nothing: pm4.def says what they carry, the firmware's own packet table which
 * there are, and its code which numbers matter. */
#ifndef CPS_FUZZ_GRAMMAR_H
#define CPS_FUZZ_GRAMMAR_H

#include "fw/fw.h"
#include "isa/packet.h"
#include "tools/explain/fuzz/case.h"
#include "tools/explain/fuzz/protect.h"

struct grammar {
    const struct cps_fw *fw;
    const struct protection *protection;
    const struct learned *learned;         /**< it grows between rounds */
    const char *fields[CPS_FW_TABLE_SIZE]; /**< NULL: not documented */
    /** Opcodes with fields and a handler of their own, each as often as its weight says. */
    uint8_t known[CPS_PACKET_WEIGHT * CPS_FW_TABLE_SIZE];
    uint8_t own[CPS_FW_TABLE_SIZE]; /**< all with a handler of their own */
    unsigned knowns, owns;
};

void grammar_init(struct grammar *grammar, const struct cps_fw *fw,
                  const struct protection *protection, const struct learned *learned);
/** Whether only hardware makes such packets: no stream of a program has them. */
bool grammar_is_hardwares(unsigned opcode);
/** A number of the sort that code treats in a way of its own. */
uint32_t grammar_value(const struct grammar *grammar, const struct fuzz_case *at, struct rng *rng);
/** An address in or near the streams of a case. */
uint64_t grammar_address(const struct fuzz_case *at, struct rng *rng);
/** A packet for a stream. It may name streams of the case, mostly those behind its own, so that few
 * go in circles, and make one more there.
 * @param ret  room for CASE_WORDS @return dwords */
uint32_t grammar_packet(const struct grammar *grammar, struct fuzz_case *at, unsigned stream,
                        struct rng *rng, uint32_t *ret);
/** Fills streams that have no packets yet. */
void grammar_fill(const struct grammar *grammar, struct rng *rng, struct fuzz_case *edited);
/** A case of a few packets. */
void grammar_case(const struct grammar *grammar, struct rng *rng, struct fuzz_case *ret);

/* ---- mutate.c ----
 * Cases out of others: packets come, go, move between streams and change, words change, streams are
 * joined, and what names a stream is led to another one. */

/** Changes a case a few times. @param other  a case to take parts of */
void mutate(const struct grammar *grammar, struct rng *rng, const struct fuzz_case *other,
            struct fuzz_case *edited);

/* ---- mutate.c ----
 * Cases that mutation has put out of step, put in step again: headers whose parity is wrong,
 * packets that are cut, counts that lead astray, operations that firmware refuses where they stand.
 */

/** The levels that streams are read at, as far as calls in them say; RB: nothing says it. */
void case_levels(const struct fuzz_case *from, uint8_t *ret);
/** Mostly puts streams in step that packets name; sometimes does nothing. */
void repair(const struct grammar *grammar, struct rng *rng, struct fuzz_case *edited);

#endif
