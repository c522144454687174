/* SPDX-License-Identifier: MIT
 * Random programs of afuc. A word is chosen when the model comes to it: what the model refuses,
 * because documents leave it open, is thrown away, and another one tried. So every word of a
 * program is executed, with operands that mean something.
 *
 * Never made, because no document says what a processor alone does there: iret outside of the
 * preemption routine, draw states, other processors. */
#include "tests/model/afuc_program.h"

#include <string.h>

#define TRIES       30u
#define LONGEST     160u        /* ticks of a program */
#define LONGEST_ONE 60u         /* of an instruction with (rep) */
#define SLOT        0x981f0806u /* mov $01, $data */

typedef uint32_t u32;
typedef struct afuc_program *prog;

/* ---- words ---- */

static unsigned gen(prog p)
{
    return afuc_generation(p->kind);
}

/* A source: queues now and then. */
static u32 source(prog p)
{
    if (afuc_one_in(p, 5))
        return afuc_one_in(p, 3) ? 29 + afuc_below(p, 2) : 31;
    return afuc_one_in(p, 8) ? 28 : afuc_below(p, 28);
}

static u32 destination(prog p)
{
    if (afuc_one_in(p, 5))
        return 31;
    return afuc_one_in(p, 12) ? 28 + afuc_below(p, 3) : afuc_below(p, 28);
}

/* (rep), more often where it does something. */
static u32 repeat(prog p, const struct afuc_model *m)
{
    return (u32)afuc_one_in(p, m->r[28] && m->r[28] < 40 ? 3 : 20) << 26;
}

static u32 alu_registers(prog p, const struct afuc_model *m)
{
    static const u32 g5[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20};
    static const u32 g6[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20};
    static const u32 g7[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 18, 19, 20, 21, 22, 25, 28};
    u32 op = gen(p) == 5   ? g5[afuc_below(p, 17)]
             : gen(p) == 6 ? g6[afuc_below(p, 18)]
                           : g7[afuc_below(p, gen(p) == 8 ? 20 : 19)];
    u32 word = 0x13u << 27 | repeat(p, m) | source(p) << 21 | source(p) << 16 | op;
    word |= destination(p) << 11 | afuc_below(p, 8) << 5;
    if (afuc_one_in(p, 6))
        word = (word & ~0x03e0001fu) | 6; /* a move */
    if (afuc_one_in(p, 3))
        word |= 31u << 16;
    if (afuc_one_in(p, 3))
        word |= (1 + afuc_below(p, 3)) << 9;
    if (afuc_one_in(p, 5))
        word |= 1u << 8;
    return word;
}

static u32 immediate(prog p)
{
    return afuc_one_in(p, 2) ? afuc_value(p) & 0xffff : afuc_below(p, 40);
}

static u32 alu_immediate(prog p, const struct afuc_model *m)
{
    u32 op = 1 + afuc_below(p, gen(p) < 7 ? 16 : 13);
    return op << 27 | repeat(p, m) | source(p) << 21 | destination(p) << 16 | immediate(p);
}

static u32 alu_small(prog p, const struct afuc_model *m)
{
    u32 word = 0x12u << 27 | repeat(p, m) | source(p) << 21 | destination(p) << 16;
    u32 sub = 2 + afuc_below(p, 7);
    word |= afuc_random(p) & 0xfff; /* E and F: what is not a field is ignored */
    if (gen(p) < 7)
        return word | afuc_below(p, 16) << 12;
    return (sub < 6 ? word & ~0xfe0u : word) | sub << 12; /* shifts by less than 32 */
}

static u32 move(prog p, u32 dst, u32 value, u32 shift)
{
    return (gen(p) < 7 ? 0x11u : 0x0eu) << 27 | shift << 21 | dst << 16 | value;
}

static u32 move_immediate(prog p, const struct afuc_model *m)
{
    return move(p, destination(p), immediate(p), afuc_one_in(p, 3) ? 0 : afuc_below(p, 32)) |
           repeat(p, m);
}

