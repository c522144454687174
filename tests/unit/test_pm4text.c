/* SPDX-License-Identifier: MIT
 * PM4 text as a capture: the items that texts give, and what mistakes are answered with. */
#include <stddef.h>
#include <stdint.h>
#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <inttypes.h>
#include <string.h>

#include "isa/base/buf.h"
#include "isa/base/le.h"
#include "trace/capture/capture.h"

#define HEAD "# cpscope-pm4 1\n"

struct log {
    struct cps_item_sink sink;
    struct cps_buf text;
};

/* One short line per item. */
static struct cps_err *write_item(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct cps_buf *out = &((struct log *)sink)->text;
    switch (item->kind) {
    case CPS_ITEM_CHIP:
        cps_buf_printf(out, "chip %" PRIu32 " %" PRIx64 "\n", item->chip.gpu_id,
                       item->chip.chip_id);
        break;
    case CPS_ITEM_BUFFER:
        cps_buf_printf(out, "buffer %" PRIx64 " %" PRIu64 "\n", item->buffer.iova,
                       item->buffer.size);
        break;
    case CPS_ITEM_DATA:
        cps_buf_printf(out, "data %" PRIx64, item->buffer.iova);
        for (uint64_t i = 0; i < item->buffer.size; i += 4)
            cps_buf_printf(out, " %" PRIx32, cps_le32(item->buffer.data + i));
        cps_buf_str(out, "\n");
        break;
    case CPS_ITEM_SUBMIT:
        cps_buf_printf(out, "submit%s %" PRIx64 " %" PRIu32 "\n",
                       item->stream.lpac ? " to LPAC" : "", item->stream.iova, item->stream.dwords);
        break;
    case CPS_ITEM_FENCE:
        cps_buf_printf(out, "fence %" PRIu32 "\n", item->fence.seqno);
        break;
    case CPS_ITEM_RESET:
        cps_buf_str(out, "reset\n");
        break;
    case CPS_ITEM_INIT:
        cps_buf_str(out, "init\n");
        break;
    case CPS_ITEM_RING:
        cps_buf_printf(out, "ring %" PRIx64 " %" PRIu64 " %" PRIu32 " %" PRIu32 "\n",
                       item->ring.iova, item->ring.size, item->ring.rptr, item->ring.wptr);
        break;
    case CPS_ITEM_REGISTER:
        cps_buf_printf(out, "start %" PRIx32 " %" PRIx32 "\n", item->reg.offset, item->reg.value);
        break;
    default:
        cps_buf_str(out, "other\n");
    }
    return NULL;
}

static struct cps_err *read_text(const char *text, struct log *log)
{
    struct cps_stream *stream = NULL;
    struct cps_err *err = cps_stream_open_memory("a.pm4", text, strlen(text), &stream);
    if (!err)
        err = cps_capture_read(stream, NULL, &log->sink);
    cps_stream_close(stream);
    return err;
}

static const struct {
    const char *claim;
    const char *text;
    const char *items;
} captures[] = {
    {"no lines", HEAD, ""},
    {"the header alone, unterminated", "# cpscope-pm4 1", ""},
    {"blanks, comments, carriage returns", HEAD "\r\n  \t\n; all\r\n ; more", ""},
    {"gpu number", HEAD "gpu 630", "chip 630 0\n"},
    {"chip id", HEAD "chip 0x43050a01", "chip 0 43050a01\n"},
    {"a packet", HEAD "buffer 0x1000 a\nCP_NOP\n", "buffer 1000 4\ndata 1000 70108000\n"},
    {"packets follow each other", HEAD "buffer 0x1000 a\nCP_NOP 1 0x2\nCP_NOP",
     "buffer 1000 16\ndata 1000 70100002 1 2\ndata 100c 70108000\n"},
    {"comment behind a packet", HEAD "buffer 0x1000 a ; b\nCP_NOP ; c",
     "buffer 1000 4\ndata 1000 70108000\n"},
    {"register by offset and by name", HEAD "buffer 0x1000 a\nreg 0x885 7\nreg CP_SCRATCH[2].REG 7",
     "buffer 1000 16\ndata 1000 48088501 7\ndata 1008 48088501 7\n"},
    {"raw dwords", HEAD "buffer 0x1000 a\n.word 0xdeadd00d 1",
     "buffer 1000 8\ndata 1000 deadd00d 1\n"},
    {"reference backwards", HEAD "buffer 0x1000 a\nCP_NOP\nbuffer 0x2000 b\n.word @a #a",
     "buffer 1000 4\ndata 1000 70108000\nbuffer 2000 12\ndata 2000 1000 0 1\n"},
    {"reference forwards, high half",
     HEAD "buffer 0x1000 a\nCP_INDIRECT_BUFFER @b #b\nbuffer 0x500002000 b\n.word 1 2",
     "buffer 1000 16\ndata 1000 70bf8003 2000 5 2\nbuffer 500002000 8\ndata 500002000 1 2\n"},
    {"names of which one begins the other",
     HEAD "buffer 0x3000 ab\nbuffer 0x1000 a\nbuffer 0x2000 abc\n.word @a @ab",
     "buffer 3000 0\nbuffer 1000 0\nbuffer 2000 16\ndata 2000 1000 0 3000 0\n"},
    {"several submits", HEAD "buffer 0x1000 a\nCP_NOP\nsubmit a\nsubmit a",
     "buffer 1000 4\ndata 1000 70108000\nsubmit 1000 1\nsubmit 1000 1\nfence 1\n"},
    {"a submit to LPAC", HEAD "buffer 0x1000 a\nCP_NOP\nsubmit a lpac\nsubmit a",
     "buffer 1000 4\ndata 1000 70108000\nsubmit to LPAC 1000 1\nsubmit 1000 1\nfence 1\n"},
    {"reset", HEAD "buffer 0x1000 a\nreset\nbuffer 0x2000 b\nsubmit b",
     "buffer 1000 0\nreset\nbuffer 2000 0\nsubmit 2000 0\nfence 1\n"},
    {"a reset ends a submission", HEAD "buffer 0x1000 a\nsubmit a\nreset\nreset\nsubmit a",
     "buffer 1000 0\nsubmit 1000 0\nfence 1\nreset\nreset\nsubmit 1000 0\nfence 2\n"},
    {"ring, as large as needed",
     HEAD "buffer 0x1000 a\n.word 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\nring a",
     "buffer 1000 64\ndata 1000 1 2 3 4 5 6 7 8 9 a b c d e f 10\nring 1000 128 0 16\n"},
    {"start values and the driver's packets", HEAD "start 0x8c1 7\nstart CP_SCRATCH[2].REG 8\ninit",
     "start 8c1 7\nstart 885 8\ninit\n"},
};

