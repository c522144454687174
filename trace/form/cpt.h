/* SPDX-License-Identifier: MIT
 * The binary form of a trace: what writer and reader share. docs/formats.md describes it; the
 * second reader in tests/ was written from that page. Private to trace/. */
#ifndef CPS_CPT_H
#define CPS_CPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "trace/event/event.h"

#define CPT_MAGIC        "CPTRACE3" /* the digit is the version */
#define CPT_VERSION      3u
#define CPT_END          "CPTEND1\n"
#define CPT_MAGIC_SIZE   8u
#define CPT_FRAME        0x4d524643u /* "CFRM" */
#define CPT_INDEX        0x58444943u /* "CIDX" */
#define CPT_FRAME_EVENTS 65536u
#define CPT_FRAME_HEAD   16u /* magic, events, bytes, compressed bytes */

/** Most bytes of one event before compression: flags, processor, kind, sub, pc, addr, and the value
 * as a header; less in a run of registers. */
#define CPT_MAX_EVENT 40u

/** The checksum of the head, which has no zstd around it: with the magic, so that no version is
 * taken for another one. */
static inline uint32_t cpt_sum(const void *text, size_t size)
{
    uLong sum = crc32(0, (const Bytef *)CPT_MAGIC, CPT_MAGIC_SIZE);
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
    CPT_SAME_ADDR = 4,   /**< address, as expected */
    CPT_NEXT_ADDR = 8,   /**< address, behind the last of its kind; not with SAME_ADDR */
    CPT_SAME_VALUE = 16, /**< value */
    CPT_WIDE_TAG = 32,   /**< kind and sub do not fit into a byte; not with SAME_TAG */
    CPT_RUN = 64,        /**< so many events as expected instead */
    CPT_NEW_WHO = 128,   /**< another processor; its number follows */
};

/** Of CPT_RUN the largest number that fits into the byte; then the rest follows. */
#define CPT_RUN_MOST 64u

/** The byte that a header begins with: of type 4 its count, of type 7 its opcode and this, or that
 * it stands there as it is. */
enum { CPT_HEADER_TYPE7 = 0x80, CPT_HEADER_PLAIN = 0x7f };

#define CPT_KINDS  256u
#define CPT_PLACES 1024u

#define CPT_LEVELS  8u
#define CPT_STREAMS 128u  /* of packets: processors and levels */
#define CPT_SEEN    8192u /* a power of two */

/** What the next event is expected to be: the one that followed the last time. Begins as zero in
 * each frame, so that every frame can be read alone. cpt_frame.c knows what is where. */
struct cpt_model {
    uint32_t at;       /**< number of the event to come, from 1 on */
    uint32_t expected; /**< number of the event that it should be like, below `at` */
    uint32_t run;      /**< events as expected that are not written, or not handed out yet */
    uint32_t last[CPT_STREAMS];  /**< the last PKT of each stream */
    uint64_t shift[CPT_STREAMS]; /**< addr of PKTs minus that of those that they are like */
    uint64_t next[CPT_KINDS];    /**< addr behind the last of a kind, but PKT */
    uint32_t seen[CPT_SEEN];     /**< the last event of a head and an addr, or a header */
    uint32_t behind[CPT_PLACES]; /**< the last event of a head */
    struct cps_event event[1 + CPT_FRAME_EVENTS]; /**< all so far; the first one is zero */
};

/** The events of one frame, before compression. */
struct cpt_frame {
    uint8_t *raw;    /**< the caller's */
    size_t size;     /**< bytes of it that are used */
    size_t at;       /**< the next one to read */
    uint32_t events; /**< written to it */
    struct cpt_model model;
};

/** Makes a frame empty. @param raw  the caller's */
void cpt_frame_begin_(struct cpt_frame *frame, uint8_t *raw, size_t size);
/**
 * Appends events to a frame with room for CPT_FRAME_EVENTS.
 * @return how many were taken: all, or until the frame holds CPT_FRAME_EVENTS
 */
size_t cpt_put_events_(struct cpt_frame *frame, const struct cps_event *events, size_t count);
/** Writes what is still to be written of the events that were put: behind the last one. */
void cpt_put_end_(struct cpt_frame *frame);
/**
 * Reads the next event of a frame, any that the format can hold: whether there is such an event is
 * for cps_event_check_() to say.
 * @return false if the bytes are no event
 */
bool cpt_get_event_(struct cpt_frame *frame, struct cps_event *ret);
/** Whether all that a frame holds was read. */
static inline bool cpt_is_read_(const struct cpt_frame *frame)
{
    return frame->at == frame->size && !frame->model.run;
}

#endif
