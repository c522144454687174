/* SPDX-License-Identifier: MIT
 * The DDEs of a8xx, which draw for BR and BV: their queue, groups, fetches and registers. Numbers
 * of controls, and who does what with them: gen80000 070, by address. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/afuc/origin/origin.h"
#include "tests/lib/engine_bench.h"

enum { BR, BV, DDE_BR, DDE_BV };

/* 007e..0088 and before: all processors start at addresses behind that of the first image. */
static void put_code(struct cps_buf *out, const char *br, const char *bv, const char *dde,
                     const uint32_t start[2])
{
    cps_buf_printf(
        out,
        "mov $02, 0x2\ncwrite $02, [$00 + 0x01a]\nmov $02, 0x816\ncwrite $02, [$00 + 0x01b]\n"
        "mov $03, $regdata\nmov $04, $regdata\nmov $06, 0x1\n"
        "add $05, $03, %u\ncwrite $05, [$00 + 0x080]\ncwrite $04, [$00 + 0x081]\n"
        "cwrite $06, [$00 + 0x082]\n"
        "add $05, $03, %u\ncwrite $05, [$00 + 0x088]\ncwrite $04, [$00 + 0x089]\n"
        "cwrite $06, [$00 + 0x08a]\ncwrite $05, [$00 + 0x08b]\ncwrite $04, [$00 + 0x08c]\n"
        "cwrite $06, [$00 + 0x08d]\n",
        4 * start[0], 4 * start[1]);
    cps_buf_printf(out,
                   "%swaitin\nmov $01, $data\n.section BV\n[01500002]\n[01000000]\n%swaitin\n"
                   "mov $01, $data\n.section DDE\n[01500004]\n[01000000]\n%s",
                   br, bv, dde);
}

/* BR, BV and two DDEs with one image. Memory: 0xa0, 0xa1, ... from 0x300000. */
static struct bench *make(const char *br, const char *bv, const char *dde)
{
    static const char head[] = "[01500001]\n[01000000]\n";
    uint32_t start[2] = {0};
    struct cps_asm program = {0};
    for (unsigned pass = 0; pass < 2; pass++) {
        CPS_BUF code = {0};
        free(program.words);
        put_code(&code, br, bv, dde, start);
        program = bench_code(head, cps_buf_text(&code), CPS_A8XX);
        start[0] = bench_section(&program, 0x01500002);
        start[1] = bench_section(&program, 0x01500004);
    }
    struct bench *b = bench_create(&(struct cps_config){.layout = CPS_LAYOUT_A8XX,
                                                        .policy = cps_policy_default(),
                                                        .words = program.words + 1,
                                                        .count = program.count - 1,
                                                        .image = {{CPS_CPU_SQE, 0},
                                                                  {CPS_CPU_BV, start[0]},
                                                                  {CPS_CPU_DDE_BR, start[1]},
                                                                  {CPS_CPU_DDE_BV, start[1]}},
                                                        .image_count = 4});
    b->program[0] = program;
    for (uint32_t i = 0; i < 8; i++)
        machine_set(b->engine, CPS_FILE_MEMORY, 0x300000 + 4 * i, 0xa0 + i);
    return b;
}

/* The same, run until all wait. */
static struct bench *draw(const char *br, const char *bv, const char *dde)
{
    struct bench *b = make(br, bv, dde);
    b->stop = cps_engine_run(b->engine, 1000000);
    return b;
}

static uint32_t general(const struct bench *b, unsigned core, unsigned number)
{
    return machine_value(b->engine, core, CPS_FILE_GENERAL, number);
}

