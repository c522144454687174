/* SPDX-License-Identifier: MIT
 * Dumps become snapshots that read back equal. What others need of them is looked at word by word,
 * without the product's reader. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/itemlog.h"
#include "tests/lib/snapbuild.h"
#include "tests/lib/snapshots.h"

/* "zz" is two zeros, "!!!!\"" a one, "!!!!#" a two. */
static const char whole[] =
    "---\nkernel: 6.1.0-a-release-that-is-longer-than-its-field\nmodule: msm\ntime: 1593887022.76\n"
    "comm: crashit\ncmdline: ./crashit IB1 4 5\nrevision: 630 (6.3.0.2)\nrbbm-status: 0x00000001\n"
    "fault-info:\n  - ttbr0=0000\n  - dir=WRITE\n"
    "ringbuffer:\n  - id: 0\n    iova: 0x0001000000001000\n    last-fence: 7\n"
    "    retired-fence: -1\n    rptr: 2\n    wptr: 3\n    size: 20\n    data: !!ascii85 |\n"
    "     !!!!\"z!!!!#\n"
    "  - id: 1\n    iova: 0x2000\n    size: 16\n"
    "bos:\n  - iova: 0x100000000\n    size: 8\n    data: !!ascii85 |\n     !!!!#\n"
    "  - iova: 0x200000000\n    size: 4096\n  - iova: 0x300000000\n    size: 0\n"
    "  - iova: 0x400000000\n    size: 10\n    data: !!ascii85 |\n     !!!!#\n"
    "registers:\n  - { offset: 0x2000, value: 0x00001000 }\n  - { offset: 0x2000, value: 0x5 }\n"
    "  - { offset: 0x1ffc, value: 0x6 }\n"
    "registers-gmu:\n  - { offset: 0x04, value: 0xffffffff }\n"
    "indexed-registers:\n  - regs-name: CP_SEQ_STAT\n    dwords: 3\n    data: !!ascii85 |\n"
    "      !!!!#zz\n"
    "  - regs-name: CP_ROQ\n    dwords: 4\n    data: !!ascii85 |\n      !!!!#\n"
    "  - regs-name: CP_DRAW_STATE\n    dwords: 256\n"
    "  - regs-name: CP_NEVER_SEEN\n    dwords: 1\n    data: !!ascii85 |\n      !!!!#\n"
    "  - regs-name: CP_HUGE\n    dwords: 4294967295\n    data: !!ascii85 |\n      !!!!#\n"
    "shader-blocks:\n  - type: A6XX_TP0_TMO_DATA\n"
    "clusters:\n  - cluster-name: CLUSTER_FE\n    - context: 1\n"
    "      - { offset: 0x020000, value: 0x1 }\n      - { offset: 0x020004, value: 0x2 }\n"
    "      - { offset: 0x020010, value: 0x3 }\n    - context: 0\n"
    "      - { offset: 0x020000, value: 0x4 }\n"
    "  - cluster-name: CLUSTER_PS\n      - { offset: 0x20004, value: 0x2 }\n"
    "  - cluster-name: CLUSTER_NEW\n    - context: 3\n      - { offset: 0x20004, value: 0x2 }\n"
    "  - cluster-name: A7XX_CLUSTER_PS\n    - context: 3\n      - { offset: 0x20004, value: 0x2 }\n"
    "debugbus:\n  - debugbus-block: CP\nfuture-thing:\n  - id: 3\n";

/* What a dump says, and what its snapshot does. */
static void check_equal(const char *dump, size_t size)
{
    struct log before = {.compared = true};
    struct log after = {.compared = true};
    CPS_BUF snapshot = {0};
    CPS_BUF left = {0};
    cps_err_free(read_bytes(dump, size, &before));
    assert_null(to_snapshot(dump, size, &snapshot, &left));
    assert_null(read_bytes(snapshot.data, snapshot.size, &after));
    assert_string_equal(cps_buf_text(&after.text), cps_buf_text(&before.text));
    assert_string_equal(cps_buf_text(&after.chip), cps_buf_text(&before.chip));
    log_deinit(&before);
    log_deinit(&after);
}

static void a_dump_reads_back_equal(void **state)
{
    (void)state;
    check_equal(whole, sizeof(whole) - 1);
    check_equal("kernel: 5\n", 10);
}

/* Found by fuzzing: a note is no line of the header, even if it looks like one. */
static void a_note_that_looks_like_a_line_stays_a_note(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
    SECTION(&dump, 0x0901, 0x43505302, 4, 11, 0x6e72656b, 0x203a6c65, 0x00312e33);
    put_end(&dump);
    check_equal(dump.data, dump.size);
}

