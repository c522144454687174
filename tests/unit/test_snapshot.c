/* SPDX-License-Identifier: MIT
 * Snapshots of the vendor's kernel as captures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* First: rows of its table are SECTION, too. */
#include "tests/lib/snapshot_write.h"

#include "tests/lib/itemlog.h"
#include "tests/lib/snapbuild.h"

static void a_snapshot_says_all_it_holds(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    small_snapshot(&dump);
    assert_string_equal(cps_capture_format((const uint8_t *)dump.data, 32), "kgsl snapshot");
    assert_true(cps_capture_is_hang((const uint8_t *)dump.data, 32));
    log_check(&dump, small_log);
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
    log_check(&dump, "chip 0 44050001\nsection MVC_V2\nreg A7XX_CLUSTER_FE 2 8000 5\n"
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
        log_check(&dump, rows[i].log);
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
        memcpy(os + rows[i].release, "4.19-a-release-of-32-characters-", 32);
        memcpy(os + rows[i].release + 32, "#1", 2); /* the next field */
        memcpy(os + rows[i].comm, "sixteen_bytes_xx", 16);
        end(&dump, start);
        put_end(&dump);
        log_check(&dump, "chip 0 6030002\nsection OS\n"
                         "text kernel: 4.19-a-release-of-32-characters-\ntext time: 12\n"
                         "text comm: sixteen_bytes_xx\nsection END\n");
    }
}

/* Index and data registers of rnndb (a5xx.xml, a6xx.xml), what devcoredumps or, without _ADDR,
 * rnndb call the block, and the generations whose register it is. */
static const struct {
    uint32_t index, data;
    unsigned first, last;
    const char *name;
} blocks[] = {
    {0x808, 0x809, 5, 5, "CP_PFP_STAT"},
    {0x80b, 0x80c, 5, 5, "CP_DRAW_STATE"},
    {0x81a, 0xb14, 5, 5, "CP_ME_STAT"},
    {0x82a, 0x82b, 5, 5, "CP_PFP_UCODE_DBG"},
    {0x82f, 0x830, 5, 5, "CP_ME_UCODE_DBG"},
    {0x908, 0x909, 6, 7, "CP_SQE_STAT"},
    {0x90a, 0x90b, 6, 7, "CP_DRAW_STATE"},
    {0x90c, 0x90d, 6, 7, "CP_ROQ"},
    {0x90e, 0x90f, 6, 7, "CP_MEMPOOL"},
    {0x910, 0x911, 6, 7, "CP_UCODE_DBG"},
    {0xa81, 0xa82, 7, 7, "CP_BV_DRAW_STATE"},
    {0xa83, 0xa84, 7, 7, "CP_BV_ROQ_DBG"},
    {0xa85, 0xa86, 7, 7, "CP_BV_SQE_UCODE_DBG"},
    {0xa87, 0xa88, 7, 7, "CP_BV_SQE_STAT"},
    {0xa96, 0xa97, 7, 7, "CP_BV_MEM_POOL_DBG"},
    {0xa9a, 0xa9b, 7, 7, "CP_RESOURCE_TABLE_DBG"},
    {0xb0a, 0xb0b, 7, 7, "CP_LPAC_DRAW_STATE"},
    {0xb0c, 0xb35, 7, 7, "CP_LPAC_ROQ_DBG"},
    {0xb27, 0xb28, 7, 7, "CP_SQE_AC_UCODE_DBG"},
    {0xb29, 0xb2a, 7, 7, "CP_SQE_AC_STAT"},
    {0xb40, 0xb36, 7, 7, "CP_LPAC_FIFO_DBG"},
    {0xba8, 0xbac, 7, 7, "CP_AQE_ROQ_DBG_0"},
    {0xba9, 0xbad, 7, 7, "CP_AQE_ROQ_DBG_1"},
    {0xbb0, 0xbb4, 7, 7, "CP_AQE_UCODE_DBG_0"},
    {0xbb1, 0xbb5, 7, 7, "CP_AQE_UCODE_DBG_1"},
    {0xbb8, 0xbbc, 7, 7, "CP_AQE_STAT_0"},
    {0xbb9, 0xbbd, 7, 7, "CP_AQE_STAT_1"},
    {0x8f0, 0x8f1, 8, 8, "CP_SQE_STAT"},
    {0x8f2, 0x8f3, 8, 8, "CP_DRAW_STATE"},
    {0x8f4, 0x8f5, 8, 8, "CP_ROQ"},
    {0x8f6, 0x8f7, 8, 8, "CP_MEMPOOL"},
    {0x8f8, 0x8f9, 8, 8, "CP_UCODE_DBG"},
    {0x8fa, 0x8fb, 8, 8, "CP_RESOURCE_TABLE_DBG"},
    {0x8fc, 0x8fd, 8, 8, "CP_LPAC_FIFO_DBG"},
    {0x8fe, 0x8ff, 8, 8, "CP_FIFO_DBG"},
    {0xb00, 0xb01, 8, 8, "CP_SLICE_MEM_POOL_DBG"},
};

