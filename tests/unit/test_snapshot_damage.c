/* SPDX-License-Identifier: MIT
 * Snapshots that are cut, damaged or hostile: one error that says where, or a note. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/itemlog.h"
#include "tests/lib/snapbuild.h"

static void a_cut_anywhere_keeps_what_is_complete(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    small_snapshot(&dump);
    for (size_t cut = 0; cut < dump.size; cut++) {
        struct log log = {0};
        char *copy = malloc(cut + 1);
        memcpy(copy, dump.data, cut);
        struct cps_err *err = read_bytes(copy, cut, &log);
        if (err)
            assert_int_equal(err->code, CPS_ERR_INPUT);
        else
            assert_non_null(strstr(cps_buf_text(&log.text), "without a section END"));
        size_t same = log.text.size;
        const char *note = log.text.size ? strstr(cps_buf_text(&log.text), "note ") : NULL;
        same = note ? (size_t)(note - log.text.data) : same;
        assert_memory_equal(cps_buf_text(&log.text), small_log, same);
        cps_err_free(err);
        log_deinit(&log);
        free(copy);
    }
}

static void a_changed_byte_is_an_error_or_none(void **state)
{
    static const unsigned char other[] = {0, 1, 8, 0x7f, 0x80, 0xff};
    CPS_BUF dump = {0};
    (void)state;
    small_snapshot(&dump);
    for (size_t i = 0; i < dump.size; i++) {
        char was = dump.data[i];
        for (size_t k = 0; k < sizeof(other); k++) {
            struct log log = {.brief = true};
            dump.data[i] = (char)other[k];
            struct cps_err *err = read_bytes(dump.data, dump.size, &log);
            if (err)
                assert_int_equal(err->code, CPS_ERR_INPUT);
            cps_err_free(err);
            log_deinit(&log);
        }
        dump.data[i] = was;
    }
}

/* Words behind the header of a section, and what is said of them. */
static const struct {
    uint32_t id, size; /* 0: as large as it is */
    uint32_t count, words[12];
    const char *message;
} damage[] = {
    {0x0201, 7, 0, {0}, "section REGS of 7 bytes, expected at least 8"},
    {0x0201, 0, 0, {0}, "section REGS of 8 bytes, expected at least 12"},
    {0x0201,
     0,
     2,
     {2, 1},
     "section REGS of 16 bytes, which has room for 0 entries of 8 bytes, states 2"},
    {0x0201,
     0,
     3,
     {0xffffffff, 1, 1},
     "section REGS of 20 bytes, which has room for 1 entries of 8 bytes, states 4294967295"},
    {0x0201,
     100,
     3,
     {1, 1, 1},
     "section REGS of 100 bytes is cut short at 0x20, expected all of it"},
    {0x9999,
     100,
     3,
     {1, 1, 1},
     "section of unknown type of 100 bytes is cut short at 0x20, expected all of it"},
    {0x0202,
     0,
     2,
     {0x800, 0xffffffff},
     "section REGS_V2 of 16 bytes, which has room for 0 entries of 4 bytes, states 4294967295"},
    {0x0202,
     0,
     1,
     {0x80000800},
     "section REGS_V2 of 12 bytes, which has room for 0 entries of 4 bytes, states 1"},
    {0x1501,
     0,
     4,
     {0, 0, 0x80000005, 4},
     "section MVC of 24 bytes names registers 0x5 to 0x4, expected a range"},
    {0x1501,
     0,
     5,
     {0, 0, 0x80000000, 0xffffffff, 4},
     "section MVC of 28 bytes, which has room for 1 entries of 4 bytes, states 4294967296"},
    {0x1503, 0, 2, {0, 0}, "section MVC_V3 of 16 bytes, expected at least 36"},
    {0x0501,
     0,
     5,
     {0x908, 0x909, 0, 2, 1},
     "section INDEXED_REGS of 28 bytes, which has room for 1 entries of 4 bytes, states 2"},
    {0x0901,
     0,
     3,
     {10, 2, 1},
     "section DEBUG of 20 bytes, which has room for 1 entries of 4 bytes, states 2"},
    {0x0302, 0, 12, {3, 0, 8, 0, 0, 1, 0, 0, 0, 0, 0, 1}, NULL},
    {0x0302,
     0,
     12,
     {8, 0, 8, 0, 0, 1, 0, 0, 0, 0, 0, 1},
     "section RB_V2 of 56 bytes holds 1 dwords from 8 on, expected them in a ring of 8"},
    {0x0302,
     0,
     11,
     {0, 0, 8, 0, 0, 1, 0, 0, 0, 0, 0},
     "section RB_V2 of 52 bytes, which has room for 0 entries of 4 bytes, states 1"},
    {0x0302,
     0,
     11,
     {0, 0, 8, 0, 0, 0, 0, 0, 0xfffffff0, 0x7fffffff, 0},
     "section RB_V2 of 52 bytes names 0x7ffffffffffffff0+0x20, expected a range of 63 bits"},
    {0x0b02,
     0,
     8,
     {3, 0, 0, 0, 0, 2, 0, 1},
     "section GPU_OBJECT_V2 of 40 bytes, which has room for 1 entries of 4 bytes, states 2"},
    {0x0b02,
     0,
     8,
     {3, 0, 0, 0, 0, 1, 0x80000000, 1},
     "section GPU_OBJECT_V2 of 40 bytes, which has room for 1 entries of 4 bytes, states "
     "9223372036854775809"},
    {0x0402,
     0,
     6,
     {0, 0xffffffff, 0, 0, 0, 0},
     "section IB_V2 of 32 bytes names 0xffffffff00000000+0x0, expected a range of 63 bits"},
    {0x0e02,
     0,
     4,
     {1, 0, 0, 0},
     "section MEMLIST_V2 of 24 bytes, which has room for 0 entries of 20 bytes, states 1"},
    {0x0e02,
     0,
     8,
     {1, 0, 0, 0x1000, 0, 0, 0x80000000, 0},
     "section MEMLIST_V2 of 40 bytes names 0x1000+0x8000000000000000, expected a range of 63 "
     "bits"},
    {0x0101, 0, 0, {0}, "section OS of 8 bytes, expected at least 12"},
    {0x0101, 0, 2, {0x203, 1}, "section OS of 16 bytes, expected at least 168"},
    {0x0901, 0, 3, {0x43505301, 1, 9}, "section DEBUG of 20 bytes, expected at least 29"},
    {0x0901,
     0,
     3,
     {0x43505301, 1, 0x10000},
     "section DEBUG of 20 bytes holds a text of 65536 bytes, expected at most 32768"},
    {0x0901,
     0,
     5,
     {0x43505304, 3, 1, 1, 64},
     "section DEBUG of 28 bytes holds a name of 64 bytes, expected 1 to 63"},
    {0x0901,
     0,
     6,
     {0x43505304, 4, 1, 1, 4, 0x420041},
     "section DEBUG of 32 bytes holds a name with a NUL in it"},
};