/* 0603..060a: BR writes 0x191; what its DDE reads at level 0, where it begins, are those words. */
static void each_dde_reads_what_its_processor_sent(void **state)
{
    (void)state;
    struct bench *b =
        draw("mov $02, 0x11\ncwrite $02, [$00 + 0x191]\nmov $02, 0x12\ncwrite $02, [$00 + 0x191]\n",
             "mov $02, 0x21\ncwrite $02, [$00 + 0x191]\nmov $02, 0x22\ncwrite $02, [$00 + 0x191]\n",
             "mov $05, $data\nmov $06, $data\n");
    assert_int_equal(b->stop, CPS_STOP_IDLE);
    assert_int_equal(general(b, DDE_BR, 5), 0x11);
    assert_int_equal(general(b, DDE_BR, 6), 0x12);
    assert_int_equal(general(b, DDE_BV, 5), 0x21);
    assert_int_equal(general(b, DDE_BV, 6), 0x22);
    assert_int_equal(bench_count(b, CPS_EV_UNMODELLED), 0);
    bench_free(b);
}

/* 05d5..05d9 makes the header 0x70430002 with its two words. */
static void headers_among_them_are_the_ddes_packets(void **state)
{
    (void)state;
    struct bench *b =
        draw("mov $02, 0x7043 << 16\nor $02, $02, 0x2\ncwrite $02, [$00 + 0x191]\nmov $02, 0x31\n"
             "cwrite $02, [$00 + 0x191]\nmov $02, 0x32\ncwrite $02, [$00 + 0x191]\n",
             "",
             "mov $02, 0x43\ncwrite $02, [$00 + 0x070]\nmov $02, #h\ncwrite $02, [$00 + 0x071]\n"
             "waitin\nmov $01, $data\nh: mov $07, $rem\nmov $05, $data\nmov $06, $data\n");
    const struct cps_event *packet = bench_find(b, CPS_EV_PKT, CPS_LEVEL_INT, 0);
    assert_int_equal(b->stop, CPS_STOP_IDLE);
    assert_int_equal(general(b, DDE_BR, 1), 0x70430002);
    assert_int_equal(general(b, DDE_BR, 7), 2);
    assert_int_equal(general(b, DDE_BR, 5), 0x31);
    assert_int_equal(general(b, DDE_BR, 6), 0x32);
    assert_int_equal(bench_count(b, CPS_EV_PKT), 1);
    assert_non_null(packet);
    assert_int_equal(cps_event_who(packet), CPS_CPU_DDE_BR);
    bench_free(b);
}

/* Adds up what comes, up to a 1, in $05. */
#define SUM_SLOWLY                                                              \
    "mov $06, $data\nmov $05, $06\nr: breq $06, 0x1, #e\nnop\nmov $rem, 0x20\n" \
    "(rep)mov $07, $00\nmov $06, $data\njump #r\nadd $05, $05, $06\ne:\n"

/* More words than any queue holds: the sender waits, nothing is lost. */
static void a_full_queue_makes_the_sender_wait(void **state)
{
    (void)state;
    struct bench *b = draw("mov $02, 0x1388\ns: cwrite $02, [$00 + 0x191]\nsub $02, $02, 0x1\n"
                           "brne $02, 0x0, #s\nnop\n",
                           "mov $02, 0x1\ncwrite $02, [$00 + 0x191]\n", SUM_SLOWLY);
    assert_int_equal(b->stop, CPS_STOP_IDLE);
    assert_int_equal(general(b, DDE_BR, 5), 5000 * 5001 / 2);
    assert_int_equal(general(b, DDE_BV, 5), 1);
    bench_free(b);
}

/* The same where the number of the queue is computed. */
static void so_it_does_when_the_queue_is_indexed(void **state)
{
    (void)state;
    struct bench *b =
        draw("mov $03, 0x191\nmov $02, 0x1388\ns: cwrite $02, [$03 + 0x000]\nsub $02, $02, 0x1\n"
             "brne $02, 0x0, #s\nnop\n",
             "mov $02, 0x1\ncwrite $02, [$00 + 0x191]\n", SUM_SLOWLY);
    assert_int_equal(b->stop, CPS_STOP_IDLE);
    assert_int_equal(general(b, DDE_BR, 5), 5000 * 5001 / 2);
    bench_free(b);
}

