/* SPDX-License-Identifier: MIT
 * The kernel's devcoredump as a capture. The dumps are written here, with an encoder of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/lib/itemlog.h"
#include "trace/capture/ascii85.h"
#include "trace/capture/formats.h"

static void check_text(const char *dump, const char *expected)
{
    struct log log = {0};
    struct cps_err *err = read_bytes(dump, strlen(dump), &log);
    assert_null(err);
    assert_string_equal(cps_buf_text(&log.text), expected);
    cps_buf_deinit(&log.text);
}

/* ---- dumps ---- */

/* Least significant digit first, unlike the reader. */
static void encode(struct cps_buf *out, const uint32_t *words, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char digits[5];
        uint32_t rest = words[i];
        for (int k = 4; k >= 0; k--, rest /= 85)
            digits[k] = (char)('!' + rest % 85);
        cps_buf_add(out, words[i] ? digits : "z", words[i] ? 5 : 1);
    }
    cps_buf_str(out, "\n");
}

static void small_dump(struct cps_buf *out)
{
    static const uint32_t ring[] = {0x70108000, 0, 0xffffffff};
    static const uint32_t bo[] = {0xdeadd00d};
    static const uint32_t stat[] = {0xc5, 0, 0x80000000};
    cps_buf_str(out, "---\nkernel: 6.1\nmodule: msm\ntime: 1.5\ncomm: foo\n"
                     "revision: 630 (6.3.0.2)\nrbbm-status: 0x00000001\n"
                     "fault-info:\n  - ttbr0=0000\n  - dir=WRITE\n"
                     "ringbuffer:\n  - id: 0\n    iova: 0x0001000000001000\n    last-fence: 7\n"
                     "    retired-fence: -1\n    rptr: 2\n    wptr: 3\n    size: 20\n"
                     "    data: !!ascii85 |\n     ");
    encode(out, ring, 3);
    cps_buf_str(out, "  - id: 1\n    iova: 0x2000\n    size: 16\n"
                     "bos:\n  - iova: 0x100000000\n    size: 8\n    flags: 0x3\n"
                     "    name: cmd\n    data: !!ascii85 |\n     ");
    encode(out, bo, 1);
    cps_buf_str(out, "  - iova: 0x200000000\n    size: 4096\n"
                     "registers:\n  - { offset: 0x2000, value: 0x00001000 }\n"
                     "registers-gmu:\n  - { offset: 0x04, value: 0xffffffff }\n"
                     "indexed-registers:\n  - regs-name: CP_SEQ_STAT\n    dwords: 51\n"
                     "    data: !!ascii85 |\n      ");
    encode(out, stat, 3);
    cps_buf_str(out, "  - regs-name: CP_DRAW_STATE\n    dwords: 256\n"
                     "clusters:\n  - cluster-name: CLUSTER_FE\n    - context: 1\n"
                     "      - { offset: 0x020000, value: 0x1 }\n"
                     "  - cluster-name: CLUSTER_PS\n      - { offset: 0x20004, value: 0x2 }\n"
                     "future-thing:\n  - id: 3\n");
}

static const char small_dump_log[] = "text kernel: 6.1\ntext module: msm\ntext time: 1.5\n"
                                     "text comm: foo\nchip 630 6030002\n"
                                     "text rbbm-status: 0x00000001\n"
                                     "section fault-info\ntext - ttbr0=0000\ntext - dir=WRITE\n"
                                     "section ringbuffer\n"
                                     "ring 0 1000000001000+14 at 2 3 fences 7 4294967295\n"
                                     "data 1000000001000: 70108000 0 ffffffff\n"
                                     "data 100000000100c: 0 0\n"
                                     "ring 1 2000+10 at 0 0 fences 0 0\n"
                                     "section bos\nbuffer 100000000+8 cmd\n"
                                     "data 100000000: deadd00d\ndata 100000004: 0\n"
                                     "buffer 200000000+1000\n"
                                     "section registers\nreg registers -1 800 1000\n"
                                     "section registers-gmu\nreg registers-gmu -1 1 ffffffff\n"
                                     "section indexed-registers\n"
                                     "block CP_SQE_STAT 51: c5 0 80000000\n"
                                     "block CP_DRAW_STATE 256:\n"
                                     "section clusters\nreg CLUSTER_FE 1 8000 1\n"
                                     "reg CLUSTER_PS -1 8001 2\n"
                                     "section ?\ntext future-thing:\n";

