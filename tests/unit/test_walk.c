/* SPDX-License-Identifier: MIT
 * The walk over all code that a place leads to: which words it finds, what leads to them, and where
 * it ends. What graphs look like test_handlerhash.c says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fw/image/walk.h"
#include "tests/lib/fwcheck.h"

enum { BEGIN = 4, WORDS = 64, NOBODY = 0xffff };

static const char head[] = "[01740001]\n[#jumptbl]\njump #spin\nnop\n";
static const char tail[] = "spin:\njump #spin\nnop\n"
                           ".align 32\njumptbl:\n.jumptbl #spin\n";

struct heard {
    uint32_t from[WORDS]; /* the first that leads there */
};

static void hear(void *context, uint32_t from, uint32_t to)
{
    struct heard *heard = context;
    if (to < WORDS && heard->from[to] == NOBODY)
        heard->from[to] = from;
}

/* Walks from word 4 on, where @p code stands. The nodes are counted by how they end. */
static struct heard walk(const char *code, bool guess, size_t most, unsigned ends[8])
{
    CPS_BUF text = {0};
    struct heard heard;
    struct cps_fw_walk walk;
    cps_buf_printf(&text, "%s%s%s", head, code, tail);
    struct cps_fw *fw = fwcheck_assemble(cps_buf_text(&text), CPS_A7XX, 0);
    assert_non_null(fw);
    for (unsigned i = 0; i < WORDS; i++)
        heard.from[i] = NOBODY;
    memset(ends, 0, 8 * sizeof(*ends));
    cps_fw_walk_init_(fw, &fw->part[0], most, &walk);
    walk.guess = guess;
    walk.lead = hear;
    walk.context = &heard;
    assert_null(cps_fw_walk_from_(&walk, BEGIN, NULL));
    assert_null(cps_fw_walk_(&walk));
    assert_true(walk.count <= most);
    for (size_t i = 0; i < walk.count; i++) {
        for (unsigned k = 0; k < walk.node[i].count; k++) {
            if (walk.node[i].next[k] >= CPS_FW_AT_DISPATCH)
                ends[walk.node[i].next[k] - CPS_FW_AT_DISPATCH]++;
            else
                assert_true(walk.node[i].next[k] < walk.count);
        }
    }
    cps_fw_walk_deinit_(&walk);
    cps_fw_destroy(fw);
    return heard;
}

static unsigned end(uint32_t at)
{
    return at - CPS_FW_AT_DISPATCH;
}

static void a_branch_leads_behind_its_slot_and_to_its_target(void **state)
{
    (void)state;
    unsigned ends[8];
    struct heard heard = walk("breq $02, 0x0, #there\nnop\nwaitin\nmov $01, $data\n"
                              "mov $03, 0x1\nthere:\nret\nnop\n",
                              false, 100, ends);
    assert_int_equal(heard.from[5], 4);
    assert_int_equal(heard.from[6], 4);
    assert_int_equal(heard.from[9], 4);
    assert_int_equal(heard.from[7], 6);
    assert_int_equal(heard.from[8], NOBODY);
    assert_int_equal(ends[end(CPS_FW_AT_DISPATCH)], 1);
    assert_int_equal(ends[end(CPS_FW_AT_RETURN)], 1);
}

static void a_call_comes_back_and_a_jump_does_not(void **state)
{
    (void)state;
    unsigned ends[8];
    struct heard heard = walk("call #routine\nnop\njump #out\nnop\nmov $02, 0x1\n"
                              "routine:\njump $lr\nnop\nout:\nwaitin\nmov $01, $data\n",
                              false, 100, ends);
    assert_int_equal(heard.from[6], 4);
    assert_int_equal(heard.from[9], 4);
    assert_int_equal(heard.from[8], NOBODY);
    assert_int_equal(heard.from[11], 6);
    assert_int_equal(ends[end(CPS_FW_AT_LINK)], 1);
    assert_int_equal(ends[end(CPS_FW_AT_REGISTER)], 0);
}

/* The second jump stands in the slot of the first: one word runs there, then the second's target.
 */
static void a_jump_in_a_slot_leads_where_it_leads(void **state)
{
    (void)state;
    unsigned ends[8];
    struct heard heard = walk("jump #a\njump #b\nmov $02, 0x1\na:\nmov $03, 0x1\nmov $04, 0x1\n"
                              "b:\nwaitin\nmov $01, $data\n",
                              false, 100, ends);
    assert_int_equal(heard.from[6], NOBODY);
    assert_int_equal(heard.from[7], 4);
    assert_int_equal(heard.from[8], NOBODY);
    assert_int_equal(heard.from[9], 5);
}

