/* SPDX-License-Identifier: MIT
 * Draw-state groups of a7xx: what their headers say, and what is executed. Packets go through a
 * program with the firmware's own instruction for them (a740: `(rep)(sds2)cwrite $data, [$00 +
 * 0x04a]`). D: adreno_pm4.xml, CP_SET_DRAW_STATE; H: dumps of CP_DRAW_STATE; F: 6ee 0d11..0d51. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"
#include "tests/lib/engine_bench.h"
#include "isa/base/pm4.h"

enum { SET = 0x43, ASK = 0x10, DRAW = 0x38 };
enum { DIRTY = 1 << 16, DISABLE = 1 << 17, DISABLE_ALL = 1 << 18 };
#define MODES(mask) ((uint32_t)(mask) << 20)
#define GROUP(n)    ((uint32_t)(n) << 24)
#define BASE        0x300000u

/* SET sets groups. ASK: $05 is the header of the group that its word names, $06 the active groups,
 * $07 those that were loaded. DRAW executes in the mode of its word: $08 counts words, ends
 * included. */
static const char handlers[] =
    "mov $02, 0x43\ncwrite $02, [$00 + 0x060]\nmov $02, #set\ncwrite $02, [$00 + 0x061]\n"
    "mov $02, 0x10\ncwrite $02, [$00 + 0x060]\nmov $02, #ask\ncwrite $02, [$00 + 0x061]\n"
    "mov $02, 0x38\ncwrite $02, [$00 + 0x060]\nmov $02, #draw\ncwrite $02, [$00 + 0x061]\n"
    "jump #end\nnop\n"
    "set: (rep)(sds2)cwrite $data, [$00 + 0x04a]\nwaitin\nmov $01, $data\n"
    "ask: cwrite $data, [$00 + 0x041]\ncread $05, [$00 + 0x047]\ncread $06, [$00 + 0x049]\n"
    "cread $07, [$00 + 0x048]\nwaitin\nmov $01, $data\n"
    "draw: cwrite $data, [$00 + 0x04b]\nmov $02, 0x4\ncwrite $02, [$00 + 0x053]\nmov $08, $00\n"
    "cread $03, [$00 + 0x051]\nbreq $03, b1, #done\nnop\ncwrite $02, [$00 + 0x054]\n"
    "word: mov $00, $data\ncread $03, [$00 + 0x051]\nbrne $03, b1, #word\nadd $08, $08, 0x1\n"
    "done: cwrite $00, [$00 + 0x054]\nwaitin\nmov $01, $data\n"
    "end:\n";

struct packet {
    unsigned opcode, count;
    uint32_t words[6];
};
#define ONE(header)         \
    {                       \
        SET, 3,             \
        {                   \
            header, BASE, 0 \
        }                   \
    }
#define AT(header, base)    \
    {                       \
        SET, 3,             \
        {                   \
            header, base, 0 \
        }                   \
    }
#define TWO(header, another)                       \
    {                                              \
        SET, 6,                                    \
        {                                          \
            header, BASE, 0, another, BASE + 64, 0 \
        }                                          \
    }
#define DRAWN(mode) \
    {               \
        DRAW, 1,    \
        {           \
            mode    \
        }           \
    }
#define ASKED(group) \
    {                \
        ASK, 1,      \
        {            \
            group    \
        }            \
    }

enum { HEADER = 5, ACTIVE, LOADED, WORDS };