static void test_captures(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(captures) / sizeof(captures[0]); i++) {
        struct log log = {{write_item}, {0}};
        struct cps_err *err = read_text(captures[i].text, &log);
        if (err || strcmp(cps_buf_text(&log.text), captures[i].items) != 0)
            fail_msg("%s: %s", captures[i].claim, err ? err->message : log.text.data);
        cps_buf_deinit(&log.text);
    }
}

#define BUFFER HEAD "buffer 0x1000 a\n"
#define VALUE  "expected a 32-bit number, @buffer or #buffer"
#define NAMED  "expected the name of a buffer"
#define START  "expected a register and its value"
#define REG    "expected a register offset up to 0x3ffff or a register's name"

static const struct {
    const char *text;
    const char *message;
} mistakes[] = {
    {HEAD "CP_NOP", "a.pm4:2:1: expected a buffer before the first packet\n  CP_NOP\n  ^"},
    {HEAD "gpu x", "a.pm4:2:5: expected a GPU number such as 630\n  gpu x\n      ^"},
    {HEAD "chip", "a.pm4:2:5: expected a chip id\n  chip\n      ^"},
    {HEAD "buffer a", "a.pm4:2:8: expected an address\n  buffer a\n         ^"},
    {HEAD "buffer 1 2", "a.pm4:2:10: expected a name for the buffer\n  buffer 1 2\n           ^"},
    {HEAD "buffer 1 a b",
     "a.pm4:2:10: expected a name for the buffer\n  buffer 1 a b\n           ^"},
    {BUFFER "buffer 2 a",
     "a.pm4:3:10: expected a name that no other buffer has\n  buffer 2 a\n           ^"},
    {BUFFER "CP_BOGUS 1", "a.pm4:3:1: expected an opcode, reg or .word\n  CP_BOGUS 1\n  ^"},
    {BUFFER "ref 0x8800 1", "a.pm4:3:1: expected an opcode, reg or .word\n  ref 0x8800 1\n  ^"},
    {BUFFER "regs 0x8800 1", "a.pm4:3:1: expected an opcode, reg or .word\n  regs 0x8800 1\n  ^"},
    {BUFFER "\tCP_NOP x", "a.pm4:3:9: " VALUE "\n  \tCP_NOP x\n  \t       ^"},
    {BUFFER "CP_NOP \033[m ; c", "a.pm4:3:8: " VALUE "\n  CP_NOP ?[m\n         ^"},
    {BUFFER "CP_NOP 1\nCP_NOP @b", "a.pm4:4:8: " NAMED "\n  CP_NOP @b\n         ^"},
    {BUFFER "CP_NOP #", "a.pm4:3:8: " NAMED "\n  CP_NOP #\n         ^"},
    {BUFFER "reg 0x40000", "a.pm4:3:12: " REG "\n  reg 0x40000\n             ^"},
    {BUFFER "reg", "a.pm4:3:4: " REG "\n  reg\n     ^"},
    {BUFFER "reg NO_SUCH 1", "a.pm4:3:5: " REG "\n  reg NO_SUCH 1\n      ^"},
    {BUFFER "submit b", "a.pm4:3:8: " NAMED "\n  submit b\n         ^"},
    {BUFFER "submit a bv",
     "a.pm4:3:10: expected 'lpac' or the end of the line\n  submit a bv\n           ^"},
    {HEAD "submit a", "a.pm4:2:8: " NAMED "\n  submit a\n         ^"},
    {HEAD "ring a", "a.pm4:2:6: " NAMED "\n  ring a\n       ^"},
    {HEAD "start 0x40000 1", "a.pm4:2:7: " START "\n  start 0x40000 1\n        ^"},
    {HEAD "start 0x8c1", "a.pm4:2:7: " START "\n  start 0x8c1\n        ^"},
    {HEAD "start 0x8c1 1 2", "a.pm4:2:7: " START "\n  start 0x8c1 1 2\n        ^"},
    {"# cpscope-pm",
     "a.pm4: offset 0x0: not a capture, expected .rd sections, a dump of a hang or PM4 text"},
};

