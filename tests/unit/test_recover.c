/* SPDX-License-Identifier: MIT
 * The firmware inside a hang dump: caches are made of an image that is known, whose near revision
 * has code put in and taken out, so that every recovered word can be held against the true one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/fwcheck.h"
#include "fw/image/icache.h"
#include "isa/base/le.h"

enum { FUNCTIONS = 64, SET_WORDS = 8, SETS = 32, WAYS = 4, SECTION = 0x1000 };

static struct cps_fw *load(const char *text)
{
    struct cps_fw *fw = fwcheck_assemble(text, CPS_A6XX, 0);
    assert_non_null(fw);
    return fw;
}

/* Functions that call and branch to each other; every third is a handler. @p newer has words that
 * the older revision has not, and lacks some of its. */
static struct cps_fw *revision_of(unsigned functions, bool newer)
{
    CPS_BUF text = {0};
    cps_buf_str(&text, "; a6xx microcode\n[016ee000]\n[#jumptbl]\n");
    for (unsigned i = 0; i < functions; i++) {
        if (i % 3 == 0 && 16 + i < CPS_FW_TABLE_SIZE)
            cps_buf_printf(&text, "UNKN%u:\n", 16 + i);
        cps_buf_printf(&text, "f%u: mov $02, 0x%x\n", i, 0x100 + i);
        if (newer && i % 20 == 7)
            cps_buf_printf(&text, "mov $05, 0x%x\nmov $06, 0x77\nmov $07, 0x78\n", i);
        cps_buf_printf(&text, "add $03, $02, 0x%x\nbreq $03, b3, #f%u\nnop\n", 3 * i,
                       i ? i - 1 : 0);
        if (!newer && i % 30 == 11)
            cps_buf_str(&text, "mov $08, 0x5\nmov $09, 0x6\n");
        cps_buf_printf(&text, "call #f%u\nnop\nwaitin\nmov $01, $data\n", (i + 17) % functions);
    }
    cps_buf_str(&text, ".align 32\njumptbl:\n.jumptbl #f0\n");
    return load(cps_buf_text(&text));
}

static struct cps_fw *revision(bool newer)
{
    return revision_of(FUNCTIONS, newer);
}

static uint32_t tag_of(uint32_t line)
{
    return 2u << 20 | line / SETS;
}

/* The block as the hardware gives it, with the lines of @p fw that @p has says. */
static uint32_t *dump_of(const struct cps_fw *fw, bool (*has)(uint32_t line))
{
    uint32_t *block = calloc(6 * SECTION, sizeof(*block));
    unsigned used[SETS] = {0};
    assert_non_null(block);
    for (uint32_t line = 0; line * SET_WORDS + SET_WORDS <= fw->part[0].table; line++) {
        unsigned set = line % SETS;
        if (!has(line) || used[set] == WAYS)
            continue;
        unsigned way = used[set]++;
        memcpy(block + way * SETS * SET_WORDS + set * SET_WORDS, fw->words + line * SET_WORDS,
               SET_WORDS * sizeof(*block));
        block[SECTION + set * WAYS + way] = tag_of(line);
    }
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        block[4 * SECTION + id] = cps_fw_handler(fw, &fw->part[0], id);
    return block;
}

static bool every_line(uint32_t line)
{
    (void)line;
    return true;
}

static bool two_of_three(uint32_t line)
{
    return line % 3 != 2;
}

static bool fourth_to_sixth(uint32_t line)
{
    return line >= 4 && line <= 6;
}

static bool fifth(uint32_t line)
{
    return line == 5;
}

static bool fourteenth_to_sixteenth(uint32_t line)
{
    return line >= 14 && line <= 16;
}

static struct cps_fw_icache read_block(const uint32_t *block)
{
    struct cps_fw_icache cache;
    struct cps_err *err = cps_fw_icache_read_(block, 6 * SECTION, &cache);
    if (err)
        fail_msg("%s", err->message);
    return cache;
}

static void lines_are_where_their_tags_say(void **state)
{
    struct cps_fw *fw = revision(false);
    uint32_t *block = dump_of(fw, two_of_three);
    struct cps_fw_icache cache = read_block(block);
    (void)state;
    assert_true(cache.lines > 20);
    for (uint32_t at = 0; at < cache.count; at++) {
        bool known = two_of_three(at / SET_WORDS);
        assert_int_equal(cache.mark[at], known ? CPS_FW_HARDWARE : CPS_FW_UNKNOWN);
        assert_int_equal(cache.word[at], known ? fw->words[at] : 0);
    }
    assert_int_equal(cache.table[16 + 3], cps_fw_handler(fw, &fw->part[0], 16 + 3));
    cps_fw_icache_deinit_(&cache);
    free(block);
    cps_fw_destroy(fw);
}

