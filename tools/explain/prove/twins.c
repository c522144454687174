/* SPDX-License-Identifier: MIT
 * Runs two machines over one stream and compares them. */
#include "tools/explain/prove/twins.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpscope.h"
#include "fw/image/walk.h"
#include "isa/base/pm4.h"
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
#include "emu/afuc/ctrl.def"
}

static uint32_t first_handler(const struct code_side *side)
{
    uint32_t first = side->count;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t pc = cps_fw_handler(side->fw, side->part, id);
        first = pc && pc < first ? pc : first;
    }
    return first;
}

struct cps_err *twins_init(const struct stage *stage, const struct code *code, const uint32_t pc[2],
                           bool waits, struct twins *ret)
{
    *ret = (struct twins){.stage = stage, .code = code, .pc = {pc[0], pc[1]}, .waits = waits};
    ret->who = cps_role_processor(code->side[0].part->role, 0);
    find_plain(ret, code->side[0].fw->layout);
    for (unsigned i = 0; i < 2; i++)
        ret->first[i] = first_handler(&code->side[i]);
    for (uint32_t i = 0; i < CONTROL_COUNT; i++)
        ret->number[i] = (uint16_t)i;
    for (uint32_t i = 0; i < CONTROL_COUNT; i++) {
        if (code->scratch[i] < CONTROL_COUNT && code->scratch[i] != i)
            ret->number[code->scratch[i]] = (uint16_t)i;
    }
    return NULL;
}

void twins_deinit(struct twins *t)
{
    record_deinit(&t->record[0]);
    record_deinit(&t->record[1]);
    free(t->ours[0]);
    free(t->ours[1]);
}

static struct cps_err *mark_code(const struct twins *t, const struct code_side *side, bool *ours)
{
    enum { MOST_NODES = 262144 };
    struct cps_fw_walk walk;
    struct cps_err *err = NULL;
    cps_fw_walk_init_(side->fw, side->part, MOST_NODES, &walk);
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE && !err; id++) {
        uint32_t pc = cps_fw_handler(side->fw, side->part, id);
        if ((t->steady[id] || t->tested[id]) && pc < side->count)
            err = cps_fw_walk_from_(&walk, pc, NULL);
    }
    if (!err)
        err = cps_fw_walk_(&walk);
    for (size_t i = 0; i < walk.count; i++)
        ours[walk.node[i].pc] = true;
    cps_fw_walk_deinit_(&walk);
    return err;
}

struct cps_err *twins_find_code(struct twins *t)
{
    for (unsigned i = 0; i < 2; i++) {
        const struct code_side *side = &t->code->side[i];
        t->ours[i] = calloc((size_t)side->count + 1, sizeof(*t->ours[i]));
        if (!t->ours[i])
            return cps_err_nomem();
        CPS_TRY(mark_code(t, side, t->ours[i]));
    }
    return NULL;
}

/* ---- One machine ---- */

struct machine {
    struct twins *twins;
    unsigned side;
    struct cps_sink sink;
    struct play *play;
    unsigned core;
    uint32_t header; /* of the packet */
    bool seen;       /* its dispatch */
    bool begun;
    const struct twins_poke *poke;
    unsigned pokes;
    enum cps_stop stop;
};

static void note_packet(struct machine *m, const struct cps_event *event)
{
    m->seen = m->seen || (cps_event_kind(event) == CPS_EV_PKT && event->value == m->header &&
                          cps_event_who(event) == (unsigned)m->twins->who);
}

static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct machine *m = (struct machine *)((char *)sink - offsetof(struct machine, sink));
    if (m->begun) {
        record_keep(&m->twins->record[m->side], events, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        m->seen =
            m->seen || (cps_event_kind(&events[i]) == CPS_EV_PKT && events[i].value == m->header &&
                        cps_event_who(&events[i]) == (unsigned)m->twins->who);
}

static struct cps_place place_of(const struct machine *m, char file, uint32_t number)
{
    return (struct cps_place){.core = (uint8_t)m->core, .file = file, .number = number};
}

static uint32_t value_at(const struct machine *m, char file, uint32_t number)
{
    uint64_t value = 0;
    return cps_engine_get(m->play->engine, place_of(m, file, number), &value) ? (uint32_t)value : 0;
}

static void take_world(struct machine *m)
{
    struct world *world = &m->twins->world[m->side];
    for (uint32_t i = 0; i < 32; i++)
        world->r[i] = value_at(m, CPS_FILE_GENERAL, i);
    for (uint32_t i = 0; i < CONTROL_COUNT; i++)
        world->control[i] = value_at(m, CPS_FILE_CONTROL, i);
    world->known = true;
}

/* Whether the words are the same address in both revisions. */
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
    uint32_t own = value_at(m, file, number);
    if (own != old && !is_moved(m->twins->code, old, own))
        cps_engine_set(m->play->engine, place_of(m, file, number), old);
}

