/* SPDX-License-Identifier: MIT
 * Looking into a machine: registers, tables, and the sentence about why it stopped. */
#include "emu/debug/debug.h"
#include "emu/afuc/machine.h"

#include <inttypes.h>

const struct cps_stats *cps_machine_stats(const struct cps_machine *machine)
{
    return &machine->stats;
}

unsigned cps_machine_core_count(const struct cps_machine *machine)
{
    return machine->core_count;
}

enum cps_processor cps_machine_core_who(const struct cps_machine *machine, unsigned core)
{
    return machine->core[core].who;
}

uint32_t cps_machine_pc(const struct cps_machine *machine, unsigned core)
{
    return machine->core[core].s.pc;
}

uint32_t cps_machine_npc(const struct cps_machine *machine, unsigned core)
{
    return machine->core[core].s.npc;
}

bool cps_machine_started(const struct cps_machine *machine, unsigned core)
{
    return machine->core[core].s.started;
}

uint64_t cps_machine_image_iova(const struct cps_machine *machine, unsigned core)
{
    return machine_image_iova_(machine, core);
}

bool cps_machine_reg_written(const struct cps_machine *machine, uint32_t offset)
{
    return machine->reg_flags[offset % GPU_REGS] & REG_WRITTEN;
}

uint32_t cps_machine_word(struct cps_machine *machine, unsigned core, uint32_t pc)
{
    if (pc >= machine->core[core].uop_count)
        return 0;
    return cps_mem_read(machine->mem, machine_image_iova_(machine, core) + 4 * (uint64_t)pc, NULL);
}

/* The stack has eight entries and wraps. */
unsigned cps_machine_depth(const struct cps_machine *machine, unsigned core)
{
    uint32_t depth = machine->core[core].s.sqe[SQE_SP];
    return depth < STACK_DEPTH ? depth : STACK_DEPTH;
}

uint32_t cps_machine_return(const struct cps_machine *machine, unsigned core, unsigned level)
{
    const struct afuc_state *s = &machine->core[core].s;
    return s->sqe[SQE_STACK + (s->sqe[SQE_SP] - 1 - level) % STACK_DEPTH];
}

uint32_t cps_machine_gpr(const struct cps_machine *machine, unsigned core, unsigned number)
{
    const struct afuc_state *s = &machine->core[core].s;
    if (number == R_ADDR)
        return s->addr;
    if (number == R_USRADDR)
        return s->usraddr;
    return number <= R_REM ? s->r[number] : 0;
}

uint32_t cps_machine_image_size(const struct cps_machine *machine, unsigned core)
{
    return machine->core[core].uop_count;
}

uint32_t cps_machine_image_start(const struct cps_machine *machine, unsigned core)
{
    return machine->core[core].start;
}

/* The word behind the image, which a fault leads to, needs a counter too. */
void cps_machine_cover(struct cps_machine *machine, unsigned core, struct cps_cover *counts,
                       uint32_t count)
{
    struct afuc_core *c = &machine->core[core];
    c->cover = counts && count > c->uop_count ? counts : NULL;
    c->cover_count = count;
}

uint32_t cps_machine_written(const struct cps_machine *machine, unsigned core)
{
    return machine->core[core].written;
}

uint32_t cps_machine_control(const struct cps_machine *machine, unsigned core, uint32_t number)
{
    return machine->core[core].s.control[number % CONTROL_COUNT];
}

uint32_t cps_machine_sqe(const struct cps_machine *machine, unsigned core, uint32_t number)
{
    return machine->core[core].s.sqe[number % SQE_COUNT];
}

struct cps_position cps_machine_position(const struct cps_machine *machine, unsigned core,
                                         unsigned level)
{
    static const uint8_t roles[] = {[CPS_LEVEL_RB] = LEVEL_RB,
                                    [CPS_LEVEL_IB1] = LEVEL_IB1,
                                    [CPS_LEVEL_IB2] = LEVEL_IB2,
                                    [CPS_LEVEL_IB3] = LEVEL_IB3,
                                    [CPS_LEVEL_SDS] = LEVEL_SDS};
    const struct queue *queue = &machine->core[core].s.queue[roles[level % sizeof(roles)]];
    const struct fetch *fetch = &queue->fetch[queue->head];
    if (level == CPS_LEVEL_RB)
        return (struct cps_position){machine->ring_iova, machine->ring_dwords, queue->pos, true};
    if (!queue->count)
        return (struct cps_position){0};
    return (struct cps_position){fetch->iova, fetch->dwords, queue->pos, true};
}

