/* SPDX-License-Identifier: MIT
 * PFIFO as its tests drive it: rows of host accesses as play() reads them. */
#ifndef TESTS_PFIFO_BENCH_H
#define TESTS_PFIFO_BENCH_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "emu/nv/pfifo.h"
#include "tests/lib/engine_bench.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Opens the pusher. */
#define OPEN "3200=1 "

static inline void write_part(struct bench *b, uint32_t addr, char width, uint32_t value)
{
    unsigned lane = addr & 3;
    unsigned lanes = width == 'b' ? 1u << lane : 3u << lane;
    cps_bus_write_lanes(b->bus, addr, lanes, value << 8 * lane, &bench_host);
}

/* One access: "800304=1" a write, "b800101=1" and "h800102=1" of a byte and a half, "2100?10" a
 * read and what it gives; with "~" in front of RAMIN and with "@" of the host's memory. */
static inline void access_one(struct bench *b, const char *text)
{
    char kind = *text;
    bool memory = kind == '~' || kind == '@';
    enum cps_bus_memory where = kind == '@' ? CPS_MEMORY_HOST : CPS_MEMORY_RAMIN;
    bool part = kind == 'h' || kind == 'b'; /* no address begins so */
    char *end = NULL;
    uint32_t addr = (uint32_t)strtoul(text + (memory || part), &end, 16);
    uint32_t value = (uint32_t)strtoul(end + 1, NULL, 16);
    if (*end == '?') {
        uint32_t got = memory ? cps_bus_peek(b->bus, where, addr, NULL) : bench_read(b, addr);
        if (got != value)
            fail_msg("%.20s: got 0x%x", text, (unsigned)got);
    } else if (memory) {
        cps_bus_poke(b->bus, where, addr, value);
    } else if (part) {
        write_part(b, addr, kind, value);
    } else {
        bench_write(b, addr, value);
    }
}

static inline void play(struct bench *b, const char *text)
{
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        access_one(b, text);
        text += strcspn(text, " ");
    }
}

static inline struct bench *bench_play(enum cps_gen chip, const char *policy, const char *text)
{
    struct bench *b = bench_new(chip, policy);
    play(b, text);
    return b;
}

/* "00002000=c20341 00002304=aa": what PGRAPH got. */
static inline void expect_methods(struct bench *b, const char *expected)
{
    CPS_BUF log = {0};
    size_t at = 0;
    const struct cps_event *event;
    while ((event = bench_find(b, CPS_EV_METHOD, 0, at))) {
        cps_buf_printf(&log, "%s%x=%x", log.size ? " " : "", (unsigned)event->addr, event->value);
        at = (size_t)(event - b->event) + 1;
    }
    assert_string_equal(cps_buf_text(&log), expected);
}

#endif
