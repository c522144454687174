/* SPDX-License-Identifier: MIT
 * The binary form of a trace: what writer and reader share. docs/formats.md describes it; the
 * second reader in tests/ was written from that page. Private to trace/. */
#ifndef CPS_CPT_H
#define CPS_CPT_H

#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

#include "trace/event.h"

#define CPT_MAGIC        "CPTRACE1" /* the digit is the version */
#define CPT_END          "CPTEND1\n"
#define CPT_MAGIC_SIZE   8u
#define CPT_FRAME        0x4d524643u /* "CFRM" */
#define CPT_INDEX        0x58444943u /* "CIDX" */
#define CPT_FRAME_EVENTS 65536u
/** Most bytes of one event before compression: flags, processor, tag, three numbers, opcode. */
#define CPT_MAX_EVENT  32u
#define CPT_FRAME_HEAD 16u /* magic, events, bytes, compressed bytes */

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

/** Tags above the event kinds: headers of packets by what they mean. */
enum { CPT_TYPE7 = 28, CPT_TYPE4 = 29 };

/** The byte that each event begins with: what is as predicted, and so is not written. */
enum {
    CPT_SAME_TAG = 1,    /**< kind, sub and form of the value */
    CPT_SAME_PC = 2,     /**< program counter */
    CPT_SAME_ADDR = 4,   /**< address, as the last time in this place */
    CPT_NEXT_ADDR = 8,   /**< address, one step behind the last of its kind; not with SAME_ADDR */
    CPT_SAME_VALUE = 16, /**< value, as the last time at this address */
    CPT_UNKNOWN = 96,    /**< bits without a meaning */
    CPT_NEW_WHO = 128,   /**< another processor; its number follows */
};

#define CPT_PLACES 1024u
#define CPT_VALUES 4096u

/** What followed an event the last time. */
struct cpt_place {
    uint32_t tag; /* kind or form, sub << 5 */
    uint32_t pc;
    uint64_t addr;
};

/** What the next event is predicted from: code repeats itself. Begins as zero in each frame, so
 * that every frame can be read alone. */
struct cpt_model {
    uint32_t who;
    uint32_t pc;  /* of the event before */
    uint32_t tag; /* of the event before */
    uint64_t addr[32];
    struct cpt_place place[CPT_PLACES];
    uint32_t value[CPT_VALUES];
};

/** The kind of event that a tag stands for. */
static inline unsigned cpt_kind(uint32_t tag)
{
    unsigned form = tag & 31;
    return form == CPT_TYPE7 || form == CPT_TYPE4 ? (unsigned)CPS_EV_PKT : form;
}

/** How far the next address of a kind is usually from the one before: a register or a dword. */
static inline uint64_t cpt_step(unsigned kind)
{
    switch (kind) {
    case CPS_EV_REG:
    case CPS_EV_REGR:
    case CPS_EV_CTRL:
    case CPS_EV_PIPE:
        return 1;
    default:
        return 4;
    }
}

/** The place behind the event before. */
static inline struct cpt_place *cpt_place(struct cpt_model *model)
{
    uint32_t mix = model->pc * 2654435761u ^ model->tag * 40503u ^ model->who * 7919u;
    return &model->place[(mix ^ mix >> 15) % CPT_PLACES];
}

/** The value that was seen at an address the last time. */
static inline uint32_t *cpt_value(struct cpt_model *model, unsigned kind, uint64_t addr)
{
    uint64_t mix = (addr ^ (uint64_t)kind << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return &model->value[(mix >> 40) % CPT_VALUES];
}

/** Notes an event, after it was coded or decoded. */
static inline void cpt_learn(struct cpt_model *model, uint32_t tag, uint32_t pc, uint64_t addr,
                             uint32_t value)
{
    unsigned kind = cpt_kind(tag);
    *cpt_place(model) = (struct cpt_place){tag, pc, addr};
    *cpt_value(model, kind, addr) = value;
    model->addr[kind] = addr;
    model->pc = pc;
    model->tag = tag;
}

#endif
