/* SPDX-License-Identifier: MIT
 * The debugging core: a place in a run has one state, however it is reached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/afuc/machine.h"
#include "emu/debug/state.h"
#include "fw/demo/demo.h"
#include "fw/fw.h"
#include "tests/machine.h"
#include "trace/capture/capture.h"

/* A machine, and what feeds it. */
struct bench {
    struct cps_asm program[2];
    struct cps_fw *fw;
    struct cps_debug *debug;
    /* One submission, from PM4 text. */
    struct cps_item_sink items;
    uint8_t bytes[32][4096];
    uint64_t iova[32], size[32];
    unsigned buffers;
    uint64_t stream;
    uint32_t dwords;
    struct cps_item item; /* that was asked for last */
};

static struct cps_err *take_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct bench *b = (struct bench *)((char *)sink - offsetof(struct bench, items));
    if (item->kind == CPS_ITEM_DATA) {
        assert_true(b->buffers < 32 && item->buffer.size <= 4096);
        memcpy(b->bytes[b->buffers], item->buffer.data, item->buffer.size);
        b->iova[b->buffers] = item->buffer.iova;
        b->size[b->buffers++] = item->buffer.size;
    } else if (item->kind == CPS_ITEM_SUBMIT) {
        b->stream = item->stream.iova;
        b->dwords = item->stream.dwords;
    }
    return NULL;
}

/* CP_ME_INIT in front of a whole firmware, the buffers, and the stream if there is one. */
static const struct cps_item *feed(void *context, uint64_t index)
{
    struct bench *b = context;
    unsigned buffer = (unsigned)index - (b->fw != NULL);
    b->item = (struct cps_item){.kind = CPS_ITEM_INIT};
    if (b->fw && !index)
        return &b->item;
    if (!b->dwords || buffer > b->buffers)
        return NULL;
    if (buffer == b->buffers) {
        b->item.kind = CPS_ITEM_SUBMIT;
        b->item.stream.iova = b->stream;
        b->item.stream.dwords = b->dwords;
    } else {
        b->item.kind = CPS_ITEM_DATA;
        b->item.buffer.iova = b->iova[buffer];
        b->item.buffer.size = b->size[buffer];
        b->item.buffer.data = b->bytes[buffer];
    }
    return &b->item;
}

static struct cps_afuc *afuc_of(struct cps_debug *debug)
{
    return cps_afuc_of(cps_debug_engine(debug));
}

static void start(struct bench *b, const struct cps_config *config)
{
    struct cps_engine *machine = NULL;
    const struct cps_feeder feeder = {feed, b, 0};
    assert_null(cps_engine_create(config, &machine));
    assert_null(cps_debug_create(machine, &feeder, &b->debug));
}

static void stop(struct bench *b)
{
    cps_debug_destroy(b->debug);
    cps_fw_destroy(b->fw);
    free(b->program[0].words);
    free(b->program[1].words);
}

/* a6xx: the demo firmware with its stream. */
static void start_demo(struct bench *b)
{
    struct cps_stream *stream = NULL;
    b->items.item = take_item;
    assert_null(cps_fw_parse("demo", cps_demo_fw, cps_demo_fw_size, 0, &b->fw));
    assert_null(cps_stream_open_memory("demo", cps_demo_pm4, cps_demo_pm4_size, &stream));
    assert_null(cps_capture_read(stream, NULL, &b->items));
    cps_stream_close(stream);
    start(b, &(struct cps_config){.layout = b->fw->layout,
                                  .words = b->fw->words,
                                  .count = b->fw->count,
                                  .image = {{CPS_CPU_SQE, 0}},
                                  .image_count = 1});
}

static void assemble(const char *text, enum cps_gen gen, struct cps_asm *ret)
{
    struct cps_err *err = cps_assemble("test", text, strlen(text), gen, ret);
    if (err)
        fail_msg("%s", err->message);
}

