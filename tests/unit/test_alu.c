/* SPDX-License-Identifier: MIT
 * What every ALU operation of afuc computes: words encoded by hand from the rulers of the
 * instruction set, run on operands whose result was computed by hand, with the carry in front and
 * behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/engine_bench.h"

enum {
    G5 = CPS_GEN_BIT(A5XX),
    G6 = CPS_GEN_BIT(A6XX),
    G7 = CPS_GEN_BIT(A7XX),
    G8 = CPS_GEN_BIT(A8XX),
    G56 = G5 | G6,
    G78 = G7 | G8,
    G = G56 | G78,
};

/* $04 := $02 op $03, or an immediate: 16 bits where the operation has 31:27, 12 where it stands in
 * 15:12. */
enum shape { REG, IMM16, IMM12, BITS };
#define ALU(op)           REG, 0x98432000 | (op)
#define ALU_ONE(op)       REG, 0x98032000 | (op)
#define ALUI(op)          IMM16, (uint32_t)(op) << 27 | 0x00440000
#define ALUI12(op)        IMM12, 0x90440000 | (op) << 12
#define FIELD(op, lo, hi) BITS, 0x90440000 | (op) << 12 | (hi) << 5 | (lo)
#define BIT6(bit, value)  BITS, 0x90440000 | (bit) << 1 | (value)
#define BIT7(bit, value)  BITS, 0x90446000 | (bit) << 1 | (value)

static const struct encoding {
    const char *op;
    unsigned gens;
    enum shape shape;
    uint32_t word;
} encodings[] = {
    {"add", G, ALU(1)},
    {"add", G, ALUI(1)},
    {"addhi", G, ALU(2)},
    {"addhi", G, ALUI(2)},
    {"sub", G, ALU(3)},
    {"sub", G, ALUI(3)},
    {"subhi", G, ALU(4)},
    {"subhi", G, ALUI(4)},
    {"and", G, ALU(5)},
    {"and", G, ALUI(5)},
    {"or", G, ALU(6)},
    {"or", G, ALUI(6)},
    {"xor", G, ALU(7)},
    {"xor", G, ALUI(7)},
    {"not", G, ALU_ONE(8)},
    {"not", G, ALUI(8)},
    {"shl", G56, ALU(9)},
    {"shl", G56, ALUI(9)},
    {"ushr", G56, ALU(10)},
    {"ushr", G56, ALUI(10)},
    {"ishr", G56, ALU(11)},
    {"ishr", G56, ALUI(11)},
    {"rot", G56, ALU(12)},
    {"rot", G56, ALUI(12)},
    {"mul8", G56, ALU(13)},
    {"mul8", G56, ALUI(13)},
    {"min", G56, ALU(14)},
    {"min", G56, ALUI(14)},
    {"max", G56, ALU(15)},
    {"max", G56, ALUI(15)},
    {"cmp", G56, ALU(16)},
    {"cmp", G56, ALUI(16)},
    {"msb", G56, ALU_ONE(20)},
    {"bic", G78, ALU(9)},
    {"bic", G78, ALUI(9)},
    {"min", G78, ALU(10)},
    {"min", G78, ALUI(10)},
    {"max", G78, ALU(11)},
    {"max", G78, ALUI(11)},
    {"mul8", G7, ALU(12)},
    {"mul8", G7, ALUI(12)},
    {"mul16", G8, ALU(12)},
    {"mul16", G8, ALUI(12)},
    {"cmp", G78, ALU(13)},
    {"cmp", G78, ALUI(13)},
    {"shl", G78, ALU(18)},
    {"shl", G78, ALUI12(2)},
    {"ushr", G78, ALU(19)},
    {"ushr", G78, ALUI12(3)},
    {"ishr", G78, ALU(20)},
    {"ishr", G78, ALUI12(4)},
    {"rot", G78, ALU(21)},
    {"rot", G78, ALUI12(5)},
    {"setbit", G78, ALU(22)},
    {"setbit", G6, ALU(18)}, /* a660 037e */
    {"msb", G78, ALU_ONE(25)},
    {"popcount", G8, ALU_ONE(28)},
    {"set bit 0", G56, BIT6(0, 1)},
    {"set bit 0", G78, BIT7(0, 1)},
    {"set bit 31", G56, BIT6(31, 1)},
    {"set bit 31", G78, BIT7(31, 1)},
    {"clear bit 0", G56, BIT6(0, 0)},
    {"clear bit 0", G78, BIT7(0, 0)},
    {"clear bit 31", G56, BIT6(31, 0)},
    {"clear bit 31", G78, BIT7(31, 0)},
    {"ubfx 4:11", G78, FIELD(7, 4, 11)},
    {"ubfx 0:31", G78, FIELD(7, 0, 31)},
    {"ubfx 31:31", G78, FIELD(7, 31, 31)},
    {"ubfx 0:0", G78, FIELD(7, 0, 0)},
    {"bfi 4:11", G78, FIELD(8, 4, 11)},
    {"bfi 0:31", G78, FIELD(8, 0, 31)},
    {"bfi 31:31", G78, FIELD(8, 31, 31)},
    {"bfi 0:0", G78, FIELD(8, 0, 0)},
};

