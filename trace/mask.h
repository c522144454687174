/* SPDX-License-Identifier: MIT
 * Values that may differ between two traces: registers, address ranges, packets. */
#ifndef CPS_MASK_H
#define CPS_MASK_H

#include <stdbool.h>

#include "../isa/isa.h"
#include "event.h"

CPS_C_BEGIN

/** What a rule is about. */
enum cps_mask_what { CPS_MASK_REG, CPS_MASK_PIPE, CPS_MASK_CTRL, CPS_MASK_MEM, CPS_MASK_PKT };

/** One rule. */
struct cps_mask_rule {
    enum cps_mask_what what;
    uint64_t first, last; /**< registers, bytes, or packet ids */
    uint32_t bits;        /**< bits of the value that may differ; ~0: all */
};

/** Rules in any order; an event that one of them covers is compared without those bits. */
struct cps_mask {
    struct cps_mask_rule *rule;
    unsigned count;
};

/**
 * Adds the rules of @p text, with commas between: `reg:0x980-0x983`, `reg:0x885/0xff`,
 * `mem:0x1000-0x1fff`, `pipe:0xe7`, `ctrl:0x130`, `pkt:CP_NOP`, `pkt:0x46` (everything in such
 * packets). Register names are understood too: `reg:CP_SCRATCH[2].REG`.
 * @param names  for register and packet names; may be NULL
 * @return NULL, or CPS_ERR_SYNTAX
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_mask_add(struct cps_mask *mask, const char *text,
                                                     const struct cps_names *names);
CPS_PUBLIC void cps_mask_deinit(struct cps_mask *mask);
/** Bits of the event's value that may differ, in a packet of id @p id (-1: none). */
CPS_PUBLIC uint32_t cps_mask_bits(const struct cps_mask *mask, const struct cps_event *event,
                                  int id);

CPS_C_END

#endif
