/* SPDX-License-Identifier: MIT
 * Firmware containers: what is found in images made here word by word, whole, cut and hostile. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "tests/lib/fwcheck.h"
#include "isa/base/le.h"

#define MAX 2048

/* A file under construction, in dwords; word 0 is the leading one. */
struct file {
    uint32_t words[MAX];
    size_t count;
};

static void add(struct file *f, uint32_t word)
{
    assert_true(f->count < MAX);
    f->words[f->count++] = word;
}

static void fill(struct file *f, size_t image_count, uint32_t word)
{
    while (f->count < image_count + 1)
        add(f, word);
}

static void add_table(struct file *f, uint32_t handler)
{
    for (unsigned i = 0; i < CPS_FW_TABLE_SIZE; i++)
        add(f, i == 0x10 ? handler : 4);
}

static struct cps_err *load(const struct file *f, size_t bytes, unsigned gen, struct cps_fw **ret)
{
    uint8_t data[MAX * 4];
    for (size_t i = 0; i < f->count; i++)
        cps_put_le32(data + 4 * i, f->words[i]);
    /* A copy of the exact size, so that a sanitizer sees reads behind it. */
    uint8_t *exact = malloc(bytes ? bytes : 1);
    assert_non_null(exact);
    memcpy(exact, data, bytes);
    struct cps_err *err = cps_fw_parse("x.fw", exact, bytes, gen, ret);
    free(exact);
    return err;
}

static struct cps_fw *load_all(const struct file *f, unsigned gen)
{
    struct cps_fw *fw = NULL;
    assert_null(load(f, f->count * 4, gen, &fw));
    return fw;
}

/* An image of `size` words with its table at `table`. */
static void add_image(struct file *f, uint32_t first, uint32_t nop, uint32_t table)
{
    size_t start = f->count;
    add(f, first);
    add(f, nop | table);
    while (f->count < start + table)
        add(f, nop);
    add_table(f, 6);
}

static void make_a5xx(struct file *f, bool me)
{
    *f = (struct file){0};
    add(f, 0);
    add_image(f, 0x005ff123, 0, 64);
    f->words[1 + 6] = me ? 0x305d0838 : 0x88050835; /* or $addr, $02, 0x838 / mov $05, 0x835 */
}

static void make_a6xx(struct file *f, bool lpac)
{
    *f = (struct file){0};
    add(f, 0);
    add_image(f, lpac ? 0x016dc123 : 0x016ee123, 0x01000000, 0x43);
    if (!lpac)
        return;
    fill(f, 0xc8, 0x01000000); /* 0x43 + 0x80, aligned to 8 */
    add_image(f, 0x016dc045, 0x01000000, 0x30);
}

static void make_a7xx(struct file *f)
{
    *f = (struct file){0};
    add(f, 0);
    add_image(f, 0x01740168, 0x01000000, 0x50);
    f->words[1 + 1] = 0x01000000 + 0x50 + 0x80 + 0x60 + 0x80 + 0x40 + 0x80 + 4;
    f->words[1 + 2] = 0x01740139;
    f->words[1 + 3] = 0x01000050;
    add_image(f, 0x01740139, 0x01000000, 0x60);
    add_image(f, 0x01740055, 0x01000000, 0x40);
    fill(f, f->count - 1 + 4, 0x30383037);
}

static void check_part(const struct cps_fw *fw, unsigned i, enum cps_fw_role role, uint32_t start,
                       uint32_t size, uint32_t table)
{
    assert_true(i < fw->part_count);
    assert_int_equal(fw->part[i].role, role);
    assert_int_equal(fw->part[i].start, start);
    assert_int_equal(fw->part[i].size, size);
    assert_int_equal(fw->part[i].table, table);
    assert_int_equal(cps_fw_handler(fw, &fw->part[i], 0x10), 6);
    assert_int_equal(cps_fw_handler(fw, &fw->part[i], 0x11), 4);
    assert_int_equal(cps_fw_handler(fw, &fw->part[i], 128), CPS_FW_NONE);
}

static void test_a5xx(void **state)
{
    struct file f;
    (void)state;
    for (int me = 0; me < 2; me++) {
        make_a5xx(&f, me);
        struct cps_fw *fw = load_all(&f, 0);
        assert_int_equal(fw->id, 0x5ff);
        assert_int_equal(fw->version, 0x123);
        assert_int_equal(fw->gen, CPS_A5XX);
        assert_int_equal(fw->layout, me ? CPS_LAYOUT_A5XX_ME : CPS_LAYOUT_A5XX_PFP);
        assert_null(fw->assumed);
        assert_int_equal(fw->part_count, 1);
        check_part(fw, 0, me ? CPS_FW_ME : CPS_FW_PFP, 0, 64 + 128, 64);
        assert_true(fwcheck_listing(fw));
        cps_fw_destroy(fw);
    }
}

