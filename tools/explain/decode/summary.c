/* SPDX-License-Identifier: MIT
 * Everything that was decoded, counted: packets by name, registers with how often they were written
 * and with how many values, launches by kind. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "isa/base/pm4.h"
#include "tools/explain/decode/decode.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
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
    struct decode_summary *ret = tool_alloc(1, sizeof(*ret));
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

struct json_object *decode_summary_tree(const struct decode_summary *s)
{
    struct json_object *root = json_object_new_object();
    doc_put(root, "packets=%" PRIu64 " dwords=%" PRIu64, s->packets, s->words);
    for (unsigned i = CPS_LAUNCH_DRAW; i <= CPS_LAUNCH_RESOLVE; i++)
        cps_json_uint(root, cps_launch_kind_text_(i), s->launches[i]);
    doc_put(root, "type4=%" PRIu64 " .type4?=%d bad_headers=%" PRIu64 " .bad?=%d", s->type4,
            s->type4 != 0, s->unknown, s->unknown != 0);
    struct json_object *list = cps_json_new_array(root, "type7");
    for (unsigned i = 0; i < OPCODES; i++) {
        if (s->count[i])
            doc_row(list, "opcode=%u name=%s count=%" PRIu64, i,
                    cps_name(s->of, CPS_SPACE_PACKET, i, NULL), s->count[i]);
    }
    list = cps_json_new_array(root, "registers");
    for (uint32_t i = 0; i < REGISTERS; i++) {
        const struct reg *reg = &s->reg[i];
        unsigned half = 0;
        const char *name = reg->writes ? cps_name(s->of, CPS_SPACE_GPU, i, &half) : NULL;
        if (reg->writes)
            doc_row(list,
                    "reg=%u name=%s .half?=%d writes=%u changes=%u .changed?=%d first=%u last=%u",
                    i, name, half != 0, reg->writes, reg->changes, reg->changes != 0, reg->first,
                    reg->last);
    }
    return root;
}