/* What the streams' own packets left otherwise becomes what the old revision has. */
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

static void set_state(struct machine *m)
{
    if (m->side)
        set_as_old(m);
    for (unsigned i = 0; i < m->pokes; i++) {
        const struct twins_poke *poke = &m->poke[i];
        bool renamed = m->side && poke->file == CPS_FILE_CONTROL;
        uint32_t number = renamed ? m->twins->number[poke->number] : poke->number;
        uint32_t kept = poke->keep ? value_at(m, poke->file, number) & poke->keep : 0;
        cps_engine_set(m->play->engine, place_of(m, poke->file, number),
                       (poke->value & ~poke->keep) | kept);
    }
}

static enum cps_stop run_before(struct machine *m)
{
    struct cps_engine *engine = m->play->engine;
    for (uint32_t ticks = 0; ticks < TICKS_BEFORE; ticks++) {
        enum cps_stop stop = cps_engine_run(engine, 1);
        if (stop != CPS_STOP_BUDGET)
            return stop;
        cps_engine_sink(engine, &m->sink, 1u << CPS_EV_PKT); /* hands over pending events */
        if (m->seen && cps_engine_where(engine, m->core).pc == m->twins->pc[m->side]) {
            take_world(m);
            set_state(m);
            m->begun = true;
            cps_engine_sink(engine, &m->sink, KEPT_KINDS);
            return CPS_STOP_BUDGET;
        }
    }
    return CPS_STOP_BUDGET;
}

static struct cps_err *play_items(struct machine *m)
{
    struct cps_engine *engine = m->play->engine;
    m->stop = CPS_STOP_IDLE;
    for (size_t i = 0; i < m->play->feed.count && m->stop == CPS_STOP_IDLE; i++) {
        const struct cps_item *item = &m->play->feed.item[i];
        if (item->kind == CPS_ITEM_INIT)
            continue; /* it has booted */
        CPS_TRY(cps_engine_feed(engine, item));
        if (item->kind != CPS_ITEM_SUBMIT && item->kind != CPS_ITEM_RING)
            continue;
        if (!m->begun)
            m->stop = run_before(m);
        if (m->begun)
            m->stop = cps_engine_run(engine, TICKS_AFTER);
    }
    return m->stop == CPS_STOP_NOMEM ? cps_err_nomem() : NULL;
}

static bool find_core(struct machine *m)
{
    const struct cps_engine *engine = m->play->engine;
    for (m->core = 0; m->core < engine->cores; m->core++) {
        if (engine->who[m->core] == (uint8_t)m->twins->who)
            return true;
    }
    return false;
}

static struct cps_err *run_stream(struct machine *m, const struct cps_options *opt,
                                  struct cps_stream *stream)
{
    const struct record_boot *boot = &m->twins->stage->boot[m->side];
    CPS_TRY(play_borrow(m->play, opt, boot->play, boot->engine));
    struct cps_err *err = play_gather(m->play, stream);
    if (!err && find_core(m)) {
        cps_engine_sink(m->play->engine, &m->sink, 1u << CPS_EV_PKT);
        err = play_items(m);
        cps_engine_sink(m->play->engine, NULL, 0);
    }
    play_return(m->play, boot->play);
    return err;
}

static struct cps_err *run_side(struct machine *m, const struct cps_buf *text)
{
    const struct stage *stage = m->twins->stage;
    struct record *record = &m->twins->record[m->side];
    struct cps_options opt = *stage->opt;
    struct cps_stream *stream = NULL;
    opt.fw[0] = stage->path[m->side];
    opt.fw_count = 1;
    record->count = 0;
    m->sink.put = take_events;
    m->twins->world[m->side].known = false;
    if (!stage->boot[m->side].booted)
        return NULL;
    CPS_TRY(cps_stream_open_memory("a stream", cps_buf_text(text), text->size, &stream));
    m->play = calloc(1, sizeof(*m->play));
    struct cps_err *err = m->play ? run_stream(m, &opt, stream) : cps_err_nomem();
    if (m->play)
        play_close(m->play);
    free(m->play);
    cps_stream_close(stream);
    record->account.stop = m->stop;
    return err ? err : record->lost ? cps_err_nomem() : NULL;
}

