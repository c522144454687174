/* SPDX-License-Identifier: MIT
 * What oracles have to say behind a run: how it ended, how privileged it was, and what another
 * firmware did instead. */
#include "tools/explain/fuzz/judge.h"

#include <string.h>

#include "isa/base/pm4.h"
#include "isa/base/within.h"

/* Steps in which a stopped machine is followed round its circle. */
#define CIRCLE 256u

/* A machine that goes round is found anywhere in its circle: the lowest instruction names it. */
static uint32_t settle(struct cps_engine *engine, unsigned core)
{
    uint32_t lowest = cps_engine_where(engine, core).pc;
    for (unsigned i = 0; i < CIRCLE; i++) {
        cps_engine_run(engine, 1);
        uint32_t pc = cps_engine_where(engine, core).pc;
        lowest = pc < lowest ? pc : lowest;
    }
    return lowest;
}

/* Of a core that stands in a stream which is not the driver's, or has come from there. */
static void suspect_core(struct run_side *side, unsigned core, enum oracle oracle, uint32_t place)
{
    struct cps_engine *engine = side->engine;
    unsigned who = engine->who[core];
    const struct suspect suspect = {.raised = oracle,
                                    .side = (uint8_t)(side - side->run->side),
                                    .who = (uint8_t)who,
                                    .level = side->place[who].level,
                                    .header = side->place[who].header,
                                    .iova = side->place[who].iova,
                                    .place = place,
                                    .pc = place};
    run_add_suspect(side->run, &suspect);
}

/* What was refused, did not end, or had too few words. */
static void learn_stop(const struct run_side *side, enum cps_trouble trouble, unsigned core)
{
    const struct run_place *place = &side->place[side->engine->who[core]];
    if (side != side->run->side || !side->run->learned)
        return;
    if (trouble == CPS_TROUBLE_STARVED)
        learn_starved(side->run->learned, place->header);
    else if (side->stop != CPS_STOP_IDLE && !side->goes_on)
        learn_refused(side->run->learned, place->header, place->level);
}

static void judge_stop(struct run_side *side)
{
    unsigned core = 0;
    enum cps_trouble trouble = cps_afuc_trouble(cps_afuc_of(side->engine), &core);
    learn_stop(side, trouble, core);
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
        suspect_core(side, core, ORACLE_HANG, settle(side->engine, core));
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

static void suspect_privilege(struct run_side *side, enum oracle oracle,
                              const struct cps_edge *edge, const struct cps_edge *by)
{
    const struct suspect suspect = {.raised = oracle,
                                    .side = (uint8_t)(side - side->run->side),
                                    .who = side->engine->who[edge->core],
                                    .level = by->level,
                                    .header = cps_pm4_type7(by->packet, 0),
                                    .place = edge->branch,
                                    .pc = edge->branch};
    run_add_suspect(side->run, &suspect);
}

/* Where that begins. What has changed it is the packet to which the core's branch before led: the
 * one at hand may be the next packet's. */
static void judge_privilege(struct run_side *side)
{
    const struct cps_edge *before[CPS_MAX_CORES] = {NULL};
    for (uint32_t i = 0; i < side->log.count; i++) {
        const struct cps_edge *edge = &side->log.edge[i];
        const struct cps_edge *last = before[edge->core];
        enum oracle now = privilege_of(side, edge);
        before[edge->core] = edge;
        if (CPS_UNLIKELY(now != ORACLE_COUNT && (!last || privilege_of(side, last) != now)))
            suspect_privilege(side, now, edge, last && last->level ? last : edge);
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

struct cps_err *judge_first_difference(const struct run *run, const struct record *b,
                                       struct cps_diff *ret)
{
    const struct record *a = &run->side[0].record;
    const struct cps_diff_options options = {run->compared, NULL};
    return cps_diff_events(a->event, a->count, b->event, b->count, &options, NULL, NULL, ret);
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

/* Of the side that does not come to the end, if one does. */
static void suspect_ending(struct run *run)
{
    struct run_side *side = &run->side[run->side[0].stop == CPS_STOP_IDLE];
    unsigned core = 0;
    if (!judge_endings_differ(run))
        return;
    cps_afuc_trouble(cps_afuc_of(side->engine), &core);
    suspect_core(side, core, ORACLE_ENDING, cps_engine_where(side->engine, core).pc);
}

/* Where one side has events and the other none any more, how they end says it. Packets that never
 * end differ in where they are cut. */
static bool tells(const struct run *run, const struct cps_diff *diff)
{
    bool cut = run->side[0].stop == CPS_STOP_BUDGET || run->side[1].stop == CPS_STOP_BUDGET;
    bool both = diff->first.a && diff->first.b;
    return diff->differences && (both || (!cut && !judge_endings_differ(run)));
}

struct cps_err *judge_difference(struct run *run)
{
    const struct run_side *a = &run->side[0];
    const struct run_side *b = &run->side[1];
    struct cps_diff diff = {0};
    if (run->sides < 2 || a->internal || b->internal ||
        (a->stop == b->stop && !memcmp(a->digest, b->digest, sizeof(a->digest))))
        return NULL;
    CPS_TRY(judge_first_difference(run, &b->record, &diff));
    if (tells(run, &diff))
        suspect_difference(run, &diff);
    else
        suspect_ending(run);
    cps_diff_deinit(&diff);
    return NULL;
}
