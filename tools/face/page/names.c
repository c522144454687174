/* SPDX-License-Identifier: MIT
 * Names of what occurs in a run: registers with their fields, what packets' words are called, and
 * of each enumeration the values that were seen. The page takes values apart by them. */
#include "tools/face/page/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "isa/base/pm4.h"
#include "isa/names/table.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "trace/out/json.h"

/* Numbers of the page: pipe registers are after those of the GPU, and control registers of each
 * processor after them. */
enum { PIPE_BASE = 1 << 20, CONTROL_BASE = 1 << 21, PROCESSOR_STEP = 1 << 22 };
enum { MOST_ENTRIES = 600 }; /* of a layout: the page shows 200 words */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* The value of a hash that was seen; NULL: it is new. */
static const void **find(struct lh_table *seen, uint64_t hash)
{
    void *key = (void *)(uintptr_t)(hash | 1); /* no key is NULL */
    if (!lh_table_lookup_entry(seen, key))
        tool_need(!lh_table_insert(seen, key, NULL));
    return &lh_table_lookup_entry(seen, key)->v;
}

/* An item of an array, which memory may have been short for. */
static struct json_object *item(struct json_object *array, size_t i)
{
    return cps_json_count(array) > i ? json_object_array_get_idx(array, i) : NULL;
}

struct namer {
    const struct view_run *run;
    uint32_t word[VIEW_MOST_WORDS]; /* of the packet at hand */
    struct json_object *registers, *layouts, *by_signature;
    struct lh_table *values, *packets; /* of packets: 1 + number of their layout */
    struct json_object *fields;        /* of the register or layout at hand */
    size_t at;                         /* the field that comes next */
    bool fresh;                        /* fields are added; else they are there */
    bool half;                         /* bits count through the lower half, too */
    bool is_packet;
};

/* Adds the name of a field's value to its row. */
static void add_text(struct json_object *texts, const struct cps_value *value)
{
    char key[24];
    if (!value->text || !json_object_is_type(texts, json_type_object))
        return;
    snprintf(key, sizeof(key), "%" PRIu64, value->bits);
    if (!cps_json_get(texts, key))
        cps_json_add(texts, key, doc_shown(value->text));
}

/* [name, low, high, kind, radix, shift, {value: text}] and, of a packet, number and word. */
static void put_field(const struct namer *n, const struct cps_value *value)
{
    unsigned lower = n->half ? 32 : 0;
    struct json_object *row = doc_array(
        n->fields, "%s %u %u %u %u %u", value->name, value->low - lower, value->high - lower,
        (unsigned)value->kind, (unsigned)value->radix, (unsigned)value->shift);
    cps_json_append(row, json_object_new_object());
    if (n->is_packet) {
        cps_json_append(row, json_object_new_int64(value->number));
        cps_json_append(row, doc_shown(value->word ? value->word : ""));
    }
}

/* Those without a name are not shown, words of packets without one only if they are named. */
static void take_field(void *context, const struct cps_value *value)
{
    struct namer *n = context;
    bool is_shown = value->name && (!n->is_packet || value->name[0] || value->word);
    if (!is_shown || (n->is_packet && n->at >= MOST_ENTRIES))
        return;
    if (n->fresh)
        put_field(n, value);
    add_text(item(item(n->fields, n->at++), 6), value);
}

static void name_register(struct namer *n, const struct cps_names *names, enum cps_space space,
                          uint32_t base, uint32_t reg, uint32_t value)
{
    char key[16];
    unsigned half = 0;
    const void **known = find(n->values, mix(mix(1, base + reg), value));
    const char *name = names ? cps_name(names, space, reg, &half) : NULL;
    if (!name || *known)
        return;
    *known = n;
    snprintf(key, sizeof(key), "%" PRIu32, base + reg);
    struct json_object *row = cps_json_get(n->registers, key);
    n->fresh = !row;
    if (n->fresh) {
        row = cps_json_new_array(n->registers, key);
        cps_json_append(row, doc_shown(name));
        cps_json_append(row, json_object_new_int64(half));
        cps_json_append(row, json_object_new_array());
        int address = space == CPS_SPACE_GPU ? (int)cps_name_address_half(names, reg) : 0;
        cps_json_append(row, json_object_new_int64(address));
    }
    n->fields = item(row, 2);
    n->half = half;
    n->at = 0;
    n->is_packet = false;
    cps_name_values(names, space, reg, value, take_field, n);
}

