/* SPDX-License-Identifier: MIT
 * Properties of all rows of all instruction sets in all of their generations. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "isa/base/le.h"
#include "isa/sets/table.h"

#define SWEEP        2000000u /* random words per generation of afuc */
#define SWEEP_TEXT   16u      /* of which every so many goes through text */
#define SWEEP_BYTES  200000u  /* random strings per generation of the others */
#define ROW_OPERANDS 200u     /* random operands per row and generation */
#define MAX_BYTES    48u

struct set {
    const struct cps_isa *isa;
    enum cps_gen gen[4];
    unsigned gens;
};

static const struct set sets[] = {
    {&cps_isa_afuc, {CPS_A5XX, CPS_A6XX, CPS_A7XX, CPS_A8XX}, 4},
    {&cps_isa_hwsq, {CPS_NV17, CPS_NV41, CPS_G80, CPS_G92}, 4},
    {&cps_isa_seq, {CPS_SEQ_OLD, CPS_SEQ_NEW}, 2},
    {&cps_isa_vp1, {CPS_VP1_NV41, CPS_VP1_NV44, CPS_VP1_G80}, 3},
};
enum { SET_COUNT = 4 };

/* xorshift: the same words in every run. */
static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

/* Calls @p check for every row in each of its generations. */
static unsigned each_row(void (*check)(const struct cps_isa *isa, const struct cps_enc *enc,
                                       enum cps_gen gen))
{
    unsigned rows = 0;
    for (unsigned s = 0; s < SET_COUNT; s++) {
        const struct cps_isa *isa = sets[s].isa;
        for (size_t i = 0; i < isa->enc_count; i++) {
            for (unsigned g = 0; g < sets[s].gens; g++) {
                if (!(isa->encs[i].gens & cps_gen_bit(sets[s].gen[g])))
                    continue;
                check(isa, &isa->encs[i], sets[s].gen[g]);
                rows++;
            }
        }
    }
    return rows;
}

/* Bits of the fields that the generation has (or, of those it has not), by half. */
static void row_fields(const struct cps_isa *isa, const struct cps_enc *enc, enum cps_gen gen,
                       bool foreign, uint64_t ret[2])
{
    const struct cps_form *form = cps_form_(isa, enc);
    ret[0] = ret[1] = 0;
    for (unsigned i = 0; i < CPS_MAX_OPERANDS && form->field[i]; i++) {
        const struct cps_field *field = &isa->fields[form->field[i]];
        if (!(field->gens & cps_gen_bit(gen)) != foreign)
            continue;
        uint64_t *half = &ret[cps_field_half_(field)];
        assert_int_equal(*half & cps_field_mask_(field), 0);
        *half |= cps_field_mask_(field);
    }
}

static void check_bits(const struct cps_isa *isa, const struct cps_enc *enc, enum cps_gen gen)
{
    uint32_t length = cps_enc_length_(isa, enc);
    uint64_t low = length < 8 ? (UINT64_C(1) << length * 8) - 1 : UINT64_MAX;
    uint64_t stated = enc->mask & cps_length_mask_(isa) ? 0 : cps_length_mask_(isa);
    uint64_t fields[2], foreign[2];
    row_fields(isa, enc, gen, false, fields);
    row_fields(isa, enc, gen, true, foreign);
    uint64_t ignored = cps_form_(isa, enc)->ignored | foreign[0];
    assert_int_equal(enc->match & ~enc->mask, 0);
    assert_int_equal(enc->mask & (fields[0] | stated), 0);
    assert_int_equal((enc->mask | fields[0]) & ignored, 0);
    assert_true((enc->mask | fields[0] | ignored | stated) == low);
    assert_true(fields[1] == (length > 8 ? UINT32_MAX : 0));
}

static void test_all_bits_accounted(void **state)
{
    (void)state;
    assert_true(each_row(check_bits) > 300);
}