/* An image that looks for neither's packet table is a PFP's if it starts indirect buffers: writes
 * control registers 0x0b0 to 0x0b2 or 0x0b4 to 0x0b6. */
static void test_who_starts_buffers(void **state)
{
    static const struct {
        const char *code;
        bool is_pfp;
    } rows[] = {{"cwrite $02, [$00 + 0x0af]", false}, {"cwrite $02, [$00 + 0x0b0]", true},
                {"cwrite $02, [$00 + 0x0b3]", false}, {"cwrite $02, [$00 + 0x0b2]", true},
                {"cwrite $02, [$00 + 0x0b4]", true},  {"cwrite $02, [$00 + 0x0b6]", true},
                {"cwrite $02, [$00 + 0x0b7]", false}, {"cwrite $02, [$01 + 0x0b0]", false},
                {"cread $02, [$00 + 0x0b0]", false},  {"nop", false}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text),
                 "; a5xx microcode\n[005ff123]\n[00000000]\n%s\nwaitin\nmov $01, $data\n",
                 rows[i].code);
        struct cps_fw *fw = fwcheck_assemble(text, CPS_A5XX, 0);
        assert_non_null(fw);
        if (fw->part[0].role != (rows[i].is_pfp ? CPS_FW_PFP : CPS_FW_ME))
            fail_msg("%s", rows[i].code);
        cps_fw_destroy(fw);
    }
}

/* A table is taken for one if half of its words point to code in front of it. */
static void test_half_a_table(void **state)
{
    static const struct {
        unsigned first, end; /* the words that do */
        bool is_table;
    } rows[] = {{0, 64, true},  {0, 63, false}, {64, 128, true}, {65, 128, false},
                {32, 96, true}, {0, 128, true}, {1, 64, false},  {0, 0, false}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct file f;
        make_a6xx(&f, false);
        for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
            f.words[1 + 0x43 + id] = id >= rows[i].first && id < rows[i].end ? 0x42 : 0x43;
        struct cps_fw *fw = load_all(&f, 0);
        assert_int_equal(fw->part[0].table, rows[i].is_table ? 0x43 : CPS_FW_NONE);
        cps_fw_destroy(fw);
    }
}

static void test_a6xx(void **state)
{
    struct file f;
    (void)state;
    make_a6xx(&f, false);
    struct cps_fw *fw = load_all(&f, 0);
    assert_int_equal(fw->gen, CPS_A6XX);
    assert_int_equal(fw->part_count, 1);
    check_part(fw, 0, CPS_FW_SQE, 0, 0x43 + 128, 0x43);
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);

    make_a6xx(&f, true);
    fw = load_all(&f, 0);
    assert_int_equal(fw->id, 0x6dc);
    assert_int_equal(fw->part_count, 2);
    check_part(fw, 0, CPS_FW_SQE, 0, 0xc8, 0x43);
    check_part(fw, 1, CPS_FW_LPAC, 0xc8, 0x30 + 128, 0x30);
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);
}

static void test_a7xx(void **state)
{
    struct file f;
    (void)state;
    make_a7xx(&f);
    struct cps_fw *fw = load_all(&f, 0);
    assert_int_equal(fw->gen, CPS_A7XX);
    assert_int_equal(fw->layout, CPS_LAYOUT_A7XX);
    assert_int_equal(fw->part_count, 3);
    check_part(fw, 0, CPS_FW_SQE, 0, 0xd0, 0x50);
    check_part(fw, 1, CPS_FW_BV, 0xd0, 0xe0, 0x60);
    check_part(fw, 2, CPS_FW_LPAC, 0x1b0, 0xc0 + 4, 0x40);
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);
}

/* Wherever a file is cut, it is refused or read within its bounds. */
static void test_truncated(void **state)
{
    struct file f;
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        if (kind < 2)
            make_a5xx(&f, kind);
        else if (kind == 2)
            make_a6xx(&f, true);
        else
            make_a7xx(&f);
        for (size_t count = 0; count < f.count; count++) {
            struct cps_fw *fw = NULL;
            struct cps_err *err = load(&f, count * 4, 0, &fw);
            assert_true(err ? count < 3 : count >= 3);
            assert_true(err || fwcheck_listing(fw));
            cps_err_free(err);
            cps_fw_destroy(fw);
        }
    }
}