/* Leaves the events from the packet on. */
static void drop_boot(struct machine *m)
{
    struct record *record = &m->twins->record[m->side];
    size_t at = 0;
    for (; at < record->count && !m->seen; at++)
        note_packet(m, &record->event[at]);
    record->count -= at;
    memmove(record->event, record->event + at, record->count * sizeof(*record->event));
}

/* A run of its own, boot and all: the hardware's requests are made before it. */
static struct cps_err *run_requests(struct machine *m, const struct cps_buf *text)
{
    struct twins *t = m->twins;
    char inject[64];
    struct cps_options opt = *t->stage->opt;
    const struct record_setup setup = {.opt = &opt, .kinds = KEPT_KINDS, .text = text};
    const char *const firmware[2] = {t->stage->path[m->side], NULL};
    snprintf(inject, sizeof(inject), "preempt@1:%" PRIu32 ",switch@1:%" PRIu32, t->preempt,
             t->other_ring);
    opt.inject = inject;
    opt.limit = TICKS_AFTER;
    record_deinit(&t->record[m->side]);
    CPS_TRY(record_run(&setup, firmware, "a stream", NULL, &t->record[m->side]));
    drop_boot(m);
    t->world[m->side].known = m->seen;
    return NULL;
}

/* ---- Both ---- */

static unsigned packet_of(uint32_t header)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    return packet.kind == CPS_PM4_TYPE7 ? packet.opcode : packet.kind == CPS_PM4_TYPE4 ? 4 : 0;
}

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
    unsigned id = packet_of(event->value) % CPS_FW_TABLE_SIZE;
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

/* The next register or word of memory that the processor reads. */
static size_t next_heard(const struct twins *t, unsigned side, size_t at)
{
    const struct record *record = &t->record[side];
    while (at < record->count && (cps_event_who(&record->event[at]) != (unsigned)t->who ||
                                  !(1u << cps_event_kind(&record->event[at]) & HEARD_KINDS)))
        at++;
    return at;
}

/* Another processor may have written what is read, sooner in one run than in the other: ends the
 * events with the first read that gets another word. */
static void cut_heard(struct twins *t)
{
    size_t at[2] = {next_heard(t, 0, 0), next_heard(t, 1, 0)};
    while (at[0] < t->record[0].count && at[1] < t->record[1].count) {
        const struct cps_event *a = &t->record[0].event[at[0]];
        const struct cps_event *b = &t->record[1].event[at[1]];
        if (cps_event_kind(a) != cps_event_kind(b) || a->addr != b->addr)
            return;
        bool own = cps_event_kind(a) == CPS_EV_MEMR && is_in_image(t, a->addr);
        for (unsigned i = 0; i < 2 && !own && a->value != b->value; i++) {
            t->record[i].count = at[i];
            t->cut[i] = true;
        }
        for (unsigned i = 0; i < 2; i++)
            at[i] = next_heard(t, i, at[i] + 1);
    }
}

/* Events of one processor that are compared, with where in the record each was. */
struct stream_of {
    struct cps_event *event;
    size_t *at;
    size_t count;
};

static struct cps_err *select_events(const struct twins *t, unsigned side, unsigned who,
                                     struct stream_of *ret)
{
    const struct record *record = &t->record[side];
    *ret = (struct stream_of){0};
    ret->event = calloc(record->count + 1, sizeof(*ret->event));
    ret->at = calloc(record->count + 1, sizeof(*ret->at));
    if (!ret->event || !ret->at)
        return cps_err_nomem();
    for (size_t i = 0; i < record->count; i++) {
        const struct cps_event *event = &record->event[i];
        if (cps_event_who(event) != who || !(1u << cps_event_kind(event) & COMPARED_KINDS))
            continue;
        ret->at[ret->count] = i;
        ret->event[ret->count++] = *event;
    }
    return NULL;
}

