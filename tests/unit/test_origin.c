/* SPDX-License-Identifier: MIT
 * Where values come from: an observer changes nothing, and one with little room for nodes says the
 * same as one with much, of all that is not older. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cpscope.h"
#include "emu/afuc/origin/origin.h"
#include "isa/base/le.h"
#include "isa/base/pm4.h"
#include "tests/demo_engine.h"
#include "tools/why/why.h"

#define AT          UINT64_C(0x100000)
#define WORDS       600
#define SUBMISSIONS 80
#define FEW         1 /* nodes: as few as there may be */

static uint32_t register_of(uint32_t seed, uint32_t i)
{
    return 0x8000 + (seed * 7919 + i * 421) % 0x2000;
}

/* Writes of registers all over the place. */
static void run(struct cps_engine *engine, uint32_t seed)
{
    uint8_t bytes[4 * 2 * WORDS];
    for (uint32_t i = 0; i < WORDS; i++) {
        cps_put_le32(bytes + 8 * (size_t)i, cps_pm4_type4(register_of(seed, i), 1));
        cps_put_le32(bytes + 8 * (size_t)i + 4, seed ^ i * 2654435761u);
    }
    const struct cps_item data = {
        .kind = CPS_ITEM_DATA,
        .buffer = {.iova = AT, .size = sizeof(bytes), .data = bytes, .at = 1 + seed * 65536}};
    const struct cps_item submit = {.kind = CPS_ITEM_SUBMIT,
                                    .stream = {.iova = AT, .dwords = 2 * WORDS}};
    assert_null(cps_engine_feed(engine, &data));
    assert_null(cps_engine_feed(engine, &submit));
    assert_int_equal(cps_engine_run(engine, 1000000), CPS_STOP_IDLE);
}

static struct origin *watch(struct cps_engine *engine, uint32_t most)
{
    struct origin *origin = NULL;
    assert_null(origin_create_(cps_afuc_of(engine), most, &origin));
    cps_engine_sink(engine, origin_sink_(origin), ORIGIN_KINDS);
    return origin;
}

static void assert_same_node(const struct origin *a, const struct origin *b, uint32_t x, uint32_t y)
{
    const struct origin_node *left = origin_at_(a, x);
    const struct origin_node *right = origin_at_(b, y);
    assert_int_equal(left->kind, right->kind);
    assert_int_equal(left->value, right->value);
    assert_int_equal(left->place, right->place);
    assert_int_equal(left->clock, right->clock);
    assert_int_equal(left->aux, right->aux);
    assert_int_equal(left->packet != 0, right->packet != 0);
    for (unsigned i = 0; i < ORIGIN_INPUTS; i++) {
        assert_int_equal(left->in[i] != 0, right->in[i] != 0);
        if (left->in[i])
            assert_same_node(a, b, left->in[i], right->in[i]);
    }
    if (left->packet)
        assert_int_equal(origin_at_(a, left->packet)->place, origin_at_(b, right->packet)->place);
}

/* The last submission's words, which stand at its place of the file. */
static void assert_words(const struct origin *origin, uint32_t seed)
{
    for (uint32_t i = WORDS - 10; i < WORDS; i++) {
        uint64_t offset = 0;
        const struct origin_node *node =
            origin_at_(origin, origin_register_(origin, register_of(seed, i)));
        const struct origin_node *word = origin_at_(origin, node->in[ORIGIN_A]);
        assert_int_equal(node->kind, ORIGIN_REG);
        assert_int_equal(node->value, seed ^ i * 2654435761u);
        assert_int_equal(word->kind, ORIGIN_WORD);
        assert_int_equal(word->place, AT + 8 * (uint64_t)i + 4);
        assert_non_null(origin_block_(origin, word, &offset));
        assert_int_equal(offset, seed * 65536 + 8 * (uint64_t)i + 4);
    }
}

static void few_nodes_say_the_same(void **state)
{
    (void)state;
    struct cps_engine *engine[3] = {booted(), booted(), booted()};
    struct origin *origin[2] = {watch(engine[0], 0), watch(engine[1], FEW)};
    uint32_t kept[2] = {0, 0};
    for (uint32_t seed = 1; seed <= SUBMISSIONS; seed++) {
        for (unsigned k = 0; k < 3; k++)
            run(engine[k], seed);
        for (unsigned k = 0; k < 2 && seed == 1; k++)
            kept[k] = origin_keep_(origin[k], origin_register_(origin[k], register_of(1, 5)));
        assert_words(origin[0], seed);
        assert_words(origin[1], seed);
    }
    for (uint32_t r = 0x8000; r < 0xa000; r++) {
        uint32_t a = origin_register_(origin[0], r);
        uint32_t b = origin_register_(origin[1], r);
        assert_int_equal(a != 0, b != 0);
        assert_same_node(origin[0], origin[1], a, b);
    }
    assert_int_equal(engine[0]->clock, engine[2]->clock);
    assert_memory_equal(&cps_afuc_of(engine[0])->core[0].s, &cps_afuc_of(engine[2])->core[0].s,
                        sizeof(struct afuc_state));
    assert_int_equal(origin_at_(origin[1], origin_kept_(origin[1], kept[1]))->value,
                     1 ^ 5 * 2654435761u);
    assert_same_node(origin[0], origin[1], origin_kept_(origin[0], kept[0]),
                     origin_kept_(origin[1], kept[1]));
    assert_false(origin_cut_(origin[0]) || origin_cut_(origin[1]));
    for (unsigned k = 0; k < 3; k++) {
        if (k < 2)
            origin_destroy_(origin[k]);
        cps_engine_destroy(engine[k]);
    }
}

static void a_clone_has_none(void **state)
{
    (void)state;
    struct cps_engine *engine = booted();
    struct cps_engine *copy = NULL;
    struct origin *origin = watch(engine, 0);
    run(engine, 1);
    assert_null(cps_engine_clone(engine, &copy));
    run(copy, 2);
    assert_words(origin, 1);
    cps_engine_destroy(copy);
    origin_destroy_(origin);
    cps_engine_destroy(engine);
}

/* The words of JSON's `kind`, as docs/why.md lists them. */
static void each_kind_has_its_word(void **state)
{
    static const char *const words[] = {
        [ORIGIN_NONE] = "none",     [ORIGIN_CUT] = "cut",         [ORIGIN_BEGIN] = "begin",
        [ORIGIN_INSN] = "insn",     [ORIGIN_OFFSET] = "offset",   [ORIGIN_WORD] = "word",
        [ORIGIN_MEMORY] = "memory", [ORIGIN_HEADER] = "header",   [ORIGIN_REMAINS] = "remains",
        [ORIGIN_PASSED] = "passed", [ORIGIN_REGREAD] = "read",    [ORIGIN_CREAD] = "cread",
        [ORIGIN_SREAD] = "sread",   [ORIGIN_ASSUMED] = "assumed", [ORIGIN_HARDWARE] = "hardware",
        [ORIGIN_REG] = "reg",       [ORIGIN_PIPE] = "pipe",       [ORIGIN_CTRL] = "ctrl",
        [ORIGIN_SQE] = "sqe",       [ORIGIN_MEMW] = "memw",       [ORIGIN_PACKET] = "packet",
        [ORIGIN_STREAM] = "stream", [ORIGIN_GROUP] = "group",
    };
    (void)state;
    for (unsigned kind = 0; kind < sizeof(words) / sizeof(words[0]); kind++)
        assert_string_equal(why_kind_word(kind), words[kind]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_nodes_say_the_same),
        cmocka_unit_test(a_clone_has_none),
        cmocka_unit_test(each_kind_has_its_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
