/* SPDX-License-Identifier: MIT
 * How many words of a stream there are, and what is read where memory has none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"
#include "tests/lib/engine_bench.h"

/* So many words, and no more. */
static void assert_has(struct afuc_core *core, uint32_t words)
{
    for (uint32_t i = 0; i <= words; i++)
        assert_true(stream_has_(core, i));
    assert_false(stream_has_(core, words + 1));
    assert_false(stream_has_(core, words + 2));
}

/* A header that hardware puts in front of a stream is a word more, of the ring as of a buffer; a
 * buffer ends with a mark, which is one, too. */
static void an_injected_header_is_a_word_more(void **state)
{
    static const uint32_t words[] = {0x11, 0x22};
    (void)state;
    struct bench *b = bench_a6xx("");
    struct afuc_core *core = &cps_afuc_of(b->engine)->core[0];
    assert_has(core, 0);
    core->s.injected = 0x70108000;
    assert_has(core, 1);
    assert_int_equal(stream_peek_(core), 0x70108000);
    core->s.injected = 0;
    assert_true(machine_ring(b->engine, words, 2));
    assert_has(core, 2);
    core->s.injected = 0x70108000;
    assert_has(core, 3);
    core->s.injected = 0;
    assert_true(queue_push_(&core->s.queue[LEVEL_IB1], 0x100000, 3, 0));
    assert_true(queue_push_(&core->s.queue[LEVEL_IB1], 0x200000, 2, 0));
    stream_select_(core, LEVEL_IB1);
    assert_has(core, 3 + 1 + 2 + 1);
    core->s.injected = 0x70108000;
    assert_has(core, 1 + 3 + 1 + 2 + 1);
    core->s.queue[LEVEL_IB1].pos = 2;
    core->s.injected = 0;
    assert_has(core, 1 + 1 + 2 + 1);
    bench_free(b);
}

/* Of the side stream there are the words of all its fetches, but no more than the ME has asked for,
 * behind which there is a mark if they are packets. */
static void the_side_stream_has_what_was_fetched_and_asked_for(void **state)
{
    static const struct {
        uint32_t left, packets, pos, words;
    } rows[] = {{9, 0, 0, 7}, {9, 1, 0, 7}, {9, 0, 2, 5}, {8, 1, 0, 7}, {7, 0, 0, 7},
                {7, 1, 0, 8}, {6, 0, 0, 6}, {6, 1, 0, 7}, {0, 1, 0, 1}, {0, 0, 0, 0}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench *b = bench_a5xx("", "");
        struct afuc_core *me = &cps_afuc_of(b->engine)->core[1];
        assert_true(queue_push_(&me->s.queue[LEVEL_SIDE], 0x100000, 4, 0));
        assert_true(queue_push_(&me->s.queue[LEVEL_SIDE], 0x200000, 3, 0));
        me->s.queue[LEVEL_SIDE].pos = rows[i].pos;
        me->s.side_left = rows[i].left;
        me->s.side_packets = rows[i].packets;
        stream_select_(me, LEVEL_SIDE);
        assert_has(me, rows[i].words);
        bench_free(b);
    }
}

/* The first word of a buffer is known, the others nobody wrote: 0 is read, and said once of each.
 */
static void words_of_a_stream_that_nobody_wrote_are_reported(void **state)
{
    static const uint32_t found[] = {0x55, 0, 0};
    (void)state;
    struct bench *b = bench_a6xx("mov $02, 0x10 << 16\ncwrite $02, [$00 + 0x010]\n"
                                 "cwrite $00, [$00 + 0x011]\nmov $02, 0x3\n"
                                 "cwrite $02, [$00 + 0x012]\nmov $02, 0x1\n"
                                 "cwrite $02, [$00 + 0x054]\nmov $05, $data\nmov $06, $data\n"
                                 "mov $07, $data\nmov $08, $data\ncwrite $00, [$00 + 0x054]\n");
    machine_set(b->engine, CPS_FILE_MEMORY, 0x100000, 0x55);
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    const struct cps_event *event = NULL;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5 + i), found[i]);
    for (uint32_t i = 1; i < 3; i++) {
        size_t from = event ? (size_t)(event - b->event) + 1 : 0;
        event = bench_find(b, CPS_EV_UNMODELLED, CPS_PLACE_MEMORY, from);
        assert_true(event && event->addr == 0x100000 + 4 * i);
    }
    b->notes = 2;
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_injected_header_is_a_word_more),
        cmocka_unit_test(the_side_stream_has_what_was_fetched_and_asked_for),
        cmocka_unit_test(words_of_a_stream_that_nobody_wrote_are_reported),
    };
    return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
