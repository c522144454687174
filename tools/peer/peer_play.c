/* SPDX-License-Identifier: MIT
 * A script on its engine: what the host of a run file does, and what is kept of it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "isa/base/le.h"
#include "tools/peer/peer.h"

/* Registers that the usual start goes through. */
#define DEBUG_6     0x1098u
#define ENTRY_POINT 0x1304u
#define TRIGGER     0x130cu
#define CODE        0x1400u
#define NEW_CODE    0x80000u
#define DATA_INDEX  0x10a1c0u
#define DATA_PORT   0x10a1c4u
#define AUTO_INC    (UINT32_C(1) << 24)
#define SEQ_START   0xfffff000u
#define SEQ_OUTSIZE 0xfffff004u
#define SEQ_OUT     0xfffff400u
#define OBJECT      0xfffff800u
/* Of code RAM, the filling that drivers use: exit. */
#define FILLER 0x7f

_Static_assert(CPS_SCRIPT_MAX_OBJECTS == CPS_PFIFO_OBJECTS, "objects of a run file");

static const struct cps_access host = {CPS_CPU_HOST, CPS_PATH_HOST, 0};

bool peer_has_code(const struct peer *p)
{
    return cps_isa_has_code(cps_gen_isa(p->script.gen));
}

/* Without code, the run file is the program: its lines are the places. */
static struct cps_access host_at(const struct peer *p, const struct cps_script_step *step,
                                 unsigned path)
{
    return (struct cps_access){CPS_CPU_HOST, path, peer_has_code(p) ? 0 : step->line};
}

static bool is_hwsq(const struct peer *p)
{
    return cps_gen_isa(p->script.gen) == &cps_isa_hwsq;
}

static bool is_vp1(const struct peer *p)
{
    return cps_gen_isa(p->script.gen) == &cps_isa_vp1;
}

unsigned peer_processor(enum cps_gen gen)
{
    const struct cps_isa *isa = cps_gen_isa(gen);
    if (!cps_isa_has_code(isa))
        return CPS_CPU_PFIFO;
    return isa == &cps_isa_hwsq ? CPS_CPU_HWSQ : isa == &cps_isa_vp1 ? CPS_CPU_VP1 : CPS_CPU_SEQ;
}

/* What a run stopped for is the last of these. */
static void note_stop(struct peer *p, const struct cps_event *event)
{
    const char *word = cps_event_kind(event) == CPS_EV_UNMODELLED ? cps_event_unknown(event) : NULL;
    if (cps_event_kind(event) == CPS_EV_EXIT && cps_event_sub(event) > CPS_EXIT_CODE)
        word = cps_event_sub_word(CPS_EV_EXIT, cps_event_sub(event));
    if (word)
        snprintf(p->why, sizeof(p->why),
                 peer_has_code(p) ? "%s at 0x%04" PRIx32 ": %s" : "%s at line %" PRIu32 ": %s",
                 cps_processor_name(cps_event_who(event)), cps_event_pc(event), word);
}

