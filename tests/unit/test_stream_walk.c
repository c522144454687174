/* SPDX-License-Identifier: MIT
 * What packets lead to without firmware, each as the register database has its fields
 * (adreno_pm4.xml): streams that they call, registers that they write, groups that a mode runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/base/pm4.h"
#include "isa/base/buf.h"
#include "tools/explain/stream/walk.h"
#include "trace/event/event.h"

#define TOP          UINT64_C(0x1000)
#define OTHER        UINT64_C(0x700002000)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
enum { A530 = 530, A630 = 630, A740 = 0x43050a01 };

/* Gathers "level address" of packets that lie in other streams, and "register=value". */
struct scene {
    struct cps_sink sink; /* first */
    struct stream_walk walk;
    struct cps_names *names;
    struct cps_buf text;
};

static void take(struct cps_sink *sink, const struct cps_event *events, size_t count)
{
    struct scene *s = (struct scene *)sink;
    for (size_t i = 0; i < count; i++) {
        uint64_t addr = events[i].addr;
        unsigned level = cps_event_sub(&events[i]);
        if (cps_event_kind(&events[i]) == CPS_EV_PKT && addr >= OTHER)
            cps_buf_printf(&s->text, "%s%u+%x", s->text.size ? " " : "", level,
                           (unsigned)(addr - OTHER));
    }
}

static void give(struct scene *s, const struct cps_item *item)
{
    assert_null(s->walk.items.item(&s->walk.items, item));
}

static void give_words(struct scene *s, uint64_t iova, const uint32_t *words, size_t count)
{
    give(s, &(struct cps_item){
                .kind = CPS_ITEM_DATA,
                .buffer = {.iova = iova, .data = (const uint8_t *)words, .size = 4 * count}});
}

/* Streams of `count` NOPs without words stand at OTHER, and a stream in front is walked. */
static void walk(struct scene *s, uint32_t gpu, const uint32_t *words, size_t count, size_t nops)
{
    uint32_t nop[64];
    memset(s, 0, sizeof(*s));
    s->sink.put = take;
    s->walk.sink = &s->sink;
    s->walk.publish = &s->names;
    s->walk.limit = 1000;
    for (size_t i = 0; i < COUNT(nop); i++)
        nop[i] = cps_pm4_type7(0x10, 0);
    assert_null(stream_walk_init(&s->walk));
    give(s, &(struct cps_item){.kind = CPS_ITEM_CHIP, .chip = {.gpu_id = gpu}});
    give_words(s, TOP, words, count);
    give_words(s, OTHER, nop, nops);
    give(s, &(struct cps_item){.kind = CPS_ITEM_SUBMIT,
                               .stream = {.iova = TOP, .dwords = (uint32_t)count}});
}

static void ends(struct scene *s, const char *what, const char *expected)
{
    if (strcmp(cps_buf_text(&s->text), expected) != 0)
        fail_msg("%s: \"%s\", not \"%s\"", what, cps_buf_text(&s->text), expected);
    cps_buf_deinit(&s->text);
    stream_walk_deinit(&s->walk);
}

/* ---- Calls ---- */

/* A and S stand for the address of OTHER and the word with its size; a chain stays on its level. */
enum { A = 0x2000, HIGH = 7, S = 0xffffff };
static const struct {
    const char *name;
    uint32_t gpu, opcode, words[4];
    unsigned count, level, first, last; /* bits of the size */
} calls[] = {
    {"CP_INDIRECT_BUFFER", A630, 0x3f, {A, HIGH, S}, 3, CPS_LEVEL_IB2, 0, 19},
    {"CP_INDIRECT_BUFFER_PFE", A530, 0x3f, {A, HIGH, S}, 3, CPS_LEVEL_IB2, 0, 19},
    {"CP_INDIRECT_BUFFER_PFD", A530, 0x37, {A, HIGH, S}, 3, CPS_LEVEL_IB2, 0, 19},
    {"CP_COND_INDIRECT_BUFFER_PFE", A530, 0x3a, {A, HIGH, S}, 3, CPS_LEVEL_IB2, 0, 19},
    {"CP_INDIRECT_BUFFER_CHAIN", A630, 0x57, {A, HIGH, S}, 3, CPS_LEVEL_IB1, 0, 19},
    {"CP_START_BIN", A740, 0x50, {1, A, HIGH, S}, 4, CPS_LEVEL_IB2, 0, 19},
    {"CP_FIXED_STRIDE_DRAW_TABLE", A740, 0x7f, {A, HIGH, S, 1}, 4, CPS_LEVEL_IB2, 20, 31},
    {"CP_SET_AMBLE", A630, 0x55, {A, HIGH, S}, 3, CPS_LEVEL_IB2, 0, 19},
};

