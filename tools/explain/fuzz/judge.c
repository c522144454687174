/* SPDX-License-Identifier: MIT
 * What oracles have to say behind a run: how it ended, how privileged it was, and what another
 * firmware did instead. */
#include "tools/explain/fuzz/fuzz.h"

#include <string.h>

#include "isa/base/pm4.h"
#include "isa/isa.h"
#include "tools/cmd/terminal/oom.h"

/* Steps in which a machine in a loop is followed: to name the loop, and to judge it. */
#define CIRCLE 256u
#define STEPS  16384u

enum { R_MEMDATA = 0x1d, R_REGDATA = 0x1e, R_DATA = 0x1f };

/* A machine in a loop is found anywhere in it: the lowest instruction names the loop. */
static uint32_t lowest_pc(struct cps_engine *engine, unsigned core)
{
    uint32_t lowest = cps_engine_where(engine, core).pc;
    for (unsigned i = 0; i < CIRCLE; i++) {
        cps_engine_run(engine, 1);
        uint32_t pc = cps_engine_where(engine, core).pc;
        lowest = pc < lowest ? pc : lowest;
    }
    return lowest;
}

static void suspect_core(struct run_side *side, unsigned core, enum oracle oracle, uint32_t place)
{
    run_suspect_at(side, side->engine->who[core], oracle, place, place, 0);
}

static void judge_stop(struct run_side *side)
{
    unsigned core = 0;
    enum cps_trouble trouble = cps_afuc_trouble(cps_afuc_of(side->engine), &core);
    const struct run_location *place = &side->place[side->engine->who[core]];
    struct learned *learned = side == side->run->side ? side->run->learned : NULL;
    if (learned && trouble == CPS_TROUBLE_STARVED)
        learn_starved(learned, place->header);
    else if (learned && side->stop != CPS_STOP_IDLE && !side->goes_on)
        learn_refused(learned, place->header, place->level);
    uint32_t pc = cps_engine_where(side->engine, core).pc;
    if (side->stop == CPS_STOP_IDLE || side->stop == CPS_STOP_BAD_PACKET ||
        trouble == CPS_TROUBLE_REPORTED || trouble == CPS_TROUBLE_LIMIT)
        return;
    if (trouble == CPS_TROUBLE_JUMP)
        suspect_core(side, core, ORACLE_JUMP, pc);
    else if (trouble == CPS_TROUBLE_ILLEGAL)
        suspect_core(side, core, ORACLE_ILLEGAL, pc);
    else if (side->stop == CPS_STOP_BUDGET && side->goes_on)
        suspect_core(side, core, ORACLE_CIRCLE, pc);
    else if (trouble == CPS_TROUBLE_STARVED)
        suspect_core(side, core, ORACLE_STARVED, pc);
    else if (run_wants(side->run, ORACLE_HANG))
        suspect_core(side, core, ORACLE_HANG, lowest_pc(side->engine, core));
}

/* On a level that is not the driver's: that is privileged, or the protected mode is off there;
 * ORACLE_COUNT: neither. */
static enum oracle privilege_of(const struct run_side *side, const struct cps_edge *edge)
{
    uint8_t lost = side->log.privilege[edge->core] & (uint8_t)~edge->privilege & 2;
    if (CPS_LIKELY(!edge->level || (!(edge->privilege & 1) && !lost)))
        return ORACLE_COUNT;
    return edge->privilege & 1 ? ORACLE_ELEVATED : ORACLE_UNPROTECTED;
}

/* Where that begins. It was changed by the packet to which the core's previous branch led: the
 * current branch may be of the next packet. */
static void judge_privilege(struct run_side *side)
{
    const struct cps_edge *before[CPS_MAX_CORES] = {NULL};
    for (uint32_t i = 0; i < side->log.count; i++) {
        const struct cps_edge *edge = &side->log.edge[i];
        const struct cps_edge *last = before[edge->core];
        enum oracle now = privilege_of(side, edge);
        before[edge->core] = edge;
        if (CPS_LIKELY(now == ORACLE_COUNT || (last && privilege_of(side, last) == now)))
            continue;
        const struct cps_edge *by = last && last->level ? last : edge;
        run_add_suspect(side->run, &(struct suspect){.raised = now,
                                                     .side = (uint8_t)(side - side->run->side),
                                                     .who = side->engine->who[edge->core],
                                                     .level = by->level,
                                                     .header = cps_pm4_type7(by->packet, 0),
                                                     .place = edge->branch,
                                                     .pc = edge->branch});
    }
}

void judge_side(struct run_side *side)
{
    if (side->internal)
        return;
    judge_privilege(side);
    if (side->log.depth)
        side->place[side->engine->who[side->log.core]].header = side->log.header;
    if (side->log.depth)
        suspect_core(side, side->log.core,
                     side->log.depth < 0 ? ORACLE_STACK_UNDER : ORACLE_STACK_OVER, side->log.at);
    judge_stop(side);
}

