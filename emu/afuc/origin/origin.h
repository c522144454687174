/* SPDX-License-Identifier: MIT
 * Where values come from, kept while a machine runs: beside every place that holds a value there is
 * the number of a node, and a node says which instruction, word or part of the hardware made the
 * value, out of which other nodes. Nothing is inferred afterwards.
 *
 * The machine then runs tick by tick: the state before a tick, the rows of isa/afuc.def and the
 * events of the tick say what went where. Every node has its value, and a place that holds another
 * value than its node says so (ORIGIN_HARDWARE) instead of naming the wrong one. A machine without
 * an observer does not look for one but once in a turn. Private to emu/ and tools/.
 *
 *   node.c    nodes, and which of them survive
 *   place.c   which node is beside which place
 *   word.c    what the queues hand out
 *   tick.c    what an instruction reads and computes
 *   effect.c  what its events say of where it went
 *   run.c     ticks, items, and who is told */
#ifndef CPS_ORIGIN_H
#define CPS_ORIGIN_H

#include "emu/afuc/machine.h"
#include "emu/afuc/origin/node.h"
#include "emu/afuc/origin/place.h"
#include "emu/afuc/origin/word.h"
#include "trace/event/item.h"

/** Makes an observer of @p machine, from here on. Once one of them is gone the other only waits for
 * its own end. @p most  nodes; 0: a default. Its events must go to origin_sink_(), all of
 * ORIGIN_KINDS. */
CPS_MUST_USE struct cps_err *origin_create_(struct cps_afuc *machine, uint32_t most,
                                            struct origin **ret);
void origin_destroy_(struct origin *origin);
struct cps_sink *origin_sink_(struct origin *origin);
#define ORIGIN_KINDS (((1u << CPS_EV_COUNT) - 1) & ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX))
/** @p kinds  events to number, from 0 */
void origin_tell_(struct origin *origin, uint32_t kinds, origin_seen *seen, void *context);

/** What the machine calls: a turn of a core, an item that it was fed. */
uint64_t origin_run_(struct origin *origin, struct afuc_core *core, uint64_t budget);
void origin_item_(struct origin *origin, const struct cps_item *item);

/** Where the capture has the word of a WORD, MEMORY or PACKET node; NULL: it does not. @p offset
 * gets the byte of the file if the block has one, else that of the block. */
const struct origin_block *origin_block_(const struct origin *origin,
                                         const struct origin_node *node, uint64_t *offset);

#endif
