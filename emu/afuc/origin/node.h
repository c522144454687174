/* SPDX-License-Identifier: MIT
 * Nodes, and which of them are kept: origin.h. */
#ifndef CPS_ORIGIN_NODE_H
#define CPS_ORIGIN_NODE_H

#include "emu/afuc/origin/type.h"

/** A node of the tick; 0 if memory is short, and the machine stops for that. */
uint32_t origin_new_(struct origin *o, unsigned kind, uint32_t value, uint64_t place);
void origin_make_room_(struct origin *o);
/** Keeps a node and all that it comes from; returns a number for origin_kept_(), UINT32_MAX if
 * memory is short. */
uint32_t origin_keep_(struct origin *origin, uint32_t node);
uint32_t origin_kept_(const struct origin *origin, uint32_t kept);
/** A node by its number, which is valid until the machine runs on. */
const struct origin_node *origin_at_(const struct origin *origin, uint32_t node);
/** Whether something was left out because there was more than room for. */
bool origin_cut_(const struct origin *origin);

#endif
