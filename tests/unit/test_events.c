/* SPDX-License-Identifier: MIT
 * The numbers that traces hold, once more as a literal list: a trace that is in a file says the
 * same in all later versions. Rows behind these may come, none may change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "trace/event/event.h"
#include "trace/form/text.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* As the first version of the format has them, 0 to 14, then in the order in which they came. */
static const char *const keywords[] = {
    "SUBMIT", "PKT",    "REG",  "REGR",  "PIPE",   "CTRL",       "MEMW", "MEMR",
    "PROT",   "IRQ",    "STEP", "STEPX", "ASSUME", "UNMODELLED", "END",  "TICK",
    "EXIT",   "METHOD", "SQE",  "WORD",  "WAIT",   "LAUNCH",
};

static void kinds_have_their_numbers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(keywords); i++)
        assert_string_equal(cps_event_keyword(i), keywords[i]);
    assert_int_equal(CPS_EV_END, 14);
    assert_int_equal(CPS_EV_WORD, 19);
    assert_true(CPS_EV_COUNT >= COUNT(keywords));
}

/* The words of each kind that has some, from 0 on. */
static const struct {
    unsigned kind;
    const char *words[10];
} subs[] = {
    {CPS_EV_PKT, {"rb", "ib1", "ib2", "ib3", "sds", "int"}},
    {CPS_EV_REG, {"data", "user", "ctrl", "poke", "host", "flag", "byte", "half"}},
    {CPS_EV_MEMW, {"nrt", "store", "event", "load", "memdata", "ramin", "dma"}},
    {CPS_EV_MEMR, {"nrt", "store", "event", "load", "memdata", "ramin", "dma"}},
    {CPS_EV_ASSUME, {"wait", "visibility", "ack", "clock", "secure", "counter", "unknown"}},
    {CPS_EV_UNMODELLED, {"gpu", "ctrl", "sqe", "pipe", "mem", "insn", "stream", "unknown"}},
    {CPS_EV_EXIT,
     {"end", "code", "out-missing", "out-range", "branch-range", "bad-op", "bad-len", "abort"}},
    {CPS_EV_WAIT,
     {"memory", "register", "control", "on-chip", "stream", "queue", "loop", "bad-packet",
      "fault"}},
    {CPS_EV_LAUNCH, {"draw", "indexed", "feedback", "dispatch", "blit", "resolve", "skipped"}},
    {CPS_EV_END, {"done", "limit", "deadlock", "fault", "bad-packet"}},
};

static void words_have_their_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(subs); i++) {
        for (unsigned sub = 0; subs[i].words[sub]; sub++)
            assert_string_equal(cps_event_sub_word(subs[i].kind, sub), subs[i].words[sub]);
        assert_string_equal(cps_event_sub_word(subs[i].kind, 31), "?");
    }
    assert_string_equal(cps_event_sub_word(CPS_EV_SUBMIT, 0), "-");
}

static const char *const unknowns[] = {
    "code-beyond",   "unaligned",       "bad-ip",        "poke-ip",       "start-running",
    "arbitration",   "undefined",       "abort-in-wait", "unset-value",   "ewait-bits",
    "event-source",  "fell-off",        "flag-target",   "fb-delay",      "rewritten",
    "seq-initial",   "branch-negative", "branch-middle", "timer",         "op-2d",
    "shift-count",   "extra-words",     "odd-pairs",     "irq-underflow", "pgraph-idle",
    "condition",     "reg-1610",        "spin",          "ran-off",       "host-stalled",
    "pfifo-initial", "pfifo-off",       "pfifo-part",    "wait-retry",    "device-bits",
    "chid-bit-8",    "pram-overlap",    "password",      "user-read",     "free-nv3",
    "ramro-lanes",   "runout-latch",    "ramfc-nv3",     "nv3t-pointer",  "nv1-ramht",
    "nv1-engine",    "pull-state",      "software-bind", "error-clear",   "cache-priority",
    "cache0-object", "reserved-method", "graph-switch",  "dma-model",     "dma-header",
    "dma-target",    "dma-tag",         "dma-ctrl",      "dma-end",       "vp1-fetch",
    "vp1-opcode",    "vp1-dma",         "vp1-selector",  "vp1-control",   "vp1-call-delay",
    "vp1-stack",     "vp1-inject",      "vp1-exit",      "vp1-intr",      "vp1-clash",
    "vp1-mov-flags", "vp1-register",    "vp1-base",      "vp1-submit",    "vp1-switch",
    "vp1-busy",
};

static void unknowns_have_their_numbers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(unknowns); i++) {
        const struct cps_event assumed =
            cps_event_make(CPS_EV_ASSUME, CPS_WHAT_UNKNOWN, CPS_CPU_HWSQ, 0, i, 0);
        const struct cps_event stopped =
            cps_event_make(CPS_EV_UNMODELLED, CPS_PLACE_UNKNOWN, CPS_CPU_HWSQ, 0, i, 0);
        assert_string_equal(cps_event_unknown(&assumed), unknowns[i]);
        assert_string_equal(cps_event_unknown(&stopped), unknowns[i]);
    }
    const struct cps_event other =
        cps_event_make(CPS_EV_ASSUME, CPS_WHAT_WAIT, CPS_CPU_SQE, 0, 1, 0);
    assert_null(cps_event_unknown(&other));
}

static const char *const processors[] = {"pfp",   "me",   "sqe",    "bv",     "lpac",
                                         "",      "host", "hwsq",   "hwsqb",  "seq",
                                         "pfifo", "vp1",  "dde_br", "dde_bv", "aqe"};

static void processors_have_their_numbers(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(processors); i++)
        assert_string_equal(cps_processor_name(i), processors[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_have_their_numbers),
        cmocka_unit_test(words_have_their_numbers),
        cmocka_unit_test(unknowns_have_their_numbers),
        cmocka_unit_test(processors_have_their_numbers),
    };
    return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