static void errors_say_where(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
        CPS_BUF dump = {0};
        CPS_BUF expected = {0};
        struct log log = {0};
        header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
        size_t start = begin(&dump, damage[i].id);
        put32(&dump, damage[i].count, damage[i].words);
        end(&dump, start);
        if (damage[i].size)
            cps_put_le32((uint8_t *)dump.data + start + 4, damage[i].size);
        else
            put_end(&dump);
        if (damage[i].message)
            cps_buf_printf(&expected, "a.dump: offset 0xc: %s", damage[i].message);
        struct cps_err *err = read_bytes(dump.data, dump.size, &log);
        assert_string_equal(err ? err->message : "", cps_buf_text(&expected));
        cps_err_free(err);
        log_deinit(&log);
    }
}

/* 0x8000 bytes are the most, what is behind them up to the next word is none of it. */
static void texts_have_a_longest(void **state)
{
    (void)state;
    for (uint32_t size = 0x7fff; size <= 0x8001; size++) {
        CPS_BUF dump = {0};
        struct log log = {0};
        header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
        size_t start = begin(&dump, 0x0901);
        WORDS(&dump, 0x43505301, 1 + (size + 3) / 4, size);
        for (uint32_t i = 0; i < (size + 3) / 4; i++)
            cps_buf_str(&dump, "text");
        end(&dump, start);
        put_end(&dump);
        struct cps_err *err = read_bytes(dump.data, dump.size, &log);
        const char *text = strstr(cps_buf_text(&log.text), "text text");
        assert_int_equal(err == NULL, size <= 0x8000);
        if (err)
            assert_non_null(strstr(err->message, "text of 32769 bytes, expected at most 32768"));
        else
            assert_int_equal(strcspn(text, "\n"), 5 + size);
        cps_err_free(err);
        log_deinit(&log);
    }
}

