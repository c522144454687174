/* SPDX-License-Identifier: MIT
 * What the preemption routine sees of the hardware, by routines of a few instructions: the main
 * program waits for a packet, in front of which the routine is entered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/engine_bench.h"
#include "emu/afuc/core/machine.h"
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"
#include "isa/base/pm4.h"

/* Register $02 at the end of the routine must be `value`. */
static const struct routine {
    const char *claim;
    enum cps_layout layout;
    const char *code;
    uint32_t value;
} routines[] = {
    {"SQE register 2 says where the core goes on", CPS_LAYOUT_A6XX,
     "sread $02, [$00 + 0x002]\nsread $03, [$00 + 0x003]\nsub $02, $03, $02\n", 1},
    {"a command to other units is done at once", CPS_LAYOUT_A6XX,
     "mov $03, 0x105\ncwrite $03, [$00 + 0x079]\ncread $02, [$00 + 0x079]\n", 5},
    {"the pipe is ready", CPS_LAYOUT_A6XX, "cread $02, [$00 + 0x086]\n", 1},
    {"no register is being read", CPS_LAYOUT_A6XX,
     "cread $02, [$00 + 0x06d]\nushr $02, $02, 0x1e\n", 1},
    {"words in $regdata are counted", CPS_LAYOUT_A6XX,
     "mov $03, 0x3\ncwrite $03, [$00 + 0x026]\ncwrite $03, [$00 + 0x027]\n"
     "cread $02, [$00 + 0x06d]\nushr $02, $02, 0x14\nand $02, $02, 0xf\n"
     "mov $rem, 0x3\n(rep)mov $00, $regdata\n",
     3},
    {"a word can be put back into $regdata", CPS_LAYOUT_A6XX,
     "mov $03, 0x77\ncwrite $03, [$00 + 0x085]\nmov $02, $regdata\n", 0x77},
    {"an IB shows its dwords", CPS_LAYOUT_A6XX,
     "mov $03, 0x10 << 16\ncwrite $03, [$00 + 0x010]\ncwrite $00, [$00 + 0x011]\nmov $03, 0x8\n"
     "cwrite $03, [$00 + 0x012]\ncread $02, [$00 + 0x004]\nmov $03, 0x2\ncwrite $03, [$00 + "
     "0x082]\n",
     8},
    {"the one behind it shows when the first is passed", CPS_LAYOUT_A6XX,
     "mov $03, 0x10 << 16\ncwrite $03, [$00 + 0x010]\ncwrite $00, [$00 + 0x011]\nmov $03, 0x8\n"
     "cwrite $03, [$00 + 0x012]\nmov $03, 0x4\ncwrite $03, [$00 + 0x012]\nmov $03, 0x2\n"
     "cwrite $03, [$00 + 0x081]\ncread $02, [$00 + 0x004]\ncwrite $03, [$00 + 0x082]\n",
     4},
    {"an IB is restored with what was consumed of it", CPS_LAYOUT_A6XX,
     "mov $03, 0x10 << 16\ncwrite $03, [$00 + 0x010]\ncwrite $00, [$00 + 0x011]\nmov $03, 0x1 << "
     "24\n"
     "or $03, $03, 0x8\ncwrite $03, [$00 + 0x012]\nmov $03, 0x1 << 25\nor $03, $03, 0x3\n"
     "cwrite $03, [$00 + 0x012]\ncread $02, [$00 + 0x005]\nmov $03, 0x2\ncwrite $03, [$00 + "
     "0x082]\n",
     5},
    {"an NRT write can be captured", CPS_LAYOUT_A6XX,
     "mov $addr, 0xa0 << 24\nmov $data, 0x1\nmov $data, $00\nmov $03, 0x8\ncwrite $03, [$00 + "
     "0x088]\n"
     "mov $addr, 0xa204 << 16\nmov $data, 0x55\nmov $03, 0x908\ncwrite $03, [$00 + 0x024]\n"
     "mov $03, 0x2f\ncwrite $03, [$00 + 0x025]\nmov $03, 0x909\ncwrite $03, [$00 + 0x027]\n"
     "mov $02, $regdata\ncwrite $00, [$00 + 0x088]\n",
     0x1001},
    {"$addr can be read back and set without effect", CPS_LAYOUT_A6XX,
     "mov $usraddr, 0x8800\nmov $03, 0x1\ncwrite $03, [$00 + 0x08b]\ncread $02, [$00 + 0x08b]\n"
     "cwrite $00, [$00 + 0x08b]\n",
     0x8800},
    {"bit 0 of CONTEXT_SWITCH_CNTL acknowledges", CPS_LAYOUT_A7XX,
     "mov $03, 0x11\ncwrite $03, [$00 + 0x070]\ncread $02, [$00 + 0x070]\n", 0x10},
    {"a7xx: fetches in the ROQ are counted elsewhere", CPS_LAYOUT_A7XX,
     "mov $03, 0x10 << 16\ncwrite $03, [$00 + 0x018]\ncwrite $00, [$00 + 0x019]\nmov $03, 0x8\n"
     "cwrite $03, [$00 + 0x01a]\ncread $02, [$00 + 0x0f3]\nmov $03, 0x8\ncwrite $03, [$00 + "
     "0x082]\n",
     0x100},
    {"a7xx: units halt at once", CPS_LAYOUT_A7XX,
     "mov $03, 0x1\ncwrite $03, [$00 + 0x0bf]\ncread $02, [$00 + 0x0bf]\ncwrite $00, [$00 + "
     "0x0bf]\n",
     3},
    {"a7xx: a unit behind the aperture has done its work", CPS_LAYOUT_A7XX,
     "mov $03, 0x1 << 16\ncwrite $03, [$00 + 0x0d5]\nmov $03, 0x1\ncwrite $03, [$00 + 0x039]\n"
     "mov $02, $regdata\ncwrite $00, [$00 + 0x0d5]\n",
     1},
    {"the third layout has the command at 0x13b", CPS_LAYOUT_A7XX_GEN3,
     "mov $03, 0x105\ncwrite $03, [$00 + 0x13b]\ncread $02, [$00 + 0x13b]\n", 5},
    {"a shift by 32 gives 0", CPS_LAYOUT_A6XX,
     "mov $03, 0x20\nmov $02, 0x1\nshl $02, $02, $03\nadd $02, $02, 0x7\n", 7},
};

