/* SPDX-License-Identifier: MIT
 * Machines of afuc as a whole: what a stop says, who is started and who is not, what a reset
 * leaves, what is counted of a processor that begins late. */
#include "emu/afuc/core/machine.h"
#include "tests/lib/afuc_facts.h"

/* ---- what a stop says ---- */

static const struct stop {
    enum cps_layout layout;
    const char *code;
    enum cps_stop stop;
    const char *said; /* of an ME: behind "me " */
} stops[] = {
    {CPS_LAYOUT_A6XX, "nop\n[00000000]\n", CPS_STOP_FAULT,
     "at 0x0003: the word there is no instruction of this generation"},
    {CPS_LAYOUT_A5XX_ME, "nop\n[fbadc0de]\n", CPS_STOP_FAULT,
     "at 0x0003: the word there is no instruction of this generation"},
    {CPS_LAYOUT_A7XX, "mov $02, 0x7777\njump $02\nnop\nnop\n", CPS_STOP_FAULT,
     "at 0x0003: jump to 0x7777, outside of the image"},
    {CPS_LAYOUT_A6XX, "mov $02, $memdata\n", CPS_STOP_DEADLOCK,
     "at 0x0002: reads $memdata, but nothing was requested"},
    {CPS_LAYOUT_A5XX_ME, "mov $02, $regdata\n", CPS_STOP_DEADLOCK,
     "at 0x0002: reads $regdata, but nothing was requested"},
    {CPS_LAYOUT_A6XX, "mov $02, $data\n", CPS_STOP_DEADLOCK,
     "at 0x0002: waits for words of a command stream that has none"},
    {CPS_LAYOUT_A5XX_PFP, "mov $02, 0x800\nl:\nmov $data, $02\njump #l\nnop\n", CPS_STOP_DEADLOCK,
     "at 0x0003: the queue to the next processor is full"},
    {CPS_LAYOUT_A6XX, "l:\njump #l\nnop\n", CPS_STOP_DEADLOCK,
     "at 0x0002: is in an infinite loop that reads nothing"},
    /* a poll with pauses: the word that was read stands elsewhere in the queue each time */
    {CPS_LAYOUT_A6XX,
     "mov $02, 0x8800\nmov $03, 0x1\ncwrite $02, [$00 + @REG_WRITE_ADDR]\n"
     "cwrite $03, [$00 + @REG_WRITE]\nl:\ncwrite $03, [$00 + @REG_READ_DWORDS]\n"
     "cwrite $02, [$00 + @REG_READ_ADDR]\nmov $04, $regdata\nmov $05, 0x200\nd:\n"
     "brne $05, 0x0, #d\nsub $05, $05, 0x1\njump #l\nnop\n",
     CPS_STOP_DEADLOCK, "is in an infinite loop that reads GPU register 0x8800; it is 0x00000001"},
    {CPS_LAYOUT_A6XX, "mov $04, 0x9\ncwrite $04, [$00 + 0x064]\nl:\njump #l\nnop\n", CPS_STOP_FAULT,
     "at 0x0004: the firmware reported error 9 and is spinning"},
    {CPS_LAYOUT_A6XX, "mov $04, 0x1\ncwrite $04, [$00 + 0x064]\nl:\njump #l\nnop\n",
     CPS_STOP_BAD_PACKET, "at 0x0004: the firmware reported error 1 and is spinning"},
    {CPS_LAYOUT_A6XX, "mov $04, 0x1 << 8\ncwrite $04, [$00 + 0x064]\nl:\njump #l\nnop\n",
     CPS_STOP_BAD_PACKET, "at 0x0004: the firmware reported error 256 and is spinning"},
    {CPS_LAYOUT_A6XX, "mov $04, 0x1 << 13\ncwrite $04, [$00 + 0x064]\nl:\njump #l\nnop\n",
     CPS_STOP_BAD_PACKET, "at 0x0004: the firmware reported error 8192 and is spinning"},
    {CPS_LAYOUT_A6XX, "mov $04, 0x1 << 9\ncwrite $04, [$00 + 0x064]\nl:\njump #l\nnop\n",
     CPS_STOP_FAULT, "at 0x0004: the firmware reported error 512 and is spinning"},
    {CPS_LAYOUT_A7XX,
     "mov $addr, 0xe8 << 24\nmov $data, 0x2000\nmov $addr, 0xea << 24\nmov $data, 0x28\n"
     "mov $data, 0x883\nmov $data, 0x4000\n",
     CPS_STOP_FAULT, "an event stores 16384 registers, expected at most"},
    {CPS_LAYOUT_A7XX, "mov $addr, 0xa4 << 24\nmov $data, 0x3\nmov $data, 0x5\n", CPS_STOP_DEADLOCK,
     "the pipe waits for on-chip word 0x03 (control 0x203) to reach 0x00000005, it is 0x00000000"},
};