/* a7xx: BR starts BV (its image is at %u bytes), then both count under the lock. */
static const char two_cores[] =
    "[01740001]\n[01000000]\n"
    "mov $04, 0x2\ncwrite $04, [$00 + 0x038]\nmov $05, 0x830\ncwrite $05, [$00 + 0x039]\n"
    "mov $03, $regdata\nmov $04, $regdata\nadd $03, $03, %u\n"
    "cwrite $03, [$00 + 0x0d6]\ncwrite $04, [$00 + 0x0d7]\nmov $05, 0x1\n"
    "cwrite $05, [$00 + 0x0d8]\nmov $06, 0x28\n"
    "loop:\nmov $02, 0x1\ntry:\ncwrite $02, [$00 + 0x0b1]\ncread $03, [$00 + 0x0b1]\n"
    "brne $03, 0x1, #try\nnop\ncread $04, [$00 + 0x210]\nadd $04, $04, 0x1\nnop\ncall #f\nnop\n"
    "cwrite $04, [$00 + 0x210]\ncwrite $00, [$00 + 0x0b1]\nsub $06, $06, 0x1\n"
    "brne $06, 0x0, #loop\nnop\nwaitin\nmov $01, $data\n"
    "f:\nmov $addr, 0x8800\nmov $rem, 0x3\n(rep)mov $data, $04\nret\nadd $07, $07, 0x1\n"
    ".section BV\n[01740002]\n[01000000]\ncread $07, [$00 + 0x0d6]\nmov $06, 0x28\n"
    "loop:\nmov $02, 0x1\ntry:\ncwrite $02, [$00 + 0x0b1]\ncread $03, [$00 + 0x0b1]\n"
    "brne $03, 0x1, #try\nnop\ncread $04, [$00 + 0x210]\nadd $04, $04, 0x1\n"
    "cwrite $04, [$00 + 0x210]\ncwrite $00, [$00 + 0x0b1]\nsub $06, $06, 0x1\n"
    "brne $06, 0x0, #loop\nnop\nwaitin\nmov $01, $data\n";

static void start_two_cores(struct bench *b)
{
    CPS_BUF text = {0};
    uint32_t at = 0;
    cps_buf_printf(&text, two_cores, 0u);
    assemble(cps_buf_text(&text), CPS_A7XX, &b->program[1]);
    while (b->program[1].words[at + 1] != 0x01740002)
        at++;
    cps_buf_clear(&text);
    cps_buf_printf(&text, two_cores, 4 * at);
    assemble(cps_buf_text(&text), CPS_A7XX, &b->program[0]);
    start(b, &(struct cps_config){.layout = CPS_LAYOUT_A7XX,
                                  .words = b->program[0].words + 1,
                                  .count = b->program[0].count - 1,
                                  .image = {{CPS_CPU_SQE, 0}, {CPS_CPU_BV, at}},
                                  .image_count = 2});
}

/* a5xx: the PFP fills the MEQ in bursts, the ME writes registers and answers through a counter. */
static void start_pair(struct bench *b)
{
    assemble("[005ff001]\n[00000000]\nmov $06, 0x30\nburst:\nmov $rem, 0x5\n"
             "(rep)add $02, $02, 0x1\nmov $data, $02\ncall #more\nmov $data, $06\n"
             "sub $06, $06, 0x1\nbrne $06, 0x0, #burst\nnop\nwaitin\nmov $01, $data\n"
             "more:\nmov $data, 0x77\nret\nnop\n",
             CPS_A5XX, &b->program[0]);
    assemble("[005ff001]\n[00000000]\nmov $07, 0x90\nl:\nmov $02, $data\nmov $addr, 0xb78\n"
             "mov $data, $02\nsub $07, $07, 0x1\nbrne $07, 0x0, #l\nadd $08, $08, $02\nwaitin\n"
             "mov $01, $data\n",
             CPS_A5XX, &b->program[1]);
    start(b, &(struct cps_config){.layout = CPS_LAYOUT_A5XX_PFP,
                                  .words = b->program[0].words + 1,
                                  .count = b->program[0].count - 1,
                                  .me_words = b->program[1].words + 1,
                                  .me_count = b->program[1].count - 1});
}

