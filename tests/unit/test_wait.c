/* SPDX-License-Identifier: MIT
 * What the policy `waits` makes of packets that poll: every comparison below, at and above its
 * reference, and each packet once satisfied and once not. The firmware drops all packets. */
#include "isa/base/pm4.h"
#include "tests/lib/afuc_facts.h"

enum { WAIT_REG_MEM = 0x3c, WAIT_MEM_GTE = 0x14, TWO_REGS = 0x70, TWO_MEMS = 0x71 };
enum { REGISTER = 0 << 4, MEMORY = 1 << 4, SCRATCH = 2 << 4, ON_CHIP = 3 << 4 };
#define G56 (A5XX | ME | BOTH)
#define G6  (BOTH)

/* Memory at 0x2000 and 0x2004, registers 0x883 and 0x884, and on a7xx the time stamps in 0x0e2 and
 * 0x0e3 are `first` and `second`. */
static const struct row {
    unsigned layouts;
    uint32_t first, second;
    const char *result;
    unsigned opcode, count;
    uint32_t words[6];
} rows[] = {
#define MEM(function, ref, mask)                     \
    WAIT_REG_MEM, 6,                                 \
    {                                                \
        MEMORY | (function), 0x2000, 0, ref, mask, 0 \
    }
#define LOW(value) ", ASSUME wait 2000=" #value
#define ALL_BUT    (ALL & ~A5XX)
    {ALL_BUT, 6, 0, "", MEM(0, 5, ~0u)},
    {ALL_BUT, 4, 0, "", MEM(1, 5, ~0u)},
    {ALL_BUT, 5, 0, LOW(4), MEM(1, 5, ~0u)},
    {ALL_BUT, 6, 0, LOW(4), MEM(1, 5, ~0u)},
    {ALL_BUT, 4, 0, "", MEM(2, 5, ~0u)},
    {ALL_BUT, 5, 0, "", MEM(2, 5, ~0u)},
    {ALL_BUT, 6, 0, LOW(5), MEM(2, 5, ~0u)},
    {ALL_BUT, 4, 0, LOW(5), MEM(3, 5, ~0u)},
    {ALL_BUT, 5, 0, "", MEM(3, 5, ~0u)},
    {ALL_BUT, 6, 0, LOW(5), MEM(3, 5, ~0u)},
    {ALL_BUT, 4, 0, "", MEM(4, 5, ~0u)},
    {ALL_BUT, 5, 0, LOW(4), MEM(4, 5, ~0u)},
    {ALL_BUT, 6, 0, "", MEM(4, 5, ~0u)},
    {ALL_BUT, 4, 0, LOW(5), MEM(5, 5, ~0u)},
    {ALL_BUT, 5, 0, "", MEM(5, 5, ~0u)},
    {ALL_BUT, 6, 0, "", MEM(5, 5, ~0u)},
    {ALL_BUT, 4, 0, LOW(6), MEM(6, 5, ~0u)},
    {ALL_BUT, 5, 0, LOW(6), MEM(6, 5, ~0u)},
    {ALL_BUT, 6, 0, "", MEM(6, 5, ~0u)},
    /* The mask selects what is compared; the other bits stay. */
    {ALL_BUT, 0xff05, 0, "", MEM(3, 5, 0xff)},
    {ALL_BUT, 0xff04, 0, LOW(ff05), MEM(3, 5, 0xff)},
    /* Unsigned; where no neighbour fits, another value does. */
    {ALL_BUT, 0x80000000, 0, "", MEM(5, 5, ~0u)},
    {ALL_BUT, 1, 0, "", MEM(4, 0, 1)},
    {ALL_BUT, 0, 0, LOW(1), MEM(4, 0, 1)},
    {ALL_BUT, 0, 0, LOW(ffffffff), MEM(4, 0, ~0u)},
    /* Nothing ends a wait for less than 0. */
    {ALL_BUT, 0, 0, "", MEM(1, 0, ~0u)},
    {ALL_BUT, 4, 0, ", ASSUME wait 883=5", WAIT_REG_MEM, 6, {REGISTER | 3, 0x883, 0, 5, ~0u, 0}},
    {ALL_BUT, 5, 0, "", WAIT_REG_MEM, 6, {REGISTER | 3, 0x883, 0, 5, ~0u, 0}},
    {ALL_BUT, 4, 0, "", WAIT_REG_MEM, 6, {SCRATCH | 3, 0x2000, 0, 5, ~0u, 0}},
    {ALL_BUT, 4, 0, "", WAIT_REG_MEM, 6, {ON_CHIP | 3, 0x2000, 0, 5, ~0u, 0}},
    {A5XX, 4, 0, "", MEM(3, 5, ~0u)}, /* the ME waits */
    /* Memory less the reference, as a signed number. */
    {G56, 4, 0, LOW(5), WAIT_MEM_GTE, 4, {0, 0x2000, 0, 5}},
    {G56, 5, 0, "", WAIT_MEM_GTE, 4, {0, 0x2000, 0, 5}},
    {G56, 6, 0, "", WAIT_MEM_GTE, 4, {0, 0x2000, 0, 5}},
    {G56, 0x80000000, 0, LOW(0), WAIT_MEM_GTE, 4, {0, 0x2000, 0, 0}},
    {G56, 0x7fffffff, 0, "", WAIT_MEM_GTE, 4, {0, 0x2000, 0, 0}},
    {G56, 1, 0, "", WAIT_MEM_GTE, 4, {0, 0x2000, 0, 0xffffffff}},
    {G56, 0, 4, ", ASSUME wait 100002004=5", WAIT_MEM_GTE, 4, {0, 0x2004, 1, 5}},
    /* a7xx: 0 as before, 1 of 64 bits, 2 the sum of the time stamps; 4 for an on-chip word. */
    {SEVEN, 4, 0, LOW(5), WAIT_MEM_GTE, 4, {0, 0x2000, 0, 5}},
    {SEVEN, 5, 0, "", WAIT_MEM_GTE, 4, {0, 0x2000, 0, 5}},
    {SEVEN, 4, 1, LOW(5) ", ASSUME wait 2004=1", WAIT_MEM_GTE, 5, {1, 0x2000, 0, 5, 1}},
    {SEVEN, 5, 1, "", WAIT_MEM_GTE, 5, {1, 0x2000, 0, 5, 1}},
    {SEVEN, 4, 2, "", WAIT_MEM_GTE, 5, {1, 0x2000, 0, 5, 1}},
    {SEVEN, 9, 0, LOW(5) ", ASSUME wait 2004=1", WAIT_MEM_GTE, 5, {1, 0x2000, 0, 5, 1}},
    {A7XX, 3, 2, LOW(5), WAIT_MEM_GTE, 4, {2, 0x2000, 0, 9}},
    {A7XX, 3, 0, "", WAIT_MEM_GTE, 4, {2, 0x2000, 0, 9}},
    {SEVEN, 4, 0, "", WAIT_MEM_GTE, 4, {0x10, 0x2000, 0, 5}},
    {SEVEN, 4, 0, "", WAIT_MEM_GTE, 4, {3, 0x2000, 0, 5}},
    /* Both wait while the first is not zero and the second is the reference. */
    {ALL_BUT, 1, 7, ", ASSUME wait 883=0", TWO_REGS, 3, {0x883, 0x884, 7}},
    {ALL_BUT, 0, 7, "", TWO_REGS, 3, {0x883, 0x884, 7}},
    {ALL_BUT, 1, 6, "", TWO_REGS, 3, {0x883, 0x884, 7}},
    {ALL_BUT, 1, 8, "", TWO_REGS, 3, {0x883, 0x884, 7}},
    {G56 & ~A5XX, 1, 7, LOW(0), TWO_MEMS, 5, {0x2000, 0, 0x2004, 0, 7}},
    {G56 & ~A5XX, 0, 7, "", TWO_MEMS, 5, {0x2000, 0, 0x2004, 0, 7}},
    {G56 & ~A5XX, 1, 6, "", TWO_MEMS, 5, {0x2000, 0, 0x2004, 0, 7}},
    {SEVEN, 1, 7, "", TWO_MEMS, 5, {0x2000, 0, 0x2004, 0, 7}},
    {A5XX, 1, 7, "", TWO_MEMS, 5, {0x2000, 0, 0x2004, 0, 7}},
};

