/* SPDX-License-Identifier: MIT
 * What a machine is fed with: contents of buffers, submissions, accesses of the host, time. A
 * capture, a dump, PM4 text and a run file all become lists of these, so that one loop plays them.
 *
 * This header does not know files or engines: readers make items, engines take them.
 *
 * Threads: items are plain values, and whoever has the memory that they point to says when it may
 * be used. */
#ifndef CPS_ITEM_H
#define CPS_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../isa/base/err.h"

CPS_C_BEGIN

/** What an item says; in front of the colon the member of struct cps_item that holds it. */
enum cps_item_kind {
    /* What captures hold, in the order of the file. */
    /** `section`: a raw section of the container, before what it means. */
    CPS_ITEM_SECTION,
    /** `chip`: which GPU made it; may come more than once, the first counts. */
    CPS_ITEM_CHIP,
    /** `text`: test name, process, fence. */
    CPS_ITEM_TEXT,
    /** A new submission begins: every buffer of the one before is gone. */
    CPS_ITEM_RESET,
    /** `buffer`: address and size are known, contents are not. */
    CPS_ITEM_BUFFER,
    /** `buffer`: contents of (part of) a buffer. */
    CPS_ITEM_DATA,
    /** `stream`: run these dwords at level IB1. */
    CPS_ITEM_SUBMIT,
    /** `fence`: the streams of a submission are complete; it may have none. The driver ends it
     * (policy `ring`). */
    CPS_ITEM_FENCE,
    /** `text`: a defect that does not stop the reading ("warning: ..."). */
    CPS_ITEM_NOTE,
    /* State of a GPU at a crash; there are no submissions in such a capture. */
    /** `ring`: its position; what it holds are items of kind CPS_ITEM_DATA. */
    CPS_ITEM_RING,
    /** `reg`: one register's value. */
    CPS_ITEM_REGISTER,
    /** `block`: words read through an address and data register pair. */
    CPS_ITEM_BLOCK,
    /* What drivers and hosts do beyond that. */
    /** The driver's first packets (afuc: CP_ME_INIT) go into the ring. */
    CPS_ITEM_INIT,
    /** `block`: words behind what the ring holds. */
    CPS_ITEM_PACKETS,
    /** `code`: a script goes to where its engine fetches it. */
    CPS_ITEM_CODE,
    /** `change`: what the rest of the chip does at a tick. */
    CPS_ITEM_CHANGE,
    /** `host`: `value` goes to `addr`. Of afuc these are registers, as a driver writes them:
     * CP_RB_BASE, CP_RB_CNTL, CP_RB_RPTR and CP_RB_WPTR move the ring, others keep their value. */
    CPS_ITEM_WRITE,
    /** `host`: `addr` is read into cps_engine.answer, and expected to be `value` in the bits of
     * `mask`. Engines leave the comparison to their caller. */
    CPS_ITEM_READ,
    /** `host`: `addr` is a handle, `mask` its channel, `value` its context. */
    CPS_ITEM_OBJECT,
    /** `host`: `ticks` pass. */
    CPS_ITEM_WAIT,
    /** Until the engine has nothing to do, or waits for the host. */
    CPS_ITEM_RUN,
    /** The host does nothing more: until the engine cannot go on. */
    CPS_ITEM_END,
    /** `recover`: the driver resets the GPU after a hang. Processors, registers and the ring begin
     * as after power-on; memory, counts and the clock stay. CPS_ITEM_RUN and CPS_ITEM_INIT
     * follow. Engines of afuc only. */
    CPS_ITEM_RECOVER,
    /** How many there are. */
    CPS_ITEM_KINDS,
};

/** Where an address of the host's leads. */
enum cps_item_where {
    /** To a register: with effects and events. Engines of afuc count registers in dwords, those of
     * NVIDIA in bytes. */
    CPS_HOST_REG,
    /** Into the engine's memory, beside the engine. Not of afuc. */
    CPS_HOST_RAMIN,
    /** Into the host's own memory. Not of afuc. */
    CPS_HOST_MEMORY,
    /** Through BAR1, into the memory of the card. HWSQ's chips only. */
    CPS_HOST_BAR1,
    /** Through BAR2, into RAMIN. HWSQ's chips only. */
    CPS_HOST_BAR2,
};

/** One item. Only the member of its kind is valid; pointers only during a reader's callback, or as
 * long as the list that holds it. */
