/* SPDX-License-Identifier: MIT
 * The public devcoredump under $CPSCOPE_CORPUS/captures holds what others have read in it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/capture/capture.h"
#include "isa/base/buf.h"
#include "isa/base/le.h"

struct facts {
    struct cps_item_sink sink;
    struct cps_buf sections, blocks, rings;
    unsigned registers, banked, notes, buffers, rings_seen;
    uint64_t iova, size;           /* of the last ring or buffer */
    uint64_t ring_data, bo_data;   /* bytes delivered */
    uint32_t ring_last, ib_header; /* dword 55 of the ring, dword 6 of the buffer */
    bool known_tail;               /* everything behind the ring's 56 dwords is zero */
    uint64_t bo_iova, bo_size;
    uint32_t gpu_id;
    uint64_t chip_id;
    uint32_t stat[51];
};

/* CP_SQE_STAT, zero where not listed. */
static const struct {
    unsigned word;
    uint32_t value;
} stat[] = {
    {0x00, 0xc5},       {0x01, 0xdeadd00d}, {0x02, 1},          {0x04, 1},
    {0x06, 4},          {0x07, 0x101},      {0x08, 1},          {0x09, 0x10000},
    {0x0a, 0x121fd},    {0x0b, 0x53c06000}, {0x0c, 0x3c45},     {0x0d, 0x53c06000},
    {0x0e, 2},          {0x0f, 0x2b},       {0x12, 1},          {0x13, 8},
    {0x1b, 0x384},      {0x1d, 0x70000000}, {0x24, 0xdeadd00d}, {0x25, 0x70108000},
    {0x26, 0x70108000}, {0x28, 1},          {0x30, 0x38},       {0x31, 0x10000},
    {0x32, 0xe166e},
};

static void take_ring(struct facts *facts, const struct cps_item *item)
{
    facts->rings_seen++;
    facts->iova = item->ring.iova;
    facts->known_tail = true;
    cps_buf_printf(&facts->rings, "%u %llx %u %u %llu %u %u\n", item->ring.id,
                   (unsigned long long)item->ring.iova, item->ring.rptr, item->ring.wptr,
                   (unsigned long long)item->ring.size, item->ring.last_fence,
                   item->ring.retired_fence);
}

static void take_data(struct facts *facts, const struct cps_item *item)
{
    for (uint64_t i = 0; i < item->buffer.size; i += 4) {
        uint64_t index = (item->buffer.iova + i - facts->iova) / 4;
        uint32_t word = cps_le32(item->buffer.data + i);
        if (facts->buffers && index == 6)
            facts->ib_header = word;
        if (!facts->buffers && index == 55)
            facts->ring_last = word;
        if (!facts->buffers && index > 55 && word)
            facts->known_tail = false;
    }
    *(facts->buffers ? &facts->bo_data : &facts->ring_data) += item->buffer.size;
}

static void take_block(struct facts *facts, const struct cps_item *item)
{
    cps_buf_printf(&facts->blocks, "%s %zu %zu\n", item->block.name, item->block.size,
                   item->block.count);
    if (!strcmp(item->block.name, "CP_SQE_STAT") && item->block.count <= 51)
        memcpy(facts->stat, item->block.words, item->block.count * sizeof(uint32_t));
}

static struct cps_err *take(struct cps_item_sink *sink, const struct cps_item *item)
{
    struct facts *facts = (struct facts *)sink;
    if (item->kind == CPS_ITEM_SECTION)
        cps_buf_printf(&facts->sections, "%s\n", item->section.name ? item->section.name : "?");
    if (item->kind == CPS_ITEM_CHIP) {
        facts->gpu_id = item->chip.gpu_id;
        facts->chip_id = item->chip.chip_id;
    }
    if (item->kind == CPS_ITEM_REGISTER) {
        facts->registers += !strcmp(item->reg.section, "registers");
        facts->banked += item->reg.context >= 0;
    }
    if (item->kind == CPS_ITEM_BUFFER) {
        facts->buffers++;
        facts->iova = facts->bo_iova = item->buffer.iova;
        facts->bo_size = item->buffer.size;
    }
    facts->notes += item->kind == CPS_ITEM_NOTE;
    if (item->kind == CPS_ITEM_RING)
        take_ring(facts, item);
    if (item->kind == CPS_ITEM_DATA)
        take_data(facts, item);
    if (item->kind == CPS_ITEM_BLOCK)
        take_block(facts, item);
    return NULL;
}

static bool stat_as_known(const struct facts *facts)
{
    uint32_t expected[51] = {0};
    for (size_t i = 0; i < sizeof(stat) / sizeof(stat[0]); i++)
        expected[stat[i].word] = stat[i].value;
    return !memcmp(expected, facts->stat, sizeof(expected));
}

static void check(bool ok, const char *claim)
{
    static unsigned number;
    printf("%s %u - %s\n", ok ? "ok" : "not ok", ++number, claim);
}

static bool is(const struct cps_buf *text, const char *expected)
{
    return !strcmp(cps_buf_text(text), expected);
}

static void check_all(const struct facts *f)
{
    check(!f->notes, "nothing in it is damaged");
    check(f->gpu_id == 630 && f->chip_id == 0x06030002, "the chip is a630");
    check(is(&f->sections, "ringbuffer\nbos\nregisters\nregisters-gmu\nindexed-registers\n"
                           "shader-blocks\nclusters\ndebugbus\n"),
          "eight sections in order");
    check(is(&f->rings, "0 1000000001000 40 56 32768 1 0\n"), "one ring, rptr 40, wptr 56");
    check(f->ring_data == 32768 && f->ring_last == 1 && f->known_tail,
          "the ring holds 56 dwords, then zeros");
    check(f->buffers == 1 && f->bo_iova == 0x100000000 && f->bo_size == 4096, "one buffer");
    check(f->bo_data == 4096 && f->ib_header == 0xdeadd00d, "its seventh dword is the bad header");
    check(f->registers == 1676, "1,676 registers");
    check(f->banked > 0, "clusters have registers by context");
    check(is(&f->blocks, "CP_SQE_STAT 51 51\nCP_DRAW_STATE 256 0\nCP_UCODE_DBG 24576 24548\n"
                         "CP_ROQ 1024 1024\nCP_MEMPOOL 8288 8288\n"),
          "blocks of the known sizes");
    check(stat_as_known(f), "CP_SQE_STAT word by word");
}

static struct cps_err *read_dump(const char *path, struct facts *facts)
{
    struct cps_stream *stream = NULL;
    CPS_TRY(cps_stream_open(path, &stream));
    struct cps_err *err = cps_capture_read(stream, NULL, &facts->sink);
    cps_stream_close(stream);
    return err;
}

int main(void)
{
    const char *directory = getenv("CPSCOPE_CORPUS");
    CPS_BUF path = {0};
    struct facts facts = {.sink = {take}};
    if (!directory) {
        printf("1..0 # SKIP CPSCOPE_CORPUS is not set\n");
        return 0;
    }
    cps_buf_printf(&path, "%s/captures/crash.devcore", directory);
    struct cps_err *err = read_dump(cps_buf_text(&path), &facts);
    if (err && err->code == CPS_ERR_OS) {
        printf("1..0 # SKIP crash.devcore is not in the corpus\n");
    } else {
        printf("1..12\n");
        check(!err, "the dump is read to its end");
        if (err)
            printf("# %s\n", err->message);
        check_all(&facts);
    }
    cps_err_free(err);
    cps_buf_deinit(&facts.sections);
    cps_buf_deinit(&facts.blocks);
    cps_buf_deinit(&facts.rings);
    return 0;
}
