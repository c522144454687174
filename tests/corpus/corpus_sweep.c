/* SPDX-License-Identifier: MIT
 * Real firmware leaves a stream at every packet for another ring, as the kernel's driver asks for
 * it, and comes back: what the stream does, and what is there at its end, is compared with the run
 * that nobody disturbed. The other ring turns around all registers that the stream has written.
 *
 * Usage: corpus_sweep LIST [whole | FIRMWARE CAPTURE [STEP]]
 * LIST, tests/corpus/sweep.tsv, has what may differ, and why. Without more, every 40th packet of
 * some captures; `whole`: every packet of all of them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpscope.h"
#include "emu/afuc/control/control.h"
#include "isa/base/pm4.h"
#include "tests/lib/engine_bench.h"
#include "tests/corpus/sweep_list.h"
#include "trace/capture/capture.h"

/* Where the other ring's stream lies, and what it writes. */
#define HIGH      UINT64_C(0x0001ffe000000000)
#define HIGH_WORD UINT64_C(0x0001ffe010000000)
/* The driver's: rings, records and, from CPS_AFUC_KERNEL on, what it shares with the firmware. */
#define DRIVER_BEGIN UINT64_C(0x0001fffff8000000)
#define RINGS_BEGIN  UINT64_C(0x0001fffff8100000)
#define RINGS_END    UINT64_C(0x0001fffff9000000)
enum { MOST_EVENTS = 1 << 22, MOST_TICKS = 1 << 24, SLICE = 1 << 20, MOST_REFUSALS = 64 };
enum { HEADER_PREEMPT = 0x708f8000 };

/* ---- what a stream does ---- */

struct record {
    size_t count[CPS_CPU_COUNT];
    struct cps_event *event[CPS_CPU_COUNT];
};

/* Takes the events of a run, and keeps those of the stream: packets, registers, memory, interrupts;
 * not what the routine does, nor what the other ring does. */
struct log {
    struct cps_sink sink; /* first */
    uint32_t cookie;      /* the control register that ends the routine with 0 */
    struct record *keep;  /* of the run that nobody disturbs */
    const struct record *want, *shifted;
    size_t at[CPS_CPU_COUNT];
    bool inside[CPS_CPU_COUNT], away[CPS_CPU_COUNT], lost[CPS_CPU_COUNT];
    /* It was left before its first packet: CP_SET_PSEUDO_REG does more if another ring was there,
     * so what comes before the first packet of the stream is not compared. */
    bool begins[CPS_CPU_COUNT];
};

/* What some firmware keeps up to date in the record, in between; the NRT's address leads there. */
static bool is_record(const struct cps_event *event)
{
    enum { NRT_FIRST = 0xa0, NRT_LAST = 0xa3 };
    if (cps_event_kind(event) == CPS_EV_PIPE)
        return event->addr >= NRT_FIRST && event->addr <= NRT_LAST;
    return cps_event_kind(event) == CPS_EV_MEMW && event->addr >= RINGS_END &&
           event->addr < CPS_AFUC_KERNEL;
}

static bool is_own(struct log *log, const struct cps_event *event)
{
    unsigned who = cps_event_who(event);
    unsigned kind = cps_event_kind(event);
    if (kind == CPS_EV_PKT && event->value == HEADER_PREEMPT &&
        cps_event_sub(event) == CPS_LEVEL_INT) {
        log->inside[who] = true;
        log->away[who] = false;
    } else if (kind == CPS_EV_PKT && cps_event_sub(event) == CPS_LEVEL_RB) {
        log->away[who] = event->addr >= RINGS_BEGIN && event->addr < RINGS_END;
    }
    bool own = !log->inside[who] && !log->away[who] && kind != CPS_EV_CTRL && who != CPS_CPU_LPAC &&
               !is_record(event);
    if (kind == CPS_EV_CTRL && event->addr == log->cookie && !event->value)
        log->inside[who] = false;
    return own;
}

static bool is_stream(const struct cps_event *event)
{
    return cps_event_kind(event) == CPS_EV_PKT && cps_event_sub(event) == CPS_LEVEL_IB1;
}