static void the_chip_is_in_the_header_wherever_the_dump_has_it(void **state)
{
    static const char late[] = "---\nbos:\n  - iova: 0x1000\n    size: 8\n    data: !!ascii85 |\n"
                               "     z\nrevision: 0 (67.5.10.1)\nrevision: 630\n";
    CPS_BUF snapshot = {0};
    CPS_BUF left = {0};
    (void)state;
    assert_null(to_snapshot(late, sizeof(late) - 1, &snapshot, &left));
    const uint8_t *head = (const uint8_t *)snapshot.data;
    assert_int_equal(cps_le32(head), 0x504d0002);
    assert_int_equal(cps_le32(head + 4), 0xffffffff);
    assert_int_equal(cps_le32(head + 8), 0x43050a01);
}

/* What a damaged dump says of its damage, and what it knows in spite of it. */
static void what_is_known_of_damaged_contents_is_kept(void **state)
{
    static const char damaged[] =
        "---\nrevision: 630 (6.3.0.2)\nnonsense\nringbuffer:\n  - id: 0\n    iova: 0x1000\n"
        "    size: 16\n    data: !!ascii85 |\n     !!!!#~\n"
        "bos:\n  - iova: 0x2000\n    size: 16\n    data: !!ascii85 |\n     !!!!#~\n";
    struct log after = {.compared = true};
    CPS_BUF snapshot = {0};
    CPS_BUF left = {0};
    (void)state;
    assert_null(to_snapshot(damaged, sizeof(damaged) - 1, &snapshot, &left));
    assert_null(read_bytes(snapshot.data, snapshot.size, &after));
    assert_string_equal(
        cps_buf_text(&after.text),
        "note warning: a line that is no section and no value is ignored\n"
        "ring 0 1000+10 at 0 0 fences 0 0\ndata 1000: 2\n"
        "note warning: a character that is not ascii85; the data after it is ignored\n"
        "buffer 2000+10\nbuffer 2000+4\ndata 2000: 2\n"
        "note warning: a character that is not ascii85; the data after it is ignored\n");
    log_deinit(&after);
}

static void contents_longer_than_any_buffer_arrive_whole(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    cps_buf_str(&dump, "---\nrevision: 630 (6.3.0.2)\nbos:\n  - iova: 0x1000\n    size: 500000\n"
                       "    data: !!ascii85 |\n     ");
    for (unsigned i = 0; i < 100000; i++)
        cps_buf_printf(&dump, "!!!!%c", '!' + (int)(i % 80));
    cps_buf_str(&dump, "\nregisters:\n");
    for (unsigned i = 0; i < 10000; i++)
        cps_buf_printf(&dump, "  - { offset: 0x%x, value: 0x%x }\n", 4 * i, i);
    check_equal(dump.data, dump.size);
}

/* Two megabytes more than is gathered before it is written, and registers of which few are there.
 */
static void large_contents_arrive_whole(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    cps_buf_str(&dump, "---\nrevision: 630 (6.3.0.2)\nbos:\n  - iova: 0x1000\n    size: 1048576\n"
                       "    data: !!ascii85 |\n     ");
    for (unsigned i = 0; i < 1048576 / 4; i++)
        cps_buf_str(&dump, i % 100000 ? "z" : "!!!!#");
    cps_buf_str(&dump, "\n  - iova: 0x100000000\n    size: 8\n    data: !!ascii85 |\n     !!!!#z\n"
                       "indexed-registers:\n  - regs-name: CP_ROQ\n    dwords: 2400\n"
                       "    data: !!ascii85 |\n      !!!!#zz\n");
    check_equal(dump.data, dump.size);
}