static const char *block_at(uint32_t index)
{
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        if (blocks[i].index == index)
            return blocks[i].name;
    return NULL;
}

static void blocks_have_the_names_of_devcoredumps(void **state)
{
    CPS_BUF dump = {0};
    CPS_BUF expected = {0};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
    cps_buf_printf(&expected, "chip 0 6030002\n");
    for (uint32_t index = 0x800; index < 0xc00; index++) {
        SECTION(&dump, 0x0501, index, index + 1, 0, 1, index);
        cps_buf_printf(&expected, "section INDEXED_REGS\nblock ");
        if (block_at(index))
            cps_buf_printf(&expected, "%s 1: %x\n", block_at(index), index);
        else
            cps_buf_printf(&expected, "INDEXED_0x%04x 1: %x\n", index, index);
    }
    put_end(&dump);
    cps_buf_printf(&expected, "section END\n");
    log_check(&dump, cps_buf_text(&expected));
}

static void blocks_are_read_by_the_registers_of_their_generation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        for (unsigned gen = 4; gen <= 9; gen++) {
            const struct snapshot_indexed *row = snapshot_find_indexed(blocks[i].name, gen);
            bool other = row && row->index != blocks[i].index;
            if (gen >= blocks[i].first && gen <= blocks[i].last) {
                assert_non_null(row);
                assert_int_equal(row->index, blocks[i].index);
                assert_int_equal(row->data, blocks[i].data);
            } else {
                assert_true(!row || other);
            }
        }
    assert_null(snapshot_find_indexed("CP_NOTHING", 0));
    assert_int_equal(snapshot_find_indexed("CP_LPAC_FIFO_DBG", 0)->index, 0xb40);
}

/* KGSL's adreno_a6xx_snapshot.c and gen7 headers number them so; Linux' a6xx_gpu_state.h and
 * a6xx_descriptors name them. */
static void clusters_have_the_numbers_of_their_version(void **state)
{
    static const struct {
        unsigned version;
        uint32_t id;
        const char *name;
    } rows[] = {
        {1, 0, "CLUSTER_FE"},         {1, 1, "CLUSTER_SP_VS"},       {1, 2, "CLUSTER_PC_VS"},
        {1, 3, "CLUSTER_GRAS"},       {1, 4, "CLUSTER_SP_PS"},       {1, 5, "CLUSTER_PS"},
        {1, 6, "CLUSTER_VPC_PS"},     {2, 0, "A7XX_CLUSTER_NONE"},   {2, 1, "A7XX_CLUSTER_FE"},
        {2, 2, "A7XX_CLUSTER_SP_VS"}, {2, 3, "A7XX_CLUSTER_PC_VS"},  {2, 4, "A7XX_CLUSTER_GRAS"},
        {2, 5, "A7XX_CLUSTER_SP_PS"}, {2, 6, "A7XX_CLUSTER_VPC_PS"}, {2, 7, "A7XX_CLUSTER_PS"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct snapshot_cluster *row = snapshot_find_cluster(rows[i].name);
        assert_non_null(row);
        assert_int_equal(row->version, rows[i].version);
        assert_int_equal(row->id, rows[i].id);
    }
    assert_null(snapshot_find_cluster("CLUSTER_NONE"));
}

/* Of a cluster, and of the name that our writer puts before one. */
static void contexts_have_31_bits(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
    SECTION(&dump, 0x1501, 0x7fffffff, 3, 0x8000, 5);
    SECTION(&dump, 0x1501, 0x80000000, 3, 0x8000, 5);
    SECTION(&dump, 0x0901, 0x43505304, 4, 0x7fffffff, 0, 2, 0x4241);
    SECTION(&dump, 0x1501, 1, 3, 0x8000, 5);
    SECTION(&dump, 0x0901, 0x43505304, 4, 0x80000000, 0, 2, 0x4241);
    SECTION(&dump, 0x1501, 1, 3, 0x8000, 5);
    put_end(&dump);
    log_check(&dump, "chip 0 6030002\nsection MVC\nreg CLUSTER_GRAS 2147483647 8000 5\n"
                     "section MVC\nreg CLUSTER_GRAS -1 8000 5\n"
                     "section DEBUG\nsection MVC\nreg AB 2147483647 8000 5\n"
                     "section DEBUG\nsection MVC\nreg AB -1 8000 5\nsection END\n");
}

/* Blocks are read in pieces of 8192 words. */
static void blocks_of_any_length_arrive_whole(void **state)
{
    static const uint32_t counts[] = {1, 7000, 8191, 8192, 8193, 16384, 20000};
    (void)state;
    for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
        CPS_BUF dump = {0};
        CPS_BUF expected = {0};
        header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
        cps_buf_printf(&expected,
                       "chip 0 6030002\nsection INDEXED_REGS\nblock CP_SQE_STAT %u:", counts[k]);
        size_t start = begin(&dump, 0x0501);
        WORDS(&dump, 0x908, 0x909, 0, counts[k]);
        for (uint32_t i = 0; i < counts[k]; i++) {
            put(&dump, 3 * i, 4);
            cps_buf_printf(&expected, " %x", 3 * i);
        }
        end(&dump, start);
        put_end(&dump);
        cps_buf_str(&expected, "\nsection END\n");
        log_check(&dump, cps_buf_text(&expected));
    }
}

