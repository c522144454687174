/* SPDX-License-Identifier: MIT
 * The code of one processor in two firmware revisions, decoded, with what corresponds in both.
 * Private to tools/explain/prove/. */
#ifndef CPS_PROVE_CODE_H
#define CPS_PROVE_CODE_H

#include "emu/afuc/core/act.h"
#include "emu/afuc/core/machine.h"
#include "fw/image/pairs.h"

/** Numbers of dwords that are none: where a run goes that leaves the code. */
enum {
    PC_END = 0x7fffffff,  /**< behind waitin: the handler is over */
    PC_RET = 0x7ffffffe,  /**< ret to a caller that the run has not seen */
    PC_JUMP = 0x7ffffffd, /**< where a register says */
    PC_IRET = 0x7ffffffc,
    PC_SPIN = 0x7ffffffb, /**< a jump to itself, without end: how firmware reports an error */
    PC_LAST = 0x70000000, /**< what is at or above is none */
    /** Marks the address of a word of the new revision that the old one does not have. */
    PC_ALONE = 0x40000000,
};

/** Whether the word behind it runs before it branches. */
bool code_has_slot(const struct afuc_row *row);
struct code_side;
/** Whether the delay slot of the instruction at @p at holds what branches itself, but for a branch
 * in the slot of a branch, which all images have: what comes of it is not followed. */
bool code_slot_branches(const struct code_side *side, uint32_t at);
/** Where an instruction leads, after its delay slot if it has one. */
struct code_ways {
    bool target, next; /**< to uop.target; past the delay slot, or to the next word */
    bool call;         /**< the target returns to what is next */
    bool back;         /**< to an open call's return address */
    bool end;          /**< to the next packet, as the preemption routine, which gave all back */
    bool somewhere;    /**< where a register says */
    bool skip;         /**< past a word and that word's slot */
};

struct code_ways code_ways(const struct afuc_row *row);
/** Whether two instructions are the same but for the immediate. */
bool code_same(const struct afuc_uop *a, const struct afuc_uop *b);
/** Whether it goes to a constant address: afuc_uop.target. */
bool code_names_target(const struct afuc_row *row);
/** Whether its immediate may be an address of the image. */
bool code_may_address(const struct afuc_uop *uop);

/** Registers and flags that a place may still need, as bits: 0 to 31 general ones. */
#define LIVE_CARRY (UINT64_C(1) << 32)
#define LIVE_ADDR  (UINT64_C(1) << 33) /* where $data goes */

/** A constant that is another one in the other revision because the code moved. */
struct moved {
    uint32_t at[2];
    uint32_t value[2];
};

/** A constant that may be an address, in both revisions as it is; CPS_FW_ALONE: one lacks it. */
struct constant {
    uint32_t value[2];
};

/** A loop that only waits for a value of a control register: poll.c. */
struct poll {
    const struct code_side *side;
    uint32_t at;    /**< of the read, or of a branch to itself that reads in its delay slot */
    uint32_t size;  /**< dwords, with the delay slot of the branch back */
    uint64_t reads; /**< general registers that a turn reads and none writes, as bits */
};
#define MOST_POLLS 4000u
#define POLL_READS 4u /**< most of them */

struct code_side {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    struct afuc_image
        *image; /**< of the new one, addresses in constants are those of the old one */
    uint32_t count;
    const uint32_t *partner;
    bool *cut;      /**< by dword: a run may be looked at here */
    uint8_t *word;  /**< by dword: what data.c knows of it */
    uint64_t *live; /**< by dword */
    uint16_t *poll; /**< by dword: 1 + number of the poll that begins there, in code.poll; or 0 */
    uint64_t live_at_end, live_at_return;
    uint32_t selected, peek_switch; /**< control registers: the first shows $addr and $usraddr, the
                                       second makes $data a peek */
    uint32_t table[CPS_FW_TABLE_SIZE];
    uint64_t reads[CPS_FW_TABLE_SIZE]; /**< by packet: what its handler may read of what the one in
                                          front of it left; not of preemption, which keeps all */
};

/** Words that are no code which a handler can reach, and differ. */
struct data {
    uint32_t *word; /**< where, in the old revision; PC_ALONE: in the new one, which alone has it;
                       owned */
    size_t words;
    char digest[65]; /**< of all of them, with both values */
};

struct code {
    struct code_side side[2];
    struct cps_fw_pairs pairs;
    bool *same;        /**< by dword of the old one: its partner is the same instruction */
    uint16_t *scratch; /**< by number in the new one: what a control register is in the old one; a
                          bijection, which moves private registers only; owned */
    bool *voted;     /**< by the same: instructions say so; else the rest is as it may be; owned */
    bool renumbered; /**< it is not the identity */
    struct data data;
    struct moved *moved;
    size_t moved_count;
    struct constant *constant; /**< owned */
    size_t constants;
    struct poll *poll; /**< one for each that is another one */
    size_t poll_count;
};

/** Decodes and aligns. @p part  index in both; the caller calls code_deinit() in any case. */
CPS_MUST_USE struct cps_err *code_init(const struct cps_fw *old, const struct cps_fw *new,
                                       unsigned part, struct code *ret);
void code_deinit(struct code *code);
/** Where code of the new revision has what the old one has at @p pc, and back. Addresses that a run
 * keeps are those of the old revision. */
uint32_t code_to_new(const struct code *code, uint32_t pc);
uint32_t code_to_old(const struct code *code, uint32_t pc);
/** Whether a register that holds @p old, an address of the old revision, leads to the same code in
 * both: a return address does, and a constant, or a sum with one, if the code has moved as it has.
 */
bool code_may_jump(const struct code *code, uint32_t old);
/** Finds what private control registers of the new revision are in the old one: scratch.c. */
void code_scratch(struct code *code);
/** Finds the data words that differ: data.c. */
void code_data(struct code *code);
/** Whether code at @p pc of a side may read words of its own image, or hand their address to
 * something: it names a register that holds the image's base (data.c). */
bool code_reads_image(const struct code_side *side, uint32_t pc);
/** The first number of a row of ctrl.def, by its id; 0xffff where the layout lacks it. */
uint32_t code_control(enum cps_layout layout, const char *id);
/** Finds loops that only wait: poll.c. */
void code_polls(struct code *code);
/** Finds what is live where: live.c. */
void code_live(struct code_side *side);
/** Registers that the instruction at @p at reads, and those that it gives another value for sure.
 */
void code_uses(const struct code_side *side, uint32_t at, uint64_t *reads, uint64_t *writes);

#endif
