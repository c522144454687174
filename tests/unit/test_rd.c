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

enum {
    CMD = 2,
    GPUADDR = 3,
    CONTEXT = 4,
    CMDSTREAM_ADDR = 6,
    CONTENTS = 12,
    GPU_ID = 13,
    CHIP_ID = 14
};

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

/* A text section. */
static void add_text(struct cps_buf *capture, const char *text)
{
    uint32_t size = (uint32_t)strlen(text) / 4 * 4 + 4;
    WORDS(capture, CMD, size);
    cps_buf_str(capture, text);
    for (size_t i = strlen(text); i < size; i++)
        cps_buf_add(capture, "", 1);
}

static void check_fences(const struct cps_buf *capture, const char *expected)
{
    struct log log = {.compared = true, .fences = true};
    assert_null(read_bytes(capture->data, capture->size, &log));
    assert_string_equal(cps_buf_text(&log.text), expected);
    log_deinit(&log);
}

/* Streams that follow each other are one submission; it ends where buffers follow, and at the end
 * of the file. */
static void a_group_of_streams_is_a_submission(void **state)
{
    CPS_BUF capture = {0};
    (void)state;
    WORDS(&capture, GPUADDR, 12, 0x1000, 8, 0);
    WORDS(&capture, CMDSTREAM_ADDR, 12, 0x1000, 1, 0, CMDSTREAM_ADDR, 12, 0x1004, 1, 0);
    check_fences(&capture, "buffer 1000+8\nsubmit 1000+1 context 0\nsubmit 1004+1 context 0\n"
                           "fence 1 context 0\n");
    cps_buf_clear(&capture);
    WORDS(&capture, GPUADDR, 12, 0x1000, 8, 0, CMDSTREAM_ADDR, 12, 0x1000, 1, 0);
    WORDS(&capture, GPUADDR, 12, 0x2000, 8, 0, GPUADDR, 12, 0x3000, 8, 0);
    WORDS(&capture, CMDSTREAM_ADDR, 12, 0x3000, 1, 0);
    check_fences(&capture, "buffer 1000+8\nsubmit 1000+1 context 0\nfence 1 context 0\nreset\n"
                           "buffer 2000+8\nbuffer 3000+8\nsubmit 3000+1 context 0\n"
                           "fence 2 context 0\n");
}

/* One without streams as well, and a group that follows without such a text counts on. */
static void a_recording_names_its_submissions(void **state)
{
    CPS_BUF capture = {0};
    (void)state;
    add_text(&capture, "cpscope submission context=2 seqno=7");
    WORDS(&capture, GPUADDR, 12, 0x1000, 8, 0, CMDSTREAM_ADDR, 12, 0x1000, 1, 0);
    add_text(&capture, "cpscope submission context=3 seqno=9");
    add_text(&capture, "cpscope submission context=4 seqno=4294967295");
    WORDS(&capture, GPUADDR, 12, 0x2000, 8, 0, CMDSTREAM_ADDR, 12, 0x2000, 1, 0);
    WORDS(&capture, GPUADDR, 12, 0x3000, 8, 0, CMDSTREAM_ADDR, 12, 0x3000, 1, 0);
    add_text(&capture, "cpscope submission context=5");
    check_fences(&capture,
                 "text cpscope submission context=2 seqno=7\nbuffer 1000+8\n"
                 "submit 1000+1 context 2\nfence 7 context 2\n"
                 "text cpscope submission context=3 seqno=9\nfence 9 context 3\n"
                 "text cpscope submission context=4 seqno=4294967295\nreset\nbuffer 2000+8\n"
                 "submit 2000+1 context 4\nfence 4294967295 context 4\nreset\nbuffer 3000+8\n"
                 "submit 3000+1 context 4\ntext cpscope submission context=5\n"
                 "fence 0 context 4\n");
}