static void test_no_overlap(void **state)
{
    (void)state;
    for (unsigned s = 0; s < SET_COUNT; s++) {
        const struct cps_isa *isa = sets[s].isa;
        for (size_t i = 0; i < isa->enc_count; i++) {
            for (size_t k = i + 1; k < isa->enc_count; k++) {
                const struct cps_enc *a = &isa->encs[i];
                const struct cps_enc *b = &isa->encs[k];
                if (!(a->gens & b->gens) || a->flags & CPS_ENC_ALIAS || b->flags & CPS_ENC_ALIAS)
                    continue;
                assert_int_not_equal((a->match ^ b->match) & a->mask & b->mask, 0);
            }
        }
    }
}

static void print_bytes(const struct cps_isa *isa, enum cps_gen gen, const uint8_t *bytes,
                        size_t size, uint32_t pc, struct cps_insn *insn, struct cps_buf *out)
{
    cps_decode_bytes(isa, gen, bytes, size, insn);
    cps_buf_clear(out);
    cps_print(isa, insn, pc, NULL, out);
}

/* What is printed parses to the same bytes. */
static void check_text(const struct cps_isa *isa, enum cps_gen gen, const uint8_t *bytes,
                       size_t size, uint32_t pc)
{
    const struct cps_parse_names names = {0};
    struct cps_insn insn;
    size_t column = 0;
    CPS_BUF out = {0};
    CPS_BUF again = {0};
    print_bytes(isa, gen, bytes, size, pc, &insn, &out);
    assert_in_range(insn.length, isa->unit, size);
    assert_null(cps_parse_bytes(isa, gen, cps_buf_text(&out), pc, &names, &column, &again));
    assert_int_equal(again.size, insn.length);
    assert_memory_equal(again.data, bytes, insn.length);
}

/* encode(decode(x)) gives x back, apart from bits that no row claims. */
static void check_encode(const struct cps_isa *isa, enum cps_gen gen, const uint8_t *bytes,
                         size_t size)
{
    struct cps_insn insn;
    uint64_t bits[2];
    cps_decode_bytes(isa, gen, bytes, size, &insn);
    if (!insn.enc || insn.misfit || (insn.unclaimed && insn.needs > 4))
        return;
    assert_null(cps_encode_bits_(isa, &insn, bits));
    uint64_t low = insn.needs < 8 ? (UINT64_C(1) << insn.needs * 8) - 1 : UINT64_MAX;
    assert_true((bits[0] | insn.unclaimed) == (insn.word & low));
    assert_true(insn.needs <= 8 || bits[1] == insn.high);
}

/* A row with random operands, and a random list where it has one. */
static uint32_t random_row(const struct cps_isa *isa, const struct cps_enc *enc, enum cps_gen gen,
                           uint32_t *random, uint8_t bytes[MAX_BYTES])
{
    uint32_t length = cps_enc_length_(isa, enc);
    uint64_t fields[2];
    row_fields(isa, enc, gen, false, fields);
    for (unsigned i = 0; i < MAX_BYTES; i += 4)
        cps_put_le32(bytes + i, next_random(random));
    bool has_list = isa->fields[cps_form_(isa, enc)->field[0]].kind == CPS_FIELD_PAIRS;
    uint32_t total = length + (has_list ? 8 + 8 * (next_random(random) % 4) : 0);
    uint64_t word = (cps_le32(bytes) | (uint64_t)cps_le32(bytes + 4) << 32) & fields[0];
    word |= enc->match;
    if (!(enc->mask & cps_length_mask_(isa)))
        word |= (uint64_t)(total / isa->unit) << isa->length_low & cps_length_mask_(isa);
    for (uint32_t i = 0; i < length && i < 8; i++)
        bytes[i] = (uint8_t)(word >> i * 8);
    return total;
}

static void check_row(const struct cps_isa *isa, const struct cps_enc *enc, enum cps_gen gen)
{
    static uint32_t random = 0x13579bdf;
    for (unsigned n = 0; n < ROW_OPERANDS; n++) {
        uint8_t bytes[MAX_BYTES];
        struct cps_insn insn;
        uint32_t length = random_row(isa, enc, gen, &random, bytes);
        cps_decode_bytes(isa, gen, bytes, length, &insn);
        assert_int_equal(insn.length, length);
        assert_false(insn.misfit);
        check_encode(isa, gen, bytes, length);
        check_text(isa, gen, bytes, length, n);
        /* One unit less is a misfit, whatever it begins with. */
        if (length > isa->unit) {
            cps_decode_bytes(isa, gen, bytes, length - isa->unit, &insn);
            assert_true(insn.misfit);
            check_text(isa, gen, bytes, length - isa->unit, n);
        }
    }
}

