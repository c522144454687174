/* SPDX-License-Identifier: MIT
 * cpscope bench: how fast the emulator is, each figure next to a yardstick in plain C that runs in
 * turns with it. */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "native.h"
#include "report.h"
#include "rig.h"
#include "trace/pm4.h"

int cmd_bench(const struct cps_options *opt);

#define ROUNDS 7

/* One measured thing: work per second of the emulator and of the yardstick. */
struct figure {
    const char *name;
    const char *unit;
    double (*measure)(struct rig *rig);
    double (*yardstick)(void);
    double value[ROUNDS];
    double native[ROUNDS];
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

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

static struct cps_err *alu_machine(struct cps_machine **ret)
{
    struct cps_asm program = {0};
    CPS_TRY(cps_assemble("alu-loop", alu_source, sizeof(alu_source) - 1, CPS_A6XX, &program));
    struct cps_machine_config config = {
        .layout = CPS_LAYOUT_A6XX,
        .words = program.words + 1,
        .count = program.count - 1,
        .image = {{CPS_CPU_SQE, 0}},
        .image_count = 1,
    };
    struct cps_err *err = cps_machine_create(&config, ret);
    free(program.words);
    return err;
}

static double run_alu(bool translated)
{
    struct cps_machine *machine = NULL;
    void *native = NULL;
    double rate = 0;
    struct cps_err *err = alu_machine(&machine);
    if (!err && translated)
        err = native_open(machine, &native);
    double start = now();
    if (!err) {
        cps_machine_run(machine, UINT64_MAX);
        rate = (double)cps_machine_stats(machine)->instructions / (now() - start);
    }
    cps_machine_destroy(machine);
    native_close(native);
    cps_err_free(err);
    return rate;
}

static double measure_alu(struct rig *rig)
{
    (void)rig;
    return run_alu(false);
}

static double measure_translated(struct rig *rig)
{
    (void)rig;
    return run_alu(true);
}

/* The same loop in C. It keeps what the processor has after each turn, the carry of `sub` included.
 */
static double native_alu(void)
{
    uint32_t a = 0, b = 0, c = 0, d = 0, carry = 0;
    double start = now();
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
    return 6.0 * ALU_TURNS / (now() - start);
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

/* Submits the stream in pieces that an IB can hold and returns register writes per second. */
static double measure_writes(struct rig *rig, uint32_t count)
{
    struct cps_sink sink = {drop};
    uint32_t dwords = 0;
    CPS_FREE uint32_t *words = make_stream(count, &dwords);
    struct cps_err *err = words ? cps_machine_load(rig->machine, STREAM_IOVA,
                                                   (const uint8_t *)words, 4 * (uint64_t)dwords)
                                : cps_err_nomem();
    if (err) {
        cps_err_free(err);
        return 0;
    }
    uint32_t piece = 0x80000 / (count + 1) * (count + 1);
    cps_machine_sink(rig->machine, &sink, 1u << CPS_EV_REG);
    uint64_t before = cps_machine_stats(rig->machine)->events[CPS_EV_REG];
    double start = now();
    for (uint32_t at = 0; at < dwords; at += piece) {
        uint32_t size = dwords - at < piece ? dwords - at : piece;
        cps_machine_submit(rig->machine, 0, STREAM_IOVA + 4 * (uint64_t)at, size);
        cps_machine_run(rig->machine, UINT64_MAX);
    }
    double seconds = now() - start;
    return (double)(cps_machine_stats(rig->machine)->events[CPS_EV_REG] - before) / seconds;
}

static double measure_60(struct rig *rig)
{
    return measure_writes(rig, 60);
}

static double measure_2(struct rig *rig)
{
    return measure_writes(rig, 2);
}

/* The least that the same work needs: read a header, store each register and a record. */
static double native_writes(uint32_t count)
{
    static uint32_t regs[0x10000];
    static struct cps_event events[4096];
    uint32_t dwords = 0;
    size_t at = 0;
    CPS_FREE uint32_t *words = make_stream(count, &dwords);
    double start = now();
    for (uint32_t i = 0; words && i < dwords;) {
        uint32_t header = words[i++];
        uint32_t reg = header >> 8 & 0x3ffff;
        for (uint32_t n = header & 0x7f; n; n--, reg++) {
            regs[reg & 0xffff] = words[i];
            events[at++ % 4096] = (struct cps_event){header, words[i++], reg};
        }
    }
    uint32_t *keep = regs;
    struct cps_event *keep_events = events;
    CPS_KEEP(keep);
    CPS_KEEP(keep_events);
    return (double)at / (now() - start);
}

static double native_60(void)
{
    return native_writes(60);
}

static double native_2(void)
{
    return native_writes(2);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return (left > right) - (left < right);
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof(*values), by_value);
    return values[ROUNDS / 2];
}

static struct json_object *to_json(const struct figure *figure, double value, double yardstick)
{
    struct json_object *row = json_object_new_object();
    json_object_object_add(row, "name", json_object_new_string(figure->name));
    json_object_object_add(row, "value", json_object_new_double(value));
    json_object_object_add(row, "unit", json_object_new_string(figure->unit));
    json_object_object_add(row, "yardstick", json_object_new_double(yardstick));
    json_object_object_add(row, "ratio", json_object_new_double(value / yardstick));
    return row;
}

static void report(struct figure *figures, unsigned count, bool json)
{
    struct json_object *root = json_object_new_object();
    struct json_object *list = json_object_new_array();
    json_object_object_add(root, "figures", list);
    for (unsigned i = 0; i < count; i++) {
        double value = median(figures[i].value);
        double yardstick = median(figures[i].native);
        json_object_array_add(list, to_json(&figures[i], value, yardstick));
        if (!json)
            printf("%-20s %10.1f M%-16s yardstick %10.1f M  ratio %.4f\n", figures[i].name,
                   value * 1e-6, figures[i].unit, yardstick * 1e-6, value / yardstick);
    }
    if (json)
        puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
    json_object_put(root);
}

int cmd_bench(const struct cps_options *opt)
{
    struct figure figures[] = {
        {"alu-loop", "instructions/s", measure_alu, native_alu, {0}, {0}},
        {"alu-loop-translated", "instructions/s", measure_translated, native_alu, {0}, {0}},
        {"reg-write-60", "writes/s", measure_60, native_60, {0}, {0}},
        {"reg-write-2", "writes/s", measure_2, native_2, {0}, {0}},
    };
    const unsigned count = sizeof(figures) / sizeof(figures[0]);
    struct cps_options with_demo = *opt;
    with_demo.demo = true;
    struct rig rig = {0};
    struct cps_err *err = rig_open(&rig, &with_demo);
    if (!err)
        rig_boot(&rig);
    for (unsigned round = 0; !err && round < ROUNDS; round++) {
        for (unsigned i = 0; i < count; i++) {
            figures[i].value[round] = figures[i].measure(&rig);
            figures[i].native[round] = figures[i].yardstick();
        }
    }
    if (!err)
        report(figures, count, opt->json);
    rig_close(&rig);
    return err ? report_error(err) : 0;
}