/* kgsl_snapshot.h: what a section that is passed over is called, and the blocks of debug sections.
 */
static void sections_have_the_names_of_the_kernel(void **state)
{
    static const struct {
        uint32_t id;
        const char *name;
    } rows[] = {
        {0x0301, "RB"},           {0x0401, "IB"},         {0x0801, "ISTORE"},
        {0x0a01, "DEBUGBUS"},     {0x0b01, "GPU_OBJECT"}, {0x0e01, "MEMLIST"},
        {0x1201, "SHADER"},       {0x1202, "SHADER_V2"},  {0x1203, "SHADER_V3"},
        {0x1601, "GMU"},          {0x1701, "GMU_MEMORY"}, {0x1801, "SIDE_DEBUGBUS"},
        {0x1901, "TRACE_BUFFER"}, {0x1a01, "EVENTLOG"},
    };
    static const struct {
        uint32_t type;
        const char *name;
    } debug[] = {
        {7, "CP_MEQ"}, {8, "CP_PM4_RAM"}, {9, "CP_PFP_RAM"}, {10, "CP_ROQ"}, {12, "CP_MERCIU"}};
    CPS_BUF dump = {0};
    CPS_BUF expected = {0};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x05040001);
    cps_buf_printf(&expected, "chip 0 5040001\n");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SECTION(&dump, rows[i].id, 1, 2, 3, 4, 5, 6);
        cps_buf_printf(&expected, "section %s\n", rows[i].name);
    }
    for (size_t i = 0; i < sizeof(debug) / sizeof(debug[0]); i++) {
        SECTION(&dump, 0x0901, debug[i].type, 2, 21, 22);
        cps_buf_printf(&expected, "section DEBUG\nblock %s 2: 15 16\n", debug[i].name);
    }
    SECTION(&dump, 0x0901, 6, 1, 21);
    SECTION(&dump, 0x0901, 11, 1, 21);
    SECTION(&dump, 0x0901, 13, 1, 21);
    put_end(&dump);
    cps_buf_printf(&expected, "section DEBUG\nsection DEBUG\nsection DEBUG\nsection END\n");
    log_check(&dump, cps_buf_text(&expected));
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
    log_check(&dump, "chip 0 6030002\nsection RB_V2\n"
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
        cmocka_unit_test(blocks_are_read_by_the_registers_of_their_generation),
        cmocka_unit_test(clusters_have_the_numbers_of_their_version),
        cmocka_unit_test(contexts_have_31_bits),
        cmocka_unit_test(blocks_of_any_length_arrive_whole),
        cmocka_unit_test(sections_have_the_names_of_the_kernel),
        cmocka_unit_test(contents_longer_than_any_buffer_arrive_whole),
        cmocka_unit_test(part_of_a_ring_lies_where_it_begins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
