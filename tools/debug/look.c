/* SPDX-License-Identifier: MIT
 * What a stopped machine looks like, as text. */
#include "tools/debug/look.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/debug/point.h"
#include "trace/capture/pm4.h"
#include "trace/form/text.h"

#define MAX_PAYLOAD 16u

/* Labels are asked for by address; the text lives until the next question. */
struct labels {
    const struct session *session;
    unsigned core;
    struct cps_buf text;
};

static const char *label(void *context, uint32_t target)
{
    struct labels *l = context;
    cps_buf_clear(&l->text);
    session_place(l->session, l->core, target, &l->text);
    return l->text.size ? cps_buf_text(&l->text) : NULL;
}

void look_insn(const struct session *s, unsigned core, uint32_t pc, struct cps_buf *out)
{
    const struct cps_isa *isa = cps_isa_afuc();
    struct labels labels = {s, core, {0}};
    const struct cps_print_names names = {
        .names = session_names(s, core), .label = label, .context = &labels};
    struct cps_insn insn;
    cps_decode(isa, s->rig.fw->gen, cps_machine_word(session_machine(s), core, pc), &insn);
    cps_print(isa, &insn, pc, &names, out);
    cps_buf_deinit(&labels.text);
}

static bool has_break(const struct session *s, unsigned core, uint32_t pc)
{
    const struct cps_debug_point *p = NULL;
    for (unsigned i = 0; (p = cps_debug_point(s->debug, i)); i++) {
        if (p->what == CPS_AT_PC && p->pc == pc && p->core == (int)core && !p->disabled)
            return true;
    }
    return false;
}

/* Handlers and the user's labels, on a line of their own. */
static void label_line(const struct session *s, unsigned core, uint32_t pc, struct cps_buf *out)
{
    CPS_BUF name = {0};
    session_place(s, core, pc, &name);
    if (name.size && !strchr(cps_buf_text(&name), '+'))
        cps_buf_printf(out, "%s:\n", cps_buf_text(&name));
}

void look_code(const struct session *s, unsigned core, uint32_t pc, unsigned before, unsigned after,
               struct cps_buf *out)
{
    struct cps_machine *m = session_machine(s);
    uint32_t now = cps_machine_pc(m, core);
    uint32_t next = cps_machine_npc(m, core);
    uint32_t size = cps_machine_image_size(m, core);
    for (uint32_t at = pc < before ? 0 : pc - before; at <= pc + after && at < size; at++) {
        label_line(s, core, at, out);
        cps_buf_printf(out, "%s%c %04" PRIx32 " %08" PRIx32 "  ",
                       at == now                       ? "=>"
                       : at == next && next != now + 1 ? "->"
                                                       : "  ",
                       has_break(s, core, at) ? '*' : ' ', at, cps_machine_word(m, core, at));
        look_insn(s, core, at, out);
        cps_buf_str(out, "\n");
    }
}

bool look_source(const struct session *s, unsigned core, uint32_t pc, const char **file,
                 uint32_t *line)
{
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = session_fw(s, core, &part);
    const struct cps_fw_line *found = fw ? cps_fw_line_at(fw, session_part(fw, part), pc) : NULL;
    if (!found)
        return false;
    *file = fw->debug.files[found->file];
    *line = found->line;
    return true;
}

void look_source_text(const struct session *s, unsigned core, uint32_t pc, struct cps_buf *out)
{
    const char *path = NULL;
    uint32_t wanted = 0;
    char *line = NULL;
    size_t room = 0;
    FILE *file = look_source(s, core, pc, &path, &wanted) ? fopen(path, "r") : NULL;
    bool found = file != NULL;
    for (uint32_t i = 0; found && i < wanted; i++)
        found = getline(&line, &room, file) > 0;
    if (found)
        cps_buf_printf(out, "%" PRIu32 "\t%.*s\n", wanted, (int)strcspn(line, "\r\n"), line);
    free(line);
    if (file)
        fclose(file);
}

