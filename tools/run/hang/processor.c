/* SPDX-License-Identifier: MIT
 * The emulated processor beside the hardware's. Words of CP_SQE_STAT, CP_UCODE_DBG and CP_ROQ as
 * hardware dumps show them (H: crash.devcore; layouts inferred there are said so). */
#include <inttypes.h>
#include <string.h>

#include "emu/afuc/afuc.h"
#include "tools/run/code.h"
#include "tools/run/replay.h"

/* Why a value may differ although the emulator is right; none where `why` is NULL. */
struct excuse {
    enum replay_verdict verdict;
    const char *why;
};

static const char no_hardware[] = "the dump does not hold it, or contradicts itself";
static const struct excuse other_revision = {REPLAY_NO_VALUE,
                                             "the dump is of another firmware revision"};
static const struct excuse no_history = {
    REPLAY_OLDER, "not written since the replay began, its history is missing"};
static const struct excuse counts_contexts = {
    REPLAY_OLDER, "it counts contexts since power-up, also those of retired streams"};
static const struct excuse no_stream = {REPLAY_NO_VALUE,
                                        "streams before it are missing from the dump"};
static const struct excuse not_held = {REPLAY_NO_VALUE, no_hardware};
static const struct excuse never_written = {REPLAY_NO_VALUE,
                                            "no instruction has written it since power-up"};

static void add(struct replay *r, const char *name, uint32_t hardware, uint32_t emulated,
                struct excuse excuse)
{
    bool equal = hardware == emulated && excuse.why != no_hardware;
    enum replay_verdict verdict = equal        ? REPLAY_EQUAL
                                  : excuse.why ? excuse.verdict
                                               : REPLAY_DIFFERENT;
    rows_add(&r->rows, REPLAY_PROCESSOR, verdict, hardware, emulated, equal ? NULL : excuse.why,
             "%s", name);
}

static uint32_t value(const struct replay *r, enum cps_file_sigil file, uint32_t number)
{
    uint64_t ret = 0;
    cps_engine_get(r->play->engine, (struct cps_location){0, (char)file, number}, &ret);
    return (uint32_t)ret;
}

/* Why any register may differ. */
static struct excuse excuse(const struct replay *r)
{
    return r->missing ? no_stream : (struct excuse){0};
}

/* Both are in the handler of one packet, or in the error loop, at one distance from its entry. */
static struct excuse same_distance(const struct replay *r, uint32_t hardware, uint32_t pc)
{
    static const struct excuse in_error = {
        REPLAY_NO_VALUE, "another firmware revision; both are in the error loop, at the same "
                         "distance from its entry"};
    static const struct excuse in_handler = {
        REPLAY_NO_VALUE, "another firmware revision; both are in the same handler, at the same "
                         "distance from its entry"};
    const uint32_t *theirs = dump_table(r->dump);
    uint32_t ours[CPS_FW_TABLE_SIZE];
    if (!theirs)
        return other_revision;
    for (unsigned id = 0; id < CPS_FW_TABLE_SIZE; id++)
        ours[id] = cps_afuc_packet_table(cps_afuc_of(r->play->engine), 0, id);
    int their_id = cps_fw_handler_before_(theirs, hardware);
    int id = cps_fw_handler_before_(ours, pc);
    if (their_id < 0 || id < 0 || hardware - theirs[their_id] != pc - ours[id])
        return other_revision;
    if (theirs[their_id] == cps_fw_default_handler_(theirs) &&
        ours[id] == cps_fw_default_handler_(ours))
        return in_error;
    return their_id == id ? in_handler : other_revision;
}

/* Program counters of two revisions are compared by the code there, or as packet and distance from
 * its handler. */
static void add_pc(struct replay *r, uint32_t hardware)
{
    static const struct excuse same_line = {
        REPLAY_NO_VALUE, "another firmware revision; the same code as in the dump's cache"};
    uint32_t pc = cps_engine_where(r->play->engine, 0).pc;
    struct excuse why = excuse(r);
    if (!r->same_firmware)
        why = r->place.by == HANG_BY_LINE ? same_line : same_distance(r, hardware, pc);
    add(r, "pc", hardware, pc, why);
}

/* 30:28 entry on top, 7 when empty (I); low bits the return address there. */
static void add_stack(struct replay *r, const struct dump_block *stat)
{
    uint32_t top = (value(r, CPS_FILE_SQE, 5) - 1) & 7;
    uint32_t emulated = top << 28 | (value(r, CPS_FILE_SQE, 8 + top) & 0xfffffff);
    uint32_t hardware = dump_word(stat, STAT_STACK);
    add(r, "stack.depth", ((hardware >> 28) + 1) & 7, (top + 1) & 7, excuse(r));
    add(r, "stack.top", hardware, emulated, r->same_firmware ? excuse(r) : other_revision);
    if (top != 0 && top != 7)
        add(r, "stack.next", dump_word(stat, STAT_STACK + 1) & 0xfffffff,
            value(r, CPS_FILE_SQE, 8 + top - 1) & 0xfffffff,
            r->same_firmware ? excuse(r) : other_revision);
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
    struct excuse why = replay_lacks_history(r) && !nrt ? no_history : excuse(r);
    add(r, "nrt.lo", dump_word(stat, STAT_NRT), (uint32_t)nrt, why);
    add(r, "nrt.hi", dump_word(stat, STAT_NRT + 1), (uint32_t)(nrt >> 32), why);
}

