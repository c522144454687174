/* SPDX-License-Identifier: MIT
 * Hashes of packet handlers: what moves them, and what must not. Each test assembles two images
 * that differ in one thing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fw/demo/demo.h"
#include "tests/lib/fwcheck.h"

enum { NOP = 0x10, WAIT = 0x26 };

static const char head[] = "[016ee001]\n[#jumptbl]\njump #spin\nnop\n";
static const char tail[] = "CP_WAIT_FOR_IDLE:\nwaitin\nmov $01, $data\n"
                           "spin:\njump #spin\nnop\n"
                           ".align 32\njumptbl:\n.jumptbl #spin\n";

/* The hashes of an image with @p handlers in its middle. */
static void hash(const char *handlers, struct cps_fw_hash *ret)
{
    CPS_BUF text = {0};
    cps_buf_printf(&text, "%s%s%s", head, handlers, tail);
    struct cps_fw *fw = fwcheck_assemble(cps_buf_text(&text), CPS_A6XX, 0);
    assert_non_null(fw);
    assert_null(cps_fw_handler_hashes(fw, &fw->part[0], ret));
    cps_fw_destroy(fw);
}

/* Whether CP_NOP has one hash in both. */
static bool same(const char *a, const char *b)
{
    static struct cps_fw_hash x[CPS_FW_TABLE_SIZE];
    static struct cps_fw_hash y[CPS_FW_TABLE_SIZE];
    hash(a, x);
    hash(b, y);
    assert_true(x[NOP].present && y[NOP].present);
    assert_true(cps_fw_hash_same(&x[WAIT], &y[WAIT]));
    assert_int_equal(cps_fw_hash_same(&x[NOP], &y[NOP]), cps_fw_hash_same(&y[NOP], &x[NOP]));
    return cps_fw_hash_same(&x[NOP], &y[NOP]);
}

#define LOOP                  \
    "CP_NOP:\n"               \
    "mov $02, 0x8\n"          \
    "again:\n"                \
    "call #routine\n"         \
    "nop\n"                   \
    "brne $02, 0x0, #again\n" \
    "sub $02, $02, 0x1\n"     \
    "waitin\nmov $01, $data\n"
#define ROUTINE "routine:\ncwrite $02, [$00 + 0x100]\nret\nmov $03, 0x7\n"

static void code_that_moved_is_the_same(void **state)
{
    (void)state;
    assert_true(same(LOOP ROUTINE, LOOP ROUTINE));
    assert_true(same(LOOP ROUTINE, "nop\nnop\nnop\n" LOOP "mov $04, 0x1\n" ROUTINE));
    assert_true(same(LOOP ROUTINE, ROUTINE LOOP));
}

static void other_code_is_not(void **state)
{
    (void)state;
    assert_false(same(LOOP ROUTINE, "CP_NOP:\nmov $02, 0x9\nagain:\ncall #routine\nnop\n"
                                    "brne $02, 0x0, #again\nsub $02, $02, 0x1\nwaitin\n"
                                    "mov $01, $data\n" ROUTINE));
    assert_false(
        same(LOOP ROUTINE, LOOP "routine:\ncwrite $02, [$00 + 0x101]\nret\nmov $03, 0x7\n"));
}

static void delay_slots_count(void **state)
{
    (void)state;
    assert_false(
        same(LOOP ROUTINE, LOOP "routine:\ncwrite $02, [$00 + 0x100]\nret\nmov $03, 0x8\n"));
    assert_false(same("CP_NOP:\nwaitin\nmov $01, $data\n", "CP_NOP:\nwaitin\nmov $02, $data\n"));
}

static void what_is_behind_the_end_does_not_count(void **state)
{
    (void)state;
    assert_true(same("CP_NOP:\nwaitin\nmov $01, $data\nmov $05, 0x1\n",
                     "CP_NOP:\nwaitin\nmov $01, $data\nmov $05, 0x2\n"));
    assert_true(same("CP_NOP:\njump #spin\nnop\nmov $05, 0x1\n",
                     "CP_NOP:\njump #spin\nnop\nmov $05, 0x2\n"));
}