/* Sections follow each other up to the end, those that others know with sizes that fit. */
static void sections_are_those_of_the_kernel(void **state)
{
    static const uint32_t ids[] = {
        0x0901, 0x0901, 0x0901, 0x0901, 0x0901, 0x0901, 0x0901, 0x0901, /* texts */
        0x0302, 0x0302,                                                 /* rings */
        0x0b02, 0x0e02, 0x0e02, 0x0b02,                                 /* buffers */
        0x0201, 0x0901, /* registers, those of the GMU */
        0x0501, 0x0901, 0x0501, 0x0901, 0x0501, 0x0901, 0x0501, 0x0901, 0x0501, /* blocks */
        0x1501, 0x1501, 0x0901, 0x1501, 0x0901, 0x1502, 0x1502,                 /* clusters */
        0x0901, 0x0101, 0xffff};
    CPS_BUF snapshot = {0};
    CPS_BUF left = {0};
    size_t at = 12;
    (void)state;
    assert_null(to_snapshot(whole, sizeof(whole) - 1, &snapshot, &left));
    const uint8_t *data = (const uint8_t *)snapshot.data;
    assert_int_equal(cps_le32(data + 4), 0x00030276);
    assert_int_equal(cps_le32(data + 8), 0x06030002);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        assert_int_equal(cps_le32(data + at) & 0xffff, 0xabcd);
        assert_int_equal(cps_le32(data + at) >> 16, ids[i]);
        if (ids[i] == 0x0101) {
            assert_int_equal(cps_le32(data + at + 8), 0x203);
            assert_int_equal(cps_le32(data + at + 12), 1593887022);
            assert_string_equal(data + at + 8 + 64, "6.1.0-a-release-that-is-longer-");
            assert_string_equal(data + at + 8 + 128, "crashit");
        }
        if (ids[i] == 0x0b02)
            assert_int_equal(cps_le32(data + at + 28), (cps_le32(data + at + 4) - 36) / 4);
        at += cps_le32(data + at + 4);
    }
    assert_int_equal(at, snapshot.size);
}

static bool has_words(const struct cps_buf *snapshot, const uint32_t *words, size_t count)
{
    CPS_BUF bytes = {0};
    bool found = false;
    put32(&bytes, count, words);
    for (size_t at = 0; at + bytes.size <= snapshot->size; at++)
        found |= !memcmp(snapshot->data + at, bytes.data, bytes.size);
    return found;
}

/* Others expect a block of 4 words in 4 words, and no register where none is known. */
static void blocks_are_written_in_full(void **state)
{
    static const uint32_t roq[] = {0x0501abcd, 40, 0x90c, 0x90d, 0, 4, 2, 0, 0, 0};
    static const uint32_t never[] = {0x0501abcd, 28, 0, 0, 0, 1, 2};
    CPS_BUF snapshot = {0};
    CPS_BUF left = {0};
    (void)state;
    assert_null(to_snapshot(whole, sizeof(whole) - 1, &snapshot, &left));
    assert_true(has_words(&snapshot, roq, sizeof(roq) / 4));
    assert_true(has_words(&snapshot, never, sizeof(never) / 4));
}

/* Section OS has what was said of the kernel and the process; "kernel: " alone says nothing. */
static void empty_texts_are_not_kept(void **state)
{
    static const char text[] = "kernel: 6.1\0comm: run\0time: 12\0kernel: \0comm: \0time: ";
    CPS_BUF dump = {0};
    CPS_BUF snapshot = {0};
    CPS_BUF left = {0};
    (void)state;
    header(&dump, 0x504d0002, 0xffffffff, 0x06030002);
    for (const char *at = text; at < text + sizeof(text); at += strlen(at) + 1) {
        size_t start = begin(&dump, 0x0901);
        WORDS(&dump, 0x43505301, 1 + (uint32_t)(strlen(at) + 3) / 4, (uint32_t)strlen(at));
        put_string(&dump, at, (strlen(at) + 3) / 4 * 4);
        end(&dump, start);
    }
    put_end(&dump);
    assert_null(to_snapshot(dump.data, dump.size, &snapshot, &left));
    assert_true(snapshot.size > 168);
    const uint8_t *os = (const uint8_t *)snapshot.data + snapshot.size - 8 - 168;
    assert_int_equal(cps_le32(os), 0x0101abcd);
    assert_int_equal(cps_le32(os + 12), 12);
    assert_string_equal(os + 8 + 64, "6.1");
    assert_string_equal(os + 8 + 128, "run");
}

/* A section of .rd stands between a buffer and its contents, which then are one of their own. */
static void contents_alone_are_buffers(void **state)
{
    struct log after = {.compared = true};
    CPS_BUF capture = {0};
    CPS_BUF snapshot = {0};
    CPS_BUF left = {0};
    (void)state;
    WORDS(&capture, 13, 4, 630);                            /* GPU_ID */
    WORDS(&capture, 3, 12, 0x2000, 12, 1, 12, 12, 1, 2, 3); /* GPUADDR, BUFFER_CONTENTS */
    WORDS(&capture, 3, 12, 0x1000, 8, 0, 12, 4, 4);
    assert_null(to_snapshot(capture.data, capture.size, &snapshot, &left));
    assert_null(read_bytes(snapshot.data, snapshot.size, &after));
    assert_string_equal(cps_buf_text(&after.text),
                        "buffer 100002000+c\nbuffer 100002000+c\ndata 100002000: 1 2 3\n"
                        "buffer 1000+8\nbuffer 1000+4\ndata 1000: 4");
    log_deinit(&after);
}

