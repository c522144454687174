/* SPDX-License-Identifier: MIT
 * The ELF form: what comes back from it, and that damaged files are refused. */
#define _GNU_SOURCE /* memmem() */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "fw/image/elf_form.h"
#include "fw/image/private.h"
#include "tests/lib/fwcheck.h"
#include "isa/base/le.h"

static const char source[] = "; a7xx microcode\n"
                             ".lead 0x12345678\n"
                             "[01740168]\n"
                             "[01000000]\n"
                             "[01740139]\n"
                             "[#jumptbl]\n"
                             "start: mov $02, 0x1\n"
                             "jump #start\n"
                             "nop\n"
                             "CP_NOP: waitin\n" /* line 10, dword 7 */
                             "mov $01, $data\n"
                             ".align 32\n"
                             "jumptbl: .jumptbl\n"
                             ".section BV\n"
                             "[01740139]\n"
                             "[#jumptbl]\n"
                             "call #helper\n"
                             "nop\n"
                             "helper: ret\n" /* line 19, dword 4 */
                             "nop\n"
                             "jumptbl: .jumptbl #helper\n"
                             ".section LPAC\n"
                             "[01740055]\n"
                             "[#jumptbl]\n"
                             "start: waitin\n"
                             "mov $01, $data\n"
                             "jumptbl: .jumptbl #start\n"
                             "tail: [30383037]\n"
                             "end:\n";

static void assemble(struct cps_program *program, struct cps_buf *elf)
{
    assert_null(cps_program_assemble("dir/a7.afuc", source, sizeof(source) - 1, 0, program));
    assert_null(cps_elf_write(program, elf));
}

static void check_symbol(const struct cps_fw_symbol *a, const struct cps_fw_symbol *b)
{
    assert_string_equal(a->name, b->name);
    assert_int_equal(a->part, b->part);
    assert_int_equal(a->dword, b->dword);
}

static void check_debug(const struct cps_fw_debug *a, const struct cps_fw_debug *b)
{
    assert_int_equal(a->symbol_count, b->symbol_count);
    for (size_t i = 0; i < a->symbol_count; i++)
        check_symbol(&a->symbols[i], &b->symbols[i]);
    assert_int_equal(a->line_count, b->line_count);
    assert_memory_equal(a->lines, b->lines, a->line_count * sizeof(*a->lines));
    assert_int_equal(a->file_count, b->file_count);
    assert_string_equal(a->files[0], b->files[0]);
}

static void test_everything_comes_back(void **state)
{
    struct cps_program program;
    struct cps_program again;
    CPS_BUF elf = {0};
    (void)state;
    assemble(&program, &elf);
    assert_null(cps_elf_read("a7.elf", elf.data, elf.size, &again));
    assert_int_equal(again.gen, CPS_A7XX);
    assert_int_equal(again.image.count, program.image.count);
    assert_memory_equal(again.image.words, program.image.words, 4 * program.image.count);
    assert_int_equal(again.part_count, 3);
    assert_memory_equal(again.part, program.part, sizeof(program.part));
    check_debug(&again.debug, &program.debug);
    cps_program_deinit(&program);
    cps_program_deinit(&again);
}