/* Group 3, two words at 0x300000, modes 7; then DRAW_STATE_ACTIVE and MODE_BITMASK. */
#define GROUP                                                                                      \
    "mov $02, 0x3\ncwrite $02, [$00 + 0x051]\nmov $02, 0x30 << 16\ncwrite $02, [$00 + 0x055]\n"    \
    "cwrite $00, [$00 + 0x056]\nmov $02, 0x7 << 16\nor $02, $02, 0x2\ncwrite $02, [$00 + 0x057]\n" \
    "mov $02, 0x8\ncwrite $02, [$00 + 0x059]\nmov $02, 0x1\ncwrite $02, [$00 + 0x05b]\n"

/* 05c3..05d4 starts groups with 0xc before it sends the draw; the DDE reads them at level 4 and
 * comes back to its queue with level 0. */
static void groups_that_are_started_with_bit_3_are_the_ddes(void **state)
{
    (void)state;
    struct bench *b = draw(
        GROUP "mov $02, 0xc\ncwrite $02, [$00 + 0x063]\ncread $0b, [$00 + 0x061]\nmov $02, 0x1\n"
              "cwrite $02, [$00 + 0x191]\nmov $02, 0x77\ncwrite $02, [$00 + 0x191]\n",
        "mov $02, 0x2\ncwrite $02, [$00 + 0x191]\n",
        "mov $09, $data\nbreq $09, 0x2, #e\nmov $02, 0x4\ncwrite $02, [$00 + 0x03d]\nmov $05, "
        "$data\n"
        "mov $06, $data\nmov $07, $data\ncwrite $00, [$00 + 0x03d]\nmov $08, $data\ne:\n");
    assert_int_equal(b->stop, CPS_STOP_IDLE);
    assert_int_equal(general(b, BR, 0x0b), 3); /* evaluated, nothing left for BR */
    assert_int_equal(general(b, DDE_BR, 5), 0xa0);
    assert_int_equal(general(b, DDE_BR, 6), 0xa1);
    assert_int_equal(general(b, DDE_BR, 7), 0x708a8000); /* the end of a buffer */
    assert_int_equal(general(b, DDE_BR, 8), 0x77);
    bench_free(b);
}

static void groups_that_are_started_without_it_are_brs(void **state)
{
    (void)state;
    struct bench *b =
        draw(GROUP "mov $02, 0x4\ncwrite $02, [$00 + 0x063]\ncread $0b, [$00 + 0x061]\n"
                   "mov $02, 0x4\ncwrite $02, [$00 + 0x03d]\nmov $07, $data\nmov $08, $data\n"
                   "mov $09, $data\ncwrite $00, [$00 + 0x03d]\n",
             "", "");
    assert_int_equal(b->stop, CPS_STOP_IDLE);
    assert_int_equal(general(b, BR, 0x0b), 1); /* evaluated, one is left */
    assert_int_equal(general(b, BR, 7), 0xa0);
    assert_int_equal(general(b, BR, 8), 0xa1);
    assert_int_equal(general(b, BR, 9), 0x708a8000);
    bench_free(b);
}

/* 05bf counts active groups with popcount, and DDE 00d0 waits for as many ends: one that is not of
 * this mode has an end, too. */
static void a_dde_gets_the_ends_of_groups_of_other_modes(void **state)
{
    (void)state;
    struct bench *b =
        draw(GROUP "mov $02, 0x8\ncwrite $02, [$00 + 0x05b]\nmov $02, 0xc\n"
                   "cwrite $02, [$00 + 0x063]\nmov $02, 0x1\ncwrite $02, [$00 + 0x191]\n",
             "mov $02, 0x2\ncwrite $02, [$00 + 0x191]\n",
             "mov $09, $data\nbreq $09, 0x2, #e\nmov $02, 0x4\ncwrite $02, [$00 + 0x03d]\n"
             "mov $05, $data\ncwrite $00, [$00 + 0x03d]\ne:\n");
    assert_int_equal(b->stop, CPS_STOP_IDLE);
    assert_int_equal(general(b, DDE_BR, 5), 0x708a8000);
    bench_free(b);
}