/* A register from which a number can be reached with the 12 bits that there are. */
static u32 offset_for(prog p, const struct afuc_model *m, u32 number, u32 *base)
{
    u32 reg = afuc_below(p, 29);
    for (u32 i = 0; i < 29; i++, reg = (reg + 1) % 29) {
        *base = number - (reg ? m->r[reg] : 0);
        if (*base <= 0xfff)
            return reg;
    }
    return 0;
}

/* Layout H, of which the operation stands in `top` and bit 15. */
static u32 access_word(prog p, const struct afuc_model *m, u32 top, u32 number)
{
    u32 base, reg = offset_for(p, m, number, &base);
    bool source_data = top == (gen(p) == 5 ? 0x15u << 27 | 0x8000 : 0x15u << 27);
    u32 data = top >> 27 >= 22 ? destination(p) : source(p);
    u32 word = top | reg << 21 | data << 16 | (base & 0xfff) | (u32)afuc_one_in(p, 3) << 14;
    if (source_data && afuc_one_in(p, 3))
        word |= (1 + afuc_below(p, 3)) << 12;
    return word | repeat(p, m);
}

static u32 control_word(prog p, bool write)
{
    if (gen(p) == 5)
        return (write ? 0x15u : 0x16u) << 27 | 0x8000;
    return (write ? 0x15u : 0x17u) << 27;
}

static u32 control_access(prog p, const struct afuc_model *m)
{
    u32 number = afuc_scratch(p->kind) + afuc_below(p, AFUC_CONTROL);
    if (afuc_one_in(p, 4))
        number = afuc_number(p->kind, (enum afuc_name)afuc_below(p, AFUC_NAMES));
    return access_word(p, m, control_word(p, afuc_one_in(p, 2)), number);
}

static u32 sqe_access(prog p, const struct afuc_model *m)
{
    u32 top =
        gen(p) == 5 ? control_word(p, false) : (afuc_one_in(p, 2) ? 0x15u : 0x17u) << 27 | 0x8000;
    u32 number = afuc_one_in(p, 2) ? 4 + afuc_below(p, 2) : 8 + afuc_below(p, 8);
    return access_word(p, m, top, number);
}

static u32 memory_access(prog p, const struct afuc_model *m)
{
    u32 top = afuc_one_in(p, 2) ? 0x16u << 27 : gen(p) == 5 ? 0x15u << 27 : 0x14u << 27;
    u32 number = (u32)AFUC_MEMORY_AT + 4 * afuc_below(p, AFUC_MEMORY);
    return access_word(p, m, top, number) | (u32)(gen(p) >= 7 && afuc_one_in(p, 3)) << 15;
}

/* Near ahead, far ahead, or back. */
static u32 random_target(prog p, const struct afuc_model *m)
{
    u32 kind = afuc_below(p, 8);
    if (kind == 0)
        return m->pc - afuc_below(p, m->pc < 12 ? m->pc + 1 : 12);
    return m->pc + (kind == 1 ? afuc_below(p, 60) : afuc_below(p, 9));
}

static u32 branch(prog p, const struct afuc_model *m)
{
    u32 reg = afuc_one_in(p, 4) ? 0 : source(p), bit = afuc_below(p, 32);
    if (reg && reg < 29 && afuc_one_in(p, 2))
        bit = m->r[reg] & 31;
    return (0x30 + afuc_below(p, 4)) << 26 | reg << 21 | bit << 16 |
           ((random_target(p, m) - m->pc) & 0xffff);
}

