/* SPDX-License-Identifier: MIT
 * Runs two machines over one stream and compares them. */
#include "tools/explain/fuzz/fuzz.h"
#include "tools/explain/prove/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpscope.h"
#include "isa/base/pm4.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/form/text.h"

#define TICKS_BEFORE 20000u /* until the handler begins */
#define TICKS_AFTER  30000u

#define COMPARED_KINDS                                                              \
    (1u << CPS_EV_REG | 1u << CPS_EV_PIPE | 1u << CPS_EV_CTRL | 1u << CPS_EV_MEMW | \
     1u << CPS_EV_IRQ | 1u << CPS_EV_PROT | 1u << CPS_EV_PKT | 1u << CPS_EV_END)
#define HEARD_KINDS (1u << CPS_EV_REGR | 1u << CPS_EV_MEMR)
#define KEPT_KINDS  ((COMPARED_KINDS & ~(1u << CPS_EV_END)) | HEARD_KINDS | 1u << CPS_EV_ASSUME)

/* ---- Private control registers ---- */

static void mark_plain(struct twins *t, enum cps_layout layout, const char *id, uint32_t count)
{
    uint32_t first = code_control(layout, id);
    for (uint32_t i = 0; first < CONTROL_COUNT && i < count && first + i < CONTROL_COUNT; i++)
        t->plain[first + i] = true;
}

static void find_plain(struct twins *t, enum cps_layout layout)
{
#define CTRL(id, pfp, me, g6, a660, g7, gen3, a8, n, rd, wr, evidence)                   \
    if (!strncmp(#id, "SCRATCH", 7) && !strcmp(#rd, "STORED") && !strcmp(#wr, "STORED")) \
        mark_plain(t, layout, #id, n);
#include "emu/afuc/control/ctrl.def"
}

void twins_init(const struct stage *stage, const struct code *code, const uint32_t pc[2],
                bool waits, struct twins *ret)
{
    *ret = (struct twins){.stage = stage, .code = code, .pc = {pc[0], pc[1]}, .waits = waits};
    ret->who = cps_role_processor(code->side[0].part->role, 0);
    find_plain(ret, code->side[0].fw->layout);
    for (unsigned i = 0; i < 2; i++) {
        ret->first[i] = code->side[i].count;
        for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
            uint32_t at = code->side[i].table[id];
            ret->first[i] = at && at < ret->first[i] ? at : ret->first[i];
        }
    }
    for (uint32_t i = 0; i < CONTROL_COUNT; i++)
        ret->number[i] = (uint16_t)i;
    for (uint32_t i = 0; i < CONTROL_COUNT; i++) {
        if (code->scratch[i] < CONTROL_COUNT && code->scratch[i] != i)
            ret->number[code->scratch[i]] = (uint16_t)i;
    }
}

void twins_deinit(struct twins *t)
{
    record_deinit(&t->record[0]);
    record_deinit(&t->record[1]);
    free(t->ours[0]);
    free(t->ours[1]);
}

void twins_find_code(struct twins *t)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct code_side *side = &t->code->side[i];
        uint32_t pc[CPS_FW_TABLE_SIZE];
        unsigned count = 0;
        for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
            if (t->steady[id] || t->tested[id])
                pc[count++] = side->table[id];
        }
        t->ours[i] = tool_alloc((size_t)side->count + 1, sizeof(*t->ours[i]));
        code_reach(side, pc, count, t->ours[i]);
    }
}

/* ---- One machine ---- */

struct machine {
    struct stage_watch watch; /* first */
    struct cps_sink sink;     /* from there on */
    struct twins *twins;
    unsigned side;
    const struct twins_poke *poke;
    unsigned pokes;
};

static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct machine *m = (struct machine *)((char *)sink - offsetof(struct machine, sink));
    record_keep(&m->twins->record[m->side], events, count);
}

static uint32_t get_value(const struct machine *m, char file, uint32_t number)
{
    return stage_value(m->watch.play, m->watch.core, file, number);
}

static void set_value(struct machine *m, char file, uint32_t number, uint32_t value)
{
    const struct cps_location at = {.core = (uint8_t)m->watch.core, .file = file, .number = number};
    cps_engine_set(m->watch.play->engine, at, value);
}

