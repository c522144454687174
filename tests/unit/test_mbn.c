/* SPDX-License-Identifier: MIT
 * Qualcomm's images: made here field by field, whole, split over files and damaged. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "isa/base/le.h"
#include "fw/image/mbn.h"

#define SEGMENTS 4

static const struct {
    uint32_t flags, offset, file_size, memory_size;
} layout[SEGMENTS] = {
    {0x07000000, 0, 0x100, 0},          /* headers */
    {0x02200000, 0x1000, 0x40, 0x1000}, /* hashes */
    {0x08000007, 0x2000, 0x20, 0x2000},
    {0x00000006, 0x3000, 0, 0x800},
};

static void put(uint8_t *to, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

/* The headers alone, of 0x100 (32 bits) or 0x140 bytes used. */
static void make(uint8_t *file, unsigned bits)
{
    bool wide = bits == 64;
    unsigned size = wide ? 8 : 4;
    static const uint8_t magic[] = {0x7f, 'E', 'L', 'F', 1, 1, 1};
    memset(file, 0, 0x200);
    memcpy(file, magic, sizeof(magic));
    file[4] = wide ? 2 : 1;
    put(file + 16, 2, 2);
    put(file + 18, 2, wide ? 183 : 40);
    put(file + 24, size, 0x8f400000);
    put(file + 24 + size, size, wide ? 64 : 52);
    put(file + (wide ? 48 : 36), 4, 0x05000000);
    put(file + (wide ? 54 : 42), 2, wide ? 56 : 32);
    put(file + (wide ? 56 : 44), 2, SEGMENTS);
    for (unsigned i = 0; i < SEGMENTS; i++) {
        uint8_t *at = file + (wide ? 64 + 56 * i : 52 + 32 * i);
        put(at, 4, i < 2 ? 0 : 1);
        put(at + (wide ? 4 : 24), 4, layout[i].flags);
        put(at + (wide ? 8 : 4), size, layout[i].offset);
        put(at + (wide ? 24 : 12), size, 0x8f400000u + layout[i].offset);
        put(at + (wide ? 32 : 16), size, layout[i].file_size);
        put(at + (wide ? 40 : 20), size, layout[i].memory_size);
    }
}

static struct cps_err *parse(const char *path, const uint8_t *file, size_t size,
                             struct cps_mbn *ret)
{
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, file, size);
    struct cps_err *err = cps_mbn_parse(path, exact, size, ret);
    free(exact);
    return err;
}

static void check_fields(const struct cps_mbn *mbn, unsigned bits)
{
    assert_int_equal(mbn->bits, bits);
    assert_int_equal(mbn->type, 2);
    assert_int_equal(mbn->machine, bits == 64 ? 183 : 40);
    assert_int_equal(mbn->entry, 0x8f400000);
    assert_int_equal(mbn->flags, 0x05000000);
    assert_int_equal(mbn->segment_count, SEGMENTS);
    for (unsigned i = 0; i < SEGMENTS; i++) {
        const struct cps_mbn_segment *segment = &mbn->segment[i];
        assert_int_equal(segment->type, i < 2 ? 0 : 1);
        assert_int_equal(segment->flags, layout[i].flags);
        assert_int_equal(segment->offset, layout[i].offset);
        assert_int_equal(segment->address, 0x8f400000u + layout[i].offset);
        assert_int_equal(segment->file_size, layout[i].file_size);
        assert_int_equal(segment->memory_size, layout[i].memory_size);
        assert_int_equal(segment->relocatable, i == 2);
    }
    assert_int_equal(mbn->segment[0].kind, CPS_MBN_HEADER);
    assert_int_equal(mbn->segment[1].kind, CPS_MBN_HASH);
    assert_int_equal(mbn->segment[2].kind, CPS_MBN_DATA);
}

static void test_one_file(void **state)
{
    static uint8_t file[0x3000];
    struct cps_mbn mbn;
    (void)state;
    for (unsigned bits = 32; bits <= 64; bits += 32) {
        make(file, bits);
        assert_true(cps_mbn_probe(file, 64));
        assert_null(parse("x.mbn", file, sizeof(file), &mbn));
        check_fields(&mbn, bits);
        assert_false(mbn.split);
        for (unsigned i = 0; i < SEGMENTS; i++)
            assert_true(cps_mbn_complete(&mbn, i));
    }
}

static void write_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < size; i++)
        fputc(0, file);
    assert_int_equal(fclose(file), 0);
}