/* ---- ascii85 ---- */

static void ascii85_vectors(void **state)
{
    static const struct {
        const char *text;
        size_t used, count;
        uint32_t words[2];
        unsigned open; /* characters of a group that is not complete */
    } rows[] = {
        {"", 0, 0, {0}, 0},
        {"!!!!!", 5, 1, {0}, 0},
        {"!!!!\"z", 6, 2, {1, 0}, 0},
        {"s8W-!", 5, 1, {0xffffffff}, 0},
        {"s8W-\"", 5, 1, {0}, 0},         /* 2^32 */
        {"uuuuu", 5, 1, {0x08780ec4}, 0}, /* 85^5 - 1, modulo 2^32 */
        {"9jqo^", 5, 1, {0x4d616e20}, 0}, /* "Man ", the example that everyone has */
        {"z!!", 3, 1, {0}, 2},
        {"!!z!!", 2, 0, {0}, 2}, /* z inside a group */
        {"zv", 1, 1, {0}, 0},
        {"z ", 1, 1, {0}, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct cps_ascii85 decoder = {0};
        uint32_t words[8];
        size_t used = 0;
        size_t count =
            cps_ascii85_decode_(&decoder, rows[i].text, strlen(rows[i].text), words, 8, &used);
        assert_int_equal(count, rows[i].count);
        assert_int_equal(used, rows[i].used);
        assert_int_equal(decoder.count, rows[i].open);
        assert_memory_equal(words, rows[i].words, count * sizeof(words[0]));
    }
}

static void ascii85_in_pieces_is_the_same(void **state)
{
    static const uint32_t words[] = {0x12345678, 0, 1, 0xffffffff, 0x80000000};
    CPS_BUF text = {0};
    (void)state;
    encode(&text, words, 5);
    for (size_t cut = 0; cut < text.size; cut++) {
        struct cps_ascii85 decoder = {0};
        uint32_t got[5];
        size_t used = 0;
        size_t count = cps_ascii85_decode_(&decoder, text.data, cut, got, 5, &used);
        count += cps_ascii85_decode_(&decoder, text.data + cut, text.size - 1 - cut, got + count,
                                     5 - count, &used);
        assert_int_equal(count, 5);
        assert_memory_equal(got, words, sizeof(words));
    }
}

/* ---- whole dumps ---- */

static void a_dump_says_all_it_holds(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    small_dump(&dump);
    assert_string_equal(cps_capture_format((const uint8_t *)dump.data, 32), "devcoredump");
    check_text(cps_buf_text(&dump), small_dump_log);
}

static void carriage_returns_change_nothing(void **state)
{
    CPS_BUF dump = {0};
    CPS_BUF crlf = {0};
    (void)state;
    small_dump(&dump);
    for (size_t i = 0; i < dump.size; i++)
        cps_buf_add(&crlf, dump.data[i] == '\n' ? "\r\n" : &dump.data[i],
                    dump.data[i] == '\n' ? 2 : 1);
    check_text(cps_buf_text(&crlf), small_dump_log);
}

static void a_cut_anywhere_keeps_what_is_complete(void **state)
{
    CPS_BUF dump = {0};
    (void)state;
    small_dump(&dump);
    for (size_t cut = 0; cut < dump.size; cut++) {
        struct log log = {0};
        char *copy = malloc(cut + 1); /* exactly as large as the dump, for ASan */
        memcpy(copy, dump.data, cut);
        struct cps_err *err = read_bytes(copy, cut, &log);
        bool within = cut && copy[cut - 1] != '\n';
        assert_int_equal(err != NULL, cut < 4); /* "---", which is no dump yet */
        if (!err && within && !strstr(cps_buf_text(&log.text), "truncated at line"))
            fail_msg("the cut at %zu is not told", cut);
        const char *note = strstr(cps_buf_text(&log.text), "note ");
        /* The last item may be contents that are short, or a block without them. */
        size_t same = note ? (size_t)(note - cps_buf_text(&log.text)) : log.text.size;
        same -= note && same;
        while (same && (same == log.text.size || log.text.data[same - 1] != '\n'))
            same--;
        assert_memory_equal(cps_buf_text(&log.text), small_dump_log, same);
        cps_err_free(err);
        cps_buf_deinit(&log.text);
        free(copy);
    }
}

static void a_changed_byte_is_an_error_or_none(void **state)
{
    static const char other[] = "\n\0 :-z{}9\xff";
    CPS_BUF dump = {0};
    (void)state;
    small_dump(&dump);
    for (size_t i = 0; i < dump.size; i++) {
        char was = dump.data[i];
        for (size_t k = 0; k < sizeof(other) - 1; k++) {
            struct log log = {.brief = true};
            dump.data[i] = other[k];
            struct cps_err *err = read_bytes(dump.data, dump.size, &log);
            if (err)
                assert_int_equal(err->code, CPS_ERR_INPUT);
            cps_err_free(err);
            cps_buf_deinit(&log.text);
        }
        dump.data[i] = was;
    }
}

static void contents_longer_than_any_buffer_arrive_whole(void **state)
{
    enum { WORDS = 50000, STATED = 200000 };
    CPS_BUF dump = {0};
    struct log log = {.brief = true};
    uint64_t sum = 0;
    (void)state;
    cps_buf_str(&dump, "---\nbos:\n  - iova: 0x1000\n    size: 800000\n    data: !!ascii85 |\n");
    uint32_t *words = malloc(WORDS * sizeof(*words));
    for (uint32_t i = 0; i < WORDS; i++)
        sum += words[i] = i * 2654435761u;
    cps_buf_str(&dump, "     ");
    encode(&dump, words, WORDS);
    free(words);
    assert_null(read_bytes(dump.data, dump.size, &log));
    assert_int_equal(log.data_bytes, 4 * STATED);
    assert_int_equal(log.data_sum, sum);
    cps_buf_deinit(&log.text);
}

static void blocks_have_the_names_of_today(void **state)
{
    static const char *const rows[][2] = {
        {"CP_SEQ_STAT", "CP_SQE_STAT"},
        {"CP_SQE_STAT", "CP_SQE_STAT"},
        {"CP_UCODE_DBG_DATA", "CP_UCODE_DBG"},
        {"CP_MEMPOOOL", "CP_MEMPOOL"},
        {"CP_MEM_POOL_DBG", "CP_MEMPOOL"},
        {"CP_SQE_UCODE_DBG", "CP_UCODE_DBG"},
        {"CP_ROQ_DBG", "CP_ROQ"},
        {"CP_DRAW_STATE_ADDR", "CP_DRAW_STATE"},
        {"CP_BV_SQE_STAT_ADDR", "CP_BV_SQE_STAT"},
        {"CP_LPAC_FIFO_DBG_ADDR", "CP_LPAC_FIFO_DBG_ADDR"},
        {"CP_NEVER_SEEN", "CP_NEVER_SEEN"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CPS_BUF dump = {0};
        CPS_BUF expected = {0};
        cps_buf_printf(&dump, "---\nindexed-registers:\n  - regs-name: %s\n    dwords: 2\n",
                       rows[i][0]);
        cps_buf_printf(&expected, "section indexed-registers\nblock %s 2:\n", rows[i][1]);
        check_text(cps_buf_text(&dump), cps_buf_text(&expected));
    }
}

static void the_revision_names_the_chip(void **state)
{
    (void)state;
    check_text("---\nrevision: 540 (5.4.0.1)\n", "chip 540 5040001\n");
    check_text("---\nrevision: 0 (67.5.10.1)\n", "chip 0 43050a01\n");
    check_text("---\nrevision: 0 (0x43050a01)\n", "chip 0 43050a01\n");
    check_text("---\nrevision: 740 (43050a01)\n", "chip 740 43050a01\n");
    check_text("kernel: 5\nrevision: 630\n", "text kernel: 5\nchip 630 0\n");
}

/* ---- defects ---- */

#define BO(size) "---\nbos:\n  - iova: 0x1000\n    size: " size "\n    data: !!ascii85 |\n     "
#define BO_LOG   "section bos\nbuffer 1000+c\n"

static void defects_are_noted(void **state)
{
    (void)state;
    check_text(BO("12") "zz~z\n",
               BO_LOG "data 1000: 0 0\n"
                      "note warning: a character that is not ascii85; the data after it is "
                      "ignored\n");
    check_text(BO("12") "z!!\n",
               BO_LOG "data 1000: 0\nnote warning: the last ascii85 group is incomplete and "
                      "dropped\n");
    check_text(BO("12") "zzzz\n",
               BO_LOG "data 1000: 0 0 0\nnote warning: more data than stated, or than fits; "
                      "the rest is dropped\n");
    check_text(BO("12") "z\n     z\n", BO_LOG "data 1000: 0\ndata 1004: 0\ndata 1008: 0\n");
    check_text("---\nbos:\n  - iova: 0x1000\n    size: 12\n    data: !!ascii85 |\n  - size: 4\n"
               "registers:\n",
               BO_LOG "note warning: data are announced, but there are none\n"
                      "note warning: an entry without name or address, or size, is ignored\n"
                      "section registers\n");
    check_text("---\nbos:\n  - size: 4\n    data: !!ascii85 |\n     z\n    iova: 0x5\n",
               "section bos\nnote warning: an entry without name or address, or size, is ignored\n"
               "note warning: more data than stated, or than fits; the rest is dropped\n");
    check_text("---\nindexed-registers:\n  - dwords: 1\n  - regs-name: X\n    dwords: 2\n",
               "section indexed-registers\n"
               "note warning: an entry without name or address, or size, is ignored\n"
               "block X 2:\n");
    check_text("---\nnonsense\n",
               "note warning: a line that is no section and no value is ignored\n");
}

/* A name that comes twice is what it was last, and 63 characters are the most. */
static void names_are_kept_whole(void **state)
{
    char name[65];
    (void)state;
    check_text("---\nindexed-registers:\n  - regs-name: A_LONGER_ONE\n    regs-name: CP_X\n"
               "    dwords: 2\n",
               "section indexed-registers\nblock CP_X 2:\n");
    for (size_t length = 63; length <= 64; length++) {
        struct log log = {0};
        CPS_BUF dump = {0};
        memset(name, 'X', length);
        name[length] = '\0';
        cps_buf_printf(&dump, "---\nindexed-registers:\n  - regs-name: %s\n    dwords: 2\n", name);
        struct cps_err *err = read_bytes(dump.data, dump.size, &log);
        assert_int_equal(!err, length == 63);
        assert_int_equal(strstr(cps_buf_text(&log.text), name) != NULL, length == 63);
        cps_err_free(err);
        cps_buf_deinit(&log.text);
    }
}

static void the_first_bytes_tell_a_dump(void **state)
{
    static const struct {
        const char *text;
        size_t size;
        bool good;
    } rows[] = {
        {"---\n", 4, true},    {"---\r", 4, true},        {"---\n", 3, false},
        {"--- ", 4, false},    {"kernel:", 7, true},      {"kernel:", 6, false},
        {"kernel ", 7, false}, {"---\nkernel", 10, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(cps_devcore_recognise_((const uint8_t *)rows[i].text, rows[i].size),
                         rows[i].good);
}

static void errors_say_where(void **state)
{
    static const struct {
        const char *dump, *message;
    } rows[] = {
        {"---\nrevision: x\n", "0xe: \"x\", expected a GPU number such as 630"},
        {"---\nrevision: 630 (6.3.0.256)\n",
         "0x12: \"(6.3.0.256)\", expected a chip id such as (6.3.0.2)"},
        {"---\nrevision: 630 x\n", "0x12: \"x\", expected a chip id such as (6.3.0.2)"},
        {"---\nrevision: 630 6.3.0.2)\n",
         "0x12: \"6.3.0.2)\", expected a chip id such as (6.3.0.2)"},
        {"---\nrevision: 630 (x)\n", "0x12: \"(x)\", expected a chip id such as (6.3.0.2)"},
        {"---\nrevision: 630 (6.3.0)\n", "0x12: \"(6.3.0)\", expected a chip id such as (6.3.0.2)"},
        {"---\nrevision: 630 (100000000)\n",
         "0x12: \"(100000000)\", expected a chip id such as (6.3.0.2)"},
        {"---\nindexed-registers:\n  - regs-name:\n",
         "0x25: end of line, expected a name of at most 63 characters"},
        {"---\nbos:\n  - iova:\n", "0x12: end of line, expected a number"},
        {"---\nbos:\n  - iova: 0xfffffffffffff000\n",
         "0x13: \"0xfffffffffffff000\", expected a number"},
        {"---\nringbuffer:\n  - rptr: 4294967296\n",
         "0x1a: \"4294967296\", expected a number of 32 bits"},
        {"---\nregisters:\n  - { offset: 0x3, value: 0x0 }\n",
         "0x1d: \"0x3, value: 0x0 }\", expected a multiple of 4 in 32 bits"},
        {"---\nregisters:\n  - { offset: 0x4, value: 0x100000000 }\n",
         "0x29: \"0x100000000 }\", expected a number of 32 bits"},
        {"---\nregisters:\n  - { offset: 0x4 value: 0x0 }\n",
         "0x21: \"value: 0x0 }\", expected \", value:\""},
        {"---\nregisters:\n  - { offset: 0x4, value: 0x0\n", "0x2c: end of line, expected \"}\""},
        {BO("1048580") "z\n",
         "0x2c: contents of 0x100004 bytes, expected at most 0x100000, 0x300000 in all"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct log log = {0};
        CPS_BUF expected = {0};
        cps_buf_printf(&expected, "a.dump: offset %s", rows[i].message);
        struct cps_err *err = read_bytes(rows[i].dump, strlen(rows[i].dump), &log);
        assert_non_null(err);
        assert_int_equal(err->code, CPS_ERR_INPUT);
        assert_string_equal(err->message, cps_buf_text(&expected));
        cps_err_free(err);
        cps_buf_deinit(&log.text);
    }
}

static void all_contents_together_are_bounded(void **state)
{
    CPS_BUF dump = {0};
    struct log log = {.brief = true};
    (void)state;
    cps_buf_str(&dump, "---\nbos:\n");
    for (int i = 0; i < 4; i++)
        cps_buf_str(&dump, "  - iova: 0\n    size: 1048576\n    data: !!ascii85 |\n     z\n");
    struct cps_err *err = read_bytes(dump.data, dump.size, &log);
    assert_non_null(err);
    assert_int_equal(err->code, CPS_ERR_INPUT);
    assert_int_equal(log.data_bytes, 3 << 20);
    cps_err_free(err);
    cps_buf_deinit(&log.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ascii85_vectors),
        cmocka_unit_test(ascii85_in_pieces_is_the_same),
        cmocka_unit_test(a_dump_says_all_it_holds),
        cmocka_unit_test(carriage_returns_change_nothing),
        cmocka_unit_test(a_cut_anywhere_keeps_what_is_complete),
        cmocka_unit_test(a_changed_byte_is_an_error_or_none),
        cmocka_unit_test(contents_longer_than_any_buffer_arrive_whole),
        cmocka_unit_test(blocks_have_the_names_of_today),
        cmocka_unit_test(the_revision_names_the_chip),
        cmocka_unit_test(defects_are_noted),
        cmocka_unit_test(names_are_kept_whole),
        cmocka_unit_test(the_first_bytes_tell_a_dump),
        cmocka_unit_test(errors_say_where),
        cmocka_unit_test(all_contents_together_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
