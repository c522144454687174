/* SPDX-License-Identifier: MIT
 * What the NVIDIA engines share below the interface: making one, copies, feeding, running. */
#include "emu/nv/nv.h"

#include <inttypes.h>
#include <string.h>

static struct nv *of(struct cps_engine *engine)
{
    return (struct nv *)engine;
}

static struct cps_err *init(struct nv *e, const struct cps_config *config)
{
    const struct nv_kind *kind = nv_kind_(e);
    e->engine.gen = config->gen;
    e->engine.policy = config->policy;
    e->engine.cores = kind->cores ? kind->cores(config->gen) : 1;
    memcpy(e->engine.who, kind->who, sizeof(kind->who));
    e->host.kind = CPS_ITEM_TEXT;
    e->state = calloc(1, kind->state_size);
    if (!e->state)
        return cps_err_nomem();
    CPS_TRY(cps_bus_init_(e, config->memory_limit));
    if (kind->inner)
        CPS_TRY(cps_reg_index_create_(kind->inner, 1, cps_gen_bit(config->gen), &e->inner));
    if (kind->reset)
        kind->reset(e);
    return NULL;
}

struct cps_err *nv_create_(const struct cps_engine_ops *ops, const struct cps_config *config,
                           struct cps_engine **ret)
{
    struct nv *e = calloc(1, sizeof(*e));
    if (!e)
        return cps_err_nomem();
    e->engine.ops = ops;
    struct cps_err *err = init(e, config);
    if (err)
        nv_destroy_(&e->engine);
    else
        *ret = &e->engine;
    return err;
}

void nv_destroy_(struct cps_engine *engine)
{
    struct nv *e = of(engine);
    cps_bus_deinit_(e);
    cps_reg_index_unref_(e->inner);
    free(e->state);
    free(e);
}

struct cps_err *nv_clone_(struct cps_engine *from, struct cps_engine **ret)
{
    size_t size = nv_kind_(of(from))->state_size;
    struct nv *copy = malloc(sizeof(*copy));
    if (!copy)
        return cps_err_nomem();
    *copy = *of(from);
    copy->engine.tap.sink = NULL;
    copy->engine.tap.kinds = 0;
    cps_reg_index_ref_(copy->inner);
    copy->state = malloc(size);
    if (copy->state)
        memcpy(copy->state, of(from)->state, size);
    struct cps_err *err = cps_bus_clone_(copy);
    if (!err && !copy->state)
        err = cps_err_nomem();
    if (err)
        nv_destroy_(&copy->engine);
    else
        *ret = &copy->engine;
    return err;
}

struct cps_err *nv_feed_(struct cps_engine *engine, const struct cps_item *item)
{
    struct nv *e = of(engine);
    switch (item->kind) {
    case CPS_ITEM_SUBMIT:
    case CPS_ITEM_RING:
    case CPS_ITEM_PACKETS:
        return cps_err_new(CPS_ERR_INPUT, "%s takes no command streams, expected a script",
                           engine->ops->name);
    case CPS_ITEM_CHANGE:
        return cps_bus_schedule(e, item->change.tick, item->change.is_event, item->change.number,
                                item->change.value);
    case CPS_ITEM_INIT:
        return NULL;
    default:
        return cps_item_acts(item) ? nv_host_begin_(e, item) : NULL;
    }
}

enum cps_stop nv_run_(struct cps_engine *engine, uint64_t ticks)
{
    struct nv *e = of(engine);
    enum cps_stop stop = nv_host_run_(e, ticks);
    nv_host_count_(e);
    engine->time = e->bus.clock;
    return stop;
}

/* The first core that runs, else the first. */
static unsigned culprit(const struct cps_engine *engine)
{
    for (unsigned i = 0; i < engine->cores; i++) {
        if (nv_where_(engine, i).started)
            return i;
    }
    return 0;
}

/* A script that ended needs no words. */
void nv_explain_(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out)
{
    const struct nv *e = (const struct nv *)engine;
    bool limit = stop == CPS_STOP_BUDGET;
    unsigned core = culprit(engine);
    if (stop == CPS_STOP_IDLE)
        return;
    if (stop == CPS_STOP_FAULT)
        cps_bus_why_(e, out);
    else if (!nv_has_code_(e))
        cps_buf_printf(out, "%s: %s", engine->ops->name,
                       limit ? "the limit is reached" : "the puller waits for PGRAPH's channel");
    else
        cps_buf_printf(out, "%s before 0x%04" PRIx32 ": %s", cps_processor_name(engine->who[core]),
                       nv_where_(engine, core).pc,
                       limit ? "the limit is reached" : "nothing lets it go on");
    if (stop == CPS_STOP_DEADLOCK && nv_kind_(e)->hangs)
        nv_kind_(e)->hangs(e, core, out);
    if (stop == CPS_STOP_DEADLOCK && nv_host_waits_(e))
        cps_buf_printf(out,
                       ", the host at line %" PRIu32 " waits for the end of the memory's pause",
                       e->host.line);
}

/* ---- as debuggers see them: where they are, and every value by its place ---- */

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

static bool get_memory(struct nv *e, struct cps_location place, uint64_t *ret)
{
    bool known = false;
    *ret = cps_bus_peek(e, memory_of(place.file), (uint32_t)place.number, &known);
    return known;
}

static bool get_stack(const struct nv *e, struct cps_location place, uint64_t *ret)
{
    if (!nv_kind_(e)->back || place.number >= nv_kind_(e)->where(e, place.core).depth)
        return false;
    *ret = nv_kind_(e)->back(e, (unsigned)place.number);
    return true;
}

bool nv_get_(struct cps_engine *engine, struct cps_location place, uint64_t *ret)
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
bool nv_set_(struct cps_engine *engine, struct cps_location place, uint64_t value)
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
