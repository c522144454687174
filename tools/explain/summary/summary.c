/* SPDX-License-Identifier: MIT
 * The summary of a run: text for people on stderr, or one JSON object on stdout. */
#include "emu/afuc/afuc.h"
#include "tools/explain/summary/script_summary.h"
#include "tools/explain/summary/summary.h"
#include "tools/run/code.h"
#include "tools/run/replay.h"
#include "trace/out/json.h"
#include "tools/cmd/terminal/report.h"

#include <inttypes.h>
#include <stdio.h>

static const struct cps_names *main_names(const struct play *play)
{
    return play->names[play->engine->who[0]];
}

static const char *packet_name(const struct play *play, unsigned id, char *scratch, size_t size)
{
    const char *name = cps_name(main_names(play), CPS_SPACE_PACKET, id, NULL);
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

static const char *place_name(const struct play *play, const struct play_unmodelled *place)
{
    enum cps_space space = place_space(place->place);
    if (space == CPS_SPACE_COUNT)
        return NULL;
    return cps_name(main_names(play), space, (uint32_t)place->number, NULL);
}

static void print_packets(const struct play *play)
{
    const struct cps_afuc *machine = cps_afuc_of(play->engine);
    report_aside("packets by level and opcode:\n");
    for (unsigned level = 0; level < 6; level++) {
        for (unsigned id = 0; id < 128; id++) {
            char scratch[16];
            if (cps_afuc_packets(machine, level, id))
                report_aside("  %-4s %-28s %10" PRIu64 "\n", cps_event_sub_word(CPS_EV_PKT, level),
                             packet_name(play, id, scratch, sizeof(scratch)),
                             cps_afuc_packets(machine, level, id));
        }
    }
}

/* --as: the input is of another generation than the firmware. */
static bool is_foreign(const struct play *play)
{
    return play->gpu && cps_gpu_generation(play->gpu) != cps_gen_row(play->gen)->number;
}

static void print_places(const struct play *play)
{
    if (play->place_count)
        report_aside("not modelled, with how often the trace says so:\n");
    for (unsigned i = 0; i < play->place_count; i++) {
        const struct play_unmodelled *place = &play->place[i];
        const char *name = place_name(play, place);
        report_aside("  %-6s 0x%04" PRIx64 " x%" PRIu64 "%s%s\n",
                     cps_event_sub_word(CPS_EV_UNMODELLED, place->place), place->number,
                     place->count, name ? "  " : "", name ? name : "");
    }
    if (play->place_count == PLAY_MAX_PLACES)
        report_aside("  ... and possibly more\n");
}

static struct cps_err *print_text(const struct play *play, const struct play_account *account)
{
    const struct cps_engine *engine = play->engine;
    const uint64_t *events = engine->tap.count;
    print_packets(play);
    print_places(play);
    if (play->fw->assumed)
        report_aside("firmware: %s\n", play->fw->assumed);
    if (is_foreign(play))
        report_aside("warning: the capture is of a%uxx, it was run as %s (--as)\n",
                     cps_gpu_generation(play->gpu), cps_gen_name(play->gen));
    report_aside("%" PRIu64 " packets, %" PRIu64 " instructions, %" PRIu64
                 " register writes, %" PRIu64 " register reads, %" PRIu64 " memory writes, %" PRIu64
                 " memory reads\n",
                 engine->packets, engine->instructions, events[CPS_EV_REG], events[CPS_EV_REGR],
                 events[CPS_EV_MEMW], events[CPS_EV_MEMR]);
    if (!play->dump) /* whose ring is no submission */
        report_aside("%" PRIu32 " of %" PRIu32 " submissions executed, %" PRIu32 " not captured, ",
                     play->executed, play->submissions, play->not_captured);
    report_aside("%" PRIu64 " assumptions, %" PRIu64 " places not modelled\n",
                 events[CPS_EV_ASSUME], events[CPS_EV_UNMODELLED]);
    play_account_print_end(account);
    return NULL;
}

static struct json_object *json_packets(const struct play *play)
{
    const struct cps_afuc *machine = cps_afuc_of(play->engine);
    struct json_object *levels = json_object_new_object();
    for (unsigned level = 0; level < 6; level++) {
        struct json_object *mix = json_object_new_object();
        for (unsigned id = 0; id < 128; id++) {
            char scratch[16];
            if (cps_afuc_packets(machine, level, id))
                cps_json_uint(mix, packet_name(play, id, scratch, sizeof(scratch)),
                              cps_afuc_packets(machine, level, id));
        }
        cps_json_add(levels, cps_event_sub_word(CPS_EV_PKT, level), mix);
    }
    return levels;
}

static struct json_object *json_places(const struct play *play)
{
    struct json_object *list = json_object_new_array();
    for (unsigned i = 0; i < play->place_count; i++) {
        const struct play_unmodelled *place = &play->place[i];
        struct json_object *row = json_object_new_object();
        const char *name = place_name(play, place);
        cps_json_text(row, "space", cps_event_sub_word(CPS_EV_UNMODELLED, place->place));
        cps_json_uint(row, "number", place->number);
        cps_json_uint(row, "count", place->count);
        if (name)
            cps_json_text(row, "name", name);
        cps_json_append(list, row);
    }
    return list;
}

static struct cps_err *print_json(const struct play *play, const struct play_account *account,
                                  int status, bool compared)
{
    const struct cps_engine *engine = play->engine;
    struct json_object *root = json_object_new_object();
    play_account_json(account, root);
    cps_json_uint(root, "status", (uint64_t)status);
    cps_json_uint(root, "packets", engine->packets);
    cps_json_uint(root, "instructions", engine->instructions);
    cps_json_uint(root, "ticks", engine->clock);
    cps_json_uint(root, "register_writes", engine->tap.count[CPS_EV_REG]);
    cps_json_uint(root, "register_reads", engine->tap.count[CPS_EV_REGR]);
    cps_json_uint(root, "memory_writes", engine->tap.count[CPS_EV_MEMW]);
    cps_json_uint(root, "memory_reads", engine->tap.count[CPS_EV_MEMR]);
    cps_json_uint(root, "assumptions", engine->tap.count[CPS_EV_ASSUME]);
    cps_json_add(root, "packets_by_level", json_packets(play));
    cps_json_add(root, "unmodelled", json_places(play));
    if (play->fw->assumed)
        cps_json_text(root, "assumed", play->fw->assumed);
    if (is_foreign(play))
        cps_json_text(root, "run_as", cps_gen_name(play->gen));
    if (compared)
        cps_json_add(root, "comparison", replay_json(play->replay));
    if (play->code)
        cps_json_add(root, "dump_firmware", code_json(play->code));
    return report_json(root);
}

struct cps_err *summary_print(const struct play *play, const struct play_account *account,
                              int status, bool json, bool compared)
{
    if (play_is_script(play))
        return script_summary(play, account, status, json);
    if (json)
        return print_json(play, account, status, compared);
    return print_text(play, account);
}