static const struct draw {
    const char *claim;
    struct packet packets[5];
    unsigned reg;
    uint32_t value;
} draws[] = {
    {"the header shows words and modes",
     {ONE(2 | MODES(5) | GROUP(3)), ASKED(3)},
     HEADER,
     0x00050002},
    {"a group that is set is active", {ONE(2 | MODES(7) | GROUP(3)), ASKED(3)}, ACTIVE, 1 << 3},
    {"one packet sets several",
     {TWO(2 | MODES(7) | GROUP(3), 2 | MODES(7) | GROUP(31)), ASKED(3)},
     ACTIVE,
     1u << 31 | 1 << 3},
    {"a disabled group keeps its modes (H: 0x00070000)",
     {ONE(2 | MODES(7) | GROUP(3)), ONE(DISABLE | MODES(7) | GROUP(3)), ASKED(3)},
     HEADER,
     0x00070000},
    {"and is not active",
     {ONE(2 | MODES(7) | GROUP(3)), ONE(DISABLE | MODES(7) | GROUP(3)), ASKED(3)},
     ACTIVE,
     0},
    {"words of a disabled group do not count",
     {ONE(2 | DISABLE | MODES(7) | GROUP(3)), ASKED(3)},
     HEADER,
     0x00070000},
    {"a group without words is disabled",
     {ONE(2 | MODES(7) | GROUP(3)), ONE(MODES(7) | GROUP(3)), ASKED(3)},
     ACTIVE,
     0},
    {"others stay as they are",
     {TWO(2 | MODES(7) | GROUP(3), 2 | MODES(7) | GROUP(4)), ONE(DISABLE | GROUP(3)), ASKED(3)},
     ACTIVE,
     1 << 4},
    {"all are disabled at once",
     {TWO(2 | MODES(7) | GROUP(3), 2 | MODES(7) | GROUP(4)), ONE(DISABLE_ALL), ASKED(3)},
     ACTIVE,
     0},
    {"words of a header that disables all do not count",
     {ONE(2 | DISABLE_ALL | MODES(7) | GROUP(3)), ASKED(3)},
     ACTIVE,
     0},
    {"and are not loaded any more",
     {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1), ONE(DISABLE_ALL), ASKED(3)},
     LOADED,
     0},
    {"a draw executes a group, and its end", {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1)}, WORDS, 3},
    {"it is loaded then", {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1), ASKED(3)}, LOADED, 1 << 3},
    {"and not active", {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1), ASKED(3)}, ACTIVE, 0},
    {"a second draw has nothing to execute",
     {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1), DRAWN(1)},
     WORDS,
     0},
    {"groups of other modes are left out", {ONE(2 | MODES(6) | GROUP(3)), DRAWN(1)}, WORDS, 0},
    {"one common mode is enough", {ONE(2 | MODES(6) | GROUP(3)), DRAWN(4)}, WORDS, 3},
    {"the same words are executed once",
     {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1), ONE(2 | MODES(7) | GROUP(3)), DRAWN(1)},
     WORDS,
     0},
    {"a dirty group is executed again",
     {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1), ONE(2 | DIRTY | MODES(7) | GROUP(3)), DRAWN(1)},
     WORDS,
     3},
    {"of a group that grew the rest is executed (F)",
     {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1), ONE(5 | MODES(7) | GROUP(3)), DRAWN(1)},
     WORDS,
     4},
    {"of a dirty one all",
     {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1), ONE(5 | DIRTY | MODES(7) | GROUP(3)), DRAWN(1)},
     WORDS,
     6},
    {"of one that shrank all (F)",
     {ONE(5 | MODES(7) | GROUP(3)), DRAWN(1), ONE(2 | MODES(7) | GROUP(3)), DRAWN(1)},
     WORDS,
     3},
    {"words elsewhere are other words",
     {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1), AT(2 | MODES(7) | GROUP(3), BASE + 64), DRAWN(1)},
     WORDS,
     3},
    {"what was disabled between is executed again",
     {ONE(2 | MODES(7) | GROUP(3)), DRAWN(1), ONE(DISABLE | GROUP(3)), ONE(2 | MODES(7) | GROUP(3)),
      DRAWN(1)},
     WORDS,
     3},
};

static bool feed(struct cps_engine *engine, const struct packet *packets)
{
    uint32_t words[5 * 7];
    unsigned count = 0;
    for (unsigned i = 0; i < 5 && packets[i].opcode; i++) {
        words[count++] = cps_pm4_type7(packets[i].opcode, packets[i].count);
        for (unsigned w = 0; w < packets[i].count; w++)
            words[count++] = packets[i].words[w];
    }
    return machine_ring(engine, words, count);
}

static void headers_decide_what_a_draw_executes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(draws) / sizeof(draws[0]); i++) {
        const struct draw *d = &draws[i];
        struct bench *b = bench_afuc(CPS_LAYOUT_A7XX, HEAD_A7XX, handlers, 0, 0);
        for (uint32_t w = 0; w < 64; w++)
            machine_set(b->engine, CPS_FILE_MEMORY, BASE + 4 * w, w);
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        assert_true(feed(b->engine, d->packets));
        enum cps_stop stop = cps_engine_run(b->engine, 10000);
        uint32_t value = machine_value(b->engine, 0, CPS_FILE_GENERAL, d->reg);
        if (stop != CPS_STOP_IDLE || value != d->value)
            fail_msg("%s: 0x%x, stop %d", d->claim, value, stop);
        bench_free(b);
    }
}

/* DRAW of a6xx: 0x050 queues group 3 on the chip that its word says; $08 says whether words came,
 * which are read. */