static const struct kind {
    const char *name;
    void (*start)(struct bench *b);
    unsigned cores;
} kinds[] = {{"a5xx", start_pair, 2}, {"a6xx", start_demo, 1}, {"a7xx", start_two_cores, 2}};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static uint64_t mix(uint64_t hash, const void *data, size_t size)
{
    const uint8_t *at = data;
    uint64_t word = 0;
    for (; size >= 8; size -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    for (; size; size--, at++)
        hash = (hash ^ *at) * UINT64_C(0x100000001b3);
    return hash;
}

/* All that can matter: cores, turns, clock, counters of changes. */
static uint64_t state_of(struct cps_debug *d)
{
    const struct cps_engine *engine = cps_debug_engine(d);
    const struct cps_afuc *m = afuc_of(d);
    uint64_t hash = mix(1, &engine->clock, sizeof(engine->clock));
    uint64_t changes = cps_mem_changes(engine->mem);
    for (unsigned i = 0; i < engine->cores; i++)
        hash = mix(hash, &m->core[i].s, sizeof(m->core[i].s));
    hash = mix(hash, &engine->changes, sizeof(engine->changes));
    hash = mix(hash, &changes, sizeof(changes));
    hash = mix(hash, m->shared, sizeof(m->shared));
    hash = mix(hash, &m->turn.core, sizeof(m->turn.core));
    return mix(hash, &m->ring_wptr, sizeof(m->ring_wptr));
}

/* What a straight run passes through: one entry a step. */
struct reference {
    uint64_t *state, *event;
    uint64_t steps;
    uint32_t *reg; /* at the end */
};

static void record(struct bench *b, struct reference *ret)
{
    size_t room = 1u << 16;
    struct cps_debug_stop at = {.reason = CPS_WHY_GONE};
    *ret = (struct reference){malloc(room * 8), malloc(room * 8), 0, malloc(4u * GPU_REGS)};
    while (at.reason == CPS_WHY_GONE) {
        struct cps_debug_place place = cps_debug_place(b->debug);
        assert_int_equal(place.step, ret->steps);
        assert_true(ret->steps < room);
        ret->state[ret->steps] = state_of(b->debug);
        ret->event[ret->steps++] = place.event;
        at = cps_debug_goto_step(b->debug, ret->steps);
    }
    assert_int_equal(at.reason, CPS_WHY_END);
    ret->steps--;
    memcpy(ret->reg, afuc_of(b->debug)->reg, 4u * GPU_REGS);
    assert_true(ret->steps > 500);
}

static void free_reference(struct reference *r)
{
    free(r->state);
    free(r->event);
    free(r->reg);
}

static void check_place(struct bench *b, const struct reference *r, const char *after)
{
    struct cps_debug_place place = cps_debug_place(b->debug);
    /* Who has looked for more at the end stands in another turn, and nothing comes of it. */
    bool end = place.step == r->steps;
    if (place.step > r->steps || (!end && r->state[place.step] != state_of(b->debug)) ||
        r->event[place.step] != place.event)
        fail_msg("after %s, step %llu is another state", after, (unsigned long long)place.step);
    if (end)
        assert_memory_equal(r->reg, afuc_of(b->debug)->reg, 4u * GPU_REGS);
}

static uint64_t random_state;

static uint32_t any(uint32_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)(random_state >> 33) % below;
}

static void any_point(struct bench *b, unsigned cores)
{
    struct cps_debug_point p = {.core = any(2) ? -1 : (int)any(cores), .last = UINT64_MAX};
    p.what = (enum cps_debug_what)any(3);
    p.pc = any(80); /* delay slots, (rep)s and calls are among them */
    p.place = (struct cps_place){0, CPS_FILE_GENERAL, 1 + any(9)};
    p.kinds = 1u << any(CPS_EV_COUNT);
    p.once = !any(3);
    p.ignore = any(4) ? 0 : any(5);
    assert_true(cps_debug_add(b->debug, &p) > 0);
}

