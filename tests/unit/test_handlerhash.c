/* SPDX-License-Identifier: MIT
 * Hashes of packet handlers: what moves them, and what must not. Each test assembles two images
 * that differ in one thing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/fwcheck.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(code_that_moved_is_the_same),
        cmocka_unit_test(other_code_is_not),
        cmocka_unit_test(delay_slots_count),
        cmocka_unit_test(what_is_behind_the_end_does_not_count),
        cmocka_unit_test(where_branches_lead_counts),
        cmocka_unit_test(constants_are_taken_as_they_are),
        cmocka_unit_test(a_branch_in_a_delay_slot_is_followed_exactly),
        cmocka_unit_test(unknown_targets_and_returns_are_marked),
        cmocka_unit_test(a_handler_outside_of_the_code_is_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
