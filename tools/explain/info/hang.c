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
#include "tools/run/code.h"
#include "tools/run/fit.h"
#include "tools/explain/info/info.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "isa/isa.h"
#include "isa/base/pm4.h"
#include "trace/out/json.h"

static const char layout[] =
    "{.name:e}: capture, {format}\n{.story}"
    "{.misfit?  note: {.misfit}\n}"
    "{.not_replayed?  not replayed: {.not_replayed}\n}"
    "{.head}"
    "{rings*  ring {id} 0x{iova:016x} {size} bytes, rptr {rptr}, wptr {wptr}, "
    "fence {retired_fence} retired, {last_fence} submitted\n}"
    "  {buffers} buffers, {.data} bytes of contents\n"
    "{.blocks*  block {name}, {dwords} dwords\n}"
    "{hang>  {.fault?position}{.fault!hang}: {.who} at 0x{pc:04x} ({handler}), level {level} "
    "({.level})\n{.lines}"
    "{.why_no_code?  {.why_no_code}\n}{.code?  code of {.lines_of_cache?the dump's instruction "
    "cache, "
    "{.lines_of_cache} lines of 8 words{.donor?; missing lines are from }}{.donor:e}\n}"
    "{.code*  {.is_here?=>}{.is_here!  } {pc:04x} {word!--------  (the dump does not hold it)}"
    "{word?{word:08x}  {instruction}{from=hardware!  ({from})}}\n}}"
    "{hang!  no CP_SQE_STAT block: position of the processor unknown\n}";

struct hang {
    struct play *play; /* with firmware: the dump replayed */
    const struct dump *dump;
    const struct dump_block *stat; /* CP_SQE_STAT, or NULL: then the rest is not known */
    const struct cps_names *names;
    const struct replay *replay; /* with firmware; NULL: none, or it does not come there */
    struct mempool pool;
    struct roq roq;
    struct hang_wait wait;
    uint32_t pc, level, header;
};

static const char *const level_names[8] = {"ring", "IB1", "IB2", "draw state",
                                           "IB3",  "?",   "?",   "?"};

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
    static const char *const which[] = {"packet", "previous", "2nd previous"};
    for (unsigned i = 0; i < 3; i++) {
        char text[128];
        uint32_t header = dump_word(stat, STAT_HEADER + i);
        describe_header(h, header, text, sizeof(text));
        cps_buf_printf(out, "    %-12s 0x%08" PRIx32 "  %s\n", which[i], header, text);
    }
}

/* The last words before an address, the newest marked. */
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
    cps_buf_printf(out, "    %-12s 0x%016" PRIx64 ", %" PRIu32 " of %" PRIu64 " dwords read",
                   "ring", ring->iova, consumed, ring->size / 4);
    put_words(h, ring->iova, ring->iova + 4 * (uint64_t)consumed, out);
}

/* A stream is where the dump's memory has the words of its queue. Where that is in the fetch
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
        cps_buf_printf(out, "    %-12s 0x%016" PRIx64 ", %" PRIu64 " of %" PRIu32 " dwords read",
                       level_names[level], fetch.iova, (at.next - fetch.iova) / 4, fetch.dwords);
    else
        cps_buf_printf(out, "    %-12s 0x%016" PRIx64 " is read next", level_names[level], at.next);
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

/* The other processors of a5xx and a7xx. Their blocks are taken to have the SQE's layout (I: of the
 * same size in the kernel's lists). */
static void put_others(const struct hang *h, struct cps_buf *out)
{
    static const struct {
        const char *who, *stat;
    } others[] = {{"bv", "CP_BV_SQE_STAT"}, {"lpac", "CP_SQE_AC_STAT"}, {"me", "CP_ME_STAT"}};
    for (unsigned i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        const struct dump_block *stat = dump_block(h->dump, others[i].stat);
        if (!stat || !stat->count)
            continue;
        cps_buf_printf(out, "  %s at 0x%04" PRIx32 "%s\n", others[i].who, dump_word(stat, 0),
                       h->dump->policy.size ? "" : ", if its block has the layout of the SQE's");
        put_headers(h, stat, out);
        put_registers(stat, out);
    }
}

/* ---- The paragraph about it ---- */

