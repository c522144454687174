/* SPDX-License-Identifier: MIT
 * PFIFO's puller: takes commands out of the caches, looks objects up, and hands methods to a PGRAPH
 * that only records them. */
#include "emu/nv/pfifo.h"

#define CTX_SENT UINT32_C(0xffffff) /* what PGRAPH gets of a context */

struct command {
    unsigned cache;
    uint32_t chid, subc, method, data;
};

static bool has_command(const struct nv *e, unsigned cache)
{
    const struct pfifo_cache *c = &pfifo_of_(e)->cache[cache];
    bool empty = cache ? pfifo_is_empty_(e) : c->put == c->get;
    return c->pull_ctrl & PULL_ACCESS && !empty;
}

static struct command command_at_get(const struct nv *e, unsigned cache)
{
    const struct pfifo_cache *c = &pfifo_of_(e)->cache[cache];
    uint32_t entry = cache ? pfifo_entry_(e, c->get) : 0;
    uint32_t addr = c->addr[entry];
    return (struct command){cache, c->chid & 0x7f, addr >> 13 & 7, addr & 0x1ffc, c->data[entry]};
}

static void take_command(struct nv *e, unsigned cache)
{
    struct pfifo_cache *c = &pfifo_of_(e)->cache[cache];
    c->get = cache ? pfifo_next_(e, c->get) : c->get ^ 4;
    e->engine.instructions++;
}

/* The command stays where it is, for the driver to look at. @p status  of PULL_CTRL */
static void fail(struct nv *e, unsigned cache, uint32_t status)
{
    struct pfifo *p = pfifo_of_(e);
    p->cache[cache].pull_ctrl = (p->cache[cache].pull_ctrl & ~(uint32_t)PULL_ACCESS) | status;
    p->cache_error |= cache ? 0x10 : 0x1;
    pfifo_raise_(e, INTR_PULLER);
}

/* ---- PGRAPH ---- */

/* Whether PGRAPH takes what a channel sends. */
static bool graph_is_on(struct nv *e, uint32_t chid)
{
    struct pfifo *p = pfifo_of_(e);
    if (p->graph_channel == chid)
        return true;
    pfifo_unknown_(e, CPS_UNKNOWN_GRAPH_SWITCH, chid);
    switch ((enum cps_policy_graph)e->engine.policy.graph) {
    case CPS_GRAPH_FOLLOW:
        p->graph_channel = chid;
        return true;
    case CPS_GRAPH_WAIT:
        return false;
    }
    return false;
}

static void send(struct nv *e, const struct command *c, uint32_t method, uint32_t data)
{
    const struct cps_by by = pfifo_by_(e);
    cps_bus_put(e, CPS_EV_METHOD, 0, &by, c->chid << 16 | c->subc << 13 | method, data);
    pfifo_of_(e)->methods++;
}

/* ---- commands ---- */

static uint32_t *context_of(struct nv *e, const struct command *c)
{
    struct pfifo_cache *cache = &pfifo_of_(e)->cache[c->cache];
    return &cache->ctx[c->cache ? c->subc : 0];
}

/* What CTX can hold of a context. */
static uint32_t kept(const struct nv *e, unsigned cache, uint32_t context)
{
    if (pfifo_chip_(e) != CPS_NV1)
        return context & 0xffffff;
    return context & (cache ? 0x17fffff : 0x7fffff);
}

static bool is_graphs(struct nv *e, uint32_t context)
{
    if (pfifo_chip_(e) != CPS_NV1)
        return context & CTX_ENGINE;
    pfifo_unknown_(e, CPS_UNKNOWN_NV1_ENGINE, context);
    return true;
}

static void set_last(struct pfifo_cache *c, uint32_t subc)
{
    c->pull_state &= ~(uint32_t)(STATE_SUBCHANNEL | STATE_NO_SUBCHANNEL);
    c->pull_state |= subc;
}

static void note_bind(struct nv *e, const struct command *c, uint32_t context)
{
    struct pfifo_cache *cache = &pfifo_of_(e)->cache[c->cache];
    *context_of(e, c) = kept(e, c->cache, context);
    pfifo_unknown_(e, CPS_UNKNOWN_PULL_STATE, context);
    cache->pull_state |= c->cache ? STATE_OBJECT | STATE_DIRTY : STATE_OBJECT;
}

/* False if the puller has stopped. */
static bool bind(struct nv *e, const struct command *c)
{
    uint32_t context = 0;
    if (!pfifo_lookup_(e, c->data, c->chid, &context)) {
        if (!e->bus.stopped)
            fail(e, c->cache, HASH_FAILED);
        return false;
    }
    if (!(context & CTX_ENGINE)) {
        pfifo_unknown_(e, CPS_UNKNOWN_SOFTWARE_BIND, context);
        switch ((enum cps_policy_software_bind)e->engine.policy.software_bind) {
        case CPS_SOFTWARE_BIND_KEEP:
            break;
        case CPS_SOFTWARE_BIND_UPDATE:
            note_bind(e, c, context);
            break;
        }
        fail(e, c->cache, DEVICE_SOFTWARE);
        return false;
    }
    if (!graph_is_on(e, c->chid))
        return false;
    send(e, c, 0, context & CTX_SENT);
    note_bind(e, c, context);
    if (c->cache)
        set_last(&pfifo_of_(e)->cache[1], c->subc);
    return true;
}

/* CACHE0 remembers no subchannel. */
static bool needs_object(struct nv *e, const struct command *c)
{
    uint32_t state = pfifo_of_(e)->cache[1].pull_state;
    if (c->cache)
        return (state & (STATE_SUBCHANNEL | STATE_NO_SUBCHANNEL)) != c->subc;
    pfifo_unknown_(e, CPS_UNKNOWN_CACHE0_OBJECT, c->method);
    return false;
}

static bool perform(struct nv *e, const struct command *c)
{
    if (!c->method)
        return bind(e, c);
    if (c->method >= 0x100) {
        uint32_t context = *context_of(e, c);
        if (!is_graphs(e, context)) {
            fail(e, c->cache, DEVICE_SOFTWARE);
            return false;
        }
        if (!graph_is_on(e, c->chid))
            return false;
        if (needs_object(e, c)) {
            send(e, c, 0, context & CTX_SENT);
            set_last(&pfifo_of_(e)->cache[1], c->subc);
        }
        send(e, c, c->method, c->data);
        return true;
    }
    pfifo_unknown_(e, CPS_UNKNOWN_RESERVED_METHOD, c->method);
    return true;
}

bool pfifo_pull_(struct nv *e)
{
    if (has_command(e, 0) && has_command(e, 1))
        pfifo_unknown_(e, CPS_UNKNOWN_CACHE_PRIORITY, 0);
    for (unsigned cache = 0; cache < 2; cache++) {
        if (!has_command(e, cache) || e->bus.stopped)
            continue;
        const struct command c = command_at_get(e, cache);
        if (!perform(e, &c))
            continue;
        take_command(e, cache);
        return true;
    }
    return false;
}

bool pfifo_has_command_(const struct nv *e)
{
    return has_command(e, 0) || has_command(e, 1);
}