static const char handlers_a6xx[] =
    "mov $02, 0x43\ncwrite $02, [$00 + 0x060]\nmov $02, #set\ncwrite $02, [$00 + 0x061]\n"
    "mov $02, 0x38\ncwrite $02, [$00 + 0x060]\nmov $02, #draw\ncwrite $02, [$00 + 0x061]\n"
    "jump #end\nnop\n"
    "set: (rep)(sds2)cwrite $data, [$00 + 0x04a]\nwaitin\nmov $01, $data\n"
    "draw: cwrite $data, [$00 + 0x000]\nmov $03, 0x3\ncwrite $03, [$00 + 0x041]\n"
    "cwrite $03, [$00 + 0x050]\ncread $08, [$00 + 0x052]\nbreq $08, 0x0, #done\nnop\n"
    "cwrite $03, [$00 + 0x054]\nnop\nnop\nnop\nmov $00, $data\nmov $00, $data\nmov $00, $data\n"
    "done: cwrite $00, [$00 + 0x054]\nwaitin\nmov $01, $data\n"
    "end:\n";

/* F: the code of a650 queues all groups and keeps their SDS base, that of 6ee compares itself and
 * queues what changed. */
static void chips_with_a_number_leave_out_groups_that_ran_before(void **state)
{
    (void)state;
    static const struct draw cases[] = {
        {"a630",
         {ONE(2 | MODES(7) | GROUP(3)), DRAWN(0), ONE(2 | MODES(7) | GROUP(3)), DRAWN(0)},
         8,
         1 << 3},
        {"a650, first", {ONE(2 | MODES(7) | GROUP(3)), DRAWN(0x10000000)}, 8, 1 << 3},
        {"a650, again",
         {ONE(2 | MODES(7) | GROUP(3)), DRAWN(0x10000000), ONE(2 | MODES(7) | GROUP(3)),
          DRAWN(0x10000000)},
         8,
         0},
        {"a650, dirty",
         {ONE(2 | MODES(7) | GROUP(3)), DRAWN(0x10000000), ONE(2 | DIRTY | MODES(7) | GROUP(3)),
          DRAWN(0x10000000)},
         8,
         1 << 3},
        {"a702, again",
         {ONE(2 | MODES(7) | GROUP(3)), DRAWN(0x20000000), ONE(2 | MODES(7) | GROUP(3)),
          DRAWN(0x20000000)},
         8,
         0},
        {"bit 2, again",
         {ONE(2 | MODES(7) | GROUP(3)), DRAWN(4), ONE(2 | MODES(7) | GROUP(3)), DRAWN(4)},
         8,
         0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct bench *b = bench_a6xx(handlers_a6xx);
        for (uint32_t w = 0; w < 2; w++)
            machine_set(b->engine, CPS_FILE_MEMORY, BASE + 4 * w, w);
        assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
        assert_true(feed(b->engine, cases[i].packets));
        enum cps_stop stop = cps_engine_run(b->engine, 10000);
        uint32_t value = machine_value(b->engine, 0, CPS_FILE_GENERAL, cases[i].reg);
        if (stop != CPS_STOP_IDLE || value != cases[i].value)
            fail_msg("%s: 0x%x, stop %d", cases[i].claim, value, stop);
        bench_free(b);
    }
}

/* The queue of draw-state groups holds 64: a draw that has one more is a fault that names it, and
 * is none where the last place is left. */
static void a_group_for_which_there_is_no_room_is_a_fault(void **state)
{
    (void)state;
    for (uint32_t before = QUEUE_DEPTH - 2; before <= QUEUE_DEPTH; before++) {
        struct bench *b = bench_a6xx("");
        struct afuc_core *core = &cps_afuc_of(b->engine)->core[0];
        struct afuc_state *s = &core->s;
        bool room = before < QUEUE_DEPTH;
        machine_set(b->engine, CPS_FILE_MEMORY, BASE, 0);
        for (uint32_t i = 0; i < before; i++)
            assert_true(queue_push_(&s->queue[LEVEL_SDS], BASE, 1, 0));
        s->group[3] = (struct group){.base = {BASE}, .hdr = 7u << 16 | 1};
        s->group_active = 1u << 3;
        draw_start_(core, 7, false);
        assert_int_equal(s->queue[LEVEL_SDS].count, room ? before + 1 : before);
        assert_int_equal(s->wait, room ? WAIT_NONE : WAIT_FAULT);
        assert_int_equal(s->fault, room ? FAULT_NONE : FAULT_QUEUE);
        assert_int_equal(s->fault_value, room ? 0 : 3);
        bench_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_decide_what_a_draw_executes),
        cmocka_unit_test(chips_with_a_number_leave_out_groups_that_ran_before),
        cmocka_unit_test(a_group_for_which_there_is_no_room_is_a_fault),
    };
    return cmocka_run_group_tests_name("draw", tests, NULL, NULL);
}