/* "CP_BLIT (0x702c0001)", "a type-4 write of RB_CCU_CNTL (0x...)". */
static void put_packet_text(const struct hang *s, uint32_t header, struct cps_buf *out)
{
    char scratch[INFO_NAME_SIZE];
    struct cps_pm4 packet = cps_pm4_decode(header);
    const char *reg = cps_name(s->names, CPS_SPACE_GPU, packet.reg, NULL);
    if (packet.kind == CPS_PM4_TYPE7)
        cps_buf_str(out, info_packet_name(s->names, packet.opcode, scratch));
    else if (packet.kind == CPS_PM4_TYPE4)
        cps_buf_printf(out, "a type-4 write of register 0x%04" PRIx32 "%s%s", packet.reg,
                       reg ? " " : "", reg ? reg : "");
    else
        cps_buf_str(out, "a dword that is not a valid packet header");
    cps_buf_printf(out, " (0x%08" PRIx32 ")", header);
}

/* The processor goes on after a fault: an emulator's dump of a hang contains why it stopped. */
static bool is_fault_only(const struct hang *s)
{
    return s->dump->fault.known && s->dump->policy.size && !s->dump->stop.size;
}

static void put_neighbour(const struct cps_buffer *buffer, const char *where, uint64_t distance,
                          struct cps_buf *out)
{
    cps_buf_printf(out, "0x%" PRIx64 " bytes %s buffer 0x%" PRIx64 "..0x%" PRIx64 "%s", distance,
                   where, buffer->iova, buffer->last, buffer->name ? " " : "");
    for (const char *c = buffer->name; c && *c; c++)
        cps_buf_add(out, *c >= ' ' && *c != 0x7f ? c : "?", 1);
}

/* The buffers on both sides of the address, if they are near. */
static void put_neighbours(const struct hang *s, struct cps_buf *out)
{
    const uint64_t near = UINT64_C(256) << 20;
    const uint64_t iova = s->dump->fault.iova;
    const struct cps_buffer *before = NULL;
    const struct cps_buffer *after = NULL;
    for (size_t i = 0; i < cps_buffers_count(s->play->buffers); i++) {
        const struct cps_buffer *buffer = cps_buffers_get(s->play->buffers, i);
        if (buffer->last < iova && iova - buffer->last <= near &&
            (!before || buffer->last > before->last))
            before = buffer;
        if (buffer->iova > iova && buffer->iova - iova <= near &&
            (!after || buffer->iova < after->iova))
            after = buffer;
    }
    cps_buf_str(out, before || after ? "The address is " : "No buffer is within 256 MiB of it. ");
    if (before)
        put_neighbour(before, "after the end of", iova - before->last - 1, out);
    if (after)
        cps_buf_str(out, before ? " and " : "");
    if (after)
        put_neighbour(after, "before", after->iova - iova, out);
    cps_buf_str(out, before || after ? ". " : "");
}

static void put_fault(const struct hang *s, struct cps_buf *out)
{
    const struct dump_fault *fault = &s->dump->fault;
    if (!fault->known)
        return;
    cps_buf_printf(out, "Page fault: %s of 0x%" PRIx64 ", an address without a buffer",
                   fault->is_write ? "a write" : "a read", fault->iova);
    if (fault->packet) {
        cps_buf_str(out, ", by ");
        put_packet_text(s, fault->header, out);
        cps_buf_printf(out, " in %s at 0x%" PRIx64, dump_level_name(fault->level), fault->packet);
    }
    cps_buf_str(out, ". ");
    put_neighbours(s, out);
}

static void put_place(const struct hang *s, const struct hang_estimate *at, struct cps_buf *out)
{
    const char *stop = cps_buf_text(&s->dump->stop);
    bool is_me = !strncmp(stop, "me ", 3);
    put_fault(s, out);
    if (is_me)
        cps_buf_printf(out, "The command processor hangs: %s. ", stop);
    cps_buf_printf(out, "The %s at ",
                   is_me              ? "PFP is"
                   : is_fault_only(s) ? "processor continued; the dump shows it"
                                      : "command processor hangs");
    put_packet_text(s, s->header, out);
    cps_buf_printf(out, ", in %s", dump_level_name(s->level));
    if (!at)
        cps_buf_str(out, "; the dump's queues do not contain its address. ");
    else if (at->places > 1)
        cps_buf_printf(out, " at 0x%" PRIx64 " (%u places have its words). ", at->header,
                       at->places);
    else
        cps_buf_printf(out, " at 0x%" PRIx64 ". ", at->header);
}