static bool is_moved(const struct code *code, uint32_t old, uint32_t new)
{
    for (size_t i = 0; i < code->moved_count; i++) {
        if (code->moved[i].value[0] == old && code->moved[i].value[1] == new)
            return true;
    }
    return false;
}

static void set_same(struct machine *m, char file, uint32_t number, uint32_t old)
{
    uint32_t own = get_value(m, file, number);
    if (own != old && !is_moved(m->twins->code, old, own))
        set_value(m, file, number, old);
}

/* State that the stream's earlier packets left different becomes that of the old revision. */
static void set_as_old(struct machine *m)
{
    const struct twins *t = m->twins;
    for (uint32_t i = 1; i < R_SP; i++)
        set_same(m, CPS_FILE_GENERAL, i, t->world[0].r[i]);
    for (uint32_t i = 0; i < CONTROL_COUNT; i++) {
        if (t->plain[i])
            set_same(m, CPS_FILE_CONTROL, t->number[i], t->world[0].control[i]);
    }
}

static void begin_handler(struct stage_watch *watch)
{
    struct machine *m = (struct machine *)watch;
    if (m->side)
        set_as_old(m);
    for (unsigned i = 0; i < m->pokes; i++) {
        const struct twins_poke *poke = &m->poke[i];
        bool renamed = m->side && poke->file == CPS_FILE_CONTROL;
        uint32_t number = renamed ? m->twins->number[poke->number] : poke->number;
        uint32_t kept = poke->keep ? get_value(m, poke->file, number) & poke->keep : 0;
        set_value(m, poke->file, number, (poke->value & ~poke->keep) | kept);
    }
    cps_engine_sink(watch->play->engine, &m->sink, KEPT_KINDS);
}

static struct cps_err *run_side(struct machine *m, const struct cps_buf *text)
{
    struct record *record = &m->twins->record[m->side];
    record->count = 0;
    CPS_TRY(stage_play(m->twins->stage, m->side, text, &m->watch));
    record->account.stop = m->watch.stop;
    tool_need(!record->lost);
    return NULL;
}

/* A run of its own, boot and all: the hardware's requests are made before it. */
static struct cps_err *run_requests(struct machine *m, const struct cps_buf *text)
{
    struct twins *t = m->twins;
    struct record *record = &t->record[m->side];
    char inject[64];
    struct cps_run_config config = *t->stage->config;
    const struct record_setup setup = {.config = &config, .kinds = KEPT_KINDS, .text = text};
    const char *const firmware[2] = {t->stage->path[m->side], NULL};
    snprintf(inject, sizeof(inject), "preempt@1:%" PRIu32 ",switch@1:%" PRIu32, t->preempt,
             t->other_ring);
    config.inject = inject;
    config.limit = TICKS_AFTER;
    record_deinit(record);
    CPS_TRY(record_run(&setup, firmware, "a stream", NULL, record));
    /* What was before the packet goes. */
    const struct cps_event *event = NULL;
    size_t at = 0;
    bool seen = false;
    while (!seen && (event = stage_next(record, t->who, 1u << CPS_EV_PKT, &at)))
        seen = stage_is_marked(&m->watch.mark, event);
    record->count -= at;
    memmove(record->event, record->event + at, record->count * sizeof(*record->event));
    t->world[m->side].known = seen;
    return NULL;
}

/* ---- Both ---- */

/* What follows an event may have another cause than the tested handler. */
enum foreign {
    FOREIGN_NOT,
    FOREIGN_PACKET, /* of a handler that may differ */
    FOREIGN_CODE,   /* of such a handler that goes on */
    FOREIGN_CLOCK,  /* the time, which is another one after an instruction more */
    FOREIGN_BOOT,   /* where `ret` and `iret` go without a caller */
};

static enum foreign foreign_of(const struct twins *t, unsigned side, const struct cps_event *event)
{
    unsigned id = oracle_packet(event->value) % CPS_FW_TABLE_SIZE;
    bool mine = cps_event_who(event) == (unsigned)t->who;
    if (cps_event_kind(event) == CPS_EV_ASSUME)
        return cps_event_sub(event) == CPS_WHAT_CLOCK ? FOREIGN_CLOCK : FOREIGN_NOT;
    if (!mine)
        return FOREIGN_NOT;
    if (cps_event_kind(event) == CPS_EV_PKT)
        return t->steady[id] || t->tested[id] ? FOREIGN_NOT : FOREIGN_PACKET;
    uint32_t pc = cps_event_pc(event);
    if (pc < t->first[side])
        return FOREIGN_BOOT;
    return t->ours[side] && pc < t->code->side[side].count && !t->ours[side][pc] ? FOREIGN_CODE
                                                                                 : FOREIGN_NOT;
}

