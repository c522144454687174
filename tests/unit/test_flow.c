/* SPDX-License-Identifier: MIT
 * What comes after each operation of each instruction set. The lists are of the documents on the
 * sets, by word; whatever is in no list goes on behind itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/le.h"
#include "isa/isa.h"

struct flow {
    uint32_t word;
    enum cps_flow flow;
    bool slot;
};

static void check(const struct cps_isa *isa, enum cps_gen gen, const struct flow *list,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[12] = {0};
        struct cps_insn insn;
        cps_put_le32(bytes, list[i].word);
        cps_decode_bytes(isa, gen, bytes, sizeof(bytes), &insn);
        if (!insn.enc || cps_insn_flow(isa, &insn) != list[i].flow ||
            cps_insn_has_slot(isa, &insn) != list[i].slot ||
            cps_op_flow(isa, insn.op) != list[i].flow)
            fail_msg("%s %08x: flow %u", cps_gen_name(gen), (unsigned)list[i].word,
                     cps_insn_flow(isa, &insn));
    }
}

/* Operations of a set that have a flow. */
static unsigned count_flow(const struct cps_isa *isa, unsigned ops, enum cps_flow flow)
{
    unsigned count = 0;
    for (unsigned op = 1; op < ops; op++)
        count += cps_op_flow(isa, op) == flow;
    return count;
}

static const struct flow afuc_all[] = {
    {0xc0000000, CPS_FLOW_BRANCH, true}, /* brne, immediate */
    {0xc4000000, CPS_FLOW_BRANCH, true}, /* breq, immediate */
    {0xc8210000, CPS_FLOW_BRANCH, true}, /* brne, bit */
    {0xcc000000, CPS_FLOW_BRANCH, true}, /* breq, bit: of $00, never taken */
    {0xc8000000, CPS_FLOW_JUMP, true},   /* brne $00, b0 */
    {0xd0000000, CPS_FLOW_RETURN, true}, /* ret */
    {0xd4000000, CPS_FLOW_CALL, true},   {0xd8000000, CPS_FLOW_DISPATCH, true}, /* waitin */
    {0xec000000, CPS_FLOW_SKIP, false},                                         /* setsecure */
};
static const struct flow afuc_5[] = {
    {0xdc400000, CPS_FLOW_RETURN, true}, /* the return of bl */
    {0xe0000000, CPS_FLOW_CALL, true},   /* bl */
    {0xe4000000, CPS_FLOW_JUMP, true},   /* jumpa */
};
static const struct flow afuc_6[] = {
    {0xd2000000, CPS_FLOW_RETURN, true}, /* iret */
    {0xdca00000, CPS_FLOW_JUMP, true},   /* jumpd $05 */
    {0xe0000000, CPS_FLOW_CALL, true},   /* bl, once preemptleave */
};
static const struct flow afuc_7[] = {
    {0xd2000000, CPS_FLOW_RETURN, true}, /* iret */
    {0xdf700000, CPS_FLOW_JUMP, true},   /* jump $reg */
    {0xdf600000, CPS_FLOW_RETURN, true}, /* sret */
    {0xdd800000, CPS_FLOW_JUMP, true},   /* jumpd $0c */
    {0xe0000000, CPS_FLOW_CALL, true},   /* bl */
    {0xe4000000, CPS_FLOW_JUMP, true},   /* jumpa */
};

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

static void afuc_branches(void **state)
{
    static const enum cps_gen gens[] = {CPS_A5XX, CPS_A6XX, CPS_A7XX, CPS_A8XX};
    const struct cps_isa *isa = &cps_isa_afuc;
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        check(isa, gens[i], afuc_all, COUNT(afuc_all));
    check(isa, CPS_A5XX, afuc_5, COUNT(afuc_5));
    check(isa, CPS_A6XX, afuc_6, COUNT(afuc_6));
    check(isa, CPS_A7XX, afuc_7, COUNT(afuc_7));
    check(isa, CPS_A8XX, afuc_7, COUNT(afuc_7));
    assert_int_equal(count_flow(isa, CPS_AFUC_OP_COUNT, CPS_FLOW_BRANCH), 4);
    assert_int_equal(count_flow(isa, CPS_AFUC_OP_COUNT, CPS_FLOW_JUMP), 4);
    assert_int_equal(count_flow(isa, CPS_AFUC_OP_COUNT, CPS_FLOW_CALL), 2);
    assert_int_equal(count_flow(isa, CPS_AFUC_OP_COUNT, CPS_FLOW_RETURN), 3);
    assert_int_equal(count_flow(isa, CPS_AFUC_OP_COUNT, CPS_FLOW_DISPATCH), 1);
    assert_int_equal(count_flow(isa, CPS_AFUC_OP_COUNT, CPS_FLOW_SKIP), 1);
    assert_int_equal(count_flow(isa, CPS_AFUC_OP_COUNT, CPS_FLOW_CALLIF), 0);
    assert_int_equal(count_flow(isa, CPS_AFUC_OP_COUNT, CPS_FLOW_END), 0);
}

