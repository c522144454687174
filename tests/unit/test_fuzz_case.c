/* SPDX-License-Identifier: MIT
 * Cases of fuzz: whatever mutation does to one, its text reads back as the same case; the same seed
 * gives the same case; and counts that firmware takes are learned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fw/demo/demo.h"
#include "isa/base/pm4.h"
#include "isa/base/within.h"
#include "isa/names/table.h"
#include "isa/packet.h"
#include "tests/lib/scratch.h"
#include "tools/explain/fuzz/fuzz.h"

struct scene {
    struct cps_fw *fw;
    struct fuzz fuzz;
};

static int setup(void **state)
{
    struct scene *s = calloc(1, sizeof(*s));
    assert_non_null(s);
    assert_null(cps_fw_parse("demo", cps_demo_fw, cps_demo_fw_size, 0, &s->fw));
    protection_init(&s->fuzz.protection, s->fw);
    grammar_init(&s->fuzz.grammar, s->fw, &s->fuzz.protection, &s->fuzz.learned);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    struct scene *s = *state;
    cps_fw_destroy(s->fw);
    free(s);
    return 0;
}

/* A chain of cases, each out of the one before and another. */
static void next_case(const struct scene *s, struct rng *rng, struct fuzz_case *edited)
{
    struct fuzz_case other;
    grammar_case(&s->fuzz.grammar, rng, &other);
    if (!edited->streams)
        grammar_case(&s->fuzz.grammar, rng, edited);
    mutate(&s->fuzz.grammar, rng, &other, edited);
}

static unsigned count_packets(const struct fuzz_case *of)
{
    unsigned count = 0;
    for (uint32_t at = 0; at < of->stream[0].count; count++)
        at += case_packet_at(of, 0, at).length;
    return count;
}

/* A case of one packet gets one to four changes, each as often. Of 17 changes 4 insert a packet and
 * 2 copy one, and another one appends a stream of one in 70 % of cases: with four changes there are
 * five packets once in (17 / 6.7)^4 cases, or in 20000 / 4 of them 121 times. There are more only
 * where a length was changed, and words of a packet have become packets. */
static void a_mutation_is_one_to_four_changes(void **state)
{
    const struct scene *s = *state;
    const uint32_t nop = cps_pm4_type7(0x10, 0);
    unsigned five = 0, more = 0;
    for (uint64_t seed = 1; seed <= 20000; seed++) {
        struct rng rng = {seed};
        struct fuzz_case input, other;
        case_clear(&input);
        case_insert(&input.stream[0], 0, &nop, 1);
        case_copy(&other, &input);
        mutate(&s->fuzz.grammar, &rng, &other, &input);
        unsigned count = count_packets(&input);
        five += count == 5;
        more += count > 5;
    }
    assert_in_range(five, 121 - 33, 121 + 33); /* three times the root of 121 */
    assert_in_range(more, 0, 20);
}

/* Words that say nothing of their own are data wherever they stand. */
static void assert_same_case(const struct fuzz_case *a, const struct fuzz_case *b)
{
    for (unsigned i = 0; i < a->streams; i++) {
        const struct case_stream *s = &a->stream[i];
        unsigned there = case_stream_at(b, s->iova);
        if (!s->count)
            continue;
        assert_true(there < b->streams);
        assert_int_equal(s->count, b->stream[there].count);
        assert_memory_equal(s->word, b->stream[there].word, 4 * (size_t)s->count);
    }
    assert_true(b->stream[0].iova == a->stream[0].iova);
}

struct reading {
    struct case_taken taken;
    struct fuzz_case read;
};

static struct cps_err *keep_case(void *context, const struct fuzz_case *input)
{
    case_copy(&((struct reading *)context)->read, input);
    return NULL;
}

static void read_back(struct scene *s, const struct fuzz_case *input, struct reading *ret)
{
    CPS_BUF text = {0};
    char path[64];
    assert_null(corpus_text(&s->fuzz, input, NULL, &text));
    scratch_file(path, cps_buf_text(&text));
    assert_null(corpus_read(path, NULL, NULL, &ret->taken, keep_case, ret));
    remove(path);
}