static void test_hostile_offsets(void **state)
{
    static const uint32_t tables[] = {0,        1,        2,    0xc2,     0xc3,
                                      0xc4,     0x7f,     0x80, 0x43 + 1, 0x43 - 1,
                                      0xffffff, 0xffff80, 0x42, 0x100,    0x7fffff};
    (void)state;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        struct file f;
        make_a6xx(&f, false);
        f.words[1 + 1] = 0x01000000 | tables[i];
        struct cps_fw *fw = load_all(&f, 0);
        assert_int_equal(fw->part_count, 1);
        if (fw->part[0].table != CPS_FW_NONE)
            assert_true(fw->part[0].table + CPS_FW_TABLE_SIZE <= fw->count);
        assert_true(fwcheck_listing(fw));
        cps_fw_destroy(fw);
    }
}

/* Entries that no label can stand for: outside the image, in the table, on its own first word. */
static void test_hostile_table(void **state)
{
    static const uint32_t entries[] = {0xffffffff, 0x43, 0x44, 0xc2, 0xc3, 0, 1, 0x01000000};
    (void)state;
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        struct file f;
        make_a6xx(&f, false);
        f.words[1 + 0x43 + 0x20] = entries[i];
        f.words[1 + 0x10] = 0xc8000033; /* a branch to the table, too */
        struct cps_fw *fw = load_all(&f, 0);
        uint32_t handler = cps_fw_handler(fw, &fw->part[0], 0x20);
        assert_int_equal(handler, entries[i] < fw->count ? entries[i] : CPS_FW_NONE);
        assert_true(fwcheck_listing(fw));
        cps_fw_destroy(fw);
    }
}

static void test_sizes(void **state)
{
    static const struct {
        size_t bytes;
        const char *message;
    } rows[] = {
        {0, "x.fw: offset 0x0: file is empty, expected a firmware image"},
        {1, "x.fw: offset 0x0: 1 bytes at the end, expected whole dwords"},
        {4, "x.fw: offset 0x4: file ends, expected a zero dword, a version and a table offset"},
        {8, "x.fw: offset 0x8: file ends, expected a zero dword, a version and a table offset"},
        {103, "x.fw: offset 0x64: 3 bytes at the end, expected whole dwords"},
    };
    struct file f;
    (void)state;
    make_a6xx(&f, false);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cps_fw *fw = NULL;
        struct cps_err *err = load(&f, rows[i].bytes, 0, &fw);
        assert_non_null(err);
        assert_int_equal(err->code, CPS_ERR_INPUT);
        assert_string_equal(err->message, rows[i].message);
        assert_null(fw);
        cps_err_free(err);
    }
}

static void check_load_error(const char *path, enum cps_err_code code, const char *part)
{
    struct cps_fw *fw = NULL;
    struct cps_err *err = cps_fw_load(path, 0, &fw);
    assert_non_null(err);
    assert_int_equal(err->code, code);
    assert_non_null(strstr(err->message, part));
    cps_err_free(err);
}

static void test_files(void **state)
{
    (void)state;
    check_load_error("/nonexistent.fw", CPS_ERR_OS, "/nonexistent.fw: cannot open");
    check_load_error("/", CPS_ERR_OS, "/: cannot read");
    check_load_error("/dev/null", CPS_ERR_INPUT, "file is empty");
    check_load_error("/dev/zero", CPS_ERR_INPUT, "file goes on, expected at most");
}

static void test_idents(void **state)
{
    (void)state;
    assert_string_equal(cps_target_find(0x6ee)->name, "a630 family");
    assert_int_equal(cps_target_find(0x7aa)->gen, CPS_A6XX);
    assert_int_equal(cps_target_find(0x520)->layout, CPS_LAYOUT_A7XX_GEN3);
    assert_int_equal(cps_target_find(0x500)->gen, CPS_A8XX);
    assert_null(cps_target_find(0x123));
    assert_string_equal(cps_fw_role_name(CPS_FW_LPAC), "lpac");
}

/* An id that nobody knows: the words say what it is; the caller may know better. */
/* Instructions that do something, in words of the file from @p first on: mov of a5xx and a6xx. */
static void put_code(struct file *f, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        f->words[i] = 0x88050835;
}