void look_where(const struct session *s, unsigned core, struct cps_buf *out)
{
    struct cps_machine *m = session_machine(s);
    struct cps_debug_place place = cps_debug_place(s->debug);
    uint32_t pc = cps_machine_pc(m, core);
    const char *file = NULL;
    uint32_t line = 0;
    cps_buf_printf(out, "step %" PRIu64 ", event %" PRIu64 ", ", place.step, place.event);
    if (place.submission)
        cps_buf_printf(out, "submission %" PRIu32 ": ", place.submission - 1);
    else
        cps_buf_str(out, "boot: ");
    cps_buf_printf(out, "%s ", session_core_name(s, core));
    if (!cps_machine_started(m, core)) {
        cps_buf_str(out, "is not started\n");
        return;
    }
    cps_buf_printf(out, "%04" PRIx32 " ", pc);
    session_place(s, core, pc, out);
    if (look_source(s, core, pc, &file, &line))
        cps_buf_printf(out, ", %s:%" PRIu32, file, line);
    if (cps_machine_npc(m, core) != pc + 1)
        cps_buf_printf(out, ", delay slot of a branch to %04" PRIx32, cps_machine_npc(m, core));
    cps_buf_str(out, "\n");
}

void look_registers(const struct session *s, unsigned core, unsigned columns, uint32_t changed,
                    struct cps_buf *out)
{
    static const char *const ports[] = {"$sp ", "$lr ", "$rem", "$addr", "$usraddr"};
    for (unsigned i = 1; i <= 0x1e; i++) {
        char name[12];
        if (i < 0x1a)
            snprintf(name, sizeof(name), "$%02x", i);
        else
            snprintf(name, sizeof(name), "%s", ports[i - 0x1a]);
        cps_buf_printf(out, "%c%s %08" PRIx32 "%s", changed >> i & 1 ? '*' : ' ', name,
                       cps_machine_gpr(session_machine(s), core, i),
                       i % columns == 0 || i == 0x1e ? "\n" : " ");
    }
}

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

static void payload_word(const struct session *s, unsigned core, const struct cps_pm4 *packet,
                         uint32_t index, uint32_t value, struct cps_buf *out)
{
    const struct cps_names *names = session_names(s, core);
    cps_buf_printf(out, "  %2" PRIu32 "  %08" PRIx32, index, value);
    if (packet->kind == CPS_PM4_TYPE4) {
        const char *name = cps_name(names, CPS_SPACE_GPU, packet->reg + index, NULL);
        CPS_BUF fields = {0};
        cps_name_fields(names, CPS_SPACE_GPU, packet->reg + index, value, &fields);
        cps_buf_printf(out, "  %s %s", name ? name : "", cps_buf_text(&fields));
    }
    cps_buf_str(out, "\n");
}

/* The newest dispatch of this core, for the level and the address of its header. */
static bool last_packet(const struct session *s, unsigned core, struct cps_event *ret)
{
    uint64_t event = cps_debug_place(s->debug).event;
    enum cps_processor who = cps_machine_core_who(session_machine(s), core);
    while (event-- && cps_debug_event(s->debug, event, ret)) {
        if (cps_event_kind(ret) == CPS_EV_PKT && cps_event_who(ret) == (unsigned)who)
            return true;
    }
    return false;
}

void look_packet(const struct session *s, unsigned core, struct cps_buf *out)
{
    struct cps_event event;
    uint32_t header = cps_machine_header(session_machine(s), core, 0);
    struct cps_pm4 packet = cps_pm4_decode(header);
    bool known = last_packet(s, core, &event) && event.value == header;
    cps_buf_printf(out, "%08" PRIx32 " ", header);
    packet_name(s, core, header, out);
    if (known)
        cps_buf_printf(out, ", %s 0x%016" PRIx64,
                       cps_event_sub_word(CPS_EV_PKT, cps_event_sub(&event)), event.addr);
    cps_buf_str(out, "\n");
    if (!known || cps_event_sub(&event) == CPS_LEVEL_INT || packet.kind == CPS_PM4_BAD)
        return;
    for (uint32_t i = 0; i < packet.count && i < MAX_PAYLOAD; i++)
        payload_word(s, core, &packet, i,
                     cps_machine_memory(session_machine(s), event.addr + 4 + 4 * (uint64_t)i, NULL),
                     out);
    if (packet.count > MAX_PAYLOAD)
        cps_buf_printf(out, "  and %" PRIu32 " more\n", packet.count - MAX_PAYLOAD);
}

