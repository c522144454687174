/* SPDX-License-Identifier: MIT
 * The state of HWSQ, and what its files share. Private to emu/nv/. */
#ifndef CPS_HWSQ_H
#define CPS_HWSQ_H

#include "emu/nv/nv.h"

#define RAM_MAX 0x200u
#define SLOTS   2u
#define NEVER   UINT64_MAX
#define ENABLE  8u /* of DEBUG_6 */
#define DEBUG_6 0x1098u
/* Where the windows to the code RAM begin. */
#define CODE     0x1400u
#define NEW_CODE 0x80000u
/** Events from here on have no known source. */
#define EVENTS_KNOWN 5u

/* What a slot waits for. */
enum hwsq_wait { WAIT_NONE, WAIT_TIME, WAIT_EVENT, WAIT_POKE };

struct hwsq_slot {
    uint32_t addr, data;
    uint32_t addr_known, data_known; /* bits that this run has written */
    uint16_t ip;
    uint16_t pc; /* of the instruction at hand: where events come from */
    uint8_t running, illegal;
    uint8_t wait; /* enum hwsq_wait */
    uint8_t event, value;
    uint64_t wake;  /* tick */
    uint64_t order; /* of starts */
};

struct hwsq {
    struct hwsq_slot slot[SLOTS];
    uint16_t entry[4];
    uint64_t starts;
    uint32_t peep_ctrl, peep_addr, peep_data; /* PEEPHOLE's write port */
    uint32_t peep_rw;                         /* the address of its other port */
    uint8_t code[RAM_MAX];
};

static inline struct hwsq *hwsq_of_(const struct nv *e)
{
    return e->state;
}

static inline enum cps_gen hwsq_chip_(const struct nv *e)
{
    return e->engine.gen;
}

/* Chips whose bad opcodes hang. */
static inline bool hwsq_can_hang_(const struct nv *e)
{
    return hwsq_chip_(e) == CPS_NV41 || hwsq_chip_(e) == CPS_G80;
}

static inline struct cps_by hwsq_by_(const struct nv *e, const struct hwsq_slot *s, unsigned path)
{
    return (struct cps_by){s == hwsq_of_(e)->slot ? CPS_CPU_HWSQ : CPS_CPU_HWSQ_B, path, s->pc};
}

static inline void hwsq_unknown_(struct nv *e, const struct hwsq_slot *s, enum cps_unknown what,
                                 uint32_t detail)
{
    const struct cps_by by = hwsq_by_(e, s, 0);
    cps_bus_unknown(e, what, &by, detail);
}

/* hwsq_op.c: performs a decoded instruction; without a row it is a bad opcode. */
void hwsq_perform_(struct nv *e, struct hwsq_slot *s, const struct cps_insn *insn);
/* Does the write that a slot's addr and data say. */
void hwsq_poke_(struct nv *e, struct hwsq_slot *s);
/* Whether the event that a slot waits for is as it waits for it. */
bool hwsq_event_is_(const struct nv *e, const struct hwsq_slot *s);
/* hwsq_memory.c: registers that lead to memory. */
uint32_t hwsq_read_pramin_(const struct cps_access *at);
void hwsq_write_pramin_(const struct cps_access *at);
uint32_t hwsq_read_peephole_(const struct cps_access *at);
void hwsq_write_peephole_(const struct cps_access *at);
/* Whether an access to a register is one to memory. */
bool hwsq_is_memory_(const struct nv *e, uint32_t addr, bool write);
/* hwsq_op.c: whether the write of a slot may happen now. */
bool hwsq_may_poke_(struct nv *e, const struct hwsq_slot *s);
/* hwsq.c: ends a slot's script. @p how  CPS_EXIT_* */
void hwsq_stop_(struct nv *e, struct hwsq_slot *s, unsigned how);

#endif
