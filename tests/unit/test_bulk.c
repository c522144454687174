/* SPDX-License-Identifier: MIT
 * Copies of many words by one instruction: every word is one write with its event, in order, also
 * where the batch of events is part full in front of them, is filled by the last of them, or by the
 * one before or behind; where a register in between behaves; and where a queue has room for a part.
 */
#include "emu/afuc/core/machine.h"
#include "isa/base/pm4.h"
#include "tests/lib/afuc_facts.h"

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
    for (uint32_t room = 0; room < 9; room++) /* in front of 8 words */
        check(&(struct copy){"$usraddr", TARGET, CPS_TAP_BATCH - room, 8, 3});
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

/* A write that does something does it in the middle of a copy, too: the ring's address, and
 * register 0x803 behind it. */
static void copies_do_what_single_writes_do(void **state)
{
    (void)state;
    for (uint32_t first = 0x7f8; first <= 0x801; first++) {
        struct writes *writes = calloc(1, sizeof(*writes));
        assert_non_null(writes);
        const struct copy copy = {"$usraddr", first, 0, 0x802 - first, 3};
        struct bench *b = run(&copy, writes);
        uint32_t high = word_of(0x801 - first);
        uint32_t low = first <= 0x800 ? word_of(0x800 - first) : 0xf8000000;
        assert_int_equal(cps_afuc_of(b->engine)->ring_iova, (uint64_t)high << 32 | low);
        bench_free(b);
        free(writes);
    }
}

/* The queue behind $memdata has 256 words: 255, 256, 257 and 600 come as they stand in memory. */
static void a_memory_read_longer_than_its_queue_loses_no_word(void **state)
{
    static const uint32_t counts[] = {255, 256, 257, 600};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        CPS_BUF code = {0};
        cps_buf_printf(&code,
                       "mov $02, 0x10 << 16\ncwrite $02, [$00 + 0x018]\ncwrite $00, [$00 + 0x019]\n"
                       "mov $02, 0x%x\ncwrite $02, [$00 + 0x01a]\nmov $03, $00\n"
                       "mov $06, 0x931\ncwrite $06, [$00 + 0x027]\nmov $06, 0x933\n"
                       "cwrite $06, [$00 + 0x027]\nmov $06, $regdata\nmov $07, $regdata\n"
                       "l:\nmov $04, $memdata\nsub $05, $04, $03\nbrne $05, 0x0, #bad\nnop\n"
                       "add $03, $03, 0x1\nsub $05, $03, $02\nbrne $05, 0x0, #l\nnop\nbad:\n",
                       counts[i]);
        struct bench *b = create(CPS_LAYOUT_A6XX, cps_buf_text(&code), "");
        for (uint32_t k = 0; k < counts[i]; k++)
            machine_set(b->engine, CPS_FILE_MEMORY, STREAM + 4 * k, k);
        assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
        uint32_t rest = counts[i] > 256 ? counts[i] - 256 : 0;
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 3), counts[i]);
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 6),
                         rest ? STREAM + 4 * 256 : STREAM); /* what is not fetched yet (1b02) */
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 7), rest);
        bench_free(b);
    }
}

/* ---- type 4 ---- */

/* The handler of all images; what it is called with are headers of an IB. */
static const char handler[] =
    "mov $02, 0x4\ncwrite $02, [$00 + 0x060]\nmov $02, #h\ncwrite $02, [$00 + 0x061]\n"
    "mov $02, 0xa\ncwrite $02, [$00 + 0x060]\nmov $02, #e\ncwrite $02, [$00 + 0x061]\n"
    "mov $02, 0x10 << 16\ncwrite $02, [$00 + 0x010]\ncwrite $00, [$00 + 0x011]\n"
    "mov $02, 0x%x\ncwrite $02, [$00 + 0x012]\nmov $02, 0x1\ncwrite $02, [$00 + 0x054]\n"
    "waitin\nmov $01, $data\n"
    "h:\nushr $usraddr, $01, 0x8\n(rep)(xmov%u)mov $data, $data\nwaitin\nmov $01, $data\n"
    "e:\ncwrite $00, [$00 + 0x054]\n";

