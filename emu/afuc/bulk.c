/* SPDX-License-Identifier: MIT
 * `(rep)` moves from $data to registers, memory, or to nowhere, in one piece: what a type-4 packet,
 * a register bunch and the end of every handler are made of. The events, registers and counts are
 * those of the single repetitions; what needs a look at each word is left to them. */
#include "emu/afuc/gpu.h"
#include "emu/afuc/machine.h"
#include "emu/afuc/nrt.h"
#include "emu/afuc/pipe.h"
#include "emu/afuc/queue.h"
#include "emu/afuc/bank.h"
#include "emu/afuc/bulk.h"

/* What one call does: whole repetitions, all their words known and in the window. */
struct bulk {
    struct afuc_core *core;
    const uint32_t *word;
    uint32_t group; /* words of a repetition */
    uint32_t modes; /* that the instruction ORs to its first */
    uint32_t words; /* of all repetitions; the last one of a (rep) may have fewer */
};

/* Words that can be read without asking: those of an indirect buffer that memory holds. */
static uint32_t words_at_hand(struct afuc_core *core)
{
    const struct afuc_state *s = &core->s;
    if (CPS_LIKELY(core->window_left))
        return core->window_left;
    if (s->level == LEVEL_RB || s->level >= LEVEL_SIDE || s->injected || s->peeking)
        return 0;
    const struct queue *queue = &s->queue[s->level];
    if (!queue->count || queue->pos >= queue->fetch[queue->head].dwords)
        return 0;
    peek_word_(core); /* fills the window */
    return core->window_left;
}

/* Events like the first, to consecutive registers. */
static void put_events(struct cps_afuc *m, struct cps_event event, const uint32_t *word,
                       uint32_t count)
{
    while (count) {
        uint32_t room = (uint32_t)(CPS_TAP_BATCH - m->engine.tap.pending);
        uint32_t now = count < room ? count : room;
        struct cps_event *to = &m->engine.tap.event[m->engine.tap.pending];
        for (uint32_t i = 0; i < now; i++)
            to[i] = (struct cps_event){event.head, event.addr + i, word[i], 0};
        m->engine.tap.pending += now;
        if (m->engine.tap.pending == CPS_TAP_BATCH)
            cps_tap_flush_(&m->engine.tap);
        event.addr += now;
        word += now;
        count -= now;
    }
}

void bulk_events_(struct afuc_core *core, uint32_t offset, const uint32_t *word, uint32_t count,
                  unsigned path)
{
    put_events(core->machine, cps_event_make(CPS_EV_REG, path, core->who, core->s.pc, offset, 0),
               word, count);
}

static void store(struct afuc_core *core, uint32_t offset, const uint32_t *word, uint32_t count,
                  unsigned path)
{
    gpu_set_plain_(core, offset, word, count);
    bulk_noted_(core, offset, word, count, path);
}

/* One after the other into the same register. */
static void store_in_one(struct afuc_core *core, uint32_t offset, const uint32_t *word,
                         uint32_t count, unsigned path)
{
    for (uint32_t i = 0; i < count; i++)
        gpu_store_(core, offset, word[i], path);
}

/* How many of @p count registers are plain storage. */
static uint32_t plain_registers(const struct cps_afuc *m, uint32_t offset, uint32_t count)
{
    uint32_t i = 0;
    if (CPS_LIKELY(gpu_all_plain_(m, offset, count)))
        return count;
    if (offset >= GPU_REGS || count > GPU_REGS - offset)
        return 0;
    while (i < count && !(m->reg_flags[offset + i] & REG_BEHAVES))
        i++;
    return i;
}

/* Whole repetitions only, unless the last ones are all of it. */
static uint32_t whole(const struct bulk *b, uint32_t words)
{
    return words == b->words ? words : words - words % b->group;
}

/* Bits of $addr and $usraddr: it stays where it is; $usraddr: whether a read is allowed. */
enum { FIXED = 1u << 18, ASKS = 1u << 20 };

