/* SPDX-License-Identifier: MIT
 * The driver's side of protection: what it writes to CP_PROTECT, and what that forbids. Rows:
 * protect.def. */
#ifndef CPS_FUZZ_PROTECT_H
#define CPS_FUZZ_PROTECT_H

#include "fw/fw.h"
#include "trace/event/item.h"

#define PROTECTION_REGS  0x40000u
#define PROTECTION_ITEMS 80u

/** Classes of a register, as bits. */
enum {
    REG_PROTECTED = 1,    /**< streams may not write it */
    REG_READ_ONLY = 2,    /**< but read */
    REG_CLASS_ORACLE = 8, /**< and above: 1 + the oracle that its PRIVILEGED row names */
};

struct protection {
    struct cps_item
        item[PROTECTION_ITEMS]; /**< the chip, and what the driver writes, as start values */
    unsigned items;
    uint8_t class[PROTECTION_REGS];
    uint32_t first[PROTECTION_ITEMS], last[PROTECTION_ITEMS]; /**< what entries forbid to write */
    unsigned spans;
};

/** What the kernel does for the chips of @p fw; nothing where no row has its generation. */
void protection_init(struct protection *protection, const struct cps_fw *fw);
/** A protected register, of every entry as likely; @p random decides. */
uint32_t protection_pick(const struct protection *protection, uint32_t random);

#endif
