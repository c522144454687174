/* SPDX-License-Identifier: MIT
 * Interrupts of PFIFO. Private to emu/nv/. */
#ifndef CPS_NV_PFIFO_IRQ_H
#define CPS_NV_PFIFO_IRQ_H

#include "emu/nv/pfifo.h"

/** Makes an interrupt pending. @p bit  INTR_* */
void pfifo_raise_(struct nv *e, unsigned bit);
/** Tells of what has become pending and enabled since @p before. */
void pfifo_tell_(struct nv *e, uint32_t before);

#endif
