/* SPDX-License-Identifier: MIT
 * Why a machine stopped: what it waits for, as fields and as a sentence. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

#include <inttypes.h>

/* ---- what a machine that stopped waits for ---- */

static bool has_failed(const struct afuc_core *core)
{
    return core->s.wait == WAIT_FAULT || core->s.error_code;
}

/* Whether what it waits for comes from outside of all processors. */
static bool polls_outside(const struct afuc_core *core)
{
    return !core->s.wait && core->polled.places & (1u << CPS_PLACE_MEMORY | 1u << CPS_PLACE_GPU);
}

/* The core to blame: with a fault or error, else one that polls what another part of the device
 * writes, else one that waits, else the first. */
static const struct afuc_core *culprit(const struct cps_afuc *machine)
{
    const struct afuc_core *core = NULL;
    bool outside = false;
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        if (has_failed(&machine->core[i]))
            core = &machine->core[i];
    }
    if (core)
        return core;
    for (unsigned i = 0; i < machine->engine.cores && !outside; i++) {
        const struct afuc_core *other = &machine->core[i];
        if (!other->s.started || core_idle_(other))
            continue;
        outside = polls_outside(other);
        core = !core || outside ? other : core;
    }
    return core ? core : &machine->core[0];
}

enum cps_trouble cps_afuc_trouble(const struct cps_afuc *machine, unsigned *ret)
{
    static const uint8_t faults[] = {
        [FAULT_ILLEGAL] = CPS_TROUBLE_ILLEGAL, [FAULT_JUMP] = CPS_TROUBLE_JUMP,
        [FAULT_MEMORY] = CPS_TROUBLE_LIMIT,    [FAULT_QUEUE] = CPS_TROUBLE_LIMIT,
        [FAULT_EVENT] = CPS_TROUBLE_LIMIT,     [FAULT_WORK] = CPS_TROUBLE_WORK};
    const struct afuc_core *core = culprit(machine);
    *ret = (unsigned)(core - machine->core);
    if (core->s.wait == WAIT_FAULT)
        return faults[core->s.fault];
    if (core->s.error_code)
        return CPS_TROUBLE_REPORTED;
    if (core_idle_(core))
        return CPS_TROUBLE_NONE;
    return core->s.wait == WAIT_STREAM ? CPS_TROUBLE_STARVED : CPS_TROUBLE_WAITS;
}

/* A place that the packet names is compared as it says. */
static bool take_condition(const struct afuc_core *core, bool in_memory, uint64_t at,
                           struct cps_wait *ret)
{
    const struct condition *wait = &core->condition;
    bool wide = wait->kind == CONDITION_WIDE;
    bool named = wait->header && wait->header == core->s.header &&
                 wait->iova == core->s.header_iova && wait->in_memory == in_memory &&
                 (at == wait->at || (wide && at == wait->at + 4) ||
                  (wait->kind == CONDITION_TWO && at == wait->second));
    if (!named)
        return false;
    ret->address = wait->at;
    ret->second = wait->second;
    ret->value = wide ? wait_read_wide_(core, wait) : wait_read_(core, in_memory, wait->at);
    ret->reference = wait->reference;
    ret->mask = wide ? UINT64_MAX : wait->mask;
    ret->function = wait->function;
    return true;
}

static void take_polled(const struct afuc_core *core, struct cps_wait *ret)
{
    const struct polled *polled = &core->polled;
    bool memory = polled->places >> CPS_PLACE_MEMORY & 1;
    if (memory || polled->places >> CPS_PLACE_GPU & 1) {
        ret->what = memory ? CPS_WAIT_MEMORY : CPS_WAIT_REGISTER;
        ret->address = memory ? polled->memory : polled->gpu;
        if (!take_condition(core, memory, ret->address, ret))
            ret->value = wait_read_(core, memory, ret->address);
    } else if (polled->places >> CPS_PLACE_CONTROL & 1) {
        ret->what = CPS_WAIT_CONTROL;
        ret->address = polled->control;
        ret->value = core->s.control[polled->control];
    } else {
        ret->what = CPS_WAIT_LOOP;
    }
}

