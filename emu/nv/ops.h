/* SPDX-License-Identifier: MIT
 * What the rows of all NVIDIA engines have in common: nv.c, view.c. Private to emu/nv/ and the test
 * engine. */
#ifndef CPS_NV_OPS_H
#define CPS_NV_OPS_H

#include <stddef.h>

#include "emu/nv/nv.h"

/** A row of struct cps_reg: a member of an engine's state, as people type it. */
#define NV_VALUE(type, name, member)                                          \
    {                                                                         \
        name, offsetof(type, member), (uint8_t)sizeof(((type *)NULL)->member) \
    }
/** Rows of struct cps_file: the values of `regs`, and the registers of the chip. */
#define NV_FILE_VALUES                                                    \
    {                                                                     \
        CPS_FILE_SCALAR, 64, 1, "value", sizeof(regs) / sizeof((regs)[0]) \
    }
#define NV_FILE_REGISTERS                                       \
    {                                                           \
        CPS_FILE_REGISTER, 32, 4, "register", UINT64_C(1) << 32 \
    }

/** The row of engine @p id for engine.c, of the file's own `regs`, `files` and `kind`. */
#define NV_ENGINE(id)                                   \
    extern const struct cps_engine_ops cps_##id##_ops_; \
    const struct cps_engine_ops cps_##id##_ops_ = {     \
        .name = #id,                                    \
        .isa = &cps_isa_##id,                           \
        .file = files,                                  \
        .files = sizeof(files) / sizeof(files[0]),      \
        .reg = regs,                                    \
        .regs = sizeof(regs) / sizeof(regs[0]),         \
        .create = nv_create_,                           \
        .destroy = nv_destroy_,                         \
        .clone = nv_clone_,                             \
        .feed = nv_feed_,                               \
        .run = nv_run_,                                 \
        .where = nv_where_,                             \
        .get = nv_get_,                                 \
        .set = nv_set_,                                 \
        .explain = nv_explain_,                         \
        .kind = &kind,                                  \
    }

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
