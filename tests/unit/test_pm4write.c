/* SPDX-License-Identifier: MIT
 * Items as PM4 text: what a text gives is what it was made of, and reads as people write it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/le.h"
#include "tools/run/feed.h"
#include "tools/explain/reduce/reduce.h"
#include "trace/capture/capture.h"
#include "trace/capture/pm4text.h"

#define HEAD "# cpscope-pm4 1\n"

struct reader {
    struct cps_item_sink sink;
    struct feed feed;
};

static struct cps_err *take(struct cps_item_sink *sink, const struct cps_item *item)
{
    return feed_add(&((struct reader *)sink)->feed, item);
}

/* The items of a text, contents that follow each other as one. */
static void read_items(const char *text, struct job *ret)
{
    struct reader reader = {.sink = {take}};
    struct cps_stream *stream = NULL;
    assert_null(cps_stream_open_memory("a.pm4", text, strlen(text), &stream));
    assert_null(cps_capture_read(stream, NULL, &reader.sink));
    job_init(ret, &reader.feed);
    cps_stream_close(stream);
}

static const struct {
    const char *claim, *text, *written;
} rows[] = {
    {"nothing", "", ""},
    {"gpu and chip", "gpu 630\nchip 0x43050a01\n", "gpu 630\nchip 0x43050a01\n"},
    {"a stream is packets, names are those of the generation",
     "buffer 0x1000 a\nCP_NOP 1 2\nreg 0x885 7\nreg 0x8e07 5 6\n.word 0xdeadd00d 3\nsubmit a\n",
     "buffer 0x1000 submit0\n    CP_NOP 0x1 0x2\n    reg CP_SCRATCH[2].REG 0x7\n"
     "    reg RB_CCU_CNTL 0x5 0x6\n    .word 0xdeadd00d 0x00000003\nsubmit submit0\n"},
    {"what is no stream is words", "buffer 0x1000 a\nCP_NOP 1 2\n",
     "buffer 0x1000 data0\n    .word 0x70100002 0x00000001 0x00000002\n"},
    {"called buffers and groups have names, and their sizes",
     "buffer 0x1000 a\nCP_INDIRECT_BUFFER @b #b\nCP_SET_DRAW_STATE 0x00700001 @c\n"
     "buffer 0x2000 b\nCP_NOP\nbuffer 0x3000 c\nCP_NOP\nsubmit a\n",
     "buffer 0x1000 submit0\n    CP_INDIRECT_BUFFER @ib0 #ib0\n    CP_SET_DRAW_STATE 0x700001 "
     "@group0\nbuffer 0x2000 ib0\n    CP_NOP\nbuffer 0x3000 group0\n    CP_NOP\nsubmit submit0\n"},
    {"part of a buffer is a buffer",
     "buffer 0x1000 a\nCP_INDIRECT_BUFFER 0x200c 0 1\nbuffer 0x2000 b\nCP_NOP 1 2\nCP_NOP\n.word "
     "5\nsubmit a\n",
     "buffer 0x1000 submit0\n    CP_INDIRECT_BUFFER @ib0 #ib0\nbuffer 0x2000 data0\n    .word "
     "0x70100002 0x00000001 0x00000002\nbuffer 0x200c ib0\n    CP_NOP\nbuffer 0x2010 data1\n    "
     ".word 0x00000005\nsubmit submit0\n"},
    {"each load of an address is a buffer",
     "buffer 0x1000 a\nCP_NOP\nsubmit a\nreset\nbuffer 0x1000 b\nCP_NOP 1\nsubmit b\n",
     "buffer 0x1000 submit0\n    CP_NOP\nsubmit submit0\nreset\nbuffer 0x1000 submit1\n    CP_NOP "
     "0x1\nsubmit submit1\n"},
    {"a ring, with what the driver did before",
     "buffer 0x1000 a\nCP_NOP\nstart 0x8c1 7\ninit\nring a\n",
     "buffer 0x1000 ring0\n    CP_NOP\nstart 0x8c1 0x7\ninit\nring ring0\n"},
};

static void check_row(const char *claim, const char *text, const char *written)
{
    struct job job = {0};
    CPS_BUF given = {0};
    CPS_BUF out = {0};
    cps_buf_printf(&given, HEAD "%s", text);
    read_items(cps_buf_text(&given), &job);
    assert_null(cps_pm4text_write(job.item, job.count, &out));
    if (strcmp(cps_buf_text(&out) + strlen(HEAD), written) != 0)
        fail_msg("%s: %s", claim, cps_buf_text(&out));
    job_deinit(&job);
}