static void take_on_chip(const struct afuc_core *core, struct cps_wait *ret)
{
    ret->what = CPS_WAIT_ON_CHIP;
    ret->address = core->s.onchip[0];
    ret->value = core->machine->shared[core->s.onchip[0] % SHARED_COUNT];
    ret->reference = core->s.onchip[1];
    ret->mask = UINT32_MAX;
    ret->function = FUNCTION_REACHED | FUNCTION_SIGNED;
}

static void take_wait(const struct afuc_core *core, struct cps_wait *ret)
{
    switch ((enum afuc_wait)core->s.wait) {
    case WAIT_PIPE:
        take_on_chip(core, ret);
        break;
    case WAIT_STREAM:
        ret->what = CPS_WAIT_STREAM;
        break;
    case WAIT_MEMDATA:
    case WAIT_REGDATA:
    case WAIT_MEQ:
        ret->what = CPS_WAIT_QUEUE;
        break;
    case WAIT_NONE:
    case WAIT_FAULT:
        take_polled(core, ret);
    }
}

/* Where the core is, and in which packet. */
static void take_place(const struct cps_afuc *machine, const struct afuc_core *core,
                       struct cps_wait *ret)
{
    ret->core = (unsigned)(core - machine->core);
    ret->pc = core->s.pc;
    ret->header = core->s.header;
    ret->iova = core->s.header_iova;
}

bool cps_afuc_waits_(const struct cps_afuc *machine, unsigned number, struct cps_wait *ret)
{
    const struct afuc_core *core = &machine->core[number % MAX_CORES];
    *ret = (struct cps_wait){0};
    if (number >= machine->engine.cores || !core->s.started || core_idle_(core) || has_failed(core))
        return false;
    take_place(machine, core, ret);
    take_wait(core, ret);
    return true;
}

bool machine_waits_for_(const struct cps_engine *engine, enum cps_stop stop, struct cps_wait *ret)
{
    const struct cps_afuc *machine = (const struct cps_afuc *)engine;
    const struct afuc_core *core = culprit(machine);
    if (stop != CPS_STOP_DEADLOCK && stop != CPS_STOP_FAULT && stop != CPS_STOP_BAD_PACKET)
        return false;
    take_place(machine, core, ret);
    if (stop == CPS_STOP_DEADLOCK) {
        take_wait(core, ret);
        return true;
    }
    ret->what = stop == CPS_STOP_FAULT ? CPS_WAIT_FAULT : CPS_WAIT_BAD_PACKET;
    ret->value = core->s.error_code;
    return true;
}

/* ---- the sentence about it ---- */

static void explain_fault(const struct afuc_core *core, struct cps_buf *out)
{
    const struct afuc_state *s = &core->s;
    switch ((enum afuc_fault)s->fault) {
    case FAULT_ILLEGAL:
        cps_buf_str(out, "the word there is no instruction of this generation");
        break;
    case FAULT_JUMP:
        cps_buf_printf(out, "jump to 0x%04" PRIx32 ", outside of the image", s->fault_value);
        break;
    case FAULT_MEMORY:
        cps_buf_str(out, "the limit on memory is reached");
        break;
    case FAULT_QUEUE:
        cps_buf_str(out, "more requests than a queue holds");
        break;
    case FAULT_EVENT:
        cps_buf_printf(out, "an event stores %" PRIu32 " registers, expected at most %u that exist",
                       s->fault_value, STAMP_REGISTERS);
        break;
    case FAULT_WORK:
        cps_buf_printf(out, "the work that it launched failed: %s",
                       core->machine->engine.work_failed ? core->machine->engine.work_failed : "");
        break;
    case FAULT_NONE:
        break;
    }
}