static void put_polled(const struct hang *s, const char *what, enum cps_space space,
                       struct cps_buf *out)
{
    const char *name = cps_name(s->names, space, s->wait.number, NULL);
    cps_buf_printf(out, "polls %s 0x%03" PRIx32 "%s%s", what, s->wait.number, name ? " " : "",
                   name ? name : "");
}

static void put_wait(const struct hang *s, struct cps_buf *out)
{
    static const char *const texts[] = {
        [HANG_WAIT_UNKNOWN] = "the code does not show what it waits for",
        [HANG_WAIT_SELF] = "is in its error loop: the firmware rejected the packet",
        [HANG_WAIT_PACKET] = "waits for the next packet",
        [HANG_WAIT_STREAM] = "waits for words of its stream, which do not come",
        [HANG_WAIT_MEMDATA] = "waits for words that it reads from memory",
        [HANG_WAIT_REGDATA] = "waits for the value of a register",
        [HANG_WAIT_MEMORY] = "polls a word in memory",
        [HANG_WAIT_LOOP] = "is in a loop that no value it reads can end",
    };
    if (s->wait.what == HANG_WAIT_UNKNOWN && !strncmp(cps_buf_text(&s->dump->stop), "sqe ", 4)) {
        cps_buf_printf(out, "It stopped: %s. ", cps_buf_text(&s->dump->stop));
        return;
    }
    cps_buf_printf(out, "At 0x%04" PRIx32 " %s", s->pc,
                   s->wait.what == HANG_WAIT_UNKNOWN ? "" : "it ");
    if (s->wait.what == HANG_WAIT_CONTROL)
        put_polled(s, "control register", CPS_SPACE_CONTROL, out);
    else if (s->wait.what == HANG_WAIT_CALLED)
        cps_buf_printf(out, "polls what the function at 0x%04" PRIx32 " reads", s->wait.number);
    else if (s->wait.what == HANG_WAIT_REGISTER && s->wait.number)
        put_polled(s, "register", CPS_SPACE_GPU, out);
    else
        cps_buf_str(out, s->wait.what == HANG_WAIT_REGISTER ? "polls a register of the GPU"
                                                            : texts[s->wait.what]);
    cps_buf_str(out, ". ");
}

static void put_since(const struct hang *s, struct cps_buf *out)
{
    const struct dump_ring *ring = dump_hung_ring(s->dump);
    if (!ring || ring->last_fence == ring->retired_fence)
        return;
    cps_buf_printf(out, "Ring %" PRIu32 ": ", ring->id);
    if (ring->retired_fence)
        cps_buf_printf(out, "fence %" PRIu32 " signalled last", ring->retired_fence);
    else
        cps_buf_str(out, "no fence has signalled");
    cps_buf_printf(out, "; the last submitted is %" PRIu32 ". ", ring->last_fence);
}

static void put_write(const struct hang *s, const struct mempool_entry *entry, struct cps_buf *out)
{
    enum cps_space space = entry->pipe ? CPS_SPACE_PIPE : CPS_SPACE_GPU;
    const char *name = cps_name(s->names, space, entry->offset, NULL);
    if (name)
        cps_buf_str(out, name);
    else
        cps_buf_printf(out, "%sregister 0x%04" PRIx32, entry->pipe ? "pipe " : "", entry->offset);
}

/* The packet that asked for what a queue has at its head: only a replay knows it. */
static const struct replay_write *head_of(const struct hang *s, unsigned cluster)
{
    const struct replay *r = s->replay;
    if (!r || r->place.by == HANG_NOWHERE || !r->first_found[cluster])
        return NULL;
    return &r->writes.write[r->head[cluster]];
}

static void put_queue(const struct hang *s, unsigned cluster, struct cps_buf *out)
{
    const struct mempool_queue *queue = &s->pool.queue[cluster];
    const struct replay_write *head = head_of(s, cluster);
    cps_buf_printf(out, "%s: %zu register write%s pending, first ", dump_cluster_name(cluster),
                   queue->count, queue->count == 1 ? "" : "s");
    put_write(s, &queue->entry[0], out);
    if (head) {
        cps_buf_str(out, " of ");
        put_packet_text(s, head->header, out);
        cps_buf_printf(out, " at 0x%" PRIx64 ", %" PRIu64 " packets ago", head->packet,
                       s->replay->writes.packets - head->index);
    }
    cps_buf_str(out, ". ");
}

