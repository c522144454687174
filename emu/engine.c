/* SPDX-License-Identifier: MIT
 * What engines share: making one, its registers for people, STEP events. */
#include "emu/engine.h"

#include <string.h>

static const struct cps_engine_ops *const engines[] = {&cps_hwsq_ops, &cps_seq_ops, &cps_pfifo_ops,
                                                       &cps_vp1_ops};

static const struct cps_engine_ops *find(enum cps_gen gen)
{
    for (unsigned i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
        if (engines[i]->isa == cps_gen_isa(gen))
            return engines[i];
    }
    return NULL;
}

struct cps_err *cps_engine_create(enum cps_gen gen, const struct cps_policy *policy,
                                  struct cps_engine **ret)
{
    const struct cps_engine_ops *ops = find(gen);
    if (!ops)
        return cps_err_new(CPS_ERR_UNSUPPORTED, "no engine runs scripts of %s", cps_gen_name(gen));
    struct cps_engine *engine = calloc(1, sizeof(*engine));
    if (!engine)
        return cps_err_nomem();
    engine->ops = ops;
    engine->state = calloc(1, ops->state_size);
    struct cps_err *err =
        engine->state ? cps_bus_create_(gen, policy, &engine->bus) : cps_err_nomem();
    if (err) {
        cps_engine_destroy(engine);
        return err;
    }
    ops->reset(engine);
    *ret = engine;
    return NULL;
}

void cps_engine_destroy(struct cps_engine *engine)
{
    if (!engine)
        return;
    cps_bus_destroy_(engine->bus);
    free(engine->state);
    free(engine);
}

uint64_t cps_engine_reg(const struct cps_engine *engine, size_t index)
{
    const struct cps_reg *reg = &engine->ops->regs->reg[index];
    const char *at = (const char *)engine->state + reg->offset;
    uint16_t half;
    uint32_t word;
    uint64_t value = *(const uint8_t *)at;
    if (reg->size == 2) {
        memcpy(&half, at, sizeof(half));
        value = half;
    } else if (reg->size == 4) {
        memcpy(&word, at, sizeof(word));
        value = word;
    } else if (reg->size == 8) {
        memcpy(&value, at, sizeof(value));
    }
    return value;
}

bool cps_engine_host_stalled(const struct cps_engine *engine)
{
    enum cps_gen gen = cps_bus_gen(engine->bus);
    return gen != CPS_NV17 && gen != CPS_NV41 && cps_bus_pausing_(engine->bus);
}

/* ---- the loop ---- */

enum cps_stop cps_engine_loop_(struct cps_engine *e, const struct cps_loop *loop, uint64_t budget)
{
    uint64_t end = e->instructions + budget < budget ? UINT64_MAX : e->instructions + budget;
    enum cps_stop stop = CPS_STOP_IDLE;
    for (void *who; stop == CPS_STOP_IDLE && (who = loop->next(e));) {
        if (cps_bus_stopped_(e->bus))
            stop = CPS_STOP_FAULT;
        else if (loop->waits(e, who))
            stop = loop->wait(e, who);
        else if (e->instructions >= end || cps_bus_clock(e->bus) >= cps_bus_limit_(e->bus))
            stop = CPS_STOP_BUDGET;
        else
            stop = loop->execute(e, who);
    }
    cps_bus_flush(e->bus);
    return cps_bus_stopped_(e->bus) ? CPS_STOP_FAULT : stop;
}

enum cps_await cps_engine_await_(struct cps_engine *e,
                                 bool (*holds)(struct cps_engine *engine, const void *who),
                                 const void *who, uint64_t deadline)
{
    for (;;) {
        if (holds(e, who))
            return CPS_AWAIT_MET;
        if (cps_bus_clock(e->bus) >= deadline)
            return CPS_AWAIT_LATE;
        uint64_t next = cps_bus_next_(e->bus);
        next = next < deadline ? next : deadline;
        if (next == UINT64_MAX || next > cps_bus_limit_(e->bus))
            return CPS_AWAIT_HELD;
        cps_bus_advance(e->bus, next);
    }
}

enum cps_stop cps_engine_held_(struct cps_engine *e)
{
    uint64_t limit = cps_bus_limit_(e->bus);
    if (limit == UINT64_MAX)
        return CPS_STOP_DEADLOCK;
    cps_bus_advance(e->bus, limit);
    return CPS_STOP_BUDGET;
}

void cps_engine_step_(struct cps_engine *engine, unsigned who, uint32_t pc, const uint32_t *before,
                      const uint32_t *after, unsigned count)
{
    const struct cps_access by = {who, 0, pc};
    unsigned kind = CPS_EV_STEP;
    unsigned reg = 0;
    if (!cps_bus_wants_(engine->bus, CPS_EV_STEP))
        return;
    do {
        uint64_t values = 0;
        uint32_t mask = cps_event_changes(before, after, count, &reg, &values);
        if (mask || kind == CPS_EV_STEP)
            cps_bus_put(engine->bus, kind, 0, &by, values, mask);
        kind = CPS_EV_STEPX;
    } while (reg < count);
}