static void texts_are_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check_row(rows[i].claim, rows[i].text, rows[i].written);
        check_row(rows[i].claim, rows[i].written, rows[i].written);
    }
}

static void same_items(const struct job *a, const struct job *b)
{
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_int_equal(a->item[i].kind, b->item[i].kind);
        assert_int_equal(a->item[i].stream.iova, b->item[i].stream.iova);
        assert_int_equal(a->item[i].stream.dwords, b->item[i].stream.dwords);
        assert_int_equal(a->item[i].ring.wptr, b->item[i].ring.wptr);
        assert_int_equal(a->item[i].reg.value, b->item[i].reg.value);
        assert_int_equal(a->item[i].buffer.size, b->item[i].buffer.size);
        if (a->item[i].buffer.size)
            assert_memory_equal(a->item[i].buffer.data, b->item[i].buffer.data,
                                a->item[i].buffer.size);
    }
}

static void items_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct job first = {0};
        struct job again = {0};
        CPS_BUF given = {0};
        CPS_BUF out = {0};
        cps_buf_printf(&given, HEAD "%s", rows[i].text);
        read_items(cps_buf_text(&given), &first);
        assert_null(cps_pm4text_write(first.item, first.count, &out));
        read_items(cps_buf_text(&out), &again);
        if (!strstr(rows[i].claim, "part of")) /* which becomes several items */
            same_items(&first, &again);
        job_deinit(&first);
        job_deinit(&again);
    }
}

static void a_submission_in_two_buffers_is_refused(void **state)
{
    const uint8_t bytes[8] = {0};
    const struct cps_item items[] = {
        {.kind = CPS_ITEM_DATA, .buffer = {.iova = 0x1000, .size = 8, .data = bytes}},
        {.kind = CPS_ITEM_SUBMIT, .stream = {.iova = 0x1004, .dwords = 2}},
    };
    CPS_BUF out = {0};
    (void)state;
    struct cps_err *err = cps_pm4text_write(items, 2, &out);
    assert_int_equal(err->code, CPS_ERR_UNSUPPORTED);
    assert_non_null(strstr(err->message, "lie in no single buffer"));
    cps_err_free(err);
}

/* What a ring holds is what lies between where it is read and where it is written. */
static void a_ring_is_what_is_not_read_yet(void **state)
{
    static const uint32_t words[] = {0x70100001, 7, 0x70108000, 0x70100001, 8, 0x70108000};
    uint8_t bytes[sizeof(words)];
    const struct cps_item items[] = {
        {.kind = CPS_ITEM_DATA, .buffer = {.iova = 0x1000, .size = sizeof(bytes), .data = bytes}},
        {.kind = CPS_ITEM_RING, .ring = {.iova = 0x1000, .size = 24, .rptr = 2, .wptr = 5}},
    };
    CPS_BUF out = {0};
    (void)state;
    for (size_t i = 0; i < sizeof(words) / 4; i++)
        cps_put_le32(bytes + 4 * i, words[i]);
    assert_null(cps_pm4text_write(items, 2, &out));
    assert_string_equal(cps_buf_text(&out),
                        HEAD "buffer 0x1000 data0\n    .word 0x70100001 0x00000007\n"
                             "buffer 0x1008 ring0\n    CP_NOP\n    CP_NOP 0x8\n"
                             "buffer 0x1014 data1\n    .word 0x70108000\nring ring0\n");
}

static void odd_sizes_are_padded(void **state)
{
    uint8_t bytes[6] = {1, 2, 3, 4, 5, 6};
    const struct cps_item item = {.kind = CPS_ITEM_DATA,
                                  .buffer = {.iova = 0x1000, .size = 6, .data = bytes}};
    CPS_BUF out = {0};
    (void)state;
    assert_null(cps_pm4text_write(&item, 1, &out));
    assert_string_equal(cps_buf_text(&out),
                        HEAD "buffer 0x1000 data0\n    .word 0x04030201 0x00000605\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_written),
        cmocka_unit_test(items_come_back),
        cmocka_unit_test(a_submission_in_two_buffers_is_refused),
        cmocka_unit_test(a_ring_is_what_is_not_read_yet),
        cmocka_unit_test(odd_sizes_are_padded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
