/* SPDX-License-Identifier: MIT
 * A naive model of afuc, written from its reference (afuc-isa.md: ISA, afuc-machine.md: MACHINE),
 * chips.md, and Mesa's description of QRisc (its README, qrisc.xml and emu.c): no table of ours,
 * one question after the other. Where these leave something open, or contradict each other,
 * afuc_open() says which it is, and nothing happens. */
#include "tests/model/afuc_parts.h"

/* ISA 2: "order when the same instruction touches a queue twice is UNKNOWN"; so is it where a read
 * of $data changes the $rem that is read beside it. */
static void check_order(struct afuc_model *m, u32 a, u32 b)
{
    if ((afuc_is_queue(a) && a == b) || (a == 28 && b == 31) || (a == 31 && b == 28))
        afuc_open(m, "ISA 2: a queue is touched twice");
}

/* ISA 4: (rep) counts $rem down; Mesa's emulator forgets what the instruction has put there. */
static void check_count(struct afuc_model *m, u32 word, u32 dst)
{
    if (afuc_bits(word, 26, 1) && dst == 28)
        afuc_open(m, "ISA 4 and emu.c differ on (rep) of an instruction that writes $rem");
}

/* ---- what instructions compute ---- */

/* ISA 2: an amount of 32 or more is UNKNOWN, but a740 139a needs shl by 32 to give 0. */
static u32 shift(struct afuc_model *m, int how, u32 value, u32 amount)
{
    if (amount > (how == 'l' ? 32 : 31))
        RET_OPEN(m, "ISA 2: a shift by 32 or more, or a rotation by a negative number");
    for (u32 i = 0; i < amount; i++) {
        u32 top = value >> 31;
        if (how == 'l')
            value = value << 1;
        else if (how == 'u')
            value = value >> 1;
        else if (how == 'i')
            value = value >> 1 | top << 31;
        else
            value = value << 1 | top;
    }
    return value;
}

static u32 count_bits(u32 value)
{
    u32 count = 0;
    for (int i = 0; i < 32; i++)
        count += afuc_bits(value, i, 1);
    return count;
}

static u32 highest_bit(u32 value)
{
    for (int i = 31; i > 0; i--)
        if (afuc_bits(value, i, 1))
            return (u32)i;
    return 0;
}

static u32 put_field(u32 old, u32 value, u32 low, u32 count)
{
    for (u32 i = 0; i < count; i++) {
        old &= ~((u32)1 << (low + i));
        old |= afuc_bits(value, (int)i, 1) << (low + i);
    }
    return old;
}

static u32 carried(struct afuc_model *m, bool up)
{
    if (up ? m->borrow : m->carry)
        afuc_open(m,
                  "ISA 2: addhi behind a sub that borrowed, or subhi behind an add that carried");
    return up ? m->carry : m->borrow;
}

/* ISA 2: numbers of a7xx and a8xx from 100 on. */
static u32 compute(struct afuc_model *m, u32 op, u32 a, u32 b)
{
    switch (afuc_generation(m->kind) >= 7 ? op + 100 : op) {
    case 1:
    case 101:
        m->carry = (u32)(((uint64_t)a + b) >> 32);
        m->borrow = 0;
        return a + b;
    case 2:
    case 102:
        return a + b + carried(m, true);
    case 3:
    case 103:
        m->borrow = a < b;
        m->carry = 0;
        return a - b;
    case 4:
    case 104:
        return a - b - carried(m, false);
    case 5:
    case 105:
        return a & b;
    case 6:
    case 106:
        return a | b;
    case 7:
    case 107:
        return a ^ b;
    case 8:
    case 108:
        return ~b;
    case 9:
    case 118:
        return shift(m, 'l', a, b);
    case 10:
    case 119:
        return shift(m, 'u', a, b);
    case 11:
    case 120:
        return shift(m, 'i', a, b);
    case 12:
    case 121:
        return shift(m, 'r', a, b);
    case 13:
    case 112:
        if (m->kind == AFUC_A8XX) /* chips.md: mul8 became mul16 */
            return afuc_bits(a, 0, 16) * afuc_bits(b, 0, 16);
        return afuc_bits(a, 0, 8) * afuc_bits(b, 0, 8);
    case 14:
    case 110:
        return a < b ? a : b;
    case 15:
    case 111:
        return a > b ? a : b;
    case 16:
    case 113:
        return a > b ? 0 : a == b ? 0x2b : 0x1e;
    case 109:
        return a & ~b;
    case 20:
    case 125:
        return highest_bit(b);
    case 18:
    case 122: /* ISA: a7xx; a660 037e uses 18 in the same way */
        if (m->kind == AFUC_PFP || m->kind == AFUC_ME)
            break;
        return put_field(a, afuc_bits(b, 0, 1), afuc_bits(b, 1, 5), 1);
    case 128:
        if (m->kind == AFUC_A8XX)
            return count_bits(b);
        break;
    }
    RET_OPEN(m, "no such operation");
}