#define FETCH(at)                                                                              \
    "mov $02, 0x30 << 16\nor $02, $02, " at "\ncwrite $02, [$00 + 0x02c]\ncwrite $00, [$00 + " \
    "0x02d]\nmov $02, 0x1\ncwrite $02, [$00 + 0x02e]\n"

/* 09aa..09af: with bit 1 of 0x190 MEM_READ fetches for the DDE; 09b5 clears it. */
static void fetches_go_where_control_0x190_says(void **state)
{
    (void)state;
    struct bench *b =
        draw("mov $02, 0x2\ncwrite $02, [$00 + 0x190]\n" FETCH(
                 "0x0") "cwrite $00, [$00 + 0x190]\n" FETCH("0x4") "mov $07, $memdata\n",
             "mov $02, 0x2\ncwrite $02, [$00 + 0x190]\n" FETCH("0x8"), "mov $05, $memdata\n");
    assert_int_equal(b->stop, CPS_STOP_IDLE);
    assert_int_equal(general(b, DDE_BR, 5), 0xa0);
    assert_int_equal(general(b, BR, 7), 0xa1);
    assert_int_equal(general(b, DDE_BV, 5), 0xa2);
    bench_free(b);
}

/* Who watches where values come from sees the same words, of each DDE its own. */
static void words_fetched_for_a_dde_come_from_memory(void **state)
{
    static const unsigned core[] = {DDE_BR, DDE_BR, DDE_BV, DDE_BV};
    static const unsigned number[] = {5, 6, 5, 6};
    (void)state;
    struct origin *o = NULL;
    struct bench *b = make("mov $02, 0x2\ncwrite $02, [$00 + 0x190]\n" FETCH("0x0") FETCH("0x4"),
                           "mov $02, 0x2\ncwrite $02, [$00 + 0x190]\n" FETCH("0x8") FETCH("0xc"),
                           "mov $05, $memdata\nmov $06, $memdata\n");
    assert_null(origin_create_(cps_afuc_of(b->engine), 0, &o));
    cps_engine_sink(b->engine, origin_sink_(o), ORIGIN_KINDS);
    assert_int_equal(cps_engine_run(b->engine, 1000000), CPS_STOP_IDLE);
    for (unsigned i = 0; i < 4; i++) {
        const struct origin_node *node = origin_at_(o, origin_general_(o, core[i], number[i]));
        const struct origin_node *word = origin_at_(o, node->in[ORIGIN_B]);
        assert_int_equal(node->value, 0xa0 + i);
        assert_int_equal(word->kind, ORIGIN_MEMORY);
        assert_int_equal(word->value, 0xa0 + i);
        assert_int_equal(word->place, 0x300000 + 4 * i);
    }
    origin_destroy_(o);
    cps_engine_sink(b->engine, NULL, 0);
    bench_free(b);
}

/* Its own fetch is its own, whatever 0x190 holds there (DDE 001c reads its packet table so). */
static void a_dde_fetches_for_itself(void **state)
{
    (void)state;
    struct bench *b = draw(
        "", "", "mov $02, 0x2\ncwrite $02, [$00 + 0x190]\n" FETCH("0xc") "mov $05, $memdata\n");
    assert_int_equal(b->stop, CPS_STOP_IDLE);
    assert_int_equal(general(b, DDE_BR, 5), 0xa3);
    assert_int_equal(general(b, DDE_BV, 5), 0xa3);
    bench_free(b);
}

