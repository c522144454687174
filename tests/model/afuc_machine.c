/* SPDX-License-Identifier: MIT
 * What stands around the naive model's instructions: queues, registers, memory, as afuc-machine.md
 * (MACHINE) and afuc-isa.md (ISA) have them. */
#include "tests/model/afuc_parts.h"

u32 afuc_bits(u32 word, int low, int count)
{
    u32 result = 0;
    for (int i = 0; i < count; i++)
        if (word & ((u32)1 << (low + i)))
            result |= (u32)1 << i;
    return result;
}

void afuc_open(struct afuc_model *m, const char *why)
{
    if (!m->stop)
        m->stop = why;
}

const char *afuc_kind_name(enum afuc_kind kind)
{
    static const char *const name[AFUC_KINDS] = {"a5xx PFP", "a5xx ME", "a6xx",
                                                 "a7xx",     "a750",    "a8xx"};
    return name[kind];
}

unsigned afuc_generation(enum afuc_kind kind)
{
    if (kind == AFUC_PFP || kind == AFUC_ME)
        return 5;
    return kind == AFUC_A6XX ? 6 : kind == AFUC_A8XX ? 8 : 7;
}

/* MACHINE 2.1, 2.2; of a8xx chips.md: as a750. */
u32 afuc_number(enum afuc_kind kind, enum afuc_name name)
{
    static const u32 pfp[AFUC_NAMES] = {0x10, 0x11, 0x12, 0x13, 0xb8, 0xb9, 0xba, 0x33, 0x34,
                                        0x38, 0x35, 0xb0, 0xb1, 0xb2, 0x31, 0x18, 0x08};
    static const u32 me[AFUC_NAMES] = {0, 0, 0, 0, 0, 0, 0, 0x33, 0x34, 0x38};
    static const u32 a6[AFUC_NAMES] = {0x24, 0x25, 0x26, 0x27, 0x18, 0x19, 0x1a, 0x60, 0x61,
                                       0x58, 0x55, 0x10, 0x11, 0x12, 0x54, 0x30, 0x38};
    static const u32 a7[AFUC_NAMES] = {0x36, 0x37, 0x38, 0x39, 0x1c, 0x1d, 0x1e, 0x60, 0x61,
                                       0x58, 0,    0x10, 0x11, 0x12, 0x54, 0x30, 0x3e};
    static const u32 gen3[AFUC_NAMES] = {0x18, 0x19, 0x1a, 0x1b, 0x2c, 0x2d, 0x2e, 0x70, 0x71,
                                         0x7a, 0,    0x20, 0x21, 0x22, 0x3d, 0xb0, 0xb2};
    const u32 *row = kind == AFUC_PFP ? pfp : kind == AFUC_ME ? me : kind == AFUC_A6XX ? a6 : a7;
    return (kind == AFUC_GEN3 || kind == AFUC_A8XX ? gen3 : row)[name];
}

u32 afuc_scratch(enum afuc_kind kind)
{
    if (afuc_generation(kind) == 5)
        return 0x40;
    return kind == AFUC_A6XX ? 0x140 : kind == AFUC_A7XX ? 0x1a8 : 0x5c0;
}

u32 afuc_window(enum afuc_kind kind, unsigned which)
{
    if (afuc_generation(kind) == 5)
        return which ? 0 : 0xe00;
    return which ? 0x15000 : 0x8800;
}

/* ---- queues ---- */

u32 afuc_take(struct afuc_model *m, struct afuc_queue *q)
{
    if (q->head == q->tail)
        RET_OPEN(m, "waits: the queue is empty");
    return q->word[q->head++];
}

static void push(struct afuc_model *m, struct afuc_queue *q, u32 word)
{
    if ((q == &m->memdata || q == &m->regdata) && q->tail - q->head == AFUC_DEEP)
        afuc_open(m, "MACHINE 1.2, 1.3: how many words wait unread");
    if (q->tail == AFUC_QUEUE)
        afuc_open(m, "the model's queue is full");
    else
        q->word[q->tail++] = word;
}