static const char *any_move(struct bench *b, const struct reference *r, unsigned cores)
{
    enum cps_debug_go go = (enum cps_debug_go)any(CPS_GO_SUBMIT + 1);
    const struct cps_debug_point *first = cps_debug_point(b->debug, 0);
    switch (any(8)) {
    case 0:
        cps_debug_goto_step(b->debug, any((uint32_t)r->steps + 1));
        return "goto_step";
    case 1:
        cps_debug_goto_event(b->debug, any((uint32_t)r->event[r->steps]));
        return "goto_event";
    case 2:
        any_point(b, cores);
        return "add";
    case 3:
        if (first && any(2))
            cps_debug_remove(b->debug, first->id);
        return "remove";
    case 4:
    case 5:
        cps_debug_back(b->debug, go, any(cores));
        return "back";
    default:
        cps_debug_run(b->debug, go, any(cores));
        return "run";
    }
}

/* 2,500 moves on each generation, the same ones each time. */
static void random_walks_find_the_same_states(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        struct bench b = {0};
        struct reference r;
        kinds[k].start(&b);
        record(&b, &r);
        random_state = 42 + k;
        for (unsigned i = 0; i < 2500; i++)
            check_place(&b, &r, any_move(&b, &r, kinds[k].cores));
        free_reference(&r);
        stop(&b);
    }
}

static size_t taken;
static struct cps_event taken_events[8192];

static void take_events(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    (void)sink;
    memcpy(taken_events + taken, events, count * sizeof(*events));
    taken += count;
}

/* The machine alone, in pieces of random size, does what the debugger saw. */
static void a_run_cut_anywhere_is_the_same_run(void **state)
{
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        for (unsigned seed = 0; seed < 8; seed++) {
            struct cps_sink sink = {take_events};
            struct bench b = {0};
            struct bench alone = {0};
            kinds[k].start(&b);
            kinds[k].start(&alone);
            assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
            struct cps_engine *m = cps_debug_engine(alone.debug);
            taken = 0;
            random_state = seed;
            cps_engine_sink(m, &sink, ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX));
            const struct cps_item *item = feed(&alone, 0);
            for (uint64_t fed = 0; item;) {
                enum cps_stop at = cps_engine_run(m, seed ? 1 + any(300) : UINT64_MAX);
                if (at != CPS_STOP_IDLE)
                    continue;
                assert_null(cps_engine_feed(m, item));
                item = feed(&alone, ++fed);
            }
            while (cps_engine_run(m, seed ? 1 + any(300) : UINT64_MAX) == CPS_STOP_BUDGET)
                ;
            uint64_t events = cps_debug_place(b.debug).event;
            assert_int_equal(taken, events);
            for (uint64_t i = 0; i < events; i++) {
                struct cps_event event;
                assert_true(cps_debug_event(b.debug, i, &event));
                assert_memory_equal(&event, &taken_events[i], sizeof(event));
            }
            assert_memory_equal(afuc_of(alone.debug)->reg, afuc_of(b.debug)->reg, 4u * GPU_REGS);
            stop(&b);
            stop(&alone);
        }
    }
}

/* Moves on a program whose places are known. */
static const char moves_text[] = "[016ee001]\n[01000000]\n"
                                 "mov $02, 0x1\n"           /* 2 */
                                 "call #f\n"                /* 3 */
                                 "add $02, $02, 0x1\n"      /* 4, delay slot */
                                 "mov $rem, 0x4\n"          /* 5 */
                                 "(rep)add $03, $03, 0x1\n" /* 6 */
                                 "mov $04, 0x9\n"           /* 7 */
                                 "breq $04, 0x9, #end\n"    /* 8 */
                                 "mov $05, 0x1\n"           /* 9, delay slot */
                                 "mov $05, 0x2\n"           /* 10, skipped */
                                 "end:\nwaitin\n"           /* 11 */
                                 "mov $01, $data\n"         /* 12 */
                                 "f:\nmov $addr, 0x8800\n"  /* 13 */
                                 "mov $data, $02\n"         /* 14 */
                                 "ret\n"                    /* 15 */
                                 "mov $06, 0x1\n";          /* 16, delay slot */

