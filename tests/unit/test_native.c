/* SPDX-License-Identifier: MIT
 * Firmware loops as machine code against the interpreter: random programs, cut at random ticks,
 * must be in the same state wherever they are cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/bench.h"
#include "fw/fw.h"
#include "isa/base/buf.h"
#include "tools/play/native.h"

static uint32_t seed = 1;

/* xorshift32 (Marsaglia 2003). */
static uint32_t draw(uint32_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed % below;
}

struct generation {
    const char *name;
    const char *head;
    enum cps_gen gen;
    enum cps_layout layout;
    const char *two[24]; /* operations of two operands, registers or immediate */
    const char *one[4];
    const char *bit[4];   /* a source and a bit */
    const char *field[4]; /* a source, the lowest and the highest bit */
};

static const struct generation generations[] = {
    {"a6xx",
     "[016ee001]\n[01000000]\n",
     CPS_A6XX,
     CPS_LAYOUT_A6XX,
     {"add", "addhi", "sub", "subhi", "and", "or", "xor", "shl", "ushr", "ishr", "rot", "mul8",
      "min", "max", "cmp"},
     {"not", "msb"},
     {NULL},
     {NULL}},
    {"a7xx",
     "[01740001]\n[01000000]\n",
     CPS_A7XX,
     CPS_LAYOUT_A7XX,
     {"add", "addhi", "sub", "subhi", "and", "or", "xor", "shl", "ushr", "ishr", "rot", "mul8",
      "min", "max", "cmp", "bic"},
     {"not", "msb"},
     {"setbit", "clrbit"},
     {"ubfx", "bfi"}},
};

static const char *pick(const char *const *list)
{
    uint32_t count = 0;
    while (list[count])
        count++;
    return count ? list[draw(count)] : NULL;
}

static bool shifts(const char *name)
{
    return !strcmp(name, "shl") || !strcmp(name, "ushr") || !strcmp(name, "ishr") ||
           !strcmp(name, "rot");
}

/* Registers $02 to $17; the loops count in $18 and $19. */
static void put_alu(const struct generation *g, struct cps_buf *out)
{
    unsigned dst = 2 + draw(22);
    unsigned src = 2 + draw(22);
    uint32_t kind = draw(9);
    if (kind == 0)
        cps_buf_printf(out, "%s $%02x, $%02x\n", pick(g->one), dst, src);
    else if (kind == 1 && g->bit[0])
        cps_buf_printf(out, "%s $%02x, $%02x, b%u\n", pick(g->bit), dst, src, draw(32));
    else if (kind == 2 && g->field[0]) {
        unsigned low = draw(32);
        cps_buf_printf(out, "%s $%02x, $%02x, b%u, b%u\n", pick(g->field), dst, src, low,
                       low + draw(32 - low));
    } else if (kind < 6) {
        cps_buf_printf(out, "%s $%02x, $%02x, $%02x\n", pick(g->two), dst, src, 2 + draw(22));
    } else {
        const char *name = pick(g->two);
        uint32_t most = shifts(name) ? 32 : 0x1000;
        cps_buf_printf(out, "%s $%02x, $%02x, 0x%x\n", name, dst, src, draw(most));
    }
}

/* A branch over a few instructions, in any of the four forms. */
static void put_skip(const struct generation *g, unsigned label, struct cps_buf *out)
{
    const char *name = draw(2) ? "brne" : "breq";
    if (draw(2))
        cps_buf_printf(out, "%s $%02x, 0x%x, #skip%u\n", name, 2 + draw(22), draw(32), label);
    else
        cps_buf_printf(out, "%s $%02x, b%u, #skip%u\n", name, 2 + draw(22), draw(32), label);
    for (uint32_t n = 1 + draw(4); n; n--)
        put_alu(g, out);
    cps_buf_printf(out, "skip%u:\n", label);
}

static void put_body(const struct generation *g, unsigned label, struct cps_buf *out)
{
    for (uint32_t n = draw(6); n; n--)
        put_alu(g, out);
    if (draw(2))
        put_skip(g, label, out);
    put_alu(g, out);
}

