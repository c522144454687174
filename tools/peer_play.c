/* SPDX-License-Identifier: MIT
 * A script on its engine: what the host of a run file does, and what is kept of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/le.h"
#include "peer.h"

/* Registers that the usual start goes through. */
#define DEBUG_6     0x1098u
#define ENTRY_POINT 0x1304u
#define TRIGGER     0x130cu
#define ENTRY_HIGH  0x1318u
#define CODE        0x1400u
#define NEW_CODE    0x80000u
#define DATA_INDEX  0x10a1c0u
#define DATA_PORT   0x10a1c4u
#define AUTO_INC    (UINT32_C(1) << 24)
#define SEQ_START   0xfffff000u
#define SEQ_OUTSIZE 0xfffff004u
#define SEQ_OUT     0xfffff400u
/* Of code RAM, the filling that drivers use: exit. */
#define FILLER 0x7f

static const struct cps_access host = {CPS_CPU_HOST, CPS_PATH_HOST, 0};

static bool is_hwsq(const struct peer *p)
{
    return cps_gen_isa(p->script.gen) == &cps_isa_hwsq;
}

unsigned peer_processor(enum cps_gen gen)
{
    return cps_gen_isa(gen) == &cps_isa_hwsq ? CPS_CPU_HWSQ : CPS_CPU_SEQ;
}

/* Counts UNKNOWNs, and hands on what the trace records. */
static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct peer *p = (struct peer *)sink;
    for (size_t i = 0; i < count; i++) {
        if (cps_event_unknown(&events[i]))
            p->unknown[events[i].addr]++;
        if (p->trace && p->kinds >> cps_event_kind(&events[i]) & 1)
            p->trace->put(p->trace, &events[i], 1);
    }
}

static struct cps_err *schedule(struct peer *p)
{
    for (size_t i = 0; i < p->script.change_count; i++) {
        const struct cps_script_change *c = &p->script.change[i];
        CPS_TRY(cps_bus_schedule(p->engine->bus, c->tick, c->is_event, c->number, c->value));
    }
    return NULL;
}

static struct cps_err *set_policy(struct peer *p, const char *words)
{
    p->policy = cps_nv_policy_default();
    struct cps_err *err = cps_nv_policy_parse(cps_buf_text(&p->script.policy), &p->policy);
    if (err) {
        struct cps_err *ret = cps_err_new(err->code, "%s: %s", p->script.name, err->message);
        cps_err_free(err);
        return ret;
    }
    return cps_nv_policy_parse(words ? words : "", &p->policy);
}

struct cps_err *peer_open(struct peer *p, const struct cps_isa *isa, unsigned gen, const char *path,
                          const char *policy)
{
    p->sink.put = take_events;
    CPS_TRY(cps_script_load(path, isa, gen, &p->script));
    CPS_TRY(set_policy(p, policy));
    CPS_TRY(cps_engine_create(p->script.gen, &p->policy, &p->engine));
    cps_bus_sink(p->engine->bus, &p->sink,
                 p->kinds | 1u << CPS_EV_ASSUME | 1u << CPS_EV_UNMODELLED);
    return schedule(p);
}

void peer_close(struct peer *p)
{
    cps_engine_destroy(p->engine);
    cps_script_deinit(&p->script);
    cps_buf_deinit(&p->missed);
}

/* ---- the host ---- */

/* Whether nothing more can be done. */
static bool run(struct peer *p, uint64_t budget)
{
    uint64_t left = p->limit - p->engine->instructions;
    p->stop = p->engine->ops->run(p->engine, budget < left ? budget : left);
    p->ended = p->stop == CPS_STOP_FAULT || p->engine->instructions >= p->limit;
    return p->ended;
}

/* A host that is stalled goes on when the script has let it. */
static bool wait_for_memory(struct peer *p)
{
    if (cps_engine_host_stalled(p->engine))
        cps_bus_unknown(p->engine->bus, CPS_UNKNOWN_HOST_STALLED, &host, 0);
    while (cps_engine_host_stalled(p->engine)) {
        if (run(p, 1) || p->stop == CPS_STOP_DEADLOCK || p->stop == CPS_STOP_IDLE) {
            p->stop = p->stop == CPS_STOP_IDLE ? CPS_STOP_DEADLOCK : p->stop;
            p->ended = true;
            return false;
        }
    }
    return true;
}

static void write_reg(struct peer *p, uint32_t addr, uint32_t value)
{
    if (wait_for_memory(p))
        cps_bus_write(p->engine->bus, addr, value, &host);
}

static void read_reg(struct peer *p, const struct cps_script_step *step)
{
    if (!wait_for_memory(p))
        return;
    uint32_t value = cps_bus_read(p->engine->bus, step->addr, &host);
    if (!((value ^ step->value) & step->mask))
        return;
    p->misses++;
    cps_buf_printf(&p->missed,
                   "%s:%" PRIu32 ": 0x%06" PRIx32 " reads 0x%08" PRIx32 ", expected 0x%08" PRIx32
                   " in the bits 0x%08" PRIx32 "\n",
                   p->script.name, step->line, step->addr, value, step->value, step->mask);
}

