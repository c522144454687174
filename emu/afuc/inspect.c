/* SPDX-License-Identifier: MIT
 * Looking into a machine: registers, tables, and the sentence about why it stopped. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

#include <inttypes.h>
#include <string.h>

struct cps_where machine_where_(const struct cps_engine *engine, unsigned core)
{
    const struct afuc_core *c = &((const struct cps_afuc *)engine)->core[core];
    uint32_t depth = c->s.sqe[SQE_SP];
    return (struct cps_where){
        .pc = c->s.pc,
        .npc = c->s.npc,
        .depth = depth < STACK_DEPTH ? depth : STACK_DEPTH, /* it has eight entries and wraps */
        .level = c->s.level == LEVEL_MEQ ? 0 : c->s.level,
        .started = c->s.started,
        .slot = c->s.npc != c->s.pc + 1,
    };
}

static uint32_t general(const struct afuc_state *s, uint64_t number)
{
    if (number == R_ADDR)
        return s->addr;
    if (number == R_USRADDR)
        return s->usraddr;
    return number <= R_REM ? s->r[number] : 0;
}

static bool get_code(struct cps_afuc *machine, struct cps_location place, uint64_t *ret)
{
    if (place.number >= machine->core[place.core].uop_count)
        return false;
    *ret = cps_mem_read(machine->engine.mem,
                        cps_afuc_image_iova(machine, place.core) + 4 * place.number, NULL);
    return true;
}

bool machine_get_(struct cps_engine *engine, struct cps_location place, uint64_t *ret)
{
    struct cps_afuc *machine = (struct cps_afuc *)engine;
    const struct afuc_state *s = &machine->core[place.core].s;
    bool known = false;
    switch (place.file) {
    case CPS_FILE_GENERAL:
        *ret = general(s, place.number);
        return true;
    case CPS_FILE_CONTROL:
        *ret = s->control[place.number];
        return true;
    case CPS_FILE_SQE:
        *ret = s->sqe[place.number];
        return true;
    case CPS_FILE_STACK:
        *ret = s->sqe[SQE_STACK + (s->sqe[SQE_SP] - 1 - place.number) % STACK_DEPTH];
        return place.number < s->sqe[SQE_SP];
    case CPS_FILE_PC:
        *ret = place.number ? s->npc : s->pc;
        return true;
    case CPS_FILE_CODE:
        return get_code(machine, place, ret);
    case CPS_FILE_REGISTER:
        *ret = bank_get_(machine, machine->core[place.core].pipe, (uint32_t)place.number);
        return true;
    default:
        *ret = cps_mem_read(engine->mem, place.number, &known);
        return known;
    }
}

/* Decodes the word anew, in an image of the machine's own, and stores it where `load` finds it. */
static bool set_code(struct cps_afuc *m, struct cps_location place, uint32_t value)
{
    struct afuc_core *core = &m->core[place.core];
    struct afuc_image *shared = m->image[place.core];
    if (place.number >= core->uop_count)
        return false;
    size_t size = sizeof(*shared) + ((size_t)shared->count + 1) * sizeof(*shared->uop);
    struct afuc_image *own = malloc(size);
    if (!own) {
        cps_mem_fail(m->engine.mem);
        return false;
    }
    memcpy(own, shared, size);
    own->refs = 1;
    afuc_image_unref_(shared);
    m->image[place.core] = own;
    core->uops = own->uop;
    afuc_patch_(own, (uint32_t)place.number, value, core->machine->engine.gen);
    uint64_t dword = core->start + place.number;
    if (m->words && dword < m->word_count)
        m->words[dword] = value;
    return cps_mem_write(m->engine.mem, cps_afuc_image_iova(m, place.core) + 4 * place.number,
                         value);
}

/* $00 is 0, whatever is written. */
static bool set_general(struct afuc_state *s, uint64_t number, uint32_t value)
{
    if (number == R_ADDR)
        s->addr = value;
    else if (number == R_USRADDR)
        s->usraddr = value;
    else if (number && number < R_ADDR)
        s->r[number] = value;
    return number < R_DATA && (number || !value);
}

/* An instruction that the pc is moved to is no delay slot. */
static bool set_pc(struct afuc_core *core, bool next, uint32_t value)
{
    if (!next && value >= core->uop_count)
        return false;
    core->s.pc = next ? core->s.pc : value;
    core->s.npc = next ? value : value + 1;
    return true;
}

bool machine_set_(struct cps_engine *engine, struct cps_location place, uint64_t value)
{
    struct cps_afuc *machine = (struct cps_afuc *)engine;
    struct afuc_state *s = &machine->core[place.core].s;
    uint32_t word = (uint32_t)value;
    if (value > UINT32_MAX)
        return false;
    switch (place.file) {
    case CPS_FILE_GENERAL:
        return set_general(s, place.number, word);
    case CPS_FILE_CONTROL:
        s->control[place.number] = word;
        return true;
    case CPS_FILE_SQE:
        s->sqe[place.number] = word;
        return true;
    case CPS_FILE_PC:
        return set_pc(&machine->core[place.core], place.number, word);
    case CPS_FILE_CODE:
        return set_code(machine, place, word);
    case CPS_FILE_REGISTER:
        bank_set_(machine, machine->core[place.core].pipe, (uint32_t)place.number, word);
        return true;
    case CPS_FILE_MEMORY:
        return cps_mem_write(engine->mem, place.number, word);
    default:
        return false;
    }
}

