/* SPDX-License-Identifier: MIT
 * Captures as sections of .rd, read and written, word by word. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/lib/itemlog.h"
#include "tests/lib/scratch.h"
#include "tests/lib/snapbuild.h"
#include "trace/capture/rd_write.h"

enum { CMD = 2, GPUADDR = 3, CMDSTREAM_ADDR = 6, CONTENTS = 12, GPU_ID = 13, CHIP_ID = 14 };

/* What a capture says, or why it is refused. */
static void check(const struct cps_buf *capture, const char *expected)
{
    struct log log = {.compared = true};
    struct cps_err *err = read_bytes(capture->data, capture->size, &log);
    assert_string_equal(err ? err->message : cps_buf_text(&log.text), expected);
    cps_err_free(err);
    log_deinit(&log);
}

/* A size field of an indirect buffer has 20 bits. */
static void a_stream_is_at_most_an_indirect_buffer(void **state)
{
    CPS_BUF longest = {0};
    CPS_BUF longer = {0};
    (void)state;
    WORDS(&longest, CMDSTREAM_ADDR, 12, 0x1000, 0xfffff, 0);
    check(&longest, "");
    WORDS(&longer, CMDSTREAM_ADDR, 12, 0x1000, 0x100000, 0);
    check(&longer, "a.dump: offset 0x0: command stream of 1048576 dwords, an indirect buffer holds "
                   "up to 1048575");
}

/* An address of 32 bits has no upper half; the last byte is 2^64 - 2. */
static void ranges_end_with_the_address_space(void **state)
{
    static const struct {
        uint32_t iova, length;
        const char *says;
    } rows[] = {
        {0xfffff000, 0xfff, "buffer fffffffffffff000+fff\n"},
        {0xfffff000, 0x1000, "a.dump: offset 0x0: GPUADDR runs past the end of the address space"},
    };
    CPS_BUF narrow = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF capture = {0};
        WORDS(&capture, GPUADDR, 12, rows[i].iova, rows[i].length, 0xffffffff);
        check(&capture, rows[i].says);
    }
    WORDS(&narrow, GPUADDR, 8, 0xfffff000, 0x1000);
    check(&narrow, "buffer fffff000+1000\n");
}

/* A capture as cps_rd_write() writes it. */
static void rewrite(const struct cps_buf *capture, struct cps_buf *ret)
{
    char path[64];
    struct cps_stream *in = NULL;
    struct cps_outfile *out = NULL;
    uint8_t *data = NULL;
    size_t size = 0;
    assert_null(cps_stream_open_memory("a.rd", capture->data, capture->size, &in));
    assert_null(cps_outfile_open(scratch_file(path, ""), &out));
    assert_null(cps_rd_write(in, out, "a.rd"));
    assert_null(cps_outfile_commit(out));
    assert_null(cps_stream_read_file(path, (size_t)1 << 20, &data, &size));
    cps_buf_add(ret, (const char *)data, size);
    free(data);
    unlink(path);
    cps_stream_close(in);
}

static void expect_written(const struct cps_buf *capture, const struct cps_buf *expected)
{
    CPS_BUF got = {0};
    rewrite(capture, &got);
    assert_int_equal(got.size, expected->size);
    assert_memory_equal(got.data, expected->data, got.size);
}

/* Contents that do not follow those before are a buffer of their own, and so are those behind a
 * submission. */
static void contents_that_begin_again_are_a_buffer(void **state)
{
    CPS_BUF capture = {0};
    CPS_BUF expected = {0};
    (void)state;
    WORDS(&capture, GPU_ID, 4, 630, CHIP_ID, 8, 0x06030002, 0);
    WORDS(&capture, GPUADDR, 12, 0x1000, 16, 1, CONTENTS, 8, 1, 2, CONTENTS, 8, 3, 4);
    WORDS(&capture, GPUADDR, 12, 0x2000, 4, 0);
    WORDS(&capture, CMDSTREAM_ADDR, 12, 0x1000, 2, 1, CONTENTS, 4, 5);
    WORDS(&expected, GPU_ID, 4, 630, CHIP_ID, 8, 0x06030002, 0);
    WORDS(&expected, GPUADDR, 12, 0x1000, 16, 1, CONTENTS, 8, 1, 2);
    WORDS(&expected, GPUADDR, 12, 0x1000, 8, 1, CONTENTS, 8, 3, 4);
    WORDS(&expected, GPUADDR, 12, 0x2000, 4, 0);
    WORDS(&expected, CMDSTREAM_ADDR, 12, 0x1000, 2, 1);
    WORDS(&expected, GPUADDR, 12, 0x2000, 4, 0, CONTENTS, 4, 5);
    expect_written(&capture, &expected);
}

/* They are read in pieces of 64 KiB. */
static void contents_of_any_length_are_one_section(void **state)
{
    static const uint32_t counts[] = {16383, 16384, 16385, 40000};
    (void)state;
    for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
        CPS_BUF capture = {0};
        WORDS(&capture, GPUADDR, 12, 0x1000, 4 * counts[k], 0, CONTENTS, 4 * counts[k]);
        for (uint32_t i = 0; i < counts[k]; i++)
            put(&capture, 3 * i, 4);
        expect_written(&capture, &capture);
    }
}

static void texts_are_padded_behind_their_end(void **state)
{
    CPS_BUF capture = {0};
    CPS_BUF expected = {0};
    (void)state;
    WORDS(&capture, CMD, 3);
    cps_buf_add(&capture, "abc", 3);
    WORDS(&capture, CMD, 4, 0x64636261);
    WORDS(&expected, CMD, 4, 0x00636261, CMD, 8, 0x64636261, 0);
    expect_written(&capture, &expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_at_most_an_indirect_buffer),
        cmocka_unit_test(ranges_end_with_the_address_space),
        cmocka_unit_test(contents_that_begin_again_are_a_buffer),
        cmocka_unit_test(contents_of_any_length_are_one_section),
        cmocka_unit_test(texts_are_padded_behind_their_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