static struct bench *stopped(const struct stop *row)
{
    const char *other = row->layout == CPS_LAYOUT_A5XX_PFP ? "mov $02, $regdata\n" : "";
    struct bench *b = create(row->layout, row->code, other);
    b->engine->policy.waits = CPS_WAITS_STOP;
    enum cps_stop stop = cps_engine_run(b->engine, 1000000);
    if (stop != row->stop)
        fail_msg("%s\nstops as %d, expected %d", row->code, stop, row->stop);
    return b;
}

static void a_stop_says_which_processor_stands_where_and_why(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
        struct bench *b = stopped(&stops[i]);
        CPS_BUF text = {0}, start = {0};
        bool two = stops[i].layout <= CPS_LAYOUT_A5XX_ME;
        bool whole = !strncmp(stops[i].said, "at ", 3);
        cps_engine_explain(b->engine, stops[i].stop, &text);
        cps_buf_printf(&start, "%s%s",
                       !two                                    ? ""
                       : stops[i].layout == CPS_LAYOUT_A5XX_ME ? "me "
                                                               : "pfp ",
                       stops[i].said);
        const char *found = strstr(cps_buf_text(&text), cps_buf_text(&start));
        if (!found || (whole && found != cps_buf_text(&text)))
            fail_msg("%s\nexpected %s", cps_buf_text(&text), cps_buf_text(&start));
        bench_free(b);
    }
}

static void a_budget_that_is_used_up_says_so(void **state)
{
    (void)state;
    struct bench *b = create(CPS_LAYOUT_A6XX, "l:\njump #l\nadd $02, $02, 0x1\n", "");
    CPS_BUF text = {0};
    assert_int_equal(cps_engine_run(b->engine, 100), CPS_STOP_BUDGET);
    cps_engine_explain(b->engine, CPS_STOP_BUDGET, &text);
    assert_non_null(strstr(cps_buf_text(&text), ": the instruction limit is reached"));
    assert_int_equal(cps_buf_text(&text)[0], 'a'); /* "at ": one processor has no name */
    bench_free(b);
}

/* ---- processors that others start ---- */

/* BR starts BV at an offset to its own image; BV's begins at dword `start`. */
static struct bench *two(uint32_t offset, uint32_t *start)
{
    static const char format[] =
        "mov $04, 0x2\ncwrite $04, [$00 + 0x038]\nmov $05, 0x830\ncwrite $05, [$00 + 0x039]\n"
        "mov $03, $regdata\nmov $04, $regdata\nadd $03, $03, 0x%x\ncwrite $03, [$00 + 0x0d6]\n"
        "cwrite $04, [$00 + 0x0d7]\nmov $05, 0x1\ncwrite $05, [$00 + 0x0d8]\nwaitin\nmov $01, "
        "$data\n"
        ".section BV\n[01740002]\n[01000000]\nmov $06, 0x66\nmov $07, 0x77\n";
    CPS_BUF code = {0};
    cps_buf_printf(&code, format, 0u);
    struct cps_asm probe = bench_code(HEAD_A7XX, cps_buf_text(&code), CPS_A7XX);
    *start = bench_section(&probe, 0x01740002);
    uint32_t behind = 4 * (probe.count - 1);
    free(probe.words);
    cps_buf_clear(&code);
    cps_buf_printf(&code, format, offset == UINT32_MAX ? 4 * *start : behind - offset);
    return bench_afuc(CPS_LAYOUT_A7XX, HEAD_A7XX, cps_buf_text(&code), CPS_CPU_BV, *start);
}