static u32 jump(prog p, const struct afuc_model *m)
{
    static const u32 g5[] = {0x34, 0x34, 0x35, 0x37, 0x38, 0x39}, g6[] = {0x34, 0x35, 0x37};
    u32 op = gen(p) == 6 ? g6[afuc_below(p, 3)] : g5[afuc_below(p, 6)];
    u32 target = random_target(p, m), reg = afuc_below(p, 29);
    if (op == 0x34)
        return op << 26 | (afuc_random(p) & 0x1ffffff);
    if (op != 0x37)
        return op << 26 | (target & 0x3ffffff);
    for (u32 i = 0; i < 29 && (m->r[reg] >= AFUC_IMAGE || !reg); i++)
        reg = (reg + 1) % 29;
    if (gen(p) == 5)
        return 0xdc400000;
    if (gen(p) == 6 || afuc_one_in(p, 3))
        return 0x37u << 26 | reg << 21;
    return afuc_one_in(p, 4) ? 0xdf600000u
                             : 0xdf700000u | reg; /* sret, or jump $reg; see branch() */
}

static u32 nop(prog p, const struct afuc_model *m)
{
    u32 head = gen(p) == 5 ? 0 : 1u << 24;
    return repeat(p, m) ? head | 1u << 26 : head | (afuc_random(p) & 0xffffff);
}

/* ---- several words that belong together ---- */

struct words {
    u32 word[8];
    unsigned count;
};

static void add(struct words *w, u32 word)
{
    w->word[w->count++] = word;
}

/* A number that 16 bits hold, or a multiple of 16, to a control register. */
static void give(prog p, struct words *w, enum afuc_name name, u32 value)
{
    u32 reg = 1 + afuc_below(p, 27);
    add(w, value > 0xffff ? move(p, reg, value >> 4, 4) : move(p, reg, value, 0));
    add(w, control_word(p, true) | reg << 16 | afuc_number(p->kind, name));
}

static u32 window(prog p)
{
    u32 base = afuc_window(p->kind, afuc_one_in(p, 3));
    return (base ? base : afuc_window(p->kind, 0)) + afuc_below(p, AFUC_WINDOW / 2);
}

static u32 anywhere(prog p)
{
    return (u32)AFUC_MEMORY_AT + 4 * afuc_below(p, AFUC_MEMORY / 2);
}

static void some_rem(prog p, struct words *w)
{
    add(w, move(p, 28, afuc_below(p, afuc_one_in(p, 4) ? 20 : 6), 0));
}

/* Many words to registers, or to nowhere, in one instruction. */
static void copy(prog p, struct words *w)
{
    static const u32 to[] = {0, 30, 31, 31};
    u32 dst = to[afuc_below(p, p->kind == AFUC_PFP ? 1 : 4)];
    add(w, move(p, 28, afuc_below(p, 20), 0));
    add(w, 0x9c1f0006 | dst << 11 | afuc_below(p, 4) << 9);
    if (dst == 30 && afuc_one_in(p, 3)) /* a register bunch of a7xx */
        w->word[1] = 0x9fe00606 | (1 + afuc_below(p, 27)) << 16 | dst << 11;
}

/* What all images do with a packet of type 4. */
static void type4(prog p, struct words *w)
{
    u32 shift = gen(p) < 7 ? 10u << 27 | 8 : 18u << 27 | 0x3008;
    if (p->kind == AFUC_PFP)
        return;
    add(w, shift | 1u << 21 | 30u << 16);
    add(w, 0x9c1ff806 | afuc_below(p, 3) << 9);
    add(w, 0x36u << 26);
    add(w, SLOT);
}

/* $addr or $usraddr: a register, perhaps one that stays. */
static void selection(prog p, struct words *w)
{
    u32 offset = window(p) & ~15u, dst = 29 + afuc_below(p, 2);
    if (p->kind == AFUC_ME && afuc_one_in(p, 3)) { /* to read; MACHINE 1.3 */
        u32 count = 1 + afuc_below(p, 6);
        add(w, move(p, 29, 0xe100, 16));
        add(w, move(p, 31, count, 0));
        add(w, move(p, dst, (offset | 1u << 20) >> 8, 8));
        return;
    }
    if (afuc_one_in(p, 3))
        offset |= 1u << 18;
    if (dst == 30 && afuc_one_in(p, 3))
        offset |= 1u << (afuc_one_in(p, 2) ? 19 : 22);
    add(w, offset >> 4 > 0xffff ? move(p, dst, offset >> 8, 8) : move(p, dst, offset >> 4, 4));
}