static void test_every_row(void **state)
{
    (void)state;
    assert_true(each_row(check_row) > 300);
}

static void test_random_words(void **state)
{
    uint32_t random = 0x2468ace1;
    (void)state;
    for (unsigned g = 0; g < sets[0].gens; g++) {
        for (uint32_t n = 0; n < SWEEP; n++) {
            uint8_t bytes[4];
            cps_put_le32(bytes, next_random(&random));
            check_encode(&cps_isa_afuc, sets[0].gen[g], bytes, 4);
            if (n % SWEEP_TEXT == 0)
                check_text(&cps_isa_afuc, sets[0].gen[g], bytes, 4, n & 0xffff);
        }
    }
}

static void test_random_strings(void **state)
{
    uint32_t random = 0x2468ace1;
    (void)state;
    for (unsigned s = 1; s < SET_COUNT; s++) {
        const struct cps_isa *isa = sets[s].isa;
        for (unsigned g = 0; g < sets[s].gens; g++) {
            for (uint32_t n = 0; n < SWEEP_BYTES; n++) {
                uint8_t bytes[MAX_BYTES];
                for (unsigned i = 0; i < MAX_BYTES; i += 4)
                    cps_put_le32(bytes + i, next_random(&random) & (n & 1 ? 0x00070f3f : ~0u));
                size_t size = (next_random(&random) % MAX_BYTES + isa->unit) / isa->unit;
                size = size ? size * isa->unit : isa->unit;
                size = size > MAX_BYTES ? MAX_BYTES : size;
                check_encode(isa, sets[s].gen[g], bytes, size);
                check_text(isa, sets[s].gen[g], bytes, size, n & 0xff);
            }
        }
    }
}

static bool has_mnemonic(const struct cps_isa *isa, enum cps_gen gen, const char *mnemonic)
{
    for (size_t i = 0; i < isa->enc_count; i++) {
        const struct cps_enc *enc = &isa->encs[i];
        if (enc->gens & cps_gen_bit(gen) && !strcmp(cps_mnemonic_(isa, enc), mnemonic))
            return true;
    }
    return false;
}

static bool is_refused(const struct cps_isa *isa, const struct cps_enc *enc, enum cps_gen gen)
{
    const struct cps_insn insn = {.enc = enc, .op = enc->op, .word = enc->match};
    const struct cps_parse_names names = {0};
    size_t column = 0;
    CPS_BUF out = {0};
    CPS_BUF bytes = {0};
    cps_print_decoded(isa, &insn, 0, NULL, &out);
    struct cps_err *err = cps_parse_bytes(isa, gen, cps_buf_text(&out), 0, &names, &column, &bytes);
    bool refused = err && err->code == CPS_ERR_SYNTAX;
    cps_err_free(err);
    return refused;
}

/* The text of a row is refused where no row of the generation has its mnemonic. */
static void test_foreign_texts(void **state)
{
    unsigned refused = 0;
    (void)state;
    for (unsigned s = 0; s < SET_COUNT; s++) {
        const struct cps_isa *isa = sets[s].isa;
        for (size_t i = 0; i < isa->enc_count; i++) {
            const struct cps_enc *enc = &isa->encs[i];
            for (unsigned g = 0; g < sets[s].gens && !(enc->flags & CPS_ENC_LITERAL); g++) {
                if (has_mnemonic(isa, sets[s].gen[g], cps_mnemonic_(isa, enc)))
                    continue;
                assert_true(is_refused(isa, enc, sets[s].gen[g]));
                refused++;
            }
        }
    }
    assert_true(refused > 15);
}