/* ---- instructions ---- */

/* ISA 4: behind the instruction's own word. What moves is decided with the $rem that is left. */
static void extra_moves(struct afuc_model *m, u32 word, u32 queue, bool plain)
{
    u32 dst = afuc_bits(word, 11, 5);
    bool special = afuc_is_queue(dst);
    u32 count = afuc_bits(word, 9, 2);
    if (!afuc_is_queue(queue))
        afuc_open(m,
                  "ISA 4: (xmov) without a queue; only emu.c says what moves, and that $rem falls");
    if (queue != 31 && !afuc_bits(word, 26, 1))
        afuc_open(m, "ISA 4: (xmov) of another queue than $data, where no (rep) counts $rem");
    if (m->peek)
        afuc_open(m, "ISA 4: (xmov) while the switch makes $data a peek");
    if (dst == 28)
        afuc_open(m, "ISA 4: (xmov) of an instruction that writes $rem");
    if (queue != 31)
        m->r[28]--; /* 6ee: "(rep)(xmov3)mov $00, $memdata" drops as many as $rem says */
    if (m->r[28] < count)
        count = m->r[28];
    if (special && count == 3 && !plain)
        afuc_open(m, "ISA 4: whether (xmov3) computes again what it moves to its own destination");
    for (u32 i = 0; i < count && !m->stop; i++) {
        u32 value = afuc_read_register(m, queue, 0);
        if (queue != 31)
            m->r[28]--;
        afuc_write_register(m, !special ? 0 : count == 3 && i == 1 ? dst : 31, value);
    }
    m->popped = true; /* $rem is right */
}

static void alu_registers(struct afuc_model *m, u32 word)
{
    unsigned gen = afuc_generation(m->kind);
    u32 op = afuc_bits(word, 0, 5), dst = afuc_bits(word, 11, 5), s1 = afuc_bits(word, 21, 5);
    u32 s2 = afuc_bits(word, 16, 5), a = 0, b;
    bool one = op == 8 || op == (gen < 7 ? 20 : 25) || (gen == 8 && op == 28);
    bool peek = gen >= 7 && !one && afuc_bits(word, 8, 1);
    if (one)
        s1 = 0;
    check_order(m, s1, s2);
    check_count(m, word, dst);
    if (peek && (afuc_is_queue(s1) || s2 == 29 || s2 == 30 || afuc_bits(word, 9, 2)))
        afuc_open(m, "ISA 4: (peek) is of $data, and emu.c has it in the second source alone");
    if (afuc_bits(word, 9, 2) && afuc_is_queue(s1) && afuc_is_queue(s2))
        afuc_open(m, "ISA 4: (xmov) of two queues");
    a = afuc_read_register(m, s1, 0);
    b = afuc_read_register(m, s2, peek);
    afuc_write_register(m, dst, compute(m, op, a, b));
    if (afuc_bits(word, 9, 2))
        extra_moves(m, word, afuc_is_queue(s1) ? s1 : s2, op == 6 && (s1 == 0 || s2 == 0));
}