/* Where NRT writes go. */
static void nrt(prog p, struct words *w)
{
    u32 stays = afuc_one_in(p, 3), reg = 1 + afuc_below(p, 27);
    add(w, p->kind == AFUC_ME ? move(p, 29, 0x810, 0) : move(p, 29, 0xa000, 16));
    add(w, move(p, 31, anywhere(p) | stays, 0));
    add(w, move(p, 31, 1, 0));
    if (p->kind != AFUC_ME) {
        add(w, move(p, 29, 0xa204, 16));
        return;
    }
    add(w, move(p, reg, 4, 16));
    add(w, 6u << 27 | reg << 21 | 29u << 16 | 0x812);
}

static void memory_read(prog p, struct words *w)
{
    u32 count = afuc_below(p, 9);
    if (p->kind == AFUC_ME) {
        add(w, move(p, 29, 0x80d, 0));
        add(w, move(p, 31, anywhere(p), 0));
        add(w, move(p, 31, 1, 0));
        add(w, move(p, 31, count, 0));
        return;
    }
    give(p, w, AFUC_MEM_READ_LO, anywhere(p));
    give(p, w, AFUC_MEM_READ_HI, 1);
    give(p, w, AFUC_MEM_READ_DWORDS, count);
}

static void register_read(prog p, const struct afuc_model *m, struct words *w)
{
    if (!m->read_dwords || afuc_one_in(p, 2))
        give(p, w, AFUC_REG_READ_DWORDS, 1 + afuc_below(p, 9));
    give(p, w, AFUC_REG_READ_ADDR, window(p) & ~15u);
}

static void register_write(prog p, struct words *w)
{
    u32 number = control_word(p, true) | afuc_number(p->kind, AFUC_REG_WRITE);
    u32 wrap = afuc_one_in(p, 2) ? 0 : afuc_below(p, 4), reg = 1 + afuc_below(p, 27);
    u32 offset = window(p);
    add(w, move(p, reg, wrap << 4 | offset >> 16, 16));
    add(w, 6u << 27 | reg << 21 | reg << 16 | (offset & 0xffff));
    add(w, control_word(p, true) | reg << 16 | afuc_number(p->kind, AFUC_REG_WRITE_ADDR));
    for (u32 i = afuc_below(p, 5); i < 5; i++)
        add(w, number | source(p) << 16);
}

static void peek_switch(prog p, const struct afuc_model *m, struct words *w)
{
    give(p, w, AFUC_PEEK, 7);
    for (u32 i = afuc_below(p, 3); i < 3; i++)
        add(w, 0x13u << 27 | repeat(p, m) | 31u << 16 | afuc_below(p, 28) << 11 | 6);
    add(w, control_word(p, true) | afuc_number(p->kind, AFUC_PEEK));
}

static void counter(prog p, struct words *w)
{
    add(w, control_word(p, true) | source(p) << 16 | afuc_number(p->kind, AFUC_WFI_INCR));
    if (afuc_one_in(p, 2))
        add(w, move(p, 29, 0x8100, 16));
    add(w, control_word(p, false) | destination(p) << 16 | afuc_number(p->kind, AFUC_WFI_CTR));
}

/* 64 bits: a lower half, something between, the upper half. */
static void wide(prog p, const struct afuc_model *m, struct words *w)
{
    u32 op = afuc_one_in(p, 2) ? 1 : 3, operands = 0x13u << 27 | afuc_below(p, 28) << 11;
    add(w, operands | afuc_below(p, 28) << 21 | afuc_below(p, 28) << 16 | op);
    if (afuc_one_in(p, 2))
        add(w, afuc_one_in(p, 2) ? control_access(p, m) : move(p, afuc_below(p, 28), 5, 0));
    operands = 0x13u << 27 | afuc_below(p, 28) << 11;
    add(w, operands | afuc_below(p, 28) << 21 | afuc_below(p, 28) << 16 | (op + 1));
}

