/* SPDX-License-Identifier: MIT
 * The summary of a run: text for people on stderr, or one JSON object on stdout. */
#include "tools/explain/summary/summary.h"

#include <inttypes.h>
#include <stdio.h>

#include "emu/afuc/afuc.h"
#include "tools/cmd/render/doc.h"
#include "tools/cmd/terminal/oom.h"
#include "tools/cmd/terminal/report.h"
#include "tools/run/code.h"
#include "tools/run/fit.h"
#include "tools/run/replay.h"
#include "trace/out/json.h"

#define TOTALS                                                                               \
    "{packets} packets, {instructions} instructions, {register_writes} register writes, "    \
    "{register_reads} register reads, {memory_writes} memory writes, {memory_reads} memory " \
    "reads\n"

static const char afuc_layout[] =
    "packets by level and opcode:\n{.packets*  {level:-4} {name:-28} {count:10}\n}"
    "{unmodelled?not modelled, with counts:\n}"
    "{unmodelled*  {space:-6} 0x{number:04x} x{count}{name?  {name}}\n}"
    "{.is_full?  ... and possibly more\n}"
    "{assumed?firmware: {assumed}\n}"
    "{.misfit?note: {.misfit}\n}"
    "{run_as?warning: the capture is of a{.gpu}xx, it was run as {run_as} (--as)\n}" TOTALS
    "{.submissions?{.executed} of {.submissions} submissions executed, "
    "{.not_captured} not captured, }{assumptions} assumption{assumptions~s}, {.places} unmodelled "
    "access{.places~es}\n";

/* Of a device: its programs have written a lot already. */
static const char device_layout[] = "{.device}\n" TOTALS;

static const char script_layout[] =
    "{unknown*unknown: {@} x{.}\n}{.registers/ /{@}=0x{.:x}}\n"
    "{.has_code?{starts} starts, {instructions} instructions}"
    "{.has_code!{starts} commands into CACHE1, {instructions} taken}, {ticks} ticks, "
    "{register_writes} register writes, {register_reads} register reads\n";

static const struct cps_names *main_names(const struct play *play)
{
    return play->names[play->engine->who[0]];
}

static void put_packets(const struct play *play, struct json_object *to)
{
    const struct cps_afuc *machine = cps_afuc_of(play->engine);
    struct json_object *levels = cps_json_new_object(to, "packets_by_level");
    struct json_object *list = cps_json_new_array(to, ".packets"); /* for the text */
    for (unsigned level = 0; level < 6; level++) {
        const char *word = cps_event_sub_word(CPS_EV_PKT, level);
        struct json_object *mix = cps_json_new_object(levels, word);
        for (unsigned id = 0; id < 128; id++) {
            char scratch[16];
            uint64_t count = cps_afuc_packets(machine, level, id);
            if (!count)
                continue;
            const char *name = cps_name(main_names(play), CPS_SPACE_PACKET, id, NULL);
            snprintf(scratch, sizeof(scratch), "UNKN%u", id);
            name = name ? name : scratch;
            cps_json_uint(mix, name, count);
            doc_row(list, "level=%s name=%s count=%" PRIu64, word, name, count);
        }
    }
}

static void put_places(const struct play *play, struct json_object *list)
{
    static const uint8_t spaces[] = {
        [CPS_PLACE_GPU] = CPS_SPACE_GPU,
        [CPS_PLACE_CONTROL] = CPS_SPACE_CONTROL,
        [CPS_PLACE_SQE] = CPS_SPACE_SQE,
        [CPS_PLACE_PIPE] = CPS_SPACE_PIPE,
    };
    for (const struct play_unmodelled *place = play->place; place < play->place + play->place_count;
         place++) {
        const char *name = place->place < sizeof(spaces)
                               ? cps_name(main_names(play), (enum cps_space)spaces[place->place],
                                          (uint32_t)place->number, NULL)
                               : NULL;
        doc_row(list, "space=%s number=%" PRIu64 " count=%" PRIu64 " name=%s",
                cps_event_sub_word(CPS_EV_UNMODELLED, place->place), place->number, place->count,
                name);
    }
}

/* Firmware of another chip; the demo's is for what it is shown with. */
static void put_misfit(const struct play *play, struct json_object *to)
{
    struct misfit misfit;
    CPS_BUF text = {0};
    if ((play->config->demo && !play->config->fw_count) ||
        !misfit_find(play->fw, play->gpu, &misfit))
        return;
    misfit_put(&misfit, play->fw->name, "the capture is from", &text);
    cps_json_buf(to, ".misfit", &text);
    misfit_json(&misfit, to);
}

