/* SPDX-License-Identifier: MIT
 * An engine, what runs on it and everything that came out of it: a script of NVIDIA's, or a program
 * of firmware. */
#ifndef TESTS_ENGINE_BENCH_H
#define TESTS_ENGINE_BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "emu/nv/nv.h"
#include "fw/fw.h"

#define BENCH_EVENTS 4096u
#define ALL_EVENTS   UINT32_MAX
#define ANY_NOTES    SIZE_MAX /* the test compares all events itself */
/* The byte of data memory where SEQ's scripts begin unless a policy says otherwise. */
#define SEQ_SCRIPT 0x400u

struct bench {
    struct cps_sink sink; /* first */
    struct cps_engine *engine;
    struct nv *bus;            /* of scripts */
    struct cps_asm program[2]; /* of firmware; the second is the ME's of a5xx */
    enum cps_stop stop;
    size_t notes; /* how many ASSUME and UNMODELLED events of afuc there must be, or ANY_NOTES */
    size_t count; /* may pass BENCH_EVENTS, behind which nothing is kept */
    struct cps_event event[BENCH_EVENTS];
};

static inline struct nv *bench_nv(const struct bench *b)
{
    return (struct nv *)b->engine;
}

static const struct cps_by bench_host = {CPS_CPU_HOST, CPS_PATH_HOST, 0};

static inline void bench_put(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct bench *b = (struct bench *)sink;
    for (size_t i = 0; i < count; i++) {
        if (b->count < BENCH_EVENTS)
            b->event[b->count] = events[i];
        b->count++;
    }
}

/* Starts the engine, with all its events kept. */
static inline struct bench *bench_create(const struct cps_config *config)
{
    struct bench *b = calloc(1, sizeof(*b));
    if (!b || cps_engine_create(config, &b->engine))
        abort();
    b->sink.put = bench_put;
    cps_engine_sink(b->engine, &b->sink, ALL_EVENTS);
    return b;
}

/* @p policy  words, or NULL */
static inline struct bench *bench_new(enum cps_gen gen, const char *policy)
{
    struct cps_config config = {.gen = gen, .policy = cps_policy_default()};
    if (cps_policy_parse(policy ? policy : "", gen, &config.policy))
        abort();
    struct bench *b = bench_create(&config);
    b->bus = bench_nv(b);
    return b;
}

/* Nothing is assumed and nothing is unmodelled but what the test says with b->notes: a report where
 * there is nothing to report is an error like any other. */
static inline void bench_check_notes(struct bench *b)
{
    const uint64_t *count = b->engine->tap.count;
    uint64_t found = count[CPS_EV_ASSUME] + count[CPS_EV_UNMODELLED];
    if (b->engine->ops->isa != &cps_isa_afuc || b->notes == ANY_NOTES || found == b->notes)
        return;
    cps_tap_flush_(&b->engine->tap);
    fprintf(stderr, "%u events ASSUME and UNMODELLED, not %u\n", (unsigned)found,
            (unsigned)b->notes);
    for (size_t i = 0; i < b->count && i < BENCH_EVENTS; i++) {
        const struct cps_event *event = &b->event[i];
        unsigned kind = cps_event_kind(event);
        if (kind == CPS_EV_ASSUME || kind == CPS_EV_UNMODELLED)
            fprintf(stderr, "%s %u 0x%llx 0x%x\n", kind == CPS_EV_ASSUME ? "ASSUME" : "UNMODELLED",
                    cps_event_sub(event), (unsigned long long)event->addr, event->value);
    }
    abort();
}

static inline void bench_free(struct bench *b)
{
    bench_check_notes(b);
    cps_engine_destroy(b->engine);
    free(b->program[0].words);
    free(b->program[1].words);
    free(b);
}

/* ---- programs of firmware ---- */

static inline struct cps_asm bench_assemble(const char *text, enum cps_gen gen)
{
    struct cps_asm program = {0};
    struct cps_err *err = cps_assemble("test", text, strlen(text), gen, &program);
    if (err) {
        fprintf(stderr, "%s\n", err->message);
        abort();
    }
    return program;
}

