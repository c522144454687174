/* SPDX-License-Identifier: MIT
 * Real firmware that waits for memory, with waits=registers: the engine stops and says what it
 * waits for; once the word is written it goes on, and what it did then is what it does where memory
 * had the word at once. */
#include <stdio.h>
#include <stdlib.h>

#include "cpscope.h"
#include "isa/base/pm4.h"
#include "tests/lib/engine_bench.h"

enum { FRAME = 0x100000, WORD = 0x200000, RESULT = 0x201000, GPU_NUMBERS = 0x40000 };
enum { WRITES = 1 << 16 };
#define G56 (CPS_GEN_BIT(A5XX) | CPS_GEN_BIT(A6XX))
#define G78 (CPS_GEN_BIT(A7XX) | CPS_GEN_BIT(A8XX))

static const char *const images[][2] = {{"a530_pfp-08a.fw", "a530_pm4.fw"},
                                        {"a630_sqe-207.fw"},
                                        {"a650_sqe-112.fw"},
                                        {"a660_sqe-112.fw"},
                                        {"a730_sqe-142.fw"},
                                        {"a740_sqe-158.fw"},
                                        {"gen70900_sqe-181.fw"},
                                        {"gen80000_sqe-077.fw"},
                                        {"gen80100_sqe-100.fw"}};

/* A packet that waits while the words are 4 0 5 0, also while the first is 3, and how it ends. */
static const struct wait {
    const char *name;
    uint32_t gens, opcode, count, words[6], end;
} waits[] = {
    {"CP_WAIT_REG_MEM", G56 | G78, 0x3c, 6, {3 | 1 << 4, WORD, 0, 5, UINT32_MAX, 16}, 5},
    {"CP_WAIT_MEM_GTE", G56, 0x14, 4, {0, WORD, 0, 5}, 5},
    {"CP_WAIT_TIMESTAMP", G78, 0x14, 4, {0, WORD, 0, 5}, 6},
    {"CP_WAIT_TIMESTAMP of 64 bits", G78, 0x14, 5, {1, WORD, 0, 5, 0}, 6},
    {"CP_TEST_TWO_MEMS", G56, 0x71, 5, {WORD, 0, WORD + 8, 0, 5}, 0},
};

/* What a run did to the world: events in order, those of each processor for itself. */
struct log {
    struct cps_sink sink; /* first */
    size_t count[CPS_CPU_COUNT];
    struct cps_event *event[CPS_CPU_COUNT];
};

/* What the firmware's own loop writes comes once for each time: the aperture, and what the ME of
 * a5xx reads memory with. */
enum { ME_READ = 0x80d, ME_READ_DWORDS = 0x80f };

static void put(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct log *log = (struct log *)sink;
    for (size_t i = 0; i < count; i++) {
        unsigned who = cps_event_who(&events[i]);
        bool loop = cps_event_kind(&events[i]) == CPS_EV_REG &&
                    (cps_event_sub(&events[i]) == CPS_PATH_CTRL ||
                     (events[i].addr >= ME_READ && events[i].addr <= ME_READ_DWORDS));
        if (!loop && log->count[who] < WRITES)
            log->event[who][log->count[who]++] = events[i];
    }
}

static void feed(struct cps_engine *engine, const struct cps_item *item)
{
    struct cps_err *err = cps_engine_feed(engine, item);
    if (err)
        printf("Bail out! %s\n", err->message);
    cps_err_free(err);
}

static void load(struct cps_engine *engine, uint64_t iova, const uint32_t *words, size_t count)
{
    const struct cps_item item = {
        .kind = CPS_ITEM_DATA,
        .buffer = {.iova = iova, .size = 4 * count, .data = (const uint8_t *)words}};
    feed(engine, &item);
}

/* A register before the packet, one after it, and a word of memory. */
static uint32_t frame(const struct wait *wait, bool a5xx, uint32_t *words)
{
    const uint32_t scratch = a5xx ? 0xb78 : 0x883;
    uint32_t n = 0;
    words[n++] = cps_pm4_type4(scratch, 1);
    words[n++] = 0x11;
    words[n++] = cps_pm4_type7(wait->opcode, wait->count);
    for (uint32_t i = 0; i < wait->count; i++)
        words[n++] = wait->words[i];
    words[n++] = cps_pm4_type4(scratch + 1, 1);
    words[n++] = 0x22;
    words[n++] = cps_pm4_type7(0x3d, 3);
    words[n++] = RESULT;
    words[n++] = 0;
    words[n++] = 0x77;
    return n;
}

static struct cps_engine *start(const struct cps_fw *fw, const struct cps_fw *me, struct log *log)
{
    struct cps_engine *engine = NULL;
    struct cps_config config = {.policy = cps_policy_default()};
    cps_config_firmware(&config, fw, me);
    config.policy.waits = CPS_WAITS_REGISTERS;
    if (cps_engine_create(&config, &engine) || cps_engine_boot(engine, 1000000) != CPS_STOP_IDLE)
        abort();
    log->sink.put = put;
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++)
        log->event[who] = calloc(WRITES, sizeof(**log->event));
    cps_engine_sink(engine, &log->sink,
                    1u << CPS_EV_PKT | 1u << CPS_EV_REG | 1u << CPS_EV_MEMW | 1u << CPS_EV_IRQ);
    return engine;
}