/* ---- registers of the chip, memory ---- */

static u32 *chip_register(struct afuc_model *m, u32 offset)
{
    for (unsigned which = 0; which < 2; which++) {
        u32 base = afuc_window(m->kind, which);
        if (base && offset >= base && offset < base + AFUC_WINDOW)
            return &m->reg[which][offset - base];
    }
    RET_OPEN(m, "a register that may have an effect");
}

u32 *afuc_memory(struct afuc_model *m, u32 hi, u32 lo)
{
    uint64_t at = (uint64_t)hi << 32 | lo;
    if (at % 4 || at < AFUC_MEMORY_AT || at >= AFUC_MEMORY_AT + 4 * AFUC_MEMORY)
        RET_OPEN(m, "memory that is not there");
    return &m->memory[(at - AFUC_MEMORY_AT) / 4];
}

/* MACHINE 1.2: words appear in order, behind those that are there. */
static void fetch_memory(struct afuc_model *m, u32 dwords)
{
    if (dwords > AFUC_MEMORY)
        afuc_open(m, "memory that is not there");
    for (u32 i = 0; i < dwords && !m->stop; i++) {
        const u32 *at = afuc_memory(m, m->fetch_hi, m->fetch_lo + 4 * i);
        push(m, &m->memdata, at ? *at : 0);
    }
}

/* MACHINE 1.3: consecutive registers; the count falls back to 1. */
static void fetch_registers(struct afuc_model *m, u32 offset)
{
    if (m->read_dwords < 1 || m->read_dwords > AFUC_WINDOW)
        afuc_open(m, "MACHINE 1.3 does not say what a count of 0 is");
    for (u32 i = 0; i < m->read_dwords && !m->stop; i++) {
        const u32 *at = chip_register(m, offset + i);
        push(m, &m->regdata, at ? *at : 0);
    }
    m->read_dwords = 1;
}

/* MACHINE 1.4: the low bits are a flag, 1 stays where it is; 2 and 3 are open. */
static void nrt_store(struct afuc_model *m, u32 value)
{
    u32 *at = afuc_memory(m, m->nrt_hi, m->nrt_lo - m->nrt_lo % 4);
    if (m->nrt_lo % 4 > 1)
        afuc_open(m, "MACHINE 1.4 knows 0 and 1 as flags of the NRT address");
    if (at)
        *at = value;
    if (m->nrt_lo % 4 == 0)
        m->nrt_lo += 4;
}

/* MACHINE 1.1: the last of the three queues a fetch; its words end with a mark. Who makes programs
 * queues one. */
static void fetch_stream(struct afuc_model *m, u32 dwords)
{
    bool there = ((uint64_t)m->ib_hi << 32 | m->ib_lo) == AFUC_STREAM_AT;
    if (!there || !dwords || dwords >= AFUC_QUEUE || m->ib.tail)
        afuc_open(m, "a stream that is not there");
    for (u32 i = 0; i < dwords && !m->stop; i++)
        push(m, &m->ib, m->stream[i]);
    push(m, &m->ib, 0x708a8000);
}

static void write_chip(struct afuc_model *m, u32 offset, u32 value)
{
    u32 *at;
    if (m->writes == AFUC_WRITES) {
        afuc_open(m, "the model's list of writes is full");
        return;
    }
    if (m->kind == AFUC_ME && offset >= 0x80d && offset <= 0x812 && offset != 0x80f) {
        if (offset == 0x80d || offset == 0x80e)
            *(offset == 0x80d ? &m->fetch_lo : &m->fetch_hi) = value;
        else if (offset == 0x812)
            nrt_store(m, value);
        else
            *(offset == 0x810 ? &m->nrt_lo : &m->nrt_hi) = value;
    } else if (m->kind == AFUC_ME && offset == 0x80f) {
        fetch_memory(m, value);
    } else {
        at = chip_register(m, offset);
        if (at)
            *at = value;
        m->wrote[m->writes++] = (struct afuc_write){offset, value};
    }
}