/* Sections after such a text change what is there; then the stream goes on. A short one is none. */
static void a_recording_has_what_ended_a_wait(void **state)
{
    CPS_BUF capture = {0};
    (void)state;
    add_text(&capture, "cpscope resume"); /* of no stream */
    add_text(&capture, "cpscope submission context=2 seqno=7");
    WORDS(&capture, GPUADDR, 12, 0x1000, 8, 0, CMDSTREAM_ADDR, 12, 0x1000, 1, 0);
    for (unsigned i = 0; i < 2; i++) {
        add_text(&capture, "cpscope resume");
        WORDS(&capture, CONTEXT, 16, 0x2000, 4, 0, i);
        WORDS(&capture, CONTEXT, 8, 0x2000, 4, CONTEXT, 16, 0x3000, 4, 1, 3);
    }
    WORDS(&capture, CMDSTREAM_ADDR, 12, 0x1004, 1, 0, CONTEXT, 16, 0x2000, 4, 0, 4);
    WORDS(&capture, GPUADDR, 12, 0x1000, 8, 0);
    check_fences(&capture,
                 "text cpscope resume\ntext cpscope submission context=2 seqno=7\n"
                 "buffer 1000+8\nsubmit 1000+1 context 2\n"
                 "text cpscope resume\nbuffer 2000+4\ndata 2000: 0\nbuffer 100003000+4\n"
                 "data 100003000: 3\nrun\n"
                 "text cpscope resume\nbuffer 2000+4\ndata 2000: 1\nbuffer 100003000+4\n"
                 "data 100003000: 3\nrun\nsubmit 1004+1 context 2\nfence 7 context 2\nreset\n"
                 "buffer 1000+8\n");
}

/* The driver did not write the fence of the first one. */
static void a_recording_has_hangs(void **state)
{
    CPS_BUF capture = {0};
    (void)state;
    add_text(&capture, "cpscope recover reason=2 fence=0"); /* of no submission */
    add_text(&capture, "cpscope submission context=2 seqno=7");
    WORDS(&capture, GPUADDR, 12, 0x1000, 8, 0);
    add_text(&capture, "cpscope ticks=4294967296");
    WORDS(&capture, CMDSTREAM_ADDR, 12, 0x1000, 1, 0);
    add_text(&capture, "cpscope recover reason=1 fence=0");
    add_text(&capture, "cpscope submission context=2 seqno=8");
    add_text(&capture, "cpscope recover reason=2 fence=0 "); /* is another text */
    add_text(&capture, "cpscope recover reason=9 fence=1");
    check_fences(&capture, "text cpscope recover reason=2 fence=0\n"
                           "text cpscope submission context=2 seqno=7\nbuffer 1000+8\n"
                           "text cpscope ticks=4294967296\n"
                           "submit 1000+1 context 2 ticks 4294967296\nrecover 1\n"
                           "text cpscope recover reason=1 fence=0\n"
                           "text cpscope submission context=2 seqno=8\n"
                           "text cpscope recover reason=2 fence=0 \nfence 8 context 2\nrecover 3\n"
                           "text cpscope recover reason=9 fence=1\n");
}

static void expect_policy(const struct cps_buf *capture, const char *expected)
{
    size_t size = 0;
    const char *text = cps_rd_policy((const uint8_t *)cps_buf_text(capture), capture->size, &size);
    if (!expected) {
        assert_null(text);
        return;
    }
    assert_non_null(text);
    assert_int_equal(size, strlen(expected));
    assert_memory_equal(text, expected, size);
}

/* In front of buffers, and whole. */
static void a_recording_names_its_policies(void **state)
{
    CPS_BUF late = {0};
    CPS_BUF capture = {0};
    (void)state;
    expect_policy(&capture, NULL);
    WORDS(&capture, 0xffffffff, 0xffffffff, GPU_ID, 4, 630);
    add_text(&capture, "somebody");
    expect_policy(&capture, NULL);
    add_text(&capture, "cpscope policy waits=stop ring=msm");
    expect_policy(&capture, "waits=stop ring=msm");
    capture.size--;
    expect_policy(&capture, NULL);
    WORDS(&late, GPUADDR, 12, 0x1000, 8, 0);
    add_text(&late, "cpscope policy waits=stop");
    expect_policy(&late, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_is_at_most_an_indirect_buffer),
        cmocka_unit_test(ranges_end_with_the_address_space),
        cmocka_unit_test(contents_that_begin_again_are_a_buffer),
        cmocka_unit_test(contents_of_any_length_are_one_section),
        cmocka_unit_test(texts_are_padded_behind_their_end),
        cmocka_unit_test(a_group_of_streams_is_a_submission),
        cmocka_unit_test(a_recording_names_its_submissions),
        cmocka_unit_test(a_recording_has_what_ended_a_wait),
        cmocka_unit_test(a_recording_has_hangs),
        cmocka_unit_test(a_recording_names_its_policies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