/* Drops all packets; what the PFP of a5xx sends to its ME is the ring. */
static struct bench *dropper(enum cps_layout layout, unsigned words)
{
    CPS_BUF pfp = {0}, code = {0};
    uint32_t table = number_named(layout, "PACKET_TABLE_WRITE", 18);
    cps_buf_printf(&code,
                   "mov $02, #drop\nmov $rem, 0x80\n(rep)cwrite $02, [$00 + 0x%03x]\nwaitin\n"
                   "mov $01, $data\ndrop: (rep)mov $00, $data\n",
                   table);
    cps_buf_printf(&pfp, "mov $rem, 0x%x\n(rep)mov $data, $data\n", words);
    struct bench *b =
        create(layout, cps_buf_text(&code), layout == CPS_LAYOUT_A5XX_ME ? cps_buf_text(&pfp) : "");
    b->engine->policy.waits = CPS_WAITS_SATISFY;
    return b;
}

static void feed(struct bench *b, const struct row *row, enum cps_layout layout)
{
    uint32_t stream[7] = {cps_pm4_type7(row->opcode, row->count)};
    memcpy(stream + 1, row->words, 4 * row->count);
    machine_set(b->engine, CPS_FILE_MEMORY, 0x2000, row->first);
    machine_set(b->engine, CPS_FILE_MEMORY, 0x2004, row->second);
    machine_set(b->engine, CPS_FILE_MEMORY, 0x100002004, row->second);
    machine_set(b->engine, CPS_FILE_REGISTER, 0x883, row->first);
    machine_set(b->engine, CPS_FILE_REGISTER, 0x884, row->second);
    if (layout == CPS_LAYOUT_A7XX) {
        machine_set(b->engine, CPS_FILE_CONTROL, 0x0e2, row->first);
        machine_set(b->engine, CPS_FILE_CONTROL, 0x0e3, row->second);
    }
    assert_true(machine_ring(b->engine, stream, 1 + row->count));
}

