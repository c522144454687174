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

#define CPT_MAGIC        "CPTRACE2" /* the digit is the version */
#define CPT_VERSION      2u         /* what is written; readers take 1, too */
#define CPT_END          "CPTEND1\n"
#define CPT_MAGIC_SIZE   8u
#define CPT_FRAME        0x4d524643u /* "CFRM" */
#define CPT_INDEX        0x58444943u /* "CIDX" */
#define CPT_FRAME_EVENTS 65536u
#define CPT_FRAME_HEAD   16u /* magic, events, bytes, compressed bytes */

/** Most bytes of one event before compression: flags, processor, form, sub, pc, addr, and the value
 * as a type-4 header. */
#define CPT_MAX_EVENT 40u
static inline uint32_t cpt_max_event(unsigned version)
{
    return version == 1 ? 32 : CPT_MAX_EVENT;
}

/** The checksum of the head, which has no zstd around it. */
static inline uint32_t cpt_sum(const void *text, size_t size)
{
    return (uint32_t)crc32(0, text, (uInt)size);
}

/** Over the index: what the reader keeps of it, instead of all its entries. */
static inline uint64_t cpt_index_mix(uint64_t mix, uint64_t offset, uint64_t events)
{
    mix = (mix ^ offset) * UINT64_C(0x9e3779b97f4a7c15);
    return (mix ^ mix >> 29 ^ events) * UINT64_C(0x9e3779b97f4a7c15);
}

/** How the value of a packet's header is written: forms among those of the kinds. */
enum { CPT_TYPE7 = 28, CPT_TYPE4 = 29 };

/** The byte that each event begins with: what is as predicted, and so is not written. */
enum {
    CPT_SAME_TAG = 1,    /**< form and sub */
    CPT_SAME_PC = 2,     /**< program counter */
    CPT_SAME_ADDR = 4,   /**< address, as the last time in this place */
    CPT_NEXT_ADDR = 8,   /**< address, one step behind the last of its kind; not with SAME_ADDR */
    CPT_SAME_VALUE = 16, /**< value, as the last time at this address */
    CPT_WIDE_TAG = 32,   /**< form and sub do not fit into a byte; not with SAME_TAG or version 1 */
    CPT_UNKNOWN = 64,    /**< a bit without a meaning */
    CPT_NEW_WHO = 128,   /**< another processor; its number follows */
};

#define CPT_KINDS  256u
#define CPT_PLACES 1024u
#define CPT_VALUES 4096u

/** What followed an event the last time. */
struct cpt_place {
    uint32_t tag; /* form 15:0: kind, or how the value of a packet is written; sub 31:16 */
    uint32_t pc;
    uint64_t addr;
};

/** What the next event is predicted from: code repeats itself. Begins as zero in each frame, so
 * that every frame can be read alone. */
struct cpt_model {
    uint32_t who;
    uint32_t pc;  /* of the event before */
    uint32_t mix; /* of pc and tag of the event before */
    uint64_t addr[CPT_KINDS];
    struct cpt_place place[CPT_PLACES];
    uint32_t value[CPT_VALUES];
};

/** The events of one frame, before compression. */
struct cpt_frame {
    unsigned version; /**< 1 or 2 */
    uint8_t *raw;     /**< the caller's */
    size_t size;      /**< bytes of it that are used */
    size_t at;        /**< the next one to read */
    struct cpt_model model;
};

/** Appends an event to a frame of version 2 that has room for it. */
void cpt_put_event_(struct cpt_frame *frame, const struct cps_event *event);
/**
 * Reads the next event of a frame, any that the format can hold: whether there is such an event is
 * for cps_event_check_() to say.
 * @return false if the bytes are no event
 */
bool cpt_get_event_(struct cpt_frame *frame, struct cps_event *ret);

#endif