/* The new revision's events with the old one's numbers and addresses. */
static void read_as_old(const struct code *code, const struct stream_of *old, struct stream_of *new)
{
    for (size_t i = 0; i < new->count; i++) {
        struct cps_event *event = &new->event[i];
        if (cps_event_kind(event) == CPS_EV_CTRL && event->addr < CONTROL_COUNT &&
            code->scratch[event->addr] < CONTROL_COUNT)
            event->addr = code->scratch[event->addr];
        if (i < old->count && is_moved(code, old->event[i].value, event->value))
            event->value = old->event[i].value;
    }
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

/* The first difference of one processor. @param ret_at  gets where in its record, SIZE_MAX: none */
static struct cps_err *compare_who(const struct twins *t, unsigned who, size_t *ret_at,
                                   struct twins_answer *ret)
{
    const struct cps_diff_options options = {.kinds = COMPARED_KINDS, .mask = &t->stage->mask};
    struct stream_of old = {0};
    struct stream_of new = {0};
    struct cps_diff diff = {0};
    *ret_at = SIZE_MAX;
    struct cps_err *err = select_events(t, 0, who, &old);
    err = err ? err : select_events(t, 1, who, &new);
    if (!err) {
        read_as_old(t->code, &old, &new);
        size_t least = old.count < new.count ? old.count : new.count;
        if (t->cut[0] || t->cut[1])
            old.count = new.count = least;
        err = cps_diff_events(old.event, old.count, new.event, new.count, &options, NULL, NULL,
                              &diff);
    }
    if (!err && diff.differences) {
        const struct cps_difference *d = &diff.first;
        *ret_at = d->a ? old.at[d->a - old.event] : new.at[d->b - new.event];
        if (ret)
            describe(t->stage, d, ret->text, sizeof(ret->text));
    }
    cps_diff_deinit(&diff);
    free(old.event);
    free(old.at);
    free(new.event);
    free(new.at);
    return err;
}

static struct cps_err *compare_both(struct twins *t, struct twins_answer *ret)
{
    size_t first = SIZE_MAX;
    const struct cps_engine *engine = t->stage->boot[0].engine;
    cut_events(t, 0);
    cut_events(t, 1);
    if (engine->cores > 1)
        cut_heard(t);
    CPS_TRY(compare_who(t, (unsigned)t->who, &first, ret));
    ret->different = first != SIZE_MAX;
    if (!ret->different && !t->cut[0] && !t->cut[1] &&
        t->record[0].account.stop != t->record[1].account.stop) {
        ret->different = true;
        snprintf(ret->text, sizeof(ret->text),
                 "the old revision ends with \"%s\", the new one with \"%s\"",
                 cps_event_sub_word(CPS_EV_END, cps_stop_reason(t->record[0].account.stop)),
                 cps_event_sub_word(CPS_EV_END, cps_stop_reason(t->record[1].account.stop)));
    }
    /* What another processor did otherwise before may be the cause. */
    for (unsigned i = 0; ret->different && i < engine->cores; i++) {
        size_t other = SIZE_MAX;
        if (engine->who[i] == (uint8_t)t->who)
            continue;
        CPS_TRY(compare_who(t, engine->who[i], &other, NULL));
        ret->different = other >= first;
    }
    return NULL;
}

/* Whether a processor came to the packet that is tested. */
static bool was_tested(const struct twins *t, unsigned side)
{
    for (size_t i = 0; i < t->record[side].count; i++) {
        const struct cps_event *event = &t->record[side].event[i];
        if (cps_event_kind(event) == CPS_EV_PKT && cps_event_who(event) == (unsigned)t->who &&
            t->tested[packet_of(event->value) % CPS_FW_TABLE_SIZE])
            return true;
    }
    return false;
}

struct cps_err *twins_run(struct twins *t, const struct cps_buf *text,
                          const struct stage_packet *packet, const struct twins_poke *poke,
                          unsigned pokes, struct twins_answer *ret)
{
    uint32_t header = packet->id == 4 ? cps_pm4_type4(0x8810, packet->count)
                                      : cps_pm4_type7(packet->id, packet->count);
    *ret = (struct twins_answer){0};
    for (unsigned i = 0; i < 2; i++) {
        struct machine m = {.twins = t, .side = i, .header = header, .poke = poke, .pokes = pokes};
        CPS_TRY(t->preempt ? run_requests(&m, text) : run_side(&m, text));
        if (!t->world[i].known)
            return NULL;
    }
    ret->reached = !t->preempt || (was_tested(t, 0) && was_tested(t, 1));
    return compare_both(t, ret);
}
