/* SPDX-License-Identifier: MIT
 * Everything that was decoded, counted: packets by name, registers with their numbers of writes and
 * of values, launches by kind. */
#include <inttypes.h>

#include "isa/base/pm4.h"
#include "tools/cmd/render/doc.h"
#include "tools/explain/decode/decode.h"
#include "trace/out/json.h"

enum { REGISTERS = sizeof(((struct decode_summary *)NULL)->reg) / sizeof(struct decode_register) };

void decode_summary_packet(struct decode_summary *s, const struct cps_names *names,
                           const struct decode_filter *filter, const struct decode_packet *p)
{
    struct cps_pm4 pm4 = cps_packet_header_(&p->head);
    s->names = s->names ? s->names : names;
    s->packets++;
    s->words += 1 + p->words.count;
    s->launches[p->starts]++;
    s->type4 += pm4.kind == CPS_PM4_TYPE4;
    s->bad += pm4.kind == CPS_PM4_BAD;
    s->type7[pm4.opcode] += pm4.kind == CPS_PM4_TYPE7;
    for (size_t i = 0; i < p->effects; i++) {
        const struct cps_event *e = &p->effect[i];
        uint32_t number = (uint32_t)cps_event_place(e);
        struct decode_register *reg = &s->reg[number % REGISTERS];
        if (cps_event_kind(e) != CPS_EV_REG ||
            !decode_filter_register(filter, s->names, number, &e->value))
            continue;
        reg->first = reg->writes ? reg->first : e->value;
        reg->changes += reg->writes && reg->last != e->value;
        reg->last = e->value;
        reg->writes++;
    }
}

struct json_object *decode_summary_tree(const struct decode_summary *s)
{
    struct json_object *root = doc_new();
    doc_put(root, "packets=%" PRIu64 " dwords=%" PRIu64, s->packets, s->words);
    for (unsigned i = CPS_LAUNCH_DRAW; i < CPS_LAUNCH_KINDS; i++)
        cps_json_uint(root, cps_launch_kind_text_(i), s->launches[i]);
    doc_put(root, ".skipped?=%d", s->launches[CPS_LAUNCH_SKIPPED] != 0);
    doc_put(root, "type4=%" PRIu64 " .type4?=%d bad_headers=%" PRIu64 " .bad?=%d", s->type4,
            s->type4 != 0, s->bad, s->bad != 0);
    struct json_object *list = cps_json_new_array(root, "type7");
    for (unsigned i = 0; i < sizeof(s->type7) / sizeof(s->type7[0]); i++) {
        if (s->type7[i])
            doc_row(list, "opcode=%u name=%s count=%" PRIu64, i,
                    cps_name(s->names, CPS_SPACE_PACKET, i, NULL), s->type7[i]);
    }
    list = cps_json_new_array(root, "registers");
    for (uint32_t i = 0; i < REGISTERS; i++) {
        const struct decode_register *reg = &s->reg[i];
        unsigned half = 0;
        const char *name = reg->writes ? cps_name(s->names, CPS_SPACE_GPU, i, &half) : NULL;
        if (reg->writes)
            doc_row(list,
                    "reg=%u name=%s .half?=%d writes=%u changes=%u .changed?=%d first=%u last=%u",
                    i, name, half != 0, reg->writes, reg->changes, reg->changes != 0, reg->first,
                    reg->last);
    }
    return root;
}
