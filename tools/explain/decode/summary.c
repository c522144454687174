/* SPDX-License-Identifier: MIT
 * Everything that was decoded, counted: packets by name, registers with how often they were written
 * and with how many values, launches by kind. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "tools/explain/decode/decode.h"
#include "trace/form/words.h"
#include "trace/out/json.h"

#define OPCODES   128
#define REGISTERS 0x40000 /* 18 bits of a type 4 header */

/* What became of a register. */
struct reg {
    uint32_t writes, changes; /* changes: to another value than before */
    uint32_t first, last;
};

struct decode_summary {
    struct cps_names *const *names;
    const struct cps_names *of; /* the first packet's; NULL: none was shown, and nothing counted */
    uint64_t type4, unknown, packets, words, events;
    uint64_t count[OPCODES];
    uint64_t launches[CPS_LAUNCH_RESOLVE + 1];
    struct reg reg[REGISTERS];
};

struct decode_summary *decode_summary_create(struct cps_names *const *names)
{
    struct decode_summary *ret = calloc(1, sizeof(*ret));
    if (ret)
        ret->names = names;
    return ret;
}

void decode_summary_destroy(struct decode_summary *summary)
{
    free(summary);
}

static void count_write(struct decode_summary *s, const struct cps_event *event)
{
    struct reg *reg = &s->reg[cps_event_place(event) % REGISTERS];
    reg->first = reg->writes ? reg->first : event->value;
    reg->changes += reg->writes && reg->last != event->value;
    reg->last = event->value;
    reg->writes++;
}

void decode_summary_packet(struct decode_summary *s, const struct decode_filter *filter,
                           const struct decode_packet *p)
{
    struct cps_pm4 pm4 = cps_packet_header_(&p->head);
    if (!s->of)
        s->of = s->names[cps_event_who(&p->head)];
    s->packets++;
    s->words += 1 + p->words;
    s->launches[p->starts]++;
    s->type4 += pm4.kind == CPS_PM4_TYPE4;
    s->unknown += pm4.kind == CPS_PM4_BAD;
    s->count[pm4.opcode] += pm4.kind == CPS_PM4_TYPE7;
    for (size_t i = 0; i < p->effects; i++) {
        const struct cps_event *e = &p->effect[i];
        uint32_t value = e->value;
        if (cps_event_kind(e) == CPS_EV_REG &&
            decode_filter_register(filter, s->of, (uint32_t)cps_event_place(e), &value))
            count_write(s, e);
        s->events += cps_event_kind(e) != CPS_EV_REG;
    }
}

/* ---- Text ---- */

static void put_packet(const struct decode_summary *s, unsigned opcode, struct cps_buf *out)
{
    if (!s->count[opcode])
        return;
    const char *name = cps_name(s->of, CPS_SPACE_PACKET, opcode, NULL);
    if (name)
        cps_buf_printf(out, "%10" PRIu64 "  %s\n", s->count[opcode], name);
    else
        cps_buf_printf(out, "%10" PRIu64 "  packet 0x%02x\n", s->count[opcode], opcode);
}

static void put_register(const struct decode_summary *s, uint32_t number, struct cps_buf *out)
{
    const struct reg *reg = &s->reg[number];
    unsigned half = 0;
    if (!reg->writes)
        return;
    const char *name = cps_name(s->of, CPS_SPACE_GPU, number, &half);
    cps_buf_printf(out, "%10" PRIu32 "  0x%04" PRIx32 " %s%s = 0x%08" PRIx32, reg->writes, number,
                   name ? name : "-", half ? "+1" : "", reg->first);
    if (reg->changes)
        cps_buf_printf(out, " first, 0x%08" PRIx32 " last, changed %" PRIu32 " time%s", reg->last,
                       reg->changes, reg->changes == 1 ? "" : "s");
    cps_buf_str(out, "\n");
}

bool decode_summary_text(const struct decode_summary *s, struct cps_buf *out)
{
    static const char *const plural[] = {"", "s", "es", "s", "s"};
    cps_buf_printf(out, "%" PRIu64 " packet%s, %" PRIu64 " dwords", s->packets,
                   s->packets == 1 ? "" : "s", s->words);
    for (unsigned i = CPS_LAUNCH_DRAW; i <= CPS_LAUNCH_RESOLVE; i++)
        cps_buf_printf(out, ", %" PRIu64 " %s%s", s->launches[i], cps_launch_kind_text_(i),
                       s->launches[i] == 1 ? "" : plural[i]);
    cps_buf_str(out, "\npackets:\n");
    if (s->type4)
        cps_buf_printf(out, "%10" PRIu64 "  type4\n", s->type4);
    for (unsigned i = 0; i < OPCODES; i++)
        put_packet(s, i, out);
    if (s->unknown)
        cps_buf_printf(out, "%10" PRIu64 "  no header of a packet\n", s->unknown);
    cps_buf_str(out, "registers, with how often they were written:\n");
    for (uint32_t i = 0; i < REGISTERS; i++)
        put_register(s, i, out);
    return !out->failed;
}

/* ---- JSON ---- */

static void add_register(const struct decode_summary *s, uint32_t number, struct json_object *array)
{
    const struct reg *reg = &s->reg[number];
    if (!reg->writes)
        return;
    const char *name = cps_name(s->of, CPS_SPACE_GPU, number, NULL);
    struct json_object *to = json_object_new_object();
    cps_json_uint(to, "reg", number);
    if (name)
        cps_json_text(to, "name", name);
    cps_json_uint(to, "writes", reg->writes);
    cps_json_uint(to, "changes", reg->changes);
    cps_json_uint(to, "first", reg->first);
    cps_json_uint(to, "last", reg->last);
    cps_json_append(array, to);
}

struct json_object *decode_summary_json(const struct decode_summary *s)
{
    struct json_object *root = json_object_new_object();
    cps_json_uint(root, "packets", s->packets);
    cps_json_uint(root, "dwords", s->words);
    for (unsigned i = CPS_LAUNCH_DRAW; i <= CPS_LAUNCH_RESOLVE; i++)
        cps_json_uint(root, cps_launch_kind_text_(i), s->launches[i]);
    cps_json_uint(root, "type4", s->type4);
    cps_json_uint(root, "bad_headers", s->unknown);
    struct json_object *type7 = cps_json_new_array(root, "type7");
    for (unsigned i = 0; i < OPCODES; i++) {
        if (!s->count[i])
            continue;
        const char *name = cps_name(s->of, CPS_SPACE_PACKET, i, NULL);
        struct json_object *to = json_object_new_object();
        cps_json_uint(to, "opcode", i);
        if (name)
            cps_json_text(to, "name", name);
        cps_json_uint(to, "count", s->count[i]);
        cps_json_append(type7, to);
    }
    struct json_object *registers = cps_json_new_array(root, "registers");
    for (uint32_t i = 0; i < REGISTERS; i++)
        add_register(s, i, registers);
    return root;
}