/* To the registers from $addr or $usraddr on, or all to one of them: the data port of a memory. */
static uint32_t to_registers(const struct bulk *b)
{
    struct afuc_core *core = b->core;
    struct afuc_state *s = &core->s;
    uint32_t *address = s->user_selected ? &s->usraddr : &s->addr;
    bool fixed = *address & FIXED;
    unsigned path = s->user_selected ? CPS_PATH_USER : CPS_PATH_DATA;
    uint32_t offset = *address & 0x3ffff;
    if (s->user_selected && ((*address & ASKS) || gpu_plain_protects_(core)))
        return 0;
    uint32_t last = fixed ? 1 : b->words;
    uint32_t count = plain_registers(core->machine, offset, last);
    count = fixed && count ? b->words : whole(b, count);
    if (fixed)
        store_in_one(core, offset, b->word, count, path);
    else
        store(core, offset, b->word, count, path);
    *address += fixed ? 0 : count;
    return count;
}

/* What is ORed to the word at @p i of a pair's address: the instruction's own, to the first of each
 * repetition. */
static uint32_t modes_of(const struct bulk *b, uint32_t i)
{
    return i % b->group ? 0 : b->modes;
}

static bool plain_pairs(const struct bulk *b, uint32_t at)
{
    bool plain = true;
    for (uint32_t i = at; i < at + b->group; i += 2) {
        uint32_t address = b->word[i] | modes_of(b, i);
        plain =
            plain && !(address & ASKS) && plain_registers(b->core->machine, address & 0x3ffff, 1);
    }
    return plain;
}

/* Pairs of a register and its value. */
static uint32_t to_pairs(const struct bulk *b)
{
    struct afuc_core *core = b->core;
    uint32_t done = 0;
    if (b->group % 2 || gpu_plain_protects_(core))
        return 0;
    while (done + b->group <= b->words && plain_pairs(b, done)) {
        for (uint32_t end = done + b->group; done < end; done += 2) {
            uint32_t address = b->word[done] | modes_of(b, done);
            gpu_store_(core, address & 0x3ffff, b->word[done + 1], CPS_PATH_USER);
            core->s.usraddr = address + !(address & FIXED);
            core->s.user_selected = 1;
        }
    }
    return done;
}

/* To memory, through the pipe register that takes its data. The stream itself may be written. */
static uint32_t to_memory(const struct bulk *b)
{
    struct afuc_core *core = b->core;
    uint32_t number = core->s.addr >> 24;
    uint32_t done = 0;
    if (b->group != 1 || !(core->s.addr >> 18 & 1) || !afuc_pipe_is_memory_(core, number))
        return 0;
    while (done < b->words && core->window_epoch == *core->machine->epoch && !core->s.wait) {
        core_event_(core, CPS_EV_PIPE, 0, number, b->word[done]);
        nrt_write_(core, b->word[done++]);
    }
    return done;
}

static uint32_t move(const struct bulk *b, unsigned dst)
{
    if (dst != R_TRASH && !b->core->plain)
        return 0; /* the MEQ of a5xx, and registers in banks */
    switch (dst) {
    case R_DATA:
        return b->core->s.user_selected || !(b->core->s.addr >> 24) ? to_registers(b)
                                                                    : to_memory(b);
    case R_USRADDR:
        return to_pairs(b);
    default:
        return b->words;
    }
}

uint64_t afuc_bulk_(struct afuc_core *core, const struct afuc_uop *uop, uint64_t budget)
{
    struct afuc_state *s = &core->s;
    bool both = uop->s1 == R_DATA; /* or with a register */
    struct bulk b = {.core = core, .group = 1u + uop->xmov, .modes = both ? s->r[uop->s2] : 0};
    uint32_t left = s->r[R_REM];
    uint32_t known = words_at_hand(core);
    b.words = left < known ? left : known;
    if (budget < b.words && b.words > budget * b.group)
        b.words = (uint32_t)(budget * b.group);
    if (b.words < left)
        b.words -= b.words % b.group;
    if (!b.words)
        return 0;
    b.word = core->window;
    uint32_t done = move(&b, uop->dst);
    if (core->window_left) { /* else memory has changed */
        core->window += done;
        core->window_left -= done;
    }
    s->queue[s->level].pos += done;
    s->r[R_REM] -= done;
    return bulk_turns_(done, b.group);
}
