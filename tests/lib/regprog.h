/* SPDX-License-Identifier: MIT
 * Accesses to registers of afuc in a few words, made into a program that a core runs, and what came
 * of it as text: the values that it read, then every event beside writes of control registers.
 *
 *   N=V ?N        control register N gets V, is read
 *   N==V          as N=V, with N in a register of the core instead of the instruction
 *   |N=V |N:L     pipe register N gets V, is selected with L in its low bits
 *   RN=V UN=V     register N of the GPU gets V through $addr, through $usraddr
 *   ?RN           register N of the GPU is read, by control registers
 *   ?data ?mem ?reg  a word of $data, $memdata, $regdata
 *   {...}         as it stands
 *
 * Numbers are hexadecimal; whole words of capitals are names of control registers, with "+1" for
 * the next. */
#ifndef TESTS_REGPROG_H
#define TESTS_REGPROG_H

#include <ctype.h>

#include "tests/lib/engine_bench.h"

/* The number of a control register in a layout; abort() if it has none. */
typedef uint32_t regprog_number(enum cps_layout layout, const char *name, size_t length);

struct regprog {
    enum cps_layout layout;
    regprog_number *number;
    const char *at;
    unsigned reads; /* values so far, in registers from $04 on */
    struct cps_buf text;
};

static inline uint32_t regprog_term(enum cps_layout layout, regprog_number *number, const char **at)
{
    size_t length = strspn(*at, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
    bool named = length > 2 && isupper((unsigned char)**at) &&
                 strpbrk(*at, "GHIJKLMNOPQRSTUVWXYZ_") &&
                 strcspn(*at, "GHIJKLMNOPQRSTUVWXYZ_") < length;
    char *end = NULL;
    uint32_t value = named ? number(layout, *at, length) : (uint32_t)strtoul(*at, &end, 16);
    *at = named ? *at + length : end;
    if (**at != '+')
        return value;
    value += (uint32_t)strtoul(*at + 1, &end, 16);
    *at = end;
    return value;
}

static inline uint32_t regprog_value(struct regprog *p)
{
    return regprog_term(p->layout, p->number, &p->at);
}

/* A constant of 32 bits. */
static inline void regprog_load(struct regprog *p, const char *reg, uint32_t value)
{
    cps_buf_printf(&p->text, "mov %s, 0x%x << 16\nor %s, %s, 0x%x\n", reg, value >> 16, reg, reg,
                   value & 0xffff);
}

static inline void regprog_read(struct regprog *p)
{
    static const char *const ports[] = {"data", "mem", "reg"};
    static const char *const names[] = {"$data", "$memdata", "$regdata"};
    unsigned to = 4 + p->reads++;
    for (unsigned i = 0; i < 3; i++) {
        if (strncmp(p->at, ports[i], strlen(ports[i])) != 0)
            continue;
        p->at += strlen(ports[i]);
        cps_buf_printf(&p->text, "mov $%02x, %s\n", to, names[i]);
        return;
    }
    if (*p->at == 'R' && !isupper((unsigned char)p->at[1])) {
        p->at++;
        regprog_load(p, "$02", regprog_value(p));
        cps_buf_printf(&p->text, "cwrite $02, [$00 + 0x%03x]\nmov $%02x, $regdata\n",
                       p->number(p->layout, "REG_READ_ADDR", 13), to);
        return;
    }
    cps_buf_printf(&p->text, "cread $%02x, [$00 + 0x%03x]\n", to, regprog_value(p));
}

static inline void regprog_pipe(struct regprog *p)
{
    uint32_t number = regprog_value(p);
    bool select = *p->at++ == ':';
    uint32_t value = regprog_value(p);
    regprog_load(p, "$02", number << 24 | (select ? value : 0));
    regprog_load(p, "$03", value);
    cps_buf_str(&p->text, select ? "mov $addr, $02\n" : "mov $addr, $02\nmov $data, $03\n");
}

static inline void regprog_gpu(struct regprog *p, const char *port)
{
    regprog_load(p, "$02", regprog_value(p));
    p->at++;
    regprog_load(p, "$03", regprog_value(p));
    cps_buf_printf(&p->text, "mov %s, $02\nmov $data, $03\n", port);
}

static inline void regprog_control(struct regprog *p)
{
    uint32_t number = regprog_value(p);
    bool indirect = p->at[1] == '=';
    p->at += 1 + indirect;
    regprog_load(p, "$03", regprog_value(p));
    regprog_load(p, "$02", number);
    if (indirect)
        cps_buf_str(&p->text, "cwrite $03, [$02 + 0x000]\n");
    else
        cps_buf_printf(&p->text, "cwrite $03, [$00 + 0x%03x]\n", number);
}

static inline void regprog_raw(struct regprog *p)
{
    size_t length = strcspn(p->at, "}");
    for (const char *end = p->at + length; p->at < end;) {
        if (*p->at == '@' && p->at++)
            cps_buf_printf(&p->text, "0x%03x", regprog_value(p));
        else
            cps_buf_printf(&p->text, "%c", *p->at == ';' ? '\n' : *p->at), p->at++;
    }
    p->at++;
    cps_buf_str(&p->text, "\n");
}

/* The code of the accesses; the caller calls cps_buf_clear(). */
static inline struct cps_buf regprog_code(enum cps_layout layout, regprog_number *number,
                                          const char *accesses)
{
    struct regprog p = {.layout = layout, .number = number, .at = accesses};
    for (p.at += strspn(p.at, " "); *p.at; p.at += strspn(p.at, " ")) {
        bool name = strchr("RU", *p.at) && isupper((unsigned char)p.at[1]);
        char first = name ? 0 : *p.at;
        p.at += first && strchr("?|RU{", first);
        if (first == '?')
            regprog_read(&p);
        else if (first == '|')
            regprog_pipe(&p);
        else if (first == '{')
            regprog_raw(&p);
        else if (first == 'R' || first == 'U')
            regprog_gpu(&p, first == 'R' ? "$addr" : "$usraddr");
        else
            regprog_control(&p);
    }
    return p.text;
}

/* One event: "KIND word ADDR=VALUE". */
static inline void regprog_event(const struct cps_event *event, struct cps_buf *out)
{
    static const struct {
        const char *word;
        const char *subs[10];
    } kinds[] = {
        [CPS_EV_PKT] = {"PKT", {"rb", "ib1", "ib2", "ib3", "sds", "int"}},
        [CPS_EV_REG] = {"REG", {"data", "user", "ctrl", "poke", "host"}},
        [CPS_EV_REGR] = {"REGR", {""}},
        [CPS_EV_PIPE] = {"PIPE", {""}},
        [CPS_EV_CTRL] = {"CTRL", {""}},
        [CPS_EV_MEMW] = {"MEMW", {"nrt", "store", "event"}},
        [CPS_EV_MEMR] = {"MEMR", {"nrt", "store", "event", "load", "memdata"}},
        [CPS_EV_PROT] = {"PROT", {""}},
        [CPS_EV_SQE] = {"SQE", {""}},
        [CPS_EV_IRQ] = {"IRQ", {""}},
        [CPS_EV_LAUNCH] = {"LAUNCH",
                           {"draw", "indexed", "feedback", "dispatch", "blit", "resolve",
                            "skipped"}},
        [CPS_EV_ASSUME] = {"ASSUME", {"wait", "visibility", "ack", "clock", "secure", "counter"}},
        [CPS_EV_UNMODELLED] = {"UNMODELLED",
                               {"gpu", "ctrl", "sqe", "pipe", "mem", "insn", "stream"}},
    };
    unsigned kind = cps_event_kind(event);
    const char *sub = kind < sizeof(kinds) / sizeof(kinds[0]) && kinds[kind].word
                          ? kinds[kind].subs[cps_event_sub(event)]
                          : "";
    if (kind >= sizeof(kinds) / sizeof(kinds[0]) || !kinds[kind].word)
        cps_buf_printf(out, ", %u", kind);
    else
        cps_buf_printf(out, ", %s%s%s %llx=%x", kinds[kind].word, sub && *sub ? " " : "",
                       sub ? sub : "?", (unsigned long long)event->addr, event->value);
}

/* What was read, and all that happened, from event number @p from on, up to the packet behind an
 * injected one. */
static inline void regprog_result(struct bench *b, unsigned core, unsigned reads, size_t from,
                                  struct cps_buf *out)
{
    for (unsigned i = 0; i < reads; i++)
        cps_buf_printf(out, "%s%x", i ? " " : "",
                       machine_value(b->engine, core, CPS_FILE_GENERAL, 4 + i));
    cps_tap_flush_(&b->engine->tap);
    bool injected = false;
    for (size_t i = from; i < b->count && i < BENCH_EVENTS; i++) {
        const struct cps_event *event = &b->event[i];
        unsigned kind = cps_event_kind(event);
        bool packet = kind == CPS_EV_PKT;
        if (packet && injected)
            return;
        injected |= packet && cps_event_sub(event) == CPS_LEVEL_INT;
        bool entry = kind == CPS_EV_SQE && event->addr == 4; /* where the routine is */
        if (kind != CPS_EV_CTRL && kind != CPS_EV_STEP && kind != CPS_EV_STEPX &&
            kind != CPS_EV_WAIT && !(packet && injected) && !entry)
            regprog_event(event, out);
    }
}

/* An expectation with "@NAME" made numbers. */
static inline struct cps_buf regprog_expected(enum cps_layout layout, regprog_number *number,
                                              const char *text)
{
    struct cps_buf out = {0};
    while (*text) {
        if (*text == '@' && text++)
            cps_buf_printf(&out, "%x", regprog_term(layout, number, &text));
        else
            cps_buf_printf(&out, "%c", *text++);
    }
    return out;
}

static inline unsigned regprog_reads(const char *accesses)
{
    unsigned count = 0;
    for (; *accesses; accesses++)
        count += *accesses == '?';
    return count;
}

#endif