/* MACHINE 4, ISA 6. Numbers that are void have happened when $addr was written. */
static void write_pipe(struct afuc_model *m, u32 number, u32 value)
{
    if (afuc_generation(m->kind) >= 6 && number == 0xa0)
        m->nrt_lo = value;
    else if (afuc_generation(m->kind) >= 6 && number == 0xa1)
        m->nrt_hi = value;
    else if (afuc_generation(m->kind) >= 6 && number == 0xa2)
        nrt_store(m, value);
    else if (m->kind == AFUC_ME && number == 0xe1)
        m->read_dwords = value;
    else
        afuc_open(m, "a pipe register that may have an effect");
}

/* ISA 6: a word for what was selected last. Of a5xx PFP: for the ME. */
static void write_data(struct afuc_model *m, u32 value)
{
    u32 *address = &m->r[m->selected];
    if (m->kind == AFUC_PFP) {
        push(m, &m->meq, value);
    } else if (!m->selected) {
        afuc_open(m, "$data, and nothing is selected");
    } else if (*address >> 24) {
        u32 number = *address >> 24;
        if (!afuc_bits(*address, 18, 1))
            *address += 1u << 24;
        write_pipe(m, number, value);
    } else {
        u32 offset = afuc_bits(*address, 0, 18);
        if (afuc_bits(*address, 20, 4) && !(m->selected == 30 && afuc_bits(*address, 20, 4) == 4))
            afuc_open(m, "ISA 6: $data behind a selector that is no write");
        if (!afuc_bits(*address, 18, 1))
            *address += 1;
        write_chip(m, offset, value);
    }
}

static void select_address(struct afuc_model *m, u32 number, u32 value)
{
    if (m->kind == AFUC_PFP)
        afuc_open(m, "MACHINE 1.5: PFP writes through control registers alone");
    if (value >> 24 && (number == 30 || afuc_bits(value, 0, 18) || afuc_bits(value, 19, 5)))
        afuc_open(m, "ISA 6: bits beside the number of a pipe register");
    if (!(value >> 24) && number == 29 && afuc_bits(value, 19, 5) &&
        !(m->kind == AFUC_ME && afuc_bits(value, 19, 5) == 2))
        afuc_open(m, "ISA 6: bits of $addr without a meaning");
    /* Bits 19 and 22 are the parity and the type of a header, and ignored. */
    if (!(value >> 24) && number == 30 && afuc_bits(value, 20, 4) & ~4u &&
        !(m->kind == AFUC_ME && afuc_bits(value, 19, 5) == 2))
        afuc_open(m, "ISA 6: bits of $usraddr that ask or have no meaning");
    m->selected = number;
    m->r[number] = value;
    if (value >> 24 == 0x81 && afuc_generation(m->kind) >= 6) {
        if (!m->pending)
            afuc_open(m, "a counter below 0");
        m->pending--;
    } else if (m->kind == AFUC_ME && !(value >> 24) && afuc_bits(value, 20, 1)) {
        fetch_registers(m, afuc_bits(value, 0, 18));
    }
}

/* ---- control registers, SQE registers ---- */