/* All of 0x40 but these, those of old and of new scripts. */
static void seq_branches(void **state)
{
    (void)state;
    for (uint32_t op = 0; op < 0x40; op++) {
        bool exits = (op >= 0x10 && op <= 0x12) || op == 0x16 || op == 0x2f;
        bool branches = op >= 0x18 && op <= 0x1b;
        const struct flow row = {2 << 16 | op,
                                 exits        ? CPS_FLOW_END
                                 : branches   ? CPS_FLOW_BRANCH
                                 : op == 0x1c ? CPS_FLOW_JUMP
                                              : CPS_FLOW_NEXT,
                                 false};
        bool none = (op >= 0x36 && op <= 0x3f && op != 0x38 && op != 0x3b && op != 0x3c);
        check(&cps_isa_seq, CPS_SEQ_OLD, &row, !none);
        check(&cps_isa_seq, CPS_SEQ_NEW, &row, !none);
    }
    const struct flow end = {0, CPS_FLOW_END, false};
    check(&cps_isa_seq, CPS_SEQ_OLD, &end, 1);
    assert_int_equal(count_flow(&cps_isa_seq, CPS_SEQ_OP_COUNT, CPS_FLOW_BRANCH), 4);
    assert_int_equal(count_flow(&cps_isa_seq, CPS_SEQ_OP_COUNT, CPS_FLOW_END), 3);
}

/* HWSQ has no jumps: it goes on until its exit. */
static void hwsq_only_ends(void **state)
{
    (void)state;
    for (uint32_t byte = 0; byte < 256; byte++) {
        bool row = byte < 0x40 || byte == 0x40 || byte == 0x42 || byte == 0x5f || byte == 0x7f ||
                   (byte >= 0x80 && byte <= 0xe0) || byte == 0xe2;
        const struct flow flow = {byte, byte == 0x7f ? CPS_FLOW_END : CPS_FLOW_NEXT, false};
        check(&cps_isa_hwsq, CPS_G92, &flow, row);
    }
}

static const struct flow vp1_branching[] = {
    {0xe0000000, CPS_FLOW_BRANCH, true}, /* bra */
    {0xe1000000, CPS_FLOW_BRANCH, true}, /* bra loop */
    {0xe2000000, CPS_FLOW_BRANCH, true}, /* bra not */
    {0xe3000000, CPS_FLOW_BRANCH, true}, /* bra loop not */
    {0xe4000000, CPS_FLOW_CALLIF, true}, /* call, of four kinds */
    {0xe5000000, CPS_FLOW_CALLIF, true}, {0xe6000000, CPS_FLOW_CALLIF, true},
    {0xe7000000, CPS_FLOW_CALLIF, true}, {0xe8000000, CPS_FLOW_RETURN, true},
    {0xea000000, CPS_FLOW_JUMP, true}, /* abra */
    {0xff000000, CPS_FLOW_END, false},
};

static void vp1_branches(void **state)
{
    (void)state;
    check(&cps_isa_vp1, CPS_VP1_G80, vp1_branching, COUNT(vp1_branching));
    for (uint32_t opcode = 0; opcode < 256; opcode++) {
        bool branching = false;
        for (size_t i = 0; i < COUNT(vp1_branching); i++)
            branching = branching || vp1_branching[i].word >> 24 == opcode;
        const struct flow next = {opcode << 24, CPS_FLOW_NEXT, false};
        check(&cps_isa_vp1, CPS_VP1_NV41, &next, !branching);
    }
}

