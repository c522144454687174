/* SPDX-License-Identifier: MIT
 * The debugging core on programs whose places are known: moves, points, changes. */
#include "tests/lib/debug_scene.h"
#include "emu/debug/debug.h"

/* Moves on a program whose places are known. */
static const char moves_text[] = "[016ee001]\n[01000000]\n"
                                 "mov $02, 0x1\n"           /* 2 */
                                 "call #f\n"                /* 3 */
                                 "add $02, $02, 0x1\n"      /* 4, delay slot */
                                 "mov $rem, 0x4\n"          /* 5 */
                                 "(rep)add $03, $03, 0x1\n" /* 6 */
                                 "mov $04, 0x9\n"           /* 7 */
                                 "breq $04, 0x9, #end\n"    /* 8 */
                                 "mov $05, 0x1\n"           /* 9, delay slot */
                                 "mov $05, 0x2\n"           /* 10, skipped */
                                 "end:\nwaitin\n"           /* 11 */
                                 "mov $01, $data\n"         /* 12 */
                                 "f:\nmov $addr, 0x8800\n"  /* 13 */
                                 "mov $data, $02\n"         /* 14 */
                                 "ret\n"                    /* 15 */
                                 "mov $06, 0x1\n";          /* 16, delay slot */

/* An SQE of a6xx that has nothing but the program. */
static void start_a6xx(struct scene *b, const char *text)
{
    b->program[0] = bench_assemble(text, CPS_A6XX);
    start(b, &(struct cps_config){.layout = CPS_LAYOUT_A6XX,
                                  .words = b->program[0].words + 1,
                                  .count = b->program[0].count - 1,
                                  .image = {{CPS_CPU_SQE, 0}},
                                  .image_count = 1});
}

static void start_moves(struct scene *b)
{
    start_a6xx(b, moves_text);
}

static void run_to(struct scene *b, uint32_t pc)
{
    const struct cps_debug_point p = {.core = -1, .pc = pc, .once = true};
    cps_debug_add(b->debug, &p);
    assert_int_equal(cps_debug_run(b->debug, CPS_GO_ON, 0).reason, CPS_WHY_POINT);
    assert_int_equal(cps_engine_where(cps_debug_engine(b->debug), 0).pc, pc);
}

static const struct move_row {
    const char *claim;
    uint32_t from;
    enum cps_debug_go go;
    bool back;
    uint32_t to;
} move_rows[] = {
    {"a step goes into the delay slot of a call", 3, CPS_GO_TICK, false, 4},
    {"and from there into the routine", 4, CPS_GO_TICK, false, 13},
    {"next over a call, its delay slot and the routine", 3, CPS_GO_NEXT, false, 5},
    {"next from the delay slot enters the routine, which is called by then", 4, CPS_GO_NEXT, false,
     13},
    {"next at ret goes to the delay slot", 15, CPS_GO_NEXT, false, 16},
    {"finish comes back behind the call", 14, CPS_GO_FINISH, false, 5},
    {"a step stays in a (rep)", 6, CPS_GO_TICK, false, 6},
    {"next passes all repetitions", 6, CPS_GO_NEXT, false, 7},
    {"a branch that is taken has its delay slot first", 8, CPS_GO_TICK, false, 9},
    {"then its target", 9, CPS_GO_TICK, false, 11},
    {"back from behind a (rep) is its last repetition", 7, CPS_GO_TICK, true, 6},
    {"back over a (rep)", 7, CPS_GO_NEXT, true, 6},
    {"back out of a routine, in front of its call", 14, CPS_GO_FINISH, true, 3},
    {"back from a branch's target is its delay slot", 11, CPS_GO_TICK, true, 9},
    {"back from behind a call is the delay slot of ret", 5, CPS_GO_TICK, true, 16},
};

static void moves_stop_where_they_must(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(move_rows) / sizeof(move_rows[0]); i++) {
        const struct move_row *row = &move_rows[i];
        struct scene b = {0};
        start_moves(&b);
        run_to(&b, row->from);
        if (row->back)
            cps_debug_back(b.debug, row->go, 0);
        else
            cps_debug_run(b.debug, row->go, 0);
        uint32_t pc = cps_engine_where(cps_debug_engine(b.debug), 0).pc;
        if (pc != row->to)
            fail_msg("%s: at %u, expected %u", row->claim, pc, row->to);
        stop(&b);
    }
}