void afuc_control_write(struct afuc_model *m, u32 number, u32 value)
{
    enum afuc_name name = 0;
    if (number >= afuc_scratch(m->kind) && number < afuc_scratch(m->kind) + AFUC_CONTROL) {
        m->scratch[number - afuc_scratch(m->kind)] = value;
        return;
    }
    while (name < AFUC_NAMES && (!number || afuc_number(m->kind, name) != number))
        name++;
    switch (name) {
    case AFUC_REG_WRITE_ADDR:
        m->write_at = m->wrap = value;
        m->written = 0;
        if (afuc_bits(value, 18, 2) || value >> 23)
            afuc_open(m, "ISA 6: bits of REG_WRITE_ADDR without a meaning");
        break;
    case AFUC_REG_WRITE:
        write_chip(m, afuc_bits(m->write_at, 0, 18), value);
        m->write_at = (m->write_at & 0xffff0000) | ((m->write_at + 1) & 0xffff);
        if (afuc_bits(m->wrap, 20, 3) && ++m->written % afuc_bits(m->wrap, 20, 3) == 0)
            m->write_at = m->wrap;
        break;
    case AFUC_REG_READ_DWORDS:
        m->read_dwords = value;
        break;
    case AFUC_REG_READ_ADDR:
        fetch_registers(m, value);
        break;
    case AFUC_MEM_READ_LO:
        m->fetch_lo = value;
        break;
    case AFUC_MEM_READ_HI:
        m->fetch_hi = value;
        break;
    case AFUC_MEM_READ_DWORDS:
        fetch_memory(m, value);
        break;
    case AFUC_TABLE_ADDR:
        m->table_at = value;
        break;
    case AFUC_TABLE:
        if (m->table_at >= 128)
            afuc_open(m, "ISA 5: the packet table has 128 entries");
        else
            m->table[m->table_at++] = value;
        break;
    case AFUC_HI:
        m->hi = value;
        break;
    case AFUC_PEEK:
        m->peek = value;
        if (value && value != 7)
            afuc_open(m, "ISA 4: the peek switch is 7 or 0");
        break;
    case AFUC_IB_LO:
        m->ib_lo = value;
        break;
    case AFUC_IB_HI:
        m->ib_hi = value;
        break;
    case AFUC_IB_DWORDS:
        fetch_stream(m, value);
        break;
    case AFUC_LEVEL:
        m->level = value;
        if (value > 1)
            afuc_open(m, "a level whose stream is not there");
        break;
    case AFUC_WFI_INCR:
        m->pending++;
        break;
    default:
        afuc_open(m, "a control register that may have an effect");
        break;
    }
}

u32 afuc_control_read(struct afuc_model *m, u32 number)
{
    if (number >= afuc_scratch(m->kind) && number < afuc_scratch(m->kind) + AFUC_CONTROL)
        return m->scratch[number - afuc_scratch(m->kind)];
    if (number && number == afuc_number(m->kind, AFUC_REG_WRITE_ADDR))
        return m->write_at;
    if (number && number == afuc_number(m->kind, AFUC_HI))
        return m->hi;
    if (number && number == afuc_number(m->kind, AFUC_WFI_CTR) && m->kind != AFUC_PFP)
        return m->pending;
    RET_OPEN(m, "a control register whose value is not known");
}

/* ISA 4: the call stack. PREEMPT_INSTR holds what it is given. */
u32 *afuc_sqe(struct afuc_model *m, u32 number)
{
    if (number >= 8 && number <= 15)
        return &m->stack[number - 8];
    if (number == 4 || number == 5)
        return number == 4 ? &m->preempt : &m->sp;
    RET_OPEN(m, "an SQE register that may have an effect");
}

/* ---- registers of the processor ---- */

struct afuc_queue *afuc_stream(struct afuc_model *m)
{
    return m->level ? &m->ib : &m->data;
}

u32 afuc_read_register(struct afuc_model *m, u32 number, int peek)
{
    u32 word;
    switch (number) {
    case 0:
        return 0;
    case 29:
        return afuc_take(m, &m->memdata);
    case 30:
        return afuc_take(m, &m->regdata);
    case 31:
        word = afuc_take(m, afuc_stream(m));
        if (peek || m->peek == 7) {
            afuc_stream(m)->head--;
            return word;
        }
        m->r[28]--;
        m->popped = true;
        return word;
    default:
        return m->r[number];
    }
}

void afuc_write_register(struct afuc_model *m, u32 number, u32 value)
{
    if (number == 29 || number == 30)
        select_address(m, number, value);
    else if (number == 31)
        write_data(m, value);
    else if (number)
        m->r[number] = value;
}

bool afuc_is_queue(u32 number)
{
    return number >= 29;
}