/* Every first byte has the length of the reference, in every chip. */
static void test_hwsq_lengths(void **state)
{
    (void)state;
    for (unsigned g = 0; g < 4; g++) {
        for (unsigned byte = 0; byte < 256; byte++) {
            const uint8_t bytes[8] = {(uint8_t)byte};
            unsigned three = byte == 0x40 || byte == 0x42 || byte == 0x5f;
            unsigned five = byte == 0xe0 || byte == 0xe2;
            bool bad = (byte > 0x3f && byte < 0x7f && !three) || (byte > 0xdf && !five) ||
                       (g == 0 && (three || five));
            struct cps_insn insn;
            cps_decode_bytes(&cps_isa_hwsq, sets[1].gen[g], bytes, 8, &insn);
            assert_int_equal(!insn.enc, bad);
            assert_int_equal(insn.length, bad ? 1 : three ? 3 : five ? 5 : 1);
        }
    }
}

/* Every opcode of VP1 is a row that takes every bit: no word is a literal, by either scheme's
 * names.
 */
static void test_vp1_words(void **state)
{
    uint32_t random = 0x1234567;
    (void)state;
    for (uint32_t n = 0; n < 256 * 400; n++) {
        const struct cps_print_names print = {.scheme = n & 1};
        const struct cps_parse_names parse = {.scheme = n & 1};
        uint32_t word = n << 24 | (next_random(&random) & 0xffffff);
        struct cps_insn insn;
        uint64_t again = 0;
        size_t column = 0;
        CPS_BUF text = {0};
        cps_decode(&cps_isa_vp1, sets[3].gen[n % 3], word, &insn);
        cps_print(&cps_isa_vp1, &insn, n & 0xffff, &print, &text);
        assert_null(strchr(cps_buf_text(&text), '['));
        assert_null(cps_parse(&cps_isa_vp1, sets[3].gen[n % 3], cps_buf_text(&text), n & 0xffff,
                              &parse, &column, &again));
        assert_int_equal(again, word);
    }
}

/* What the reference lists is an operation, and nothing else is. */
static void test_seq_operations(void **state)
{
    static const uint8_t bad[] = {0x36, 0x37, 0x39, 0x3a, 0x3d, 0x3e, 0x3f};
    (void)state;
    for (unsigned op = 0; op < 0x40; op++) {
        uint8_t bytes[12] = {(uint8_t)op, 0, 3};
        struct cps_insn insn;
        cps_decode_bytes(&cps_isa_seq, CPS_SEQ_OLD, bytes, 12, &insn);
        assert_int_equal(!insn.enc, memchr(bad, (int)op, sizeof(bad)) != NULL);
        bytes[1] = 1; /* bits 8 to 15 make it no operation */
        cps_decode_bytes(&cps_isa_seq, CPS_SEQ_OLD, bytes, 12, &insn);
        assert_null(insn.enc);
    }
}

/* Of a word whose low byte counts, the other bytes are said by the text only where they extend it.
 */
static void test_seq_bytes(void **state)
{
    static const struct {
        uint32_t word, unclaimed;
    } rows[] = {
        {0, 0},
        {0xff, 0},
        {0x100, 0x100},
        {0x1234, 0x1200},
        {0xffffff7f, 0xffffff00},
        {0xffffff80, 0},
        {0xffffffff, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t bytes[8] = {0x16, 0, 2, 0}; /* exit and a code */
        struct cps_insn insn;
        cps_put_le32(bytes + 4, rows[i].word);
        cps_decode_bytes(&cps_isa_seq, CPS_SEQ_OLD, bytes, 8, &insn);
        assert_int_equal(insn.length, 8);
        assert_true(insn.unclaimed == (uint64_t)rows[i].unclaimed << 32);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_bits_accounted), cmocka_unit_test(test_no_overlap),
        cmocka_unit_test(test_every_row),          cmocka_unit_test(test_random_words),
        cmocka_unit_test(test_random_strings),     cmocka_unit_test(test_foreign_texts),
        cmocka_unit_test(test_hwsq_lengths),       cmocka_unit_test(test_seq_operations),
        cmocka_unit_test(test_vp1_words),          cmocka_unit_test(test_seq_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
