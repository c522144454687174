/* SPDX-License-Identifier: MIT
 * The binary form of a trace: what writer and reader share. docs/formats.md describes it; the
 * second reader in tests/ was written from that page. Private to trace/. */
#ifndef CPS_CPT_H
#define CPS_CPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "trace/event.h"

#define CPT_MAGIC        "CPTRACE3" /* the digit is the version */
#define CPT_VERSION      3u         /* what is written; readers take 1 and 2, too */
#define CPT_END          "CPTEND1\n"
#define CPT_MAGIC_SIZE   8u
#define CPT_FRAME        0x4d524643u /* "CFRM" */
#define CPT_INDEX        0x58444943u /* "CIDX" */
#define CPT_FRAME_EVENTS 65536u
#define CPT_FRAME_HEAD   16u /* magic, events, bytes, compressed bytes */

/** Most bytes of one event before compression: flags, processor, kind, sub, pc, addr, and the value
 * as a header; less in a run of registers. */
#define CPT_MAX_EVENT 40u
static inline uint32_t cpt_max_event(unsigned version)
{
    return version == 1 ? 32 : CPT_MAX_EVENT;
}
/** Most events of one record: a packet and its registers. */
#define CPT_MAX_RECORD 128u

/** The checksum of the head, which has no zstd around it; since version 3 with the magic, so that
 * no version is taken for another one. */
static inline uint32_t cpt_sum(unsigned version, const void *text, size_t size)
{
    const uint8_t magic[] = {'C', 'P', 'T', 'R', 'A', 'C', 'E', (uint8_t)('0' + version)};
    uLong sum = crc32(0, magic, version < 3 ? 0 : sizeof(magic));
    return (uint32_t)crc32(sum, text, (uInt)size);
}

/** Over the index: what the reader keeps of it, instead of all its entries. */
static inline uint64_t cpt_index_mix(uint64_t mix, uint64_t offset, uint64_t events)
{
    mix = (mix ^ offset) * UINT64_C(0x9e3779b97f4a7c15);
    return (mix ^ mix >> 29 ^ events) * UINT64_C(0x9e3779b97f4a7c15);
}

/** The byte that each record begins with: what is as expected, and so is not written. */
enum {
    CPT_SAME_TAG = 1,    /**< kind and sub */
    CPT_SAME_PC = 2,     /**< program counter */
    CPT_SAME_ADDR = 4,   /**< address, as the last time in this place */
    CPT_NEXT_ADDR = 8,   /**< address, behind the last of its kind; not with SAME_ADDR */
    CPT_SAME_VALUE = 16, /**< value, as the last time at this address, or behind this packet */
    CPT_WIDE_TAG = 32,   /**< kind and sub do not fit into a byte; not with SAME_TAG or version 1 */
    CPT_REGISTERS = 64,  /**< the packet's registers follow; not in versions 1 and 2 */
    CPT_NEW_WHO = 128,   /**< another processor; its number follows */
};

/** The byte that a header begins with: of type 4 its count, of type 7 its opcode and this, or that
 * it stands there as it is. */
enum { CPT_HEADER_TYPE7 = 0x80, CPT_HEADER_PLAIN = 0x7f };

#define CPT_KINDS  256u
#define CPT_PLACES 1024u
#define CPT_VALUES 4096u

/** What followed an event the last time, in versions 1 and 2. */
struct cpt_old_place {
    uint32_t tag; /* form 15:0: kind, or how the value of a packet is written; sub 31:16 */
    uint32_t pc;
    uint64_t addr;
};

/** What the next event of versions 1 and 2 is predicted from. */
struct cpt_old_model {
    uint32_t who;
    uint32_t pc;  /* of the event before */
    uint32_t mix; /* of pc and tag of the event before */
    uint64_t addr[CPT_KINDS];
    struct cpt_old_place place[CPT_PLACES];
    uint32_t value[CPT_VALUES];
};

#define CPT_CORES           256u
#define CPT_LEVELS          8u   /* of streams that have a next packet of their own */
#define CPT_RUNS            128u /* processors and levels whose runs of registers are remembered */
#define CPT_REGISTER_VALUES 16384u

/** What followed an event the last time. */
struct cpt_place {
    uint64_t head; /**< as that of an event */
    uint64_t addr;
};

/** The registers behind a type-4 packet: what is the same in all events of them. */
struct cpt_run {
    uint64_t head; /**< as that of an event */
    uint64_t base; /**< addr minus number of the register: bank, pipe */
};

/** What the next event is expected to be: code repeats itself, and so do streams. Begins as zero in
 * each frame, so that every frame can be read alone. cpt_model.h knows what is where. */
struct cpt_model {
    uint32_t who;    /**< of the event before */
    uint32_t opened; /**< the event before was a type-4 packet alone: 1 + number of its run */
    uint64_t reg;    /**< the first register of that packet */
    struct {
        uint32_t place;  /**< of the event to come */
        uint32_t pc;     /**< of the last event */
        uint32_t header; /**< of the last packet */
        uint32_t zero;   /**< so that numbers shift */
    } core[CPT_CORES];
    uint64_t next[CPT_KINDS + CPT_LEVELS]; /**< addr behind the last of a kind; PKTs by level */
    struct cpt_place place[CPT_PLACES];
    struct cpt_run run[CPT_RUNS];
    uint32_t value[CPT_REGISTER_VALUES + CPT_VALUES];
};

/** The events of one frame, before compression. */
struct cpt_frame {
    unsigned version; /**< 1 to 3 */
    uint8_t *raw;     /**< the caller's */
    size_t size;      /**< bytes of it that are used */
    size_t at;        /**< the next one to read */
    uint32_t events;  /**< written to it */
    struct {
        struct cpt_run like; /**< the next one */
        uint32_t left;       /**< how many are still to be handed out */
        uint32_t number;     /**< of the next one in its packet */
        size_t codes;        /**< where their codes begin */
        size_t at;           /**< the value of the next one */
    } registers;             /**< of a packet that was read */
    union {
        struct cpt_model model;
        struct cpt_old_model old; /**< of versions 1 and 2 */
    };
};

/** Makes a frame empty. @param raw  the caller's */
void cpt_frame_begin_(struct cpt_frame *frame, unsigned version, uint8_t *raw, size_t size);
/**
 * Appends events to a frame of version 3 with room for CPT_FRAME_EVENTS, in the fewest records: a
 * packet whose registers have not all come waits for them.
 * @param last  nothing comes behind these
 * @return how many were taken: all but such a packet, or until the frame holds CPT_FRAME_EVENTS
 */
size_t cpt_put_events_(struct cpt_frame *frame, const struct cps_event *events, size_t count,
                       bool last);
/**
 * Reads the next event of a frame, any that the format can hold: whether there is such an event is
 * for cps_event_check_() to say.
 * @return false if the bytes are no event
 */
bool cpt_get_event_(struct cpt_frame *frame, struct cps_event *ret);
/** The same, of versions 1 and 2: cpt_old.c. */
bool cpt_get_old_event_(struct cpt_frame *frame, struct cps_event *ret);
/** Whether all that a frame holds was read. */
static inline bool cpt_is_read_(const struct cpt_frame *frame)
{
    return frame->at == frame->size && !frame->registers.left;
}

#endif