static void is_refused(const struct file *f)
{
    struct cps_fw *fw = NULL;
    struct cps_err *err = load(f, f->count * 4, 0, &fw);
    assert_non_null(err);
    assert_int_equal(err->code, CPS_ERR_INPUT);
    assert_non_null(strstr(err->message, "has no known firmware id"));
    cps_err_free(err);
}

/* Of 64 words in front of the table @p good are instructions, @p busy of them no nops. The rest is
 * what no generation has. */
static void make_code(struct file *f, unsigned good, unsigned busy)
{
    *f = (struct file){0};
    add(f, 0);
    add_image(f, 0x01abc001, 0x01000000, 2 + 64);
    put_code(f, 3, 3 + busy);
    for (unsigned i = good; i < 64; i++)
        f->words[3 + i] = 0xfbadc0de;
}

/* An id that no row has is taken from code alone: seven words in eight are instructions, and a
 * quarter does something. */
static void test_code_is_the_evidence(void **state)
{
    static const struct {
        unsigned good, busy;
        bool is_taken;
    } rows[] = {{64, 64, true},  {56, 56, true}, {55, 55, false}, {64, 16, true},  {64, 17, true},
                {64, 15, false}, {64, 0, false}, {57, 16, true},  {56, 15, false}, {0, 0, false}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct file f;
        make_code(&f, rows[i].good, rows[i].busy);
        if (!rows[i].is_taken) {
            is_refused(&f);
            continue;
        }
        struct cps_fw *fw = load_all(&f, 0);
        assert_int_equal(fw->gen, CPS_A6XX);
        assert_string_equal(fw->assumed,
                            "firmware id 0xabc is not known, taken for a6xx from its contents");
        cps_fw_destroy(fw);
    }
    struct file f = {
        0}; /* a table and next to no words in front of it, none of which does anything */
    add(&f, 0);
    add_image(&f, 0x01abc001, 0x01000000, 5);
    is_refused(&f);
}

/* Files of other kinds, as words: what their first bytes and their contents have in common with an
 * image of a5xx is zeros. --gen takes them all the same. */
static void test_other_files_are_refused(void **state)
{
    enum { ZEROS, COUNTS, SMALL, ROM, RANDOM, TEXT, TABLE_ONLY, KINDS };
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        struct file f = {0};
        uint32_t random = 12345;
        for (uint32_t i = 0; i < 1500; i++) {
            random = random * 1664525 + 1013904223;
            add(&f, kind == ZEROS    ? 0
                    : kind == COUNTS ? i
                    : kind == SMALL  ? random >> 23
                    : kind == TEXT   ? 0x20202020 + (random >> 3 & 0x1f1f1f1f)
                                     : random);
        }
        if (kind == SMALL) /* which looks as if a table began there */
            f.words[2] = 700;
        if (kind == ROM) { /* "55 aa", a size, a jump: the start of an expansion ROM */
            f.words[0] = 0xeb80aa55;
            f.words[1] = 0x0000194b;
            f.words[2] = 0;
        }
        if (kind == TABLE_ONLY) {
            f.words[1] = 0x00000000;
            f.words[2] = 1000;
            for (unsigned i = 0; i < 128; i++)
                f.words[1 + 1000 + i] = i;
        }
        is_refused(&f);
        struct cps_fw *fw = load_all(&f, CPS_A5XX);
        assert_non_null(strstr(fw->assumed, "taken for a5xx as was asked for"));
        cps_fw_destroy(fw);
    }
}

static void test_unknown_id(void **state)
{
    struct file f;
    (void)state;
    make_a7xx(&f);
    f.words[1] = 0x01abc001;
    for (unsigned i = 8; i < 0x40; i++)
        f.words[i] = 0x70020000 + i; /* mov on a7xx, min on a6xx */
    for (unsigned i = 0x40; i < 0x48; i++)
        f.words[i] = 0x98431012; /* shl on a7xx, nothing on a6xx */
    struct cps_fw *fw = load_all(&f, 0);
    assert_int_equal(fw->gen, CPS_A7XX);
    assert_string_equal(fw->assumed,
                        "firmware id 0xabc is not known, taken for a7xx from its contents");
    assert_int_equal(fw->part_count, 3);
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);

    fw = load_all(&f, CPS_A6XX);
    assert_int_equal(fw->gen, CPS_A6XX);
    assert_string_equal(fw->assumed,
                        "firmware id 0xabc is not known, taken for a6xx as was asked for");
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);

    make_a5xx(&f, false);
    f.words[1] = 0x00abc001;
    put_code(&f, 3, 64 + 1);
    fw = load_all(&f, 0);
    assert_int_equal(fw->gen, CPS_A5XX);
    cps_fw_destroy(fw);
}

