/* SPDX-License-Identifier: MIT
 * The binary form of a trace: what writer and reader share. docs/formats.md describes it; the
 * second reader in tests/ was written from that page. Private to trace/. */
#ifndef CPS_CPT_H
#define CPS_CPT_H

#include <stdint.h>

#include "event.h"

#define CPT_MAGIC        "CPTRACE1" /* the digit is the version */
#define CPT_END          "CPTEND1\n"
#define CPT_MAGIC_SIZE   8u
#define CPT_FRAME        0x4d524643u /* "CFRM" */
#define CPT_INDEX        0x58444943u /* "CIDX" */
#define CPT_FRAME_EVENTS 65536u
/** Most bytes of one event before compression: tag, processor, three numbers. */
#define CPT_MAX_EVENT  26u
#define CPT_MAX_HEAD   65536u
#define CPT_FRAME_HEAD 16u /* magic, events, bytes, compressed bytes */

/** Tags above the event kinds. */
enum { CPT_TYPE7 = 28, CPT_TYPE4 = 29, CPT_WHO = 31 };

#define CPT_SLOTS 1024u

/**
 * What the next event is predicted from. Begins as zero in each frame, so that every frame can be
 * read alone.
 *
 * An address is coded as the distance from the last one of its kind plus that kind's usual step. A
 * program counter is looked up by the event before and the kind: code repeats itself.
 */
struct cpt_model {
    uint32_t who;
    uint32_t pc; /* of the event before */
    uint64_t addr[32];
    uint32_t slot[CPT_SLOTS];
};

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

static inline uint32_t *cpt_slot(struct cpt_model *model, unsigned kind)
{
    uint32_t mix = (model->pc * 2654435761u) ^ (kind * 40503u) ^ (model->who * 7919u);
    return &model->slot[(mix ^ mix >> 15) % CPT_SLOTS];
}

/** Notes an event, after it was coded or decoded. */
static inline void cpt_learn(struct cpt_model *model, unsigned kind, uint32_t pc, uint64_t addr)
{
    *cpt_slot(model, kind) = pc;
    model->addr[kind] = addr;
    model->pc = pc;
}

#endif