static void submit(struct cps_engine *engine, const struct wait *wait, uint32_t first)
{
    uint32_t words[32] = {0};
    const uint32_t memory[4] = {first, 0, 5, 0};
    const struct cps_item item = {
        .kind = CPS_ITEM_SUBMIT,
        .stream = {.iova = FRAME, .dwords = frame(wait, engine->gen == CPS_A5XX, words)}};
    load(engine, FRAME, words, item.stream.dwords);
    load(engine, WORD, memory, 4);
    load(engine, RESULT, (const uint32_t[]){0}, 1);
    feed(engine, &item);
}

/* @return NULL, or what is wrong */
static const char *check_stop(struct cps_engine *engine, const struct wait *wait, uint32_t value)
{
    struct cps_wait found;
    enum cps_stop stop = cps_engine_run(engine, 10000000);
    if (stop != CPS_STOP_DEADLOCK || !cps_engine_waits_for(engine, stop, &found))
        return "does not stop";
    if (found.what != CPS_WAIT_MEMORY || found.address != WORD || found.value != value)
        return "waits for another place";
    if (found.header != cps_pm4_type7(wait->opcode, wait->count) || found.reference != 5 ||
        !found.function)
        return "does not say how the wait ends";
    return machine_memory(engine, RESULT, NULL) ? "has gone on" : NULL;
}

static const char *run_late(struct cps_engine *engine, const struct wait *wait)
{
    submit(engine, wait, 4);
    const char *wrong = check_stop(engine, wait, 4);
    load(engine, WORD, (const uint32_t[]){3}, 1);
    wrong = wrong ? wrong : check_stop(engine, wait, 3);
    load(engine, WORD, &wait->end, 1);
    return wrong                                               ? wrong
           : cps_engine_run(engine, 10000000) != CPS_STOP_IDLE ? "does not go on"
                                                               : NULL;
}

static const char *compare(struct cps_engine *late, struct cps_engine *soon, const struct log *a,
                           const struct log *b)
{
    if (machine_memory(late, RESULT, NULL) != 0x77)
        return "has not executed the rest";
    for (unsigned who = 0; who < CPS_CPU_COUNT; who++) {
        if (a->count[who] != b->count[who] ||
            memcmp(a->event[who], b->event[who], a->count[who] * sizeof(**a->event)) != 0)
            return "does not do the same";
    }
    for (unsigned core = 0; core < late->cores; core++) {
        for (uint32_t n = 0; n < GPU_NUMBERS; n++) {
            if (machine_value(late, core, CPS_FILE_REGISTER, n) !=
                machine_value(soon, core, CPS_FILE_REGISTER, n))
                return "leaves other registers";
        }
        if (cps_engine_where(late, core).pc != cps_engine_where(soon, core).pc)
            return "is elsewhere";
    }
    return NULL;
}

static const char *try(const struct cps_fw *fw, const struct cps_fw *me, const struct wait *wait)
{
    struct log log[2] = {0};
    struct cps_engine *late = start(fw, me, &log[0]);
    struct cps_engine *soon = start(fw, me, &log[1]);
    const char *wrong = run_late(late, wait);
    submit(soon, wait, wait->end);
    if (!wrong && cps_engine_run(soon, 10000000) != CPS_STOP_IDLE)
        wrong = "waits though the word is there";
    if (!wrong)
        wrong = compare(late, soon, &log[0], &log[1]);
    cps_engine_destroy(late);
    cps_engine_destroy(soon);
    for (unsigned i = 0; i < 2 * CPS_CPU_COUNT; i++)
        free(log[i % 2].event[i / 2]);
    return wrong;
}

static struct cps_fw *open_image(const char *directory, const char *name)
{
    CPS_BUF path = {0};
    struct cps_fw *fw = NULL;
    cps_buf_printf(&path, "%s/firmware/%s", directory, name);
    struct cps_err *err = cps_fw_load(cps_buf_text(&path), 0, &fw);
    if (err)
        printf("Bail out! %s\n", err->message);
    cps_err_free(err);
    return fw;
}

int main(void)
{
    const char *directory = getenv("CPSCOPE_CORPUS");
    unsigned count = 0, bad = 0;
    if (!directory) {
        printf("1..0 # SKIP CPSCOPE_CORPUS is not set\n");
        return 0;
    }
    for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++) {
        struct cps_fw *fw = open_image(directory, images[i][0]);
        struct cps_fw *me = fw && images[i][1] ? open_image(directory, images[i][1]) : NULL;
        for (size_t w = 0; fw && w < sizeof(waits) / sizeof(waits[0]); w++) {
            if (!(waits[w].gens & cps_gen_bit(fw->gen)))
                continue;
            const char *wrong = try(fw, me, &waits[w]);
            printf("%sok %u - %s resumes in %s\n", wrong ? "not " : "", ++count, images[i][0],
                   waits[w].name);
            if (wrong)
                printf("# it %s\n", wrong);
            bad += wrong != NULL;
        }
        cps_fw_destroy(fw);
        cps_fw_destroy(me);
    }
    printf("1..%u\n", count);
    return bad != 0;
}