/* Counted loops, half of them with one inside; now and then one that the interpreter must leave. */
static void put_loop(const struct generation *g, unsigned label, struct cps_buf *out)
{
    cps_buf_printf(out, "mov $18, 0x%x\nouter%u:\n", 1 + draw(20), label);
    put_body(g, 2 * label, out);
    if (draw(4) == 0)
        cps_buf_str(out, "cwrite $02, [$00 + 0x100]\n");
    if (draw(2)) {
        cps_buf_printf(out, "mov $19, 0x%x\ninner%u:\n", 1 + draw(9), label);
        put_body(g, 2 * label + 1, out);
        cps_buf_printf(out, "sub $19, $19, 0x1\nbrne $19, 0x0, #inner%u\n", label);
        put_alu(g, out);
    }
    cps_buf_printf(out, "sub $18, $18, 0x1\nbrne $18, 0x0, #outer%u\n", label);
    put_alu(g, out);
}

static struct cps_engine *machine_of(const struct generation *g, const struct cps_buf *text)
{
    struct cps_asm program = {0};
    struct cps_engine *machine = NULL;
    struct cps_err *err = cps_assemble("random", text->data, text->size, g->gen, &program);
    if (err)
        fail_msg("%s", err->message);
    struct cps_config config = {
        .layout = g->layout,
        .words = program.words + 1,
        .count = program.count - 1,
        .image = {{CPS_CPU_SQE, 0}},
        .image_count = 1,
    };
    assert_null(cps_engine_create(&config, &machine));
    free(program.words);
    return machine;
}

static void random_program(const struct generation *g, struct cps_buf *text)
{
    cps_buf_str(text, g->head);
    for (unsigned i = 2; i < 0x18; i++)
        cps_buf_printf(text, "mov $%02x, 0x%x << %u\n", i, draw(0x10000), draw(17));
    for (unsigned i = 0; i < 40; i++)
        put_loop(g, i, text);
    cps_buf_str(text, "addhi $18, $00, $00\nwaitin\nmov $01, $data\n");
}

static void compare(struct cps_engine *a, struct cps_engine *b)
{
    assert_int_equal(cps_engine_where(a, 0).pc, cps_engine_where(b, 0).pc);
    assert_int_equal(a->clock, b->clock);
    for (unsigned i = 0; i < 0x1d; i++)
        assert_int_equal(machine_value(a, 0, CPS_FILE_GENERAL, i),
                         machine_value(b, 0, CPS_FILE_GENERAL, i));
}

static void cut_anywhere(const struct generation *g, const struct cps_buf *text, unsigned *loops)
{
    CPS_BUF source = {0};
    void *native = NULL;
    struct cps_engine *plain = machine_of(g, text);
    struct cps_engine *fast = machine_of(g, text);
    *loops += cps_afuc_translate(cps_afuc_of(fast), &source);
    struct cps_err *err = native_open(cps_afuc_of(fast), &native);
    if (err && err->code == CPS_ERR_UNSUPPORTED)
        skip(); /* no C compiler */
    assert_null(err);
    enum cps_stop stop;
    do {
        uint64_t budget = 1 + draw(draw(2) ? 7 : 700);
        stop = cps_engine_run(plain, budget);
        assert_int_equal(cps_engine_run(fast, budget), stop);
        compare(plain, fast);
    } while (stop == CPS_STOP_BUDGET);
    assert_int_equal(stop, CPS_STOP_IDLE);
    cps_engine_destroy(plain);
    cps_engine_destroy(fast);
    native_close(native);
}

static void random_loops(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2 * 4; i++) {
        CPS_BUF text = {0};
        unsigned loops = 0;
        random_program(&generations[i % 2], &text);
        cut_anywhere(&generations[i % 2], &text, &loops);
        assert_true(loops > 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_loops),
    };
    return cmocka_run_group_tests_name("native", tests, NULL, NULL);
}