/* Layouts C and C': the second source is the immediate. */
static void alu_immediate(struct afuc_model *m, u32 word)
{
    u32 op = word >> 27, src = op == 8 ? 0 : afuc_bits(word, 21, 5), dst = afuc_bits(word, 16, 5);
    check_order(m, src, 0);
    check_count(m, word, dst);
    afuc_write_register(m, dst,
                        compute(m, op, afuc_read_register(m, src, 0), afuc_bits(word, 0, 16)));
}

/* Layouts D, E and F, and what a5xx and a6xx have in their place. */
static void alu_small(struct afuc_model *m, u32 word)
{
    u32 sub = afuc_generation(m->kind) < 7 ? 6 : afuc_bits(word, 12, 4);
    u32 src = afuc_bits(word, 21, 5), dst = afuc_bits(word, 16, 5), value;
    u32 low = afuc_bits(word, 0, 5), high = afuc_bits(word, 5, 5);
    check_count(m, word, dst);
    check_order(m, src, sub == 8 ? dst : 0);
    if (sub >= 7 && high < low)
        afuc_open(m, "ISA 2: a field whose end is below its begin");
    if (sub == 8 && afuc_is_queue(dst))
        afuc_open(m, "ISA 2: the old field of what is no register");
    if (m->stop)
        return;
    value = afuc_read_register(m, src, 0);
    switch (sub) {
    case 2:
    case 3:
    case 4:
    case 5:
        value = compute(m, sub + 16, value, afuc_bits(word, 0, 12));
        break;
    case 6:
        value = put_field(value, afuc_bits(word, 0, 1), afuc_bits(word, 1, 5), 1);
        break;
    case 7:
        value = put_field(0, value >> low, 0, high - low + 1);
        break;
    case 8:
        value = put_field(dst ? m->r[dst] : 0, value, low, high - low + 1);
        break;
    default:
        afuc_open(m, "no such operation");
    }
    afuc_write_register(m, dst, value);
}

/* Layout H. What it does: 's'tore, 'l'oad; 'w'rite and 'r'ead of control registers; 'W', 'R' of
 * SQE registers. */
static void access_memory(struct afuc_model *m, u32 word, int what)
{
    u32 offset = afuc_bits(word, 21, 5), data = afuc_bits(word, 16, 5), at, value = 0,
        *place = NULL;
    bool reads = what == 'l' || what == 'r' || what == 'R', back = afuc_bits(word, 14, 1);
    if (what != 'w' && afuc_bits(word, 12, 2))
        afuc_open(m, "ISA 2: bits 13:12, which only cwrite has");
    if (afuc_is_queue(offset))
        afuc_open(m, "ISA 2 names queues as data alone, no queue as an offset");
    if (back && (!reads && offset == data && data))
        afuc_open(m,
                  "ISA 2 and emu.c differ on whether the address is written before data is read");
    if (!reads)
        check_order(m, offset, data);
    check_count(m, word, reads ? data : 0);
    check_count(m, word, back ? offset : 0);
    at = afuc_read_register(m, offset, 0) + afuc_bits(word, 0, 12);
    if (back)
        afuc_write_register(m, offset, at);
    if ((what == 's' || what == 'l') && afuc_bits(m->hi, 31, 1))
        afuc_open(m, "MACHINE 1.2: bit 31 is a right");
    if (what == 's' || what == 'l')
        place = afuc_memory(m, m->hi, at);
    else if (what == 'W' || what == 'R')
        place = afuc_sqe(m, at);
    if (!reads)
        value = afuc_read_register(m, data, 0);
    else
        value = what == 'r' ? afuc_control_read(m, at) : place ? *place : 0;
    if (reads)
        afuc_write_register(m, data, value);
    else if (what == 'w')
        afuc_control_write(m, at, value);
    else if (place)
        *place = value;
    if (m->sp > 8)
        afuc_open(m, "ISA 4: eight entries");
    if (what == 'w' && afuc_bits(word, 12, 2) && at - afuc_scratch(m->kind) >= AFUC_CONTROL)
        afuc_open(m, "ISA 2: a queue is touched twice, before and behind an effect");
    for (u32 i = 0; what == 'w' && i < afuc_bits(word, 12, 2) && !m->stop; i++)
        afuc_read_register(m, data, 0); /* README: thrown away, other than for draw states */
}

