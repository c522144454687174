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
#include "tools/explain/info/hang_code.h"
#include "tools/explain/info/hang_story.h"
#include "tools/explain/info/info.h"
#include "isa/isa.h"
#include "isa/base/pm4.h"
#include "trace/out/json.h"

struct hang {
    struct play *play; /* with firmware: the dump replayed */
    const struct dump *dump;
    const struct dump_block *stat;
    const struct cps_names *names;
    struct hang_story story;
    struct cps_buf not_replayed; /* why */
    uint32_t pc, level;
    char handler[48];
};

static const char *const level_names[8] = {"ring", "IB1", "IB2", "draw state", "?", "?", "?", "?"};

/* "CP_NOP+0x2", by the packet that ran. */
static void name_handler(const struct hang *h, const uint32_t *table, uint32_t pc, char *to,
                         size_t size)
{
    CPS_BUF name = {0};
    if (table)
        cps_fw_table_place_put_(table, h->names, pc,
                                cps_fw_header_packet_(dump_word(h->stat, STAT_HEADER)), &name);
    snprintf(to, size, "%s", table ? cps_buf_text(&name) : "unknown handler");
}

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

static void print_headers(const struct hang *h, const struct dump_block *stat)
{
    static const char *const which[] = {"packet", "before it", "before"};
    for (unsigned i = 0; i < 3; i++) {
        char text[128];
        uint32_t header = dump_word(stat, STAT_HEADER + i);
        describe_header(h, header, text, sizeof(text));
        printf("    %-10s 0x%08" PRIx32 "  %s\n", which[i], header, text);
    }
}

/* The last words in front of a place, the newest marked. */
static void print_words(const struct hang *h, uint64_t begin, uint64_t end)
{
    for (uint64_t at = end - begin < 32 ? begin : end - 32; at < end; at += 4) {
        uint32_t word = 0;
        if (dump_memory(h->dump, at, &word))
            printf("%s%08" PRIx32, at + 4 == end ? " >" : " ", word);
    }
    putchar('\n');
}

static void print_ring(const struct hang *h, const struct dump_ring *ring)
{
    uint32_t consumed = 0;
    if (!roq_ring_position(h->dump, ring, &consumed))
        return;
    printf("    %-10s 0x%016" PRIx64 ", %" PRIu32 " of %" PRIu64 " dwords read", "ring", ring->iova,
           consumed, ring->size / 4);
    print_words(h, ring->iova, ring->iova + 4 * (uint64_t)consumed);
}

/* A stream stands where the dump's memory has the words of its queue. Where that is in the fetch
 * that registers name, it is known how far it is read. */
static void print_stream(const struct hang *h, uint32_t level)
{
    struct hang_estimate at;
    struct roq_fetch fetch;
    uint32_t header = level == h->level ? dump_word(h->stat, STAT_HEADER) : 0;
    if (!hang_estimate(h->dump, &h->story.roq, level, header, &at))
        return;
    bool named = roq_fetch(h->dump, level, &fetch) && at.next >= fetch.iova &&
                 at.next - fetch.iova <= 4 * (uint64_t)fetch.dwords;
    if (named)
        printf("    %-10s 0x%016" PRIx64 ", %" PRIu64 " of %" PRIu32 " dwords read",
               level_names[level], fetch.iova, (at.next - fetch.iova) / 4, fetch.dwords);
    else
        printf("    %-10s 0x%016" PRIx64 " is read next", level_names[level], at.next);
    print_words(h, named ? fetch.iova : 0, at.next);
}

static void print_registers(const struct dump_block *stat)
{
    for (unsigned i = 1; i <= 0x1b; i++)
        printf("%s$%02x %08" PRIx32 "%s", i % 6 == 1 ? "    " : "", i, dump_word(stat, i),
               i % 6 == 0 || i == 0x1b ? "\n" : "  ");
    printf("    $rem %08" PRIx32 "  call stack %s0x%" PRIx32 "  NRT 0x%08" PRIx32 "%08" PRIx32 "\n",
           dump_word(stat, STAT_REM), dump_word(stat, STAT_STACK) >> 28 == 7 ? "empty, " : "",
           dump_word(stat, STAT_STACK), dump_word(stat, STAT_NRT + 1), dump_word(stat, STAT_NRT));
}

/* The other processors of a7xx. Their blocks are taken to have the SQE's layout (I: of the same
 * size in the kernel's lists). */
