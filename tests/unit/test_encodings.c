/* SPDX-License-Identifier: MIT
 * Instruction sets at their limits: words encoded by hand from the rulers, every field with all its
 * bits set and the others clear, as text and back; and texts whose operand is one too large. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/le.h"
#include "isa/sets/table.h"

enum { AT = 0x8000 }; /* where they stand, in units */

struct row {
    uint32_t gens;
    const char *bytes; /* hexadecimal: words of the set, or bytes of HWSQ */
    const char *text;
};

static const enum cps_gen gens[] = {
    CPS_A5XX, CPS_A6XX,    CPS_A7XX,    CPS_A8XX,     CPS_NV17,     CPS_NV41,   CPS_G80,
    CPS_G92,  CPS_SEQ_OLD, CPS_SEQ_NEW, CPS_VP1_NV41, CPS_VP1_NV44, CPS_VP1_G80};
enum { GENS = sizeof(gens) / sizeof(gens[0]) };
enum {
    G5 = 1,
    G6 = 2,
    G7 = 4,
    G8 = 8,
    G56 = 3,
    G67 = 6,
    G78 = 12,
    G678 = 14,
    AFUC = 15,
    NV17 = 16,
    NV41 = 0xe0,
    HWSQ = 0xf0,
    OLD = 0x100,
    NEW = 0x200,
    SEQ = 0x300,
    VP1 = 0x1c00,
    VP1_OLD = 0xc00,
    VP1_G80 = 0x1000,
};

static const struct row rows[] = {
#include "tests/facts/encodings.h"
};

static const struct row refused[] = {
#include "tests/facts/refused.h"
};

static size_t bytes_of(const struct cps_isa *isa, const char *hex, uint8_t bytes[64])
{
    size_t size = 0;
    for (char *end; *(hex += strspn(hex, " ")); hex = end) {
        uint32_t word = (uint32_t)strtoul(hex, &end, 16);
        for (unsigned i = 0; i < isa->unit; i++)
            bytes[size++] = (uint8_t)(word >> 8 * i);
    }
    return size;
}

static void check(const struct row *row, enum cps_gen gen)
{
    const struct cps_isa *isa = cps_gen_isa(gen);
    const struct cps_parse_names names = {0};
    uint8_t bytes[64];
    size_t size = bytes_of(isa, row->bytes, bytes);
    struct cps_insn insn;
    size_t column = 0;
    CPS_BUF text = {0}, again = {0};
    cps_decode_bytes(isa, gen, bytes, size, &insn);
    cps_print(isa, &insn, AT, NULL, &text);
    if (insn.length != size || strcmp(cps_buf_text(&text), row->text) != 0)
        fail_msg("%s: %s is '%s', not '%s'", cps_gen_name(gen), row->bytes, cps_buf_text(&text),
                 row->text);
    assert_null(cps_parse_bytes(isa, gen, row->text, AT, &names, &column, &again));
    assert_int_equal(again.size, size);
    assert_memory_equal(again.data, bytes, size);
}

static void words_are_texts_and_texts_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (unsigned g = 0; g < GENS; g++) {
            if (rows[i].gens >> g & 1)
                check(&rows[i], gens[g]);
        }
    }
}

static void an_operand_that_is_too_large_is_refused(void **state)
{
    unsigned wrong = 0;
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        for (unsigned g = 0; g < GENS; g++) {
            const struct cps_parse_names names = {0};
            size_t column = 0;
            CPS_BUF out = {0};
            if (!(refused[i].gens >> g & 1))
                continue;
            struct cps_err *err = cps_parse_bytes(cps_gen_isa(gens[g]), gens[g], refused[i].text,
                                                  AT, &names, &column, &out);
            if (!err || err->code != CPS_ERR_SYNTAX || !strstr(err->message, refused[i].bytes))
                wrong++, print_error("%s: %s: %s\n", cps_gen_name(gens[g]), refused[i].text,
                                     err ? err->message : "accepted");
            cps_err_free(err);
        }
    }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_texts_and_texts_words),
        cmocka_unit_test(an_operand_that_is_too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
