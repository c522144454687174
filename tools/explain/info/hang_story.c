/* SPDX-License-Identifier: MIT
 * The paragraph about a hang. */
#include "tools/explain/info/hang.h"

#include <inttypes.h>

#include "isa/base/pm4.h"
#include "tools/explain/info/info.h"
#include "tools/run/hang/hang.h"
#include "tools/cmd/render/doc.h"
#include "trace/out/json.h"

/* "CP_BLIT (0x702c0001)", "a type-4 write of RB_CCU_CNTL (0x...)". */
static void put_packet(const struct hang *s, uint32_t header, struct cps_buf *out)
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
        cps_buf_str(out, "a word that is no packet header");
    cps_buf_printf(out, " (0x%08" PRIx32 ")", header);
}

static void put_place(const struct hang *s, const struct hang_estimate *at, struct cps_buf *out)
{
    cps_buf_str(out, "The command processor hangs at ");
    put_packet(s, s->header, out);
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
    cps_buf_printf(out, "At 0x%04" PRIx32 " %s", s->pc,
                   s->wait.what == HANG_WAIT_UNKNOWN ? "" : "it ");
    if (s->wait.what == HANG_WAIT_CONTROL)
        put_polled(s, "control register", CPS_SPACE_CONTROL, out);
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
        put_packet(s, head->header, out);
        cps_buf_printf(out, " at 0x%" PRIx64 ", %" PRIu64 " packets ago", head->packet,
                       s->replay->writes.packets - head->index);
    }
    cps_buf_str(out, ". ");
}

/* The longest queue first: that part is furthest behind. */
static void put_queues(const struct hang *s, struct cps_buf *out)
{
    bool told[DUMP_CLUSTERS] = {false};
    unsigned count = 0;
    for (;;) {
        unsigned longest = DUMP_CLUSTERS;
        for (unsigned i = 0; i < DUMP_CLUSTERS; i++) {
            bool longer =
                longest == DUMP_CLUSTERS || s->pool.queue[i].count > s->pool.queue[longest].count;
            if (!told[i] && s->pool.queue[i].count && longer)
                longest = i;
        }
        if (longest == DUMP_CLUSTERS)
            break;
        told[longest] = true;
        put_queue(s, longest, out);
        count++;
    }
    if (s->pool.known && !count && s->wait.what != HANG_WAIT_SELF)
        cps_buf_str(out, "All parts of the GPU have taken their register writes. ");
    if (s->pool.why.size)
        cps_buf_printf(out, "What waits in the queues is not known: %s. ",
                       cps_buf_text(&s->pool.why));
}

static void put_rows(const struct hang *s, struct json_object *list)
{
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

void hang_story_put(const struct hang *s, struct json_object *to)
{
    static const char *const waits[] = {
        [HANG_WAIT_UNKNOWN] = "unknown", [HANG_WAIT_SELF] = "nothing",
        [HANG_WAIT_PACKET] = "packet",   [HANG_WAIT_STREAM] = "stream",
        [HANG_WAIT_MEMDATA] = "memory",  [HANG_WAIT_REGDATA] = "register",
        [HANG_WAIT_CONTROL] = "control", [HANG_WAIT_REGISTER] = "register",
        [HANG_WAIT_MEMORY] = "memory",   [HANG_WAIT_LOOP] = "loop",
    };
    CPS_BUF text = {0};
    struct hang_estimate at;
    bool is_located = hang_estimate(s->dump, &s->roq, s->level, s->header, &at);
    put_place(s, is_located ? &at : NULL, &text);
    put_wait(s, &text);
    put_since(s, &text);
    put_queues(s, &text);
    cps_json_buf(to, "summary", &text);
    cps_json_text(to, "waits_for", waits[s->wait.what]);
    if (s->wait.number)
        cps_json_uint(to, "polls", s->wait.number);
    if (is_located)
        cps_json_uint(to, "location", at.header);
    if (s->pool.known)
        put_rows(s, cps_json_new_array(to, "queues"));
}