static void compare(struct log *log, unsigned who, const struct cps_event *event)
{
    if (log->begins[who] && !is_stream(event))
        return;
    while (log->begins[who] && log->at[who] < log->want->count[who] &&
           !is_stream(&log->want->event[who][log->at[who]]))
        log->at[who]++;
    log->begins[who] = false;
    size_t at = log->at[who]++;
    const struct cps_event *want = at < log->want->count[who] ? &log->want->event[who][at] : NULL;
    /* the packet that was put off may be taken by another instruction */
    bool same = want && (uint32_t)want->head == (uint32_t)event->head && want->addr == event->addr;
    if (log->lost[who] || (same && want->value == event->value))
        return;
    if (!same) {
        sweep_differ(IN_ORDER, who, want ? want->addr : event->addr, want ? want->value : 0,
                     event->value);
        log->lost[who] = true;
    } else if (log->shifted->event[who][at].value == want->value) {
        sweep_differ(cps_event_kind(event) == CPS_EV_MEMW ? IN_MEMORY : IN_VALUE, who,
                     cps_event_place(event), want->value, event->value);
    }
}

static void put(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct log *log = (struct log *)sink;
    for (size_t i = 0; i < count; i++) {
        unsigned who = cps_event_who(&events[i]);
        if (!is_own(log, &events[i]))
            continue;
        if (!log->keep)
            compare(log, who, &events[i]);
        else if (log->keep->count[who] < MOST_EVENTS)
            log->keep->event[who][log->keep->count[who]++] = events[i];
    }
}

static void listen_to(struct cps_engine *engine, struct log *log)
{
    const uint32_t kinds = 1u << CPS_EV_PKT | 1u << CPS_EV_REG | 1u << CPS_EV_PIPE |
                           1u << CPS_EV_MEMW | 1u << CPS_EV_IRQ | 1u << CPS_EV_CTRL |
                           1u << CPS_EV_LAUNCH;
    struct cps_afuc *machine = cps_afuc_of(engine);
    log->sink.put = put;
    log->cookie = afuc_control_number_(&machine->core[0], CTL_PREEMPT_COOKIE);
    cps_engine_sink(engine, &log->sink, kinds);
}

/* ---- a firmware and a capture ---- */

struct sweep {
    struct cps_item_sink sink; /* first */
    const char *name;
    struct cps_engine *base;    /* before the submission */
    struct cps_engine *shifted; /* the same with another clock: what differs comes from it alone */
    struct record plain, late;
    uint32_t step; /* of positions */
    uint32_t submission, seqno, endless;
    uint32_t positions, switched;
};

static void check(struct cps_err *err)
{
    if (!err)
        return;
    printf("Bail out! %s\n", err->message);
    exit(1);
}

static struct cps_engine *clone(struct cps_engine *engine)
{
    struct cps_engine *copy = NULL;
    check(cps_engine_clone(engine, &copy));
    return copy;
}

static enum cps_stop run_to_end(struct cps_engine *engine)
{
    return cps_engine_run(engine, MOST_TICKS);
}

static void submit(struct cps_engine *engine, const struct cps_item *stream, uint32_t seqno)
{
    const struct cps_item fence = {
        .kind = CPS_ITEM_FENCE,
        .fence = {.seqno = seqno, .context = stream->stream.context, .ring = stream->stream.ring}};
    check(cps_engine_feed(engine, stream));
    check(cps_engine_feed(engine, &fence));
}

/* Registers that only hold what is written: those of the clusters that start nothing. Not
 * CP_SCRATCH, which no list of the firmware has: what a stream leaves there for its next packet is
 * lost at that place (vkt-geo: a word of memory, at one position). */
static bool is_state(uint32_t reg)
{
    static const uint16_t acts[] = {0x9840, 0x9841, 0x9842, 0x9880, 0x9c00, 0x9c01};
    bool acting = false;
    for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++)
        acting |= acts[i] == reg;
    return reg >= 0x8000 && reg < 0xc000 && !acting;
}

/* What the other ring does: all that the stream has written has another value, other groups are
 * there, modes are set. @return dwords */