/* The same parts as in the raw file, and places that have names and lines. */
static void test_firmware(void **state)
{
    struct cps_program program;
    struct cps_fw *fw = NULL;
    struct cps_fw *raw = NULL;
    uint32_t offset = 0;
    CPS_BUF elf = {0};
    (void)state;
    assemble(&program, &elf);
    assert_null(cps_fw_parse("a7.elf", elf.data, elf.size, 0, &fw));
    assert_null(cps_fw_parse("a7.fw", program.image.words, 4 * program.image.count, 0, &raw));
    assert_int_equal(fw->count, raw->count);
    assert_int_equal(fw->lead, 0x12345678);
    assert_memory_equal(fw->words, raw->words, 4 * fw->count);
    assert_int_equal(fw->part_count, raw->part_count);
    assert_memory_equal(fw->part, raw->part, sizeof(fw->part));
    assert_int_equal(fw->layout, raw->layout);
    assert_true(fwcheck_listing(fw));

    assert_string_equal(cps_fw_symbol_at(fw, 0, 8, &offset)->name, "CP_NOP");
    assert_int_equal(offset, 1);
    assert_int_equal(cps_fw_symbol_at(fw, 0, 8, NULL)->packet, 0x10);
    assert_null(cps_fw_symbol_at(fw, 0, 3, &offset));
    assert_null(cps_fw_symbol_at(fw, 3, 0, &offset));
    assert_int_equal(cps_fw_line_at(fw, 0, 7)->line, 10);
    assert_int_equal(cps_fw_line_at(fw, 1, 4)->line, 19);
    assert_int_equal(cps_fw_line_at(fw, 1, 6 + 127)->line, 21);
    assert_null(cps_fw_line_at(fw, 2, fw->part[2].size));
    assert_string_equal(fw->debug.files[cps_fw_line_at(fw, 0, 0)->file], "dir/a7.afuc");
    assert_int_equal(cps_fw_symbol_find(fw, "start")->part, 0);
    assert_int_equal(cps_fw_symbol_find(fw, "lpac:start")->part, 2);
    assert_int_equal(cps_fw_symbol_find(fw, "helper")->dword, 4);
    assert_null(cps_fw_symbol_find(fw, "bv:start"));
    assert_null(cps_fw_symbol_find(fw, "pfp:start"));
    assert_null(cps_fw_symbol_find(raw, "start"));
    assert_null(cps_fw_symbol_at(raw, 0, 0, NULL));
    assert_null(cps_fw_line_at(raw, 0, 0));
    cps_program_deinit(&program);
    cps_fw_destroy(fw);
    cps_fw_destroy(raw);
}

/* Whatever is read from damaged bytes is whole: its listing assembles again. */
static bool try_bytes(const char *bytes, size_t size)
{
    struct cps_fw *fw = NULL;
    char *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    struct cps_err *err = cps_fw_parse("bad.elf", exact, size, 0, &fw);
    free(exact);
    if (err) {
        assert_true(err->code == CPS_ERR_INPUT);
        assert_non_null(strstr(err->message, "bad.elf: offset 0x"));
        assert_null(strchr(err->message, '\n'));
    } else {
        assert_true(fwcheck_listing(fw));
    }
    bool accepted = !err;
    cps_err_free(err);
    cps_fw_destroy(fw);
    return accepted;
}

static void test_truncated(void **state)
{
    struct cps_program program;
    CPS_BUF elf = {0};
    (void)state;
    assemble(&program, &elf);
    for (size_t size = 0; size < elf.size; size++)
        assert_false(try_bytes(elf.data, size));
    assert_true(try_bytes(elf.data, elf.size));
    cps_program_deinit(&program);
}

static void test_flipped(void **state)
{
    struct cps_program program;
    CPS_BUF elf = {0};
    (void)state;
    assemble(&program, &elf);
    for (size_t at = 0; at < elf.size; at++) {
        for (unsigned bit = 0; bit < 8; bit += at < 64 ? 1 : 3) {
            elf.data[at] ^= (char)(1 << bit);
            try_bytes(elf.data, elf.size);
            elf.data[at] ^= (char)(1 << bit);
        }
    }
    cps_program_deinit(&program);
}

/* Offsets from here on count in the section that marks our files. */
#define IN_MARK 0x10000u

static size_t place_of(const struct cps_buf *elf, size_t offset)
{
    static const uint8_t mark[] = {1, 0, 0, 0, 7, 0, 0, 0}; /* version, generation */
    size_t at = 0;
    if (offset < IN_MARK)
        return offset;
    while (memcmp(elf->data + at, mark, sizeof(mark)) != 0)
        at += 4;
    return at + offset - IN_MARK;
}

static const struct {
    const char *claim;
    size_t offset;
    uint32_t word; /* written there */
    const char *message;
} damages[] = {
    {"ELF64", 4, 0x00010102, "offset 0x4: expected a whole ELF file of class 32"},
    {"big-endian", 4, 0x00010201, "offset 0x5: expected a little-endian ELF file"},
    {"ARM", 18, 40, "this is an ELF image of another processor of the chip"},
    {"generation 4", IN_MARK + 4, 4, "expected a generation from 5 to 8"},
    {"generation 22", IN_MARK + 4, 22, "expected a generation from 5 to 8"},
    {"version 2", IN_MARK, 2, "expected version 1 of .cpscope"},
    {"no sections", 46, 0, "expected"},
};