static struct bench *create(const struct routine *routine)
{
    CPS_BUF code = {0};
    bool a6xx = routine->layout == CPS_LAYOUT_A6XX;
    cps_buf_printf(&code,
                   "mov $02, #routine\nswrite $02, [$00 + 0x004]\njump #end\nnop\nroutine:\n%s"
                   "mov $04, $02\niret\nnop\nend:\n",
                   routine->code);
    return bench_afuc(routine->layout, a6xx ? HEAD_A6XX : HEAD_A7XX, cps_buf_text(&code), 0, 0);
}

/* What routines are told without anybody who would know: that other units have done what they were
 * told, and registers that nobody wrote. */
static size_t notes_of(const char *claim)
{
    static const struct {
        const char *claim;
        size_t notes;
    } rows[] = {
        {"a command to other units is done at once", 1},
        {"the third layout has the command at 0x13b", 1},
        {"words in $regdata are counted", 3},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (!strcmp(rows[i].claim, claim))
            return rows[i].notes;
    }
    return 0;
}

static void the_routine_sees_the_hardware(void **state)
{
    static const uint8_t stream[64] = {0};
    const uint32_t nop = cps_pm4_type7(0x10, 0);
    (void)state;
    for (size_t i = 0; i < sizeof(routines) / sizeof(routines[0]); i++) {
        struct bench *b = create(&routines[i]);
        assert_null(machine_load(b->engine, 0x100000, stream, sizeof(stream)));
        assert_true(cps_afuc_inject(cps_afuc_of(b->engine), CPS_INJECT_PREEMPT, 0, 0));
        machine_ring(b->engine, &nop, 1);
        cps_engine_run(b->engine, 200);
        uint32_t value = machine_value(b->engine, 0, CPS_FILE_GENERAL, 4);
        if (value != routines[i].value)
            fail_msg("%s: 0x%x, not 0x%x", routines[i].claim, value, routines[i].value);
        b->notes = notes_of(routines[i].claim);
        bench_free(b);
    }
}

/* ---- when it is entered ---- */

/* The routine counts in $05, says in DEFERRED what $06 holds, and takes the word of another
 * processor if $07 says so. Packets: 1 nothing, 2 PREEMPT_TRIGGER := 1, 3 := 2, 4 PC_MARKER + 1, 5
 * a long loop. */
static const char counts[] =
    "mov $02, #routine\nswrite $02, [$00 + 0x004]\njump #main\nnop\n"
    "routine:\nadd $05, $05, 0x1\ncwrite $06, [$00 + 0x073]\nbreq $07, 0x0, #out\nnop\n"
    "cread $08, [$00 + 0x0b4]\nout:\niret\nnop\n"
    "trigger:\nmov $02, 0x1\ncwrite $02, [$00 + 0x072]\nwaitin\nmov $01, $data\n"
    "other:\nmov $02, 0x2\ncwrite $02, [$00 + 0x072]\nwaitin\nmov $01, $data\n"
    "marker:\nadd $09, $09, 0x1\nmov $02, 0x9880\nmov $addr, $02\nmov $data, $09\nwaitin\n"
    "mov $01, $data\n"
    "loop:\nmov $02, 0x1000\nagain:\nsub $02, $02, 0x1\nbrne $02, 0x0, #again\nnop\nwaitin\n"
    "mov $01, $data\n"
    "nothing:\nwaitin\nmov $01, $data\n"
    "main:\nmov $02, 0x1\ncwrite $02, [$00 + 0x060]\nmov $02, #nothing\ncwrite $02, [$00 + 0x061]\n"
    "mov $02, #trigger\ncwrite $02, [$00 + 0x061]\nmov $02, #other\ncwrite $02, [$00 + 0x061]\n"
    "mov $02, #marker\ncwrite $02, [$00 + 0x061]\nmov $02, #loop\ncwrite $02, [$00 + 0x061]\n";