static void secure(prog p, struct words *w)
{
    add(w, move(p, 2, afuc_below(p, 4), 0));
    add(w, 0x3bu << 26);
}

/* Which of them a processor has is a question of its numbers. */
static void several(prog p, const struct afuc_model *m, struct words *w)
{
    bool numbers = p->kind != AFUC_ME;
    switch (afuc_below(p, 13)) {
    case 0:
        some_rem(p, w);
        break;
    case 1:
        selection(p, w);
        break;
    case 2:
        nrt(p, w);
        break;
    case 3:
        memory_read(p, w);
        break;
    case 4:
        if (numbers)
            register_read(p, m, w);
        break;
    case 5:
        if (numbers)
            register_write(p, w);
        break;
    case 6:
        if (afuc_number(p->kind, AFUC_PEEK))
            peek_switch(p, m, w);
        break;
    case 7:
        if (numbers)
            counter(p, w);
        break;
    case 8:
    case 9:
        copy(p, w);
        break;
    case 10:
        type4(p, w);
        break;
    case 11:
        wide(p, m, w);
        break;
    default:
        secure(p, w);
        break;
    }
}

static u32 (*const one[])(prog, const struct afuc_model *) = {
    alu_registers,  alu_registers,  alu_registers, alu_registers, alu_immediate, alu_immediate,
    alu_small,      move_immediate, nop,           sqe_access,    memory_access, control_access,
    control_access, branch,         branch,        branch,        jump};
enum { ONES = sizeof(one) / sizeof(*one), SEVERAL = ONES + 6 };

/* One instruction, or some; behind a branch one more as often as not. */
static void invent(prog p, const struct afuc_model *m, struct words *w)
{
    u32 kind = afuc_below(p, SEVERAL + 1);
    if (m->pc && p->image[m->pc - 1] >> 27 >= 24 && afuc_one_in(p, 3))
        kind = ONES - 4 + afuc_below(p, 4);
    w->count = 0;
    if (kind == SEVERAL) {
        add(w, 0x36u << 26 | (afuc_random(p) & 0x3ffffff));
        add(w, SLOT);
    } else if (kind >= ONES) {
        several(p, m, w);
    } else {
        add(w, one[kind](p, m));
    }
}

/* ---- programs ---- */

/* Puts words where nothing stands yet. */
static bool put(prog p, u32 at, const struct words *w)
{
    for (unsigned i = 0; i < w->count; i++)
        if (at + i >= AFUC_IMAGE || p->made[at + i])
            return false;
    memcpy(p->image + at, w->word, w->count * sizeof(*w->word));
    return w->count;
}

/* Whether the model goes through so many instructions, with all their iterations. */
static bool goes(const struct afuc_model *m, unsigned count)
{
    struct afuc_model trial = *m;
    unsigned ticks = 0;
    for (unsigned i = 0; i < count; i++) {
        u32 pc = trial.pc, npc = trial.npc;
        do
            afuc_model_tick(&trial);
        while (!trial.stop && trial.pc == pc && trial.npc == npc && ++ticks < LONGEST_ONE);
    }
    return !trial.stop && ticks < LONGEST_ONE;
}

static void choose(prog p, const struct afuc_model *m)
{
    struct words w;
    u32 at = m->pc;
    for (unsigned i = 0; i < TRIES; i++) {
        invent(p, m, &w);
        if (w.count > 1 && m->npc != at + 1)
            continue;
        if (!put(p, at, &w))
            continue;
        if (goes(m, w.count)) {
            for (unsigned k = 0; k < w.count; k++)
                p->made[at + k] = true;
            return;
        }
    }
    p->image[at] = gen(p) == 5 ? 0 : 1u << 24;
    p->made[at] = true;
}