/* A known id wins over contents only if the word looks like a version word of its generation. */
static void test_lead_and_top_byte(void **state)
{
    struct file f;
    (void)state;
    make_a6xx(&f, false);
    f.words[0] = 0xdeadbeef;
    f.words[1] = 0x995ff001;
    put_code(&f, 3, 0x43 + 1);
    struct cps_fw *fw = load_all(&f, 0);
    assert_int_equal(fw->lead, 0xdeadbeef);
    assert_int_equal(fw->gen, CPS_A6XX);
    assert_non_null(fw->assumed);
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);
}

/* What a listing looks like, once in full. */
static void test_listing(void **state)
{
    static const char want[] =
        "; a6xx microcode\n"
        "; Version: 016ee123\n"
        "; Firmware: a630 family, id 6ee, version 123\n"
        "\n"
        "        [016ee123]                                      ; 0000 016ee123  nop 0x6ee123\n"
        "        [#jumptbl]                                      ; 0001 0100000b\n"
        "        mov $usraddr, 0x8e07                            ; 0002 881e8e07  RB_CCU_CNTL\n"
        "        mov $addr, 0x00a0 << 24                         ; 0003 8b1d00a0  |NRT_ADDR\n";
    struct file f = {0};
    CPS_BUF text = {0};
    (void)state;
    add(&f, 0);
    add_image(&f, 0x016ee123, 0x01000000, 11);
    f.words[1 + 2] = 0x881e8e07;
    f.words[1 + 3] = 0x8b1d00a0;
    f.words[1 + 5] = 0xd4000007; /* call */
    f.words[1 + 4] = 0xc8000004; /* jump */
    f.words[1 + 9] = 0xfbadc0de;
    struct cps_fw *fw = load_all(&f, 0);
    assert_null(cps_fw_listing(fw, NULL, &text));
    assert_memory_equal(text.data, want, sizeof(want) - 1);
    assert_non_null(strstr(text.data, "\nCP_NOP:\n        nop  "));
    assert_non_null(strstr(text.data, "        call #fxn0007  "));
    assert_non_null(strstr(text.data, "\nfxn0007:\n        nop  "));
    assert_non_null(strstr(text.data, "        jump #l0008  "));
    assert_non_null(strstr(text.data, "\nl0008:\n        nop  "));
    assert_non_null(strstr(text.data, "        [fbadc0de]  "));
    assert_non_null(strstr(text.data, "\njumptbl:\n.jumptbl\n"));
    assert_true(fwcheck_listing(fw));
    cps_fw_destroy(fw);
}

/* Where setsecure goes when it succeeds is only its own target: a jump stands behind it. */
static void test_compares_behind_setsecure(void **state)
{
    static const uint32_t words[] = {
        0,          0x016ee187, 0x01000000, 0xec000000, /* setsecure $02, 5 */
        0xc8000005, 0x01000000, 0x88010005, 0xd8000000, /* jump 8; nop; 5: mov $01, 0x5; waitin */
        0x981f0806, 0xc8000000, 0x01000000,             /* mov $01, $data; 8: jump 8; nop */
    };
    struct file f = {.count = sizeof(words) / 4};
    struct cps_fw_change *change = NULL;
    size_t count = 0;
    (void)state;
    memcpy(f.words, words, sizeof(words));
    struct cps_fw *a = load_all(&f, 0);
    f.words[6]++;
    struct cps_fw *b = load_all(&f, 0);
    assert_null(cps_fw_compare(a, a, &change, &count));
    assert_int_equal(count, 0);
    free(change);
    assert_null(cps_fw_compare(a, b, &change, &count));
    assert_int_equal(count, 1);
    assert_int_equal(change[0].a, 5);
    assert_int_equal(change[0].b, 5);
    free(change);
    cps_fw_destroy(a);
    cps_fw_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a5xx),
        cmocka_unit_test(test_a6xx),
        cmocka_unit_test(test_a7xx),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_hostile_offsets),
        cmocka_unit_test(test_hostile_table),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_idents),
        cmocka_unit_test(test_unknown_id),
        cmocka_unit_test(test_code_is_the_evidence),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_lead_and_top_byte),
        cmocka_unit_test(test_who_starts_buffers),
        cmocka_unit_test(test_half_a_table),
        cmocka_unit_test(test_listing),
        cmocka_unit_test(test_compares_behind_setsecure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