/* The last word of the image is one that can be started, the next is none. */
static void a_processor_starts_within_the_image_only(void **state)
{
    static const struct {
        uint32_t offset; /* from behind the image, UINT32_MAX: its own part */
        bool starts;
    } rows[] = {{UINT32_MAX, true}, {4, true}, {0, false}};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        uint32_t start = 0;
        struct bench *b = two(rows[i].offset, &start);
        cps_engine_run(b->engine, 1000);
        assert_int_equal(cps_engine_where(b->engine, 1).started, rows[i].starts);
        b->notes = !rows[i].starts;
        assert_int_equal(machine_value(b->engine, 1, CPS_FILE_GENERAL, 7),
                         rows[i].offset == UINT32_MAX ? 0x77 : 0);
        bench_free(b);
    }
}

/* Its counters are given before it has an image. One stands behind the last instruction. With STEP
 * events, instructions are counted alike. */
static void a_processor_that_starts_late_is_counted(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t few = i & 1;
        struct cps_cover counts[64] = {{0}};
        uint32_t start = 0;
        struct bench *b = two(UINT32_MAX, &start);
        uint32_t size = b->program[0].count - 1 - start;
        assert_true(size < 63);
        cps_engine_sink(b->engine, i & 2 ? &b->sink : NULL, i & 2 ? 1u << CPS_EV_STEP : 0);
        cps_engine_cover(b->engine, 1, counts, size + 1 - few);
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        assert_int_equal(machine_value(b->engine, 1, CPS_FILE_GENERAL, 7), 0x77);
        for (uint32_t at = 0; at < 64; at++)
            assert_int_equal(counts[at].run, !few && at < 4);
        bench_free(b);
    }
}

/* Behind a RESET memory is not known any more, but for what the machine itself loads from. */
static void a_reset_keeps_the_image_in_memory(void **state)
{
    static const uint8_t bytes[4] = {1, 2, 3, 4};
    (void)state;
    struct bench *b = create(CPS_LAYOUT_A6XX, "nop\n", "");
    uint64_t iova = (uint64_t)machine_value(b->engine, 0, CPS_FILE_REGISTER, 0x831) << 32 |
                    machine_value(b->engine, 0, CPS_FILE_REGISTER, 0x830);
    bool known = false;
    assert_null(machine_load(b->engine, 0x5000, bytes, 4));
    machine_forget(b->engine);
    assert_int_equal(machine_memory(b->engine, 0x5000, &known), 0);
    assert_false(known);
    for (uint32_t i = 0; i < b->program[0].count - 1; i++) {
        assert_int_equal(machine_memory(b->engine, iova + 4 * i, &known),
                         b->program[0].words[1 + i]);
        assert_true(known);
    }
    machine_memory(b->engine, iova + 4 * ((uint64_t)b->program[0].count - 1), &known);
    assert_false(known);
    bench_free(b);
}

/* While STEP events are wanted: destinations, and the offset register of a pre-increment. */
static void registers_that_instructions_name_are_known_as_written(void **state)
{
    (void)state;
    struct bench *b = create(CPS_LAYOUT_A6XX,
                             "mov $04, $00\nmov $0f, 0xff\ncread $13, [$10 + 0x001]!\n"
                             "cread $12, [$04 + 0x100]\n",
                             "");
    cps_engine_sink(b->engine, &b->sink, ALL_EVENTS);
    assert_int_equal(cps_engine_run(b->engine, 6), CPS_STOP_BUDGET);
    assert_int_equal(cps_afuc_written(cps_afuc_of(b->engine), 0) & ~1u,
                     1u << 4 | 1u << 0xf | 1u << 0x10 | 1u << 0x13 | 1u << 0x12);
    bench_free(b);
}