static void print_others(const struct hang *h)
{
    static const struct {
        const char *who, *stat;
    } others[] = {{"bv", "CP_BV_SQE_STAT"}, {"lpac", "CP_SQE_AC_STAT"}};
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct dump_block *stat = dump_block(h->dump, others[i].stat);
        if (!stat || !stat->count)
            continue;
        printf("  %s at 0x%04" PRIx32 ", if its block has the layout of the SQE's\n", others[i].who,
               dump_word(stat, 0));
        print_headers(h, stat);
        print_registers(stat);
    }
}

static struct hang_code own_code(const struct hang *h)
{
    return (struct hang_code){&h->play->code->cache, h->play->code->recovered, h->play->fw,
                              h->names, h->pc};
}

/* Where the dump's cache cannot be read, the code is that of its firmware, if that was given. */
static struct cps_err *print_given(const struct hang *h)
{
    const struct cps_fw_part *part = &h->play->fw->part[0];
    struct cps_fw_icache view = {.word = h->play->fw->words + part->start, .count = part->size};
    struct hang_code code = {&view, true, h->play->fw, h->names, h->pc};
    view.mark = malloc(part->size + 1);
    if (!view.mark)
        return cps_err_nomem();
    memset(view.mark, CPS_FW_DONOR, part->size);
    struct cps_err *err = hang_code_print(&code);
    free(view.mark);
    return err;
}

static struct cps_err *print_code(const struct hang *h)
{
    const struct hang_code own = own_code(h);
    const struct code *code = h->play->code;
    if (code->why.size)
        printf("  %s\n", cps_buf_text(&code->why));
    if (code->cache.lines)
        return hang_code_print(&own);
    return h->play->fw && dump_has_table(h->dump, h->play->fw) ? print_given(h) : NULL;
}

static struct cps_err *print_hang(const struct hang *h, const struct dump_ring *ring)
{
    printf("  hang: %s at 0x%04" PRIx32 " (%s), level %" PRIu32 " (%s)\n", "sqe", h->pc, h->handler,
           h->level, level_names[h->level]);
    print_headers(h, h->stat);
    if (ring)
        print_ring(h, ring);
    for (uint32_t level = 1; level <= h->level && level <= 3; level++)
        print_stream(h, level);
    print_registers(h->stat);
    print_others(h);
    return print_code(h);
}

/* A paragraph, in lines of what a terminal shows. */
static void print_story(const char *text)
{
    enum { WIDTH = 98 };
    size_t column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column && column + 1 + length > WIDTH) {
            putchar('\n');
            column = 0;
        }
        printf("%s%.*s", column ? " " : "  ", (int)length, text);
        column += length + 1;
        text += length + (text[length] == ' ');
    }
    if (column)
        putchar('\n');
}

static struct cps_err *print_text(const struct hang *h, const char *name)
{
    const struct dump *dump = h->dump;
    info_name(name);
    printf(": capture, %s\n", dump->format);
    print_story(cps_buf_text(&h->story.text));
    if (h->not_replayed.size)
        printf("  not replayed: %s\n", cps_buf_text(&h->not_replayed));
    for (const char *line = cps_buf_text(&dump->text); *line;) {
        size_t length = strcspn(line, "\n");
        printf("  %.*s\n", (int)length, line);
        line += length + (line[length] == '\n');
    }
    for (unsigned i = 0; i < dump->ring_count; i++)
        printf("  ring %" PRIu32 " 0x%016" PRIx64 " %" PRIu64 " bytes, rptr %" PRIu32
               ", wptr %" PRIu32 ", fence %" PRIu32 " retired, %" PRIu32 " submitted\n",
               dump->ring[i].id, dump->ring[i].iova, dump->ring[i].size, dump->ring[i].rptr,
               dump->ring[i].wptr, dump->ring[i].retired_fence, dump->ring[i].last_fence);
    printf("  %u buffers, %" PRIu64 " bytes of contents\n", dump->buffers, dump->data_bytes);
    for (unsigned i = 0; i < dump->block_count; i++)
        printf("  block %s, %zu dwords\n", dump->block[i].name, dump->block[i].count);
    if (h->stat)
        return print_hang(h, dump_hung_ring(dump));
    printf("  no CP_SQE_STAT block: where the processor stood is not known\n");
    return NULL;
}

static struct json_object *json_rings(const struct dump *dump)
{
    struct json_object *rings = json_object_new_array();
    for (unsigned i = 0; i < dump->ring_count; i++) {
        const struct dump_ring *ring = &dump->ring[i];
        struct json_object *row = json_object_new_object();
        cps_json_uint(row, "id", ring->id);
        cps_json_uint(row, "iova", ring->iova);
        cps_json_uint(row, "size", ring->size);
        cps_json_uint(row, "rptr", ring->rptr);
        cps_json_uint(row, "wptr", ring->wptr);
        cps_json_uint(row, "retired_fence", ring->retired_fence);
        cps_json_uint(row, "last_fence", ring->last_fence);
        cps_json_append(rings, row);
    }
    return rings;
}