/* DDE 037f..0382 makes its aperture of the number of the pipe that it draws into. */
static void registers_of_a_dde_are_those_of_its_pipe(void **state)
{
    (void)state;
    struct bench *b = draw("mov $02, 0x1\ncwrite $02, [$00 + 0x191]\n",
                           "mov $02, 0x2\ncwrite $02, [$00 + 0x191]\n",
                           "mov $05, $data\nmov $addr, 0x8800\nmov $data, $05\n");
    assert_int_equal(machine_value(b->engine, BR, CPS_FILE_REGISTER, 0x8800), 1);
    assert_int_equal(machine_value(b->engine, DDE_BR, CPS_FILE_REGISTER, 0x8800), 1);
    assert_int_equal(machine_value(b->engine, BV, CPS_FILE_REGISTER, 0x8800), 2);
    assert_int_equal(machine_value(b->engine, DDE_BV, CPS_FILE_REGISTER, 0x8800), 2);
    bench_free(b);
}

/* D: enum adreno_pipe has 6 and 7 for them, so a8xx's aperture has four bits (0040: 0x14007000). */
static void apertures_reach_the_ddes_controls(void **state)
{
    (void)state;
    struct bench *b =
        draw("mov $02, 0x8000 << 16\nor $02, $02, 0x6000\ncwrite $02, [$00 + 0x01c]\n"
             "mov $02, 0x410\ncwrite $02, [$00 + 0x018]\nmov $02, 0x66\ncwrite $02, [$00 + 0x019]\n"
             "mov $02, 0x8000 << 16\nor $02, $02, 0x7000\ncwrite $02, [$00 + 0x01c]\n"
             "mov $02, 0x77\ncwrite $02, [$00 + 0x019]\n",
             "", "");
    assert_int_equal(machine_value(b->engine, DDE_BR, CPS_FILE_CONTROL, 0x410), 0x66);
    assert_int_equal(machine_value(b->engine, DDE_BV, CPS_FILE_CONTROL, 0x411), 0x77);
    assert_int_equal(machine_value(b->engine, DDE_BR, CPS_FILE_CONTROL, 0x411), 0);
    assert_int_equal(machine_value(b->engine, BR, CPS_FILE_CONTROL, 0x410), 0);
    assert_int_equal(machine_value(b->engine, BV, CPS_FILE_CONTROL, 0x410), 0);
    bench_free(b);
}

/* An a8xx image alone, as a program under construction is. */
static void without_a_dde_its_queue_is_not_modelled(void **state)
{
    (void)state;
    struct bench *b =
        bench_afuc(CPS_LAYOUT_A8XX, "[01500001]\n[01000000]\n",
                   "mov $02, 0x11\ncwrite $02, [$00 + 0x191]\n" GROUP
                   "mov $02, 0xc\ncwrite $02, [$00 + 0x063]\ncread $0b, [$00 + 0x061]\n",
                   0, 0);
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    const struct cps_event *event = bench_find(b, CPS_EV_UNMODELLED, CPS_PLACE_CONTROL, 0);
    assert_non_null(event);
    assert_int_equal(event->addr, 0x191);
    assert_int_equal(general(b, BR, 0x0b), 1); /* its own group then */
    b->notes = 2;
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dde_reads_what_its_processor_sent),
        cmocka_unit_test(headers_among_them_are_the_ddes_packets),
        cmocka_unit_test(a_full_queue_makes_the_sender_wait),
        cmocka_unit_test(so_it_does_when_the_queue_is_indexed),
        cmocka_unit_test(groups_that_are_started_with_bit_3_are_the_ddes),
        cmocka_unit_test(groups_that_are_started_without_it_are_brs),
        cmocka_unit_test(a_dde_gets_the_ends_of_groups_of_other_modes),
        cmocka_unit_test(fetches_go_where_control_0x190_says),
        cmocka_unit_test(words_fetched_for_a_dde_come_from_memory),
        cmocka_unit_test(a_dde_fetches_for_itself),
        cmocka_unit_test(registers_of_a_dde_are_those_of_its_pipe),
        cmocka_unit_test(apertures_reach_the_ddes_controls),
        cmocka_unit_test(without_a_dde_its_queue_is_not_modelled),
    };
    return cmocka_run_group_tests_name("dde", tests, NULL, NULL);
}
