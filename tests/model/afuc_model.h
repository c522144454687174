/* SPDX-License-Identifier: MIT
 * A naive model of afuc: what one processor holds, and one tick of it. It knows only what documents
 * say; where they leave something open it does not go on, and says which document that is. */
#ifndef TESTS_AFUC_MODEL_H
#define TESTS_AFUC_MODEL_H

#include <stdbool.h>
#include <stdint.h>

enum afuc_kind {
    AFUC_PFP,  /* a5xx */
    AFUC_ME,   /* a5xx */
    AFUC_A6XX, /* with the control registers of a630 */
    AFUC_A7XX, /* with those of a740 */
    AFUC_GEN3, /* a750: a7xx with other control registers */
    AFUC_A8XX,
    AFUC_KINDS,
};

enum {
    AFUC_IMAGE = 160,  /* words of a program */
    AFUC_TYPE4 = 140,  /* where a handler of packets of type 4 may be */
    AFUC_QUEUE = 320,  /* words that a queue takes in its life, and a stream in memory has */
    AFUC_DEEP = 60,    /* words that wait in $memdata or $regdata */
    AFUC_WINDOW = 32,  /* registers of the chip in a window, without effects */
    AFUC_MEMORY = 64,  /* dwords of memory */
    AFUC_CONTROL = 64, /* scratch registers of the processor */
    AFUC_WRITES = 512, /* that are kept in order */
};

#define AFUC_MEMORY_AT UINT64_C(0x100000f00)
/* A stream for indirect buffers. */
#define AFUC_STREAM_AT UINT64_C(0x100010000)

struct afuc_queue {
    uint32_t word[AFUC_QUEUE];
    unsigned head, tail;
};

/* A write to a register of the chip. */
struct afuc_write {
    uint32_t at, value;
};

struct afuc_model {
    enum afuc_kind kind;
    const uint32_t *image;
    uint32_t r[32];    /* 29 and 30: what $addr and $usraddr select */
    unsigned selected; /* 29 or 30, 0: neither was written yet */
    uint32_t pc, npc;
    uint32_t carry, borrow;
    uint32_t sp, stack[8], preempt;
    uint32_t scratch[AFUC_CONTROL];
    uint32_t hi, peek, pending;
    uint32_t table_at, table[128];
    uint32_t write_at, written, wrap; /* REG_WRITE_ADDR, writes since, the address then */
    uint32_t read_dwords, fetch_lo, fetch_hi, nrt_lo, nrt_hi, me_read[2];
    uint32_t level, ib_lo, ib_hi;
    struct afuc_queue data, ib, memdata, regdata, meq; /* meq: what a PFP sends */
    uint32_t reg[2][AFUC_WINDOW];
    uint32_t memory[AFUC_MEMORY];
    uint32_t stream[AFUC_QUEUE]; /* in memory */
    struct afuc_write wrote[AFUC_WRITES];
    unsigned writes;
    bool popped;      /* this iteration has taken a word of $data */
    const char *stop; /* why it does not go on: the document that leaves it open */
};

/* Where the windows of registers begin; the second one is 0 where there is none. */
uint32_t afuc_window(enum afuc_kind kind, unsigned which);
/* Where scratch registers begin. */
uint32_t afuc_scratch(enum afuc_kind kind);
/* Numbers of control registers with an effect, for who makes programs; 0: there is none. */
enum afuc_name {
    AFUC_REG_WRITE_ADDR,
    AFUC_REG_WRITE,
    AFUC_REG_READ_DWORDS,
    AFUC_REG_READ_ADDR,
    AFUC_MEM_READ_LO,
    AFUC_MEM_READ_HI,
    AFUC_MEM_READ_DWORDS,
    AFUC_TABLE_ADDR,
    AFUC_TABLE,
    AFUC_HI,
    AFUC_PEEK,
    AFUC_IB_LO,
    AFUC_IB_HI,
    AFUC_IB_DWORDS,
    AFUC_LEVEL,
    AFUC_WFI_INCR,
    AFUC_WFI_CTR,
    AFUC_NAMES,
};
uint32_t afuc_number(enum afuc_kind kind, enum afuc_name name);
const char *afuc_kind_name(enum afuc_kind kind);
/* 5 to 8. */
unsigned afuc_generation(enum afuc_kind kind);

/* An instruction, or an iteration of a (rep). Where `stop` is set nothing has happened. */
void afuc_model_tick(struct afuc_model *model);

#endif