struct cps_item {
    /** What it says. */
    enum cps_item_kind kind;
    /** Of the run file, from 1; 0: none. */
    uint32_t line;
    /** Byte offset in the (decompressed) file, for messages. */
    uint64_t offset;
    /** A raw section. */
    struct {
        /** Static text: "GPUADDR", "ringbuffer"; NULL for an unknown type. */
        const char *name;
        /** Another for each name. */
        uint32_t type;
        /** Bytes of payload, 0 where the format does not say. */
        uint64_t size;
    } section;
    /** A GPU. */
    struct {
        /** Decimal marketing number (630), 0 when unknown. */
        uint32_t gpu_id;
        /** core.major.minor.patch in 31:0, 0 when unknown. */
        uint64_t chip_id;
    } chip;
    /** A text. */
    struct {
        /** Not NUL-terminated, no control characters removed. */
        const char *bytes;
        /** How many. */
        size_t size;
        /** Of a note: the file ends before its end. */
        bool cut;
    } text;
    /** A buffer, or its contents. */
    struct {
        /** Where it lies, in bytes. */
        uint64_t iova;
        /** Bytes. */
        uint64_t size;
        /** CPS_ITEM_DATA: `size` bytes, else NULL. */
        const uint8_t *data;
        /** CPS_ITEM_DATA: byte of the (decompressed) file where they stand, plus 1; 0: they stand
         * there in another form. */
        uint64_t at;
        /** CPS_ITEM_BUFFER: what the capture calls it, not NUL-terminated, no control characters
         * removed; NULL: it has no name. */
        const char *name;
        /** Bytes of that. */
        size_t name_size;
    } buffer;
    /** A submission. */
    struct {
        /** Where it lies, in bytes. */
        uint64_t iova;
        /** How long it is. */
        uint32_t dwords;
        /** Which submission of the feed, from 0; readers leave it 0. */
        uint32_t index;
        /** It is in LPAC's ring, not in that of the other processors. */
        bool lpac;
        /** Address space that it runs in, from 1; 0: none is known, and none is switched to. */
        uint32_t context;
        /** Of those that firmware switches between (cps_afuc_switch()): 0, or one that has nothing
         * else to run. Readers leave it 0. */
        uint32_t ring;
        /** Ticks after which it was given up, with its submission; 0: it was not. */
        uint64_t ticks;
    } stream;
    /** The end of a submission. */
    struct {
        /** What the firmware is to write when it is done. */
        uint32_t seqno;
        /** As stream.context, of a submission without streams. */
        uint32_t context;
        /** As stream.ring. */
        uint32_t ring;
    } fence;
    /** A recovery. */
    struct {
        /** CPS_REASON_*: how the submission ended. */
        unsigned reason;
    } recover;
    /** A ring. */
    struct {
        /** As the file says; may come twice. */
        uint32_t id;
        /** Where it lies, in bytes. */
        uint64_t iova;
        /** Bytes. */
        uint64_t size;
        /** How far it is read and written, in dwords from its start. */
        uint32_t rptr, wptr;
        /** Newest fence submitted. */
        uint32_t last_fence;
        /** Newest fence completed. */
        uint32_t retired_fence;
    } ring;
    /** A register of a dump. */
    struct {
        /** Its number, in dwords. */
        uint32_t offset;
        /** What it held. */
        uint32_t value;
        /** Where it stood: "registers", "registers-gmu", or the cluster's name. */
        const char *section;
        /** Of banked registers in clusters, else -1. */
        int context;
    } reg;
    /** Words. */
    struct {
        /** The present name where older kernels had another. */
        const char *name;
        /** NULL when there are none. */
        const uint32_t *words;
        /** Words present; those missing at the end are zero or unknown. */
        size_t count;
        /** Dwords that the file states. */
        size_t size;
    } block;
    /** A script. */
    struct {
        /** Its code. */
        const uint8_t *bytes;
        /** Bytes. */
        size_t size;
        /** Byte of the code memory where it goes. */
        uint32_t at;
        /** SEQ: the words of OUT; NULL: it has none. */
        const uint32_t *out;
        /** How many. */
        uint32_t out_count;
    } code;
    /** What the rest of the chip does. */
    struct {
        /** When. */
        uint64_t tick;
        /** An event gets the value, else a register. */
        bool is_event;
        /** Of the event, below 32 or CPS_EVENT_PGRAPH_IDLE; or the register's address. */
        uint32_t number;
        /** What it gets. */
        uint32_t value;
    } change;
    /** What the host does. */
    struct {
        /** Where `addr` leads, of reads and writes. */
        enum cps_item_where where;
        /** Bytes of a write: 4, 2 or 1; only words are aligned. Of afuc 4. */
        uint8_t size;
        /** As enum cps_item_kind says. */
        uint32_t addr, value, mask;
        /** As enum cps_item_kind says. */
        uint64_t ticks;
    } host;
};

/** Takes items. A program puts this as the first member into a struct of its own, and casts back.
 */
struct cps_item_sink {
    /** Gets one item, in the order of the file. An error that it returns stops the reader, which
     * hands it on to its caller. */
    struct cps_err *(*item)(struct cps_item_sink *sink, const struct cps_item *item);
};

/**
 * Whether an item makes an engine run, rather than only prepare for one that does.
 * @param item  any
 */
static inline bool cps_item_acts(const struct cps_item *item)
{
    return (1u << CPS_ITEM_SUBMIT | 1u << CPS_ITEM_FENCE | 1u << CPS_ITEM_RING |
            1u << CPS_ITEM_INIT | 1u << CPS_ITEM_PACKETS | 1u << CPS_ITEM_CODE |
            1u << CPS_ITEM_WRITE | 1u << CPS_ITEM_READ | 1u << CPS_ITEM_OBJECT |
            1u << CPS_ITEM_WAIT | 1u << CPS_ITEM_RUN | 1u << CPS_ITEM_END) >>
               item->kind &
           1;
}

CPS_C_END

#endif