/* The word at byte @p at of the script, filled up. */
static uint32_t word_at(const struct peer *p, size_t at)
{
    uint8_t bytes[4] = {FILLER, FILLER, FILLER, FILLER};
    size_t left = p->script.code.size - at;
    memcpy(bytes, p->script.code.data + at, left < 4 ? left : 4);
    return cps_le32(bytes);
}

static struct cps_err *upload_hwsq(struct peer *p, const struct cps_script_step *step)
{
    uint32_t base = p->script.gen == CPS_G92 ? NEW_CODE : CODE;
    uint32_t ram = cps_hwsq_ram(p->script.gen);
    if (step->addr % 4 || step->addr > ram || p->script.code.size > ram - step->addr)
        return cps_err_input(p->script.name, step->addr,
                             "%zu bytes from byte %" PRIu32
                             " of the code RAM on, expected words, and at most the %" PRIu32
                             " bytes of %s",
                             p->script.code.size, step->addr, ram, cps_gen_name(p->script.gen));
    for (size_t at = 0; at < p->script.code.size; at += 4)
        cps_bus_load(p->engine->bus, base + step->addr + (uint32_t)at, word_at(p, at));
    return NULL;
}

/* Loads and starts: how a packet does that is not known. */
static struct cps_err *upload_seq(struct peer *p, const struct cps_script_step *step)
{
    struct cps_bus *bus = p->engine->bus;
    if (step->addr)
        return cps_err_input(p->script.name, step->addr, "upload takes no place, SEQ starts at 0");
    cps_bus_load(bus, DATA_INDEX, AUTO_INC);
    for (size_t at = 0; at < p->script.code.size; at += 4)
        cps_bus_load(bus, DATA_PORT, word_at(p, at));
    if (p->script.has_out)
        cps_bus_load(bus, SEQ_OUTSIZE, p->script.out_count);
    for (unsigned i = 0; i < p->script.out_count; i++)
        cps_bus_load(bus, SEQ_OUT + 4 * i, p->script.out[i]);
    cps_bus_load(bus, SEQ_START, (uint32_t)(p->script.code.size / 4));
    return NULL;
}

static void let_pass(struct peer *p, uint64_t ticks)
{
    struct cps_bus *bus = p->engine->bus;
    uint64_t to = cps_bus_clock(bus) + ticks;
    cps_bus_until(bus, to);
    run(p, UINT64_MAX);
    cps_bus_until(bus, UINT64_MAX);
    if (!p->ended)
        cps_bus_advance(bus, to);
}

static struct cps_err *do_step(struct peer *p, const struct cps_script_step *step)
{
    switch (step->what) {
    case CPS_DO_WRITE:
        write_reg(p, step->addr, step->value);
        return NULL;
    case CPS_DO_READ:
        read_reg(p, step);
        return NULL;
    case CPS_DO_UPLOAD:
        return is_hwsq(p) ? upload_hwsq(p, step) : upload_seq(p, step);
    case CPS_DO_WAIT:
        let_pass(p, step->ticks);
        return NULL;
    case CPS_DO_RUN:
        run(p, UINT64_MAX);
        return NULL;
    }
    return NULL;
}

/* Entry point 0 in slot A, as drivers start it; SEQ starts with its upload. */
static void start_as_usual(struct peer *p)
{
    if (!is_hwsq(p))
        return;
    write_reg(p, ENTRY_POINT, 0);
    if (p->script.gen == CPS_G92)
        write_reg(p, ENTRY_HIGH, 0);
    write_reg(p, DEBUG_6, 0x18);
    write_reg(p, TRIGGER, p->script.gen == CPS_G92 ? 1 : 3);
}

static bool uploads(const struct cps_script *script)
{
    for (size_t i = 0; i < script->step_count; i++) {
        if (script->step[i].what == CPS_DO_UPLOAD)
            return true;
    }
    return false;
}

struct cps_err *peer_play(struct peer *p)
{
    static const struct cps_script_step upload = {.what = CPS_DO_UPLOAD};
    const struct cps_access nobody = {CPS_CPU_NONE, 0, 0};
    cps_bus_advance(p->engine->bus, 0);
    if (!uploads(&p->script))
        CPS_TRY(do_step(p, &upload));
    if (!p->script.step_count)
        start_as_usual(p);
    for (size_t i = 0; i < p->script.step_count && !p->ended; i++)
        CPS_TRY(do_step(p, &p->script.step[i]));
    if (!p->ended)
        run(p, UINT64_MAX);
    cps_bus_put(p->engine->bus, CPS_EV_END, cps_stop_reason(p->stop), &nobody,
                p->engine->instructions, (uint32_t)p->engine->starts);
    cps_bus_flush(p->engine->bus);
    return p->missed.failed ? cps_err_nomem() : NULL;
}
