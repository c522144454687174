/* SPDX-License-Identifier: MIT
 * Numbers as the bytes of a `.cpt`, and back. Private to trace/. */
#ifndef CPS_CPT_BYTES_H
#define CPS_CPT_BYTES_H

#include "trace/form/cpt.h"

/* ---- to bytes: each returns where the next one goes ---- */

/** Seven bits a byte, the last one without bit 7. */
static inline uint8_t *cpt_put_number_(uint8_t *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *to++ = (uint8_t)value;
    return to;
}

/** 0, -1, 1, -2 as 0, 1, 2, 3. */
static inline uint64_t cpt_folded_(uint64_t distance)
{
    return distance << 1 ^ (0 - (distance >> 63));
}

static inline uint64_t cpt_unfolded_(uint64_t number)
{
    return number >> 1 ^ (0 - (number & 1));
}

static inline uint8_t *cpt_put_distance_(uint8_t *to, uint64_t distance)
{
    return cpt_put_number_(to, cpt_folded_(distance));
}

/* ---- and back: each returns false if the bytes are none ---- */

static inline bool cpt_get_byte_(struct cpt_frame *f, uint8_t *ret)
{
    if (f->at == f->size)
        return false;
    *ret = f->raw[f->at++];
    return true;
}

static inline bool cpt_get_number_(struct cpt_frame *f, uint64_t *ret)
{
    uint8_t byte = 0x80;
    *ret = 0;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        if (!cpt_get_byte_(f, &byte) || (shift == 63 && byte > 1))
            return false;
        *ret |= (uint64_t)(byte & 0x7f) << shift;
    }
    return true;
}

static inline bool cpt_get_small_(struct cpt_frame *f, uint32_t most, uint32_t *ret)
{
    uint64_t number = 0;
    bool good = cpt_get_number_(f, &number);
    *ret = (uint32_t)number;
    return good && number <= most;
}

static inline bool cpt_get_distance_(struct cpt_frame *f, uint64_t *ret)
{
    bool good = cpt_get_number_(f, ret);
    *ret = cpt_unfolded_(*ret);
    return good;
}

/** A pc, as its distance from another one. */
static inline bool cpt_get_pc_(struct cpt_frame *f, uint32_t from, uint32_t most, uint32_t *ret)
{
    uint64_t distance = 0;
    bool good = cpt_get_distance_(f, &distance);
    distance += from;
    *ret = (uint32_t)distance;
    return good && distance <= most;
}

#endif
