/* SPDX-License-Identifier: MIT
 * The emulated processor beside the hardware's own state. Words of CP_SQE_STAT, CP_UCODE_DBG and
 * CP_ROQ as hardware dumps show them (H: crash.devcore; layouts inferred there are said so). */
#include <inttypes.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "tools/play/code.h"
#include "tools/play/replay.h"
#include "trace/json.h"

enum {
    STAT_PC = 0,
    STAT_REM = 0x1c,
    STAT_STACK = 0x1d,
    STAT_HEADER = 0x24,
    STAT_LEVEL = 0x28,
    STAT_NRT = 0x30,
    UCODE_SCRATCH = 0x5000,
    SCRATCH_FIRST = 0x100,
    SCRATCH_COUNT = 128,
    CP_SCRATCH_FIRST = 0x883,
    CP_SCRATCH_LAST = 0x88a,
};

static const char other_revision[] = "the dump is of another firmware revision";
static const char no_history[] = "not written since the replay began, its history is missing";
static const char no_stream[] = "streams before it are missing from the dump";
static const char no_hardware[] = "the dump does not hold it";
static const char never_written[] = "no instruction has written it since power-up";

static void add(struct replay *r, const char *name, uint32_t hardware, uint32_t emulated,
                const char *why)
{
    if (r->row_count == REPLAY_MAX_ROWS)
        return;
    struct replay_row *row = &r->row[r->row_count++];
    enum replay_verdict verdict = hardware == emulated && why != no_hardware ? REPLAY_EQUAL
                                  : why                                      ? REPLAY_NOT_COMPARABLE
                                                                             : REPLAY_DIFFERENT;
    *row = (struct replay_row){.hardware = hardware, .emulated = emulated, .verdict = verdict};
    row->why = verdict == REPLAY_NOT_COMPARABLE ? why : NULL;
    snprintf(row->name, sizeof(row->name), "%s", name);
}

static uint32_t value(const struct replay *r, enum cps_file_sigil file, uint32_t number)
{
    uint64_t ret = 0;
    cps_engine_get(r->play->engine, (struct cps_place){0, (char)file, number}, &ret);
    return (uint32_t)ret;
}

/* Why any register may differ although the emulator is right. */
static const char *excuse(const struct replay *r)
{
    return r->missing ? no_stream : NULL;
}

/* Program counters of two revisions are compared as packet and distance from its handler. */
static void add_pc(struct replay *r, uint32_t hardware)
{
    struct cps_afuc *machine = cps_afuc_of(r->play->engine);
    const uint32_t *theirs = dump_table(r->dump);
    uint32_t ours[128];
    uint32_t pc = cps_engine_where(r->play->engine, 0).pc;
    for (unsigned id = 0; id < 128; id++)
        ours[id] = cps_afuc_packet_table(machine, 0, id);
    if (!theirs || r->same_firmware) {
        add(r, "pc", hardware, pc, theirs ? excuse(r) : other_revision);
        return;
    }
    int hardware_id = dump_handler_of(theirs, hardware);
    int id = dump_handler_of(ours, pc);
    bool in_error = hardware_id >= 0 && id >= 0 &&
                    theirs[hardware_id] == dump_default_handler(theirs) &&
                    ours[id] == dump_default_handler(ours);
    bool same = hardware_id >= 0 && id >= 0 && hardware - theirs[hardware_id] == pc - ours[id] &&
                (in_error || hardware_id == id);
    add(r, "pc", hardware, pc,
        same && in_error ? "another firmware revision; both are in the error loop, at the same "
                           "distance from its entry"
        : same           ? "another firmware revision; both are in the same handler, at the same "
                           "distance from its entry"
                         : other_revision);
}

static void add_gprs(struct replay *r, const struct dump_block *stat)
{
    for (unsigned i = 1; i <= 0x1b; i++) {
        char name[8];
        uint32_t emulated = value(r, CPS_FILE_GENERAL, i);
        const char *why = excuse(r);
        if (!(r->written >> i & 1))
            why = r->from_boot ? never_written : no_history;
        snprintf(name, sizeof(name), "$%02x", i);
        add(r, name, dump_word(stat, i), emulated, why);
    }
    add(r, "$rem", dump_word(stat, STAT_REM), value(r, CPS_FILE_GENERAL, 0x1c), excuse(r));
}

/* 30:28 entry on top, 7 when empty (I); low bits the return address there. */
static void add_stack(struct replay *r, const struct dump_block *stat)
{
    uint32_t top = (value(r, CPS_FILE_SQE, 5) - 1) & 7;
    uint32_t emulated = top << 28 | (value(r, CPS_FILE_SQE, 8 + top) & 0xfffffff);
    uint32_t hardware = dump_word(stat, STAT_STACK);
    add(r, "stack.depth", ((hardware >> 28) + 1) & 7, (top + 1) & 7, excuse(r));
    add(r, "stack.top", hardware, emulated, r->same_firmware ? excuse(r) : other_revision);
}

static void add_packet(struct replay *r, const struct dump_block *stat)
{
    static const char *const names[] = {"header", "header-1", "header-2"};
    struct cps_afuc *machine = cps_afuc_of(r->play->engine);
    for (unsigned i = 0; i < 3; i++)
        add(r, names[i], dump_word(stat, STAT_HEADER + i), cps_afuc_header(machine, 0, i),
            excuse(r));
    add(r, "level", dump_word(stat, STAT_LEVEL) & 7, cps_afuc_level(machine, 0) & 7, excuse(r));
    uint64_t nrt = cps_afuc_nrt(machine, 0);
    const char *why = !r->from_boot && !nrt ? no_history : excuse(r);
    add(r, "nrt.lo", dump_word(stat, STAT_NRT), (uint32_t)nrt, why);
    add(r, "nrt.hi", dump_word(stat, STAT_NRT + 1), (uint32_t)(nrt >> 32), why);
}

