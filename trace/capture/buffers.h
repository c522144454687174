/* SPDX-License-Identifier: MIT
 * The buffers of a capture, and which one an address lies in.
 *
 * A table takes the items of a capture as its reader gives them, and keeps where buffers lie and
 * from which submission to which; of their contents only how many bytes there are. Buffers may
 * overlap, as a stream and the buffer that it is a part of do: the newest definition that was valid
 * at the time has the address. It does not know memory, nor what an engine puts there.
 *
 * To use it: cps_buffers_create(), cps_buffers_item() for every item, cps_buffers_seal(), then
 * cps_buffers_at() or cps_buffers_put() as often as wanted, cps_buffers_destroy(). More items may
 * follow; they count from the next seal on.
 *
 * Threads: one at a time may change a table; any number may look things up while nobody does. */
#ifndef CPS_BUFFERS_H
#define CPS_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../isa/base/buf.h"
#include "../../isa/base/err.h"
#include "../../isa/isa.h"
#include "../event/item.h"

CPS_C_BEGIN

/** What a buffer is, as far as the capture says. */
enum cps_buffer_kind {
    /** "buf": any. */
    CPS_BUFFER_PLAIN,
    /** "ring": a ring of a dump. */
    CPS_BUFFER_RING,
    /** "ib1": a submission begins in it. */
    CPS_BUFFER_STREAM,
};

/** One definition of a buffer. */
struct cps_buffer {
    /** Its first byte. */
    uint64_t iova;
    /** Its last byte: a buffer of no bytes is not kept, and one that would wrap ends at 2^64. */
    uint64_t last;
    /** Bytes of contents that the capture has of it. */
    uint64_t held;
    /** The capture's name for it, as it stands there: to be escaped where it is shown; NULL: none.
     * Belongs to the table. */
    const char *name;
    /** What it is. */
    enum cps_buffer_kind kind;
    /** Which one it is of those that are valid together, from 0 in the order of the capture; one
     * that comes again, with the same first and last byte, keeps its number. Set by
     * cps_buffers_seal(). */
    uint32_t number;
    /** The first submission of the capture (from 0) that it is valid in. */
    uint32_t from;
    /** The first one that it is not valid in any more; UINT32_MAX: valid to the end. */
    uint32_t until;
};

/** As a time: behind all submissions. */
#define CPS_BUFFERS_END UINT32_MAX

/** A table; opaque. */
struct cps_buffers;

/**
 * An empty table.
 * @param[out] ret  the caller's, for cps_buffers_destroy()
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_buffers_create(struct cps_buffers **ret);
/**
 * Releases a table.
 * @param buffers  which, or NULL
 */
CPS_PUBLIC void cps_buffers_destroy(struct cps_buffers *buffers);
/**
 * Takes what an item says of buffers: CPS_ITEM_BUFFER, CPS_ITEM_DATA, CPS_ITEM_RING,
 * CPS_ITEM_SUBMIT, CPS_ITEM_RESET. All others are passed over.
 * @param buffers  the table
 * @param item     copied; of its contents only the size counts
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_buffers_item(struct cps_buffers *buffers,
                                                         const struct cps_item *item);
/**
 * Makes what was taken so far ready to be looked up: n buffers that are valid together take the
 * time and memory of n log n steps at most, and again after every item that changed them.
 * @param buffers  the table
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_buffers_seal(struct cps_buffers *buffers);

/**
 * Takes an item for somebody who reads the capture on and asks only of what is valid now
 * (CPS_BUFFERS_END): a reset begins a new table, and a submission seals it.
 * @param buffers  the table, which may be replaced by another one
 * @param item     as cps_buffers_item()
 * @return NULL or CPS_ERR_NOMEM
 */
CPS_PUBLIC CPS_MUST_USE struct cps_err *cps_buffers_now(struct cps_buffers **buffers,
                                                        const struct cps_item *item);

/**
 * How many definitions a table has.
 * @param buffers  the table; NULL: none
 */
CPS_PUBLIC size_t cps_buffers_count(const struct cps_buffers *buffers);
/**
 * One of them, in the order of the capture.
 * @param buffers  the table
 * @param index    below cps_buffers_count()
 * @return valid until the table changes
 */
CPS_PUBLIC const struct cps_buffer *cps_buffers_get(const struct cps_buffers *buffers,
                                                    size_t index);
/**
 * Whether the capture says of any buffer that it is valid at a time: without one, nothing can be
 * said of addresses.
 * @param buffers     a sealed table; NULL: no
 * @param submission  as cps_buffers_at() has it
 */
CPS_PUBLIC bool cps_buffers_known(const struct cps_buffers *buffers, uint32_t submission);
/**
 * The newest buffer that an address lies in, in O(log² n) steps.
 * @param buffers     a sealed table; NULL: there are no buffers
 * @param submission  when: which submission runs, counted from 0 as cps_item.stream.index is;
 *                    CPS_BUFFERS_END: what is valid behind the last one
 * @param address     in bytes
 * @return NULL where it lies in none; valid until the table changes
 */
CPS_PUBLIC const struct cps_buffer *cps_buffers_at(const struct cps_buffers *buffers,
                                                   uint32_t submission, uint64_t address);

/**
 * What kind of buffer it is, in a word: "buf", "ring", "ib1".
 * @param kind  any
 * @return constant text
 */
CPS_PUBLIC const char *cps_buffer_kind_text(enum cps_buffer_kind kind);
/**
 * Appends where an address lies: `[buf 3 +0x40]`, `[ib1 0 "frame" +0x8]` where the buffer has a
 * name, `[no buf]` where it lies in none.
 * @param buffer   what cps_buffers_at() says; NULL: in none
 * @param address  in bytes
 * @param out      where to
 */
CPS_PUBLIC void cps_buffer_put(const struct cps_buffer *buffer, uint64_t address,
                               struct cps_buf *out);
/**
 * Looks an address up, and appends a blank and cps_buffer_put(). Of address 0 in no buffer, and
 * where cps_buffers_known() is false, nothing is said.
 * @param buffers     a sealed table, or NULL
 * @param submission  as cps_buffers_at() has it
 * @param address     in bytes
 * @param out         where to
 * @return whether something was said
 */
CPS_PUBLIC bool cps_buffers_put(const struct cps_buffers *buffers, uint32_t submission,
                                uint64_t address, struct cps_buf *out);
/**
 * The same for a value of a register or packet, if it is a whole address (cps_value_address()).
 * @param buffers     a sealed table, or NULL
 * @param submission  as cps_buffers_at() has it
 * @param value       any
 * @param out         where to
 * @return whether something was said
 */
CPS_PUBLIC bool cps_buffers_put_value(const struct cps_buffers *buffers, uint32_t submission,
                                      const struct cps_value *value, struct cps_buf *out);

CPS_C_END

#endif