/* In front of each: $04 is 0x5a5a5a5a. */
enum { NO, CARRY, BORROW };
static const struct claim {
    const char *op;
    uint32_t a, b;
    int before; /* an addition that carried, a subtraction that borrowed, or neither */
    uint32_t result;
    int behind; /* what the next addhi or subhi finds */
} claims[] = {
    {"add", 1, 2, NO, 3, NO},
    {"add", 0xffffffff, 1, NO, 0, CARRY},
    {"add", 0xfffffffe, 1, CARRY, 0xffffffff, NO},
    {"add", 0x80000000, 0x80000000, NO, 0, CARRY},
    {"add", 0xffffffff, 0xffffffff, BORROW, 0xfffffffe, CARRY},
    {"addhi", 5, 6, NO, 11, NO},
    {"addhi", 5, 6, CARRY, 12, CARRY},
    {"addhi", 0xffffffff, 1, NO, 0, NO}, /* its own is lost */
    {"sub", 5, 3, NO, 2, NO},
    {"sub", 3, 5, NO, 0xfffffffe, BORROW},
    {"sub", 5, 5, BORROW, 0, NO},
    {"sub", 0, 0xffff, CARRY, 0xffff0001, BORROW},
    {"subhi", 5, 3, NO, 2, NO},
    {"subhi", 5, 3, BORROW, 1, BORROW},
    {"subhi", 0, 0, BORROW, 0xffffffff, BORROW},
    {"and", 0xff00ff0f, 0xfff0, NO, 0xff00, NO},
    {"and", 0xffffffff, 0xffff, CARRY, 0xffff, CARRY},
    {"and", 0xf0f0f0f0, 0x3c3c3c3c, NO, 0x30303030, NO},
    {"or", 0x12340000, 0xff, NO, 0x123400ff, NO},
    {"or", 0xf0f0f0f0, 0x3c3c3c3c, BORROW, 0xfcfcfcfc, BORROW},
    {"xor", 0x1234fe0f, 0xfe0f, NO, 0x12340000, NO},
    {"xor", 0xf0f0f0f0, 0x3c3c3c3c, CARRY, 0xcccccccc, CARRY},
    {"not", 7, 0, NO, 0xffffffff, NO},
    {"not", 7, 0xfe0f, CARRY, 0xffff01f0, CARRY},
    {"not", 7, 0xdeadbeef, NO, 0x21524110, NO},
    {"shl", 0x80000001, 0, NO, 0x80000001, NO},
    {"shl", 0x80000001, 1, NO, 2, NO},
    {"shl", 3, 31, CARRY, 0x80000000, CARRY},
    {"shl", 3, 32, NO, 0, NO}, /* 740 139a */
    {"shl", 3, 33, NO, 0, NO},
    {"ushr", 0x80000001, 0, NO, 0x80000001, NO},
    {"ushr", 0x80000001, 1, NO, 0x40000000, NO},
    {"ushr", 0xc0000000, 31, BORROW, 1, BORROW},
    {"ushr", 0xc0000000, 32, NO, 0, NO},
    {"ishr", 0x80000000, 0, NO, 0x80000000, NO},
    {"ishr", 0x80000000, 1, NO, 0xc0000000, NO},
    {"ishr", 0x80000000, 31, CARRY, 0xffffffff, CARRY},
    {"ishr", 0x7fffffff, 30, NO, 1, NO},
    {"rot", 0x80000001, 0, NO, 0x80000001, NO},
    {"rot", 0x80000001, 4, NO, 0x18, NO},
    {"rot", 0x12345678, 31, NO, 0x091a2b3c, NO},
    {"rot", 0x12345678, 16, CARRY, 0x56781234, CARRY},
    {"mul8", 0xff, 0xff, NO, 0xfe01, NO},
    {"mul8", 0x1102, 0x2203, NO, 6, NO},
    {"mul8", 0x81, 1, CARRY, 0x81, CARRY},
    {"mul8", 1, 0x81, NO, 0x81, NO},
    {"mul16", 0xffff, 0xffff, NO, 0xfffe0001, NO},
    {"mul16", 0x10002, 0x10003, NO, 6, NO},
    {"mul16", 0x8001, 1, CARRY, 0x8001, CARRY},
    {"mul16", 1, 0x8001, NO, 0x8001, NO},
    {"min", 3, 4, NO, 3, NO},
    {"min", 4, 3, NO, 3, NO},
    {"min", 0xffffffff, 3, CARRY, 3, CARRY}, /* unsigned */
    {"min", 5, 5, NO, 5, NO},
    {"max", 3, 4, NO, 4, NO},
    {"max", 4, 3, NO, 4, NO},
    {"max", 0xffffffff, 3, CARRY, 0xffffffff, CARRY},
    {"max", 5, 5, NO, 5, NO},
    {"cmp", 4, 3, NO, 0, NO},
    {"cmp", 3, 3, NO, 0x2b, NO},
    {"cmp", 3, 4, NO, 0x1e, NO},
    {"cmp", 0xffffffff, 3, CARRY, 0, CARRY},
    {"cmp", 0x7fffffff, 0x80000000, NO, 0x1e, NO},
    {"bic", 0xffffffff, 0xff00, NO, 0xffff00ff, NO},
    {"bic", 0xf0f0f0f0, 0x3c3c3c3c, CARRY, 0xc0c0c0c0, CARRY},
    {"msb", 0xffffffff, 0, NO, 0, NO},
    {"msb", 0xffffffff, 1, NO, 0, NO},
    {"msb", 0, 0x80000000, CARRY, 31, CARRY},
    {"msb", 0, 0x00010001, NO, 16, NO},
    {"popcount", 0xff, 0, NO, 0, NO},
    {"popcount", 0, 0xffffffff, CARRY, 32, CARRY},
    {"popcount", 0, 0x80010001, NO, 3, NO},
    {"setbit", 0, 0x3f, NO, 0x80000000, NO},
    {"setbit", 0xffffffff, 0x3e, NO, 0x7fffffff, NO},
    {"setbit", 0, 1, CARRY, 1, CARRY},
    {"setbit", 0xffffffff, 0, NO, 0xfffffffe, NO},
    {"set bit 0", 0x10, 0, NO, 0x11, NO},
    {"set bit 31", 0x10, 0, CARRY, 0x80000010, CARRY},
    {"clear bit 0", 0xffffffff, 0, NO, 0xfffffffe, NO},
    {"clear bit 31", 0xffffffff, 0, CARRY, 0x7fffffff, CARRY},
    {"ubfx 4:11", 0x12345678, 0, NO, 0x67, NO},
    {"ubfx 0:31", 0x12345678, 0, CARRY, 0x12345678, CARRY},
    {"ubfx 31:31", 0x80000000, 0, NO, 1, NO},
    {"ubfx 0:0", 0xffffffff, 0, NO, 1, NO},
    {"bfi 4:11", 0x123456c3, 0, NO, 0x5a5a5c3a, NO},
    {"bfi 0:31", 0x12345678, 0, CARRY, 0x12345678, CARRY},
    {"bfi 31:31", 0xfffffffe, 0, NO, 0x5a5a5a5a, NO},
    {"bfi 31:31", 1, 0, NO, 0xda5a5a5a, NO},
    {"bfi 0:0", 0xffffffff, 0, NO, 0x5a5a5a5b, NO},
};