/* Words of the cache and words between places where both agree are the true ones; what is wrong is
 * marked as unknown. */
static void check_recovered(unsigned functions, bool (*has)(uint32_t), uint32_t known,
                            uint32_t unknown)
{
    struct cps_fw *fw = revision_of(functions, false);
    struct cps_fw *donor = revision_of(functions, true);
    struct cps_fw *own = NULL;
    uint32_t *block = dump_of(fw, has);
    struct cps_fw_icache cache = read_block(block);
    struct cps_err *err = cps_fw_recover_(&cache, donor, &own);
    if (err)
        fail_msg("%s", err->message);
    uint32_t count[3] = {0, 0, 0};
    for (uint32_t at = 0; at < fw->part[0].table && at < cache.count; at++) {
        count[cache.mark[at]]++;
        if (at > 1 && cache.mark[at] != CPS_FW_UNKNOWN && own->words[at] != fw->words[at])
            fail_msg("0x%04x is %08x, mark %u, truly %08x", at, own->words[at], cache.mark[at],
                     fw->words[at]);
    }
    if (count[CPS_FW_HARDWARE] <= known || count[CPS_FW_UNKNOWN] >= unknown)
        fail_msg("%u words known, %u unknown", count[CPS_FW_HARDWARE], count[CPS_FW_UNKNOWN]);
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        assert_int_equal(cps_fw_handler(own, &own->part[0], id), block[4 * SECTION + id]);
    cps_fw_icache_deinit_(&cache);
    cps_fw_destroy(own);
    cps_fw_destroy(fw);
    cps_fw_destroy(donor);
    free(block);
}

static void recovered_words_are_the_true_ones(void **state)
{
    (void)state;
    check_recovered(FUNCTIONS, every_line, 300, 60);
    check_recovered(FUNCTIONS, two_of_three, 300, 60);
    /* more words than code may have moved by, so that branches behind them are looked for near */
    check_recovered(160, two_of_three, 800, 60);
}

/* A dump that says nothing of versions, and the same one whose scratch register 0x100 says 0x5a5 of
 * the image and 0x3c3 of its preemption routine: of each the low bits of the first word get those.
 * Words of the cache stay as they are but the first one, whose version the kernel took off. */
static void check_versions(uint32_t entry, bool is_set)
{
    struct cps_fw *fw = revision(false);
    struct cps_fw *own[2] = {NULL, NULL};
    for (unsigned i = 0; i < 2; i++) {
        uint32_t *block = dump_of(fw, two_of_three);
        block[4 * SECTION + 0x0f] = entry;
        block[5 * SECTION] = i ? 0x5a53c377 : 0;
        struct cps_fw_icache cache = read_block(block);
        assert_null(cps_fw_recover_(&cache, fw, &own[i]));
        cps_fw_icache_deinit_(&cache);
        free(block);
    }
    for (uint32_t at = 0; at < own[0]->part[0].table; at++) {
        uint32_t word = own[0]->words[at];
        uint32_t version = at ? 0x3c3 : 0x5a5;
        bool has_version = !at || (at == entry && is_set);
        assert_int_equal(own[1]->words[at], has_version ? (word & ~0xfffu) | version : word);
    }
    for (unsigned i = 0; i < 2; i++)
        cps_fw_destroy(own[i]);
    cps_fw_destroy(fw);
}

static void versions_are_those_that_the_boot_noted(void **state)
{
    (void)state;
    check_versions(2 * SET_WORDS, true);  /* line 2 is not in the cache */
    check_versions(3 * SET_WORDS, false); /* line 3 is */
    check_versions(0, false);
    check_versions(0x3fff, false); /* behind the image */
}

/* 3 lines of which the first word differs, 3 of which the last one does, other words between. */
static struct cps_fw *lines_alike(void)
{
    CPS_BUF text = {0};
    cps_buf_str(&text, "; a6xx microcode\n[016ee000]\n[#jumptbl]\nstart:\n");
    for (unsigned at = 2; at < 176; at++) {
        unsigned in[] = {at - 32, at - 72, at - 112, at - 144};
        if (in[0] < 24 || in[1] < 24)
            cps_buf_printf(&text, at % 40 == 32 ? "mov $04, 0x%x\n" : "nop\n", at);
        else if (in[2] < 24 || in[3] < 24)
            cps_buf_printf(&text, in[2] == 23 || in[3] == 23 ? "mov $06, 0x%x\n" : "nop\n", at);
        else
            cps_buf_printf(&text, "mov $05, 0x%x\n", at);
    }
    cps_buf_str(&text, ".align 32\njumptbl:\n.jumptbl #start\n");
    return load(cps_buf_text(&text));
}