static struct json_object *json_hang(const struct hang *h)
{
    struct json_object *hang = json_object_new_object();
    struct json_object *registers = json_object_new_object();
    char text[128];
    describe_header(h, dump_word(h->stat, STAT_HEADER), text, sizeof(text));
    cps_json_uint(hang, "pc", h->pc);
    cps_json_text(hang, "handler", h->handler);
    cps_json_uint(hang, "level", h->level);
    cps_json_uint(hang, "header", dump_word(h->stat, STAT_HEADER));
    cps_json_text(hang, "packet", text);
    for (unsigned i = 1; i <= STAT_REM; i++) {
        char name[8];
        snprintf(name, sizeof(name), i == STAT_REM ? "$rem" : "$%02x", i);
        cps_json_uint(registers, name, dump_word(h->stat, i));
    }
    cps_json_add(hang, "registers", registers);
    return hang;
}

static struct cps_err *print_json(const struct hang *h, struct json_object *to)
{
    cps_json_text(to, "format", h->dump->format);
    cps_json_buf(to, "text", &h->dump->text);
    cps_json_uint(to, "gpu", h->dump->gpu);
    cps_json_uint(to, "buffers", h->dump->buffers);
    cps_json_add(to, "rings", json_rings(h->dump));
    if (!h->stat)
        return NULL;
    struct json_object *hang = json_hang(h);
    const struct hang_code own = own_code(h);
    hang_story_json(&h->story, hang);
    struct cps_err *err = own.cache->lines ? hang_code_json(&own, hang) : NULL;
    cps_json_add(to, "hang", hang); /* which takes it, whatever happens */
    return err;
}

/* The layout of names: that of the firmware given, else what the GPU's number says. */
static enum cps_layout layout_of(const struct hang *h)
{
    return h->play->fw ? h->play->fw->layout : cps_gpu_layout(h->dump->gpu);
}

/* With firmware, how the GPU came there: which packets asked for what is not done. */
static struct cps_err *replay(struct hang *h, const struct cps_options *opt)
{
    CPS_TRY(play_replay(h->play, opt, &h->not_replayed));
    if (h->not_replayed.size)
        return NULL;
    compare_queued(h->play->replay);
    h->story.replay = h->play->replay;
    return NULL;
}

static struct cps_err *describe(struct hang *h, const char *name, const char *firmware,
                                struct json_object *json)
{
    enum { LIMIT = 10000000 }; /* replays of public dumps execute half a million instructions */
    const struct cps_options opt = {.fw = {firmware}, .fw_count = 1, .limit = LIMIT, .submit = -1};
    struct cps_names *names = NULL;
    struct cps_fw *none = NULL;
    struct cps_err *err = NULL;
    if (firmware)
        CPS_TRY(replay(h, &opt));
    else
        CPS_TRY(code_recover(h->dump, &none, &h->play->code));
    if (!h->play->code)
        return cps_err_new(CPS_ERR_INPUT, "%s: no firmware of an Adreno SQE", firmware);
    CPS_TRY(cps_names_create(layout_of(h), NULL, &names));
    h->names = names;
    h->stat = dump_block(h->dump, "CP_SQE_STAT");
    h->pc = dump_word(h->stat, 0);
    h->level = dump_word(h->stat, STAT_LEVEL) & 7;
    name_handler(h, dump_table(h->dump), h->pc, h->handler, sizeof(h->handler));
    h->story.dump = h->dump;
    h->story.code = h->play->code;
    h->story.names = names;
    h->story.gen = CPS_A6XX;
    if (h->stat)
        err = hang_story_tell(&h->story);
    if (!err)
        err = json ? print_json(h, json) : print_text(h, name);
    cps_names_destroy(names);
    return err;
}

struct cps_err *info_dump(struct cps_stream *stream, const char *firmware, struct json_object *json)
{
    struct play *play = calloc(1, sizeof(*play));
    struct dump *dump = calloc(1, sizeof(*dump));
    if (!play || !dump) {
        free(play);
        free(dump);
        return cps_err_nomem();
    }
    play->dump = dump;
    struct hang hang = {.play = play, .dump = dump};
    struct cps_err *err = dump_read(dump, stream);
    /* A cut dump is described as far as it goes, then reported. */
    if (!err || err->code != CPS_ERR_NOMEM)
        err = cps_err_first_(err, describe(&hang, cps_stream_name(stream), firmware, json));
    hang_story_deinit(&hang.story);
    cps_buf_deinit(&hang.not_replayed);
    play_close(play);
    free(play);
    return err;
}
