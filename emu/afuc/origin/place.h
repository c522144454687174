/* SPDX-License-Identifier: MIT
 * Which node is beside which place: origin.h. */
#ifndef CPS_ORIGIN_PLACE_H
#define CPS_ORIGIN_PLACE_H

#include "emu/afuc/origin/type.h"

struct afuc_core;
struct core_tags;
struct core_tags *origin_core_(struct origin *o, unsigned who);
/** Beside a GPU register, as an event of @p core names it; NULL if memory is short. */
uint32_t *origin_gpu_(struct origin *o, const struct afuc_core *core, uint64_t place, bool control);
uint32_t *origin_control_tag_(struct origin *o, struct core_tags *tags,
                              const struct afuc_core *core, uint32_t number);
void origin_set_memory_(struct origin *o, uint64_t iova, uint32_t node);
void origin_forget_memory_(struct origin *o);
/** Calls @p each for every place that holds a node. */
void origin_places_(struct origin *o, void (*each)(struct origin *o, uint32_t *node));
void origin_free_places_(struct origin *o);

/** The last write to a GPU register, in any of its banks, and to a word of memory; 0: never. */
uint32_t origin_register_(const struct origin *origin, uint32_t offset);
uint32_t origin_memory_(const struct origin *origin, uint64_t iova);
/** A control register of a core. */
uint32_t origin_control_(const struct origin *origin, unsigned core, unsigned number);
/** Where the ring lies now, and its bytes. */
uint64_t origin_ring_(const struct origin *origin);
uint64_t origin_ring_bytes_(const struct origin *origin);

#endif