/* The last of each file is there, the next one is not. */
static void places_behind_the_last_of_a_file_are_refused(void **state)
{
    static const struct {
        char file;
        uint64_t count;
    } rows[] = {{CPS_FILE_GENERAL, 32}, {CPS_FILE_CONTROL, 0x1000}, {CPS_FILE_SQE, 64},
                {CPS_FILE_STACK, 8},    {CPS_FILE_PC, 2},           {CPS_FILE_REGISTER, 0x40000}};
    (void)state;
    struct bench *b = create(CPS_LAYOUT_A6XX, "", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cps_location place = {0, rows[i].file, rows[i].count - 1};
        uint64_t value = 0;
        cps_engine_get(b->engine, place, &value);
        bool plain = rows[i].file == CPS_FILE_CONTROL || rows[i].file == CPS_FILE_SQE ||
                     rows[i].file == CPS_FILE_REGISTER;
        assert_true(!plain || cps_engine_set(b->engine, place, value));
        place.number++;
        assert_false(cps_engine_get(b->engine, place, &value));
        assert_false(cps_engine_set(b->engine, place, 0));
    }
    bench_free(b);
}

/* ---- extra moves ---- */

#define THREE \
    "MEM_READ_ADDR=1000 MEM_READ_ADDR+1=0 MEM_READ_DWORDS=3 {mov $rem, 0x3;mov $addr, 0x883} "
#define READ ", MEMR memdata 1000=a0, MEMR memdata 1004=a1, MEMR memdata 1008=a2"

/* The queue operand is the first or the second, and any of the three; so many more as the prefix
 * and $rem say. */
static const struct effect moves[] = {
    {SQES, THREE "{(xmov1)mov $data, $memdata} ?mem",
     "a2" READ ", REG data 883=a0, REG data 884=a1"},
    {SQES, THREE "{(xmov2)mov $data, $memdata} {mov $04, 0x0}",
     READ ", REG data 883=a0, REG data 884=a1, REG data 885=a2"},
    {SQES, THREE "{mov $02, 0x1;(xmov1)add $data, $memdata, $02} ?mem",
     "a2" READ ", REG data 883=a1, REG data 884=a1"},
    {SQES, THREE "{mov $02, 0x1;(xmov1)add $data, $02, $memdata} ?mem",
     "a2" READ ", REG data 883=a1, REG data 884=a1"},
    {SQES, THREE "{mov $rem, 0x0;(xmov1)mov $data, $memdata} ?mem ?mem",
     "a1 a2" READ ", REG data 883=a0"},
    {SQES, THREE "{mov $rem, 0x1;(xmov3)mov $data, $memdata} ?mem",
     "a2" READ ", REG data 883=a0, REG data 884=a1"},
    /* Into a register the first word only; the others are dropped. */
    {SQES, THREE "{(xmov1)mov $04, $memdata} {mov $05, $memdata} {mov $06, 0x0}", READ},
};

static void extra_moves_come_from_the_queue_operand(void **state)
{
    (void)state;
    assert_int_equal(effects_wrong(moves, sizeof(moves) / sizeof(moves[0])), 0);
}

/* ---- the end of an image ---- */

/* Behind the last word there is none: a fault that names the place. */
static void an_image_that_is_run_off_is_a_fault(void **state)
{
    (void)state;
    for (unsigned way = 0; way < 2; way++) {
        struct cps_asm program = bench_assemble(HEAD_A6XX "mov $02, 0x5\n", CPS_A6XX);
        struct bench *b = bench_create(&(struct cps_config){.layout = CPS_LAYOUT_A6XX,
                                                            .words = program.words + 1,
                                                            .count = program.count - 1,
                                                            .image = {{CPS_CPU_SQE, 0}},
                                                            .image_count = 1});
        b->program[0] = program;
        cps_engine_sink(b->engine, way ? &b->sink : NULL, way ? ALL_EVENTS : 0);
        assert_int_equal(cps_engine_run(b->engine, 100), CPS_STOP_FAULT);
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 2), 5);
        assert_int_equal(cps_engine_where(b->engine, 0).pc, program.count - 1);
        assert_int_equal(cps_afuc_of(b->engine)->core[0].s.fault, FAULT_ILLEGAL);
        bench_free(b);
    }
}