static bool is_odd(void *context, struct cps_debug *debug, unsigned core,
                   const struct cps_event *event)
{
    (void)context;
    (void)event;
    return machine_value(cps_debug_engine(debug), core, CPS_FILE_GENERAL, 3) % 2;
}

static void points_know_conditions_and_counts(void **state)
{
    (void)state;
    struct scene b = {0};
    start_moves(&b);
    struct cps_debug_point changed = {
        .what = CPS_AT_PLACE, .core = -1, .place = {0, CPS_FILE_GENERAL, 3}, .when = is_odd};
    int id = cps_debug_add(b.debug, &changed);
    for (uint32_t value = 1; value < 5; value += 2) {
        assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).point, id);
        assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_GENERAL, 3), value);
    }
    assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
    assert_int_equal(cps_debug_back(b.debug, CPS_GO_ON, 0).point, id);
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_GENERAL, 3), 3);
    assert_int_equal(cps_debug_point(b.debug, 0)->hits, 2);
    cps_debug_point(b.debug, 0)->disabled = true;
    assert_int_equal(cps_debug_back(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_START);
    assert_int_equal(cps_debug_location(b.debug).step, 0);
    stop(&b);
}

static void the_last_writer_is_found(void **state)
{
    (void)state;
    struct scene b = {0};
    struct cps_debug_stop by;
    struct cps_debug_location place;
    const struct cps_debug_point writer = {.what = CPS_AT_EVENT,
                                           .core = -1,
                                           .kinds = 1u << CPS_EV_REG,
                                           .first = 0x8800,
                                           .last = 0x8800};
    start_moves(&b);
    assert_false(cps_debug_last(b.debug, &writer, &by, &place));
    assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_END);
    uint64_t here = cps_debug_location(b.debug).step;
    assert_true(cps_debug_last(b.debug, &writer, &by, &place));
    assert_int_equal(cps_debug_location(b.debug).step, here);
    assert_int_equal(cps_event_pc(&by.event), 14);
    assert_int_equal(by.event.value, 2);
    cps_debug_goto_step(b.debug, place.step);
    assert_int_equal(cps_engine_where(cps_debug_engine(b.debug), 0).pc, 15);
    stop(&b);
}

static void edit(struct scene *b, char file, uint64_t number, uint32_t value)
{
    const struct cps_edit change = {
        .what = CPS_EDIT_PLACE, .place = {0, file, number}, .value = value};
    assert_null(cps_debug_edit(b->debug, &change));
}

static uint32_t gpr(struct scene *b, unsigned number)
{
    return machine_value(cps_debug_engine(b->debug), 0, CPS_FILE_GENERAL, number);
}

static void changes_belong_to_the_run(void **state)
{
    (void)state;
    struct scene b = {0};
    start_moves(&b);
    run_to(&b, 3);
    uint64_t here = cps_debug_location(b.debug).step;
    edit(&b, CPS_FILE_GENERAL, 2, 0x40);
    run_to(&b, 8);
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_REGISTER, 0x8800), 0x41);
    assert_null(cps_debug_edit(b.debug, &(struct cps_edit){.what = CPS_EDIT_BRANCH}));
    cps_debug_run(b.debug, CPS_GO_ON, 0);
    assert_int_equal(gpr(&b, 5), 2);
    uint64_t end = cps_debug_location(b.debug).step;
    /* Back before both, and forward: both are made again. */
    cps_debug_goto_step(b.debug, here - 1);
    assert_int_equal(gpr(&b, 2), 0);
    cps_debug_run(b.debug, CPS_GO_ON, 0);
    assert_int_equal(cps_debug_location(b.debug).step, end);
    assert_int_equal(gpr(&b, 5), 2);
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_REGISTER, 0x8800), 0x41);
    /* An earlier change drops them. */
    cps_debug_goto_step(b.debug, here - 1);
    edit(&b, CPS_FILE_CODE, 10, 0x01000000);
    cps_debug_run(b.debug, CPS_GO_ON, 0);
    assert_int_equal(gpr(&b, 5), 1);
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_REGISTER, 0x8800), 2);
    stop(&b);
}