static uint32_t make_high(const struct sweep *sweep, uint32_t *words, uint32_t room)
{
    static uint8_t seen[GPU_REGS];
    uint32_t n = 0;
    memset(seen, 0, sizeof(seen));
    const struct cps_event *event = sweep->plain.event[CPS_CPU_SQE];
    for (size_t i = 0; i < sweep->plain.count[CPS_CPU_SQE] && n + 64 < room; i++) {
        uint32_t reg = (uint32_t)cps_event_place(&event[i]);
        if (cps_event_kind(&event[i]) != CPS_EV_REG || reg >= GPU_REGS || seen[reg] ||
            !is_state(reg))
            continue;
        seen[reg] = 1;
        words[n++] = cps_pm4_type4(reg, 1);
        words[n++] = ~event[i].value;
    }
    const uint32_t rest[] = {
        cps_pm4_type7(0x63, 1),
        1, /* CP_SET_MODE */
        cps_pm4_type7(0x64, 1),
        1, /* CP_SET_VISIBILITY_OVERRIDE */
        cps_pm4_type7(0x43, 3),
        0x00040000,
        0,
        0, /* CP_SET_DRAW_STATE: none */
        cps_pm4_type7(0x3d, 3),
        (uint32_t)HIGH_WORD,
        (uint32_t)(HIGH_WORD >> 32),
        0x600d,
    };
    memcpy(words + n, rest, sizeof(rest));
    return n + (uint32_t)(sizeof(rest) / 4);
}

/* As the device does: asks until the firmware has switched. @return NULL, or what is wrong */
static const char *switch_to(struct cps_engine *engine, unsigned ring, bool whole)
{
    struct cps_afuc *machine = cps_afuc_of(engine);
    bool within = false;
    for (unsigned refused = 0; refused < MOST_REFUSALS; refused++) {
        uint64_t from = engine->clock;
        if (!cps_afuc_switch(machine, ring, within))
            return "the firmware takes no request";
        while (cps_afuc_switches(machine)) {
            enum cps_stop stop = cps_engine_run(engine, 64);
            if (stop == CPS_STOP_DEADLOCK && !within)
                within = cps_afuc_switch(machine, ring, true);
            else if (stop != CPS_STOP_BUDGET && cps_afuc_switches(machine))
                return stop == CPS_STOP_IDLE ? "the firmware forgets the request"
                                             : "the firmware stops in the routine";
            if (engine->clock - from > MOST_TICKS)
                return "the firmware never ends the routine";
        }
        if (cps_afuc_ring(machine) == ring) {
            enum cps_stop stop = run_to_end(engine);
            return stop == CPS_STOP_IDLE || !whole ? NULL : "what comes after it stops";
        }
    }
    return "the firmware refuses";
}

/* Whether the stream has packets behind @p at, or the driver's last ones are what is left: a
 * processor that has come so far begins with a fresh context (F). */
static bool has_more(const struct record *plain, const size_t *at, unsigned who)
{
    for (size_t i = at[who]; i < plain->count[who]; i++) {
        const struct cps_event *event = &plain->event[who][i];
        if (cps_event_kind(event) == CPS_EV_PKT && cps_event_sub(event) != CPS_LEVEL_RB)
            return true;
    }
    return false;
}

static void compare_registers(struct cps_engine *cut, struct cps_engine *plain,
                              struct cps_engine *shifted)
{
    struct cps_afuc *a = cps_afuc_of(plain), *b = cps_afuc_of(cut), *c = cps_afuc_of(shifted);
    for (uint32_t i = 0; i < GPU_REGS; i += REG_BLOCK) {
        if (!memcmp(&a->reg[i], &b->reg[i], REG_BLOCK * sizeof(a->reg[0])))
            continue;
        for (uint32_t n = i; n < i + REG_BLOCK; n++) {
            if (a->reg[n] != b->reg[n] && a->reg[n] == c->reg[n])
                sweep_differ(AT_END, 0, n, a->reg[n], b->reg[n]);
        }
    }
}

/* Of BV; what it has not written reads as BR's. */
static void compare_banks(struct cps_engine *cut, struct cps_engine *plain,
                          struct cps_engine *shifted)
{
    struct cps_afuc *a = cps_afuc_of(plain), *b = cps_afuc_of(cut), *c = cps_afuc_of(shifted);
    unsigned pipe = bank_pipe_(CPS_CPU_BV);
    for (uint32_t n = 0; a->bank[pipe] && n < BANK_CLUSTER_REGS; n++) {
        uint32_t want = bank_get_(a, pipe, BANK_CLUSTERS + n);
        uint32_t got = bank_get_(b, pipe, BANK_CLUSTERS + n);
        if (a->bank[pipe]->written[n] && want != got &&
            want == bank_get_(c, pipe, BANK_CLUSTERS + n))
            sweep_differ(AT_PIPE, pipe, BANK_CLUSTERS + n, want, got);
    }
}

