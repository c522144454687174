/* SPDX-License-Identifier: MIT
 * Decoding of whole images. Private to isa/, fw/ and emu/. */
#ifndef CPS_DECODER_H
#define CPS_DECODER_H

#include "isa/isa.h"

/** Most rows that the slots of a decoder name; most rows of a set. */
#define CPS_DECODER_ROWS 1024
#define CPS_MAX_ROWS     512
/** Most rows of afuc's set. */
#define CPS_AFUC_ROWS 256

/** Rows of one generation of a set whose instructions are single words, by the words' upper five
 * bits: for whole images. Plain data. */
struct cps_decoder {
    const struct cps_isa *isa;
    uint32_t bit;      /**< cps_gen_bit() */
    uint16_t from[33]; /**< where in @p row a slot begins, and the last one ends */
    uint16_t row[CPS_DECODER_ROWS];
};
void cps_decoder_init(struct cps_decoder *decoder, const struct cps_isa *isa, enum cps_gen gen);
/** As cps_decode(). */
void cps_decoder_decode(const struct cps_decoder *decoder, uint32_t word, struct cps_insn *ret);
#endif