static void a_mutated_case_reads_back(void **state)
{
    struct scene *s = *state;
    struct rng rng = {1};
    struct fuzz_case input = {.streams = 0};
    struct reading *reading = calloc(1, sizeof(*reading));
    assert_non_null(reading);
    for (unsigned i = 0; i < 300; i++) {
        if (i % 30 == 0)
            input.streams = 0;
        next_case(s, &rng, &input);
        assert_true(input.stream[0].count > 0);
        read_back(s, &input, reading);
        assert_same_case(&input, &reading->read);
    }
    free(reading);
}

/* Each line stands behind the text's first one, and nothing else is another. */
static void comments_are_lines_of_the_head(void **state)
{
    struct scene *s = *state;
    const struct {
        const char *comment, *lines;
    } rows[] = {{"", ""},
                {"one", "; one\n"},
                {"one\ntwo", "; one\n; two\n"},
                {"one\n\nthree\n", "; one\n; \n; three\n"}};
    struct rng rng = {5};
    struct fuzz_case input = {.streams = 0};
    CPS_BUF plain = {0};
    next_case(s, &rng, &input);
    assert_null(corpus_text(&s->fuzz, &input, NULL, &plain));
    const char *text = cps_buf_text(&plain);
    size_t first = strcspn(text, "\n") + 1;
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF said = {0};
        CPS_BUF wanted = {0};
        assert_null(corpus_text(&s->fuzz, &input, rows[i].comment, &said));
        cps_buf_add(&wanted, text, first);
        cps_buf_str(&wanted, rows[i].lines);
        cps_buf_str(&wanted, text + first);
        assert_string_equal(cps_buf_text(&said), cps_buf_text(&wanted));
    }
}

static void a_seed_gives_the_same_case(void **state)
{
    const struct scene *s = *state;
    struct fuzz_case input[3] = {{.streams = 0}};
    struct rng rng[3] = {{7}, {7}, {8}};
    bool differ = false;
    for (unsigned i = 0; i < 50; i++) {
        for (unsigned k = 0; k < 3; k++)
            next_case(s, &rng[k], &input[k]);
        assert_int_equal(input[0].streams, input[1].streams);
        assert_same_case(&input[0], &input[1]);
        differ |= case_words(&input[0]) != case_words(&input[2]);
    }
    assert_true(differ);
}

static void packing_keeps_everything(void **state)
{
    const struct scene *s = *state;
    struct rng rng = {3};
    struct fuzz_case input = {.streams = 0};
    struct fuzz_case back;
    for (unsigned i = 0; i < 100; i++) {
        struct corpus_case packed = {.count = 0};
        next_case(s, &rng, &input);
        corpus_pack(&input, &packed);
        corpus_unpack(&packed, &back);
        assert_int_equal(back.streams, input.streams);
        assert_same_case(&input, &back);
        free(packed.word);
    }
}

/* IB1 calls 0x400, which is IB2 then; a group is draw state wherever it is named. */
static void levels_follow_calls(void **state)
{
    struct fuzz_case input = {.streams = 4};
    uint8_t level[CASE_STREAMS];
    const uint32_t call[] = {cps_pm4_type7(0x3f, 3), 0x400, 0, 1};
    const uint32_t group[] = {cps_pm4_type7(0x43, 3), 1 | 7 << 20, 0x800, 0};
    (void)state;
    for (unsigned i = 0; i < 4; i++)
        input.stream[i].iova = 0x400 * (uint64_t)i;
    case_insert(&input.stream[0], 0, call, 4);
    case_insert(&input.stream[1], 0, group, 4);
    case_levels(&input, level);
    assert_int_equal(level[0], CPS_LEVEL_IB1);
    assert_int_equal(level[1], CPS_LEVEL_IB2);
    assert_int_equal(level[2], CPS_LEVEL_SDS);
    assert_int_equal(level[3], CPS_LEVEL_RB);
}

