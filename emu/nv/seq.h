/* SPDX-License-Identifier: MIT
 * The state of SEQ, and what its files share. Private to emu/. */
#ifndef CPS_SEQ_H
#define CPS_SEQ_H

#include "emu/nv/nv.h"

#define DATA_BYTES 0x10000u /* of D[]: what an index of the data ports can name */
#define DATA_WORDS (DATA_BYTES / 4)
#define OUT_WORDS  255u
#define UNK1610    0x1610u
/* The frame of the firmware's function on the stack: bytes from its pointer. What the firmware
 * keeps there is the script's, what no word here names is not. */
enum frame {
    FRAME_IN_WORDS = 0x28, /* in the upper half */
    FRAME_IN_END = 0x2c,
    FRAME_INSN_LEN = 0x30,
    FRAME_RET = 80, /* decimal: among the words that no other is said to be at */
    FRAME_IN_START = 0x5c,
    FRAME_BYTES = 0x80,
};

/* What an operation waits for. */
enum wait { WAIT_NONE, WAIT_TIME, WAIT_STATUS, WAIT_GRAPH, WAIT_MASK, WAIT_PAUSED, WAIT_RESUMED };

struct seq {
    uint32_t val, reg, ret; /* val_last, reg_last, val_ret */
    uint8_t eq, lt;
    uint8_t running;
    uint8_t irq_off;  /* both interrupt enables are */
    uint8_t unlocked; /* register writes: nothing to see of it */
    uint8_t ended;    /* enum CPS_EXIT_* of the last script */
    uint8_t failed;   /* it ended by one of its own checks, and nobody has read the status */
    uint8_t out_words;
    uint8_t wait;    /* enum wait */
    uint8_t inverse; /* of WAIT_STATUS */
    uint32_t test;   /* bits of INPUT0, or the mask of a register */
    int32_t irq_level;
    uint32_t status;                /* of the exit */
    uint32_t pc, next, words;       /* next: where it goes on after the operation at pc */
    uint32_t start;                 /* the byte of data where the script begins */
    uint32_t index[4];              /* of the data ports */
    uint32_t out_start;             /* that where OUT does; 0: there is no OUT */
    uint64_t deadline;              /* tick: nanoseconds */
    uint8_t begins[DATA_WORDS / 8]; /* a bit per word: an operation begins there */
    uint32_t data[DATA_WORDS];
};

static inline struct seq *seq_of_(const struct nv *e)
{
    return e->state;
}
/** The word of data at a byte address. */
static inline uint32_t *seq_data_(const struct nv *e, uint32_t byte)
{
    return &seq_of_(e)->data[byte % DATA_BYTES / 4];
}
/** What a policy says where something lies in data: a multiple of 4. */
static inline uint32_t seq_place_(uint64_t policy)
{
    return (uint32_t)policy & (DATA_BYTES - 4);
}
/** A word of the script. */
static inline uint32_t seq_word_(const struct nv *e, uint32_t pc)
{
    return *seq_data_(e, seq_of_(e)->start + 4 * pc);
}
static inline struct cps_by seq_by_(const struct nv *e)
{
    return (struct cps_by){CPS_CPU_SEQ, CPS_PATH_POKE, seq_of_(e)->pc};
}

/** seq_op.c: performs a decoded operation of enough words. */
void seq_perform_(struct nv *e, const struct cps_insn *insn);
/** Ends the script. @p how  CPS_EXIT_* */
void seq_end_(struct nv *e, unsigned how, uint32_t status);
void seq_unknown_(struct nv *e, enum cps_unknown what, uint32_t detail);
/** Puts a word of the stack's frame where the policy has the stack. */
void seq_frame_(struct nv *e, enum frame offset, uint32_t value);
/** Register accesses of the script. */
uint32_t seq_read_(struct nv *e, uint32_t addr);
void seq_write_(struct nv *e, uint32_t addr, uint32_t value);
void seq_irq_enable_(struct nv *e);

#endif