static void put_afuc(const struct play *play, struct json_object *to)
{
    const struct cps_engine *engine = play->engine;
    const uint64_t *events = engine->tap.count;
    doc_put(to, "packets=%" PRIu64 " instructions=%" PRIu64 " ticks=%" PRIu64, engine->packets,
            engine->instructions, engine->clock);
    doc_put(to,
            "register_writes=%" PRIu64 " register_reads=%" PRIu64 " memory_writes=%" PRIu64
            " memory_reads=%" PRIu64 " assumptions=%" PRIu64 " .places=%" PRIu64,
            events[CPS_EV_REG], events[CPS_EV_REGR], events[CPS_EV_MEMW], events[CPS_EV_MEMR],
            events[CPS_EV_ASSUME], events[CPS_EV_UNMODELLED]);
    struct json_object *launches = cps_json_new_object(to, "launches");
    for (unsigned i = 0; i < CPS_WORK_COUNT; i++)
        cps_json_uint(launches, cps_event_sub_word(CPS_EV_LAUNCH, i), engine->launches[i]);
    put_packets(play, to);
    put_places(play, cps_json_new_array(to, "unmodelled"));
    doc_put(to, ".is_full?=%d assumed=%s", play->place_count == PLAY_MAX_PLACES, play->fw->assumed);
    unsigned gpu = play->gpu ? cps_gpu_generation(play->gpu) : cps_gen_row(play->gen)->number;
    if (gpu != cps_gen_row(play->gen)->number) /* --as */
        doc_put(to, "run_as=%s .gpu=%u", cps_gen_name(play->gen), gpu);
    put_misfit(play, to);
    if (!play->dump) /* whose ring is no submission */
        doc_put(to, ".executed=%u .submissions=%u .not_captured=%u", play->executed,
                play->submissions, play->not_captured);
}

/* A run without firmware, of a script or a host. Of many registers, the text has those that are not
 * 0. */
static void put_script(const struct play *play, struct json_object *to)
{
    enum { FEW = 16 };
    const struct cps_engine *e = play->engine;
    doc_put(to,
            "engine=%s chip=%s starts=%" PRIu64 " instructions=%" PRIu64 " ticks=%" PRIu64
            " register_writes=%" PRIu64 " register_reads=%" PRIu64 " .has_code?=%d",
            e->ops->name, cps_gen_name(play->gen), e->packets, e->instructions, e->time,
            e->tap.count[CPS_EV_REG], e->tap.count[CPS_EV_REGR], cps_isa_has_code(e->ops->isa));
    struct json_object *all = cps_json_new_object(to, "registers");
    struct json_object *shown = cps_json_new_object(to, ".registers");
    for (size_t i = 0; i < e->ops->regs; i++) {
        uint64_t value = 0;
        cps_engine_get(play->engine, (struct cps_location){0, CPS_FILE_SCALAR, i}, &value);
        cps_json_uint(all, e->ops->reg[i].name, value);
        if (value || e->ops->regs <= FEW)
            cps_json_uint(shown, e->ops->reg[i].name, value);
    }
    struct json_object *unknown = cps_json_new_object(to, "unknown");
    for (unsigned i = 0; i < CPS_UNKNOWN_COUNT; i++) {
        const struct cps_event event = cps_event_make(CPS_EV_ASSUME, CPS_WHAT_UNKNOWN, 0, 0, i, 0);
        if (play->unknown[i])
            cps_json_uint(unknown, cps_event_unknown(&event), play->unknown[i]);
    }
    cps_json_uint(to, "misses", play->misses);
    cps_json_buf(to, "missed", &play->missed);
}

static void print_end(const struct play_account *a)
{
    CPS_BUF why = {0};
    play_account_reason(a, &why);
    const char *text = cps_buf_text(&why);
    bool early = play_account_status(a) || a->stop != CPS_STOP_IDLE;
    const char *between = !*text ? "" : early && a->stop == CPS_STOP_IDLE ? ", " : " ";
    if (early)
        fprintf(stderr, "ended: %s%s%s\n", play_account_word(a), between, text);
    else
        report_aside("ended: %s%s%s\n", play_account_word(a), between, text);
}

struct cps_err *summary_print(const struct play *play, const struct play_account *account,
                              int status, bool json, bool compared,
                              const struct summary_source *source)
{
    CPS_BUF text = {0};
    bool is_script = play_is_script(play);
    struct json_object *root = doc_new();
    play_account_json(account, root);
    cps_json_int(root, "status", status);
    if (is_script)
        put_script(play, root);
    else
        put_afuc(play, root);
    if (source)
        source->put(source->context, root);
    if (json && !is_script && compared)
        cps_json_add(root, "comparison", replay_json(play->replay));
    if (json && !is_script && play->code)
        cps_json_add(root, "dump_firmware", code_json(play->code));
    if (json)
        return doc_print(root, NULL, true);
    doc_text(root, source ? device_layout : is_script ? script_layout : afuc_layout, &text);
    json_object_put(root);
    report_aside("%s", tool_text(&text));
    if (is_script)
        fputs(cps_buf_text(&play->missed), stderr);
    if (!source)
        print_end(account);
    return NULL;
}

int summary_print_stop(const struct play_account *a, const char *name)
{
    CPS_BUF text = {0};
    int status = play_account_status(a);
    play_account_put(a, &text);
    if (status)
        fprintf(stderr, "%s: %s\n", name, cps_buf_text(&text));
    else if (a->stop != CPS_STOP_IDLE)
        fprintf(stderr, "%s: %s\n", name, a->why);
    cps_buf_clear(&text);
    play_account_put_missing(a, &text);
    if (text.size)
        report_aside("%s: %s\n", name, cps_buf_text(&text));
    return status;
}