static void name_event(struct namer *n, const struct cps_event *event)
{
    uint32_t reg = (uint32_t)cps_event_place(event);
    uint32_t index = 0;
    while (index < n->run->processors && n->run->processor[index].who != cps_event_who(event))
        index++;
    if (index == n->run->processors)
        return;
    const struct cps_names *names = n->run->side->names[cps_event_who(event)];
    switch (cps_event_kind(event)) {
    case CPS_EV_REG:
    case CPS_EV_REGR:
    case CPS_EV_PROT:
        name_register(n, names, CPS_SPACE_GPU, 0, reg & 0x3ffff, event->value);
        break;
    case CPS_EV_PIPE:
        name_register(n, names, CPS_SPACE_PIPE, PIPE_BASE, reg & 0xff, event->value);
        break;
    case CPS_EV_CTRL:
        name_register(n, names, CPS_SPACE_CONTROL, CONTROL_BASE + index * PROCESSOR_STEP,
                      reg & 0xfff, event->value);
        break;
    default:
        break;
    }
}

/* ---- words of packets ---- */

/* The same words are called the same, whatever their values. */
static void sign(void *context, const struct cps_value *value)
{
    struct cps_buf *signature = context;
    if (value->name && (value->name[0] || value->word))
        cps_buf_printf(signature, "%" PRIu32 "%s.%s:%u-%u/%u ", value->number,
                       value->word ? value->word : "", value->name, value->low, value->high,
                       value->kind);
}

static uint64_t hash_packet(uint32_t opcode, const uint32_t *word, size_t count)
{
    uint64_t hash = mix(mix(7, opcode), count);
    for (size_t i = 0; i < count; i++)
        hash = mix(hash, word[i]);
    return hash;
}

/* @return 1 + number of the layout, with the names of values added to it; 0: there are none */
static uint32_t lay_out(struct namer *n, const struct cps_names *names, uint32_t opcode,
                        const uint32_t *word, size_t count)
{
    CPS_BUF signature = {0};
    cps_packet_values(names, opcode, word, count, sign, &signature);
    const char *key = tool_text(&signature);
    if (!*key)
        return 0;
    struct json_object *index = cps_json_get(n->by_signature, key);
    n->fresh = !index;
    uint32_t layout =
        (uint32_t)(index ? json_object_get_int(index) : (int)cps_json_count(n->layouts));
    if (n->fresh) {
        cps_json_append(n->layouts, json_object_new_array());
        cps_json_int(n->by_signature, key, layout);
    }
    n->fields = item(n->layouts, layout);
    n->at = 0;
    n->is_packet = true;
    n->half = false;
    cps_packet_values(names, opcode, word, count, take_field, n);
    return layout + 1;
}

/* The words after a packet's header, up to the next packet of its processor. */
static size_t read_words(struct namer *n, const struct cps_event *pkt)
{
    const struct record *record = &n->run->side->record;
    size_t count = 0;
    for (const struct cps_event *at = pkt + 1; at < record->event + record->count; at++) {
        if (cps_event_who(at) != cps_event_who(pkt))
            continue;
        if (cps_event_kind(at) == CPS_EV_PKT)
            break;
        if (cps_event_kind(at) == CPS_EV_WORD && count < VIEW_MOST_WORDS)
            n->word[count++] = at->value;
    }
    return count;
}

/* As lay_out() */
static uint32_t name_packet(struct namer *n, const struct cps_event *pkt)
{
    const struct cps_names *names = n->run->side->names[cps_event_who(pkt)];
    struct cps_pm4 header = cps_pm4_decode(pkt->value);
    size_t count = read_words(n, pkt);
    if (!names || header.kind != CPS_PM4_TYPE7 || !count)
        return 0;
    const void **known = find(n->packets, hash_packet(header.opcode, n->word, count));
    if (!*known)
        *known = (void *)(uintptr_t)(1 + lay_out(n, names, header.opcode, n->word, count));
    return (uint32_t)(uintptr_t)*known - 1;
}

void view_names(const struct view_run *run, struct json_object *to)
{
    const struct record *record = &run->side->record;
    struct namer *n = tool_alloc(1, sizeof(*n));
    *n = (struct namer){.run = run,
                        .registers = cps_json_new_object(to, "registers"),
                        .layouts = cps_json_new_array(to, "layouts"),
                        .by_signature = json_object_new_object(),
                        .values = lh_kptr_table_new(4096, NULL),
                        .packets = lh_kptr_table_new(4096, NULL)};
    tool_need(n->values && n->packets);
    for (size_t i = 0; i < record->count; i++)
        name_event(n, &record->event[i]);
    struct json_object *list = cps_json_new_array(to, "packets");
    for (size_t i = 0; i < run->packets; i++)
        cps_json_append(list, json_object_new_int64(name_packet(n, run->packet[i])));
    json_object_put(tool_json(n->by_signature));
    lh_table_free(n->values);
    lh_table_free(n->packets);
    free(n);
}
