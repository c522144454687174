/* SPDX-License-Identifier: MIT
 * NVIDIA's engines as debuggers see them: where they stand, and every value by its place. */
#include "emu/nv/nv.h"

#include <string.h>

struct cps_where nv_where_(const struct cps_engine *engine, unsigned core)
{
    const struct nv *e = (const struct nv *)engine;
    return nv_has_code_(e) ? nv_kind_(e)->where(e, core) : (struct cps_where){0};
}

static char *scalar_at(const struct nv *e, uint64_t number)
{
    return (char *)e->state + e->engine.ops->reg[number].offset;
}

/* Little-endian or not, the value has the type that the row's size says. */
static uint64_t get_scalar(const struct nv *e, uint64_t number)
{
    const char *at = scalar_at(e, number);
    uint16_t half;
    uint32_t word;
    switch (e->engine.ops->reg[number].size) {
    case 2:
        memcpy(&half, at, sizeof(half));
        return half;
    case 4:
        memcpy(&word, at, sizeof(word));
        return word;
    default:
        return *(const uint8_t *)at;
    }
}

static bool set_scalar(struct nv *e, uint64_t number, uint64_t value)
{
    unsigned size = e->engine.ops->reg[number].size;
    uint8_t byte = (uint8_t)value;
    uint16_t half = (uint16_t)value;
    uint32_t word = (uint32_t)value;
    const void *from = size == 1   ? (const void *)&byte
                       : size == 2 ? (const void *)&half
                                   : (const void *)&word;
    if (value >> 8 * size)
        return false;
    memcpy(scalar_at(e, number), from, size);
    return true;
}

static enum cps_bus_memory memory_of(char file)
{
    return file == CPS_FILE_RAMIN    ? CPS_MEMORY_RAMIN
           : file == CPS_FILE_MEMORY ? CPS_MEMORY_HOST
                                     : CPS_MEMORY_PROGRAM;
}

static bool get_memory(struct nv *e, struct cps_place place, uint64_t *ret)
{
    bool known = false;
    *ret = cps_bus_peek(e, memory_of(place.file), (uint32_t)place.number, &known);
    return known;
}

static bool get_stack(const struct nv *e, struct cps_place place, uint64_t *ret)
{
    if (!nv_kind_(e)->back || place.number >= nv_kind_(e)->where(e, place.core).depth)
        return false;
    *ret = nv_kind_(e)->back(e, (unsigned)place.number);
    return true;
}

bool nv_get_(struct cps_engine *engine, struct cps_place place, uint64_t *ret)
{
    struct nv *e = (struct nv *)engine;
    switch (place.file) {
    case CPS_FILE_SCALAR:
        *ret = get_scalar(e, place.number);
        return true;
    case CPS_FILE_PC:
        *ret = place.number ? nv_where_(engine, place.core).npc : nv_where_(engine, place.core).pc;
        return true;
    case CPS_FILE_CODE:
        return nv_kind_(e)->code(e, place.number, ret);
    case CPS_FILE_STACK:
        return get_stack(e, place, ret);
    case CPS_FILE_REGISTER:
        *ret = cps_bus_effective(e, (uint32_t)place.number);
        return true;
    default:
        return get_memory(e, place, ret);
    }
}

/* Registers that behave get their values as the timeline gives them, without an event. */
bool nv_set_(struct cps_engine *engine, struct cps_place place, uint64_t value)
{
    struct nv *e = (struct nv *)engine;
    if (place.file != CPS_FILE_SCALAR && value > UINT32_MAX)
        return false;
    switch (place.file) {
    case CPS_FILE_SCALAR:
        return set_scalar(e, place.number, value);
    case CPS_FILE_PC:
        return nv_kind_(e)->set_pc(e, place.core, place.number, (uint32_t)value);
    case CPS_FILE_CODE:
        return nv_kind_(e)->set_code(e, place.number, value);
    case CPS_FILE_STACK:
        return false;
    case CPS_FILE_REGISTER:
        cps_bus_load(e, (uint32_t)place.number, (uint32_t)value);
        return true;
    default:
        cps_bus_poke(e, memory_of(place.file), (uint32_t)place.number, (uint32_t)value);
        return true;
    }
}
