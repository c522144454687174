/* SPDX-License-Identifier: MIT
 * What differs between two traces, for people. */
#include "tools/report/diffreport.h"

#include <inttypes.h>
#include <string.h>

#include "cpscope.h"
#include "trace/form/text.h"
#include "trace/json.h"

#define AROUND 4u

static bool runs_on(enum cps_fw_role role, unsigned who)
{
    return cps_role_processor(role, 0) == who || cps_role_processor(role, 1) == who;
}

const struct cps_fw *diff_image(const struct diff_side *side, unsigned who,
                                const struct cps_fw_part **part)
{
    const struct cps_fw *fw = who == CPS_CPU_ME && side->me ? side->me : side->fw;
    for (unsigned i = 0; fw && i < fw->part_count; i++) {
        *part = &fw->part[i];
        if (runs_on(fw->part[i].role, who))
            return fw;
    }
    return NULL;
}

void diff_handler_name(const struct cps_fw *fw, const struct cps_fw_part *part,
                       const struct cps_names *names, uint32_t pc, struct cps_buf *out)
{
    int best = -1;
    uint32_t at = 0;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t handler = cps_fw_handler(fw, part, id);
        if (handler == CPS_FW_NONE || handler > pc || (best >= 0 && handler <= at))
            continue;
        best = (int)id;
        at = handler;
    }
    const char *name =
        best < 0 ? "bootstrap" : cps_name(names, CPS_SPACE_PACKET, (uint32_t)best, NULL);
    if (name)
        cps_buf_str(out, name);
    else
        cps_buf_printf(out, "UNKN%d", best);
    if (pc != at)
        cps_buf_printf(out, "+0x%" PRIx32, pc - at);
}

/* The code of one side around @p pc of processor @p who. */
static void print_around(const struct diff_side *side, unsigned who, uint32_t pc,
                         struct cps_buf *out)
{
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = diff_image(side, who, &part);
    struct cps_print_names print = {.names = side->names[who]};
    if (!fw)
        return;
    cps_buf_printf(out, "  %s, %s:\n", side->label, fw->name);
    for (uint32_t at = pc < AROUND ? 0 : pc - AROUND; at <= pc + AROUND && at < part->size; at++) {
        struct cps_insn insn;
        uint32_t word = fw->words[part->start + at];
        cps_decode(&cps_isa_afuc, fw->gen, word, &insn);
        cps_buf_printf(out, "  %s %04" PRIx32 " %08" PRIx32 "  ", at == pc ? "=>" : "  ", at, word);
        cps_print(&cps_isa_afuc, &insn, at, &print, out);
        cps_buf_str(out, "\n");
    }
}

static void print_event(const struct diff_side *side, const char *label,
                        const struct cps_event *event, struct cps_buf *out)
{
    cps_buf_printf(out, "  %-8s ", label);
    if (event)
        cps_text_event(out, event, side->names[cps_event_who(event) % CPS_CPU_COUNT], true);
    else
        cps_buf_str(out, "(nothing)\n");
}

void diff_print_first(const struct diff_report *r, struct cps_buf *out)
{
    diff_print_ends(r, out);
    const struct cps_difference *first = &r->diff->first;
    if (!r->diff->differences) {
        cps_buf_str(out, "no differences\n");
        return;
    }
    cps_buf_str(out, "first difference");
    if (first->submission != UINT32_MAX)
        cps_buf_printf(out, ", in submission %" PRIu32, first->submission);
    cps_buf_str(out, ":\n");
    const struct cps_event *pkt = first->pkt_a ? first->pkt_a : first->pkt_b;
    if (pkt)
        print_event(pkt == first->pkt_a ? &r->a : &r->b, "packet", pkt, out);
    print_event(&r->a, r->a.label, first->a, out);
    print_event(&r->b, r->b.label, first->b, out);
    if (first->a)
        print_around(&r->a, cps_event_who(first->a), cps_event_pc(first->a), out);
    if (first->b)
        print_around(&r->b, cps_event_who(first->b), cps_event_pc(first->b), out);
}

