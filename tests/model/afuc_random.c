/* SPDX-License-Identifier: MIT
 * Random programs of afuc on the engine and on the naive model: the state is the same behind each
 * tick, and at the end of each way in which the engine runs. Usage: afuc_random [PROGRAMS [SEED]];
 * a difference says the seed: afuc_random 1 SEED is that program. */
#include <inttypes.h>

#include "emu/afuc/origin/origin.h"
#include "tests/lib/engine_bench.h"
#include "tests/model/afuc_program.h"
#include "tests/model/afuc_seen.h"

#define MOST_EDGES 4096u
#define ENOUGH     10000u /* programs, to have seen everything */
#ifdef __has_feature      /* clang's word for it */
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PROGRAMS 1000u /* engines take ten times as long to make */
#else
#define PROGRAMS ENOUGH
#endif

/* Ways in which the engine executes, each from the same state. The first two go tick by tick. */
enum way {
    STEPPED, /* nobody looks */
    WATCHED, /* with events of all instructions */
    WHOLE,   /* nobody looks, in one run */
    TOLD,    /* all events but those of instructions */
    ALL,     /* all events, in one run */
    LOGGED,  /* branches are logged */
    COUNTED, /* instructions are counted */
    CUT,     /* in pieces, and goes on as a copy of itself */
    ORIGINS, /* where values come from is noted */
    WAYS,
};
static const char *const way_name[WAYS] = {"stepped", "watched", "whole", "told",   "all",
                                           "logged",  "counted", "cut",   "origins"};
/* A program on the engine, in one way, beside models of both processors of a5xx, or of the only one
 * of later chips. */
struct run {
    struct cps_sink sink; /* first */
    struct afuc_program *p;
    enum way way;
    struct cps_engine *begin, *engine; /* the state to begin with, and a clone that runs */
    struct origin *origin;
    struct afuc_model model[2];
    uint32_t other[AFUC_IMAGE]; /* the image of the processor that is not tested */
    unsigned tested;            /* the core */
    unsigned ticks, sent;
    uint32_t last; /* where the tested model was before its last tick */
    uint64_t limit;
    struct cps_edge edge[MOST_EDGES];
    struct cps_edge_log log;
    struct cps_cover count[AFUC_IMAGE + 1];
    uint64_t counted[AFUC_IMAGE]; /* by the model */
    size_t told;                  /* register writes that had an event */
    bool bad;
};

static uint64_t programs[AFUC_KINDS][WAYS], ticks[AFUC_KINDS];
static struct afuc_seen seen;

/* ---- what differs ---- */

static void list_program(const struct run *run)
{
    for (unsigned i = 0; i < AFUC_IMAGE; i++) {
        if (run->p->made[i])
            printf("# %04x %08" PRIx32 "%s\n", i, run->p->image[i],
                   i == run->model[run->tested].pc ? " <- next" : "");
    }
}

static uint32_t model_next(const struct run *run)
{
    const struct afuc_model *m = &run->model[run->tested];
    const struct afuc_queue *q = m->level ? &m->ib : &m->data;
    return q->word[q->head % AFUC_QUEUE];
}

static void differs(struct run *run, const char *what, unsigned number, uint64_t model,
                    uint64_t engine)
{
    const struct afuc_program *p = run->p;
    if (!run->bad) {
        printf("# %s, seed %" PRIu64 ", %s, behind tick %u: the model and the engine differ\n",
               afuc_kind_name(p->kind), p->seed, way_name[run->way], run->ticks);
        list_program(run);
        printf("# the last one: %04" PRIx32 " %08" PRIx32 "; next word of the stream %08" PRIx32
               "\n",
               run->last, p->image[run->last], model_next(run));
    }
    printf("# %s %x: model %08" PRIx64 ", engine %08" PRIx64 "\n", what, number, model, engine);
    run->bad = true;
}

static void same(struct run *run, const char *what, unsigned number, uint64_t model,
                 uint64_t engine)
{
    if (model != engine)
        differs(run, what, number, model, engine);
}

/* ---- what is compared ---- */

static void compare_core(struct run *run, unsigned core)
{
    const struct afuc_model *m = &run->model[core];
    struct cps_where where = cps_engine_where(run->engine, core);
    same(run, "pc", 0, m->pc, where.pc);
    same(run, "what follows", 0, m->npc, where.npc);
    same(run, "calls", 0, m->sp, where.depth);
    /* the last two are what $addr and $usraddr select */
    for (unsigned i = 1; i < (m->kind == AFUC_PFP ? 29 : 31); i++)
        same(run, "register", i, m->r[i], machine_value(run->engine, core, CPS_FILE_GENERAL, i));
}

