/* SPDX-License-Identifier: MIT
 * The code of one processor in two firmware revisions, decoded, with what corresponds in both.
 * Private to tools/prove/. */
#ifndef CPS_PROVE_CODE_H
#define CPS_PROVE_CODE_H

#include "emu/afuc/load.h"
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

/** What an instruction does, by the row of isa/afuc.def. */
enum kind { KIND_ALU, KIND_IF, KIND_OWN, KIND_NONE };

struct row {
    enum kind kind;
    unsigned op;      /**< enum cps_afuc_op */
    const char *text; /**< the row's expression; of OWN what it means, for people */
};

/** The row of a micro-operation. */
const struct row *code_row(unsigned code);

/** Registers and flags that a place may still need, as bits: 0 to 31 general ones. */
#define LIVE_CARRY (UINT64_C(1) << 32)
#define LIVE_ADDR  (UINT64_C(1) << 33) /* where $data goes */

/** A constant that is another one in the other revision because the code moved. */
struct moved {
    uint32_t at[2];
    uint32_t value[2];
};

/** A loop that only waits for a value of a control register: poll.c. */
struct poll {
    const struct code_side *side;
    uint32_t at;   /**< of the read, or of a branch to itself that reads in its delay slot */
    uint32_t size; /**< dwords, with the delay slot of the branch back */
};
#define MOST_POLLS 4000u

struct code_side {
    const struct cps_fw *fw;
    const struct cps_fw_part *part;
    struct afuc_image
        *image; /**< of the new one, addresses in constants are those of the old one */
    uint32_t count;
    const uint32_t *partner;
    bool *cut;      /**< by dword: a run may be looked at here */
    uint64_t *live; /**< by dword */
    uint16_t *poll; /**< by dword: 1 + number of the poll that begins there, in code.poll; or 0 */
    uint64_t live_at_end, live_at_return;
    uint32_t table[CPS_FW_TABLE_SIZE];
    uint64_t reads[CPS_FW_TABLE_SIZE]; /**< by packet: what its handler may read of what the one in
                                          front of it left; not of preemption, which keeps all */
};

struct code {
    struct code_side side[2];
    struct cps_fw_pairs pairs;
    bool *same;        /**< by dword of the old one: its partner is the same instruction */
    uint16_t *scratch; /**< by number in the new one: what a control register is in the old one,
                          CONTROL_COUNT where that is not known; owned */
    struct moved *moved;
    size_t moved_count;
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
/** Finds what private control registers of the new revision are in the old one, and gives its
 * instructions the old numbers: scratch.c. */
CPS_MUST_USE struct cps_err *code_scratch(struct code *code);
/** The first number of a row of ctrl.def, by its id; 0xffff where the layout lacks it. */
uint32_t code_control(enum cps_layout layout, const char *id);
/** Finds loops that only wait: poll.c. */
CPS_MUST_USE struct cps_err *code_polls(struct code *code);
/** Finds what is live where: live.c. */
CPS_MUST_USE struct cps_err *code_live(struct code_side *side);
/** Registers that an instruction reads, and those that it gives another value for sure. */
void code_uses(const struct afuc_uop *uop, uint64_t *reads, uint64_t *writes);

#endif