static void compare_memory(const struct sweep *sweep, struct cps_engine *cut,
                           struct cps_engine *plain, struct cps_engine *shifted)
{
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        for (size_t i = 0; i < sweep->plain.count[who]; i++) {
            const struct cps_event *event = &sweep->plain.event[who][i];
            if (cps_event_kind(event) != CPS_EV_MEMW)
                continue;
            uint32_t want = machine_memory(plain, event->addr, NULL);
            uint32_t got = machine_memory(cut, event->addr, NULL);
            if (want != got && want == machine_memory(shifted, event->addr, NULL))
                sweep_differ(IN_MEMORY, who, event->addr, want, got);
        }
    }
}

/* The run is left where @p at is, and taken up again. */
static void disturb(struct sweep *sweep, struct cps_engine *at, const struct log *so_far,
                    const struct cps_item *high, struct cps_engine *plain,
                    struct cps_engine *shifted)
{
    struct cps_engine *cut = clone(at);
    struct log log = *so_far;
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++)
        log.begins[who] = !sweep_position;
    listen_to(cut, &log);
    submit(cut, high, 1);
    const char *wrong = switch_to(cut, 1, true);
    bool left = machine_memory(cut, HIGH_WORD, NULL) == 0x600d;
    if (!wrong && !left)
        wrong = "the other ring does nothing";
    wrong = wrong ? wrong : switch_to(cut, 0, true);
    cps_tap_flush_(&cut->tap);
    sweep->switched += left;
    if (wrong) {
        CPS_BUF why = {0};
        cps_engine_explain(cut, CPS_STOP_DEADLOCK, &why);
        printf("# %s, submission %u, position %u: %s: %s\n", sweep->name, sweep->submission,
               sweep_position, wrong, cps_buf_text(&why));
        sweep_differ(HANG, 0, 0, 0, 0);
    } else {
        for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
            if (!log.lost[who] && log.at[who] != log.want->count[who])
                sweep_differ(IN_ORDER, who, log.at[who], log.want->count[who], 0);
        }
        compare_memory(sweep, cut, plain, shifted);
        if (has_more(&sweep->plain, so_far->at, CPS_CPU_SQE))
            compare_registers(cut, plain, shifted);
        if (has_more(&sweep->plain, so_far->at, CPS_CPU_BV))
            compare_banks(cut, plain, shifted);
    }
    sweep->positions++;
    cps_engine_destroy(cut);
}

static struct cps_engine *run_plain(struct cps_engine *base, const struct cps_item *stream,
                                    uint32_t seqno, struct record *keep)
{
    struct cps_engine *engine = clone(base);
    struct log log = {.keep = keep};
    memset(keep->count, 0, sizeof(keep->count));
    listen_to(engine, &log);
    submit(engine, stream, seqno);
    enum cps_stop stop = run_to_end(engine);
    cps_engine_sink(engine, NULL, 0);
    if (stop == CPS_STOP_IDLE)
        return engine;
    cps_engine_destroy(engine);
    return NULL;
}