uint32_t cps_machine_header(const struct cps_machine *machine, unsigned core, unsigned back)
{
    const struct afuc_state *s = &machine->core[core].s;
    return back ? s->history[(back - 1) % 2] : s->header;
}

uint32_t cps_machine_level(const struct cps_machine *machine, unsigned core)
{
    return afuc_control_get_(&machine->core[core], CTL_IB_LEVEL);
}

uint64_t cps_machine_nrt(const struct cps_machine *machine, unsigned core)
{
    const struct afuc_state *s = &machine->core[core].s;
    return (uint64_t)s->nrt_base[1] << 32 | (s->nrt_base[0] & ~3u);
}

uint32_t cps_machine_reg(const struct cps_machine *machine, uint32_t offset)
{
    return machine->reg[offset % GPU_REGS];
}

void cps_machine_set_reg(struct cps_machine *machine, uint32_t offset, uint32_t value)
{
    machine->reg[offset % GPU_REGS] = value;
    machine->reg_flags[offset % GPU_REGS] |= REG_WRITTEN;
}

uint32_t cps_machine_packet_table(const struct cps_machine *machine, unsigned core, unsigned id)
{
    return machine->core[core].s.table[id % 128];
}

uint32_t cps_machine_memory(struct cps_machine *machine, uint64_t iova, bool *known)
{
    return cps_mem_read(machine->mem, iova, known);
}

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
    case FAULT_NONE:
        break;
    }
}

static void explain_spin(const struct afuc_core *core, struct cps_buf *out)
{
    static const char *const place[] = {[CPS_PLACE_GPU] = "GPU register",
                                        [CPS_PLACE_CONTROL] = "control register",
                                        [CPS_PLACE_MEMORY] = "memory"};
    static const char *const wait[] = {"",
                                       "waits for words of a command stream that has none",
                                       "reads $memdata, but nothing was requested",
                                       "reads $regdata, but nothing was requested",
                                       "the queue to the ME is full",
                                       ""};
    if (core->s.wait)
        cps_buf_str(out, wait[core->s.wait]);
    else if (core->polled.number || core->polled.place)
        cps_buf_printf(out, "repeats the same state for ever; what it read last is %s 0x%03" PRIx64,
                       place[core->polled.place] ? place[core->polled.place] : "",
                       core->polled.number);
    else
        cps_buf_str(out, "repeats the same state for ever");
}

static const char *processor_name(enum cps_processor who)
{
    static const char *const names[] = {
        [CPS_CPU_PFP] = "pfp", [CPS_CPU_ME] = "me",     [CPS_CPU_SQE] = "sqe",
        [CPS_CPU_BV] = "bv",   [CPS_CPU_LPAC] = "lpac", [CPS_CPU_NONE] = "",
    };
    return names[who];
}

/* The core to blame: with a fault or error, else one that goes round, else the first. */
static const struct afuc_core *culprit(const struct cps_machine *machine)
{
    const struct afuc_core *core = NULL;
    for (unsigned i = 0; i < machine->core_count; i++) {
        if (machine->core[i].s.wait == WAIT_FAULT || machine->core[i].s.error_code)
            core = &machine->core[i];
    }
    for (unsigned i = 0; !core && i < machine->core_count; i++) {
        if (machine->core[i].s.started && !core_idle_(&machine->core[i]))
            core = &machine->core[i];
    }
    return core ? core : &machine->core[0];
}

void cps_machine_explain(const struct cps_machine *machine, enum cps_stop stop, struct cps_buf *out)
{
    const struct afuc_core *core = culprit(machine);
    const struct afuc_state *s = &core->s;
    if (machine->core_count > 1)
        cps_buf_printf(out, "%s ", processor_name(core->who));
    cps_buf_printf(out, "at 0x%04" PRIx32 ": ", s->pc);
    if (s->error_code)
        cps_buf_printf(out, "the firmware reported error %" PRIu32 " and spins", s->error_code);
    else if (stop == CPS_STOP_FAULT)
        explain_fault(core, out);
    else if (stop == CPS_STOP_BUDGET)
        cps_buf_str(out, "the instruction limit is reached");
    else
        explain_spin(core, out);
    cps_buf_printf(out, "; packet 0x%08" PRIx32 " at 0x%016" PRIx64, s->header, s->header_iova);
}
