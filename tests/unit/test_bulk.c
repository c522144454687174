/* SPDX-License-Identifier: MIT
 * Copies of many words by one instruction: every word is one write with its event, in order, also
 * where the batch of events is part full in front of them, is filled by the last of them, or by the
 * one before or behind; where a register in between behaves; and where a queue has room for a part.
 */
#include "tests/afuc_facts.h"

enum { WORDS = 3 * CPS_TAP_BATCH, STREAM = 0x100000, TARGET = 0x20000 };

static uint32_t word_of(uint32_t i)
{
    return 0x9e3779b9 * (i + 1);
}

struct writes {
    struct cps_sink sink; /* first */
    uint32_t count;
    struct cps_event event[WORDS + 64];
};

static void note(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct writes *writes = (struct writes *)sink;
    for (size_t i = 0; i < count; i++) {
        assert_true(writes->count < WORDS + 64);
        writes->event[writes->count++] = events[i];
    }
}

/* `before` writes one by one, then `words` words of an IB by one (rep) with so many extra moves,
 * then one more; all to consecutive registers from `first` on. */
struct copy {
    const char *port; /* $addr or $usraddr */
    uint32_t first, before, words;
    unsigned extra;
};

static struct bench *run(const struct copy *copy, struct writes *writes)
{
    CPS_BUF code = {0};
    cps_buf_printf(&code,
                   "cwrite $00, [$00 + @IB1_BASE+0x1]\nmov $02, 0x%x << 16\n"
                   "cwrite $02, [$00 + @IB1_BASE]\nmov $02, 0x%x\ncwrite $02, [$00 + @IB1_DWORDS]\n"
                   "mov $02, 0x%x << 16\nor %s, $02, 0x%x\n",
                   STREAM >> 16, copy->words, copy->first >> 16, copy->port, copy->first & 0xffff);
    for (uint32_t i = 0; i < copy->before; i++)
        cps_buf_printf(&code, "mov $data, 0x%x\n", i);
    cps_buf_printf(&code,
                   "mov $02, 0x1\ncwrite $02, [$00 + @IB_LEVEL]\nmov $rem, 0x%x\n"
                   "(rep)%smov $data, $data\nmov $data, 0x77\ncwrite $00, [$00 + @IB_LEVEL]\n",
                   copy->words,
                   copy->extra == 0   ? ""
                   : copy->extra == 1 ? "(xmov1)"
                   : copy->extra == 2 ? "(xmov2)"
                                      : "(xmov3)");
    struct bench *b = bench_a6xx(cps_buf_text(&code));
    for (uint32_t i = 0; i < copy->words; i++)
        machine_set(b->engine, CPS_FILE_MEMORY, STREAM + 4 * (uint64_t)i, word_of(i));
    writes->sink.put = note;
    writes->count = 0;
    cps_engine_sink(b->engine, &writes->sink, 1u << CPS_EV_REG);
    assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_IDLE);
    cps_tap_flush_(&b->engine->tap);
    return b;
}

static uint32_t expected(const struct copy *copy, uint32_t i)
{
    if (i < copy->before)
        return i;
    return i < copy->before + copy->words ? word_of(i - copy->before) : 0x77;
}

static void check(const struct copy *copy)
{
    struct writes *writes = calloc(1, sizeof(*writes));
    assert_non_null(writes);
    struct bench *b = run(copy, writes);
    unsigned path = strcmp(copy->port, "$addr") ? CPS_PATH_USER : CPS_PATH_DATA;
    assert_int_equal(writes->count, copy->before + copy->words + 1);
    for (uint32_t i = 0; i < writes->count; i++) {
        const struct cps_event *event = &writes->event[i];
        uint32_t found = machine_value(b->engine, 0, CPS_FILE_REGISTER, copy->first + i);
        if (event->addr != copy->first + i || event->value != expected(copy, i) ||
            cps_event_sub(event) != path || cps_event_kind(event) != CPS_EV_REG ||
            cps_event_who(event) != CPS_CPU_SQE || found != expected(copy, i))
            fail_msg("%u before, %u words: event %u is 0x%llx=0x%x, register 0x%x", copy->before,
                     copy->words, i, (unsigned long long)event->addr, event->value, found);
    }
    assert_int_equal(b->engine->tap.count[CPS_EV_REG], writes->count);
    bench_free(b);
    free(writes);
}

static void copies_meet_the_end_of_a_batch_anywhere(void **state)
{
    (void)state;
    for (uint32_t before = 0; before < 6; before++) {
        for (unsigned extra = 0; extra < 4; extra++) {
            for (uint32_t words = CPS_TAP_BATCH - 7; words <= CPS_TAP_BATCH + 1; words++)
                check(&(struct copy){"$usraddr", TARGET, before, words, extra});
            check(&(struct copy){"$addr", TARGET, before, CPS_TAP_BATCH - before, extra});
            check(&(struct copy){"$addr", TARGET, before, 2 * CPS_TAP_BATCH - before, extra});
            check(&(struct copy){"$addr", TARGET, before, 2 * CPS_TAP_BATCH + 1 - before, extra});
        }
    }
}