static void compare_all(struct run *run)
{
    const struct afuc_model *m = &run->model[run->tested];
    uint32_t scratch = afuc_scratch(m->kind);
    compare_core(run, run->tested);
    for (unsigned i = 0; i < m->sp && i < 8 && afuc_generation(m->kind) > 5; i++)
        same(run, "stack", i, m->stack[i], machine_value(run->engine, 0, CPS_FILE_SQE, 8 + i));
    for (unsigned i = 0; i < AFUC_CONTROL; i++)
        same(run, "control register", scratch + i, m->scratch[i],
             machine_value(run->engine, run->tested, CPS_FILE_CONTROL, scratch + i));
    for (unsigned i = 0; i < 2 * AFUC_WINDOW; i++) {
        uint32_t base = afuc_window(m->kind, i / AFUC_WINDOW), at = base + i % AFUC_WINDOW;
        if (base)
            same(run, "GPU register", at, m->reg[i / AFUC_WINDOW][i % AFUC_WINDOW],
                 machine_value(run->engine, 0, CPS_FILE_REGISTER, at));
    }
    for (unsigned i = 0; i < AFUC_MEMORY; i++)
        same(run, "memory", i, m->memory[i],
             machine_memory(run->engine, AFUC_MEMORY_AT + 4 * i, NULL));
    if (m->kind != AFUC_ME)
        same(run, "words read", 0, m->data.head,
             cps_afuc_position(cps_afuc_of(run->engine), 0, CPS_LEVEL_RB).consumed);
    if (m->ib.head && m->ib.head < m->ib.tail)
        same(run, "words read", 1, m->ib.head,
             cps_afuc_position(cps_afuc_of(run->engine), 0, CPS_LEVEL_IB1).consumed);
}

/* Writes of registers arrive in order. */
static void tell(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct run *run = (struct run *)sink;
    for (size_t i = 0; i < count; i++) {
        const struct afuc_model *m = &run->model[run->tested];
        bool unit = m->kind == AFUC_ME && events[i].addr >= 0x80d && events[i].addr <= 0x812;
        if (cps_event_kind(&events[i]) != CPS_EV_REG || unit)
            continue;
        if (run->told < m->writes) {
            same(run, "address of write", (unsigned)run->told, m->wrote[run->told].at,
                 events[i].addr);
            same(run, "value of write", (unsigned)run->told, m->wrote[run->told].value,
                 events[i].value);
        }
        run->told++;
    }
}

/* ---- to begin with ---- */

/* a5xx: for a PFP an ME that takes words as they come; for an ME a PFP that hands it its words. */
static void make_other(struct run *run)
{
    static const uint32_t taker[] = {0xc8000000, 0x981f1006}; /* jump to itself; mov $02, $data */
    const uint32_t giver[] = {0x88u << 24 | 28u << 16 | run->p->begin.data.tail, 0x9c1ff806,
                              0xd8000000, 0x981f0806};
    struct afuc_model *other = &run->model[!run->tested];
    run->other[0] = 0x005ff001;
    *other = (struct afuc_model){
        .kind = run->tested ? AFUC_PFP : AFUC_ME, .image = run->other, .npc = 1};
    if (run->tested) {
        memcpy(run->other + 2, giver, sizeof(giver));
        other->data = run->p->begin.data;
        memset(&run->model[1].data, 0, sizeof(run->model[1].data));
    } else {
        memcpy(run->other + 2, taker, sizeof(taker));
    }
}

static void set(struct run *run, unsigned core, char file, uint64_t number, uint64_t value)
{
    if (!cps_engine_set(run->begin, (struct cps_location){(uint8_t)core, file, number}, value))
        abort();
}