struct target {
    const struct cps_isa *isa;
    enum cps_gen gen;
    uint64_t word;
    uint32_t to; /* from word 5; NOWHERE: no field says it */
    uint64_t bits;
};
#define NOWHERE UINT32_MAX

static void targets(void **state)
{
    const struct target list[] = {
        {&cps_isa_afuc, CPS_A6XX, 0xc000fffe, 3, 0xffff},
        {&cps_isa_afuc, CPS_A6XX, 0xc8000004, 9, 0xffff},
        {&cps_isa_afuc, CPS_A6XX, 0xd4000123, 0x123, 0x3ffffff},
        {&cps_isa_afuc, CPS_A6XX, 0xec000000, 8, 0},
        {&cps_isa_afuc, CPS_A7XX, 0xe4000123, 0x123, 0x3ffffff},
        {&cps_isa_afuc, CPS_A7XX, 0xdf700001, NOWHERE, 0},
        {&cps_isa_afuc, CPS_A6XX, 0xd8000000, NOWHERE, 0},
        {&cps_isa_seq, CPS_SEQ_NEW, 0x70002001c, 7, UINT64_C(0xffff00000000)},
        {&cps_isa_hwsq, CPS_G92, 0x7f, NOWHERE, 0},
        {&cps_isa_vp1, CPS_VP1_G80, 0xe00021e4, 0x44, 0xfffe00},
        {&cps_isa_vp1, CPS_VP1_G80, 0xea000010, 0x40, 0xffff},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(list); i++) {
        struct cps_insn insn;
        uint32_t to = NOWHERE;
        cps_decode(list[i].isa, list[i].gen, list[i].word, &insn);
        assert_int_equal(cps_insn_target(list[i].isa, &insn, 5, &to), list[i].to != NOWHERE);
        assert_int_equal(to, list[i].to);
        assert_true(cps_insn_target_bits(list[i].isa, &insn) == list[i].bits);
    }
}

/* What goes to a target has a field for it or names a register, and nothing else has one. */
static void every_row_with_a_target_branches(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 0x10000; n++) {
        struct cps_insn insn;
        uint32_t to;
        cps_decode(&cps_isa_afuc, CPS_A7XX, n << 16, &insn);
        enum cps_flow flow = cps_insn_flow(&cps_isa_afuc, &insn);
        bool goes = flow == CPS_FLOW_JUMP || flow == CPS_FLOW_BRANCH || flow == CPS_FLOW_CALL ||
                    flow == CPS_FLOW_SKIP;
        bool has = cps_insn_target(&cps_isa_afuc, &insn, 0, &to);
        bool named = insn.op == CPS_AFUC_JUMPR || insn.op == CPS_AFUC_JUMPD;
        assert_true(has == goes || (goes && named));
    }
    for (uint32_t opcode = 0; opcode < 256; opcode++) {
        struct cps_insn insn;
        uint32_t to;
        cps_decode(&cps_isa_vp1, CPS_VP1_G80, opcode << 24, &insn);
        enum cps_flow flow = cps_insn_flow(&cps_isa_vp1, &insn);
        assert_int_equal(cps_insn_target(&cps_isa_vp1, &insn, 0, &to),
                         flow == CPS_FLOW_JUMP || flow == CPS_FLOW_BRANCH ||
                             flow == CPS_FLOW_CALLIF);
    }
}

static void no_instruction_goes_nowhere_else(void **state)
{
    struct cps_insn insn;
    (void)state;
    cps_decode(&cps_isa_afuc, CPS_A6XX, 0xffffffff, &insn);
    assert_null(insn.enc);
    assert_int_equal(cps_insn_flow(&cps_isa_afuc, &insn), CPS_FLOW_NEXT);
    assert_int_equal(cps_op_flow(&cps_isa_afuc, 0), CPS_FLOW_NEXT);
    assert_int_equal(cps_op_flow(&cps_isa_afuc, 5000), CPS_FLOW_NEXT);
    assert_int_equal(cps_op_flow(&cps_isa_pfifo, 1), CPS_FLOW_NEXT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(afuc_branches),
        cmocka_unit_test(seq_branches),
        cmocka_unit_test(hwsq_only_ends),
        cmocka_unit_test(vp1_branches),
        cmocka_unit_test(targets),
        cmocka_unit_test(every_row_with_a_target_branches),
        cmocka_unit_test(no_instruction_goes_nowhere_else),
    };
    return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