/* The longest queue first: that part has the most work left. */
static void put_queues(const struct hang *s, struct cps_buf *out)
{
    bool shown[DUMP_CLUSTERS] = {false};
    unsigned count = 0;
    for (;;) {
        unsigned longest = DUMP_CLUSTERS;
        for (unsigned i = 0; i < DUMP_CLUSTERS; i++) {
            bool longer =
                longest == DUMP_CLUSTERS || s->pool.queue[i].count > s->pool.queue[longest].count;
            if (!shown[i] && s->pool.queue[i].count && longer)
                longest = i;
        }
        if (longest == DUMP_CLUSTERS)
            break;
        shown[longest] = true;
        put_queue(s, longest, out);
        count++;
    }
    if (s->pool.known && !count && s->wait.what != HANG_WAIT_SELF)
        cps_buf_str(out, "All parts of the GPU have taken their register writes. ");
    if (s->pool.why.size)
        cps_buf_printf(out, "What waits in the queues is not known: %s. ",
                       cps_buf_text(&s->pool.why));
}

/* Adds "stop" and "fault" of what the dump has. */
static void put_fault_fields(const struct hang *s, struct json_object *to)
{
    const struct dump_fault *fault = &s->dump->fault;
    if (s->dump->stop.size)
        doc_put(to, "stop=%p", &s->dump->stop);
    if (!fault->known)
        return;
    struct json_object *row = cps_json_new_object(to, "fault");
    doc_put(row, "iova=%" PRIu64 " dir=%s", fault->iova, fault->is_write ? "write" : "read");
    if (fault->packet)
        doc_put(row, "packet=%u location=%" PRIu64 " level=%u", fault->header, fault->packet,
                fault->level);
}

/* Adds to the hang: "summary", a paragraph, "location", "waits_for", "queues". */
static void put_summary(const struct hang *s, struct json_object *to)
{
    static const char *const waits[] = {
        [HANG_WAIT_UNKNOWN] = "unknown", [HANG_WAIT_SELF] = "nothing",
        [HANG_WAIT_PACKET] = "packet",   [HANG_WAIT_STREAM] = "stream",
        [HANG_WAIT_MEMDATA] = "memory",  [HANG_WAIT_REGDATA] = "register",
        [HANG_WAIT_CONTROL] = "control", [HANG_WAIT_REGISTER] = "register",
        [HANG_WAIT_MEMORY] = "memory",   [HANG_WAIT_LOOP] = "loop",
        [HANG_WAIT_CALLED] = "function",
    };
    CPS_BUF text = {0};
    struct hang_estimate at;
    bool is_located = hang_estimate(s->dump, &s->roq, s->level, s->header, &at);
    put_place(s, is_located ? &at : NULL, &text);
    if (!is_fault_only(s))
        put_wait(s, &text);
    put_since(s, &text);
    put_queues(s, &text);
    cps_json_buf(to, "summary", &text);
    put_fault_fields(s, to);
    cps_json_text(to, "waits_for", waits[s->wait.what]);
    if (s->wait.number)
        cps_json_uint(to, "polls", s->wait.number);
    if (is_located)
        cps_json_uint(to, "location", at.header);
    if (s->pool.known) {
        struct json_object *list = cps_json_new_array(to, "queues");
        for (unsigned i = 0; i < DUMP_CLUSTERS; i++) {
            const struct mempool_queue *queue = &s->pool.queue[i];
            const struct replay_write *head = head_of(s, i);
            struct json_object *row =
                doc_row(list, "part=%s writes=%zu", dump_cluster_name(i), queue->count);
            if (queue->count) {
                CPS_BUF next = {0};
                put_write(s, &queue->entry[0], &next);
                cps_json_buf(row, "next", &next);
                doc_put(row, "register=%u value=%u", queue->entry[0].offset, queue->entry[0].value);
            }
            if (head)
                doc_put(row, "packet=%u iova=%" PRIu64, head->header, head->packet);
        }
    }
}