static void start_moves(struct bench *b)
{
    assemble(moves_text, CPS_A6XX, &b->program[0]);
    start(b, &(struct cps_config){.layout = CPS_LAYOUT_A6XX,
                                  .words = b->program[0].words + 1,
                                  .count = b->program[0].count - 1,
                                  .image = {{CPS_CPU_SQE, 0}},
                                  .image_count = 1});
}

static void run_to(struct bench *b, uint32_t pc)
{
    const struct cps_debug_point p = {.core = -1, .pc = pc, .once = true};
    cps_debug_add(b->debug, &p);
    assert_int_equal(cps_debug_run(b->debug, CPS_GO_ON, 0).reason, CPS_WHY_POINT);
    assert_int_equal(cps_engine_where(cps_debug_engine(b->debug), 0).pc, pc);
}

static const struct move_row {
    const char *claim;
    uint32_t from;
    enum cps_debug_go go;
    bool back;
    uint32_t to;
} move_rows[] = {
    {"a step goes into the delay slot of a call", 3, CPS_GO_TICK, false, 4},
    {"and from there into the routine", 4, CPS_GO_TICK, false, 13},
    {"next over a call, its delay slot and the routine", 3, CPS_GO_NEXT, false, 5},
    {"next from the delay slot enters the routine, which is called by then", 4, CPS_GO_NEXT, false,
     13},
    {"next at ret goes to the delay slot", 15, CPS_GO_NEXT, false, 16},
    {"finish comes back behind the call", 14, CPS_GO_FINISH, false, 5},
    {"a step stays in a (rep)", 6, CPS_GO_TICK, false, 6},
    {"next passes all repetitions", 6, CPS_GO_NEXT, false, 7},
    {"a branch that is taken has its delay slot first", 8, CPS_GO_TICK, false, 9},
    {"then its target", 9, CPS_GO_TICK, false, 11},
    {"back from behind a (rep) is its last repetition", 7, CPS_GO_TICK, true, 6},
    {"back over a (rep)", 7, CPS_GO_NEXT, true, 6},
    {"back out of a routine, in front of its call", 14, CPS_GO_FINISH, true, 3},
    {"back from a branch's target is its delay slot", 11, CPS_GO_TICK, true, 9},
    {"back from behind a call is the delay slot of ret", 5, CPS_GO_TICK, true, 16},
};

static void moves_stop_where_they_must(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(move_rows) / sizeof(move_rows[0]); i++) {
        const struct move_row *row = &move_rows[i];
        struct bench b = {0};
        start_moves(&b);
        run_to(&b, row->from);
        if (row->back)
            cps_debug_back(b.debug, row->go, 0);
        else
            cps_debug_run(b.debug, row->go, 0);
        uint32_t pc = cps_engine_where(cps_debug_engine(b.debug), 0).pc;
        if (pc != row->to)
            fail_msg("%s: at %u, expected %u", row->claim, pc, row->to);
        stop(&b);
    }
}

static bool is_odd(void *context, struct cps_debug *debug, unsigned core,
                   const struct cps_event *event)
{
    (void)context;
    (void)event;
    return machine_value(cps_debug_engine(debug), core, CPS_FILE_GENERAL, 3) % 2;
}

static void points_know_conditions_and_counts(void **state)
{
    (void)state;
    struct bench b = {0};
    start_moves(&b);
    struct cps_debug_point changed = {
        .what = CPS_AT_PLACE, .core = -1, .place = {0, CPS_FILE_GENERAL, 3}, .when = is_odd};
    int id = cps_debug_add(b.debug, &changed);
    for (uint32_t value = 1; value < 5; value += 2) {
        assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).point, id);
        assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_GENERAL, 3), value);
    }
    assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
    assert_int_equal(cps_debug_back(b.debug, CPS_GO_ON, 0).point, id);
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_GENERAL, 3), 3);
    assert_int_equal(cps_debug_point(b.debug, 0)->hits, 2);
    cps_debug_point(b.debug, 0)->disabled = true;
    assert_int_equal(cps_debug_back(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_START);
    assert_int_equal(cps_debug_place(b.debug).step, 0);
    stop(&b);
}