static void sweep_submission(struct sweep *sweep, const struct cps_item *stream)
{
    static uint32_t words[1 << 16];
    uint32_t seqno = sweep->seqno + 1;
    struct cps_engine *plain = run_plain(sweep->base, stream, seqno, &sweep->plain);
    struct cps_engine *shifted = run_plain(sweep->shifted, stream, seqno, &sweep->late);
    if (!plain || !shifted) {
        printf("# %s, submission %u: does not end\n", sweep->name, sweep->submission);
        sweep->endless++;
        cps_engine_destroy(plain);
        cps_engine_destroy(shifted);
        return;
    }
    struct cps_item high = {.kind = CPS_ITEM_SUBMIT,
                            .stream = {.iova = HIGH, .context = 77, .ring = 1}};
    high.stream.dwords = make_high(sweep, words, sizeof(words) / sizeof(words[0]));
    struct cps_engine *walker = clone(sweep->base);
    const struct cps_item data = {.kind = CPS_ITEM_DATA,
                                  .buffer = {.iova = HIGH,
                                             .size = 4 * (uint64_t)high.stream.dwords,
                                             .data = (const uint8_t *)words}};
    const struct cps_item zero = {
        .kind = CPS_ITEM_DATA,
        .buffer = {.iova = HIGH_WORD, .size = 4, .data = (const uint8_t *)"\0\0\0"}};
    check(cps_engine_feed(walker, &data));
    check(cps_engine_feed(walker, &zero));
    struct log log = {.want = &sweep->plain, .shifted = &sweep->late};
    listen_to(walker, &log);
    submit(walker, stream, seqno);
    const struct cps_afuc *machine = cps_afuc_of(walker);
    uint64_t packets = machine->core[0].packets;
    uint32_t number = 0;
    enum cps_stop stop = CPS_STOP_BUDGET;
    while (stop == CPS_STOP_BUDGET) {
        if (number % sweep->step == 0) {
            cps_tap_flush_(&walker->tap);
            sweep_position = number;
            disturb(sweep, walker, &log, &high, plain, shifted);
        }
        while (stop == CPS_STOP_BUDGET && machine->core[0].packets == packets)
            stop = cps_engine_run(walker, 1);
        packets = machine->core[0].packets;
        number++;
    }
    cps_engine_destroy(walker);
    cps_engine_destroy(plain);
    cps_engine_destroy(shifted);
}

static struct cps_err *take(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct sweep *sweep = (struct sweep *)sink;
    if (item->kind == CPS_ITEM_FENCE)
        return NULL;
    if (item->kind != CPS_ITEM_SUBMIT) {
        CPS_TRY(cps_engine_feed(sweep->base, item));
        return cps_engine_feed(sweep->shifted, item);
    }
    sweep_submission(sweep, item);
    sweep->submission++;
    sweep->seqno++;
    submit(sweep->base, item, sweep->seqno);
    submit(sweep->shifted, item, sweep->seqno);
    run_to_end(sweep->base);
    run_to_end(sweep->shifted);
    return NULL;
}

static struct cps_engine *start(const struct cps_fw *fw, const char *policy)
{
    struct cps_engine *engine = NULL;
    struct cps_config config = {.policy = cps_policy_default()};
    cps_config_firmware(&config, fw, NULL);
    check(cps_policy_parse(policy, fw->gen, &config.policy));
    check(cps_engine_create(&config, &engine));
    if (cps_engine_boot(engine, 10000000) != CPS_STOP_IDLE)
        printf("# does not boot\n");
    return engine;
}

static void run_case(struct sweep *sweep, const char *firmware, const char *capture)
{
    struct cps_fw *fw = NULL;
    struct cps_stream *stream = NULL;
    check(cps_fw_load(firmware, 0, &fw));
    sweep->sink.item = take;
    sweep->base = start(fw, "ring=msm preempt=on");
    sweep->shifted = start(fw, "ring=msm preempt=on clock-start=1000000007");
    check(cps_stream_open(capture, &stream));
    check(cps_capture_read(stream, NULL, &sweep->sink));
    cps_stream_close(stream);
    cps_engine_destroy(sweep->base);
    cps_engine_destroy(sweep->shifted);
    cps_fw_destroy(fw);
}

/* ---- cases ---- */

/* The images that switch (emu/afuc/control/rings.c), and whose captures they get. */
static const struct image {
    const char *name, *chip;
} images[] = {
    {"a630_sqe-187", "a630"},     {"a630_sqe-190", "a630"},     {"a630_sqe-207", "a630"},
    {"a680_sqe", "a630"},         {"a650_sqe-089", "a650"},     {"a650_sqe-112", "a650"},
    {"a710_sqe-158", "a730"},     {"a730_sqe-142", "a730"},     {"a740_sqe", "a730"},
    {"a740_sqe-158", "a730"},     {"a740_sqe-181", "a730"},     {"gen70500_sqe-162", "a730"},
    {"gen70900_sqe-181", "a750"}, {"gen71700_sqe-179", "a750"},
};