static enum cps_space space_of(unsigned kind)
{
    switch (kind) {
    case CPS_EV_PIPE:
        return CPS_SPACE_PIPE;
    case CPS_EV_CTRL:
        return CPS_SPACE_CONTROL;
    default:
        return CPS_SPACE_GPU;
    }
}

static const struct cps_names *any_names(const struct diff_side *side)
{
    for (unsigned i = 0; side->names && i < CPS_CPU_COUNT; i++) {
        if (side->names[i])
            return side->names[i];
    }
    return NULL;
}

static const char *name_in(const struct diff_side *side, enum cps_space space, uint32_t number)
{
    const struct cps_names *names = any_names(side);
    return names ? cps_name(names, space, number, NULL) : NULL;
}

static void packet_name(const struct diff_report *r, unsigned id, struct cps_buf *out)
{
    const char *name = id < 128 ? name_in(&r->a, CPS_SPACE_PACKET, id) : NULL;
    if (!name && id < 128)
        name = name_in(&r->b, CPS_SPACE_PACKET, id);
    if (id == 128)
        cps_buf_str(out, "(outside of packets)");
    else if (id == 4)
        cps_buf_str(out, "type 4");
    else if (name)
        cps_buf_str(out, name);
    else
        cps_buf_printf(out, "UNKN%u", id);
}

/* What both sides call it, or each of them: numbers of control registers are a layout's own. */
static void put_names(const struct diff_report *r, enum cps_space space, uint32_t number,
                      struct cps_buf *out)
{
    const char *a = name_in(&r->a, space, number);
    const char *b = name_in(&r->b, space, number);
    if (a && b && !strcmp(a, b))
        cps_buf_str(out, a);
    else if (a || b)
        cps_buf_printf(out, "%s / %s", a ? a : "-", b ? b : "-");
}

static void print_place(const struct diff_report *r, const struct cps_diff_count *place,
                        struct cps_buf *out)
{
    bool memory = place->kind == CPS_EV_MEMW || place->kind == CPS_EV_MEMR;
    cps_buf_printf(out, "  %10" PRIu64 "  %s", place->count, cps_event_keyword(place->kind));
    if (place->kind != CPS_EV_PKT && place->kind != CPS_EV_END)
        cps_buf_printf(out, memory ? " 0x%016" PRIx64 : " 0x%04" PRIx64, place->addr);
    cps_buf_str(out, " ");
    if (!memory && place->kind != CPS_EV_PKT)
        put_names(r, space_of(place->kind), (uint32_t)place->addr, out);
    cps_buf_str(out, "\n");
}

void diff_print_counts(const struct diff_report *r, struct cps_buf *out)
{
    if (!r->diff->differences)
        return;
    cps_buf_printf(out, "%" PRIu64 " differences, by packet:\n", r->diff->differences);
    for (unsigned id = 0; id <= 128; id++) {
        if (!r->diff->by_packet[id])
            continue;
        cps_buf_printf(out, "  %10" PRIu64 "  ", r->diff->by_packet[id]);
        packet_name(r, id, out);
        cps_buf_str(out, "\n");
    }
    cps_buf_str(out, "by register and address:\n");
    for (size_t i = 0; i < r->diff->places; i++)
        print_place(r, &r->diff->by_place[i], out);
}

static const struct cps_fw_part *part_of(const struct cps_fw *fw, enum cps_fw_role role)
{
    for (unsigned i = 0; i < fw->part_count; i++) {
        if (fw->part[i].role == role)
            return &fw->part[i];
    }
    return NULL;
}

/* Whether packets whose handlers stand in the same place behaved otherwise. */
static bool behaves_otherwise(const struct cps_fw *fw, const struct cps_fw_part *part, uint32_t pc,
                              const uint64_t by_packet[129])
{
    uint32_t best = 0;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        uint32_t handler = cps_fw_handler(fw, part, id);
        if (handler != CPS_FW_NONE && handler <= pc && handler > best)
            best = handler;
    }
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++) {
        if (cps_fw_handler(fw, part, id) == best && by_packet[id])
            return true;
    }
    return false;
}

