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
#include "tests/lib/engine_bench.h"
#include "tests/lib/demo_engine.h"
#include "tools/explain/why/why.h"

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

/* A loop of which every value comes from the one before it, and each is stored, so that nothing can
 * go: where room is short the oldest are cut off, and as many as half of the room stay whole. Three
 * ticks make four nodes, of which three are needed. With as little room as there may be, for 2^18,
 * that is due behind 2^18 - 2^16. */
static void the_older_half_is_cut_off_where_all_is_needed(void **state)
{
    enum { DUE = 3 * (3 << 16) / 4, LEFT = (1 << 17) / 3, FIRST = 0x10000 };
    (void)state;
    struct bench *b = bench_a6xx("mov $03, 0x1 << 16\nl:\nstore $02, [$03 + 0x004]!\njump #l\n"
                                 "add $02, $02, 0x1\n");
    struct origin *o = watch(b->engine, FEW);
    assert_int_equal(cps_engine_run(b->engine, DUE - 100), CPS_STOP_BUDGET);
    assert_false(origin_cut_(o));
    assert_int_equal(origin_at_(o, origin_memory_(o, FIRST + 8))->kind, ORIGIN_MEMW);
    assert_int_equal(cps_engine_run(b->engine, 200), CPS_STOP_BUDGET);
    assert_true(origin_cut_(o));
    uint32_t last = machine_value(b->engine, 0, CPS_FILE_GENERAL, 2) - 1;
    uint32_t whole = 0;
    for (uint32_t i = last; i; i--) {
        const struct origin_node *stored = origin_at_(o, origin_memory_(o, FIRST + 4 + 4 * i));
        if (stored->kind == ORIGIN_CUT)
            break;
        assert_int_equal(stored->kind, ORIGIN_MEMW);
        assert_int_equal(stored->value, i);
        whole++;
    }
    assert_in_range(whole, LEFT - 50, LEFT + 50);
    assert_int_equal(origin_at_(o, origin_memory_(o, FIRST + 8))->kind, ORIGIN_CUT);
    origin_destroy_(o);
    cps_engine_sink(b->engine, NULL, 0);
    bench_free(b);
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

/* ---- small programs ---- */

/* Firmware that is watched from its first instruction, behind which words of the ring follow. */
struct watched {
    struct bench *bench;
    struct origin *origin;
};

static struct watched watch_code(const char *code, const uint32_t *words, unsigned count)
{
    struct watched w = {.bench = bench_a6xx(code)};
    struct cps_engine *engine = w.bench->engine;
    w.bench->notes = ANY_NOTES;
    for (uint32_t i = 0; i < 8; i++)
        machine_set(engine, CPS_FILE_MEMORY, 0x1000 + 4 * i, 0xa0 + i);
    w.origin = watch(engine, 0);
    assert_int_equal(cps_engine_run(engine, 10000), CPS_STOP_IDLE);
    assert_true(machine_ring(engine, words, count));
    assert_int_equal(cps_engine_run(engine, 10000), CPS_STOP_IDLE);
    return w;
}

static void stop_watching(struct watched *w)
{
    origin_destroy_(w->origin);
    cps_engine_sink(w->bench->engine, NULL, 0);
    bench_free(w->bench);
}

/* A node that it comes from, with what must be known of it. */
static const struct origin_node *input(const struct origin *o, const struct origin_node *node,
                                       unsigned in, unsigned kind, uint32_t value, uint64_t place)
{
    const struct origin_node *from = origin_at_(o, node->in[in]);
    if (from->kind != kind || from->value != value || from->place != place)
        fail_msg("kind %u value 0x%x place 0x%llx, expected %u 0x%x 0x%llx", from->kind,
                 from->value, (unsigned long long)from->place, kind, value,
                 (unsigned long long)place);
    return from;
}

static const struct origin_node *general_of(const struct watched *w, unsigned number)
{
    return origin_at_(w->origin, origin_general_(w->origin, 0, number));
}

/* Where nothing is known there is node 0, which says nothing. */
static void nothing_is_node_0(void **state)
{
    (void)state;
    struct watched w = watch_code("", NULL, 0);
    assert_int_equal(origin_register_(w.origin, 0x8800), 0);
    for (unsigned i = 0; i < 2; i++) {
        const struct origin_node *node = origin_at_(w.origin, i ? UINT32_MAX : 0);
        assert_int_equal(node->kind, ORIGIN_NONE);
        assert_int_equal(node->value, 0);
        assert_int_equal(node->place, 0);
    }
    assert_int_equal(origin_at_(w.origin, 1)->kind, ORIGIN_CUT);
    assert_int_equal(origin_at_(w.origin, 1)->value, 0);
    stop_watching(&w);
}

#define READ_MEMORY(words)                                                     \
    "mov $02, 0x1000\ncwrite $02, [$00 + @MEM_READ_ADDR]\ncwrite $00, [$00 + " \
    "@MEM_READ_ADDR+0x1]\nmov $02, " words "\ncwrite $02, [$00 + @MEM_READ_DWORDS]\n"

/* Each word that an instruction moves has its own source, the extra ones as the first. */
static void extra_words_come_from_where_they_were_read(void **state)
{
    static const char *const moves[] = {
        "mov $data, $memdata\nmov $data, $memdata\nmov $data, $memdata\nmov $data, $memdata\n",
        "(xmov1)mov $data, $memdata\n(xmov1)mov $data, $memdata\n",
        "(xmov2)mov $data, $memdata\nmov $data, $memdata\n",
        "(xmov3)mov $data, $memdata\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        CPS_BUF code = {0};
        cps_buf_printf(&code, READ_MEMORY("0x4") "mov $rem, 0x8\nmov $addr, 0x8800\n%s", moves[i]);
        struct watched w = watch_code(cps_buf_text(&code), NULL, 0);
        for (uint32_t k = 0; k < 4; k++) {
            const struct origin_node *node =
                origin_at_(w.origin, origin_register_(w.origin, 0x8800 + k));
            assert_int_equal(node->kind, ORIGIN_REG);
            input(w.origin, node, ORIGIN_A, ORIGIN_MEMORY, 0xa0 + k, 0x1000 + 4 * k);
        }
        stop_watching(&w);
    }
}

/* What is read in the tick in which the word before it is taken is not that word. */
static void a_word_that_is_read_behind_one_that_is_taken_is_another(void **state)
{
    (void)state;
    struct watched w = watch_code("mov $02, 0x8801\nmov $addr, 0x8800\nmov $data, $02\n"
                                  "mov $data, 0x77\nmov $02, 0x1\n"
                                  "cwrite $02, [$00 + @REG_READ_DWORDS]\nmov $02, 0x8800\n"
                                  "cwrite $02, [$00 + @REG_READ_ADDR]\n"
                                  "cwrite $regdata, [$00 + @REG_READ_ADDR]\nmov $05, $regdata\n",
                                  NULL, 0);
    assert_int_equal(general_of(&w, 5)->value, 0x77);
    const struct origin_node *read =
        input(w.origin, general_of(&w, 5), ORIGIN_B, ORIGIN_REGREAD, 0x77, 0x8801);
    input(w.origin, read, ORIGIN_A, ORIGIN_REG, 0x77, 0x8801);
    stop_watching(&w);
}

/* A load comes from memory, whatever the instruction in front of it has read. */
static void a_load_comes_from_its_own_read(void **state)
{
    (void)state;
    struct watched w = watch_code("mov $03, 0x66\nstore $03, [$00 + 0x010]\nmov $02, 0x1\n"
                                  "cwrite $02, [$00 + @REG_READ_DWORDS]\nmov $02, 0x8800\n"
                                  "mov $addr, 0x8800\nmov $data, 0x77\n"
                                  "cwrite $02, [$00 + @REG_READ_ADDR]\nload $05, [$00 + 0x010]\n"
                                  "mov $06, $regdata\n",
                                  NULL, 0);
    assert_int_equal(general_of(&w, 5)->kind, ORIGIN_MEMORY);
    assert_int_equal(general_of(&w, 5)->value, 0x66);
    assert_int_equal(general_of(&w, 5)->place, 0x10);
    input(w.origin, general_of(&w, 6), ORIGIN_B, ORIGIN_REGREAD, 0x77, 0x8800);
    stop_watching(&w);
}

/* An assumption says what kind of thing was assumed: of 0x980 a clock. */
static void what_is_assumed_is_named(void **state)
{
    (void)state;
    struct watched w = watch_code("mov $02, 0x1\ncwrite $02, [$00 + @REG_READ_DWORDS]\n"
                                  "mov $02, 0x980\ncwrite $02, [$00 + @REG_READ_ADDR]\n"
                                  "mov $05, $regdata\n",
                                  NULL, 0);
    uint32_t clock = general_of(&w, 5)->value;
    const struct origin_node *read =
        input(w.origin, general_of(&w, 5), ORIGIN_B, ORIGIN_REGREAD, clock, 0x980);
    const struct origin_node *assumed = origin_at_(w.origin, read->in[ORIGIN_A]);
    assert_int_equal(assumed->kind, ORIGIN_ASSUMED);
    assert_int_equal(assumed->sub, CPS_WHAT_CLOCK);
    assert_int_equal(assumed->value, clock);
    stop_watching(&w);
}

/* A draw-state group that was set by a packet: what its registers show are the packet's words. The
 * header's register shows them in other places, which hardware does. */
static void registers_of_a_group_show_the_words_that_set_it(void **state)
{
    static const char code[] =
        "mov $02, 0x43\ncwrite $02, [$00 + 0x060]\nmov $02, #set\ncwrite $02, [$00 + 0x061]\n"
        "jump #end\nnop\nset: (rep)(sds2)cwrite $data, [$00 + 0x04a]\nmov $03, 0x3\n"
        "cwrite $03, [$00 + 0x041]\ncread $05, [$00 + 0x045]\ncread $06, [$00 + 0x046]\n"
        "cread $07, [$00 + 0x047]\ncread $08, [$00 + 0x100]\nwaitin\nmov $01, $data\nend:\n";
    static const uint32_t words[] = {0x70438003, 0x03700002, 0x300000, 0x1};
    (void)state;
    assert_int_equal(words[0], cps_pm4_type7(0x43, 3));
    struct watched w = watch_code(code, words, 4);
    uint64_t ring = cps_afuc_of(w.bench->engine)->ring_iova;
    assert_int_equal(general_of(&w, 5)->kind, ORIGIN_CREAD);
    input(w.origin, general_of(&w, 5), ORIGIN_A, ORIGIN_WORD, 0x300000, ring + 8);
    input(w.origin, general_of(&w, 6), ORIGIN_A, ORIGIN_WORD, 1, ring + 12);
    const struct origin_node *header =
        input(w.origin, general_of(&w, 7), ORIGIN_A, ORIGIN_HARDWARE, general_of(&w, 7)->value, 0);
    input(w.origin, header, ORIGIN_A, ORIGIN_WORD, 0x03700002, ring + 4);
    assert_int_equal(general_of(&w, 8)->kind, ORIGIN_CREAD); /* of no group */
    assert_int_equal(general_of(&w, 8)->in[ORIGIN_A], 0);
    stop_watching(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_nodes_say_the_same),
        cmocka_unit_test(the_older_half_is_cut_off_where_all_is_needed),
        cmocka_unit_test(a_clone_has_none),
        cmocka_unit_test(each_kind_has_its_word),
        cmocka_unit_test(nothing_is_node_0),
        cmocka_unit_test(extra_words_come_from_where_they_were_read),
        cmocka_unit_test(a_word_that_is_read_behind_one_that_is_taken_is_another),
        cmocka_unit_test(a_load_comes_from_its_own_read),
        cmocka_unit_test(what_is_assumed_is_named),
        cmocka_unit_test(registers_of_a_group_show_the_words_that_set_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