/* What happens, and how often the routine has run behind each: "R" it is asked for, a digit is a
 * packet. */
static const struct entered {
    const char *claim;
    uint32_t cause, deferred;
    const char *steps, *counts;
} entries[] = {
    {"what is asked for is served once, also where none comes", 4, 0, "1R111", "01111"},
    {"two requests before that are one", 4, 0, "1RR11", "01222"},
    {"nothing is put off: the trigger does not begin it again", 4, 0, "R2141", "11111"},
    {"put off until the trigger is written, whose bit 0 says so", 4, 1, "R11213111", "111222222"},
    {"put off until the marker changes", 4, 4, "R11411141", "111222233"},
    {"the marker that there was when it was left does not count", 4, 4, "4R1141", "011122"},
};

static struct bench *counter(uint32_t deferred)
{
    struct bench *b = bench_afuc(CPS_LAYOUT_A7XX, HEAD_A7XX, counts, 0, 0);
    assert_true(cps_afuc_inject(cps_afuc_of(b->engine), CPS_INJECT_PREEMPT, 99, 0)); /* never due */
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    machine_set(b->engine, CPS_FILE_GENERAL, 6, deferred);
    return b;
}

static void the_routine_is_entered_when_it_is_asked_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        const struct entered *row = &entries[i];
        struct bench *b = counter(row->deferred);
        for (size_t k = 0; row->steps[k]; k++) {
            uint32_t packet = cps_pm4_type7((uint32_t)(row->steps[k] - '0'), 0);
            if (row->steps[k] == 'R')
                preempt_request_(&cps_afuc_of(b->engine)->core[0], row->cause);
            else
                machine_ring(b->engine, &packet, 1);
            assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
            uint32_t count = machine_value(b->engine, 0, CPS_FILE_GENERAL, 5);
            if (count != (uint32_t)(row->counts[k] - '0'))
                fail_msg("%s: %u behind step %u of %s", row->claim, count, (unsigned)k, row->steps);
        }
        bench_free(b);
    }
}

/* Within a packet only for a cause that PREEMPT_ENABLE has; a driver's waits for the trigger. */
static void enabled_causes_interrupt_a_packet(void **state)
{
    static const struct {
        uint32_t enable, cause, trigger, count;
    } rows[] = {{0, 4, 0, 0}, {4, 4, 0, 1}, {8, 4, 0, 0}, {0x200, 0x200, 0, 1},
                {1, 1, 0, 0}, {1, 1, 1, 1}, {1, 1, 2, 0}, {5, 4, 0, 1}};
    const uint32_t packet = cps_pm4_type7(5, 0);
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct bench *b = counter(0);
        struct afuc_core *core = &cps_afuc_of(b->engine)->core[0];
        machine_ring(b->engine, &packet, 1);
        assert_int_equal(cps_engine_run(b->engine, 100), CPS_STOP_BUDGET);
        core->s.preempt.enable = rows[i].enable;
        core->s.preempt.trigger = rows[i].trigger;
        preempt_request_(core, rows[i].cause);
        assert_int_equal(cps_engine_run(b->engine, 100), CPS_STOP_BUDGET);
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), rows[i].count);
        assert_int_equal(cps_engine_run(b->engine, 100000), CPS_STOP_IDLE);
        assert_int_equal(machine_value(b->engine, 0, CPS_FILE_GENERAL, 5), 1);
        bench_free(b);
    }
}

/* ---- what is fetched again ---- */

static void assert_fetch(const struct queue *queue, uint32_t at, uint64_t iova, uint32_t dwords,
                         uint32_t group)
{
    const struct fetch *fetch = &queue->fetch[(queue->head + at) % QUEUE_DEPTH];
    assert_true(fetch->iova == iova);
    assert_int_equal(fetch->dwords, dwords);
    assert_int_equal(fetch->group, group);
}

/* 25:24 of what the routine writes to IBn_DWORDS: 1 the whole fetch, 2 what is left, 3 nothing (6ee
 * 1c75..1c83). Words that were looked at before are not those that come next. */