/* Operation 0x22 takes three words, and is refused in draw state. */
static void counts_and_levels_are_learned(void **state)
{
    struct learned *l = calloc(1, sizeof(*l));
    struct fuzz_case input = {.streams = 1};
    struct rng rng = {1};
    const uint32_t words[] = {cps_pm4_type7(0x22, 2), 0, 0, 0x70100000};
    const struct learn_last last = {0, words[0], true};
    (void)state;
    assert_non_null(l);
    case_insert(&input.stream[0], 0, words, 4);
    assert_int_equal(learn_count(l, 0x22, 2, &rng), 2);
    for (unsigned i = 0; i < 4; i++) {
        learn_next(l, &input, &last, CPS_LEVEL_IB1, 4 * 4);
        learn_refused(l, words[0], CPS_LEVEL_SDS);
    }
    /* it ends at the end of the stream, where packets lead, too: nothing is lost by that */
    assert_false(learn_is_bad(l, 0x22, 2));
    for (unsigned i = 0; i < 4; i++)
        learn_next(l, &input, &last, CPS_LEVEL_IB1, 2 * 4);
    assert_true(learn_is_bad(l, 0x22, 2));
    assert_false(learn_is_bad(l, 0x22, 1));
    assert_int_equal(learn_count(l, 0x22, 2, &rng), 1);
    assert_true(learn_is_refused(l, 0x22, CPS_LEVEL_SDS));
    assert_false(learn_is_refused(l, 0x22, CPS_LEVEL_IB1));
    free(l);
}

/* A header whose parity is wrong and a packet that is cut are put right; a packet that only
 * hardware makes does nothing. */
static void repair_puts_in_step(void **state)
{
    const struct scene *s = *state;
    unsigned good[3] = {0};
    const uint32_t words[] = {cps_pm4_type7(0x10, 1) ^ 1u << 15, 0, cps_pm4_type7(0x0f, 0),
                              cps_pm4_type7(0x10, 40),           1, 2};
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct rng rng = {seed};
        struct fuzz_case input = {.streams = 1};
        case_insert(&input.stream[0], 0, words, 6);
        repair(&s->fuzz.grammar, &rng, &input);
        const uint32_t *word = input.stream[0].word;
        good[0] += word[0] == cps_pm4_type7(0x10, 1);
        good[1] += word[2] == cps_pm4_type7(0x10, 0);
        good[2] += word[3] == cps_pm4_type7(0x10, 2);
    }
    for (unsigned i = 0; i < 3; i++)
        assert_in_range(good[i], 75, 99);
}

/* Names lead to the numbers of their rows, which are in their order. Below 0x10 only hardware makes
 * packets. */
static void packets_have_the_numbers_of_their_names(void **state)
{
    unsigned known = 0;
    (void)state;
    for (enum cps_gen gen = CPS_A5XX; gen <= CPS_A8XX; gen++) {
        struct cps_names *names = NULL;
        unsigned chip = CPS_CHIP_BIT(cps_gen_row(gen)->number);
        assert_null(cps_names_create(cps_gen_layout(gen), NULL, &names));
        for (size_t i = 0; i < cps_packet_count_; i++) {
            const struct cps_packet_row *row = &cps_packet_rows_[i];
            uint32_t found = 0;
            if (!(row->tried & chip) ||
                !cps_name_number(names, CPS_SPACE_PACKET, row->name, strlen(row->name), &found))
                continue;
            known++;
            if (found != row->opcode)
                fail_msg("%s: 0x%x", row->name, found);
        }
        cps_names_destroy(names);
    }
    assert_true(known > 200);
    for (size_t i = 1; i < cps_packet_count_; i++)
        assert_true(cps_packet_rows_[i - 1].opcode <= cps_packet_rows_[i].opcode);
    for (unsigned opcode = 0; opcode < 0x80; opcode++)
        assert_int_equal(grammar_is_hardwares(opcode), opcode < 0x10);
}

/* What the register database has by name has words here, but for those that it says no more of. */
static void packets_with_a_name_have_words(void **state)
{
    static const uint8_t bare[] = {0x1e, 0x25, 0x27, 0x3b, 0x4b, 0x4f, 0x52,
                                   0x58, 0x59, 0x5e, 0x69, 0x6a, 0x6f, 0x78};
    unsigned chips[0x80] = {0};
    (void)state;
    for (size_t i = 0; i < cps_packet_count_; i++)
        chips[cps_packet_rows_[i].opcode] |= cps_packet_rows_[i].tried;
    for (size_t i = 0; i < sizeof(bare); i++) {
        assert_int_equal(chips[bare[i]], 0);
        chips[bare[i]] = CPS_CHIPS_ALL;
    }
    for (enum cps_gen gen = CPS_A5XX; gen <= CPS_A8XX; gen++) {
        struct cps_names *names = NULL;
        unsigned chip = CPS_CHIP_BIT(cps_gen_row(gen)->number);
        assert_null(cps_names_create(cps_gen_layout(gen), NULL, &names));
        for (unsigned opcode = 0x10; opcode < 0x80; opcode++) {
            const char *name = cps_name(names, CPS_SPACE_PACKET, opcode, NULL);
            if (name && !(chips[opcode] & chip))
                fail_msg("%s, 0x%02x of a%uxx, has no row", name, opcode, cps_gen_row(gen)->number);
        }
        cps_names_destroy(names);
    }
}

