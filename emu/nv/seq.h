/* SPDX-License-Identifier: MIT
 * The state of SEQ, and what its two files share. Private to emu/. */
#ifndef CPS_SEQ_H
#define CPS_SEQ_H

#include "emu/nv/nv.h"

#define DATA_WORDS 65536u /* of D[]: as far as a length of 16 bits reaches */
#define OUT_WORDS  255u
#define UNK1610    0x1610u

/* What an operation waits for. */
enum wait { WAIT_NONE, WAIT_TIME, WAIT_STATUS, WAIT_MASK, WAIT_PAUSED, WAIT_RESUMED };

struct seq {
    uint32_t val, reg, ret; /* val_last, reg_last, val_ret */
    uint8_t eq, lt;
    uint8_t running;
    uint8_t irq_off;  /* both interrupt enables are */
    uint8_t unlocked; /* register writes: nothing to see of it */
    uint8_t ended;    /* enum CPS_EXIT_* of the last script */
    uint8_t has_out, out_words;
    uint8_t wait;    /* enum wait */
    uint8_t inverse; /* of WAIT_STATUS */
    uint32_t test;   /* bits of INPUT0, or the mask of a register */
    int32_t irq_level;
    uint32_t status;          /* of the exit */
    uint32_t pc, next, words; /* next: where it goes on behind the operation at pc */
    uint64_t deadline;        /* tick: nanoseconds */
    uint32_t out[OUT_WORDS];
    uint8_t begins[DATA_WORDS / 8]; /* a bit per word: an operation begins there */
    uint32_t data[DATA_WORDS];
};

static inline struct seq *seq_of_(const struct nv *e)
{
    return e->state;
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
/** Register accesses of the script. */
uint32_t seq_read_(struct nv *e, uint32_t addr);
void seq_write_(struct nv *e, uint32_t addr, uint32_t value);
void seq_irq_enable_(struct nv *e);

#endif