/* Code between the two words that images begin with (@p head, as text) and a `waitin`. */
static inline struct cps_asm bench_code(const char *head, const char *code, enum cps_gen gen)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, "%s%swaitin\nmov $01, $data\n", head, code);
    return bench_assemble(cps_buf_text(&text), gen);
}

#define HEAD_A6XX "[016ee001]\n[01000000]\n"
#define HEAD_A7XX "[01740001]\n[01000000]\n"

/* @p start  dword of the second image, which processor @p who runs; 0: there is one image */
static inline struct bench *bench_afuc(enum cps_layout layout, const char *head, const char *code,
                                       unsigned who, uint32_t start)
{
    struct cps_asm program = bench_code(head, code, cps_layout_gen(layout));
    struct bench *b =
        bench_create(&(struct cps_config){.layout = layout,
                                          .words = program.words + 1,
                                          .count = program.count - 1,
                                          .image = {{CPS_CPU_SQE, 0}, {(uint8_t)who, start}},
                                          .image_count = start ? 2 : 1});
    b->program[0] = program;
    return b;
}
static inline struct bench *bench_a6xx(const char *code)
{
    return bench_afuc(CPS_LAYOUT_A6XX, HEAD_A6XX, code, 0, 0);
}

/* The dword at which the section lies that begins with @p marker. */
static inline uint32_t bench_section(const struct cps_asm *program, uint32_t marker)
{
    uint32_t at = 0;
    while (at + 1 < program->count && program->words[at + 1] != marker)
        at++;
    return at;
}

/* The two processors of a5xx. */
static inline struct bench *bench_a5xx(const char *pfp, const char *me)
{
    static const char head[] = "[005ff001]\n[00000000]\n";
    const struct cps_asm program[2] = {bench_code(head, pfp, CPS_A5XX),
                                       bench_code(head, me, CPS_A5XX)};
    struct bench *b = bench_create(&(struct cps_config){.layout = CPS_LAYOUT_A5XX_PFP,
                                                        .words = program[0].words + 1,
                                                        .count = program[0].count - 1,
                                                        .me_words = program[1].words + 1,
                                                        .me_count = program[1].count - 1});
    memcpy(b->program, program, sizeof(program));
    return b;
}

/* How many events of a kind there were. */
static inline size_t bench_count(struct bench *b, unsigned kind)
{
    size_t count = 0;
    cps_tap_flush_(&b->engine->tap);
    for (size_t i = 0; i < b->count && i < BENCH_EVENTS; i++)
        count += cps_event_kind(&b->event[i]) == kind;
    return count;
}

static inline uint32_t machine_value(const struct cps_engine *machine, unsigned core, char file,
                                     uint64_t number)
{
    uint64_t value = 0;
    cps_engine_get((struct cps_engine *)(uintptr_t)machine,
                   (struct cps_location){(uint8_t)core, file, number}, &value);
    return (uint32_t)value;
}
static inline uint32_t machine_memory(struct cps_engine *machine, uint64_t iova, bool *known)
{
    uint64_t value = 0;
    bool found = cps_engine_get(machine, (struct cps_location){0, CPS_FILE_MEMORY, iova}, &value);
    if (known)
        *known = found;
    return (uint32_t)value;
}
static inline void machine_set(struct cps_engine *machine, char file, uint64_t number,
                               uint64_t value)
{
    cps_engine_set(machine, (struct cps_location){0, file, number}, value);
}
static inline struct cps_err *machine_load(struct cps_engine *machine, uint64_t iova,
                                           const uint8_t *data, uint64_t size)
{
    const struct cps_item item = {.kind = CPS_ITEM_DATA,
                                  .buffer = {.iova = iova, .size = size, .data = data}};
    return cps_engine_feed(machine, &item);
}
static inline void machine_forget(struct cps_engine *machine)
{
    const struct cps_item item = {.kind = CPS_ITEM_RESET};
    cps_err_free(cps_engine_feed(machine, &item));
}
/* Whether the stream's first word is there: what runs then. */
static inline bool machine_submit(struct cps_engine *machine, uint32_t index, uint64_t iova,
                                  uint32_t dwords)
{
    const struct cps_item item = {.kind = CPS_ITEM_SUBMIT,
                                  .stream = {.iova = iova, .dwords = dwords, .index = index}};
    bool known = false;
    machine_memory(machine, iova, &known);
    cps_err_free(cps_engine_feed(machine, &item));
    return known;
}
static inline bool machine_ring(struct cps_engine *machine, const uint32_t *words, unsigned count)
{
    const struct cps_item item = {.kind = CPS_ITEM_PACKETS,
                                  .block = {.words = words, .count = count}};
    struct cps_err *err = cps_engine_feed(machine, &item);
    cps_err_free(err);
    return !err;
}
static inline void machine_set_ring(struct cps_engine *machine, uint64_t iova, uint32_t dwords,
                                    uint32_t rptr, uint32_t wptr)
{
    const struct cps_item item = {
        .kind = CPS_ITEM_RING,
        .ring = {.iova = iova, .size = 4 * (uint64_t)dwords, .rptr = rptr, .wptr = wptr}};
    cps_err_free(cps_engine_feed(machine, &item));
}
static inline void machine_chip(struct cps_engine *machine, uint32_t gpu)
{
    const struct cps_item item = {.kind = CPS_ITEM_CHIP, .chip = {.gpu_id = gpu}};
    cps_err_free(cps_engine_feed(machine, &item));
}