static void headers_that_are_none_are_refused(void **state)
{
    static const struct {
        size_t size;
        uint32_t words[5];
        const char *message;
    } rows[] = {
        {4, {0x504d0002}, "0x0: snapshot header of 4 bytes is cut short, expected 12"},
        {12, {0x504d0001, 0, 0}, "0x0: snapshot of version 1, expected 2 or 3"},
        {12, {0x504d0004, 0, 0}, "0x0: snapshot of version 4, expected 2 or 3"},
        {20, {0x504d0002, 0, 0, 0x0201dcba, 8}, "0xc: section with magic 0xdcba, expected 0xabcd"},
        {15,
         {0x504d0002, 0, 0, 0x0201abcd},
         "0xc: section header of 3 bytes is cut short, expected 8"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF dump = {0};
        CPS_BUF expected = {0};
        struct log log = {0};
        put32(&dump, 5, rows[i].words);
        cps_buf_printf(&expected, "a.dump: offset %s", rows[i].message);
        struct cps_err *err = read_bytes(dump.data, rows[i].size, &log);
        assert_non_null(err);
        assert_string_equal(err->message, cps_buf_text(&expected));
        cps_err_free(err);
        log_deinit(&log);
    }
}

static void what_is_passed_over_is_noted(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
    SECTION(&dump, 0x7777, 1);
    SECTION(&dump, 0x7778, 1);
    SECTION(&dump, 0x0101, 0x999, 1);
    SECTION(&dump, 0x0501, 0x908, 0x909, 4, 1, 1);
    SECTION(&dump, 0x0201, 1, 0x800, 5, 6);
    put_object(&dump, false, 0x1000, 1, 8);
    log_check(&dump, "chip 0 6030002\nsection ?\nnote sections of unknown types are passed over\n"
                     "section ?\nsection OS\nnote an OS section of unknown form is passed over\n"
                     "section INDEXED_REGS\n"
                     "note warning: a block without its first words is passed over\n"
                     "section REGS\nreg registers -1 800 5\n"
                     "note warning: more data than stated, or than fits; the rest is dropped\n"
                     "section GPU_OBJECT_V2\nbuffer 1000+4\ndata 1000: 4030201\n"
                     "note warning: more data than stated, or than fits; the rest is dropped\n"
                     "note warning: the snapshot ends without a section END\n");
}

static void contents_are_bounded_alone_and_together(void **state)
{
    CPS_BUF dump = {0};
    struct log log = {.brief = true};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
    size_t bytes = 1 << 20;
    for (unsigned i = 0; i < 4; i++)
        put_object(&dump, false, 0x1000, bytes / 4, bytes);
    struct cps_err *err = read_bytes(dump.data, dump.size, &log);
    assert_non_null(err);
    assert_int_equal(err->code, CPS_ERR_INPUT);
    assert_int_equal(log.data_bytes, 3 << 20);
    cps_err_free(err);
    log_deinit(&log);
    cps_buf_clear(&dump);
    header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
    put_object(&dump, true, 0x1000, bytes / 4 + 1, bytes + 4);
    log = (struct log){.brief = true};
    err = read_bytes(dump.data, dump.size, &log);
    assert_non_null(err);
    assert_string_equal(err->message,
                        "a.dump: offset 0xc: section IB_V2 of 1048612 bytes: contents "
                        "of 0x100004, expected at most 0x100000, 0x300000 in all");
    cps_err_free(err);
    log_deinit(&log);
}

static void a_block_is_kept_up_to_its_limit(void **state)
{
    enum { LIMIT = 1 << 20 };
    CPS_BUF dump = {0};
    struct log log = {0};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
    size_t start = begin(&dump, 0x0501);
    WORDS(&dump, 0x908, 0x909, 0, LIMIT + 1);
    for (uint32_t i = 0; i <= LIMIT; i++)
        cps_buf_add(&dump, "\1\0\0\0", 4);
    end(&dump, start);
    put_end(&dump);
    assert_null(read_bytes(dump.data, dump.size, &log));
    assert_non_null(strstr(cps_buf_text(&log.text), "block CP_SQE_STAT 1048577: 1 1 1"));
    assert_non_null(strstr(cps_buf_text(&log.text), "or than fits; the rest is dropped"));
    assert_true(log.text.size < 2 * LIMIT + 200);
    log_deinit(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut_anywhere_keeps_what_is_complete),
        cmocka_unit_test(a_changed_byte_is_an_error_or_none),
        cmocka_unit_test(errors_say_where),
        cmocka_unit_test(texts_have_a_longest),
        cmocka_unit_test(headers_that_are_none_are_refused),
        cmocka_unit_test(what_is_passed_over_is_noted),
        cmocka_unit_test(contents_are_bounded_alone_and_together),
        cmocka_unit_test(a_block_is_kept_up_to_its_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
