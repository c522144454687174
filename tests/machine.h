/* SPDX-License-Identifier: MIT
 * An engine of firmware as tests feed it and look at it. */
#ifndef TESTS_MACHINE_H
#define TESTS_MACHINE_H

#include "emu/afuc/afuc.h"

static inline uint32_t machine_value(const struct cps_engine *machine, unsigned core, char file,
                                     uint64_t number)
{
    uint64_t value = 0;
    cps_engine_get((struct cps_engine *)(uintptr_t)machine,
                   (struct cps_place){(uint8_t)core, file, number}, &value);
    return (uint32_t)value;
}
static inline uint32_t machine_memory(struct cps_engine *machine, uint64_t iova, bool *known)
{
    uint64_t value = 0;
    bool found = cps_engine_get(machine, (struct cps_place){0, CPS_FILE_MEMORY, iova}, &value);
    if (known)
        *known = found;
    return (uint32_t)value;
}
static inline void machine_set(struct cps_engine *machine, char file, uint64_t number,
                               uint64_t value)
{
    cps_engine_set(machine, (struct cps_place){0, file, number}, value);
}
static inline struct cps_err *machine_load(struct cps_engine *machine, uint64_t iova,
                                           const uint8_t *data, uint64_t size)
{
    const struct cps_item item = {.kind = CPS_ITEM_DATA,
                                  .buffer = {.iova = iova, .size = size, .data = data}};
    return cps_engine_feed(machine, &item);
}
static inline void machine_forget(struct cps_engine *machine)
{
    const struct cps_item item = {.kind = CPS_ITEM_RESET};
    cps_err_free(cps_engine_feed(machine, &item));
}
/* Whether the stream's first word is there: what runs then. */
static inline bool machine_submit(struct cps_engine *machine, uint32_t index, uint64_t iova,
                                  uint32_t dwords)
{
    const struct cps_item item = {.kind = CPS_ITEM_SUBMIT,
                                  .stream = {.iova = iova, .dwords = dwords, .index = index}};
    bool known = false;
    machine_memory(machine, iova, &known);
    cps_err_free(cps_engine_feed(machine, &item));
    return known;
}
static inline bool machine_ring(struct cps_engine *machine, const uint32_t *words, unsigned count)
{
    const struct cps_item item = {.kind = CPS_ITEM_PACKETS,
                                  .block = {.words = words, .count = count}};
    struct cps_err *err = cps_engine_feed(machine, &item);
    cps_err_free(err);
    return !err;
}
static inline void machine_set_ring(struct cps_engine *machine, uint64_t iova, uint32_t dwords,
                                    uint32_t rptr, uint32_t wptr)
{
    const struct cps_item item = {
        .kind = CPS_ITEM_RING,
        .ring = {.iova = iova, .size = 4 * (uint64_t)dwords, .rptr = rptr, .wptr = wptr}};
    cps_err_free(cps_engine_feed(machine, &item));
}
static inline void machine_chip(struct cps_engine *machine, uint32_t gpu)
{
    const struct cps_item item = {.kind = CPS_ITEM_CHIP, .chip = {.gpu_id = gpu}};
    cps_err_free(cps_engine_feed(machine, &item));
}

#endif
