/* SPDX-License-Identifier: MIT
 * What the instructions of HWSQ do. */
#include "emu/nv/hwsq.h"

void hwsq_poke_(struct nv *e, struct hwsq_slot *s)
{
    const struct cps_by by = hwsq_by_(e, s, CPS_PATH_POKE);
    if (~s->data_known)
        hwsq_unknown_(e, s, CPS_UNKNOWN_UNDEFINED, s->data);
    s->wait = WAIT_NONE;
    cps_bus_write(e, s->addr, s->data, &by);
}

/* Without HWSQ_ENABLE the write is held back; while memory is paused, one that leads there. */
bool hwsq_may_poke_(struct nv *e, const struct hwsq_slot *s)
{
    return cps_bus_stored_(e, DEBUG_6) & ENABLE &&
           !(cps_bus_pausing_(e) && hwsq_is_memory_(e, s->addr, true));
}

static void begin_poke(struct nv *e, struct hwsq_slot *s)
{
    if (hwsq_may_poke_(e, s)) {
        hwsq_poke_(e, s);
        return;
    }
    hwsq_unknown_(e, s, CPS_UNKNOWN_POKE_IP, s->ip);
    s->wait = WAIT_POKE;
}

bool hwsq_event_is_(const struct nv *e, const struct hwsq_slot *s)
{
    return (e->bus.events >> s->event & 1) == s->value;
}

/* Bits 15:0 of ADDR or DATA, of which the upper half may be unknown. */
static void set_low(struct nv *e, struct hwsq_slot *s, uint32_t *word, uint32_t *known,
                    uint32_t low)
{
    *word = (*word & 0xffff0000) | low;
    *known |= 0xffff;
    if (~*known)
        hwsq_unknown_(e, s, CPS_UNKNOWN_UNDEFINED, *word);
}

static void begin_event_wait(struct nv *e, struct hwsq_slot *s, const struct cps_insn *insn)
{
    s->event = (uint8_t)insn->operand[0];
    s->value = (uint8_t)insn->operand[1];
    if (insn->unclaimed)
        hwsq_unknown_(e, s, CPS_UNKNOWN_EWAIT_BITS, (uint32_t)(insn->unclaimed >> 8));
    if (s->event >= EVENTS_KNOWN)
        hwsq_unknown_(e, s, CPS_UNKNOWN_EVENT_SOURCE, s->event);
    if (!hwsq_event_is_(e, s))
        s->wait = WAIT_EVENT;
}

static void set_flag(struct nv *e, struct hwsq_slot *s, unsigned number, bool enable, bool value)
{
    struct cps_by by = hwsq_by_(e, s, CPS_PATH_FLAG);
    struct cps_flags f = e->bus.flags;
    uint32_t bit = UINT32_C(1) << number;
    f.enable = enable ? f.enable | bit : f.enable & ~bit;
    f.value = value ? f.value | bit : f.value & ~bit;
    unsigned low = number & 16;
    if (!cps_bus_flag_known_(e, number))
        hwsq_unknown_(e, s, CPS_UNKNOWN_FLAG_TARGET, number);
    cps_bus_put(e, CPS_EV_REG, CPS_PATH_FLAG, &by, low ? 0x1314 : 0x1310,
                (f.value >> low & 0xffff) | (f.enable >> low & 0xffff) << 16);
    cps_bus_set_flags_(e, f, &by);
}

static void unset_flag(struct nv *e, struct hwsq_slot *s, unsigned number)
{
    bool was = e->bus.flags.value >> number & 1;
    if (was)
        hwsq_unknown_(e, s, CPS_UNKNOWN_UNSET_VALUE, number);
    switch ((enum cps_policy_unset)e->engine.policy.unset) {
    case CPS_UNSET_KEEP:
        set_flag(e, s, number, false, was);
        break;
    case CPS_UNSET_CLEAR:
        set_flag(e, s, number, false, false);
        break;
    }
}

static void bad_opcode(struct nv *e, struct hwsq_slot *s)
{
    if (!hwsq_can_hang_(e))
        return; /* as long as a nop, and as effective */
    hwsq_unknown_(e, s, CPS_UNKNOWN_BAD_IP, s->ip);
    s->illegal = 1;
    switch ((enum cps_policy_bad_ip)e->engine.policy.bad_ip) {
    case CPS_BAD_IP_AFTER:
        break;
    case CPS_BAD_IP_AT:
        s->ip--;
        break;
    }
}

void hwsq_perform_(struct nv *e, struct hwsq_slot *s, const struct cps_insn *insn)
{
    const uint32_t first = (uint32_t)insn->operand[0];
    uint64_t ticks;
    switch (insn->enc ? (enum cps_hwsq_op)insn->op : CPS_HWSQ_NONE) {
    case CPS_HWSQ_WAIT:
        ticks = ((uint64_t)insn->operand[0] << 2 * insn->operand[1]) * 0x20;
        s->wait = ticks ? WAIT_TIME : WAIT_NONE;
        s->wake = e->bus.clock + e->engine.policy.cost + ticks;
        break;
    case CPS_HWSQ_ADDR:
        s->addr = first;
        s->addr_known = UINT32_MAX;
        begin_poke(e, s);
        break;
    case CPS_HWSQ_ADDRLO:
        set_low(e, s, &s->addr, &s->addr_known, first);
        begin_poke(e, s);
        break;
    case CPS_HWSQ_DATA:
        s->data = first;
        s->data_known = UINT32_MAX;
        break;
    case CPS_HWSQ_DATALO:
        set_low(e, s, &s->data, &s->data_known, first);
        break;
    case CPS_HWSQ_EWAIT:
        begin_event_wait(e, s, insn);
        break;
    case CPS_HWSQ_EXIT:
        s->ip = (uint16_t)(s->ip - insn->length);
        hwsq_stop_(e, s, CPS_EXIT_END);
        break;
    case CPS_HWSQ_SET1:
    case CPS_HWSQ_SET0:
        set_flag(e, s, first, true, insn->op == CPS_HWSQ_SET1);
        break;
    case CPS_HWSQ_UNSET:
        unset_flag(e, s, first);
        break;
    case CPS_HWSQ_NONE:
    case CPS_HWSQ_OP_COUNT:
        bad_opcode(e, s);
        break;
    }
}