static void the_same_dump_gives_the_same_bytes_and_so_does_its_snapshot(void **state)
{
    CPS_BUF first = {0};
    CPS_BUF second = {0};
    CPS_BUF third = {0};
    CPS_BUF left = {0};
    (void)state;
    assert_null(to_snapshot(whole, sizeof(whole) - 1, &first, &left));
    assert_null(to_snapshot(whole, sizeof(whole) - 1, &second, &left));
    assert_null(to_snapshot(first.data, first.size, &third, &left));
    assert_int_equal(first.size, second.size);
    assert_int_equal(first.size, third.size);
    assert_memory_equal(first.data, second.data, first.size);
    assert_memory_equal(first.data, third.data, first.size);
}

static void what_is_left_out_is_named(void **state)
{
    CPS_BUF snapshot = {0};
    CPS_BUF left = {0};
    (void)state;
    assert_null(to_snapshot(whole, sizeof(whole) - 1, &snapshot, &left));
    assert_string_equal(cps_buf_text(&left), "shader-blocks, debugbus");
}

/* Registers of blocks differ between generations. */
static void blocks_are_those_of_the_chip(void **state)
{
    static const struct {
        const char *revision;
        uint32_t index;
    } rows[] = {
        {"630 (6.3.0.2)", 0x908}, {"0 (43050a01)", 0x908}, {"0 (44050001)", 0x8f0}, {"0", 0x908}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF dump = {0};
        CPS_BUF snapshot = {0};
        CPS_BUF left = {0};
        cps_buf_printf(&dump,
                       "---\nrevision: %s\nindexed-registers:\n  - regs-name: CP_SQE_STAT\n"
                       "    dwords: 1\n    data: !!ascii85 |\n      z\n",
                       rows[i].revision);
        assert_null(to_snapshot(dump.data, dump.size, &snapshot, &left));
        assert_int_equal(cps_le32((uint8_t *)snapshot.data + 12), 0x0501abcd);
        assert_int_equal(cps_le32((uint8_t *)snapshot.data + 20), rows[i].index);
    }
}

static void what_has_no_place_is_refused(void **state)
{
    static const struct {
        const char *dump, *message;
    } rows[] = {
        {"---\nringbuffer:\n  - iova: 0x1000\n    size: 18\n",
         "a ring of 0x12 bytes, which a snapshot counts as dwords of 32 bits"},
        {"---\nringbuffer:\n  - iova: 0x1000\n    size: 0x400000000\n",
         "a ring of 0x400000000 bytes, which a snapshot counts as dwords of 32 bits"},
        {"---\nrevision: 65536 (6.3.0.2)\n",
         "GPU 65536 with chip id 0x6030002, of which a snapshot holds 16 and 32 bits"},
        {"# cpscope-pm4 1\ngpu 630\nbuffer 0x00100000 f\n    CP_NOP 0x1\nsubmit f\n",
         "a capture of submissions, which a snapshot has no section for"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF snapshot = {0};
        CPS_BUF left = {0};
        struct cps_err *err = to_snapshot(rows[i].dump, strlen(rows[i].dump), &snapshot, &left);
        assert_non_null(err);
        assert_int_equal(err->code, CPS_ERR_UNSUPPORTED);
        assert_string_equal(err->message, rows[i].message);
        assert_int_equal(snapshot.size, 0);
        cps_err_free(err);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dump_reads_back_equal),
        cmocka_unit_test(a_note_that_looks_like_a_line_stays_a_note),
        cmocka_unit_test(the_chip_is_in_the_header_wherever_the_dump_has_it),
        cmocka_unit_test(what_is_known_of_damaged_contents_is_kept),
        cmocka_unit_test(contents_longer_than_any_buffer_arrive_whole),
        cmocka_unit_test(large_contents_arrive_whole),
        cmocka_unit_test(sections_are_those_of_the_kernel),
        cmocka_unit_test(blocks_are_written_in_full),
        cmocka_unit_test(empty_texts_are_not_kept),
        cmocka_unit_test(contents_alone_are_buffers),
        cmocka_unit_test(the_same_dump_gives_the_same_bytes_and_so_does_its_snapshot),
        cmocka_unit_test(what_is_left_out_is_named),
        cmocka_unit_test(blocks_are_those_of_the_chip),
        cmocka_unit_test(what_has_no_place_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