/* ---- All of it ---- */

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
    doc_put(to, ".fault?=%d .who=%s", is_fault_only(h),
            dump_gen(h->dump) == CPS_A5XX ? "pfp" : "sqe");
    doc_put(to, "pc=%u handler=%p level=%u .level=%s header=%u packet=%s", h->pc, &handler,
            h->level, level_names[h->level], h->header, packet);
    struct json_object *registers = cps_json_new_object(to, "registers");
    for (unsigned i = 1; i <= STAT_REM; i++) {
        char name[8];
        snprintf(name, sizeof(name), i == STAT_REM ? "$rem" : "$%02x", i);
        cps_json_uint(registers, name, dump_word(h->stat, i));
    }
    put_summary(h, to);
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
    info_put_code_(h->play, h->pc, h->names, to);
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
static struct cps_err *replay(struct hang *h, const struct cps_run_config *run,
                              struct json_object *to)
{
    enum { LIMIT = 10000000 }; /* replays of public dumps execute half a million instructions */
    struct cps_run_config config = {.fw_count = run->fw_count, .limit = LIMIT, .submit = -1};
    struct cps_fw *none = NULL;
    CPS_BUF not_replayed = {0};
    memcpy(config.fw, run->fw, sizeof(config.fw));
    if (!run->fw_count)
        return code_recover(h->dump, &none, &h->play->code);
    CPS_TRY(play_replay(h->play, &config, &not_replayed));
    cps_json_buf(to, ".not_replayed", &not_replayed);
    if (!h->play->code)
        return cps_err_new(CPS_ERR_INPUT, "%s: no firmware of an Adreno SQE", run->fw[0]);
    if (not_replayed.size)
        return NULL;
    compare_queued(h->play->replay);
    h->replay = h->play->replay;
    return NULL;
}

static struct cps_err *describe(struct hang *h, const char *name, const struct cps_run_config *run,
                                struct json_object *to)
{
    struct cps_names *names = NULL;
    struct misfit misfit;
    CPS_TRY(cps_buffers_seal(h->play->buffers));
    CPS_TRY(replay(h, run, to));
    if (run && h->play->fw && misfit_find(h->play->fw, h->dump->gpu, &misfit)) {
        CPS_BUF text = {0};
        misfit_put(&misfit, h->play->fw->name, "the dump is from", &text);
        cps_json_buf(to, ".misfit", &text);
        misfit_json(&misfit, to);
    }
    /* The layout of names: that of the firmware given, else that of the GPU's number. */
    CPS_TRY(cps_names_create(h->play->fw ? h->play->fw->layout : cps_gpu_layout(h->dump->gpu), NULL,
                             &names));
    h->names = names;
    h->stat = dump_block(h->dump, "CP_SQE_STAT");
    h->pc = dump_word(h->stat, STAT_PC);
    h->level = hang_level(dump_gen(h->dump), dump_word(h->stat, STAT_LEVEL));
    h->header = dump_word(h->stat, STAT_HEADER);
    roq_read(h->dump, &h->roq);
    struct cps_err *err = h->stat ? mempool_read(h->dump, &h->pool) : NULL;
    if (!err) {
        hang_wait_of(&h->play->code->cache, dump_gen(h->dump), h->stat, h->pc, &h->wait);
        doc_put(to, ".layout=%s .name=%s format=%s", layout, name, h->dump->format);
        put_dump(h, to);
    }
    cps_names_destroy(names);
    return err;
}

struct cps_err *info_dump(struct cps_stream *stream, const struct cps_run_config *run,
                          struct json_object *to)
{
    struct play *play = tool_alloc(1, sizeof(*play));
    struct dump *dump = tool_alloc(1, sizeof(*dump));
    play->dump = dump;
    struct hang hang = {.play = play, .dump = dump};
    struct cps_err *err = cps_buffers_create(&play->buffers);
    dump->table = play->buffers;
    if (!err)
        err = dump_read(dump, stream);
    /* A cut dump is described as far as it goes, then reported. */
    if (!err || err->code != CPS_ERR_NOMEM)
        err = cps_err_first_(err, describe(&hang, cps_stream_name(stream), run, to));
    if (dump->cut.size)
        cps_json_bool(to, ".cut", true);
    mempool_deinit(&hang.pool);
    play_close(play);
    free(play);
    return err;
}