/* ---- scripts ---- */

static inline void bench_write(struct bench *b, uint32_t addr, uint32_t value)
{
    cps_bus_write(b->bus, addr, value, &bench_host);
}
static inline uint32_t bench_read(struct bench *b, uint32_t addr)
{
    return cps_bus_read(b->bus, addr, &bench_host);
}

/* Bytes to the code RAM of HWSQ, the rest of the last word 0x7f; or words to SEQ's memory. */
static inline void bench_load(struct bench *b, uint32_t at, const uint8_t *bytes, size_t size)
{
    bool hwsq = b->engine->ops->isa == &cps_isa_hwsq;
    uint32_t code = b->bus->engine.gen == CPS_G92 ? 0x80000 : 0x1400;
    if (!hwsq)
        cps_bus_load(b->bus, 0x10a1c0, 1u << 24 | (SEQ_SCRIPT + at));
    for (size_t i = 0; i < size; i += 4) {
        uint8_t word[4] = {0x7f, 0x7f, 0x7f, 0x7f};
        memcpy(word, bytes + i, size - i < 4 ? size - i : 4);
        uint32_t value = (uint32_t)word[0] | (uint32_t)word[1] << 8 | (uint32_t)word[2] << 16 |
                         (uint32_t)word[3] << 24;
        cps_bus_load(b->bus, hwsq ? code + at + (uint32_t)i : 0x10a1c4, value);
    }
}

/* Hexadecimal bytes with blanks between; their number. */
static inline size_t bench_hex(const char *text, uint8_t *ret)
{
    size_t count = 0;
    for (char *end; *(text += strspn(text, " ")); text = end)
        ret[count++] = (uint8_t)strtoul(text, &end, 16);
    return count;
}

static inline enum cps_stop bench_run(struct bench *b)
{
    b->stop = nv_loop_((struct nv *)b->engine, 1000000);
    cps_tap_flush_(&b->engine->tap);
    return b->stop;
}
/* Lets the engine run up to a tick. */
static inline enum cps_stop bench_run_to(struct bench *b, uint64_t tick)
{
    b->bus->bus.until = tick;
    bench_run(b);
    b->bus->bus.until = UINT64_MAX;
    return b->stop;
}

/* A script of HWSQ from byte 0, enabled, in slot A. */
static inline struct bench *bench_hwsq(enum cps_gen chip, const char *hex, const char *policy)
{
    struct bench *b = bench_new(chip, policy);
    uint8_t bytes[512];
    bench_load(b, 0, bytes, bench_hex(hex, bytes));
    bench_write(b, 0x1098, 0x18);
    bench_write(b, 0x130c, chip == CPS_G92 ? 1 : 3);
    return b;
}

/* No OUT, for bench_seq(). */
#define NO_OUT -1