/* The demo firmware beside itself. */
static struct fuzz *open_twice(char path[64])
{
    struct fuzz *fuzz = calloc(1, sizeof(*fuzz));
    FILE *file = fopen(scratch_file(path, ""), "wb");
    assert_non_null(fuzz);
    assert_non_null(file);
    assert_int_equal(fwrite(cps_demo_fw, 1, cps_demo_fw_size, file), cps_demo_fw_size);
    assert_int_equal(fclose(file), 0);
    fuzz->config = cps_run_config_default();
    fuzz->config.fw[0] = fuzz->config.fw[1] = path;
    fuzz->config.fw_count = 2;
    fuzz->sides = 2;
    fuzz->jobs = 1;
    fuzz->limit = 10000;
    fuzz->oracles = oracle_usual();
    assert_null(fuzz_open(fuzz));
    return fuzz;
}

/* What a look at a case of one CP_NOP does not find again: a write by a packet that is not there,
 * and an ending that is the same on both sides. */
static const enum oracle harmless[] = {ORACLE_PROTECTED, ORACLE_ENDING};

/* The fourth look that comes to nothing is the last one; what is told from it by no more than a bit
 * of its place in the code, its register or its level is looked at all the same. */
static void four_looks_are_enough(void **state)
{
    struct fuzz_case input;
    char path[64];
    const uint32_t nop = cps_pm4_type7(0x10, 0);
    struct fuzz *fuzz = open_twice(path);
    struct findings *f = &fuzz->findings;
    (void)state;
    case_clear(&input);
    case_insert(&input.stream[0], 0, &nop, 1);
    for (unsigned i = 0; i < 2; i++) {
        const struct suspect suspect = {.oracle = harmless[i],
                                        .raised = harmless[i],
                                        .who = CPS_CPU_SQE,
                                        .level = CPS_LEVEL_IB1,
                                        .header = cps_pm4_type7(0x22, 3),
                                        .iova = 0x40,
                                        .place = 0x800,
                                        .pc = 0x123};
        for (unsigned look = 0; look < 4; look++) {
            assert_true(findings_wants(f, &suspect));
            assert_null(findings_look(fuzz, &input, &suspect));
        }
        assert_false(findings_wants(f, &suspect));
        for (unsigned bit = 0; bit < 32; bit++) {
            struct suspect other[3] = {suspect, suspect, suspect};
            other[0].pc ^= 1u << bit;
            other[1].place ^= 1u << bit;
            other[2].level ^= (uint8_t)(1u << bit % 3);
            for (unsigned k = 0; k < 3; k++)
                assert_true(findings_wants(f, &other[k]));
        }
    }
    assert_int_equal(f->count, 0);
    fuzz_close(fuzz);
    free(fuzz);
    remove(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(four_looks_are_enough),
        cmocka_unit_test(packets_with_a_name_have_words),
        cmocka_unit_test_setup_teardown(comments_are_lines_of_the_head, setup, teardown),
        cmocka_unit_test_setup_teardown(a_mutated_case_reads_back, setup, teardown),
        cmocka_unit_test_setup_teardown(a_seed_gives_the_same_case, setup, teardown),
        cmocka_unit_test_setup_teardown(a_mutation_is_one_to_four_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(packing_keeps_everything, setup, teardown),
        cmocka_unit_test(levels_follow_calls),
        cmocka_unit_test(packets_have_the_numbers_of_their_names),
        cmocka_unit_test(counts_and_levels_are_learned),
        cmocka_unit_test_setup_teardown(repair_puts_in_step, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