/* Headers and hashes packed in the .mdt; the third segment in .b02, once of the right size. */
static void test_split(void **state)
{
    char folder[] = "/tmp/cps-mbn-XXXXXX";
    char path[64];
    char part[64];
    uint8_t file[0x200];
    struct cps_mbn mbn;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/zap.mdt", folder);
    snprintf(part, sizeof(part), "%s/zap.b02", folder);
    make(file, 32);
    assert_null(parse(path, file, 0x140, &mbn));
    check_fields(&mbn, 32);
    assert_true(mbn.split);
    assert_true(mbn.segment[0].inside && mbn.segment[1].inside && !mbn.segment[2].inside);
    assert_true(mbn.segment[2].split_size == CPS_MBN_ABSENT);
    assert_false(cps_mbn_complete(&mbn, 2));
    write_file(part, 0x1f);
    assert_null(parse(path, file, 0x140, &mbn));
    assert_int_equal(mbn.segment[2].split_size, 0x1f);
    assert_false(cps_mbn_complete(&mbn, 2));
    write_file(part, 0x20);
    assert_null(parse(path, file, 0x140, &mbn));
    assert_true(cps_mbn_complete(&mbn, 2));
    assert_true(mbn.segment[1].split_size == CPS_MBN_ABSENT);
    unlink(part);
    rmdir(folder);
}

/* Only a file that ends in .mdt has others beside it: what stands beside another one is not its. */
static void test_names_of_split_files(void **state)
{
    static const struct {
        const char *name, *beside;
        bool found;
    } rows[] = {{"zap.mdt", "zap.b02", true},
                {"zap.mbn", "zap.b02", false},
                {"zap.mdt2", "zap.mb02", false},
                {"a.mdt", "a.b02", true}};
    char folder[] = "/tmp/cps-mbn-XXXXXX";
    uint8_t file[0x200];
    struct cps_mbn mbn;
    (void)state;
    assert_non_null(mkdtemp(folder));
    make(file, 32);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char path[64];
        char part[64];
        snprintf(path, sizeof(path), "%s/%s", folder, rows[i].name);
        snprintf(part, sizeof(part), "%s/%s", folder, rows[i].beside);
        write_file(part, 0x20);
        assert_null(parse(path, file, 0x140, &mbn));
        assert_true(mbn.segment[2].split_size == (rows[i].found ? 0x20 : CPS_MBN_ABSENT));
        unlink(part);
    }
    rmdir(folder);
}

static void check_refused(const uint8_t *file, size_t size, const char *message)
{
    struct cps_mbn mbn;
    struct cps_err *err = parse("x.mbn", file, size, &mbn);
    assert_non_null(err);
    assert_int_equal(err->code, CPS_ERR_INPUT);
    assert_string_equal(err->message, message);
    cps_err_free(err);
}

static void test_refused(void **state)
{
    uint8_t file[0x200];
    (void)state;
    make(file, 32);
    check_refused(file, 51, "x.mbn: offset 0x33: file ends, expected an ELF header of 52 bytes");
    check_refused(file, 5,
                  "x.mbn: offset 0x0: expected a little-endian ELF file of class 32 or 64");
    check_refused(file, 100, "x.mbn: offset 0x1c: expected 4 program headers inside the file");
    put(file + 28, 4, 0x140);
    check_refused(file, 0x140, "x.mbn: offset 0x1c: expected 4 program headers inside the file");
    put(file + 28, 4, 0xfffffff0);
    check_refused(file, 0x140, "x.mbn: offset 0x1c: expected 4 program headers inside the file");
    make(file, 32);
    put(file + 42, 2, 33);
    check_refused(file, 0x140, "x.mbn: offset 0x2a: expected program headers of 32 bytes");
    make(file, 32);
    put(file + 44, 2, 0xffff);
    check_refused(file, 0x140, "x.mbn: offset 0x2c: 65535 program headers, expected at most 100");
    make(file, 32);
    put(file + 52 + 24, 4, 5);
    put(file + 52 + 32 + 24, 4, 5);
    check_refused(file, 0x140,
                  "x.mbn: offset 0x1c: no program header has the flags of a hash or header "
                  "segment, expected an image of Qualcomm's");
    make(file, 32); /* no program headers: they may stand at the end, not behind it */
    put(file + 44, 2, 0);
    put(file + 28, 4, 0x140);
    check_refused(file, 0x140,
                  "x.mbn: offset 0x1c: no program header has the flags of a hash or header "
                  "segment, expected an image of Qualcomm's");
    put(file + 28, 4, 0x141);
    check_refused(file, 0x140, "x.mbn: offset 0x1c: expected 0 program headers inside the file");
    assert_false(cps_mbn_probe("\177ELF", 4));
    assert_false(cps_mbn_probe("", 0));
}

static void test_damaged(void **state)
{
    uint8_t file[0x200];
    struct cps_mbn mbn;
    (void)state;
    for (unsigned bits = 32; bits <= 64; bits += 32) {
        make(file, bits);
        for (size_t size = 0; size < sizeof(file); size++)
            cps_err_free(parse("x.mbn", file, size, &mbn));
        for (size_t bit = 0; bit < 8 * 0x140; bit++) {
            file[bit / 8] ^= (uint8_t)(1 << bit % 8);
            cps_err_free(parse("x.mbn", file, sizeof(file), &mbn));
            file[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_file),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_names_of_split_files),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
