/* SPDX-License-Identifier: MIT
 * Snapshots of the vendor's kernel as captures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/itemlog.h"
#include "tests/snapbuild.h"

static void check_text(const struct cps_buf *dump, const char *expected)
{
    struct log log = {0};
    struct cps_err *err = read_bytes(dump->data, dump->size, &log);
    if (err)
        print_error("%s\n", err->message);
    assert_null(err);
    assert_string_equal(cps_buf_text(&log.text), expected);
    log_deinit(&log);
}

static void a_snapshot_says_all_it_holds(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    small_snapshot(&dump);
    assert_string_equal(cps_capture_format((const uint8_t *)dump.data, 32), "kgsl snapshot");
    assert_true(cps_capture_is_hang((const uint8_t *)dump.data, 32));
    check_text(&dump, small_log);
}

static void sections_of_later_versions_are_read(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x44050001);
    SECTION(&dump, 0x1502, 2, 1, 2, 3, 0x80008000, 0x8001, 5, 6, 0x8010, 7);
    SECTION(&dump, 0x1503, 0, 0, 0, ~0u, ~0u, ~0u, ~0u, 0x80000800, 0x801, 1, 2);
    SECTION(&dump, 0x1503, 0, 0, 0, ~0u, 1, ~0u, ~0u, 0x800, 3);
    SECTION(&dump, 0x1503, 3, 6, 1, 4, 0, 0, 0, 0x9000, 4);
    SECTION(&dump, 0x1502, 0, 8, 1, 0, 0x9000, 4);
    SECTION(&dump, 0x0502, 0x8f0, 0x8f1, 0, 2, 1, ~0u, 5, 6);
    SECTION(&dump, 0x0502, 0x8f0, 0x8f1, 0, 1, 2, ~0u, 7);
    SECTION(&dump, 0x0502, 0x8f8, 0x8f9, 0, 1, 7, ~0u, 8);
    put_end(&dump);
    check_text(&dump, "chip 0 44050001\nsection MVC_V2\nreg A7XX_CLUSTER_FE 2 8000 5\n"
                      "reg A7XX_CLUSTER_FE 2 8001 6\nreg A7XX_CLUSTER_FE 2 8010 7\n"
                      "section MVC_V3\nreg registers -1 800 1\nreg registers -1 801 2\n"
                      "section MVC_V3\nreg A7XX_CLUSTER_NONE 0 800 3\n"
                      "section MVC_V3\nreg A7XX_CLUSTER_VPC_PS 3 9000 4\n"
                      "section MVC_V2\nreg CLUSTER_8 0 9000 4\n"
                      "section INDEXED_REGS_V2\nblock CP_SQE_STAT 2: 5 6\n"
                      "section INDEXED_REGS_V2\nblock CP_BV_SQE_STAT 1: 7\n"
                      "section INDEXED_REGS_V2\nblock CP_DDE_BV_UCODE_DBG 1: 8\nsection END\n");
}

static void the_header_names_chip_and_version(void **state)
{
    static const struct {
        uint32_t magic, gpu, chip;
        const char *log;
    } rows[] = {
        {0x504d0002, 0x0003021c, 0x05040001, "chip 540 5040001\nsection END\n"},
        {0x504d0002, 0xffffffff, 0x43050a01, "chip 0 43050a01\nsection END\n"},
        {0x504d0002, 0x00020123, 0, "section END\n"},
        {0x504d0003, 0xffffffff, 0x43050a01,
         "note a header of version 3, which no source describes, is read as one of version 2\n"
         "chip 0 43050a01\nsection END\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF dump = {0};
        header(&dump, rows[i].magic, rows[i].gpu, rows[i].chip);
        put_end(&dump);
        check_text(&dump, rows[i].log);
    }
}

static void each_form_of_the_os_section_gives_its_texts(void **state)
{
    static const struct {
        uint32_t id;
        size_t seconds, release, comm, size;
    } rows[] = {{1, 8, 48, 112, 128}, {0x202, 4, 48, 112, 128}, {0x203, 4, 64, 128, 160}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF dump = {0};
        header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
        size_t start = begin(&dump, 0x0101);
        put_string(&dump, "", rows[i].size);
        char *os = dump.data + start + 8;
        cps_put_le32((uint8_t *)os, rows[i].id);
        cps_put_le32((uint8_t *)os + rows[i].seconds, 12);
        memcpy(os + rows[i].release, "4.19", 4);
        memcpy(os + rows[i].comm, "sixteen_bytes_xx", 16);
        end(&dump, start);
        put_end(&dump);
        check_text(&dump, "chip 0 6030002\nsection OS\ntext kernel: 4.19\ntext time: 12\n"
                          "text comm: sixteen_bytes_xx\nsection END\n");
    }
}

static void blocks_have_the_names_of_devcoredumps(void **state)
{
    static const struct {
        uint32_t index;
        const char *name;
    } rows[] = {
        {0x908, "CP_SQE_STAT"},         {0x90a, "CP_DRAW_STATE"},  {0x90c, "CP_ROQ"},
        {0x90e, "CP_MEMPOOL"},          {0x910, "CP_UCODE_DBG"},   {0xa87, "CP_BV_SQE_STAT"},
        {0xa85, "CP_BV_SQE_UCODE_DBG"}, {0xb29, "CP_SQE_AC_STAT"}, {0x8f8, "CP_UCODE_DBG"},
        {0x808, "CP_PFP_STAT"},         {0x81a, "CP_ME_STAT"},     {0x123, "INDEXED_0x0123"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF dump = {0};
        CPS_BUF expected = {0};
        header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
        SECTION(&dump, 0x0501, rows[i].index, rows[i].index + 1, 0, 1, 9);
        put_end(&dump);
        cps_buf_printf(&expected,
                       "chip 0 6030002\nsection INDEXED_REGS\nblock %s 1: 9\n"
                       "section END\n",
                       rows[i].name);
        check_text(&dump, cps_buf_text(&expected));
    }
}

static void contents_longer_than_any_buffer_arrive_whole(void **state)
{
    enum { BYTES = 200002 };
    CPS_BUF dump = {0};
    struct log log = {.compared = true, .brief = true};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
    put_object(&dump, false, 0x1000, BYTES / 4, BYTES);
    put_end(&dump);
    assert_null(read_bytes(dump.data, dump.size, &log));
    assert_int_equal(log.data_bytes, BYTES);
    log_deinit(&log);
}

static void part_of_a_ring_lies_where_it_begins(void **state)
{
    static const uint32_t words[] = {1, 2};
    CPS_BUF dump = {0};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
    put_ring(&dump, 3, 8, 2, words);
    put_ring(&dump, 0, 8, 0, words);
    put_end(&dump);
    check_text(&dump, "chip 0 6030002\nsection RB_V2\n"
                      "ring 1 1000000001000+20 at 2 3 fences 7 6\ndata 100000000100c: 1 2\n"
                      "section RB_V2\nring 1 1000000001000+20 at 2 3 fences 7 6\nsection END\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_snapshot_says_all_it_holds),
        cmocka_unit_test(sections_of_later_versions_are_read),
        cmocka_unit_test(the_header_names_chip_and_version),
        cmocka_unit_test(each_form_of_the_os_section_gives_its_texts),
        cmocka_unit_test(blocks_have_the_names_of_devcoredumps),
        cmocka_unit_test(contents_longer_than_any_buffer_arrive_whole),
        cmocka_unit_test(part_of_a_ring_lies_where_it_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
