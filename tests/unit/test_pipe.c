/* SPDX-License-Identifier: MIT
 * Pipe registers and GPU registers of afuc against literal lists (facts/pipe.h, facts/gpu.h): which
 * of all numbers are registers, and what they do. */
#include "tests/lib/afuc_facts.h"

static const struct pipe_fact {
    uint8_t number[3]; /* a5xx, a6xx, a7xx */
    bool acts;
} pipes[] = {
#define PIPE(name, a5xx, a6xx, a7xx, acts) {{a5xx, a6xx, a7xx}, acts},
#include "tests/facts/pipe.h"
};

static const struct pipe_fact *pipe_at(enum cps_layout layout, unsigned number)
{
    unsigned column = layout == CPS_LAYOUT_A5XX_ME ? 0 : layout <= CPS_LAYOUT_A660 ? 1 : 2;
    for (size_t i = 0; number && i < sizeof(pipes) / sizeof(pipes[0]); i++) {
        if (pipes[i].number[column] == number)
            return &pipes[i];
    }
    return NULL;
}

enum { SELECTED = 0x40012 }; /* bit 18: $addr stays */

/* Every number is named in $addr, and gets 0, twice. */
static struct bench *select_all(enum cps_layout layout)
{
    CPS_BUF code = {0};
    for (unsigned n = 1; n < 256; n++)
        cps_buf_printf(&code,
                       "mov $02, 0x%x << 16\nor $02, $02, 0x12\nmov $addr, $02\nmov $data, $00\n"
                       "mov $data, $00\n",
                       n << 8 | 4);
    struct bench *b = create(layout, cps_buf_text(&code), "");
    cps_engine_sink(b->engine, &b->sink, 1u << CPS_EV_PIPE | 1u << CPS_EV_UNMODELLED);
    assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
    cps_tap_flush_(&b->engine->tap);
    return b;
}

static void every_pipe_number_is_a_register_or_none(void **state)
{
    (void)state;
    for (enum cps_layout layout = CPS_LAYOUT_A5XX_ME; layout <= CPS_LAYOUT_A8XX; layout++) {
        struct bench *b = select_all(layout);
        CPS_BUF found = {0}, expected = {0};
        for (size_t i = 0; i < b->count; i++) {
            bool memory = cps_event_kind(&b->event[i]) == CPS_EV_UNMODELLED &&
                          cps_event_sub(&b->event[i]) != CPS_PLACE_PIPE;
            if (!memory)
                regprog_event(&b->event[i], &found);
        }
        for (unsigned n = 1; n < 256; n++) {
            const struct pipe_fact *pipe = pipe_at(layout, n);
            if (pipe && pipe->acts)
                cps_buf_printf(&expected, ", PIPE %x=%x", n, SELECTED);
            cps_buf_printf(&expected, ", PIPE %x=0%s", n, pipe ? "" : ", UNMODELLED pipe ");
            if (!pipe)
                cps_buf_printf(&expected, "%x=0", n);
            cps_buf_printf(&expected, ", PIPE %x=0", n);
        }
        assert_string_equal(cps_buf_text(&found), cps_buf_text(&expected));
        bench_free(b);
    }
}

/* ---- GPU registers ---- */

static const struct gpu_fact {
    unsigned layouts;
    uint32_t first, last;
} gpus[] = {
#define GPU(name, layouts, first, last) {layouts, first, last},
#include "tests/facts/gpu.h"
};

enum { REGISTERS = 0x40000 };

struct reported {
    struct cps_sink sink; /* first */
    uint8_t at[REGISTERS];
};

static void note(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct reported *reported = (struct reported *)sink;
    for (size_t i = 0; i < count; i++) {
        if (cps_event_sub(&events[i]) == CPS_PLACE_GPU)
            reported->at[events[i].addr]++;
    }
}

