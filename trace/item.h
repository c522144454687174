/* SPDX-License-Identifier: MIT
 * What a machine is fed with: contents of buffers, submissions, accesses of the host, time. A
 * capture, a dump, PM4 text and a run file all become lists of these, so that one loop plays them.
 *
 * This header does not know files or engines: readers make items, engines take them. */
#ifndef CPS_ITEM_H
#define CPS_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../isa/base/err.h"

CPS_C_BEGIN

/** What an item says. */
enum cps_item_kind {
    /* What captures hold, in the order of the file. */
    CPS_ITEM_SECTION, /**< section: raw section of the container, before what it means */
    CPS_ITEM_CHIP,    /**< chip: which GPU made it; may come more than once, the first counts */
    CPS_ITEM_TEXT,    /**< text: test name, process, fence */
    CPS_ITEM_RESET,   /**< a new submission begins: every buffer of the one before is gone */
    CPS_ITEM_BUFFER,  /**< buffer: address and size are known, contents are not */
    CPS_ITEM_DATA,    /**< buffer: contents of (part of) a buffer */
    CPS_ITEM_SUBMIT,  /**< stream: run these dwords at level IB1 */
    CPS_ITEM_NOTE,    /**< text: a defect that does not stop the reading ("warning: ...") */
    /* State of a GPU at a crash; there are no submissions in such a capture. */
    CPS_ITEM_RING,     /**< ring: its position; what it holds are items of kind CPS_ITEM_DATA */
    CPS_ITEM_REGISTER, /**< reg: one register's value */
    CPS_ITEM_BLOCK,    /**< block: words read through an address and data register pair */
    /* What drivers and hosts do beyond that. */
    CPS_ITEM_INIT,    /**< the driver's first packets (afuc: CP_ME_INIT) go into the ring */
    CPS_ITEM_PACKETS, /**< block: words behind what the ring holds */
    CPS_ITEM_CODE,    /**< code: a script goes to where its engine fetches it */
    CPS_ITEM_CHANGE,  /**< change: what the rest of the chip does at a tick */
    CPS_ITEM_WRITE,   /**< host: addr, value */
    CPS_ITEM_READ,    /**< host: addr; expects value in the bits of mask */
    CPS_ITEM_OBJECT,  /**< host: addr is a handle, mask its channel, value its context */
    CPS_ITEM_WAIT,    /**< host: ticks pass */
    CPS_ITEM_RUN,     /**< until the engine has nothing to do, or waits for the host */
    CPS_ITEM_END,     /**< the host does nothing more: until the engine cannot go on */
    CPS_ITEM_KINDS,
};

/** Where an address of the host's leads. */
enum cps_item_where {
    CPS_HOST_REG,    /**< a register: effects and events */
    CPS_HOST_RAMIN,  /**< the engine's memory, beside the engine */
    CPS_HOST_MEMORY, /**< the host's own */
};

/** One item; only the member of its kind is valid, pointers only during a reader's callback or as
 * long as the list that holds it. */
struct cps_item {
    enum cps_item_kind kind;
    uint32_t line;   /**< of the run file, from 1; 0: none */
    uint64_t offset; /**< byte offset in the (decompressed) file, for messages */
    struct {
        const char *name; /**< static text: "GPUADDR", "ringbuffer"; NULL for an unknown type */
        uint32_t type;    /**< another for each name */
        uint64_t size;    /**< bytes of payload, 0 where the format does not say */
    } section;
    struct {
        uint32_t gpu_id;  /**< decimal marketing number (630), 0 when unknown */
        uint64_t chip_id; /**< core.major.minor.patch in 31:0, 0 when unknown */
    } chip;
    struct {
        const char *bytes; /**< not NUL-terminated, no control characters removed */
        size_t size;
    } text;
    struct {
        uint64_t iova;       /**< bytes */
        uint64_t size;       /**< bytes */
        const uint8_t *data; /**< CPS_ITEM_DATA: `size` bytes, else NULL */
    } buffer;
    struct {
        uint64_t iova; /**< bytes */
        uint32_t dwords;
        uint32_t index; /**< which submission of the feed, from 0; readers leave it 0 */
    } stream;
    struct {
        uint32_t id;            /**< as the file says; may come twice */
        uint64_t iova;          /**< bytes */
        uint64_t size;          /**< bytes */
        uint32_t rptr, wptr;    /**< dwords from the start of the ring */
        uint32_t last_fence;    /**< newest one submitted */
        uint32_t retired_fence; /**< newest one completed */
    } ring;
    struct {
        uint32_t offset; /**< register number, in dwords */
        uint32_t value;
        const char *section; /**< "registers", "registers-gmu", or the cluster's name */
        int context;         /**< of banked registers in clusters, else -1 */
    } reg;
    struct {
        const char *name;      /**< the present name where older kernels had another */
        const uint32_t *words; /**< NULL when there are none */
        size_t count;          /**< words present; those missing at the end are zero or unknown */
        size_t size;           /**< dwords that the file states */
    } block;
    struct {
        const uint8_t *bytes;
        size_t size;         /**< bytes */
        uint32_t at;         /**< byte of the code memory where it goes */
        const uint32_t *out; /**< SEQ: the words of OUT; NULL: it has none */
        uint32_t out_count;
    } code;
    struct {
        uint64_t tick;
        bool is_event;
        uint32_t number; /**< of the event, or the register's address */
        uint32_t value;
    } change;
    struct {
        enum cps_item_where where; /**< of reads and writes */
        uint8_t size;              /**< bytes of a write: 4, 2 or 1; only words are aligned */
        uint32_t addr, value, mask;
        uint64_t ticks;
    } host;
};

/** Receives items. An error it returns stops the reader, which hands it on. */
struct cps_item_sink {
    struct cps_err *(*item)(struct cps_item_sink *sink, const struct cps_item *item);
};

CPS_C_END

#endif
