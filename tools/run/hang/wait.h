/* SPDX-License-Identifier: MIT
 * What a processor waits for, read off the code around its program counter. */
#ifndef CPS_PLAY_HANG_WAIT_H
#define CPS_PLAY_HANG_WAIT_H

#include "fw/image/icache.h"
#include "tools/run/dump.h"

enum hang_wait_for {
    HANG_WAIT_UNKNOWN,  /**< the code does not say, or the dump does not hold it */
    HANG_WAIT_SELF,     /**< it goes round for ever: the error loop */
    HANG_WAIT_PACKET,   /**< the next packet */
    HANG_WAIT_STREAM,   /**< words of its stream */
    HANG_WAIT_MEMDATA,  /**< words that it reads from memory, once */
    HANG_WAIT_REGDATA,  /**< registers that it reads, once */
    HANG_WAIT_CONTROL,  /**< it polls control register `number` */
    HANG_WAIT_REGISTER, /**< it polls a register of the GPU; `number` is 0 if it is not known */
    HANG_WAIT_MEMORY,   /**< it polls memory */
    HANG_WAIT_LOOP,     /**< it goes round, on something that the loop does not read */
};

struct hang_wait {
    enum hang_wait_for what;
    uint32_t number;
    uint32_t branch; /**< the instruction that decides to go on waiting; of polls */
};

/**
 * Looks at the code at @p pc.
 * @param cache  the words that are known
 * @param gen    their generation
 * @param stat   CP_SQE_STAT, for what is in the registers; may be NULL
 */
void hang_wait_of(const struct cps_fw_icache *cache, enum cps_gen gen,
                  const struct dump_block *stat, uint32_t pc, struct hang_wait *ret);

#endif