/* Where code of a dump is in an image: the line and those beside it decide, up to both ends. */
static void a_line_is_where_it_alone_can_be(void **state)
{
    static const struct {
        bool (*has)(uint32_t);
        uint32_t pc;
        bool found;
    } rows[] = {{fourth_to_sixth, 40, true},           {fourth_to_sixth, 47, true},
                {fourteenth_to_sixteenth, 120, true},  {fourteenth_to_sixteenth, 127, true},
                {fourth_to_sixth, 39 - 8, false},      {fourth_to_sixth, 56, false},
                {fourth_to_sixth, 48, false},          {fifth, 40, false},
                {fourteenth_to_sixteenth, 112, false}, {two_of_three, 2 * SET_WORDS, false}};
    struct cps_fw *fw = lines_alike();
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint32_t *block = dump_of(fw, rows[i].has);
        struct cps_fw_icache cache = read_block(block);
        uint32_t at = CPS_FW_NONE;
        if (cps_fw_icache_locate_(&cache, fw, rows[i].pc, &at) != rows[i].found)
            fail_msg("row %zu: 0x%x", i, (unsigned)at);
        assert_true(!rows[i].found || at == rows[i].pc);
        cps_fw_icache_deinit_(&cache);
        free(block);
    }
    cps_fw_destroy(fw);
}

/* The handler that begins nearest in front; of packets that share one, the first packet. */
static void the_handler_before_a_place(void **state)
{
    static const struct {
        uint32_t pc;
        int id;
    } rows[] = {{59, -1}, {60, 5},  {99, 5},  {100, 0}, {150, 0},
                {199, 0}, {200, 9}, {999, 9}, {1000, 1}};
    uint32_t table[CPS_FW_TABLE_SIZE];
    (void)state;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        table[id] = 1000;
    table[0] = table[7] = 100;
    table[5] = table[127] = 60;
    table[9] = table[10] = 200;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(cps_fw_handler_before_(table, rows[i].pc), rows[i].id);
    assert_int_equal(cps_fw_default_handler_(table), 1000);
    table[127] = 10;
    assert_int_equal(cps_fw_handler_before_(table, 59), 127);
}

/* Tags that no cache has, and code that is not of the dump's family. */
static void what_cannot_be_is_refused(void **state)
{
    static const struct {
        uint32_t at, tag;
        const char *said;
    } wrong[] = {
        {0, 1u << 20, "a state that no dump has"},
        {1, 2u << 20 | 0x3ffff, "an address beyond any image"},
        {0, 2u << 20 | 1u << 25, "a state that no dump has"},
    };
    struct cps_fw *fw = revision(false);
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        uint32_t *block = dump_of(fw, every_line);
        struct cps_fw_icache cache;
        block[SECTION + wrong[i].at] = wrong[i].tag;
        struct cps_err *err = cps_fw_icache_read_(block, 6 * SECTION, &cache);
        assert_non_null(err);
        assert_non_null(strstr(err->message, wrong[i].said));
        cps_err_free(err);
        cps_fw_icache_deinit_(&cache);
        free(block);
    }
    uint32_t *block = dump_of(fw, every_line);
    struct cps_fw_icache cache = read_block(block);
    struct cps_fw *own = NULL;
    struct cps_fw *other = load("; a6xx microcode\n[016ee000]\n[#jumptbl]\nwaitin\nmov $01, $data\n"
                                ".align 32\njumptbl:\n.jumptbl #jumptbl\n");
    struct cps_err *err = cps_fw_recover_(&cache, other, &own);
    assert_non_null(err);
    assert_non_null(strstr(err->message, "too different"));
    cps_err_free(err);
    cps_fw_icache_deinit_(&cache);
    cps_fw_destroy(other);
    cps_fw_destroy(fw);
    free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_where_their_tags_say),
        cmocka_unit_test(recovered_words_are_the_true_ones),
        cmocka_unit_test(versions_are_those_that_the_boot_noted),
        cmocka_unit_test(a_line_is_where_it_alone_can_be),
        cmocka_unit_test(the_handler_before_a_place),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests_name("recover", tests, NULL, NULL);
}