static void a_patch_is_not_there_before_it_was_made(void **state)
{
    (void)state;
    struct scene b = {0};
    start_moves(&b);
    run_to(&b, 5);
    uint32_t word = machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_CODE, 7);
    edit(&b, CPS_FILE_CODE, 7, word + 1); /* mov $04, 0xa: the branch is not taken */
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_CODE, 7), word + 1);
    cps_debug_run(b.debug, CPS_GO_ON, 0);
    assert_int_equal(gpr(&b, 5), 2);
    cps_debug_goto_step(b.debug, 1);
    assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_CODE, 7), word);
    stop(&b);
}

/* Without the changes it goes where the run would have gone; with them, where it went. */
static void a_twin_begins_at_the_first_change(void **state)
{
    (void)state;
    struct scene b = {0};
    struct cps_debug *twin = NULL;
    start_moves(&b);
    struct cps_err *err = cps_debug_twin(b.debug, false, &twin);
    assert_true(err && err->code == CPS_ERR_INPUT); /* nothing was changed */
    cps_err_free(err);
    run_to(&b, 3);
    uint64_t here = cps_debug_location(b.debug).step;
    edit(&b, CPS_FILE_GENERAL, 2, 0x40);
    cps_debug_run(b.debug, CPS_GO_ON, 0);
    uint64_t end = cps_debug_location(b.debug).step;
    static const uint32_t expected[] = {2, 0x41};
    for (unsigned changed = 0; changed < 2; changed++) {
        assert_null(cps_debug_twin(b.debug, changed, &twin));
        assert_int_equal(cps_debug_location(twin).step, here);
        assert_int_equal(machine_value(cps_debug_engine(twin), 0, CPS_FILE_GENERAL, 2) == 0x40,
                         changed);
        cps_debug_run(twin, CPS_GO_ON, 0);
        assert_int_equal(machine_value(cps_debug_engine(twin), 0, CPS_FILE_REGISTER, 0x8800),
                         expected[changed]);
        cps_debug_destroy(twin);
    }
    assert_int_equal(cps_debug_location(b.debug).step, end);
    stop(&b);
}

static bool is_even(void *context, struct cps_engine *engine, const struct cps_event *packet)
{
    (void)engine;
    return packet->value % 2 == *(const unsigned *)context;
}

/* A count of packets belongs to a place, however it is reached. */
static void a_tally_belongs_to_its_place(void **state)
{
    (void)state;
    struct scene b = {0};
    unsigned wanted = 0;
    uint64_t seen = 0;
    struct cps_event event;
    start_demo(&b);
    cps_debug_tally(b.debug, is_even, &wanted);
    cps_debug_run(b.debug, CPS_GO_ON, 0);
    struct cps_debug_location end = cps_debug_location(b.debug);
    for (uint64_t i = 0; i < end.event; i++) {
        assert_true(cps_debug_event(b.debug, i, &event));
        seen += cps_event_kind(&event) == CPS_EV_PKT && event.value % 2 == 0;
    }
    assert_true(seen > 3);
    assert_int_equal(end.tally, seen);
    cps_debug_back(b.debug, CPS_GO_PACKET, 0);
    assert_true(cps_debug_location(b.debug).tally <= seen);
    cps_debug_goto_step(b.debug, 1);
    assert_int_equal(cps_debug_location(b.debug).tally, 0);
    cps_debug_goto_step(b.debug, end.step);
    assert_int_equal(cps_debug_location(b.debug).tally, seen);
    stop(&b);
}

static const struct cps_edit refused[] = {
    {.place = {0, CPS_FILE_GENERAL, R_DATA}},
    {.place = {0, CPS_FILE_CONTROL, CONTROL_COUNT}},
    {.place = {0, CPS_FILE_SQE, SQE_COUNT}},
    {.place = {0, CPS_FILE_REGISTER, GPU_REGS}},
    {.place = {0, CPS_FILE_CODE, 17}},
    {.place = {0, CPS_FILE_PC, 0}, .value = 17},
    {.place = {0, CPS_FILE_PC, 2}},
    {.place = {0, CPS_FILE_SCALAR, 0}}, /* afuc has none */
    {.place = {0, CPS_FILE_MEMORY, 0}, .value = UINT64_C(1) << 32},
    {.what = CPS_EDIT_BRANCH, .value = 1},
    {.place = {1, CPS_FILE_GENERAL, 1}},
};