/* ---- levels ---- */

/* Of the level's three bits a7xx has five values; the others lead to the ring. a6xx has two bits.
 */
static void levels_that_there_are_not_are_the_ring(void **state)
{
    static const uint32_t levels[2][9] = {{LEVEL_RB, LEVEL_IB1, LEVEL_IB2, LEVEL_SDS, LEVEL_RB,
                                           LEVEL_IB1, LEVEL_IB2, LEVEL_SDS, LEVEL_RB},
                                          {LEVEL_RB, LEVEL_IB1, LEVEL_IB2, LEVEL_IB3, LEVEL_SDS,
                                           LEVEL_RB, LEVEL_RB, LEVEL_RB, LEVEL_RB}};
    (void)state;
    for (unsigned late = 0; late < 2; late++) {
        for (unsigned value = 0; value < 9; value++) {
            CPS_BUF code = {0};
            cps_buf_printf(&code,
                           "mov $02, 0x1\ncwrite $02, [$00 + 0x054]\nmov $02, 0x%x\n"
                           "cwrite $02, [$00 + 0x054]\nmov $03, 0x1\nl:\njump #l\nnop\n",
                           value);
            struct bench *b =
                create(late ? CPS_LAYOUT_A7XX : CPS_LAYOUT_A6XX, cps_buf_text(&code), "");
            assert_int_equal(cps_engine_run(b->engine, 20), CPS_STOP_BUDGET);
            assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 3), 1);
            assert_int_equal(cps_afuc_of(b->engine)->core[0].s.level, levels[late][value]);
            bench_free(b);
        }
    }
}

/* ---- what is logged ---- */

/* A return takes what a call has lost only if one more was open than there is room for. */
static void a_depth_of_calls_is_impossible_if_a_return_is_lost(void **state)
{
    (void)state;
    for (unsigned calls = 1; calls <= 10; calls++) {
        struct cps_edge edges[64];
        struct cps_edge_log log = {.edge = edges, .room = 64};
        CPS_BUF code = {0};
        cps_buf_str(&code, "call #f1\nnop\njump #end\nnop\n");
        for (unsigned i = 1; i < calls; i++)
            cps_buf_printf(&code, "f%u:\ncall #f%u\nnop\nret\nnop\n", i, i + 1);
        cps_buf_printf(&code, "f%u:\nret\nnop\nend:\n", calls);
        struct bench *b = create(CPS_LAYOUT_A6XX, cps_buf_text(&code), "");
        cps_engine_sink(b->engine, NULL, 0);
        cps_afuc_log(cps_afuc_of(b->engine), &log);
        cps_engine_run(b->engine, 1000);
        assert_int_equal(log.depth, calls > 8 ? (int)calls : 0);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stop_says_which_processor_stands_where_and_why),
        cmocka_unit_test(a_budget_that_is_used_up_says_so),
        cmocka_unit_test(a_processor_starts_within_the_image_only),
        cmocka_unit_test(a_processor_that_starts_late_is_counted),
        cmocka_unit_test(a_reset_keeps_the_image_in_memory),
        cmocka_unit_test(registers_that_instructions_name_are_known_as_written),
        cmocka_unit_test(places_behind_the_last_of_a_file_are_refused),
        cmocka_unit_test(extra_moves_come_from_the_queue_operand),
        cmocka_unit_test(an_image_that_is_run_off_is_a_fault),
        cmocka_unit_test(levels_that_there_are_not_are_the_ring),
        cmocka_unit_test(a_depth_of_calls_is_impossible_if_a_return_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