/* A line of a unified difference: "-0036 08e7a760  add $07, $07, 0xa760". */
static void print_instruction(const struct cps_fw *fw, const struct cps_fw_part *part,
                              const struct cps_names *names, char mark, uint32_t at,
                              struct cps_buf *out)
{
    struct cps_insn insn;
    struct cps_print_names print = {.names = names};
    uint32_t word = fw->words[part->start + at];
    cps_decode(&cps_isa_afuc, fw->gen, word, &insn);
    cps_buf_printf(out, "   %c%04" PRIx32 " %08" PRIx32 "  ", mark, at, word);
    cps_print(&cps_isa_afuc, &insn, at, &print, out);
    cps_buf_str(out, "\n");
}

/* What was taken out and what was put in, with two instructions of the new image around it. */
static void print_hunk(const struct diff_report *r, const struct cps_fw_change *change,
                       struct cps_buf *out)
{
    enum { CONTEXT = 2 };
    const struct cps_fw_part *pa = part_of(r->a.fw, change->role);
    const struct cps_fw_part *pb = part_of(r->b.fw, change->role);
    uint32_t end = change->b + change->b_count;
    for (uint32_t at = change->b < CONTEXT ? 0 : change->b - CONTEXT; at < change->b; at++)
        print_instruction(r->b.fw, pb, any_names(&r->b), ' ', at, out);
    for (uint32_t i = 0; i < change->a_count && !change->moved; i++)
        print_instruction(r->a.fw, pa, any_names(&r->a), '-', change->a + i, out);
    for (uint32_t i = 0; i < change->b_count && !change->moved; i++)
        print_instruction(r->b.fw, pb, any_names(&r->b), '+', change->b + i, out);
    if (change->moved)
        cps_buf_printf(out,
                       "   >%" PRIu32 " instructions from %04" PRIx32 " on are at %04" PRIx32 "\n",
                       change->a_count, change->a, change->b);
    for (uint32_t at = end; at < end + CONTEXT && at < pb->size && !change->moved; at++)
        print_instruction(r->b.fw, pb, any_names(&r->b), ' ', at, out);
}

/* What became of the code that changed. */
struct changes {
    const struct diff_report *report;
    const struct cps_cover *cover_a, *cover_b;
    const uint64_t *by_packet;
    struct cps_buf *out;
};

/* What was put in or taken out between two instructions was passed if the one behind it ran. */
static uint64_t runs(const struct cps_cover *cover, const struct cps_fw_part *part, uint32_t at,
                     uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; cover && i < count && at + i < part->size; i++)
        sum += cover[part->start + at + i].run;
    return sum;
}

static uint64_t executions(const struct changes *c, const struct cps_fw_change *change)
{
    const struct cps_fw_part *a = part_of(c->report->a.fw, change->role);
    const struct cps_fw_part *b = part_of(c->report->b.fw, change->role);
    return runs(c->cover_a, a, change->a, change->a_count) +
           runs(c->cover_b, b, change->b, change->b_count);
}

static bool is_otherwise(const struct changes *c, const struct cps_fw_change *change)
{
    const struct cps_fw *fw = c->report->a.fw;
    return executions(c, change) &&
           behaves_otherwise(fw, part_of(fw, change->role), change->a, c->by_packet);
}

