/* SPDX-License-Identifier: MIT
 * Sets of ways, and oracles on made events and logs: each is raised once by what it is about, and
 * not by what is next to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/pm4.h"
#include "tools/explain/fuzz/fuzz.h"

#define KEYS 5000u

static void a_key_is_new_once(void **state)
{
    struct key_map map = {.count = 0};
    (void)state;
    for (uint64_t round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < KEYS; i++) {
            assert_int_equal(key_map_has(&map, i * i), round > 0);
            assert_int_equal(key_map_add(&map, i * i), round == 0);
        }
        assert_int_equal(map.count, KEYS);
    }
    for (uint64_t i = 0; i < KEYS; i++)
        assert_int_equal(map.key[i], i * i);
    key_map_deinit(&map);
    assert_false(key_map_has(&map, 4));
    assert_true(key_map_add(&map, 4));
    key_map_deinit(&map);
}

/* Every member of a way tells it from others. */
static void ways_have_keys_of_their_own(void **state)
{
    const struct cps_edge way = {.from = 1, .branch = 5, .to = 9, .level = 1, .packet = 0x22};
    struct cps_edge other[] = {way, way, way, way, way, way, way, way};
    struct key_map map = {.count = 0};
    (void)state;
    other[1].from++;
    other[2].branch++;
    other[3].to++;
    other[4].core++;
    other[5].level++;
    other[6].packet++;
    other[7].privilege++;
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < 8; i++)
            assert_true(key_map_add(&map, batch_edge(&other[i], side)));
        assert_false(key_map_add(&map, batch_edge(&way, side)));
    }
    key_map_deinit(&map);
}

static void rows_are_found_by_name(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ORACLE_COUNT; i++) {
        const char *name = oracle_name((enum oracle)i);
        assert_int_equal(oracle_find(name, (unsigned)strlen(name)), i);
        assert_true(oracle_family((enum oracle)i) == 0 || oracle_family((enum oracle)i) >> i & 1);
    }
    assert_int_equal(oracle_find("han", 3), ORACLE_COUNT);
    assert_int_equal(oracle_find("hangs", 5), ORACLE_COUNT);
    assert_true(oracle_usual() >> ORACLE_HANG & 1);
    assert_false(oracle_usual() >> ORACLE_WAITS & 1);
    assert_true(oracle_family(ORACLE_HANG) >> ORACLE_WAITS & 1);
}

/* As docs/fuzz.md has them: what is asked without being named, what a run raises of which a closer
 * look makes it, and whether two findings of it are told apart by packet and by place. */
static void oracles_are_as_documented(void **state)
{
    static const struct {
        enum oracle oracle;
        const char *name;
        enum oracle raised;
        bool usual, packet, place;
    } rows[] = {
        {ORACLE_PAGE_TABLE, "page-table", ORACLE_PAGE_TABLE, true, true, false},
        {ORACLE_SECURE_MODE, "secure-mode", ORACLE_SECURE_MODE, true, true, false},
        {ORACLE_PRIVILEGED, "privileged", ORACLE_PRIVILEGED, true, true, false},
        {ORACLE_PROTECTED, "protected", ORACLE_PROTECTED, true, true, false},
        {ORACLE_READ_ONLY, "read-only", ORACLE_READ_ONLY, true, true, false},
        {ORACLE_EXPOSED, "exposed", ORACLE_PROTECTED, false, true, false},
        {ORACLE_ELEVATED, "elevated", ORACLE_ELEVATED, true, true, false},
        {ORACLE_UNPROTECTED, "unprotected", ORACLE_UNPROTECTED, true, true, false},
        {ORACLE_STACK_OVER, "stack-overflow", ORACLE_STACK_OVER, true, true, true},
        {ORACLE_STACK_UNDER, "stack-underflow", ORACLE_STACK_UNDER, true, true, true},
        {ORACLE_JUMP, "jump", ORACLE_JUMP, true, true, true},
        {ORACLE_ILLEGAL, "illegal", ORACLE_ILLEGAL, true, true, true},
        {ORACLE_HANG, "hang", ORACLE_HANG, true, true, true},
        {ORACLE_HALT, "halt", ORACLE_HANG, false, true, true},
        {ORACLE_WAITS, "waits", ORACLE_HANG, false, true, true},
        {ORACLE_ENDLESS, "endless", ORACLE_HANG, false, true, false},
        {ORACLE_STARVED, "starved", ORACLE_STARVED, false, false, false},
        {ORACLE_CIRCLE, "circle", ORACLE_CIRCLE, false, false, false},
        {ORACLE_INTERNAL, "internal", ORACLE_INTERNAL, false, true, false},
        {ORACLE_DIFFERENCE, "difference", ORACLE_DIFFERENCE, true, true, false},
        {ORACLE_ENDING, "ending", ORACLE_ENDING, true, true, false},
    };
    (void)state;
    assert_int_equal(ORACLE_COUNT, sizeof(rows) / sizeof(rows[0]));
    for (unsigned i = 0; i < ORACLE_COUNT; i++) {
        enum oracle oracle = rows[i].oracle;
        const struct suspect a = {.oracle = oracle, .place = 1, .header = cps_pm4_type7(0x53, 4)};
        struct suspect other = a;
        assert_string_equal(oracle_name(oracle), rows[i].name);
        assert_int_equal(oracle_usual() >> oracle & 1, rows[i].usual);
        for (unsigned k = 0; k < ORACLE_COUNT; k++)
            assert_int_equal(oracle_family((enum oracle)k) >> oracle & 1, k == rows[i].raised);
        other.place = 2;
        assert_int_equal(oracle_key(&a) != oracle_key(&other), rows[i].place);
        other = a;
        other.header = cps_pm4_type7(0x54, 4);
        assert_int_equal(oracle_key(&a) != oracle_key(&other), rows[i].packet);
    }
}

