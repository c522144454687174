/* SPDX-License-Identifier: MIT
 * Pointers into CACHE1, and the structures in RAMIN. Private to emu/nv/. */
#ifndef CPS_NV_PFIFO_RAM_H
#define CPS_NV_PFIFO_RAM_H

#include "emu/nv/pfifo.h"

/** Reflected binary to binary, of any width. */
uint32_t pfifo_binary_(uint32_t gray);
/** The pointer behind @p pointer. */
uint32_t pfifo_next_(const struct nv *e, uint32_t pointer);
/** The raw index of the entry that a pointer means. */
uint32_t pfifo_entry_(const struct nv *e, uint32_t pointer);
/** By place in the walk: a pointer may have a bit more than its code. */
bool pfifo_is_empty_(const struct nv *e);
bool pfifo_is_full_(const struct nv *e);
/** Bytes that FREE promises while nothing else limits them. */
uint32_t pfifo_room_(const struct nv *e);

struct pfifo_area {
    uint32_t start, size; /* bytes */
};
struct pfifo_area pfifo_ramht_(const struct nv *e);
struct pfifo_area pfifo_ramro_(const struct nv *e);
struct pfifo_area pfifo_ramfc_(const struct nv *e);
uint32_t pfifo_ramin_read_(const struct nv *e, uint32_t at);
void pfifo_ramin_write_(struct nv *e, uint32_t at, uint32_t value);
/** The context of an object; false if RAMHT has none. NV1 without objects from the run file stops.
 */
bool pfifo_lookup_(struct nv *e, uint32_t handle, uint32_t channel, uint32_t *ret);
/** Byte offset of the handle's bucket in a RAMHT of NV3 of @p size bytes. */
uint32_t pfifo_hash_(uint32_t handle, uint32_t channel, uint32_t size);

#endif
