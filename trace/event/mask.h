/* SPDX-License-Identifier: MIT
 * Values that may differ between two traces: registers, address ranges, packets. Comparisons
 * (diff.h) and checks of golden traces leave them out.
 *
 * Threads: one at a time changes a mask; any number may read one that nobody changes. */
#ifndef CPS_MASK_H
#define CPS_MASK_H

#include <stdbool.h>

#include "../../isa/isa.h"
#include "event.h"

CPS_C_BEGIN

/** What a rule is about. */
enum cps_mask_what {
    /** GPU registers: events REG, REGR and PROT. */
    CPS_MASK_REG,
    /** Pipe registers: events PIPE. */
    CPS_MASK_PIPE,
    /** Control registers: events CTRL. */
    CPS_MASK_CTRL,
    /** Memory: events MEMW and MEMR. */
    CPS_MASK_MEM,
    /** All that happens in packets. */
    CPS_MASK_PKT,
    /** SQE registers: events SQE. */
    CPS_MASK_SQE,
};

/** One rule. */
struct cps_mask_rule {
    /** What it is about. */
    enum cps_mask_what what;
    /** Registers, byte addresses, or packet ids: both ends count. */
    uint64_t first, last;
    /** Bits of the value that may differ; ~0: all. */
    uint32_t bits;
};

/** Rules in any order; an event that one of them covers is compared without those bits.
 * Zero-initialised is the mask without rules. */
struct cps_mask {
    /** The rules; owned. */
    struct cps_mask_rule *rule;
    /** How many. */
    unsigned count;
};

/**
 * Adds rules: `reg:0x980-0x983`, `reg:0x885/0xff` (only these bits), `mem:0x1000-0x1fff`,
 * `pipe:0xe7`, `ctrl:0x130`, `sqe:0x5`, `pkt:CP_NOP`, `pkt:0x46` (everything in such packets), with
 * commas between. Register names are understood too: `reg:CP_SCRATCH[2].REG`.
 * @param mask   where to; on error it has those in front of the bad one
 * @param text   the rules
 * @param names  for register and packet names; may be NULL
 * @return NULL, CPS_ERR_NOMEM, or CPS_ERR_SYNTAX that says what was expected
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_mask_add(struct cps_mask *mask, const char *text,
                                                     const struct cps_names *names);
/**
 * Releases the rules, and leaves the mask without any.
 * @param mask  one that was initialised
 */
CPS_PUBLIC void cps_mask_deinit(struct cps_mask *mask);
/**
 * Which bits of an event's value may differ.
 * @param mask   the rules
 * @param event  the event
 * @param id     of the packet that it happened in, as cps_diff_packet_id() has it; -1: none
 * @return a bit for each bit of cps_event.value; 0: none may
 */
CPS_PUBLIC uint32_t cps_mask_bits(const struct cps_mask *mask, const struct cps_event *event,
                                  int id);

CPS_C_END

#endif