static void load(struct cps_buf *code, const char *reg, uint32_t value)
{
    cps_buf_printf(code, "mov %s, 0x%x << 16\nor %s, %s, 0x%x\n", reg, value >> 16, reg, reg,
                   value & 0xffff);
}

static struct bench *create(enum cps_layout layout, const char *code)
{
    static const char *const heads[] = {[CPS_LAYOUT_A6XX] = HEAD_A6XX,
                                        [CPS_LAYOUT_A7XX] = HEAD_A7XX,
                                        [CPS_LAYOUT_A8XX] = "[01500001]\n[01000000]\n"};
    if (layout == CPS_LAYOUT_A5XX_PFP)
        return bench_a5xx("", code); /* of the ME: what it pushes goes nowhere */
    return bench_afuc(layout, heads[layout], code, 0, 0);
}

/* $04 the result, $05 the carry behind it. */
static void check(const struct encoding *e, const struct claim *c, enum cps_layout layout)
{
    static const char *const before[] = {
        "add $06, $00, 0x1\n", "sub $06, $00, 0x1\nadd $06, $06, 0x1\n", "sub $06, $00, 0x1\n"};
    static const uint32_t behind[] = {0, 1, 0xffffffff};
    CPS_BUF code = {0};
    cps_buf_str(&code, before[c->before]);
    load(&code, "$02", c->a);
    load(&code, "$03", c->b);
    load(&code, "$04", 0x5a5a5a5a);
    uint32_t immediate = e->shape == IMM16 || e->shape == IMM12 ? c->b : 0;
    cps_buf_printf(&code, "[%08x]\naddhi $05, $00, $00\n", (unsigned)(e->word | immediate));
    struct bench *b = create(layout, cps_buf_text(&code));
    unsigned core = layout == CPS_LAYOUT_A5XX_PFP;
    assert_int_equal(cps_engine_run(b->engine, 1000), CPS_STOP_IDLE);
    uint32_t result = machine_value(b->engine, core, CPS_FILE_GENERAL, 4);
    uint32_t carry = machine_value(b->engine, core, CPS_FILE_GENERAL, 5);
    if (result != c->result || carry != behind[c->behind] || bench_count(b, CPS_EV_UNMODELLED))
        fail_msg("%s (%08x) of 0x%x and 0x%x is 0x%x, carry 0x%x, expected 0x%x, 0x%x", c->op,
                 e->word, c->a, c->b, result, carry, c->result, behind[c->behind]);
    bench_free(b);
}

static bool fits(const struct encoding *e, uint32_t operand)
{
    static const uint32_t most[] = {
        [REG] = UINT32_MAX, [IMM16] = 0xffff, [IMM12] = 0xfff, [BITS] = UINT32_MAX};
    return operand <= most[e->shape];
}

static void every_operation_computes_what_the_documents_say(void **state)
{
    static const enum cps_layout layouts[] = {CPS_LAYOUT_A5XX_PFP, CPS_LAYOUT_A6XX, CPS_LAYOUT_A7XX,
                                              CPS_LAYOUT_A8XX};
    (void)state;
    for (size_t i = 0; i < sizeof(encodings) / sizeof(encodings[0]); i++) {
        const struct encoding *e = &encodings[i];
        unsigned tried = 0;
        for (size_t k = 0; k < sizeof(claims) / sizeof(claims[0]); k++) {
            for (unsigned l = 0; l < 4 && !strcmp(claims[k].op, e->op) && fits(e, claims[k].b);
                 l++) {
                if (!(e->gens >> l & 1))
                    continue;
                tried++;
                check(e, &claims[k], layouts[l]);
            }
        }
        assert_true(tried);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_operation_computes_what_the_documents_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