/* 0x3801 and 0x1f888 answer for themselves. */
static void copies_pass_registers_that_behave(void **state)
{
    (void)state;
    for (uint32_t first = 0x3801 - 9; first <= 0x3801 + 1; first++) {
        for (unsigned extra = 0; extra < 4; extra++)
            check(&(struct copy){"$usraddr", first, 0, 8, extra});
    }
    check(&(struct copy){"$addr", 0x1f880, 0, 64, 0});
    check(&(struct copy){"$addr", 0x3fff0, 0, 15, 3}); /* up to the last register */
}

/* Bit 18 keeps the address: all words go to one register. */
static void copies_to_one_register_write_each_word(void **state)
{
    static const struct copy copy = {"$usraddr", 1u << 18 | TARGET, 3, 20, 3};
    struct writes *writes = calloc(1, sizeof(*writes));
    (void)state;
    assert_non_null(writes);
    struct bench *b = run(&copy, writes);
    assert_int_equal(writes->count, 24);
    for (uint32_t i = 0; i < 24; i++) {
        assert_int_equal(writes->event[i].addr, TARGET);
        assert_int_equal(writes->event[i].value, expected(&copy, i));
    }
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_REGISTER, TARGET + 1), 0);
    bench_free(b);
    free(writes);
}

/* A register bunch: pairs of a register and its value (a740: (rep)(xmov3)or $usraddr, $data, $02).
 * $02 has bits for the first register of each turn. */
static const struct pairs {
    uint32_t modes;
    uint32_t words[8];
    const char *result;
} bunches[] = {
    {0,
     {0x883, 5, 0x20, 6, 0x8800, 7, 0x21, 8},
     ", REG user 883=5, REG user 20=6, REG user 8800=7, REG user 21=8"},
    {0x10,
     {0x883, 5, 0x21, 6, 0x8800, 7, 0x20, 8},
     ", REG user 893=5, REG user 21=6, REG user 8810=7, REG user 20=8"},
    /* A register that behaves, first and second of a turn. */
    {0,
     {0x883, 5, 0x3801, 6, 0x884, 7, 0x21, 8},
     ", REG user 883=5, REG user 3801=6, REG user 884=7, REG user 21=8"},
    {0,
     {0x883, 5, 0x20, 6, 0x3801, 7, 0x21, 8},
     ", REG user 883=5, REG user 20=6, REG user 3801=7, REG user 21=8"},
};

static void pairs_of_register_and_value_are_writes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bunches) / sizeof(bunches[0]); i++) {
        CPS_BUF code = {0}, found = {0};
        cps_buf_printf(&code,
                       "mov $02, 0x1000\ncwrite $02, [$00 + 0x010]\ncwrite $00, [$00 + 0x011]\n"
                       "mov $02, 0x8\ncwrite $02, [$00 + 0x012]\nmov $02, 0x1\n"
                       "cwrite $02, [$00 + 0x054]\nmov $rem, 0x8\nmov $02, 0x%x\n"
                       "(rep)(xmov3)or $usraddr, $data, $02\ncwrite $00, [$00 + 0x054]\n",
                       bunches[i].modes);
        struct bench *b = create(CPS_LAYOUT_A7XX, cps_buf_text(&code), "");
        for (uint32_t k = 0; k < 8; k++)
            machine_set(b->engine, CPS_FILE_MEMORY, 0x1000 + 4 * k, bunches[i].words[k]);
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        regprog_result(b, 0, 0, 0, &found);
        assert_string_equal(cps_buf_text(&found), bunches[i].result);
        bench_free(b);
    }
}

/* The ME counts what comes, and stops at the first word that is not the next number; it begins late
 * so that its queue is full. */
static void extra_moves_wait_for_room_in_the_meq(void **state)
{
    static const char me[] = "mov $05, 0x4000\nw:\nsub $05, $05, 0x1\nbrne $05, 0x0, #w\nnop\n"
                             "l:\nmov $06, $data\nsub $07, $06, $05\nbrne $07, 0x0, #bad\nnop\n"
                             "add $05, $05, 0x1\nmov $08, 0xbb8\nsub $08, $08, $05\n"
                             "brne $08, 0x0, #l\nnop\nbad:\n";
    (void)state;
    for (unsigned extra = 1; extra < 4; extra++) {
        CPS_BUF pfp = {0};
        cps_buf_printf(&pfp,
                       "mov $02, 0x10 << 16\ncwrite $02, [$00 + 0x0b0]\ncwrite $00, [$00 + 0x0b1]\n"
                       "mov $02, 0xbb8\ncwrite $02, [$00 + 0x0b2]\nmov $02, 0x1\n"
                       "cwrite $02, [$00 + 0x031]\nmov $rem, 0xbb8\n(rep)(xmov%u)mov $data, $data\n"
                       "cwrite $00, [$00 + 0x031]\n",
                       extra);
        struct bench *b = bench_a5xx(cps_buf_text(&pfp), me);
        for (uint32_t i = 0; i < 3000; i++)
            machine_set(b->engine, CPS_FILE_MEMORY, 0x100000 + 4 * i, i);
        assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_IDLE);
        assert_int_equal(machine_value(b->engine, 1, CPS_FILE_GENERAL, 5), 3000);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_meet_the_end_of_a_batch_anywhere),
        cmocka_unit_test(copies_pass_registers_that_behave),
        cmocka_unit_test(copies_to_one_register_write_each_word),
        cmocka_unit_test(pairs_of_register_and_value_are_writes),
        cmocka_unit_test(extra_moves_wait_for_room_in_the_meq),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