static void test_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        struct cps_program program;
        struct cps_fw *fw = NULL;
        CPS_BUF elf = {0};
        assemble(&program, &elf);
        cps_put_le32((uint8_t *)elf.data + place_of(&elf, damages[i].offset), damages[i].word);
        struct cps_err *err = cps_fw_parse("a7.elf", elf.data, elf.size, 0, &fw);
        if (!err || !strstr(err->message, damages[i].message))
            fail_msg("%s: %s", damages[i].claim, err ? err->message : "accepted");
        cps_err_free(err);
        cps_program_deinit(&program);
    }
}

static void put_at(struct cps_buf *elf, const char *old, const char *new)
{
    char *at = memmem(elf->data, elf->size, old, strlen(old));
    assert_non_null(at);
    assert_int_equal(strlen(old), strlen(new));
    memcpy(at, new, strlen(new));
}

/* Sections are found by their names, which begin as they should and end there. */
static void test_names_of_sections(void **state)
{
    static const char *const names[] = {".text",       ".jumptbl",      ".text.bv", ".text.lpac",
                                        ".cpscope",    ".strtab",       ".symtab",  ".debug_line",
                                        ".debug_info", ".debug_abbrev", ".shstrtab"};
    struct cps_program program;
    struct cps_fw *fw = NULL;
    CPS_BUF elf = {0};
    (void)state;
    assemble(&program, &elf);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        char name[32] = "";
        memcpy(name + 1, names[i], strlen(names[i]));
        if (!memmem(elf.data, elf.size, name, strlen(names[i]) + 2))
            fail_msg("%s", names[i]);
    }
    put_at(&elf, ".text.bv", ".text.xv");
    struct cps_err *err = cps_fw_parse("a7.elf", elf.data, elf.size, 0, &fw);
    assert_non_null(err);
    assert_non_null(strstr(err->message, "expected first .text, then .text.bv, .text.lpac"));
    assert_non_null(strstr(err->message, ", 32-byte aligned"));
    cps_err_free(err);
    cps_program_deinit(&program);
}

/* Pieces of the image may stand in any order in the table of sections: their addresses count. */
static void test_order_of_sections(void **state)
{
    enum { SHOFF = 0x20, HEADER = 40 };
    static const char text[] = "[016ee001]\n[01000000]\n.section BV\n[11111111]\n"
                               ".section LPAC\n[22222222]\n";
    static const unsigned orders[][3] = {{1, 2, 3}, {3, 2, 1}, {2, 3, 1}, {3, 1, 2}, {2, 1, 3}};
    (void)state;
    for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
        struct cps_program program, again;
        CPS_BUF elf = {0};
        uint8_t headers[4][HEADER];
        assert_null(cps_program_assemble("s.afuc", text, sizeof(text) - 1, CPS_A7XX, &program));
        assert_null(cps_elf_write(&program, &elf));
        char *table = elf.data + cps_le32((const uint8_t *)elf.data + SHOFF);
        memcpy(headers, table, sizeof(headers));
        for (unsigned k = 0; k < 3; k++)
            memcpy(table + (k + 1) * (size_t)HEADER, headers[orders[i][k]], HEADER);
        struct cps_err *err = cps_elf_read("s.elf", elf.data, elf.size, &again);
        if (err)
            fail_msg("order %zu: %s", i, err->message);
        assert_int_equal(again.image.count, program.image.count);
        assert_memory_equal(again.image.words, program.image.words, 4 * program.image.count);
        assert_int_equal(again.part_count, 3);
        cps_program_deinit(&again);
        cps_program_deinit(&program);
    }
}

static void test_magic(void **state)
{
    struct cps_fw *fw = NULL;
    (void)state;
    assert_true(cps_is_elf("\177ELF", 4));
    assert_true(cps_is_elf("\177ELF\1", 5));
    assert_false(cps_is_elf("\177ELF", 3));
    assert_false(cps_is_elf("\177ELG", 4));
    assert_false(cps_is_elf("", 0));
    struct cps_err *err = cps_fw_parse("s.elf", "\177ELF", 4, 0, &fw);
    assert_non_null(err);
    assert_non_null(strstr(err->message, "whole ELF file"));
    cps_err_free(err);
}