static void fill(struct run *run)
{
    const struct afuc_model *m = &run->p->begin;
    unsigned core = run->tested;
    for (unsigned i = 1; i < 29; i++)
        set(run, core, CPS_FILE_GENERAL, i, m->r[i]);
    for (unsigned i = 0; i < AFUC_CONTROL; i++)
        set(run, core, CPS_FILE_CONTROL, afuc_scratch(m->kind) + i, m->scratch[i]);
    set(run, core, CPS_FILE_CONTROL, afuc_number(m->kind, AFUC_HI), m->hi);
    for (unsigned i = 0; i < 2 * AFUC_WINDOW; i++) {
        uint32_t base = afuc_window(m->kind, i / AFUC_WINDOW);
        if (base)
            set(run, 0, CPS_FILE_REGISTER, base + i % AFUC_WINDOW,
                m->reg[i / AFUC_WINDOW][i % AFUC_WINDOW]);
    }
    for (unsigned i = 0; i < AFUC_MEMORY; i++)
        set(run, 0, CPS_FILE_MEMORY, AFUC_MEMORY_AT + 4 * i, m->memory[i]);
    for (unsigned i = 0; i < AFUC_QUEUE; i++)
        set(run, 0, CPS_FILE_MEMORY, AFUC_STREAM_AT + 4 * i, m->stream[i]);
    if (!machine_ring(run->begin, m->data.word, m->data.tail))
        abort();
}

static struct run *begin(struct afuc_program *p)
{
    static const enum cps_layout layout[AFUC_KINDS] = {CPS_LAYOUT_A5XX_PFP,  CPS_LAYOUT_A5XX_PFP,
                                                       CPS_LAYOUT_A6XX,      CPS_LAYOUT_A7XX,
                                                       CPS_LAYOUT_A7XX_GEN3, CPS_LAYOUT_A8XX};
    struct run *run = calloc(1, sizeof(*run));
    struct cps_config config = {.layout = layout[p->kind],
                                .policy = cps_policy_default(),
                                .words = p->image,
                                .count = AFUC_IMAGE,
                                .image = {{CPS_CPU_SQE, 0}},
                                .image_count = 1};
    if (!run)
        abort();
    config.policy.waits = CPS_WAITS_STOP; /* nobody writes for the rest of the GPU */
    run->p = p;
    run->sink.put = tell;
    run->tested = p->kind == AFUC_ME;
    run->model[run->tested] = p->begin;
    if (afuc_generation(p->kind) == 5) {
        make_other(run);
        config.words = run->tested ? run->other : p->image;
        config.me_words = run->tested ? p->image : run->other;
        config.me_count = AFUC_IMAGE;
    }
    if (cps_engine_create(&config, &run->begin))
        abort();
    fill(run);
    if (cps_engine_clone(run->begin, &run->engine))
        abort();
    return run;
}

static void end(struct run *run)
{
    cps_engine_destroy(run->engine);
    cps_engine_destroy(run->begin);
    free(run);
}

/* ---- runs ---- */

/* What the engine's core does the model does, too. */
static void tick_model(struct run *run, unsigned core)
{
    struct afuc_model *m = &run->model[core];
    struct afuc_model from = *m;
    if (core == run->tested)
        run->last = m->pc;
    afuc_model_tick(m);
    if (m->stop)
        differs(run, m->stop, core, from.pc, cps_engine_where(run->engine, core).pc);
    if (core == run->tested) {
        run->counted[from.pc]++;
        afuc_seen_tick(&seen, &from, m);
        run->ticks++;
    }
    for (; run->sent < run->model[0].meq.tail; run->sent++)
        run->model[1].data.word[run->model[1].data.tail++] = run->model[0].meq.word[run->sent];
}

/* Whether the tested model comes back to where it is without having changed anything. */
static bool spins(const struct run *run)
{
    struct afuc_model m = run->model[run->tested], then = m;
    for (unsigned i = 0; i < 70000 && !m.stop; i++) {
        afuc_model_tick(&m);
        if (!memcmp(&m, &then, sizeof(m)))
            return true;
    }
    return false;
}

/* Tick by tick, which makes the models' state for the other ways. */
static void step(struct run *run)
{
    while (run->ticks < run->p->ticks && !run->bad) {
        uint64_t clock = run->engine->clock;
        enum cps_stop stop = cps_engine_run(run->engine, 1);
        if (run->engine->clock != clock + 1) {
            if (stop != CPS_STOP_DEADLOCK || !spins(run))
                differs(run, "stop", stop, clock + 1, run->engine->clock);
            break;
        }
        tick_model(run, run->engine->ran_core);
        compare_core(run, run->engine->ran_core);
    }
    run->limit = run->engine->clock;
}