static const struct stream {
    const char *name, *chips;
    bool always;
} streams[] = {
    {"vkt-bin", "a630 a650 a730 a750", true},
    {"vkt-comp", "a630 a650 a730 a750", false},
    {"vkt-draw", "a630 a650 a730 a750", true},
    {"vkt-geo", "a630 a650 a730 a750", true},
    {"vkt-sync", "a630 a650 a730 a750", true},
    {"vkt-sysmem", "a630 a650 a730 a750", false},
    {"vkmark-vertex", "a750", false},
    {"gl-arb_compute_shader-indirect-compute", "a630", false},
    {"gl-arb_draw_indirect-draw-elements", "a630", false},
    {"gl-arb_indirect_parameters-tf-count-arrays", "a630", false},
    {"gl-arb_pipeline_statistics_query-geom", "a630", false},
    {"gl-arb_tessellation_shader-immediate-mode-draw-patches", "a630", false},
    {"gl-arb_timer_query-timestamp-get", "a630", false},
    {"gl-ext_transform_feedback-immediate-reuse", "a630", false},
    {"gl-ext_transform_feedback-tessellation", "a630", false},
    {"gl-fbo-generatemipmap", "a630", false},
    {"gl-nv_conditional_render-clear", "a630", false},
    {"gl-occlusion_query", "a630", true},
};

static unsigned bad, count;

static void report(struct sweep *sweep)
{
    unsigned other = sweep_tell_differences(sweep->name);
    bool good = !other && sweep->positions && sweep->switched == sweep->positions;
    printf("%sok %u - %s: %u submissions left at %u positions, %u with other differences than "
           "those that are listed\n",
           good ? "" : "not ", ++count, sweep->name, sweep->submission - sweep->endless,
           sweep->positions, other);
    fflush(stdout);
    bad += !good;
}

static bool exists(const char *path)
{
    FILE *file = fopen(path, "r");
    if (file)
        fclose(file);
    return file;
}

static void sweep_image(struct sweep *sweep, const char *directory, const struct image *image)
{
    char firmware[4096], capture[4096], name[4096];
    snprintf(firmware, sizeof(firmware), "%s/firmware/%s.fw", directory, image->name);
    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
        snprintf(capture, sizeof(capture), "%s/captures/mesa-26.2/%s-%s.rd.gz", directory,
                 streams[i].name, image->chip);
        snprintf(name, sizeof(name), "%s, %s", image->name, streams[i].name);
        if ((!streams[i].always && sweep->step > 1) || !strstr(streams[i].chips, image->chip))
            continue;
        if (!exists(firmware) || !exists(capture)) {
            printf("ok %u - %s # SKIP not in CPSCOPE_CORPUS\n", ++count, name);
            continue;
        }
        sweep->name = name;
        sweep->submission = sweep->seqno = sweep->endless = 0;
        sweep->positions = sweep->switched = 0;
        run_case(sweep, firmware, capture);
        if (sweep->endless == sweep->submission)
            printf("ok %u - %s # SKIP it does not end undisturbed\n", ++count, name);
        else
            report(sweep);
    }
}

int main(int argc, char **argv)
{
    const char *directory = getenv("CPSCOPE_CORPUS");
    bool whole = argc == 3 && !strcmp(argv[2], "whole");
    struct sweep sweep = {.step = argc > 4   ? (uint32_t)strtoul(argv[4], NULL, 10)
                                  : argc > 2 ? 1
                                             : 40};
    if (argc < 2 || (argc == 3 && !whole) || !sweep.step || !sweep_read_list(argv[1])) {
        fprintf(stderr, "usage: corpus_sweep LIST [whole | FIRMWARE CAPTURE [STEP]]\n");
        return 2;
    }
    if (argc < 4 && !directory) {
        printf("1..0 # SKIP CPSCOPE_CORPUS is not set\n");
        return 0;
    }
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        sweep.plain.event[who] = calloc(MOST_EVENTS, sizeof(struct cps_event));
        sweep.late.event[who] = calloc(MOST_EVENTS, sizeof(struct cps_event));
        if (!sweep.plain.event[who] || !sweep.late.event[who])
            abort();
    }
    if (argc > 3) {
        sweep.name = argv[2];
        run_case(&sweep, argv[2], argv[3]);
        report(&sweep);
    }
    for (size_t i = 0; argc < 4 && i < sizeof(images) / sizeof(images[0]); i++)
        sweep_image(&sweep, directory, &images[i]);
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        free(sweep.plain.event[who]);
        free(sweep.late.event[who]);
    }
    sweep_free_list();
    printf("1..%u\n", count);
    return bad != 0;
}