static bool answers(enum cps_layout layout, uint32_t number)
{
    for (size_t i = 0; i < sizeof(gpus) / sizeof(gpus[0]); i++) {
        if (gpus[i].layouts >> layout & 1 && number >= gpus[i].first && number <= gpus[i].last)
            return true;
    }
    return false;
}

/* Reads all registers, one after the other, twice. */
static void read_all(enum cps_layout layout, struct reported *reported)
{
    CPS_BUF code = {0};
    cps_buf_printf(
        &code,
        "mov $05, 0x2\nagain:\nmov $02, $00\nmov $03, 0x4 << 16\nnext:\n"
        "cwrite $02, [$00 + 0x%03x]\nmov $04, $regdata\nadd $02, $02, 0x1\nsub $04, $03, $02\n"
        "brne $04, 0x0, #next\nnop\nsub $05, $05, 0x1\nbrne $05, 0x0, #again\nnop\n",
        number_named(layout, "REG_READ_ADDR", 13));
    struct bench *b = create(layout, cps_buf_text(&code), "");
    reported->sink.put = note;
    cps_engine_sink(b->engine, &reported->sink, 1u << CPS_EV_UNMODELLED);
    assert_int_equal(cps_engine_run(b->engine, 10000000), CPS_STOP_IDLE);
    cps_tap_flush_(&b->engine->tap);
    bench_free(b);
}

static void only_registers_that_something_answers_are_known_at_first(void **state)
{
    static const enum cps_layout layouts[] = {CPS_LAYOUT_A5XX_PFP, CPS_LAYOUT_A6XX, CPS_LAYOUT_A7XX,
                                              CPS_LAYOUT_A8XX};
    (void)state;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        struct reported *reported = calloc(1, sizeof(*reported));
        assert_non_null(reported);
        read_all(layouts[i], reported);
        for (uint32_t n = 0; n < REGISTERS; n++) {
            if (reported->at[n] != !answers(layouts[i], n))
                fail_msg("%s: register 0x%05x is reported %u times", names[layouts[i]], n,
                         reported->at[n]);
        }
        free(reported);
    }
}

#define SEEN ", ASSUME visibility "
#define ACK  ", ASSUME ack "

static const struct effect effects[] = {
#include "tests/facts/gpu_effects.h"
};

static void registers_have_their_effect_and_no_other(void **state)
{
    (void)state;
    assert_int_equal(effects_wrong(effects, sizeof(effects) / sizeof(effects[0])), 0);
}

/* ---- free-running counters ---- */

/* Two reads of a counter with @p between instructions; what they differ by. */
static uint64_t host_clock(void *context)
{
    (void)context;
    return UINT64_C(0x1122334455667788);
}

/* Ticks of each unit of the clock between two readings that are five instructions and no packet
 * apart, and the upper half after them. */
