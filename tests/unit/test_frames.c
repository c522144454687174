/* SPDX-License-Identifier: MIT
 * What a processor is in: which frames open and close, for streams, packets, calls and interrupts
 * that are followed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/base/buf.h"
#include "isa/base/pm4.h"
#include "trace/form/frames.h"
#include "trace/form/trace.h"

/* "+call 20" for one that opens, "-" for one that closes. */
struct follower {
    struct cps_frames frames;
    struct cps_buf log;
};

static const char *const kinds[] = {"level", "boot", "packet", "call", "interrupt"};

static void opened(void *context, struct cps_frames *frames, struct cps_frame *frame)
{
    (void)frames;
    cps_buf_printf(context, "+%s %x\n", kinds[frame->kind], frame->key);
}

static void closed(void *context, struct cps_frames *frames, struct cps_frame *frame)
{
    (void)frames;
    cps_buf_printf(context, "-%s %x\n", kinds[frame->kind], frame->key);
}

/* What was said since the last question. */
static void expect(struct follower *f, const char *log)
{
    assert_string_equal(cps_buf_text(&f->log), log);
    cps_buf_clear(&f->log);
}

static void packet(struct follower *f, unsigned level, uint32_t header)
{
    const struct cps_frames_user user = {opened, closed, &f->log};
    const struct cps_event event = cps_event_make(CPS_EV_PKT, level, CPS_CPU_SQE, 0, 0, header);
    cps_frames_packet_(&f->frames, &user, &event);
}

static void step(struct follower *f, uint32_t pc, uint8_t flow)
{
    const struct cps_frames_user user = {opened, closed, &f->log};
    cps_frames_step_(&f->frames, &user, pc, flow);
}

enum {
    NEXT = 1 + CPS_FLOW_NEXT,
    JUMP = 1 + CPS_FLOW_JUMP,
    CALL = 1 + CPS_FLOW_CALL,
    CALLIF = 1 + CPS_FLOW_CALLIF,
    RETURN = 1 + CPS_FLOW_RETURN,
    SLOT = CPS_FLOW_CODE_SLOT,
};

static void a_call_lasts_until_its_return(void **state)
{
    struct follower f = {0};
    (void)state;
    step(&f, 0x10, CALL | SLOT);
    step(&f, 0x11, NEXT);
    expect(&f, "");
    step(&f, 0x20, NEXT);
    expect(&f, "+call 20\n");
    step(&f, 0x21, RETURN | SLOT);
    step(&f, 0x22, NEXT);
    expect(&f, "");
    step(&f, 0x12, CALL); /* of a processor that has no slots */
    expect(&f, "-call 20\n");
    step(&f, 0x30, RETURN);
    expect(&f, "+call 30\n");
    step(&f, 0x13, NEXT);
    expect(&f, "-call 30\n");
    cps_buf_deinit(&f.log);
}

static void a_call_with_a_condition_is_one_where_it_is_taken(void **state)
{
    struct follower f = {0};
    (void)state;
    step(&f, 0x10, CALLIF);
    step(&f, 0x11, CALLIF);
    expect(&f, "");
    step(&f, 0x20, RETURN);
    expect(&f, "+call 20\n");
    step(&f, 0x12, CALL);
    expect(&f, "-call 20\n");
    step(&f, 0x13, NEXT); /* without a condition it is one wherever it goes */
    expect(&f, "+call 13\n");
    cps_buf_deinit(&f.log);
}

static void where_no_branch_goes_is_an_interrupt(void **state)
{
    static const uint8_t flows[] = {0, NEXT, NEXT | SLOT};
    (void)state;
    for (size_t i = 0; i < sizeof(flows); i++) {
        struct follower f = {0};
        step(&f, 0x10, flows[i]);
        step(&f, 0x11, flows[i]);
        step(&f, 0x11, flows[i]); /* once more, as (rep) does */
        expect(&f, "");
        step(&f, 0x40, RETURN);
        expect(&f, "+interrupt 40\n");
        step(&f, 0x12, JUMP);
        expect(&f, "-interrupt 40\n");
        step(&f, 0x60, NEXT);
        expect(&f, "");
        cps_buf_deinit(&f.log);
    }
}

/* It goes behind the first instruction of where that one goes. */
static void a_branch_in_the_slot_of_another_goes_second(void **state)
{
    struct follower f = {0};
    (void)state;
    step(&f, 0x10, JUMP | SLOT);
    step(&f, 0x11, CALL | SLOT);
    step(&f, 0x30, NEXT);
    expect(&f, "");
    step(&f, 0x50, RETURN);
    expect(&f, "+call 50\n");
    step(&f, 0x13, NEXT);
    expect(&f, "-call 50\n");
    cps_buf_deinit(&f.log);
}

