/* SPDX-License-Identifier: MIT
 * Says where the processor of a hardware dump (tools/run/dump.h) hung, for `cpscope info`: in
 * which packet of which stream, and the code around it. Nothing runs. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fw/image/place.h"
#include "isa/base/within.h"
#include "tools/run/replay.h"
#include "tools/run/hang/hang.h"
#include "tools/explain/info/hang.h"
#include "tools/explain/info/info.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "isa/isa.h"
#include "isa/base/pm4.h"
#include "trace/out/json.h"

static const char layout[] =
    "{.name:e}: capture, {format}\n{.story}"
    "{.not_replayed?  not replayed: {.not_replayed}\n}"
    "{.head}"
    "{rings*  ring {id} 0x{iova:016x} {size} bytes, rptr {rptr}, wptr {wptr}, "
    "fence {retired_fence} retired, {last_fence} submitted\n}"
    "  {buffers} buffers, {.data} bytes of contents\n"
    "{.blocks*  block {name}, {dwords} dwords\n}"
    "{hang>  hang: sqe at 0x{pc:04x} ({handler}), level {level} ({.level})\n{.lines}{.code}}"
    "{hang!  no CP_SQE_STAT block: position of the processor unknown\n}";

static const char *const level_names[8] = {"ring", "IB1", "IB2", "draw state", "?", "?", "?", "?"};

static void describe_header(const struct hang *h, uint32_t header, char *to, size_t size)
{
    char scratch[INFO_NAME_SIZE];
    struct cps_pm4 packet = cps_pm4_decode(header);
    const char *reg = cps_name(h->names, CPS_SPACE_GPU, packet.reg, NULL);
    if (packet.kind == CPS_PM4_TYPE7)
        snprintf(to, size, "%s, %" PRIu32 " dwords",
                 info_packet_name(h->names, packet.opcode, scratch), packet.count);
    else if (packet.kind == CPS_PM4_TYPE4)
        snprintf(to, size, "type 4, register 0x%04" PRIx32 " %s, %" PRIu32 " dwords", packet.reg,
                 reg ? reg : "", packet.count);
    else
        snprintf(to, size, "malformed: no valid packet header");
}

static void put_headers(const struct hang *h, const struct dump_block *stat, struct cps_buf *out)
{
    static const char *const which[] = {"packet", "before it", "before"};
    for (unsigned i = 0; i < 3; i++) {
        char text[128];
        uint32_t header = dump_word(stat, STAT_HEADER + i);
        describe_header(h, header, text, sizeof(text));
        cps_buf_printf(out, "    %-10s 0x%08" PRIx32 "  %s\n", which[i], header, text);
    }
}

/* The last words in front of a place, the newest marked. */
static void put_words(const struct hang *h, uint64_t begin, uint64_t end, struct cps_buf *out)
{
    for (uint64_t at = end - begin < 32 ? begin : end - 32; at < end; at += 4) {
        uint32_t word = 0;
        if (dump_memory(h->dump, at, &word))
            cps_buf_printf(out, "%s%08" PRIx32, at + 4 == end ? " >" : " ", word);
    }
    cps_buf_str(out, "\n");
}

static void put_ring(const struct hang *h, const struct dump_ring *ring, struct cps_buf *out)
{
    uint32_t consumed = 0;
    if (!roq_ring_position(h->dump, ring, &consumed))
        return;
    cps_buf_printf(out, "    %-10s 0x%016" PRIx64 ", %" PRIu32 " of %" PRIu64 " dwords read",
                   "ring", ring->iova, consumed, ring->size / 4);
    put_words(h, ring->iova, ring->iova + 4 * (uint64_t)consumed, out);
}

/* A stream stands where the dump's memory has the words of its queue. Where that is in the fetch
 * that registers name, it is known how far it is read. */