/* As far as tick by tick; the models are there already. */
static void go(struct run *run)
{
    struct cps_engine *copy;
    uint64_t left = run->limit;
    for (uint64_t i = 1; run->way == CUT && left > i; i += 3) {
        if (i == 4) {
            if (cps_engine_clone(run->engine, &copy))
                abort();
            cps_engine_destroy(run->engine);
            run->engine = copy;
        }
        cps_engine_run(run->engine, i);
        left -= i;
    }
    if (left)
        cps_engine_run(run->engine, left);
    same(run, "ticks", 0, run->limit, run->engine->clock);
}

static void look(struct run *run)
{
    uint32_t kinds = ALL_EVENTS;
    if (run->way == TOLD)
        kinds &= ~(1u << CPS_EV_STEP | 1u << CPS_EV_STEPX);
    if (run->way == WATCHED || run->way == TOLD || run->way == ALL)
        cps_engine_sink(run->engine, &run->sink, kinds);
    run->log = (struct cps_edge_log){.edge = run->edge, .room = MOST_EDGES};
    if (run->way == LOGGED)
        cps_afuc_log(cps_afuc_of(run->engine), &run->log);
    if (run->way == COUNTED)
        cps_engine_cover(run->engine, run->tested, run->count, AFUC_IMAGE + 1);
    if (run->way == ORIGINS) {
        if (origin_create_(cps_afuc_of(run->engine), 0, &run->origin))
            abort();
        cps_engine_sink(run->engine, origin_sink_(run->origin), ORIGIN_KINDS);
    }
}

static void compare_told(struct run *run)
{
    cps_tap_flush_(&run->engine->tap);
    if (run->way == WATCHED || run->way == TOLD || run->way == ALL)
        same(run, "number of writes", 0, run->model[run->tested].writes, run->told);
    for (unsigned i = 0; i < AFUC_IMAGE && run->way == COUNTED; i++)
        same(run, "executions of", i, run->counted[i], run->count[i].run);
}

/* The engine is once more as it was, and nobody looks. */
static void rewind_engine(struct run *run)
{
    cps_engine_sink(run->engine, NULL, 0);
    cps_engine_cover(run->engine, run->tested, NULL, 0);
    cps_afuc_log(cps_afuc_of(run->engine), NULL);
    origin_destroy_(run->origin);
    run->origin = NULL;
    run->told = 0;
    if (cps_engine_restore(&run->engine, run->begin))
        abort();
}

/* One way; false if it differs. */
static bool check_way(struct run *run, enum way way)
{
    run->way = way;
    look(run);
    if (way == STEPPED || way == WATCHED)
        step(run);
    else
        go(run);
    compare_all(run);
    compare_told(run);
    programs[run->p->kind][way]++;
    return !run->bad;
}

/* All ways of one program; false if one differs. The last one leaves another engine. */
static bool check(struct afuc_program *p, uint64_t seed)
{
    struct run *run;
    bool good;
    afuc_program_make(p, (enum afuc_kind)(seed % AFUC_KINDS), seed);
    run = begin(p);
    seen.left = 0;
    good = check_way(run, seed / AFUC_KINDS % 2 ? STEPPED : WATCHED);
    ticks[p->kind] += run->ticks;
    for (unsigned way = WHOLE; good && way < WAYS; way++) {
        rewind_engine(run);
        good = check_way(run, (enum way)way);
    }
    cps_engine_sink(run->engine, NULL, 0);
    origin_destroy_(run->origin);
    end(run);
    return good;
}

static void summary(void)
{
    for (unsigned kind = 0; kind < AFUC_KINDS; kind++) {
        printf("# %s: %" PRIu64 " ticks", afuc_kind_name(kind), ticks[kind]);
        for (unsigned way = 0; way < WAYS; way++)
            printf(", %s %" PRIu64, way_name[way], programs[kind][way]);
        printf("\n");
    }
}

int main(int argc, char **argv)
{
    uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : PROGRAMS;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
    struct afuc_program *p = calloc(1, sizeof(*p));
    bool good;
    if (!p)
        abort();
    printf("1..1\n");
    for (uint64_t n = 0; n < count; n++) {
        if (check(p, seed + n))
            continue;
        printf("not ok 1 - model\n");
        free(p);
        return 1;
    }
    summary();
    good = (afuc_seen_all(&seen) || count < ENOUGH) && count;
    printf("%sok 1 - %" PRIu64 " programs on the engine as on the model\n", good ? "" : "not ",
           count);
    free(p);
    return good ? 0 : 1;
}