/* With each bit of the size alone: a stream is called where the bit is one of the size; of one
 * dword not what stands behind it. */
static void streams_are_called_by_address_and_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(calls); i++) {
        for (unsigned bit = 0; bit < 32; bit++) {
            uint32_t words[6] = {cps_pm4_type7(calls[i].opcode, calls[i].count)};
            struct scene s;
            char expected[16] = "";
            for (unsigned k = 0; k < calls[i].count; k++)
                words[1 + k] = calls[i].words[k] == S ? UINT32_C(1) << bit : calls[i].words[k];
            if (bit >= calls[i].first && bit <= calls[i].last)
                snprintf(expected, sizeof(expected), "%u+0", calls[i].level);
            walk(&s, calls[i].gpu, words, 1 + calls[i].count, bit == calls[i].first ? 4 : 1);
            ends(&s, calls[i].name, expected);
        }
    }
}

/* A packet that lacks its last word calls nothing. */
static void a_packet_without_its_last_word_calls_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(calls); i++) {
        uint32_t words[6] = {cps_pm4_type7(calls[i].opcode, calls[i].count - 1)};
        struct scene s;
        for (unsigned k = 0; k < calls[i].count; k++)
            words[1 + k] = calls[i].words[k] == S ? 0x100001 : calls[i].words[k];
        walk(&s, calls[i].gpu, words, calls[i].count, 4);
        ends(&s, calls[i].name, "");
    }
}

/* Word 0 of CP_START_BIN and word 3 of the table of draws count streams that follow each other. */
static void streams_follow_each_other(void **state)
{
    const uint32_t bins[] = {cps_pm4_type7(0x50, 5), 3, A, HIGH, 2, 0};
    const uint32_t table[] = {cps_pm4_type7(0x7f, 4), A, HIGH, 2 << 20 | 6, 3};
    const uint32_t twice[] = {cps_pm4_type7(0x3f, 4), A, HIGH, 2, 3};
    struct scene s;
    (void)state;
    walk(&s, A740, bins, COUNT(bins), 8);
    ends(&s, "bins", "2+0 2+4 2+8 2+c 2+10 2+14");
    walk(&s, A740, table, COUNT(table), 8);
    ends(&s, "table", "2+0 2+4 2+8 2+c 2+10 2+14");
    walk(&s, A740, twice, COUNT(twice), 8);
    ends(&s, "indirect buffer", "2+0 2+4");
}

/* ---- Registers ---- */

static void note(void *context, uint32_t number, const uint32_t *value)
{
    struct cps_buf *text = context;
    cps_buf_printf(text, "%s%x", text->size ? " " : "", number);
    if (value)
        cps_buf_printf(text, "=%x", *value);
}

static const struct {
    const char *name;
    uint32_t gpu, opcode, words[7];
    size_t count;
    const char *writes;
} writes[] = {
    {"CP_REG_WRITE", A630, 0x6d, {2, 0xfff48801, 0x90, 0x91}, 4, "8801=90 8802=91"},
    {"CP_REG_WRITE", A630, 0x6d, {2, 0x3ffff, 1}, 3, "3ffff=1"},
    {"CP_REG_WRITE", A630, 0x6d, {2, 0x8801}, 2, ""},
    {"CP_CONTEXT_REG_BUNCH", A630, 0x5c, {0xffc08801, 5, 0x3ffff, 6, 9}, 5, "8801=5 3ffff=6"},
    {"CP_CONTEXT_REG_BUNCH2",
     A740,
     0x5d,
     {1, 2, 0xffc08801, 5, 0x3ffff, 6, 9},
     7,
     "8801=5 3ffff=6"},
    {"CP_REG_RMW", A630, 0x21, {0xfff48801, 1, 2}, 3, "8801"},
    {"CP_REG_RMW", A630, 0x21, {0x3ffff, 1, 2}, 3, "3ffff"},
    {"CP_MEM_TO_REG", A630, 0x42, {0xfff48801, 1, 2}, 3, "8801"},
    {"CP_MEM_TO_REG", A630, 0x42, {0x3ffff, 1, 2}, 3, "3ffff"},
    {"CP_SCRATCH_TO_REG", A630, 0x4d, {0xfff48801}, 1, "8801"},
    {"CP_SCRATCH_TO_REG", A630, 0x4d, {0x3ffff}, 1, "3ffff"},
    {"CP_NOP", A630, 0x10, {0x8801, 1}, 2, ""},
};

