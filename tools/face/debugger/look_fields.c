/* SPDX-License-Identifier: MIT
 * Registers of a stopped machine with their fields, and the packet that it is at. */
#include <inttypes.h>

#include "isa/base/pm4.h"
#include "tools/face/debugger/look.h"

#define MOST        64u  /* registers that were written last */
#define MAX_PAYLOAD 512u /* words */
#define FEW         16u  /* words, where a packet is one thing among others */

struct fields {
    const struct session *session;
    struct cps_buf *out;
    const char *before; /* before each */
    bool all;           /* also flags that are not set */
};

enum cps_space look_space(char file)
{
    return file == CPS_FILE_CONTROL    ? CPS_SPACE_CONTROL
           : file == CPS_FILE_SQE      ? CPS_SPACE_SQE
           : file == CPS_FILE_REGISTER ? CPS_SPACE_GPU
                                       : CPS_SPACE_COUNT;
}

static void put_buffer(void *context, const struct cps_value *value)
{
    const struct fields *f = context;
    cps_buffers_put_value(f->session->play.buffers, session_submission(f->session), value, f->out);
}

static void put_field(void *context, const struct cps_value *value)
{
    struct fields *f = context;
    struct cps_buf *out = f->out;
    size_t size = out->size;
    cps_buf_str(out, f->before);
    if (value->name && !value->name[0] && !f->all) /* the register as a whole */
        cps_value_put(value, out);
    else if (f->all && value->is_flag && !value->bits && value->name)
        cps_buf_printf(out, "%s=0", value->name);
    else if (!cps_value_line(value, out))
        out->size = size;
    if (out->size != size)
        put_buffer(f, value);
}

/* "RB_CCU_CNTL 0x8e07 = 10000000", and its fields. */
static void put_register(const struct session *s, const struct cps_names *names,
                         enum cps_space space, char sign, uint32_t number, uint64_t value,
                         struct cps_buf *out)
{
    struct fields f = {s, out, "  ", false};
    unsigned part = 0;
    const char *name = names ? cps_name(names, space, number, &part) : NULL;
    cps_buf_printf(out, part ? "%s+0x%x" : "%s", name ? name : "-", part);
    cps_buf_printf(out, sign ? " %c0x%03" PRIx32 : "%c0x%04" PRIx32, sign ? sign : ' ', number);
    cps_buf_printf(out, " = %08" PRIx64, value);
    if (names)
        cps_name_values(names, space, number, (uint32_t)value, put_field, &f);
    cps_buf_str(out, "\n");
}

/* Registers of the processor that are not 0. */
static void put_space(const struct session *s, unsigned core, char sign, const char *title,
                      struct cps_buf *out)
{
    const struct cps_file *file = cps_engine_file(session_engine(s), sign);
    for (uint32_t i = 0; file && i < file->count; i++) {
        uint64_t value = session_value(s, core, sign, i);
        if (!value)
            continue;
        if (title)
            cps_buf_printf(out, "%s:\n", title);
        title = NULL;
        put_register(s, session_names(s, core), look_space(sign), sign, i, value, out);
    }
}

void look_fields(const struct session *s, unsigned core, unsigned most, struct cps_buf *out)
{
    uint64_t listed[MOST];
    unsigned count = 0;
    struct cps_event event;
    uint64_t number = cps_debug_location(s->debug).event;
    most = most < MOST ? most : MOST;
    while (count < most && session_event_before(s, CPS_EV_REG, &number, &event)) {
        unsigned known = 0;
        while (known < count && listed[known] != event.addr)
            known++;
        if (known < count)
            continue;
        listed[count++] = event.addr;
        if (count == 1)
            cps_buf_str(out, "written last:\n");
        put_register(s, s->play.names[cps_event_who(&event) % CPS_CPU_COUNT], CPS_SPACE_GPU, 0,
                     (uint32_t)(event.addr & 0x3ffff), event.value, out);
    }
    if (!count)
        cps_buf_str(out, "no register was written yet\n");
    put_space(s, core, CPS_FILE_CONTROL, "control registers", out);
    put_space(s, core, CPS_FILE_SQE, "registers of the SQE", out);
}

bool look_register(const struct session *s, unsigned core, const char *what, struct cps_buf *out)
{
    struct cps_location place;
    struct fields f = {s, out, "\n  ", true};
    if (!expr_place(s, core, what, &place))
        return false;
    uint64_t value = session_value(s, core, place.file, place.number);
    const struct cps_names *names = session_names(s, core);
    enum cps_space space = look_space(place.file);
    cps_buf_printf(out, "%s = %08" PRIx64, what, value);
    if (space == CPS_SPACE_GPU)
        format_register64(s, core, (uint32_t)place.number, out);
    if (space != CPS_SPACE_COUNT && names)
        cps_name_values(names, space, (uint32_t)place.number, (uint32_t)value, put_field, &f);
    cps_buf_str(out, "\n");
    return true;
}

/* ---- registers of 64 bits ---- */

/* Of one that is no address its halves show enough. */
static void put_whole(const struct session *s, const struct cps_names *names, uint32_t lower,
                      uint64_t value, struct cps_buf *out)
{
    CPS_BUF buffer = {0};
    struct fields f = {.session = s, .out = &buffer};
    if (!cps_name_values64(names, CPS_SPACE_GPU, lower, value, put_buffer, &f) || !buffer.size)
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
        return; /* half an address is none */
    uint64_t low = session_value(s, core, CPS_FILE_REGISTER, number - half);
    uint64_t high = session_value(s, core, CPS_FILE_REGISTER, number - half + 1);
    put_whole(s, names, number - half, high << 32 | (uint32_t)low, out);
}