/* Whether a run's last event is the processor's own end: not that the time was over, that another
 * processor ended the run, or that it waits for what the other revision does not wait for. */
static bool ends_itself(const struct twins *t, enum cps_stop stop)
{
    bool alone = t->stage->boot[0].engine->cores == 1 && !t->waits;
    return stop == CPS_STOP_IDLE || (alone && stop != CPS_STOP_BUDGET);
}

/* Ends the events with the first foreign one: that it comes is still compared, if it is a packet or
 * the boot. An END stands for a boot. */
static void cut_events(struct twins *t, unsigned side)
{
    struct record *record = &t->record[side];
    enum foreign foreign = FOREIGN_NOT;
    t->cut[side] = !ends_itself(t, record->account.stop);
    for (size_t i = 0; i < record->count && !foreign; i++) {
        foreign = foreign_of(t, side, &record->event[i]);
        if (!foreign)
            continue;
        if (foreign == FOREIGN_BOOT)
            record->event[i] = cps_event_make(CPS_EV_END, 0, (unsigned)t->who, 0, 0, 0);
        record->count = i + (foreign != FOREIGN_CLOCK && foreign != FOREIGN_CODE);
        t->cut[side] = true;
    }
}

/* Whether an address is in the image, which is no other processor's to change. */
static bool is_in_image(const struct twins *t, uint64_t addr)
{
    struct cps_afuc *machine = cps_afuc_of(t->stage->boot[0].engine);
    uint64_t iova = machine ? cps_afuc_image_iova(machine, 0) : 0;
    return machine && addr >= iova && addr - iova < 4 * (uint64_t)t->stage->fw[0]->count;
}

/* Another processor may have written what is read, sooner in one run than in the other: ends the
 * events with the first read that gets another word. */
static void cut_heard(struct twins *t)
{
    size_t at[2] = {0, 0};
    for (;;) {
        const struct cps_event *a = stage_next(&t->record[0], t->who, HEARD_KINDS, &at[0]);
        const struct cps_event *b = stage_next(&t->record[1], t->who, HEARD_KINDS, &at[1]);
        if (!a || !b || cps_event_kind(a) != cps_event_kind(b) || a->addr != b->addr)
            return;
        bool own = cps_event_kind(a) == CPS_EV_MEMR && is_in_image(t, a->addr);
        for (unsigned i = 0; i < 2 && !own && a->value != b->value; i++) {
            t->record[i].count = at[i] - 1;
            t->cut[i] = true;
        }
    }
}

/* Events of one processor that are compared, with where in the record each was. */
struct stream_of {
    struct cps_event *event;
    size_t *at;
    size_t count;
};

static struct stream_of select_events(const struct twins *t, unsigned side, unsigned who)
{
    const struct record *record = &t->record[side];
    struct stream_of ret = {.count = 0};
    ret.event = tool_alloc(record->count + 1, sizeof(*ret.event));
    ret.at = tool_alloc(record->count + 1, sizeof(*ret.at));
    const struct cps_event *event = NULL;
    size_t at = 0;
    while ((event = stage_next(record, who, COMPARED_KINDS, &at))) {
        ret.at[ret.count] = at - 1;
        ret.event[ret.count++] = *event;
    }
    return ret;
}

static void describe(const struct stage *stage, const struct cps_difference *d, char *ret,
                     size_t size)
{
    CPS_BUF text = {0};
    CPS_BUF other = {0};
    const struct cps_event *event = d->a ? d->a : d->b;
    bool boots[2] = {d->a && cps_event_kind(d->a) == CPS_EV_END,
                     d->b && cps_event_kind(d->b) == CPS_EV_END};
    if (boots[0] || boots[1]) {
        snprintf(ret, size, "the %s revision returns to its boot", boots[0] ? "old" : "new");
        return;
    }
    cps_text_event(&text, event, stage->names[cps_event_who(event)], false);
    if (d->a && d->b)
        cps_text_event(&other, d->b, stage->names[cps_event_who(d->b)], false);
    int length = (int)strcspn(cps_buf_text(&text), "\n");
    if (d->a && d->b)
        snprintf(ret, size, "%.*s; the new revision: %.*s", length, cps_buf_text(&text),
                 (int)strcspn(cps_buf_text(&other), "\n"), cps_buf_text(&other));
    else
        snprintf(ret, size, "only the %s revision: %.*s", d->a ? "old" : "new", length,
                 cps_buf_text(&text));
}

