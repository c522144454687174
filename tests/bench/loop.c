/* SPDX-License-Identifier: MIT
 * The interpreter without files: a loop of general registers, and register writes through the demo
 * firmware, each next to the same work in plain C. */
#include "tests/bench/bench.h"

#include "isa/base/pm4.h"

/* The six-instruction loop, counted down from $02. */
static const char alu_source[] = "[016ee001]\n[01000000]\n"
                                 "mov $02, 0x0400 << 16\n"
                                 "loop:\n"
                                 "add $03, $03, $02\n"
                                 "xor $04, $04, $03\n"
                                 "and $05, $04, 0xff\n"
                                 "sub $02, $02, 0x1\n"
                                 "brne $02, 0x0, #loop\n"
                                 "rot $06, $03, 0x5\n"
                                 "done:\n"
                                 "waitin\n"
                                 "mov $01, $data\n";
#define ALU_TURNS 0x04000000u

static struct cps_err *alu_machine(struct cps_engine **ret)
{
    struct cps_asm program = {0};
    CPS_TRY(cps_assemble("alu-loop", alu_source, sizeof(alu_source) - 1, CPS_A6XX, &program));
    struct cps_config config = {
        .gen = CPS_A6XX,
        .layout = CPS_LAYOUT_A6XX,
        .words = program.words + 1,
        .count = program.count - 1,
        .image = {{CPS_CPU_SQE, 0}},
        .image_count = 1,
    };
    struct cps_err *err = cps_engine_create(&config, ret);
    free(program.words);
    return err;
}

double bench_alu(struct bench *bench)
{
    (void)bench;
    struct cps_engine *machine = NULL;
    double rate = 0;
    struct cps_err *err = alu_machine(&machine);
    double start = bench_cpu();
    if (!err && cps_engine_run(machine, UINT64_MAX) == CPS_STOP_IDLE)
        rate = bench_rate((double)machine->instructions, bench_cpu() - start);
    cps_engine_destroy(machine);
    cps_err_free(err);
    return rate;
}

/* The same loop in C. It keeps what the processor has after each turn, the carry of `sub` included.
 */
double bench_alu_native(struct bench *bench)
{
    (void)bench;
    uint32_t a = 0, b = 0, c = 0, d = 0, carry = 0;
    double start = bench_cpu();
    for (uint32_t n = ALU_TURNS; n;) {
        a += n;
        b ^= a;
        c = b & 0xff;
        uint64_t wide = (uint64_t)n - 1;
        n = (uint32_t)wide;
        carry = (uint32_t)(wide >> 32);
        d = a << 5 | a >> 27;
        CPS_KEEP(c);
        CPS_KEEP(d);
        CPS_KEEP(carry);
    }
    CPS_KEEP(b);
    return bench_rate(6.0 * ALU_TURNS, bench_cpu() - start);
}

#define STREAM_IOVA   UINT64_C(0x100000)
#define STREAM_WRITES 960000u
#define FIRST_REG     0x8800u

/* An IB of type-4 packets of @p count registers each, as bytes of this machine's order. */
static uint32_t *make_stream(uint32_t count, uint32_t *dwords)
{
    uint32_t packets = STREAM_WRITES / count;
    uint32_t *words = malloc(4u * packets * (count + 1));
    *dwords = 0;
    for (uint32_t p = 0; words && p < packets; p++) {
        words[(*dwords)++] = cps_pm4_type4(FIRST_REG, count);
        for (uint32_t i = 0; i < count; i++)
            words[(*dwords)++] = p + i;
    }
    return words;
}

static void drop(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    (void)sink;
    (void)events;
    (void)count;
}

/* A buffer's contents, and a stream in it to run. */
static struct cps_err *load(struct cps_engine *engine, const void *words, uint32_t dwords)
{
    const struct cps_item data = {
        .kind = CPS_ITEM_DATA,
        .buffer = {.iova = STREAM_IOVA, .size = 4 * (uint64_t)dwords, .data = words}};
    return cps_engine_feed(engine, &data);
}

static void submit(struct cps_engine *engine, uint32_t at, uint32_t dwords)
{
    const struct cps_item submit = {
        .kind = CPS_ITEM_SUBMIT,
        .stream = {.iova = STREAM_IOVA + 4 * (uint64_t)at, .dwords = dwords}};
    cps_err_free(cps_engine_feed(engine, &submit));
    cps_engine_run(engine, UINT64_MAX);
}

/* Submits the stream in pieces that an IB can hold and returns register writes per second. */
static double measure_writes(struct play *play, uint32_t count)
{
    struct cps_sink sink = {drop};
    uint32_t dwords = 0;
    CPS_FREE uint32_t *words = make_stream(count, &dwords);
    struct cps_err *err = words ? load(play->engine, words, dwords) : cps_err_nomem();
    if (err) {
        cps_err_free(err);
        return 0;
    }
    uint32_t piece = 0x80000 / (count + 1) * (count + 1);
    cps_engine_sink(play->engine, &sink, 1u << CPS_EV_REG);
    uint64_t before = play->engine->tap.count[CPS_EV_REG];
    double start = bench_cpu();
    for (uint32_t at = 0; at < dwords; at += piece)
        submit(play->engine, at, dwords - at < piece ? dwords - at : piece);
    double seconds = bench_cpu() - start;
    play_watch(play);
    return bench_rate((double)(play->engine->tap.count[CPS_EV_REG] - before), seconds);
}

double bench_writes_60(struct bench *bench)
{
    return measure_writes(&bench->play, 60);
}

double bench_writes_2(struct bench *bench)
{
    return measure_writes(&bench->play, 2);
}

/* What a register write leaves behind, no larger than it has to be. */
struct record {
    uint32_t header, value;
    uint64_t reg;
};

/* The least that the same work needs: read a header, store each register and a record. */
static double native_writes(uint32_t count)
{
    static uint32_t regs[0x10000];
    static struct record records[4096];
    uint32_t dwords = 0;
    size_t at = 0;
    CPS_FREE uint32_t *words = make_stream(count, &dwords);
    double start = bench_cpu();
    for (uint32_t i = 0; words && i < dwords;) {
        uint32_t header = words[i++];
        uint32_t reg = header >> 8 & 0x3ffff;
        for (uint32_t n = header & 0x7f; n; n--, reg++) {
            regs[reg & 0xffff] = words[i];
            records[at++ % 4096] = (struct record){header, words[i++], reg};
        }
    }
    uint32_t *keep = regs;
    struct record *keep_records = records;
    CPS_KEEP(keep);
    CPS_KEEP(keep_records);
    return bench_rate((double)at, bench_cpu() - start);
}

double bench_native_60(struct bench *bench)
{
    (void)bench;
    return native_writes(60);
}

double bench_native_2(struct bench *bench)
{
    (void)bench;
    return native_writes(2);
}