/* The entry of the symbol table for a label that is at @p value; its value is bytes 4 to 7. */
static uint8_t *symbol_at(struct cps_buf *elf, uint32_t value)
{
    enum { SHOFF = 0x20, SHENTSIZE = 0x2e, SHNUM = 0x30, SYMTAB = 2, SYMBOL = 16 };
    uint8_t *bytes = (uint8_t *)elf->data;
    for (unsigned i = 0; i < bytes[SHNUM]; i++) {
        uint8_t *header = bytes + cps_le32(bytes + SHOFF) + (size_t)i * bytes[SHENTSIZE];
        if (cps_le32(header + 4) != SYMTAB)
            continue;
        uint8_t *table = bytes + cps_le32(header + 16);
        for (uint32_t at = SYMBOL; at < cps_le32(header + 20); at += SYMBOL) {
            bool label = table[at + 14] < 0xf0 && !(table[at + 12] & 0xf & ~2);
            if (label && cps_le32(table + at) && cps_le32(table + at + 4) == value)
                return table + at;
        }
    }
    fail_msg("no symbol at 0x%x", (unsigned)value);
    return NULL;
}

/* A label is at a word of its part or behind the last one. */
static void test_places_of_symbols(void **state)
{
    static const struct {
        int32_t move;
        bool good;
    } moves[] = {{0, true},   {-4, true},  {4, false}, {1, false},
                 {-1, false}, {-2, false}, {5, false}};
    (void)state;
    for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
        struct cps_program program;
        struct cps_fw *fw = NULL;
        CPS_BUF elf = {0};
        assemble(&program, &elf);
        /* "end:", behind the last word of LPAC */
        uint32_t value = cps_elf_base_(2) + 4 * program.part[2].size;
        uint8_t *symbol = symbol_at(&elf, value);
        cps_put_le32(symbol + 4, value + (uint32_t)moves[i].move);
        struct cps_err *err = cps_fw_parse("a7.elf", elf.data, elf.size, 0, &fw);
        assert_int_equal(!err, moves[i].good);
        if (err)
            assert_non_null(strstr(err->message, "expected symbols at words of the image"));
        cps_err_free(err);
        cps_fw_destroy(fw);
        cps_program_deinit(&program);
    }
}

/* Parts without words have no unit and no lines. */
static void test_units(void **state)
{
    static const struct {
        const char *text;
        unsigned units;
    } rows[] = {{"[016ee001]\n[01000000]\n", 1},
                {"[016ee001]\n[01000000]\n.section BV\nnop\n.section LPAC\nnop\n", 3},
                {"[016ee001]\n[01000000]\n.section BV\na: .section LPAC\nb: nop\nend:\n", 2}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cps_program program;
        struct cps_dwarf dwarf = {0};
        assert_null(
            cps_program_assemble("s.afuc", rows[i].text, strlen(rows[i].text), CPS_A6XX, &program));
        cps_dwarf_write_(&program, &dwarf);
        const struct cps_buf *both[] = {&dwarf.info, &dwarf.line};
        for (unsigned k = 0; k < 2; k++) {
            unsigned units = 0; /* each begins with its length without that */
            for (size_t at = 0; at < both[k]->size; units++)
                at += 4 + (size_t)cps_le32((const uint8_t *)both[k]->data + at);
            assert_int_equal(units, rows[i].units);
        }
        cps_buf_deinit(&dwarf.abbrev);
        cps_buf_deinit(&dwarf.info);
        cps_buf_deinit(&dwarf.line);
        cps_program_deinit(&program);
    }
}

/* A raw file has a version and an offset at least. */
static void test_two_words(void **state)
{
    static const char *const texts[] = {"[016ee001]\n", "[016ee001]\n[01000000]\n"};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct cps_program program;
        struct cps_fw *fw = NULL;
        CPS_BUF elf = {0};
        assert_null(cps_program_assemble("s.afuc", texts[i], strlen(texts[i]), CPS_A6XX, &program));
        assert_null(cps_elf_write(&program, &elf));
        struct cps_err *err = cps_fw_parse("s.elf", elf.data, elf.size, 0, &fw);
        assert_int_equal(!err, i);
        if (err)
            assert_non_null(strstr(err->message, "image of 1 words, expected at least 2"));
        cps_err_free(err);
        cps_fw_destroy(fw);
        cps_program_deinit(&program);
    }
}

/* The examples of DWARF 4 (figures 22 and 23), and what the limits are: rows so many words and
 * lines behind the one before, as advance_pc, advance_line, copy. */
