/* SPDX-License-Identifier: MIT
 * Command streams in the contents of a list of items, found by what names them: a submission, the
 * ring, a packet that calls a buffer, a draw-state group. Nothing runs: a stream that only firmware
 * finds (behind a condition, in memory that it writes) is not among them.
 *
 * Threads: there is no state beside the arguments. */
#ifndef CPS_PM4WALK_H
#define CPS_PM4WALK_H

#include "isa/packet.h"
#include "trace/event/item.h"

/** The fields of what names a stream. */
enum {
    PM4_IB_SIZE = 0xfffff, /**< dwords */
    PM4_GROUP_SIZE = 0xffff,
    PM4_GROUP_DISABLE = 1 << 17,
    PM4_GROUP_ID = 0x1f << 24,
};

/** What names a stream. */
enum pm4_ref_kind {
    PM4_REF_SUBMIT, /**< an item */
    PM4_REF_RING,   /**< an item */
    PM4_REF_IB,     /**< word `at` of an item's contents has the size in bits 19:0 */
    PM4_REF_GROUP,  /**< word `at` of an item's contents has the size in bits 15:0 */
};

struct pm4_ref {
    enum pm4_ref_kind kind;
    size_t item;
    uint32_t at;
    size_t stream; /**< which one it names */
};

/** Dwords of a CPS_ITEM_DATA that are a stream. */
struct pm4_stream {
    size_t item;
    uint32_t at, dwords;
    enum pm4_ref_kind kind; /**< what names it; of several, the first in that list */
};

struct pm4_walk {
    struct pm4_stream *stream;
    size_t streams;
    struct pm4_ref *ref;
    size_t refs;
    bool lost; /**< something is named that lies in no single item, or wraps */
};

/** The newest CPS_ITEM_DATA in front of item @p before, back to the last CPS_ITEM_RESET, that has
 * @p bytes at @p iova; SIZE_MAX: there is none. */
size_t pm4_load_at_(const struct cps_item *item, size_t before, uint64_t iova, uint64_t bytes);
/** Word @p at of the contents of a CPS_ITEM_DATA. */
uint32_t pm4_word_(const struct cps_item *item, uint32_t at);
/** Dwords of the packet at word @p at of a stream that ends at @p end; 0: no header is there. */
uint32_t pm4_length_(const struct cps_item *item, uint32_t at, uint32_t end);
/** Whether an operation calls a buffer by address and size in its first three words. */
bool pm4_is_call_(uint32_t opcode);
/** Finds the streams. @return NULL or CPS_ERR_NOMEM; the caller calls pm4_walk_deinit_() */
CPS_MUST_USE struct cps_err *pm4_walk_(const struct cps_item *item, size_t count,
                                       struct pm4_walk *ret);
void pm4_walk_deinit_(struct pm4_walk *walk);

#endif
