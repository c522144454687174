/* SPDX-License-Identifier: MIT
 * What a page is about: processors, words of events, draws and their kin, buffers. */
#include "tools/face/page/view.h"

#include <inttypes.h>
#include <stdio.h>

#include "isa/base/pm4.h"
#include "tools/cmd/render/doc.h"
#include "trace/event/launch.h"
#include "trace/out/json.h"

/* Index of the part that a processor runs, among those of both images. */
static uint64_t part_number(const struct view_side *side, unsigned who)
{
    const struct cps_fw_part *part = NULL;
    const struct cps_fw *fw = play_part(side->fw, side->me, who, &part);
    return fw ? (uint64_t)(part - fw->part) + (fw == side->me ? side->fw->part_count : 0) : 0;
}

/* BR and BV are what people call the two processors that share an image. */
static void put_processors(const struct view_run *run, struct json_object *to)
{
    static const char *const label[CPS_CPU_COUNT] = {
        [CPS_CPU_PFP] = "PFP",       [CPS_CPU_ME] = "ME",     [CPS_CPU_SQE] = "BR",
        [CPS_CPU_BV] = "BV",         [CPS_CPU_LPAC] = "LPAC", [CPS_CPU_DDE_BR] = "DDE BR",
        [CPS_CPU_DDE_BV] = "DDE BV", [CPS_CPU_AQE] = "AQE",
    };
    struct json_object *list = cps_json_new_array(to, "processors");
    for (unsigned i = 0; i < run->processors; i++) {
        unsigned who = run->processor[i].who;
        doc_row(list, "name=%s who=%u part=%" PRIu64,
                label[who] ? label[who] : cps_processor_name(who), who,
                part_number(run->side, who));
    }
}

/* Buffers that are valid in submissions of the run; a dump has none. */
static void put_buffers(const struct record *record, struct json_object *to)
{
    struct json_object *list = cps_json_new_array(to, "buffers");
    uint32_t first = 0;
    uint32_t last = UINT32_MAX;
    for (size_t i = record->count; i-- > 0;) {
        if (cps_event_kind(&record->event[i]) != CPS_EV_SUBMIT)
            continue;
        first = record->event[i].value;
        last = last == UINT32_MAX ? first : last;
    }
    for (size_t i = 0; i < cps_buffers_count(record->buffers); i++) {
        const struct cps_buffer *buffer = cps_buffers_get(record->buffers, i);
        if (last == UINT32_MAX || (buffer->from <= last && buffer->until > first))
            doc_array(list, "%s %u %s %" PRIx64 " %" PRIx64 " %u %u",
                      cps_buffer_kind_text(buffer->kind), buffer->number,
                      buffer->name ? buffer->name : "", buffer->iova, buffer->last, buffer->from,
                      buffer->until);
    }
}

/* The names that headers stand for, by their 7 bits. */
static void put_packet_names(const struct view_run *run, struct json_object *to)
{
    struct json_object *list = cps_json_new_object(to, "opcodes");
    for (size_t i = 0; i < run->packets; i++) {
        struct cps_pm4 header = cps_pm4_decode(run->packet[i]->value);
        const struct cps_names *names = run->side->names[cps_event_who(run->packet[i])];
        char key[16];
        char unknown[16];
        snprintf(key, sizeof(key), "%" PRIu32, header.opcode);
        snprintf(unknown, sizeof(unknown), "UNKN%" PRIu32, header.opcode);
        if (header.kind != CPS_PM4_TYPE7 || cps_json_get(list, key))
            continue;
        const char *name = names ? cps_name(names, CPS_SPACE_PACKET, header.opcode, NULL) : NULL;
        cps_json_add(list, key, doc_shown(name ? name : unknown));
    }
}

/* Draws, dispatches, blits and resolves of a processor, which `state` counts the same:
 * [packet, kind, number or -1, last packet]. */
static void put_launches(const struct view_run *run, const struct view_processor *processor,
                         uint32_t kinds, struct json_object *to)
{
    const struct record *record = &run->side->record;
    struct cps_launches launches;
    int64_t packet = (int64_t)processor->packet - 1;
    int64_t began = packet;
    cps_launches_init_(&launches, run->side->names[processor->who], processor->who, kinds);
    for (size_t i = 0; i <= record->count; i++) {
        const struct cps_event *event = i < record->count ? &record->event[i] : NULL;
        const struct cps_launch *last = &launches.last;
        enum cps_launch_step step;
        while ((step = event ? cps_launches_take_(&launches, event)
                             : cps_launches_end_(&launches)) != CPS_LAUNCH_INSIDE) {
            if (step == CPS_LAUNCH_BEGINS)
                began = packet;
            else
                doc_array(to, "%" PRId64 " %d %" PRId64 " %" PRId64, began, (int)last->kind,
                          last->number == CPS_LAUNCH_UNNUMBERED ? -1 : (int64_t)last->number,
                          packet);
        }
        packet +=
            event && cps_event_kind(event) == CPS_EV_PKT && cps_event_who(event) == processor->who;
    }
}

static void put_draws(const struct view_run *run, struct json_object *to)
{
    const struct record *record = &run->side->record;
    struct json_object *kinds = cps_json_new_array(to, "kinds");
    struct json_object *list = cps_json_new_array(to, "draws");
    uint32_t recorded = 0;
    for (size_t i = 0; i < record->count; i++)
        recorded |= 1u << cps_event_kind(&record->event[i]);
    for (unsigned kind = 0; kind < CPS_LAUNCH_KINDS; kind++)
        cps_json_append(kinds, json_object_new_string(cps_launch_kind_text_(kind)));
    for (unsigned i = 0; i < run->processors; i++) {
        put_launches(run, &run->processor[i], recorded, list);
        if (run->processor[i].who == cps_gen_row(run->side->fw->gen)->draws)
            doc_put(to, "drawing=%u", i); /* the one that is meant where none is named */
    }
}

void view_meta(const struct view_run *run, struct json_object *to)
{
    static const struct {
        const char *key;
        unsigned kind;
    } words[] = {{"levels", CPS_EV_PKT},
                 {"paths", CPS_EV_REG},
                 {"vias", CPS_EV_MEMW},
                 {"assumed", CPS_EV_ASSUME},
                 {"places", CPS_EV_UNMODELLED}};
    const struct record *record = &run->side->record;
    doc_put(to, "events=%zu steps?=%d", record->count, !record->stepless);
    put_processors(run, to);
    put_buffers(record, to);
    put_packet_names(run, to);
    put_draws(run, to);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct json_object *list = cps_json_new_array(to, words[i].key);
        for (unsigned sub = 0; sub < 16; sub++)
            cps_json_append(list, json_object_new_string(cps_event_sub_word(words[i].kind, sub)));
    }
}
