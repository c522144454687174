/* SPDX-License-Identifier: MIT
 * The debugging core: a place in a run has one state, however it is reached. */
#include "tests/lib/debug_scene.h"

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

static void start_two_cores(struct scene *b)
{
    CPS_BUF text = {0};
    uint32_t at = 0;
    cps_buf_printf(&text, two_cores, 0u);
    b->program[1] = bench_assemble(cps_buf_text(&text), CPS_A7XX);
    while (b->program[1].words[at + 1] != 0x01740002)
        at++;
    cps_buf_clear(&text);
    cps_buf_printf(&text, two_cores, 4 * at);
    b->program[0] = bench_assemble(cps_buf_text(&text), CPS_A7XX);
    start(b, &(struct cps_config){.layout = CPS_LAYOUT_A7XX,
                                  .words = b->program[0].words + 1,
                                  .count = b->program[0].count - 1,
                                  .image = {{CPS_CPU_SQE, 0}, {CPS_CPU_BV, at}},
                                  .image_count = 2});
}

/* a5xx: the PFP fills the MEQ in bursts, the ME writes registers and answers through a counter. */
static void start_pair(struct scene *b)
{
    b->program[0] =
        bench_assemble("[005ff001]\n[00000000]\nmov $06, 0x30\nburst:\nmov $rem, 0x5\n"
                       "(rep)add $02, $02, 0x1\nmov $data, $02\ncall #more\nmov $data, $06\n"
                       "sub $06, $06, 0x1\nbrne $06, 0x0, #burst\nnop\nwaitin\nmov $01, $data\n"
                       "more:\nmov $data, 0x77\nret\nnop\n",
                       CPS_A5XX);
    b->program[1] = bench_assemble(
        "[005ff001]\n[00000000]\nmov $07, 0x90\nl:\nmov $02, $data\nmov $addr, 0xb78\n"
        "mov $data, $02\nsub $07, $07, 0x1\nbrne $07, 0x0, #l\nadd $08, $08, $02\nwaitin\n"
        "mov $01, $data\n",
        CPS_A5XX);
    start(b, &(struct cps_config){.layout = CPS_LAYOUT_A5XX_PFP,
                                  .words = b->program[0].words + 1,
                                  .count = b->program[0].count - 1,
                                  .me_words = b->program[1].words + 1,
                                  .me_count = b->program[1].count - 1});
}

static const struct kind {
    const char *name;
    void (*start)(struct scene *b);
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

static void record(struct scene *b, struct reference *ret)
{
    size_t room = 1u << 16;
    struct cps_debug_stop at = {.reason = CPS_WHY_GONE};
    *ret = (struct reference){malloc(room * 8), malloc(room * 8), 0, malloc(4u * GPU_REGS)};
    while (at.reason == CPS_WHY_GONE) {
        struct cps_debug_location place = cps_debug_location(b->debug);
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

static void check_place(struct scene *b, const struct reference *r, const char *after)
{
    struct cps_debug_location place = cps_debug_location(b->debug);
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

static void any_point(struct scene *b, unsigned cores)
{
    struct cps_debug_point p = {.core = any(2) ? -1 : (int)any(cores), .last = UINT64_MAX};
    p.what = (enum cps_debug_what)any(3);
    p.pc = any(80); /* delay slots, (rep)s and calls are among them */
    p.place = (struct cps_location){0, CPS_FILE_GENERAL, 1 + any(9)};
    p.kinds = 1u << any(CPS_EV_COUNT);
    p.once = !any(3);
    p.ignore = any(4) ? 0 : any(5);
    assert_true(cps_debug_add(b->debug, &p) > 0);
}

static const char *any_move(struct scene *b, const struct reference *r, unsigned cores)
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
        struct scene b = {0};
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
            struct scene b = {0};
            struct scene alone = {0};
            kinds[k].start(&b);
            kinds[k].start(&alone);
            assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
            struct cps_engine *m = cps_debug_engine(alone.debug);
            taken = 0;
            random_state = seed;
            cps_engine_sink(m, &sink,
                            ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX | 1u << CPS_EV_WORD));
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
            uint64_t events = cps_debug_location(b.debug).event;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_walks_find_the_same_states),
        cmocka_unit_test(a_run_cut_anywhere_is_the_same_run),
    };
    return cmocka_run_group_tests_name("debug walks", tests, NULL, NULL);
}