/* Payloads from 0 to 127 words, to registers from 0x8000 on and one that behaves. */
static uint32_t put_packets(struct bench *b, struct cps_buf *expected)
{
    static const uint32_t sizes[] = {1, 0, 2, 3, 4, 5, 127, 1, 1, 126, 8, 0, 0, 7};
    uint32_t at = 0;
    for (uint32_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        uint32_t reg = i == 8 ? 0x3801 : 0x8000 + 0x101 * i;
        uint32_t header = cps_pm4_type4(reg, sizes[i]);
        cps_buf_printf(expected, ", PKT ib1 %x=%x", STREAM + 4 * at, header);
        machine_set(b->engine, CPS_FILE_MEMORY, STREAM + 4 * at++, header);
        for (uint32_t k = 0; k < sizes[i]; k++) {
            cps_buf_printf(expected, ", REG user %x=%x", reg + k, word_of(at));
            machine_set(b->engine, CPS_FILE_MEMORY, STREAM + 4 * at, word_of(at));
            at++;
        }
    }
    return at;
}

enum { TYPE4_WORDS = 299, TYPE4_WRITES = 285, TYPE4_PACKETS = 15 };

/* In one run, or in pieces of so many ticks; who wants events, and who does not. */
static void check_type4(unsigned extra, uint64_t piece, uint32_t kinds)
{
    CPS_BUF code = {0}, expected = {0}, found = {0};
    cps_buf_printf(&code, handler, TYPE4_WORDS, extra);
    struct bench *b = create(CPS_LAYOUT_A6XX, cps_buf_text(&code), "");
    assert_int_equal(put_packets(b, &expected), TYPE4_WORDS);
    cps_engine_sink(b->engine, kinds ? &b->sink : NULL, kinds);
    for (enum cps_stop stop = CPS_STOP_BUDGET; stop == CPS_STOP_BUDGET;)
        stop = cps_engine_run(b->engine, piece);
    regprog_result(b, 0, 0, 0, &found);
    const char *a = cps_buf_text(&found);
    const char *e = kinds ? cps_buf_text(&expected) : "";
    while (*a && *a == *e)
        a++, e++;
    if (*a || *e)
        fail_msg("pieces of %u: %.80s, expected %.80s", (unsigned)piece, a, e);
    assert_int_equal(b->engine->tap.count[CPS_EV_REG], TYPE4_WRITES);
    assert_int_equal(b->engine->tap.count[CPS_EV_PKT], TYPE4_PACKETS);
    assert_int_equal(b->engine->packets, TYPE4_PACKETS);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_REGISTER, 0x8000 + 0x101 * 6 + 126),
                     word_of(1 + 1 + 3 + 4 + 5 + 6 + 1 + 126 + 1));
    bench_free(b);
}

static void packets_of_type_4_are_their_writes_however_they_are_run(void **state)
{
    const uint32_t events = 1u << CPS_EV_REG | 1u << CPS_EV_PKT;
    (void)state;
    for (unsigned extra = 1; extra < 4; extra++) {
        for (uint64_t piece = 1; piece < 140; piece += piece < 12 ? 1 : 17) {
            check_type4(extra, piece, events);
            check_type4(extra, piece, 0);
        }
        check_type4(extra, 100000, events | 1u << CPS_EV_STEP);
        check_type4(extra, 100000, events);
        check_type4(extra, 100000, 0);
    }
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

static void check_pairs(unsigned way)
{
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
        cps_engine_sink(b->engine, &b->sink, way ? ALL_EVENTS : 1u << CPS_EV_REG);
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        regprog_result(b, 0, 0, 0, &found);
        assert_string_equal(cps_buf_text(&found), bunches[i].result);
        bench_free(b);
    }
}

static void pairs_of_register_and_value_are_writes(void **state)
{
    (void)state;
    check_pairs(0);
    check_pairs(1); /* watched */
}