/* ---- what only afuc has ---- */

struct cps_afuc *cps_afuc_of(struct cps_engine *engine)
{
    return engine->ops == &cps_afuc_ops_ ? (struct cps_afuc *)engine : NULL;
}

bool cps_afuc_inject(struct cps_afuc *machine, enum cps_inject kind, uint32_t submission,
                     uint32_t packet)
{
    if (machine->injection_count == MAX_INJECTIONS)
        return false;
    machine->rings.wanted |= kind == CPS_INJECT_SWITCH;
    machine->injection[machine->injection_count++] = (struct injection){kind, submission, packet};
    machine->watched = 1;
    return true;
}

unsigned cps_afuc_injections_(const struct cps_afuc *machine, unsigned *left)
{
    *left = machine->injection_count - machine->injection_next;
    return machine->injection_count;
}

uint32_t cps_afuc_ring_end_(const struct cps_afuc *machine, unsigned core)
{
    return ring_of_(&machine->core[core]).wptr;
}

enum cps_layout cps_afuc_layout_(const struct cps_afuc *machine)
{
    return machine->layout;
}

uint32_t cps_afuc_image_size(const struct cps_afuc *machine, unsigned core)
{
    return machine->core[core].uop_count;
}

bool cps_afuc_reg_written(const struct cps_afuc *machine, uint32_t offset)
{
    return machine->reg_flags[offset % GPU_REGS] & REG_WRITTEN;
}

uint32_t cps_afuc_written(const struct cps_afuc *machine, unsigned core)
{
    return machine->core[core].written;
}

uint64_t cps_afuc_packets(const struct cps_afuc *machine, unsigned level, unsigned id)
{
    return machine->packets_by_id[level][id % 128];
}

struct cps_position cps_afuc_queued(const struct cps_afuc *machine, unsigned core, unsigned level,
                                    unsigned index)
{
    static const uint8_t roles[] = {[CPS_LEVEL_RB] = LEVEL_RB,
                                    [CPS_LEVEL_IB1] = LEVEL_IB1,
                                    [CPS_LEVEL_IB2] = LEVEL_IB2,
                                    [CPS_LEVEL_IB3] = LEVEL_IB3,
                                    [CPS_LEVEL_SDS] = LEVEL_SDS};
    const struct queue *queue = &machine->core[core].s.queue[roles[level % sizeof(roles)]];
    const struct fetch *fetch = &queue->fetch[(queue->head + index) % QUEUE_DEPTH];
    const struct ring ring = ring_of_(&machine->core[core]);
    if (level == CPS_LEVEL_RB && !index)
        return (struct cps_position){ring.iova, ring.dwords, queue->pos, true};
    if (level == CPS_LEVEL_RB || index >= queue->count)
        return (struct cps_position){0};
    return (struct cps_position){fetch->iova, fetch->dwords, index ? 0 : queue->pos, true};
}

struct cps_position cps_afuc_position(const struct cps_afuc *machine, unsigned core, unsigned level)
{
    return cps_afuc_queued(machine, core, level, 0);
}

struct cps_draw_group cps_afuc_draw_group(const struct cps_afuc *machine, unsigned core,
                                          unsigned group)
{
    const struct group *from = &machine->core[core].s.group[group % GROUP_COUNT];
    return (struct cps_draw_group){(uint64_t)from->base[1] << 32 | from->base[0], from->hdr};
}

uint64_t cps_afuc_header_iova(const struct cps_afuc *machine, unsigned core)
{
    return machine->core[core].s.header_iova;
}

uint32_t cps_afuc_header(const struct cps_afuc *machine, unsigned core, unsigned back)
{
    const struct afuc_state *s = &machine->core[core].s;
    return back ? s->history[(back - 1) % 2] : s->header;
}

uint32_t cps_afuc_level(const struct cps_afuc *machine, unsigned core)
{
    return afuc_control_get_(&machine->core[core], CTL_IB_LEVEL);
}

uint64_t cps_afuc_nrt(const struct cps_afuc *machine, unsigned core)
{
    const struct afuc_state *s = &machine->core[core].s;
    return (uint64_t)s->nrt_base[1] << 32 | (s->nrt_base[0] & ~3u);
}

uint32_t cps_afuc_packet_table(const struct cps_afuc *machine, unsigned core, unsigned id)
{
    return machine->core[core].s.table[id % 128];
}

void cps_afuc_log(struct cps_afuc *machine, struct cps_edge_log *log)
{
    for (unsigned i = 0; i < machine->engine.cores; i++) {
        struct afuc_core *core = &machine->core[i];
        core->log = log && log->room ? log : NULL;
        core->log_from = core->s.pc;
        if (log)
            log->privilege[i] = afuc_privilege_(core);
    }
}
