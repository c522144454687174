/* SPDX-License-Identifier: MIT
 * The least that the work on a stream needs: a plain C walker that follows a capture's streams
 * without firmware and without tables, and makes the register writes that stand in them. It is the
 * yardstick of `bench`. What only firmware makes (events, waits, what conditions leave out, modes
 * of draws) it does not make, so it counts what it does. */
#ifndef CPS_WALKER_H
#define CPS_WALKER_H

#include <stddef.h>

#include "isa/base/err.h"
#include "trace/event/item.h"

/** Registers that there are: their numbers have 18 bits. */
#define WALKER_REGISTERS 0x40000u
/** Number of a record that is a write to memory. */
#define WALKER_MEMORY UINT32_MAX
/** Draw-state groups that there are. */
#define WALKER_GROUPS 32

/** What a write leaves behind, no larger than it has to be. */
struct walker_record {
    uint32_t number; /**< of the register, or WALKER_MEMORY */
    uint32_t value;
    uint64_t at; /**< address of the packet's header; of WALKER_MEMORY, of the memory */
};

/** Contents of a buffer, which stay the item's. */
struct walker_piece {
    uint64_t iova, size;
    const uint8_t *data;
};

struct walker {
    uint32_t *reg;                /**< WALKER_REGISTERS; owned */
    struct walker_record *record; /**< a ring of `room`; owned */
    size_t room;                  /**< a power of two */
    size_t records;               /**< written so far, also those that the ring has lost */
    struct walker_piece *piece;   /**< of this submission; owned */
    size_t pieces;
    struct {
        uint64_t iova;
        uint32_t dwords, modes;
    } group[WALKER_GROUPS];
    uint32_t dirty;   /**< groups that the next draw runs, a bit each */
    uint32_t mode;    /**< those that run now, as bits of `modes` */
    uint64_t left;    /**< packets that this submission may still have */
    uint64_t packets; /**< of types 4 and 7 */
    uint64_t writes;  /**< of registers */
    uint64_t stores;  /**< words to memory */
};

/** Makes one. @p room  records that are kept, a power of two. @return NULL or CPS_ERR_NOMEM; the
 * caller calls walker_deinit() in any case */
CPS_MUST_USE struct cps_err *walker_init(struct walker *walker, size_t room);
void walker_deinit(struct walker *walker);
/** Takes an item: contents are remembered, a submission is walked. @return NULL or CPS_ERR_NOMEM */
CPS_MUST_USE struct cps_err *walker_item(struct walker *walker, const struct cps_item *item);

#endif