static void a_fetch_is_restored_whole_in_part_or_not(void **state)
{
    (void)state;
    struct bench *b = bench_a6xx("");
    struct afuc_core *core = &cps_afuc_of(b->engine)->core[0];
    struct queue *queue = &core->s.queue[LEVEL_IB1];
    saved_restore_fetch_(core, LEVEL_IB1, 0x100000, 1u << 24 | 8);
    assert_int_equal(queue->count, 1);
    assert_int_equal(queue->pos, 0);
    assert_fetch(queue, 0, 0x100000, 8, 0);
    core->window_left = 5;
    saved_restore_fetch_(core, LEVEL_IB1, 0, 2u << 24 | 3);
    assert_int_equal(queue->count, 1);
    assert_int_equal(queue->pos, 5);
    assert_int_equal(core->window_left, 0);
    saved_restore_fetch_(core, LEVEL_IB1, 0x100000, 3u << 24 | 8);
    assert_int_equal(queue->count, 0);
    saved_restore_fetch_(core, LEVEL_IB1, 0x100000, 2u << 24 | 3); /* of none, nothing is left */
    assert_int_equal(queue->count, 0);
    bench_free(b);
}

/* 6ee 1bf0, 1bfb..1c11: of the first group words were consumed, those behind it begin at their
 * first word. */
static void only_the_first_group_begins_behind_what_was_consumed(void **state)
{
    (void)state;
    struct bench *b = bench_a6xx("");
    struct afuc_core *core = &cps_afuc_of(b->engine)->core[0];
    struct afuc_state *s = &core->s;
    const struct queue *queue = &s->queue[LEVEL_SDS];
    s->group[3] = (struct group){.base = {0x1000}, .hdr = 7u << 16 | 10};
    s->group[31] = (struct group){.base = {0x2000, 1}, .hdr = 7u << 16 | 20};
    s->preempt.groups = 1u << 31 | 1u << 3;
    s->preempt.consumed = 2;
    control_write_GROUPS(&(struct cps_access){.device = core, .value = 0}); /* outside of it */
    assert_int_equal(queue->count, 0);
    s->interrupted = 1;
    control_write_GROUPS(&(struct cps_access){.device = core, .value = 1}); /* not yet all */
    assert_int_equal(queue->count, 0);
    core->window_left = 5;
    control_write_GROUPS(&(struct cps_access){.device = core, .value = 0});
    assert_int_equal(queue->count, 2);
    assert_int_equal(queue->pos, 2);
    assert_fetch(queue, 0, 0xff8, 12, 3);
    assert_fetch(queue, 1, 0x100002000, 20, 31);
    assert_int_equal(s->preempt.groups, 0);
    assert_int_equal(core->window_left, 0);
    bench_free(b);
}

/* The mask names groups, not how much of one is queued: a part only is not modelled, and said so.
 */
static void a_group_of_which_a_part_is_queued_is_reported(void **state)
{
    (void)state;
    struct bench *b = bench_a6xx("");
    struct afuc_core *core = &cps_afuc_of(b->engine)->core[0];
    struct afuc_state *s = &core->s;
    const struct cps_access at = {.device = core, .number = 0x123};
    s->group[3].hdr = 7u << 16 | 4;
    s->group[5].hdr = 7u << 16 | 6;
    assert_true(queue_push_(&s->queue[LEVEL_SDS], 0x1000, 4, 3));
    assert_true(queue_push_(&s->queue[LEVEL_SDS], 0x2000, 6, 5));
    s->control[0x123] = 0x77;
    assert_int_equal(control_read_OP_MASK(&at), 0x77); /* outside of the routine */
    s->interrupted = 1;
    assert_int_equal(control_read_OP_MASK(&at), 1 << 3 | 1 << 5);
    assert_int_equal(bench_count(b, CPS_EV_UNMODELLED), 0);
    s->group[5].hdr = 7u << 16 | 8;
    assert_int_equal(control_read_OP_MASK(&at), 1 << 3 | 1 << 5);
    const struct cps_event *event = bench_find(b, CPS_EV_UNMODELLED, CPS_PLACE_CONTROL, 0);
    assert_true(event && event->addr == 0x123 && event->value == 5);
    s->preempt.slot = 1; /* an operation that there is not */
    assert_int_equal(control_read_OP_MASK(&at), 0);
    b->notes = 1;
    bench_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_routine_sees_the_hardware),
        cmocka_unit_test(the_routine_is_entered_when_it_is_asked_for),
        cmocka_unit_test(enabled_causes_interrupt_a_packet),
        cmocka_unit_test(a_fetch_is_restored_whole_in_part_or_not),
        cmocka_unit_test(only_the_first_group_begins_behind_what_was_consumed),
        cmocka_unit_test(a_group_of_which_a_part_is_queued_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