static const struct {
    uint32_t words;
    int32_t lines;
    const char *bytes;
} steps[] = {
    {127, 127, "\x02\x7f\x03\xff\x00\x01"},
    {128, -127, "\x02\x80\x01\x03\x81\x7f\x01"},
    {129, 128, "\x02\x81\x01\x03\x80\x01\x01"},
    {12857, -128, "\x02\xb9\x64\x03\x80\x7f\x01"},
    {2, 129, "\x02\x02\x03\x81\x01\x01"},
    {255, -129, "\x02\xff\x01\x03\xff\x7e\x01"},
    {256, 63, "\x02\x80\x02\x03\x3f\x01"},
    {16383, -64, "\x02\xff\x7f\x03\x40\x01"},
    {16384, 64, "\x02\x80\x80\x01\x03\xc0\x00\x01"},
    {1, -65, "\x02\x01\x03\xbf\x7f\x01"},
    {3, 8192, "\x02\x03\x03\x80\xc0\x00\x01"},
    {4, -8193, "\x02\x04\x03\xff\xbf\x7f\x01"},
};
enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

static void test_far_rows(void **state)
{
    struct cps_program program, again;
    struct cps_dwarf dwarf = {0};
    CPS_BUF text = {0}, elf = {0};
    uint32_t dword = 0, line = 1000000;
    (void)state;
    cps_buf_str(&text, "[016ee001]\n[01000000]\n");
    for (unsigned i = 0; i < 60000; i++)
        cps_buf_str(&text, "nop\n");
    assert_null(cps_program_assemble("s.afuc", text.data, text.size, CPS_A6XX, &program));
    program.debug.line_count = STEPS + 1;
    for (unsigned i = 0; i <= STEPS; i++) {
        program.debug.lines[i] = (struct cps_fw_line){0, dword, program.debug.lines[0].file, line};
        dword += i < STEPS ? steps[i].words : 0;
        line += (uint32_t)(i < STEPS ? steps[i].lines : 0);
    }
    cps_dwarf_write_(&program, &dwarf);
    for (unsigned i = 0; i < STEPS; i++) {
        /* a 0 in the middle of what is looked for: its length goes by the last byte, a 1 */
        size_t size = 0;
        while (size < 4 || steps[i].bytes[size - 1] != 1 || steps[i].bytes[size])
            size++;
        if (!memmem(dwarf.line.data, dwarf.line.size, steps[i].bytes, size))
            fail_msg("%u words, %d lines", (unsigned)steps[i].words, (int)steps[i].lines);
    }
    assert_null(cps_elf_write(&program, &elf));
    assert_null(cps_elf_read("s.elf", elf.data, elf.size, &again));
    check_debug(&again.debug, &program.debug);
    cps_buf_deinit(&dwarf.abbrev);
    cps_buf_deinit(&dwarf.info);
    cps_buf_deinit(&dwarf.line);
    cps_program_deinit(&program);
    cps_program_deinit(&again);
}

/* The ELF form beside the raw file: symbols and lines of this image only. */
static void test_symbols(void **state)
{
    struct cps_program program;
    struct cps_fw *raw = NULL;
    CPS_BUF elf = {0};
    (void)state;
    assemble(&program, &elf);
    assert_null(cps_fw_parse("a7.fw", program.image.words, 4 * program.image.count, 0, &raw));
    assert_null(cps_fw_symbols_parse(raw, "a7.elf", elf.data, elf.size));
    assert_int_equal(cps_fw_symbol_find(raw, "bv:helper")->dword, 4);
    assert_int_equal(cps_fw_symbol_find(raw, "CP_NOP")->packet, 0x10);
    assert_int_equal(cps_fw_line_at(raw, 1, 4)->line, 19);
    raw->words[9] ^= 1;
    struct cps_err *err = cps_fw_symbols_parse(raw, "a7.elf", elf.data, elf.size);
    assert_non_null(strstr(err->message, "a7.elf: offset 0x0: dword 0x0009 is 0x"));
    cps_err_free(err);
    raw->words[9] ^= 1;
    raw->count--;
    err = cps_fw_symbols_parse(raw, "a7.elf", elf.data, elf.size);
    assert_non_null(strstr(err->message, "dwords, expected "));
    cps_err_free(err);
    raw->count++;
    raw->part[1].size--;
    err = cps_fw_symbols_parse(raw, "a7.elf", elf.data, elf.size);
    assert_non_null(strstr(err->message, "processors' images differ from those of a7.fw"));
    cps_err_free(err);
    raw->part[1].size++;
    assert_null(cps_fw_symbols_parse(raw, "a7.elf", elf.data, elf.size));
    cps_fw_destroy(raw);
    cps_program_deinit(&program);
}

