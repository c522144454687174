/* SPDX-License-Identifier: MIT
 * What the rows of all NVIDIA engines have in common: nv.c, view.c. Private to emu/nv/. */
#ifndef CPS_NV_OPS_H
#define CPS_NV_OPS_H

#include "emu/nv/nv.h"

#define NV_OPS                                                                          \
    .create = nv_create_, .destroy = nv_destroy_, .clone = nv_clone_, .feed = nv_feed_, \
    .run = nv_run_, .where = nv_where_, .get = nv_get_, .set = nv_set_, .explain = nv_explain_

struct cps_err *nv_create_(const struct cps_engine_ops *ops, const struct cps_config *config,
                           struct cps_engine **ret);
void nv_destroy_(struct cps_engine *engine);
struct cps_err *nv_clone_(struct cps_engine *from, struct cps_engine **ret);
struct cps_err *nv_feed_(struct cps_engine *engine, const struct cps_item *item);
enum cps_stop nv_run_(struct cps_engine *engine, uint64_t ticks);
void nv_explain_(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out);
struct cps_where nv_where_(const struct cps_engine *engine, unsigned core);
bool nv_get_(struct cps_engine *engine, struct cps_place place, uint64_t *ret);
bool nv_set_(struct cps_engine *engine, struct cps_place place, uint64_t value);

#endif