static void suspect_difference(struct run *run, const struct cps_diff *diff)
{
    const struct cps_difference *first = &diff->first;
    const struct cps_event *packet = first->pkt_a ? first->pkt_a : first->pkt_b;
    const struct cps_event *event = first->a ? first->a : first->b;
    const struct suspect suspect = {.raised = ORACLE_DIFFERENCE,
                                    .who = (uint8_t)(packet ? cps_event_who(packet) : CPS_CPU_NONE),
                                    .level = (uint8_t)(packet ? cps_event_sub(packet) : 0),
                                    .header = packet ? packet->value : 0,
                                    .iova = packet ? packet->addr : 0,
                                    .place = event ? (uint32_t)cps_event_place(event) : 0,
                                    .pc = event ? cps_event_pc(event) : 0,
                                    .value = event ? event->value : 0};
    if (!packet || cps_event_sub(packet) != CPS_LEVEL_RB)
        run_add_suspect(run, &suspect);
}

static unsigned ending(enum cps_stop stop)
{
    return stop == CPS_STOP_BUDGET ? CPS_STOP_DEADLOCK : stop;
}

bool judge_endings_differ(const struct run *run)
{
    return ending(run->side[0].stop) != ending(run->side[1].stop);
}

void judge_difference(struct run *run)
{
    const struct run_side *a = &run->side[0];
    const struct run_side *b = &run->side[1];
    const struct cps_diff_options options = {.kinds = run->compared};
    struct cps_diff diff = {0};
    if (run->sides < 2 || a->internal || b->internal ||
        (a->stop == b->stop && !memcmp(a->digest, b->digest, sizeof(a->digest))))
        return;
    tool_must(cps_diff_events(a->record.event, a->record.count, b->record.event, b->record.count,
                              &options, NULL, NULL, &diff));
    /* Where one side has events and the other none any more, how they end says it. Packets that
     * never end differ in where they are cut. */
    bool cut = a->stop == CPS_STOP_BUDGET || b->stop == CPS_STOP_BUDGET;
    bool both = diff.first.a && diff.first.b;
    if (diff.differences && (both || (!cut && !judge_endings_differ(run)))) {
        suspect_difference(run, &diff);
    } else if (judge_endings_differ(run)) { /* of the side that does not come to the end, if any */
        struct run_side *side = &run->side[a->stop == CPS_STOP_IDLE];
        unsigned core = 0;
        cps_afuc_trouble(cps_afuc_of(side->engine), &core);
        suspect_core(side, core, ORACLE_ENDING, cps_engine_where(side->engine, core).pc);
    }
    cps_diff_deinit(&diff);
}

/* ---- Loops: whether they ask anybody outside for anything ---- */

/* An instruction of a core's image; false: it is not there. */
static bool insn_at(const struct run_side *side, unsigned core, uint32_t pc, struct cps_insn *ret)
{
    const struct play *play = side->play;
    bool me = side->engine->who[core] == CPS_CPU_ME;
    const struct cps_fw *fw = me ? play->me : play->fw;
    uint32_t start = me ? 0 : run_image_start(side, core);
    if (!fw || pc >= fw->count - start)
        return false;
    cps_decode(&cps_isa_afuc, fw->gen, fw->words[start + pc], ret);
    return true;
}

static bool has_source(const struct cps_insn *insn, int64_t reg)
{
    static const uint8_t sources[] = {CPS_AFUC_F_SRC1, CPS_AFUC_F_SRC2, CPS_AFUC_F_REG};
    bool found = false;
    for (unsigned i = 0; i < sizeof(sources); i++)
        found |= cps_insn_field(&cps_isa_afuc, insn, sources[i], -1) == reg;
    return found;
}

/* Whether an instruction depends on something outside: a stream, memory, a register, the hardware
 * around the processor. */
static bool asks(const struct cps_insn *insn)
{
    return insn->op == CPS_AFUC_CREAD || insn->op == CPS_AFUC_LOAD || insn->op == CPS_AFUC_LOADP ||
           insn->op == CPS_AFUC_WAITIN || has_source(insn, R_MEMDATA) ||
           has_source(insn, R_REGDATA) || has_source(insn, R_DATA);
}

enum oracle circle_kind(struct run_side *side, unsigned core)
{
    struct cps_engine *engine = side->engine;
    uint32_t low = UINT32_MAX;
    uint32_t high = 0;
    for (uint32_t i = 0; i < STEPS; i++) {
        struct cps_insn insn;
        uint32_t pc = cps_engine_where(engine, core).pc;
        if (!insn_at(side, core, pc, &insn) || asks(&insn))
            return ORACLE_WAITS;
        low = pc < low ? pc : low;
        high = pc > high ? pc : high;
        cps_engine_run(engine, 1);
    }
    return high - low <= 1 ? ORACLE_HALT : ORACLE_HANG;
}