/* Bit 20 of $usraddr asks whether so many registers may be read (6ee 08fb): nothing is written. */
static void copies_that_ask_write_nothing(void **state)
{
    const struct copy copy = {"$usraddr", 1u << 20 | TARGET, 0, 20, 3};
    struct writes *writes = calloc(1, sizeof(*writes));
    (void)state;
    assert_non_null(writes);
    struct bench *b = run(&copy, writes);
    assert_int_equal(writes->count, 0);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_REGISTER, TARGET), 0);
    assert_int_equal(machine_value(b->engine, 0, CPS_FILE_CONTROL, 0x05b), 1);
    bench_free(b);
    free(writes);
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

/* ---- behind the last register ---- */

/* The payload of a packet of type 4 to the last registers, and as many words more as there are. */
static struct bench *run_past(uint32_t first, uint32_t words, unsigned extra, bool watched)
{
    CPS_BUF code = {0};
    cps_buf_printf(&code, handler, words + 1, extra);
    struct bench *b = create(CPS_LAYOUT_A6XX, cps_buf_text(&code), "");
    machine_set(b->engine, CPS_FILE_MEMORY, STREAM, cps_pm4_type4(first, words));
    for (uint32_t i = 0; i < words; i++)
        machine_set(b->engine, CPS_FILE_MEMORY, STREAM + 4 + 4 * i, word_of(i));
    cps_engine_sink(b->engine, &b->sink,
                    1u << CPS_EV_REG | 1u << CPS_EV_PKT | (watched ? 1u << CPS_EV_STEP : 0));
    assert_int_equal(cps_engine_run(b->engine, 10000), CPS_STOP_IDLE);
    return b;
}

/* The register file ends, and no copy may go on behind it: what comes of the words beyond is the
 * same as where they are written one by one. */
static void copies_end_where_the_registers_do(void **state)
{
    static const uint32_t sizes[] = {1, 2, 3, 4, 8, 60, 64, 65, 66, 100, 127};
    (void)state;
    for (unsigned extra = 1; extra < 4; extra++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            for (uint32_t back = 1; back <= 3; back++) {
                CPS_BUF alone = {0}, watched = {0};
                struct bench *a = run_past(0x40000 - back, sizes[i], extra, false);
                struct bench *b = run_past(0x40000 - back, sizes[i], extra, true);
                regprog_result(a, 0, 0, 0, &alone);
                regprog_result(b, 0, 0, 0, &watched);
                assert_string_equal(cps_buf_text(&alone), cps_buf_text(&watched));
                assert_memory_equal(cps_afuc_of(a->engine)->reg, cps_afuc_of(b->engine)->reg,
                                    sizeof(cps_afuc_of(a->engine)->reg));
                assert_memory_equal(cps_afuc_of(a->engine)->reg_flags,
                                    cps_afuc_of(b->engine)->reg_flags,
                                    sizeof(cps_afuc_of(a->engine)->reg_flags));
                for (uint32_t k = 0; k < back && k < sizes[i]; k++)
                    assert_int_equal(
                        machine_value(a->engine, 0, CPS_FILE_REGISTER, 0x40000 - back + k),
                        word_of(k));
                bench_free(a);
                bench_free(b);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_meet_the_end_of_a_batch_anywhere),
        cmocka_unit_test(copies_pass_registers_that_behave),
        cmocka_unit_test(copies_do_what_single_writes_do),
        cmocka_unit_test(a_memory_read_longer_than_its_queue_loses_no_word),
        cmocka_unit_test(packets_of_type_4_are_their_writes_however_they_are_run),
        cmocka_unit_test(copies_to_one_register_write_each_word),
        cmocka_unit_test(copies_that_ask_write_nothing),
        cmocka_unit_test(pairs_of_register_and_value_are_writes),
        cmocka_unit_test(extra_moves_wait_for_room_in_the_meq),
        cmocka_unit_test(copies_end_where_the_registers_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