static void the_last_writer_is_found(void **state)
{
    (void)state;
    struct bench b = {0};
    struct cps_debug_stop by;
    struct cps_debug_place place;
    const struct cps_debug_point writer = {.what = CPS_AT_EVENT,
                                           .core = -1,
                                           .kinds = 1u << CPS_EV_REG,
                                           .first = 0x8800,
                                           .last = 0x8800};
    start_moves(&b);
    assert_false(cps_debug_last(b.debug, &writer, &by, &place));
    assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
    uint64_t here = cps_debug_place(b.debug).step;
    assert_true(cps_debug_last(b.debug, &writer, &by, &place));
    assert_int_equal(cps_debug_place(b.debug).step, here);
    assert_int_equal(cps_event_pc(&by.event), 14);
    assert_int_equal(by.event.value, 2);
    cps_debug_goto_step(b.debug, place.step);
    assert_int_equal(cps_engine_where(cps_debug_engine(b.debug), 0).pc, 15);
    stop(&b);
}

static void edit(struct bench *b, char file, uint64_t number, uint32_t value)
{
    const struct cps_edit change = {
        .what = CPS_EDIT_PLACE, .place = {0, file, number}, .value = value};
    assert_null(cps_debug_edit(b->debug, &change));
}

static uint32_t gpr(struct bench *b, unsigned number)
{
    return machine_value(cps_debug_engine(b->debug), 0, CPS_FILE_GENERAL, number);
}

static void changes_belong_to_the_run(void **state)
{
    (void)state;
    struct bench b = {0};
    start_moves(&b);
    run_to(&b, 3);
    uint64_t here = cps_debug_place(b.debug).step;
    edit(&b, CPS_FILE_GENERAL, 2, 0x40);
    run_to(&b, 8);
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_REGISTER, 0x8800), 0x41);
    assert_null(cps_debug_edit(b.debug, &(struct cps_edit){.what = CPS_EDIT_BRANCH}));
    cps_debug_run(b.debug, CPS_GO_ON, 0);
    assert_int_equal(gpr(&b, 5), 2);
    uint64_t end = cps_debug_place(b.debug).step;
    /* Back before both, and forward: both are made again. */
    cps_debug_goto_step(b.debug, here - 1);
    assert_int_equal(gpr(&b, 2), 0);
    cps_debug_run(b.debug, CPS_GO_ON, 0);
    assert_int_equal(cps_debug_place(b.debug).step, end);
    assert_int_equal(gpr(&b, 5), 2);
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_REGISTER, 0x8800), 0x41);
    /* An earlier change drops them. */
    cps_debug_goto_step(b.debug, here - 1);
    edit(&b, CPS_FILE_CODE, 10, 0x01000000);
    cps_debug_run(b.debug, CPS_GO_ON, 0);
    assert_int_equal(gpr(&b, 5), 1);
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_REGISTER, 0x8800), 2);
    stop(&b);
}

static void a_patch_is_not_there_before_it_was_made(void **state)
{
    (void)state;
    struct bench b = {0};
    start_moves(&b);
    run_to(&b, 5);
    uint32_t word = machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_CODE, 7);
    edit(&b, CPS_FILE_CODE, 7, word + 1); /* mov $04, 0xa: the branch is not taken */
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_CODE, 7), word + 1);
    cps_debug_run(b.debug, CPS_GO_ON, 0);
    assert_int_equal(gpr(&b, 5), 2);
    cps_debug_goto_step(b.debug, 1);
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_CODE, 7), word);
    stop(&b);
}