static void put_stream(const struct hang *h, uint32_t level, struct cps_buf *out)
{
    struct hang_estimate at;
    struct roq_fetch fetch;
    uint32_t header = level == h->level ? h->header : 0;
    if (!hang_estimate(h->dump, &h->roq, level, header, &at))
        return;
    bool named = roq_fetch(h->dump, level, &fetch) && at.next >= fetch.iova &&
                 at.next - fetch.iova <= 4 * (uint64_t)fetch.dwords;
    if (named)
        cps_buf_printf(out, "    %-10s 0x%016" PRIx64 ", %" PRIu64 " of %" PRIu32 " dwords read",
                       level_names[level], fetch.iova, (at.next - fetch.iova) / 4, fetch.dwords);
    else
        cps_buf_printf(out, "    %-10s 0x%016" PRIx64 " is read next", level_names[level], at.next);
    put_words(h, named ? fetch.iova : 0, at.next, out);
}

static void put_registers(const struct dump_block *stat, struct cps_buf *out)
{
    for (unsigned i = 1; i <= 0x1b; i++)
        cps_buf_printf(out, "%s$%02x %08" PRIx32 "%s", i % 6 == 1 ? "    " : "", i,
                       dump_word(stat, i), i % 6 == 0 || i == 0x1b ? "\n" : "  ");
    cps_buf_printf(
        out,
        "    $rem %08" PRIx32 "  call stack %s0x%" PRIx32 "  NRT 0x%08" PRIx32 "%08" PRIx32 "\n",
        dump_word(stat, STAT_REM), dump_word(stat, STAT_STACK) >> 28 == 7 ? "empty, " : "",
        dump_word(stat, STAT_STACK), dump_word(stat, STAT_NRT + 1), dump_word(stat, STAT_NRT));
}

/* The other processors of a7xx. Their blocks are taken to have the SQE's layout (I: of the same
 * size in the kernel's lists). */
static void put_others(const struct hang *h, struct cps_buf *out)
{
    static const struct {
        const char *who, *stat;
    } others[] = {{"bv", "CP_BV_SQE_STAT"}, {"lpac", "CP_SQE_AC_STAT"}};
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct dump_block *stat = dump_block(h->dump, others[i].stat);
        if (!stat || !stat->count)
            continue;
        cps_buf_printf(out, "  %s at 0x%04" PRIx32 ", if its block has the layout of the SQE's\n",
                       others[i].who, dump_word(stat, 0));
        put_headers(h, stat, out);
        put_registers(stat, out);
    }
}

/* A paragraph, in lines of what a terminal shows. */
static void put_story(const char *text, struct cps_buf *out)
{
    enum { WIDTH = 98 };
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column && column + 1 + length > WIDTH) {
            cps_buf_str(out, "\n");
            column = 0;
        }
        cps_buf_printf(out, "%s%.*s", column ? " " : "  ", (int)length, text);
        column += length + 1;
        text += length + (text[length] == ' ');
    }
    if (column)
        cps_buf_str(out, "\n");
}

static void put_hang(const struct hang *h, struct json_object *root)
{
    struct json_object *to = cps_json_new_object(root, "hang");
    const struct dump_ring *ring = dump_hung_ring(h->dump);
    const uint32_t *table = dump_table(h->dump);
    char packet[128];
    CPS_BUF handler = {0};
    CPS_BUF story = {0};
    CPS_BUF lines = {0};
    if (!table)
        cps_buf_str(&handler, "unknown handler");
    else /* "CP_NOP+0x2", by the packet that ran */
        cps_fw_table_place_put_(table, h->names, h->pc, cps_fw_header_packet_(h->header), &handler);
    describe_header(h, h->header, packet, sizeof(packet));
    doc_put(to, "pc=%u handler=%p level=%u .level=%s header=%u packet=%s", h->pc, &handler,
            h->level, level_names[h->level], h->header, packet);
    struct json_object *registers = cps_json_new_object(to, "registers");
    for (unsigned i = 1; i <= STAT_REM; i++) {
        char name[8];
        snprintf(name, sizeof(name), i == STAT_REM ? "$rem" : "$%02x", i);
        cps_json_uint(registers, name, dump_word(h->stat, i));
    }
    hang_story_put(h, to);
    put_story(cps_json_get_text(to, "summary", ""), &story);
    cps_json_buf(root, ".story", &story);
    put_headers(h, h->stat, &lines);
    if (ring)
        put_ring(h, ring, &lines);
    for (uint32_t level = 1; level <= h->level && level <= 3; level++)
        put_stream(h, level, &lines);
    put_registers(h->stat, &lines);
    put_others(h, &lines);
    cps_json_buf(to, ".lines", &lines);
    hang_code_put(h, to);
}