static void counters_count_what_the_policy_says(void **state)
{
    static const struct {
        uint64_t unit;
        uint32_t start, first, ticks, upper;
    } clocks[] = {{CPS_CLOCK_PACKETS, 0, 1, 1, 0},
                  {CPS_CLOCK_PACKETS, UINT32_MAX - 1, UINT32_MAX, 1, 1},
                  {CPS_CLOCK_INSTRUCTIONS, 0, 5, 5, 0},
                  {CPS_CLOCK_INSTRUCTIONS, 100, 105, 5, 0},
                  {CPS_CLOCK_HOST, 100, 0x55667788, 0, 0x11223344}};
    static const struct {
        enum cps_layout layout;
        uint32_t number;
    } counters[] = {
        {CPS_LAYOUT_A6XX, 0x980}, {CPS_LAYOUT_A6XX, 0x982}, {CPS_LAYOUT_A6XX, 0x1f888},
        {CPS_LAYOUT_A7XX, 0x980}, {CPS_LAYOUT_A7XX, 0x982}, {CPS_LAYOUT_A7XX, 0x1f888},
        {CPS_LAYOUT_A8XX, 0x8e7}, {CPS_LAYOUT_A8XX, 0x8e9}, {CPS_LAYOUT_A8XX, 0x1f888},
    };
    (void)state;
    for (size_t n = 0; n < sizeof(counters) / sizeof(counters[0]) * 5; n++) {
        size_t i = n / 5, c = n % 5;
        CPS_BUF code = {0};
        uint32_t read = number_named(counters[i].layout, "REG_READ_ADDR", 13);
        cps_buf_printf(&code,
                       "mov $02, 0x%x << 16\nor $02, $02, 0x%x\ncwrite $02, [$00 + 0x%03x]\n"
                       "mov $04, $regdata\nnop\nnop\nnop\ncwrite $02, [$00 + 0x%03x]\n"
                       "mov $05, $regdata\nadd $02, $02, 0x1\ncwrite $02, [$00 + 0x%03x]\n"
                       "mov $06, $regdata\n",
                       counters[i].number >> 16, counters[i].number & 0xffff, read, read, read);
        struct bench *b = create(counters[i].layout, cps_buf_text(&code), "");
        b->engine->policy.clock = clocks[c].unit;
        b->engine->policy.clock_start = clocks[c].start;
        b->engine->host.clock = host_clock;
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        uint32_t first = machine_value(b->engine, 0, CPS_FILE_GENERAL, 4);
        assert_int_equal(first, clocks[c].first);
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), first + clocks[c].ticks);
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 6), clocks[c].upper);
        assert_int_equal(bench_count(b, CPS_EV_ASSUME), 3);
        assert_non_null(bench_find(b, CPS_EV_ASSUME, CPS_WHAT_CLOCK, 0));
        bench_free(b);
    }
}

static void a_read_that_has_not_arrived_says_its_rest(void **state)
{
    static const enum cps_layout layouts[] = {CPS_LAYOUT_A6XX, CPS_LAYOUT_A7XX};
    static const uint32_t asked[] = {0x931, 0x932, 0x933, 0x946, 0x94c};
    (void)state;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        CPS_BUF code = {0};
        uint32_t address = number_named(layouts[i], "MEM_READ_ADDR", 13);
        uint32_t read = number_named(layouts[i], "REG_READ_ADDR", 13);
        cps_buf_printf(&code,
                       "mov $02, 0x1000\ncwrite $02, [$00 + 0x%03x]\nmov $02, 0x1\n"
                       "cwrite $02, [$00 + 0x%03x]\nmov $02, 0x108\ncwrite $02, [$00 + 0x%03x]\n",
                       address, address + 1, number_named(layouts[i], "MEM_READ_DWORDS", 15));
        for (unsigned at = 0; at < 10; at++)
            cps_buf_printf(&code,
                           "%smov $02, 0x%x\ncwrite $02, [$00 + 0x%03x]\nmov $%02x, $regdata\n",
                           at == 5 ? "mov $02, $memdata\n" : "", asked[at % 5], read, 3 + at);
        struct bench *b = create(layouts[i], cps_buf_text(&code), "");
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        for (unsigned taken = 0; taken < 2; taken++) {
            uint32_t said[5];
            for (unsigned at = 0; at < 5; at++)
                said[at] = machine_value(b->engine, 0, CPS_FILE_GENERAL, 3 + 5 * taken + at);
            assert_true(said[2] > 0);
            assert_int_equal((said[4] >> 16) + said[2], 0x108 - taken);
            assert_int_equal(said[0], 0x1000 + 4 * (0x108 - said[2]));
            assert_int_equal(said[1], 1);
            assert_int_equal(said[3], said[2]);
        }
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pipe_number_is_a_register_or_none),
        cmocka_unit_test(only_registers_that_something_answers_are_known_at_first),
        cmocka_unit_test(registers_have_their_effect_and_no_other),
        cmocka_unit_test(counters_count_what_the_policy_says),
        cmocka_unit_test(a_read_that_has_not_arrived_says_its_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