/* Both ways of a branch, the same instructions, but not the same way. */
static void where_branches_lead_counts(void **state)
{
    (void)state;
    const char *const a = "CP_NOP:\nbrne $02, 0x0, #one\nnop\njump #two\nnop\n"
                          "one:\nmov $03, 0x1\ntwo:\nmov $03, 0x2\nwaitin\nmov $01, $data\n";
    const char *const b = "CP_NOP:\nbrne $02, 0x0, #two\nnop\njump #one\nnop\n"
                          "one:\nmov $03, 0x1\ntwo:\nmov $03, 0x2\nwaitin\nmov $01, $data\n";
    assert_false(same(a, b));
    assert_false(same("CP_NOP:\njump #CP_NOP\nmov $02, 0x1\n",
                      "CP_NOP:\njump #CP_WAIT_FOR_IDLE\nmov $02, 0x1\n"));
}

/* As many instructions in the same order: only where the loop begins is another place. */
static void where_a_loop_begins_counts(void **state)
{
#define LOOP_TO(label) "CP_NOP:\nmov $02, 0x1\nsecond:\nmov $03, 0x2\njump #" label "\nnop\n"
    (void)state;
    assert_false(same(LOOP_TO("CP_NOP"), LOOP_TO("second")));
    assert_true(same(LOOP_TO("second"), "nop\n" LOOP_TO("second")));
}

/* A constant may be an address, or a number that a register gets: nobody knows, so it counts. */
static void constants_are_taken_as_they_are(void **state)
{
    (void)state;
    assert_false(same("CP_NOP:\nmov $02, 0x10\nwaitin\nmov $01, $data\n",
                      "CP_NOP:\nmov $02, 0x11\nwaitin\nmov $01, $data\n"));
}

static void a_branch_in_a_delay_slot_is_followed_exactly(void **state)
{
    (void)state;
    /* one executes a single instruction of `one`, then goes on at `two` */
    const char *const a = "CP_NOP:\njump #one\njump #two\n"
                          "one:\nmov $03, 0x1\nmov $04, 0x1\nspin1:\njump #spin1\nnop\n"
                          "two:\nwaitin\nmov $01, $data\n";
    const char *const b = "CP_NOP:\njump #one\njump #two\n"
                          "one:\nmov $03, 0x1\nmov $04, 0x2\nspin1:\njump #spin1\nnop\n"
                          "two:\nwaitin\nmov $01, $data\n";
    assert_true(same(a, b));
}

static void unknown_targets_and_returns_are_marked(void **state)
{
    static struct cps_fw_hash h[CPS_FW_TABLE_SIZE];
    (void)state;
    hash("CP_NOP:\njumpd $05\nnop\n", h);
    assert_true(h[NOP].open && !h[NOP].returns && !h[WAIT].open);
    assert_false(cps_fw_hash_same(&h[NOP], &h[NOP]));
    hash("CP_NOP:\nret\nnop\n", h);
    assert_true(h[NOP].returns && !h[NOP].open);
    assert_true(cps_fw_hash_same(&h[NOP], &h[NOP]));
    hash(LOOP ROUTINE, h); /* a routine's return is not the handler's */
    assert_true(!h[NOP].returns && !h[NOP].open);
    assert_int_equal(h[NOP].instructions, 11); /* the slot of brne leads two ways */
    assert_false(h[0x7f].open || cps_fw_hash_same(&h[NOP], &h[WAIT]));
}

static void a_handler_outside_of_the_code_is_open(void **state)
{
    static struct cps_fw_hash h[CPS_FW_TABLE_SIZE];
    (void)state;
    hash("CP_NOP:\nbrne $02, 0x0, #behind\nnop\nwaitin\nmov $01, $data\n"
         "behind:\n[deadbeef]\n",
         h);
    assert_true(h[NOP].present && !h[NOP].open); /* no instruction: the processor faults there */
    struct cps_fw *fw = fwcheck_assemble("[016ee001]\n[#jumptbl]\nspin:\njump #spin\nnop\n"
                                         ".align 32\njumptbl:\n.jumptbl #spin\n",
                                         CPS_A6XX, 0);
    assert_non_null(fw);
    fw->words[fw->part[0].table + NOP] = 0x3fff; /* behind the image */
    assert_null(cps_fw_handler_hashes(fw, &fw->part[0], h));
    assert_true(!h[NOP].present || h[NOP].open);
    cps_fw_destroy(fw);
}