static void print_change(const struct changes *c, const struct cps_fw_change *change)
{
    const struct diff_report *r = c->report;
    const uint64_t *by_packet = c->by_packet;
    struct cps_buf *out = c->out;
    const struct cps_fw_part *pa = part_of(r->a.fw, change->role);
    uint64_t ran = executions(c, change);
    bool otherwise = is_otherwise(c, change);
    bool any = false;
    for (unsigned id = 0; id <= 128; id++)
        any = any || by_packet[id];
    cps_buf_str(out, "  ");
    diff_handler_name(r->a.fw, pa, any_names(&r->a), change->a, out);
    if (r->a.fw->part_count > 1)
        cps_buf_printf(out, " (%s)", cps_fw_role_name(change->role));
    cps_buf_str(out, !ran        ? ": changed but not exercised\n"
                     : otherwise ? ": changed, behaves otherwise\n"
                     : any       ? ": changed, executed; what differs shows in other packets\n"
                                 : ": changed, executed, the same behaviour\n");
    print_hunk(r, change, out);
}

static int by_address(const void *x, const void *y)
{
    const struct cps_fw_change *a = x;
    const struct cps_fw_change *b = y;
    if (a->role != b->role)
        return a->role < b->role ? -1 : 1;
    return a->a < b->a ? -1 : a->a > b->a;
}

struct cps_err *diff_print_code(const struct diff_report *r, const struct cps_cover *cover_a,
                                const struct cps_cover *cover_b, const uint64_t by_packet[129],
                                struct cps_buf *out)
{
    struct cps_fw_change *change = NULL;
    size_t count = 0;
    CPS_TRY(cps_fw_compare(r->a.fw, r->b.fw, &change, &count));
    if (count)
        qsort(change, count, sizeof(*change), by_address);
    diff_print_handlers(r, out);
    cps_buf_printf(out, count ? "code that differs, %zu places:\n" : "no code differs\n", count);
    const struct changes changes = {r, cover_a, cover_b, by_packet, out};
    for (size_t i = 0; i < 2 * count; i++) { /* first what packets show */
        if (is_otherwise(&changes, &change[i % count]) == (i < count))
            print_change(&changes, &change[i % count]);
    }
    free(change);
    return NULL;
}

struct cps_err *diff_print_places(const struct diff_report *r, struct cps_buf *out)
{
    struct cps_fw_change *change = NULL;
    size_t count = 0;
    CPS_TRY(cps_fw_compare(r->a.fw, r->b.fw, &change, &count));
    if (count)
        qsort(change, count, sizeof(*change), by_address);
    for (size_t i = 0; i < count; i++) {
        const struct cps_fw_part *pa = part_of(r->a.fw, change[i].role);
        diff_handler_name(r->a.fw, pa, any_names(&r->a), change[i].a, out);
        cps_buf_str(out, "\n");
        print_hunk(r, &change[i], out);
    }
    free(change);
    return NULL;
}

static void add_event(struct json_object *at, const char *key, const struct cps_event *event)
{
    if (!event) {
        cps_json_null(at, key);
        return;
    }
    struct json_object *to = json_object_new_object();
    cps_json_text(to, "event", cps_event_keyword(cps_event_kind(event)));
    cps_json_uint(to, "addr", event->addr);
    cps_json_uint(to, "value", event->value);
    cps_json_uint(to, "pc", cps_event_pc(event));
    cps_json_add(at, key, to);
}

struct json_object *diff_json(const struct diff_report *r)
{
    const struct cps_difference *first = &r->diff->first;
    struct json_object *to = json_object_new_object();
    struct json_object *packets = json_object_new_object();
    cps_json_uint(to, "differences", r->diff->differences);
    if (r->diff->differences) {
        struct json_object *at = json_object_new_object();
        cps_json_uint(at, "submission", first->submission);
        add_event(at, "packet", first->pkt_a ? first->pkt_a : first->pkt_b);
        add_event(at, "a", first->a);
        add_event(at, "b", first->b);
        cps_json_add(to, "first", at);
    }
    for (unsigned id = 0; id <= 128; id++) {
        CPS_BUF name = {0};
        if (!r->diff->by_packet[id])
            continue;
        packet_name(r, id, &name);
        cps_json_add(packets, cps_buf_text(&name),
                     name.failed ? NULL : json_object_new_uint64(r->diff->by_packet[id]));
    }
    cps_json_add(to, "by_packet", packets);
    return to;
}