static void impossible_changes_are_refused(void **state)
{
    (void)state;
    struct scene b = {0};
    start_moves(&b);
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct cps_err *err = cps_debug_edit(b.debug, &refused[i]);
        if (!err || err->code != CPS_ERR_INPUT)
            fail_msg("change %zu is made", i);
        cps_err_free(err);
    }
    stop(&b);
}

static void loops_that_change_nothing_are_deadlocks(void **state)
{
    (void)state;
    struct scene b = {0};
    start_a6xx(&b, "[016ee001]\n[01000000]\nl:\njump #l\nnop\n");
    assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_DEADLOCK);
    stop(&b);
}

/* A million steps behind the only hit: checkpoints lead back to it, and they stay few. */
static void far_back_is_reached_with_few_checkpoints(void **state)
{
    (void)state;
    struct scene b = {0};
    start_a6xx(&b,
               "[016ee001]\n[01000000]\nmov $addr, 0x8800\nmov $data, 0x1\nmov $02, 0x4 << 16\nl:\n"
               "sub $02, $02, 0x1\nbrne $02, 0x0, #l\nadd $03, $03, $02\nwaitin\nmov $01, $data\n");
    for (unsigned i = 0; i < 8; i++) {
        struct cps_debug_stop at = cps_debug_goto_step(b.debug, (i + 1) * 97777);
        assert_int_equal(at.reason, CPS_WHY_GONE);
    }
    const struct cps_debug_point writer = {
        .what = CPS_AT_EVENT, .core = -1, .kinds = 1u << CPS_EV_REG, .last = UINT64_MAX};
    cps_debug_add(b.debug, &writer);
    assert_int_equal(cps_debug_back(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_POINT);
    assert_true(cps_debug_location(b.debug).step < 20);
    assert_true(b.debug->checkpoint_count <= CPS_DEBUG_CHECKPOINTS);
    stop(&b);
}

/* The loop counts $02 down: 5 instructions come first, a turn has three. There is no
 * room for all checkpoints: the first stays, the last ones lie side by side, and each place is what
 * it was. */
static void checkpoints_are_thinned_far_from_here(void **state)
{
    (void)state;
    enum { TURNS = 0x20 << 16, PLACES = 60 };
    struct scene b = {0};
    start_a6xx(&b, "[016ee001]\n[01000000]\nmov $addr, 0x8800\nmov $data, 0x1\n"
                   "mov $02, 0x20 << 16\nl:\nsub $02, $02, 0x1\n"
                   "brne $02, 0x0, #l\nadd $03, $03, $02\nwaitin\nmov $01, $data\n");
    for (unsigned i = 0; i < 2 * PLACES; i++) {
        unsigned place = i < PLACES ? i + 1 : 37 * i % PLACES + 1;
        unsigned turn = place * (CPS_DEBUG_INTERVAL / 3 + 1);
        assert_int_equal(cps_debug_goto_step(b.debug, 5 + 3 * (uint64_t)turn).reason, CPS_WHY_GONE);
        assert_int_equal(machine_value(cps_debug_engine(b.debug), 0, CPS_FILE_GENERAL, 2),
                         TURNS - turn);
        const struct checkpoint *at = b.debug->checkpoint;
        unsigned count = b.debug->checkpoint_count;
        assert_true(count <= CPS_DEBUG_CHECKPOINTS && at[0].place.step == 0);
        for (unsigned k = 1; k < count; k++)
            assert_true(at[k].place.step > at[k - 1].place.step);
        if (i == PLACES - 1) {
            assert_int_equal(count, CPS_DEBUG_CHECKPOINTS);
            for (unsigned k = count - 8; k < count; k++)
                assert_int_equal(at[k].place.step - at[k - 1].place.step, CPS_DEBUG_INTERVAL);
            assert_true(at[count - 1].place.step + CPS_DEBUG_INTERVAL > 5 + 3 * (uint64_t)turn);
        }
    }
    stop(&b);
}

/* Behind the last word of an image nothing stands, so nothing is a branch. */
static void what_is_no_branch_cannot_be_decided(void **state)
{
    static const struct cps_edit taken = {.what = CPS_EDIT_BRANCH, .value = 1};
    (void)state;
    struct scene b = {0};
    start_a6xx(&b, "[016ee001]\n[01000000]\nmov $02, 0x1\n");
    assert_int_equal(cps_debug_run(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_FAULT);
    assert_int_equal(cps_engine_where(cps_debug_engine(b.debug), 0).pc, b.program[0].count - 1);
    struct cps_err *err = cps_debug_edit(b.debug, &taken);
    assert_true(err && err->code == CPS_ERR_INPUT);
    cps_err_free(err);
    stop(&b);
}

/* At the ring there is no IB to leave: the move goes on to the next submission. */
static void out_of_the_ring_leads_the_next_submission(void **state)
{
    uint64_t step[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct scene b = {0};
        start_demo(&b);
        struct cps_debug_stop at = cps_debug_run(b.debug, i ? CPS_GO_SUBMIT : CPS_GO_IB, 0);
        assert_int_equal(at.reason, CPS_WHY_GONE);
        assert_int_equal(cps_engine_where(cps_debug_engine(b.debug), 0).level, 0);
        step[i] = cps_debug_location(b.debug).step;
        stop(&b);
    }
    assert_int_equal(step[0], step[1]);
    assert_int_not_equal(step[0], 0);
}

static bool always(void *context)
{
    ++*(unsigned *)context;
    return true;
}

/* A search that is interrupted has found nothing, and leaves the run where it was. */
static void a_search_that_is_interrupted_leads_nowhere(void **state)
{
    (void)state;
    struct scene b = {0};
    unsigned asked = 0;
    struct cps_debug_stop by;
    struct cps_debug_location place;
    const struct cps_debug_point writer = {
        .what = CPS_AT_EVENT, .core = -1, .kinds = 1u << CPS_EV_REG, .last = UINT64_MAX};
    start_a6xx(&b,
               "[016ee001]\n[01000000]\nmov $addr, 0x8800\nmov $data, 0x1\nmov $02, 0x1 << 16\nl:\n"
               "sub $02, $02, 0x1\nbrne $02, 0x0, #l\nadd $03, $03, $02\nwaitin\nmov $01, $data\n");
    assert_int_equal(cps_debug_goto_step(b.debug, 150000).reason, CPS_WHY_GONE);
    cps_debug_interrupt(b.debug, always, &asked);
    assert_false(cps_debug_last(b.debug, &writer, &by, &place));
    assert_int_equal(cps_debug_location(b.debug).step, 150000);
    cps_debug_add(b.debug, &writer);
    assert_int_equal(cps_debug_back(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_INTERRUPTED);
    assert_int_equal(cps_debug_location(b.debug).step, 150000);
    assert_true(asked >= 2);
    cps_debug_interrupt(b.debug, NULL, NULL);
    assert_int_equal(cps_debug_back(b.debug, CPS_GO_ON, 0).reason, CPS_WHY_POINT);
    assert_true(cps_debug_location(b.debug).step < 20);
    stop(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_stop_where_they_must),
        cmocka_unit_test(points_know_conditions_and_counts),
        cmocka_unit_test(the_last_writer_is_found),
        cmocka_unit_test(changes_belong_to_the_run),
        cmocka_unit_test(a_patch_is_not_there_before_it_was_made),
        cmocka_unit_test(a_twin_begins_at_the_first_change),
        cmocka_unit_test(a_tally_belongs_to_its_place),
        cmocka_unit_test(impossible_changes_are_refused),
        cmocka_unit_test(loops_that_change_nothing_are_deadlocks),
        cmocka_unit_test(far_back_is_reached_with_few_checkpoints),
        cmocka_unit_test(checkpoints_are_thinned_far_from_here),
        cmocka_unit_test(what_is_no_branch_cannot_be_decided),
        cmocka_unit_test(out_of_the_ring_leads_the_next_submission),
        cmocka_unit_test(a_search_that_is_interrupted_leads_nowhere),
    };
    return cmocka_run_group_tests_name("debug", tests, NULL, NULL);
}