void look_backtrace(const struct session *s, unsigned core, struct cps_buf *out)
{
    static const char *const levels[] = {"ring", "ib1", "ib2", "ib3", "sds"};
    struct cps_machine *m = session_machine(s);
    unsigned depth = cps_machine_depth(m, core);
    for (unsigned i = 0; i <= depth; i++) {
        uint32_t pc = i ? cps_machine_return(m, core, i - 1) : cps_machine_pc(m, core);
        cps_buf_printf(out, "#%u  %04" PRIx32 " ", i, pc);
        session_place(s, core, pc, out);
        cps_buf_str(out, "\n");
    }
    cps_buf_str(out, "packet  ");
    look_packet(s, core, out);
    for (unsigned level = CPS_LEVEL_SDS + 1; level--;) {
        struct cps_position at = cps_machine_position(m, core, level);
        if (at.active)
            cps_buf_printf(out, "%-6s  0x%016" PRIx64 ", %" PRIu32 " of %" PRIu32 " dwords read\n",
                           levels[level], at.iova, at.consumed, at.dwords);
    }
}

void look_event(const struct session *s, const struct cps_event *event, struct cps_buf *out)
{
    bool many = cps_machine_core_count(session_machine(s)) > 1;
    cps_text_event(out, event, s->rig.names[cps_event_who(event) % CPS_CPU_COUNT], many);
}

void look_events(const struct session *s, unsigned count, struct cps_buf *out)
{
    uint64_t end = cps_debug_place(s->debug).event;
    struct cps_event event;
    for (uint64_t i = end < count ? 0 : end - count; i < end; i++) {
        if (!cps_debug_event(s->debug, i, &event))
            continue;
        cps_buf_printf(out, "%8" PRIu64 "  ", i);
        look_event(s, &event, out);
    }
}

void look_stop(const struct session *s, const struct cps_debug_stop *stop, struct cps_buf *out)
{
    static const char *const reasons[] = {
        [CPS_WHY_GONE] = "",
        [CPS_WHY_POINT] = "",
        [CPS_WHY_END] = "the end: every submission is done\n",
        [CPS_WHY_START] = "the beginning: nothing lies before\n",
        [CPS_WHY_DEADLOCK] =
            "deadlock: every processor waits for something that nothing will change\n",
        [CPS_WHY_FAULT] = "fault\n",
        [CPS_WHY_BAD_PACKET] = "bad packet: the firmware refused it and spins\n",
        [CPS_WHY_INTERRUPTED] = "interrupted\n",
        [CPS_WHY_NOMEM] = "out of memory\n",
    };
    static const uint8_t stops[] = {[CPS_WHY_DEADLOCK] = CPS_STOP_DEADLOCK,
                                    [CPS_WHY_FAULT] = CPS_STOP_FAULT,
                                    [CPS_WHY_BAD_PACKET] = CPS_STOP_BAD_PACKET};
    cps_buf_str(out, reasons[stop->reason]);
    if (stop->reason == CPS_WHY_DEADLOCK || stop->reason == CPS_WHY_FAULT ||
        stop->reason == CPS_WHY_BAD_PACKET) {
        cps_machine_explain(session_machine(s), (enum cps_stop)stops[stop->reason], out);
        cps_buf_str(out, "\n");
    }
    if (stop->reason != CPS_WHY_POINT)
        return;
    const struct cps_debug_point *p = cps_debug_find(s->debug, stop->point);
    const struct spot *spot = p ? p->context : NULL;
    cps_buf_printf(out, "%s %d%s%s\n", p && p->what == CPS_AT_PC ? "breakpoint" : "watchpoint",
                   stop->point, spot ? ", " : "", spot ? spot->text : "");
    if (stop->has_event) {
        cps_buf_str(out, "  ");
        look_event(s, &stop->event, out);
    }
}

void look_memory(const struct session *s, uint64_t iova, uint32_t dwords, struct cps_buf *out)
{
    for (uint32_t i = 0; i < dwords; i++) {
        uint64_t at = iova + 4 * (uint64_t)i;
        bool known = false;
        uint32_t value = cps_machine_memory(session_machine(s), at, &known);
        if (i % 4 == 0)
            cps_buf_printf(out, "%s%016" PRIx64 ":", i ? "\n" : "", at);
        if (known)
            cps_buf_printf(out, " %08" PRIx32, value);
        else
            cps_buf_str(out, " ........");
    }
    cps_buf_str(out, dwords ? "\n" : "");
}