/* ISA 5: its delay slot takes the header. The error handler is entry 0 (docs/hardware.md). */
static u32 wait_in(struct afuc_model *m, u32 here)
{
    u32 header, id = 0, count = 0, ones;
    if (m->npc != here + 1 || m->npc >= AFUC_IMAGE || m->image[m->npc] != 0x981f0806 || m->peek)
        RET_OPEN(m, "ISA 5: the delay slot is always mov $01, $data, and emu.c wants no branch");
    header = afuc_take(m, afuc_stream(m));
    afuc_stream(m)->head--;
    if (m->kind == AFUC_ME && ((header >> 28 == 4 && afuc_bits(header, 26, 1)) ||
                               (header >> 28 == 7 && header & 0x0f004000)))
        afuc_open(m, "ISA 5: the ME checks no parity; whether it checks bits that are 0");
    ones = count_bits(afuc_bits(header, 16, 8)) % 2 + count_bits(header & 0xffff) % 2;
    if (header >> 28 == 7 && !afuc_bits(header, 24, 4) && !afuc_bits(header, 14, 1) &&
        (ones == 2 || m->kind == AFUC_ME)) {
        id = afuc_bits(header, 16, 7);
        count = afuc_bits(header, 0, 14);
    }
    ones = count_bits(afuc_bits(header, 8, 18) + (afuc_bits(header, 27, 1) << 18)) % 2 +
           count_bits(afuc_bits(header, 0, 8)) % 2;
    if (header >> 28 == 4 && !afuc_bits(header, 26, 1) && (ones == 2 || m->kind == AFUC_ME)) {
        u32 offset = afuc_bits(header, 8, 18);
        id = 4;
        if (m->kind == AFUC_ME && offset >= 0x2000 && offset <= 0x27ff)
            id = 2;
        if (m->kind == AFUC_ME && offset >= 0xe000 && offset <= 0xefff)
            id = 3;
        count = afuc_bits(header, 0, 7);
    }
    m->r[28] = count + 1; /* with the header, which the slot takes */
    return m->table[id];
}

/* Layouts I and J: where it goes behind the delay slot. */
static u32 branch(struct afuc_model *m, u32 word, u32 here)
{
    unsigned gen = afuc_generation(m->kind);
    u32 straight = m->npc + 1, src = afuc_bits(word, 21, 5), value;
    u32 target = here + afuc_bits(word, 0, 16) - (afuc_bits(word, 15, 1) ? 0x10000 : 0);
    switch (word >> 26) {
    case 0x30:
        return afuc_read_register(m, src, 0) != afuc_bits(word, 16, 5) ? target : straight;
    case 0x31:
        return afuc_read_register(m, src, 0) == afuc_bits(word, 16, 5) ? target : straight;
    case 0x32:
        value = afuc_read_register(m, src, 0);
        return !afuc_bits(value, (int)afuc_bits(word, 16, 5), 1) ? target : straight;
    case 0x33:
        value = afuc_read_register(m, src, 0);
        return afuc_bits(value, (int)afuc_bits(word, 16, 5), 1) ? target : straight;
    case 0x34:
        if (afuc_bits(word, 25, 1))
            RET_OPEN(m, "ISA 2: iret outside of the preemption routine");
        if (m->sp == 0)
            RET_OPEN(m, "ISA 4: a return from nowhere");
        return m->stack[--m->sp];
    case 0x35:
        if (m->sp == 8)
            RET_OPEN(m, "ISA 4: wrap-around beyond 8 is UNKNOWN");
        m->stack[m->sp++] = here + 2;
        return afuc_bits(word, 0, 26);
    case 0x36:
        return wait_in(m, here);
    case 0x37:
        if (gen == 5 ? word == 0xdc400000 : afuc_bits(word, 20, 6) == 0x36)
            return m->r[27];
        if (gen >= 7 && afuc_bits(word, 20, 6) == 0x37 && !afuc_bits(word, 5, 15))
            return afuc_read_register(m, afuc_bits(word, 0, 5), 0);
        if (gen >= 6 && !afuc_bits(word, 0, 21)) /* chips.md, a660 0e64: jumpd */
            return afuc_read_register(m, src, 0);
        break;
    case 0x38:
        m->r[27] = here + 2;
        return afuc_bits(word, 0, 26);
    case 0x39:
        return afuc_bits(word, 0, 26);
    }
    RET_OPEN(m, "no such instruction");
}