static void add_position(struct replay *r, uint32_t level)
{
    static const char *const levels[] = {"ring", "ib1", "ib2"};
    struct cps_position here = cps_afuc_position(cps_afuc_of(r->play->engine), 0, level);
    struct dump_position hardware;
    char name[24];
    bool known = dump_position(r->dump, r->ring, level, &hardware);
    const char *why = known ? excuse(r) : no_hardware;
    if (level && known && !here.active && hardware.consumed == hardware.dwords)
        why = "this level is at its end, the dump shows the fetch before";
    snprintf(name, sizeof(name), "%s.consumed", levels[level]);
    add(r, level ? name : "ring.rptr", hardware.consumed, here.consumed, why);
    if (!level)
        return;
    snprintf(name, sizeof(name), "%s.base.lo", levels[level]);
    add(r, name, (uint32_t)hardware.iova, (uint32_t)here.iova, why);
    snprintf(name, sizeof(name), "%s.base.hi", levels[level]);
    add(r, name, (uint32_t)(hardware.iova >> 32), (uint32_t)(here.iova >> 32), why);
    snprintf(name, sizeof(name), "%s.dwords", levels[level]);
    add(r, name, hardware.dwords, here.dwords, why);
    snprintf(name, sizeof(name), "%s.remaining", levels[level]);
    add(r, name, hardware.dwords - hardware.consumed, here.dwords - here.consumed, why);
}

static void add_scratch(struct replay *r)
{
    const struct dump_block *ucode = dump_block(r->dump, "CP_UCODE_DBG");
    for (unsigned i = 0; ucode && i < SCRATCH_COUNT; i++) {
        char name[24];
        uint32_t emulated = value(r, CPS_FILE_CONTROL, SCRATCH_FIRST + i);
        const char *why = r->same_firmware ? excuse(r) : other_revision;
        if (!r->from_boot && !why && !emulated)
            why = no_history;
        snprintf(name, sizeof(name), "ctrl.0x%03x", SCRATCH_FIRST + i);
        add(r, name, dump_word(ucode, UCODE_SCRATCH + i), emulated, why);
    }
}

static void add_cp_scratch(struct replay *r)
{
    for (uint32_t reg = CP_SCRATCH_FIRST; reg <= CP_SCRATCH_LAST; reg++) {
        uint32_t hardware = 0;
        char name[24];
        uint32_t emulated = value(r, CPS_FILE_REGISTER, reg);
        bool known = dump_reg(r->dump, reg, &hardware);
        const char *why = !known ? no_hardware : excuse(r);
        if (known && !r->from_boot && !emulated)
            why = no_history;
        snprintf(name, sizeof(name), "reg.0x%04" PRIx32, reg);
        add(r, name, hardware, emulated, why);
    }
}

static uint64_t missing_streams(const struct play *play)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < play->place_count; i++)
        count += play->place[i].place == CPS_PLACE_STREAM ? play->place[i].count : 0;
    return count;
}

void replay_compare(struct replay *r)
{
    r->written = cps_afuc_written(cps_afuc_of(r->play->engine), 0);
    r->missing = missing_streams(r->play);
    const struct dump_block *stat = dump_block(r->dump, "CP_SQE_STAT");
    if (stat) {
        add_pc(r, dump_word(stat, STAT_PC));
        add_gprs(r, stat);
        add_stack(r, stat);
        add_packet(r, stat);
    }
    for (uint32_t level = 0; level <= 2; level++)
        add_position(r, level);
    add_scratch(r);
    add_cp_scratch(r);
}

unsigned replay_count(const struct replay *r, enum replay_verdict verdict)
{
    unsigned count = 0;
    for (unsigned i = 0; i < r->row_count; i++)
        count += r->row[i].verdict == verdict;
    return count;
}

const char *replay_word(enum replay_verdict verdict)
{
    static const char *const words[] = {"equal", "different", "not comparable"};
    return words[verdict];
}

void replay_print(const struct replay *r, FILE *out)
{
    fprintf(out, "# replayed %s\n# firmware %s that of the dump\n", r->scope,
            r->same_firmware ? "is" : "is not");
    if (r->play->code)
        code_print(r->play->code, out);
    fprintf(out, "# register hardware emulated verdict\n");
    for (unsigned i = 0; i < r->row_count; i++) {
        const struct replay_row *row = &r->row[i];
        fprintf(out, "%s 0x%08" PRIx32 " 0x%08" PRIx32 " %s%s%s\n", row->name, row->hardware,
                row->emulated, replay_word(row->verdict), row->why ? ": " : "",
                row->why ? row->why : "");
    }
    fprintf(out, "# %u equal, %u different, %u not comparable\n", replay_count(r, REPLAY_EQUAL),
            replay_count(r, REPLAY_DIFFERENT), replay_count(r, REPLAY_NOT_COMPARABLE));
}

struct json_object *replay_json(const struct replay *r)
{
    struct json_object *rows = json_object_new_array();
    for (unsigned i = 0; i < r->row_count; i++) {
        const struct replay_row *row = &r->row[i];
        struct json_object *to = json_object_new_object();
        cps_json_text(to, "register", row->name);
        cps_json_uint(to, "hardware", row->hardware);
        cps_json_uint(to, "emulated", row->emulated);
        cps_json_text(to, "verdict", replay_word(row->verdict));
        if (row->why)
            cps_json_text(to, "why", row->why);
        cps_json_append(rows, to);
    }
    return rows;
}