/* Base, size, and how far the stream is read. How far follows from how many words wait in CP_ROQ.
 */
static void add_stream(struct replay *r, uint32_t level)
{
    static const struct excuse at_end = {
        REPLAY_NO_VALUE, "this level is at its end, the dump shows the fetch before"};
    struct cps_position here = cps_afuc_position(cps_afuc_of(r->play->engine), 0, level);
    unsigned fetches = fetched_count(r, level);
    struct cps_position last =
        fetches ? cps_afuc_queued(cps_afuc_of(r->play->engine), 0, level, fetches - 1) : here;
    struct roq_fetch hardware;
    struct excuse why = excuse(r);
    const struct roq_queue *queue = &r->roq.queue[roq_of_level(level)];
    int64_t ahead = 0;
    bool based = roq_fetch(r->dump, level, &hardware);
    bool known = here.active ? fetched_ahead(r, level, &ahead)
                             : based && queue->known && !roq_waiting(queue);
    if (!here.active && !roq_waiting(queue))
        why = at_end;
    struct excuse counted = known ? why : not_held;
    uint32_t consumed = here.active ? here.consumed - (uint32_t)ahead : hardware.dwords;
    consumed = known ? consumed : 0;
    uint32_t size = here.active ? here.dwords : hardware.dwords;
    const struct {
        const char *what;
        uint32_t hardware, emulated;
        struct excuse why;
    } rows[] = {
        {"consumed", consumed, here.consumed, counted},
        {"base.lo", (uint32_t)hardware.iova, (uint32_t)last.iova, based ? why : not_held},
        {"base.hi", (uint32_t)(hardware.iova >> 32), (uint32_t)(last.iova >> 32),
         based ? why : not_held},
        {"dwords", hardware.dwords, last.dwords, based ? why : not_held},
        {"remaining", size - consumed, here.dwords - here.consumed, counted},
    };
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char name[24];
        snprintf(name, sizeof(name), "%s.%s", fetched_level(level), rows[i].what);
        add(r, name, rows[i].hardware, rows[i].emulated, rows[i].why);
    }
}

static void add_scratch(struct replay *r)
{
    const struct dump_block *ucode = dump_block(r->dump, "CP_UCODE_DBG");
    uint32_t first = dump_scratch_first(r->play->fw->layout);
    uint32_t count = dump_scratch_count(r->play->fw->layout);
    for (unsigned i = 0; ucode && i < count; i++) {
        char name[24];
        uint32_t emulated = value(r, CPS_FILE_CONTROL, first + i);
        struct excuse why = r->same_firmware ? excuse(r) : other_revision;
        if (UCODE_SCRATCH + i >= ucode->size)
            why = not_held;
        if (replay_lacks_history(r) && !why.why && !emulated)
            why = no_history;
        snprintf(name, sizeof(name), "ctrl.0x%03x", first + i);
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
        struct excuse why = known ? excuse(r) : not_held;
        if (known && replay_lacks_history(r) && !emulated)
            why = no_history;
        snprintf(name, sizeof(name), "reg.0x%04" PRIx32, reg);
        add(r, name, hardware, emulated, why);
    }
}

void compare_processor(struct replay *r)
{
    const struct dump_block *stat = dump_block(r->dump, "CP_SQE_STAT");
    if (stat) {
        add_pc(r, dump_word(stat, STAT_PC));
        for (unsigned i = 1; i <= 0x1b; i++) {
            char name[8];
            uint32_t emulated = value(r, CPS_FILE_GENERAL, i);
            struct excuse why = excuse(r);
            if (!(r->written >> i & 1))
                why = replay_lacks_history(r) ? no_history : never_written;
            else if (i == STAT_STATE && r->dump->policy.size && replay_lacks_history(r))
                why = counts_contexts;
            snprintf(name, sizeof(name), "$%02x", i);
            add(r, name, dump_word(stat, i), emulated, why);
        }
        add(r, "$rem", dump_word(stat, STAT_REM), value(r, CPS_FILE_GENERAL, 0x1c), excuse(r));
        add_stack(r, stat);
        add_packet(r, stat);
    }
    uint32_t hardware = 0;
    bool known = roq_ring_position(r->dump, r->ring, &hardware);
    uint32_t here = cps_afuc_position(cps_afuc_of(r->play->engine), 0, CPS_LEVEL_RB).consumed;
    add(r, "ring.rptr", hardware, here, known ? excuse(r) : not_held);
    add_stream(r, 1);
    add_stream(r, 2);
    add_scratch(r);
    add_cp_scratch(r);
}