static void nothing_runs_behind_what_is_no_instruction(void **state)
{
    (void)state;
    unsigned ends[8];
    struct heard heard = walk("mov $02, 0x1\n[00411001]\nmov $03, 0x1\n", false, 100, ends);
    assert_int_equal(heard.from[5], 4);
    assert_int_equal(ends[end(CPS_FW_AT_ILLEGAL)], 1);
}

static const char table[] = "mov $02, 0x10\nadd $02, $02, $03\njump $02\nnop\n"
                            "nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n"
                            "jump #a\nnop\njump #a\nnop\na:\nwaitin\nmov $01, $data\n";

static void tables_of_jumps_are_found_where_guesses_are_wanted(void **state)
{
    (void)state;
    unsigned ends[8];
    struct heard heard = walk(table, true, 1000, ends);
    assert_int_equal(heard.from[16], CPS_FW_NONE);
    assert_int_equal(heard.from[18], 6);
    assert_int_equal(ends[end(CPS_FW_AT_REGISTER)], 1);
    heard = walk(table, false, 1000, ends);
    assert_int_equal(heard.from[16], NOBODY);
    assert_int_equal(ends[end(CPS_FW_AT_REGISTER)], 1);
}

/* The packet table is no code: what leads to its first word leads outside. */
static void the_code_ends_at_the_table(void **state)
{
    (void)state;
    unsigned ends[8];
    walk("jump #jumptbl\nnop\n", false, 100, ends);
    assert_int_equal(ends[end(CPS_FW_AT_OUTSIDE)], 1);
    struct heard heard = walk("jump 0x7\nnop\nnop\nwaitin\nmov $01, $data\n", false, 100, ends);
    assert_int_equal(ends[end(CPS_FW_AT_OUTSIDE)], 0);
    assert_int_equal(heard.from[7], 4);
    /* outside is one place: the word that runs in front of it has one way on, wherever it was */
    walk("breq $02, 0x0, #second\nnop\njump #last\njump #jumptbl\nsecond:\njump #last\n"
         "jump #jumptbl + 1\nlast:\nnop\nnop\n",
         false, 100, ends);
    assert_int_equal(ends[end(CPS_FW_AT_OUTSIDE)], 1);
}

/* Constants of `mov` may be addresses, but not small ones, nor those of other instructions. */
static void only_constants_that_may_be_addresses_are_guessed(void **state)
{
    static const struct {
        const char *insn;
        uint32_t to;
        bool found;
    } rows[] = {
        {"mov $02, 0x10", 16, true},
        {"mov $02, 0xf", 15, false},
        {"and $02, $02, 0x10", 16, false},
        {"or $02, $00, 0x12", 18, false},
        {"add $02, $02, 0x11", 17, false},
        {"mov $02, 0x4 << 2", 16, true},
        {"cwrite $02, [$00 + 0x010]", 16, false},
        {"mov $02, 0x12", 18, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char code[256];
        unsigned ends[8];
        snprintf(code, sizeof(code),
                 "%s\nwaitin\nmov $01, $data\nnop\nnop\nnop\nnop\nnop\nnop\nnop\nnop\n"
                 "nop\nnop\nnop\nnop\nnop\nwaitin\nmov $01, $data\n",
                 rows[i].insn);
        struct heard heard = walk(code, true, 1000, ends);
        if (heard.from[rows[i].to] != (rows[i].found ? CPS_FW_NONE : NOBODY))
            fail_msg("%s: 0x%x", rows[i].insn, (unsigned)heard.from[rows[i].to]);
    }
}

static void a_walk_has_a_limit_and_says_so(void **state)
{
    (void)state;
    unsigned ends[8];
    walk("nop\nnop\nnop\nwaitin\nmov $01, $data\n", false, 3, ends);
    assert_int_equal(ends[end(CPS_FW_AT_LIMIT)], 1);
    walk("nop\nnop\nnop\nwaitin\nmov $01, $data\n", false, 5, ends);
    assert_int_equal(ends[end(CPS_FW_AT_LIMIT)], 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_branch_leads_behind_its_slot_and_to_its_target),
        cmocka_unit_test(a_call_comes_back_and_a_jump_does_not),
        cmocka_unit_test(a_jump_in_a_slot_leads_where_it_leads),
        cmocka_unit_test(nothing_runs_behind_what_is_no_instruction),
        cmocka_unit_test(tables_of_jumps_are_found_where_guesses_are_wanted),
        cmocka_unit_test(the_code_ends_at_the_table),
        cmocka_unit_test(only_constants_that_may_be_addresses_are_guessed),
        cmocka_unit_test(a_walk_has_a_limit_and_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