/* The four parts of a8xx come back as what they are, with labels and packets of their own. */
static void test_dde(void **state)
{
    static const char text[] =
        "; a8xx microcode\n[01500070]\n[01000000]\n[01500001]\n[#jumptbl]\nsame: waitin\n"
        "mov $01, $data\n.align 32\njumptbl: .jumptbl #same\n"
        ".section BV\n[01500002]\n[#jumptbl]\nsame: waitin\nmov $01, $data\njumptbl: .jumptbl "
        "#same\n"
        ".section LPAC\n[01500003]\n[#jumptbl]\nsame: waitin\nmov $01, $data\njumptbl: .jumptbl "
        "#same\n"
        ".section DDE\n[01500004]\n[#jumptbl]\nnop\nsame: waitin\nmov $01, $data\n"
        "CP_NOP: jumpd $05\nloadp $02, [$05 + 0x004]\njumptbl: .jumptbl #same\n";
    static const enum cps_fw_role roles[] = {CPS_FW_SQE, CPS_FW_BV, CPS_FW_LPAC, CPS_FW_DDE};
    struct cps_program program;
    struct cps_fw *fw = NULL;
    struct cps_fw *raw = NULL;
    CPS_BUF elf = {0};
    (void)state;
    assert_null(cps_program_assemble("a8.afuc", text, sizeof(text) - 1, 0, &program));
    assert_null(cps_elf_write(&program, &elf));
    assert_null(cps_fw_parse("a8.elf", elf.data, elf.size, 0, &fw));
    assert_null(cps_fw_parse("a8.fw", program.image.words, 4 * program.image.count, 0, &raw));
    assert_int_equal(fw->part_count, 4);
    assert_int_equal(raw->part_count, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(fw->part[i].role, roles[i]);
        assert_memory_equal(&fw->part[i], &raw->part[i], sizeof(fw->part[i]));
    }
    assert_int_equal(fw->count, raw->count);
    assert_memory_equal(fw->words, raw->words, 4 * (size_t)fw->count);
    assert_int_equal(cps_fw_symbol_find(fw, "dde:same")->part, 3);
    assert_int_equal(cps_fw_symbol_find(fw, "dde:same")->dword, 3);
    assert_int_equal(cps_fw_handler(fw, &fw->part[3], 0x10), 5);
    assert_true(fwcheck_listing(raw));
    cps_fw_destroy(fw);
    cps_fw_destroy(raw);
    cps_program_deinit(&program);
}

/* Sections without words, labels behind everything, and no symbol at all. */
static void test_small(void **state)
{
    static const char *const texts[] = {
        "[016ee001]\n[01000000]\n",
        "[016ee001]\n[01000000]\n.section BV\na: .section LPAC\nb: nop\nend:\n",
        "[016ee001]\n[#t]\nt: .jumptbl\nb:\n",
        ".section BV\n[016ee001]\n[01000000]\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct cps_program program;
        CPS_BUF elf = {0};
        struct cps_program again;
        assert_null(cps_program_assemble("s.afuc", texts[i], strlen(texts[i]), CPS_A6XX, &program));
        assert_null(cps_elf_write(&program, &elf));
        assert_null(cps_elf_read("s.elf", elf.data, elf.size, &again));
        assert_int_equal(again.image.count, program.image.count);
        assert_memory_equal(again.image.words, program.image.words, 4 * program.image.count);
        assert_memory_equal(again.part, program.part, sizeof(program.part));
        check_debug(&again.debug, &program.debug);
        assert_true(try_bytes(elf.data, elf.size));
        cps_program_deinit(&program);
        cps_program_deinit(&again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_comes_back),
        cmocka_unit_test(test_firmware),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_names_of_sections),
        cmocka_unit_test(test_order_of_sections),
        cmocka_unit_test(test_magic),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_places_of_symbols),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_two_words),
        cmocka_unit_test(test_far_rows),
        cmocka_unit_test(test_dde),
        cmocka_unit_test(test_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