/* Enters an indirect buffer, which has so many words; takes a table from it, or from the ring. */
static void begin_image(prog p, u32 dwords, bool table)
{
    struct words w = {.count = 0};
    u32 at = 2;
    for (unsigned i = 0; i < AFUC_IMAGE; i++)
        p->image[i] = gen(p) == 5 ? 0 : 1u << 24;
    memset(p->made, 0, sizeof(p->made));
    p->image[0] = gen(p) == 5 ? 0x005ff001 : gen(p) == 6 ? 0x016ee001 : 0x01740001;
    if (dwords) {
        add(&w, move(p, 2, (u32)AFUC_STREAM_AT >> 4, 4));
        add(&w, move(p, 3, AFUC_STREAM_AT >> 32, 0));
        add(&w, move(p, 4, dwords, 0));
        for (u32 i = 0; i < 3; i++)
            add(&w, control_word(p, true) | (2 + i) << 16 | afuc_number(p->kind, AFUC_IB_LO + i));
        add(&w, control_word(p, true) | 3u << 16 | afuc_number(p->kind, AFUC_LEVEL));
        put(p, at, &w);
        at += w.count;
    }
    w.count = 0;
    if (table) {
        add(&w, control_word(p, true) | afuc_number(p->kind, AFUC_TABLE_ADDR));
        add(&w, move(p, 28, 128, 0));
        add(&w, control_word(p, true) | 31u << 16 | 1u << 26 | afuc_number(p->kind, AFUC_TABLE));
        if (afuc_one_in(p, 2)) {
            add(&w, 0x36u << 26);
            add(&w, SLOT);
        }
        put(p, at, &w);
        at += w.count;
    }
    for (u32 i = 0; i < at; i++)
        p->made[i] = true;
    w.count = 0;
    type4(p, &w);
    if (table && put(p, AFUC_TYPE4, &w))
        for (u32 i = 0; i < w.count; i++)
            p->made[AFUC_TYPE4 + i] = true;
}

static void begin(prog p)
{
    struct afuc_model *m = &p->begin;
    bool table = afuc_one_in(p, 3), stream = p->kind != AFUC_ME && afuc_one_in(p, 2);
    *m = (struct afuc_model){.kind = p->kind, .image = p->image, .npc = 1, .hi = 1};
    for (unsigned i = 1; i < 29; i++)
        m->r[i] = afuc_value(p);
    m->r[28] = afuc_below(p, 9);
    for (unsigned i = 0; i < AFUC_CONTROL; i++)
        m->scratch[i] = afuc_value(p);
    for (unsigned i = 0; i < 2 * AFUC_WINDOW; i++)
        m->reg[i / AFUC_WINDOW][i % AFUC_WINDOW] = afuc_value(p);
    for (unsigned i = 0; i < AFUC_MEMORY; i++)
        m->memory[i] = afuc_value(p);
    for (unsigned i = 0; i < 128; i++)
        m->table[i] = AFUC_IMAGE; /* nobody says what it is before it is loaded */
    m->data.tail = afuc_stream_make(p, m->data.word, table && !stream);
    begin_image(p, stream ? afuc_stream_make(p, m->stream, table) : 0, table);
    p->head = table ? 130 + (stream ? 7 : 0) : 7;
}

void afuc_program_make(prog p, enum afuc_kind kind, uint64_t seed)
{
    struct afuc_model m;
    unsigned most;
    p->kind = kind;
    p->seed = seed;
    p->random = seed * 16 + kind;
    begin(p);
    m = p->begin;
    most = 30 + afuc_below(p, LONGEST) + p->head;
    for (p->ticks = 0; p->ticks < most && !m.stop; p->ticks++) {
        if (!p->made[m.pc])
            choose(p, &m);
        afuc_model_tick(&m);
    }
    p->ticks -= m.stop ? 1 : 0;
    p->stop = m.stop;
}
