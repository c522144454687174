/* SPDX-License-Identifier: MIT
 * The ME of a5xx: register reads through $addr, its memory paths behind GPU registers 0x80d..0x816,
 * and the hardware's read-modify-write.
 *
 * The register database calls 0x80d and 0x80e CP_ME_NRT_ADDR and 0x810 CP_ME_NRT_DATA. Shipped code
 * uses 0x80d..0x80f as read address and length and 0x810..0x812 as write address and data (F, V).
 * The worked examples of Mesa's older documentation follow the names instead: they write the
 * address and then, with no length in between, read $addr or write 0x810. Both are understood; no
 * shipped code does the latter. */
#include "emu/afuc/control/control.h"
#include "emu/afuc/queue/queue.h"

enum {
    READ_ADDR_LO = ME_READ_PORT,
    READ_ADDR_HI = 0x80e,
    READ_DWORDS = 0x80f,
    WRITE_ADDR_LO = 0x810,
    WRITE_ADDR_HI = 0x811,
    WRITE_DATA = 0x812,
    STAMP_CTRL = 0x813,
    STAMP_ADDR_LO = 0x814,
    STAMP_ADDR_HI = 0x815,
    STAMP_DATA = 0x816,
    WFI_PEND = 0xb15,
    QUERY_PEND = 0xb16,
};

enum { SELECT_READ = 1u << 20, SELECT_RMW = 1u << 23, OFFSET = 0x3ffff, RMW_VALID = 1u << 31 };

/* What a read through register 0x1d would fetch, where no length was given. */
enum pending_read { PENDING_NOTHING, PENDING_MEMORY };

static uint32_t rotate_left(uint32_t value, uint32_t by)
{
    return by & 31 ? value << (by & 31) | value >> (32 - (by & 31)) : value;
}

static void queue_registers(struct afuc_core *me, uint32_t offset, unsigned path)
{
    uint32_t count = me->s.read_count ? me->s.read_count : 1;
    bool forbidden = path == CPS_PATH_USER && gpu_protected_(me, offset, count, false);
    me->s.read_count = 0;
    if (forbidden)
        core_event_(me, CPS_EV_PROT, 0, offset, 0);
    bool room = true;
    for (uint32_t i = 0; i < count && room; i++)
        room = fifo_put_register_(me, forbidden ? 0 : gpu_read_(me, (offset + i) & OFFSET), offset);
}

/* I: the fast path of CP_REG_RMW names the register with bits 20 and 23, gives the and-mask, then
 * the rotation with bit 23, then the or-value. */
void me_select_(struct afuc_core *me, uint32_t address, unsigned path)
{
    struct afuc_state *s = &me->s;
    if ((address & SELECT_RMW) && (address & SELECT_READ))
        s->rmw_offset = RMW_VALID | (address & OFFSET);
    else if (address & SELECT_RMW)
        s->rmw_rotate = 32 | (address & 31);
    else if (address & SELECT_READ)
        queue_registers(me, address & OFFSET, path);
}

bool me_rmw_data_(struct afuc_core *me, uint32_t value)
{
    struct afuc_state *s = &me->s;
    uint32_t offset = s->rmw_offset & OFFSET;
    if (!(s->rmw_offset & RMW_VALID))
        return false;
    if (!s->rmw_rotate) {
        s->rmw_mask = value;
        return true;
    }
    value |= rotate_left(gpu_read_(me, offset) & s->rmw_mask, s->rmw_rotate);
    s->rmw_offset = s->rmw_rotate = s->rmw_mask = 0;
    gpu_write_(me, offset, value, CPS_PATH_USER);
    return true;
}

static uint64_t pair(const struct afuc_core *me, uint32_t offset)
{
    const uint32_t *reg = me->machine->reg;
    return (uint64_t)reg[offset + 1] << 32 | reg[offset];
}

static void set_pair(struct afuc_core *me, uint32_t offset, uint64_t value)
{
    machine_touch_(me->machine, offset);
    machine_touch_(me->machine, offset + 1);
    me->machine->reg[offset] = (uint32_t)value;
    me->machine->reg[offset + 1] = (uint32_t)(value >> 32);
}

bool me_read_through_(struct afuc_core *me)
{
    struct afuc_state *s = &me->s;
    if (s->read_pending == PENDING_MEMORY) {
        uint64_t iova = pair(me, READ_ADDR_LO);
        fifo_request_(me, &s->memdata, iova, 1);
        set_pair(me, READ_ADDR_LO, iova + 4);
        return true;
    }
    if (s->user_selected || s->addr >> 24)
        return false;
    fifo_put_(&s->memdata, gpu_read_(me, s->addr & OFFSET));
    s->addr++;
    return true;
}

static void write_memory(struct afuc_core *me, uint32_t value)
{
    me->s.nrt[0] = me->machine->reg[WRITE_ADDR_LO];
    me->s.nrt[1] = me->machine->reg[WRITE_ADDR_HI];
    nrt_write_(me, value);
    set_pair(me, WRITE_ADDR_LO, (uint64_t)me->s.nrt[1] << 32 | me->s.nrt[0]);
}

/* The documentation's example: data at CP_ME_NRT_DATA, address at CP_ME_NRT_ADDR. */
static void write_by_name(struct afuc_core *me, uint32_t value)
{
    uint64_t iova = pair(me, READ_ADDR_LO);
    core_mem_write_(me, iova, value, CPS_VIA_NRT);
    set_pair(me, READ_ADDR_LO, iova + 4);
}

static void stamp(struct afuc_core *me, uint32_t value)
{
    const uint32_t *reg = me->machine->reg;
    me->s.event_ctrl = reg[STAMP_CTRL];
    me->s.event_addr[0] = reg[STAMP_ADDR_LO];
    me->s.event_addr[1] = reg[STAMP_ADDR_HI];
    stamp_(me, value);
}

/* The counters are the PFP's; the ME lowers them when the pipe has drained. */
static void lower(struct afuc_core *me, uint32_t offset)
{
    struct afuc_state *pfp = &me->machine->core[0].s;
    uint32_t *counter = offset == WFI_PEND ? &pfp->pend_wfi : &pfp->pend_query;
    *counter -= *counter != 0;
}

void me_reg_write_(struct afuc_core *me, uint32_t offset, uint32_t value)
{
    bool by_name = me->s.read_pending == PENDING_MEMORY;
    switch (offset) {
    case READ_ADDR_LO:
    case READ_ADDR_HI:
        me->s.read_pending = PENDING_MEMORY;
        break;
    case READ_DWORDS:
        me->s.read_pending = PENDING_NOTHING;
        fifo_request_(me, &me->s.memdata, pair(me, READ_ADDR_LO), value);
        break;
    case WRITE_ADDR_LO:
    case WRITE_ADDR_HI:
        if (by_name)
            write_by_name(me, value);
        break;
    case WRITE_DATA:
        write_memory(me, value);
        break;
    case STAMP_DATA:
        stamp(me, value);
        break;
    case WFI_PEND:
    case QUERY_PEND:
        lower(me, offset);
        break;
    default:
        break;
    }
}