static const struct cps_edit refused[] = {
    {.place = {0, CPS_FILE_GENERAL, R_DATA}},
    {.place = {0, CPS_FILE_CONTROL, CONTROL_COUNT}},
    {.place = {0, CPS_FILE_SQE, SQE_COUNT}},
    {.place = {0, CPS_FILE_REGISTER, GPU_REGS}},
    {.place = {0, CPS_FILE_CODE, 17}},
    {.place = {0, CPS_FILE_PC, 0}, .value = 17},
    {.place = {0, CPS_FILE_PC, 2}},
    {.place = {0, CPS_FILE_SCALAR, 0}}, /* afuc has none */
    {.place = {0, CPS_FILE_MEMORY, 0}, .value = UINT64_C(1) << 32},
    {.what = CPS_EDIT_BRANCH, .value = 1},
    {.place = {1, CPS_FILE_GENERAL, 1}},
};

static void impossible_changes_are_refused(void **state)
{
    (void)state;
    struct bench b = {0};
    start_moves(&b);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cps_err *err = cps_debug_edit(b.debug, &refused[i]);
        if (!err || err->code != CPS_ERR_INPUT)
            fail_msg("change %zu is made", i);
        cps_err_free(err);
    }
    stop(&b);
}

static void loops_that_change_nothing_are_deadlocks(void **state)
{
    (void)state;
    struct bench b = {0};
    assemble("[016ee001]\n[01000000]\nl:\njump #l\nnop\n", CPS_A6XX, &b.program[0]);
    start(&b, &(struct cps_config){.layout = CPS_LAYOUT_A6XX,
                                   .words = b.program[0].words + 1,
                                   .count = b.program[0].count - 1,
                                   .image = {{CPS_CPU_SQE, 0}},
                                   .image_count = 1});
    assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_DEADLOCK);
    stop(&b);
}

/* A million steps behind the only hit: checkpoints lead back to it, and they stay few. */
static void far_back_is_reached_with_few_checkpoints(void **state)
{
    (void)state;
    struct bench b = {0};
    assemble("[016ee001]\n[01000000]\nmov $addr, 0x8800\nmov $data, 0x1\nmov $02, 0x4 << 16\nl:\n"
             "sub $02, $02, 0x1\nbrne $02, 0x0, #l\nadd $03, $03, $02\nwaitin\nmov $01, $data\n",
             CPS_A6XX, &b.program[0]);
    start(&b, &(struct cps_config){.layout = CPS_LAYOUT_A6XX,
                                   .words = b.program[0].words + 1,
                                   .count = b.program[0].count - 1,
                                   .image = {{CPS_CPU_SQE, 0}},
                                   .image_count = 1});
    for (unsigned i = 0; i < 8; i++) {
        struct cps_debug_stop at = cps_debug_goto_step(b.debug, (i + 1) * 97777);
        assert_int_equal(at.reason, CPS_WHY_GONE);
    }
    const struct cps_debug_point writer = {
        .what = CPS_AT_EVENT, .core = -1, .kinds = 1u << CPS_EV_REG, .last = UINT64_MAX};
    cps_debug_add(b.debug, &writer);
    assert_int_equal(cps_debug_back(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_POINT);
    assert_true(cps_debug_place(b.debug).step < 20);
    assert_true(b.debug->checkpoint_count <= CPS_DEBUG_CHECKPOINTS);
    stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_walks_find_the_same_states),
        cmocka_unit_test(a_run_cut_anywhere_is_the_same_run),
        cmocka_unit_test(moves_stop_where_they_must),
        cmocka_unit_test(points_know_conditions_and_counts),
        cmocka_unit_test(the_last_writer_is_found),
        cmocka_unit_test(changes_belong_to_the_run),
        cmocka_unit_test(a_patch_is_not_there_before_it_was_made),
        cmocka_unit_test(impossible_changes_are_refused),
        cmocka_unit_test(loops_that_change_nothing_are_deadlocks),
        cmocka_unit_test(far_back_is_reached_with_few_checkpoints),
    };
    return cmocka_run_group_tests_name("debug", tests, NULL, NULL);
}