/* Counts UNKNOWNs, and hands on what the trace records. */
static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct peer *p = (struct peer *)sink;
    for (size_t i = 0; i < count; i++) {
        if (cps_event_unknown(&events[i]))
            p->unknown[events[i].addr]++;
        note_stop(p, &events[i]);
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

static struct cps_err *set_policy(struct peer *p, const struct cps_options *opt)
{
    p->policy = cps_policy_default();
    struct cps_err *err =
        cps_policy_parse(cps_buf_text(&p->script.policy), p->script.gen, &p->policy);
    if (err) {
        struct cps_err *ret = cps_err_new(err->code, "%s: %s", p->script.name, err->message);
        cps_err_free(err);
        return ret;
    }
    return opt_apply_policy(opt, p->script.gen, &p->policy);
}

struct cps_err *peer_open(struct peer *p, const struct cps_isa *isa, unsigned gen, const char *path,
                          const struct cps_options *opt)
{
    p->sink.put = take_events;
    CPS_TRY(peer_load(path, isa, gen, &p->script));
    CPS_TRY(set_policy(p, opt));
    CPS_TRY(cps_engine_create(p->script.gen, &p->policy, &p->engine));
    cps_bus_sink(p->engine->bus, &p->sink,
                 p->kinds | 1u << CPS_EV_ASSUME | 1u << CPS_EV_UNMODELLED | 1u << CPS_EV_EXIT);
    CPS_TRY(schedule(p));
    cps_bus_advance(p->engine->bus, 0);
    return NULL;
}

void peer_close(struct peer *p)
{
    cps_engine_destroy(p->engine);
    cps_script_deinit(&p->script);
    cps_buf_deinit(&p->missed);
}

/* ---- the host ---- */

/* Lets the engine run up to @p most instructions; false if it came no further than the caller
 * wants, or cannot go on at all. */
static bool run_some(struct peer *p, uint64_t most)
{
    uint64_t done = p->engine->instructions;
    uint64_t end = peer_has_code(p) && p->target < p->limit ? p->target : p->limit;
    uint64_t left = end > done ? end - done : 0;
    p->stop = p->engine->ops->run(p->engine, most < left ? most : left);
    done = p->engine->instructions;
    p->ended = p->stop == CPS_STOP_FAULT || done >= p->limit;
    p->paused = !p->ended && peer_has_code(p) && p->stop == CPS_STOP_BUDGET && done >= p->target;
    return !p->ended && !p->paused;
}

/* A host that is stalled goes on when the script has let it. */
static bool wait_for_memory(struct peer *p)
{
    if (cps_engine_host_stalled(p->engine))
        cps_bus_unknown(p->engine->bus, CPS_UNKNOWN_HOST_STALLED, &host, 0);
    while (cps_engine_host_stalled(p->engine)) {
        if (!run_some(p, 1))
            return false;
        if (p->stop == CPS_STOP_BUDGET)
            continue;
        p->stop = CPS_STOP_DEADLOCK; /* nobody is left to end the pause */
        p->ended = true;
        return false;
    }
    return true;
}

const char *peer_where(const struct cps_script_step *step)
{
    static const char *const words[] = {"", "ramin ", "memory "};
    return words[step->where];
}

static enum cps_bus_memory memory_of(const struct cps_script_step *step)
{
    return step->where == CPS_AT_RAMIN ? CPS_MEMORY_RAMIN : CPS_MEMORY_HOST;
}

/* Some bytes of a word; a half that crosses into the next one is two writes. */
static void write_part(struct peer *p, const struct cps_script_step *step)
{
    unsigned lane = step->addr & 3;
    unsigned lanes = (step->size == 1 ? 1u : 3u) << lane;
    uint64_t value = (uint64_t)step->value << 8 * lane;
    const struct cps_access whole =
        host_at(p, step, step->size == 1 ? CPS_PATH_BYTE : CPS_PATH_HALF);
    const struct cps_access half = host_at(p, step, CPS_PATH_BYTE);
    bool crosses = lanes >> 4;
    cps_bus_write_lanes(p->engine->bus, step->addr, lanes & 15, (uint32_t)value,
                        crosses ? &half : &whole);
    if (crosses)
        cps_bus_write_lanes(p->engine->bus, step->addr + 1, lanes >> 4, (uint32_t)(value >> 32),
                            &half);
}

static void write_reg(struct peer *p, const struct cps_script_step *step)
{
    const struct cps_access by = host_at(p, step, CPS_PATH_HOST);
    if (!wait_for_memory(p))
        return;
    if (step->where != CPS_AT_REG)
        cps_bus_poke(p->engine->bus, memory_of(step), step->addr, step->value);
    else if (step->size < 4)
        write_part(p, step);
    else
        cps_bus_write(p->engine->bus, step->addr, step->value, &by);
}

static void read_reg(struct peer *p, const struct cps_script_step *step)
{
    const struct cps_access by = host_at(p, step, CPS_PATH_HOST);
    if (!wait_for_memory(p))
        return;
    uint32_t value = step->where == CPS_AT_REG
                         ? cps_bus_read(p->engine->bus, step->addr, &by)
                         : cps_bus_peek(p->engine->bus, memory_of(step), step->addr, NULL);
    if (!((value ^ step->value) & step->mask))
        return;
    p->misses++;
    cps_buf_printf(&p->missed,
                   "%s:%" PRIu32 ": %s0x%06" PRIx32 " reads 0x%08" PRIx32 ", expected 0x%08" PRIx32
                   " in the bits 0x%08" PRIx32 "\n",
                   p->script.name, step->line, peer_where(step), step->addr, value, step->value,
                   step->mask);
}

/* The word at byte @p at of the script, filled up. */
static uint32_t word_at(const struct peer *p, size_t at)
{
    uint8_t bytes[4] = {FILLER, FILLER, FILLER, FILLER};
    size_t left = p->script.code.size - at;
    memcpy(bytes, p->script.code.data + at, left < 4 ? left : 4);
    return cps_le32(bytes);
}

static struct cps_err *check_place(const struct peer *p, const struct cps_script_step *step)
{
    if (step->addr % 4 == 0)
        return NULL;
    return cps_err_new(CPS_ERR_INPUT,
                       "%s:%" PRIu32 ": upload to byte %" PRIu32 ", expected a multiple of 4",
                       p->script.name, step->line, step->addr);
}

static struct cps_err *upload_hwsq(struct peer *p, const struct cps_script_step *step)
{
    uint32_t base = p->script.gen == CPS_G92 ? NEW_CODE : CODE;
    uint32_t ram = cps_hwsq_ram(p->script.gen);
    CPS_TRY(check_place(p, step));
    if (step->addr > ram || p->script.code.size > ram - step->addr)
        return cps_err_input(p->script.name, ram,
                             "%zu bytes for byte %" PRIu32
                             " of the code RAM on, expected to end in the %" PRIu32 " bytes of %s",
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

/* To memory; nothing starts by it. */
static struct cps_err *upload_vp1(struct peer *p, const struct cps_script_step *step)
{
    CPS_TRY(check_place(p, step));
    for (size_t at = 0; at < p->script.code.size; at += 4)
        cps_bus_poke(p->engine->bus, CPS_MEMORY_PROGRAM, step->addr + (uint32_t)at, word_at(p, at));
    return NULL;
}

static struct cps_err *upload(struct peer *p, const struct cps_script_step *step)
{
    if (is_hwsq(p))
        return upload_hwsq(p, step);
    return is_vp1(p) ? upload_vp1(p, step) : upload_seq(p, step);
}

static void let_pass(struct peer *p, uint64_t ticks)
{
    struct cps_bus *bus = p->engine->bus;
    if (!p->waiting)
        p->wait_end = cps_bus_clock(bus) + ticks;
    cps_bus_until(bus, p->wait_end);
    p->waiting = !run_some(p, UINT64_MAX);
    cps_bus_until(bus, UINT64_MAX);
    if (!p->waiting)
        cps_bus_advance(bus, p->wait_end);
}

static struct cps_err *do_step(struct peer *p, const struct cps_script_step *step)
{
    switch (step->what) {
    case CPS_DO_WRITE:
        write_reg(p, step);
        return NULL;
    case CPS_DO_READ:
        read_reg(p, step);
        return NULL;
    case CPS_DO_UPLOAD:
        return upload(p, step);
    case CPS_DO_WAIT:
        let_pass(p, step->ticks);
        return NULL;
    case CPS_DO_RUN:
        run_some(p, UINT64_MAX);
        return NULL;
    case CPS_DO_OBJECT:
        cps_bus_load(p->engine->bus, OBJECT, step->addr);
        cps_bus_load(p->engine->bus, OBJECT + 4, step->mask);
        cps_bus_load(p->engine->bus, OBJECT + 8, step->value);
        return NULL;
    }
    return NULL;
}

/* What drivers do with a script: entry point 0 in slot A. SEQ starts with its upload. What only
 * some chips have is left as it is after the reset, so that chips can be compared. */
static const struct cps_script_step usual[] = {
    {.what = CPS_DO_UPLOAD},
    {.what = CPS_DO_WRITE, .size = 4, .addr = ENTRY_POINT},
    {.what = CPS_DO_WRITE, .size = 4, .addr = DEBUG_6, .value = 0x18},
    {.what = CPS_DO_WRITE, .size = 4, .addr = TRIGGER, .value = 3},
};

/* What the measurements did with VP1. */
static const struct cps_script_step usual_vp1[] = {
    {.what = CPS_DO_UPLOAD},
    {.what = CPS_DO_WRITE, .size = 4, .addr = 0xf474, .value = 0x111},
    {.what = CPS_DO_WRITE, .size = 4, .addr = 0xfc90, .value = 1},
    {.what = CPS_DO_WRITE, .size = 4, .addr = 0xfc94, .value = 0xc0000000},
};

static const struct cps_script_step *usual_at(const struct peer *p, size_t at)
{
    if (is_vp1(p))
        return at < sizeof(usual_vp1) / sizeof(usual_vp1[0]) ? &usual_vp1[at] : NULL;
    return at < (is_hwsq(p) ? sizeof(usual) / sizeof(usual[0]) : 1) ? &usual[at] : NULL;
}

static bool uploads(const struct cps_script *script)
{
    for (size_t i = 0; i < script->step_count; i++) {
        if (script->step[i].what == CPS_DO_UPLOAD)
            return true;
    }
    return false;
}

/* What the host does at @p at, or NULL behind the last: the file's steps, behind an upload unless
 * they have one; the usual ones if there are none. */
static const struct cps_script_step *step_at(const struct peer *p, size_t at)
{
    const struct cps_script *script = &p->script;
    if (!peer_has_code(p))
        return at < script->step_count ? &script->step[at] : NULL;
    if (!script->step_count)
        return usual_at(p, at);
    if (!uploads(script) && at-- == 0)
        return &usual[0];
    return at < script->step_count ? &script->step[at] : NULL;
}

/* The slot that hangs, or the script; a script that ended needs no words. */
static void explain(struct peer *p)
{
    const struct cps_engine *e = p->engine;
    bool b = is_hwsq(p) && !cps_engine_reg(e, 1); /* slot A does not run */
    if (p->stop == CPS_STOP_IDLE)
        p->why[0] = '\0';
    else if (p->stop != CPS_STOP_FAULT && !peer_has_code(p))
        snprintf(p->why, sizeof(p->why), "pfifo: %s",
                 p->stop == CPS_STOP_BUDGET ? "the limit is reached"
                                            : "the puller waits for PGRAPH's channel");
    else if (p->stop != CPS_STOP_FAULT)
        snprintf(p->why, sizeof(p->why), "%s in front of 0x%04" PRIx64 ": %s",
                 cps_processor_name(peer_processor(p->script.gen) + b),
                 cps_engine_reg(e, b ? 5 : 0),
                 p->stop == CPS_STOP_BUDGET ? "the limit is reached" : "nothing lets it go on");
}

uint64_t peer_steps(const struct peer *p)
{
    return peer_has_code(p) ? p->engine->instructions : p->at;
}

const struct cps_script_step *peer_next(const struct peer *p)
{
    return step_at(p, p->at);
}

/* True if the engine stands for its own reasons, or the caller wants it to. */
static bool is_far_enough(struct peer *p)
{
    if (!peer_has_code(p)) {
        run_some(p, 0); /* does nothing, but says whether a stop was reached */
        p->paused = !p->ended && p->at >= p->target && peer_next(p);
    }
    return p->ended || p->paused;
}

struct cps_err *peer_go(struct peer *p, uint64_t steps)
{
    const struct cps_script_step *step;
    p->target = steps;
    p->paused = false;
    for (; !is_far_enough(p) && (step = step_at(p, p->at)); p->at += !p->paused)
        CPS_TRY(do_step(p, step));
    if (!p->ended && !p->paused)
        run_some(p, UINT64_MAX);
    cps_bus_flush(p->engine->bus);
    if (!p->paused)
        explain(p);
    return p->missed.failed ? cps_err_nomem() : NULL;
}

struct cps_err *peer_play(struct peer *p)
{
    const struct cps_access nobody = {CPS_CPU_NONE, 0, 0};
    CPS_TRY(peer_go(p, UINT64_MAX));
    cps_bus_put(p->engine->bus, CPS_EV_END, cps_stop_reason(p->stop), &nobody,
                p->engine->instructions, (uint32_t)p->engine->starts);
    cps_bus_flush(p->engine->bus);
    return NULL;
}