static void put_dump(const struct hang *h, struct json_object *to)
{
    const struct dump *dump = h->dump;
    CPS_BUF head = {0};
    for (const char *line = cps_buf_text(&dump->text); *line;) {
        int length = (int)strcspn(line, "\n");
        cps_buf_printf(&head, "  %.*s\n", length, line);
        line += length + (line[length] == '\n');
    }
    doc_put(to, ".head=%p text=%p gpu=%" PRIu64 " buffers=%u .data=%" PRIu64, &head, &dump->text,
            dump->gpu, dump->buffers, dump->data_bytes);
    struct json_object *rings = cps_json_new_array(to, "rings");
    for (unsigned i = 0; i < dump->ring_count; i++) {
        const struct dump_ring *ring = &dump->ring[i];
        doc_row(rings,
                "id=%u iova=%" PRIu64 " size=%" PRIu64
                " rptr=%u wptr=%u retired_fence=%u last_fence=%u",
                ring->id, ring->iova, ring->size, ring->rptr, ring->wptr, ring->retired_fence,
                ring->last_fence);
    }
    struct json_object *blocks = cps_json_new_array(to, ".blocks");
    for (unsigned i = 0; i < dump->block_count; i++)
        doc_row(blocks, "name=%s dwords=%zu", dump->block[i].name, dump->block[i].count);
    if (h->stat)
        put_hang(h, to);
}

/* With firmware, how the GPU came there: which packets asked for what is not done. */
static struct cps_err *replay(struct hang *h, const char *firmware, struct json_object *to)
{
    enum { LIMIT = 10000000 }; /* replays of public dumps execute half a million instructions */
    const struct cps_run_config config = {
        .fw = {firmware}, .fw_count = 1, .limit = LIMIT, .submit = -1};
    struct cps_fw *none = NULL;
    CPS_BUF not_replayed = {0};
    if (!firmware)
        return code_recover(h->dump, &none, &h->play->code);
    CPS_TRY(play_replay(h->play, &config, &not_replayed));
    cps_json_buf(to, ".not_replayed", &not_replayed);
    if (!h->play->code)
        return cps_err_new(CPS_ERR_INPUT, "%s: no firmware of an Adreno SQE", firmware);
    if (not_replayed.size)
        return NULL;
    compare_queued(h->play->replay);
    h->replay = h->play->replay;
    return NULL;
}

static struct cps_err *describe(struct hang *h, const char *name, const char *firmware,
                                struct json_object *to)
{
    struct cps_names *names = NULL;
    CPS_TRY(replay(h, firmware, to));
    /* The layout of names: that of the firmware given, else what the GPU's number says. */
    CPS_TRY(cps_names_create(h->play->fw ? h->play->fw->layout : cps_gpu_layout(h->dump->gpu), NULL,
                             &names));
    h->names = names;
    h->stat = dump_block(h->dump, "CP_SQE_STAT");
    h->pc = dump_word(h->stat, STAT_PC);
    h->level = dump_word(h->stat, STAT_LEVEL) & 7;
    h->header = dump_word(h->stat, STAT_HEADER);
    roq_read(h->dump, &h->roq);
    struct cps_err *err = h->stat ? mempool_read(h->dump, &h->pool) : NULL;
    if (!err) {
        hang_wait_of(&h->play->code->cache, CPS_A6XX, h->stat, h->pc, &h->wait);
        doc_put(to, ".layout=%s .name=%s format=%s", layout, name, h->dump->format);
        put_dump(h, to);
    }
    cps_names_destroy(names);
    return err;
}

struct cps_err *info_dump(struct cps_stream *stream, const char *firmware, struct json_object *to)
{
    struct play *play = tool_alloc(1, sizeof(*play));
    struct dump *dump = tool_alloc(1, sizeof(*dump));
    play->dump = dump;
    struct hang hang = {.play = play, .dump = dump};
    struct cps_err *err = dump_read(dump, stream);
    /* A cut dump is described as far as it goes, then reported. */
    if (!err || err->code != CPS_ERR_NOMEM)
        err = cps_err_first_(err, describe(&hang, cps_stream_name(stream), firmware, to));
    mempool_deinit(&hang.pool);
    play_close(play);
    free(play);
    return err;
}
