/* SPDX-License-Identifier: MIT
 * The pusher of the host's writes, and NV3's, which reads memory: pfifo_push.c, pfifo_dma.c.
 * Private to emu/nv/. */
#ifndef CPS_NV_PFIFO_PUSH_H
#define CPS_NV_PFIFO_PUSH_H

#include "emu/nv/pfifo.h"

bool pfifo_runout_empty_(const struct nv *e);
uint32_t pfifo_runout_next_(const struct nv *e);
/** A write of the host's to USER; @p offset in it, @p lanes the bytes of the word. */
void pfifo_user_write_(struct nv *e, uint32_t offset, unsigned lanes, uint32_t value);
uint32_t pfifo_user_read_(struct nv *e, uint32_t offset);
/** What FREE of a channel reads. */
uint32_t pfifo_free_(const struct nv *e, uint32_t chid);
/** Appends to CACHE1, which is not full. */
void pfifo_enqueue_(struct nv *e, uint32_t addr, uint32_t data);
/** Whether there is a word that may be taken. */
bool pfifo_has_word_(const struct nv *e);
/** Takes one; false if none was: it led to an error. */
bool pfifo_dma_(struct nv *e);
/** Whether a batch is under way. */
bool pfifo_dma_active_(const struct nv *e);

#endif