/* What tells findings apart: their packet, and their place only where the row says so. */
static void keys_follow_the_rows(void **state)
{
    struct suspect a = {.raised = ORACLE_PAGE_TABLE, .oracle = ORACLE_PAGE_TABLE, .place = 1};
    struct suspect b = a;
    (void)state;
    a.header = b.header = cps_pm4_type7(0x53, 4);
    b.place = 2;
    assert_true(oracle_key(&a) == oracle_key(&b));
    b.header = cps_pm4_type7(0x54, 4);
    assert_true(oracle_key(&a) != oracle_key(&b));
    b = a;
    a.oracle = b.oracle = ORACLE_HANG;
    b.place = 3;
    assert_true(oracle_key(&a) != oracle_key(&b));
    a.oracle = b.oracle = ORACLE_STARVED;
    b.header = cps_pm4_type7(0x54, 4);
    assert_true(oracle_key(&a) == oracle_key(&b));
}

static struct cps_event event(unsigned kind, unsigned sub, uint64_t addr, uint32_t value)
{
    return cps_event_make(kind, sub, CPS_CPU_SQE, 0, addr, value);
}

struct scene {
    struct run run;
    struct protection protection;
    struct cps_fw fw;
};

/* A630's list, and nothing that runs. */
static int setup(void **state)
{
    struct scene *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    s->fw.gen = CPS_A6XX;
    protection_init(&s->protection, &s->fw);
    s->run.protection = &s->protection;
    s->run.sides = 1;
    s->run.oracles = (1u << ORACLE_COUNT) - 1;
    s->run.side[0].run = &s->run;
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

static const struct {
    const char *what;
    uint32_t header;
    unsigned level, reg, path;
    enum oracle oracle; /* ORACLE_COUNT: none */
} writes[] = {
    {"a register for everybody", 0x22, CPS_LEVEL_IB1, 0x8a00, CPS_PATH_CTRL, ORACLE_COUNT},
    {"one under CP_PROTECT", 0x22, CPS_LEVEL_IB1, 0x900, CPS_PATH_CTRL, ORACLE_PROTECTED},
    {"the same, by a packet of the ring", 0x22, CPS_LEVEL_RB, 0x900, CPS_PATH_CTRL, ORACLE_COUNT},
    {"the same, which hardware looks at", 0x22, CPS_LEVEL_IB1, 0x900, CPS_PATH_USER, ORACLE_COUNT},
    {"the one behind the entries", 0x22, CPS_LEVEL_IB1, 0xc00, CPS_PATH_CTRL, ORACLE_COUNT},
    {"one that streams may read", 0x22, CPS_LEVEL_IB2, 0x10, CPS_PATH_CTRL, ORACLE_READ_ONLY},
    {"the SMMU", 0x22, CPS_LEVEL_SDS, 0x12008, CPS_PATH_CTRL, ORACLE_PAGE_TABLE},
    {"secure mode", 0x22, CPS_LEVEL_SDS, 0xf400, CPS_PATH_DATA, ORACLE_SECURE_MODE},
    {"CP_PROTECT itself", 0x22, CPS_LEVEL_IB1, 0x850, CPS_PATH_DATA, ORACLE_PRIVILEGED},
    {"a packet of the hardware's", 0x0f, CPS_LEVEL_IB1, 0x850, CPS_PATH_DATA, ORACLE_INTERNAL},
};

static void writes_raise_what_they_are(void **state)
{
    struct scene *s = *state;
    struct cps_sink *sink = &s->run.side[0].sink;
    for (size_t i = 0; i < sizeof(writes) / sizeof(writes[0]); i++) {
        const struct cps_event events[] = {
            event(CPS_EV_PKT, writes[i].level, 0x1000, cps_pm4_type7(writes[i].header, 0)),
            event(CPS_EV_REG, writes[i].path, writes[i].reg, 1),
            event(CPS_EV_REG, writes[i].path, writes[i].reg, 1)};
        s->run.suspects = 0;
        s->run.side[0].internal = false;
        run_take_events(sink, events, 3);
        unsigned wanted = writes[i].oracle != ORACLE_COUNT;
        if (s->run.suspects != wanted || (wanted && s->run.suspect[0].raised != writes[i].oracle))
            fail_msg("%s: %u suspects", writes[i].what, s->run.suspects);
    }
}

/* An oracle that is not asked for is not raised, unless what it is raised as may become another. */
static void only_what_is_asked_for(void **state)
{
    struct scene *s = *state;
    struct suspect suspect = {.raised = ORACLE_HANG};
    s->run.oracles = 1u << ORACLE_WAITS;
    run_add_suspect(&s->run, &suspect);
    run_add_suspect(&s->run, &suspect);
    assert_int_equal(s->run.suspects, 1);
    suspect.raised = ORACLE_JUMP;
    run_add_suspect(&s->run, &suspect);
    assert_int_equal(s->run.suspects, 1);
}

/* Those of the run at hand, and none that a run before has left behind them. */
static void suspects_of_earlier_runs_are_gone(void **state)
{
    struct scene *s = *state;
    struct suspect suspect[RUN_SUSPECTS];
    for (unsigned i = 0; i < RUN_SUSPECTS; i++) {
        suspect[i] = (struct suspect){.raised = ORACLE_PAGE_TABLE,
                                      .oracle = ORACLE_PAGE_TABLE,
                                      .header = cps_pm4_type7(0x10 + i, 0)};
        run_add_suspect(&s->run, &suspect[i]);
    }
    assert_int_equal(s->run.suspects, RUN_SUSPECTS);
    for (unsigned count = RUN_SUSPECTS + 1; count--;) {
        s->run.suspects = count;
        for (unsigned i = 0; i < RUN_SUSPECTS; i++)
            assert_ptr_equal(run_suspect(&s->run, oracle_raised(&suspect[i])),
                             i < count ? &s->run.suspect[i] : NULL);
    }
}

/* What a log of branches says of a level that is not the driver's: privilege bits are 0 the level's
 * own, 1 the protected mode. */
static const struct {
    const char *what;
    uint8_t level, booted, privilege;
    enum oracle oracle; /* ORACLE_COUNT: none */
} ways[] = {
    {"the ring, privileged", 0, 2, 3, ORACLE_COUNT},
    {"the ring, without the protected mode", 0, 2, 0, ORACLE_COUNT},
    {"as it should be", CPS_LEVEL_IB1, 2, 2, ORACLE_COUNT},
    {"privileged", CPS_LEVEL_IB1, 2, 3, ORACLE_ELEVATED},
    {"privileged, without the protected mode", CPS_LEVEL_IB1, 2, 1, ORACLE_ELEVATED},
    {"without the protected mode", CPS_LEVEL_SDS, 2, 0, ORACLE_UNPROTECTED},
    {"without one that never was on", CPS_LEVEL_SDS, 0, 0, ORACLE_COUNT},
    {"with one that the boot left off", CPS_LEVEL_IB2, 0, 2, ORACLE_COUNT},
    {"with other bits lost", CPS_LEVEL_IB2, 0xfe, 2, ORACLE_COUNT},
};

static void levels_of_streams_are_not_privileged(void **state)
{
    struct scene *s = *state;
    struct run_side *side = &s->run.side[0];
    struct cps_edge edge;
    const struct cps_run_config config = {.demo = true, .limit = 100000000, .submit = -1};
    struct play *play = calloc(1, sizeof(*play));
    assert_non_null(play);
    assert_null(play_open(play, &config, NULL));
    play_boot(play);
    side->engine = play->engine;
    side->stop = CPS_STOP_IDLE;
    side->log.edge = &edge;
    side->log.count = 1;
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        edge = (struct cps_edge){
            .from = 1, .branch = 5, .to = 9, .packet = 0x22, .level = ways[i].level};
        edge.privilege = ways[i].privilege;
        side->log.privilege[0] = ways[i].booted;
        s->run.suspects = 0;
        judge_side(side);
        unsigned wanted = ways[i].oracle != ORACLE_COUNT;
        if (s->run.suspects != wanted || (wanted && s->run.suspect[0].raised != ways[i].oracle))
            fail_msg("%s: %u suspects", ways[i].what, s->run.suspects);
    }
    play_close(play);
    free(play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_new_once),
        cmocka_unit_test(ways_have_keys_of_their_own),
        cmocka_unit_test(rows_are_found_by_name),
        cmocka_unit_test(oracles_are_as_documented),
        cmocka_unit_test(keys_follow_the_rows),
        cmocka_unit_test_setup_teardown(writes_raise_what_they_are, setup, teardown),
        cmocka_unit_test_setup_teardown(only_what_is_asked_for, setup, teardown),
        cmocka_unit_test_setup_teardown(suspects_of_earlier_runs_are_gone, setup, teardown),
        cmocka_unit_test_setup_teardown(levels_of_streams_are_not_privileged, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
