/* SPDX-License-Identifier: MIT
 * The summary of a run: text for people on stderr, or one JSON object on stdout. */
#include "tools/report/summary.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

static const char *const stop_word[] = {
    [CPS_STOP_IDLE] = "done",
    [CPS_STOP_BUDGET] = "limit",
    [CPS_STOP_DEADLOCK] = "deadlock",
    [CPS_STOP_FAULT] = "fault",
    [CPS_STOP_BAD_PACKET] = "bad-packet",
};

static const struct cps_names *main_names(const struct rig *rig)
{
    return rig->names[cps_machine_core_who(rig->machine, 0)];
}

static const char *packet_name(const struct rig *rig, unsigned id, char *scratch, size_t size)
{
    const char *name = cps_name(main_names(rig), CPS_SPACE_PACKET, id, NULL);
    if (name)
        return name;
    snprintf(scratch, size, "UNKN%u", id);
    return scratch;
}

static enum cps_space place_space(unsigned place)
{
    static const uint8_t space[] = {
        [CPS_PLACE_GPU] = CPS_SPACE_GPU,
        [CPS_PLACE_CONTROL] = CPS_SPACE_CONTROL,
        [CPS_PLACE_SQE] = CPS_SPACE_SQE,
        [CPS_PLACE_PIPE] = CPS_SPACE_PIPE,
    };
    return place < sizeof(space) ? (enum cps_space)space[place] : CPS_SPACE_COUNT;
}

static const char *place_name(const struct rig *rig, const struct rig_place *place)
{
    enum cps_space space = place_space(place->place);
    if (space == CPS_SPACE_COUNT)
        return NULL;
    return cps_name(main_names(rig), space, (uint32_t)place->number, NULL);
}

static void print_packets(const struct rig *rig, const struct cps_stats *stats)
{
    fprintf(stderr, "packets by level and opcode:\n");
    for (unsigned level = 0; level < 6; level++) {
        for (unsigned id = 0; id < 128; id++) {
            char scratch[16];
            if (stats->packets_by_id[level][id])
                fprintf(stderr, "  %-4s %-28s %10" PRIu64 "\n",
                        cps_event_sub_word(CPS_EV_PKT, level),
                        packet_name(rig, id, scratch, sizeof(scratch)),
                        stats->packets_by_id[level][id]);
        }
    }
}

static void print_places(const struct rig *rig)
{
    if (rig->place_count)
        fprintf(stderr, "not modelled, with how many submissions touched it:\n");
    for (unsigned i = 0; i < rig->place_count; i++) {
        const struct rig_place *place = &rig->place[i];
        const char *name = place_name(rig, place);
        fprintf(stderr, "  %-6s 0x%04" PRIx64 " x%" PRIu64 "%s%s\n",
                cps_event_sub_word(CPS_EV_UNMODELLED, place->place), place->number, place->count,
                name ? "  " : "", name ? name : "");
    }
    if (rig->place_count == RIG_MAX_PLACES)
        fprintf(stderr, "  ... and possibly more\n");
}

static void print_text(const struct rig *rig)
{
    const struct cps_stats *stats = cps_machine_stats(rig->machine);
    const uint64_t *events = stats->events;
    CPS_BUF why = {0};
    cps_machine_explain(rig->machine, rig->stop, &why);
    print_packets(rig, stats);
    print_places(rig);
    if (rig->fw->assumed)
        fprintf(stderr, "firmware: %s\n", rig->fw->assumed);
    fprintf(stderr,
            "%" PRIu64 " packets, %" PRIu64 " instructions, %" PRIu64 " register writes, %" PRIu64
            " register reads, %" PRIu64 " memory writes, %" PRIu64 " memory reads\n",
            stats->packets, stats->instructions, events[CPS_EV_REG], events[CPS_EV_REGR],
            events[CPS_EV_MEMW], events[CPS_EV_MEMR]);
    fprintf(stderr,
            "%" PRIu32 " of %" PRIu32 " submissions executed, %" PRIu32 " not captured, %" PRIu64
            " assumptions, %" PRIu64 " places not modelled\n",
            rig->executed, rig->submissions, rig->not_captured, events[CPS_EV_ASSUME],
            events[CPS_EV_UNMODELLED]);
    if (rig->stop == CPS_STOP_IDLE)
        fprintf(stderr, "ended: done\n");
    else
        fprintf(stderr, "ended: %s %s\n", stop_word[rig->stop], cps_buf_text(&why));
}

static void add_count(struct json_object *to, const char *key, uint64_t value)
{
    json_object_object_add(to, key, json_object_new_int64((int64_t)value));
}

static struct json_object *json_packets(const struct rig *rig, const struct cps_stats *stats)
{
    struct json_object *levels = json_object_new_object();
    for (unsigned level = 0; level < 6; level++) {
        struct json_object *mix = json_object_new_object();
        for (unsigned id = 0; id < 128; id++) {
            char scratch[16];
            if (stats->packets_by_id[level][id])
                add_count(mix, packet_name(rig, id, scratch, sizeof(scratch)),
                          stats->packets_by_id[level][id]);
        }
        json_object_object_add(levels, cps_event_sub_word(CPS_EV_PKT, level), mix);
    }
    return levels;
}

static struct json_object *json_places(const struct rig *rig)
{
    struct json_object *list = json_object_new_array();
    for (unsigned i = 0; i < rig->place_count; i++) {
        const struct rig_place *place = &rig->place[i];
        struct json_object *row = json_object_new_object();
        const char *name = place_name(rig, place);
        json_object_object_add(
            row, "space",
            json_object_new_string(cps_event_sub_word(CPS_EV_UNMODELLED, place->place)));
        add_count(row, "number", place->number);
        add_count(row, "count", place->count);
        if (name)
            json_object_object_add(row, "name", json_object_new_string(name));
        json_object_array_add(list, row);
    }
    return list;
}

static void print_json(const struct rig *rig, struct json_object *extra)
{
    const struct cps_stats *stats = cps_machine_stats(rig->machine);
    struct json_object *root = json_object_new_object();
    CPS_BUF why = {0};
    cps_machine_explain(rig->machine, rig->stop, &why);
    add_count(root, "packets", stats->packets);
    add_count(root, "instructions", stats->instructions);
    add_count(root, "ticks", stats->ticks);
    add_count(root, "register_writes", stats->events[CPS_EV_REG]);
    add_count(root, "register_reads", stats->events[CPS_EV_REGR]);
    add_count(root, "memory_writes", stats->events[CPS_EV_MEMW]);
    add_count(root, "memory_reads", stats->events[CPS_EV_MEMR]);
    add_count(root, "submissions", rig->submissions);
    add_count(root, "executed", rig->executed);
    add_count(root, "not_captured", rig->not_captured);
    add_count(root, "assumptions", stats->events[CPS_EV_ASSUME]);
    json_object_object_add(root, "packets_by_level", json_packets(rig, stats));
    json_object_object_add(root, "unmodelled", json_places(rig));
    json_object_object_add(root, "end", json_object_new_string(stop_word[rig->stop]));
    if (rig->stop != CPS_STOP_IDLE)
        json_object_object_add(root, "why", json_object_new_string(cps_buf_text(&why)));
    if (rig->fw->assumed)
        json_object_object_add(root, "assumed", json_object_new_string(rig->fw->assumed));
    if (extra)
        json_object_object_add(root, "comparison", extra);
    puts(json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY));
    json_object_put(root);
}

void summary_print(const struct rig *rig, bool json, struct json_object *extra)
{
    if (json)
        print_json(rig, extra);
    else
        print_text(rig);
}