/* Registers are below memory here. What was assumed is there. */
static void found_in(struct bench *b, struct cps_buf *out)
{
    cps_tap_flush_(&b->engine->tap);
    for (size_t i = 0; i < b->count; i++) {
        const struct cps_event *event = &b->event[i];
        if (cps_event_kind(event) != CPS_EV_ASSUME)
            continue;
        char file = event->addr < 0x2000 ? CPS_FILE_REGISTER : CPS_FILE_MEMORY;
        regprog_event(event, out);
        assert_int_equal(machine_value(b->engine, 0, file, event->addr), event->value);
    }
}

static void check_row(const struct row *row, enum cps_layout layout, bool stops)
{
    struct bench *b = dropper(layout, 1 + row->count);
    CPS_BUF found = {0};
    b->engine->policy.waits = stops ? CPS_WAITS_STOP : CPS_WAITS_SATISFY;
    feed(b, row, layout);
    assert_int_equal(cps_engine_run(b->engine, 10000), CPS_STOP_IDLE);
    found_in(b, &found);
    if (strcmp(cps_buf_text(&found), stops ? "" : row->result) != 0)
        fail_msg("%s: packet 0x%02x (0x%x, 0x%x, ...), values 0x%x 0x%x: '%s', expected '%s'",
                 names[layout], row->opcode, row->words[0], row->words[1], row->first, row->second,
                 cps_buf_text(&found), stops ? "" : row->result);
    bench_free(b);
}

static void check_rows(bool stops)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (enum cps_layout layout = CPS_LAYOUT_A5XX_PFP; layout <= CPS_LAYOUT_A8XX; layout++) {
            if (rows[i].layouts >> layout & 1)
                check_row(&rows[i], layout, stops);
        }
    }
}

static void a_wait_that_would_not_end_gets_the_nearest_value(void **state)
{
    (void)state;
    check_rows(false);
}

static void with_the_policy_stop_nothing_is_assumed(void **state)
{
    (void)state;
    check_rows(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wait_that_would_not_end_gets_the_nearest_value),
        cmocka_unit_test(with_the_policy_stop_nothing_is_assumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
