/* SPDX-License-Identifier: MIT
 * The packet that a stopped machine is at, as text, and addresses in registers. */
#include <inttypes.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "tools/face/debugger/look.h"

#define MAX_PAYLOAD 512u
#define FEW         16u /* words, where a packet is one thing among others */

/* A packet, and what is to be said behind each word of it. */
struct payload {
    const struct session *session;
    const struct cps_names *names;
    struct cps_pm4 packet;
    uint32_t word[MAX_PAYLOAD + 1]; /* one more than is shown: an address may end there */
    uint32_t count;                 /* of those */
    uint32_t most;                  /* that are shown */
    uint32_t read;                  /* that the processor has taken */
    bool marked;                    /* which those are is said, too */
    struct cps_buf text[MAX_PAYLOAD];
};

static void packet_name(const struct session *s, unsigned core, uint32_t header,
                        struct cps_buf *out)
{
    struct cps_pm4 packet = cps_pm4_decode(header);
    const struct cps_names *names = session_names(s, core);
    if (packet.kind == CPS_PM4_TYPE7) {
        const char *name = cps_name(names, CPS_SPACE_PACKET, packet.opcode, NULL);
        cps_buf_printf(out, "%s, opcode 0x%02" PRIx32 ", %" PRIu32 " dwords", name ? name : "UNKN",
                       packet.opcode, packet.count);
    } else if (packet.kind == CPS_PM4_TYPE4) {
        const char *name = cps_name(names, CPS_SPACE_GPU, packet.reg, NULL);
        cps_buf_printf(out, "type 4, register 0x%04" PRIx32 " %s, %" PRIu32 " dwords", packet.reg,
                       name ? name : "", packet.count);
    } else {
        cps_buf_str(out, "not a packet header");
    }
}

/* ---- registers of 64 bits ---- */

struct whole {
    const struct session *session;
    struct cps_buf *out;
};

static void put_whole_buffer(void *context, const struct cps_value *value)
{
    const struct whole *whole = context;
    cps_buffers_put_value(whole->session->play.buffers, session_submission(whole->session), value,
                          whole->out);
}

/* Of one that is no address its halves say enough. */
static void put_whole(const struct session *s, const struct cps_names *names, uint32_t lower,
                      uint64_t value, struct cps_buf *out)
{
    CPS_BUF buffer = {0};
    struct whole whole = {s, &buffer};
    if (!cps_name_values64(names, CPS_SPACE_GPU, lower, value, put_whole_buffer, &whole) ||
        !buffer.size)
        return;
    cps_buf_str(out, out->size && out->data[out->size - 1] == ' ' ? "= " : " = ");
    cps_buf_hex(out, value, 16);
    cps_buf_join(out, &buffer);
}

void format_register64(const struct session *s, unsigned core, uint32_t number, struct cps_buf *out)
{
    unsigned half = 0;
    const struct cps_names *names = session_names(s, core);
    const struct cps_afuc *afuc = session_afuc(s);
    if (!afuc || !names || !cps_name(names, CPS_SPACE_GPU, number, &half) ||
        !cps_afuc_reg_written(afuc, number - half) ||
        !cps_afuc_reg_written(afuc, number - half + 1))
        return; /* half an address says nothing */
    uint64_t low = session_value(s, core, CPS_FILE_REGISTER, number - half);
    uint64_t high = session_value(s, core, CPS_FILE_REGISTER, number - half + 1);
    put_whole(s, names, number - half, high << 32 | (uint32_t)low, out);
}

/* ---- payload ---- */

static void register_text(struct payload *p, uint32_t index)
{
    uint32_t number = p->packet.reg + index;
    struct cps_buf *out = &p->text[index];
    const char *name = cps_name(p->names, CPS_SPACE_GPU, number, NULL);
    cps_buf_printf(out, "%s ", name ? name : "");
    cps_name_fields(p->names, CPS_SPACE_GPU, number, p->word[index], out);
    if (index + 1 < p->count)
        put_whole(p->session, p->names, number, (uint64_t)p->word[index + 1] << 32 | p->word[index],
                  out);
}

static void take_value(void *context, const struct cps_value *value)
{
    struct payload *p = context;
    if (value->number >= p->most || (value->is_flag && !value->bits))
        return;
    struct cps_buf *out = &p->text[value->number];
    bool is_plain = value->name && !value->name[0] && !value->word;
    if (is_plain)
        return;
    cps_buf_str(out, out->size ? " " : "");
    cps_value_line(value, out);
    cps_buffers_put_value(p->session->play.buffers, session_submission(p->session), value, out);
}