/* A script of SEQ, started. @p out  how many words OUT has, or NO_OUT */
static inline struct bench *bench_seq(enum cps_gen abi, const uint32_t *words, size_t count,
                                      int out, const uint32_t *out_words)
{
    struct bench *b = bench_new(abi, NULL);
    cps_bus_load(b->bus, 0x10a1c0, 1u << 24 | SEQ_SCRIPT);
    for (size_t i = 0; i < count; i++)
        cps_bus_load(b->bus, 0x10a1c4, words[i]);
    if (out != NO_OUT)
        cps_bus_load(b->bus, 0xfffff004, (uint32_t)out);
    for (int i = 0; i < out; i++)
        cps_bus_load(b->bus, 0xfffff400 + 4 * (uint32_t)i, out_words[i]);
    cps_bus_load(b->bus, 0xfffff000, (uint32_t)count);
    return b;
}

/* The same without OUT, run to its end. */
static inline struct bench *bench_seq_run(const uint32_t *words, size_t count)
{
    struct bench *b = bench_seq(CPS_SEQ_NEW, words, count, NO_OUT, NULL);
    bench_run(b);
    return b;
}
#define RUN(...)                                   \
    bench_seq_run((const uint32_t[]){__VA_ARGS__}, \
                  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* A register of the engine by name. */
static inline uint64_t bench_reg(const struct bench *b, const char *name)
{
    for (unsigned i = 0; i < b->engine->ops->regs; i++) {
        uint64_t value = 0;
        if (strcmp(b->engine->ops->reg[i].name, name) != 0)
            continue;
        cps_engine_get(b->engine, (struct cps_location){0, CPS_FILE_SCALAR, i}, &value);
        return value;
    }
    abort();
}
static inline uint32_t bench_reg32(const struct bench *b, const char *name)
{
    return (uint32_t)bench_reg(b, name);
}

/* The first event of a kind and sub from number @p from on; NULL if there is none. */
static inline const struct cps_event *bench_find(struct bench *b, unsigned kind, unsigned sub,
                                                 size_t from)
{
    cps_tap_flush_(&b->engine->tap);
    for (size_t i = from; i < b->count && i < BENCH_EVENTS; i++) {
        if (cps_event_kind(&b->event[i]) == kind && cps_event_sub(&b->event[i]) == sub)
            return &b->event[i];
    }
    return NULL;
}

/* The event that names an UNKNOWN, decided or stopped at; NULL if there is none. */
static inline const struct cps_event *bench_unknown(struct bench *b, enum cps_unknown what)
{
    static const unsigned kinds[2][2] = {{CPS_EV_ASSUME, CPS_WHAT_UNKNOWN},
                                         {CPS_EV_UNMODELLED, CPS_PLACE_UNKNOWN}};
    for (unsigned k = 0; k < 2; k++) {
        const struct cps_event *found = bench_find(b, kinds[k][0], kinds[k][1], 0);
        while (found && found->addr != what)
            found = bench_find(b, kinds[k][0], kinds[k][1], (size_t)(found - b->event) + 1);
        if (found)
            return found;
    }
    return NULL;
}

/* How many UNKNOWN there were: decided, or stopped at. A script starts with one. */
static inline size_t bench_unknowns(struct bench *b)
{
    size_t count = 0;
    cps_tap_flush_(&b->engine->tap);
    for (size_t i = 0; i < b->count && i < BENCH_EVENTS; i++) {
        unsigned kind = cps_event_kind(&b->event[i]), sub = cps_event_sub(&b->event[i]);
        count += (kind == CPS_EV_ASSUME && sub == CPS_WHAT_UNKNOWN) ||
                 (kind == CPS_EV_UNMODELLED && sub == CPS_PLACE_UNKNOWN);
    }
    return count;
}

/* "611200=3300 2504=1": what a path wrote, in order. */
static inline void bench_log(struct bench *b, unsigned path, struct cps_buf *out)
{
    size_t at = 0;
    const struct cps_event *event;
    while ((event = bench_find(b, CPS_EV_REG, path, at))) {
        cps_buf_printf(out, "%s%x=%x", out->size ? " " : "", (unsigned)event->addr, event->value);
        at = (size_t)(event - b->event) + 1;
    }
}

#endif
