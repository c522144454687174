/* SPDX-License-Identifier: MIT
 * The host that drives an engine. Private to emu/nv/ and its tests. */
#ifndef CPS_NV_HOST_H
#define CPS_NV_HOST_H

#include "emu/nv/nv.h"

/* Begins what the host does; false if it must wait until the engine lets it. */
struct cps_err *nv_host_begin_(struct nv *e, const struct cps_item *item);
/* Goes on with what the host does. */
enum cps_stop nv_host_run_(struct nv *e, uint64_t ticks);
/** The clock is that of what has run by now, of which each instruction is a change: it moves the
 * pointer. */
void nv_host_count_(struct nv *e);
/* The word at byte @p at of a script, filled up. */
uint32_t nv_word_(const struct cps_item *item, size_t at);
/* Whether the access of the host under way stalls while memory is paused: from G80 on any, on NV41
 * one that leads to memory. */
bool nv_host_stalled_(const struct nv *e);
/* Whether an access of the host is under way that stalls. */
bool nv_host_waits_(const struct nv *e);

#endif