static void put_payload(struct payload *p, struct cps_buf *out)
{
    uint32_t shown = p->packet.count < p->most ? p->packet.count : p->most;
    if (p->packet.kind == CPS_PM4_TYPE7)
        cps_packet_values(p->names, p->packet.opcode, p->word, p->count, take_value, p);
    for (uint32_t i = 0; i < shown; i++) {
        if (p->packet.kind == CPS_PM4_TYPE4)
            register_text(p, i);
        const char *mark = !p->marked ? "  " : i < p->read ? " . " : i == p->read ? "=> " : "   ";
        cps_buf_printf(out, "%s%2" PRIu32 "  %08" PRIx32 "%s", mark, i, p->word[i],
                       p->text[i].size ? "  " : "");
        cps_buf_join(out, &p->text[i]);
        cps_buf_str(out, "\n");
        cps_buf_deinit(&p->text[i]);
    }
    if (p->packet.count > p->most)
        cps_buf_printf(out, "  and %" PRIu32 " more\n", p->packet.count - p->most);
}

bool look_last_packet(const struct session *s, unsigned core, struct cps_event *ret)
{
    uint64_t event = cps_debug_place(s->debug).event;
    unsigned who = session_engine(s)->who[core];
    while (event-- && cps_debug_event(s->debug, event, ret)) {
        if (cps_event_kind(ret) == CPS_EV_PKT && cps_event_who(ret) == who)
            return true;
    }
    return false;
}

/* Words of the packet at @p header that were taken from its stream; all of them if that stream is
 * over, and another one runs at its level. */
static uint32_t words_read(const struct session *s, unsigned core, const struct cps_event *packet,
                           uint32_t count)
{
    struct cps_position at =
        cps_afuc_position(session_afuc(s), core, cps_event_sub(packet) % (CPS_LEVEL_SDS + 1));
    uint64_t first = (packet->addr - at.iova) / 4 + 1; /* behind the header */
    if (!at.active || packet->addr < at.iova || first > at.dwords || at.consumed < first)
        return count;
    return at.consumed - first < count ? (uint32_t)(at.consumed - first) : count;
}

static void put_packet(const struct session *s, unsigned core, unsigned most, bool marked,
                       struct cps_buf *out)
{
    struct cps_event event;
    const struct cps_afuc *afuc = session_afuc(s);
    if (!afuc)
        return;
    uint32_t header = cps_afuc_header(afuc, core, 0);
    struct payload payload = {s, session_names(s, core), cps_pm4_decode(header), .most = most,
                              .marked = marked};
    bool known = look_last_packet(s, core, &event) && event.value == header;
    cps_buf_printf(out, "%08" PRIx32 " ", header);
    packet_name(s, core, header, out);
    if (known)
        cps_buf_printf(out, ", %s 0x%016" PRIx64,
                       cps_event_sub_word(CPS_EV_PKT, cps_event_sub(&event)), event.addr);
    bool has_payload =
        known && cps_event_sub(&event) != CPS_LEVEL_INT && payload.packet.kind != CPS_PM4_BAD;
    if (has_payload)
        cps_buffers_put(s->play.buffers, session_submission(s), event.addr, out);
    cps_buf_str(out, "\n");
    if (!has_payload)
        return;
    payload.read = words_read(s, core, &event, payload.packet.count);
    if (marked)
        cps_buf_printf(out, "%" PRIu32 " of %" PRIu32 " dwords read\n", payload.read,
                       payload.packet.count);
    for (uint32_t i = 0; i < payload.packet.count && i <= most; i++)
        payload.word[payload.count++] =
            (uint32_t)session_value(s, core, CPS_FILE_MEMORY, event.addr + 4 + 4 * (uint64_t)i);
    put_payload(&payload, out);
}

void look_packet(const struct session *s, unsigned core, struct cps_buf *out)
{
    put_packet(s, core, FEW, false, out);
}

void look_payload(const struct session *s, unsigned core, unsigned most, struct cps_buf *out)
{
    put_packet(s, core, most < MAX_PAYLOAD ? most : MAX_PAYLOAD, true, out);
}