/* ---- the packet at hand ---- */

struct payload {
    const struct session *session;
    const struct cps_names *names;
    struct cps_buf *out;
    struct cps_pm4 packet;
    uint32_t word[MAX_PAYLOAD + 1]; /* one more than is shown: an address may end there */
    uint32_t count;                 /* of those */
    uint32_t most;                  /* that are shown */
    uint32_t read;                  /* that the processor has taken */
    bool marked;                    /* the lines show which those are */
    uint32_t begun;                 /* lines */
    bool has_value;                 /* the last of them */
};

/* Begins the lines of words before word @p end. */
static void begin_words(struct payload *p, uint32_t end)
{
    for (; p->begun < end; p->begun++) {
        uint32_t i = p->begun;
        const char *mark = !p->marked ? "  " : i < p->read ? " . " : i == p->read ? "=> " : "   ";
        cps_buf_printf(p->out, "%s%s%2" PRIu32 "  %08" PRIx32, i ? "\n" : "", mark, i, p->word[i]);
        p->has_value = false;
    }
}

static void put_value(void *context, const struct cps_value *value)
{
    struct payload *p = context;
    bool is_plain = value->name && !value->name[0] && !value->word;
    if (value->number >= p->most || (value->is_flag && !value->bits) || is_plain)
        return;
    begin_words(p, value->number + 1);
    cps_buf_str(p->out, p->has_value ? " " : "  ");
    p->has_value = true;
    cps_value_line(value, p->out);
    cps_buffers_put_value(p->session->play.buffers, session_submission(p->session), value, p->out);
}

static void put_payload(struct payload *p)
{
    uint32_t shown = p->packet.count < p->most ? p->packet.count : p->most;
    if (p->packet.kind == CPS_PM4_TYPE7)
        cps_packet_values(p->names, p->packet.opcode, p->word, p->count, put_value, p);
    for (uint32_t i = 0; i < shown && p->packet.kind == CPS_PM4_TYPE4; i++) {
        uint32_t number = p->packet.reg + i;
        const char *name = cps_name(p->names, CPS_SPACE_GPU, number, NULL);
        begin_words(p, i + 1);
        cps_buf_printf(p->out, "  %s ", name ? name : "");
        cps_name_fields(p->names, CPS_SPACE_GPU, number, p->word[i], p->out);
        if (i + 1 < p->count)
            put_whole(p->session, p->names, number, (uint64_t)p->word[i + 1] << 32 | p->word[i],
                      p->out);
    }
    begin_words(p, shown);
    cps_buf_str(p->out, shown ? "\n" : "");
    if (p->packet.count > p->most)
        cps_buf_printf(p->out, "  and %" PRIu32 " more\n", p->packet.count - p->most);
}

/* Words of the packet at @p header that were taken from its stream; all of them if that stream is
 * over, and another one runs at its level. */
static uint32_t words_read(const struct session *s, unsigned core, const struct cps_event *packet,
                           uint32_t count)
{
    struct cps_position at =
        cps_afuc_position(session_afuc(s), core, cps_event_sub(packet) % (CPS_LEVEL_SDS + 1));
    uint64_t first = (packet->addr - at.iova) / 4 + 1; /* after the header */
    if (!at.active || packet->addr < at.iova || first > at.dwords || at.consumed < first)
        return count;
    return at.consumed - first < count ? (uint32_t)(at.consumed - first) : count;
}

/* "70268000 CP_NOP, opcode 0x10, 0 dwords" */
static void put_header(const struct payload *p, uint32_t header)
{
    const char *name = NULL;
    cps_buf_printf(p->out, "%08" PRIx32 " ", header);
    if (p->packet.kind == CPS_PM4_TYPE7) {
        name = cps_name(p->names, CPS_SPACE_PACKET, p->packet.opcode, NULL);
        cps_buf_printf(p->out, "%s, opcode 0x%02" PRIx32, name ? name : "UNKN", p->packet.opcode);
    } else if (p->packet.kind == CPS_PM4_TYPE4) {
        name = cps_name(p->names, CPS_SPACE_GPU, p->packet.reg, NULL);
        cps_buf_printf(p->out, "type4, register 0x%04" PRIx32 " %s", p->packet.reg,
                       name ? name : "");
    } else {
        cps_buf_str(p->out, "not a packet header");
        return;
    }
    cps_buf_printf(p->out, ", %" PRIu32 " dwords", p->packet.count);
}

static void put_packet(const struct session *s, unsigned core, unsigned most, bool marked,
                       struct cps_buf *out)
{
    struct cps_event event;
    const struct cps_afuc *afuc = session_afuc(s);
    if (!afuc)
        return;
    uint32_t header = cps_afuc_header(afuc, core, 0);
    struct payload payload = {.session = s,
                              .names = session_names(s, core),
                              .out = out,
                              .packet = cps_pm4_decode(header),
                              .most = most,
                              .marked = marked};
    bool known = session_last_packet(s, core, &event) && event.value == header;
    put_header(&payload, header);
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
    put_payload(&payload);
}

void look_packet(const struct session *s, unsigned core, struct cps_buf *out)
{
    put_packet(s, core, FEW, false, out);
}

void look_payload(const struct session *s, unsigned core, unsigned most, struct cps_buf *out)
{
    put_packet(s, core, most < MAX_PAYLOAD ? most : MAX_PAYLOAD, true, out);
}