/* The first difference of one processor. @param ret  gets its description, or NULL
 * @return where it is in its record, SIZE_MAX: there is none */
static size_t compare_who(const struct twins *t, unsigned who, struct twins_answer *ret)
{
    const struct cps_diff_options options = {.kinds = COMPARED_KINDS, .mask = &t->stage->mask};
    struct stream_of old = select_events(t, 0, who);
    struct stream_of new = select_events(t, 1, who);
    struct cps_diff diff = {0};
    size_t at = SIZE_MAX;
    /* The new revision's events with the old one's numbers and addresses. */
    const struct code *code = t->code;
    for (size_t i = 0; i < new.count; i++) {
        struct cps_event *event = &new.event[i];
        stage_renumber(code, event);
        if (i < old.count && is_moved(code, old.event[i].value, event->value))
            event->value = old.event[i].value;
    }
    if (t->cut[0] || t->cut[1])
        old.count = new.count = old.count < new.count ? old.count : new.count;
    tool_must(
        cps_diff_events(old.event, old.count, new.event, new.count, &options, NULL, NULL, &diff));
    if (diff.differences) {
        const struct cps_difference *d = &diff.first;
        at = d->a ? old.at[d->a - old.event] : new.at[d->b - new.event];
        if (ret)
            describe(t->stage, d, ret->text, sizeof(ret->text));
    }
    cps_diff_deinit(&diff);
    free(old.event);
    free(old.at);
    free(new.event);
    free(new.at);
    return at;
}

static void compare_both(struct twins *t, struct twins_answer *ret)
{
    const struct cps_engine *engine = t->stage->boot[0].engine;
    cut_events(t, 0);
    cut_events(t, 1);
    if (engine->cores > 1)
        cut_heard(t);
    size_t first = compare_who(t, (unsigned)t->who, ret);
    ret->different = first != SIZE_MAX;
    if (!ret->different && !t->cut[0] && !t->cut[1])
        ret->different = stage_ends_differ(t->record, ret->text, sizeof(ret->text));
    /* A difference of another processor before may be the cause. */
    for (unsigned i = 0; ret->different && i < engine->cores; i++) {
        if (engine->who[i] != (uint8_t)t->who)
            ret->different = compare_who(t, engine->who[i], NULL) >= first;
    }
}

static bool was_tested(const struct twins *t, unsigned side)
{
    const struct cps_event *event = NULL;
    size_t at = 0;
    bool tested = false;
    while (!tested && (event = stage_next(&t->record[side], t->who, 1u << CPS_EV_PKT, &at)))
        tested = t->tested[oracle_packet(event->value) % CPS_FW_TABLE_SIZE];
    return tested;
}

struct cps_err *twins_run(struct twins *t, const struct cps_buf *text,
                          const struct stage_packet *packet, const struct twins_poke *poke,
                          unsigned pokes, struct twins_answer *ret)
{
    *ret = (struct twins_answer){0};
    for (unsigned i = 0; i < 2; i++) {
        struct machine m = {.watch = {.mark = {.header = stage_header(packet)},
                                      .who = t->who,
                                      .pc = t->pc[i],
                                      .most_ticks = TICKS_BEFORE,
                                      .world = &t->world[i],
                                      .begun = begin_handler,
                                      .ticks_after = TICKS_AFTER},
                            .sink = {take_events},
                            .twins = t,
                            .side = i,
                            .poke = poke,
                            .pokes = pokes};
        CPS_TRY(t->preempt ? run_requests(&m, text) : run_side(&m, text));
        if (!t->world[i].known)
            return NULL;
    }
    ret->reached = !t->preempt || (was_tested(t, 0) && was_tested(t, 1));
    compare_both(t, ret);
    return NULL;
}