static void explain_compare(const struct cps_wait *wait, struct cps_buf *out)
{
    static const char *const signs[8] = {"", "<", "<=", "==", "!=", ">=", ">", ""};
    bool all = wait->mask == UINT32_MAX || wait->mask == UINT64_MAX;
    int digits = wait->mask > UINT32_MAX ? 16 : 8;
    if (wait->second) {
        cps_buf_printf(out, " to be 0, or 0x%0*" PRIx64 " to differ from 0x%08" PRIx64,
                       wait->what == CPS_WAIT_MEMORY ? 16 : 4, wait->second, wait->reference);
        return;
    }
    if (!all)
        cps_buf_printf(out, " & 0x%0*" PRIx64, digits, wait->mask);
    cps_buf_printf(out, " to be %s 0x%0*" PRIx64, signs[wait->function & 7], digits,
                   wait->reference);
    if (wait->function & FUNCTION_SIGNED)
        cps_buf_str(out, " (by the sign of the difference)");
}

static void explain_place(const struct cps_wait *wait, struct cps_buf *out)
{
    static const struct {
        const char *name;
        int digits;
    } places[] = {[CPS_WAIT_MEMORY] = {"memory", 16},
                  [CPS_WAIT_REGISTER] = {"GPU register", 4},
                  [CPS_WAIT_CONTROL] = {"control register", 3}};
    cps_buf_printf(out, "%s %s 0x%0*" PRIx64,
                   wait->function ? "waits for" : "is in an infinite loop that reads",
                   places[wait->what].name, places[wait->what].digits, wait->address);
    if (wait->function)
        explain_compare(wait, out);
    cps_buf_printf(out, "; it is 0x%0*" PRIx64, wait->mask > UINT32_MAX ? 16 : 8, wait->value);
}

static void explain_wait(const struct afuc_core *core, const struct cps_wait *wait,
                         struct cps_buf *out)
{
    static const char *const queues[] = {
        [WAIT_MEMDATA] = "reads $memdata, but nothing was requested",
        [WAIT_REGDATA] = "reads $regdata, but nothing was requested",
        [WAIT_MEQ] = "the queue to the next processor is full"};
    switch (wait->what) {
    case CPS_WAIT_MEMORY:
    case CPS_WAIT_REGISTER:
    case CPS_WAIT_CONTROL:
        explain_place(wait, out);
        break;
    case CPS_WAIT_ON_CHIP:
        cps_buf_printf(out,
                       "the pipe waits for on-chip word 0x%02" PRIx64 " (control 0x%03" PRIx64
                       ") to reach 0x%08" PRIx64 ", it is 0x%08" PRIx64,
                       wait->address, SHARED_CONTROL + wait->address, wait->reference, wait->value);
        break;
    case CPS_WAIT_STREAM:
        cps_buf_str(out, "waits for words of a command stream that has none");
        break;
    case CPS_WAIT_QUEUE:
        cps_buf_str(out, queues[core->s.wait]);
        break;
    default:
        cps_buf_str(out, "is in an infinite loop that reads nothing");
    }
}

void machine_explain_(const struct cps_engine *engine, enum cps_stop stop, struct cps_buf *out)
{
    const struct cps_afuc *machine = (const struct cps_afuc *)engine;
    const struct afuc_core *core = culprit(machine);
    const struct afuc_state *s = &core->s;
    if (machine->engine.cores > 1)
        cps_buf_printf(out, "%s ", cps_processor_name(core->who));
    cps_buf_printf(out, "at 0x%04" PRIx32 ": ", s->pc);
    if (s->error_code)
        cps_buf_printf(out, "the firmware reported error %" PRIu32 " and is spinning",
                       s->error_code);
    else if (stop == CPS_STOP_FAULT)
        explain_fault(core, out);
    else if (stop == CPS_STOP_BUDGET)
        cps_buf_str(out, "the instruction limit is reached");
    else if (stop == CPS_STOP_DEADLOCK)
        explain_wait(core, &engine->wait, out);
    if (s->header || s->header_iova)
        cps_buf_printf(out, "; packet 0x%08" PRIx32 " at 0x%016" PRIx64, s->header, s->header_iova);
}