/* Numbers have 18 bits; what stands above them is something else. */
static void packets_name_the_registers_that_they_write(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(writes); i++) {
        struct cps_names *names = NULL;
        CPS_BUF text = {0};
        assert_null(cps_names_create(cps_gpu_layout(writes[i].gpu), NULL, &names));
        stream_walk_registers(names, cps_pm4_type7(writes[i].opcode, (unsigned)writes[i].count),
                              writes[i].words, writes[i].count, note, &text);
        if (strcmp(cps_buf_text(&text), writes[i].writes) != 0)
            fail_msg("%s: \"%s\", not \"%s\"", writes[i].name, cps_buf_text(&text),
                     writes[i].writes);
        cps_names_destroy(names);
    }
}

/* ---- Modes ---- */

/* Of groups 1 for binning, 2 for GMEM, 3 for SYSMEM those run that the last of three markers, each
 * but the last of binning, stands for; a marker of something else leaves the mode alone. */
static void markers_choose_groups(void **state)
{
    static const struct {
        uint32_t marker;
        const char *runs;
    } rows[] = {
        {1, "4+8"} /* RM6_DIRECT_RENDER */,
        {2, "4+0"} /* RM6_BIN_VISIBILITY */,
        {4, "4+4"} /* RM6_BIN_RENDER_START */,
        {0x10 | 4, "4+4"},  /* 3:0 are the mode */
        {0x100 | 4, "4+0"}, /* not with IS_IFPC */
        {0, "4+0"},
        {3, "4+0"},
        {5, "4+0"},
        {6, "4+0"},
        {7, "4+0"},
        {8, "4+0"},
        {0xc, "4+0"},
        {0xd, "4+0"},
        {0xe, "4+0"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t words[] = {cps_pm4_type7(0x65, 1),
                                  2,
                                  cps_pm4_type7(0x65, 1),
                                  rows[i].marker,
                                  cps_pm4_type7(0x43, 9),
                                  1u << 24 | 1u << 20 | 1,
                                  A,
                                  HIGH,
                                  2u << 24 | 2u << 20 | 1,
                                  A + 4,
                                  HIGH,
                                  3u << 24 | 4u << 20 | 1,
                                  A + 8,
                                  HIGH,
                                  cps_pm4_type7(0x38, 3),
                                  0x84,
                                  1,
                                  3};
        char what[16];
        struct scene s;
        snprintf(what, sizeof(what), "marker %x", rows[i].marker);
        walk(&s, A630, words, COUNT(words), 8);
        ends(&s, what, rows[i].runs);
    }
}

/* A driver splits a job anywhere: the mode, and groups that no draw ran, are those of the stream
 * before. A reset forgets groups with their memory, not the mode. */
static void a_stream_goes_on_where_the_last_one_ended(void **state)
{
    const uint32_t words[] = {cps_pm4_type7(0x65, 1),  4,     cps_pm4_type7(0x43, 6),
                              1u << 24 | 2u << 20 | 1, A,     HIGH,
                              2u << 24 | 4u << 20 | 1, A + 4, HIGH};
    const uint32_t draw[] = {cps_pm4_type7(0x38, 3), 0x84, 1, 3};
    const struct cps_item next = {.kind = CPS_ITEM_SUBMIT,
                                  .stream = {.iova = TOP, .dwords = (uint32_t)COUNT(draw)}};
    (void)state;
    for (unsigned reset = 0; reset < 2; reset++) {
        struct scene s;
        walk(&s, A630, words, COUNT(words), 8);
        if (reset)
            give(&s, &(struct cps_item){.kind = CPS_ITEM_RESET});
        give_words(&s, TOP, draw, COUNT(draw));
        give(&s, &next);
        assert_int_equal(s.walk.mode, 2);
        ends(&s, reset ? "after a reset" : "next stream", reset ? "" : "4+0");
    }
}

/* ---- Groups ---- */

/* Bits 19:16 of an entry: 0 DIRTY, 1 DISABLE, 2 DISABLE_ALL_GROUPS, 3 LOAD_IMMED. Group 1 is set,
 * then the entry of the row stands for it, and a draw follows. */
static void entries_set_disable_and_run_groups(void **state)
{
    static const struct {
        unsigned flags;
        const char *runs, *without_draw;
    } rows[] = {
        {0, "4+4", ""}, {1, "4+4", ""},    {2, "", ""},       {3, "", ""},   {4, "", ""},
        {6, "", ""},    {8, "4+4", "4+4"}, {9, "4+4", "4+4"}, {0xa, "", ""}, {0xc, "", ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t words[] = {cps_pm4_type7(0x43, 6),
                                  1u << 24 | 7u << 20 | 1,
                                  A,
                                  HIGH,
                                  1u << 24 | 7u << 20 | rows[i].flags << 16 | 1,
                                  A + 4,
                                  HIGH,
                                  cps_pm4_type7(0x38, 3),
                                  0x84,
                                  1,
                                  3};
        char what[16];
        struct scene s;
        snprintf(what, sizeof(what), "flags %x", rows[i].flags);
        walk(&s, A630, words, COUNT(words), 8);
        ends(&s, what, rows[i].runs);
        walk(&s, A630, words, 7, 8);
        ends(&s, what, rows[i].without_draw);
    }
}

/* ---- Rings ---- */

static void give_ring(struct scene *s, uint64_t iova, uint64_t size, uint32_t rptr, uint32_t wptr)
{
    give(s, &(struct cps_item){.kind = CPS_ITEM_RING,
                               .ring = {.iova = iova, .size = size, .rptr = rptr, .wptr = wptr}});
}

/* Of two rings the second one counts where nothing is left in the first, unless it is none: without
 * a dword, or of more than 16 MB. The first one has eight NOPs around its pointer, the other two.
 */
static void a_ring_has_a_size_that_a_ring_can_have(void **state)
{
    static const char first[] = "0+14 0+18 0+1c 0+0 0+4 0+8 0+c";
    static const char second[] = "0+20 0+24";
    static const struct {
        uint32_t rptr; /* of the first, whose wptr is 4 */
        uint64_t size;
        const char *reads;
    } rows[] = {
        {4, 0, first},
        {4, 3, first},
        {4, 16, second},
        {4, 16 << 20, second},
        {4, (16 << 20) + 3, second},
        {4, (16 << 20) + 4, first},
        {4, UINT64_C(1) << 34, first},
        {3, 16, first},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint32_t nothing[1] = {cps_pm4_type7(0x10, 0)};
        char what[16];
        struct scene s;
        snprintf(what, sizeof(what), "row %zu", i);
        walk(&s, A630, nothing, 1, 10);
        give_ring(&s, OTHER, 32, rows[i].rptr, 4);
        give_ring(&s, OTHER + 32, rows[i].size, 0, 2);
        assert_null(stream_walk_end(&s.walk));
        ends(&s, what, rows[i].reads);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_are_called_by_address_and_size),
        cmocka_unit_test(a_packet_without_its_last_word_calls_nothing),
        cmocka_unit_test(streams_follow_each_other),
        cmocka_unit_test(packets_name_the_registers_that_they_write),
        cmocka_unit_test(markers_choose_groups),
        cmocka_unit_test(a_stream_goes_on_where_the_last_one_ended),
        cmocka_unit_test(entries_set_disable_and_run_groups),
        cmocka_unit_test(a_ring_has_a_size_that_a_ring_can_have),
    };
    return cmocka_run_group_tests_name("stream walk", tests, NULL, NULL);
}