static void test_mistakes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        struct log log = {{write_item}, {0}};
        struct cps_err *err = read_text(mistakes[i].text, &log);
        assert_non_null(err);
        assert_string_equal(err->message, mistakes[i].message);
        cps_err_free(err);
        cps_buf_deinit(&log.text);
    }
}

/* 160 characters of a line are shown, and a place behind them is not. */
static void test_long_lines(void **state)
{
    (void)state;
    for (int column = 159; column <= 161; column++) {
        CPS_BUF text = {0};
        CPS_BUF message = {0};
        struct log log = {{write_item}, {0}};
        cps_buf_printf(&text, HEAD "buffer 0x1000 a\n%*sCP_BOGUS", column, "");
        cps_buf_printf(&message, "a.pm4:3:%d: expected an opcode, reg or .word\n  %*s%.*s",
                       column + 1, column < 160 ? column : 160, "", column < 160 ? 160 - column : 0,
                       "CP_BOGUS");
        if (column <= 160)
            cps_buf_printf(&message, "\n  %*s^", column, "");
        struct cps_err *err = read_text(cps_buf_text(&text), &log);
        assert_string_equal(err->message, cps_buf_text(&message));
        cps_err_free(err);
        cps_buf_deinit(&log.text);
    }
}

/* Bits 6:0 of a type-4 header count its values; a line of .word or of a packet has its own limit.
 */
static void test_most_values(void **state)
{
    static const struct {
        const char *word;
        unsigned most;
        const char *refusal;
        uint32_t header; /* of the longest, and where it counts */
    } rows[] = {{"reg 0x8000", 127, "expected up to 127 values", 0x4080007f},
                {"CP_NOP", 0x3fff, "expected ", 0x7010bfff}};
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (unsigned more = 0; more < 2; more++) {
            CPS_BUF text = {0};
            CPS_BUF start = {0};
            struct log log = {{write_item}, {0}};
            cps_buf_printf(&text, HEAD "buffer 0x1000 a\n%s", rows[i].word);
            for (unsigned k = 0; k < rows[i].most + more; k++)
                cps_buf_printf(&text, " %u", k & 7);
            struct cps_err *err = read_text(cps_buf_text(&text), &log);
            cps_buf_printf(&start, "buffer 1000 %u\ndata 1000 %" PRIx32 " 0 1 2 3 4 5 6 7 0 ",
                           4 * (rows[i].most + 1), rows[i].header);
            if (more) {
                assert_non_null(err);
                assert_non_null(strstr(err->message, rows[i].refusal));
            } else {
                assert_null(err);
                assert_memory_equal(cps_buf_text(&log.text), start.data, start.size);
            }
            cps_err_free(err);
            cps_buf_deinit(&log.text);
        }
    }
}

/* Tens of thousands of buffers, each naming another one: lookups must not walk them all. */
static void test_many_buffers(void **state)
{
    (void)state;
    enum { COUNT = 50000 };
    struct log log = {{write_item}, {0}};
    CPS_BUF text = {0};
    cps_buf_str(&text, HEAD);
    for (unsigned i = 0; i < COUNT; i++)
        cps_buf_printf(&text, "buffer 0x%x b%u\n.word @b%u\n", 0x1000 + 16 * i, i, COUNT - 1 - i);
    assert_null(read_text(cps_buf_text(&text), &log));
    assert_non_null(strstr(cps_buf_text(&log.text), "buffer 1000 8\ndata 1000 c44f0 0\n"));
    cps_buf_deinit(&log.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures),     cmocka_unit_test(test_mistakes),
        cmocka_unit_test(test_long_lines),   cmocka_unit_test(test_most_values),
        cmocka_unit_test(test_many_buffers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