/* Which words a handler reaches, found in another way: word by word, with the slot of a branch as
 * part of it. The demo has no branch in a slot, which that would get wrong. */
static void reach(const struct cps_fw *fw, uint32_t pc, bool *seen)
{
    struct cps_insn insn;
    uint32_t target = CPS_FW_NONE;
    if (pc >= fw->part[0].table || seen[pc])
        return;
    seen[pc] = true;
    cps_decode(&cps_isa_afuc, fw->gen, fw->words[pc], &insn);
    enum cps_flow flow = cps_insn_flow(&cps_isa_afuc, &insn);
    cps_insn_target(&cps_isa_afuc, &insn, pc, &target);
    if (flow == CPS_FLOW_NEXT || flow == CPS_FLOW_BRANCH || flow == CPS_FLOW_SKIP)
        reach(fw, pc + 1, seen);
    else
        seen[pc + 1] = true;
    if (flow == CPS_FLOW_CALL)
        reach(fw, pc + 2, seen);
    if (target != CPS_FW_NONE)
        reach(fw, target, seen);
}

/* Every word of the demo is changed once: the handlers that reach it get other hashes, no others.
 */
static void a_hash_is_of_all_words_that_are_reached_and_of_no_others(void **state)
{
    static struct cps_fw_hash before[CPS_FW_TABLE_SIZE];
    static struct cps_fw_hash after[CPS_FW_TABLE_SIZE];
    static bool seen[CPS_FW_TABLE_SIZE][4096];
    struct cps_fw *fw = NULL;
    unsigned changed = 0;
    (void)state;
    assert_null(cps_fw_parse("demo", cps_demo_fw, cps_demo_fw_size, 0, &fw));
    assert_true(fw->part[0].table < 4095);
    assert_null(cps_fw_handler_hashes(fw, &fw->part[0], before));
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        reach(fw, cps_fw_handler(fw, &fw->part[0], id), seen[id]);
    for (uint32_t at = 2; at < fw->part[0].table; at++) {
        struct cps_insn insn;
        cps_decode(&cps_isa_afuc, fw->gen, fw->words[at], &insn);
        uint32_t bit = cps_insn_target_bits(&cps_isa_afuc, &insn) ? UINT32_C(1) << 21 : 1;
        if (cps_insn_flow(&cps_isa_afuc, &insn) == CPS_FLOW_CALL ||
            cps_insn_flow(&cps_isa_afuc, &insn) == CPS_FLOW_SKIP)
            continue; /* all of its bits say where it goes, or none count */
        fw->words[at] ^= bit;
        assert_null(cps_fw_handler_hashes(fw, &fw->part[0], after));
        fw->words[at] ^= bit;
        for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
            bool other = memcmp(before[id].digest, after[id].digest, sizeof(after[id].digest)) != 0;
            assert_int_equal(other, seen[id][at]);
            changed += other;
        }
    }
    assert_true(changed > 500);
    cps_fw_destroy(fw);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_that_moved_is_the_same),
        cmocka_unit_test(other_code_is_not),
        cmocka_unit_test(delay_slots_count),
        cmocka_unit_test(what_is_behind_the_end_does_not_count),
        cmocka_unit_test(where_branches_lead_counts),
        cmocka_unit_test(where_a_loop_begins_counts),
        cmocka_unit_test(constants_are_taken_as_they_are),
        cmocka_unit_test(a_branch_in_a_delay_slot_is_followed_exactly),
        cmocka_unit_test(unknown_targets_and_returns_are_marked),
        cmocka_unit_test(a_handler_outside_of_the_code_is_open),
        cmocka_unit_test(a_hash_is_of_all_words_that_are_reached_and_of_no_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