/* ISA 2: no delay slot; mode 2 fails, 0, 1 and 3 succeed. */
static void set_secure(struct afuc_model *m, u32 here)
{
    if (m->r[2] > 3 || m->npc != here + 1)
        afuc_open(m, "ISA 2: setsecure of another mode, or in a delay slot");
    m->pc = m->r[2] == 2 ? here + 1 : here + 3;
    m->npc = m->pc + 1;
}

static void execute(struct afuc_model *m, u32 word, u32 here)
{
    unsigned gen = afuc_generation(m->kind);
    u32 top = word >> 27, next = m->npc, after;
    bool upper = afuc_bits(word, 15, 1);
    if (word >> 26 == 0x3b) {
        set_secure(m, here);
        return;
    }
    after = top >= 24 ? branch(m, word, here) : next + 1;
    switch (top) {
    case 0: /* ISA 2; qrisc.xml has one with (rep), and no payload */
        if (afuc_bits(word, 24, 2) != (gen >= 6) ||
            (afuc_bits(word, 26, 1) && afuc_bits(word, 0, 24)))
            afuc_open(m, "no such instruction");
        break;
    case 14:
    case 17:
        if ((gen >= 7) != (top == 14)) {
            alu_immediate(m, word);
            break;
        }
        check_count(m, word, afuc_bits(word, 16, 5));
        afuc_write_register(m, afuc_bits(word, 16, 5),
                            afuc_bits(word, 0, 16) << afuc_bits(word, 21, 5));
        break;
    case 18:
        alu_small(m, word);
        break;
    case 19:
        alu_registers(m, word);
        break;
    case 20: /* with bit 15 since a7xx; gen80000 070 13ca stores so what gen70900 stores without */
        if (gen == 5 || (upper && gen == 6))
            afuc_open(m, "no such instruction");
        access_memory(m, word, 's');
        break;
    case 21:
        access_memory(m, word, gen == 5 ? (upper ? 'w' : 's') : upper ? 'W' : 'w');
        break;
    case 22:
        if (upper && gen == 6)
            afuc_open(m, "no such instruction");
        access_memory(m, word, gen == 5 && upper ? 'r' : 'l');
        break;
    case 23:
        if (gen == 5)
            afuc_open(m, "no such instruction");
        access_memory(m, word, upper ? 'R' : 'r');
        break;
    default:
        if (top < 17)
            alu_immediate(m, word);
        break;
    }
    m->pc = next;
    m->npc = after;
}

void afuc_model_tick(struct afuc_model *m)
{
    struct afuc_model before = *m;
    u32 here = m->pc, word = here < AFUC_IMAGE ? m->image[here] : 0;
    bool rep = word >> 27 < 24 && afuc_bits(word, 26, 1);
    if (here >= AFUC_IMAGE || m->npc >= AFUC_IMAGE)
        afuc_open(m, "outside of the image");
    m->popped = false;
    if (rep && m->r[28] == 0) {
        m->pc = m->npc;
        m->npc = m->pc + 1;
    } else {
        execute(m, word, here);
        if (rep && !m->popped)
            m->r[28]--;
        if (rep && m->r[28]) {
            m->pc = here;
            m->npc = before.npc;
        }
    }
    if (m->pc >= AFUC_IMAGE || m->npc >= AFUC_IMAGE)
        afuc_open(m, "outside of the image");
    if (m->stop) {
        before.stop = m->stop;
        *m = before;
    }
}