static void frames_are_bounded(void **state)
{
    struct follower f = {0};
    (void)state;
    step(&f, 0, CALL);
    for (uint32_t pc = 0x1000; pc < 0x1000 + 0x10 * (CPS_FRAMES_MOST_ - 1); pc += 0x10)
        step(&f, pc, CALL);
    assert_int_equal(f.frames.depth, CPS_FRAMES_MOST_ - 1);
    step(&f, 0x8000, CALL);
    assert_int_equal(f.frames.depth, CPS_FRAMES_MOST_);
    cps_buf_clear(&f.log);
    step(&f, 0x9000, CALL);
    expect(&f, "");
    cps_buf_deinit(&f.log);
}

/* Header 0xa of hardware ends an indirect buffer: the next packet of its level is in another. */
static void an_indirect_buffer_ends_where_hardware_says_so(void **state)
{
    const struct {
        unsigned level;
        uint32_t header;
        bool ends;
    } rows[] = {
        {CPS_LEVEL_INT, cps_pm4_type7(0x0a, 0), true},
        {CPS_LEVEL_INT, cps_pm4_type7(0x0b, 0), false},
        {CPS_LEVEL_INT, cps_pm4_type4(0x0a, 1), false},
        {CPS_LEVEL_IB1, cps_pm4_type7(0x0a, 0), false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct follower f = {0};
        CPS_BUF now = {0};
        packet(&f, CPS_LEVEL_RB, 0x70108000);
        expect(&f, "+level 0\n+packet 70108000\n");
        packet(&f, CPS_LEVEL_IB1, 0x70108000);
        expect(&f, "-packet 70108000\n+level 1\n+packet 70108000\n");
        packet(&f, rows[i].level, rows[i].header);
        cps_buf_printf(&now, "-packet 70108000\n+packet %x\n", rows[i].header);
        expect(&f, cps_buf_text(&now));
        cps_buf_clear(&now);
        packet(&f, CPS_LEVEL_IB1, 0x70108000);
        cps_buf_printf(&now, "-packet %x\n%s+packet 70108000\n", rows[i].header,
                       rows[i].ends ? "-level 1\n+level 1\n" : "");
        expect(&f, cps_buf_text(&now));
        packet(&f, CPS_LEVEL_RB, 0x70108000);
        expect(&f, "-packet 70108000\n-level 1\n+packet 70108000\n");
        cps_buf_deinit(&f.log);
    }
}

/* Draw state that a packet's call waits for is inside of the call, and does not end it. */
static void a_stream_that_a_call_waits_for_is_inside_of_it(void **state)
{
    struct follower f = {0};
    (void)state;
    packet(&f, CPS_LEVEL_IB1, 0x70108000);
    step(&f, 0x10, CALL);
    step(&f, 0x20, NEXT);
    expect(&f, "+level 1\n+packet 70108000\n+call 20\n");
    packet(&f, CPS_LEVEL_SDS, 0x70108001);
    expect(&f, "+level 4\n+packet 70108001\n");
    packet(&f, CPS_LEVEL_SDS, 0x70108002);
    expect(&f, "-packet 70108001\n+packet 70108002\n");
    packet(&f, CPS_LEVEL_IB1, 0x70108003);
    expect(&f, "-packet 70108002\n-level 4\n-call 20\n-packet 70108000\n+packet 70108003\n");
    cps_buf_deinit(&f.log);
}

static void what_runs_before_the_first_packet_is_the_boot(void **state)
{
    struct follower f = {0};
    const struct cps_frames_user user = {opened, closed, &f.log};
    (void)state;
    cps_frames_begin_(&f.frames, &user);
    cps_frames_begin_(&f.frames, &user);
    expect(&f, "+boot 0\n");
    packet(&f, CPS_LEVEL_INT, 0x700a0000); /* of no stream */
    expect(&f, "-boot 0\n+packet 700a0000\n");
    cps_frames_begin_(&f.frames, &user);
    cps_frames_close_(&f.frames, &user, 0);
    expect(&f, "-packet 700a0000\n");
    cps_buf_deinit(&f.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_lasts_until_its_return),
        cmocka_unit_test(a_call_with_a_condition_is_one_where_it_is_taken),
        cmocka_unit_test(where_no_branch_goes_is_an_interrupt),
        cmocka_unit_test(a_branch_in_the_slot_of_another_goes_second),
        cmocka_unit_test(frames_are_bounded),
        cmocka_unit_test(an_indirect_buffer_ends_where_hardware_says_so),
        cmocka_unit_test(a_stream_that_a_call_waits_for_is_inside_of_it),
        cmocka_unit_test(what_runs_before_the_first_packet_is_the_boot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
